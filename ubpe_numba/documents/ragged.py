"""Many documents in two arrays: `Ragged`, the form of batches of ids.

Layout, for the documents [1, 2], [] and [3]:

    values      1   2   3
    offsets     0       2   3      document i is values[offsets[i] : offsets[i + 1]]: 0..2, 2..2 and 2..3
                        2
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ubpe_numba.runtime.arrays import check_offsets, describe, flatten_ints, offsets_of, place_of, plain
from ubpe_numba.runtime.extras import require

__all__ = ["Ragged"]


class Ragged:
    """A sequence of n int32 arrays of any lengths, held in two arrays, without a Python object for each.

    Document i is ``values[offsets[i]:offsets[i + 1]]``, as in Arrow: ``offsets[0]`` may be above 0 and ``offsets[-1]`` below
    ``len(values)`` (both occur after slicing; `compact` undoes them).

    Parameters
    ----------
    values : int32[n_values]
        The documents, one after the other. Copied only if it is not contiguous or not aligned; writing to it writes to the
        `Ragged`.
    offsets : int64[n + 1]
        Where each document begins, and where the last ends. Likewise not copied.

    Raises
    ------
    TypeError
        If one of the two is not an array, or not of the dtype above in native byte order.
    ValueError
        If one is not one-dimensional, or the offsets are empty, negative, decreasing or past the end of `values`.

    Examples
    --------
    >>> import numpy as np
    >>> from ubpe_numba import Ragged
    >>> batch = Ragged(np.array([1, 2, 3], np.int32), np.array([0, 2, 2, 3]))
    >>> batch
    Ragged(3 documents, 3 values)
    >>> batch[0]
    array([1, 2], dtype=int32)
    >>> batch[1:].to_lists()
    [[], [3]]
    """

    __slots__ = ("offsets", "values")
    values: NDArray[np.int32]
    offsets: NDArray[np.int64]

    def __init__(self, values: NDArray[np.int32], offsets: NDArray[np.int64]) -> None:
        for name, array, dtype in (("values", values, np.int32), ("offsets", offsets, np.int64)):
            if not isinstance(array, np.ndarray) or array.dtype != dtype:
                raise TypeError(f"{name}: expected a 1-D array of {dtype.__name__}, got {describe(array)}")
            if array.ndim != 1:
                raise ValueError(f"{name}: expected a 1-D array, got {describe(array)}")
        check_offsets(offsets, values.size)
        object.__setattr__(self, "values", plain(values))
        object.__setattr__(self, "offsets", plain(offsets))

    @classmethod
    def _trusted(cls, values: NDArray[np.int32], offsets: NDArray[np.int64]) -> Ragged:
        """Make one of arrays that the library has made itself, without a check."""
        self = object.__new__(cls)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "offsets", offsets)
        return self

    @classmethod
    def from_lists(cls, lists: Iterable[Sequence[int] | NDArray[Any]]) -> Ragged:
        """Copy documents that are lists, tuples, ranges or arrays of integers.

        Parameters
        ----------
        lists : iterable
            The documents.

        Returns
        -------
        Ragged
            The documents in new arrays.

        Raises
        ------
        TypeError
            For anything but integers (bools too), naming document and position.
        ValueError
            For an integer that does not fit int32, likewise.

        Examples
        --------
        >>> Ragged.from_lists([[1, 2], [], [3]]).offsets
        array([0, 2, 2, 3])
        """
        rows: list[Any] = [row.tolist() if isinstance(row, np.ndarray) else row for row in lists]
        for i, row in enumerate(rows):
            if not isinstance(row, (list, tuple, range)):
                raise TypeError(f"lists: document {i}: expected a list of integers, got {describe(row)}")
        values, offsets = flatten_ints(rows, "lists")
        narrow = values.astype(np.int32)
        if (at := np.flatnonzero(narrow != values)).size:
            raise ValueError(f"{place_of('lists', offsets, int(at[0]))}: {values[at[0]]} does not fit int32")
        return cls._trusted(narrow, offsets)

    @classmethod
    def from_lengths(cls, values: NDArray[np.int32], lengths: ArrayLike) -> Ragged:
        """Divide an array into documents of given lengths.

        Parameters
        ----------
        values : int32[n_values]
            The documents, one after the other; not copied.
        lengths : int[n]
            How many of the values each document has.

        Returns
        -------
        Ragged
            The n documents.

        Raises
        ------
        TypeError
            If the lengths are not integers, and as the constructor raises it.
        ValueError
            If a length is negative or their sum is not ``len(values)``, and as the constructor raises it.

        Examples
        --------
        >>> Ragged.from_lengths(np.arange(3, dtype=np.int32), [1, 0, 2]).to_lists()
        [[0], [], [1, 2]]
        """
        counts = np.asarray(lengths)
        if counts.ndim != 1 or (counts.dtype.kind not in "iu" and counts.size):
            raise TypeError(f"lengths: expected a 1-D sequence of integers, got {describe(lengths)}")
        # Lengths above len(values) are refused too: a sum of such lengths could overflow.
        size = np.size(values)
        if (at := np.flatnonzero((counts < 0) | (counts > size))).size:
            raise ValueError(
                f"lengths: document {at[0]}: expected a length in 0..{size}, the size of values, got {counts[at[0]]}"
            )
        offsets = offsets_of(counts)
        if offsets[-1] != size:
            raise ValueError(f"lengths: expected a sum of {size}, the size of values, got {offsets[-1]}")
        return cls(values, offsets)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Ragged is frozen: cannot set {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Ragged is frozen: cannot delete {name!r}")

    def __reduce__(self) -> tuple[object, ...]:
        whole = self.compact()  # a slice is pickled without the documents outside it
        return Ragged, (whole.values, whole.offsets)

    def __repr__(self) -> str:
        return f"Ragged({len(self)} documents, {self.total} values)"

    def _repr_html_(self) -> str:
        """Lengths and some documents for a notebook."""
        from ubpe_numba.documents.ragged_html import ragged_html  # when a notebook asks for it

        return ragged_html(self)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[NDArray[np.int32]]:
        values = self.values
        return (values[start:stop] for start, stop in pairwise(self.offsets.tolist()))

    def __eq__(self, other: object) -> bool:
        """Whether both hold the same documents, at any positions of `values`."""
        if not isinstance(other, Ragged):
            return NotImplemented
        mine, theirs = self.compact(), other.compact()
        return np.array_equal(mine.offsets, theirs.offsets) and np.array_equal(mine.values, theirs.values)

    __hash__ = None  # type: ignore[assignment]  # holds arrays that may be written to

    @overload
    def __getitem__(self, index: int | np.integer[Any]) -> NDArray[np.int32]: ...
    @overload
    def __getitem__(self, index: slice | Sequence[int] | Sequence[bool] | NDArray[Any]) -> Ragged: ...
    def __getitem__(self, index: Any) -> NDArray[np.int32] | Ragged:
        """One document as a view of `values`, or a `Ragged` of several.

        The `Ragged` of a slice of step 1 shares both arrays; other slices, integer arrays and boolean masks copy (see `take`).
        """
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step == 1:
                return Ragged._trusted(self.values, self.offsets[start : max(start, stop) + 1])
            return self.take(np.arange(start, stop, step))
        if isinstance(index, list) or (isinstance(index, np.ndarray) and index.ndim > 0):
            return self.take(index)
        try:
            i = operator.index(index)
        except TypeError:
            raise TypeError(f"index: expected an integer, a slice, integers or a mask, got {describe(index)}") from None
        n = len(self)
        if not -n <= i < n:
            raise IndexError(f"index: expected a document in {-n}..{n - 1}, got {i}")
        i %= n
        return self.values[self.offsets[i] : self.offsets[i + 1]]

    def take(self, indices: ArrayLike) -> Ragged:
        """Copy some of the documents.

        Parameters
        ----------
        indices : int[k] or bool[n]
            Indices in -n..n-1, in the order of the result, or a mask.

        Returns
        -------
        Ragged
            The documents of these indices.

        Raises
        ------
        TypeError
            For other dtypes.
        IndexError
            For other shapes, a mask of another length, or an index out of range.

        Examples
        --------
        >>> Ragged.from_lists([[1, 2], [3], [4]]).take([2, 0, -3]).to_lists()
        [[4], [1, 2], [1, 2]]
        """
        chosen, n = np.asarray(indices), len(self)
        if chosen.ndim != 1 or (chosen.dtype == bool and chosen.size != n):
            raise IndexError(f"indices: expected 1-D integers or a mask of {n}, got {describe(chosen)}")
        if chosen.dtype == bool:
            chosen = np.flatnonzero(chosen)
        elif chosen.dtype.kind not in "iu" and chosen.size:
            raise TypeError(f"indices: expected integers or a mask, got {describe(chosen)}")
        if (at := np.flatnonzero((chosen < -n) | (chosen >= n))).size:
            raise IndexError(f"indices: expected documents in {-n}..{n - 1}, got {chosen[at[0]]}")
        chosen = chosen.astype(np.int64) % max(n, 1)
        lengths = self.lengths[chosen]
        offsets = offsets_of(lengths)
        source = np.arange(offsets[-1]) + np.repeat(self.offsets[chosen] - offsets[:-1], lengths)
        return Ragged._trusted(self.values[source], offsets)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of values of each document, int64[n]."""
        return np.diff(self.offsets)

    @property
    def total(self) -> int:
        """The number of values of all documents together."""
        return int(self.offsets[-1] - self.offsets[0])

    def compact(self) -> Ragged:
        """The same documents with ``offsets[0] == 0`` and ``offsets[-1] == len(values)``.

        Returns
        -------
        Ragged
            Itself if that is so already; otherwise one with a view of `values` and new offsets.
        """
        first, last = self.offsets[0], self.offsets[-1]
        if first == 0 and last == self.values.size:
            return self
        return Ragged._trusted(self.values[first:last], self.offsets - first)

    def to_lists(self) -> list[list[int]]:
        """Copy the documents into lists.

        Returns
        -------
        list of list of int
            The n documents.
        """
        whole = self.compact()
        flat = whole.values.tolist()
        return [flat[start:stop] for start, stop in pairwise(whole.offsets.tolist())]

    def to_padded(self, fill: int = -1, length: int | None = None) -> NDArray[np.int32]:
        """Copy into a matrix with a document in each row, padded at the end.

        Parameters
        ----------
        fill : int
            The value of the padding, in the range of int32.
        length : int, optional
            The number of columns; by default the length of the longest document.

        Returns
        -------
        int32[n, length]
            The padded documents.

        Raises
        ------
        ValueError
            If a document is longer than `length`, or `fill` does not fit int32.

        Examples
        --------
        >>> Ragged.from_lists([[1, 2], [3]]).to_padded()
        array([[ 1,  2],
               [ 3, -1]], dtype=int32)
        """
        lengths = self.lengths
        width = int(lengths.max(initial=0)) if length is None else operator.index(length)
        if width < 0:
            raise ValueError(f"length: expected 0 or more, got {width}")
        if (at := np.flatnonzero(lengths > width)).size:
            raise ValueError(f"length: document {at[0]} has {lengths[at[0]]} values, more than {width}")
        if not -(2**31) <= fill < 2**31:
            raise ValueError(f"fill: expected an integer that fits int32, got {fill}")
        matrix = np.full((len(self), width), fill, np.int32)
        matrix[np.arange(width) < lengths[:, None]] = self.compact().values
        return matrix

    def to_arrow(self) -> Any:
        """Share the documents with Arrow.

        Returns
        -------
        pyarrow.LargeListArray
            Lists of int32 that share both arrays.

        Raises
        ------
        ImportError
            If pyarrow is not installed (``pip install ubpe-numba[arrow]``).
        """
        pyarrow = require("pyarrow", "to_arrow", "arrow")
        return pyarrow.LargeListArray.from_arrays(pyarrow.array(self.offsets), pyarrow.array(self.values))
