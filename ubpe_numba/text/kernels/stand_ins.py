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
def stand_in(text, known, words, inside, flags, out, origins):
    """A text with words and unknown characters as those that stand for them; returns how many characters that takes.

    text uint32; known uint8[0x110000]: whether a character is the model's own; words EDGE, inside: as for `longest_word`; flags
    BY_BYTES | FUSED; out uint32, origins int64: for each character of the result the position in text that it comes from; both
    are allocated by the caller, and those that have room in them are written. O(characters).

    "axé[x]" of a model of a and x, with the word "[x]", by bytes: a, x, U+10FEC3, U+10FEA9, U+100000; 5.
    """
    w = np.int64(0)
    room = out.size
    i = np.int64(0)
    n = text.size
    unknown = np.int64(-1)  # where the last unknown character ended
    while i < n:
        size, token = longest_word(text, i, n, words, inside)
        if size > 0:
            c = np.uint32(WORDS + token)
        else:
            size = np.int64(1)
            c = np.uint32(text[i])
            if known[c] == 0:
                if flags & BY_BYTES:
                    packed, count = utf8_of(np.int64(c))
                    for _ in range(count):
                        if w < room:
                            out[w] = np.uint32(BYTES + (packed & 255))
                            origins[w] = i
                        packed >>= 8
                        w += 1
                    i += 1
                    continue
                if flags & FUSED and unknown == i:
                    i += 1
                    unknown = i
                    continue
                unknown = i + 1
                c = np.uint32(UNKNOWN)
        if w < room:
            out[w] = c
            origins[w] = i
        w += 1
        i += size
    return w
