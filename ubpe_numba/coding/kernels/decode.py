"""Decoding: the symbols of ids, copied out of the arena (vocabulary/kernels/arena.py) or, the first of them, out of slots.

All tables are bytes, whatever the symbols. Of the alphabet a, b and the tokens 2 = ab, 3 = ab * 20 as bytes:

    sizes    1, 1, 2, 40                   bytes of each token
    starts   0, 1, 2, 4, 44                where it begins in the arena, and the end
    arena    a b ab abab...ab              all tokens one behind the other, and SLACK more bytes
    slots    a...............  b...  ab... abababab        the first SLOT bytes of each token, at SLOT times its id
             0                 32    64    96

A token of up to SLOT bytes takes one copy of SLOT bytes from its slot, whatever its size; what is too much is overwritten by the
next token. The ids [2, 3, 0] are written at 0, 2 and 42: `ab`, then 32 bytes of slot 3 and 32 from `starts[3] + 32` on in the
arena, of which 8 count, then `a`.

Source: Fast BPE tokenizer (arena allocated decoding).
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.jit import helper, kernel
from ubpe_numba.runtime.machine.intrinsics import copy32

SLOT = 32  # bytes of a token that are kept apart: 8 int32
BLOCK = 256  # ids between two looks at the room that is left: one at each costs a third more
SLACK = 64  # bytes that a copy may write or read past the end, rounded up


@kernel
def find_outside(ids, n_tokens):
    """Index of the first id outside 0..n_tokens - 1, or -1. ids int32. O(ids).

    Of 3 tokens, [0, 2, 3, -1] -> 2. A first loop that only asks whether there is one takes sixteen ids at once.
    """
    size = np.uint32(n_tokens)
    outside = False
    for i in range(ids.size):
        outside |= np.uint32(ids[i]) >= size  # a negative id is a large one
    if outside:
        for i in range(ids.size):
            if np.uint32(ids[i]) >= size:
                return np.int64(i)
    return np.int64(-1)


@kernel
def decoded_size(ids, sizes):
    """Sum of `sizes` int32[V] over ids, int32, in range. O(ids). Sizes as above: [2, 3, 0] -> 43."""
    n = np.int64(0)
    for i in range(ids.size):
        n += sizes[ids[i]]
    return n


@kernel
def fill_slots(starts, arena, slots):
    """The first SLOT bytes of every token, at SLOT times its id, as drawn above. O(V).

    starts int64[V + 1] in bytes, arena uint8; slots uint8[SLOT * V], allocated by the caller, full of zeros.
    """
    for t in range(starts.size - 1):
        for j in range(min(SLOT, starts[t + 1] - starts[t])):
            slots[t * SLOT + j] = arena[starts[t] + j]


@helper
def _copy_block(ids, sizes, slots, starts, arena, out, w, room):
    """Write the symbols of a block of ids from `w` on; returns where they end, or -1 if a long one does not fit. O(output).

    Arguments as for `decode`; `room`, where the bytes begin that are to be left free.
    """
    for i in range(ids.size):
        t = np.int64(ids[i])
        n = np.int64(sizes[t])
        copy32(out, w, slots, t * SLOT)
        if n > SLOT:
            if w + n > room:
                return np.int64(-1)
            done = np.int64(SLOT)
            while done < n:
                copy32(out, w + done, arena, starts[t] + done)
                done += 32
        w += n
    return w


@kernel
def decode(ids, offsets, first, sizes, slots, starts, arena, out, at, ends):
    """Write the symbols of the documents' tokens, as bytes; returns the ids consumed and the bytes written.

    ids int32, in range, from `ids[first]` on, and offsets int64[d + 1] of the documents in them; sizes int32[V], slots, starts
    int64[V + 1] and arena as drawn above; out uint8, where BLOCK * SLOT + SLACK bytes are left free; writing goes on at `at`, and
    ends int64[d] gets where each document ends. Returns early when `out` is full. The caller allocates all.
    The documents [2] and [3, 0] of the tables above: 43 bytes, ends [2, 43].

    SLOT bytes are copied at once whatever the size, ten times as fast as a loop over symbols; from aligned slots, which need no
    look-up of an offset first, a quarter faster than from the arena. O(ids + output).
    """
    room = out.size - SLACK - BLOCK * SLOT
    w = np.int64(at)
    i = np.int64(first)
    for d in range(offsets.size - 1):
        while i < offsets[d + 1]:
            if w > room:
                return i, w
            block = ids[i : min(i + BLOCK, offsets[d + 1])]
            end = _copy_block(block, sizes, slots, starts, arena, out, w, room)
            if end < 0:
                return i, w
            w = end
            i += block.size
        ends[d] = w
    return i, w
