r"""Cutting text as GPT-2 does: `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`.

Source: A. Radford et al., "Language models are unsupervised multitask learners", 2019, the code published with it.
"""

from __future__ import annotations

from ubpe_numba.runtime.jit import helper, kernel
from ubpe_numba.runtime.machine.intrinsics import address, load8
from ubpe_numba.text.kernels.utf8 import (  # fmt: skip
    FOLD,
    LETTER,
    NUMBER,
    SPACE,
    WORDLIKE,
    class_of,
    contraction,
    run,
    run_of_letters,
    whitespace,
)


@helper
def _next(text, i, end, table):
    """The end of the segment that starts at i."""
    byte = load8(text, i)
    if byte == ord("'"):
        length = contraction(text, i, end, 0)
        if length:
            return i + length
    flags, width = class_of(text, i, end, table)
    j = i + width
    # letters leave at once, here and behind a space: one exit for both costs a quarter of the speed, since the processor then
    # waits for the flags instead of guessing them
    if flags & LETTER:
        return run_of_letters(text, j, end, table, LETTER, FOLD)
    if byte == ord(" ") and j < end:
        flags_behind, width = class_of(text, j, end, table)
        if flags_behind & LETTER:
            return run_of_letters(text, j + width, end, table, LETTER, FOLD)
        if flags_behind & SPACE == 0:
            flags = flags_behind
            j += width
    if flags & NUMBER:
        return run(text, j, end, table, NUMBER, NUMBER)
    if flags & SPACE == 0:
        return run(text, j, end, table, WORDLIKE, 0)
    _, last, stop = whitespace(text, i, end, table)
    return stop if stop == end or last == i else last


@kernel
def split_gpt2(values, offsets, table, state, ends):
    """Write the ends of the next segments; returns how many, fewer than there is room for once all documents are cut.

    values uint8, offsets int64[d + 1], table uint8 (utf8.py); state int64[2], first 0 and offsets[0], is where the next call goes
    on: document and position. Documents are cut each for itself. O(bytes).
    """
    text = address(values)
    classes = address(table)
    d = state[0]
    i = state[1]
    n = 0
    while d < offsets.size - 1 and n < ends.size:
        end = offsets[d + 1]
        while i < end and n < ends.size:
            i = _next(text, i, end, classes)
            ends[n] = i
            n += 1
        if i >= end:
            d += 1
    state[0] = d
    state[1] = i
    return n
