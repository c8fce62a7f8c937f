"""The cheapest path through the lattice of all segmentations, where costs of tokens add up: dynamic programming is exact.

A token costs a pair of numbers, and pairs are compared like words in a dictionary. That pair is the whole difference between
objectives: (1, -idf) is fewest tokens, then the larger sum of idf; (-weight, 1) the largest sum of weights, then fewest tokens.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba._jit import kernel
from ubpe_numba.kernels.automaton import DEPTH, LONGEST, TOKEN, advance, longest_match


@kernel
def cheapest_paths(symbols, offsets, edges, states, costs, sums, tree, out, out_offsets):
    """The cheapest path of every document; returns the number of ids written.

    symbols int32 (alphabet ids), offsets int64[d + 1]; edges, states as automaton.py builds them; costs float64[V, 2], sums of
    which are exact; out int32, room for all symbols; out_offsets int64[d + 1]. Ties: the longest first token.
    Costs (1, 0): tokens 3 = [0, 1], 4 = [1, 0, 1] of the document [0, 1, 0, 1] give [3, 3], not [0, 4].

    Scratch: sums float64[power of two, 2], of the positions within reach, two more than the longest token at least; tree
    int32[2, longest document + 1]. O(symbols + matches).
    """
    ring = np.int64(sums.shape[0] - 1)
    following, token = tree[0], tree[1]
    w = np.int64(0)
    out_offsets[0] = 0
    for d in range(offsets.size - 1):
        document = symbols[offsets[d] : offsets[d + 1]]
        n = document.size
        sums[n & ring, 0] = 0.0
        sums[n & ring, 1] = 0.0
        state = np.int64(-1)
        for s in range(n - 1, -1, -1):
            state = advance(edges, states, state, document[s])
            best_token = document[s]
            best_end = np.int64(s + 1)
            first = sums[best_end & ring, 0] + costs[best_token, 0]
            second = sums[best_end & ring, 1] + costs[best_token, 1]
            match = longest_match(states, state)
            while match >= 0:  # longest first
                t = states[match, TOKEN]
                e = s + np.int64(states[match, DEPTH])
                match = np.int64(states[match, LONGEST])
                x = sums[e & ring, 0] + costs[t, 0]
                if x <= first:
                    y = sums[e & ring, 1] + costs[t, 1]
                    if x < first or y < second or (y == second and e > best_end):
                        first = x
                        second = y
                        best_end = e
                        best_token = t
            sums[s & ring, 0] = first
            sums[s & ring, 1] = second
            following[s] = best_end
            token[s] = best_token
        p = np.int64(0)
        while p < n:
            out[w] = token[p]
            w += 1
            p = np.int64(following[p])
        out_offsets[d + 1] = w
    return w
