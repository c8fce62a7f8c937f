"""The cheapest path through the symbols of each token of a vocabulary without itself.

Symbols 0 and 1 of costs 2 and 6, tokens 2 = [0, 1], 3 = [1, 0] and 4 = [0, 1, 0] of costs 3, 4 and 5. Without
token 4 its symbols are [2, 0] of cost 5, which is less than 6, the cost of [0, 3]. Token 2 becomes [0, 1],
token 3 [1, 0].
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import kernel
from ubpe_numba.runtime.tables.automaton import advance, longest_match


@kernel
def other_paths(arena, offsets, n_alphabet, edges, states, costs, sums, tree, out, out_offsets):
    """Write the cheapest path of every learned token without itself; returns the number of ids.

    `arena` int32 and offsets int64[V + 1], the symbols of the tokens. `edges`, states as automaton.py builds
    them. `costs` float64[V], sums of which are exact. `out` int32, room for the arena. `out_offsets` int64[V
    + 1]: the path of token t is out[out_offsets[t]:out_offsets[t + 1]], empty for a symbol. Scratch for the
    longest token: sums float64[n + 1], tree int32[2 * n]. The caller allocates all. Ties: a first symbol,
    then the longest first token. O(symbols + matches).

    The example above: [2, 0] at the end of out.
    """
    w = np.int64(0)
    for t in range(n_alphabet + 1):
        out_offsets[t] = 0
    for t in range(n_alphabet, offsets.size - 1):
        first = offsets[t]
        n = offsets[t + 1] - first
        sums[n] = 0.0
        state = np.int64(-1)
        for s in range(n - 1, -1, -1):
            symbol = arena[first + s]
            state = advance(edges, states, state, symbol)
            best = sums[s + 1] + costs[symbol]
            best_end = s + 1
            best_token = symbol
            match = longest_match(states, state)
            while match >= 0:  # longest first
                u = states[match].token
                e = s + np.int64(states[match].depth)
                x = sums[e] + costs[u]
                if u != t and x < best:
                    best = x
                    best_end = e
                    best_token = u
                match = np.int64(states[match].longest)
            sums[s] = best
            tree[2 * s] = best_end
            tree[2 * s + 1] = best_token
        s = np.int64(0)
        while s < n:
            out[w] = tree[2 * s + 1]
            w += 1
            s = np.int64(tree[2 * s])
        out_offsets[t + 1] = w
    return w
