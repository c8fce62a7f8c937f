"""Reading UTF-8: the class of a code point, and the end of a run of a class.

Texts and tables are given by their addresses (runtime/machine/intrinsics.py); a position is a byte of the
text. The table of classes (text/unicode_classes.py) is uint8. First comes an index of 17,408 block numbers,
uint16, one for every 64 code points. From FLAGS on follow the distinct blocks, one byte of flags for each of
their 64 code points. The first two blocks are ASCII, so that a byte below 0x80 needs no index::

    byte  0                 34816           34880           34944
          +-----------------+---------------+---------------+---------------+---
          | index           | block 0       | block 1       | block 2       | ...
          | 17,408 * uint16 | U+0000..003F  | U+0040..007F  | 64 flags      |
          +-----------------+---------------+---------------+---------------+---

    "e"  U+0065 = 65      flags at 34816 + 0x65                              -> LOWER | LETTER
    "é"  U+00E9 = C3 A9   index[0xE9 >> 6] = index[3] = 5,
                          flags at 34816 + 64 * 5 + (0xA9 & 0x3F) = 35177    -> LOWER | LETTER

Every byte belongs to a code point. Three bytes that encode a surrogate are one, as with `surrogatepass`. Any
other byte of ill-formed UTF-8 is one of its own, as with `surrogateescape`. Both are without a class: their
flags are 0.

`classes_of_64` gives the classes of 64 bytes at once, as masks. All bytes of a character have its class, so a
run of letters is a run of bits whatever their width. `inside` are the bytes of a character after its first::

    bytes      n  C3 A9  e  D0 9C  2        "née", "М", "2"; the lowest bit on the left
    letters    1  1  1   1  1  1   0
    upper      0  0  0   0  1  1   0
    inside     0  0  1   0  0  1   0

Comparisons identify ASCII, and the letters that make up most of Cyrillic, Chinese, Japanese and Korean text.
Every other character is looked up in the table of classes.
"""

from __future__ import annotations

import numpy as np
from numba import types

from ubpe_numba.runtime.compiler import helper, section
from ubpe_numba.runtime.machine.bytes import WINDOW, Mask, below, equal, in_range, traced
from ubpe_numba.runtime.machine.intrinsics import load8, load16, trailing_zeros

UPPER = 1  # \p{Lu} \p{Lt}, and letters without case: \p{Lm} \p{Lo} \p{M}
LOWER = 2  # \p{Ll} \p{Lm} \p{Lo} \p{M}
LETTER = 4  # \p{L}
NUMBER = 8  # \p{N}
SPACE = 16  # \s
NEWLINE = 32  # \r \n
SIGN = 64  # \p{P} \p{S}; in the table of DeepSeek only, as is
CJK = 128  # U+3040..U+30FF and U+4E00..U+9FA5
WORDLIKE = LETTER | NUMBER | SPACE  # punctuation is the absence of these
FLAGS = 2 * 17408

_S, _D, _M, _T, _L, _V, _R, _E = b"sdmtlvre"  # numba would compile a function for `ord`


@section
def class_of(text, i, end, table):
    """Flags and number of bytes of the code point at i < end.

    O(1). A call: inlined everywhere it would be most of the kernel.

    "aé", i = 0 -> LOWER | LETTER and 1; i = 1 -> LOWER | LETTER and 2; the stray byte 0xFF -> 0 and 1.
    """
    first = load8(text, i)
    if first < 0x80:
        return load8(table, FLAGS + first), np.int64(1)
    if first < 0xC2 or first > 0xF4 or i + 1 >= end:
        return np.int64(0), np.int64(1)
    second = load8(text, i + 1)
    if (second & 0xC0) != 0x80:
        return np.int64(0), np.int64(1)
    if first < 0xE0:
        return _flags(table, first & 0x1F, second), np.int64(2)
    # three or four bytes for what needs fewer, and code points past U+10FFFF, are not well-formed
    if (
        (first == 0xE0 and second < 0xA0)
        or (first == 0xF0 and second < 0x90)
        or (first == 0xF4 and second >= 0x90)
    ):
        return np.int64(0), np.int64(1)
    if i + 2 >= end or (load8(text, i + 2) & 0xC0) != 0x80:
        return np.int64(0), np.int64(1)
    third = load8(text, i + 2)
    if first < 0xF0:
        return _flags(table, (first & 0x0F) << 6 | second & 0x3F, third), np.int64(3)
    if i + 3 >= end or (load8(text, i + 3) & 0xC0) != 0x80:
        return np.int64(0), np.int64(1)
    return _flags(
        table, (first & 0x07) << 12 | (second & 0x3F) << 6 | third & 0x3F, load8(text, i + 3)
    ), np.int64(4)


@helper
def _flags(table, block, last):
    """The flags of a code point, given its bits above the lowest 6 and its last byte, which holds those.

    O(1).
    """
    return load8(table, FLAGS + (load16(table, 2 * block) << 6) + (last & 0x3F))


@section
def run(text, i, end, table, mask, wanted):
    """The first position from i on whose flags, of those in `mask`, are not `wanted`. O(bytes of the run).

    "12 a", i = 0, WORDLIKE and NUMBER -> 2; "-- a", i = 0, WORDLIKE and 0 (punctuation) -> 2.
    """
    while i < end:
        flags, width = class_of(text, i, end, table)
        if flags & mask != wanted:
            break
        i += width
    return i


@helper
def whitespace(text, i, end, table):
    r"""The run of white space at i: end of last newline (0 for none), last code point, end. O(bytes).

    " \n  x", i = 0 -> 2, 3 and 4.
    """
    newline = np.int64(0)
    last = i
    while i < end:
        flags, width = class_of(text, i, end, table)
        if flags & SPACE == 0:
            break
        last = i
        i += width
        if flags & NEWLINE:
            newline = i
    return newline, last, i


