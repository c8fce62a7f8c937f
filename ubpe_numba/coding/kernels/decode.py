"""Decoding: copy the symbols of ids from slots, or long tokens from the arena.

The arena is that of vocabulary/kernels/arena.py.

All tables are bytes, whatever the symbols. The alphabet a, b and the tokens 2 = ab, 3 = ab * 20 are, as
bytes:

    sizes    1, 1, 2, 40                   bytes of each token
    starts   0, 1, 2, 4, 44                its beginning in the arena, and the end
    arena    a b ab abab...ab              all tokens one after the other, and SLACK more bytes
    slots    a...1    b...1    ab..2    abab...255     SLOT bytes per token, at SLOT times its id: the first
             0        32       64       96             SLOT - 1 of its bytes, then how many they are, or LONG

A token that fits its slot takes one copy of SLOT bytes, whatever its size. The next token overwrites the
excess. A longer token is copied from the arena, SLOT bytes at a time. The ids [2, 3, 0] are written at 0, 2
and 42. Slot 2 is copied first; two of its bytes count. Then come 64 bytes of the arena from `starts[3]`, of
which 40 count, and slot 0.

Source: Fast BPE tokenizer (arena allocated decoding).
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import helper, kernel
from ubpe_numba.runtime.machine.intrinsics import copy32

SLOT = 32  # bytes of a token that are kept apart, and its size: 31 bytes or 7 int32
LONG = 255  # the size of all above SLOT - 1
BLOCK = 512  # ids between two looks at the room that is left: one at each costs a third more
SLACK = 64  # bytes that a copy may write or read past the end, rounded up


@kernel
def decoded_size(ids, first, last, step, sizes):
    """Sum of `sizes` int32[V] over every `step`-th id from first to last, and sum of squares.

    The ids are int32. O(ids / step).

    An id outside counts for nothing, and the sum of squares may overflow. Above: [2, 3, 0] -> 43, 1605; with
    the step 2 3, 5.
    """
    n_tokens = np.uint32(sizes.size)
    n, squares = np.int64(0), np.int64(0)
    for i in range(first, last, step):
        t = np.uint32(ids[i])
        if t < n_tokens:
            size = np.int64(sizes[t])
            n += size
            squares += size * size
    return n, squares


@helper
def _copy_slots(ids, i, stop, n_tokens, slots, out, w):
    """Write the symbols of ids from i to `stop`, until a long or invalid id.

    An id is invalid outside 0..n_tokens - 1, uint32. O(ids).

    Returns the end in the ids and the end in `out`. A loop of its own: one jump per id is a tenth faster than
    two.
    """
    while i < stop:
        t = np.uint32(ids[i])  # a negative id is a large one
        if t >= n_tokens:
            break
        slot = np.int64(t) * SLOT
        size = np.int64(slots[slot + SLOT - 1])
        copy32(out, w, slots, slot)
        if size == LONG:
            break
        w += size
        i += 1
    return i, w


@kernel
def decode(ids, offsets, first, slots, starts, arena, out, at, ends):
    """Write the symbols of the documents' tokens, as bytes; returns the ids consumed and the bytes written.

    `ids` int32 are read from `ids[first]` on; `offsets` int64[d + 1] delimit documents. `slots`, `starts`
    int64[V + 1] and `arena` are the tables above. `out` is uint8; BLOCK * SLOT + SLACK of its bytes are left
    free. Writing starts at `at`, and `ends` int64[d] gets the end of each document. Returns early when `out`
    is full, and at an id outside 0..V - 1. The caller allocates all. The documents [2] and [3, 0] of the
    tables above: 43 bytes, ends [2, 43].

    SLOT bytes are copied at once whatever the size, ten times as fast as a loop over symbols. Aligned slots
    are a third faster than the arena: they hold the size, and no offset is looked up first. O(ids + output).
    """
    room = out.size - SLACK - BLOCK * SLOT
    n_tokens = np.uint32(starts.size - 1)
    w = np.int64(at)
    i = np.int64(first)
    for d in range(offsets.size - 1):
        while i < offsets[d + 1]:
            if w > room:
                return i, w
            stop = min(i + BLOCK, offsets[d + 1])
            while i < stop:
                i, w = _copy_slots(ids, i, stop, n_tokens, slots, out, w)
                if i < stop:
                    t = np.uint32(ids[i])
                    if t >= n_tokens:
                        return i, w
                    end = w + starts[t + 1] - starts[t]
                    if end > room:
                        return i, w
                    for done in range(0, end - w, SLOT):
                        copy32(out, w + done, arena, starts[t] + done)
                    w = end
                    i += 1
        ends[d] = w
    return i, w
