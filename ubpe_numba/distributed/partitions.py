"""Partitions of a user as a list of Dask's delayed values, each documents as `fit` takes them."""

from __future__ import annotations

import math
import pickle
import sys
from collections.abc import Callable, Mapping, Sequence, Set
from types import MappingProxyType
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from dask import delayed as delay
from dask.utils import parse_bytes

from ubpe_numba.distributed.cluster import with_name
from ubpe_numba.distributed.files import PARQUET, byte_ranges_of, files_of, is_path, persistently, row_groups_of
from ubpe_numba.distributed.tables import arrow_documents, kind_of, series_documents, table_documents
from ubpe_numba.documents.counts import Counts
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import as_documents
from ubpe_numba.errors import quoted
from ubpe_numba.runtime.arrays import describe, positive

__all__ = ["BLOCKSIZE", "Partitions", "blocksize_of", "no_documents", "numbered", "partitions_of"]

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
    column: str | None = None  # of documents, where `delayed` are tables, or `RowGroups`, which are read as tables
    tables: Mapping[str, list[str]] = MappingProxyType({})  # the columns of each table that is known, by its name in messages
    marks: list[str] | None = None  # for the manifest of a target, where `names` are not enough


def partitions_of(
    parts: Any,
    column: str | None = None,
    *,
    lines: str = "str",
    blocksize: int | str | None = None,
    name: str = "parts",
) -> Partitions:
    """The partitions that a user gives; nothing is read before they are computed but the footers of Parquet files.

    parts, column and blocksize as for `count`, of Parquet files that have one column no `column` is needed; a 1-D `dask.array`
    of integers too, which is one document, and a dataframe with `column`; lines: ``"str"`` (UTF-8) or ``"bytes"``, of text files;
    name: of the argument in messages. TypeError for anything else, naming the argument and the partition; ValueError for an array
    of other dimensions, a column that is not there, and files that are neither, or not of one kind; OSError for a file that
    cannot be read.

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
        return numbered(_each(parts.to_delayed(), list))
    if _is_a(parts, "dask.array", "Array"):
        if parts.dtype.kind not in "iu":
            raise TypeError(f"{name}: documents are integers, got a dask.array of {parts.dtype}")
        if parts.ndim not in (1, 2):
            raise ValueError(f"{name}: expected a 1-D dask.array (one document) or 2-D (a document a row), got {parts.ndim}-D")
        if parts.ndim == 2 and parts.numblocks[1] != 1:
            parts = parts.rechunk({1: -1})
        sizes = [n * math.prod(parts.shape[1:]) for n in parts.chunks[0]]
        return numbered(parts.to_delayed().ravel().tolist(), joined=parts.ndim == 1, sizes=sizes)
    if _is_a(parts, "dask.dataframe", "Series"):
        where = "the column" if parts.name is None else f"column {quoted(parts.name)}"
        series_documents(parts._meta, f"{name}: {where}")
        return numbered(_each(parts.to_delayed(), series_documents, where))
    raise TypeError(f"{name}: expected {_ACCEPTED}, got {describe(parts)}")


def blocksize_of(blocksize: int | str | None) -> int:
    """The argument `blocksize` in bytes."""
    if isinstance(blocksize, str):
        try:
            blocksize = parse_bytes(blocksize)
        except ValueError as error:
            raise ValueError(f"blocksize: {error}") from error
    return BLOCKSIZE if blocksize is None else positive(blocksize, "blocksize", "bytes, or a str such as '64 MiB'")


def _is_a(value: Any, module: str, name: str) -> bool:
    """Whether a value is of a class of Dask, whose module is not imported for that: who has a value has its module."""
    cls = getattr(sys.modules.get(module), name, None)
    return isinstance(cls, type) and isinstance(value, cls)


def numbered(
    delayed: list[Any], joined: bool = False, client: Any = None, sizes: Sequence[int | float | None] = (None,)
) -> Partitions:
    """Partitions that are named by their numbers; sizes that are not known are None or NaN."""
    known = [int(size) for size in sizes if size is not None and not math.isnan(size)]
    names = [f"partition {i}" for i in range(len(delayed))]
    return Partitions(delayed, names, joined, client, known if len(known) == len(delayed) else None)


def _each(delayed: Any, function: Callable[..., Any], *arguments: Any) -> list[Any]:
    """A function of each partition and of the same arguments, where the partition is."""
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
    if lines not in ("str", "bytes"):
        raise ValueError(f"lines: expected 'str' or 'bytes', got {quoted(lines)}")
    files = files_of(given, name)
    pieces: list[Any]
    if files.suffix == PARQUET:
        pieces = list(row_groups_of(files, column, blocksize, name))
    elif column is not None:
        raise TypeError(f"column: it is one of tables, and {files.paths[0]} is text")
    else:
        pieces = list(byte_ranges_of(files, blocksize, lines))
    names = [piece.name for piece in pieces]
    call = delay(_read, pure=False, traverse=False)
    blobs = [pickle.dumps(piece, 5) for piece in pieces]  # a named tuple would be looked into for tasks
    delayed = [call(blob, dask_key_name=f"ubpe-read-{uuid4().hex}") for blob in blobs]
    return Partitions(delayed, names, sizes=[piece.size for piece in pieces])


def _read(blob: bytes) -> Any:
    """The documents of a part of a file."""
    piece = pickle.loads(blob)
    return _named(piece.name, persistently, piece.store, piece.documents)


def _of_list(parts: Any, column: str | None, name: str) -> Partitions:
    """The partitions of a list of what is all in memory here, or all elsewhere."""
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
        return numbered(_each(delayed, table_documents, column) if column is not None else delayed, client=client)
    call = delay(pickle.loads, pure=False, traverse=False)
    found = [_here(part, f"{name}: partition {i}", column) for i, part in enumerate(parts)]
    delayed = [call(pickle.dumps(part, 5), dask_key_name=f"ubpe-partition-{uuid4().hex}") for part in found]
    return numbered(delayed, sizes=list(map(_size_of, found)))


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


def no_documents(docs: Any) -> bool:
    """Whether there is no document; an array or a text without symbols is one."""
    if not hasattr(type(docs), "__len__") or len(docs):
        return False
    return isinstance(docs, Counts) or as_documents(docs).offsets.size == 1
