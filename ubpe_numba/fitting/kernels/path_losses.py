"""Worth of the tokens of a vocabulary to the paths of fewest tokens, and savings by further candidates.

A unit of n symbols has n + 1 nodes, one before every symbol and one at the end. A token is an edge from the
node before its first symbol to the node after its last. A[v] is the fewest tokens from the first node to v,
B[v] from v to the last, `best` is B of the first.

* An occurrence of a candidate that leads from v to w saves best - (A[v] + 1 + B[w]), if that is above 0.
Among overlapping occurrences that save something, the first counts.
* An occurrence of a token on the best path leads from v to w. Its worth is the least A[x] + B[x] of the nodes
x between them, less `best`: the extra length of the best path through one of them. That is at most too high:
a path without this edge may use a longer edge around it. To search those too costs half as much again, and
gave vocabularies that are a little better for the documents and a little worse for others.

With the symbols a and b and the token ab (edges 0-2 and 2-4), the document abab:

    node   0   1   2   3   4
    A      0   1   1   2   2
    B      2   2   1   1   0         best: 2 tokens. The candidate abab, 0-4, saves 2 - (0 + 1 + 0) = 1.

The first ab is worth A[1] + B[1] - 2 = 1. The worth of a token is also known without the unit with the
largest saving, limited to the weight of that unit in one document (`most`). A token that only one document
supports is of little use to others.

Sources: C. Schmidt et al., "Tokenization is more than compression", 2024 (losses); J. Lim et al., "A
partition cover approach to tokenization", 2025 (tokens as a cover of the text, chosen by their savings).
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import helper, kernel

WORTH = np.dtype(
    [
        ("saved", np.int64),  # by all units, weighted
        ("most", np.int64),  # by the unit that counts most in it
        ("here", np.int64),  # by the unit looked at
        # occurrences on best paths; of candidates: the node up to which the last one reaches
        ("count", np.int64),
        ("unit", np.int64),  # looked at last
    ]
)


@helper
def _add(worth, t, unit, saved, weight, most):
    """Enter the saving of an occurrence of t in a unit: by the unit's weight, and in one document. O(1)."""
    if worth[t].unit != unit:
        worth[t].unit = unit
        worth[t].here = 0
    worth[t].saved += saved * weight
    worth[t].here += saved * most
    worth[t].most = max(worth[t].most, worth[t].here)


@kernel
def inside_edges(starts, lengths, tokens, rank, out_starts, out_lengths, out_tokens):
    """The edges of the candidates that are tokens of a vocabulary.

    `starts` int64[N + 1] of nodes, lengths, tokens int32[E]: the edges (starts may begin above 0). `rank`
    int32[T]: of each candidate its number in the vocabulary, or -1. `out_starts` int64[N + 1], out_lengths,
    out_tokens int32[E] get the edges that stay, with these numbers. The caller allocates all. Returns how
    many stay. O(edges).

    `starts` [0, 2, 3], lengths [2, 3, 2], tokens [5, 6, 6], rank -1 except 0 for candidate 6. Then out_starts
    is [0, 1, 2], out_lengths [3, 2], out_tokens [0, 0], and the result 2.
    """
    k = np.int64(0)
    out_starts[0] = 0
    for v in range(starts.size - 1):
        for e in range(starts[v], starts[v + 1]):
            r = rank[tokens[e]]
            if r >= 0:
                out_lengths[k] = lengths[e]
                out_tokens[k] = r
                k += 1
        out_starts[v + 1] = k
    return k


