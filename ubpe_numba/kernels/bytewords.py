"""Short strings of bytes as machine words: keys and comparison for hash tables. Texts are given by their addresses."""

from __future__ import annotations

import numpy as np

from ubpe_numba._jit import helper, section
from ubpe_numba.kernels.intrinsics import load8, load64

_FIRST = np.uint64(0x9E3779B97F4A7C15)
_SECOND = np.uint64(0xD6E8FEB86659FD93)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@helper
def eight_bytes(text, i, n, size):
    """The n bytes at i as a uint64, zeros behind them; all 8 if n is more, none if it is less than 0. O(1).

    `size` is where the text ends: past it nothing is read.
    """
    n = min(max(n, np.int64(0)), np.int64(8))
    if i + 8 <= size:
        half = np.uint64(32 - 4 * n)  # twice half of the shift: a shift by 64 is undefined
        return load64(text, i) & (_ALL >> half >> half)
    return _one_by_one(text, i, n)


@section
def _one_by_one(text, i, n):
    word = np.uint64(0)
    for k in range(n):
        word |= np.uint64(load8(text, i + k)) << np.uint64(8 * k)
    return word


@helper
def mixed(word):
    """A hash of a uint64: all bits of the result depend on all of the word. O(1)."""
    word = (word ^ (word >> np.uint64(32))) * _FIRST
    word = (word ^ (word >> np.uint64(29))) * _SECOND
    return word ^ (word >> np.uint64(32))


@helper
def mixed_three(a, b, c):
    """A hash of three uint64. O(1)."""
    return mixed(a ^ (b * _FIRST) ^ (c * _SECOND))


@helper
def key_of(text, i, n, size):
    """A uint64 that stands for the n bytes at i: the bytes themselves up to 8, a hash of more. O(n)."""
    if n <= 8:
        return eight_bytes(text, i, n, size)
    key = np.uint64(n)
    for k in range(0, n, 8):
        key = (key ^ eight_bytes(text, i + k, n - k, size)) * _FIRST
        key ^= key >> np.uint64(29)
    return key


@helper
def same_bytes(text, i, j, n, size):
    """Whether the n bytes at i and those at j are equal. O(n)."""
    for k in range(0, n, 8):
        if eight_bytes(text, i + k, n - k, size) != eight_bytes(text, j + k, n - k, size):
            return False
    return True