@helper
def few_numbers(text, i, end, table, most):
    r"""The end of `\p{N}{0,most}` at i: "12345", i = 0, most = 3 -> 3. O(1)."""
    for _ in range(most):
        if i < end:
            flags, width = class_of(text, i, end, table)
            if flags & NUMBER:
                i += width
    return i


@helper
def contraction(text, i, end, fold):
    """The number of bytes of `'(?:[sdmt]|ll|ve|re)` at i, the place of an apostrophe, or 0. O(1).

    `fold` is 0, or 32 for `(?i:`, when U+017F, the long s, is an s too; no other code point folds to one of
    these letters.

    "we'll", i = 2, fold 0 -> 3; "WE'LL", i = 2 -> 0 with fold 0, 3 with fold 32.
    """
    if i + 1 < end:
        second = load8(text, i + 1) | fold
        if second == _S or second == _D or second == _M or second == _T:  # noqa: SIM109 (numba compiles `in` as a loop)
            return 2
        if i + 2 < end:
            third = load8(text, i + 2) | fold
            if third == _E and (second == _V or second == _R):  # noqa: SIM109
                return 3
            if second == _L and third == _L:
                return 3
            if fold and load8(text, i + 1) == 0xC5 and load8(text, i + 2) == 0xBF:
                return 3
    return 0


_NONE = np.uint64(0)


def _ascii(text: Mask, i: Mask, n: Mask) -> tuple[Mask, ...]:
    """ASCII upper case, lower case, numbers and white space; of the first n bytes, all beyond ASCII."""
    upper = in_range(text, i, ord("A"), ord("Z"))
    lower = in_range(text, i, ord("a"), ord("z"))
    numbers = in_range(text, i, ord("0"), ord("9"))
    white = in_range(text, i, ord("\t"), ord("\r")) | equal(text, i, " ")
    return upper, lower, numbers, white, in_range(text, i, 0x80, 0xFF) & below(n)


def _frequent_letters(text: Mask, i: Mask, n: Mask) -> tuple[Mask, ...]:
    """Upper case, lower case and inside, of the letters below that end within the first n bytes.

    Letters without case are in both.

    Two bytes: U+0400..U+045F of Cyrillic. Three bytes: kana, U+3041..U+3096 and U+30A1..U+30FF but U+30FB,
    the middle dot; ideographs, U+4E00..U+9FFF; Hangul, U+B000..U+CFFF.
    """
    document = below(n)
    tail = in_range(text, i, 0x80, 0xBF)

    def after(byte: int, first: int, last: int) -> Mask:
        return equal(text, i, byte) << 1 & in_range(text, i, first, last)

    capital = after(0xD0, 0x80, 0xAF) & document
    small = (after(0xD0, 0xB0, 0xBF) | after(0xD1, 0x80, 0x9F)) & document
    second = (in_range(text, i, 0xE5, 0xE9) | in_range(text, i, 0xEB, 0xEC)) << 1 & tail
    second |= after(0xE4, 0xB8, 0xBF)
    third = second << 1 & tail
    third |= after(0xE3, 0x81, 0x81) << 1 & in_range(text, i, 0x81, 0xBF)
    third |= after(0xE3, 0x82, 0x82) << 1 & (in_range(text, i, 0x80, 0x96) | in_range(text, i, 0xA1, 0xBF))
    third |= after(0xE3, 0x83, 0x83) << 1 & tail & ~equal(text, i, 0xBB)
    third &= document
    caseless = third | third >> 1 | third >> 2
    upper = capital | capital >> 1 | caseless
    lower = small | small >> 1 | caseless
    return upper, lower, capital | small | third | third >> 1


def _enter(
    p: Mask, width: Mask, flags: Mask, upper: Mask, lower: Mask, letters: Mask, numbers: Mask, white: Mask
) -> tuple[Mask, ...]:
    """The masks with one character more, of these flags and of `width` bytes from p on.

    Then its bytes, and those inside it.
    """
    char = below(width) << p
    masks = ((upper, UPPER), (lower, LOWER), (letters, LETTER), (numbers, NUMBER), (white, SPACE))
    return *(mask | char & ~(flags & flag).equals(0) for mask, flag in masks), char, char & char << 1


_ascii_masks = traced(_ascii, *[types.uint64] * 5)
_frequent_masks = traced(_frequent_letters, *[types.uint64] * 3)
_entered = traced(_enter, *[types.uint64] * 7)


@helper
def classes_of_64(text, i, end, table):
    """Masks of the classes of the 64 bytes from i on, the first of a character; and their validity.

    The latter is the number of bytes for which they hold.

    Returns upper (UPPER), lower (LOWER), letters, numbers, white, inside, and n: 64, or fewer if the document
    ends or a character does not end within them. All 64 must exist, whether they are before `end` or not.
    O(1), and O(1) for every character that has to be looked up.
    """
    n = end - i if end - i < WINDOW else np.int64(WINDOW)
    upper, lower, numbers, white, wide = _ascii_masks(text, i, n)
    letters = upper | lower
    inside = _NONE
    if wide != _NONE:
        capital, small, inside = _frequent_masks(text, i, n)
        upper |= capital
        lower |= small
        letters |= capital | small
        wide &= ~(capital | small)
        while wide != _NONE:
            p = np.int64(trailing_zeros(wide))
            flags, width = class_of(text, i + p, end, table)
            if p + width > WINDOW:
                n = p
                break
            upper, lower, letters, numbers, white, char, tail = _entered(
                p, width, flags, upper, lower, letters, numbers, white
            )
            wide &= ~char
            inside |= tail
    return upper, lower, letters, numbers, white, inside, n
