"""Partitions of a user as a list of Dask's delayed values, each documents as `fit` takes them."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from ubpe_numba.distributed.cluster import with_name
from ubpe_numba.distributed.files import PARQUET, byte_ranges_of, files_of, is_path, row_groups_of
from ubpe_numba.distributed.relay import opaque, opened
from ubpe_numba.distributed.tables import arrow_documents, kind_of, series_documents, table_documents
from ubpe_numba.documents.counts import Counts
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import as_documents
from ubpe_numba.errors import quoted
from ubpe_numba.runtime.arrays import describe, positive

__all__ = ["BLOCKSIZE", "Partitions", "blocksize_of", "no_documents", "partitions_of"]

BLOCKSIZE = 64 << 20  # bytes of a column or of a text file that are a partition
_ACCEPTED = (
    "a list of partitions (Delayed, Future, or each a list of documents), a dask bag, array or column of a dataframe, "
    "or paths of .parquet or .txt files"
)


class Partitions(NamedTuple):
    """The partitions of a corpus, in order."""

    delayed: list[Any]  # each gives documents as `Tokenizer.fit` takes them, or `Counts`
    names: list[str]  # for messages
    joined: bool = False  # the partitions one after the other are a single document
    client: Any = None  # that of the futures among the partitions, which no other one can use
    sizes: list[int] | None = None  # in one unit for all, where they are known without reading


def partitions_of(
    parts: Any,
    column: str | None = None,
    *,
    lines: str = "str",
    blocksize: int | str | None = None,
    name: str = "parts",
) -> Partitions:
    """The partitions that a user gives; nothing is read before they are computed but the footers of Parquet files.

    parts: a list or tuple of `Delayed`, of `Future`, or of partitions that are in memory here: each documents as `fit` takes
    them, or `Counts`. A `dask.bag`, whose elements are documents; a 1-D `dask.array` of integers, which is one document; a 2-D
    one, whose rows are documents; a column of a `dask.dataframe` (lists of integers, strings, binary), or a dataframe with
    `column`. Or a path, a folder, a glob, or a list of them, of ``.parquet`` or ``.txt`` files that all workers see, where lines
    of text are documents. column: of tables, of which Parquet files that have one column need none; lines: ``"str"`` (UTF-8) or
    ``"bytes"``, for text files; blocksize: bytes of files that are one partition, as Dask reads sizes (a line or a row group is
    never divided); name: of the argument in messages. TypeError for anything else, naming the argument and the partition;
    ValueError for an array of other dimensions, a column that is not there, and files that are neither, or not of one kind;
    OSError for a file that cannot be read.

    >>> found = partitions_of([[[1, 2], [3]], [[1, 2]]])
    >>> found.names, [part.compute(scheduler="sync") for part in found.delayed]
    (['partition 0', 'partition 1'], [[[1, 2], [3]], [[1, 2]]])
    """
    if column is not None and not isinstance(column, str):
        raise TypeError(f"column: expected a name, got {describe(column)}")
    size = blocksize_of(blocksize)
    if is_path(parts) or (isinstance(parts, (list, tuple)) and parts and all(map(is_path, parts))):
        return _of_files(parts, column, lines, size, name)
    if isinstance(parts, (list, tuple)):
        return _of_list(parts, column, name)
    if _is_a(parts, "dask.dataframe", "DataFrame"):
        if column is None or list(parts.columns).count(column) != 1:
            shown = ", ".join(map(repr, parts.columns))
            raise ValueError(f"column: expected the name of one column of the dataframe, got {quoted(column)}, there are {shown}")
        parts, column = parts[column], None
    if column is not None:
        raise TypeError(f"column: it is one of tables, and {name} is {describe(parts)}")
    if _is_a(parts, "dask.bag", "Bag"):
        return _numbered(_each(parts.to_delayed(), list))
    if _is_a(parts, "dask.array", "Array"):
        return _of_array(parts, name)
    if _is_a(parts, "dask.dataframe", "Series"):
        where = "the column" if parts.name is None else f"column {quoted(parts.name)}"
        series_documents(parts._meta, f"{name}: {where}")
        return _numbered(_each(parts.to_delayed(), series_documents, where))
    raise TypeError(f"{name}: expected {_ACCEPTED}, got {describe(parts)}")


def blocksize_of(blocksize: int | str | None) -> int:
    """The argument `blocksize` in bytes."""
    if isinstance(blocksize, str):
        from dask.utils import parse_bytes

        try:
            blocksize = parse_bytes(blocksize)
        except ValueError as error:
            raise ValueError(f"blocksize: {error}") from error
    return BLOCKSIZE if blocksize is None else positive(blocksize, "blocksize", "bytes, or a str such as '64 MiB'")


def _is_a(value: Any, module: str, name: str) -> bool:
    """Whether a value is of a class of Dask, whose module is not imported for that: who has a value has its module."""
    cls = getattr(sys.modules.get(module), name, None)
    return isinstance(cls, type) and isinstance(value, cls)


def _numbered(
    delayed: list[Any], joined: bool = False, client: Any = None, sizes: Sequence[int | float | None] = (None,)
) -> Partitions:
    """Partitions that are called by their numbers; sizes that are not known are None or NaN."""
    known = [int(size) for size in sizes if size is not None and not math.isnan(size)]
    names = [f"partition {i}" for i in range(len(delayed))]
    return Partitions(delayed, names, joined, client, known if len(known) == len(delayed) else None)


def _each(delayed: Any, function: Callable[..., Any], *arguments: Any) -> list[Any]:
    """A function of each partition and of the same arguments, where the partition is."""
    from dask import delayed as delay

    call = delay(_named, pure=False, traverse=False)
    return [
        call(f"partition {i}", function, one, *arguments, dask_key_name=f"ubpe-partition-{uuid4().hex}")
        for i, one in enumerate(delayed)
    ]


def _named(name: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """A function of arguments; its errors begin with the name of the partition."""
    try:
        return function(*arguments)
    except Exception as error:
        raise with_name(error, name) from None


def _of_files(given: Any, column: str | None, lines: str, blocksize: int, name: str) -> Partitions:
    """The partitions of files, named by the file and the place in it."""
    from dask import delayed as delay

    if lines not in ("str", "bytes"):
        raise ValueError(f"lines: expected 'str' or 'bytes', got {quoted(lines)}")
    suffix, paths, _ = files_of(given, name)
    pieces: list[Any]
    if suffix == PARQUET:
        pieces = list(row_groups_of(paths, column, blocksize, name))
    elif column is not None:
        raise TypeError(f"column: it is one of tables, and {paths[0]} is text")
    else:
        pieces = list(byte_ranges_of(paths, blocksize, lines))
    names = [piece.name for piece in pieces]
    call = delay(_read, pure=False, traverse=False)
    blobs = map(opaque, pieces)  # a named tuple would be looked into for tasks
    return Partitions(
        [call(blob, dask_key_name=f"ubpe-read-{uuid4().hex}") for blob in blobs], names, sizes=[piece.size for piece in pieces]
    )


def _read(blob: bytes) -> Any:
    """The documents of a part of a file."""
    piece = opened(blob)
    return _named(piece.name, piece.documents)


def _of_list(parts: Any, column: str | None, name: str) -> Partitions:
    """The partitions of a list of what is all in memory here, or all elsewhere."""
    from dask import delayed as delay

    kinds = [next((kind for module, kind in _ELSEWHERE if _is_a(part, module, kind)), "here") for part in parts]
    if other := [i for i, kind in enumerate(kinds) if kind != kinds[0]]:
        i = other[0]
        raise TypeError(
            f"{name}: expected partitions of one form, got {describe(parts[0])} (partition 0) and {describe(parts[i])} "
            f"(partition {i})"
        )
    if kinds and kinds[0] != "here":
        client = parts[0].client if kinds[0] == "Future" else None
        delayed = [delay(part) for part in parts] if client else list(parts)
        return _numbered(_each(delayed, table_documents, column) if column is not None else delayed, client=client)
    call = delay(opened, pure=False, traverse=False)
    found = [_here(part, f"{name}: partition {i}", column) for i, part in enumerate(parts)]
    blobs = map(opaque, found)
    delayed = [call(blob, dask_key_name=f"ubpe-partition-{uuid4().hex}") for blob in blobs]
    return _numbered(delayed, sizes=list(map(_size_of, found)))


_ELSEWHERE = (("dask.delayed", "Delayed"), ("distributed", "Future"))


def _here(part: Any, where: str, column: str | None) -> Any:
    """A partition that is in memory here; TypeError for what cannot be one, the rest is seen where it is used."""
    if column is not None:
        try:
            return table_documents(part, column)
        except (TypeError, ValueError) as error:
            raise with_name(error, where) from None
    if is_path(part):
        raise TypeError(f"{where}: expected documents, got a path; give paths alone, or texts as lists of them")
    if part is None or isinstance(part, (int, float, complex, np.generic, Mapping, Set)) or hasattr(part, "__next__"):
        raise TypeError(f"{where}: expected a list of documents, an array, a Ragged or Counts, got {describe(part)}")
    if isinstance(part, (list, tuple, range)) and any(isinstance(doc, (int, np.integer)) for doc in part[:1]):
        raise TypeError(f"{where}: expected a list of documents, got a flat list of integers; a partition is a list of documents")
    if type(part).__module__.partition(".")[0] == "pyarrow" and hasattr(part, "type"):
        return arrow_documents(part, where)
    return part


def _size_of(docs: Any) -> int | None:
    """How many symbols the documents of a partition have; None for what are no documents, of which an error says so later.

    >>> _size_of([[1, 2], [3]]), _size_of(np.zeros((2, 3), int)), _size_of([1.5])
    (3, 6, None)
    """
    if isinstance(docs, Counts):
        return int(docs.flat.offsets[-1])
    if isinstance(docs, Ragged):
        return int(docs.lengths.sum())
    if isinstance(docs, np.ndarray) and docs.dtype != object:
        return docs.size
    if type(docs).__module__.partition(".")[0] == "pyarrow" and hasattr(docs, "type"):
        import pyarrow.compute as pc

        lengths = pc.list_value_length(docs) if kind_of(docs.type, "docs") == "int" else pc.binary_length(docs)
        return pc.sum(lengths).as_py() or 0
    try:
        return sum(map(len, docs))
    except TypeError:
        return None


def _of_array(array: Any, name: str) -> Partitions:
    """The blocks of an array: stretches of one document, or rows that are documents."""
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name}: documents are integers, got a dask.array of {array.dtype}")
    if array.ndim not in (1, 2):
        raise ValueError(f"{name}: expected a 1-D dask.array (one document) or 2-D (a document a row), got {array.ndim}-D")
    if array.ndim == 2 and array.numblocks[1] != 1:
        array = array.rechunk({1: -1})
    sizes = [n * math.prod(array.shape[1:]) for n in array.chunks[0]]
    return _numbered(array.to_delayed().ravel().tolist(), joined=array.ndim == 1, sizes=sizes)


def no_documents(docs: Any) -> bool:
    """Whether there is no document; an array or a text without symbols is one."""
    if not hasattr(type(docs), "__len__") or len(docs):
        return False
    return isinstance(docs, Counts) or as_documents(docs).offsets.size == 1