@kernel
def path_losses(nodes, weights, most, starts, lengths, tokens, alive, ahead, after, via, worth):
    """Fewest tokens of units, and the worth of the tokens of the vocabulary to them.

    `nodes` int64[d + 1] are the first nodes of the units. `weights` and `most` are int64[d] (above). `starts`
    int64[N + 1], `lengths` and `tokens` int32 are the edges of the vocabulary's m tokens. `alive` bool[m]
    marks those that still belong to it. `ahead` and `after` int32[N] get A and B. `via` int32[N] is scratch.
    `worth` WORTH[m] is added to (`unit` -1, the rest 0 at the beginning). The caller allocates all.

    Returns the weighted sum of fewest tokens; units of weight 0 are skipped. Among equally short paths, from
    the left, the last edge in the list of its node wins; a node without edges has its symbol. O(edges +
    symbols).

    The example above: ahead [0, 1, 1, 2, 2], after [2, 2, 1, 1, 0], `saved` 2 and `count` 2 of ab, the result
    is 2.
    """
    total = np.int64(0)
    for u in range(nodes.size - 1):
        w = weights[u]
        if w == 0:
            continue
        a, z = nodes[u], nodes[u + 1] - 1
        after[z] = 0
        for v in range(z - 1, a - 1, -1):
            best = after[v + 1]
            at = np.int64(-1)
            for e in range(starts[v], starts[v + 1]):
                x = after[v + np.int64(lengths[e])]
                if x <= best and alive[tokens[e]]:
                    best = x
                    at = e
            after[v] = best + 1
            via[v] = at
            ahead[v + 1] = z - a
        ahead[a] = 0
        for v in range(a, z):
            one_more = ahead[v] + 1
            ahead[v + 1] = min(ahead[v + 1], one_more)
            for e in range(starts[v], starts[v + 1]):
                x = v + np.int64(lengths[e])
                if one_more < ahead[x] and alive[tokens[e]]:
                    ahead[x] = one_more
        best = after[a]
        total += np.int64(best) * w
        v = a
        while v < z:
            if via[v] < 0:
                v += 1
                continue
            e = np.int64(via[v])
            x = v + np.int64(lengths[e])
            t = tokens[e]
            least = ahead[v + 1] + after[v + 1]
            for y in range(v + 2, x):
                least = min(least, ahead[y] + after[y])
            saved = np.int64(least - best)
            _add(worth, t, u, saved, w, most[u])
            worth[t].count += w
            v = x
    return total


@kernel
def candidate_gains(nodes, weights, most, starts, lengths, tokens, ahead, after, prefer, worth):
    """Savings by the occurrences of candidates.

    Arguments as for `path_losses`, with the edges of all candidates.

    `ahead` and `after` int32[N] are as `path_losses` leaves them. `worth` WORTH[T] of the candidates is added
    to (`unit` and `count` -1, the rest 0 at the beginning); candidates that are tokens save nothing. `prefer`
    is int64[T], or empty: each candidate is alone. Otherwise, among overlapping occurrences that save
    something, the largest `prefer` counts, among equals the first, and none of 0 or less. From the left, each
    is compared with the last occurrence that counts, and is skipped or replaces it. O(edges).

    The example above: abab saves 1, `count` 4. With abab and bab, 1-4, only bab saves 1 if its `prefer` is
    larger.
    """
    for u in range(nodes.size - 1):
        w = weights[u]
        if w == 0:
            continue
        a, z = nodes[u], nodes[u + 1] - 1
        end = a
        last = np.int64(-1)
        largest = saved = np.int64(0)
        for v in range(a, z + 1):
            if v >= end and last >= 0:
                _add(worth, last, u, saved, w, most[u])
                last = np.int64(-1)
                largest = np.int64(0)
            room = np.int64(after[a] - ahead[v] - 1)
            if room <= 0:
                continue
            for e in range(starts[v], starts[v + 1]):
                x = v + np.int64(lengths[e])
                if after[x] < room:
                    t = np.int64(tokens[e])
                    if prefer.size:
                        if prefer[t] > largest:
                            last = t
                            largest = prefer[t]
                            saved = np.int64(room - after[x])
                            end = x
                    elif worth[t].count <= v:
                        _add(worth, t, u, np.int64(room - after[x]), w, most[u])
                        worth[t].count = x
