"""Arrays of Arrow as documents. pyarrow takes them from any library, and knows their layouts.

A column of any library that hands out Arrow arrays (polars, pandas, DuckDB, pyarrow, ...) is read as one
array of values with offsets. Lists, strings and binary in a single chunk and in order share their memory with
it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.documents.flat import Documents, Named, place_of, several, signed
from ubpe_numba.errors import listed
from ubpe_numba.runtime.arrays import check_offsets, describe, offsets_of, plain
from ubpe_numba.runtime.lazy import require

_NULL = "is null; drop or fill nulls first"
#: Advice for columns of a type, or of lists of it, by a part of its name.
_ADVICE = {
    "list": "; flatten it once, and its rows are documents",
    "string": "; give the column of words itself",
    "float": "; round or quantize first",
    "double": "; round or quantize first",
    "bool": "; cast to uint8",
    "decimal": "; cast to int64",
}


def read_arrow(source: Any, name: str, nulls: str | None = None, words: bool = False) -> Documents:
    """Documents in a column of lists, strings or binary.

    The column may be chunked, sliced, or have a dictionary.

    `source` has `__arrow_c_stream__` or `__arrow_c_array__`: a column, or a table with a single column;
    messages call it `name`. With `nulls` "empty" documents that are null are empty; "raise" raises an error
    that mentions this option, None raises without mentioning it. Strings are of the kind "utf8", a column of
    integers "one". Lists of strings are documents of `words`, numbered as they come, and a TypeError without.

    TypeError for other types, and tables of other columns. ValueError if a document or a position is null, an
    integer is beyond int64, or the array is not valid. ImportError without pyarrow.

    >>> import pyarrow
    >>> read_arrow(pyarrow.array(["né", "", "x"]).slice(1), "docs")
    Documents(values=array([120], dtype=uint8), offsets=array([0, 0, 1]), kind='utf8')
    """
    chunks, kind = _column(_chunks(source, name), name, words)
    if _is_integer(kind):
        return _one(chunks, name)._replace(kind="one")
    with _reading(name):
        chunks = [_plain(chunk, name) for chunk in chunks]
        if nulls != "empty" and (at := _first_null(chunks)) is not None:
            or_empty = ", or pass nulls='empty'" if nulls == "raise" else ""
            raise ValueError(f"{name}: document {at} {_NULL}{or_empty}")
        items, cuts = zip(*(_flattened(chunk, name) for chunk in chunks), strict=True)
    offsets = cuts[0] if len(cuts) == 1 else offsets_of(np.concatenate([*map(np.diff, cuts)]))
    values, symbols = _symbols(items, name, lambda at: place_of(name, offsets, at))
    text = ("utf8" if "string" in _form(kind) else "bytes") if _is_text(kind) else symbols
    return Documents(values, offsets, text)


def read_arrow_words(source: Any, name: str) -> Documents:
    """A column of strings or binary as one document of words, numbered as they come; raises as `read_arrow`.

    >>> import pyarrow
    >>> doc = read_arrow_words(pyarrow.array(["b", "a", "b"]), "doc")
    >>> doc.values.tolist(), doc.kind.names
    ([0, 1, 0], ('b', 'a'))
    """
    chunks = _chunks(source, name)
    if not _is_text(kind := _stored(chunks[0].type)):
        raise _wrong_type(kind, name)
    return _one(chunks, name)


def read_arrow_document(source: Any, name: str) -> NDArray[Any]:
    """The integers of a column of them; TypeError for another column, and ValueError as `read_arrow`."""
    chunks = _chunks(source, name)
    column, kind = _column(chunks, name)
    if not _is_integer(kind):
        form = f"a column of {kind}" if column is chunks else "a table"
        raise TypeError(
            f"{name}: expected one document (a column of integers), got {describe(source)}, "
            f"{form}{several(name)}"
        )
    return plain(_one(column, name).values)


def wrong_table(names: Iterable[Any], integers: list[bool], name: str) -> TypeError:
    """The error for a table: its columns, some of `integers`, or its rows may be the documents."""
    way = (
        ", or numpy.asarray(table), whose rows are documents, or its .T" if integers and all(integers) else ""
    )
    got = listed(names) or "no columns"
    return TypeError(
        f"{name}: expected a sequence of documents, got a table of {got}; give one column of it{way}"
    )


def _chunks(source: Any, name: str) -> list[Any]:
    """The chunks of an object that has `__arrow_c_stream__` or `__arrow_c_array__`, as arrays of pyarrow.

    There is at least one, which may be empty.
    """
    pa = require("pyarrow", "reading arrays of Arrow", "arrow")
    with _reading(name):
        is_stream = hasattr(source, "__arrow_c_stream__")
        column = pa.chunked_array(source if is_stream else [pa.array(source)])
        chunks = [chunk for chunk in column.chunks if len(chunk)]
        for chunk in chunks:
            chunk.validate()
    return chunks or [pa.nulls(0, column.type)]


@contextlib.contextmanager
def _reading(name: str) -> Iterator[None]:
    """Raise ValueError where pyarrow finds that an array contradicts itself, or that a stream breaks."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowInvalid, pa.ArrowIndexError, OSError) as error:
        raise ValueError(
            f"{name}: the Arrow array cannot be read: {str(error).partition(' Detail: ')[0]}"
        ) from error


