"""Arrays of Arrow as documents, and documents as an array of Arrow; nanoarrow moves and releases their C structs.

Columns of any library that hands out Arrow arrays (polars, pandas, DuckDB, pyarrow, ...) are read without a
copy: every layout of lists, strings and binary, whole or sliced, as a flat array with offsets.

    int32, ...         integers: a column of them is one document list               offsets into an array of
    integers, of 32 or 64 bits; of a fixed size: none list view          offsets and sizes, in any order
    string, binary     offsets into bytes; of a fixed size: none string view, ...   16 bytes each: the length,
    and the bytes if there are at most 12, else a buffer and a place there dictionary         indices into an
    array of any of these

An array may begin at an offset into its buffers, and its children at offsets into theirs; these add up.
"""

from __future__ import annotations

import contextlib
import copy
import json
import os
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.documents.flat import Documents, Named, place_of, several
from ubpe_numba.errors import listed, quoted
from ubpe_numba.runtime.arrays import check_offsets, describe, offsets_of, places_of, plain, signed
from ubpe_numba.runtime.lazy import require

Kind = Literal["int", "utf8", "bytes"] | Named  # the last of words

_INTEGERS = {"c": "i1", "C": "u1", "s": "i2", "S": "u2", "i": "i4", "I": "u4", "l": "i8", "L": "u8"}
_OFFSETS: dict[str, tuple[Any, Kind, int]] = {  # format: dtype of the offsets, kind, number of buffers
    "+l": (np.int32, "int", 2), "+L": (np.int64, "int", 2),
    "u": (np.int32, "utf8", 3), "U": (np.int64, "utf8", 3), "z": (np.int32, "bytes", 3), "Z": (np.int64, "bytes", 3),
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
_EXPECTED = "lists of integers, strings or binary"
_ADVICE = {
    "lists of lists": "; flatten it once, and its rows are documents",
    "lists of strings": "; give the column of words itself",
    "float": "; round or quantize first",
    "bool": "; cast to uint8",
    "decimal": "; cast to int64",
}
_LONG = 64  # from this mean length on, a copy for each range is faster than an index for each item
_ITEMS = 1 << 20  # whose indices are in memory at a time
_ROWS = 1 << 14  # that are compared at a time
_NULLABLE = 2  # the flag of columns that are not declared to be without nulls


class Column(NamedTuple):
    """n documents: document i is ``values[offsets[i] : offsets[i + 1]]``, integers, or bytes: of a string in UTF-8."""

    values: NDArray[Any]
    offsets: NDArray[np.int64]
    kind: Kind
    nulls: NDArray[np.bool_] | None = None  # of documents, None if none can be null
    holes: NDArray[np.bool_] | None = None  # of integers, in the same way

    def ranges(
        self, starts: NDArray[np.int64], lengths: NDArray[np.int64], nulls: NDArray[np.bool_] | None
    ) -> Column:
        """The documents at other places in the values."""
        values, offsets = take_ranges(self.values, starts, lengths)
        return Column(
            values,
            offsets,
            self.kind,
            nulls,
            None if self.holes is None else take_ranges(self.holes, starts, lengths)[0],
        )


class _Part:
    """An array of a chunk or one of its children, checked as far as its struct is consistent; sizes of buffers are not in it."""

    def __init__(self, array: Any, where: str) -> None:
        self.array, self.where, self.schema = array, where, array.schema
        self.length, self.offset = array.length, array.offset
        if self.length < 0 or self.offset < 0 or array.null_count < -1 or array.n_buffers < 0:
            raise self.invalid("a length, an offset or a count is negative")
        if array.n_children != self.schema.n_children:
            raise self.invalid(f"it has {array.n_children} children, its schema {self.schema.n_children}")
        if (array.dictionary is None) != (self.schema.dictionary is None):
            raise self.invalid("either the array or its schema has a dictionary, the other has none")
        self.buffers = array.buffers  # addresses, 0 for none

    def invalid(self, why: str) -> ValueError:
        """The error for an array that contradicts itself."""
        return ValueError(
            f"{self.where}: not a valid Arrow array of format {quoted(self.schema.format)}: {why}"
        )

    def child(self, i: int) -> _Part:
        """The array of a child."""
        return _Part(self.array.child(i), self.where)

    def slice(self, start: int, n: int) -> _Part:
        """Elements start..start + n - 1 of the array."""
        if start + n > self.length:
            raise self.invalid(f"it has {self.length} elements, {start + n} are needed")
        part = copy.copy(self)  # not a slice by nanoarrow, which reads outside of arrays of views
        part.offset, part.length = self.offset + start, n
        return part

    def expect(self, n_buffers: int, at_least: bool = False) -> None:
        """Check the number of buffers."""
        n = len(self.buffers)
        if n != n_buffers and not (at_least and n > n_buffers):
            raise self.invalid(f"expected {'at least ' * at_least}{n_buffers} buffers, there are {n}")

    def view(self, buffer: int, dtype: Any, start: int, n: int) -> NDArray[Any]:
        """Items start..start + n - 1 of a buffer as a read-only array of the same memory.

        A buffer without items may be NULL.
        """
        kind = np.dtype(dtype)
        if n == 0:
            return np.zeros(0, kind)
        if not self.buffers[buffer]:
            raise self.invalid(f"buffer {buffer} is NULL")
        place = self.buffers[buffer] + start * kind.itemsize, True
        interface = {"data": place, "shape": (n,), "typestr": kind.str, "version": 3}
        # which keeps the memory alive
        return np.asarray(SimpleNamespace(__array_interface__=interface, owner=self.array))

    def nulls(self) -> NDArray[np.bool_] | None:
        """Mask of the nulls; None if there can be none."""
        n, count, has_bitmap = self.length, self.array.null_count, any(self.buffers[:1])
        if n and count > 0 and not has_bitmap:
            raise self.invalid(f"{count} nulls without a bitmap that says which")
        if n == 0 or count == 0 or not has_bitmap:
            return None
        first, skip = divmod(self.offset, 8)
        bits = np.unpackbits(
            self.view(0, np.uint8, first, (skip + n + 7) // 8), count=skip + n, bitorder="little"
        )
        is_null: NDArray[np.bool_] = bits[skip:] == 0
        return is_null


def read_arrow(source: Any, name: str, nulls: str | None = None, words: bool = False) -> Documents:
    """Documents in a column of lists, strings or binary, in chunks or not, sliced or not, with or without a dictionary.

    `source` has `__arrow_c_stream__` or `__arrow_c_array__`: a column, or a table with a single column;
    messages call it `name`. With `nulls` "empty" documents that are null are empty; "raise" raises an error
    that mentions this option, None raises without mentioning it. Strings are of the kind "utf8", a column of
    integers "one". Lists of strings are documents of `words`, numbered as they come, and a TypeError without.

    TypeError for other types, and tables of other columns. ValueError if a document or a position is null, an
    integer is beyond int64, or the array is not valid. ImportError without nanoarrow.

    >>> import pyarrow
    >>> read_arrow(pyarrow.array(["né", "", "x"]).slice(1), "docs")
    Documents(values=array([120], dtype=uint8), offsets=array([0, 0, 1]), kind='utf8')
    """
    schema, parts = _opened(source, name)
    found = _read(schema, parts, name, nulls)
    if isinstance(found.kind, Named) and not words:
        raise _wrong_type(schema.child(0) if schema.format == "+s" else schema, name)
    return found


def read_arrow_words(source: Any, name: str) -> Documents:
    """A column of strings or binary as one document of words, numbered as they come; raises as `read_arrow`.

    >>> import pyarrow
    >>> found = read_arrow_words(pyarrow.array(["b", "a", "b"]), "doc")
    >>> found.values.tolist(), found.kind.names
    ([0, 1, 0], ('b', 'a'))
    """
    found = _read(*_opened(source, name), name, None, _of_words)
    return found._replace(offsets=found.offsets[[0, -1]])


def read_arrow_document(source: Any, name: str) -> NDArray[Any]:
    """The integers of a column of them; TypeError for another column, and ValueError as `read_arrow`."""
    schema, parts = _opened(source, name)
    if _of_nothing(schema, name).kind != "one":
        given = "a table" if schema.format == "+s" else f"a column of {type_name(schema)}"
        raise TypeError(
            f"{name}: expected one document (a column of integers), got {describe(source)}, {given}{several(name)}"
        )
    return plain(_read(schema, parts, name, None).values)


def _opened(source: Any, name: str) -> tuple[Any, Iterator[_Part]]:
    """The schema and the arrays of an object that has `__arrow_c_stream__` or `__arrow_c_array__`.

    The memory of each array lives as long as a view of it. ValueError if the stream breaks, or a struct
    contradicts itself, also raised by the iterator.
    """
    nanoarrow = require("nanoarrow", "reading arrays of Arrow", "arrow")
    if not hasattr(source, "__arrow_c_stream__"):
        array = nanoarrow.c_array(source)
        if not array.is_valid():
            raise ValueError(f"{name}: the array in the capsule was taken or released before")
        return array.schema, iter([_Part(array, name)])
    stream = nanoarrow.c_array_stream(source)
    with _broken(name):
        schema = stream.get_schema()
    return schema, _arrays(stream, name)


def _arrays(stream: Any, name: str) -> Iterator[_Part]:
    with _broken(name):
        for array in stream:
            yield _Part(array, name)


@contextlib.contextmanager
def _broken(name: str) -> Iterator[None]:
    """Raise ValueError if nanoarrow reports a broken stream, with the reason of its producer."""
    try:
        yield
    except RuntimeError as error:  # NanoarrowException
        code, said = getattr(error, "code", None), getattr(error, "message", "")
        raise ValueError(
            f"{name}: the Arrow stream broke: {said or (os.strerror(code) if code else error)}"
        ) from error


def _read(schema: Any, parts: Iterator[_Part], name: str, nulls: str | None, read: Any = None) -> Documents:
    """The documents of all arrays of a stream, each by `_of_part` or `read`."""
    flats: list[Documents] = []
    n = 0
    for part in parts:
        flats.append((read or _of_part)(part, name, n, nulls))
        n += part.length
    if not flats:
        return _of_nothing(schema, name)
    if len(flats) == 1:
        return flats[0]
    if isinstance(flats[0].kind, Named):
        flats = renumbered(flats)
    kind = flats[0].kind
    values = np.concatenate([flat.values[flat.offsets[0] : flat.offsets[-1]] for flat in flats])
    lengths = np.concatenate([np.diff(flat.offsets) for flat in flats])
    return Documents(values, np.array([0, values.size]) if kind == "one" else offsets_of(lengths), kind)


def _of_nothing(schema: Any, name: str) -> Documents:
    """No documents of a type, as of a stream without arrays; TypeError for a type that is not read."""
    empty = _Part(require("nanoarrow", "reading arrays of Arrow", "arrow").c_array([], schema), name)
    return _of_part(empty, name, 0, None)._replace(values=np.zeros(0, np.int64))


def _of_part(part: _Part, name: str, number: int, nulls: str | None) -> Documents:
    """The documents of one array, the first of which is document `number` in messages."""
    if part.schema.format == "+s":
        return _of_table(part, name, number, nulls)
    if is_integer(part.schema):
        found = read_integers(part)
        assert found is not None
        values, holes = found
        if holes is not None and holes.any():
            raise ValueError(
                f"{name}: position {number + int(np.argmax(holes))} is null; drop or fill nulls first"
            )
        return Documents(
            signed(values, lambda at: f"{name}: position {number + at}"), np.array([0, values.size]), "one"
        )
    column = read_rows(part)
    if column is None:
        raise _wrong_type(part.schema, name)
    return checked(column, name, number, nulls)


def _of_words(part: _Part, name: str, number: int, nulls: str | None) -> Documents:
    """The words of one array as a document; the first is at position `number` in messages."""
    found = _read_words(part)
    if found is None:
        raise _wrong_type(part.schema, name)
    values, holes, kind = found
    if holes is not None and holes.any():
        raise ValueError(
            f"{name}: position {number + int(np.argmax(holes))} is null; drop or fill nulls first"
        )
    return Documents(values, np.array([0, values.size]), kind)


def _wrong_type(schema: Any, name: str) -> TypeError:
    said = type_name(schema)
    advice = next((text for word, text in _ADVICE.items() if word in said), "")
    return TypeError(f"{name}: expected {_EXPECTED}, got Arrow's {said}{advice}")


def checked(column: Column, name: str, number: int = 0, nulls: str | None = None) -> Documents:
    """A column without nulls, its integers in a type that is not uint64; `number` is that of its first document in messages.

    ValueError as `read_arrow` raises it.
    """
    if column.nulls is not None and column.nulls.any():
        if nulls != "empty":
            or_empty = ", or pass nulls='empty'" if nulls == "raise" else ""
            i = number + int(np.argmax(column.nulls))
            raise ValueError(f"{name}: document {i} is null; drop or fill nulls first{or_empty}")
        lengths = np.where(column.nulls, 0, np.diff(column.offsets))
        column = column.ranges(column.offsets[:-1], lengths, None)
    values, offsets, kind = column.values, column.offsets, column.kind
    if column.holes is not None and (at := np.flatnonzero(column.holes)).size:
        raise ValueError(f"{place_of(name, offsets, int(at[0]), number)} is null; drop or fill nulls first")
    return Documents(signed(values, lambda at: place_of(name, offsets, at, number)), offsets, kind)


def _of_table(part: _Part, name: str, number: int, nulls: str | None) -> Documents:
    """The only column of a table."""
    n, missing = part.length, part.nulls()
    if missing is not None and missing.any():
        raise ValueError(f"{name}: row {number + int(np.argmax(missing))} is null; drop or fill nulls first")
    integers = [is_integer(child) for child in part.schema.children]
    if integers != [False]:
        raise wrong_table((child.name or "" for child in part.schema.children), integers, name)
    return _of_part(part.child(0).slice(part.offset, n), name, number, nulls)


def wrong_table(names: Iterable[Any], integers: list[bool], name: str) -> TypeError:
    """The error for a table of columns of these names, some of `integers`, which may be documents as well as its rows."""
    way = (
        ", or numpy.asarray(table), whose rows are documents, or its .T" if integers and all(integers) else ""
    )
    got = listed(names) or "no columns"
    return TypeError(
        f"{name}: expected a sequence of documents, got a table of {got}; give one column of it{way}"
    )


def type_name(schema: Any) -> str:
    """The name of a type in messages.

    >>> import nanoarrow
    >>> type_name(nanoarrow.c_schema(nanoarrow.list_(nanoarrow.float64())))
    'lists of float64'
    """
    if schema.dictionary is not None:
        return type_name(schema.dictionary)
    form = schema.format
    if form.startswith("w:"):
        return "binary"
    if form in ("+l", "+L", "+vl", "+vL") or form.startswith("+w:"):
        return "lists of " + type_name(schema.child(0)) if schema.n_children else "lists"
    return next((_NAMES[part] for part in (form, form[:2], form[:1]) if part in _NAMES), form)


def is_integer(schema: Any) -> bool:
    """Whether it is a type of integers, as they are or by a dictionary."""
    return schema.format in _INTEGERS and (schema.dictionary is None or is_integer(schema.dictionary))


def read_integers(part: _Part) -> tuple[NDArray[Any], NDArray[np.bool_] | None] | None:
    """An array of integers, and which of them are null; None for another type.

    Values are read-only memory of the array, copied only from a dictionary.
    """
    n = part.length
    if part.schema.format == "n":
        return np.zeros(n, np.int64), np.ones(n, np.bool_)
    if not is_integer(part.schema):
        return None
    part.expect(2)
    values, nulls = part.view(1, _INTEGERS[part.schema.format], part.offset, n), part.nulls()
    if part.schema.dictionary is None:
        return values, nulls
    found = read_integers(_Part(part.array.dictionary, part.where))
    assert found is not None
    held, holes = found
    indices = _indices(part, values, nulls, held.size)
    # nulls have index 0, of none too
    return np.append(held, held.dtype.type(0))[indices], _either(nulls, holes, indices)


def _read_items(part: _Part) -> tuple[NDArray[Any], NDArray[np.bool_] | None, Kind] | None:
    """An array of integers, or of words as their numbers: values, which of them are null, the kind; None for another type."""
    found = read_integers(part)
    return _read_words(part) if found is None else (*found, "int")


def _read_words(part: _Part) -> tuple[NDArray[Any], NDArray[np.bool_] | None, Named] | None:
    """The words of an array of strings or binary as numbers, which of them are null, and the names; None for another type."""
    is_coded = part.schema.dictionary is not None and part.schema.format in _INTEGERS
    held = read_rows(_Part(part.array.dictionary, part.where) if is_coded else part)
    if held is None or held.kind not in ("utf8", "bytes"):
        return None

    def spelled(rows: NDArray[np.int64]) -> Iterator[Any]:
        for a, b in zip(held.offsets[rows].tolist(), held.offsets[rows + 1].tolist(), strict=True):
            yield str(held.values[a:b].data, "utf-8") if held.kind == "utf8" else held.values[a:b].tobytes()

    numbers, kind = numbered_rows(held.values, held.offsets, spelled)
    if not is_coded:
        return numbers, held.nulls, kind
    part.expect(2)
    given, nulls = part.view(1, _INTEGERS[part.schema.format], part.offset, part.length), part.nulls()
    indices = _indices(part, given, nulls, numbers.size)
    return np.append(numbers, np.int32(0))[indices], _either(nulls, held.nulls, indices), kind


def renumbered(parts: list[Documents]) -> list[Documents]:
    """Documents of words, in parts that are numbered each by itself, numbered alike."""
    numbers: dict[Any, int] = {}
    values: list[NDArray[np.int32]] = []
    for part in parts:
        assert isinstance(part.kind, Named)
        values.append(
            np.array([numbers.setdefault(word, len(numbers)) for word in part.kind.names], np.int32)[
                part.values
            ]
        )
    kind = Named(tuple(numbers))
    return [part._replace(values=found, kind=kind) for part, found in zip(parts, values, strict=True)]


def numbered_rows(
    values: NDArray[Any], offsets: NDArray[np.int64], spelled: Callable[[NDArray[np.int64]], Iterable[Any]]
) -> tuple[NDArray[np.int32], Named]:
    """The number of each row ``values[offsets[i] : offsets[i + 1]]``, int32[n], as they come, and their names.

    `values` are of at most 32 bits; `spelled` gives the names of some rows. O(values) expected.

    >>> found, kind = numbered_rows(np.array([7, 8, 9, 7, 8]), np.array([0, 2, 3, 5]), lambda rows: [f"row {i}" for i in rows])
    >>> found.tolist(), kind.names
    ([0, 1, 0], ('row 0', 'row 1'))
    """
    from ubpe_numba.documents.kernels.distinct import find_distinct  # here: integers need no kernel

    found, numbers = np.empty(offsets.size - 1, np.int32), dict[Any, int]()
    hashes, first_of, number = (
        np.empty(_ROWS, np.uint64),
        np.empty(_ROWS, np.int64),
        np.empty(_ROWS, np.int32),
    )
    for start in range(0, found.size, _ROWS):  # of which all fits into the processor's cache
        cuts = offsets[start : start + _ROWS + 1]
        n, table = cuts.size - 1, np.full(2 * _ROWS, -1, np.int32)
        find_distinct(values[cuts[0] : cuts[-1]].astype(np.uint32), cuts - cuts[0], table, hashes, first_of)
        first = np.flatnonzero(first_of[:n] == np.arange(n))
        number[first] = [numbers.setdefault(word, len(numbers)) for word in spelled(start + first)]
        found[start : start + n] = number[first_of[:n]]
    return found, Named(tuple(numbers))


def read_rows(part: _Part) -> Column | None:
    """The documents of an array of lists, strings or binary; None for another type.

    Values are memory of the array unless documents are in disorder.
    """
    form, n = part.schema.format, part.length
    if part.schema.dictionary is not None:
        return _of_dictionary(part) if form in _INTEGERS else None
    if form == "n":
        return Column(np.zeros(0, np.int64), np.zeros(n + 1, np.int64), "int", np.ones(n, np.bool_))
    read = _READERS.get(form.partition(":")[0])
    if read is None or (form[0] == "+" and not part.schema.n_children):  # lists, of nothing
        return None
    return read(part)


def _of_offsets(part: _Part) -> Column | None:
    dtype, kind, n_buffers = _OFFSETS[part.schema.format]
    part.expect(n_buffers)
    n = part.length
    cuts = part.view(1, dtype, part.offset, n + 1) if n else np.zeros(1, dtype)
    offsets = cuts.astype(np.int64, copy=False)
    check_offsets(offsets, 2**63 - 1, f"{part.where}: offsets of Arrow")
    first, size = int(offsets[0]), int(offsets[-1] - offsets[0])
    if kind == "int":
        return _of_lists(part, first, size, offsets - first)
    return Column(part.view(2, np.uint8, first, size), offsets - first, kind, part.nulls())


def _of_lists(part: _Part, first: int, size: int, offsets: NDArray[np.int64]) -> Column | None:
    """Lists whose values are `size` elements of the child, one after the other."""
    found = _read_items(part.child(0).slice(first, size))
    return None if found is None else Column(found[0], offsets, found[2], part.nulls(), found[1])


def _of_fixed_size(part: _Part) -> Column | None:
    extension = dict((part.schema.metadata or {}).items())
    is_tensors = part.length > 0 and extension.get(b"ARROW:extension:name") == b"arrow.fixed_shape_tensor"
    if (
        is_tensors
        and len(shape := json.loads(extension.get(b"ARROW:extension:metadata", "{}")).get("shape", ())) > 1
    ):
        way = f"; to_numpy_ndarray().reshape(-1, {shape[-1]}) keeps rows apart, reshape({part.length}, -1) joins them"
        raise ValueError(f"{part.where}: expected lists, got Arrow's tensors of shape {shape}{way}")
    text = part.schema.format.rpartition(":")[2]
    if not text.isdecimal():
        raise part.invalid("expected a size of 0 or more")
    width, n = int(text), part.length
    first, size = part.offset * width, n * width
    if first + size >= 2**63:
        raise part.invalid("it is larger than memory")
    offsets = np.arange(n + 1, dtype=np.int64) * width
    if part.schema.format.startswith("w:"):
        part.expect(2)
        return Column(part.view(1, np.uint8, first, size), offsets, "bytes", part.nulls())
    part.expect(1)
    return _of_lists(part, first, size, offsets)


def _of_list_views(part: _Part) -> Column | None:
    dtype, n = _LIST_VIEWS[part.schema.format], part.length
    part.expect(3)
    starts = part.view(1, dtype, part.offset, n).astype(np.int64)
    lengths = part.view(2, dtype, part.offset, n).astype(np.int64)
    nulls = part.nulls()
    if nulls is not None:
        starts[nulls] = lengths[nulls] = 0
    child = part.child(0)
    size = child.length
    # Compared with what is left: a sum of two arbitrary numbers may overflow.
    if (
        at := np.flatnonzero((starts < 0) | (lengths < 0) | (starts > size) | (lengths > size - starts))
    ).size:
        i = at[0]
        raise part.invalid(f"list {i} has {lengths[i]} elements from {starts[i]} on, of {size}")
    held = lengths > 0
    first = int(starts.min(where=held, initial=size))
    last = int((starts + lengths).max(where=held, initial=first))
    found = _read_items(child.slice(first, last - first))
    if found is None:
        return None
    return Column(found[0], np.zeros(1, np.int64), found[2], None, found[1]).ranges(
        starts - first, lengths, nulls
    )


def _of_views(part: _Part) -> Column:
    part.expect(3, at_least=True)
    n, nulls = part.length, part.nulls()
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
    if (at := np.concatenate([far[bad], np.flatnonzero(lengths < 0)])).size:
        raise part.invalid(
            f"the view of element {at[0]} does not point into one of its {n_data} data buffers"
        )
    offsets = offsets_of(lengths)
    values = np.empty(offsets[-1], np.uint8)
    near = np.flatnonzero((lengths > 0) & (lengths <= _INLINE))
    own = part.view(1, np.uint8, 16 * part.offset, 16 * n)
    copy_ranges(own, 16 * near + 4, lengths[near], values, offsets[near])
    for buffer in np.unique(buffers).tolist():
        of = buffers == buffer
        data = part.view(2 + buffer, np.uint8, 0, int(sizes[buffer]))
        copy_ranges(data, starts[of], lengths[far[of]], values, offsets[far[of]])
    return Column(values, offsets, _VIEWS[part.schema.format], nulls)


def _of_dictionary(part: _Part) -> Column | None:
    held = read_rows(_Part(part.array.dictionary, part.where))
    if held is None:
        return None
    part.expect(2)
    given, nulls = part.view(1, _INTEGERS[part.schema.format], part.offset, part.length), part.nulls()
    indices = _indices(part, given, nulls, held.offsets.size - 1)
    nulls = _either(nulls, held.nulls, indices)
    # the index of nulls is 0, of an empty dictionary too
    lengths = np.append(np.diff(held.offsets), 0)[indices]
    if nulls is not None:
        lengths[nulls] = 0
    return held.ranges(held.offsets[indices], lengths, nulls)


def _indices(part: _Part, values: NDArray[Any], nulls: NDArray[np.bool_] | None, size: int) -> NDArray[Any]:
    """Indices into a dictionary of this size, checked; 0 for nulls."""
    is_null = np.zeros(values.size, np.bool_) if nulls is None else nulls
    if (at := np.flatnonzero(((values < 0) | (values >= size)) & ~is_null)).size:
        raise part.invalid(f"index {values[at[0]]} of element {at[0]} is not in its dictionary of {size}")
    return np.where(is_null, values.dtype.type(0), values)


def _either(
    nulls: NDArray[np.bool_] | None, held: NDArray[np.bool_] | None, indices: NDArray[Any]
) -> NDArray[np.bool_] | None:
    """Which indices are null, or point to an element of the dictionary that is; None if none can be."""
    if held is None:
        return nulls
    found: NDArray[np.bool_] = np.append(held, True)[indices]
    return found if nulls is None else found | nulls


def take_ranges(
    values: NDArray[Any], starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Ranges of `values` side by side, and their int64[n + 1] offsets; a view of `values` where they already are.

    The int64[n] `starts` and `lengths` are inside `values`, 1-D; the start of an empty range may be anywhere.

    >>> take_ranges(np.array([10, 11, 12, 13]), np.array([2, 0, 2]), np.array([2, 0, 1]))
    (array([12, 13, 12]), array([0, 2, 2, 3]))
    """
    offsets = offsets_of(lengths)
    held = np.flatnonzero(lengths)
    if not held.size:
        return values[:0], offsets
    first, ends = starts[held], starts[held] + lengths[held]
    if np.array_equal(first[1:], ends[:-1]):
        return values[first[0] : ends[-1]], offsets
    found = np.empty(offsets[-1], values.dtype)
    copy_ranges(values, first, lengths[held], found, offsets[held])
    return found, offsets


def copy_ranges(
    values: NDArray[Any],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    target: NDArray[Any],
    at: NDArray[np.int64],
) -> None:
    """Copy ranges of `values` into `target`, to the places `at`. Memory for about a million indices only.

    >>> target = np.zeros(3, int)
    >>> copy_ranges(np.arange(10, 14), np.array([2, 0]), np.array([1, 2]), target, np.array([2, 0]))
    >>> target.tolist()
    [10, 11, 12]
    """
    ends = offsets_of(lengths)
    i = 0
    while i < lengths.size:
        j = max(int(np.searchsorted(ends, ends[i] + _ITEMS, side="right")) - 1, i + 1)
        if ends[j] - ends[i] >= _LONG * (j - i):
            for start, n, to in zip(
                starts[i:j].tolist(), lengths[i:j].tolist(), at[i:j].tolist(), strict=True
            ):
                target[to : to + n] = values[start : start + n]
        else:
            target[places_of(at[i:j], lengths[i:j])] = values[places_of(starts[i:j], lengths[i:j])]
        i = j


@lru_cache(maxsize=1)
def _shared_schemas() -> tuple[Any, Any]:
    """Nanoarrow's schemas of int32 and large_list<int32>, made once a process."""
    na = require("nanoarrow", "sharing a Ragged with Arrow", "arrow")
    return na.c_schema(na.int32()), na.c_schema(na.large_list(na.int32()))


def export_lists(
    values: NDArray[np.int32], offsets: NDArray[np.int64], requested: Any = None
) -> tuple[Any, Any]:
    """Capsules of a schema and of an array of n lists, as `__arrow_c_array__` returns them: large_list<int32>.

    values int32[n_values] and offsets int64[n + 1] are the buffers of the array: C-contiguous, not copied,
    kept alive, and not to be changed until the consumer releases it. `requested` is a capsule of the schema
    that the consumer would like: lists with offsets of 32 bits, if these suffice, or of int64 are made by a
    copy; any other schema is ignored.
    """
    item, whole = _shared_schemas()
    na = require("nanoarrow", "sharing a Ragged with Arrow", "arrow")
    if requested is not None:
        wanted = na.c_schema(requested)
        if not wanted.is_valid():
            raise ValueError("requested_schema: what the capsule held was taken or released before")
        integers: dict[str, Any] = {"i": (na.int32(), np.int32), "l": (na.int64(), np.int64)}
        lists: dict[str, Any] = {"+l": (na.list_, np.int32), "+L": (na.large_list, np.int64)}
        if wanted.format in lists and wanted.n_children == 1:
            child, (make, of_offsets) = wanted.child(0), lists[wanted.format]
            if (
                child.format in integers
                and child.dictionary is None
                and offsets[-1] <= np.iinfo(of_offsets).max
            ):
                integer, of_values = integers[child.format]
                item = na.c_schema(integer).modify(name=child.name or "", flags=child.flags & _NULLABLE)
                whole = na.c_schema(make(integer)).modify(children=[item])
                values, offsets = (
                    np.ascontiguousarray(values, of_values),
                    np.ascontiguousarray(offsets, of_offsets),
                )
    held = na.c_array_from_buffers(item, values.size, [None, values], null_count=0)
    array = na.c_array_from_buffers(
        whole, offsets.size - 1, [None, offsets], null_count=0, children=[held], move=True
    )
    capsules: tuple[Any, Any] = array.__arrow_c_array__()
    return capsules


_READERS: dict[str, Callable[[_Part], Column | None]] = {
    **dict.fromkeys(_OFFSETS, _of_offsets),
    **dict.fromkeys(_LIST_VIEWS, _of_list_views),
    **dict.fromkeys(_VIEWS, _of_views),
    **dict.fromkeys(("+w", "w"), _of_fixed_size),
}
