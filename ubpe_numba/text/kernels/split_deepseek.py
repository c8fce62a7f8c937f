r"""Splitting text as DeepSeek V3 does, in three steps.

Each step splits the pieces that the previous step left whole.

1. `\p{N}{1,3}`
2. `[一-龥぀-ゟ゠-ヿ]+`: ideographs and kana, here CJK, U+4E00..U+9FA5 and U+3040..U+30FF
3. ``[!-/:-@\[-`{-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|
   ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+``

A piece ends where numbers or CJK begin or end, and nothing is joined with another piece. The table of classes
is special (`class_table`): marks are letters, and CJK and punctuation have flags. Characters that no step
matches, such as control characters, are one segment up to the next match.

Source: DeepSeek-AI, "DeepSeek-V3 technical report", 2024, the files published with it.
"""

from __future__ import annotations

from numba import types

from ubpe_numba.runtime.compiler import kernel, section
from ubpe_numba.runtime.machine.bytes import Mask, below, equal, in_range, lowest, reach_up, traced, width_of
from ubpe_numba.runtime.machine.intrinsics import load8
from ubpe_numba.text.kernels.split import in_groups, last_blanks, lines, split_documents
from ubpe_numba.text.kernels.utf8 import (
    CJK,
    LETTER,
    NEWLINE,
    NUMBER,
    SIGN,
    SPACE,
    class_of,
    few_numbers,
    run,
    whitespace,
)

_SPACE = 0x20
_OTHER = LETTER | NUMBER | SPACE | SIGN  # without any of these, no pattern matches a character by itself


def boundaries(
    text: Mask, i: Mask, rest: Mask,
    known: Mask, upper: Mask, lower: Mask, letters: Mask, numbers: Mask, white: Mask, inside: Mask,
) -> tuple[Mask, Mask]:  # fmt: skip
    """Starts of segments in the 64 bytes from i on, and the offset of the next window.

    As `boundaries` of split.py.

    `lower` are punctuation, except for letters. Not decided here: numbers beyond ASCII, and characters that
    nothing matches.

    "a中!b 12" and the end of the document -> bits 1, 4, 6 ("!b" is one segment), 7, and 9.
    """
    none = known & 0
    others = ~(letters | numbers | white)
    signs = others & (in_range(text, i, 0x21, 0x7E) | lower)
    known = known.least(lowest(others & ~signs & below(known) | numbers & ~inside & inside >> 1))
    at_end = known.equals(rest) & ~known.equals(64)
    inner = below(known)
    outside = ~inner
    letters &= inner
    numbers &= inner
    signs &= inner
    # which white space is the last of a row is not known at the end
    known = known.least(width_of(~white & inner) + 1 | at_end)

    # CJK is E3 81..83, E4 B8..BF, E5..E8, and E9 up to E9 BE A5, of characters of three bytes
    first = (
        equal(text, i, 0xE3) & in_range(text, i, 0x81, 0x83) >> 1
        | equal(text, i, 0xE4) & in_range(text, i, 0xB8, 0xBF) >> 1
    )
    below_be = (
        in_range(text, i, 0x80, 0xBD) >> 1 | equal(text, i, 0xBE) >> 1 & in_range(text, i, 0x80, 0xA5) >> 2
    )
    first |= in_range(text, i, 0xE5, 0xE8) | equal(text, i, 0xE9) & below_be
    cjk = (first | first << 1 | first << 2) & inner
    edge = (cjk ^ cjk << 1) & inner
    space = equal(text, i, " ")
    starts_of_signs = signs & (~((signs | space) << 1) | edge) & ~inside
    newline = (equal(text, i, "\n") | equal(text, i, "\r")) & inner
    taken = reach_up(newline & (signs & ~cjk) << 1, newline) & newline
    starts, blank = lines(white, newline, taken)
    starts |= last_blanks(blank, white | outside | numbers | cjk, inside) | starts_of_signs | edge
    starts |= in_groups(numbers, 3) | letters & ~((letters | blank) << 1)

    ascii_letters = (in_range(text, i, ord("A"), ord("Z")) | in_range(text, i, ord("a"), ord("z"))) & inner
    # the first letter after a sign
    joined = (starts_of_signs & in_range(text, i, 0x21, 0x7E)) << 1 & ascii_letters
    runs = joined.if_any(lambda: reach_up(joined, ascii_letters))
    starts = starts & ~joined | runs & letters & ~ascii_letters
    # no window begins there: the rest depends on the punctuation
    open_end = runs & ascii_letters & ~(inner >> 1)
    inner = below(known)
    at_end &= known.equals(rest)
    glide = ~(letters & (inner ^ inner >> 1)).equals(0) & open_end.equals(0) & ~at_end
    return starts & inner & (none - 2), known & at_end | (width_of(letters & inner & ~inside) - 1) & glide


_boundaries = traced(boundaries, types.uint64, types.int64)


@section
def _end_of_segment(text, i, end, table, rules):
    """The end of the segment that starts at i < end; `rules` is not used.

    O(its bytes, and one code point more).

    "!ab か・な 12": from 0 to 3 (punctuation and ASCII letters), from 3 to 4 (no space belongs to CJK), from 4
    to 7. Then from 7 to 10 (punctuation, also in the piece か・な), from 10 to 13, from 13 to 14, from 14 to 16.
    """
    flags, width = class_of(text, i, end, table)
    j = i + width
    if flags & NUMBER:
        return few_numbers(text, i, end, table, 3)
    side = flags & CJK
    if flags & LETTER:
        return run(text, j, end, table, LETTER | CJK, LETTER | side)
    byte = load8(text, i)
    following = 0
    width = 0
    if j < end:
        following, width = class_of(text, j, end, table)
        if following & (NUMBER | CJK) != side:  # another piece; CJK does not contain numbers
            following = 0
    if flags & SIGN:
        if byte < 0x80:
            while j < end and 0x61 <= (load8(text, j) | 32) <= 0x7A:  # A-Z and a-z
                j += 1
            if j > i + 1:
                return j
    elif flags & NEWLINE == 0 and following & LETTER:
        return run(text, j + width, end, table, LETTER | CJK, LETTER | side)
    elif byte == _SPACE and following & SIGN:
        flags = following
        j += width
    if flags & SIGN:
        j = run(text, j, end, table, SIGN | CJK, SIGN | side)
        return j if side else run(text, j, end, table, NEWLINE, NEWLINE)
    if flags & SPACE:
        newline, last, stop = whitespace(text, i, end, table)
        if newline:
            return newline
        if stop == end or last == i:
            return stop
        flags, width = class_of(text, stop, end, table)
        return stop if flags & (NUMBER | CJK) else last
    while j < end:  # what nothing matches, up to a match or the end of the piece
        flags, width = class_of(text, j, end, table)
        if flags & _OTHER or flags & CJK != side:
            break
        if j + width < end:
            following, _ = class_of(text, j + width, end, table)
            if following & (LETTER | CJK) == LETTER | side:
                break
        j += width
    return j


@kernel
def split_deepseek(values, offsets, table, state, ends):
    """Write the ends of the next segments: arguments, result and cost as for `split_gpt2`.

    values "it's ok 12", offsets [0, 10], state [0, 0] -> ends [2, 4, 7, 8, 10], returns 5: it, 's, " ok", "
    ", 12.
    """
    return split_documents(_boundaries, _end_of_segment, 0, values, offsets, table, state, ends)
