"""Partitions through a model, each by itself, to Parquet files or to one result here: common to encoding and decoding.

Tables are read in batches of bounded memory, one column is made of another, and written whole: a file appears under its name when
all of it is on the disk; until then it is a hidden one beside it (``runtime/files.py``). The target folder:

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
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ubpe_numba.distributed.cluster import (
    check_stopped,
    reaching,
    results,
    shared,
    shipped,
    token_of_call,
    tokenizer_of,
    using,
    value_of,
)
from ubpe_numba.distributed.files import (
    PARQUET,
    Files,
    RowGroups,
    columns_of_folders,
    files_of,
    is_path,
    open_parquet,
    row_groups_of,
)
from ubpe_numba.distributed.partitions import blocksize_of, partitions_of
from ubpe_numba.distributed.relay import opaque, opened
from ubpe_numba.distributed.tables import arrow_documents, table_documents
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.errors import LocatedError, quoted
from ubpe_numba.runtime.arrays import describe, offsets_of
from ubpe_numba.runtime.files import atomically
from ubpe_numba.runtime.messages import Progress
from ubpe_numba.tokenizers.base import Tokenizer

if TYPE_CHECKING:
    from distributed import Client

_TAIL = 8  # bytes at the end of a Parquet file: the size of the footer before them, and "PAR1"


class Source(NamedTuple):
    """The partitions of a source."""

    column: str | None  # of documents, where partitions are tables; None where they are documents
    parts: list[Any]  # `RowGroups`, or `Delayed` that give a partition
    names: list[str]  # for messages
    marks: list[str]  # for the manifest
    tables: dict[str, list[str]]  # the columns of each table that is known beforehand, by its name in messages
    client: Any = None  # the only one that can compute the parts


class Work(NamedTuple):
    """A partition through the model, in a worker: the options that all tasks of a call share."""

    model: bytes  # `shipped`
    convert: Callable[[Tokenizer, Any], Any]  # documents, or an array of Arrow, to a `Ragged` or a list
    column: Callable[[Tokenizer, Any], Any]  # the result as an array of Arrow
    new: NewColumn
    is_table: bool
    compression: str | None
    token: str

    def run(self, part: Any, path: str | None) -> Any:
        """The result, or None where it goes to the file of this path."""
        import pyarrow as pa

        tokenizer = tokenizer_of(self.model)
        if path is None:
            return joined([found for _, found in self._pieces(tokenizer, part)])

        def tables() -> Iterator[Any]:
            for batch, found in self._pieces(tokenizer, part):
                values = self.column(tokenizer, found)
                yield self.new.beside(batch, values) if self.is_table else pa.table({self.new.name: values})

        return write_part(path, lambda path: write_tables(path, tables(), self.new.name, self.compression))

    def _pieces(self, tokenizer: Tokenizer, part: Any) -> Iterator[tuple[Any, Any]]:
        """Results batch by batch, at least one, each with its rows, or None without a table."""
        import pyarrow as pa

        if isinstance(part, RowGroups):
            batches = batches_of(part)
        elif isinstance(part, (pa.Array, pa.ChunkedArray)):
            batches = slices_of(pa.table({self.new.source: part}), self.new.source)
        elif self.is_table:
            table_documents(part[:0] if hasattr(part, "shape") else part, self.new.source)  # raises for what is no such table
            table = part if isinstance(part, pa.Table) else pa.Table.from_pandas(part)
            self.new.check(table.column_names, "the table")
            batches = slices_of(table, self.new.source)
        else:
            yield None, self.convert(tokenizer, part)
            return
        for row, batch in batches:
            check_stopped(self.token)
            yield batch, through(batch, row, self.new.source, lambda docs: self.convert(tokenizer, docs))


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
) -> Source:
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
        return _of_tables(source.to_delayed(), chosen, {"source": names})
    gives_tables = column is not None and isinstance(source, (list, tuple)) and not any(map(is_path, source))
    found = partitions_of(source, None if gives_tables else column, lines=lines, blocksize=blocksize, name="source")
    if found.joined:
        raise ValueError(
            "source: a 1-D dask.array is one document, which cannot be encoded in parts; expected documents, as rows of 2-D are"
        )
    if column is not None:
        return _of_tables(found.delayed, column, {}, found.client)
    return Source(None, found.delayed, found.names, found.names, {}, found.client)


def _chosen(names: list[str], column: str | None, default: str | None) -> str | None:
    """The given column, or the only one, or the default if it is there."""
    if column is not None or not names:
        return column
    return names[0] if len(names) == 1 else default if default in names else None


def _of_tables(parts: Any, column: str, tables: dict[str, list[str]], client: Any = None) -> Source:
    """A source of tasks that give tables."""
    names = [f"partition {i}" for i in range(len(parts))]
    return Source(column, list(parts), names, names, tables, client)


def _of_parquet(files: Files, column: str | None, argument: str, blocksize: int, default: str | None) -> Source:
    """A source of Parquet files, with the columns that folders name and a file has not itself.

    The manifest knows a file by what its footer says, wherever it is, and by these columns.
    """
    tables, marks, more = {}, {}, {}
    for path, named in zip(files.paths, columns_of_folders(files.folders), strict=True):
        with open_parquet(path) as file:
            tables[path] = list(file.schema_arrow.names)
        more[path] = {name: value for name, value in named.items() if name not in tables[path]}
        marks[path] = ", ".join([_mark_of(path), *(f"{name}={value[0].as_py()!r}" for name, value in more[path].items())])
    chosen = _chosen(tables[files.paths[0]], column, default)
    parts = [part._replace(more=more[part.path]) for part in row_groups_of(files.paths, chosen, blocksize, "source", argument)]
    for path, named in more.items():
        tables[path] += named
    return Source(
        parts[0].column, list(parts), [p.name for p in parts], [f"{marks[p.path]}, rows {p.rows}" for p in parts], tables
    )


def _mark_of(path: str) -> str:
    """A Parquet file by its name, its size and a hash of its footer, which says where each column is and what is in it."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(size - _TAIL)
        length = int.from_bytes(file.read(4), "little")
        file.seek(max(0, size - _TAIL - length))
        return f"{os.path.basename(path)}, {size} bytes, {hashlib.sha256(file.read(length)).hexdigest()[:16]}"


