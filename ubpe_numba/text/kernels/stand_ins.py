"""Characters that stand for what a model has instead of characters: words of its own, bytes, the unknown.

They are the last plane of Unicode, which is for private use, so that text stays text::

    U+100000 + i    word i of the model, i below 65,024
    U+10FE00 + b    the byte b of a character that is none of the model's
    U+10FF00        such a character, where the model has no tokens for bytes

A character of a text that is one of these is none of the model's either.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.jit import kernel
from ubpe_numba.text.kernels.sentencepiece import longest_word, utf8_of

WORDS, BYTES, UNKNOWN = 0x100000, 0x10FE00, 0x10FF00
MOST_WORDS = BYTES - WORDS
BY_BYTES, FUSED = 1, 2  # characters become their bytes; several unknown ones in a row become one


@kernel
def stand_in(text, offsets, known, words, inside, flags, out, origins, out_offsets):
    """Documents with words and unknown characters as those that stand for them; returns how many characters that takes.

    text uint32, offsets int64[d + 1]; known uint8[0x110000]: whether a character is the model's own; words EDGE, inside: as for
    `longest_word`; flags BY_BYTES | FUSED; out uint32, origins int64: for each character of the result the position in text that
    it comes from, out_offsets int64[d + 1]; all are allocated by the caller, and of the result that is written which has room.
    O(characters).

    "axé[x]" of a model of a and x, with the word "[x]", by bytes: a, x, U+10FEC3, U+10FEA9, U+100000; 5.
    """
    w = np.int64(0)
    room = out.size
    out_offsets[0] = 0
    for d in range(offsets.size - 1):
        i = np.int64(offsets[d])
        end = np.int64(offsets[d + 1])
        unknown = np.int64(-1)  # where the last unknown character ended
        while i < end:
            size, number = np.int64(0), np.int64(0)
            if words.size > 0:
                size, number = longest_word(text, i, end, words, inside)
            c = np.int64(WORDS) + number
            if size == 0:
                size = np.int64(1)
                c = np.int64(text[i])
                if c >= known.size or known[c] == 0:
                    if flags & BY_BYTES:
                        packed, count = utf8_of(c)
                        for _ in range(count):
                            if w < room:
                                out[w] = np.uint32(BYTES + (packed & 255))
                                origins[w] = i
                            packed >>= 8
                            w += 1
                        i += 1
                        continue
                    again = unknown == i
                    unknown = i + 1
                    if flags & FUSED and again:
                        i += 1
                        continue
                    c = np.int64(UNKNOWN)
            if w < room:
                out[w] = np.uint32(c)
                origins[w] = i
            w += 1
            i += size
        out_offsets[d + 1] = w
    return w
