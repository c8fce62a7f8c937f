"""The changes that sentencepiece makes to a text: map of characters, white space, mark of spaces.

The map is a double-array trie of UTF-8, as Darts writes it: an array of units of 32 bits. A node is an index.
From it, the byte b leads to the unit at ``node ^ b`` if that has the label b, and on to the node ``index ^
offset`` of that unit::

    bits    31          30 ... 10      9           8          7 ... 0
            1: a value  offset         offset<<8   has leaf   label

If the unit has a leaf, its node is the unit of a value, 31 bits: the beginning of the replacement. An index
beyond the array ends a search. Let a map replace "A" U+0300 by U+00C0, with an offset of 2 at the root. The
byte 0x41 leads to unit 0x43, the bytes 0xcc and 0x80 to further units, of which the last has a leaf. The text
"AB" ends at the unit of 0x42, which has another label: no match, "A" stays as it is.

Placeholders represent all that a model has instead of characters: its own words, bytes, the unknown. They are
the last plane of Unicode, which is for private use, so that text stays text::

    U+100000 + i    word i of the model, i below 65,024
    U+10FE00 + b    the byte b of a character that is none of the model's
    U+10FF00        this character, in a model without tokens for bytes

Unused placeholders may be characters of the model. A placeholder in a given text is an unknown character.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import helper, kernel, section
from ubpe_numba.runtime.tables.trie import NONE, step

LONGEST = 256  # characters of a rule of the map; a search for longer ones ends
SPACE, MARK, REPLACEMENT = 0x20, 0x2581, 0xFFFD
PREFIX, SUFFIX, REMOVE, ESCAPE = 1, 2, 4, 8  # a mark before or after, no extra spaces, spaces as marks


@helper
def utf8_of(c):
    """The bytes of a code point, the first one lowest, and how many: 0xe9 -> (0xa9c3, 2)."""
    if c < 0x80:
        return c, np.int64(1)
    last = 0x80 | (c & 0x3F)
    if c < 0x800:
        return (0xC0 | (c >> 6)) | (last << 8), np.int64(2)
    middle = 0x80 | ((c >> 6) & 0x3F)
    if c < 0x10000:
        return (0xE0 | (c >> 12)) | (middle << 8) | (last << 16), np.int64(3)
    return (0xF0 | (c >> 18)) | ((0x80 | ((c >> 12) & 0x3F)) << 8) | (middle << 16) | (last << 24), np.int64(
        4
    )


@helper
def no_rule(text, i, end, units):
    """Whether it is plain that no rule begins at i: of an ASCII character, by the next byte at most. O(1).

    As for `longest_rule`. "AB" of the map above: True, "A" and U+0300: False, as is every character beyond
    ASCII.
    """
    c = np.int64(text[i])
    if units.size == 0:
        return True
    if c >= 0x80:
        return False
    at = ((units[0] >> 10) << ((units[0] & 512) >> 6)) ^ c
    if at >= units.size:
        return True
    unit = units[at]
    if unit & 0x800000FF != c:
        return True
    if unit & 256:
        return False
    if i + 1 == end:
        return True
    c = np.int64(text[i + 1])
    if c >= 0x80:
        return False
    at ^= ((unit >> 10) << ((unit & 512) >> 6)) ^ c
    return at >= units.size or units[at] & 0x800000FF != c


@section
def longest_rule(text, i, end, units, begins):
    """The longest rule of a map at i: how many characters it replaces, and its replacement.

    0 for none; the replacement is given by its beginning.

    `text` uint32 are code points, `units` int64 those of the trie. `begins` int32 is the code point that
    begins at a byte of the replacements, -1 for none. O(length of the rule).

    "A" U+0300 of the map above: (2, the place of U+00C0).
    """
    best, value = np.int64(0), np.int64(0)
    if units.size == 0:
        return best, value
    at = (units[0] >> 10) << ((units[0] & 512) >> 6)
    for j in range(i, min(end, i + LONGEST)):
        word, n = utf8_of(np.int64(text[j]))
        unit = np.int64(0)
        for _ in range(n):
            b = word & 255
            word >>= 8
            at ^= b
            if at >= units.size:
                return best, value
            unit = units[at]
            if unit & 0x800000FF != b:
                return best, value
            at ^= (unit >> 10) << ((unit & 512) >> 6)
        if unit & 256:
            if at >= units.size:
                return best, value
            begin = units[at] & 0x7FFFFFFF
            if begin < begins.size and begins[begin] >= 0:
                best = j + 1 - i
                value = np.int64(begins[begin])
    return best, value


@section
def longest_word(text, i, end, words, inside):
    """The longest of some words at i: how many characters it has, 0 if none does, and its number. O(length).

    `text` is uint32. `words` is a trie (tables/trie.py) of code points below `inside`; words of a single
    character are entered as the pair of it and `inside`.
    """
    best, number = np.int64(0), np.int64(0)
    node = np.int64(text[i])
    if words.size == 0 or node >= inside:
        return best, number
    payload = step(words, node, np.int64(inside))
    if payload >= 0:
        best = np.int64(1)
        number = (payload >> 32) - inside - 1
    for j in range(i + 1, end):
        payload = step(words, node, np.int64(text[j]))
        if payload < 0:
            break
        node = payload & 0xFFFFFFFF
        if payload >> 32 != NONE:
            best = j + 1 - i
            number = (payload >> 32) - inside - 1
    return best, number


@kernel
def normalize(text, offsets, units, begins, replacements, words, inside, flags, out, origins, out_offsets):
    """Every document as sentencepiece encodes it; returns the number of code points needed.

    Only those with room are written.

    `text` uint32 are code points, `offsets` int64[d + 1]. `units` and `begins` as for `longest_rule`.
    `replacements` uint32 each end with 0. `words` and `inside`, as for `longest_word`, stay as they are.
    `flags`: PREFIX | SUFFIX | REMOVE | ESCAPE. `out` uint32 gets the result, `origins` int64 for each code
    point its position in `text`, and `out_offsets` int64[d + 1] the documents. The caller allocates all. A
    result beyond out.size needs more room. Surrogates become U+FFFD. O(code points of text and result).

    Without a map, PREFIX | REMOVE | ESCAPE: " a  b " -> "▁a▁b", origins [1, 1, 2, 4].
    """
    w = np.int64(0)
    room = out.size
    blank = np.uint32(MARK if flags & ESCAPE else SPACE)
    out_offsets[0] = 0
    for d in range(offsets.size - 1):
        i = np.int64(offsets[d])
        end = np.int64(offsets[d + 1])
        first = w
        started = False
        after_space = (flags & REMOVE) != 0
        while i < end:
            taken = np.int64(0)
            if words.size > 0:
                taken, _ = longest_word(text, i, end, words, inside)
            literal = taken > 0
            at = np.int64(0)
            size = taken
            if not literal:
                if not no_rule(text, i, end, units):
                    taken, at = longest_rule(text, i, end, units, begins)
                if taken > 0:
                    size = np.int64(0)
                    while replacements[at + size] != 0:
                        size += 1
                else:
                    literal = True
                    taken = np.int64(1)
                    size = np.int64(1)
            if not started:
                c = text[i] if literal else replacements[at]
                if flags & REMOVE and size == 1 and c == SPACE:
                    i += taken
                    continue
                started = True
                if flags & PREFIX and not flags & SUFFIX:
                    if w < room:
                        out[w] = blank
                        origins[w] = i
                    w += 1
            any_left = False
            last = np.uint32(0)
            for j in range(size):
                c = np.uint32(text[i + j] if literal else replacements[at + j])
                if after_space and not any_left and c == SPACE:
                    continue
                any_left = True
                last = c
                if c == SPACE:
                    c = blank
                elif c >= 0xD800 and c < 0xE000:
                    c = np.uint32(REPLACEMENT)
                if w < room:
                    out[w] = c
                    origins[w] = i
                w += 1
            if any_left:
                after_space = (flags & REMOVE) != 0 and last == SPACE
            i += taken
        if started:
            if flags & REMOVE:
                while w > first and w <= room and out[w - 1] == blank:
                    w -= 1
            if flags & PREFIX and flags & SUFFIX:
                if w < room:
                    out[w] = blank
                    origins[w] = end - 1
                w += 1
        out_offsets[d + 1] = w
    return w


WORDS, BYTES, UNKNOWN = 0x100000, 0x10FE00, 0x10FF00
MOST_WORDS = BYTES - WORDS
BY_BYTES, FUSED = 1, 2  # characters become their bytes; several unknown ones in a row become one


@kernel
def stand_in(text, offsets, known, words, inside, flags, out, origins, out_offsets):
    """Documents with placeholders for words and unknown characters; returns how many characters that takes.

    `text` is uint32, `offsets` int64[d + 1]. `known` uint8[0x110000]: whether a character is the model's own.
    `words` EDGE and `inside` are as for `longest_word`. `flags`: BY_BYTES | FUSED. `out` uint32 gets the
    result, `origins` int64 for each of its characters the position in text, and `out_offsets` int64[d + 1]
    the documents. The caller allocates all; only the part of the result that fits is written. O(characters).

    "axé[x]" of a model of a and x, with the word "[x]", by bytes: a, x, U+10FEC3, U+10FEA9, U+100000; 5.
    """
    w = np.int64(0)
    room = out.size
    out_offsets[0] = 0
    for d in range(offsets.size - 1):
        i = np.int64(offsets[d])
        end = np.int64(offsets[d + 1])
        unknown = np.int64(-1)  # end of the last unknown character
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
