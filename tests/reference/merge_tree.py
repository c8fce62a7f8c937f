"""The parts of a token, their parts, and so on, as nested tuples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def merge_tree(merges: Sequence[Sequence[int]], n_alphabet: int, token: int) -> tuple[Any, ...]:
    """``(token, left, right)`` with trees of the two parts, ``(token,)`` for a symbol.

    >>> merge_tree([[0, 1], [2, 0]], 2, 3)
    (3, (2, (0,), (1,)), (0,))
    """
    if token < n_alphabet:
        return (token,)
    left, right = merges[token - n_alphabet]
    return (token, merge_tree(merges, n_alphabet, left), merge_tree(merges, n_alphabet, right))
