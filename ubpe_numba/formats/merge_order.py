"""Orders of creation for tables of pairs in which a token comes before its own parts, with the same ids.

**Late pairs.** Text is encoded one merge at a time, the pair of the lowest rank first, the leftmost of
several. If (P, Q) has a lower rank than the pair that makes P, it is merged at once whenever a P is made next
to a Q. Then it is *late*, and belongs after the pair that makes P, its *root*. With the pairs 0 = (ab, c) and
1 = (a, b), the root of (ab, c) is 1:

    one merge at a time     a b c a b  ->  ab c a b  ->  abc a b  ->  abc ab        1, 0, 1
    in order of creation    a b c a b  ->  ab c ab   ->  abc ab                     all (a, b), then (ab, c)

The two differ only in that all occurrences of a root are merged before the first late pair. Let A = (X, Y) be
a root, and L the tokens that are A or late after it. The order makes no difference if, for every late pair of
the root,

- not both of its parts are in L: otherwise a token of L waits for one to its right that does not exist yet;
- its part outside of L is not X if it is the right one: an X to the right may be about to become part of
  another A; and
- no token is a right part of the first kind and also a left part of the second kind: two tokens of L would
  compete for it.

Then everything between two tokens of L belongs to one of them alone. A token to the right of a new A belongs
to A or stays. Tokens to the left of it have had their turn, since roots are merged from the left. Each token
of L grows by itself, lowest rank first, whether the others exist yet or not. (No token of L is part of its
root, since parts are shorter.)

**Runs.** In some tables (of Gemma 3) the pair (XX, X) has a lower rank than (X, X), (XXX, X) too, and so on
up to K times X. As soon as two are merged, the third is, then the fourth; a run of n becomes tokens of K
symbols, from the left, and one for the rest. No table in order of creation does that. But if text is split
within runs, after every K symbols, each run of n symbols is one token. Doubling gives the same: XX, X4, X8,
... of all, then (X4, XX), (X4, X), (XX, X) for the rest, those of the greatest powers first::

    XXXXXXX   ->   XX XX XX X   ->   X4 XX X   ->   X6 X   ->   X7

Every token of a run is made of the token without its lowest power of two, and that; these pairs replace (X,
X). The ids are equal if

- all late pairs of the root (X, X) are those of the run: no other is merged as soon as XX exists;
- no pair of a lower rank than (X, X) has X on its right: a run begins at the same place as in the text. At
  its end it may lose one X, but not more: a pair of this kind with X on its left has none at the beginning of
  its right part;
- no token holds more than K times X in a row, so that none crosses a split.
"""

from __future__ import annotations

import numpy as np

_DEPTH = 64  # of late pairs after one another; real tables have up to 31


def roots_of(pairs: np.ndarray, n_symbols: int) -> np.ndarray | None:
    """Highest rank that is merged before each token exists, int64[n_symbols + m], -1 for symbols.

    None if the table is too deep.
    """
    own = np.arange(len(pairs))
    roots = np.concatenate([np.full(n_symbols, -1), own])
    lefts, rights = pairs[:, 0].copy(), pairs[:, 1].copy()
    for _ in range(_DEPTH):
        ranks = np.maximum(own, np.maximum(roots[lefts], roots[rights]))
        if np.array_equal(ranks, roots[n_symbols:]):
            return roots
        roots[n_symbols:] = ranks
    return None


def creation_order(pairs: np.ndarray, n_symbols: int) -> np.ndarray | None:
    """Order of creation that encodes alike: int64[m], the pairs in their new order; None if there is none.

    `pairs` int64[m, 2]: pair i makes the token n_symbols + i of two tokens that are shorter than it. O(m *
    depth of late pairs).

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
        """The root, and the late pairs after it up to `rank`."""
        chain, root = [rank], int(roots[n_symbols + rank])
        while chain[-1] != root:
            parts = pairs[chain[-1]]
            chain.append(int(parts[roots[parts] == root][0]) - n_symbols)
        return chain[::-1]

    after = sorted(late.tolist(), key=place)
    stay = np.delete(own, late)
    return np.insert(
        stay, np.searchsorted(stay, roots[n_symbols + np.array(after, np.int64)], side="right"), after
    )


def run_order(pairs: np.ndarray, n_symbols: int) -> tuple[np.ndarray, np.ndarray, dict[int, int]] | None:
    """The pairs with runs by doubling; None if there are none that can be.

    The third condition is left to the caller.

    `pairs` int64[m, 2] as for `creation_order`. The result has three parts: int64[m, 2], the pairs of the
    same tokens in another order; int64[m], the pair that made each of the tokens before. The last is the
    number of symbols in the longest token of the runs of each symbol. O(m).

    >>> new, order, longest = run_order(np.array([[2, 0], [0, 0]]), 1)  # XXX, XX
    >>> new.tolist(), order.tolist(), longest
    ([[0, 0], [1, 0]], [1, 0], {0: 3})
    """
    m = len(pairs)
    roots = roots_of(pairs, n_symbols)
    if roots is None:
        return None
    made_before = roots[n_symbols:]
    groups: dict[int, list[int]] = {}
    for i in np.flatnonzero(made_before != np.arange(m)).tolist():
        groups.setdefault(int(made_before[i]), []).append(i)
    new, place, longest = pairs.copy(), np.arange(m, dtype=np.float64), {}
    for root, members in groups.items():
        symbol = int(pairs[root, 0])
        if (
            symbol >= n_symbols
            or symbol != pairs[root, 1]
            or _is_disturbed(pairs, n_symbols, root, symbol, members)
        ):
            continue
        # the tokens of 0, 1, 2, ... symbols (-1 for none), if all late pairs of the root add one symbol to a
        # run
        following = {int(pairs[i, 0]): n_symbols + i for i in members if pairs[i, 1] == symbol}
        tokens = [-1, symbol, n_symbols + root]
        while tokens[-1] in following:
            tokens.append(following[tokens[-1]])
        if len(tokens) < 3 + len(members):
            continue
        longest[symbol] = len(tokens) - 1
        # powers of two ascending, then lengths by their greatest power
        sizes = sorted(
            range(2, len(tokens)),
            key=lambda n: (n & -n != n, n if n & -n == n else -n.bit_length(), n.bit_count()),
        )
        for turn, n in enumerate(sizes):
            low = n & -n
            parts = (n // 2, n // 2) if low == n else (n - low, low)
            new[tokens[n] - n_symbols] = [tokens[part] for part in parts]
            place[tokens[n] - n_symbols] = root + turn / len(tokens)
    if not longest:
        return None
    order = np.argsort(place, kind="stable")
    number = np.arange(n_symbols + m)
    number[n_symbols + order] = n_symbols + np.arange(m)
    return number[new[order]], order, longest


def _is_disturbed(pairs: np.ndarray, n_symbols: int, root: int, symbol: int, members: list[int]) -> bool:
    """Whether a pair of a lower rank than the root takes a symbol of a run, other than the last."""
    before = pairs[:root]
    takes_left = np.flatnonzero(before[:, 1] == symbol)
    if not set(takes_left.tolist()) <= set(members):
        return True
    for token in before[before[:, 0] == symbol, 1].tolist():
        first = token
        while first >= n_symbols:
            first = int(pairs[first - n_symbols, 0])
        if first == symbol:
            return True
    return False
