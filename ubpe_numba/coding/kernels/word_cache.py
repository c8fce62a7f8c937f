"""Words of text that are encoded already: two caches that a thread keeps from call to call.

Short words, up to SHORT bytes, are in buckets of 64 bytes, a cache line of the processor, two words each; the hash of a word says
which one bucket may hold it. The ids are in place, up to SHORT_IDS; a new word goes in front, and the one behind is lost::

    byte   0       8           15       16    20    24    28        32 ...
           +-------+-----------+--------+-----+-----+-----+---------+----------------------+
           | the bytes of the  | length | ids, int32      | number  | the same, of another |
           | word, zeros       | 1 byte | SHORT_IDS       | of ids  | word                 |
           +-------+-----------+--------+-----+-----+-----+---------+----------------------+

    " baba" that encodes to [257, 256]:   " bab" "a" 0 ... 5  |  257  256  .  2

The first 16 bytes are the key of a word, two uint64; an empty place has the length 0. Longer words, up to LONG bytes, have lines
of 128 bytes, one word each, LONG_IDS ids; the word of a line that is needed is lost::

    byte   0         4                8                           64 ...
           +---------+----------------+---------------------------+-------------------------+
           | length  | number of ids  | the bytes of the word     | ids, int32, LONG_IDS    |
           +---------+----------------+---------------------------+-------------------------+
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import helper, kernel
from ubpe_numba.runtime.machine.byte_words import SHORT, key_of_short, mixed_two
from ubpe_numba.runtime.machine.intrinsics import address, load64, store32, store64
from ubpe_numba.runtime.machine.vectors import copy_16_bytes, copy_64_bytes

SHORT_IDS = 3
BUCKET = 64
LONG = 48
LONG_IDS = 16
LINE = 128
_FIRST = np.uint64(0x9E3779B97F4A7C15)
_SECOND = np.uint64(0xD6E8FEB86659FD93)


@helper
def bucket_of_short(buckets, mask, lo, hi):
    """The address of the bucket of a key; buckets: address, mask: number of buckets - 1. O(1)."""
    return buckets + BUCKET * np.int64(mixed_two(lo, hi) & np.uint64(mask))


@helper
def enter_short(bucket, lo, hi, ids, n):
    """Enter a word in front of its bucket, unless it is there; `ids`: address of 16 bytes, the first n <= SHORT_IDS ids. O(1)."""
    if load64(bucket, 0) != lo or load64(bucket, 8) != hi:
        copy_16_bytes(bucket + 32, bucket)
        copy_16_bytes(bucket + 48, bucket + 16)
        store64(bucket, 0, lo)
        store64(bucket, 8, hi)
        copy_16_bytes(bucket + 16, ids)
        store32(bucket, 28, n)


@helper
def line_of_long(lines, mask, text, i, n):
    """The address of the line of the n bytes at i, SHORT < n <= LONG; lines: address, mask: number of lines - 1. O(n)."""
    h = np.uint64(n)
    for x in range(0, n - 8, 8):
        h = (h ^ load64(text, i + x)) * _FIRST
        h ^= h >> np.uint64(32)
    h = (h ^ load64(text, i + n - 8)) * _SECOND
    return lines + LINE * np.int64((h ^ (h >> np.uint64(29))) & np.uint64(mask))


@helper
def is_in_line(line, text, i, n):
    """Whether a line holds the n bytes at i. O(n)."""
    if (load64(line, 0) & np.uint64(0xFFFFFFFF)) != np.uint64(n):
        return False
    for x in range(0, n - 8, 8):
        if load64(text, i + x) != load64(line, 8 + x):
            return False
    return load64(text, i + n - 8) == load64(line, n)


@helper
def enter_long(line, text, i, n, ids, n_ids):
    """Enter the n bytes at i, and their ids, at most LONG_IDS of the 64 bytes at address `ids`. O(n)."""
    store32(line, 0, n)
    store32(line, 4, n_ids)
    for x in range(0, n - 8, 8):
        store64(line, 8 + x, load64(text, i + x))
    store64(line, n, load64(text, i + n - 8))
    copy_64_bytes(line + 64, ids)


@kernel
def enter_tokens(arena, lengths, stable, cache, ids):
    """Enter the tokens of up to SHORT bytes into a cache of short words, those of low ids in front. O(V).

    arena uint8, at least 8, the bytes of all V tokens one behind the other; lengths int32[V]; stable uint8[V], others are left
    out; cache uint64[8 * a power of two]; scratch: ids int32[4]. Tokens "a", "b", "ab": the bucket of "ab" holds "ab" -> [2].
    """
    buckets = address(cache)
    mask = cache.size // 8 - 1
    text = address(arena)
    begin = np.int64(arena.size)
    for x in range(lengths.size):
        t = lengths.size - 1 - x
        n = np.int64(lengths[t])
        begin -= n
        if n <= SHORT and stable[t]:
            lo, hi = key_of_short(text, begin, n, arena.size - 8)
            ids[0] = t
            enter_short(bucket_of_short(buckets, mask, lo, hi), lo, hi, address(ids), 1)
