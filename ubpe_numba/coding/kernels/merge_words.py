"""Encoding many short words of text by merge rank: pair by pair, all of them side by side.

A merge waits for memory: the ids of the two new pairs come from a large table. So ROWS words take turns, one
merge per turn; memory for the next turn is fetched meanwhile. A word is a row of ROW bytes. It has places for
up to MOST symbols, and the rank of each symbol's pair with the next. Ranks are ids, for tables in order of
creation: a rank is the id that the pair makes, or NO_PAIR. `alive` has a bit for each place with a symbol,
and one for the end::

    byte   0       8        12     SYMBOLS              RANKS
           alive   place    dead   symbols, int32       ranks, int32

    "abcb", merges 256 = (b, c), 257 = (a, 256):
    places 01234   merged   dead   0    1    2   3      0    1    2   3
           11111   -1       -1     a    b    c   b      NO   256  NO  NO   least rank 256, at 1; place 2 dies
           11011   1        2      a    256  .   b      257  NO   NO  NO   new ranks at 0, 1; least 257, at 0
           10011   0        1      257  .    .   b      NO   NO   NO  NO   no pair is left: two ids

NOBODY, which no pair has, is before the first symbol and after the last.

The caches. Encoded words are in two caches, which a thread keeps from call to call. Short words, up to SHORT
bytes, are in buckets of 64 bytes, a cache line of the processor, two words each. The hash of a word
determines its bucket. A place holds up to SHORT_IDS ids. A new word is put first in its bucket, and the
second word is lost::

    byte   0       8           15       16    20    24    28        32 ...
           +-------+-----------+--------+-----+-----+-----+---------+----------------------+
           | the bytes of the  | length | ids, int32      | number  | the same, of another |
           | word, zeros       | 1 byte | SHORT_IDS       | of ids  | word                 |
           +-------+-----------+--------+-----+-----+-----+---------+----------------------+

    " baba" that encodes to [257, 256]:   " bab" "a" 0 ... 5  |  257  256  .  2

The first 16 bytes are the key of a word, two uint64; an empty place has the length 0. Longer words, up to
LONG bytes, have lines of 128 bytes, one word each, LONG_IDS ids; the word of a line that is needed is lost::

    byte   0         4                8                           64 ...
           +---------+----------------+---------------------------+-------------------------+
           | length  | number of ids  | the bytes of the word     | ids, int32, LONG_IDS    |
           +---------+----------------+---------------------------+-------------------------+
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.coding.kernels.packed import NO_PAIR, NOBODY, bucket_of, id_of
from ubpe_numba.coding.kernels.text_tables import characters, whole_word
from ubpe_numba.runtime.compiler import helper, kernel, section
from ubpe_numba.runtime.machine.bytes import SHORT, key_of_short, mixed_two
from ubpe_numba.runtime.machine.intrinsics import (  # fmt: skip
    address,
    copy_16_bytes,
    copy_64_bytes,
    fill_16,
    leading_zeros,
    load8,
    load16,
    load32,
    load64,
    prefetch_at,
    put_in_16,
    store16,
    store32,
    store64,
    trailing_zeros,
)

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
    """Enter a word at the front of its bucket, unless it is already in it. O(1).

    `ids` is the address of 16 bytes, the first n <= SHORT_IDS ids.
    """
    if load64(bucket, 0) != lo or load64(bucket, 8) != hi:
        copy_16_bytes(bucket + 32, bucket)
        copy_16_bytes(bucket + 48, bucket + 16)
        store64(bucket, 0, lo)
        store64(bucket, 8, hi)
        copy_16_bytes(bucket + 16, ids)
        store32(bucket, 28, n)


@helper
def line_of_long(lines, mask, text, i, n):
    """The address of the line for the n bytes at i, SHORT < n <= LONG. O(n).

    `lines` is an address, `mask` the number of lines - 1.
    """
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


@kernel
def enter_tokens(arena, lengths, stable, cache, ids):
    """Enter the tokens of up to SHORT bytes into a cache of short words, those of low ids in front. O(V).

    `arena` uint8, at least 8, the bytes of all V tokens one after the other. `lengths` int32[V]. `stable`
    uint8[V], others are left out. `cache` uint64[8 * a power of two]; scratch: ids int32[4]. Tokens "a", "b",
    "ab": the bucket of "ab" holds "ab" -> [2].
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


_ALL_BITS = np.uint64(0xFFFFFFFFFFFFFFFF)

MOST = 63  # symbols of the longest word
MOST_BYTES = 2 * MOST  # a word of more is not even laid out
ROWS = 32  # words at a time
PLACE = 8
DEAD = 12
SYMBOLS = 64
RANKS = SYMBOLS + 4 * (MOST_BYTES + 2)
ROW = RANKS + 4 * (MOST + 1)
ALL = -2  # as the place that has died: all pairs are to be looked up

# bytes of a word of a batch: its key, or the address of its line; the address of its bucket; where its ids
# are among those that are found
SLOT = 32
# bytes of a word that was not found, int32: its number in the batch, where its ids begin, how many. Instead
# of the last: NOT_HERE; or AGAIN, and then the first is the number of an equal earlier word among those not
# found
MISS = 16
NOT_HERE = -1
AGAIN = -2
# words of a batch that were not found, by a hash: uint16, their number among the words not found
FIRSTS = 512


