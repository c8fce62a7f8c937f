r"""Cutting text as GPT-4 does, cl100k.

`'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s`

Llama 3 and Qwen 2 differ in numbers, Qwen's by one digit, and in white space: `\s*[\r\n]+|\s+(?!\S)|\s+`.

Source: OpenAI, the package tiktoken; Meta, the package llama_models; Alibaba, the package dashscope.
"""

from __future__ import annotations

from numba import types

from ubpe_numba.runtime.compiler import kernel, section
from ubpe_numba.runtime.machine.bytes import traced
from ubpe_numba.runtime.machine.intrinsics import load8
from ubpe_numba.text.kernels.split import CL100K, DIGITS, LLAMA3, QWEN2, WHOLE, boundaries, split_documents
from ubpe_numba.text.kernels.utf8 import (  # fmt: skip
    LETTER,
    NEWLINE,
    NUMBER,
    SPACE,
    WORDLIKE,
    class_of,
    contraction,
    few_numbers,
    run,
    whitespace,
)

_cl100k = traced(boundaries, types.uint64, types.int64, rules=CL100K)
_llama3 = traced(boundaries, types.uint64, types.int64, rules=LLAMA3)
_qwen2 = traced(boundaries, types.uint64, types.int64, rules=QWEN2)
_APOSTROPHE, _SPACE = b"' "  # numba would compile a function for `ord`


@section
def _end_of_segment(text, i, end, table, rules):
    """The end of the segment that starts at i < end. O(its bytes, and one code point more).

    cl100k, "(it's) 1234": from 0 to 3 (a sign and letters), from 3 to 5 (contraction), from 5 to 6, from 6 to 7 (a number does
    not take the space before it), from 7 to 10 (three digits), from 10 to 11.
    """
    flags, width = class_of(text, i, end, table)
    j = i + width
    if flags & LETTER:
        return run(text, j, end, table, LETTER, LETTER)
    if flags & NUMBER:
        return few_numbers(text, i, end, table, rules & DIGITS)
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
    if rules & WHOLE and stop == end:
        return end
    if newline:
        return newline
    return stop if stop == end or last == i else last


@kernel
def split_cl100k(values, offsets, table, state, ends):
    """Write the ends of the next segments: arguments, result and cost as for `split_gpt2`.

    values "it's ok 12", offsets [0, 10], state [0, 0] -> ends [2, 4, 7, 8, 10], returns 5: it, 's, " ok", " ", 12.
    """
    return split_documents(_cl100k, _end_of_segment, CL100K, values, offsets, table, state, ends)


@kernel
def split_llama3(values, offsets, table, state, ends):
    r"""Write the ends of the next segments: arguments, result and cost as for `split_gpt2`.

    values "ok 12\n ", offsets [0, 7], state [0, 0] -> ends [2, 3, 5, 6, 7], returns 5: ok, " ", 12, "\n", " ".
    """
    return split_documents(_llama3, _end_of_segment, LLAMA3, values, offsets, table, state, ends)


@kernel
def split_qwen2(values, offsets, table, state, ends):
    r"""Write the ends of the next segments: arguments, result and cost as for `split_gpt2`.

    values "ok 12\n ", offsets [0, 7], state [0, 0] -> ends [2, 3, 4, 5, 6, 7], returns 6: ok, " ", 1, 2, "\n", " ".
    """
    return split_documents(_qwen2, _end_of_segment, QWEN2, values, offsets, table, state, ends)
