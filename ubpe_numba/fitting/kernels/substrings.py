"""Substrings that occur often, one length after the other.

A substring of k + 1 symbols can be frequent only if its first k and its last k symbols are. So the frequent
substrings of k symbols are numbered. A substring of k + 1 symbols is known by two numbers: that at its node
and that at the next. In the document abcabd, with two occurrences as the least:

    node             0      1      2      3      4      5      6
    1 symbol         a=0    b=1    c=2    a=0    b=1    d=3    the end
    2 symbols        0 1    1 2    2 0    0 1    1 3           (0, 1) occurs twice: number 0, at nodes 0 and 3
    3 symbols        no frequent substring begins right after node 0 or 3
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import kernel
from ubpe_numba.runtime.tables.automaton import advance, longest_match
from ubpe_numba.runtime.tables.trie import edge_key, find_edge


@kernel
def count_longer(nodes, numbers, weights, table, found, counts):
    """Number and count the substrings that are one symbol longer, in order of first occurrence.

    `nodes` int32[m], ascending, are the beginnings of the frequent substrings of a length, and `numbers`
    int32[m] their numbers. `weights` int64 are those of all nodes. `table` EDGE[capacity], all -1, has a
    power of two of at least 2 * m entries. `found` int32[m] gets the number of the longer substring at every
    node, -1 if the next node is not listed. `counts` int64[m], all 0, gets the sums of the weights of the
    nodes. The caller allocates all. Returns how many distinct substrings there are. O(m) expected.

    The document above, 1 symbol: nodes [0, 1, 2, 3, 4, 5], numbers [0, 1, 2, 0, 1, 3], weights 1. Then found
    is [0, 1, 2, 0, 3, -1], counts [2, 1, 1, 1, 0, 0], and the result 4.
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
    """Write the edges of a length after the edges that their nodes already have.

    `nodes` int32[m] are their beginnings, `numbers` int32[m] their candidates. `cursors` int64[N] is the
    place of each node's next edge, and is advanced. `lengths` and `tokens` int32[E] get the edges. The caller
    allocates all. O(m).

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

    `symbols` int32 and `offsets` int64[d + 1], from 0, are all units. `edges` EDGE[capacity] and `states`
    STATE[n] (tables/automaton.py) are those of a vocabulary. `of_token` int32[V] is the candidate for a
    token, negative if it is not wanted. With `count_only`, `cursors` int64[N] of the nodes is raised by the
    number of edges; otherwise it is the place of a node's next edge, and is advanced. `lengths` and `tokens`
    are int32[E]. The caller allocates all. O(symbols + matches).

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
