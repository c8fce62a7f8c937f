"""Many documents in two arrays: `Ragged`, the form of batches of ids.

Layout, for the documents [1, 2], [] and [3]:

    values      1   2   3
    offsets     0       2   3      document i is values[offsets[i] : offsets[i + 1]]: 0..2, 2..2 and 2..3
                        2
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ubpe_numba.documents.flat import flatten_ints, has_arrow, place_of
from ubpe_numba.errors import quoted
from ubpe_numba.runtime.arrays import check_offsets, describe, integer, offsets_of, places_of, plain
from ubpe_numba.runtime.lazy import require, view

_WAY = (
    "a Ragged does not support NumPy arithmetic. Use ids.values (Ragged(new_values, ids.offsets) keeps the "
    "documents), list(ids), a matrix by ids.to_padded(), or counts by ubpe_numba.sklearn.BagOfTokens; "
    "Ragged.concat joins several, and == compares two"
)


class Ragged:
    """A sequence of n int32 arrays of any lengths, held in two arrays, without a Python object for each.

    Document i is ``values[offsets[i]:offsets[i + 1]]``, as in Arrow: ``offsets[0]`` may be above 0 and
    ``offsets[-1]`` below ``len(values)`` (both occur after slicing; `compact` undoes them).

    ``==`` and `numpy.array_equal` say whether two hold the same documents. Arithmetic, comparisons and
    functions of NumPy raise a TypeError that names the alternative, even if all lengths are equal.

    Parameters
    ----------
    values : int32[n_values]
        The documents, one after the other. Copied only if it is not contiguous or not aligned; writing to it
        writes to the `Ragged`.
    offsets : int64[n + 1]
        The starts of the documents, and the end of the last. Copied; the attribute is read-only.

    Raises
    ------
    ValueError
        If the offsets are empty, negative, decreasing or past the end of `values`.

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

    __slots__ = ("_offsets", "values")
    values: NDArray[np.int32]
    # the library's own, never written to; kernels are compiled for arrays that can be
    _offsets: NDArray[np.int64]

    def __init__(self, values: NDArray[np.int32], offsets: NDArray[np.int64]) -> None:
        for name, array, dtype in (("values", values, np.int32), ("offsets", offsets, np.int64)):
            if not isinstance(array, np.ndarray) or array.dtype != dtype:
                raise TypeError(f"{name}: expected a 1-D array of {dtype.__name__}, got {describe(array)}")
            if array.ndim != 1:
                raise ValueError(f"{name}: expected a 1-D array, got {describe(array)}")
        own = np.array(offsets)
        check_offsets(own, values.size)
        object.__setattr__(self, "values", plain(values))
        object.__setattr__(self, "_offsets", own)

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
        ValueError
            For an integer that does not fit int32, naming document and position.

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
        return trusted(narrow, offsets)

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
        ValueError
            If a length is negative or their sum is not ``len(values)``.

        Examples
        --------
        >>> Ragged.from_lengths(np.arange(3, dtype=np.int32), [1, 0, 2]).to_lists()
        [[0], [], [1, 2]]
        """
        counts = np.asarray(lengths)
        if counts.ndim != 1 or (counts.dtype.kind not in "iu" and counts.size):
            raise TypeError(f"lengths: expected a 1-D sequence of integers, got {describe(lengths)}")
        # Lengths above len(values) are also rejected: their sum could overflow.
        size = np.size(values)
        if (at := np.flatnonzero((counts < 0) | (counts > size))).size:
            raise ValueError(
                f"lengths: document {at[0]}: expected a length in 0..{size}, got {counts[at[0]]}"
            )
        offsets = offsets_of(counts)
        if offsets[-1] != size:
            raise ValueError(f"lengths: expected a sum of {size}, the size of values, got {offsets[-1]}")
        return cls(values, offsets)

    @classmethod
    def from_arrow(cls, array: Any, *, nulls: str = "raise") -> Ragged:
        """Share the lists of an Arrow array of any library (``pip install ubpe-numba[arrow]``).

        Parameters
        ----------
        array
            An object with `__arrow_c_array__` or `__arrow_c_stream__`, such as a column of pyarrow, polars or
            pandas, or a query of DuckDB. It holds lists of integers, or is a table with one column of them.
            Lists may have any layout, be sliced, in chunks, or with a dictionary.
        nulls : str
            ``"raise"``, or ``"empty"``: documents that are null are empty. A null inside a document is an
            error.

        Returns
        -------
        Ragged
            Its values are memory of the array, read-only, if they are int32, in one chunk and in order;
            otherwise a copy.

        Raises
        ------
        ValueError
            For nulls, an integer that does not fit int32, both naming document and position, or an array that
            is not valid.

        Examples
        --------
        >>> import pyarrow
        >>> Ragged.from_arrow(pyarrow.array([[1, 2], None, [3]]), nulls="empty").to_lists()
        [[1, 2], [], [3]]
        """
        from ubpe_numba.documents.arrow import read_arrow

        if nulls not in ("raise", "empty"):
            raise ValueError(f"nulls: expected 'raise' or 'empty', got {quoted(nulls)}")
        if not has_arrow(type(array)):
            raise TypeError(
                f"array: expected what has __arrow_c_array__ or __arrow_c_stream__, got {describe(array)}"
            )
        values, offsets, kind = read_arrow(array, "array", nulls)
        if kind != "int" and offsets.size > 1:
            content = {"one": "a column of integers", "utf8": "strings", "bytes": "binary"}[kind]
            raise TypeError(f"array: expected lists of integers, got {content}")
        narrow = values.astype(np.int32, copy=False)
        if narrow is not values and (at := np.flatnonzero(narrow != values)).size:
            raise ValueError(f"{place_of('array', offsets, int(at[0]))}: {values[at[0]]} does not fit int32")
        return cls(plain(narrow), offsets)

    @classmethod
    def concat(cls, parts: Iterable[Ragged]) -> Ragged:
        """Copy the documents of several batches into one.

        Parameters
        ----------
        parts : iterable of Ragged
            The batches.

        Returns
        -------
        Ragged
            All documents, in order.

        Examples
        --------
        >>> first = Ragged.from_lists([[1, 2], [3]])
        >>> Ragged.concat([first, first[1:]]).to_lists()
        [[1, 2], [3], [3]]
        """
        whole: list[Ragged] = []
        for i, part in enumerate([parts] if isinstance(parts, np.ndarray) else parts):
            if not isinstance(part, Ragged):
                raise TypeError(f"parts: part {i}: expected a Ragged, got {describe(part)}")
            whole.append(part.compact())
        values = np.concatenate([np.zeros(0, np.int32), *(part.values for part in whole)])
        return trusted(
            values, offsets_of(np.concatenate([np.zeros(0, np.int64), *(part.lengths for part in whole)]))
        )

    def __setattr__(self, name: str, value: object = None) -> None:
        raise AttributeError(f"a Ragged is frozen: cannot set or delete {name!r}")

    __delattr__ = __setattr__

    def __reduce__(self) -> tuple[object, ...]:
        whole = self.compact()  # a slice is pickled without the documents outside it
        return Ragged, (whole.values, whole._offsets)

    def __repr__(self) -> str:
        return f"Ragged({len(self)} documents, {self.total} values)"

    def _repr_html_(self) -> str:
        """Lengths and some documents for a notebook."""
        return str(view("notebook", "ragged_html")(self))

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __iter__(self) -> Iterator[NDArray[np.int32]]:
        values = self.values
        return (values[start:stop] for start, stop in pairwise(self._offsets.tolist()))

    def __eq__(self, other: object) -> bool:
        """Whether both hold the same documents, at any positions of `values`.

        TypeError for lists, arrays and numbers.
        """
        if not isinstance(other, Ragged):
            return self._refuse() if isinstance(other, (list, tuple, int, float)) else NotImplemented
        mine, theirs = self.compact(), other.compact()
        return np.array_equal(mine._offsets, theirs._offsets) and np.array_equal(mine.values, theirs.values)

    def _refuse(self, *_: object, **__: object) -> Any:
        """Raise the TypeError for operations of arrays."""
        raise TypeError(_WAY)

    __array__ = __array_ufunc__ = __contains__ = __setitem__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __and__ = __rand__ = __or__ = __ror__ = __neg__ = __abs__ = (
        __invert__
    ) = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __mod__ = __rmod__ = __floordiv__ = (
        __truediv__
    ) = _refuse

    def __array_function__(
        self, function: Callable[..., Any], _: object, args: Any, kwargs: dict[str, Any]
    ) -> Any:
        """`numpy.array_equal` as ``==``, and the TypeError for all others."""
        if function is not np.array_equal:
            return self._refuse()
        one, other = [*args, *kwargs.values()][:2]
        return one == other

    if not TYPE_CHECKING:  # or checkers would know every attribute

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(f"'Ragged' object has no attribute {name!r}: {_WAY}", name=name, obj=self)

    @property
    def _numba_type_(self) -> Any:
        """The type of this as an argument of compiled functions; the first one registers it."""
        return import_module("ubpe_numba.inside.native").ragged_type(self)

    __hash__ = None  # type: ignore[assignment]  # holds arrays that may be written to

    @overload
    def __getitem__(self, index: int | np.integer[Any]) -> NDArray[np.int32]: ...
    @overload
    def __getitem__(self, index: slice | Sequence[int] | Sequence[bool] | NDArray[Any]) -> Ragged: ...
    def __getitem__(self, index: Any) -> NDArray[np.int32] | Ragged:
        """One document as a view of `values`, or a `Ragged` of several.

        The `Ragged` of a slice of step 1 shares both arrays; other slices, integer arrays and boolean masks
        copy (see `take`).
        """
        n = len(self._offsets) - 1
        if isinstance(index, slice):
            start, stop, step = index.indices(n)
            if step == 1:
                return trusted(self.values, self._offsets[start : max(start, stop) + 1])
            return self.take(np.arange(start, stop, step))
        if type(index) is not int:
            if isinstance(index, list) or (isinstance(index, np.ndarray) and index.ndim > 0):
                return self.take(index)
            try:
                index = integer(index, "index")
            except TypeError:
                expected = f"expected an integer, a slice, integers or a mask, got {describe(index)}"
                raise TypeError(f"index: {expected}; ids[i][j] is one value") from None
        if not -n <= index < n:
            raise IndexError(f"index: expected a document in {-n}..{n - 1}, got {index}")
        i = index % n
        return self.values[self._offsets[i] : self._offsets[i + 1]]

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
        IndexError
            For a mask of another length, or an index out of range.

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
        return trusted(self.values[places_of(self._offsets[chosen], lengths)], offsets)

    @property
    def offsets(self) -> NDArray[np.int64]:
        """The starts of the documents in `values`, and the end of the last: int64[n + 1], read-only."""
        offsets = self._offsets.view()
        offsets.setflags(write=False)
        return offsets

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of values of each document, int64[n]."""
        return np.diff(self._offsets)

    @property
    def total(self) -> int:
        """The number of values of all documents together."""
        return int(self._offsets[-1] - self._offsets[0])

    def compact(self) -> Ragged:
        """Drop unused values: then ``offsets[0] == 0`` and ``offsets[-1] == len(values)``.

        Returns
        -------
        Ragged
            Itself if that is so already; otherwise one with a view of `values` and new offsets.
        """
        first, last = self._offsets[0], self._offsets[-1]
        if first == 0 and last == self.values.size:
            return self
        return trusted(self.values[first:last], self._offsets - first)

    def to_lists(self) -> list[list[int]]:
        """Copy the documents into lists.

        Returns
        -------
        list of list of int
            The n documents.
        """
        whole = self.compact()
        flat = whole.values.tolist()
        return [flat[start:stop] for start, stop in pairwise(whole._offsets.tolist())]

    tolist = to_lists  # as arrays have it

    @overload
    def to_padded(
        self,
        fill: int = -1,
        length: int | None = None,
        *,
        side: Literal["right", "left"] = "right",
        truncate: bool | Literal["right", "left"] = False,
        return_mask: Literal[False] = False,
    ) -> NDArray[np.int32]: ...
    @overload
    def to_padded(
        self,
        fill: int = -1,
        length: int | None = None,
        *,
        side: Literal["right", "left"] = "right",
        truncate: bool | Literal["right", "left"] = False,
        return_mask: Literal[True],
    ) -> tuple[NDArray[np.int32], NDArray[np.bool_]]: ...
    def to_padded(
        self,
        fill: int = -1,
        length: int | None = None,
        *,
        side: Literal["right", "left"] = "right",
        truncate: bool | Literal["right", "left"] = False,
        return_mask: bool = False,
    ) -> NDArray[np.int32] | tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """Copy into a matrix with a document in each row, padded at one side.

        Parameters
        ----------
        fill : int
            The value of the padding, in the range of int32.
        length : int, optional
            The number of columns; by default the length of the longest document.
        side : str
            Where the padding is: ``"right"`` or ``"left"`` of the values.
        truncate : bool or str
            Treatment of a document longer than `length`. False: an error. True or ``"right"``: drop its end.
            ``"left"``: drop its beginning.
        return_mask : bool
            Also return a mask of the values.

        Returns
        -------
        matrix : int32[n, length]
            The padded documents.
        mask : bool[n, length]
            False at the padding; only with `return_mask`.

        Examples
        --------
        >>> batch = Ragged.from_lists([[1, 2], [3]])
        >>> batch.to_padded()
        array([[ 1,  2],
               [ 3, -1]], dtype=int32)
        >>> matrix, mask = batch.to_padded(0, 3, side="left", return_mask=True)
        >>> matrix.tolist(), mask.astype(int).tolist()
        ([[0, 1, 2], [0, 0, 3]], [[0, 1, 1], [0, 0, 1]])
        >>> batch.to_padded(length=1, truncate="left").tolist()
        [[2], [3]]
        """
        lengths = self.lengths
        width = int(lengths.max(initial=0)) if length is None else integer(length, "length")
        if side not in ("right", "left"):
            raise ValueError(f"side: expected 'right' or 'left', got {quoted(side)}")
        if not isinstance(truncate, (bool, np.bool_)) and truncate not in ("right", "left"):
            raise ValueError(f"truncate: expected False, True, 'right' or 'left', got {quoted(truncate)}")
        if width < 0:
            raise ValueError(f"length: expected 0 or more, got {width}")
        if not -(2**31) <= integer(fill, "fill") < 2**31:
            raise ValueError(f"fill: expected an integer that fits int32, got {fill}")
        whole = self.compact()
        if (at := np.flatnonzero(lengths > width)).size:
            if not truncate:
                raise ValueError(
                    f"length: document {at[0]} has {lengths[at[0]]} values, more than {width}. Use "
                    "truncate=True."
                )
            n_kept = np.minimum(lengths, width)
            starts = whole._offsets[1:] - n_kept if truncate == "left" else whole._offsets[:-1]
            values, lengths = whole.values[places_of(starts, n_kept)], n_kept
        else:
            values = whole.values
        matrix = np.full((len(self), width), fill, np.int32)
        columns = np.arange(width)
        mask = columns < lengths[:, None] if side == "right" else columns >= width - lengths[:, None]
        matrix[mask] = values
        return (matrix, mask) if return_mask else matrix

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

    def __arrow_c_array__(self, requested_schema: object = None) -> Any:
        """Share the documents as large lists of int32: ``pyarrow.array(ragged)``, ``polars.Series(ragged)``.

        Parameters
        ----------
        requested_schema
            A capsule of the type that the consumer would like: lists instead of large lists, or int64, are
            made by a copy.

        Returns
        -------
        tuple of PyCapsule
            The schema and the array, whose memory is that of `values` and `offsets`; it is not to be changed
            while it is shared.
        """
        return self.to_arrow().__arrow_c_array__(requested_schema)

    def to_torch(self) -> Any:
        """Share the documents with torch.

        Returns
        -------
        torch.Tensor
            A nested tensor of int32 with the layout `torch.jagged`, whose values are those of `compact`, in
            the same memory. Read-only values, such as Arrow's, and the offsets are copied: any tensor of
            torch can be written to.

        Raises
        ------
        ImportError
            If torch is not installed (``pip install ubpe-numba[torch]``).
        """
        torch = require("torch", "to_torch", "torch")
        whole = self.compact()
        values = whole.values if whole.values.flags.writeable else whole.values.copy()
        return torch.nested.nested_tensor_from_jagged(
            torch.from_numpy(values), torch.from_numpy(whole._offsets.copy())
        )

    def to_awkward(self) -> Any:
        """Share the documents with Awkward Array.

        Returns
        -------
        awkward.Array
            Lists of int32 that share both arrays.

        Raises
        ------
        ImportError
            If awkward is not installed (``pip install ubpe-numba[awkward]``).
        """
        awkward = require("awkward", "to_awkward", "awkward")
        offsets = awkward.index.Index64(self.offsets)
        return awkward.Array(
            awkward.contents.ListOffsetArray(offsets, awkward.contents.NumpyArray(self.values))
        )


def trusted(values: NDArray[np.int32], offsets: NDArray[np.int64]) -> Ragged:
    """Make a `Ragged` of arrays that the library has made itself, without a check."""
    ragged = object.__new__(Ragged)
    object.__setattr__(ragged, "values", values)
    object.__setattr__(ragged, "_offsets", offsets)
    return ragged


def own_offsets(ragged: Ragged) -> NDArray[np.int64]:
    """The offsets for kernels, which are compiled for writable arrays; they are never written to."""
    return ragged._offsets
