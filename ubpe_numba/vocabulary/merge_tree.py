"""How a token was built: its parts, their parts, and so on down to the symbols."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["MergeTree"]


class MergeTree(NamedTuple):
    """The k nodes of the merges of a token, each before its parts, the left part with all that is below it before the right.

    Attributes
    ----------
    tokens : int32[k]
        The token of each node; the first is the token itself.
    above : int64[k]
        The index of the node that it is a part of, -1 for the first.
    depths : int64[k]
        How many merges are above it, 0 for the first.
    starts : int64[k]
        The position of its first symbol in the token.

    Examples
    --------
    >>> from ubpe_numba import Vocabulary
    >>> tree = Vocabulary.from_merges(2, [[0, 1], [2, 0]]).tree(3)  # 3 is 2 0, and 2 is 0 1
    >>> tree.tokens.tolist(), tree.above.tolist(), tree.depths.tolist(), tree.starts.tolist()
    ([3, 2, 0, 1, 0], [-1, 0, 1, 1, 0], [0, 1, 2, 2, 1], [0, 0, 0, 1, 2])
    """

    tokens: NDArray[np.int32]
    above: NDArray[np.int64]
    depths: NDArray[np.int64]
    starts: NDArray[np.int64]


def merge_tree(
    merges: NDArray[np.int32], n_alphabet: int, offsets: NDArray[np.int64], token: int, depth: int | None
) -> MergeTree:
    """The tree of a token of pairs, int32[m, 2], down to `depth` merges below it, None for all; O(nodes).

    >>> merge_tree(np.array([[0, 0], [1, 1]], np.int32), 1, np.array([0, 1, 3, 7]), 2, 1).tokens.tolist()
    [2, 1, 1]
    """
    rows: list[tuple[int, int, int, int]] = []
    waiting = [(token, -1, 0, 0)]
    while waiting:
        node = waiting.pop()
        t, _, level, start = node
        here = len(rows)
        rows.append(node)
        if t >= n_alphabet and (depth is None or level < depth):
            left, right = merges[t - n_alphabet].tolist()
            middle = start + int(offsets[left + 1] - offsets[left])
            waiting += [(right, here, level + 1, middle), (left, here, level + 1, start)]
    tokens, above, depths, starts = np.array(rows, np.int64).T.copy()
    return MergeTree(tokens.astype(np.int32), above, depths, starts)
