"""Substrings that occur often, one length after the other.

A substring of k + 1 symbols can be frequent only if its first k and its last k symbols are. So the frequent
ones of k symbols are numbered, and one of k + 1 symbols is known by two numbers: that at its node and that at
the next. Of the document abcabd, where twice is often:

    node             0      1      2      3      4      5      6 1 symbol         a=0    b=1    c=2    a=0
    b=1    d=3    the end 2 symbols        0 1    1 2    2 0    0 1    1 3           (0, 1) occurs twice:
    number 0, at the nodes 0 and 3 3 symbols        there is no frequent one right after node 0 or 3
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import kernel
from ubpe_numba.runtime.tables.automaton import advance, longest_match
from ubpe_numba.runtime.tables.trie import edge_key, find_edge


@kernel
def count_longer(nodes, numbers, weights, table, found, counts):
    """Number and count the substrings that are one symbol longer than those given, in order of their first occurrence.

    nodes int32[m], ascending, where frequent substrings of one length begin, and numbers int32[m], which they
    are; weights int64 of all nodes; table EDGE[capacity], all -1, a power of two of at least 2 * m entries;
    found int32[m] gets the number of the longer one at every node, -1 where the next node is not listed;
    counts int64[m], all 0, gets the sums of the weights of the nodes. The caller allocates all. Returns how
    many different ones there are. O(m) expected.

    The document above, 1 symbol: nodes [0, 1, 2, 3, 4, 5], numbers [0, 1, 2, 0, 1, 3], weights 1: found [0,
    1, 2, 0, 3, -1], counts [2, 1, 1, 1, 0, 0], the result is 4.
    """
    n = np.int64(0)
    for i in range(nodes.size):
        found[i] = -1
        if i + 1 < nodes.size and nodes[i + 1] == nodes[i] + 1:
            at = find_edge(table, numbers[i], numbers[i + 1])
            if table[at].key == -1:
                table[at].key = edge_key(numbers[i], numbers[i + 1])
                table[at].value = n
                n += 1
            found[i] = table[at].value
            counts[found[i]] += weights[nodes[i]]
    return n


@kernel
def add_edges(nodes, numbers, length, cursors, lengths, tokens):
    """Write the edges of one length after those that their nodes have already.

    nodes int32[m], where they begin, numbers int32[m], of their candidates; cursors int64[N]: of each node
    the place of its next edge, which moves on; lengths, tokens int32[E] get the edges. The caller allocates
    all. O(m).

    nodes [0, 3], numbers [0, 0], length 2, cursors [0, 0, 0, 1, ...]: edges 0 and 1 are (2, 0), cursors [1,
    0, 0, 2, ...].
    """
    for i in range(nodes.size):
        at = cursors[nodes[i]]
        lengths[at] = length
        tokens[at] = numbers[i]
        cursors[nodes[i]] = at + 1


@kernel
def count_candidates(nodes, weights, starts, tokens, counts):
    """Count the candidates of all edges by the weights of units.

    nodes int64[d + 1], weights int64[d] of units; starts int64[N + 1], tokens int32[E]: the edges; counts
    int64[T], added to. The caller allocates all. O(edges).

    nodes [0, 3, 5], weights [1, 4], two edges of candidate 0 in the first unit and one in the second: counts
    [6].
    """
    for u in range(nodes.size - 1):
        for e in range(starts[nodes[u]], starts[nodes[u + 1]]):
            counts[tokens[e]] += weights[u]


@kernel
def copy_edges(starts, lengths, tokens, cursors, out_lengths, out_tokens):
    """Write the edges of every node to its new place.

    starts int64[N + 1], lengths, tokens int32[E]: the edges; cursors int64[N]: of each node the place of its
    next edge, which moves on; out_lengths, out_tokens int32 get them. The caller allocates all. O(edges).

    starts [0, 1, 2], lengths [2, 3], cursors [0, 3]: out_lengths [2, ., ., 3], cursors [1, 4].
    """
    for v in range(starts.size - 1):
        at = cursors[v]
        for e in range(starts[v], starts[v + 1]):
            out_lengths[at] = lengths[e]
            out_tokens[at] = tokens[e]
            at += 1
        cursors[v] = at


@kernel
def find_tokens(symbols, offsets, edges, states, of_token, count_only, cursors, lengths, tokens):
    """Find where given tokens begin, and write them as edges or count them.

    symbols int32, offsets int64[d + 1] of all units, from 0; edges EDGE[capacity], states STATE[n]
    (tables/automaton.py) of a vocabulary; of_token int32[V]: the candidate that a token is to be, or below 0:
    not wanted. If count_only, cursors int64[N] of the nodes are raised by the number of edges; otherwise they
    say where the next edge of a node goes and move on; lengths, tokens int32[E]. The caller allocates all.
    O(symbols + matches).

    The document 0 1 0 1 and the token 2 = [0, 1], which is candidate 7: at the nodes 0 and 2 the edge (2, 7).
    """
    for u in range(offsets.size - 1):
        state = np.int64(-1)
        for p in range(offsets[u + 1] - 1, offsets[u] - 1, -1):
            state = advance(edges, states, state, symbols[p])
            match = longest_match(states, state)
            while match >= 0:
                t = of_token[states[match].token]
                if t >= 0:
                    at = cursors[p + u]
                    if not count_only:
                        lengths[at] = states[match].depth
                        tokens[at] = t
                    cursors[p + u] = at + 1
                match = np.int64(states[match].longest)
