"""The n best paths by tf-idf: at every position the n best tails, from the end.

The kept tails of all positions form a tree: a node is a token and the node of the tail that it was put before, and knows how
often its token occurs from there to the end. A question "how often does this tail hold t" walks up to the first node of t; if
the document holds no node of t at all it costs nothing, and per token the last long walk is remembered.

Order of tails: heavier, then fewer tokens, then the better tail behind the first token, then the shorter first token. Weights
in fixed point as in lattice.py. Source: UBPE tokenizers, part 2.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba._jit import kernel, kernel_with_scratch
from ubpe_numba.kernels.automaton import DEPTH, LONGEST, TOKEN, advance, longest_match
from ubpe_numba.kernels.lattice import gain_of


@kernel_with_scratch
def n_best_paths(document, edges, states, longest, scaled_idf, logs, n_best, weights, n_tokens, parent, token):
    """The n best paths of one document; returns how many there are.

    document int32[n] of alphabet ids; edges, states as automaton.py builds them, `longest` the symbols of the
    longest token; scaled_idf float64[V]; logs float64.
    Results: weights float64[n_best], n_tokens int64[n_best], and the tree parent int32[(n + 1) * n_best], token likewise, where
    path k starts at node k and a node without parent ends it. Node p * n_best + k is tail k of position p.
    O(n * matches * n_best) walks.
    """
    n = document.size
    ring = np.int64(1)
    while ring < longest + 2:
        ring <<= 1
    tail_weight = np.empty((ring, n_best), np.float64)
    tail_n = np.empty((ring, n_best), np.int64)
    kept = np.zeros(ring, np.int64)
    own = np.empty((n + 1) * n_best, np.int32)  # occurrences of a node's token from the node to the end
    nodes_of = np.zeros(scaled_idf.size, np.int64)
    asked_at = np.full(scaled_idf.size, -1, np.int64)
    asked = np.zeros(scaled_idf.size, np.int64)
    best_weight = np.empty(n_best, np.float64)
    best_n = np.empty(n_best, np.int64)
    best_rank = np.empty(n_best, np.int64)  # of the tail behind the first token
    best_end = np.empty(n_best, np.int64)
    best_token = np.empty(n_best, np.int32)
    best_own = np.empty(n_best, np.int32)
    end_node = np.int64(n) * n_best
    kept[n & (ring - 1)] = 1
    tail_weight[n & (ring - 1), 0] = 0.0
    tail_n[n & (ring - 1), 0] = 0
    parent[end_node] = -1
    token[end_node] = -1
    state = np.int64(-1)
    for p in range(n - 1, -1, -1):
        state = advance(edges, states, state, document[p])
        match = longest_match(states, state)
        found = 0
        while True:  # longest first; the symbol alone is last
            t = states[match, TOKEN] if match >= 0 else document[p]
            e = p + np.int64(states[match, DEPTH]) if match >= 0 else np.int64(p + 1)
            at = e & (ring - 1)
            for k in range(kept[at]):
                count = np.int64(0)
                v = e * n_best + k
                if scaled_idf[t] > 0.0 and nodes_of[t] > 0:
                    start = v
                    steps = 0
                    while v != end_node:
                        if token[v] == t:
                            count = np.int64(own[v])
                            break
                        if v == asked_at[t]:
                            count = asked[t]
                            break
                        v = np.int64(parent[v])
                        steps += 1
                    if steps > 24:
                        asked_at[t] = start
                        asked[t] = count
                x = tail_weight[at, k] + gain_of(scaled_idf[t], count, logs)
                m = tail_n[at, k] + 1
                # insertion into the sorted list; among equals this one goes first, having the shorter first token
                i = found
                while i > 0 and (
                    best_weight[i - 1] < x
                    or (best_weight[i - 1] == x and (best_n[i - 1] > m or (best_n[i - 1] == m and best_rank[i - 1] >= k)))
                ):
                    i -= 1
                if i == n_best:
                    continue
                if found < n_best:
                    found += 1
                for j in range(found - 1, i, -1):
                    best_weight[j] = best_weight[j - 1]
                    best_n[j] = best_n[j - 1]
                    best_rank[j] = best_rank[j - 1]
                    best_end[j] = best_end[j - 1]
                    best_token[j] = best_token[j - 1]
                    best_own[j] = best_own[j - 1]
                best_weight[i] = x
                best_n[i] = m
                best_rank[i] = k
                best_end[i] = e
                best_token[i] = t
                best_own[i] = count + 1
            if match < 0:
                break
            match = np.int64(states[match, LONGEST])
        at = p & (ring - 1)
        kept[at] = found
        for i in range(found):
            v = np.int64(p) * n_best + i
            tail_weight[at, i] = best_weight[i]
            tail_n[at, i] = best_n[i]
            parent[v] = best_end[i] * n_best + best_rank[i]
            token[v] = best_token[i]
            own[v] = best_own[i]
            nodes_of[best_token[i]] += 1
    found = kept[0]
    for i in range(found):
        weights[i] = tail_weight[0, i]
        n_tokens[i] = tail_n[0, i]
    return found


@kernel
def read_paths(parent, token, offsets, paths):
    """Write the tokens of path k, which starts at node k, to `paths[offsets[k] : offsets[k + 1]]`. O(tokens)."""
    for k in range(offsets.size - 1):
        v = np.int64(k)
        for w in range(offsets[k], offsets[k + 1]):
            paths[w] = token[v]
            v = np.int64(parent[v])
