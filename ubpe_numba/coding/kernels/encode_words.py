"""Encoding text that is cut into segments, by merge rank: every segment by itself, and most of them from a cache.

The cache is direct-mapped. An entry is a cache line of the processor, 8 words of 64 bits; the hash of a segment says which one
line may hold it. A word `number of ids << 32 | length` of 0 means empty; segments of more than LINE_SYMBOLS bytes or LINE_IDS ids
are not kept::

    word  0            1            2            3                        4 ... 7
          +------------+------------+------------+------------------------+------------------------------+
          | the bytes of the segment, zeros      | number of ids, length  | the ids, int32, LINE_IDS     |
          | behind it: LINE_SYMBOLS              | 32 bits each           | of them have room            |
          +------------+------------+------------+------------------------+------------------------------+

    " baba" that encodes to [257, 256]:
          | " baba"    | 0          | 0          | 2 << 32 | 5            | 257, 256, six that are unused |

A segment that is not found is encoded and overwrites its line. In English and in program text more than nineteen of twenty
segments are found.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.coding.kernels.by_rank import encode_document
from ubpe_numba.runtime.jit import helper, kernel
from ubpe_numba.runtime.machine.byte_words import eight_bytes, mixed_three
from ubpe_numba.runtime.machine.intrinsics import address, load64, store64

LINE = 8  # words of a line
LINE_SYMBOLS = 24  # bytes of the longest segment that a line has room for
LINE_IDS = 8  # ids that a line has room for


@helper
def _copy_ids(source, i, target, j):
    """Copy LINE_IDS ids, of 4 bytes each, from address `source + i` to `target + j`, whether all are used or not. O(1)."""
    for k in range(0, 4 * LINE_IDS, 8):
        store64(target, j + k, load64(source, i + k))


@kernel
def encode_words(values, offsets, segments, byte_ids, tables, cache, word, dead, state, out, out_offsets):
    """Encode the segments of documents; returns the number of ids written so far.

    Text: values uint8[n], at least 8; offsets int64[d + 1]; segments int64[s + 1], the next of those of all documents, which may
    be given in any number of calls; byte_ids int32[256], the alphabet id of every byte; tables, a `RankTables` as a plain tuple.
    cache uint64[LINE * a power of two], zeros at first, kept from call to call. Scratch for the longest segment: word int32, dead
    uint8, a bit for each of its bytes and 8 more. state int64[2], zeros at first: documents begun and ids written. Output: out
    int32, room for all bytes and LINE_IDS more; out_offsets int64[d + 1], written as far as documents have begun. The caller
    allocates all of them. O(bytes), and for segments that are not in the cache as `encode_rank`.

    Merges (b, a) -> 256 and (" ", 256) -> 257; values "ba baba", offsets [0, 3, 7] ("ba ", "baba"), segments [0, 2, 3, 7]:
    out [256, 32, 256, 256], returns 4, out_offsets [0, 2, _], state [2, 4]. The caller sets the offsets of documents behind the
    last segment: [0, 2, 4].
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
        while offsets[d] <= begin:  # the document that begins here, after any number of empty ones
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
        w = encode_document(word[:length], tables, dead, out, w)
        if length <= LINE_SYMBOLS and w - first <= LINE_IDS:
            store64(line, 0, a)
            store64(line, 8, b)
            store64(line, 16, c)
            store64(line, 24, np.uint64(w - first) << np.uint64(32) | np.uint64(length))
            _copy_ids(ids, 4 * first, line, 32)
    state[0] = d
    state[1] = w
    return w
