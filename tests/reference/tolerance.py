"""Tokens that match within a tolerance, by trying all: samples and symbols are integers, 64 to a level.

A token is (kind, symbols): of kind 0 levels, of kind 1 differences to the sample that was decoded before it.
"""

import functools

Token = tuple[int, list[int]]


def fits(x: int, y: int, tolerance: int) -> bool:
    """Whether a sample may be decoded as y: at most the tolerance and half a level away.

    >>> [fits(x, 0, 1) for x in (-97, -96, 95, 96)]
    [False, True, True, False]
    """
    half = 64 * tolerance + 32
    return -half <= x - y < half


def least(
    x: list[int], tokens: list[Token], cost: list[int], tolerance: int, price: int, before: int | None = None
) -> int:
    """The cost of the cheapest way to write a document: of tokens, and of the squares of errors.

    Every token is tried at every place; what a place and the sample decoded before it cost is remembered.

    >>> least([70, 60], [(0, [64]), (1, [0])], [5, 7], 0, price=2)
    114
    """

    @functools.cache
    def best(i: int, y: int | None) -> int:
        found = [0 if i == len(x) else 1 << 62]
        for (kind, symbols), price_of_token in zip(tokens, cost, strict=True):
            z = [symbol + (y or 0 if kind else 0) for symbol in symbols]
            here = x[i : i + len(z)]
            fit = all(fits(a, b, tolerance) for a, b in zip(here, z, strict=False))
            if fit and len(here) == len(z) and not (kind and y is None):
                error = sum((a - b) ** 2 for a, b in zip(here, z, strict=True))
                found.append(price_of_token + price * error + best(i + len(z), z[-1]))
        return min(found)

    return best(0, before)
