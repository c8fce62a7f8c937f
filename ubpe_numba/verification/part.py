"""What is compared: a part of the library, the inputs of its cases, what the fast code and the plain reference make of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, NamedTuple

Inputs = dict[str, Any]  # by name; "documents" among them
Pairs = Iterator[tuple[str, object, object]]  # what is compared, what the library gives, what the reference gives


class Part(NamedTuple):
    """One row of a verification."""

    name: str
    cases: int  # how many there are for a seed
    draw: Callable[[Random], Inputs]  # the same inputs for the same state of the generator, on every machine
    compare: Callable[[Inputs], Pairs]

    def inputs(self, seed: int, case: int) -> Inputs:
        """The inputs of a case: they depend on nothing but the name of the part, the seed and the number of the case."""
        return self.draw(Random(f"{self.name} {seed} {case}"))


def n_symbols(inputs: Inputs) -> int:
    """How many symbols the documents of a case have, copies included.

    >>> n_symbols({"documents": [[1, 2], b"abc"], "copies": 10})
    50
    """
    return sum(map(len, inputs["documents"])) * int(inputs.get("copies", 1))


def near(found: Sequence[float], wanted: Sequence[float], tolerance: float) -> list[float]:
    """The numbers that were found, those within a tolerance as they were wanted.

    >>> near([1.0, 2.5], [1.0 + 1e-12, 2.0], 1e-9) == [1.0 + 1e-12, 2.5]
    True
    """
    return [
        wanted[i] if i < len(wanted) and abs(x - wanted[i]) <= tolerance * max(1.0, abs(wanted[i])) else x
        for i, x in enumerate(found)
    ]


def place_of_difference(found: object, wanted: object) -> str:
    """Where two lists of lists differ first, in words.

    >>> place_of_difference([[1, 2], [3, 4]], [[1, 2], [3, 5]])
    'at [1][1]: 4, expected 5'
    >>> place_of_difference([[1]], [[1], [2]])
    '1 items, expected 2'
    """
    at = ""
    while isinstance(found, (list, tuple)) and isinstance(wanted, (list, tuple)):
        k = next((i for i in range(min(len(found), len(wanted))) if found[i] != wanted[i]), None)
        if k is None:
            return f"{f'at {at}: ' if at else ''}{len(found)} items, expected {len(wanted)}"
        at, found, wanted = f"{at}[{k}]", found[k], wanted[k]
    return f"{f'at {at}: ' if at else ''}{found!r}, expected {wanted!r}"
