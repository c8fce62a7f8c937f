"""The n best paths by tf-idf: at every position the best tails are kept, from the end.

Longest match first: it fills the list with heavy tails. The tails of a match are sorted, so once a tail
cannot enter even with the most that its token may add, later tails cannot either. A token adds less as its
count rises. So the most is its weight in addition to the part that all tails share (see below).

Order of tails: heavier, then fewer tokens, then the better tail after the first token, then the shorter first
token. If the last two were exchanged, tails would not merge before the document ends. Weights are in fixed
point as in best_path.py.

With `by_bag`, one tail is kept of all that hold the same tokens equally often: the same tokens before them
give the same weights. Bags are compared by weight, number of tokens, and a sum of random numbers, one per
token, so two tails of the same bag are never both kept. Two bags collide with a chance of 2**-64; then one of
two tails of equal weight and length is lost.

With prices (bounds/kernels/path_prices.py) a token adds its price at most to the order of tails: the part of
a weight that may be had later as well does not count. Source: UBPE tokenizers, part 2; the prices are our
own.

While the tails of a position are searched, the best so far are in `listed`, in order. Entries are shifted, so
the fields that are not compared remain in `new`, in the slot of the entry:

    listed   weight   key (tokens << 32 | rank of the tail after)   slot      new   parent, token, bag, count
    0        9.0      3 << 32 | 0                                    2         0     ...
    1        7.5      2 << 32 | 1                                    0         1     ...
    2        7.5      3 << 32 | 0                                    1         2     those of entry 0

The tree of kept tails. A tail is a path from a position to the end of the document. A node is a token in
front of another node, its parent, so a tail is a node and all above it. All tails still in use pass through
one node, the base. All tokens after the base are common: they are written to `suffix` and counted in one
dense array. To find how often a tail holds t, a walk goes from its node to the base at most. If no node
before the base holds t, no walk is needed.

Two tails for each position of the document [0, 1, 0, 1] with the token 2 = [0, 1] of idf 1; node 0 is the end
of the document:

    position            4    3    2         1         0
    node                0    1    2    3    4    5    6    7          0 <- 1 <- 3 <- 5
    token                    1    2    0    1    1    2    0          ^
    parent                   0    0    1    2    3    2    4          2 <- 4 <- 7
    tokens of its tail  -    1    2   01   12  101   22  012          ^
    own                      1    1    1    1    1    2    1          6

`own` of node 6 is 2, since its tail holds token 2 twice. Counts of single symbols are never read and may be
too low (node 5).

`use` of a node counts its children in the upper half. The lower half holds the XOR of their numbers, from
which the number of an only child can be read. IN_USE is added while the position of the node is within reach.
A node whose `use` is 0 is free. Node 2 has the children 4 and 6: 2 << 32 | 4 ^ 6.

Tails of a position share most of their nodes, and in periodic text (`ababab...`) only the end is a base.
Therefore a walk leaves its number and its token on the nodes it passes. A later walk for the same token ends
there: the tail of a node, and so its counts, never changes. After the first nodes, marks are left on one node
in 16 only, chosen by token and node, so that walks for other tokens do not overwrite them.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.coding.kernels.best_path import gain_of
from ubpe_numba.runtime.compiler import helper, kernel
from ubpe_numba.runtime.tables.automaton import advance, longest_match

#: The fields of a node that a step of a walk reads, in one word. Its stamp is separate, int64, of the last
#: walk that passed: the number of the walk << 32 | its token.
NODE = np.dtype([("parent", np.int32), ("token", np.int32)])
REST = np.dtype(
    [
        ("own", np.int64),  # occurrences of the token from here to the end
        ("use", np.int64),  # who needs the node << 32 | its children by XOR
    ]
)
IN_USE = 1 << 62  # part of `use` while the position of a node is within reach
LOW = (1 << 32) - 1  # the lower half of this pair
_ONE = 1 << 32  # in `use`: one child
_NEAR = 32  # steps of a walk that leave its number everywhere
# bits of 64 shifted out: of the nodes further on one in 16 bears the numbers of walks for a token
_SAMPLE = 60
WALKS = 1 << 12  # number of walks whose result is remembered
MOST_WALKS = (1 << 31) - 1  # the highest number of a walk
UNSEEN = -WALKS << 32  # stamp of a node that no walk has passed


@helper
def count_in_tail(v, t, base, common, nodes, stamps, rest, walks, walk, multiplier):
    """How often the tail of node v holds token t; `common` is its count after the base.

    `nodes` NODE[m], `stamps` int64[m], `rest` REST[m]. `walks` int64[WALKS] holds results of the last walks,
    and `walk` is the number of the current walk. `multiplier` is odd, any number per token. Above: node 6,
    token 2 -> 2; node 5, token 2 -> 0. Amortized O(1).
    """
    count = np.int64(common)
    stamp = (walk << 32) | t
    steps = 0
    while v != base:
        if nodes[v].token == t:
            count = rest[v].own
            break
        steps += 1
        if steps < _NEAR or (v * multiplier) >> _SAMPLE == 0:
            last = stamps[v]
            if (last & LOW) == t and last >> 32 > walk - WALKS:
                count = walks[(last >> 32) & (WALKS - 1)]
                break
            stamps[v] = stamp
        v = np.int64(nodes[v].parent)
    walks[walk & (WALKS - 1)] = count
    return count


@helper
def release(v, nodes, rest, counts, free, n_free):
    """Give back a node out of reach, and those that only it needed; returns the number of free nodes.

    Above, if the positions from 2 on are already out of reach: with node 5 also 3 and 1, which nothing else
    needs. Node 4 only loses IN_USE, since 7 needs it. `counts` is COUNT[V]; its `live` is the number of nodes
    of a token before the base. `free` int32[m] holds the `n_free` free nodes. O(nodes freed).
    """
    rest[v].use -= IN_USE
    while rest[v].use == 0:
        u = np.int64(nodes[v].parent)
        counts[nodes[v].token].live -= 1
        rest[u].use = (rest[u].use - _ONE) ^ v
        free[n_free] = v
        n_free += 1
        v = u
    return n_free


#: A kept tail of a position; `node` is its tokens << 32 | its node in the tree.
TAIL = np.dtype([("weight", np.float64), ("node", np.int64), ("bag", np.int64)])
ENTRY = np.dtype([("weight", np.float64), ("key", np.int64), ("slot", np.int64)])
#: `parent` is the node after the first token, `count` how often the tail holds that token.
NEW = np.dtype([("parent", np.int32), ("token", np.int32), ("bag", np.int64), ("count", np.int64)])
COUNT = np.dtype(
    [
        ("common", np.int32),  # occurrences of a token in the part that all tails share
        ("live", np.int32),  # nodes of it before that part
    ]
)
#: What is done: documents, their paths and ids, and walks through the tree.
PROGRESS = np.dtype([("documents", np.int64), ("paths", np.int64), ("ids", np.int64), ("walk", np.int64)])
DONE, NO_NODES, NO_ROOM = range(3)  # the reason why the kernel returns


@helper
def goes_before(i, x, key, listed):
    """Whether a tail goes before entry i; it does among equals of weight and key. O(1).

    Matches come longest first.

    In the list above, 7.5 with the key 3 << 32 | 0 goes before entry 2, not before entry 1.
    """
    return listed[i].weight < x or (listed[i].weight == x and listed[i].key >= key)


@helper
def twin_of(x, key, bag, listed, new, n_new):
    """The entry of a tail of the same bag (weight, number of tokens, sum of marks), or -1.

    O(tails of that weight or less).
    """
    j = n_new - 1
    while j >= 0 and listed[j].weight <= x:
        if listed[j].weight == x and new[listed[j].slot].bag == bag and listed[j].key >> 32 == key >> 32:
            return np.int64(j)
        j -= 1
    return np.int64(-1)


@helper
def insert(last, x, key, listed):
    """Shift the entries after a new one, up to `last`, and write it; returns its slot.

    The slot is that of the entry at `last`.

    O(entries shifted).
    """
    slot = listed[last].slot
    i = last
    while i > 0 and goes_before(i - 1, x, key, listed):
        listed[i].weight = listed[i - 1].weight
        listed[i].key = listed[i - 1].key
        listed[i].slot = listed[i - 1].slot
        i -= 1
    listed[i].weight = x
    listed[i].key = key
    listed[i].slot = slot
    return slot


@kernel
def n_best_paths(
    symbols, offsets, tables, prices, marks, by_bag, n_best, scratch, nodes, free, progress, results
):
    """The best paths of every document from `progress[0].documents` on.

    Returns DONE, NO_NODES or NO_ROOM.

    `symbols` int32 (alphabet ids), offsets int64[d + 1]. `tables`, a plain tuple: edges and states as
    automaton.py builds them, scaled_idf and logs as `best_paths` takes them. `prices` float64[V], infinite
    for the order by weight. `marks` int64[V], random and odd. `by_bag`, whether one tail of a bag is enough.
    `n_best`, how many paths of a document are written; the tree: nodes, a tuple of NODE[m], stamps int64[m]
    and REST[m], free int32[m]. `progress` PROGRESS[1]; and the tuples, of ring, a power of two, two more than
    the longest token at least:

        scratch   tails TAIL[ring, beam] of the positions within reach; kept int64[ring], their numbers;
                  listed ENTRY[beam]; new NEW[beam]; counts COUNT[V], zeros; walks int64[WALKS];
                  suffix int32[longest document]
        results   bounds int64[d + 1], zeros, of the paths of each document;
                  weights float64[n_best * d], in fixed point;
                  out int32, ids of all paths; out_offsets int64[n_best * d + 1], of the paths in `out`

    The caller allocates all. After NO_NODES, call with a larger m. After NO_ROOM, the ids of the next
    document do not fit `out`. O(symbols + matches) times `beam`, and the short walks.

    Token 2 = [0, 1] of idf 1, two paths of [0, 1, 0]: bounds [0, 2], out [2, 0, 0, 1, 0], out_offsets [0, 2,
    5], weights [2**24, 0].
    """
    edges, states, scaled_idf, logs = tables
    nodes, stamps, rest = nodes
    tails, n_kept, listed, new, counts, walks, suffix = scratch
    bounds, weights, out, out_offsets = results
    ring, beam = np.int64(n_kept.size - 1), listed.size
    walk = progress[0].walk
    status = np.int64(DONE)
    while progress[0].documents < offsets.size - 1 and status == DONE:
        d = progress[0].documents
        document = symbols[offsets[d] : offsets[d + 1]]
        n = document.size
        # nodes from `fresh` on were never used
        n_free, fresh, n_suffix = np.int64(0), np.int64(1), np.int64(0)
        base = np.int64(0)
        nodes[0].token = 0
        rest[0].use = IN_USE
        n_kept[n & ring] = 1
        tails[n & ring, 0].weight = 0.0
        tails[n & ring, 0].node = 0
        tails[n & ring, 0].bag = 0
        top = np.int64(n)  # tails of the positions beyond are gone
        state = np.int64(-1)
        for s in range(n - 1, -1, -1):
            state = advance(edges, states, state, document[s])
            if walk + beam * states[state].depth > MOST_WALKS:  # numbers of walks begin again
                walk = np.int64(0)
                for v in range(fresh):
                    stamps[v] = UNSEEN
            match = longest_match(states, state)
            n_new = np.int64(0)
            while True:
                t = np.int64(states[match].token if match >= 0 else document[s])
                e = s + np.int64(states[match].depth if match >= 0 else 1)
                at = e & ring
                idf, alive, price = scaled_idf[t], counts[t].live > 0 and scaled_idf[t] > 0.0, prices[t]
                least = np.int64(counts[t].common)
                gain = min(price, gain_of(idf, least, logs))
                # apart from rounding, by which a first occurrence may add less than a second
                most = gain + 2.0 if alive else gain
                for k in range(n_kept[at]):
                    if n_new == beam and tails[at, k].weight + most < listed[beam - 1].weight:
                        break
                    tail = tails[at, k].node
                    v = tail & LOW
                    count, x = least, tails[at, k].weight + gain
                    if alive:
                        walk += 1
                        count = count_in_tail(v, t, base, least, nodes, stamps, rest, walks, walk, marks[t])
                        if count > least:
                            x = tails[at, k].weight + min(price, gain_of(idf, count, logs))
                    key = (tail - v + (1 << 32)) | k
                    if n_new == beam and not goes_before(beam - 1, x, key, listed):
                        continue
                    bag = tails[at, k].bag + marks[t]
                    last = twin_of(x, key, bag, listed, new, n_new) if by_bag else np.int64(-1)
                    if last < 0:
                        if n_new < beam:
                            listed[n_new].slot = n_new
                            n_new += 1
                        last = n_new - 1
                    elif not goes_before(last, x, key, listed):
                        continue
                    slot = insert(last, x, key, listed)
                    new[slot].parent = v
                    new[slot].token = t
                    new[slot].bag = bag
                    new[slot].count = count + 1
                if match < 0:
                    break
                match = np.int64(states[match].longest)
            if n_free + free.size - fresh < n_new:
                status = np.int64(NO_NODES)
                break
            at = s & ring
            n_kept[at] = n_new
            for i in range(n_new):
                if n_free > 0:
                    n_free -= 1
                    v = np.int64(free[n_free])
                else:
                    v = fresh
                    fresh += 1
                slot = listed[i].slot
                nodes[v].parent = new[slot].parent
                nodes[v].token = new[slot].token
                stamps[v] = UNSEEN
                rest[v].own = new[slot].count
                rest[v].use = IN_USE
                parent = new[slot].parent
                rest[parent].use = (rest[parent].use + _ONE) ^ v
                counts[new[slot].token].live += 1
                tails[at, i].weight = listed[i].weight
                tails[at, i].node = (listed[i].key & ~LOW) | v
                tails[at, i].bag = new[slot].bag
            # positions that nothing to the left can reach
            far = s + np.int64(states[state].depth)
            while top > far:
                for i in range(n_kept[top & ring]):
                    n_free = release(tails[top & ring, i].node & LOW, nodes, rest, counts, free, n_free)
                top -= 1
            while rest[base].use >> 32 == 1:  # only one child, and nothing else needs it
                free[n_free] = base
                n_free += 1
                base = rest[base].use & LOW
                t = nodes[base].token
                suffix[n_suffix] = t
                n_suffix += 1
                counts[t].common += 1
                counts[t].live -= 1
        if status == DONE:
            w, p = progress[0].ids, progress[0].paths
            least = min(n_kept[0], n_best)
            need = np.int64(0)
            for k in range(least):
                need += tails[0, k].node >> 32
            if w + need > out.size:
                status = np.int64(NO_ROOM)
            else:
                out_offsets[0] = 0
                for k in range(least):
                    weights[p] = tails[0, k].weight
                    v = tails[0, k].node & LOW
                    while v != base:
                        out[w] = nodes[v].token
                        w += 1
                        v = np.int64(nodes[v].parent)
                    for i in range(n_suffix):  # the last that all tails share came first
                        out[w + i] = suffix[n_suffix - 1 - i]
                    w += n_suffix
                    p += 1
                    out_offsets[p] = w
                bounds[d + 1] = p
                progress[0].documents = d + 1
                progress[0].paths = p
                progress[0].ids = w
        # for the next document
        for v in range(fresh):
            counts[nodes[v].token].live = 0
        for i in range(n_suffix):
            counts[suffix[i]].common = 0
        progress[0].walk = walk
    return status
