"""Sources: partitions as values that a task of Dask reads into documents or batches of a table.

fsspec lists files, on disks or in stores by their URLs. Text is read by ranges of bytes. Parquet is read by
row groups, with the columns that folders name, through `pyarrow.dataset`. The core reads columns of Arrow of
any layout.
"""

from __future__ import annotations

import glob
import hashlib
import math
import os
import pickle
import posixpath
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

from dask import delayed as delay
from dask.utils import natural_sort_key, parse_bytes
from fsspec.core import url_to_fs
from fsspec.utils import read_block

from ubpe_numba.documents.counts import Counts
from ubpe_numba.documents.flat import Named
from ubpe_numba.documents.read import Corpus, as_documents
from ubpe_numba.errors import quoted
from ubpe_numba.runtime.arrays import describe, positive
from ubpe_numba.tokenizers.seam import corpus_of_fit

BLOCKSIZE = 64 << 20  # bytes of a column or of a text file that are a partition
_BATCH_BYTES = 1 << 24  # of the documents of a table that are worked on at a time
_ROW_BYTES = 1 << 26  # of their whole rows
_SUFFIXES = PARQUET, TEXT = (".parquet", ".txt")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_ACCEPTED = (
    "a list of partitions (Delayed, Future, or each a list of documents), a dask bag, array or column of a "
    "dataframe, or paths of .parquet or .txt files"
)


class Partitions(NamedTuple):
    """The partitions of a corpus, in order.

    `documents_of` and `batches_of` read the values of `delayed`.
    """

    delayed: list[Any]
    names: list[str]  # for messages
    joined: bool = False  # the partitions one after the other are a single document
    client: Any = None  # the client of the futures among the partitions, which no other client can use
    sizes: list[int] | None = None  # symbols, or bytes of text, if known without reading
    column: str | None = None  # of the documents, where partitions are tables
    columns: Sequence[str] = ()  # of these tables, if known
    identities: list[str] | None = None  # by which a manifest knows partitions, where names are not enough
    remote: bool = False  # they are read from a store: an error may be of the moment


class Lines(NamedTuple):
    """The lines that begin after the first end of a line in the bytes `begin` to `end` of a text file."""

    store: Any
    path: str
    begin: int
    end: int
    kind: str  # "str" (UTF-8) or "bytes"

    def documents(self) -> Any:
        """The lines, an Arrow array; ValueError, with the line's number, for invalid UTF-8."""
        import pyarrow as pa
        import pyarrow.compute as pc

        with self.store.open(self.path, "rb") as file:
            data = read_block(file, self.begin, self.end - self.begin, b"\n") if self.end else b""
        data = data if self.begin else data.removeprefix(_BYTE_ORDER_MARK)
        if self.kind == "str":
            try:
                data.decode("utf-8")
            except UnicodeDecodeError as error:
                line = data.count(b"\n", 0, error.start)
                raise ValueError(
                    f"line {line} is not UTF-8 ({error.reason}); a tokenizer of bytes reads any"
                ) from error
        lines = pc.split_pattern(pa.array([data.replace(b"\r\n", b"\n")], pa.large_binary()), b"\n").values
        lines = lines[:-1] if not data or data.endswith(b"\n") else lines
        return lines.cast(pa.large_string()) if self.kind == "str" else lines


class RowGroups(NamedTuple):
    """Some row groups of a Parquet file: a fragment of `pyarrow.dataset` with its `schema`.

    Also the number of its first row.
    """

    fragment: Any
    schema: Any  # with the columns that folders name, after those of the file
    first: int

    def documents(self, column: str) -> Any:
        """A column."""
        return self.fragment.to_table(columns=[column], use_threads=False).column(0)

    def batches(self, column: str) -> Iterator[Any]:
        """All columns in batches: in memory are one, and a row group as it is compressed."""
        import pyarrow as pa
        import pyarrow.dataset as ds
        import pyarrow.parquet as pq

        groups = [self.fragment.metadata.row_group(group.id) for group in self.fragment.row_groups]
        chunks = [chunk for group in groups for chunk in _chunks(group, column)]
        # a dictionary hides how many symbols there are
        size = sum(max(chunk.total_uncompressed_size, 4 * chunk.num_values) for chunk in chunks)
        n = _batch_rows(
            sum(group.num_rows for group in groups), size, sum(group.total_byte_size for group in groups)
        )
        named = ds.get_partition_keys(self.fragment.partition_expression)
        with pq.ParquetFile(self.fragment.open(), pre_buffer=True) as file:
            for batch in file.iter_batches(
                n, [group.id for group in self.fragment.row_groups], use_threads=False
            ):
                more = [
                    pa.scalar(named.get(field.name), field.type)
                    for field in list(self.schema)[batch.num_columns :]
                ]
                columns = [*batch.columns, *(pa.repeat(value, batch.num_rows) for value in more)]
                yield pa.RecordBatch.from_arrays(columns, schema=self.schema)


