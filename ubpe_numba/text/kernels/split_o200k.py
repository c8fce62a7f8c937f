r"""Cutting text as GPT-4o does, o200k.

The alternatives, with U for `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]` and W for `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`:

1. `[^\r\n\p{L}\p{N}]?U*W+(?i:'s|'t|'re|'ve|'m|'ll|'d)?`
2. `[^\r\n\p{L}\p{N}]?U+W*(?i:'s|'t|'re|'ve|'m|'ll|'d)?`
3. `\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`

Source: OpenAI, the package tiktoken.
"""

from __future__ import annotations

from ubpe_numba.runtime.jit import helper, kernel
from ubpe_numba.runtime.machine.intrinsics import address, load8
from ubpe_numba.text.kernels.utf8 import (  # fmt: skip
    LETTER,
    LOWER,
    NEWLINE,
    NO_FOLD,
    NUMBER,
    SPACE,
    UPPER,
    WORDLIKE,
    class_of,
    contraction,
    run,
    run_of_letters,
    three_numbers,
    whitespace,
)


@helper
def _word(text, i, end, table):
    """The end of `U*W+` at i and 1, else the end of `U+` and 2, else i and 0.

    U* takes all it can and gives back until W+ finds something: the last code point that is in both classes, if what follows is
    in neither. So `中Ab` is one word, and of `中A` only `中` is.
    """
    both = i
    j = i
    while j < end:
        flags, width = class_of(text, j, end, table)
        if flags & UPPER == 0:
            if flags & LOWER:
                return run_of_letters(text, j + width, end, table, LOWER, NO_FOLD), 1
            break
        j += width
        if flags & LOWER:
            both = j
    if both > i:
        return both, 1
    return j, 2 if j > i else 0


@helper
def _with_contraction(text, i, end):
    """The end of a word, with the contraction behind it."""
    if i < end and load8(text, i) == ord("'"):
        return i + contraction(text, i, end, 32)
    return i


@helper
def _next(text, i, end, table):
    """The end of the segment that starts at i."""
    flags, width = class_of(text, i, end, table)
    if flags & LETTER:  # apart from words with something before them: as in split_gpt2.py
        stop, _ = _word(text, i, end, table)
        return _with_contraction(text, stop, end)
    if flags & NUMBER:
        return three_numbers(text, i, end, table)
    j = i + width
    if flags & NEWLINE == 0:
        stop, alternative = _word(text, j, end, table)
        if alternative != 1 and flags & UPPER:
            # a mark, and no W behind it that it could introduce: alternative 1 takes it for a W before 2 is tried
            return _with_contraction(text, j, end)
        if alternative:
            return _with_contraction(text, stop, end)
    if load8(text, i) == ord(" ") and j < end:
        flags_behind, width = class_of(text, j, end, table)
        if flags_behind & WORDLIKE == 0:
            flags = flags_behind
            j += width
    if flags & SPACE == 0:
        j = run(text, j, end, table, WORDLIKE, 0)
        while j < end and (load8(text, j) == ord("\n") or load8(text, j) == ord("\r") or load8(text, j) == ord("/")):
            j += 1
        return j
    newline, last, stop = whitespace(text, i, end, table)
    if newline:
        return newline
    return stop if stop == end or last == i else last


@kernel
def split_o200k(values, offsets, table, state, ends):
    """Write the ends of the next segments: arguments, result and cost of `split_gpt2`."""
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