def _form(kind: Any) -> str:
    """The name of a type without its parameters: of ``list<item: int8>`` "list"."""
    return str(kind).partition("<")[0].partition("[")[0]


def _stored(kind: Any) -> Any:
    """The type of elements as they are stored, without dictionaries and extensions."""
    if hasattr(kind, "storage_type"):
        return _stored(kind.storage_type)
    return _stored(kind.value_type) if _form(kind) == "dictionary" else kind


def _is_integer(kind: Any) -> bool:
    return _form(kind).startswith(("int", "uint"))


def _is_text(kind: Any) -> bool:
    return any(part in _form(kind) for part in ("string", "binary"))


def _wrong_type(kind: Any, name: str) -> TypeError:
    form = _form(kind.value_type if "list" in _form(kind) else kind)
    advice = next((text for part, text in _ADVICE.items() if part in form), "")
    return TypeError(f"{name}: expected lists of integers, strings or binary, got Arrow's {kind}{advice}")


def _column(chunks: list[Any], name: str, words: bool = False) -> tuple[list[Any], Any]:
    """A column of documents or integers, also as the only column of a table, and its type.

    The type is without dictionaries.
    """
    while _form(chunks[0].type) == "struct":
        if (at := _first_null(chunks)) is not None:
            raise ValueError(f"{name}: row {at} {_NULL}")
        fields = list(chunks[0].type)
        integers = [_is_integer(_stored(field.type)) for field in fields]
        if integers != [False]:
            raise wrong_table([field.name for field in fields], integers, name)
        chunks = [table.field(0) for table in chunks]
    kind = _stored(chunks[0].type)
    item = _stored(kind.value_type) if "list" in _form(kind) else kind
    if not (_is_integer(item) or _form(item) == "null" or (_is_text(item) and (words or item is kind))):
        raise _wrong_type(kind, name)
    return chunks, kind


def _first_null(chunks: Sequence[Any]) -> int | None:
    """The index of the first null in all chunks, None without one."""
    if not any(chunk.null_count for chunk in chunks):
        return None
    return int(np.argmax(np.concatenate([np.asarray(chunk.is_null()) for chunk in chunks])))


