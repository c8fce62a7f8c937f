"""The classes of 64 bytes at once, as masks.

All bytes of a character have its class, so that a run of letters is a run of bits whatever their width; `inside` are the bytes of
a character behind its first::

    bytes      n  C3 A9  e  D0 9C  2        "née", "М", "2"; the lowest bit on the left
    letters    1  1  1   1  1  1   0
    upper      0  0  0   0  1  1   0
    inside     0  0  1   0  0  1   0

ASCII is told by comparison, and so are the letters that make up most of Cyrillic, Chinese, Japanese and Korean text; every other
character is looked up in the table of classes (utf8.py).
"""

from __future__ import annotations

import numpy as np
from numba import types

from ubpe_numba.runtime.jit import helper
from ubpe_numba.runtime.machine.byte_masks import WINDOW, Mask, below, equal, in_range, traced
from ubpe_numba.runtime.machine.intrinsics import trailing_zeros
from ubpe_numba.text.kernels.utf8 import LETTER, LOWER, NUMBER, SPACE, UPPER, class_of

_NONE = np.uint64(0)


def _ascii(text: Mask, i: Mask, n: Mask) -> tuple[Mask, ...]:
    """Upper case, lower case, numbers and white space of ASCII, and, of the first n bytes, all that are not ASCII."""
    upper = in_range(text, i, ord("A"), ord("Z"))
    lower = in_range(text, i, ord("a"), ord("z"))
    numbers = in_range(text, i, ord("0"), ord("9"))
    white = in_range(text, i, ord("\t"), ord("\r")) | equal(text, i, " ")
    return upper, lower, numbers, white, in_range(text, i, 0x80, 0xFF) & below(n)


def _frequent_letters(text: Mask, i: Mask, n: Mask) -> tuple[Mask, ...]:
    """Upper case, lower case (both: letters without case) and inside, of the letters below that end within the first n bytes.

    Two bytes: U+0400..U+045F of Cyrillic. Three bytes: kana, U+3041..U+3096 and U+30A1..U+30FF but U+30FB, the middle dot;
    ideographs, U+4E00..U+9FFF; Hangul, U+B000..U+CFFF.
    """
    document = below(n)
    tail = in_range(text, i, 0x80, 0xBF)

    def behind(byte: int, first: int, last: int) -> Mask:
        return equal(text, i, byte) << 1 & in_range(text, i, first, last)

    capital = behind(0xD0, 0x80, 0xAF) & document
    small = (behind(0xD0, 0xB0, 0xBF) | behind(0xD1, 0x80, 0x9F)) & document
    second = (in_range(text, i, 0xE5, 0xE9) | in_range(text, i, 0xEB, 0xEC)) << 1 & tail
    second |= behind(0xE4, 0xB8, 0xBF)
    third = second << 1 & tail
    third |= behind(0xE3, 0x81, 0x81) << 1 & in_range(text, i, 0x81, 0xBF)
    third |= behind(0xE3, 0x82, 0x82) << 1 & (in_range(text, i, 0x80, 0x96) | in_range(text, i, 0xA1, 0xBF))
    third |= behind(0xE3, 0x83, 0x83) << 1 & tail & ~equal(text, i, 0xBB)
    third &= document
    caseless = third | third >> 1 | third >> 2
    upper = capital | capital >> 1 | caseless
    lower = small | small >> 1 | caseless
    return upper, lower, capital | small | third | third >> 1


def _enter(
    p: Mask, width: Mask, flags: Mask, upper: Mask, lower: Mask, letters: Mask, numbers: Mask, white: Mask
) -> tuple[Mask, ...]:
    """The masks with one character more, of these flags and of `width` bytes from p on; then its bytes, and those inside it."""
    char = below(width) << p

    def entered(mask: Mask, flag: int) -> Mask:
        return mask | char & ~(flags & flag).equals(0)

    classes = entered(upper, UPPER), entered(lower, LOWER), entered(letters, LETTER), entered(numbers, NUMBER)
    return *classes, entered(white, SPACE), char, char & char << 1


_ascii_masks = traced(_ascii, *[types.uint64] * 5)
_frequent_masks = traced(_frequent_letters, *[types.uint64] * 3)
_entered = traced(_enter, *[types.uint64] * 7)


@helper
def classes_of_64(text, i, end, table):
    """Masks of the classes of the 64 bytes from i on, where a character begins, and how many of these bytes they hold for.

    Returns upper (UPPER), lower (LOWER), letters, numbers, white, inside, and n: 64, or fewer where the document ends or where a
    character does not end within them. All 64 must exist, whether they are before `end` or not. O(1), and O(1) for every
    character that has to be looked up.
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
            upper, lower, letters, numbers, white, char, behind = _entered(p, width, flags, upper, lower, letters, numbers, white)
            wide &= ~char
            inside |= behind
    return upper, lower, letters, numbers, white, inside, n
