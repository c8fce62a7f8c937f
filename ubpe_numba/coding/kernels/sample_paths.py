"""A segmentation of a document, drawn among all with the probability of its share in their sum.

The tails of all positions are summed up from the end (path_sums.py), then tokens are drawn from the start: at s the token t to e
has the probability weight(t) * tails(e) / tails(s). With the symbols 0 and 1 of weight 1/4 and 1/8, the token 2 = [0, 1] of
weight 1/2 and the document [0, 1, 0], token 2 is drawn first with 1/2 * 1/4 / (17/128) = 16/17.

There is one draw a token, a function of (seed, document, position): the same for any number of threads and any order of work.
Source: forward filtering and backward sampling (C. Carter and R. Kohn, 1994), with the directions exchanged.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.coding.kernels.dropout import mix, stream_of
from ubpe_numba.coding.kernels.path_sums import scaled, sum_block, sum_tails
from ubpe_numba.runtime.compiler import kernel


@kernel
def sample_paths(symbols, offsets, document_number, tables, seed, size, scratch, out, out_offsets):
    """One segmentation of every document; returns the number of ids written.

    symbols int32 (alphabet ids), offsets int64[d + 1]; document_number, of the first one; tables, size, scratch as for
    `path_sums.sum_block`, for the longest document; seed uint64; out int32, room for all symbols; out_offsets int64[d + 1]. The
    caller allocates all. O(symbols + matches).

    The example above: [2, 0] where the draw is below 16/17, else [0, 1, 0].
    """
    _, _, _, _, _, matches, weights = tables
    list_at, tails = scratch[0], scratch[1]
    w = np.int64(0)
    out_offsets[0] = 0
    for d in range(offsets.size - 1):
        document = symbols[offsets[d] : offsets[d + 1]]
        blocks = sum_tails(document, size, tables, scratch)
        of_document = stream_of(seed, document_number + d)
        i = np.int64(0)
        for b in range(blocks):
            length = min(document.size - b * size, size) if b == 0 else sum_block(document, b, size, tables, scratch)
            while i < length:
                rest = np.float64(mix(of_document, b * size + i) >> np.uint64(11)) * (1.0 / (1 << 53)) * tails[i].mantissa
                k = tails[i].exponent
                j = np.int64(list_at[i])
                step = np.int64(matches[j].length)
                while step > 1:  # the symbol takes what is left by the others
                    rest -= scaled(tails[i + step].mantissa * weights[j], tails[i + step].exponent - k)
                    if rest < 0.0:
                        break
                    j += 1
                    step = np.int64(matches[j].length)
                out[w] = matches[j].token
                w += 1
                i += step
            i -= length
        out_offsets[d + 1] = w
    return w
