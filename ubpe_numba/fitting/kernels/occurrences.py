"""Where every candidate for a token begins: the edges of a lattice, sorted by candidate.

The document ababc with the candidates 0 = ab and 1 = ba has the edges (node 0, candidate 0), (1, 1), (2, 0):

    ends    2  3        the occurrences of candidate t are ends[t - 1] : ends[t], of candidate 0 those from 0 on
    at      0  2  1     the nodes where they begin, ascending for each candidate
"""

from __future__ import annotations

from ubpe_numba.runtime.compiler import kernel


@kernel
def sort_by_candidate(starts, tokens, cursors, at):
    """Sort the edges of nodes by candidate.

    starts int64[N + 1], tokens int32[E] (fitting/substrings.py); cursors int64[T]: where the occurrences of each candidate begin,
    and on return where they end; at int32[E] gets the nodes. The caller allocates all. O(N + E).

    starts [0, 1, 2, 3, 3, 3, 3], tokens [0, 1, 0], cursors [0, 2]: at [0, 2, 1], cursors [2, 3].
    """
    for v in range(starts.size - 1):
        for e in range(starts[v], starts[v + 1]):
            t = tokens[e]
            at[cursors[t]] = v
            cursors[t] += 1
