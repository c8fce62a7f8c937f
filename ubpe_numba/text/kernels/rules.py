r"""What distinguishes the patterns that have a kernel, as bits of one number: arguments of the code that they share.

All patterns know four kinds of segments: words, numbers, punctuation and white space. An optional character before a word goes
with it: a space in `gpt2`, anything that is no letter, digit or newline in the others::

    gpt2       ' ?\p{L}+'                         's is a segment           numbers of any length, with a space before them
    starcoder  as gpt2                            as gpt2                   every digit is cut out first
    cl100k     '[^\r\n\p{L}\p{N}]?\p{L}+'         's, 'S are segments       numbers in threes; newlines go with punctuation
    llama3     as cl100k, but white space at the end of a document is not one segment
    qwen2      as llama3, every digit by itself
    o200k      words by case                      's, 'S end a word         newlines and slashes go with punctuation
    tekken     as o200k                           none                      every digit by itself
"""

from __future__ import annotations

DIGITS = 3  # the most digits of a segment; 0 for numbers of any length
SIGNS = 1 << 2  # any sign before a word goes with it, white space too; without it, a space before words and numbers
APART = 1 << 3  # contractions are segments of their own
BEHIND = 1 << 4  # contractions go with the word before them
ANY_CASE = 1 << 5  # contractions in upper case too
CASE = 1 << 6  # words by case
LINES = 1 << 7  # white space ends behind its last newline, and newlines go with the punctuation before them
SLASHES = 1 << 8  # so do slashes
WHOLE = 1 << 9  # white space at the end of a document is one segment, newlines or not

GPT2 = APART
STARCODER = APART | 1
LLAMA3 = SIGNS | APART | ANY_CASE | LINES | 3
QWEN2 = LLAMA3 - 2
CL100K = LLAMA3 | WHOLE
O200K = SIGNS | BEHIND | ANY_CASE | CASE | LINES | SLASHES | 3
TEKKEN = SIGNS | CASE | LINES | SLASHES | 1
