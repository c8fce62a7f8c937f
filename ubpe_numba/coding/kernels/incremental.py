"""The prefix of an encoding by rank that no further input can change: for streams.

Let P be the n symbols so far, L the symbols of the longest token, and X anything. The last boundary b <= n of
E(P X) lies after n - L: either b = n, or the token that starts at b ends after n. Up to b, E(P X) is
E(P[:b]), as any run of neighboring tokens is the encoding of the symbols it covers (linear_bpe.py).

So E(P X) begins with E(P[:b]) for one of the L values of b in n - L < b <= n, and their common beginning is
final. These encodings form a tree: the last token of E(P[:b]) is unique and leads to an earlier b. Their
common beginning is the path to their lowest common ancestor.

The candidates for the last token are the tokens that end there, which an automaton finds. If several lengths
fit, as in a run of zeros, they are tried one by one. These tries are the whole cost, for any text: walks from
every position along the tokens that start there would be as long as the tokens.

With the merge 2 = (0, 1), L = 2. Let P = [0, 0, 1, 0]: E of its prefixes of 3 and 4 symbols is [0, 2] and [0,
2, 0]. So [0, 2] is final; the last 0 may become part of a 2.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.coding.kernels.linear_bpe import fits, id_in_entries
from ubpe_numba.runtime.compiler import kernel
from ubpe_numba.runtime.tables.automaton import advance, longest_match


@kernel
def last_tokens(document, before, tables, edges, states, tries, place, last):
    """The last token of E of every prefix of a stretch: fills `last` int32[n + 1].

    An item is -1 if the start of the stretch is not a boundary of E.

    `document` is int32[n]. `before` is the token that ends at its start, or -1 at the beginning of a text.
    `tables` as in linear_bpe.py. `edges` EDGE and `states` STATE are the automaton of the stable tokens,
    which encode to themselves, read from their last symbol to their first (tables/automaton.py). The kernel
    returns after `tries` tries of tokens. `place` int64[2], 0 and -1 at first, tells the next call where to
    continue: prefixes done, and the state there. Returns the number of tries, per symbol at most one more
    than tokens of different lengths. The caller allocates all.

    Merge (0, 1) -> 2: the prefixes of [0, 1] end with the tokens [-, 0, 2]. O(tries * depth of a token).
    """
    pairs, left, right, n_alphabet, _, _, _ = tables
    if place[0] == 0:
        last[0] = -1
    state = place[1]
    n_tries = np.int64(0)
    e = place[0]
    while e < document.size and n_tries < tries:
        state = advance(edges, states, state, document[e])
        e += 1
        match = np.int64(-1)
        end = longest_match(states, state)  # of the tokens that end here, without the symbol
        while match < 0 and end != -2:
            token = np.int64(states[end].token) if end >= 0 else np.int64(document[e - 1])
            s = e - np.int64(states[end].depth) if end >= 0 else e - 1
            previous = np.int64(last[s]) if s > 0 else np.int64(before)
            n_tries += 1
            # a start that is not a boundary of E does not have a last token, nor does the beginning of a text
            if (s == 0 and before < 0) or (
                previous >= 0 and fits(id_in_entries, pairs, left, right, n_alphabet, previous, token)
            ):
                match = token
            end = np.int64(states[end].longest) if end >= 0 else np.int64(-2)
        last[e] = match
    place[0] = e
    place[1] = state
    return n_tries


@kernel
def common_ancestor(last, lengths, first, marked):
    """The last boundary shared by the paths to all positions `first`..n.

    -1 if one of these paths is missing.

    last int32[n + 1] as above, lengths int64[V]; marked uint8[n + 1], zeros, allocated by the caller. O(n).

    Merge (0, 1) -> 2, the stretch [0, 0, 1], last = [-, 0, 0, 2]: the paths to 2 and 3 both lead back to 1.
    From first = 2 on, the last boundary they share is 1.
    """
    n = last.size - 1
    for p in range(first, n + 1):
        if p > 0 and last[p] < 0:
            return np.int64(-1)
        marked[p] = 1
    several = n + 1 - first
    p = np.int64(n)
    while several > 1:  # the highest goes to where its last token starts, which is lower
        if marked[p]:
            parent = p - lengths[last[p]]
            if marked[parent]:
                several -= 1
            marked[parent] = 1
            marked[p] = 0
        p -= 1
    while not marked[p]:
        p -= 1
    return p
