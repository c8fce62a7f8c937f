"""A hash table of strings of bytes, which stand one behind the other in one text: their numbers by their bytes.

int64 with open addressing, half full at most; for example with the string "abc", number 258, which has the home 0::

    index    0                1      2
    table    tag << 32 | 258   -1    tag << 32 | 261   ...      tag: 31 bits of the hash; -1: empty

The hash is no secret, so that the tokens of a file may be chosen to collide. A string that has no place within so many entries is
not entered, and not searched for behind them; by chance that does not happen (a table of a million strings: one of 10**15).
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.formats.kernels.parts import NONE
from ubpe_numba.runtime.compiler import section
from ubpe_numba.runtime.machine.byte_words import key_of, mixed, same_bytes

CROWDED = -1  # what a string becomes that is not entered
_MOST = 256  # entries that are looked at
_COMPARED = 64  # as how many of them one counts whose bytes had to be compared


@section
def number_of(text, i, n, last, starts, table, new):
    """The number of the string that the n bytes at i are, int32, NONE if they are none. O(n), whatever the strings.

    text: address; `last`: the last position where 8 bytes can be read; n at least 1; starts int64, where each string begins, and
    the end; table int64 of a power of two, at most half full. Bytes that are no string become string number `new` unless that is
    -1; CROWDED if there is no place for them. Of the strings "a" and "ab" in "aabab", starts [0, 1, 3]: the 2 bytes at 3 are
    number 1. A string that was entered is found: what stood before its place then is all that stands there now.
    """
    h = mixed(key_of(text, i, n, last) ^ np.uint64(n << 56))
    tag = np.int64(h >> np.uint64(33))
    mask = np.uint64(table.size - 1)
    at = h & mask
    left = np.int64(_MOST)
    while table[at] >= 0:
        if table[at] >> 32 == tag:
            t = table[at] & 0xFFFFFFFF
            if starts[t + 1] - starts[t] == n:
                if same_bytes(text, starts[t], i, n, last):
                    return np.int32(t)
                left -= _COMPARED
        left -= 1
        if left < 0:
            return np.int32(NONE if new < 0 else CROWDED)
        at = (at + np.uint64(1)) & mask
    if new >= 0:
        table[at] = (tag << 32) | new
    return np.int32(NONE)
