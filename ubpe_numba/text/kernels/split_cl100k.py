r"""Cutting text as GPT-4 does, cl100k.

`'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s`

Source: OpenAI, the package tiktoken.
"""

from __future__ import annotations

from numba import types

from ubpe_numba.runtime.jit import kernel, section
from ubpe_numba.runtime.machine.byte_masks import traced
from ubpe_numba.runtime.machine.intrinsics import load8
from ubpe_numba.text.kernels.split import split_documents
from ubpe_numba.text.kernels.utf8 import (  # fmt: skip
    LETTER,
    NEWLINE,
    NUMBER,
    SPACE,
    WORDLIKE,
    class_of,
    contraction,
    run,
    three_numbers,
    whitespace,
)
from ubpe_numba.text.kernels.window import CL100K, boundaries

_boundaries = traced(boundaries, types.uint64, types.int64, pattern=CL100K)
_APOSTROPHE, _SPACE = b"' "  # numba would compile a function for `ord`


@section
def _end_of_segment(text, i, end, table):
    """The end of the segment that starts at i < end. O(its bytes, and one code point more).

    "(it's) 1234": from 0 to 3 (a sign and letters), from 3 to 5 (contraction), from 5 to 6, from 6 to 7 (a number does not take
    the space before it), from 7 to 10 (three digits), from 10 to 11.
    """
    flags, width = class_of(text, i, end, table)
    j = i + width
    if flags & LETTER:
        return run(text, j, end, table, LETTER, LETTER)
    if flags & NUMBER:
        return three_numbers(text, i, end, table)
    byte = load8(text, i)
    if byte == _APOSTROPHE:
        length = contraction(text, i, end, 32)
        if length:
            return i + length
    if flags & NEWLINE == 0 and j < end:
        flags_behind, width = class_of(text, j, end, table)
        if flags_behind & LETTER:
            return run(text, j + width, end, table, LETTER, LETTER)
        if byte == _SPACE and flags_behind & WORDLIKE == 0:
            flags = flags_behind
            j += width
    if flags & SPACE == 0:
        return run(text, run(text, j, end, table, WORDLIKE, 0), end, table, NEWLINE, NEWLINE)
    newline, last, stop = whitespace(text, i, end, table)
    if stop == end:
        return end
    if newline:
        return newline
    return stop if last == i else last


@kernel
def split_cl100k(values, offsets, table, state, ends):
    """Write the ends of the next segments: arguments, result and cost as for `split_gpt2`.

    values "it's ok 12", offsets [0, 10], state [0, 0] -> ends [2, 4, 7, 8, 10], returns 5: it, 's, " ok", " ", 12.
    """
    return split_documents(_boundaries, _end_of_segment, values, offsets, table, state, ends)
