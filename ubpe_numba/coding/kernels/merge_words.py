"""Encoding many short words of text by merge rank: pair by pair, all of them side by side.

A merge waits for memory: the ids of the two new pairs come out of a large table. So ROWS words are merged in turns, one merge
each; what a word looks up in its next turn has been fetched meanwhile. A word is a row of ROW bytes. Ranks are ids, for tables in
order of creation, so the rank of the pair at i is the id that it makes, or NO_PAIR; the least of 16 is found by one instruction
or a few::

    byte   0                    RANKS                STATE
           symbols, int32       ranks, int32         number of symbols, place of the last merge

    "abcb", merges 256 = (b, c), 257 = (a, 256):
           a    b    c   b      NO   256  NO  NO ... 4, -1       the least of the ranks is 256, at 1
           a    256  b          257  NO   NO  NO ... 3, 1        new ranks beside place 1 in the next turn; the least is 257, at 0
           257  b               NO   NO   NO  NO ... 2, 0        no pair is left: two ids

Beside the first and the last symbol stands NOBODY, which no pair has; 16 ranks of NO_PAIR stand behind the last.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.coding.kernels.whole_characters import characters
from ubpe_numba.coding.kernels.word_cache import LONG, LONG_IDS, SHORT, SHORT_IDS, enter_long, enter_short, is_in_line
from ubpe_numba.runtime.jit import helper, section
from ubpe_numba.runtime.machine.intrinsics import address, load8, load32, load64, prefetch_at, store32, store64
from ubpe_numba.runtime.machine.vectors import copy_64_bytes, least_of_16
from ubpe_numba.runtime.tables.pair_buckets import NO_PAIR, NOBODY, bucket_of, id_in

MOST = 96  # bytes of the longest word
ROWS = 32  # words at a time
RANKS = 4 * (MOST + 32)
STATE = 2 * RANKS
ROW = STATE + 64
ALL = -1  # as the place of the last merge: all pairs are to be looked up
NONE = -2  # none

SLOT = (
    32  # bytes of a word of a batch: its key (word_cache.py), the address of its bucket, its place among the ids that are found;
)
# of a word of more than SHORT bytes the first half of the key is the address of its line
MISS = 16  # bytes of a word that was not found, int32: its number in the batch, where its ids begin, how many


@helper
def _lay_out(row, text, begin, n, byte_ids, two_bytes, solid, behind, ahead, pairs, mask):
    """Lay out a word of n bytes as a row; all others are addresses, but `mask`, number of buckets - 1. O(n)."""
    byte = load8(text, begin)
    store32(row, 0, load32(byte_ids, 4 * byte))
    i = np.int64(1)
    while i < n and byte < 0x80:
        after = load8(text, begin + i)
        store32(row, 4 * i, load32(byte_ids, 4 * after))
        store32(row, RANKS + 4 * i - 4, load32(two_bytes, 4 * (byte << 8 | after)))
        byte = after
        i += 1
    place = np.int64(NONE)
    if byte >= 0x80:
        n = characters(text, begin, begin + n, row, byte_ids, solid, behind, ahead)
        for i in range(n - 1):
            prefetch_at(bucket_of(pairs, mask, load32(row, 4 * i), load32(row, 4 * i + 4)))
        place = np.int64(ALL)
    for x in range(0, 68, 4):
        store32(row, RANKS + 4 * n - 4 + x, np.int64(NO_PAIR))
    store32(row, -4, np.int64(NOBODY))
    store32(row, 4 * n, np.int64(NOBODY))
    store32(row, STATE, n)
    store32(row, STATE + 4, place)


@helper
def _look_up(row, i, pairs, mask):
    """Write the rank of the pair at i. O(1) expected."""
    u = load32(row, 4 * i)
    v = load32(row, 4 * i + 4)
    store32(row, RANKS + 4 * i, id_in(pairs, mask, bucket_of(pairs, mask, u, v), u, v))


@helper
def _turn(row, pairs, mask):
    """One merge of a row; returns whether there was one. O(symbols / 16)."""
    n = load32(row, STATE)
    i = load32(row, STATE + 4)
    first = i - 1
    stop = i + 1
    if i < 0:
        first = np.int64(0)
        stop = n - 1 if i == ALL else np.int64(0)
    for y in range(first, stop):
        _look_up(row, y, pairs, mask)
    best = least_of_16(row + RANKS)
    token = best >> 4
    i = best & 15
    for y in range(16, n - 1, 16):
        best = least_of_16(row + RANKS + 4 * y)
        if best >> 4 < token:
            token = best >> 4
            i = (best & 15) + y
    if token == NO_PAIR:
        return False
    store32(row, 4 * i, token)
    for y in range(4 * i, 4 * n, 64):
        copy_64_bytes(row + y + 4, row + y + 8)
        copy_64_bytes(row + RANKS + y, row + RANKS + y + 4)
    store32(row, STATE, n - 1)
    store32(row, STATE + 4, i)
    prefetch_at(bucket_of(pairs, mask, load32(row, 4 * i - 4), token))
    prefetch_at(bucket_of(pairs, mask, token, load32(row, 4 * i + 4)))
    return True


@helper
def copy_ids(target, source, n):
    """Copy n ids from address to address, 16 at a time: up to 15 more are written. O(n)."""
    for x in range(0, 4 * n, 64):
        copy_64_bytes(target + x, source + x)


@section
def merge_words(text, segments, s, slots, misses, m, rows, found, tables):
    """Encode the m words that were not found, of the batch that begins at segment s, and enter them into the caches.

    Addresses: text, slots, misses, rows with room for ROWS + 1 and found, where the ids go, with room for all bytes and 16 more.
    Of a word that is in the cache of long words the ids are copied; one of more than MOST bytes gets the number of ids -1.
    tables, a `TextTables` as a plain tuple. O(bytes * symbols / 16 of a word).
    """
    byte_ids = address(tables[0])
    two_bytes = address(tables[1])
    pairs = address(tables[2])
    mask = tables[2].size // 8 - 1
    solid = address(tables[3])
    behind = address(tables[4])
    ahead = address(tables[5])
    w = np.int64(0)
    begun = np.int64(0)
    n_active = np.int64(0)
    first_row = rows + 64  # NOBODY stands before a row
    active = first_row + ROWS * ROW
    for x in range(min(m, ROWS)):
        store64(active, 16 * x, np.uint64(first_row + ROW * x))
    while begun < m or n_active > 0:
        while n_active < ROWS and begun < m:
            miss = misses + MISS * begun
            k = load32(miss, 0)
            begin = segments[s + k]
            n = segments[s + k + 1] - begin
            if n <= MOST:
                line = np.int64(load64(slots, SLOT * k))
                if SHORT < n <= LONG and is_in_line(line, text, begin, n):
                    copy_64_bytes(found + 4 * w, line + 64)
                    store32(miss, 4, w)
                    store32(miss, 8, load32(line, 4))
                    w += load32(line, 4)
                else:
                    row = np.int64(load64(active, 16 * n_active))
                    store64(active, 16 * n_active + 8, np.uint64(miss))
                    _lay_out(row, text, begin, n, byte_ids, two_bytes, solid, behind, ahead, pairs, mask)
                    n_active += 1
            else:
                store32(miss, 8, np.int64(-1))
            begun += 1
        x = np.int64(0)
        while x < n_active:
            row = np.int64(load64(active, 16 * x))
            if _turn(row, pairs, mask):
                x += 1
                continue
            miss = np.int64(load64(active, 16 * x + 8))
            count = load32(row, STATE)
            store32(miss, 4, w)
            store32(miss, 8, count)
            copy_ids(found + 4 * w, row, count)
            w += count
            k = load32(miss, 0)
            begin = segments[s + k]
            n = segments[s + k + 1] - begin
            key = load64(slots, SLOT * k)
            if n <= SHORT:
                if count <= SHORT_IDS:
                    enter_short(np.int64(load64(slots, SLOT * k + 16)), key, load64(slots, SLOT * k + 8), row, count)
            elif n <= LONG and count <= LONG_IDS:
                enter_long(np.int64(key), text, begin, n, row, count)
            n_active -= 1  # the last takes its place, and the row is free
            store64(active, 16 * x + 8, load64(active, 16 * n_active + 8))
            store64(active, 16 * x, load64(active, 16 * n_active))
            store64(active, 16 * n_active, np.uint64(row))
