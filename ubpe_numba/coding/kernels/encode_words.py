"""Encoding text that is cut into segments, by merge rank: every segment for itself, and most of them from a cache.

A line of the cache is 64 bytes: 24 for the segment, 8 for its length and the number of its ids (`ids << 32 | length`, 0 if the
line is empty), 32 for up to 8 ids. A segment has one line to go to, and takes it from whoever is there: in English and in program
text more than nineteen of twenty segments find themselves.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.coding.kernels.by_rank import encode_document
from ubpe_numba.runtime.jit import helper, kernel
from ubpe_numba.runtime.machine.byte_words import eight_bytes, mixed_three
from ubpe_numba.runtime.machine.intrinsics import address, load64, store64

LINE = 8  # words of a line
LINE_SYMBOLS = 24  # bytes of a segment that a line has room for
LINE_IDS = 8


@helper
def _copy_ids(source, i, target, j):
    """Copy the LINE_IDS ids, of 4 bytes each, from address `source + i` to `target + j`. O(1)."""
    for k in range(0, 4 * LINE_IDS, 8):
        store64(target, j + k, load64(source, i + k))


@kernel
def encode_words(
    values, offsets, segments, byte_ids, entries, left, right, n_alphabet, trie, stable, prefixes, lengths,
    cache, word, dead, state, out, out_offsets,
):  # fmt: skip
    """Encode the segments of documents; returns the number of ids written so far.

    values uint8, at least 8; offsets int64[d + 1]; segments int64[s + 1], those of all documents in some number of calls;
    byte_ids int32[256], the symbol of every byte.
    From `entries` to `lengths` as in `encode_rank`. cache uint64[LINE * a power of two], kept from call to call; scratch for the
    longest segment: `word` int32, `dead` uint8, a bit each and one more byte; state int64[2], first 0: documents and ids done.
    `out` int32, room for all bytes and LINE_IDS more; out_offsets int64[d + 1], written up to the document of the last segment.
    O(bytes), and for what is not in the cache as `encode_rank`.
    """
    text = address(values)
    last = values.size - 8
    lines = address(cache)
    ids = address(out)
    mask = np.uint64(cache.size // LINE - 1)
    d = state[0]
    w = state[1]
    for s in range(segments.size - 1):
        begin = segments[s]
        length = segments[s + 1] - begin
        while offsets[d] <= begin:  # as many documents begin here as end empty, and one
            out_offsets[d] = w
            d += 1
        line = np.int64(0)
        a = np.uint64(0)
        b = np.uint64(0)
        c = np.uint64(0)
        if length <= LINE_SYMBOLS:
            a = eight_bytes(text, begin, length, last)
            b = eight_bytes(text, begin + 8, length - 8, last)
            c = eight_bytes(text, begin + 16, length - 16, last)
            h = mixed_three(a, b, c)
            line = lines + np.int64(h & mask) * (8 * LINE)
            meta = load64(line, 24)
            if (
                ((meta & np.uint64(0xFFFFFFFF)) == np.uint64(length))
                & (load64(line, 0) == a) & (load64(line, 8) == b) & (load64(line, 16) == c)
            ):  # fmt: skip
                _copy_ids(line, 32, ids, 4 * w)
                w += np.int64(meta >> np.uint64(32))
                continue
        for k in range(length):
            word[k] = byte_ids[values[begin + k]]
        first = w
        dead[: (length >> 3) + 1] = 0
        w = encode_document(word[:length], entries, left, right, n_alphabet, trie, stable, prefixes, lengths, dead, out, w)
        if length <= LINE_SYMBOLS and w - first <= LINE_IDS:
            store64(line, 0, a)
            store64(line, 8, b)
            store64(line, 16, c)
            store64(line, 24, np.uint64(w - first) << np.uint64(32) | np.uint64(length))
            _copy_ids(ids, 4 * first, line, 32)
    state[0] = d
    state[1] = w
    return w
