"""Tokens that match within a tolerance, by enumeration: samples and symbols are integers, 64 to a level.

A token is (kind, symbols): of kind 0 levels, of kind 1 differences to the sample that was decoded before it.
"""

from collections.abc import Iterator

Token = tuple[int, list[int]]


def fits(x: int, y: int, tolerance: int) -> bool:
    """Whether a sample may be decoded as y: at most the tolerance and half a level away.

    >>> [fits(x, 0, 1) for x in (-97, -96, 95, 96)]
    [False, True, True, False]
    """
    half = 64 * tolerance + 32
    return -half <= x - y < half


def segmentations(
    x: list[int], tokens: list[Token], tolerance: int, before: int | None = None
) -> Iterator[list[tuple[int, list[int]]]]:
    """All ways to write a document: lists of token numbers with what each decodes to.

    >>> list(segmentations([70, 60], [(0, [64]), (1, [0])], 0))
    [[(0, [64]), (0, [64])], [(0, [64]), (1, [64])]]
    """
    if not x:
        yield []
    for t, (kind, symbols) in enumerate(tokens):
        if x and len(symbols) <= len(x) and not (kind and before is None):
            y = [symbol + (before or 0 if kind else 0) for symbol in symbols]
            if all(fits(a, b, tolerance) for a, b in zip(x, y, strict=False)):
                for rest in segmentations(x[len(y) :], tokens, tolerance, y[-1]):
                    yield [(t, y), *rest]


def cost_of(path: list[tuple[int, list[int]]], x: list[int], cost: list[int], price: int) -> int:
    """The costs of the tokens of a path, and of the squares of its errors.

    >>> cost_of([(0, [64]), (1, [64])], [70, 60], [5, 7], 2)
    116
    """
    y = [value for _, values in path for value in values]
    return sum(cost[t] for t, _ in path) + price * sum((a - b) ** 2 for a, b in zip(x, y, strict=True))


def least(x: list[int], tokens: list[Token], cost: list[int], tolerance: int, price: int, before: int | None = None) -> int:
    """The cost of the cheapest path."""
    return min(cost_of(path, x, cost, price) for path in segmentations(x, tokens, tolerance, before))