def documents_of(part: Any, column: str | None = None) -> Any:
    """The documents of a partition, as for `fit`; `column` is for tables.

    TypeError for a column of something else than documents, ValueError for a missing column.
    """
    # of files: Dask looks for tasks in tuples, as these are
    part = part() if isinstance(part, partial) else part
    if isinstance(part, Lines):
        return part.documents()
    if isinstance(part, RowGroups):
        assert column is not None
        return _checked(part.documents(column), f"column {quoted(column)}")
    if column is not None:
        return _column_of(_arrow_table(part, column, [column]), column)
    if _is_a(part, "pandas", "Series") or (
        hasattr(part, "type") and type(part).__module__.startswith("pyarrow")
    ):
        return _checked(part, "docs")
    return list(part) if hasattr(part, "__next__") else part


def corpus_of(tokenizer: Any, docs: Any, weights: Any = None, boundaries: Any = None) -> Corpus:
    """The documents of a partition as a fit reads them.

    TypeError for words that are numbered in each partition separately.
    """
    corpus: Corpus = corpus_of_fit(tokenizer, docs, None, weights, boundaries)
    if isinstance(corpus.given.kind, Named) and tokenizer.alphabet is None:
        raise TypeError("docs: a cluster learns no alphabet of words; give alphabet= with all of them")
    return corpus


def no_documents(docs: Any) -> bool:
    """Whether there are 0 documents; an array or a text without symbols is one."""
    if not hasattr(type(docs), "__len__") or len(docs):
        return False
    return isinstance(docs, Counts) or as_documents(docs).offsets.size == 1


def batches_of(part: Any, column: str | None) -> Iterator[tuple[int, Any]]:
    """The rows of a partition of tables, or of lines, in batches of bounded memory.

    At least one batch, each with its first row.

    ValueError for data that cannot be read.
    """
    import pyarrow as pa

    part, row, column = part() if isinstance(part, partial) else part, 0, column or "lines"
    if isinstance(part, RowGroups):
        schema, row, batches = part.schema, part.first, part.batches(column)
    else:
        table = (
            pa.table({column: part.documents()}) if isinstance(part, Lines) else _arrow_table(part, column)
        )
        _column_of(table, column)
        schema, n = table.schema, _batch_rows(table.num_rows, table.column(column).nbytes, table.nbytes)
        batches = iter(table.to_batches(n))
    first = row
    try:
        for batch in batches:
            yield row, batch
            row += batch.num_rows
    except OSError as error:  # pyarrow also raises it, without a number, for damaged pages
        if error.errno is not None:
            raise
        raise ValueError(f"the rows from {row} on cannot be read: {error}") from error
    if row == first:
        yield row, pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)


