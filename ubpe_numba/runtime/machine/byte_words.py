"""Short strings of bytes as machine words: keys and comparison for hash tables. Texts are given by their addresses."""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import helper
from ubpe_numba.runtime.machine.intrinsics import load64

_FIRST = np.uint64(0x9E3779B97F4A7C15)
_SECOND = np.uint64(0xD6E8FEB86659FD93)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)

SHORT = 15  # bytes of the longest string that a key of two words holds, with its length
# the bits that the first 8 bytes of a word of n bytes have, and the other 7: to look them up is faster than to compute them
_FIRST_BYTES = np.array([(1 << 8 * min(n, 8)) - 1 for n in range(SHORT + 1)], np.uint64)
_LAST_BYTES = np.array([(1 << 8 * max(n - 8, 0)) - 1 for n in range(SHORT + 1)], np.uint64)


@helper
def eight_bytes(text, i, n, last):
    """The n bytes at i as a uint64, zeros behind them; all 8 if n is more, none if it is less than 1. O(1), without a branch.

    `last` is the last position where 8 bytes can be read: a text has at least 8. Of `abcdefghij`, last 2: i = 1, n = 3 -> `bcd`
    as 0x646362; i = 8, n = 2 -> `ij`, read at 2 and shifted.
    """
    n = min(max(n, np.int64(0)), np.int64(8))
    start = min(i, last)
    word = load64(text, start) >> np.uint64(8 * min(i - start, np.int64(7)))
    half = np.uint64(32 - 4 * n)  # twice half of the shift: a shift by 64 is undefined
    return word & (_ALL >> half >> half)


@helper
def key_of_short(text, i, n, last):
    """The key of the n bytes at i, 1..SHORT: two uint64. `last`: the last position where 8 bytes can be read. O(1).

    "ba" -> 0x6162, 2 << 56.
    """
    if i + 8 <= last:
        lo = load64(text, i) & _FIRST_BYTES[n]
        hi = load64(text, i + 8) & _LAST_BYTES[n]
    else:
        lo = eight_bytes(text, i, n, last)
        hi = eight_bytes(text, i + 8, n - 8, last)
    return lo, hi | np.uint64(n) << np.uint64(56)


@helper
def mixed(word):
    """A hash of a uint64: all bits of the result depend on all of the word. O(1)."""
    word = (word ^ (word >> np.uint64(32))) * _FIRST
    word = (word ^ (word >> np.uint64(29))) * _SECOND
    return word ^ (word >> np.uint64(32))


@helper
def mixed_two(a, b):
    """A hash of two uint64 by which tables can be addressed: its lowest bits depend on all bits of both. O(1)."""
    word = (a ^ (b * _SECOND)) * _FIRST
    return word ^ (word >> np.uint64(32))


@helper
def mixed_three(a, b, c):
    """A hash of three uint64. O(1)."""
    return mixed(a ^ (b * _FIRST) ^ (c * _SECOND))


@helper
def key_of(text, i, n, last):
    """A uint64 that stands for the n bytes at i: the bytes themselves up to 8, a hash of more. O(n).

    `ab` -> 0x6261. Two texts of the same length of more than 8 bytes may have the same key: compare them by `same_bytes`.
    """
    if n <= 8:
        return eight_bytes(text, i, n, last)
    key = np.uint64(n)
    for k in range(0, n, 8):
        key = (key ^ eight_bytes(text, i + k, n - k, last)) * _FIRST
        key ^= key >> np.uint64(29)
    return key


@helper
def same_bytes(text, i, j, n, last):
    """Whether the n bytes at i and those at j are equal: `abcabd`, i = 0, j = 3 -> True for n = 2, False for 3. O(n)."""
    k = np.int64(0)
    while k < n and eight_bytes(text, i + k, n - k, last) == eight_bytes(text, j + k, n - k, last):
        k += 8
    return k >= n
