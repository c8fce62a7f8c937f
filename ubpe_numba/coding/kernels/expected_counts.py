"""How often each token is expected in a document, and where tokens are expected to begin, over all of its segmentations.

A segmentation has the probability of its share in the sum over all (path_sums.py). The token t from s to e has the probability
heads(s) * weight(t) * tails(e) / tails(0): with the symbols 0 and 1 of weight 1/4 and 1/8, the token 2 = [0, 1] of weight 1/2 and
the document [0, 1, 0], token 2 at 0 has 1 * 1/2 * 1/4 / (17/128) = 16/17. The expected counts are 18/17 of 0, 1/17 of 1, 16/17 of
2.

Counts are added up in fixed point: sums of integers do not depend on the order, so not on the number of threads.
Source: the E step of the EM algorithm for hidden Markov models (L. Baum, 1972), on the lattice of T. Kudo's "Subword
regularization", 2018.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.coding.kernels.path_sums import first_heads, pop_head, push_heads, scaled, sum_block, sum_tails
from ubpe_numba.runtime.jit import kernel
from ubpe_numba.runtime.tables.automaton import longest_match


@kernel
def expected_counts(symbols, offsets, n_copies, tables, one, size, scratch, heads, counts, totals):
    """Add the expected number of every token, times `one` and rounded at every place, to counts int64[V].

    symbols int32 (alphabet ids), offsets int64[d + 1], n_copies int64[d], as how many documents each counts; totals SUM[d], what
    all segmentations of a document weigh. tables, size, scratch as for `path_sums.sum_block`, for the longest document; heads
    SUM[a power of two above the longest token]. The caller allocates all, and chooses `one` so that counts fit. O(symbols +
    matches).

    The example above with `one` = 17: counts 18, 1, 16, totals 17/128.
    """
    _, states, _, weights = tables
    state_at, tails = scratch[0], scratch[1]
    for d in range(offsets.size - 1):
        document = symbols[offsets[d] : offsets[d + 1]]
        blocks = sum_tails(document, size, tables, scratch)
        z = tails[0].mantissa
        zk = tails[0].exponent
        totals[d].mantissa = z
        totals[d].exponent = zk
        copies = n_copies[d]
        first_heads(heads)
        for b in range(blocks):
            length = min(document.size - b * size, size) if b == 0 else sum_block(document, b, size, tables, scratch)
            for i in range(length):
                s = b * size + i
                m, k = pop_head(heads, s)
                symbol = np.int64(document[s])
                state = np.int64(state_at[i])
                push_heads(m, k, s, symbol, state, states, weights, heads)
                share = m / z
                x = scaled(share * weights[symbol] * tails[i + 1].mantissa, k + tails[i + 1].exponent - zk)
                counts[symbol] += np.int64(x * one + 0.5) * copies
                match = longest_match(states, state)
                while match >= 0:
                    t = np.int64(states[match].token)
                    e = i + np.int64(states[match].depth)
                    x = scaled(share * weights[t] * tails[e].mantissa, k + tails[e].exponent - zk)
                    counts[t] += np.int64(x * one + 0.5) * copies
                    match = np.int64(states[match].longest)


@kernel
def boundary_probabilities(document, tables, size, scratch, heads, probabilities):
    """The probability that a token begins at each position of a document int32[n]: probabilities float64[n].

    The other arguments as for `expected_counts`; the caller allocates all. O(symbols + matches).
    The example above: 1, 1/17, 1.
    """
    _, states, _, weights = tables
    state_at, tails = scratch[0], scratch[1]
    blocks = sum_tails(document, size, tables, scratch)
    z = tails[0].mantissa
    zk = tails[0].exponent
    first_heads(heads)
    for b in range(blocks):
        length = min(document.size - b * size, size) if b == 0 else sum_block(document, b, size, tables, scratch)
        for i in range(length):
            s = b * size + i
            m, k = pop_head(heads, s)
            probabilities[s] = min(1.0, scaled(m * tails[i].mantissa / z, k + tails[i].exponent - zk))
            push_heads(m, k, s, np.int64(document[s]), np.int64(state_at[i]), states, weights, heads)
