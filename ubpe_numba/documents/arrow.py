"""Documents of any library that hands out Arrow arrays by the PyCapsule protocol, without pyarrow: polars, pandas, DuckDB, ..."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.errors import listed, quoted
from ubpe_numba.runtime.arrays import Documents, describe, offsets_of, place_of, plain

if TYPE_CHECKING:
    from ubpe_numba.documents.arrow_columns import Column
    from ubpe_numba.documents.arrow_import import Field, Part

__all__ = ["checked", "read_arrow", "read_arrow_document", "rows_of"]

_EXPECTED = "lists of integers, strings or binary"
_ADVICE = {"float": "; round or quantise first", "bool": "; cast to uint8", "decimal": "; cast to int64"}


def read_arrow(source: Any, name: str, nulls: str | None = None) -> Documents:
    """Documents in a column of lists, strings or binary, in chunks or not, sliced or not, with or without a dictionary.

    Parameters
    ----------
    source
        An object with `__arrow_c_stream__` or `__arrow_c_array__`: a column; or a table of one such column, or of columns of
        integers, whose rows are the documents.
    name : str
        What messages call it.
    nulls : str, optional
        ``"empty"``: documents that are null are empty. ``"raise"``: an error that mentions this. By default one that does not.

    Returns
    -------
    Documents
        The documents.

    Raises
    ------
    TypeError
        For other types, and tables of other columns.
    ValueError
        If a document or a position is null, an integer is beyond int64, or the array is not valid.

    Examples
    --------
    >>> import pyarrow
    >>> read_arrow(pyarrow.array(["né", "", "x"]).slice(1), "docs")
    Documents(values=array([120], dtype=uint8), offsets=array([0, 0, 1]), kind='utf8')
    """
    from ubpe_numba.documents.arrow_import import opened  # ctypes, for those who use it

    return _read(*opened(source, name), name, nulls)


def read_arrow_document(source: Any, name: str) -> NDArray[Any]:
    """The integers of a column of them; TypeError for another column, and ValueError as `read_arrow`."""
    from ubpe_numba.documents.arrow_columns import type_name
    from ubpe_numba.documents.arrow_import import opened

    field, parts = opened(source, name)
    if field.format == "+s" or _kind_of(field, name) != "one":
        given = "a table" if field.format == "+s" else f"a column of {type_name(field)}"
        raise TypeError(f"{name}: expected one document (a column of integers), got {describe(source)}, {given}")
    return plain(_read(field, parts, name, None).values)


def _read(field: Field, parts: Iterator[Part], name: str, nulls: str | None) -> Documents:
    """The documents of all arrays of a stream."""
    flats: list[Documents] = []
    n = 0
    for part in parts:
        flats.append(_of_part(field, part, name, n, nulls))
        n += part.length
    if not flats:
        kind = _kind_of(field, name)
        return Documents(np.zeros(0, np.int64), np.zeros(2 if kind == "one" else 1, np.int64), kind)
    if len(flats) == 1:
        return flats[0]
    kind = flats[0].kind
    values = np.concatenate([flat.values[flat.offsets[0] : flat.offsets[-1]] for flat in flats])
    lengths = np.concatenate([np.diff(flat.offsets) for flat in flats])
    return Documents(values, np.array([0, values.size]) if kind == "one" else offsets_of(lengths), kind)


def rows_of(columns: list[NDArray[Any]], name: str, n: int, number: int = 0) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The rows of n integers that stand in columns, as documents side by side: values and int64[n + 1] offsets.

    `number` is that of the first document in messages.
    """
    checked = [
        _signed(column, lambda i, j=j: f"{name}: document {number + i}, position {j}")  # type: ignore[misc]
        for j, column in enumerate(columns)
    ]
    dtype = np.result_type(*{column.dtype for column in checked})
    rows = np.empty((n, len(checked)), dtype)
    for j, column in enumerate(checked):
        rows[:, j] = column
    return rows.reshape(-1), np.arange(n + 1, dtype=np.int64) * len(checked)


def _kind_of(field: Field, name: str) -> str:
    """The kind of documents of a type, for a stream without arrays; TypeError for a type that has none."""
    from ubpe_numba.documents.arrow_columns import is_integer, type_name

    if field.format == "+s":
        column = _only_column(field, name)
        return "int" if column is None else _kind_of(field.children[column], name)
    said = type_name(field)
    if is_integer(field):
        return "one"
    if field.dictionary is not None and field.dictionary.format != "+s":
        return _kind_of(field.dictionary, name)
    if said in ("strings", "binary"):
        return "utf8" if said == "strings" else "bytes"
    if said == "null" or (said.startswith("lists of ") and (said == "lists of null" or is_integer(field.children[0]))):
        return "int"
    raise _wrong_type(field, name)


