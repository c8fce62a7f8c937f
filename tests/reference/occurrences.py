"""Where a token occurs in encoded documents."""

from __future__ import annotations

from collections.abc import Sequence


def occurrences(documents: Sequence[Sequence[int]], token: int, sizes: Sequence[int]) -> list[tuple[int, int, int]]:
    """Document, index among its ids, and position of its first symbol, of every occurrence; `sizes` are symbols of each token.

    >>> occurrences([[0, 1, 1], [], [1]], 1, [1, 2])
    [(0, 1, 1), (0, 2, 3), (2, 0, 0)]
    """
    return [
        (d, i, sum(sizes[other] for other in ids[:i])) for d, ids in enumerate(documents) for i, t in enumerate(ids) if t == token
    ]