def _batch_rows(n: int, size: int, whole: int) -> int:
    """Rows of a batch of a table of n rows, by the bytes of documents, and of all columns."""
    return max(1, min(_BATCH_BYTES * n // max(size, 1), _ROW_BYTES * n // max(whole, 1), n))


def _arrow_table(part: Any, column: str, columns: list[str] | None = None) -> Any:
    """A table of Arrow, or of pandas as one; TypeError for something else."""
    import pyarrow as pa

    if _is_a(part, "pandas", "DataFrame"):
        return pa.Table.from_pandas(part[columns] if columns and column in part.columns else part)
    if isinstance(part, (pa.Table, pa.RecordBatch)):
        return part if isinstance(part, pa.Table) else pa.Table.from_batches([part])
    raise TypeError(
        f"column {quoted(column)}: expected a partition that is a table of Arrow or pandas, got "
        f"{describe(part)}"
    )


def _column_of(table: Any, column: str) -> Any:
    """A column of documents of a table of Arrow."""
    if table.column_names.count(column) != 1:
        there = ", ".join(map(repr, table.column_names))
        raise ValueError(
            f"column {quoted(column)}: expected one column of this name, there are {there or 'none'}"
        )
    return _checked(table.column(column), f"column {quoted(column)}")


def _checked(array: Any, where: str) -> Any:
    """An array of Arrow, or a Series of pandas, if its elements are documents."""
    import pyarrow as pa

    array = array if hasattr(array, "type") else pa.array(array)
    _kind_of(array.type, where)
    return array


def _kind_of(kind: Any, where: str) -> str:
    """Kind of the documents of a column of this Arrow type, as in `Documents`.

    TypeError if its elements cannot be documents.
    """
    import pyarrow as pa

    with suppress(TypeError, pa.ArrowException):
        documents = as_documents(pa.array([], getattr(kind, "storage_type", kind)))
        if documents.offsets.size == 1:  # a column of integers is one document
            return documents.kind
    way = "; words are given as lists" * (
        "string" in str(kind)
    ) + "; [column] is one document" * pa.types.is_integer(kind)
    raise TypeError(f"{where}: expected lists of integers, strings or binary, got {kind}{way}")


def _is_a(value: Any, module: str, name: str) -> bool:
    """Whether a value is of a class whose module is not imported for that: who has a value has its module."""
    cls = getattr(sys.modules.get(module), name, None)
    return isinstance(cls, type) and isinstance(value, cls)


def partitions_of(
    parts: Any, column: str | None = None, *, lines: str = "str", blocksize: int | str | None = None,
    name: str = "parts",
    argument: str = "column", default: str | None = None,
) -> Partitions:  # fmt: skip
    """The partitions that a user passes; only the footers of Parquet files are read at first.

    `parts`, `column` and `blocksize` as for `count`. Also a 1-D `dask.array` of integers, which is a single
    document. `lines`: ``"str"`` (UTF-8) or ``"bytes"``, for text files. `name` and `argument` are what
    messages call the partitions and the column. `default` is the column if there are several and none is
    chosen. TypeError, ValueError or OSError, with the argument, the partition or the file.
    """
    if column is not None and not isinstance(column, str):
        raise TypeError(f"{argument}: expected a name, got {describe(column)}")
    if isinstance(blocksize, str):
        try:
            blocksize = parse_bytes(blocksize)
        except ValueError as error:
            raise ValueError(f"blocksize: {error}") from error
    size = (
        BLOCKSIZE
        if blocksize is None
        else positive(blocksize, "blocksize", "bytes, or a str such as '64 MiB'")
    )
    if is_path(parts) or (isinstance(parts, (list, tuple)) and parts and all(map(is_path, parts))):
        store, paths, base = files_of(parts, name)
        if paths[0].lower().endswith(PARQUET):
            return _of_parquet(store, paths, base, size, column, name, argument, default)
        if column is not None:
            raise TypeError(f"{argument}: it is one of tables, and {paths[0]} is text")
        ranges = [
            (path, i, n) for path in paths for n in [store.size(path)] for i in range(0, max(n, 1), size)
        ]
        pieces = [Lines(store, path, i, min(i + size, n), lines) for path, i, n in ranges]
        names = [
            f"{piece.path}, bytes {piece.begin}..{piece.end - 1}" if piece.end else piece.path
            for piece in pieces
        ]
        sizes = [piece.end - piece.begin for piece in pieces]
        packed = [partial(pickle.loads, pickle.dumps(piece, 5)) for piece in pieces]
        return Partitions(packed, names, sizes=sizes, remote=not is_local(store))
    if isinstance(parts, (list, tuple)):
        return _of_list(parts, column, name)
    if _is_a(parts, "dask.dataframe", "DataFrame"):
        names = list(map(str, parts.columns))
        column = _chosen(names, column, argument, "the dataframe", default)
        return _numbered(parts.to_delayed())._replace(column=column, columns=names)
    if column is not None:
        raise TypeError(f"{argument}: it is one of tables, and {name} is {describe(parts)}")
    if _is_a(parts, "dask.array", "Array"):
        if parts.dtype.kind not in "iu":
            raise TypeError(f"{name}: documents are integers, got a dask.array of {parts.dtype}")
        if parts.ndim not in (1, 2):
            raise ValueError(
                f"{name}: expected a 1-D dask.array (one document) or 2-D (rows), got {parts.ndim}-D"
            )
        if parts.ndim == 2 and parts.numblocks[1] != 1:
            parts = parts.rechunk({1: -1})
        known = None if math.isnan(parts.size) else [n * math.prod(parts.shape[1:]) for n in parts.chunks[0]]
        return _numbered(parts.to_delayed().ravel(), parts.ndim == 1)._replace(sizes=known)
    if _is_a(parts, "dask.bag", "Bag") or _is_a(parts, "dask.dataframe", "Series"):
        return _numbered(parts.to_delayed())
    raise TypeError(f"{name}: expected {_ACCEPTED}, got {describe(parts)}")


def _numbered(delayed: Any, joined: bool = False, client: Any = None) -> Partitions:
    """Partitions that are named by their numbers."""
    return Partitions(list(delayed), [f"partition {i}" for i in range(len(delayed))], joined, client)


def _of_list(parts: Sequence[Any], column: str | None, name: str) -> Partitions:
    """The partitions of a list whose values are all in memory here, or all elsewhere."""
    elsewhere = (("dask.delayed", "Delayed"), ("distributed", "Future"))
    kinds = [
        next((kind for module, kind in elsewhere if _is_a(part, module, kind)), "here") for part in parts
    ]
    if other := [i for i, kind in enumerate(kinds) if kind != kinds[0]]:
        got = f"{describe(parts[0])} (partition 0) and {describe(parts[other[0]])} (partition {other[0]})"
        raise TypeError(f"{name}: expected partitions of one form, got {got}")
    if kinds and kinds[0] != "here":
        client = parts[0].client if kinds[0] == "Future" else None
        return _numbered([delay(part) for part in parts] if client else parts, client=client)._replace(
            column=column
        )
    for i, part in enumerate(parts):
        if is_path(part):
            raise TypeError(
                f"{name}: partition {i}: expected documents, got a path. Pass only paths, or lists of texts."
            )
        if isinstance(part, memoryview):
            raise TypeError(f"{name}: partition {i}: expected documents, got memoryview. Pass bytes() of it.")
    call = delay(pickle.loads, pure=False, traverse=False)
    return _numbered([call(pickle.dumps(part, 5)) for part in parts])._replace(column=column)


def _chosen(names: list[str], column: str | None, argument: str, where: str, default: str | None) -> str:
    """The chosen column, or the only one, or the default if it exists."""
    if column is None:
        column = names[0] if len(names) == 1 else default if default in names else None
    if column is None or names.count(column) != 1:
        raise ValueError(
            f"{argument}: expected the name of one column of {where}: {', '.join(map(repr, names))}, got "
            f"{column!r}"
        )
    return column


def is_path(value: object) -> bool:
    """Whether a user's argument names files."""
    return isinstance(value, (str, os.PathLike))


def store_of(given: Any, name: str) -> tuple[Any, str]:
    """The fsspec file system of a path or URL, and the path in it.

    ValueError for an unknown store.
    """
    path = os.fspath(given)
    try:
        store, inside = url_to_fs(path)
    except (ValueError, ImportError) as error:
        raise type(error)(f"{name}: {path}: {error}") from error
    return store, inside


def is_local(store: Any) -> bool:
    """Whether a file system is that of this machine."""
    return "file" in ([store.protocol] if isinstance(store.protocol, str) else store.protocol)


def files_of(given: Any, name: str = "parts") -> tuple[Any, list[str], str]:
    """The store, the paths in it, and the folder below which folder names are columns.

    Empty: all folders.

    In a folder and its subfolders, all ``.parquet`` files are read, or all ``.txt`` files if there are none,
    in natural order (2 before 10). Names that begin with a dot or an underscore are left out, as in Dask and
    Spark. ValueError for two formats or stores, FileNotFoundError if nothing is found.
    """
    each = [given] if is_path(given) else given
    places = [store_of(one, name) for one in each]
    store, base = places[0]
    if any(other is not store for other, _ in places):
        raise ValueError(f"{name}: expected files of one store, got {each[0]} and others")
    paths: list[str] = []
    for _, place in places:
        matches = (
            [place] if store.exists(place) else sorted(store.glob(place)) if glob.has_magic(place) else []
        )
        if not matches:
            hint = (
                ""
                if "/" in str(given) or os.sep in str(given)
                else "; a str is a path: texts are given as lists of them"
            )
            raise FileNotFoundError(f"{name}: {place}: there is no such file{hint}")
        above = len(place if store.exists(place) else posixpath.dirname(re.split(r"[*?\[]", place)[0]))
        files = [file for match in matches for file in store.find(match)]
        seen = [
            file for file in files if not any(part.startswith((".", "_")) for part in file[above:].split("/"))
        ]
        kinds = [[path for path in seen if path.lower().endswith(suffix)] for suffix in _SUFFIXES]
        if not (kinds[0] or kinds[1]):
            way = "read others with dask.bag.read_text or dask.dataframe, and give the bag or the column"
            raise ValueError(f"{name}: {place}: expected .parquet or .txt files, found none; {way}")
        paths += sorted(kinds[0] or kinds[1], key=natural_sort_key)
    if len({path.lower().endswith(TEXT) for path in paths}) > 1:
        raise ValueError(f"{name}: expected files of one format, got {paths[0]} and others")
    return store, paths, base if len(places) == 1 and store.isdir(base) else ""


def _of_parquet(
    store: Any,
    paths: list[str],
    base: str,
    blocksize: int,
    column: str | None,
    name: str,
    argument: str,
    default: str | None,
) -> Partitions:
    """Row groups of Parquet files, from their footers.

    Together they have about `blocksize` bytes of the column, and there is at least one.
    """
    import pyarrow as pa
    import pyarrow.dataset as ds

    options = ds.FileSystemFactoryOptions(
        partition_base_dir=base, partitioning=ds.HivePartitioning.discover()
    )
    files = pa.fs.PyFileSystem(pa.fs.FSSpecHandler(store))
    try:
        factory = ds.FileSystemDatasetFactory(files, paths, ds.ParquetFileFormat(), options)
        of_folders = factory.inspect_schemas()[-1]
        footers = [(f, f.metadata, f.physical_schema) for f in factory.finish(of_folders).get_fragments()]
    except pa.ArrowInvalid as error:
        raise ValueError(f"{name}: not a Parquet file that can be read: {error}") from error
    pieces, names, sizes, identities, columns = [], [], [], [], dict[str, None]()
    for fragment, footer, schema in footers:
        named = [
            field for field in of_folders if field.name not in schema.names and any("=" in p for p in paths)
        ]
        column = _chosen(schema.names, column, argument, fragment.path, default)
        kind = _kind_of(schema.field(column).type, f"{fragment.path}: column {quoted(column)}")
        for field in named:
            schema = schema.append(field)
        columns |= dict.fromkeys(schema.names)
        keys = ds.get_partition_keys(fragment.partition_expression)
        known = (
            f"{posixpath.basename(fragment.path)}, footer "
            f"{hashlib.sha256(pickle.dumps(footer, 5)).hexdigest()[:16]}"
        )
        known += "".join(f", {field.name}={keys.get(field.name)!r}" for field in named)
        cuts, size, row, groups = [0], 0, 0, [footer.row_group(i) for i in range(footer.num_row_groups)]
        for i, group in enumerate(groups):
            more = sum(chunk.total_uncompressed_size for chunk in _chunks(group, column))
            if i > cuts[-1] and size + more > blocksize:
                cuts, size = [*cuts, i], 0
            size += more
        for a, b in pairwise([*cuts, len(groups)]):
            chunks = [chunk for group in groups[a:b] for chunk in _chunks(group, column)]
            n = sum(group.num_rows for group in groups[a:b])
            piece = RowGroups(fragment.subset(row_group_ids=range(a, b)), schema, row)
            pieces.append(partial(pickle.loads, pickle.dumps(piece, 5)))
            names.append(f"{fragment.path}, rows {row}..{row + n - 1}" if n else f"{fragment.path}, no rows")
            sizes.append(
                sum(chunk.num_values if kind == "int" else chunk.total_uncompressed_size for chunk in chunks)
            )
            identities.append(f"{known}, rows {row} to {row + n}")
            row += n
    partitions = Partitions(pieces, names, sizes=sizes, column=column, columns=list(columns))
    return partitions._replace(identities=identities, remote=not is_local(store))


def _chunks(group: Any, column: str) -> list[Any]:
    """The chunks of a column, of lists too, in the metadata of a row group."""
    chunks = map(group.column, range(group.num_columns))
    return [chunk for chunk in chunks if chunk.path_in_schema.split(".")[0] == column.split(".")[0]]
