"""Which tokens start at a position, reading a document from its end: an Aho-Corasick automaton over reversed tokens.

The search for the best path runs from the end, so the text is read that way too: one transition a symbol, however long the
tokens, where a trie walked from every position costs its depth (a run of one symbol, with tokens of 2**k of it, is 20 times
slower that way). The states are the suffixes of tokens. After the symbols at s and beyond have been read, the state is the
longest suffix of a token that starts at s; two things follow:

* the tokens that start at s are the state, if it is a token, and those along its chain of `longest` links;
* no token that starts before s and covers it ends beyond s + depth, since what it covers from s on is a state too. So nothing
  to the left of s will ever ask for a position beyond `reach`, without having looked there.

State s < n_alphabet is the symbol s. The value of an edge (edges.py) is the next state. Source: A. Aho and M. Corasick, 1975.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.jit import helper, kernel
from ubpe_numba.runtime.tables.edges import edge_key, find_edge
from ubpe_numba.runtime.tables.trie import entries_for

# columns of `states`
FAIL, DEPTH, LONGEST, TOKEN = range(4)


@helper
def advance(edges, states, state, symbol):
    """The state after one more symbol to the left; from -1, the empty state, it is the symbol's own. Amortised O(1)."""
    while state >= 0:
        following = edges[2 * find_edge(edges, state, symbol) + 1]
        if following >= 0:
            return np.int64(following)
        state = np.int64(states[state, FAIL])
    return np.int64(symbol)


@helper
def longest_match(states, state):
    """The state of the longest token of two symbols or more that starts here, or -1; its LONGEST is the next shorter. O(1)."""
    if states[state, TOKEN] >= 0 and states[state, DEPTH] > 1:
        return state
    return np.int64(states[state, LONGEST])


def automaton_of(n_alphabet, arena, offsets):
    """The edges and states of all tokens of a vocabulary, and the symbols of the longest one; arguments as for `build`."""
    edges = entries_for(arena.size - n_alphabet)
    longest = int(np.diff(offsets).max())
    states, order = np.empty((arena.size, 4), np.int32), np.empty(arena.size, np.int32)
    n_states = build(n_alphabet, arena, offsets, edges, states, order, np.zeros(longest + 2, np.int64))
    return edges, states[:n_states].copy(), longest


@kernel
def build(n_alphabet, arena, offsets, edges, states, order, ends):
    """Build the automaton of all tokens of a vocabulary; returns the number of states.

    arena int32, offsets int64[V + 1]; edges int64[2 * capacity] filled with -1, capacity a power of two of at least twice the
    symbols of the learned tokens; states int32[n_alphabet + those symbols, 4]; scratch: order int32 of as many, ends int64 of
    zeros, the longest token and two more. Of tokens with the same symbols the later one is found, as published. O(symbols).
    """
    for s in range(n_alphabet):
        states[s, FAIL] = -1
        states[s, DEPTH] = 1
        states[s, TOKEN] = s
        states[s, LONGEST] = -1
    n = n_alphabet
    for t in range(n_alphabet, offsets.size - 1):
        state = np.int64(arena[offsets[t + 1] - 1])
        for j in range(offsets[t + 1] - 2, offsets[t] - 1, -1):
            i = find_edge(edges, state, arena[j])
            if edges[2 * i] == -1:
                edges[2 * i] = edge_key(state, arena[j])
                edges[2 * i + 1] = n
                states[n, DEPTH] = states[state, DEPTH] + 1
                states[n, TOKEN] = -1
                states[n, FAIL] = state  # the parent, for now
                states[n, LONGEST] = arena[j]  # and its symbol
                n += 1
            state = edges[2 * i + 1]
        states[state, TOKEN] = t
    # by depth: a state fails to a shallower one
    for state in range(n):
        ends[states[state, DEPTH] + 1] += 1
    for d in range(ends.size - 1):
        ends[d + 1] += ends[d]
    for state in range(n):
        order[ends[states[state, DEPTH]]] = state
        ends[states[state, DEPTH]] += 1
    for i in range(n_alphabet, n):
        state = np.int64(order[i])
        parent = np.int64(states[state, FAIL])
        symbol = states[state, LONGEST]
        fail = advance(edges, states, np.int64(states[parent, FAIL]), symbol)
        states[state, FAIL] = fail
        # the longest token of two symbols or more that is a proper prefix of what the state stands for
        if states[fail, DEPTH] == 1:
            states[state, LONGEST] = -1
        elif states[fail, TOKEN] >= 0:
            states[state, LONGEST] = fail
        else:
            states[state, LONGEST] = states[fail, LONGEST]
    return n
