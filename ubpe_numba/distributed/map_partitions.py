"""Partitions through a model, each by itself, to Parquet files or to one result here: common to encoding and decoding.

Tables are read in batches of bounded memory, one column is made of another, and written whole: a file appears under its name when
all of it is written; on disks it is until then a hidden one beside it (``runtime/files.py``). The target folder:

    _ubpe.json              the manifest: made by `encode` or `decode`, with which model and settings, of which partitions
    part-00000.parquet      a partition that is there whole
    .part-00001.parquet.4f00c2a9d1b7e655.tmp     one that is being written, or was when its process was killed

A run that finds files does the rest only. It is refused where the manifest says anything else than it would write itself.

Several runs may write to one folder at once: by the manifest they write the same, each under temporary names of its own, and a
partition that one of them has finished the others leave out. Nothing is locked, and no clock is asked, as neither can be relied
on where file systems are shared by a network. A temporary file is removed by the first run that sees all partitions there whole,
whether its process was killed or is at work still: nobody needs it any more, and a task whose temporary file is gone finds the
partition there and has nothing left to do (`write_part`).
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import pickle
import posixpath
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

import numpy as np
from dask import delayed
from fsspec.implementations.local import LocalFileSystem

from ubpe_numba.distributed.cluster import (
    check_stopped,
    reaching,
    results,
    shared,
    using,
    value_of,
)
from ubpe_numba.distributed.files import (
    PARQUET,
    Files,
    RowGroups,
    chunks_of,
    columns_of_folders,
    files_of,
    is_local,
    is_path,
    open_parquet,
    persistently,
    publish,
    row_groups_of,
    store_of,
)
from ubpe_numba.distributed.partitions import Partitions, blocksize_of, numbered, partitions_of
from ubpe_numba.distributed.relay import without
from ubpe_numba.distributed.tables import arrow_documents, result_column, table_documents
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.errors import LocatedError, quoted
from ubpe_numba.runtime.arrays import describe, offsets_of
from ubpe_numba.runtime.messages import Progress
from ubpe_numba.tokenizers.base import Tokenizer

if TYPE_CHECKING:
    from distributed import Client

_TAIL = 8  # bytes at the end of a Parquet file: the size of the footer before them, and "PAR1"


class Work(NamedTuple):
    """Options that all tasks of a call share."""

    tokenizer: Tokenizer  # of one thread
    fingerprint: str  # that it has here
    method: str  # of the tokenizer, which makes a `Ragged` or a list of documents, or of an array of Arrow
    options: dict[str, Any]  # of the method
    new: NewColumn
    is_table: bool
    compression: str | None
    token: str
    folder: TargetFolder | None


def _run(name: str, part: Any, number: int) -> Any:
    """In a worker: a partition through the model; the result, or None where it goes to the file of this number."""
    import pyarrow as pa

    work: Work = value_of(name)
    tokenizer = work.tokenizer
    if tokenizer.fingerprint != work.fingerprint:
        raise RuntimeError(f"the model has the fingerprint {tokenizer.fingerprint} on this worker, expected {work.fingerprint}")
    part, folder = pickle.loads(part) if isinstance(part, bytes) else part, work.folder
    if folder is None:
        store = part.store if isinstance(part, RowGroups) else LocalFileSystem()
        return persistently(store, lambda: joined([found for _, found in _pieces(work, tokenizer, part)]))

    def tables() -> Iterator[Any]:
        for batch, found in _pieces(work, tokenizer, part):
            values = result_column(tokenizer, found, str(work.options.get("errors")))
            yield work.new.beside(batch, values) if work.is_table else pa.table({work.new.name: values})

    path = folder.file(number)

    def write() -> None:
        write_part(folder.store, path, lambda: write_tables(folder.store, path, tables(), work.new.name, work.compression))

    return persistently(part.store if isinstance(part, RowGroups) and is_local(folder.store) else folder.store, write)


def _pieces(work: Work, tokenizer: Tokenizer, part: Any) -> Iterator[tuple[Any, Any]]:
    """Results batch by batch, at least one, each with its rows, or None without a table."""
    import pyarrow as pa

    convert, column = partial(getattr(tokenizer, work.method), **work.options), work.new.source
    if isinstance(part, RowGroups):
        batches = batches_of(part)
    elif isinstance(part, (pa.Array, pa.ChunkedArray)):
        batches = slices_of(pa.table({column: part}), column)
    elif work.is_table:
        table_documents(part[:0] if hasattr(part, "shape") else part, column)  # raises for what is no such table
        table = part if isinstance(part, pa.Table) else pa.Table.from_pandas(part)
        work.new.check(table.column_names, "the table")
        batches = slices_of(table, column)
    else:
        yield None, convert(part)
        return
    for row, batch in batches:
        check_stopped(work.token)
        yield batch, through(batch, row, column, convert)


def joined(found: list[Any]) -> Any:
    """Results one after the other: one `Ragged`, or a list.

    >>> joined([Ragged.from_lists([[1], []]), Ragged.from_lists([[2, 3]])]).to_lists(), joined([["a"], ["b", "c"]])
    ([[1], [], [2, 3]], ['a', 'b', 'c'])
    """
    if not all(isinstance(part, Ragged) for part in found):
        return [doc for part in found for doc in part]
    parts = [part.compact() for part in found]
    if len(parts) == 1:
        return parts[0]
    values = np.concatenate([np.zeros(0, np.int32), *(part.values for part in parts)])
    return Ragged._trusted(values, offsets_of(np.concatenate([np.zeros(0, np.int64), *(part.lengths for part in parts)])))


def source_of(
    source: Any, column: str | None, argument: str, lines: str, blocksize: int | str | None, default: str | None = None
) -> Partitions:
    """The partitions of what a user gives; `argument` is what the column of documents is called, `default` the one without it.

    Errors as `partitions_of` raises them; ValueError for an array that is one document.
    """
    if column is not None and not isinstance(column, str):
        raise TypeError(f"{argument}: expected a name, got {describe(column)}")
    if is_path(source) or (isinstance(source, (list, tuple)) and source and all(map(is_path, source))):
        files = files_of(source, "source")
        if files.suffix == PARQUET:
            return _of_parquet(files, column, argument, blocksize_of(blocksize), default)
    elif hasattr(source, "to_delayed") and hasattr(source, "columns") and source.ndim == 2:  # a dataframe of Dask
        names = [str(name) for name in source.columns]
        chosen = _chosen(names, column, default)
        if chosen is None or names.count(chosen) != 1:
            raise ValueError(f"{argument}: expected the name of one of the columns {', '.join(map(repr, names))}, got {column!r}")
        return numbered(list(source.to_delayed()))._replace(column=chosen, tables={"source": names})
    gives_tables = column is not None and isinstance(source, (list, tuple)) and not any(map(is_path, source))
    found = partitions_of(source, None if gives_tables else column, lines=lines, blocksize=blocksize, name="source")
    if found.joined:
        raise ValueError(
            "source: a 1-D dask.array is one document, which cannot be encoded in parts; expected documents, as rows of 2-D are"
        )
    return found if column is None else numbered(found.delayed, client=found.client)._replace(column=column)


def _chosen(names: list[str], column: str | None, default: str | None) -> str | None:
    """The given column, or the only one, or the default if it is there."""
    if column is not None or not names:
        return column
    return names[0] if len(names) == 1 else default if default in names else None


def _of_parquet(files: Files, column: str | None, argument: str, blocksize: int, default: str | None) -> Partitions:
    """Row groups of Parquet files, with the columns that folders name and a file has not itself.

    The manifest knows a file, wherever it is, by its name, its size, a hash of its footer, which says where each column is and
    what is in it, and these columns.
    """
    tables, marks, more = {}, {}, {}
    for path in dict.fromkeys(files.paths):
        with open_parquet(files.store, path) as parquet:
            tables[path] = list(parquet.schema_arrow.names)
        with files.store.open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(size - _TAIL)
            length = int.from_bytes(file.read(4), "little")
            file.seek(max(0, size - _TAIL - length))
            footer = hashlib.sha256(file.read(length)).hexdigest()[:16]
        marks[path] = f"{os.path.basename(path)}, {size} bytes, {footer}"
    for path, named in zip(files.paths, columns_of_folders(files), strict=True):
        more[path] = {name: value for name, value in named.items() if name not in tables[path]}
    chosen = _chosen(tables[files.paths[0]], column, default)
    parts = [part._replace(more=more[part.path]) for part in row_groups_of(files, chosen, blocksize, "source", argument)]
    for path, named in more.items():
        tables[path] += named
        marks[path] += "".join(f", {name}={value[0].as_py()!r}" for name, value in named.items())
    found = Partitions(list(parts), [part.name for part in parts], column=parts[0].column, tables=tables)
    return found._replace(marks=[f"{marks[part.path]}, rows {part.rows}" for part in parts])


def recoded(
    what: str,
    tokenizer: Tokenizer,
    options: dict[str, Any],
    source: Partitions,
    new: NewColumn,
    target: Any,
    settings: dict[str, Any],
    client: Client | None,
    progress: bool | str,
) -> Any:
    """All partitions through the model: one result, or with a target the paths of the files, in the order of the partitions.

    `what` is ``"encode"`` or ``"decode"``, `options` are those of ``encode_batch`` or ``decode_batch``, `settings` those of the
    manifest beside model and partitions.
    """
    for where, names in source.tables.items():
        new.check(names, where)
    Progress(progress)  # raises for another value
    n = len(source.delayed)
    folder, todo = None, list(range(n))
    if target is not None:
        if not is_path(target):
            raise TypeError(f"target: expected the path of a folder or None, got {describe(target)}")
        store, at = store_of(target, "target")
        if store.isfile(at):
            raise NotADirectoryError(f"target: {at}: expected a folder, got a file")
        folder, marks = TargetFolder(store, at, n), source.names if source.marks is None else source.marks
        todo = folder.begin({"function": what, "model": tokenizer.fingerprint, "settings": settings, "parts": marks})
    found: list[Any] = [None] * n
    if todo:
        token = uuid4().hex
        is_table, compression = source.column is not None, settings["compression"]
        lean = without(tokenizer, "history_")
        lean.n_threads = 1
        work = Work(lean, tokenizer.fingerprint, f"{what}_batch", options, new, is_table, compression, token, folder)
        with using(client or source.client) as running:
            run, tasks = delayed(_run, pure=False, traverse=False), []
            for i in todo:
                part = source.delayed[i]
                part = pickle.dumps(part, 5) if isinstance(part, RowGroups) else part  # else Dask would take it apart
                tasks.append(run(f"ubpe-{token}", part, i, dask_key_name=f"ubpe-{what}-{token}-{i}"))
            with reaching(running), shared(running, f"ubpe-{token}", work):
                for k, result in results(running, tasks, [source.names[i] for i in todo], progress, what, token):
                    found[todo[k]] = result
    return joined(found) if folder is None else folder.finish()


def check_arguments(tokenizer: Any, compression: Any) -> None:
    """TypeError for what is no tokenizer, NotFittedError for one without a vocabulary, ValueError for another compression."""
    if not isinstance(tokenizer, Tokenizer):
        raise TypeError(f"tokenizer: expected a BPE, UBPEClassic or UBPE, got {describe(tokenizer)}")
    tokenizer._fitted()
    if compression not in (None, "zstd", "lz4", "snappy", "none"):
        raise ValueError(f"compression: expected None, 'snappy', 'lz4', 'zstd' or 'none', got {compression!r}")


BATCH_BYTES = 1 << 24  # of the documents that are worked on at a time
_ROW_BYTES = 1 << 26  # of whole rows, with the other columns


class NewColumn(NamedTuple):
    """The column `name` is made of the column `source`, and comes after the others; with `drop` in the place of `source`.

    `argument` is what messages call the argument that gives the name.
    """

    source: str
    name: str
    drop: bool
    argument: str

    def check(self, names: list[str], where: str) -> None:
        """ValueError if the table, called `where`, has a column of this name already."""
        if self.name in names and not (self.drop and self.name == self.source):
            raise ValueError(f"{self.argument}: {where} has a column {quoted(self.name)} already; give another name")

    def beside(self, batch: Any, values: Any) -> Any:
        """The rows of a batch with the new column, a table."""
        import pyarrow as pa

        table = pa.Table.from_batches([batch])
        if self.drop:
            return table.set_column(table.column_names.index(self.source), self.name, values)
        return table.append_column(self.name, values)


def batches_of(part: RowGroups) -> Iterator[tuple[int, Any]]:
    """The rows of row groups in batches with all columns, those that folders name after those of the file.

    At least one batch, each with the number of its first row in the file, and of about `BATCH_BYTES` of documents where rows are
    of average size. In memory are a batch and, compressed as they are in the file, the columns of a row group. ValueError for
    data that cannot be read.
    """
    import pyarrow as pa

    with open_parquet(part.store, part.path) as file:
        row, schema = part.rows[0], file.schema_arrow
        for name, value in part.more.items():
            schema = schema.append(pa.field(name, value.type))
        if part.rows[0] == part.rows[1]:
            yield row, pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)
        for i in range(part.first, part.last):
            group = file.metadata.row_group(i)
            n, chunks = group.num_rows, chunks_of(group, part.column)
            # a dictionary hides how many symbols there are
            size = max(sum(max(chunk.total_uncompressed_size, 4 * chunk.num_values) for chunk in chunks), 1)
            n = max(1, min(n, BATCH_BYTES * n // size, _ROW_BYTES * n // max(group.total_byte_size, 1)))
            batches = file.iter_batches(n, row_groups=[i], use_threads=False)
            while True:
                try:
                    batch = next(batches, None)
                except OSError as error:  # pyarrow raises it for pages that are damaged, too, and then without a number
                    if error.errno is not None:
                        raise
                    raise ValueError(f"the rows from {row} on cannot be read: {error}") from error
                if batch is None:
                    break
                more = [pa.repeat(value[0], batch.num_rows) for value in part.more.values()]
                yield row, pa.RecordBatch.from_arrays([*batch.columns, *more], schema=schema)
                row += batch.num_rows


def slices_of(table: Any, column: str) -> Iterator[tuple[int, Any]]:
    """The rows of a table in memory in batches, likewise."""
    import pyarrow as pa

    row, schema = 0, table.schema
    if table.num_rows == 0:
        yield row, pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)
    size = max(table.column(column).nbytes, 1)
    for batch in table.to_batches(max(1, BATCH_BYTES * table.num_rows // size)):
        yield row, batch
        row += batch.num_rows


def through(batch: Any, row: int, column: str, convert: Callable[[Any], Any]) -> Any:
    """Convert the documents of a batch; errors number them from `row` on. ValueError for one that is null."""
    docs = arrow_documents(batch.column(column), f"column {quoted(column)}")
    if docs.null_count:
        raise ValueError(
            f"column {quoted(column)}: document {row + docs.is_null().to_pylist().index(True)} is null; drop or fill nulls first"
        )
    try:
        return convert(docs)
    except LocatedError as error:
        raise error.at(row + error.document) from None


def write_tables(store: Any, path: str, tables: Iterator[Any], new: str, compression: str | None) -> None:
    """Write at least one table, all of one schema, into one Parquet file, a row group each: the whole file, or nothing.

    The column `new` is written without a dictionary and statistics, which ids have no use for. If `compression` is None its
    integers are packed as differences, in fewer bytes and two thirds of the time that snappy takes, and the other columns are
    compressed by snappy. OSError with the path if it cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = next(tables)
    file = io.BytesIO()  # without rows: its footer names the columns, ``ids.list.element`` for lists
    pq.write_table(table.schema.empty_table(), file)
    columns = pq.ParquetFile(file).schema
    leaves = [columns.column(i).path for i in range(len(columns))]
    others = [leaf for leaf in leaves if leaf.split(".")[0] != new]
    options: dict[str, Any] = {"compression": compression, "use_dictionary": others, "write_statistics": others}
    kind = table.schema.field(new).type
    if compression is None:
        options["compression"] = "snappy"
        if pa.types.is_list(kind) or pa.types.is_large_list(kind):
            packed = [leaf for leaf in leaves if leaf not in others]
            options["column_encoding"] = dict.fromkeys(packed, "DELTA_BINARY_PACKED")
            options["compression"] = dict.fromkeys(others, "snappy") | dict.fromkeys(packed, "none")

    def write(output: Any) -> None:
        with pq.ParquetWriter(output, table.schema, **options) as writer:
            for part in chain([table], tables):
                writer.write_table(part, row_group_size=max(part.num_rows, 1))

    try:
        publish(store, path, write)
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = path
        raise


