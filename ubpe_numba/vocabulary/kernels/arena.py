"""The arena: the symbols of all tokens in one array, and how it is filled from pairs.

The symbols of token t are `arena[offsets[t] : offsets[t + 1]]`. The alphabet 0, 1 and the pairs 2 = (0, 1), 3
= (2, 0) give:

    token      0   1   2      3
    arena      0   1   0 1    0 1 0
    offsets    0   1   2      4        7

Source: Fast BPE tokenizer (arena allocated decoding).
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import kernel

SATURATED = 1 << 61  # so that the sum of two does not overflow


@kernel
def order_of_tokens(left, right, n_alphabet, order, state, stack):
    """An order in which parents precede children, for the pairs of tokens n_alphabet, n_alphabet + 1, ...

    left, right int32[m], ids in range; `order` int32[m] gets indices 0..m-1. Scratch: state uint8[m] of
    zeros, stack int32[2 m + 1]. The caller allocates all. Returns -1, or the index of a token that is built
    on itself. Depth first with an explicit stack; O(m).

    The alphabet 0, 1, the pairs 2 = (3, 0), 3 = (0, 1): order [1, 0]. The pairs 2 = (3, 0), 3 = (2, 1)
    return 1.
    """
    n = 0  # states: 0 not seen yet, 1 its parents are on the stack, 2 in the order
    for root in range(left.size):
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
    """Symbols of every token into `lengths` int64[n_alphabet + m]; saturates instead of overflowing.

    O(n_alphabet + m).

    left, right, order int32[m], as above; `lengths` is allocated by the caller. The pairs above give [1, 1,
    2, 3].
    """
    lengths[:n_alphabet] = 1
    for i in order:
        lengths[n_alphabet + i] = min(lengths[left[i]] + lengths[right[i]], SATURATED)


@kernel
def fill_arena(left, right, n_alphabet, order, offsets, arena):
    """Write the symbols of every token to `arena` int32[offsets[-1]], allocated by the caller.

    O(symbols); see the example above.

    left, right, order int32[m], as above; offsets int64[n_alphabet + m + 1].
    """
    for t in range(n_alphabet):
        arena[offsets[t]] = t
    for i in order:
        w = offsets[n_alphabet + i]
        for parent in (left[i], right[i]):
            for j in range(offsets[parent], offsets[parent + 1]):
                arena[w] = arena[j]
                w += 1
