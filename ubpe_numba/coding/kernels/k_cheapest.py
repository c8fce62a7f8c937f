"""The k cheapest paths where costs of tokens add up (cheapest.py): at every position the k cheapest tails, from the end.

Exact: every path of the k cheapest goes on with one of the k cheapest tails, since a dearer tail can be exchanged for each of
those. The lists of the positions that tokens lead to are sorted, so the list of a position is a merge of them.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.jit import kernel
from ubpe_numba.runtime.tables.automaton import DEPTH, LONGEST, TOKEN, advance, longest_match


@kernel
def k_cheapest_paths(document, edges, states, costs, k, sums, kept, heads, n_tokens, parent, token):
    """The k cheapest paths of one document, in order; returns how many there are.

    document int32[n] of alphabet ids; edges, states as automaton.py builds them; costs float64[V, 2], sums of which are exact.
    Ties: the longest first token, then the better tail behind it.
    Results: n_tokens int64[k], and the tree parent int32[(n + 1) * k], token likewise, where path i starts at node i and the
    node n * k ends it: node p * k + i is tail i of position p. `sums[0]` holds the costs.

    Scratch: sums float64[power of two, k, 2] and kept int64 of as many, two more than the longest token at least; heads
    int64[2, longest token + 1]. O(n * (matches * k)), 8 * k B a symbol.
    """
    n = document.size
    ring = np.int64(kept.size - 1)
    matched = heads[0]  # of each token that starts here: its state, -1 for the symbol,
    taken = heads[1]  # and how many tails behind it are used up
    kept[n & ring] = 1
    sums[n & ring, 0, 0] = 0.0
    sums[n & ring, 0, 1] = 0.0
    parent[np.int64(n) * k] = -1
    token[np.int64(n) * k] = -1
    state = np.int64(-1)
    for s in range(n - 1, -1, -1):
        symbol = document[s]
        state = advance(edges, states, state, symbol)
        n_matches = np.int64(0)
        match = longest_match(states, state)
        while match >= 0:
            matched[n_matches] = match
            taken[n_matches] = 0
            n_matches += 1
            match = np.int64(states[match, LONGEST])
        matched[n_matches] = -1
        taken[n_matches] = 0
        n_matches += 1
        at = s & ring
        found = np.int64(0)
        while found < k:
            best = np.int64(-1)
            best_end = np.int64(0)
            best_token = symbol
            first = 0.0
            second = 0.0
            for q in range(n_matches):  # longest first: an equal one that comes later does not win
                match = matched[q]
                t = symbol
                e = np.int64(s + 1)
                if match >= 0:
                    t = states[match, TOKEN]
                    e = s + np.int64(states[match, DEPTH])
                i = taken[q]
                if i < kept[e & ring]:
                    x = sums[e & ring, i, 0] + costs[t, 0]
                    y = sums[e & ring, i, 1] + costs[t, 1]
                    if best < 0 or x < first or (x == first and y < second):
                        best = q
                        best_end = e
                        best_token = t
                        first = x
                        second = y
            if best < 0:
                break
            node = np.int64(s) * k + found
            parent[node] = best_end * k + taken[best]
            token[node] = best_token
            sums[at, found, 0] = first
            sums[at, found, 1] = second
            taken[best] += 1
            found += 1
        kept[at] = found
    found = kept[0]
    for i in range(found):
        n_tokens[i] = 0
        v = np.int64(i)
        while token[v] >= 0:
            n_tokens[i] += 1
            v = np.int64(parent[v])
    return found


@kernel
def read_tails(parent, token, offsets, paths):
    """Write the tokens of path i, which starts at node i, to `paths[offsets[i] : offsets[i + 1]]`. O(tokens)."""
    for i in range(offsets.size - 1):
        v = np.int64(i)
        for w in range(offsets[i], offsets[i + 1]):
            paths[w] = token[v]
            v = np.int64(parent[v])
