"""The path of fewest tokens through the lattice of all segmentations: additive, so plain dynamic programming is exact."""

from __future__ import annotations

import numpy as np

from ubpe_numba._jit import kernel_with_scratch
from ubpe_numba.kernels.automaton import DEPTH, LONGEST, TOKEN, advance, longest_match


@kernel_with_scratch
def shortest_paths(symbols, offsets, edges, states, values, out, out_offsets):
    """The shortest path of every document; returns the number of ids written.

    symbols int32 (alphabet ids), offsets int64[d + 1]; edges, states as automaton.py builds them; values float64[V], whole
    numbers; out int32, room for all symbols; out_offsets int64[d + 1]. Ties: the larger sum of values, then the longest first
    token. O(symbols + matches); 20 B a symbol of the longest document.
    """
    longest = np.int64(0)
    for d in range(offsets.size - 1):
        longest = max(longest, offsets[d + 1] - offsets[d])
    n_tokens = np.empty(longest + 1, np.int32)
    total = np.empty(longest + 1, np.float64)
    following = np.empty(longest + 1, np.int32)
    token = np.empty(longest + 1, np.int32)
    w = np.int64(0)
    out_offsets[0] = 0
    for d in range(offsets.size - 1):
        document = symbols[offsets[d] : offsets[d + 1]]
        n = document.size
        n_tokens[n] = 0
        total[n] = 0.0
        state = np.int64(-1)
        for s in range(n - 1, -1, -1):
            state = advance(edges, states, state, document[s])
            best_token = document[s]
            best_end = s + 1
            best_n = n_tokens[best_end]
            best_total = total[best_end] + values[best_token]
            match = longest_match(states, state)
            while match >= 0:  # longest first
                t = states[match, TOKEN]
                e = s + states[match, DEPTH]
                match = np.int64(states[match, LONGEST])
                if n_tokens[e] <= best_n:
                    x = total[e] + values[t]
                    if n_tokens[e] < best_n or x > best_total or (x == best_total and e > best_end):
                        best_n = n_tokens[e]
                        best_total = x
                        best_end = e
                        best_token = t
            n_tokens[s] = best_n + 1
            total[s] = best_total
            following[s] = best_end
            token[s] = best_token
        p = np.int64(0)
        while p < n:
            out[w] = token[p]
            w += 1
            p = np.int64(following[p])
        out_offsets[d + 1] = w
    return w
