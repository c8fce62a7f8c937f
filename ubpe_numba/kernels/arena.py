"""The arena: what every token stands for, all in one array; building it from pairs, and decoding with it.

The symbols of token t are `arena[offsets[t] : offsets[t + 1]]`. Source: Fast BPE tokenizer (arena allocated decoding).
"""

from __future__ import annotations

import numpy as np

from ubpe_numba._jit import helper, kernel, kernel_with_scratch
from ubpe_numba.kernels.intrinsics import copy32

SLOT = 32  # bytes of a token that are kept apart: 8 int32
BLOCK = 256  # ids between two looks at the room that is left: one at each costs a third more
SLACK = 64  # bytes that a copy may write or read past the end, rounded up
SATURATED = 1 << 61  # so that the sum of two does not overflow


@kernel_with_scratch
def order_of_tokens(left, right, n_alphabet, order):
    """An order in which parents precede children, for the pairs of tokens n_alphabet, n_alphabet + 1, ...

    left, right int32[m], ids in range; `order` int32[m] gets indices 0..m-1. Returns -1, or the index of a token that is built
    on itself. Depth first with an explicit stack; O(m).
    """
    m = left.size
    state = np.zeros(m, np.uint8)  # 0 new, 1 its parents are on the way, 2 done
    stack = np.empty(2 * m + 1, np.int32)
    n = 0
    for root in range(m):
        depth = 0
        stack[0] = root
        depth = 1
        while depth > 0:
            t = stack[depth - 1]
            if state[t] == 0:
                state[t] = 1
                for parent in (left[t] - n_alphabet, right[t] - n_alphabet):
                    if parent >= 0:
                        if state[parent] == 1:
                            return np.int64(t)
                        if state[parent] == 0:
                            stack[depth] = parent
                            depth += 1
            else:
                depth -= 1
                if state[t] == 1:
                    state[t] = 2
                    order[n] = t
                    n += 1
    return np.int64(-1)


@kernel
def token_lengths(left, right, n_alphabet, order, lengths):
    """Symbols of every token into `lengths` int64[n_alphabet + m]; saturates instead of overflowing. O(n_alphabet + m)."""
    lengths[:n_alphabet] = 1
    for i in order:
        lengths[n_alphabet + i] = min(lengths[left[i]] + lengths[right[i]], SATURATED)


@kernel
def fill_arena(left, right, n_alphabet, order, offsets, arena):
    """Write the symbols of every token; `arena` int32[offsets[-1]]. O(symbols)."""
    for t in range(n_alphabet):
        arena[offsets[t]] = t
    for i in order:
        w = offsets[n_alphabet + i]
        for parent in (left[i], right[i]):
            for j in range(offsets[parent], offsets[parent + 1]):
                arena[w] = arena[j]
                w += 1


@kernel
def find_outside(ids, n_tokens):
    """Index of the first id outside 0..n_tokens - 1, or -1. ids int32. A loop of its own takes sixteen ids at once. O(ids)."""
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
    """Sum of `sizes` int32[V] over ids, int32, in range. O(ids)."""
    n = np.int64(0)
    for i in range(ids.size):
        n += sizes[ids[i]]
    return n


@kernel
def fill_slots(offsets, arena, slots):
    """The first SLOT bytes of every token, at SLOT times its id. offsets int64[V + 1] in bytes, arena uint8. O(V)."""
    for t in range(offsets.size - 1):
        for j in range(min(SLOT, offsets[t + 1] - offsets[t])):
            slots[t * SLOT + j] = arena[offsets[t] + j]


@helper
def _copy_block(ids, sizes, slots, starts, arena, out, w, room):
    """Write the symbols of a block of ids from `w` on; returns where they end, or -1 if a long one does not fit. O(output)."""
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

    ids int32, in range, from `ids[first]` on, and offsets int64[d + 1] of the documents in them; sizes int32[V] and starts
    int64[V + 1] in bytes; slots, arena and out uint8, arena SLACK longer than what is used and out BLOCK * SLOT + SLACK; writing
    goes on at `at`, and ends int64[d] gets where each document ends. Comes back early when `out` is full.

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