MANIFEST = "_ubpe.json"
_FORMAT = 1


class TargetFolder(NamedTuple):
    """A folder for `n_parts` files, by its path in a store, an absolute one on disks."""

    store: Any
    path: str
    n_parts: int

    def file(self, i: int) -> str:
        """The path of partition i.

        >>> TargetFolder(LocalFileSystem(), "/data/ids", 3).file(2)
        '/data/ids/part-00002.parquet'
        """
        return f"{self.path.rstrip('/')}/part-{i:0{max(5, len(str(self.n_parts - 1)))}}.parquet"

    def begin(self, manifest: dict[str, Any]) -> list[int]:
        """Make the folder with the manifest, or compare the one that is there; returns the partitions that are missing.

        ValueError, naming the first difference, if the manifest that is there says something else, or is none; FileExistsError
        if there is no manifest, but something else; OSError if the folder cannot be made or written to.
        """
        self.store.makedirs(self.path, exist_ok=True)
        where = f"{self.path.rstrip('/')}/{MANIFEST}"
        manifest = {"format": _FORMAT, **manifest}
        others = [name for name in self._names() if not _is_temporary(name)]
        if not self.store.exists(where):  # asked after the folder was listed: another run may begin at the same time
            if others:
                raise FileExistsError(
                    f"target: {self.path}: expected a new or an empty folder, or one with {MANIFEST}, got {others[0]} in it"
                )
            with suppress(FileExistsError, FileNotFoundError):
                publish(self.store, where, lambda file: file.write(json.dumps(manifest, indent=1).encode()), new=True)
        try:
            found = json.loads(self.store.cat_file(where))
        except ValueError as error:
            raise ValueError(f"target: {where}: not a manifest: {error}") from error
        if not isinstance(found, dict) or found.get("format") != _FORMAT:
            raise ValueError(f"target: {where}: not a manifest of format {_FORMAT}")
        for key in manifest:
            old, new = found.get(key), manifest[key]
            if old == new:
                continue
            if key == "parts" and isinstance(old, list):
                at = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), None)
                if at is None:
                    raise ValueError(f"target: {self.path}: was made of {len(old)} partitions, the source now has {len(new)}")
                old, new, key = old[at], new[at], f"partition {at}"
            raise ValueError(f"target: {self.path}: was made with another {key}: {old}, now {new}; give another folder")
        there = set(self._names())
        return [i for i in range(self.n_parts) if posixpath.basename(self.file(i)) not in there]

    def _names(self) -> list[str]:
        """The names in the folder, as the store has them now, in order."""
        self.store.invalidate_cache()
        try:
            found = self.store.ls(self.path, detail=False)
        except FileNotFoundError:  # in a store of objects folders are not made
            return []
        return sorted(posixpath.basename(path.rstrip("/")) for path in found)

    def finish(self) -> list[str]:
        """The files in the order of the partitions, without the temporary ones; FileNotFoundError if they are elsewhere."""
        files, names = [self.file(i) for i in range(self.n_parts)], set(self._names())
        for file in files:
            if posixpath.basename(file) not in names:
                raise FileNotFoundError(
                    f"target: a worker wrote {file}, but it is not here: all machines have to share the folder"
                )
        for name in filter(_is_temporary, names):
            with suppress(FileNotFoundError, PermissionError):  # another run was first; on Windows a file is open there
                self.store.rm_file(f"{self.path.rstrip('/')}/{name}")
        return files if is_local(self.store) else [self.store.unstrip_protocol(file) for file in files]


def write_part(store: Any, path: str, write: Callable[[], None]) -> None:
    """In a worker: let the file of a partition be written by a function that publishes it, unless it is there whole."""
    if store.exists(path):
        return
    try:
        write()
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ESTALE) or not store.exists(path):
            raise


def _is_temporary(name: str) -> bool:
    """Whether a file is one that `atomically` writes before it has its name."""
    return name.endswith(".tmp") and name.startswith((".part-", f".{MANIFEST}"))
