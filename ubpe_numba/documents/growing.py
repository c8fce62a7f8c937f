"""A flat array of integers that grows, in the narrowest dtype that holds all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_TYPES: list[np.dtype[Any]] = [np.dtype(t) for t in (np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.int64)]


class Growing:
    """Integers appended in batches to one array, whose memory grows in place, by an eighth at a time.

    Examples
    --------
    >>> g = Growing()
    >>> g.append(np.array([1, 2])); g.append(np.array([-300]))
    >>> g.finish()
    array([   1,    2, -300], dtype=int16)
    """

    def __init__(self) -> None:
        self.values: NDArray = np.empty(0, np.uint8)
        self.size = 0

    def append(self, batch: NDArray) -> None:
        """Add integers of any dtype but uint64. O(size of the batch) amortised; O(all) if they need a wider dtype."""
        if not batch.size:
            return
        dtype = self._holding(int(batch.min()), int(batch.max()))
        if dtype != self.values.dtype:
            self.values = self.values[: self.size].astype(dtype)
        end = self.size + batch.size
        if end > self.values.size:
            self.values.resize(max(end + end // 8, 1 << 16), refcheck=False)  # realloc moves pages instead of copying them
        self.values[self.size : end] = batch
        self.size = end

    def _holding(self, low: int, high: int) -> np.dtype[Any]:
        """The narrowest dtype for low..high and, unless nothing was appended yet, for all values of the present dtype."""
        if self.size:
            bounds = np.iinfo(self.values.dtype)
            if bounds.min <= low and high <= bounds.max:
                return self.values.dtype
            low, high = min(low, int(bounds.min)), max(high, int(bounds.max))
        return next(t for t in _TYPES if np.iinfo(t).min <= low and high <= np.iinfo(t).max)

    def finish(self) -> NDArray:
        """The array, cut to its size. Nothing may be appended afterwards."""
        self.values.resize(self.size, refcheck=False)
        return self.values
