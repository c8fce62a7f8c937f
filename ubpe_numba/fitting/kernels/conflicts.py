"""Which candidates of a round the kept pairs rule out, without a look at every kept pair for every candidate.

A candidate (l2, r2) is ruled out by a kept pair (l1, r1) if one of the border pairs (r2, l1) and (r1, l2) is as frequent. So of
each token it is enough to know the count of the most frequent border pair that it would make on either side, which a kept pair
tells the neighbours of its own tokens once, when it is kept. Pairs in the table are listed by their parts for that:

    table      (5, 1) 8   (1, 2) 9   (2, 4) 6   (5, 3) 4     of which those that occur 5 times are listed
    listed     of left token 2: (2, 4)      of right token 1: (5, 1)     and so on
    keep       (1, 2)     5 behind a candidate makes (5, 1): right[5] = 8     4 before one makes (2, 4): left[4] = 6
    (3, 5) 7   is ruled out, as right[5] is not less than 7
    (4, 6) 7   is not, as left[4] is less

A kept pair shares no token with another one, so that each listed pair is looked at twice at most.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import helper, section
from ubpe_numba.runtime.tables.pairs import EMPTY

#: Most candidates of which each is compared with all that are kept: two thousand looks, as the smallest table has entries.
FEW = 64

_I64 = np.int64
#: Of a token: the count of its most frequent border pair with kept pairs, and the first listed pair, -1 without one.
CONFLICT = np.dtype(
    [
        ("left", _I64),  # (r1, token), which a candidate that begins with it would make
        ("right", _I64),  # (token, l1), which one that ends with it would make
        ("first_left", _I64),  # of those with the token as left part
        ("first_right", _I64),  # as right part
    ]
)
#: Of pair p * capacity + i, at index i of table p: the next listed one with the same left part, and with the same right part.
LISTED = np.dtype([("left", _I64), ("right", _I64)])


@section
def list_pairs(entries, conflicts, listed, n_tokens, least):
    """List the pairs that occur at least so often by their parts; no token is in conflict yet. O(capacity of tables + V).

    entries int64[P, 2 * capacity]: tables of pairs; conflicts CONFLICT[V], of which `n_tokens` are used; listed LISTED[P *
    capacity]. The caller allocates all. Above, with least 5: (5, 1), (1, 2) and (2, 4) are listed.
    """
    for t in range(n_tokens):
        conflicts[t].left, conflicts[t].right = 0, 0
        conflicts[t].first_left, conflicts[t].first_right = -1, -1
    capacity = entries.shape[1] >> 1
    for p in range(entries.shape[0]):
        for i in range(capacity):
            pair = entries[p, 2 * i]
            if pair != EMPTY and entries[p, 2 * i + 1] >= least:
                at = p * capacity + i
                left, right = conflicts[pair >> 32], conflicts[pair & 0xFFFFFFFF]
                listed[at].left, listed[at].right = left.first_left, right.first_right
                left.first_left = right.first_right = at


@section
def keep(entries, conflicts, listed, left, right):
    """Tell the neighbours of a kept pair which border pairs they would make. O(listed pairs); how many it looked at.

    Arrays as in `list_pairs`. Above, keep (1, 2) sets `right` of 5 to 8 and `left` of 4 to 6, and returns 2.
    """
    capacity = entries.shape[1] >> 1
    looks = np.int64(0)
    at = conflicts[left].first_right
    while at >= 0:
        p, i = at // capacity, at % capacity
        other = conflicts[entries[p, 2 * i] >> 32]
        other.right = max(other.right, entries[p, 2 * i + 1])
        at = listed[at].right
        looks += 1
    at = conflicts[right].first_left
    while at >= 0:
        p, i = at // capacity, at % capacity
        other = conflicts[entries[p, 2 * i] & 0xFFFFFFFF]
        other.left = max(other.left, entries[p, 2 * i + 1])
        at = listed[at].left
        looks += 1
    return looks


@helper
def rules_out(conflicts, left, right, count):
    """Whether a pair that is kept rules out the candidate (left, right) of this count. O(1)."""
    return conflicts[left].left >= count or conflicts[right].right >= count
