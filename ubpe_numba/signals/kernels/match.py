"""Tokens that match samples within a tolerance: a radix trie, and one walk for all samples that may have been decoded before.

Samples and the symbols of tokens are integers, FINE to a level. A token is either levels, or relative: differences to the sample
that was decoded before it, its base. Its last symbol is a whole level, so that bases are, and a sample x that is decoded as y is
within the tolerance if

    -half <= x - y < half          half = FINE * tolerance + FINE / 2

which are 2 * half values: each is within the tolerance of one of the levels 0, 2 * tolerance + 1, ...

A relative token matches x[i:] from all bases of an interval, which each of its symbols narrows; of levels the base is 0. Nodes
are in breadth-first order, the children of one ascend and are contiguous, and a node holds all symbols up to the next branch or
end of a token, its run::

    relative tokens [0], [0, 1, 1], [0, 1, 2], [5]     1 (root)  -  2: run 0, token 0  -  4: run 1  -  5: run 1, token 1
                                                                 |                              -  6: run 2, token 2
                                                                 -  3: run 5, token 3
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import helper, kernel

#: Values of a level.
FINE = 64
_ROUND = 32  # symbols of a run that are compared at a time
_FEW = 8  # children that are tried one by one

NODE = np.dtype(
    [
        ("run", np.int32),  # where its symbols begin in the arena,
        ("length", np.int32),  # and how many it has
        ("first", np.int32),  # its children,
        ("last", np.int32),
        ("token", np.int32),  # that ends with it, or -1
    ]
)
#: A node on the way: the position after it, and the bases from which it matches, multiples of FINE.
STEP = np.dtype([("node", np.int64), ("at", np.int64), ("low", np.int64), ("high", np.int64)])
#: A token that matches, and from which bases.
MATCH = np.dtype([("token", np.int64), ("low", np.int64), ("high", np.int64)])


@kernel
def build_trie(arena, starts, order, n_levels, nodes, spans):
    """The trie of tokens; returns the number of nodes. Root 0 has the tokens of levels, root 1 the relative ones.

    arena int32, starts int64[V + 1]: symbols of the tokens, all different, none empty; order int64[V]: the n_levels tokens of
    levels in lexicographic order, then the others; nodes NODE[2 V + 2], spans int64[2 V + 2, 3], scratch: tokens of a node, and
    its depth. The caller allocates all. O(symbols).

    The relative tokens above give 7 nodes.
    """
    for root in range(2):
        nodes[root].run = 0
        nodes[root].length = 0
        spans[root, 0] = n_levels if root == 1 else 0
        spans[root, 1] = order.size if root == 1 else n_levels
        spans[root, 2] = 0
    m = np.int64(2)
    q = np.int64(0)
    while q < m:
        a = spans[q, 0]
        b = spans[q, 1]
        d = spans[q, 2]
        nodes[q].token = -1
        if a < b and starts[order[a] + 1] - starts[order[a]] == d:
            nodes[q].token = order[a]
            a += 1
        nodes[q].first = m
        while a < b:
            i = starts[order[a]]
            c = a + 1
            while c < b and arena[starts[order[c]] + d] == arena[i + d]:
                c += 1
            j = starts[order[c - 1]]
            n = starts[order[a] + 1] - i
            e = d + 1
            while e < n and arena[i + e] == arena[j + e]:  # what the first and the last share is shared by all between them
                e += 1
            nodes[m].run = i + d
            nodes[m].length = e - d
            spans[m, 0] = a
            spans[m, 1] = c
            spans[m, 2] = e
            m += 1
            a = c
        nodes[q].last = m
        q += 1
    return m


@helper
def level(x):
    """The level of a value: the nearest one, of two the upper. 31 -> 0, 32 -> 1, -33 -> -1. O(1)."""
    return (np.int64(x) + FINE // 2) >> 6


@helper
def matches(root, low, high, x, i, end, half, arena, nodes, stack, found):
    """Enter the tokens below a root that match x[i:end] from a base in low..high into `found`; returns how many there are.

    x int32; arena, nodes as `build_trie` has them; stack STEP[nodes], found MATCH[V], of the caller; low, high multiples of FINE,
    and 0 of levels. O(symbols that match, and those after them).

    From bases 0..64 and half 96 the token [0] matches the sample 130 from 64 alone: 130 - 64 < 96.
    """
    n = np.int64(0)
    top = np.int64(0)
    if low <= high:
        stack[0].node = root
        stack[0].at = i
        stack[0].low = low
        stack[0].high = high
        top = 1
    while top > 0:
        top -= 1
        at = stack[top].at
        if at >= end:
            continue
        lo = stack[top].low
        hi = stack[top].high
        node = stack[top].node
        v = np.int64(x[at])
        least = v - hi - half + 1
        most = v - lo + half
        a = np.int64(nodes[node].first)
        b = np.int64(nodes[node].last)
        z = b
        while z - a > _FEW:
            middle = (a + z) >> 1
            if arena[nodes[middle].run] < least:
                a = middle + 1
            else:
                z = middle
        while a < b and arena[nodes[a].run] < least:
            a += 1
        while a < b and arena[nodes[a].run] <= most:
            run = np.int64(nodes[a].run)
            length = np.int64(nodes[a].length)
            left = lo
            right = hi
            k = np.int64(0)
            if at + length > end:
                right = left - 1
            while k < length and left <= right:
                many = min(length - k, _ROUND)
                greatest = np.int32(-(1 << 30))
                smallest = np.int32(1 << 30)
                for j in range(many):  # of the int32 of a processor's vectors
                    w = np.int32(x[at + k + j] - arena[run + k + j])
                    greatest = w if w > greatest else greatest
                    smallest = w if w < smallest else smallest
                left = max(left, np.int64(greatest) - half + 1)
                right = min(right, np.int64(smallest) + half)
                k += many
            left = (left + (FINE - 1)) & -FINE
            right = right & -FINE
            if left <= right:
                if nodes[a].token >= 0:
                    found[n].token = nodes[a].token
                    found[n].low = left
                    found[n].high = right
                    n += 1
                if nodes[a].first < nodes[a].last:
                    stack[top].node = a
                    stack[top].at = at + length
                    stack[top].low = left
                    stack[top].high = right
                    top += 1
            a += 1
    return n
