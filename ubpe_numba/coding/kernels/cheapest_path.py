"""The cheapest path through the lattice of all segmentations, where costs of tokens add up: dynamic programming is exact.

A token costs a pair of numbers, and pairs are compared like words in a dictionary. That pair is the whole difference between
objectives: (1, -idf) is fewest tokens, then the larger sum of idf; (-weight, 1) the largest sum of weights, then fewest tokens.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.jit import kernel
from ubpe_numba.runtime.tables.automaton import advance, longest_match

#: What a token or a tail costs. A record: of a float64[n, 2] every index takes a multiplication, 5 % in all.
COST = np.dtype([("first", np.float64), ("second", np.float64)])
NODE = np.dtype([("following", np.int32), ("token", np.int32)])  # of a tail: where it goes on, behind which token


@kernel
def cheapest_paths(symbols, offsets, edges, states, costs, sums, tree, out, out_offsets):
    """The cheapest path of every document; returns the number of ids written.

    symbols int32 (alphabet ids), offsets int64[d + 1]; edges, states as automaton.py builds them; costs, a COST a token, sums of
    which are exact; out int32, room for all symbols; out_offsets int64[d + 1]. Ties: the longest first token. The caller
    allocates all.
    Costs (1, 0): tokens 3 = [0, 1], 4 = [1, 0, 1] of the document [0, 1, 0, 1] give [3, 3], not [0, 4].

    Scratch: sums, a COST each for the positions within reach, a power of two, two more than the longest token at least; tree, a
    NODE each for the symbols of the longest document and its end. O(symbols + matches).

    Records of costs and scratch are given as bare float64 or int32, two each: numba takes 0.1 us longer to find the type of an
    array of records, 1 % of a short document.
    """
    costs, sums, tree = costs.view(COST), sums.view(COST), tree.view(NODE)
    ring = np.int64(sums.size - 1)
    w = np.int64(0)
    out_offsets[0] = 0
    for d in range(offsets.size - 1):
        document = symbols[offsets[d] : offsets[d + 1]]
        n = document.size
        sums[n & ring].first = 0.0
        sums[n & ring].second = 0.0
        state = np.int64(-1)
        for s in range(n - 1, -1, -1):
            state = advance(edges, states, state, document[s])
            best_token = document[s]
            best_end = np.int64(s + 1)
            first = sums[best_end & ring].first + costs[best_token].first
            second = sums[best_end & ring].second + costs[best_token].second
            match = longest_match(states, state)
            while match >= 0:  # longest first
                t = np.int64(states[match].token)
                e = s + np.int64(states[match].depth)
                match = np.int64(states[match].longest)
                x = sums[e & ring].first + costs[t].first
                if x <= first:
                    y = sums[e & ring].second + costs[t].second
                    if x < first or y < second or (y == second and e > best_end):
                        first = x
                        second = y
                        best_end = e
                        best_token = np.int32(t)
            sums[s & ring].first = first
            sums[s & ring].second = second
            tree[s].following = best_end
            tree[s].token = best_token
        p = np.int64(0)
        while p < n:
            out[w] = tree[p].token
            w += 1
            p = np.int64(tree[p].following)
        out_offsets[d + 1] = w
    return w
