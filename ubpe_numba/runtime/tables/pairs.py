"""A hash table of pairs: pair -> count or token, and slot.

A pair is one int64, `left << 32 | right`. Open addressing with linear probing is used over `entries`, int64[2
* capacity] with key and value side by side (one cache miss per look-up, 44 ns on a large table). `slots`,
int32[capacity], is read only when a pair is merged or created. The capacity is a power of two and at least
twice the number of pairs; the caller allocates, and moves to larger arrays in time. Capacity 8, the pairs (1,
2), (3, 1) and (0, 5), the first two of the same home 2:

    index      0       1       2          3          4          5 ...
    entries    -1 .    -1 .    (1, 2) 9   (3, 1) 7   (0, 5) 4   -1 .
    slots      .       .       0          2          1          .

A removed pair leaves no tombstone: the entries after it are shifted back. Without (1, 2) the pair (3, 1) is
at 2, and (0, 5), whose home is 4, stays.

`entries` are not records of two fields: kernels pass plain int64 arrays.

Tables that encoders only read, pair -> id, are as large, in buckets of 16 words, 8 keys and 8 values. `enter`
fills them. `value_of` compares all keys of a bucket at once, without a branch that depends on the pair. The
hash of a pair determines its bucket. If it is full, the pair goes to the next bucket, so a look-up continues
after a bucket whose last place is used::

    word       0       1       2 ...  7    8    9    10 ... 15
    bucket 0   (1, 2)  (0, 5)  -1 ... -1   9    4    -1 ... -1
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import helper, kernel, section
from ubpe_numba.runtime.machine.intrinsics import address, value_of_8_words

EMPTY = -1
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio: spreads neighbouring pairs


@helper
def pair_of(left, right):
    """The int64 key of a pair: `(1, 2)` -> `1 << 32 | 2`."""
    return (np.int64(left) << 32) | np.int64(right)


@helper
def hash_of(pair):
    """A uint64 whose upper bits depend on all of the pair. O(1)."""
    return np.uint64(pair) * MULTIPLIER


@helper
def home(pair, mask):
    """Where the search for a pair starts. O(1)."""
    h = hash_of(pair)
    return np.int64((h ^ (h >> np.uint64(32))) & np.uint64(mask))


@helper
def find(entries, pair):
    """Index of the pair, or -1: of (3, 1) above, 3. `entries[2 * index + 1]` is its value. O(1) expected."""
    mask = (entries.size >> 1) - 1
    i = home(pair, mask)
    while entries[2 * i] != pair:
        if entries[2 * i] == EMPTY:
            return np.int64(-1)
        i = (i + 1) & mask
    return i


@helper
def put(entries, slots, pair, count, slot):
    """Add a pair that is not in the table. O(1) expected."""
    mask = (entries.size >> 1) - 1
    i = home(pair, mask)
    while entries[2 * i] != EMPTY:
        i = (i + 1) & mask
    entries[2 * i] = pair
    entries[2 * i + 1] = count
    slots[i] = slot


@helper
def remove(entries, slots, i):
    """Remove the pair at index `i`, shifting back the entries that were pushed past it. O(1) expected."""
    mask = (entries.size >> 1) - 1
    j = i
    while True:
        j = (j + 1) & mask
        pair = entries[2 * j]
        if pair == EMPTY:
            break
        # an entry may move to the hole unless its home lies between the hole and itself
        if ((j - home(pair, mask)) & mask) >= ((j - i) & mask):
            entries[2 * i] = pair
            entries[2 * i + 1] = entries[2 * j + 1]
            slots[i] = slots[j]
            i = j
    entries[2 * i] = EMPTY


@section
def enter(left, right, first_value, entries):
    """Enter the pairs (left[i], right[i]), int32[m], with the values `first_value + i`. O(m).

    The buckets are full of EMPTY.

    left [0, 4], right [1, 2], first_value 4: the table holds (0, 1) -> 4 and (4, 2) -> 5.
    """
    for j in range(left.size):
        pair = pair_of(left[j], right[j])
        i = 16 * home(pair, (entries.size >> 4) - 1)
        while entries[i] != EMPTY:
            i = i + 1 if i & 7 < 7 else (i + 9) & (entries.size - 1)
        entries[i] = pair
        entries[i + 8] = first_value + j


@helper
def value_of(entries, pair):
    """The value of a pair in buckets, -1 if missing: of (0, 5) above, 4. O(1) expected."""
    i = 16 * home(pair, (entries.size >> 4) - 1)
    value = value_of_8_words(address(entries) + 8 * i, pair)
    while (value < 0) & (entries[i + 7] != EMPTY):  # one branch, rarely taken
        i = (i + 16) & (entries.size - 1)
        value = value_of_8_words(address(entries) + 8 * i, pair)
    return value


@kernel
def rehash(entries, slots, new_entries, new_slots):
    """Copy all pairs into larger arrays, which the caller allocates; `new_entries` is full of EMPTY.

    O(capacity).

    The three pairs above, in a table of capacity 16, are at their homes there, with the same values and
    slots.
    """
    for i in range(slots.size):
        if entries[2 * i] != EMPTY:
            put(new_entries, new_slots, entries[2 * i], entries[2 * i + 1], slots[i])
