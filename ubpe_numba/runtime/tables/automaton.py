"""Which tokens start at a position, reading a document from its end: an Aho-Corasick automaton over reversed tokens.

The search for the best path runs from the end, so the text is read that way too: one transition a symbol, however long the
tokens, where a trie walked from every position costs its depth (a run of one symbol, with tokens of 2**k of it, is 20 times
slower that way). The states are the suffixes of tokens. After the symbols at s and beyond have been read, the state is the
longest suffix of a token that starts at s; two things follow:

* the tokens that start at s are the state, if it is a token, and those along its chain of `longest` links;
* no token that starts before s and covers it ends beyond s + depth, since what it covers from s on is a state too. So nothing
  to the left of s will ever ask for a position beyond s + depth, without having looked there.

State s < n_alphabet is the symbol s; the others are numbered as they are made. The value of an edge (edges.py) from a state by
the symbol to its left is the next state. Of the alphabet 0, 1 and the tokens 2 = [0, 1] and 3 = [0, 1, 0, 1]:

    state   stands for     fail   depth   longest   token        edge      value
    0       [0]            -1     1       -1        0            (1, 0)    2
    1       [1]            -1     1       -1        1            (2, 1)    3
    2       [0, 1]          0     2       -1        2            (3, 0)    4
    3       [1, 0, 1]       1     3       -1        -1
    4       [0, 1, 0, 1]    2     4        2        3

`fail` is the state of the longest proper prefix that is a state too, `longest` that of the longest proper prefix that is a token
of two symbols or more, `token` the token that the state is; -1 where there is none. The document [1, 0, 1, 0, 1], read from its
end, leads to the states 1, 2, 3, 4, and, since there is no edge (4, 1), by `fail` to 2 and from there to 3. At position 1, in
state 4, the tokens 3 and 2 start (state 4 and its `longest`), and the symbol 0.

Where many symbols are read, and states and symbols are few, all answers are listed (`following_of`): the state that follows s by
the symbol a is at (s + 1) * n_alphabet + a, the empty state being -1. Above, of the states -1 and 4: [0, 1] and [0, 3]. A
dependent load of such a table takes a third of the time of the way along edges and `fail`.

Where all tokens of every position are asked for, they are listed side by side (`matches_of`): those of a state that is a token,
and those of the longest prefix that is one of any other. A list goes from the longest to the symbol, of length 1, which ends it:

    first of state    0  1  2  3  4         entry     0  1  2  3  4  5  6
                      0  1  2  1  4         length    1  1  2  1  4  2  1
                                            token     0  1  2  0  3  2  0

State 4, which is token 3, has the entries 4, 5 and 6, the tokens 3 and 2 and the symbol 0; state 3 is no token: it has the list
of state 1, the symbol 1. Entries and symbols together are no more than the symbols of all tokens.

Source: A. Aho and M. Corasick, 1975.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.jit import helper, kernel
from ubpe_numba.runtime.tables.edges import EDGE, edge_key, find_edge

STATE = np.dtype([("fail", np.int32), ("depth", np.int32), ("longest", np.int32), ("token", np.int32)])  # as drawn above
MATCH = np.dtype([("length", np.int32), ("token", np.int32)])  # an entry of a list of tokens, as drawn above


@helper
def advance(edges, states, state, symbol):
    """The state after one more symbol to the left; from -1, the empty state, it is the symbol's own. Amortised O(1).

    edges EDGE[capacity], states STATE[n]. Above: from 1 by 0 to 2, from 4 by 1 to 3, from 0 by 0 to 0.
    """
    while state >= 0:
        following = edges[find_edge(edges, state, symbol)].value
        if following >= 0:
            return np.int64(following)
        state = np.int64(states[state].fail)
    return np.int64(symbol)


@helper
def next_state(following, edges, states, state, symbol):
    """`advance`, by the list of all answers unless that is empty: following int32[(states + 1) * n_alphabet]. O(1)."""
    if following.size == 0:
        return advance(edges, states, state, symbol)
    width = following.size // (states.size + 1)
    return np.int64(following[(state + 1) * width + symbol])


@helper
def longest_match(states, state):
    """The state of the longest token of two symbols or more that starts here, or -1; its `longest` is the next shorter. O(1).

    Above: of state 4 itself, of 2 itself, of 3 and of 1 there is none, -1.
    """
    if states[state].token >= 0 and states[state].depth > 1:
        return state
    return np.int64(states[state].longest)


@helper
def list_of(first, matches, state):
    """The list of tokens that start in a state: its first entry, and the length of that. Of state 4 above: 4 and 4. O(1)."""
    i = np.int64(first[state])
    return i, np.int64(matches[i].length)


def automaton_of(n_alphabet, arena, lengths):
    """EDGE[capacity] and STATE[n] of all tokens of a vocabulary, and the symbols of the longest; arguments as for `build`."""
    edges = np.full(4 << max(4, (arena.size - n_alphabet).bit_length()), -1, np.int64).view(EDGE)
    longest = int(lengths.max())
    states, order = np.empty(arena.size, STATE), np.empty(arena.size, np.int32)
    n_states = build(n_alphabet, arena, lengths, edges, states, order, np.zeros(longest + 2, np.int64))
    states.resize(n_states, refcheck=False)  # in place: NumPy copies records field by field, 25 times as slow
    return edges, states, longest


def following_of(n_alphabet, edges, states):
    """int32[(n + 1) * n_alphabet], the state after each of the n states and each symbol, as drawn above."""
    order = np.argsort(states["depth"], kind="stable").astype(np.int32)
    following = np.empty((states.size + 1) * n_alphabet, np.int32)
    list_following(n_alphabet, edges, states, order, following)
    return following


@kernel
def list_following(n_alphabet, edges, states, order, following):
    """List the states that follow: following int32[(n + 1) * n_alphabet], allocated by the caller.

    edges EDGE[capacity], states STATE[n]; order int32[n], the states by depth: a state answers as the one that it fails to where
    it has no edge. O(n * n_alphabet). Above: the empty state's answers are [0, 1]; state 4 has no edges, and 2 has one by 1, to
    3.
    """
    for a in range(n_alphabet):
        following[a] = a
    for i in range(order.size):
        state = np.int64(order[i])
        row = (state + 1) * n_alphabet
        other = (np.int64(states[state].fail) + 1) * n_alphabet
        for a in range(n_alphabet):
            value = edges[find_edge(edges, state, a)].value
            following[row + a] = value if value >= 0 else following[other + a]


def matches_of(n_alphabet, states, size):
    """int32[n], the first entry of the list of each state, and MATCH[m], the lists; size, symbols of all tokens together."""
    order = np.argsort(states["depth"], kind="stable").astype(np.int32)
    first, matches = np.empty(states.size, np.int32), np.empty(size, MATCH)
    n_matches = list_matches(n_alphabet, states, order, first, matches)
    matches.resize(n_matches, refcheck=False)
    return first, matches


@kernel
def list_matches(n_alphabet, states, order, first, matches):
    """List the tokens that start in each state, as drawn above; returns how many entries there are.

    states STATE[n]; order int32[n], the states by depth: the list of a state is that of the state that it fails to, behind the
    token that it is. Results, allocated by the caller: first int32[n]; matches MATCH, as many as all tokens have symbols, since a
    token has at most as many prefixes as symbols. O(n + entries).
    """
    for a in range(n_alphabet):
        first[a] = a
        matches[a].length = 1
        matches[a].token = a
    n = n_alphabet
    for i in range(n_alphabet, order.size):
        state = np.int64(order[i])
        rest = np.int64(first[states[state].fail])
        first[state] = rest
        if states[state].token >= 0:
            first[state] = n
            matches[n].length = states[state].depth
            matches[n].token = states[state].token
            n += 1
            length = np.int64(0)
            while length != 1:
                length = np.int64(matches[rest].length)
                matches[n].length = length
                matches[n].token = matches[rest].token
                n += 1
                rest += 1
    return n


@kernel
def build(n_alphabet, arena, lengths, edges, states, order, ends):
    """Build the automaton of all tokens of a vocabulary; returns the number of states.

    arena int32, the symbols of all tokens one behind the other, lengths int64[V] how many each has. Results, allocated by the
    caller: edges EDGE[capacity], full of -1, capacity a power of two of at least twice the symbols of the learned tokens; states
    STATE, as many as the arena has symbols. Scratch: order int32 of as many; ends int64 of zeros, two more than the longest token
    has symbols. Of tokens with the same symbols the later one is found, as published. O(symbols); the example is drawn above.
    """
    for s in range(n_alphabet):
        states[s].fail = -1
        states[s].depth = 1
        states[s].token = s
        states[s].longest = -1
    n = n_alphabet
    start = np.int64(n_alphabet)
    for t in range(n_alphabet, lengths.size):
        end = start + lengths[t]
        state = np.int64(arena[end - 1])
        for j in range(end - 2, start - 1, -1):
            i = find_edge(edges, state, arena[j])
            if edges[i].key == -1:
                edges[i].key = edge_key(state, arena[j])
                edges[i].value = n
                states[n].depth = states[state].depth + 1
                states[n].token = -1
                states[n].fail = state  # the parent, for now
                states[n].longest = arena[j]  # and its symbol
                n += 1
            state = edges[i].value
        states[state].token = t
        start = end
    # by depth: a state fails to a shallower one
    for state in range(n):
        ends[states[state].depth + 1] += 1
    for d in range(ends.size - 1):
        ends[d + 1] += ends[d]
    for state in range(n):
        order[ends[states[state].depth]] = state
        ends[states[state].depth] += 1
    for i in range(n_alphabet, n):
        state = np.int64(order[i])
        parent = np.int64(states[state].fail)
        symbol = states[state].longest
        fail = advance(edges, states, np.int64(states[parent].fail), symbol)
        states[state].fail = fail
        # the longest token of two symbols or more that is a proper prefix of what the state stands for
        if states[fail].depth == 1:
            states[state].longest = -1
        elif states[fail].token >= 0:
            states[state].longest = fail
        else:
            states[state].longest = states[fail].longest
    return n
