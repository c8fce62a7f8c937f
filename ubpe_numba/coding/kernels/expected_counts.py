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

from ubpe_numba.coding.kernels.path_sums import first_heads, pop_head, push_head, scaled, sum_block, sum_tails
from ubpe_numba.runtime.compiler import kernel


@kernel
def expected_counts(symbols, offsets, n_copies, tables, one, size, scratch, heads, counts, totals):
    """Add the expected number of every token, times `one` and copies and rounded at every place, to counts int64[V].

    symbols int32 (alphabet ids), offsets int64[d + 1], n_copies int64[d], as how many documents each counts; totals SUM[d], what
    all segmentations of a document weigh. tables, size, scratch as for `path_sums.sum_block`, for the longest document; heads
    SUM[a power of two above the longest token]. The caller allocates all, and chooses `one` so that counts fit. O(symbols +
    matches).

    The example above with `one` = 17: counts 18, 1, 16, totals 17/128.
    """
    _, _, _, _, _, matches, weights = tables
    list_at, tails = scratch[0], scratch[1]
    for d in range(offsets.size - 1):
        document = symbols[offsets[d] : offsets[d + 1]]
        blocks = sum_tails(document, size, tables, scratch)
        z = tails[0].mantissa
        zk = tails[0].exponent
        totals[d].mantissa = z
        totals[d].exponent = zk
        unit = one * np.float64(n_copies[d])
        first_heads(heads)
        for b in range(blocks):
            length = min(document.size - b * size, size) if b == 0 else sum_block(document, b, size, tables, scratch)
            for i in range(length):
                s = b * size + i
                m, k = pop_head(heads, s)
                share = m / z
                j = np.int64(list_at[i]) - 1
                step = np.int64(0)
                while step != 1:
                    j += 1
                    step = np.int64(matches[j].length)
                    push_head(m, k, heads, s + step, weights[j])
                    x = scaled(share * weights[j] * tails[i + step].mantissa, k + tails[i + step].exponent - zk)
                    counts[matches[j].token] += np.int64(x * unit + 0.5)


@kernel
def boundary_probabilities(document, tables, size, scratch, heads, probabilities):
    """The probability that a token begins at each position of a document int32[n]: probabilities float64[n].

    The other arguments as for `expected_counts`; the caller allocates all. O(symbols + matches).
    The example above: 1, 1/17, 1.
    """
    _, _, _, _, _, matches, weights = tables
    list_at, tails = scratch[0], scratch[1]
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
            j = np.int64(list_at[i]) - 1
            step = np.int64(0)
            while step != 1:
                j += 1
                step = np.int64(matches[j].length)
                push_head(m, k, heads, s + step, weights[j])
