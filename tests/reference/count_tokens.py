"""How often each token occurs in encoded documents, and in how many of them."""

from __future__ import annotations

from collections.abc import Sequence


def count_tokens(documents: Sequence[Sequence[int]], copies: Sequence[int], size: int) -> tuple[list[int], list[int]]:
    """Occurrences, and documents, of the ids 0..size-1, where document i counts as `copies[i]`.

    >>> count_tokens([[1, 1], [1, 0]], [1, 3], 3)
    ([3, 5, 0], [3, 4, 0])
    """
    pairs = list(zip(documents, copies, strict=True))
    counts = [sum(n * list(ids).count(token) for ids, n in pairs) for token in range(size)]
    return counts, [sum(n for ids, n in pairs if token in ids) for token in range(size)]
