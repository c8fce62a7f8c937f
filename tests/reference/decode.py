"""Flat sequences of a pair table, and decoding with them."""

from __future__ import annotations

from .fit import Pair


def expand(pairs: list[Pair], alphabet_size: int) -> list[tuple[int, ...]]:
    """The symbols of every id, symbols themselves included; the pair at index i is `alphabet_size + i`.

    A pair may hold ids above its own, as happens after reordering by weight:

    >>> expand([(3, 0), (0, 1)], alphabet_size=2)
    [(0,), (1,), (0, 1, 0), (0, 1)]
    >>> expand([(0, 9)], alphabet_size=2)
    Traceback (most recent call last):
    ValueError: id 2 = (0, 9): there is no id 9
    >>> expand([(3, 0), (2, 1)], alphabet_size=2)
    Traceback (most recent call last):
    ValueError: ids [2, 3] are built on themselves
    """
    size = alphabet_size + len(pairs)
    for token, pair in enumerate(pairs, start=alphabet_size):
        for part in pair:
            if not 0 <= part < size:
                raise ValueError(f"id {token} = {pair}: there is no id {part}")

    flat: dict[int, tuple[int, ...]] = {symbol: (symbol,) for symbol in range(alphabet_size)}
    waiting = list(range(alphabet_size, size))
    while waiting:
        still_waiting = []
        for token in waiting:
            left, right = pairs[token - alphabet_size]
            if left in flat and right in flat:
                flat[token] = flat[left] + flat[right]
            else:
                still_waiting.append(token)
        if still_waiting == waiting:
            raise ValueError(f"ids {waiting} are built on themselves")
        waiting = still_waiting
    return [flat[token] for token in range(size)]


def decode(ids: list[int], table: list[tuple[int, ...]]) -> list[int]:
    """The symbols of `ids`, where `table[i]` holds the symbols of the id i (as `expand` returns it).

    >>> decode([2, 1, 2], [(0,), (1,), (0, 1)])
    [0, 1, 1, 0, 1]
    >>> decode([3], [(0,), (1,), (0, 1)])
    Traceback (most recent call last):
    ValueError: there is no id 3
    """
    symbols: list[int] = []
    for token in ids:
        if not 0 <= token < len(table):
            raise ValueError(f"there is no id {token}")
        symbols.extend(table[token])
    return symbols
