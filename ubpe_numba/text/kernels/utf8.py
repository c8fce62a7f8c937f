"""Reading UTF-8: the class of a code point, and where a run of a class ends.

A text and a table are given by their addresses (intrinsics.py); positions are bytes of the text. The table (code_points.py) is
uint8: 17,408 block numbers of 16 bits, one for every 64 code points, and from FLAGS on the blocks, one byte of flags a code
point. The first two blocks are ASCII.

Every byte belongs to a code point: three bytes that encode a surrogate are one, as with `surrogatepass`, and any other byte that
is not part of well-formed UTF-8 is one of its own, as with `surrogateescape`. Both have no class.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.jit import helper, section
from ubpe_numba.runtime.machine.intrinsics import load8, load16, load64, trailing_zeros

UPPER = 1  # \p{Lu} \p{Lt}, and what has no case: \p{Lm} \p{Lo} \p{M}
LOWER = 2  # \p{Ll} \p{Lm} \p{Lo} \p{M}
LETTER = 4  # \p{L}
NUMBER = 8  # \p{N}
SPACE = 16  # \s
NEWLINE = 32  # \r \n
WORDLIKE = LETTER | NUMBER | SPACE  # punctuation is what has none of these
FLAGS = 2 * 17408

_HIGH = np.uint64(0x8080808080808080)
_ASCII = np.uint64(0x7F7F7F7F7F7F7F7F)
_FROM_A = np.uint64(0x1F1F1F1F1F1F1F1F)  # 0x80 - "a"
_PAST_Z = np.uint64(0x0505050505050505)  # 0x80 - "z" - 1
FOLD = np.uint64(0x2020202020202020)  # from upper to lower case
NO_FOLD = np.uint64(0)


@helper
def class_of(text, i, end, table):
    """Flags and number of bytes of the code point at i < end. O(1)."""
    byte = load8(text, i)
    if byte < 0x80:
        return load8(table, FLAGS + byte), np.int64(1)
    return _class_of_many(text, i, end, table)


@section
def _class_of_many(text, i, end, table):
    """The same for a byte that is not ASCII; a call, for inlined in a dozen places it would be most of the kernel."""
    first = load8(text, i)
    if first < 0xC2 or first > 0xF4 or i + 1 >= end:
        return np.int64(0), np.int64(1)
    second = load8(text, i + 1)
    if (second & 0xC0) != 0x80:
        return np.int64(0), np.int64(1)
    if first < 0xE0:
        return _flags(table, first & 0x1F, second), np.int64(2)
    # neither longer than needed nor past U+10FFFF
    if (first == 0xE0 and second < 0xA0) or (first == 0xF0 and second < 0x90) or (first == 0xF4 and second >= 0x90):
        return np.int64(0), np.int64(1)
    if i + 2 >= end or (load8(text, i + 2) & 0xC0) != 0x80:
        return np.int64(0), np.int64(1)
    third = load8(text, i + 2)
    if first < 0xF0:
        return _flags(table, (first & 0x0F) << 6 | second & 0x3F, third), np.int64(3)
    if i + 3 >= end or (load8(text, i + 3) & 0xC0) != 0x80:
        return np.int64(0), np.int64(1)
    return _flags(table, (first & 0x07) << 12 | (second & 0x3F) << 6 | third & 0x3F, load8(text, i + 3)), np.int64(4)


@helper
def _flags(table, block, last):
    """The flags of a code point: number of its block of 64, and the last byte, which says where in the block."""
    return load8(table, FLAGS + (load16(table, 2 * block) << 6) + (last & 0x3F))


@helper
def run(text, i, end, table, mask, wanted):
    """The first position from i on whose flags, of those in `mask`, are not `wanted`."""
    while i < end:
        flags, width = class_of(text, i, end, table)
        if flags & mask != wanted:
            break
        i += width
    return i


@helper
def run_of_letters(text, i, end, table, flag, fold):
    """The first position from i on without `flag`: LETTER with FOLD, or LOWER with NO_FOLD. ASCII goes eight bytes a step."""
    while i < end:
        while i + 8 <= end:
            word = load64(text, i)
            low = (word | fold) & _ASCII
            # the upper bit of every byte that is no letter
            other = ~((low + _FROM_A) & ~(low + _PAST_Z) & ~word) & _HIGH
            if other == 0:
                i += 8
            else:
                i += np.int64(trailing_zeros(other) >> np.uint64(3))
                break
        if i >= end:
            break
        flags, width = class_of(text, i, end, table)
        if flags & flag == 0:
            break
        i += width
    return i


@helper
def whitespace(text, i, end, table):
    """The run of whitespace at i: end of its last newline (0 for none), start of its last code point, its end."""
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
def three_numbers(text, i, end, table):
    r"""The end of `\p{N}{0,3}` at i."""
    for _ in range(3):
        if i < end:
            flags, width = class_of(text, i, end, table)
            if flags & NUMBER:
                i += width
    return i


@helper
def contraction(text, i, end, fold):
    """The number of bytes of `'(?:[sdmt]|ll|ve|re)` at i, where an apostrophe stands, or 0. With `fold` 32, not 0, `(?i:`.

    Then U+017F, the long s, is an s too; nothing else folds to one of these letters.
    """
    if i + 1 < end:
        second = load8(text, i + 1) | fold
        if second == ord("s") or second == ord("d") or second == ord("m") or second == ord("t"):
            return 2
        if i + 2 < end:
            third = load8(text, i + 2) | fold
            if (second == ord("v") or second == ord("r")) and third == ord("e"):
                return 3
            if second == ord("l") and third == ord("l"):
                return 3
            if fold and load8(text, i + 1) == 0xC5 and load8(text, i + 2) == 0xBF:
                return 3
    return 0
