"""Finding the pairs of a table that has only tokens and ranks, as tiktoken has it.

There two neighbours merge if the bytes of both are a token, that of the lowest rank first. Tokens are looked up in three tables:
of one byte, of two bytes, and, longer ones, in a hash table (byte_strings.py).
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.formats.kernels.byte_strings import CROWDED, number_of
from ubpe_numba.formats.kernels.parts import NONE, lowest_rank
from ubpe_numba.runtime.compiler import kernel
from ubpe_numba.runtime.machine.intrinsics import address


@kernel
def pairs_of_ranks(values, starts, n_symbols, one, two, table, ends, ranks, parts, pairs):
    """The two tokens that are merged last when each token is encoded by itself; a token's number is its rank.

    values uint8: the bytes of all tokens and 8 more; starts int64[V + 1]: where each begins, the `n_symbols` of one byte first,
    then by rank. one int32[256], two int32[65536], filled with NONE, and table int64 of a power of two of at least 2 * V entries,
    filled with -1, get the tokens. ends, ranks, parts int32: scratch of the longest token (parts.py; `parts` are the numbers of
    the parts). pairs int32[V - n_symbols, 2] gets the numbers of the two, -1 twice for a token that its parts are not merged to.
    The caller allocates all of it. Returns -1, or the number of a token that is there twice, or -2 if one has no place in the
    table. O(length**2) a token, in all O(bytes) for real vocabularies.

    The tokens a, b, c, ab, bc, abc, n_symbols 3: abc is a b c, then ab c, since ab has the lower rank, so that pairs are
    [[0, 1], [1, 2], [3, 2]]; without ab and bc those of abc are [-1, -1].
    """
    text = address(values)
    last = values.size - 8
    for t in range(starts.size - 1):
        begin = starts[t]
        n = starts[t + 1] - begin
        found = np.int32(NONE)
        if n == 1:
            found = one[values[begin]]
            one[values[begin]] = t
        elif n == 2:
            pair = (np.int64(values[begin]) << 8) | values[begin + 1]
            found = two[pair]
            two[pair] = t
        else:
            found = number_of(text, begin, n, last, starts, table, t)
            if found == CROWDED:
                return np.int64(-2)
        if found != NONE:
            return np.int64(t)
    for t in range(n_symbols, starts.size - 1):
        begin = starts[t]
        n = starts[t + 1] - begin
        for i in range(n):
            ends[i] = i + 1
            parts[i] = one[values[begin + i]]
            ranks[i] = NONE
        for i in range(n - 1):
            ranks[i] = two[(np.int64(values[begin + i]) << 8) | values[begin + i + 1]]
        while ends[0] < n and ends[ends[0]] < n:
            at, before = lowest_rank(ends, ranks, n)
            if ranks[at] == NONE:
                break
            parts[at] = ranks[at]
            end = np.int64(ends[ends[at]])
            ends[at] = end
            ranks[at] = NONE
            if end < n:
                ranks[at] = number_of(text, begin + at, np.int64(ends[end]) - at, last, starts, table, np.int64(-1))
            if before >= 0:
                ranks[before] = number_of(text, begin + before, end - before, last, starts, table, np.int64(-1))
        pairs[t - n_symbols, 0] = -1
        pairs[t - n_symbols, 1] = -1
        if ends[ends[0]] == n and parts[0] != NONE and parts[ends[0]] != NONE:
            pairs[t - n_symbols, 0] = parts[0]
            pairs[t - n_symbols, 1] = parts[ends[0]]
    return np.int64(-1)
