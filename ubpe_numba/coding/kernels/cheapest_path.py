"""The cheapest path through the lattice of all segmentations, where costs of tokens add up: dynamic programming is exact.

A token costs a pair of numbers, and pairs are compared like words in a dictionary. That pair is the whole difference between
objectives: (1, -idf) is fewest tokens, then the larger sum of idf; (-weight, 1) the largest sum of weights, then fewest tokens.

This is the way for all costs and all lengths. Where the pair fits one integer, as nearly always, packed_path.py is twice as fast.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import kernel
from ubpe_numba.runtime.tables.automaton import longest_match, next_state


@kernel
def cheapest_paths(symbols, offsets, edges, states, listed, owners, rows, costs, sums, tree, out, out_offsets):
    """The cheapest path of every document; returns the number of ids written.

    symbols int32 (alphabet ids), offsets int64[d + 1]; edges, states, listed, owners and rows as automaton.py builds them; costs
    float64[2 * V], the two of a token side by side, sums of which are exact; out int32, room for all symbols; out_offsets int64[d
    + 1]. Ties: the longest first token. The caller allocates all.
    Costs (1, 0): tokens 3 = [0, 1], 4 = [1, 0, 1] of the document [0, 1, 0, 1] give [3, 3], not [0, 4].

    Scratch: sums float64[2 * a power of two], of the tails within reach, two more positions than the longest token at least; tree
    int32[2 * (longest document + 1)], where the tail of a position goes on, and behind which token. O(symbols + matches).

    Pairs lie flat, the numbers of i at 2 i and 2 i + 1: of two dimensions every index takes a multiplication, 5 % in all, and
    records take 0.1 us more to dispatch and a third of a second more to compile.
    """
    ring = np.int64((sums.size >> 1) - 1)
    w = np.int64(0)
    out_offsets[0] = 0
    for d in range(offsets.size - 1):
        document = symbols[offsets[d] : offsets[d + 1]]
        n = document.size
        sums[2 * (n & ring)] = 0.0
        sums[2 * (n & ring) + 1] = 0.0
        state = np.int64(-1)
        for s in range(n - 1, -1, -1):
            state = next_state(edges, states, listed, owners, rows, state, document[s])
            best_token = document[s]
            best_end = np.int64(s + 1)
            at = 2 * (best_end & ring)
            first = sums[at] + costs[2 * best_token]
            second = sums[at + 1] + costs[2 * best_token + 1]
            match = longest_match(states, state)
            while match >= 0:  # longest first
                t = np.int64(states[match].token)
                e = s + np.int64(states[match].depth)
                match = np.int64(states[match].longest)
                at = 2 * (e & ring)
                x = sums[at] + costs[2 * t]
                if x <= first:
                    y = sums[at + 1] + costs[2 * t + 1]
                    if x < first or y < second or (y == second and e > best_end):
                        first = x
                        second = y
                        best_end = e
                        best_token = np.int32(t)
            at = 2 * (s & ring)
            sums[at] = first
            sums[at + 1] = second
            tree[2 * s] = best_end
            tree[2 * s + 1] = best_token
        p = np.int64(0)
        while p < n:
            out[w] = tree[2 * p + 1]
            w += 1
            p = np.int64(tree[2 * p])
        out_offsets[d + 1] = w
    return w
