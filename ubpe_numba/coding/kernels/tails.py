"""The tree of kept tails of an n-best search: what a node is, counting in it, and giving back nodes that nothing needs any more.

A tail is a path from a position to the end of the document. A node is a token in front of another node, its parent, so a tail is
a node and all above it. All tails that are still in use go through one node, the base: what lies behind it is the same for all,
its tokens are written to `suffix` and counted in one dense array. So a question "how often does this tail hold t" walks from its
node to the base at most, and not at all if no node before the base holds t.

Two tails for each position of the document [0, 1, 0, 1] with the token 2 = [0, 1] of idf 1; node 0 is the end of the document:

    position            4    3    2         1         0
    node                0    1    2    3    4    5    6    7          0 <- 1 <- 3 <- 5
    token                    1    2    0    1    1    2    0          ^
    parent                   0    0    1    2    3    2    4          2 <- 4 <- 7
    tokens of its tail  -    1    2   01   12  101   22  012          ^
    own                      1    1    1    1    1    2    1          6

`own` of node 6 is 2, since its tail holds token 2 twice. Nobody asks for the count of a symbol, so that of node 5 may be too low.

`use` of a node counts its children in the upper half and holds the XOR of their numbers in the lower half, so that the number of
an only child can be read off; IN_USE is added while the position of the node is within reach. A node whose `use` is 0 is free.
Node 2 has the children 4 and 6: 2 << 32 | 4 ^ 6.

Tails of one position share most of their nodes, and periodic text (`ababab...`) has no base but the end. Therefore a walk leaves
its number and its token on the nodes it passes, and ends where a walk for the same token has been: the tail of a node, and with
it its counts, never changes. After the first nodes it leaves them on one node in 16 only, chosen by token and node, where walks
for other tokens do not overwrite them.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import helper

#: What a step of a walk needs of a node, in one word. Apart from it stands its stamp, int64, of the last walk that passed, the
#: number of the walk << 32 | its token; and the rest.
NODE = np.dtype([("parent", np.int32), ("token", np.int32)])
REST = np.dtype(
    [
        ("own", np.int64),  # occurrences of the token from here to the end
        ("use", np.int64),  # who needs the node << 32 | its children by XOR
    ]
)
IN_USE = 1 << 62  # part of `use` while the position of a node is within reach
LOW = (1 << 32) - 1  # the lower half of such a pair
_ONE = 1 << 32  # in `use`: one child
_NEAR = 32  # steps of a walk that leave its number everywhere
_SAMPLE = 60  # bits of 64 shifted out: of the nodes further on one in 16 bears the numbers of walks for a token
WALKS = 1 << 12  # of how many walks what they found is remembered
MOST_WALKS = (1 << 31) - 1  # the highest number of a walk
UNSEEN = -WALKS << 32  # stamp of a node that no walk has passed


@helper
def count_in_tail(v, t, base, common, nodes, stamps, rest, walks, walk, multiplier):
    """How often the tail of node v holds token t; `common` is how often what lies behind the base does.

    nodes NODE[m], stamps int64[m], rest REST[m]; walks int64[WALKS], what the last walks found; walk, the number of this one;
    multiplier, odd, any of the token's own. Above: of node 6, token 2 -> 2; of node 5, token 2 -> 0. Amortised O(1) for a given
    number of tokens.
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
def adopt(u, v, rest):
    """Note that u is the parent of v: children 0 by XOR 0 and v = 5 -> 1 by XOR 5. O(1)."""
    rest[u].use = (rest[u].use + _ONE) ^ v


@helper
def release(v, nodes, rest, counts, free, n_free):
    """Give back a node out of reach, and those that only it needed; returns the number of free nodes.

    Above, where the positions from 2 on are out of reach already: with node 5 also 3 and 1, which nothing else needs; of node 4
    only IN_USE goes, since 7 needs it. counts COUNT[V], where live is the number of nodes of a token before the base; free
    int32[m], the free nodes, `n_free` of them. O(nodes freed).
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


@helper
def only_child(v, rest):
    """The child of a node that nothing else needs, or -1: `use` 1 << 32 | 5 -> 5. O(1)."""
    use = rest[v].use
    return use & LOW if use >> 32 == 1 else np.int64(-1)


@helper
def path_of(v, base, suffix, n_suffix, nodes, out, w):
    """Write the tokens of a tail to out[w:], those of `suffix` last, the youngest first; returns where they end. O(tokens).

    Above, with the base 0: of node 7 -> [0, 1, 2].
    """
    while v != base:
        out[w] = nodes[v].token
        w += 1
        v = np.int64(nodes[v].parent)
    for i in range(n_suffix):
        out[w + i] = suffix[n_suffix - 1 - i]
    return w + n_suffix
