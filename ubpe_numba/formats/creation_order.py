"""Tables of pairs in which a token stands before its own parts: the same ids from a table in order of creation.

Text is encoded one merge at a time, the pair of the lowest rank first, of several the leftmost. If the pair (P, Q) has a lower
rank than the one that makes P, it is merged at once wherever a P is made beside a Q: it is *late*, and belongs behind the pair
that makes P, its *root*. With the pairs 0 = (ab, c) and 1 = (a, b), the root of (ab, c) is 1:

    one merge at a time     a b c a b  ->  ab c a b  ->  abc a b  ->  abc ab        1, 0, 1
    in order of creation    a b c a b  ->  ab c ab   ->  abc ab                     (a, b) wherever it is, then (ab, c)

The two differ only in that all occurrences of a root are merged before the first late pair. Let A = (X, Y) be a root, and L the
tokens that are A or late behind it. The order makes no difference if, for every late pair of the root,

- not both of its parts are in L: otherwise a token of L waits for one to its right that does not exist yet;
- its part outside of L is not X if it is the right one: an X to the right may be about to become part of another A; and
- no token is such a right part in one pair and such a left part in another: two tokens of L would compete for it.

For then whatever stands between two tokens of L belongs to one of them alone: what is right of a new A is taken by it or by
nobody, what is left of it has had its turn, since roots are merged from the left, and each token of L grows by itself, lowest
rank first, whether the others are there yet or not. (No token of L is part of its root, since parts are shorter.)
"""

from __future__ import annotations

import numpy as np

_DEPTH = 64  # of late pairs behind one another; real tables have up to 31


def roots_of(pairs: np.ndarray, n_symbols: int) -> np.ndarray | None:
    """The highest rank that is merged before each token exists, int64[n_symbols + m], -1 for symbols; None if too deep."""
    own = np.arange(len(pairs))
    roots = np.concatenate([np.full(n_symbols, -1), own])
    lefts, rights = pairs[:, 0].copy(), pairs[:, 1].copy()
    for _ in range(_DEPTH):
        found = np.maximum(own, np.maximum(roots[lefts], roots[rights]))
        if np.array_equal(found, roots[n_symbols:]):
            return roots
        roots[n_symbols:] = found
    return None


def creation_order(pairs: np.ndarray, n_symbols: int) -> np.ndarray | None:
    """The pairs in an order of creation that encodes alike: int64[m], which of them comes when; None if there is none.

    `pairs` int64[m, 2]: pair i makes the token n_symbols + i of two tokens that are shorter than it. O(m * depth of late pairs).

    >>> creation_order(np.array([[5, 2], [1, 2], [0, 1]]), 3).tolist()
    [1, 2, 0]
    >>> creation_order(np.array([[2, 0], [0, 0]]), 1) is None  # aa, then a third a: three of a run, or two and two
    True
    """
    own = np.arange(len(pairs))
    roots = roots_of(pairs, n_symbols)
    if roots is None:
        return None
    late = np.flatnonzero(roots[n_symbols:] != own)
    is_late_side = roots[pairs[late]] == roots[n_symbols + late][:, None]
    if is_late_side.all(axis=1).any():
        return None
    taken: tuple[dict[int, set[int]], dict[int, set[int]]] = {}, {}
    for (left, right), left_is_late, root in zip(
        pairs[late].tolist(), is_late_side[:, 0].tolist(), roots[n_symbols + late].tolist(), strict=True
    ):
        side = right if left_is_late else left
        taken[not left_is_late].setdefault(root, set()).add(side)
    for root, others in taken[0].items():
        if int(pairs[root, 0]) in others or others & taken[1].get(root, set()):
            return None

    def place(rank: int) -> list[int]:
        """The root, and the late pairs behind it up to this one."""
        chain, root = [rank], int(roots[n_symbols + rank])
        while chain[-1] != root:
            parts = pairs[chain[-1]]
            chain.append(int(parts[roots[parts] == root][0]) - n_symbols)
        return chain[::-1]

    behind = sorted(late.tolist(), key=place)
    stay = np.delete(own, late)
    return np.insert(stay, np.searchsorted(stay, roots[n_symbols + np.array(behind, np.int64)], side="right"), behind)
