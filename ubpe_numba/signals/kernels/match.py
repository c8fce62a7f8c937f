"""Tokens that match samples within a tolerance: a trie of boxes, and one walk for all samples that may have been decoded before.

Samples and the symbols of tokens are integers, FINE to a level. A token is either levels, or relative: differences to the sample
that was decoded before it, its base. Its last symbol is a whole level, so that bases are, and a sample x that is decoded as y is
within the tolerance if

    -half <= x - y < half          half = FINE * tolerance + FINE / 2

which are 2 * half values: each is within the tolerance of one of the levels 0, 2 * tolerance + 1, ...

A relative token matches x[i:] from all bases of an interval, which each of its symbols narrows; of levels the base is 0. Symbols
are means, of which hardly two are equal, so tokens share a prefix in the trie if it is in the same cells, about as wide as the
tolerance. A node has the least and the greatest symbol of its tokens at each position up to the next branch or end of a token,
its run; samples that match none of these match none of the tokens. The others are compared with each token, first at its highest
and its lowest symbol, which tell most. Nodes are in breadth-first order, the children of one ascend and are contiguous, and few
tokens are a leaf, whose run is their next symbol. If leaves had one token::

    relative tokens of cells [0], [0, 1, 1], [0, 1, 2], [5]

        1 (root)  -  2: run 0, its token [0]  -  4: run 1  -  5: run 1, leaf
                  -  3: run 5, leaf                        -  6: run 2, leaf
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import helper, kernel

#: Values of a level.
FINE = 64
_ROUND = 32  # symbols that are compared at a time
_LEAF = 6  # tokens, at most
_FEW = 8  # children that are tried one by one

NODE = np.dtype(
    [
        ("run", np.int32),  # where its box begins,
        ("length", np.int32),  # and how many symbols that has
        ("first", np.int32),  # its children,
        ("last", np.int32),
        ("begin", np.int32),  # its tokens in the order of the trie
        ("end", np.int32),
    ]
)
#: A token in the order of the trie: where it begins in the arena, how many symbols it has, the highest and the lowest of them.
ENTRY = np.dtype(
    [
        ("token", np.int64),
        ("start", np.int64),
        ("size", np.int64),
        ("peak_at", np.int32),
        ("peak", np.int32),
        ("trough_at", np.int32),
        ("trough", np.int32),
    ]
)
#: A node on the way: the position after it, and the bases from which it may match, multiples of FINE.
STEP = np.dtype([("node", np.int64), ("at", np.int64), ("low", np.int64), ("high", np.int64)])
#: A token that matches, and from which bases.
MATCH = np.dtype([("token", np.int64), ("low", np.int64), ("high", np.int64)])


@kernel
def build_trie(arena, cells, starts, order, n_levels, nodes, spans, entries, least, greatest):
    """The trie of tokens; returns the number of nodes. Root 0 has the tokens of levels, root 1 the relative ones.

    arena, cells int32, starts int64[V + 1]: symbols of the tokens, none empty, and their cells, which ascend with them; order
    int64[V]: the n_levels tokens of levels in lexicographic order of their cells, then the others; nodes NODE[2 V + 2]; spans
    int64[2 V + 2, 3], scratch: tokens of a node, and its depth; entries ENTRY[V] get the tokens, least, greatest int32[arena] the
    boxes. The caller allocates all. O(symbols).

    The tokens above would give 7 nodes.
    """
    for o in range(order.size):
        a = starts[order[o]]
        entries[o].token = order[o]
        entries[o].start = a
        entries[o].size = starts[order[o] + 1] - a
        peak = a
        trough = a
        for j in range(a, starts[order[o] + 1]):
            peak = j if arena[j] > arena[peak] else peak
            trough = j if arena[j] < arena[trough] else trough
        entries[o].peak_at = peak - a
        entries[o].peak = arena[peak]
        entries[o].trough_at = trough - a
        entries[o].trough = arena[trough]
    for root in range(2):
        nodes[root].run = 0
        nodes[root].length = 0
        spans[root, 0] = n_levels if root == 1 else 0
        spans[root, 1] = order.size if root == 1 else n_levels
        spans[root, 2] = 0
    m = np.int64(2)
    q = np.int64(0)
    w = np.int64(0)
    while q < m:
        a = spans[q, 0]
        b = spans[q, 1]
        d = spans[q, 2]
        nodes[q].begin = a
        if q >= 2 and b - a <= _LEAF:
            a = b
        while a < b and starts[order[a] + 1] - starts[order[a]] == d:
            a += 1
        nodes[q].end = a
        nodes[q].first = m
        while a < b:
            i = starts[order[a]]
            c = a + 1
            while c < b and cells[starts[order[c]] + d] == cells[i + d]:
                c += 1
            j = starts[order[c - 1]]
            n = starts[order[a] + 1] - i
            e = d + 1
            while c - a > _LEAF and e < n and cells[i + e] == cells[j + e]:  # shared by the first and the last, so by all
                e += 1
            nodes[m].run = w
            nodes[m].length = e - d
            for k in range(d, e):
                least[w] = arena[i + k]
                greatest[w] = arena[i + k]
                for t in range(a + 1, c):
                    symbol = arena[starts[order[t]] + k]
                    least[w] = min(least[w], symbol)
                    greatest[w] = max(greatest[w], symbol)
                w += 1
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
def narrowed(x, at, least, greatest, a, n, half, low, high):
    """The bases in low..high from which x[at:] is within the tolerance of n symbols least[a:]..greatest[a:]: as low, high.

    High is below low if there is none. O(n), or where it becomes clear. The sample 130 and the symbol 0, with half 96, narrow
    0..64 to 64..64: 130 - 64 < 96.
    """
    k = np.int64(0)
    while k < n and low <= high:
        many = min(n - k, _ROUND)
        most = np.int32(-(1 << 30))
        fewest = np.int32(1 << 30)
        for j in range(many):  # of the int32 of a processor's vectors
            u = np.int32(x[at + k + j] - greatest[a + k + j])
            v = np.int32(x[at + k + j] - least[a + k + j])
            most = u if u > most else most
            fewest = v if v < fewest else fewest
        low = max(low, np.int64(most) - half + 1)
        high = min(high, np.int64(fewest) + half)
        k += many
    return (low + (FINE - 1)) & -FINE, high & -FINE


@helper
def matches(root, low, high, x, i, end, half, tables, offer, cost, room, row, stack, found):
    """Enter the tokens below a root that match x[i:end] from a base in low..high into `found`; returns how many there are.

    x int32; tables: arena, starts, nodes, entries, least, greatest as of `build_trie`; stack STEP[nodes], found MATCH[V], of the
    caller; low, high multiples of FINE, and 0 of levels. A token of n symbols that cannot be of use is left out: where offer +
    cost[token] is not below room[row + n]. O(symbols of nodes that may match, and of their tokens).

    From bases 0..64 and half 96 the token [0] matches the sample 130 from 64 alone.
    """
    arena, _, nodes, entries, lower, upper = tables
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
        bottom = stack[top].low
        ceiling = stack[top].high
        node = stack[top].node
        v = np.int64(x[at])
        least = v - ceiling - half + 1
        most = v - bottom + half
        a = np.int64(nodes[node].first)
        b = np.int64(nodes[node].last)
        z = b
        while z - a > _FEW:
            middle = (a + z) >> 1
            if upper[nodes[middle].run] < least:
                a = middle + 1
            else:
                z = middle
        while a < b and upper[nodes[a].run] < least:
            a += 1
        while a < b and lower[nodes[a].run] <= most:
            length = np.int64(nodes[a].length)
            left = bottom
            right = ceiling
            if at + length > end:
                right = left - 1
            elif length > 1:  # the first symbol has been looked at
                left, right = narrowed(x, at, lower, upper, np.int64(nodes[a].run), length, half, bottom, ceiling)
            if left <= right:
                for o in range(nodes[a].begin, nodes[a].end):
                    size = entries[o].size
                    if i + size > end or offer + cost[entries[o].token] >= room[row + size]:
                        continue
                    u = np.int64(x[i + entries[o].peak_at]) - np.int64(entries[o].peak)
                    w = np.int64(x[i + entries[o].trough_at]) - np.int64(entries[o].trough)
                    first = max(left, max(u, w) - half + 1)
                    last = min(right, min(u, w) + half)
                    if first <= last:
                        first, last = narrowed(x, i, arena, arena, entries[o].start, size, half, first, last)
                    if first <= last:
                        found[n].token = entries[o].token
                        found[n].low = first
                        found[n].high = last
                        n += 1
                if nodes[a].first < nodes[a].last:
                    stack[top].node = a
                    stack[top].at = at + length
                    stack[top].low = left
                    stack[top].high = right
                    top += 1
            a += 1
    return n
