"""Sums over all segmentations of a document: expected counts of tokens, and samples.

A segmentation weighs the product of the weights of its tokens.

The searches for the best path keep the best tail of every position; here the tails of a position are added
up. With the symbols 0 and 1 of weight 1/4 and 1/8 and the token 2 = [0, 1] of weight 1/2, the document [0, 1,
0]:

    position    0                       1               2       3, the end
    tails       1/4*1/32 + 1/2*1/4      1/8*1/4         1/4     1           all segmentations of the rest
                = 17/128                = 1/32
    heads       1                       1/4             17/32   17/128      all segmentations before it

The segmentations of the whole weigh 17/128. Those in which a token begins at position 1 weigh heads * tails =
1/128 there, 1/17 of all. The list of tokens that start at a position follows from the state of the automaton
(4 bytes), so the forward pass does not need stored matches.

Numbers are pairs: mantissa * 2**(-256 * exponent). No logarithm is computed per match, and documents of any
length neither overflow nor underflow. Only sums, products and quotients occur, which have the same bits on
every processor. A token weighs 2**-96..2**96. Once per position, one step brings the mantissa to
2**-128..2**128. If the exponents of two products differ by 2 or more, the smaller is less than 2**-64 of the
other, and is left out.

Memory does not grow with documents. A document longer than a block is summed block by block from its end.
Each block keeps only the sums within reach of its left neighbor; the forward pass computes the sums of a
block again from these:

    block       0           1           2
                |-----------|-----------|------|
    kept                    |--         |--      sums of the first `reach` positions of a block, and its state

Expected counts. The probability of a segmentation is its share of the sum over all. The token t from s to e
has the probability heads(s) * weight(t) * tails(e) / tails(0). Above, token 2 at 0 has 1 * 1/2 * 1/4 /
(17/128) = 16/17, and the expected counts are 18/17 of 0, 1/17 of 1, 16/17 of 2. They are added in fixed
point: sums of integers do not depend on the order, so not on the number of threads. Source: the E step of the
EM algorithm for hidden Markov models (L. Baum, 1972), on the lattice of T. Kudo, 2018.

Samples. The tails of all positions are summed from the end, then tokens are sampled from the start. At s the
token t to e has the probability weight(t) * tails(e) / tails(s); above, token 2 at 0 has 16/17 again. Each
token uses one random number, a function of (seed, document, position): the same for any number of threads and
any order of work. Source: forward filtering and backward sampling (C. Carter and R. Kohn, 1994), with the
directions exchanged.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.coding.kernels.merge_by_heap import mix, stream_of
from ubpe_numba.runtime.compiler import helper, kernel, section
from ubpe_numba.runtime.tables.automaton import list_of, next_state

#: A number, mantissa * 2**(-256 * exponent).
SUM = np.dtype([("mantissa", np.float64), ("exponent", np.int64)])
#: What a token may weigh.
LEAST, MOST = 2.0**-96, 2.0**96
#: The exponent of 0, beyond all others.
NOTHING = 1 << 40

UP, DOWN = 2.0**256, 2.0**-256
_SMALL, _LARGE = 2.0**-128, 2.0**128


@helper
def plus(m, k, x, j):
    """The sum of two numbers, mantissas m and x, exponents k and j. O(1).

    (1.0, 3) and (0.5, 3) -> (1.5, 3); (1.0, 3) and (1.0, 4) -> (1.0 + 2**-256, 3), which rounds to (1.0, 3).
    """
    if k == j:
        return m + x, k
    if j < k:
        return (m * DOWN + x if k - j == 1 else x), j
    return (m + x * DOWN if j - k == 1 else m), k


@helper
def normal(m, k):
    """The number with a mantissa in 2**-128..2**128, if it is in 2**-384..2**384.

    (2.0**130, 3) -> (2.0**-126, 2). O(1).
    """
    if m < _SMALL:
        return m * UP, k + 1
    if m > _LARGE:
        return m * DOWN, k - 1
    return m, k


@helper
def scaled(x, j):
    """The number x * 2**(-256 * j), at most about 1, as a float; a tiny number becomes 0.

    (2.0**-257, -1) -> 0.5. O(1).
    """
    if j == 0:
        return x
    if j < 0:
        return x * UP
    if j <= 2:
        return x * DOWN if j == 1 else x * DOWN * DOWN
    return 0.0


@section
def sum_block(document, b, size, tables, scratch):
    """Sum up the tails of the positions of block b, from its end; returns how many positions it has.

    `document` int32[n] holds alphabet ids. `size` is that of a block. `tables` holds edges, states, listed,
    owners, rows and matches of automaton.py, and float64 weights, those of the tokens of `matches`. `scratch`
    belongs to the caller. Its `list_at` int32[size] gets the list of each position of the block, and `tails`
    SUM[size + reach] the tails from its first position on. `kept` SUM[blocks, reach] and `kept_states`
    int64[blocks] hold the first `reach` positions of the next block, unless the document ends there. The
    block enters its own into them. A token has fewer than `reach` symbols. O(symbols + matches).

    The example above in one block: tails 17/128, 1/32, 1/4, 1, of exponent 0.
    """
    edges, states, listed, owners, rows, matches, weights = tables
    list_at, tails, kept_sums, kept_states = scratch
    n = document.size
    reach = kept_sums.shape[1]
    begin = b * size
    length = min(n - begin, size)
    if begin + length == n:
        state = np.int64(-1)
        tails[length].mantissa = 1.0
        tails[length].exponent = 0
    else:
        state = kept_states[b + 1]
        for i in range(reach):
            tails[length + i].mantissa = kept_sums[b + 1, i].mantissa
            tails[length + i].exponent = kept_sums[b + 1, i].exponent
    upcoming = state
    ahead = ahead_step = np.int64(0)
    for i in range(length if length > 0 else -1, -1, -1):  # states and lists ahead, as in `packed_paths`
        state = upcoming
        upcoming = next_state(edges, states, listed, owners, rows, state, document[begin + max(i - 1, 0)])
        j = ahead
        step = ahead_step
        ahead, ahead_step = list_of(listed, matches, upcoming)
        if i == length:
            continue
        list_at[i] = j
        m = tails[i + step].mantissa * weights[j]
        k = tails[i + step].exponent
        while step > 1:
            j += 1
            step = np.int64(matches[j].length)
            m, k = plus(m, k, tails[i + step].mantissa * weights[j], tails[i + step].exponent)
        m, k = normal(m, k)
        tails[i].mantissa = m
        tails[i].exponent = k
    if b > 0:
        kept_states[b] = state
        for i in range(reach):
            kept_sums[b, i].mantissa = tails[i].mantissa
            kept_sums[b, i].exponent = tails[i].exponent
    return length


@helper
def sum_tails(document, size, tables, scratch):
    """Sum up the tails of a document; returns the number of blocks, of which the first is left in `tails`.

    Arguments as for `sum_block`; at least one block. In blocks of 2 symbols the example above has 2, and
    [1/4, 1] is kept of the second. O(symbols + matches).
    """
    blocks = max(1, (document.size + size - 1) // size)
    for b in range(blocks - 1, -1, -1):
        sum_block(document, b, size, tables, scratch)
    return blocks


@kernel
def expected_counts(
    symbols, offsets, n_copies, tables, one, size, scratch, heads, counts, totals, boundaries
):
    """Add the expected number of every token, times `one` and copies, to `counts` int64[V].

    Each contribution is rounded to an integer.

    `symbols` int32 (alphabet ids), offsets int64[d + 1], n_copies int64[d], as how many documents each
    counts. `totals` SUM[d], the weight of all segmentations of a document. `boundaries` float64, the
    probability that a token begins at each of the symbols, or empty. tables, size, scratch as for
    `sum_block`, for the longest document. `heads` SUM[a power of two above the longest token], of position e
    at e modulo that. The caller allocates all, and chooses `one` so that counts fit. O(symbols + matches).

    The example above with `one` = 17: counts 18, 1, 16, totals 17/128, boundaries 1, 1/17, 1.
    """
    _, _, _, _, _, matches, weights = tables
    list_at, tails = scratch[0], scratch[1]
    ring = np.int64(heads.size - 1)
    for d in range(offsets.size - 1):
        document = symbols[offsets[d] : offsets[d + 1]]
        blocks = sum_tails(document, size, tables, scratch)
        z = tails[0].mantissa
        zk = tails[0].exponent
        totals[d].mantissa = z
        totals[d].exponent = zk
        unit = one * np.float64(n_copies[d])
        for i in range(heads.size):
            heads[i].mantissa = 0.0
            heads[i].exponent = NOTHING
        heads[0].mantissa = 1.0
        heads[0].exponent = 0
        for b in range(blocks):
            length = (
                min(document.size - b * size, size)
                if b == 0
                else sum_block(document, b, size, tables, scratch)
            )
            for i in range(length):
                s = b * size + i
                m, k = normal(heads[s & ring].mantissa, heads[s & ring].exponent)
                heads[s & ring].mantissa = 0.0  # taken: the place is free for a later position
                heads[s & ring].exponent = NOTHING
                if boundaries.size:
                    boundaries[offsets[d] + s] = min(
                        1.0, scaled(m * tails[i].mantissa / z, k + tails[i].exponent - zk)
                    )
                share = m / z
                j = np.int64(list_at[i]) - 1
                step = np.int64(0)
                while step != 1:
                    j += 1
                    step = np.int64(matches[j].length)
                    e = (s + step) & ring
                    x, xk = plus(heads[e].mantissa, heads[e].exponent, m * weights[j], k)
                    heads[e].mantissa = x
                    heads[e].exponent = xk
                    x = scaled(
                        share * weights[j] * tails[i + step].mantissa, k + tails[i + step].exponent - zk
                    )
                    counts[matches[j].token] += np.int64(x * unit + 0.5)


@kernel
def sample_paths(symbols, offsets, document_number, tables, seed, size, scratch, out, out_offsets):
    """One segmentation of every document; returns the number of ids written.

    `symbols` int32 (alphabet ids), offsets int64[d + 1]. `document_number`, of the first one. `tables`, size,
    scratch as for `sum_block`, for the longest document. `seed` uint64. `out` int32, room for all symbols.
    `out_offsets` int64[d + 1]. The caller allocates all. O(symbols + matches).

    The example above: [2, 0] if the random number is below 16/17, otherwise [0, 1, 0].
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
            length = (
                min(document.size - b * size, size)
                if b == 0
                else sum_block(document, b, size, tables, scratch)
            )
            while i < length:
                rest = (
                    np.float64(mix(of_document, b * size + i) >> np.uint64(11))
                    * (1.0 / (1 << 53))
                    * tails[i].mantissa
                )
                k = tails[i].exponent
                j = np.int64(list_at[i])
                step = np.int64(matches[j].length)
                while step > 1:  # the symbol gets the remaining probability
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
