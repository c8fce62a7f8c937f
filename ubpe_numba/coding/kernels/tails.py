"""The tree of kept tails of an n-best search: what a node is, counting in it, and letting go of what nothing will ask for.

A tail is a path from a position to the end of the document. A node is a token in front of another node, its parent, so a tail is
a node and all above it. All tails that are still in use go through one node, the base: what lies behind it is the same for all,
its tokens are written to `suffix` and counted in one dense array. So a question "how often does this tail hold t" walks from its
node to the base at most, and not at all if no node before the base holds t.

Tails of one position share most of their nodes, and periodic text (`ababab...`) has no base but the end. Therefore a walk leaves
its number on the nodes it passes, and ends where a walk for the same token has been: the tail of a node, and with it its counts,
never changes. Further on it leaves it on every sixteenth node only, chosen by token and node, where walks for other tokens do
not wipe it out.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.jit import helper

# rows of `nodes`, int64[4, m]: the parent << 32 | the token; the number of the last walk that came by; occurrences of the
# token from here to the end; who needs the node << 32 | its children by XOR
LINK, STAMP, OWN, USE = range(4)
IN_USE = 1 << 62  # part of USE while the position of a node is within reach
LOW = (1 << 32) - 1  # the lower half of such a pair
_ONE = 1 << 32  # in USE: one child
_NEAR = 32  # steps of a walk that leave its number everywhere
_SAMPLE = 60  # bits of 64 shifted out: of the nodes further on one in 16 bears the numbers of walks for a token
WALKS = 1 << 12  # how many walks are remembered


@helper
def count_in_tail(v, t, base, common, nodes, walks, walk, multiplier):
    """How often the tail of node v holds token t; `common` is how often what lies behind the base does.

    walks int32[2, WALKS], token and count of the last walks; walk, the number of this one; multiplier, odd, any of the token's
    own. Amortised O(1) for a given number of tokens.
    """
    count = np.int64(common)
    steps = 0
    while v != base:
        up = nodes[LINK, v]
        if (up & LOW) == t:
            count = nodes[OWN, v]
            break
        steps += 1
        if steps < _NEAR or (v * multiplier) >> _SAMPLE == 0:
            last = nodes[STAMP, v]
            if last > walk - WALKS and walks[0, last & (WALKS - 1)] == t:
                count = np.int64(walks[1, last & (WALKS - 1)])
                break
            nodes[STAMP, v] = walk
        v = up >> 32
    walks[0, walk & (WALKS - 1)] = t
    walks[1, walk & (WALKS - 1)] = count
    return count


@helper
def adopt(u, v, nodes):
    """Note that u is the parent of v. O(1)."""
    nodes[USE, u] = (nodes[USE, u] + _ONE) ^ v


@helper
def release(v, nodes, live, free, n_free):
    """Let go of a node out of reach, and of those that only it needed; returns the number of free nodes. O(nodes freed)."""
    nodes[USE, v] -= IN_USE
    while nodes[USE, v] == 0:
        u = nodes[LINK, v] >> 32
        live[nodes[LINK, v] & LOW] -= 1
        nodes[USE, u] = (nodes[USE, u] - _ONE) ^ v
        free[n_free] = v
        n_free += 1
        v = u
    return n_free


@helper
def only_child(v, nodes):
    """The child of a node that nothing else needs, or -1. O(1)."""
    use = nodes[USE, v]
    return use & LOW if use >> 32 == 1 else np.int64(-1)


@helper
def path_of(v, base, suffix, n_suffix, nodes, out, w):
    """Write the tokens of a tail to out[w:]; returns where they end. O(tokens)."""
    while v != base:
        out[w] = nodes[LINK, v] & LOW
        w += 1
        v = nodes[LINK, v] >> 32
    for i in range(n_suffix):
        out[w + i] = suffix[n_suffix - 1 - i]
    return w + n_suffix