def recoded(
    what: str,
    tokenizer: Tokenizer,
    convert: Callable[[Tokenizer, Any], Any],
    to_column: Callable[[Tokenizer, Any], Any],
    source: Source,
    new: NewColumn,
    target: Any,
    settings: dict[str, Any],
    compression: str | None,
    client: Client | None,
    progress: bool | str,
) -> Any:
    """All partitions through the model: one result, or with a target the paths of the files, in the order of the partitions.

    `what` is the name of the public function, `settings` are those of the manifest beside model and partitions; `convert` and
    `to_column` as in `Work`.
    """
    from dask import delayed

    Progress(progress)  # raises for another value
    n = len(source.parts)
    folder = None if target is None else TargetFolder(_path_of(target), n)
    todo = list(range(n))
    if folder is not None:
        todo = folder.begin({"function": what, "model": tokenizer.fingerprint, "settings": settings, "parts": source.marks})
    found: list[Any] = [None] * n
    if todo:
        token = token_of_call()
        work = Work(shipped(tokenizer), convert, to_column, new, source.column is not None, compression, token)
        with using(client or source.client) as running:
            run, tasks = delayed(_run, pure=False, traverse=False), []
            for i in todo:
                part = source.parts[i]
                part = opaque(part) if isinstance(part, RowGroups) else part  # else Dask would take it apart
                path = None if folder is None else folder.file(i)
                tasks.append(run(f"ubpe-{token}", part, path, dask_key_name=f"ubpe-{what}-{token}-{i}"))
            with reaching(running), shared(running, f"ubpe-{token}", work):
                for k, result in results(running, tasks, [source.names[i] for i in todo], progress, what, token):
                    found[todo[k]] = result
    return joined(found) if folder is None else folder.finish()


def _run(name: str, part: Any, path: str | None) -> Any:
    """The task of a partition."""
    work: Work = value_of(name)
    if isinstance(part, bytes):
        part = opened(part)
    return work.run(part, path)


