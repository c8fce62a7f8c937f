"""The classes of 64 bytes at once, as masks.

All bytes of a character have its class, so that a run of letters is a run of bits whatever their width; `inside` are the bytes of
a character behind its first::

    bytes      n  C3 A9  e  D0 9C  2        "née", "М", "2"
    letters    1  1  1   1  1  1   0
    upper      0  0  0   0  1  1   0
    inside     0  0  1   0  0  1   0

ASCII is told by comparison, and so are the letters that make up most of Cyrillic, Chinese, Japanese and Korean text; every other
character is looked up in the table of classes (utf8.py).
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.jit import helper
from ubpe_numba.runtime.machine.byte_masks import WINDOW, below, equal, in_range, lowest
from ubpe_numba.text.kernels.utf8 import LETTER, LOWER, NUMBER, SPACE, UPPER, class_of_many

_NONE = np.uint64(0)
_ONE = np.uint64(1)
_TWO = np.uint64(2)


@helper
def _if(flags, flag):
    """All bits if the flags hold this one, none otherwise."""
    return _NONE - np.uint64(flags & flag != 0)


@helper
def classes_of_64(text, i, end, table):
    """Masks of the classes of the 64 bytes from i on, where a character begins, and how many of these bytes they hold for.

    Returns upper (UPPER), lower (LOWER), letters, numbers, white, inside, and n: 64, or fewer where the document ends or where a
    character does not end within them. All 64 must exist, whether they are before `end` or not. O(1), and O(1) for every
    character that has to be looked up.
    """
    n = min(np.int64(WINDOW), end - i)
    upper = in_range(text, i, ord("A"), ord("Z"))
    lower = in_range(text, i, ord("a"), ord("z"))
    letters = upper | lower
    numbers = in_range(text, i, ord("0"), ord("9"))
    white = in_range(text, i, ord("\t"), ord("\r")) | equal(text, i, ord(" "))
    inside = _NONE
    document = below(n)
    wide = in_range(text, i, 0x80, 0xFF) & document
    if wide:
        small, capital, inside = _cyrillic(text, i, document)
        caseless, others = _eastern(text, i, document)
        upper |= capital | caseless
        lower |= small | caseless
        letters |= small | capital | caseless
        inside |= others
        wide &= ~(small | capital | caseless)
        while wide:
            p = lowest(wide)
            flags, width = class_of_many(text, i + p, end, table)
            if p + width > WINDOW:
                n = p
                break
            char = below(width) << np.uint64(p)
            wide &= ~char
            inside |= char & (char << _ONE)
            upper |= char & _if(flags, UPPER)
            lower |= char & _if(flags, LOWER)
            letters |= char & _if(flags, LETTER)
            numbers |= char & _if(flags, NUMBER)
            white |= char & _if(flags, SPACE)
    return upper, lower, letters, numbers, white, inside, n


@helper
def _cyrillic(text, i, document):
    """Letters of U+0400..U+045F, two bytes each: lower case, upper case, and the second bytes of both. O(1)."""
    after_d0 = equal(text, i, 0xD0) << _ONE & document
    after_d1 = equal(text, i, 0xD1) << _ONE & document
    capital = after_d0 & in_range(text, i, 0x80, 0xAF)
    small = (after_d0 & in_range(text, i, 0xB0, 0xBF)) | (after_d1 & in_range(text, i, 0x80, 0x9F))
    return small | small >> _ONE, capital | capital >> _ONE, small | capital


@helper
def _eastern(text, i, document):
    """Letters without case, three bytes each: most of kana, ideographs, Hangul; and their second and third bytes. O(1).

    U+3041..U+3096 and U+30A1..U+30FF but the middle dot, U+4E00..U+9FFF, U+AC00..U+D77F.
    """
    tail = in_range(text, i, 0x80, 0xBF)
    after_e3 = equal(text, i, 0xE3) << _ONE
    second = (in_range(text, i, 0xE5, 0xE9) | in_range(text, i, 0xEB, 0xEC)) << _ONE & tail
    second |= equal(text, i, 0xE4) << _ONE & in_range(text, i, 0xB8, 0xBF)
    third = second << _ONE & tail
    third |= (after_e3 & equal(text, i, 0x81)) << _ONE & in_range(text, i, 0x81, 0xBF)
    third |= (after_e3 & equal(text, i, 0x82)) << _ONE & (in_range(text, i, 0x80, 0x96) | in_range(text, i, 0xA1, 0xBF))
    third |= (after_e3 & equal(text, i, 0x83)) << _ONE & tail & ~equal(text, i, 0xBB)
    third &= document
    others = third | third >> _ONE
    return others | third >> _TWO, others
