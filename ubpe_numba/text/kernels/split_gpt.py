r"""Splitting text as GPT-2, GPT-4 (cl100k) and GPT-4o (o200k), and models that split nearly alike.

GPT-2: `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`. StarCoder splits off
every digit first, and the text between digits as GPT-2 does: no digit takes the space before it, and white
space before a digit is a segment.

cl100k: `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+|
?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s`. Llama 3 and Qwen 2 differ in numbers, Qwen's by one
digit, and in white space: `\s*[\r\n]+|\s+(?!\S)|\s+`.

o200k, with U for `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]` and W for `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`:

1. `[^\r\n\p{L}\p{N}]?U*W+(?i:'s|'t|'re|'ve|'m|'ll|'d)?`
2. `[^\r\n\p{L}\p{N}]?U+W*(?i:'s|'t|'re|'ve|'m|'ll|'d)?`
3. `\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`

Mistral's tekken does not know contractions, and every digit is a segment.

Sources: A. Radford et al., "Language models are unsupervised multitask learners", 2019, and its published
code. R. Li et al., "StarCoder: may the source be with you!", 2023, and its published files. OpenAI, the
package tiktoken. Meta, the package llama_models. Alibaba, the package dashscope. Mistral AI, the package
mistral_common.
"""

from __future__ import annotations

from numba import types

from ubpe_numba.runtime.compiler import helper, kernel, section
from ubpe_numba.runtime.machine.bytes import traced
from ubpe_numba.runtime.machine.intrinsics import load8
from ubpe_numba.text.kernels.split import (  # fmt: skip
    BEHIND,
    CL100K,
    DIGITS,
    GPT2,
    LLAMA3,
    O200K,
    QWEN2,
    STARCODER,
    TEKKEN,
    WHOLE,
    boundaries,
    split_documents,
)
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

_gpt2, _starcoder, _cl100k, _llama3, _qwen2, _o200k, _tekken = (
    traced(boundaries, types.uint64, types.int64, rules=rules)
    for rules in (GPT2, STARCODER, CL100K, LLAMA3, QWEN2, O200K, TEKKEN)
)
_APOSTROPHE, _SPACE, _LF, _CR, _SLASH = b"' \n\r/"  # numba would compile a function for `ord`


@section
def _end_of_gpt2(text, i, end, table, rules):
    """The end of the segment that starts at i < end. O(its bytes, and one code point more).

    GPT-2, "it's  ok": from 0 to 2 (letters), from 2 to 4 (contraction), from 4 to 5 (all white space except
    the last), from 5 to 8 (a space and letters).
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
        following, width = class_of(text, j, end, table)
        if following & (SPACE | alone) == 0:
            flags = following
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
    """Write the ends of the next segments; returns how many.

    They are fewer than there is room for once all documents are split.

    `values` is uint8[n], at least 8 bytes, `offsets` int64[d + 1]. `table` uint8 has the classes of all code
    points (utf8.py). `state` int64[2] is the place to continue: document and position, at first 0 and
    offsets[0]. `ends` is int64, as many as fit. The caller allocates all of them. Each document is split by
    itself. O(bytes).

    values "it's ok 12", offsets [0, 10], state [0, 0] -> ends [2, 4, 7, 10], returns 4, state [1, 10]: it,
    's, " ok", " 12".
    """
    return split_documents(_gpt2, _end_of_gpt2, GPT2, values, offsets, table, state, ends)


@kernel
def split_starcoder(values, offsets, table, state, ends):
    """Write the ends of the next segments: arguments, result and cost as for `split_gpt2`.

    values "it's ok 12", offsets [0, 10], state [0, 0] -> ends [2, 4, 7, 8, 9, 10], returns 6: it, 's, " ok",
    " ", 1, 2.
    """
    return split_documents(_starcoder, _end_of_gpt2, STARCODER, values, offsets, table, state, ends)


@section
def _end_of_cl100k(text, i, end, table, rules):
    """The end of the segment that starts at i < end. O(its bytes, and one code point more).

    cl100k, "(it's) 1234": from 0 to 3 (punctuation and letters), from 3 to 5 (contraction), from 5 to 6. Then
    from 6 to 7 (a number does not take the space before it), from 7 to 10 (three digits), from 10 to 11.
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
        following, width = class_of(text, j, end, table)
        if following & LETTER:
            return run(text, j + width, end, table, LETTER, LETTER)
        if byte == _SPACE and following & WORDLIKE == 0:
            flags = following
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

    values "it's ok 12", offsets [0, 10], state [0, 0] -> ends [2, 4, 7, 8, 10], returns 5: it, 's, " ok", "
    ", 12.
    """
    return split_documents(_cl100k, _end_of_cl100k, CL100K, values, offsets, table, state, ends)


@kernel
def split_llama3(values, offsets, table, state, ends):
    r"""Write the ends of the next segments: arguments, result and cost as for `split_gpt2`.

    values "ok 12\n ", offsets [0, 7], state [0, 0] -> ends [2, 3, 5, 6, 7], returns 5: ok, " ", 12, "\n", "
    ".
    """
    return split_documents(_llama3, _end_of_cl100k, LLAMA3, values, offsets, table, state, ends)


@kernel
def split_qwen2(values, offsets, table, state, ends):
    r"""Write the ends of the next segments: arguments, result and cost as for `split_gpt2`.

    values "ok 12\n ", offsets [0, 7], state [0, 0] -> ends [2, 3, 4, 5, 6, 7], returns 6: ok, " ", 1, 2,
    "\n", " ".
    """
    return split_documents(_qwen2, _end_of_cl100k, QWEN2, values, offsets, table, state, ends)


@helper
def _word(text, i, end, table):
    """The end of a word at i and the alternative that matched: `U*W+` and 1, else `U+` and 2, else i and 0.

    U* takes all it can and gives back code points until W+ matches one. If the next code point is not in W,
    that is the last one in both classes. So `中Ab` is one word, and in `中A` only `中` is. O(bytes of the word).

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
    """The end of a word that ends at i, with the contraction after it, if any. o200k, "it's", i = 2 -> 4.

    O(1).
    """
    if rules & BEHIND and i < end and load8(text, i) == _APOSTROPHE:
        return i + contraction(text, i, end, 32)
    return i


@section
def _end_of_o200k(text, i, end, table, rules):
    """The end of the segment that starts at i < end. O(its bytes, and one code point more).

    o200k, "(iPhone's) //x": from 0 to 2 (punctuation and a word), from 2 to 9 (a word with its contraction),
    from 9 to 10. Then from 10 to 13 (a space and punctuation), from 13 to 14.
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
            # a mark that no W follows: alternative 1 takes the mark itself as W+, before 2 is tried
            return _with_contraction(text, j, end, rules)
        if alternative:
            return _with_contraction(text, stop, end, rules)
    if load8(text, i) == _SPACE and j < end:
        following, width = class_of(text, j, end, table)
        if following & WORDLIKE == 0:
            flags = following
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
    return split_documents(_o200k, _end_of_o200k, O200K, values, offsets, table, state, ends)


@kernel
def split_tekken(values, offsets, table, state, ends):
    """Write the ends of the next segments: arguments, result and cost as for `split_gpt2`.

    values "it's ok 12", offsets [0, 10], state [0, 0] -> ends [2, 4, 7, 8, 9, 10], returns 6: it, 's, " ok",
    " ", 1, 2.
    """
    return split_documents(_tekken, _end_of_o200k, TEKKEN, values, offsets, table, state, ends)
