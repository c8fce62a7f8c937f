"""What a fit may be given beside partitions: weights of documents, and boundaries inside them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ubpe_numba.distributed.partitions import Partitions
from ubpe_numba.documents.read import as_document
from ubpe_numba.runtime.arrays import describe


class Marks:
    """The weights and boundaries of partitions: of each, or, where they are one document, of the whole.

    Parameters
    ----------
    partitions
        Of which they are.
    parts, sample_weight, boundaries
        As for `fit`. TypeError or ValueError, naming the argument.
    """

    def __init__(self, partitions: Partitions, parts: Any, sample_weight: Any, boundaries: Any) -> None:
        n, self.joined = len(partitions.delayed), partitions.joined
        if self.joined:
            self.weight = None
            if sample_weight is not None:
                weights = sample_weight if np.ndim(sample_weight) else [sample_weight]
                self.weight = as_document(weights, name="sample_weight").values
                if self.weight.size != 1:
                    raise ValueError(f"sample_weight: expected one weight, of one document, got {describe(sample_weight)}")
            self.positions: np.ndarray | None = None
            sizes = np.array(parts.chunks[0], np.float64)
            if boundaries is not None:
                given = as_document(boundaries, name="boundaries")
                if given.kind != "int":
                    raise TypeError(f"boundaries: expected integers, got {describe(boundaries)}")
                self.positions = np.unique(given.values).astype(np.int64)
                if np.isnan(sizes).any():
                    raise ValueError("boundaries: the sizes of the array's chunks are not known; call its compute_chunk_sizes()")
                self.ends = np.cumsum(sizes.astype(np.int64))
                if self.positions.size and not 0 <= self.positions[0] <= self.positions[-1] <= self.ends[-1]:
                    raise ValueError(f"boundaries: expected positions in 0..{self.ends[-1]}")
            return
        self.each = []
        for name, value in (("sample_weight", sample_weight), ("boundaries", boundaries)):
            if value is not None and (not isinstance(value, (list, tuple)) or len(value) != n):
                raise ValueError(f"{name}: expected a list of {n} entries, one for each partition, got {describe(value)}")
            self.each.append([None] * n if value is None else list(value))

    def of(self, begin: int, end: int) -> list[tuple[Any, Any]]:
        """Those of the partitions `begin` to `end`, as `make_host` takes them."""
        if not self.joined:
            return list(zip(self.each[0][begin:end], self.each[1][begin:end], strict=True))
        if self.positions is None:
            return [(self.weight, None)]
        first, last = (0 if begin == 0 else int(self.ends[begin - 1])), int(self.ends[end - 1])
        inside = self.positions[(self.positions > first) & (self.positions < last)]
        return [(self.weight, inside - first)]

    def goes_on(self, begin: int) -> tuple[bool, bool]:
        """Whether the document before partition `begin` goes on in it, and whether tokens may."""
        if not self.joined or begin == 0:
            return False, False
        return True, self.positions is None or int(self.ends[begin - 1]) not in self.positions
