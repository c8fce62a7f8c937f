"""Encoding text in segments by merge rank: most segments come from a cache.

Segments, called words here, are handled in batches of up to BATCH, in four passes. All memory that a batch
waits for is requested in one pass and used in the next::

    "ba baba bab", split:  ba | " baba" | " bab"

    1  key of each word, its bucket of the cache (merge_words.py), prefetch
    2  look-up: ids of the words found, in a row; numbers of the others          ids [256, ...]  misses [1, 2]
    3  the others, once each, merged side by side (merge_words.py), and entered  found [257, 256, 257, 98]
    4  ids of both into the output, in the order of the words                    out [256, 257, 256, 257, 98]

Words of more than MOST symbols are encoded in pass 4, by the search with backtracking of linear_bpe.py on the
compact tables.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.coding.kernels.linear_bpe import fits
from ubpe_numba.coding.kernels.merge_words import (
    AGAIN,
    FIRSTS,
    LONG,
    MISS,
    MOST,
    NOT_HERE,
    ROW,
    ROWS,
    SLOT,
    bucket_of_short,
    copy_ids,
    line_of_long,
    merge_words,
)
from ubpe_numba.coding.kernels.packed import child_of
from ubpe_numba.coding.kernels.text_tables import id_in_buckets, whole_word
from ubpe_numba.runtime.compiler import helper, kernel, section
from ubpe_numba.runtime.machine.bytes import SHORT, key_of_short
from ubpe_numba.runtime.machine.intrinsics import (
    address,
    copy_16_bytes,
    load8,
    load32,
    load64,
    prefetch_at,
    store32,
    store64,
)


@helper
def _longest(text, p, end, trie, token_of):
    """The longest stable token that starts at text[p], and ends at `end` at the latest. O(its bytes)."""
    edges = address(trie)
    mask = trie.size - 1
    node = load8(text, p)
    best = np.int64(token_of[node])
    p += 1
    while p < end:
        node = child_of(edges, mask, node, load8(text, p))
        if node < 0:
            break
        token = np.int64(token_of[node])
        if token >= 0:
            best = token
        p += 1
    return best


@section
def encode_long_word(text, begin, end, tables, dead, out, w):
    """Encode text[begin:end] into `out` from w on; returns the end of the ids.

    text: address; tables, a `TextTables` as a plain tuple; dead uint8[bytes of the word // 8 + 1] of zeros,
    which is left so; out int32, room for all bytes. The example and the cost are those of `encode_rank` in
    linear_bpe.py.
    """
    _, _, pairs, _, _, _, trie, token_of, left, right, prefixes, lengths, whole, whole_of = tables
    token = whole_word(text, begin, end, whole, whole_of)
    if token >= 0:
        out[w] = token
        return w + 1
    first = w
    p = begin
    spoiled = False
    token = _longest(text, p, end, trie, token_of)
    while p < end:
        while token >= 0:
            e = p + lengths[token] - begin
            if not spoiled or (dead[e >> 3] >> (e & 7)) & 1 == 0:
                if w == first or fits(id_in_buckets, pairs, left, right, 256, out[w - 1], token):
                    break
            token = np.int64(prefixes[token])
        if token >= 0:
            out[w] = token
            w += 1
            p += lengths[token]
            if p < end:
                token = _longest(text, p, end, trie, token_of)
        else:
            dead[(p - begin) >> 3] |= np.uint8(1 << ((p - begin) & 7))
            spoiled = True
            w -= 1
            p -= lengths[out[w]]
            token = np.int64(prefixes[out[w]])
    if spoiled:
        dead[: ((end - begin) >> 3) + 1] = 0
    return w


# many words, so that many that are not found are merged side by side; few, so that all stay in the fastest
# cache
BATCH = 512
SPARE = 16  # ids that may be written after the last

# offsets of the parts of the scratch memory, in bytes
_MISSES = SLOT * BATCH
_IDS = _MISSES + MISS * (BATCH + 1)
_FOUND = _IDS + 4 * (3 * BATCH + SPARE)
_ROWS = (_FOUND + 4 * (MOST * BATCH + SPARE) + 63) // 64 * 64
_FIRSTS = _ROWS + ROW * ROWS + 16 * ROWS
SCRATCH = (_FIRSTS + 2 * FIRSTS) // 8  # uint64


@helper
def _ask(text, last, segments, s, n, slots, buckets, mask, lines, line_mask, room):
    """Pass 1: the slots of up to n words from segment s on; returns the number of words.

    It is less than n if a word has more than `room` bytes.

    Addresses: text, slots, buckets, lines. O(bytes of words up to LONG bytes).
    """
    begin = segments[s]
    for k in range(n):
        end = segments[s + k + 1]
        length = end - begin
        slot = slots + SLOT * k
        if length <= SHORT:
            lo, hi = key_of_short(text, begin, length, last)
            place = bucket_of_short(buckets, mask, lo, hi)
            store64(slot, 0, lo)
            store64(slot, 8, hi)
            prefetch_at(place)
        else:
            if length > room:
                return k
            place = buckets
            store64(slot, 8, np.uint64(0xFF) << np.uint64(56))  # a length that no word in a bucket has
            if length <= LONG:
                line = line_of_long(lines, line_mask, text, begin, length)
                store64(slot, 0, np.uint64(line))
                prefetch_at(line)
                prefetch_at(line + 64)
        store64(slot, 16, np.uint64(place))
        begin = end
    return n


@helper
def _look_up(n, slots, ids, misses):
    """Pass 2: the ids of the words found, and MISS bytes for each other word; returns their number.

    Nothing branches.

    Addresses: slots, ids, misses. A slot gets the place among `ids` where those of its word are, or would be.
    O(n).
    """
    m = np.int64(0)
    w = np.int64(0)
    for k in range(n):
        slot = slots + SLOT * k
        lo = load64(slot, 0)
        hi = load64(slot, 8)
        bucket = np.int64(load64(slot, 16))
        one = (load64(bucket, 0) == lo) & (load64(bucket, 8) == hi)
        two = (load64(bucket, 32) == lo) & (load64(bucket, 40) == hi)
        entry = bucket + (np.int64(48) if two else np.int64(16))
        hit = np.int64(one | two)
        copy_16_bytes(ids + 4 * w, entry)
        store32(slot, 24, w)
        store32(misses, MISS * m, k)
        w += load32(entry, 12) & -hit
        m += 1 - hit
    store32(misses, MISS * m, np.int64(-1))
    store32(misses, MISS * m + 4, w)
    return m


@kernel
def encode_words(values, offsets, segments, tables, caches, scratch, dead, state, out, out_offsets):
    """Encode the segments of documents; returns the number of `segments` done.

    It stops before a segment that is too long.

    `values` uint8[n] is the text, at least 8 bytes. `offsets` is int64[d + 1]. `segments` int64[s + 1] are
    the next segments of all documents, which may be given in any number of calls. `tables` is a `TextTables`
    as a plain tuple. `caches` are short and long, uint64[8 * a power of two] and uint64[16 * a power of two],
    kept from call to call (merge_words.py). `scratch` uint64[SCRATCH] is uninitialized. `dead` uint8 of
    zeros, which is left so, has a bit for each byte of the longest segment and 8 more. A call ends before a
    longer segment, so that the caller can make more room.

    `state` int64[3], zeros at first, holds the documents begun, the ids written, and the segments of this
    call that are done. The caller sets the last to 0 when it gives the next segments. Output: `out` int32,
    with room for all bytes and SPARE more, and `out_offsets` int64[d + 1], written for the documents begun so
    far. The caller allocates all of them. O(bytes); for segments that are not cached, as `merge_words`.

    Merges (b, a) -> 256 and (" ", 256) -> 257. `values` "ba baba", offsets [0, 3, 7] ("ba ", "baba"),
    segments [0, 2, 3, 7]: out [256, 32, 256, 256], returns 3, out_offsets [0, 2, _], state [2, 4, 3]. The
    caller sets the last offsets: [0, 2, 4].
    """
    text = address(values)
    last = values.size - 8
    buckets = address(caches[0])
    mask = caches[0].size // 8 - 1
    lines = address(caches[1])
    line_mask = caches[1].size // 16 - 1
    slots = address(scratch)
    misses = slots + _MISSES
    ids = slots + _IDS
    found_at = slots + _FOUND
    rows = slots + _ROWS
    target = address(out)
    room = max(8 * (dead.size - 1), np.int64(MOST))
    d = state[0]
    w = state[1]
    s = state[2]
    while s < segments.size - 1:
        n = min(segments.size - 1 - s, np.int64(BATCH))
        n = _ask(text, last, segments, s, n, slots, buckets, mask, lines, line_mask, room)
        if n == 0:
            break
        m = _look_up(n, slots, ids, misses)
        if m:
            merge_words(text, segments, s, slots, misses, m, rows, slots + _FIRSTS, found_at, tables)
        first = w
        done = np.int64(0)
        for j in range(m + 1):
            miss = misses + MISS * j
            k = load32(miss, 0)
            until = load32(slots, SLOT * k + 24) if j < m else load32(miss, 4)
            copy_ids(target + 4 * w, ids + 4 * done, until - done)
            w += until - done
            done = until
            if j < m:
                count = load32(miss, 8)
                if count == AGAIN:
                    equal = misses + MISS * load32(miss, 4)
                    count = load32(equal, 8)
                    store32(miss, 4, load32(equal, 4))
                    store32(miss, 8, count)
                if count == NOT_HERE:
                    before = w
                    w = encode_long_word(text, segments[s + k], segments[s + k + 1], tables, dead, out, w)
                    store32(miss, 8, w - before)
                else:
                    copy_ids(target + 4 * w, found_at + 4 * load32(miss, 4), count)
                    w += count
        k = np.int64(0)
        j = np.int64(0)
        while offsets[d] <= segments[s + n - 1]:  # a document that begins here, or an empty one before it
            while segments[s + k] < offsets[d]:
                k += 1
            while j < m and load32(misses, MISS * j) < k:
                first += load32(misses, MISS * j + 8)
                j += 1
            out_offsets[d] = first + load32(slots, SLOT * k + 24)
            d += 1
        s += n
    state[0] = d
    state[1] = w
    state[2] = s
    return s
