"""Which tokens start at a position: an Aho-Corasick automaton over reversed tokens.

It reads a document from its end.

The search for the best path runs from the end, so the text is read that way too: one transition per symbol,
however long the tokens. A trie walked from every position costs its depth (for a run of a symbol, with
tokens of 2**k of it, it is 20 times slower). The states are the suffixes of tokens. After reading the symbols
from s on, the state is the longest suffix of a token that starts at s. Two facts follow:

* the tokens that start at s are the state, if it is a token, and those along its chain of `longest` links;
* no token that starts before s and covers it ends beyond s + depth, since its part from s on is a state too.
So nothing to the left of s will ever need a position beyond s + depth that was not read.

State s < n_alphabet is the symbol s; the others are numbered in order of creation. The value of an edge
(trie.py) from a state by the symbol to its left is the next state. The alphabet 0, 1 and the tokens 2 = [0,
1] and 3 = [0, 1, 0, 1] give:

    state   symbols        fail   depth   longest   token        edge      value
    0       [0]            -1     1       -1        0            (1, 0)    2
    1       [1]            -1     1       -1        1            (2, 1)    3
    2       [0, 1]          0     2       -1        2            (3, 0)    4
    3       [1, 0, 1]       1     3       -1        -1
    4       [0, 1, 0, 1]    2     4        2        3

`fail` is the state of the longest proper prefix that is a state too. `longest` is that of the longest proper
prefix that is a token of two symbols or more. `token` is the token of the state. Each is -1 if there is none.
The document [1, 0, 1, 0, 1], read from its end, leads to the states 1, 2, 3, 4. The edge (4, 1) does not
exist, so `fail` leads to 2 and from there to 3. At position 1, in state 4, the tokens 3 and 2 start (state 4
and its `longest`), and the symbol 0.

If all tokens of every position are needed, they are listed side by side (`lists_of`). A state that is a token
lists its tokens; any other state uses the list of its longest prefix that is a token. A list goes from the
longest to the symbol, of length 1, which ends it. If many symbols are read, the following states are listed
too (`rows_of`), in rows with an answer per symbol. Most states differ from a row by one answer, which they
hold themselves.

    state    row  symbol  child  first        rows  by 0  by 1        entry  length  token
    -1       0    -1      -      -            0     0     1           0      1       0
     0       0    -1      -      0                                    1      1       1
     1       0     0      2      1                                    2      2       2
     2       0     1      3      2                                    3      1       0
     3       0     0      4      1                                    4      4       3
     4       0     1      3      4                                    5      2       2
                                                                      6      1       0

From state 1 the symbol 0 leads to state 2, and 1 to the answer of row 0, state 1. State 4 lacks edges: it
answers as state 2, to which it fails. A state that would differ by two answers owns a row. State 4 is token 3
and has its own list, the tokens 3 and 2 and the symbol 0. State 3 is not a token and has the list of state 1.
There are at most as many entries as symbols of all tokens.

Source: A. Aho and M. Corasick, 1975.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import helper, kernel
from ubpe_numba.runtime.tables.trie import EDGE, edge_key, find_edge

# as above
STATE = np.dtype([("fail", np.int32), ("depth", np.int32), ("longest", np.int32), ("token", np.int32)])
LISTED = np.dtype(  # of a state, or the empty one, at the state + 1
    [
        ("row", np.int32),  # its row of following states; the beginning of the row, once rows exist,
        ("symbol", np.int32),  # except for one symbol, or -1,
        ("child", np.int32),  # which leads to this state
        ("first", np.int32),  # the first entry of its list of tokens
    ]
)
MATCH = np.dtype([("length", np.int32), ("token", np.int32)])  # an entry of a list of tokens


@helper
def advance(edges, states, state, symbol):
    """The state after one more symbol to the left; from -1, the empty state, it is the symbol's own.

    Amortised O(1).

    edges EDGE[capacity], states STATE[n]. Above: from 1 by 0 to 2, from 4 by 1 to 3, from 0 by 0 to 0.
    """
    while state >= 0:
        following = edges[find_edge(edges, state, symbol)].value
        if following >= 0:
            return np.int64(following)
        state = np.int64(states[state].fail)
    return np.int64(symbol)


@helper
def next_state(edges, states, listed, owners, rows, state, symbol):
    """`advance`, by the rows of what follows. O(1). Above: from 1 by 0 to 2, from 1 by 1 to 1.

    Where rows is empty, as there would be too many, the way goes along the edges of the states that would
    have rows.
    """
    if rows.size == 0:
        while symbol != listed[state + 1].symbol:
            owner = np.int64(owners[listed[state + 1].row])
            if owner < 0:
                return np.int64(symbol)
            following = edges[find_edge(edges, owner, symbol)].value
            if following >= 0:
                return np.int64(following)
            state = np.int64(states[owner].fail)
        return np.int64(listed[state + 1].child)
    usual = rows[np.int64(listed[state + 1].row) + symbol]
    return np.int64(listed[state + 1].child if symbol == listed[state + 1].symbol else usual)


@helper
def longest_match(states, state):
    """The state of the longest token of two symbols or more that starts here, or -1. O(1).

    Its `longest` is the next shorter.

    Above: for state 4 itself, for 2 itself, for 3 and 1 -1.
    """
    if states[state].token >= 0 and states[state].depth > 1:
        return state
    return np.int64(states[state].longest)


@helper
def list_of(listed, matches, state):
    """The list of tokens that start in a state: its first entry, and the length of that.

    State 0 above: 0 and 1. O(1).
    """
    i = np.int64(listed[state + 1].first)
    return i, np.int64(matches[i].length)


def automaton_of(n_alphabet, arena, lengths):
    """The automaton of all tokens of a vocabulary, its states by depth, and its depth.

    The automaton is EDGE[capacity] and STATE[n], the states by depth int32[n], and the depth the symbols of
    the longest token.

    Arguments as for `build`.
    """
    edges = np.full(4 << max(4, (arena.size - n_alphabet).bit_length()), -1, np.int64).view(EDGE)
    longest = int(lengths.max())
    states, order = np.empty(arena.size, STATE), np.empty(arena.size, np.int32)
    n_states = build(n_alphabet, arena, lengths, edges, states, order, np.zeros(longest + 2, np.int64))
    states.resize(n_states, refcheck=False)  # in place: NumPy copies records field by field, 25 times as slow
    return edges, states, order[:n_states].copy(), longest


def lists_of(n_alphabet, edges, states, order, size):
    """LISTED[n + 1], int32[n_rows] the states that own rows, and MATCH[m].

    `size` is the number of symbols of all tokens together.
    """
    listed, matches = np.zeros(states.size + 1, LISTED), np.empty(size, MATCH)
    owners = np.empty(states.size + 1, np.int32)
    n_matches, n_rows = list_tokens(n_alphabet, edges, states, order, listed, owners, matches)
    matches.resize(n_matches, refcheck=False)
    return listed, owners[:n_rows].copy(), matches


def rows_of(n_alphabet, edges, states, order, listed, owners):
    """LISTED[n + 1] with the beginnings of rows, and the rows of following states.

    The rows are int32[n_rows * n_alphabet].
    """
    rows = np.empty(owners.size * n_alphabet, np.int32)
    list_following(n_alphabet, edges, states, order, listed, rows)
    placed = listed.copy()
    placed["row"] *= n_alphabet
    return placed, rows


@kernel
def list_tokens(n_alphabet, edges, states, order, listed, owners, matches):
    """List the tokens that start in each state, and plan the rows of following states.

    Returns the number of entries and of rows.

    `edges` EDGE[capacity], `states` STATE[n]. `order` int32[n] are the states by depth. Results, allocated by
    the caller: `listed` LISTED[n + 1] of zeros. `owners` int32[n + 1], the states of rows. `matches` MATCH,
    as many as all tokens have symbols, since a token has at most as many prefixes as symbols. The list of a
    state is the token that it is, then the list of the state that it fails to. O(capacity + entries); see
    above.
    """
    for i in range(edges.size):
        if edges[i].key != -1:
            state = edges[i].key >> 31
            listed[state + 1].row += 1  # its children, for now,
            listed[state + 1].symbol = edges[i].key & 0x7FFFFFFF  # and the last of them
            listed[state + 1].child = edges[i].value
    listed[0].symbol = -1
    owners[0] = -1
    for a in range(n_alphabet):
        matches[a].length = 1
        matches[a].token = a
    n = np.int64(n_alphabet)
    n_rows = np.int64(1)
    for i in range(order.size):
        state = np.int64(order[i])
        fail = np.int64(states[state].fail)
        if listed[state + 1].row == 0:
            listed[state + 1].row = listed[fail + 1].row
            listed[state + 1].symbol = listed[fail + 1].symbol
            listed[state + 1].child = listed[fail + 1].child
        elif listed[state + 1].row == 1 and (
            listed[fail + 1].symbol == -1 or listed[fail + 1].symbol == listed[state + 1].symbol
        ):
            listed[state + 1].row = listed[fail + 1].row
        else:
            listed[state + 1].row = n_rows
            listed[state + 1].symbol = -1
            owners[n_rows] = state
            n_rows += 1
        if fail < 0:
            listed[state + 1].first = state
        else:
            rest = np.int64(listed[fail + 1].first)
            listed[state + 1].first = rest
            if states[state].token >= 0:
                listed[state + 1].first = n
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
    return n, n_rows


@kernel
def list_following(n_alphabet, edges, states, order, listed, rows):
    """Fill the rows of following states, int32[n_rows * n_alphabet], allocated by the caller.

    `edges` EDGE[capacity], `states` STATE[n], `listed` LISTED[n + 1]. `order` int32[n] are the states by
    depth: without an edge, a state answers as the state that it fails to. O(n + n_rows * n_alphabet); see
    above.
    """
    for a in range(n_alphabet):
        rows[a] = a
    for i in range(order.size):
        state = np.int64(order[i])
        fail = np.int64(states[state].fail)
        row = np.int64(listed[state + 1].row)
        other = np.int64(listed[fail + 1].row)
        if row != other:
            for a in range(n_alphabet):
                value = edges[find_edge(edges, state, a)].value
                if value < 0:
                    value = np.int64(
                        listed[fail + 1].child
                        if listed[fail + 1].symbol == a
                        else rows[other * n_alphabet + a]
                    )
                rows[row * n_alphabet + a] = value


@kernel
def build(n_alphabet, arena, lengths, edges, states, order, ends):
    """Build the automaton of all tokens of a vocabulary; returns the number of states.

    `arena` int32 are the symbols of all tokens one after the other, `lengths` int64[V] their numbers.
    Results, allocated by the caller: `edges` EDGE[capacity], full of -1, capacity a power of two of at least
    twice the symbols of the learned tokens. `states` STATE, as many as the arena has symbols. Scratch:
    `order` int32 of as many; `ends` int64 of zeros, the symbols of the longest token + 2. Among tokens with
    the same symbols the last is found, as published. O(symbols); see the example above.
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
        # the longest token of two symbols or more that is a proper prefix of the symbols of the state
        if states[fail].depth == 1:
            states[state].longest = -1
        elif states[fail].token >= 0:
            states[state].longest = fail
        else:
            states[state].longest = states[fail].longest
    return n
