"""The loop over documents that the kernels of all patterns share.

A kernel fills the room it is given and is called again; `state` says where it goes on::

    values "it's ok", offsets [0, 7], room for two ends
    1st call: ends [2, 4], returns 2, state (document 0, position 4)
    2nd call: ends [7],    returns 1, state (document 1, position 7); fewer than two: all documents are cut
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.jit import helper
from ubpe_numba.runtime.machine.byte_masks import WINDOW
from ubpe_numba.runtime.machine.intrinsics import address, count_of_bits, leading_zeros, trailing_zeros
from ubpe_numba.text.kernels.classes64 import classes_of_64

_NONE = np.uint64(0)
_ONE = np.uint64(1)
_AT_ONCE = 8  # ends that are written without a test in between; divides WINDOW


@helper
def split_documents(boundaries, end_of_segment, rules, values, offsets, table, state, ends):
    """Write the ends of the next segments; returns how many, fewer than there is room for once all documents are cut.

    The rest of the room may be written to as well.

    Of a pattern: its `rules` (rules.py); `boundaries`, where segments begin among 64 bytes (window.py), and
    `end_of_segment(text, i, end, classes, rules)`, a section, the end of the segment that starts at position i of a document that
    ends at `end`: for what windows leave open, and where no 64 bytes are left in the array. text and classes are the addresses of
    `values` and `table`. The other arguments as for `split_gpt2`. O(bytes).
    """
    text = address(values)
    classes = address(table)
    d = state[0]
    i = state[1]  # where the segment begins
    j = i  # where the window begins
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
            if starts != _NONE and n + WINDOW <= ends.size:  # room for all of them, and those that are written over
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
