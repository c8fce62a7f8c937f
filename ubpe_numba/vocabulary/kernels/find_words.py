"""Finding words that are kept whole: leftmost, and of those that start at one place the longest.

An automaton over the reversed words (automaton.py) is walked from the end of a document, so a transition per
symbol gives the longest word that starts there. A walk from the front then takes the first word, and
continues after it.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import kernel
from ubpe_numba.runtime.tables.automaton import advance, longest_match


@kernel
def find_words(symbols, offsets, edges, states, word_of, lengths, active, found):
    """Find the words in every document; returns how many.

    `symbols` int32 are numbers of the symbols that occur in words, -1 for any other. `offsets` is int64[d +
    1]. `edges` and `states` are those of automaton.py for the words of two symbols or more. `word_of` int32
    is the word of every token of the automaton, -1 for a symbol that is not a word. `lengths` is int64[w].
    `active` uint8[w] marks the words to find. `found` int32, one per symbol, gets the word that starts there,
    or -1. The caller allocates all. O(symbols), times the words that are prefixes of others if some are not
    active.

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
