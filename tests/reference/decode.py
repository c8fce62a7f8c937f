"""Flat sequences of a pair table, decoding with them; what encoded documents hold."""

from collections.abc import Sequence
from typing import Any

from .fit import Pair


def expand(pairs: list[Pair], alphabet_size: int) -> list[tuple[int, ...]]:
    """The symbols of every id, symbols themselves included; the pair at index i is `alphabet_size + i`.

    A pair may hold ids above its own, as happens after reordering by weight:

    >>> expand([(3, 0), (0, 1)], alphabet_size=2)
    [(0,), (1,), (0, 1, 0), (0, 1)]
    """
    flat: dict[int, tuple[int, ...]] = {symbol: (symbol,) for symbol in range(alphabet_size)}

    def symbols(token: int) -> tuple[int, ...]:
        if token not in flat:
            left, right = pairs[token - alphabet_size]
            flat[token] = symbols(left) + symbols(right)
        return flat[token]

    return [symbols(token) for token in range(alphabet_size + len(pairs))]


def decode(ids: list[int], table: list[tuple[int, ...]]) -> list[int]:
    """The symbols of `ids`, where `table[i]` holds the symbols of the id i (as `expand` returns it).

    >>> decode([2, 1, 2], [(0,), (1,), (0, 1)])
    [0, 1, 1, 0, 1]
    """
    return [symbol for token in ids for symbol in table[token]]


def merge_tree(merges: Sequence[Sequence[int]], n_alphabet: int, token: int) -> tuple[Any, ...]:
    """``(token, left, right)`` with trees of the two parts, ``(token,)`` for a symbol.

    >>> merge_tree([[0, 1], [2, 0]], 2, 3)
    (3, (2, (0,), (1,)), (0,))
    """
    if token < n_alphabet:
        return (token,)
    left, right = merges[token - n_alphabet]
    return (token, merge_tree(merges, n_alphabet, left), merge_tree(merges, n_alphabet, right))


def count_tokens(
    documents: Sequence[Sequence[int]], copies: Sequence[int], size: int
) -> tuple[list[int], list[int]]:
    """Occurrences, and documents, of the ids 0..size-1, where document i counts as `copies[i]`.

    >>> count_tokens([[1, 1], [1, 0]], [1, 3], 3)
    ([3, 5, 0], [3, 4, 0])
    """
    numbers = range(len(documents))
    counts = [sum(copies[i] * list(documents[i]).count(token) for i in numbers) for token in range(size)]
    return counts, [sum(copies[i] for i in numbers if token in documents[i]) for token in range(size)]


def occurrences(
    documents: Sequence[Sequence[int]], token: int, sizes: Sequence[int]
) -> list[tuple[int, int, int]]:
    """Document, index among its ids, and position of its first symbol, of every occurrence; `sizes` are symbols of each token.

    >>> occurrences([[0, 1, 1], [], [1]], 1, [1, 2])
    [(0, 1, 1), (0, 2, 3), (2, 0, 0)]
    """
    return [
        (d, i, sum(sizes[other] for other in ids[:i]))
        for d, ids in enumerate(documents)
        for i, t in enumerate(ids)
        if t == token
    ]
