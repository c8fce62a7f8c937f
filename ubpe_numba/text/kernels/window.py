r"""Where segments begin among 64 bytes, by arithmetic on masks (runtime/machine/byte_masks.py) instead of a walk over characters.

A window begins where a segment does, or within a word whose end depends on nothing before the window, so that nothing is carried
from one window to the next. Its answer holds as far as all that it depends on lies in the window; cl100k::

    bytes      i  t  '  s  _  _  1  2  3  4  !  \n n  o  _  ...     _ is a space
    starts        .  1  .  1  1  1  .  .  1  1  .  1  .  ?          the first bit is left out: a segment begins there anyway

Here the answer ends at the last byte: whether a segment begins at this space depends on what follows. The next window begins at
"no". Not decided within a window, and left to the walk (utf8.py): numbers that are not ASCII where they are cut in threes,
marks that do not follow a letter in o200k, and segments of more than 64 bytes that are not words.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.jit import helper
from ubpe_numba.runtime.machine.byte_masks import WINDOW, below, equal, lowest, reach_down, reach_up, width_of
from ubpe_numba.text.kernels.classes64 import classes_of_64
from ubpe_numba.text.kernels.utf8 import contraction

GPT2 = 0  # patterns are numbers, in the order in which they were published, each a change of the one before
CL100K = 1
O200K = 2

_NONE = np.uint64(0)
_ONE = np.uint64(1)
_TWO = np.uint64(2)
_THREE = np.uint64(3)


@helper
def _contractions(text, i, end, apostrophes, pattern):
    """The bytes of the contractions that begin at these apostrophes; in o200k none right behind another. O(apostrophes)."""
    fold = 0 if pattern == GPT2 else 32
    found = _NONE
    while apostrophes:
        p = lowest(apostrophes)
        apostrophes &= apostrophes - _ONE
        if pattern != O200K or ((found << _ONE) >> np.uint64(p)) & _ONE == _NONE:
            found |= below(contraction(text, i + p, end, fold)) << np.uint64(p)
    return found


@helper
def _in_threes(numbers):
    """The starts of groups of three digits: 1234567 -> 1, 4 and 7. O(digits of the longest number)."""
    starts = numbers & ~(numbers << _ONE)
    fourth = numbers & (numbers << _ONE)
    fourth &= fourth << _TWO
    more = (starts << _THREE) & fourth
    while more:
        starts |= more
        more = (more << _THREE) & fourth
    return starts


@helper
def _words_by_case(capitals, small, caseless, letters, known, at_end):
    """Where words of o200k begin within runs of letters, and from where on that is not known.

    A capital begins a word behind a small letter, also with letters without case in between. Behind letters without case, capitals
    begin one if the run of letters ends with them: "aB" and "中B" are two words, "中Bc" and "中B中" are one. O(1).
    """
    starts = capitals & (small << _ONE)
    if caseless != _NONE and capitals != _NONE:
        starts |= capitals & reach_up((small << _ONE) & caseless, caseless)
        behind = capitals & (caseless << _ONE)
        last = capitals & ~(letters >> _ONE)
        starts |= behind & reach_down(last, capitals)
        if not at_end:
            undecided = behind & reach_down(last & ~below(known - 1), capitals)
            known = min(known, lowest(undecided))
    return starts, known


@helper
def window(text, i, end, table, pattern):
    """Starts of segments in the 64 bytes from i on, and how far the next window is: the rest of the document if it ends here.

    All 64 bytes must exist, also where the document ends within them. The mask leaves out i itself, and what is not decided. If
    there is no start, the second result says how much further the segment may be read from by another window: not at all if 0.
    `pattern` is a constant. O(1).

    cl100k, "it's 1234!" and the end of the document -> bits 2, 4, 5, 8 and 9, and 10.
    """
    upper, lower, letters, numbers, white, inside, known = classes_of_64(text, i, end, table)
    strange = _NONE
    if pattern == O200K:
        marks = upper & lower & ~letters
        strange = marks & ~((letters | marks) << _ONE)
        letters |= marks
    if pattern != GPT2:
        strange |= numbers & ~inside & (inside >> _ONE)
    known = min(known, lowest(strange))
    at_end = known == end - i and known < WINDOW
    inner = below(known)
    letters &= inner
    numbers &= inner
    others = ~(letters | numbers | white) & inner
    space = equal(text, i, ord(" "))
    apostrophes = equal(text, i, ord("'"))

    if pattern == O200K:
        endings = _contractions(text, i, end, apostrophes & others & (letters << _ONE), pattern)
        letters &= ~endings
        others &= ~endings
    else:
        signs = others & ~((others | space) << _ONE)
        endings = _contractions(text, i, end, apostrophes & signs & (letters >> _ONE), pattern)
        letters &= ~endings

    if not at_end:
        known = min(known, width_of(~white & inner) + 1)
    white |= ~inner  # of white space at the end of a document no last character is split off
    blank = white
    starts = white & ~(white << _ONE)
    if pattern != GPT2:
        newline = (equal(text, i, ord("\n")) | equal(text, i, ord("\r"))) & inner
        taken = newline  # by the punctuation before it
        if pattern == O200K:
            taken |= equal(text, i, ord("/")) & inner
        taken &= reach_up(newline & (others << _ONE), taken)
        others &= ~taken
        if pattern == CL100K:
            newline |= ~inner  # white space at the end of a document is one segment
        blank = white & ~newline
        starts = (starts & ~taken) | (blank & (taken << _ONE))
        line = blank & (newline << _ONE) & ~(taken << _ONE)  # the first blank of a line
        if newline & (blank << _ONE):  # a line of blanks alone, or blanks at the end of one
            line &= ~reach_down((newline >> _ONE) & blank, blank)
        starts |= line
    last = blank & ~(white >> _ONE)
    if inside:
        last |= (last & inside) >> _ONE
        last |= (last & inside) >> _ONE
        last &= ~inside
    signs = others & ~((others | space) << _ONE)
    starts |= last | signs

    if pattern == GPT2:
        starts |= letters & ~((letters | space) << _ONE)
        starts |= numbers & ~((numbers | space) << _ONE)
    else:  # a blank, or a sign that begins a segment, goes with the letters behind it
        starts |= letters & ~((letters | blank) << _ONE) & ~((signs << _ONE) + inside)
        starts |= _in_threes(numbers)
    mixed = False
    if pattern == O200K:
        caseless = upper & lower & letters
        capitals = upper & ~lower & letters
        small = lower & ~upper & letters
        by_case, known = _words_by_case(capitals, small, caseless, letters, known, at_end)
        starts |= by_case
        mixed = caseless != _NONE and (capitals | small) != _NONE
    starts &= below(known) & ~_ONE
    if at_end:
        return starts, known
    if mixed or (letters >> np.uint64(known - 1)) & _ONE == _NONE:
        return starts, np.int64(0)
    return starts, width_of(letters & ~inside & below(known)) - 1
