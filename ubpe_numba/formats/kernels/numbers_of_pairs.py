"""Looking up the names in pairs of names, and the names that both parts of a pair join to."""

from __future__ import annotations

import numpy as np

from ubpe_numba.formats.kernels.byte_strings import CROWDED, number_of
from ubpe_numba.formats.kernels.parts import NONE
from ubpe_numba.runtime.compiler import kernel
from ubpe_numba.runtime.machine.intrinsics import address


@kernel
def numbers_of_pairs(values, starts, pair_starts, table, found):
    """The numbers of both names of every pair, and of the name that they join to; -1 for one that is no name.

    values uint8: the bytes of V names, then those of the pairs, left and right part side by side, and 8 more; starts
    int64[V + 1], pair_starts int64[2 m + 1]: where each begins, and the end. table int64 of a power of two of at least 2 * V
    entries, filled with -1, gets the names (byte_strings.py). found int32[3, m] gets the numbers. The caller allocates all of it.
    Returns whether all names found a place in the table; if not, `found` is not filled. O(bytes).

    Names a, b, ab and the pairs (a, b), (b, a), values "abababba" and 8 zeros, starts [0, 1, 2, 4], pair_starts [4, 5, 6, 7, 8]:
    found = [[0, 1], [1, 0], [2, -1]].
    """
    text = address(values)
    last = values.size - 8
    for t in range(starts.size - 1):
        if number_of(text, starts[t], starts[t + 1] - starts[t], last, starts, table, t) == CROWDED:
            return False
    for i in range(found.shape[1]):
        begin, middle, end = pair_starts[2 * i], pair_starts[2 * i + 1], pair_starts[2 * i + 2]
        left = number_of(text, begin, middle - begin, last, starts, table, np.int64(-1))
        right = number_of(text, middle, end - middle, last, starts, table, np.int64(-1))
        made = number_of(text, begin, end - begin, last, starts, table, np.int64(-1))
        found[0, i] = left if left != NONE else -1
        found[1, i] = right if right != NONE else -1
        found[2, i] = made if made != NONE else -1
    return True
