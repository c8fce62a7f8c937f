"""How often each token occurs in encoded documents, and in how many of them."""

from __future__ import annotations

from collections.abc import Sequence


def count_tokens(documents: Sequence[Sequence[int]], copies: Sequence[int], size: int) -> tuple[list[int], list[int]]:
    """Occurrences, and documents, of the ids 0..size-1, where document i counts as `copies[i]`.

    >>> count_tokens([[1, 1], [1, 0]], [1, 3], 3)
    ([3, 5, 0], [3, 4, 0])
    """
    numbers = range(len(documents))
    counts = [sum(copies[i] * list(documents[i]).count(token) for i in numbers) for token in range(size)]
    return counts, [sum(copies[i] for i in numbers if token in documents[i]) for token in range(size)]
