r"""Cutting text as GPT-4o does, o200k.

The alternatives, with U for `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]` and W for `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`:

1. `[^\r\n\p{L}\p{N}]?U*W+(?i:'s|'t|'re|'ve|'m|'ll|'d)?`
2. `[^\r\n\p{L}\p{N}]?U+W*(?i:'s|'t|'re|'ve|'m|'ll|'d)?`
3. `\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`

Mistral's tekken has no contractions, and every digit is a segment.

Source: OpenAI, the package tiktoken; Mistral AI, the package mistral_common.
"""

from __future__ import annotations

from numba import types

from ubpe_numba.runtime.compiler import helper, kernel, section
from ubpe_numba.runtime.machine.bytes import traced
from ubpe_numba.runtime.machine.intrinsics import load8
from ubpe_numba.text.kernels.split import BEHIND, DIGITS, O200K, TEKKEN, boundaries, split_documents
from ubpe_numba.text.kernels.utf8 import (  # fmt: skip
    LETTER,
    LOWER,
    NEWLINE,
    NUMBER,
    SPACE,
    UPPER,
    WORDLIKE,
    class_of,
    contraction,
    few_numbers,
    run,
    whitespace,
)

_o200k = traced(boundaries, types.uint64, types.int64, rules=O200K)
_tekken = traced(boundaries, types.uint64, types.int64, rules=TEKKEN)
_APOSTROPHE, _SPACE, _LF, _CR, _SLASH = b"' \n\r/"  # numba would compile a function for `ord`


@helper
def _word(text, i, end, table):
    """The end of a word at i and the alternative that matched: `U*W+` and 1, else `U+` and 2, else i and 0.

    U* takes all it can and gives back code points until W+ matches one: if what follows is not in W, that is the last one in both
    classes. So `中Ab` is one word, and of `中A` only `中` is. O(bytes of the word).

    "iPhone", i = 0 -> 1 and 1 (P is not in W); i = 1 -> 6 and 1; "HTTP" -> 4 and 2; "12" -> 0 and 0.
    """
    both = i
    j = i
    while j < end:
        flags, width = class_of(text, j, end, table)
        if flags & UPPER == 0:
            if flags & LOWER:
                return run(text, j + width, end, table, LOWER, LOWER), 1
            break
        j += width
        if flags & LOWER:
            both = j
    if both > i:
        return both, 1
    return j, 2 if j > i else 0


@helper
def _with_contraction(text, i, end, rules):
    """The end of a word that ends at i, with the contraction behind it, if any. o200k, "it's", i = 2 -> 4. O(1)."""
    if rules & BEHIND and i < end and load8(text, i) == _APOSTROPHE:
        return i + contraction(text, i, end, 32)
    return i


@section
def _end_of_segment(text, i, end, table, rules):
    """The end of the segment that starts at i < end. O(its bytes, and one code point more).

    o200k, "(iPhone's) //x": from 0 to 2 (a sign and a word), from 2 to 9 (a word with its contraction), from 9 to 10, from 10 to
    13 (a space and signs), from 13 to 14.
    """
    flags, width = class_of(text, i, end, table)
    if flags & LETTER:
        stop, _ = _word(text, i, end, table)
        return _with_contraction(text, stop, end, rules)
    if flags & NUMBER:
        return few_numbers(text, i, end, table, rules & DIGITS)
    j = i + width
    if flags & NEWLINE == 0:
        stop, alternative = _word(text, j, end, table)
        if alternative != 1 and flags & UPPER:
            # a mark with no W behind it: alternative 1 takes the mark itself as W+, before 2 is tried
            return _with_contraction(text, j, end, rules)
        if alternative:
            return _with_contraction(text, stop, end, rules)
    if load8(text, i) == _SPACE and j < end:
        flags_behind, width = class_of(text, j, end, table)
        if flags_behind & WORDLIKE == 0:
            flags = flags_behind
            j += width
    if flags & SPACE == 0:
        j = run(text, j, end, table, WORDLIKE, 0)
        while j < end and (load8(text, j) == _LF or load8(text, j) == _CR or load8(text, j) == _SLASH):
            j += 1
        return j
    newline, last, stop = whitespace(text, i, end, table)
    if newline:
        return newline
    return stop if stop == end or last == i else last


@kernel
def split_o200k(values, offsets, table, state, ends):
    """Write the ends of the next segments: arguments, result and cost as for `split_gpt2`.

    values "it's ok 12", offsets [0, 10], state [0, 0] -> ends [4, 7, 8, 10], returns 4: it's, " ok", " ", 12.
    """
    return split_documents(_o200k, _end_of_segment, O200K, values, offsets, table, state, ends)


@kernel
def split_tekken(values, offsets, table, state, ends):
    """Write the ends of the next segments: arguments, result and cost as for `split_gpt2`.

    values "it's ok 12", offsets [0, 10], state [0, 0] -> ends [2, 4, 7, 8, 9, 10], returns 6: it, 's, " ok", " ", 1, 2.
    """
    return split_documents(_tekken, _end_of_segment, TEKKEN, values, offsets, table, state, ends)