@helper
def _lay_out(row, text, begin, n, byte_ids, two_bytes, solid, into, out_of, pairs, mask):
    """Lay out a word of n bytes, up to MOST_BYTES, as a row. O(n).

    Returns whether it has at most MOST symbols.

    All others are addresses, except `mask`, the number of buckets - 1.
    """
    symbols = row + SYMBOLS
    ranks = row + RANKS
    dead = np.int64(-1)
    for i in range(0, min(n, np.int64(MOST)), 16):
        fill_16(ranks + 4 * i, np.int64(NO_PAIR))
    if n <= MOST:
        byte = load8(text, begin)
        store32(symbols, 0, load32(byte_ids, 4 * byte))
        i = np.int64(1)
        while i < n and byte < 0x80:
            after = load8(text, begin + i)
            store32(symbols, 4 * i, load32(byte_ids, 4 * after))
            store32(ranks, 4 * i - 4, load32(two_bytes, 4 * (byte << 8 | after)))
            byte = after
            i += 1
    else:
        byte = np.int64(0x80)
    if byte >= 0x80:
        n = characters(text, begin, begin + n, symbols, byte_ids, solid, into, out_of)
        if n > MOST:
            return False
        for i in range(n - 1):
            prefetch_at(bucket_of(pairs, mask, load32(symbols, 4 * i), load32(symbols, 4 * i + 4)))
        dead = np.int64(ALL)
    store32(symbols, -4, np.int64(NOBODY))
    store32(symbols, 4 * n, np.int64(NOBODY))
    store64(row, 0, (np.uint64(2) << np.uint64(n)) - np.uint64(1))
    store32(row, PLACE, np.int64(-1))
    store32(row, DEAD, dead)
    store32(row, DEAD + 4, n)
    return True


@helper
def _lay_whole(row, text, begin, n, whole, whole_of):
    """Lay out a word of n bytes as one token, before any merge; returns whether it is a token. O(n).

    `whole` uint64 and `whole_of` int32 are a trie of these tokens, as in `TextTables`. `row` and `text` are
    addresses.
    """
    token = whole_word(text, begin, begin + n, whole, whole_of)
    if token < 0:
        return False
    fill_16(row + RANKS, np.int64(NO_PAIR))
    store32(row + SYMBOLS, -4, np.int64(NOBODY))
    store32(row + SYMBOLS, 0, token)
    store32(row + SYMBOLS, 4, np.int64(NOBODY))
    store64(row, 0, np.uint64(3))
    store32(row, PLACE, np.int64(-1))
    store32(row, DEAD, np.int64(-1))
    store32(row, DEAD + 4, np.int64(1))
    return True


@helper
def _next(alive, i):
    """The lowest place above i that is alive: 0b10011, 1 -> 4. O(1)."""
    return np.int64(trailing_zeros(alive & (_ALL_BITS << np.uint64(i) << np.uint64(1))))


@helper
def _turn(row, pairs, mask):
    """One merge of a row, or a look-up of all its pairs; returns False once no pair is left.

    O(places / 16).
    """
    symbols = row + SYMBOLS
    ranks = row + RANKS
    alive = load64(row, 0)
    i = load32(row, PLACE)
    dead = load32(row, DEAD)
    n = load32(row, DEAD + 4)
    before = np.int64(-1)
    left = np.int64(0)
    right = np.int64(0)
    if i >= 0:
        token = load32(symbols, 4 * i)
        before = np.int64(63) - np.int64(
            leading_zeros(alive & ((np.uint64(1) << np.uint64(i)) - np.uint64(1)))
        )
        left = id_of(pairs, mask, load32(symbols, 4 * before), token)
        right = id_of(pairs, mask, token, load32(symbols, 4 * _next(alive, i)))
    elif dead == ALL:
        for y in range(n - 1):
            store32(ranks, 4 * y, id_of(pairs, mask, load32(symbols, 4 * y), load32(symbols, 4 * y + 4)))
        store32(row, DEAD, np.int64(-1))
        return True
    first = np.int64(0)
    best = put_in_16(ranks, before, left, i, right, dead, np.int64(NO_PAIR))
    for y in range(16, n, 16):
        other = put_in_16(ranks + 4 * y, before - y, left, i - y, right, dead - y, np.int64(NO_PAIR))
        if other >> 4 < best >> 4:
            best = other
            first = np.int64(y)
    token = best >> 4
    if token == NO_PAIR:
        return False
    i = (best & 15) + first
    dead = _next(alive, i)
    alive ^= np.uint64(1) << np.uint64(dead)
    store64(row, 0, alive)
    store32(row, PLACE, i)
    store32(row, DEAD, dead)
    store32(symbols, 4 * i, token)
    before = np.int64(63) - np.int64(leading_zeros(alive & ((np.uint64(1) << np.uint64(i)) - np.uint64(1))))
    prefetch_at(bucket_of(pairs, mask, load32(symbols, 4 * before), token))
    prefetch_at(bucket_of(pairs, mask, token, load32(symbols, 4 * _next(alive, i))))
    return True


