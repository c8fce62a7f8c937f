"""Where the corpus of a fit is cut into shards, one for each thread or more.

Shards hold consecutive documents and as many symbols each. A document that is too long for that, one giant document above all, is
cut in its middle; what happens to the pair of tokens at such a cut is worked out in `kernels/borders.py`.

    documents   |-- 5 --|- 2 -|------------ 13 ------------|      20 symbols for two threads
    shards      |-- 5 --|- 2 -|-- 3 --|--------- 10 -------|      the second begins inside the third document
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_NEAR = 16  # a cut goes to the end of a document that is nearer than this part of a shard


class Cut(NamedTuple):
    """Where shards begin: `at` int64[K + 1] in symbols, `segment` int64[K + 1], `inside` bool[K + 1]: in its middle."""

    at: np.ndarray
    segment: np.ndarray
    inside: np.ndarray

    @property
    def segments(self) -> list[tuple[int, int]]:
        """The range of segments of each shard; one that is cut belongs to both shards."""
        ends = self.segment[1:] + self.inside[1:]
        return list(zip(self.segment.tolist(), ends.tolist(), strict=False))


def cut(offsets: np.ndarray, n_shards: int, near: int | None = None) -> Cut:
    """Cut segments into at most `n_shards` shards of consecutive symbols.

    >>> cut(np.array([0, 2, 5, 9]), 2, near=2)
    Cut(at=array([0, 5, 9]), segment=array([0, 2, 3]), inside=array([False, False, False]))
    >>> cut(np.array([0, 9]), 2)
    Cut(at=array([0, 4, 9]), segment=array([0, 0, 1]), inside=array([False,  True, False]))
    """
    last, n = offsets.size - 1, int(offsets[-1] - offsets[0])
    cuts = [(int(offsets[0]), 0, False)]
    for k in range(1, n_shards):
        target = int(offsets[0]) + n * k // n_shards
        after = int(np.searchsorted(offsets, target))
        nearest = after if after == 0 or offsets[after] - target <= target - offsets[after - 1] else after - 1
        if abs(int(offsets[nearest]) - target) <= n // n_shards // (near or _NEAR):
            found = (int(offsets[nearest]), nearest, False)
        else:
            found = (target, after - 1, True)
        if cuts[-1][0] < found[0] < offsets[-1]:
            cuts.append(found)
    cuts.append((int(offsets[-1]), last, False))
    at, segment, inside = zip(*cuts, strict=True)
    return Cut(np.array(at), np.array(segment), np.array(inside))