def _plain(array: Any, name: str) -> Any:
    """An array without dictionary and extension; strings and binary as `large_binary`."""
    import pyarrow as pa

    if _form(array.type) == "dictionary":
        values = _plain(array.dictionary, name)
        values.validate(full=True)
        return values.take(array.indices)
    if hasattr(array, "storage"):
        shape: Sequence[int] = getattr(array.type, "shape", ())
        if len(array) and len(shape) > 1:
            way = f"reshape(-1, {shape[-1]}) keeps rows apart, reshape({len(array)}, -1) joins them"
            raise ValueError(
                f"{name}: expected lists, got Arrow's tensors of shape {[*shape]}; to_numpy_ndarray().{way}"
            )
        return _plain(array.storage, name)
    if not _is_text(array.type):
        return array
    if "view" in _form(array.type):
        array = array.view(pa.binary_view())  # as binary: that strings are UTF-8 is not asked here
        array.validate(full=True)
    return array.cast(pa.large_binary())


def _flattened(array: Any, name: str) -> tuple[Any, NDArray[np.int64]]:
    """The elements of all lists, or the bytes of all strings, of a result of `_plain`, with offsets.

    A null is empty.
    """
    import pyarrow as pa

    if _form(array.type) == "null":
        array = pa.nulls(len(array), pa.list_(pa.uint8()))
    elif _is_text(array.type):
        bitmap, offsets, data = array.buffers()
        data = pa.Array.from_buffers(pa.uint8(), data.size if data else 0, [None, data])
        array = pa.Array.from_buffers(
            pa.large_list(pa.uint8()), len(array), [bitmap, offsets], array.null_count, array.offset, [data]
        )
    if _form(array.type) in ("list", "large_list") and not array.null_count:
        cuts = _in_memory(array.offsets).astype(np.int64, copy=False)
        check_offsets(cuts, len(array.values), f"{name}: offsets of Arrow")
        return array.flatten(), cuts - cuts[0]
    from pyarrow.compute import list_value_length

    array.validate(full=True)
    return array.flatten(), offsets_of(_in_memory(list_value_length(array).fill_null(0)))


def _one(chunks: list[Any], name: str) -> Documents:
    """A column of symbols as one document."""
    values, kind = _symbols(chunks, name, lambda at: f"{name}: position {at}")
    return Documents(values, np.array([0, values.size]), kind)


def _symbols(arrays: Sequence[Any], name: str, where: Callable[[int], str]) -> tuple[NDArray[Any], str]:
    """Arrays of integers, or of words by their numbers, as one array, and its kind.

    ValueError for a null or an integer beyond int64.
    """
    import pyarrow as pa

    number = dict[Any, int]()
    is_text = _is_text(_stored(arrays[0].type))
    with _reading(name):
        arrays = [_numbered(array, name, number) if is_text else _plain(array, name) for array in arrays]
    if (at := _first_null(arrays)) is not None:
        raise ValueError(f"{where(at)} {_NULL}")
    if _form(arrays[0].type) == "null":
        arrays = [pa.nulls(0, pa.int64())]
    parts = [*map(_in_memory, arrays)]
    values = parts[0] if len(parts) == 1 else np.concatenate(parts)
    return signed(values, where), Named(tuple(number)) if is_text else "int"


def _in_memory(array: Any) -> NDArray[Any]:
    """The integers of an array without nulls, not copied; by `to_numpy` pyarrow would import pandas."""
    dtype = np.dtype(str(array.type))
    if not len(array):
        return np.zeros(0, dtype)
    values = np.frombuffer(array.buffers()[1], dtype, len(array), array.offset * dtype.itemsize)
    values.flags.writeable = False
    return values


def _numbered(array: Any, name: str, number: dict[Any, int]) -> Any:
    """An array of words as their numbers; a new word gets the next `number`."""
    import pyarrow as pa

    if _form(array.type) == "dictionary":
        return _numbered(array.dictionary, name, number).take(array.indices)
    words = _plain(array, name)
    words.validate(full=True)
    words = words.dictionary_encode()
    names = words.dictionary.view(pa.large_string()) if "string" in _form(array.type) else words.dictionary
    numbers = [number.setdefault(word, len(number)) for word in names.to_pylist()]
    return pa.array(numbers, pa.int32()).take(words.indices)
