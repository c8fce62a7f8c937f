"""A hash table from strings of bytes in one text to numbers; look-ups of pairs of names.

int64 with open addressing, half full at most. An entry is a key and a length with the number. The key is the
bytes themselves up to 8, otherwise a hash. So a short string, as nearly all are, is found without reading the
text. "abc", number 258, which has the home 0::

    entry     0               1      2
    key       0x636261        -1     0x6463          ...
    value     3 << 32 | 258   -1     2 << 32 | 261            -1: empty

The hash is public, so the tokens of a file may be chosen to collide. A probe ends after a limited number of
entries: a string without a place by then is not entered. By chance that does not happen (a table of a million
strings: one in 10**15).
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import kernel, section
from ubpe_numba.runtime.machine.bytes import FIRST_BYTES, mixed, same_bytes
from ubpe_numba.runtime.machine.intrinsics import address, load64
from ubpe_numba.runtime.tables.pairs import MULTIPLIER

NONE = 0x7FFFFFFF  # the number or rank of a string in no table, above all others
CROWDED = -1  # the result for a string that is not entered
_MOST = 256  # entries that a probe visits
_COMPARED = 64  # the cost of an entry whose bytes are compared, in entries
_ANYWHERE = 1 << 62  # 8 bytes can be read at every position


@section
def number_of(text, i, n, starts, table, new):
    """Number of the string that equals the n bytes at i, int32, NONE if none does.

    O(n), whatever the strings.

    `text` is an address, of 8 bytes more than strings have. `starts` int64[V + 1] are the beginnings of
    strings, and the end. `table` is int64[2 * capacity], at most half full. A new string is entered as number
    `new` unless that is -1; CROWDED if it does not find a place. With the strings "a" and "ab" in "aabab",
    starts [0, 1, 3], the 2 bytes at 3 are number 1.
    """
    key = load64(text, i) & FIRST_BYTES[min(n, np.int64(8))]
    for k in range(8, n, 8):
        key = mixed(key) ^ (load64(text, i + k) & FIRST_BYTES[min(n - k, np.int64(8))])
    capacity = np.uint64(table.size // 2)
    # by the highest bits
    at = (((key ^ np.uint64(n)) * MULTIPLIER) >> np.uint64(32)) * capacity >> np.uint64(32)
    left = np.int64(_MOST)
    while table[2 * at + 1] >= 0:
        if table[2 * at] == np.int64(key) and table[2 * at + 1] >> 32 == n:
            t = table[2 * at + 1] & 0xFFFFFFFF
            if n <= 8 or same_bytes(text, starts[t], i, n, _ANYWHERE):
                return np.int32(t)
            left -= _COMPARED
        left -= 1
        if left < 0:
            return np.int32(NONE if new < 0 else CROWDED)
        at = at + np.uint64(1) if at + np.uint64(1) < capacity else np.uint64(0)
    if new >= 0:
        table[2 * at] = np.int64(key)
        table[2 * at + 1] = n << 32 | new
    return np.int32(NONE)


@kernel
def numbers_of_pairs(values, starts, pair_starts, table, found):
    """Numbers of both names of every pair, and of the name that they join to; -1 for unknown names.

    `values` uint8 are the bytes of V names, then of the pairs, left and right part side by side, and 8 more.
    `starts` int64[V + 1] and `pair_starts` int64[2 m + 1] are beginnings, and the end. `table` int64[2 *
    capacity] of at least 2 * V entries, filled with -1, gets the names. `found` int32[3, m] gets the numbers.
    The caller allocates both. Returns False if a name does not find a place in the table; `found` is not
    filled then. O(bytes).

    Names a, b, ab and the pairs (a, b), (b, a). Let values be "abababba" and 8 zeros, starts [0, 1, 2, 4],
    pair_starts [4, 5, 6, 7, 8]. Then found = [[0, 1], [1, 0], [2, -1]].
    """
    text = address(values)
    for t in range(starts.size - 1):
        if number_of(text, starts[t], starts[t + 1] - starts[t], starts, table, t) == CROWDED:
            return False
    for i in range(found.shape[1]):
        begin, middle, end = pair_starts[2 * i], pair_starts[2 * i + 1], pair_starts[2 * i + 2]
        left = number_of(text, begin, middle - begin, starts, table, np.int64(-1))
        right = number_of(text, middle, end - middle, starts, table, np.int64(-1))
        number = number_of(text, begin, end - begin, starts, table, np.int64(-1))
        found[0, i] = left if left != NONE else -1
        found[1, i] = right if right != NONE else -1
        found[2, i] = number if number != NONE else -1
    return True
