"""Finding words that are kept whole: leftmost, and of those that start at one place the longest.

An automaton over the reversed words (automaton.py) is walked from the end of a document, so that one
transition a symbol tells the longest word that starts there; a walk from the front then takes the first, and
goes on after it.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import kernel
from ubpe_numba.runtime.tables.automaton import advance, longest_match


@kernel
def find_words(symbols, offsets, edges, states, word_of, lengths, active, found):
    """Find the words in every document; returns how many.

    symbols int32, numbers of the symbols that words are made of, -1 for any other; offsets int64[d + 1];
    edges, states as automaton.py builds them of the words of two symbols or more; word_of int32, the word of
    every token of the automaton, -1 for a symbol that is no word; lengths int64[w]; active uint8[w], the
    words to look for; found int32, one for each symbol, gets the word that starts there, or -1. The caller
    allocates all. O(symbols), times the words that are prefixes of one another where some are not active.

    With the words ab and abc, `ababc` -> [0, -1, 1, -1, -1], 2 words.
    """
    n = np.int64(0)
    for d in range(offsets.size - 1):
        state = np.int64(-1)
        for s in range(offsets[d + 1] - 1, offsets[d] - 1, -1):
            symbol = symbols[s]
            found[s] = -1
            if symbol < 0:
                state = np.int64(-1)
                continue
            state = advance(edges, states, state, symbol)
            match = longest_match(states, state)
            while match >= 0 and active[word_of[states[match].token]] == 0:
                match = np.int64(states[match].longest)
            word = word_of[states[match].token] if match >= 0 else word_of[symbol]
            if word >= 0 and active[word] != 0:
                found[s] = word
        p = offsets[d]
        while p < offsets[d + 1]:
            if found[p] < 0:
                p += 1
                continue
            n += 1
            end = p + lengths[found[p]]
            found[p + 1 : end] = -1
            p = end
    return n
