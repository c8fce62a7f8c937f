"""What a search for the n best segmentations gives."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.errors import quoted
from ubpe_numba.runtime.arrays import describe, offsets_of


@dataclasses.dataclass(frozen=True, eq=False)
class NBest:
    """The best segmentations of several documents, in flat arrays: a sequence of (candidates, weights), a pair a document.

    Attributes
    ----------
    candidates : Ragged
        All segmentations, document by document, the best first.
    offsets : int64[d + 1]
        Document i has the candidates ``offsets[i]`` to ``offsets[i + 1]``.
    weights : float64[len(candidates)]
        What each candidate weighs.

    Examples
    --------
    >>> found = NBest(Ragged.from_lists([[4], [0, 1], [2]]), np.array([0, 2, 3]), np.array([0.5, 0.25, 0.0]))
    >>> len(found), [weights.tolist() for _, weights in found]
    (2, [[0.5, 0.25], [0.0]])
    >>> found[0][0].to_lists()
    [[4], [0, 1]]
    >>> found[1:].candidates.to_lists()
    [[2]]
    """

    candidates: Ragged
    offsets: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, found: Iterable[tuple[Ragged, np.ndarray]]) -> NBest:
        """Put together what was found for each document.

        Parameters
        ----------
        found : iterable of (Ragged, float64)
            The candidates and weights of each document.

        """
        parts = list(found)
        if not parts:
            return cls(Ragged.from_lists([]), np.zeros(1, np.int64), np.zeros(0))
        offsets = offsets_of(np.array([len(candidates) for candidates, _ in parts]))
        return cls(end_to_end([candidates for candidates, _ in parts]), offsets, np.concatenate([weight for _, weight in parts]))

    def __len__(self) -> int:
        return self.offsets.size - 1

    def __iter__(self) -> Iterator[tuple[Ragged, np.ndarray]]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        """Candidates and weights of one document, or an `NBest` of a slice of step 1; nothing but offsets is copied.

        Raises
        ------
        TypeError, ValueError, IndexError
            For anything but an integer or a slice, a slice of another step, or a document that is not there.
        """
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step != 1:
                raise ValueError(f"index: expected a slice of step 1, got {quoted(index)}")
            offsets = self.offsets[start : max(start, stop) + 1]
            part = slice(int(offsets[0]), int(offsets[-1]))
            return NBest(self.candidates[part], offsets - offsets[0], self.weights[part])
        try:
            i = operator.index(index)
        except TypeError:
            raise TypeError(f"index: expected an integer or a slice, got {describe(index)}") from None
        if not -len(self) <= i < len(self):
            raise IndexError(f"index: expected a document in {-len(self)}..{len(self) - 1}, got {i}")
        i %= len(self)
        part = slice(int(self.offsets[i]), int(self.offsets[i + 1]))
        return self.candidates[part], self.weights[part]

    def __repr__(self) -> str:
        return f"NBest({len(self)} documents, {len(self.candidates)} candidates)"


def end_to_end(parts: list[Ragged]) -> Ragged:
    """The rows of all parts, one part behind the other.

    >>> end_to_end([Ragged.from_lists([[1], [2, 3]]), Ragged.from_lists([[4]])]).to_lists()
    [[1], [2, 3], [4]]
    """
    values = np.concatenate([part.compact().values for part in parts])
    return Ragged.from_lengths(values, np.concatenate([part.lengths for part in parts]))
