"""Counting the distinct segments of a text in a hash table with open addressing.

The table has a power of two of entries. An entry is ENTRY int64 side by side, so that most segments touch one cache line::

    +---------------------+----------------------------+-------------+----------------------+
    | key: the bytes, or  | length << 32 | number + 1  | weight      | where the segment    |
    | a hash of more than | (0: no entry; _LONG stands | so far      | first begins in the  |
    | 8 of them           | for all lengths above it)  |             | text                 |
    +---------------------+----------------------------+-------------+----------------------+

    words  begin and end of segment number 0, of number 1, ...

The search for a segment starts at the hash of key and length and goes to the next entry until it finds the segment or an empty
entry; the table is at most half full. "no, no, no" in the segments of gpt2, of weight 1 each, whatever entry each comes to:

    "no"   2 << 32 | 1   weight 1   begin 0            words [0, 2, 2, 3, 3, 6]
    ","    1 << 32 | 2   weight 2   begin 2
    " no"  3 << 32 | 3   weight 2   begin 3
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.jit import helper, kernel
from ubpe_numba.runtime.machine.byte_words import key_of, mixed, same_bytes
from ubpe_numba.runtime.machine.intrinsics import address

ENTRY = 4  # int64 of an entry
_LONG = 0x7FFFFFFF  # segments of this length and longer ones: their lengths are compared in `words`


@helper
def _home(key, tag, mask):
    """The entry where the search for a segment starts; `tag` is its length, at most _LONG. O(1)."""
    return np.int64(mixed(np.uint64(key) ^ (np.uint64(tag) << np.uint64(56))) & mask)


@kernel
def tally(values, segments, weights, table, words, n_words):
    """Add up the weights of equal segments; returns how many segments were done when the table was half full, or all of them.

    values uint8[n], at least 8; segments int64[s + 1], weights int64[s]; table int64[ENTRY * capacity], zeros at first; words
    int64[capacity] gets begin and end of every distinct segment in order of first appearance, n_words int64[1] is their number.
    The caller allocates all of them, and calls again with a larger table (`spread`) and the rest. O(bytes) expected.

    values "no, no, no", segments [0, 2, 3, 6, 7, 10], weights all 1, capacity 8 -> returns 5, n_words [3], words
    [0, 2, 2, 3, 3, 6, _, _], the table as above. With a capacity of 4: returns 2, since two of four entries are used.
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
    """Copy all entries of a table into a larger one, full of zeros: each to its own place there. O(capacity).

    table int64[ENTRY * capacity], larger int64[ENTRY * a greater power of two]; the caller allocates both.

    Two segments whose hashes end in the bits 1101 and 0101 are entries 1 and 2 of 4 (the second finds entry 1 taken), and entries
    13 and 5 of 16.
    """
    mask = np.uint64(larger.size // ENTRY - 1)
    for j in range(0, table.size, ENTRY):
        if table[j + 1]:
            i = _home(table[j], table[j + 1] >> 32, mask)
            while larger[ENTRY * i + 1]:
                i = np.int64(np.uint64(i + 1) & mask)
            for k in range(ENTRY):
                larger[ENTRY * i + k] = table[j + k]
