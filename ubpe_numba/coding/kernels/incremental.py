"""The prefix of an encoding by rank that no further input can change: for streams.

Let P be the n symbols so far, L the symbols of the longest token, and X anything. The last boundary b <= n of
E(P X) lies after n - L, since the token that starts there ends after n (or P X ends at n, and so does b). Up
to b, E(P X) is E(P[:b]), as any run of neighbouring tokens is the encoding of what it covers (linear_bpe.py).
So E(P X) begins with E(P[:b]) for one of the L values of b in n - L < b <= n, and what all these begin with
is final. They form a tree: the last token of E(P[:b]) is unique and leads to an earlier b. What all begin
with is the path to their lowest common ancestor.

The tokens that may be last are those that end there, which an automaton finds; where several lengths do, as
of zeros, they are tried one by one, and the number of these tries is all that a stretch of any text costs:
walks from every position along the tokens that start there would be as long as these.

With the merge 2 = (0, 1), L = 2, and P = [0, 0, 1, 0]: E of the prefixes of 3 and 4 symbols is [0, 2] and [0,
2, 0], so [0, 2] is final; the last 0 may become part of a 2.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.coding.kernels.linear_bpe import fits, id_in_entries
from ubpe_numba.runtime.compiler import kernel
from ubpe_numba.runtime.tables.automaton import advance, longest_match


@kernel
def last_tokens(document, before, tables, edges, states, tries, place, last):
    """The last token of E of every prefix of a stretch, if E goes through its start, -1 if not: fills `last` int32[n + 1].

    document int32[n]; before, the token that ends where it starts, or -1 at the beginning of a text; tables
    as in linear_bpe.py; edges EDGE and states STATE, the automaton of the stable tokens, which encode to
    themselves, from their last symbol to their first (tables/automaton.py). After so many `tries` of tokens
    it returns: `place` int64[2], the prefixes that are done and the state there, 0 and -1 at first, has where
    the next call goes on. Returns the tries made, at most one more than there are tokens of different lengths
    for each symbol. The caller allocates all.

    Merge (0, 1) -> 2: the prefixes of [0, 1] end with the tokens [-, 0, 2]. O(tries * depth of a token).
    """
    pairs, left, right, n_alphabet, _, _, _ = tables
    if place[0] == 0:
        last[0] = -1
    state = place[1]
    made = np.int64(0)
    e = place[0]
    while e < document.size and made < tries:
        state = advance(edges, states, state, document[e])
        e += 1
        found = np.int64(-1)
        end = longest_match(states, state)  # of the tokens that end here, but for the symbol
        while found < 0 and end != -2:
            token = np.int64(states[end].token) if end >= 0 else np.int64(document[e - 1])
            s = e - np.int64(states[end].depth) if end >= 0 else e - 1
            previous = np.int64(last[s]) if s > 0 else np.int64(before)
            made += 1
            # a start that E does not go through has no last token, but a text begins where there is none
            if (s == 0 and before < 0) or (
                previous >= 0 and fits(id_in_entries, pairs, left, right, n_alphabet, previous, token)
            ):
                found = token
            end = np.int64(states[end].longest) if end >= 0 else np.int64(-2)
        last[e] = found
    place[0] = e
    place[1] = state
    return made


@kernel
def common_ancestor(last, lengths, first, marked):
    """The last boundary that the paths to all of the positions `first`..n share, or -1 if one has no path here.

    last int32[n + 1] as above, lengths int64[V]; marked uint8[n + 1], zeros, allocated by the caller. O(n).

    Merge (0, 1) -> 2, the stretch [0, 0, 1], last = [-, 0, 0, 2]: the paths to 2 and 3 go back to 1 both, so
    from first = 2 on the last boundary they share is 1.
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
