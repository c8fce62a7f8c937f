"""The most probable path as sentencepiece finds it: from the beginning, in float32, and of equal sums the longest last token.

`packed_path.py` finds a path that is as probable, or by some units of float32 more. The two differ where sums are equal, which
is often so where tokens are made of the same tokens in another order. This one gives sentencepiece's ids.

It is the mirror image of that search: an automaton over tokens as they are, not reversed, lists the tokens that end at a
position. Symbols 0 and 1 of score -3, tokens 2 = [0, 1] and 3 = [1, 0] of score -2, the document [0, 1, 0]:

    end        1       2       3
    tokens     0       2 1     3 0
    best      -3      -2      -5       of [2, 0] and of [0, 3]: token 3 is longer than the symbol 0
    token      0       2       3       [0, 3]; from the end, with the longest first token, it is [2, 0]

Sums of long documents would lose the digits by which paths differ: where the best sum of a position is beyond 100000, it is taken
off all sums from there on, as sentencepiece 0.2.3 does. A token that passes over such a position loses what is taken off there,
and is compared with shorter ones only behind it.

tokenizers searches in the same order, with sums in float64, and never takes anything off.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import helper, kernel
from ubpe_numba.runtime.tables.automaton import list_of, next_state

_FAR = 100_000.0


@helper
def _rounded(x, single):
    """A number of float64, rounded to float32 if `single`: 0.1 -> 0.10000000149011612. O(1)."""
    return np.float64(np.float32(x)) if single else x


@kernel
def forward_paths(symbols, offsets, edges, states, listed, owners, rows, matches, scores, single, sums, tree, out, out_offsets):
    """The most probable path of every document; returns the number of ids written.

    symbols int32 (alphabet ids), offsets int64[d + 1]; edges, states, listed, owners, rows and matches as automaton.py builds
    them for mirrored tokens; scores float64, those of the tokens of `matches`; single: whether sums are those of float32, as
    sentencepiece has them; out int32, room for all symbols; out_offsets int64[d + 1]. Scratch: sums float64[2 * a power of two],
    of the heads within reach, two more positions than the longest token at least, and what was taken off there; tree int32,
    room for the longest document, the best entry of a position. The caller allocates all. O(symbols + matches), and within reach
    of a position where sums are taken off O(longest token) for each symbol.

    A sum of two numbers of float32 that is rounded to float64 and then to float32 is the one rounded to float32 at once.

    The example above: [0, 3].
    """
    ring = np.int64((sums.size >> 1) - 1)
    taken = sums[ring + 1 :]
    w = np.int64(0)
    out_offsets[0] = 0
    for d in range(offsets.size - 1):
        document = symbols[offsets[d] : offsets[d + 1]]
        n = np.int64(document.size)
        sums[0] = 0.0
        far = np.int64(0)  # the last position where sums were taken off
        state = np.int64(-1)
        ahead = ahead_length = np.int64(0)
        for s in range(-2 if n > 0 else 0, n):  # states and lists ahead, as in packed_path.py
            i = ahead
            length = ahead_length
            ahead, ahead_length = list_of(listed, matches, state)
            state = next_state(edges, states, listed, owners, rows, state, document[min(s + 2, n - 1)])
            if s < 0:
                continue
            here = sums[s & ring]
            taken[s & ring] = 0.0
            if single and abs(here) > _FAR:
                taken[s & ring] = here
                sums[s & ring] = 0.0
                far = s
            start = s + 1 - length
            best = i
            most = _rounded(sums[start & ring] + scores[i], single)
            while length > 1:
                i += 1
                length = np.int64(matches[i].length)
                if start < far:
                    for p in range(start + 1, s + 2 - length):
                        most = _rounded(most - taken[p & ring], single)
                    start = s + 1 - length
                x = _rounded(sums[(s + 1 - length) & ring] + scores[i], single)
                better = x > most
                best = i if better else best
                most = x if better else most
            sums[(s + 1) & ring] = most
            tree[s] = best
        begin = w + n  # the ids of a document are written from the end of its room, and moved to the others
        s = n
        while s > 0:
            i = np.int64(tree[s - 1])
            begin -= 1
            out[begin] = matches[i].token
            s -= np.int64(matches[i].length)
        for v in range(begin, n + w):
            out[w] = out[v]
            w += 1
        out_offsets[d + 1] = w
    return w
