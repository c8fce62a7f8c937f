"""Columns of tables as documents, and documents as arrays of Arrow, without an object for each document."""

from __future__ import annotations

from typing import Any

import numpy as np

from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.errors import quoted
from ubpe_numba.runtime.arrays import describe
from ubpe_numba.tokenizers.base import Tokenizer

_EXPECTED = "lists of integers, strings or binary"


def kind_of(kind: Any, where: str) -> str:
    """Kind of the documents of a column of this Arrow type, as in `Documents`; TypeError, beginning with `where`."""
    return _read(kind, where)[0]


def arrow_documents(array: Any, where: str) -> Any:
    """An array of Arrow, chunked or not, as one that `fit` takes: of lists, strings or binary, not as a dictionary.

    TypeError, beginning with `where`, for another type. Copied only where the type changes.
    """
    if hasattr(array.type, "storage_type"):
        return arrow_documents(array.cast(array.type.storage_type), where)
    wanted = _read(array.type, where)[1]
    return array if array.type == wanted else array.cast(wanted)


def series_documents(series: Any, where: str) -> Any:
    """A Series of pandas as documents: an array of Arrow where that or a dictionary holds it, else a list of its elements."""
    dtype = series.dtype
    if getattr(dtype, "kind", "O") != "O" and not hasattr(dtype, "pyarrow_dtype"):
        raise TypeError(f"{where}: expected {_EXPECTED}, got {dtype}")
    if str(dtype) == "object":
        return series.tolist()
    import pyarrow as pa

    return arrow_documents(pa.array(series.array), where)


def table_documents(table: Any, column: str) -> Any:
    """The documents of a column of a table, of Arrow or pandas; TypeError for something else, ValueError if it is not there."""
    where = f"column {quoted(column)}"
    names = getattr(table, "column_names", None)
    names = list(getattr(table, "columns", ())) if names is None else names
    if not hasattr(table, "shape") or len(table.shape) != 2 or not names:
        raise TypeError(f"{where}: expected a partition that is a table of Arrow or pandas, got {describe(table)}")
    if names.count(column) != 1:
        raise ValueError(f"{where}: expected one column of this name, there are {', '.join(map(repr, names))}")
    if hasattr(table, "column_names"):
        return arrow_documents(table.column(names.index(column)), where)
    return series_documents(table[column], where)


def _read(kind: Any, where: str) -> tuple[str, Any]:
    """Kind of the documents of an Arrow type, and the type as which they are read."""
    import pyarrow as pa

    types = pa.types
    if hasattr(kind, "storage_type"):
        return _read(kind.storage_type, where)
    if types.is_dictionary(kind):
        return _read(kind.value_type, where)
    if types.is_string(kind) or types.is_large_string(kind):
        return "str", kind
    if types.is_binary(kind) or types.is_large_binary(kind):
        return "bytes", kind
    if types.is_fixed_size_binary(kind):
        return "bytes", pa.large_binary()
    if str(kind) == "string_view":  # older versions of Arrow have no test for it
        return "str", pa.large_string()
    if str(kind) == "binary_view":
        return "bytes", pa.large_binary()
    if types.is_list(kind) or types.is_large_list(kind):
        if types.is_integer(kind.value_type):
            return "int", kind
        if types.is_null(kind.value_type):  # lists that are all empty
            return "int", pa.large_list(pa.int64())
    if types.is_fixed_size_list(kind) and types.is_integer(kind.value_type):
        return "int", pa.large_list(kind.value_type)
    raise TypeError(f"{where}: expected {_EXPECTED}, got {kind}")


_MOST = 2**31 - 1  # values that the int32 offsets of an array of lists reach


def list_array(found: Ragged) -> Any:
    """Documents of integers as lists of int32, whose values are not copied; several chunks where one cannot reach so many.

    >>> list_array(Ragged.from_lists([[1], [], [2, 3]])).to_pylist()
    [[1], [], [2, 3]]
    """
    import pyarrow as pa

    whole = found.compact()
    chunks: list[Any] = []
    first = 0
    while first < len(whole) or not chunks:
        last = int(np.searchsorted(whole.offsets, whole.offsets[first] + _MOST, side="right")) - 1
        if last == first < len(whole):
            raise ValueError(
                f"document {first} has {whole.offsets[first + 1] - whole.offsets[first]} values: a list has at most {_MOST}"
            )
        part = whole[first:last].compact()
        chunks.append(pa.ListArray.from_arrays(pa.array(part.offsets.astype(np.int32)), pa.array(part.values)))
        first = last
    return chunks[0] if len(chunks) == 1 else pa.chunked_array(chunks)


def result_column(tokenizer: Tokenizer, found: Any, errors: str) -> Any:
    """Ids, or documents by the kind of the model: lists of int32 or int64, strings, or binary. `errors` is named in messages."""
    import pyarrow as pa

    if isinstance(found, Ragged):
        return list_array(found)
    model = tokenizer._model
    if model.alphabet.kind == "int":
        return pa.array(found, pa.list_(pa.int64()))
    kind = pa.binary() if model.alphabet.kind == "bytes" and model.segmenter.encoding is None else pa.string()
    try:
        return pa.array(found, kind)
    except UnicodeEncodeError as error:
        raise ValueError(
            f"errors: with {quoted(errors)} texts have surrogates, which files cannot hold; use 'replace'"
        ) from error