@helper
def copy_ids(target, source, n):
    """Copy n ids from address to address, 16 at a time: up to 15 more are written. O(n)."""
    for x in range(0, 4 * n, 64):
        copy_64_bytes(target + x, source + x)


@helper
def _earlier(misses, j, slots, slot, firsts):
    """The number of a word of up to SHORT bytes before word j, both not found, that is equal to it, or j.

    O(1).

    Addresses: `misses`, `slots`, `slot` (that of word j), and `firsts`, FIRSTS uint16 of any content. An
    entry from another batch names another word, or none before j. In source code, a third of the words that
    are not cached are found here.
    """
    entry = firsts + 2 * (np.int64(load64(slot, 16)) >> 6 & FIRSTS - 1)
    i = load16(entry, 0)
    if i < j:
        other = slots + SLOT * load32(misses, MISS * i)
        if load64(other, 0) == load64(slot, 0) and load64(other, 8) == load64(slot, 8):
            return i
    store16(entry, 0, j)
    return j


@section
def merge_words(text, segments, s, slots, misses, m, rows, firsts, found, tables):
    """Encode the m words of a batch that were not found, and enter them into the caches.

    The batch begins at segment s.

    Addresses: `text`, `slots` and `misses`; `rows`, with room for ROWS, and 16 bytes more for each; `firsts`,
    FIRSTS uint16 of any content. `found` gets the ids, with room for all bytes and 16 more. The ids of a word
    in the cache of long words are copied. A word of more than MOST symbols is NOT_HERE. A word equal to an
    earlier one is AGAIN. `tables` is a `TextTables` as a plain tuple. O(bytes * symbols / 16 of a word).
    """
    byte_ids = address(tables[0])
    two_bytes = address(tables[1])
    pairs = address(tables[2])
    mask = tables[2].size // 8 - 1
    solid = address(tables[3])
    into = address(tables[4])
    out_of = address(tables[5])
    whole = tables[12]
    whole_of = tables[13]
    w = np.int64(0)
    begun = np.int64(0)
    n_active = np.int64(0)
    active = rows + ROWS * ROW
    for x in range(min(m, ROWS)):
        store64(active, 16 * x, np.uint64(rows + ROW * x))
    while begun < m or n_active > 0:
        while n_active < ROWS and begun < m:
            miss = misses + MISS * begun
            k = load32(miss, 0)
            begin = segments[s + k]
            n = segments[s + k + 1] - begin
            line = np.int64(load64(slots, SLOT * k))
            row = np.int64(load64(active, 16 * n_active))
            first = _earlier(misses, begun, slots, slots + SLOT * k, firsts) if n <= SHORT else begun
            if first < begun:
                store32(miss, 4, first)
                store32(miss, 8, np.int64(AGAIN))
            elif SHORT < n <= LONG and is_in_line(line, text, begin, n):
                copy_64_bytes(found + 4 * w, line + 64)
                store32(miss, 4, w)
                store32(miss, 8, load32(line, 4))
                w += load32(line, 4)
            elif n <= MOST_BYTES and (
                _lay_whole(row, text, begin, n, whole, whole_of)
                or _lay_out(row, text, begin, n, byte_ids, two_bytes, solid, into, out_of, pairs, mask)
            ):
                store64(active, 16 * n_active + 8, np.uint64(miss))
                n_active += 1
            else:
                store32(miss, 8, np.int64(NOT_HERE))
            begun += 1
        x = np.int64(0)
        while x < n_active:
            row = np.int64(load64(active, 16 * x))
            if _turn(row, pairs, mask):
                x += 1
                continue
            miss = np.int64(load64(active, 16 * x + 8))
            ids = found + 4 * w
            count = np.int64(0)
            alive = load64(row, 0)
            while alive & (alive - np.uint64(1)):  # more than the end
                store32(ids, 4 * count, load32(row, SYMBOLS + 4 * np.int64(trailing_zeros(alive))))
                alive &= alive - np.uint64(1)
                count += 1
            store32(miss, 4, w)
            store32(miss, 8, count)
            w += count
            k = load32(miss, 0)
            begin = segments[s + k]
            n = segments[s + k + 1] - begin
            key = load64(slots, SLOT * k)
            if n <= SHORT:
                if count <= SHORT_IDS:
                    enter_short(
                        np.int64(load64(slots, SLOT * k + 16)), key, load64(slots, SLOT * k + 8), ids, count
                    )
            elif n <= LONG and count <= LONG_IDS:
                line = np.int64(key)
                store32(line, 0, n)
                store32(line, 4, count)
                for y in range(0, n - 8, 8):
                    store64(line, 8 + y, load64(text, begin + y))
                store64(line, n, load64(text, begin + n - 8))
                copy_64_bytes(line + 64, ids)
            n_active -= 1  # the last takes its place, and the row is free
            store64(active, 16 * x + 8, load64(active, 16 * n_active + 8))
            store64(active, 16 * x, load64(active, 16 * n_active))
            store64(active, 16 * n_active, np.uint64(row))
