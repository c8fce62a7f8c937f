"""The n best paths by tf-idf: at every position the best tails are kept, from the end.

Longest match first: it fills the list with heavy tails, and the tails of a match are sorted, so that as soon as one cannot enter
by the most that its token may add, those behind it cannot either. What a token adds falls with its count, so the most is what it
adds to the count in the part that all tails share (tails.py).

Order of tails: heavier, then fewer tokens, then the better tail behind the first token, then the shorter first token; with the
last two the other way round, the tails would stay apart to the end of the document. Weights in fixed point as in lattice.py.

By bag, at most one tail is kept of those that hold the same tokens equally often: whatever is put before them weighs the same.
Bags are told apart by weight, number of tokens, and a sum over the tokens of a random number each, so two tails of one bag are
never both kept; that two bags collide, and one of two tails of equal weight and length is lost, has a chance of 2**-64.

With prices (prices.py) a token adds its price at most to what tails are ordered by: the part of a weight that may be had later
as well does not count. Source: UBPE tokenizers, part 2; the prices are our own.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.coding.kernels.best_path import gain_of
from ubpe_numba.coding.kernels.tails import (
    IN_USE,
    LINK,
    LOW,
    OWN,
    STAMP,
    USE,
    WALKS,
    adopt,
    count_in_tail,
    only_child,
    path_of,
    release,
)
from ubpe_numba.runtime.jit import helper, kernel
from ubpe_numba.runtime.tables.automaton import DEPTH, LONGEST, TOKEN, advance, longest_match

# columns of `tails`: tokens << 32 | node, the bag; of `new`: node behind the first token << 32 | that token, the bag, its count
NODE, BAG, COUNT = range(3)
# why the kernel returns
DONE, NO_NODES, NO_ROOM = range(3)
# of `progress`
DOCUMENTS, PATHS, IDS, WALK = range(4)


@helper
def place(x, key, bag, by_bag, best, keys, order, new, found):
    """Where a tail enters the list of the best, or -1; `found` counts those listed, whose last it may push out.

    Among equals of weight and key this one goes first: matches come longest first. O(tails listed).
    """
    i = found
    while i > 0 and (best[i - 1] < x or (best[i - 1] == x and keys[i - 1] >= key)):
        i -= 1
    if by_bag:
        j = i - 1
        while j >= 0 and best[j] == x:
            if new[order[j], BAG] == bag and keys[j] >> 32 == key >> 32:
                return np.int64(-1)  # the same bag, better
            j -= 1
    return np.int64(i)


@helper
def twin_of(i, x, key, bag, best, keys, order, new, found):
    """The place of a tail of the same bag at i or behind, or -1: a better one takes its place. O(tails listed)."""
    j = i
    while j < found and best[j] == x:
        if new[order[j], BAG] == bag and keys[j] >> 32 == key >> 32:
            return np.int64(j)
        j += 1
    return np.int64(-1)


@kernel
def n_best_paths(
    symbols, offsets, edges, states, scaled_idf, logs, prices, marks, by_bag, n_best,
    weight, tails, kept, best, keys, order, new, nodes, free, counts, walks, suffix,
    progress, found, weights, out, out_offsets,
):  # fmt: skip
    """The best paths of every document, from document progress[DOCUMENTS] on; returns DONE, NO_NODES or NO_ROOM.

    symbols int32 (alphabet ids), offsets int64[d + 1]; edges, states as automaton.py builds them; scaled_idf float64[V], 0 for
    symbols; logs float64; prices float64[V], infinite for the order by weight; marks int64[V], random and odd; by_bag, whether
    one tail of a bag is enough; n_best, how many paths of a document are written. `beam`, the tails of a position, is the size of
    `best`.

    Scratch: weight float64[ring, beam], tails int64[ring, beam, 2], kept int64[ring] of the positions within reach, ring a power
    of two above the longest token; best float64[beam], keys, order int64[beam], new int64[beam, 3]; the tree of tails.py:
    nodes int64[4, m], free int32[m], counts int32[2, V] of zeros, walks int32[2, WALKS], suffix int32[longest document]. After
    NO_NODES there is need for a larger m.
    Results: found int64[d], paths of a document; weights float64[n_best * d], out_offsets int64[n_best * d + 1] of all paths, out
    int32. After NO_ROOM the ids of the next document do not fit. progress int64[4]: documents, paths and ids written, walks done.
    O(symbols + matches) times `beam`, and the short walks.
    """
    ring, beam = np.int64(kept.size - 1), best.size
    common, live = counts[0], counts[1]
    walk = progress[WALK]
    status = np.int64(DONE)
    while progress[DOCUMENTS] < offsets.size - 1 and status == DONE:
        d = progress[DOCUMENTS]
        document = symbols[offsets[d] : offsets[d + 1]]
        n = document.size
        # nodes from `fresh` on were never used
        n_free, fresh, n_suffix = np.int64(0), np.int64(1), np.int64(0)
        base = np.int64(0)
        nodes[LINK, 0] = 0
        nodes[USE, 0] = IN_USE
        kept[n & ring] = 1
        weight[n & ring, 0] = 0.0
        tails[n & ring, 0, NODE] = 0
        tails[n & ring, 0, BAG] = 0
        top = np.int64(n)  # tails of the positions beyond are gone
        state = np.int64(-1)
        for s in range(n - 1, -1, -1):
            state = advance(edges, states, state, document[s])
            match = longest_match(states, state)
            n_new = np.int64(0)
            while True:
                t = np.int64(states[match, TOKEN] if match >= 0 else document[s])
                e = s + np.int64(states[match, DEPTH] if match >= 0 else 1)
                at = e & ring
                idf, alive, price = scaled_idf[t], live[t] > 0 and scaled_idf[t] > 0.0, prices[t]
                least = np.int64(common[t])
                gain = min(price, gain_of(idf, least, logs))
                most = gain + 2.0 if alive and least > 0 else gain  # but for rounding
                for k in range(kept[at]):
                    if n_new == beam and weight[at, k] + most < best[beam - 1]:
                        break
                    tail = tails[at, k, NODE]
                    v = tail & LOW
                    count, x = least, weight[at, k] + gain
                    if alive:
                        walk += 1
                        count = count_in_tail(v, t, base, least, nodes, walks, walk, marks[t])
                        if count > least:
                            x = weight[at, k] + min(price, gain_of(idf, count, logs))
                    if n_new == beam and x < best[beam - 1]:
                        continue
                    key = (tail - v + (1 << 32)) | k
                    bag = tails[at, k, BAG] + marks[t]
                    i = place(x, key, bag, by_bag, best, keys, order, new, n_new)
                    if i < 0 or i == beam:
                        continue
                    last = twin_of(i, x, key, bag, best, keys, order, new, n_new) if by_bag else np.int64(-1)
                    if last < 0:
                        if n_new < beam:
                            order[n_new] = n_new
                            n_new += 1
                        last = n_new - 1
                    slot = order[last]
                    for j in range(last, i, -1):
                        best[j] = best[j - 1]
                        keys[j] = keys[j - 1]
                        order[j] = order[j - 1]
                    best[i] = x
                    keys[i] = key
                    order[i] = slot
                    new[slot, NODE] = (v << 32) | t
                    new[slot, BAG] = bag
                    new[slot, COUNT] = count + 1
                if match < 0:
                    break
                match = np.int64(states[match, LONGEST])
            if n_free + free.size - fresh < n_new:
                status = np.int64(NO_NODES)
                break
            at = s & ring
            kept[at] = n_new
            for i in range(n_new):
                if n_free > 0:
                    n_free -= 1
                    v = np.int64(free[n_free])
                else:
                    v = fresh
                    fresh += 1
                slot = order[i]
                nodes[LINK, v] = new[slot, NODE]
                nodes[STAMP, v] = -WALKS
                nodes[OWN, v] = new[slot, COUNT]
                nodes[USE, v] = IN_USE
                adopt(new[slot, NODE] >> 32, v, nodes)
                live[new[slot, NODE] & LOW] += 1
                weight[at, i] = best[i]
                tails[at, i, NODE] = (keys[i] & ~LOW) | v
                tails[at, i, BAG] = new[slot, BAG]
            # positions that nothing to the left can reach
            far = s + np.int64(states[state, DEPTH])
            while top > far:
                for i in range(kept[top & ring]):
                    n_free = release(tails[top & ring, i, NODE] & LOW, nodes, live, free, n_free)
                top -= 1
            child = only_child(base, nodes)
            while child >= 0:
                free[n_free] = base
                n_free += 1
                base = child
                t = nodes[LINK, base] & LOW
                suffix[n_suffix] = t
                n_suffix += 1
                common[t] += 1
                live[t] -= 1
                child = only_child(base, nodes)
        if status == DONE:
            w, p = progress[IDS], progress[PATHS]
            least = min(kept[0], n_best)
            need = np.int64(0)
            for k in range(least):
                need += tails[0, k, NODE] >> 32
            if w + need > out.size:
                status = np.int64(NO_ROOM)
            else:
                out_offsets[0] = 0
                for k in range(least):
                    weights[p] = weight[0, k]
                    w = path_of(tails[0, k, NODE] & LOW, base, suffix, n_suffix, nodes, out, w)
                    p += 1
                    out_offsets[p] = w
                found[d] = least
                progress[DOCUMENTS], progress[PATHS], progress[IDS] = d + 1, p, w
        # for the next document
        for v in range(fresh):
            live[nodes[LINK, v] & LOW] = 0
        for i in range(n_suffix):
            common[suffix[i]] = 0
        progress[WALK] = walk
    return status
