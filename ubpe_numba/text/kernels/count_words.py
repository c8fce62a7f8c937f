"""Counting the distinct segments of a text: open addressing over the segments' bytes.

An entry of the table is ENTRY int64 side by side, so that most segments touch one cache line: a key (bytes up to 8, or a hash),
`length << 32 | number + 1` (0 if empty), the weight, and where the segment first begins. The capacity is a power of two.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.jit import helper, kernel
from ubpe_numba.runtime.machine.byte_words import key_of, mixed, same_bytes
from ubpe_numba.runtime.machine.intrinsics import address

ENTRY = 4
_LONG = 0x7FFFFFFF  # lengths from here on look alike to the table, not to the comparison


@helper
def _home(key, tag, mask):
    """Where the search for a word starts. O(1)."""
    return np.int64(mixed(np.uint64(key) ^ (np.uint64(tag) << np.uint64(56))) & mask)


@kernel
def tally(values, segments, weights, table, words, n_words):
    """Add up the weights of equal segments; returns how many segments were done before the table was half full.

    values uint8, at least 8; segments int64[s + 1], weights int64[s]; table int64[ENTRY * capacity]; `words` int64[capacity] gets
    begin and end of every distinct segment in order of first appearance, `n_words` int64[1] their number. O(bytes) expected.
    """
    text = address(values)
    last = values.size - 8
    mask = np.uint64(table.size // ENTRY - 1)
    n = n_words[0]
    for s in range(weights.size):
        if 2 * n == words.size:
            n_words[0] = n
            return s
        begin = segments[s]
        length = segments[s + 1] - begin
        key = np.int64(key_of(text, begin, length, last))
        tag = min(length, _LONG)
        i = _home(key, tag, mask)
        while True:
            found = table[ENTRY * i + 1]
            if found == 0:
                table[ENTRY * i] = key
                table[ENTRY * i + 1] = tag << 32 | (n + 1)
                table[ENTRY * i + 2] = weights[s]
                table[ENTRY * i + 3] = begin
                words[2 * n] = begin
                words[2 * n + 1] = segments[s + 1]
                n += 1
                break
            if table[ENTRY * i] == key and found >> 32 == tag:
                first = table[ENTRY * i + 3]
                as_long = length < _LONG or words[2 * (found & 0xFFFFFFFF) - 1] - first == length
                if length <= 8 or (as_long and same_bytes(text, first, begin, length, last)):
                    table[ENTRY * i + 2] += weights[s]
                    break
            i = np.int64(np.uint64(i + 1) & mask)
    n_words[0] = n
    return weights.size


@kernel
def spread(table, larger):
    """Copy all entries of a table into a larger one, full of zeros. O(capacity)."""
    mask = np.uint64(larger.size // ENTRY - 1)
    for j in range(0, table.size, ENTRY):
        if table[j + 1]:
            i = _home(table[j], table[j + 1] >> 32, mask)
            while larger[ENTRY * i + 1]:
                i = np.int64(np.uint64(i + 1) & mask)
            for k in range(ENTRY):
                larger[ENTRY * i + k] = table[j + k]
