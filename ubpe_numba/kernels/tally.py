"""Counting the distinct segments of a text: open addressing over the segments' bytes."""

from __future__ import annotations

import numpy as np

from ubpe_numba._jit import helper, kernel
from ubpe_numba.kernels.bytewords import key_of, mixed, same_bytes
from ubpe_numba.kernels.intrinsics import address

_LONG = 0x7FFFFFFF  # lengths from here on look alike to the table, not to the comparison


@helper
def _home(key, length, mask):
    """Where the search for a word starts. O(1)."""
    return np.int64(mixed(key ^ (np.uint64(length) << np.uint64(56))) & mask)


@kernel
def tally(values, segments, weights, table, words, totals, n_words):
    """Add up the weights of equal segments; returns how many segments were done before the table was half full.

    values uint8, at least 8; segments int64[s + 1], weights int64[s]. `table` int64[2 * capacity], a power of
    two, 0 where empty: key (8 bytes or a hash), and `length << 32 | number + 1`. `words` int64[capacity] gets begin and end of
    every distinct segment in order of first appearance, `totals` int64[capacity / 2] its weight, `n_words` int64[1] their number.
    O(bytes) expected.
    """
    text = address(values)
    last = values.size - 8
    mask = np.uint64((table.size >> 1) - 1)
    n = n_words[0]
    for s in range(weights.size):
        if n == totals.size:
            n_words[0] = n
            return s
        begin = segments[s]
        length = segments[s + 1] - begin
        key = key_of(text, begin, length, last)
        tag = min(length, _LONG)
        i = _home(key, length, mask)
        while True:
            found = table[2 * i + 1]
            if found == 0:
                table[2 * i] = np.int64(key)
                table[2 * i + 1] = tag << 32 | (n + 1)
                words[2 * n] = begin
                words[2 * n + 1] = segments[s + 1]
                totals[n] = weights[s]
                n += 1
                break
            if table[2 * i] == np.int64(key) and found >> 32 == tag:
                k = (found & 0xFFFFFFFF) - 1
                if length <= 8 or (
                    words[2 * k + 1] - words[2 * k] == length and same_bytes(text, words[2 * k], begin, length, last)
                ):
                    totals[k] += weights[s]
                    break
            i = np.int64((np.uint64(i) + np.uint64(1)) & mask)
    n_words[0] = n
    return weights.size


@kernel
def spread(table, words, larger):
    """Enter all words of a table into a larger one, full of zeros. O(capacity)."""
    mask = np.uint64((larger.size >> 1) - 1)
    for j in range(table.size >> 1):
        if table[2 * j + 1]:
            k = (table[2 * j + 1] & 0xFFFFFFFF) - 1
            i = _home(np.uint64(table[2 * j]), words[2 * k + 1] - words[2 * k], mask)
            while larger[2 * i + 1]:
                i = np.int64((np.uint64(i) + np.uint64(1)) & mask)
            larger[2 * i] = table[2 * j]
            larger[2 * i + 1] = table[2 * j + 1]