def _of_part(field: Field, part: Part, name: str, number: int, nulls: str | None) -> Documents:
    """The documents of one array, the first of which is document `number` in messages."""
    from ubpe_numba.documents.arrow_columns import is_integer, read_integers, read_rows

    if field.format == "+s":
        return _of_table(field, part, name, number, nulls)
    if is_integer(field):
        found = read_integers(field, part, 0, part.length)
        assert found is not None
        values, holes = found
        if holes is not None:
            raise ValueError(f"{name}: position {number + int(np.argmax(holes))} is null; drop or fill nulls first")
        return Documents(_signed(values, lambda at: f"{name}: position {number + at}"), np.array([0, values.size]), "one")
    column = read_rows(field, part)
    if column is None:
        raise _wrong_type(field, name)
    return checked(column, name, number, nulls)


def checked(column: Column, name: str, number: int = 0, nulls: str | None = None) -> Documents:
    """A column without nulls, its integers in a type that is not uint64; `number` is that of its first document in messages.

    ValueError as `read_arrow` raises it.
    """
    if column.nulls is not None:
        if nulls != "empty":
            or_empty = ", or pass nulls='empty'" if nulls == "raise" else ""
            i = number + int(np.argmax(column.nulls))
            raise ValueError(f"{name}: document {i} is null; drop or fill nulls first{or_empty}")
        lengths = np.where(column.nulls, 0, np.diff(column.offsets))
        column = column.stretches(column.offsets[:-1], lengths, None)
    values, offsets, kind = column.values, column.offsets, column.kind
    if column.holes is not None and (at := np.flatnonzero(column.holes)).size:
        raise ValueError(f"{place_of(name, offsets, int(at[0]), number)} is null; drop or fill nulls first")
    if kind == "int":
        values = _signed(values, lambda at: place_of(name, offsets, at, number))
    return Documents(values, offsets, kind)


def _of_table(field: Field, part: Part, name: str, number: int, nulls: str | None) -> Documents:
    """The only column of a table, or its rows where all columns are of integers."""
    from ubpe_numba.documents.arrow_columns import read_integers

    n, missing = part.length, part.nulls(0, part.length)
    if missing is not None:
        raise ValueError(f"{name}: row {number + int(np.argmax(missing))} is null; drop or fill nulls first")
    chosen = _only_column(field, name)
    if chosen is not None:
        return _of_part(field.children[chosen], part.child(chosen).slice(part.offset, n), name, number, nulls)
    columns = []
    for j, child in enumerate(field.children):
        found = read_integers(child, part.child(j), part.offset, n)
        assert found is not None
        if found[1] is not None:
            i = number + int(np.argmax(found[1]))
            raise ValueError(f"{name}: document {i}, column {quoted(child.name)} is null; drop or fill nulls first")
        columns.append(found[0])
    return Documents(*rows_of(columns, name, n, number), "int")


def _only_column(field: Field, name: str) -> int | None:
    """The number of the only column of a table, None if all are of integers; TypeError if there are others."""
    from ubpe_numba.documents.arrow_columns import is_integer

    integers = [is_integer(child) for child in field.children]
    if len(integers) > 1 and all(integers):
        return None
    if integers == [False]:
        return 0
    if integers == [True]:
        raise TypeError(f"{name}: expected documents, got a table of one column of integers; give the column, one document")
    names = listed(child.name for child in field.children) or "no columns"
    raise TypeError(f"{name}: expected a sequence of documents, got a table of {names}; give one column of it")


def _signed(values: NDArray[Any], where: Callable[[int], str]) -> NDArray[Any]:
    """Integers as they are, but uint64 as int64: NumPy and Numba promote a mix of the two to float64.

    ValueError beyond int64; `where` says what messages call the value at an index.
    """
    if values.dtype != np.uint64:
        return values
    signed = values.view(np.int64)
    if (at := np.flatnonzero(signed < 0)).size:
        raise ValueError(f"{where(int(at[0]))}: expected an integer that fits int64, got {values[at[0]]}")
    return signed


def _wrong_type(field: Field, name: str) -> TypeError:
    from ubpe_numba.documents.arrow_columns import type_name

    said = type_name(field)
    advice = next((text for word, text in _ADVICE.items() if word in said), "")
    return TypeError(f"{name}: expected {_EXPECTED}, got Arrow's {said}{advice}")
