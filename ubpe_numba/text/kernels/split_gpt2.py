r"""Cutting text as GPT-2 does: `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`.

Source: A. Radford et al., "Language models are unsupervised multitask learners", 2019, the code published with it.

StarCoder cuts out every digit first, and what is between digits as GPT-2 does: no digit takes the space before it, and white
space before a digit is a segment.

Source: R. Li et al., "StarCoder: may the source be with you!", 2023, the files published with it.
"""

from __future__ import annotations

from numba import types

from ubpe_numba.runtime.compiler import kernel, section
from ubpe_numba.runtime.machine.bytes import traced
from ubpe_numba.runtime.machine.intrinsics import load8
from ubpe_numba.text.kernels.split import DIGITS, GPT2, STARCODER, boundaries, split_documents
from ubpe_numba.text.kernels.utf8 import (  # fmt: skip
    NUMBER,
    SPACE,
    WORDLIKE,
    class_of,
    contraction,
    run,
    whitespace,
)

_gpt2 = traced(boundaries, types.uint64, types.int64, rules=GPT2)
_starcoder = traced(boundaries, types.uint64, types.int64, rules=STARCODER)
_APOSTROPHE, _SPACE = b"' "  # numba would compile a function for `ord`


@section
def _end_of_segment(text, i, end, table, rules):
    """The end of the segment that starts at i < end. O(its bytes, and one code point more).

    GPT-2, "it's  ok": from 0 to 2 (letters), from 2 to 4 (contraction), from 4 to 5 (all white space but the last), from 5 to 8
    (a space and letters).
    """
    byte = load8(text, i)
    if byte == _APOSTROPHE:
        length = contraction(text, i, end, 0)
        if length:
            return i + length
    flags, width = class_of(text, i, end, table)
    j = i + width
    alone = NUMBER if rules & DIGITS else 0  # takes no space, and nothing like it
    if flags & alone:
        return j
    if byte == _SPACE and j < end:
        flags_behind, width = class_of(text, j, end, table)
        if flags_behind & (SPACE | alone) == 0:
            flags = flags_behind
            j += width
    if flags & SPACE == 0:
        return run(text, j, end, table, WORDLIKE, flags & WORDLIKE)
    _, last, stop = whitespace(text, i, end, table)
    if stop == end or last == i:
        return stop
    flags, width = class_of(text, stop, end, table)
    return stop if flags & alone else last


@kernel
def split_gpt2(values, offsets, table, state, ends):
    """Write the ends of the next segments; returns how many, fewer than there is room for once all documents are cut.

    values uint8[n], at least 8; offsets int64[d + 1]; table uint8, the classes of all code points (utf8.py); state int64[2] says
    where to go on: document and position, at first 0 and offsets[0]; ends int64, as many as fit. The caller allocates all of
    them. Each document is cut by itself. O(bytes).

    values "it's ok 12", offsets [0, 10], state [0, 0] -> ends [2, 4, 7, 10], returns 4, state [1, 10]: it, 's, " ok", " 12".
    """
    return split_documents(_gpt2, _end_of_segment, GPT2, values, offsets, table, state, ends)


@kernel
def split_starcoder(values, offsets, table, state, ends):
    """Write the ends of the next segments: arguments, result and cost as for `split_gpt2`.

    values "it's ok 12", offsets [0, 10], state [0, 0] -> ends [2, 4, 7, 8, 9, 10], returns 6: it, 's, " ok", " ", 1, 2.
    """
    return split_documents(_starcoder, _end_of_segment, STARCODER, values, offsets, table, state, ends)
