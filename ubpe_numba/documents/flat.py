"""The internal form of documents, a flat array with offsets; and lists of integers.

The lists are flattened, or collected in batches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.errors import quoted
from ubpe_numba.runtime.arrays import offsets_of, places_of
from ubpe_numba.runtime.schema import pickled

_TYPES: list[np.dtype[Any]] = [np.dtype(code) for code in ("u1", "i1", "u2", "i2", "u4", "i4", "i8")]


#: Advice at the ends of messages, for a document that contains several, has floats, or has missing values.
SEVERAL = {
    "doc": "; encode_batch takes several documents",
    "ids": "; decode_batch takes several documents",
    "docs": "; offsets= divide one flat array or text: leave them out",
    "chunks": "; over() takes several chunks",
}


_GATHERED = 1 << 17  # symbols that are put in order at a time


ROUND = "; round or quantize first, as by ubpe_numba.Scale"


MISSING = "; drop or fill missing values first"


class Named(str):
    """The kind "int" of documents whose symbols have names: the integer i is names[i].

    Those of `base`, if any, come first.
    """

    __slots__ = ("base", "names", "number")
    names: tuple[Any, ...]
    number: dict[Any, int]
    base: Named | None

    def __new__(cls, names: tuple[Any, ...], base: Named | None = None) -> Named:
        """Make a kind of names."""
        self = super().__new__(cls, "int")
        self.names, self.number, self.base = names, {name: i for i, name in enumerate(names)}, base
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return pickled(Named, self.names, self.base)


class Documents(NamedTuple):
    """n documents: document i is ``values[offsets[i]:offsets[i + 1]]``."""

    #: 1-D, C-contiguous, aligned, of native byte order. The dtype is uint8 for bytes, uint32 (code points)
    #: for str, otherwise that of the input (uint64 becomes int64); integers from an iterator have the
    #: narrowest dtype. May be the user's memory, and read-only.
    values: NDArray[Any]
    #: int64[n + 1], not decreasing. ``offsets[0]`` may be above 0 and ``offsets[-1]`` below ``len(values)``:
    #: those of a `Ragged` or a user are kept as they are.
    offsets: NDArray[np.int64]
    #: "int" (also of no documents), of symbols with names a `Named`, "str" or "bytes". From Arrow also
    #: "utf8", strings as bytes, and "one", a column of integers.
    kind: str

    def take(self, indices: NDArray[np.int64]) -> Documents:
        """Copy the documents with these indices, int64[k], in this order. O(their symbols)."""
        starts, ends = self.offsets[indices], offsets_of(self.offsets[indices + 1] - self.offsets[indices])
        values = np.empty(ends[-1], self.values.dtype)
        begin = 0
        while begin < len(starts):  # in pieces: a place is 8 bytes
            end = max(int(np.searchsorted(ends, ends[begin] + _GATHERED, side="right")) - 1, begin + 1)
            places = places_of(starts[begin:end], np.diff(ends[begin : end + 1]))
            values[ends[begin] : ends[end]] = self.values[places]
            begin = end
        return Documents(values, ends, self.kind)


def flatten_ints(
    rows: Sequence[Sequence[int]], name: str, first: int | None = 0
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Flatten n lists, tuples or ranges of integers to int64 values and int64[n + 1] offsets.

    Python does not loop over items.

    In messages `first` is the index of `rows[0]`, None if it is the only document. Raises TypeError for
    anything but integers (bools too), ValueError for one beyond int64.
    """
    flat: list[Any] = list(chain.from_iterable(rows))
    offsets = offsets_of(np.fromiter(map(len, rows), np.int64, len(rows)))
    types = set(map(type, flat))
    if not types <= {int}:
        wrong = {t for t in types if t is bool or not issubclass(t, (int, np.integer))}
        for position, item in enumerate(flat if wrong else ()):
            if type(item) in wrong:
                shown = f"{quoted(item)} ({type(item).__name__}){way_of_item(item, name, first is None)}"
                raise TypeError(
                    f"{place_of(name, offsets, position, first)}: expected an integer, got {shown}"
                )
    try:
        return np.array(flat, np.int64), offsets
    except OverflowError:
        position = next(i for i, item in enumerate(flat) if not -(2**63) <= item < 2**63)
        where = place_of(name, offsets, position, first)
        raise ValueError(
            f"{where}: expected an integer that fits int64, got {quoted(int(flat[position]))}"
        ) from None


