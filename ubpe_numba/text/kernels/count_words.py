"""Counting the distinct segments of a text in a hash table with open addressing.

The table has a power of two of entries. An entry is ENTRY int64 side by side, so that most segments touch one
cache line, and of those of up to 15 bytes not even the text::

    +---------------------+----------------------------+-------------+------------+
    | the first 8 bytes,  | the other 7, and in the    | weight      | number + 1 |
    | or a hash of more   | highest byte the length;   | so far      | (0: no     |
    | than 15 of them     | or LONG and the length     |             | entry)     |
    +---------------------+----------------------------+-------------+------------+

    words  begin and end of segment number 0, of number 1, ...

The search for a segment starts at a hash of the first two. It goes to the next entry until it finds the
segment or an empty entry; the table is at most half full. Example: "no, no, no" in the segments of gpt2, of
weight 1 each, at some entries:

    "no"   0x6F6E    2 << 56   weight 1   1      words [0, 2, 2, 3, 3, 6]
    ","    0x2C      1 << 56   weight 2   2
    " no"  0x6F6E20  3 << 56   weight 2   3

Segments are handled in batches: all keys first, whose entries the processor fetches side by side, then the
searches.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import kernel
from ubpe_numba.runtime.machine.bytes import SHORT, key_of, key_of_short, mixed_two, same_bytes
from ubpe_numba.runtime.machine.intrinsics import address, prefetch

ENTRY = 4  # int64 of an entry
BATCH = 128  # segments whose entries are fetched before they are compared
ROOM = 3 * BATCH  # int64 of the scratch for a batch: of each segment two keys, and where its search begins
_LONG = 1 << 62  # in addition to the length, for all others


@kernel
def tally(values, segments, weights, table, words, n_words, batch):
    """Add up the weights of equal segments; returns how many segments were done.

    It stops when the table is half full.

    `values` uint8[n] has at least 8 bytes. `segments` is int64[s + 1], `weights` int64[s]. `table` is
    int64[ENTRY * capacity], zeros at first. `words` int64[capacity] gets begin and end of every distinct
    segment in order of first appearance, and `n_words` int64[1] their number. `batch` int64[ROOM] is scratch.
    The caller allocates all of them, and calls again with a larger table (`spread`) and the rest. O(bytes)
    expected.

    Let values be "no, no, no", segments [0, 2, 3, 6, 7, 10], weights all 1, capacity 8. It returns 5, n_words
    is [3], words [0, 2, 2, 3, 3, 6, _, _], the table as above. With a capacity of 4 it returns 2, since two
    of four entries are used.
    """
    text = address(values)
    last = values.size - 8
    mask = np.uint64(table.size // ENTRY - 1)
    wrap = np.uint64(table.size - 1)
    n = n_words[0]
    s = 0
    while s < weights.size and 2 * n < words.size:
        size = min(BATCH, weights.size - s, words.size // 2 - n)
        for k in range(size):
            begin = segments[s + k]
            length = segments[s + k + 1] - begin
            if length <= SHORT:
                low, high = key_of_short(text, begin, length, last)
                first = np.int64(low)
                second = np.int64(high)
            else:
                first = np.int64(key_of(text, begin, length, last))
                second = _LONG | length
            # start of the search
            i = ENTRY * np.int64(mixed_two(np.uint64(first), np.uint64(second)) & mask)
            prefetch(table, i)
            batch[3 * k] = first
            batch[3 * k + 1] = second
            batch[3 * k + 2] = i
        for k in range(size):
            first = batch[3 * k]
            second = batch[3 * k + 1]
            i = batch[3 * k + 2]
            begin = segments[s + k]
            while table[i + 3] and not (
                table[i] == first
                and table[i + 1] == second
                and (
                    second < _LONG
                    or same_bytes(text, words[2 * (table[i + 3] - 1)], begin, second - _LONG, last)
                )
            ):
                i = np.int64(np.uint64(i + ENTRY) & wrap)
            if table[i + 3] == 0:
                table[i] = first
                table[i + 1] = second
                words[2 * n] = begin
                words[2 * n + 1] = segments[s + k + 1]
                n += 1
                table[i + 3] = n
            table[i + 2] += weights[s + k]
        s += size
    n_words[0] = n
    return s


@kernel
def spread(table, larger):
    """Copy all entries of a table into a larger one, full of zeros: each to its own place there. O(capacity).

    table int64[ENTRY * capacity], larger int64[ENTRY * a greater power of two]; the caller allocates both.

    Two segments whose hashes end in the bits 1101 and 0101 are entries 1 and 2 of 4 (the second finds entry 1
    in use). In a table of 16 they are entries 13 and 5.
    """
    mask = np.uint64(larger.size // ENTRY - 1)
    for j in range(0, table.size, ENTRY):
        if table[j + 3]:
            i = np.int64(mixed_two(np.uint64(table[j]), np.uint64(table[j + 1])) & mask)
            while larger[ENTRY * i + 3]:
                i = np.int64(np.uint64(i + 1) & mask)
            for k in range(ENTRY):
                larger[ENTRY * i + k] = table[j + k]


@kernel
def collect(values, table, words, offsets, spelled, weights):
    """Copy the bytes of all distinct segments, and their weights, in the order of their numbers.

    O(bytes + capacity).

    values uint8[n]; table and words as `tally` leaves them; offsets int64[w + 1], where each segment goes in
    spelled uint8; weights int64[w]. The caller allocates all of them.

    After "no, no, no": offsets [0, 2, 3, 6] -> spelled "no, no", weights [1, 2, 2].
    """
    for j in range(0, table.size, ENTRY):
        if table[j + 3]:
            weights[table[j + 3] - 1] = table[j + 2]
    for k in range(weights.size):
        begin = words[2 * k]
        for x in range(offsets[k], offsets[k + 1]):
            spelled[x] = values[begin + x - offsets[k]]
