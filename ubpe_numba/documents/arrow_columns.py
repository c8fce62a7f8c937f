"""Columns of Arrow as documents: every layout of lists, strings and binary, whole or sliced, as one flat array with offsets.

    int32, ...         integers: a column of them is one document
    list               offsets into an array of integers, of 32 or 64 bits; of a fixed size: none
    list view          offsets and sizes, in any order
    string, binary     offsets into bytes; of a fixed size: none
    string view, ...   16 bytes each: the length, and the bytes if there are at most 12, else a buffer and a place there
    dictionary         indices into an array of any of these

An array may begin at an offset into its buffers, and its children at offsets into theirs; these add up.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.documents.arrow_import import Field, Part
from ubpe_numba.documents.gathered import copy_stretches, gathered
from ubpe_numba.runtime.arrays import check_offsets, offsets_of

__all__ = ["Column", "is_integer", "read_integers", "read_rows", "type_name"]

Kind = Literal["int", "utf8", "bytes"]

_INTEGERS = {"c": "i1", "C": "u1", "s": "i2", "S": "u2", "i": "i4", "I": "u4", "l": "i8", "L": "u8"}
_OFFSETS: dict[str, tuple[Any, Kind]] = {  # format: dtype of the offsets, kind
    "+l": (np.int32, "int"), "+L": (np.int64, "int"),
    "u": (np.int32, "utf8"), "U": (np.int64, "utf8"), "z": (np.int32, "bytes"), "Z": (np.int64, "bytes"),
}  # fmt: skip
_LIST_VIEWS = {"+vl": np.int32, "+vL": np.int64}
_VIEWS: dict[str, Kind] = {"vu": "utf8", "vz": "bytes"}
_NAMES = {
    "n": "null", "b": "bool", "e": "float16", "f": "float32", "g": "float64", "u": "strings", "U": "strings", "vu": "strings",
    "z": "binary", "Z": "binary", "vz": "binary", "w": "binary", "d": "decimal", "td": "date", "tt": "time", "ts": "timestamp",
    "tD": "duration", "ti": "interval", "+s": "struct", "+m": "map", "+u": "union", "+r": "run-end encoded",
    **{form: np.dtype(name).name for form, name in _INTEGERS.items()},
}  # fmt: skip
_INLINE = 12  # bytes of a string that its view holds itself


class Column(NamedTuple):
    """n documents.

    Attributes
    ----------
    values : array
        Integers, or bytes: of a string in UTF-8.
    offsets : int64[n + 1]
        Document i is ``values[offsets[i] : offsets[i + 1]]``.
    kind : str
        ``"int"``, ``"utf8"`` or ``"bytes"``.
    nulls : bool[n] or None
        Which documents are null; None if none is.
    holes : bool[n_values] or None
        Which integers are null, likewise.
    """

    values: NDArray[Any]
    offsets: NDArray[np.int64]
    kind: Kind
    nulls: NDArray[np.bool_] | None = None
    holes: NDArray[np.bool_] | None = None

    def stretches(self, starts: NDArray[np.int64], lengths: NDArray[np.int64], nulls: NDArray[np.bool_] | None) -> Column:
        """The documents at other places in the values."""
        values, offsets = gathered(self.values, starts, lengths)
        return Column(values, offsets, self.kind, nulls, None if self.holes is None else gathered(self.holes, starts, lengths)[0])


def type_name(field: Field) -> str:
    """A type as messages say it.

    >>> type_name(Field("+l", "", (Field("g", "item", (), None),), None))
    'lists of float64'
    """
    if field.dictionary is not None:
        return type_name(field.dictionary)
    form = field.format
    if form.startswith("w:"):
        return "binary"
    if form in ("+l", "+L", "+vl", "+vL") or form.startswith("+w:"):
        return "lists of " + type_name(field.children[0]) if field.children else "lists"
    return next((_NAMES[part] for part in (form, form[:2], form[:1]) if part in _NAMES), form)


def is_integer(field: Field) -> bool:
    """Whether it is a type of integers, as they are or by a dictionary."""
    return field.format in _INTEGERS and (field.dictionary is None or is_integer(field.dictionary))


def read_integers(field: Field, part: Part, start: int, n: int) -> tuple[NDArray[Any], NDArray[np.bool_] | None] | None:
    """Elements start..start + n - 1 of an array of integers, and which of them are null; None for another type.

    Values are read-only memory of the array, copied only from a dictionary.
    """
    if start + n > part.length:
        raise part.invalid(f"it has {part.length} elements, {start + n} are asked for")
    if field.format == "n":
        return np.zeros(n, np.int64), np.ones(n, np.bool_) if n else None
    if not is_integer(field):
        return None
    part.expect(2)
    values, nulls = part.view(1, _INTEGERS[field.format], part.offset + start, n), part.nulls(start, n)
    if field.dictionary is None:
        return values, nulls
    held = part.dictionary
    found = read_integers(field.dictionary, held, 0, held.length)
    assert found is not None
    indices = _indices(part, values, nulls, held.length)
    if not held.length:
        return np.zeros(n, found[0].dtype), nulls
    holes = None if found[1] is None else found[1][indices]
    return found[0][indices], _either(nulls, holes)


def read_rows(field: Field, part: Part) -> Column | None:
    """The documents of an array of lists, strings or binary; None for another type.

    Offsets are those of the array if they are int64 and begin at 0, and values are its memory unless documents are in disorder.
    """
    form, n = field.format, part.length
    if field.dictionary is not None:
        return _of_dictionary(field, part) if form in _INTEGERS else None
    if form == "n":
        return Column(np.zeros(0, np.int64), np.zeros(n + 1, np.int64), "int", np.ones(n, np.bool_) if n else None)
    if form in _OFFSETS:
        return _of_offsets(field, part)
    if form.startswith(("+w:", "w:")):
        return _of_fixed_size(field, part)
    if form in _LIST_VIEWS:
        return _of_list_views(field, part)
    return _of_views(part, _VIEWS[form]) if form in _VIEWS else None


def _of_offsets(field: Field, part: Part) -> Column | None:
    dtype, kind = _OFFSETS[field.format]
    part.expect(2 if kind == "int" else 3)
    n = part.length
    cuts = part.view(1, dtype, part.offset, n + 1) if n else np.zeros(1, dtype)
    offsets = cuts.astype(np.int64, copy=False)
    check_offsets(offsets, 2**63 - 1, f"{part.where}: offsets of Arrow")
    first, last = int(offsets[0]), int(offsets[-1])
    moved = offsets - first if first else offsets
    if kind != "int":
        return Column(part.view(2, np.uint8, first, last - first), moved, kind, part.nulls(0, n))
    return _of_lists(field, part, first, last - first, moved)


def _of_lists(field: Field, part: Part, first: int, size: int, offsets: NDArray[np.int64]) -> Column | None:
    """Lists whose values are `size` elements of the child, one after the other."""
    found = read_integers(field.children[0], part.child(0), first, size) if field.children else None
    return None if found is None else Column(found[0], offsets, "int", part.nulls(0, part.length), found[1])


def _of_fixed_size(field: Field, part: Part) -> Column | None:
    text = field.format.rpartition(":")[2]
    if not text.isdecimal():
        raise part.invalid("expected a size of 0 or more")
    width, n = int(text), part.length
    first, size = part.offset * width, n * width
    if first + size >= 2**63:
        raise part.invalid("it is larger than memory")
    offsets = np.arange(n + 1, dtype=np.int64) * width
    if field.format.startswith("w:"):
        part.expect(2)
        return Column(part.view(1, np.uint8, first, size), offsets, "bytes", part.nulls(0, n))
    part.expect(1)
    return _of_lists(field, part, first, size, offsets)


def _of_list_views(field: Field, part: Part) -> Column | None:
    dtype, n = _LIST_VIEWS[field.format], part.length
    part.expect(3)
    starts = part.view(1, dtype, part.offset, n).astype(np.int64)
    lengths = part.view(2, dtype, part.offset, n).astype(np.int64)
    nulls = part.nulls(0, n)
    if nulls is not None:
        starts[nulls] = lengths[nulls] = 0
    child = part.child(0) if field.children else None
    size = child.length if child else 0
    # Compared with what is left: a sum of two arbitrary numbers may overflow.
    if (at := np.flatnonzero((starts < 0) | (lengths < 0) | (starts > size) | (lengths > size - starts))).size:
        i = at[0]
        raise part.invalid(f"list {i} has {lengths[i]} elements from {starts[i]} on, of {size}")
    held = lengths > 0
    first = int(starts.min(where=held, initial=size))
    last = int((starts + lengths).max(where=held, initial=first))
    found = read_integers(field.children[0], child, first, last - first) if child else None
    if found is None:
        return None
    return Column(found[0], np.zeros(1, np.int64), "int", None, found[1]).stretches(starts - first, lengths, nulls)


def _of_views(part: Part, kind: Kind) -> Column:
    part.expect(3, at_least=True)
    n, nulls = part.length, part.nulls(0, part.length)
    views = part.view(1, np.int32, 4 * part.offset, 4 * n).reshape(n, 4)
    lengths = views[:, 0].astype(np.int64)
    if nulls is not None:
        lengths[nulls] = 0
    n_data = len(part.buffers) - 3
    sizes = part.view(len(part.buffers) - 1, np.int64, 0, n_data)
    far = np.flatnonzero(lengths > _INLINE)
    buffers, starts = views[far, 2], views[far, 3].astype(np.int64)
    bad = (buffers < 0) | (buffers >= n_data)
    if n_data:
        bad |= (starts < 0) | (starts > sizes[np.where(bad, 0, buffers)] - lengths[far])
    if lengths.min(initial=0) < 0 or bad.any():
        i = far[np.argmax(bad)] if bad.any() else int(np.argmin(lengths))
        raise part.invalid(f"the view of element {i} does not point into one of its {n_data} data buffers")
    offsets = offsets_of(lengths)
    values = np.empty(offsets[-1], np.uint8)
    near = np.flatnonzero((lengths > 0) & (lengths <= _INLINE))
    own = part.view(1, np.uint8, 16 * part.offset, 16 * n)
    copy_stretches(own, 16 * near + 4, lengths[near], values, offsets[near])
    for buffer in np.unique(buffers).tolist():
        of = buffers == buffer
        data = part.view(2 + buffer, np.uint8, 0, int(sizes[buffer]))
        copy_stretches(data, starts[of], lengths[far[of]], values, offsets[far[of]])
    return Column(values, offsets, kind, nulls)


def _of_dictionary(field: Field, part: Part) -> Column | None:
    assert field.dictionary is not None
    held = read_rows(field.dictionary, part.dictionary)
    if held is None:
        return None
    part.expect(2)
    n = part.length
    nulls = part.nulls(0, n)
    indices = _indices(part, part.view(1, _INTEGERS[field.format], part.offset, n), nulls, held.offsets.size - 1)
    if held.offsets.size == 1:  # and so all are null
        return Column(held.values, np.zeros(n + 1, np.int64), held.kind, nulls)
    lengths = np.diff(held.offsets)[indices]
    nulls = _either(nulls, None if held.nulls is None else held.nulls[indices])
    if nulls is not None:
        lengths[nulls] = 0
    return held.stretches(held.offsets[indices], lengths, nulls)


def _indices(part: Part, values: NDArray[Any], nulls: NDArray[np.bool_] | None, size: int) -> NDArray[Any]:
    """Indices into a dictionary of this size, checked; 0 for nulls."""
    indices = values if nulls is None else np.where(nulls, values.dtype.type(0), values)
    bad = (indices < 0) | (indices >= size)
    if nulls is not None:
        bad &= ~nulls
    if bad.any():
        i = int(np.argmax(bad))
        raise part.invalid(f"index {values[i]} of element {i} is not in its dictionary of {size}")
    return indices


def _either(a: NDArray[np.bool_] | None, b: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
    """Which are null in one of two; None if none is."""
    if a is None or b is None:
        return a if b is None or not b.any() else b
    found: NDArray[np.bool_] = a | b
    return found