def has_arrow(cls: type) -> bool:
    """Whether instances of a class hand out arrays of Arrow."""
    return hasattr(cls, "__arrow_c_stream__") or hasattr(cls, "__arrow_c_array__")


def signed(values: NDArray[Any], where: Callable[..., str]) -> NDArray[Any]:
    """Integers as they are, but uint64 as int64: NumPy and Numba promote a mix of the two to float64.

    ValueError beyond int64; `where` is what messages call the value at an index.
    """
    if values.dtype != np.uint64:
        return values
    found = values.view(np.int64)
    if (at := np.argwhere(found < 0)).size:
        index = tuple(at[0].tolist())
        raise ValueError(f"{where(*index)}: expected an integer that fits int64, got {values[index]}")
    return found


def several(name: str) -> str:
    """Advice at the end of a message about several documents instead of a single one; empty if unknown."""
    return SEVERAL.get("chunks" if name.startswith("chunks: ") else name, "")


def way_of_item(item: Any, name: str, one: bool) -> str:
    """Advice at the end of a message about an item other than an integer; empty if unknown.

    The item is in `one` document, or in one of several.

    >>> way_of_item([1], "ids", True), way_of_item(0.5, "docs: document 0", False)
    ('; decode_batch takes several documents', '; round or quantize first, as by ubpe_numba.Scale')
    """
    is_name = name == "ids" and isinstance(item, str)
    is_several = isinstance(item, (str, bytes, list, tuple)) or getattr(item, "ndim", 0) > 0
    if one and several(name) and is_several and not is_name:
        return several(name)
    if not name.startswith(("doc", "chunk")):
        return "; token_to_id gives the id of a name" if is_name else ""
    if item is None or (isinstance(item, float) and item != item):
        return MISSING
    if isinstance(item, (list, tuple, np.ndarray)):
        return "; a document has one axis: itertools.chain.from_iterable keeps its rows apart"
    words = "; only a tokenizer fitted on lists of words takes them" if isinstance(item, str) else ""
    return ROUND if isinstance(item, float) else words


def place_in(offsets: NDArray[np.int64], at: Any) -> tuple[int, int]:
    """The document of an index into all symbols or ids, and the position in it: what errors say.

    >>> place_in(np.array([0, 3, 3, 5]), 4)
    (2, 1)
    """
    document = int(np.searchsorted(offsets, at, side="right")) - 1
    return document, int(at - offsets[document])


def place_of(name: str, offsets: NDArray[np.int64], at: int, first: int | None = 0) -> str:
    """`name` with the document and position of the flat index `at`, for messages.

    `offsets[0]` is 0; `first` as above.
    """
    document, position = place_in(offsets, at)
    place = f", position {position}"
    return f"{name}{place}" if first is None else f"{name}: document {first + document}{place}"


class GrowingArray:
    """Integers appended in batches to one array of the narrowest dtype that holds all.

    It grows in place, by an eighth at a time.

    >>> g = GrowingArray()
    >>> g.append(np.array([1, 2])); g.append(np.array([-300]))
    >>> g.finish()
    array([   1,    2, -300], dtype=int16)
    """

    def __init__(self) -> None:
        self.values: NDArray = np.empty(0, np.uint8)
        self.size = 0

    def append(self, batch: NDArray) -> None:
        """Add integers of any dtype but uint64.

        O(size of the batch) amortised; O(all) if they need a wider dtype.
        """
        if not batch.size:
            return
        low, high, bounds = int(batch.min()), int(batch.max()), np.iinfo(self.values.dtype)
        if not self.size or low < bounds.min or bounds.max < high:
            if self.size:
                low, high = min(low, int(bounds.min)), max(high, int(bounds.max))
            dtype = next(t for t in _TYPES if np.iinfo(t).min <= low and high <= np.iinfo(t).max)
            self.values = self.values[: self.size].astype(dtype)
        end = self.size + batch.size
        if end > self.values.size:
            # realloc moves pages instead of copying them
            self.values.resize(max(end + end // 8, 1 << 16), refcheck=False)
        self.values[self.size : end] = batch
        self.size = end

    def finish(self) -> NDArray:
        """The array, cut to its size. Nothing may be appended afterwards."""
        self.values.resize(self.size, refcheck=False)
        return self.values
