"""The k cheapest paths where costs of tokens add up: at every position the k cheapest tails, from the end.

Exact: every path of the k cheapest continues with one of the k cheapest tails, since a dearer tail can be
exchanged for each of those. The lists of the positions that tokens lead to are sorted, so the list of a
position is a merge of them.

Tail i of position p is node p * k + i; its first token and the tail after that are token[node] and
parent[node]. For k = 2, costs (1, 0) and the document [0, 1, 0] with the token 2 = [0, 1]:

    node     0    1    2    3    4    5    6
    p, i     0,0  0,1  1,0  -    2,0  -    3,0 the end
    token    2    0    1         0         -1             paths [2, 0] and [0, 1, 0]
    parent   4    2    4         6         -1
    cost     2    3    2         1         0
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import kernel, section
from ubpe_numba.runtime.tables.automaton import advance, longest_match

COST = np.dtype([("first", np.float64), ("second", np.float64)])  #: the cost of a token or a tail


@section
def _best_tails(document, edges, states, costs, k, sums, kept, heads, parent, token):
    """Fill the tree of the k cheapest tails of every position; returns how many paths there are.

    As for `k_cheapest_paths`.
    """
    n = document.size
    ring = np.int64(kept.size - 1)
    matched = heads[0]  # of each token that starts here: its state, -1 for the symbol,
    taken = heads[1]  # and how many tails after it are used up
    kept[n & ring] = 1
    sums[n & ring, 0].first = 0.0
    sums[n & ring, 0].second = 0.0
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
            match = np.int64(states[match].longest)
        matched[n_matches] = -1
        taken[n_matches] = 0
        n_matches += 1
        at = s & ring
        n_tails = np.int64(0)
        while n_tails < k:
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
                    t = states[match].token
                    e = s + np.int64(states[match].depth)
                i = taken[q]
                if i < kept[e & ring]:
                    x = sums[e & ring, i].first + costs[t].first
                    y = sums[e & ring, i].second + costs[t].second
                    if best < 0 or x < first or (x == first and y < second):
                        best = q
                        best_end = e
                        best_token = t
                        first = x
                        second = y
            if best < 0:
                break
            node = np.int64(s) * k + n_tails
            parent[node] = best_end * k + taken[best]
            token[node] = best_token
            sums[at, n_tails].first = first
            sums[at, n_tails].second = second
            taken[best] += 1
            n_tails += 1
        kept[at] = n_tails
    return kept[0]


@kernel
def k_cheapest_paths(document, edges, states, costs, k, sums, kept, heads, n_tokens, parent, token):
    """The k cheapest paths of a document, in order; returns how many exist.

    `document` int32[n] holds alphabet ids. `edges` and `states` are those of automaton.py. `costs` float64[2
    * V] is a COST per token; their sums are exact. Ties: the longest first token, then the better tail after
    it. The caller allocates all; the example is above. Results: `n_tokens` int64[k], and the tree `parent`,
    `token` int32[(n + 1) * k]. Path i starts at node i, and node n * k ends it. `sums[0]` holds the costs of
    the paths.

    Scratch: `sums` COST[ring, k] and `kept` int64[ring] for the positions within reach; ring is a power of
    two, at least the longest token + 2. `heads` is int64[2, longest token + 1]. O(n * matches * k), 8 * k
    bytes per symbol.
    """
    n_paths = _best_tails(document, edges, states, costs.view(COST), k, sums, kept, heads, parent, token)
    for i in range(n_paths):
        n_tokens[i] = 0
        v = np.int64(i)
        while token[v] >= 0:
            n_tokens[i] += 1
            v = np.int64(parent[v])
    return n_paths


@kernel
def cheapest_paths(
    symbols, offsets, edges, states, costs, sums, kept, heads, parent, token, out, out_offsets
):
    """The cheapest path of every document; returns the number of ids written. O(symbols + matches).

    `symbols` int32 (alphabet ids), offsets int64[d + 1]. `out` int32, room for all symbols. `out_offsets`
    int64[d + 1]; the others as for `k_cheapest_paths` with k = 1 and the longest document. Costs (1, 0):
    tokens 3 = [0, 1], 4 = [1, 0, 1] of the document [0, 1, 0, 1] give [3, 3], not [0, 4].
    """
    w = np.int64(0)
    out_offsets[0] = 0
    for d in range(offsets.size - 1):
        document = symbols[offsets[d] : offsets[d + 1]]
        _best_tails(document, edges, states, costs.view(COST), np.int64(1), sums, kept, heads, parent, token)
        p = np.int64(0)
        while token[p] >= 0:
            out[w] = token[p]
            w += 1
            p = np.int64(parent[p])
        out_offsets[d + 1] = w
    return w


@kernel
def read_tails(parent, token, offsets, paths):
    """Write the tokens of path i, which starts at node i, to `paths[offsets[i] : offsets[i + 1]]`. O(tokens).

    `parent` and `token` as above. `offsets` int64[m + 1] and `paths` int32[offsets[m]], for m paths, are
    allocated by the caller. The tree above with the offsets [0, 2, 5] gives [2, 0, 0, 1, 0].
    """
    for i in range(offsets.size - 1):
        v = np.int64(i)
        for w in range(offsets[i], offsets[i + 1]):
            paths[w] = token[v]
            v = np.int64(parent[v])
