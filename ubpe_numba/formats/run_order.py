"""Runs of one symbol that grow symbol by symbol, as pairs in order of creation.

In some tables (that of Gemma 3) the pair (XX, X) has a lower rank than (X, X), (XXX, X) too, and so on up to K times X: as soon
as two are merged, the third is, then the fourth; a run of n becomes tokens of K symbols, from the left, and one for the rest. No
table in order of creation does that (creation_order.py). But if text is cut within runs, behind every K symbols, each run of n
symbols is one token, and so it is by doubling: XX, X4, X8, ... of all, then (X4, XX), (X4, X), (XX, X) for the rest, those of the
greatest powers first::

    XXXXXXX   ->   XX XX XX X   ->   X4 XX X   ->   X6 X   ->   X7

Every token of a run is made of the token without its lowest power of two, and that; these pairs take the place of (X, X).

This is the same, if

- all late pairs of the root (X, X) are those of the run: no other is merged as soon as XX is there;
- no pair of a lower rank than (X, X) has X on its right: a run begins where the text has it. At its end it may lose one X, but
  not more: such a pair with X on its left has none at the beginning of its right part;
- no token holds more than K times X in a row, so that none crosses a cut.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ubpe_numba.formats.creation_order import roots_of


class RunOrder(NamedTuple):
    """Pairs of the same tokens, in another order: `pairs` int64[m, 2], pair i makes the token that pair `order[i]` made before.

    `longest`: how many times each symbol is in the longest token of its runs.
    """

    pairs: np.ndarray
    order: np.ndarray
    longest: dict[int, int]


def run_order(pairs: np.ndarray, n_symbols: int) -> RunOrder | None:
    """The pairs with runs by doubling; None if there are none that can be. The third condition is left to the caller.

    `pairs` int64[m, 2] as for `creation_order`. O(m).

    >>> found = run_order(np.array([[2, 0], [0, 0]]), 1)  # XXX, XX
    >>> found.pairs.tolist(), found.order.tolist(), found.longest
    ([[0, 0], [1, 0]], [1, 0], {0: 3})
    """
    m = len(pairs)
    roots = roots_of(pairs, n_symbols)
    if roots is None:
        return None
    made = roots[n_symbols:]
    late = np.flatnonzero(made != np.arange(m))
    groups: dict[int, list[int]] = {}
    for i in late.tolist():
        groups.setdefault(int(made[i]), []).append(i)
    new, place, longest = pairs.copy(), np.arange(m, dtype=np.float64), {}
    for root, members in groups.items():
        symbol = int(pairs[root, 0])
        if symbol >= n_symbols or symbol != pairs[root, 1]:
            continue
        tokens = _tokens_of_run(pairs, n_symbols, root, members)
        if tokens is None or _disturbed(pairs, n_symbols, root, symbol, members):
            continue
        longest[symbol] = len(tokens) - 1
        names = sorted(range(2, len(tokens)), key=_turn)
        for turn, n in enumerate(names):
            low = n & -n
            parts = (n // 2, n // 2) if low == n else (n - low, low)
            new[tokens[n] - n_symbols] = [tokens[part] for part in parts]
            place[tokens[n] - n_symbols] = root + turn / len(tokens)
    if not longest:
        return None
    order = np.argsort(place, kind="stable")
    number = np.arange(n_symbols + m)
    number[n_symbols + order] = n_symbols + np.arange(m)
    return RunOrder(number[new[order]], order, longest)


def _turn(n: int) -> tuple[bool, int, int]:
    """When the token of n symbols is made: powers of two ascending, then those of the greatest power first."""
    return (False, n, 0) if n & -n == n else (True, -n.bit_length(), n.bit_count())


def _tokens_of_run(pairs: np.ndarray, n_symbols: int, root: int, members: list[int]) -> list[int] | None:
    """The tokens of 0, 1, 2, ... symbols (that of 0 is -1), if all late pairs of a root add one symbol to a run."""
    symbol = int(pairs[root, 0])
    following = {int(pairs[i, 0]): n_symbols + i for i in members if pairs[i, 1] == symbol}
    tokens = [-1, symbol, n_symbols + root]
    while tokens[-1] in following:
        tokens.append(following[tokens[-1]])
    return tokens if len(tokens) == 3 + len(members) else None


def _disturbed(pairs: np.ndarray, n_symbols: int, root: int, symbol: int, members: list[int]) -> bool:
    """Whether a pair of a lower rank than the root takes a symbol of a run, but for the last."""
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