def check_tokenizer(tokenizer: Any) -> None:
    """TypeError for what is no tokenizer, NotFittedError for one without a vocabulary."""
    if not isinstance(tokenizer, Tokenizer):
        raise TypeError(f"tokenizer: expected a BPE, UBPEClassic or UBPE, got {describe(tokenizer)}")
    tokenizer._fitted()


def check_compression(compression: Any) -> None:
    """ValueError for a compression of files that is not one of those."""
    if compression not in (None, "zstd", "lz4", "snappy", "none"):
        raise ValueError(f"compression: expected None, 'snappy', 'lz4', 'zstd' or 'none', got {compression!r}")


def _path_of(target: Any) -> str:
    """The absolute path of the target; TypeError or ValueError for what is no folder of a file system."""
    if not is_path(target) or not isinstance(path := os.fspath(target), str):
        raise TypeError(f"target: expected the path of a folder or None, got {describe(target)}")
    if "://" in path:
        raise ValueError(f"target: {path}: expected a folder that all workers see")
    if os.path.exists(path) and not os.path.isdir(path):
        raise NotADirectoryError(f"target: {path}: expected a folder, got a file")
    return os.path.abspath(path)


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

    At least one batch, each with the number of its first row in the file.

    A batch has about `BATCH_BYTES` of documents where rows are of average size. In memory are a batch and, compressed as they are
    in the file, the columns of a row group. ValueError for data that cannot be read.
    """
    import pyarrow as pa

    with open_parquet(part.path) as file:
        row, schema = part.rows[0], file.schema_arrow
        for name, value in part.more.items():
            schema = schema.append(pa.field(name, value.type))
        if part.rows[0] == part.rows[1]:
            yield row, pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)
        for i in range(part.first, part.last):
            batches = file.iter_batches(_rows_of(file.metadata.row_group(i), part.column), row_groups=[i], use_threads=False)
            while (batch := _next_of(batches, row)) is not None:
                more = [pa.repeat(value[0], batch.num_rows) for value in part.more.values()]
                yield row, pa.RecordBatch.from_arrays([*batch.columns, *more], schema=schema)
                row += batch.num_rows


def _next_of(batches: Iterator[Any], row: int) -> Any:
    """The next batch, or None after the last; ValueError with the first row that could not be read."""
    try:
        return next(batches, None)
    except OSError as error:  # pyarrow raises it for pages that are damaged, too, and then without a number
        if error.errno is not None:
            raise
        raise ValueError(f"the rows from {row} on cannot be read: {error}") from error


def _rows_of(group: Any, column: str) -> int:
    """How many rows of a row group make a batch."""
    chunks = [c for c in map(group.column, range(group.num_columns)) if c.path_in_schema.split(".")[0] == column.split(".")[0]]
    size: int = sum(
        max(c.total_uncompressed_size, 4 * c.num_values) for c in chunks
    )  # a dictionary hides how many symbols there are
    n = int(group.num_rows)
    return max(1, min(n, BATCH_BYTES * n // max(size, 1), _ROW_BYTES * n // max(int(group.total_byte_size), 1)))


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


def write_tables(path: str, tables: Iterator[Any], new: str, compression: str | None) -> None:
    """Write at least one table, all of one schema, into one Parquet file, a row group each: the whole file, or nothing.

    The column `new` is written without a dictionary and statistics, which ids have no use for. If `compression` is None its
    integers are packed as differences, in fewer bytes and two thirds of the time that snappy takes, and the other columns are
    compressed by snappy. OSError with the path if it cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = next(tables)
    leaves = _leaves(table.schema)
    others = [leaf for leaf in leaves if leaf.split(".")[0] != new]
    options: dict[str, Any] = {"compression": compression, "use_dictionary": others, "write_statistics": others}
    kind = table.schema.field(new).type
    if compression is None:
        options["compression"] = "snappy"
        if pa.types.is_list(kind) or pa.types.is_large_list(kind):
            packed = [leaf for leaf in leaves if leaf not in others]
            options["column_encoding"] = dict.fromkeys(packed, "DELTA_BINARY_PACKED")
            options["compression"] = dict.fromkeys(others, "snappy") | dict.fromkeys(packed, "none")
    try:
        with atomically(path) as file, pq.ParquetWriter(file, table.schema, **options) as writer:
            while table is not None:
                writer.write_table(table, row_group_size=max(table.num_rows, 1))
                table = next(tables, None)
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = path
        raise


