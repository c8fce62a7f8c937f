r"""The common parts of the kernels of all patterns: rules, masks of starts, and the main loop.

A kernel fills the room it is given and is called again; `state` holds the place to continue::

    values "it's ok", offsets [0, 7], room for two ends
    1st call: ends [2, 4], returns 2, state (document 0, position 4)
    2nd call: ends [7],    returns 1, state (document 1, position 7); fewer than two: all documents are done

`boundaries` finds the segment starts among 64 bytes by arithmetic on masks (runtime/machine/bytes.py).

A window begins with a segment, or within a word whose end depends on nothing before the window, so nothing is
carried from one window to the next. Its answer holds as far as it depends only on the window; cl100k::

    bytes      i  t  '  s  _  _  1  2  3  4  !  \n n  o  _  ...     _ is a space
    starts        .  1  .  1  1  1  .  .  1  1  .  1  .  ?        no first bit: a segment begins there anyway

Here the answer ends at the last byte: whether a segment begins at this space depends on the next bytes. The
next window begins at "no". Some segments are not decided within a window, and left to the walk (utf8.py).
These are numbers beyond ASCII in groups, marks that do not follow a letter if words are split by case, and
segments of more than 64 bytes other than words. The rules of a pattern are known when its kernel is compiled.
They are bits of a single number.

All patterns know four kinds of segments: words, numbers, punctuation and white space. An optional character
before a word belongs to it: a space in `gpt2`, anything but letters, digits and newlines in the others::

    gpt2       ' ?\p{L}+'                     's is a segment       numbers of any length, with a space before
    starcoder  as gpt2                        as gpt2               every digit is split off first
    cl100k     '[^\r\n\p{L}\p{N}]?\p{L}+'     's, 'S are segments   numbers in threes; newlines as punctuation
    llama3     as cl100k, but white space at the end of a document is not one segment
    qwen2      as llama3, every digit by itself
    o200k      words by case                  's, 'S end a word     newlines and slashes as punctuation
    tekken     as o200k                       none                  every digit by itself
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import helper
from ubpe_numba.runtime.machine.bytes import (
    WINDOW,
    Mask,
    below,
    equal,
    lowest,
    reach_down,
    reach_up,
    width_of,
)
from ubpe_numba.runtime.machine.intrinsics import address, count_of_bits, leading_zeros, trailing_zeros
from ubpe_numba.text.kernels.utf8 import classes_of_64

DIGITS = 3  # the most digits of a segment; 0 for numbers of any length
# any sign before a word belongs to it, white space too; without it, a space before words and numbers
SIGNS = 1 << 2
APART = 1 << 3  # contractions are segments of their own
BEHIND = 1 << 4  # contractions belong to the word before them
ANY_CASE = 1 << 5  # contractions in upper case too
CASE = 1 << 6  # words by case
LINES = 1 << 7  # white space ends after its last newline, and newlines belong to the punctuation before them
SLASHES = 1 << 8  # so do slashes
WHOLE = 1 << 9  # white space at the end of a document is one segment, newlines or not

GPT2 = APART
STARCODER = APART | 1
LLAMA3 = SIGNS | APART | ANY_CASE | LINES | 3
QWEN2 = LLAMA3 - 2
CL100K = LLAMA3 | WHOLE
O200K = SIGNS | BEHIND | ANY_CASE | CASE | LINES | SLASHES | 3
TEKKEN = SIGNS | CASE | LINES | SLASHES | 1


def _contractions(text: Mask, i: Mask, apostrophes: Mask, inner: Mask, any_case: bool) -> Mask:
    """The bytes of `'s 't 'd 'm 'll 've 're` at these apostrophes.

    With `any_case` also in upper case, with U+017F as an s.
    """

    def letter(*chars: str) -> Mask:
        first, *others = (char for both in chars for char in (both + both.upper() if any_case else both))
        matches = equal(text, i, first)
        for char in others:
            matches |= equal(text, i, char)
        return matches

    second = apostrophes << 1
    two = second & letter("s", "t", "d", "m")
    three = (second & letter("l")) << 1 & letter("l") | (second & letter("v", "r")) << 1 & letter("e")
    if any_case:
        three |= (second & equal(text, i, 0xC5)) << 1 & equal(text, i, 0xBF)
    two &= inner
    three &= inner
    return two | two >> 1 | three | three >> 1 | three >> 2


def in_groups(numbers: Mask, size: int) -> Mask:
    """The starts of groups of so many digits: of 1234567, in threes, at 1, 4 and 7."""
    starts = numbers & ~(numbers << 1)
    beyond, row = numbers, 1  # bytes with so many digits before them: the last of a row of size + 1
    while row <= size:
        shift = min(row, size + 1 - row)
        beyond &= beyond << shift
        row += shift

    def more() -> Mask:
        ends, next_group, shift = starts, beyond, size
        while shift < 64:  # every step doubles how many groups of a number are found
            ends |= ends << shift & next_group
            if 2 * shift < 64:
                next_group &= next_group << shift
            shift *= 2
        return ends & ~starts

    return starts | beyond.if_any(more)


def _words_by_case(capitals: Mask, small: Mask, caseless: Mask, letters: Mask) -> Mask:
    """Where words of o200k begin within runs of letters.

    A capital begins a word after a small letter, also with letters without case in between. After letters
    without case, capitals begin one if the run of letters ends with them: "aB" and "中B" are two words, "中Bc"
    and "中B中" are one.
    """
    after = capitals & caseless << 1
    last = capitals & ~(letters >> 1)
    starts = capitals & small << 1
    return starts | after.if_any(
        lambda: capitals & reach_up(small << 1 & caseless, caseless) | after & reach_down(last, capitals)
    )


def lines(white: Mask, newline: Mask, taken: Mask) -> tuple[Mask, Mask]:
    """Beginnings of white space that ends after its last newline, and the spaces.

    `taken` newlines belong to punctuation.
    """
    blank = white & ~newline
    line = blank & newline << 1 & ~(taken << 1)  # the first blank of a line, unless the line is blank
    swallowed = (newline & blank << 1).if_any(lambda: reach_down(newline >> 1 & blank, blank))
    return white & ~(white << 1) & ~taken | blank & taken << 1 | line & ~swallowed, blank


def last_blanks(blank: Mask, after: Mask, inside: Mask) -> Mask:
    """The last blank, its first byte, of each row that is not followed by one of `after`."""
    last = blank & ~(after >> 1)
    last |= (last & inside) >> 1
    last |= (last & inside) >> 1
    return last & ~inside


def boundaries(
    text: Mask, i: Mask, rest: Mask,
    known: Mask, upper: Mask, lower: Mask, letters: Mask, numbers: Mask, white: Mask, inside: Mask,
    rules: int,
) -> tuple[Mask, Mask]:  # fmt: skip
    """Starts of segments in the 64 bytes from i on, and the offset of the next window.

    The latter is the rest of the document if it ends here.

    The masks are those of `classes_of_64`, and hold for the first `known` bytes; `rest` is the length of the
    document from i on, `rules` are those of a pattern. The mask of starts leaves out i itself, and undecided
    starts. The next window may begin at the last start. If the second result is not 0, it may begin further
    on, at the last letter of a word, the rest of which is split as if it began there.

    cl100k, "it's 1234!" and the end of the document -> bits 2, 4, 5, 8 and 9, and 10.
    """
    none = known & 0
    strange = none
    if rules & CASE:
        marks = upper & lower & ~letters
        strange = marks & ~((letters | marks) << 1)
        letters |= marks
    if rules & DIGITS > 1:
        strange |= numbers & ~inside & inside >> 1
    known = known.least(lowest(strange))
    at_end = known.equals(rest) & ~known.equals(64)
    inner = below(known)
    outside = ~inner
    letters &= inner
    numbers &= inner
    others = ~(letters | numbers | white) & inner
    # which white space is the last of a row is not known at the end
    known = known.least(width_of(~white & inner) + 1 | at_end)

    space = equal(text, i, " ")
    signs = others & ~((others | space) << 1)  # the first ones of punctuation, if they begin a segment
    if rules & (APART | BEHIND):
        joins = letters << 1 if rules & BEHIND else signs & letters >> 1
        apostrophes = equal(text, i, "'") & others & joins
        endings = apostrophes.if_any(
            lambda: _contractions(text, i, apostrophes, inner, any_case=bool(rules & ANY_CASE))
        )
        letters &= ~endings
        undecided = apostrophes & ~(inner >> 2) & ~at_end
        if rules & BEHIND:
            others &= ~endings
            undecided |= apostrophes & endings << 1  # of two contractions in a row the second is none
            signs = others & ~((others | space) << 1)
        known = known.least(lowest(undecided))

    blank = white
    starts = white & ~(white << 1)
    if rules & LINES:
        newline = (equal(text, i, "\n") | equal(text, i, "\r")) & inner
        tail = newline | equal(text, i, "/") & inner if rules & SLASHES else newline
        taken = reach_up(newline & others << 1, tail) & tail  # by the punctuation before it
        if rules & SLASHES:
            others &= ~taken
            signs = others & ~((others | space) << 1)
        if rules & WHOLE:
            newline |= outside  # white space at the end of a document is one segment
        starts, blank = lines(white, newline, taken)
    after = white | outside
    if rules & DIGITS and not rules & SIGNS:  # digits are split off first: spaces before one stay together
        after |= numbers
    starts |= last_blanks(blank, after, inside) | signs

    if rules & SIGNS:  # a blank, or a sign that begins a segment, belongs to the letters after it
        words = letters & ~((letters | blank) << 1) & ~((signs << 1) + inside)
    else:
        words = letters & ~((letters | space) << 1)
    if rules & DIGITS > 1:
        starts |= words | in_groups(numbers, rules & DIGITS)
    else:
        starts |= words | numbers & ~(inside if rules & DIGITS else (numbers | space) << 1)
    mixed = none
    if rules & CASE:
        caseless, capitals, small = (
            upper & lower & letters,
            upper & ~lower & letters,
            lower & ~upper & letters,
        )
        starts |= _words_by_case(capitals, small, caseless, letters)
        open_end = capitals & ~(inner >> 1) & ~at_end
        undecided = open_end.if_any(lambda: capitals & caseless << 1 & reach_down(open_end, capitals))
        known = known.least(lowest(undecided))
        mixed = ~caseless.equals(0) & ~(capitals | small).equals(0)
    inner = below(known)
    at_end &= known.equals(rest)
    glide = ~(letters & (inner ^ inner >> 1)).equals(0) & ~mixed & ~at_end
    return starts & inner & (none - 2), known & at_end | (width_of(letters & inner & ~inside) - 1) & glide


_NONE = np.uint64(0)
_ONE = np.uint64(1)
_AT_ONCE = 8  # ends that are written without a test in between; divides WINDOW


@helper
def split_documents(boundaries, end_of_segment, rules, values, offsets, table, state, ends):
    """Write the ends of the next segments; returns how many.

    They are fewer than there is room for once all documents are split.

    The rest of the room may be written to as well. A pattern gives three arguments. `rules` are its rules.
    `boundaries` gives the starts of segments among 64 bytes. `end_of_segment(text, i, end, classes, rules)`,
    a section, gives the end of the segment that starts at position i of a document that ends at `end`. It is
    for places that windows leave open, and for the last bytes of the array. text and classes are the
    addresses of `values` and `table`. The other arguments as for `split_gpt2`. O(bytes).
    """
    text = address(values)
    classes = address(table)
    d = state[0]
    i = state[1]  # the beginning of the segment
    j = i  # the beginning of the window
    n = 0
    while n < ends.size and d < offsets.size - 1:
        end = offsets[d + 1]
        if i >= end:
            d += 1
            continue
        base = j
        if j + WINDOW <= values.size:
            upper, lower, letters, numbers, white, inside, known = classes_of_64(text, j, end, classes)
            starts, step = boundaries(text, j, end - j, known, upper, lower, letters, numbers, white, inside)
            # room for all of them, and those that are written over
            if starts != _NONE and n + WINDOW <= ends.size:
                i = base + 63 - np.int64(leading_zeros(starts))
                k = n
                n += count_of_bits(starts)
                while k < n:
                    for x in range(_AT_ONCE):
                        ends[k + x] = base + np.int64(trailing_zeros(starts))
                        starts &= starts - _ONE
                    k += _AT_ONCE
                starts = _NONE
            while starts != _NONE and n < ends.size:
                i = base + np.int64(trailing_zeros(starts))
                starts &= starts - _ONE
                ends[n] = i
                n += 1
            j = i if i > base + step else base + step
        if n == ends.size:
            break
        if j == base:  # nothing is decided
            j = end_of_segment(text, i, end, classes, rules)
        elif j < end:
            continue
        i = j
        ends[n] = i
        n += 1
    state[0] = d
    state[1] = i
    return n