def _leaves(schema: Any) -> list[str]:
    """The columns of a Parquet file of this schema, as its footer names them: ``ids.list.element`` for lists."""
    import pyarrow.parquet as pq

    file = io.BytesIO()
    pq.write_table(schema.empty_table(), file)
    leaves = pq.ParquetFile(file).schema
    return [leaves.column(i).path for i in range(len(leaves))]


MANIFEST = "_ubpe.json"
_FORMAT = 1


class TargetFolder(NamedTuple):
    """A folder for `n_parts` files, by its absolute path."""

    path: str
    n_parts: int

    def file(self, i: int) -> str:
        """The path of partition i.

        >>> TargetFolder("/data/ids", 3).file(2)
        '/data/ids/part-00002.parquet'
        """
        return os.path.join(self.path, f"part-{i:0{max(5, len(str(self.n_parts - 1)))}}.parquet")

    def begin(self, manifest: dict[str, Any]) -> list[int]:
        """Make the folder with the manifest, or compare the one that is there; returns the partitions that are missing.

        ValueError, naming what, if the manifest that is there says something else, or is none; FileExistsError if there is no
        manifest, but something else; OSError if the folder cannot be made or written to.
        """
        os.makedirs(self.path, exist_ok=True)
        where = os.path.join(self.path, MANIFEST)
        manifest = {"format": _FORMAT, **manifest}
        others = [name for name in sorted(os.listdir(self.path)) if not _is_temporary(name)]
        if not os.path.exists(where):  # asked after the folder was listed: another run may begin at the same time
            if others:
                raise FileExistsError(
                    f"target: {self.path}: expected a new or an empty folder, or one with {MANIFEST}, got {others[0]} in it"
                )
            with suppress(FileExistsError, FileNotFoundError), atomically(where, new=True) as file:
                file.write(json.dumps(manifest, indent=1).encode())
        try:
            with open(where, "rb") as file:
                found = json.load(file)
        except ValueError as error:
            raise ValueError(f"target: {where}: not a manifest: {error}") from error
        if not isinstance(found, dict) or found.get("format") != _FORMAT:
            raise ValueError(f"target: {where}: not a manifest of format {_FORMAT}")
        _check_same(found, manifest, self.path)
        return [i for i in range(self.n_parts) if not os.path.exists(self.file(i))]

    def finish(self) -> list[str]:
        """The files in the order of the partitions, without the temporary ones; FileNotFoundError if they are elsewhere."""
        files = [self.file(i) for i in range(self.n_parts)]
        for file in files:
            if not os.path.exists(file):
                raise FileNotFoundError(
                    f"target: a worker wrote {file}, but it is not here: all machines have to share the folder"
                )
        for name in os.listdir(self.path):
            if _is_temporary(name):
                with suppress(FileNotFoundError, PermissionError):  # another run was first; on Windows a file is open there
                    os.unlink(os.path.join(self.path, name))
        return files


def write_part(path: str, write: Callable[[str], None]) -> None:
    """In a worker: let the file of a partition be written by a function that writes `atomically`, unless it is there whole."""
    if os.path.exists(path):
        return
    try:
        write(path)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ESTALE) or not os.path.exists(path):
            raise


def _is_temporary(name: str) -> bool:
    """Whether a file is one that `atomically` writes before it has its name."""
    return name.endswith(".tmp") and name.startswith((".part-", f".{MANIFEST}"))


def _check_same(found: dict[str, Any], wanted: dict[str, Any], path: str) -> None:
    """ValueError, naming the first difference, unless two manifests say the same."""
    for key in wanted:
        old, new = found.get(key), wanted[key]
        if old == new:
            continue
        if key == "parts" and isinstance(old, list):
            at = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), None)
            if at is None:
                raise ValueError(f"target: {path}: was made of {len(old)} partitions, the source now has {len(new)}")
            old, new, key = old[at], new[at], f"partition {at}"
        raise ValueError(f"target: {path}: was made with another {key}: {old}, now {new}; give another folder")
