"""What encoding and decoding have in common: partitions go through a model, each by itself, to files or to one result here."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from ubpe_numba.distributed.cluster import check_stopped, reaching, results, token_of_call, using
from ubpe_numba.distributed.columns import table_documents
from ubpe_numba.distributed.hive import columns_of_folders
from ubpe_numba.distributed.opaque import opaque, opened
from ubpe_numba.distributed.partitions import blocksize_of, partitions_of
from ubpe_numba.distributed.paths import PARQUET, Files, files_of, is_path
from ubpe_numba.distributed.row_groups import RowGroups, open_parquet, row_groups_of
from ubpe_numba.distributed.shared_value import shared, value_of
from ubpe_numba.distributed.shipped_model import ShippedModel
from ubpe_numba.distributed.table_files import NewColumn, batches_of, slices_of, through, write_tables
from ubpe_numba.distributed.target_folder import TargetFolder, write_part
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.runtime.arrays import describe, offsets_of
from ubpe_numba.runtime.messages import Progress
from ubpe_numba.tokenizers.base import Tokenizer

if TYPE_CHECKING:
    from distributed import Client

_TAIL = 8  # bytes at the end of a Parquet file: the size of the footer before them, and "PAR1"


class Recode(Protocol):
    """One direction with its options, a value that travels to workers."""

    def __call__(self, tokenizer: Tokenizer, docs: Any) -> Any:
        """Documents, or an array of Arrow, to a `Ragged` or a list."""

    def column(self, tokenizer: Tokenizer, found: Any) -> Any:
        """What a call gave as an array of Arrow."""


class Source(NamedTuple):
    """The partitions of a source.

    Attributes
    ----------
    column : str or None
        The column of documents, where partitions are tables; None where they are documents.
    parts : list
        `RowGroups`, or `Delayed` that give a partition.
    names, marks : list of str
        What messages and the manifest call each.
    tables : dict
        The names of the columns of each table that is known beforehand, by what messages call it.
    client : Client or None
        The only one that can compute the parts.
    """

    column: str | None
    parts: list[Any]
    names: list[str]
    marks: list[str]
    tables: dict[str, list[str]]
    client: Any = None


class Work(NamedTuple):
    """What all tasks of a call have in common."""

    model: ShippedModel
    recode: Recode
    new: NewColumn
    is_table: bool
    compression: str | None
    token: str

    def run(self, part: Any, path: str | None) -> Any:
        """In a worker: a partition through the model, to the file of this path or to a result."""
        if path is not None:
            return write_part(path, lambda path: self._write(part, path))
        return joined([found for _, found in self._pieces(self.model.tokenizer(), part)])

    def _write(self, part: Any, path: str) -> None:
        """A partition through the model, to a file."""
        tokenizer = self.model.tokenizer()
        tables = (self._table(tokenizer, batch, found) for batch, found in self._pieces(tokenizer, part))
        write_tables(path, tables, self.new.name, self.compression)

    def _pieces(self, tokenizer: Tokenizer, part: Any) -> Iterator[tuple[Any, Any]]:
        """What becomes of the documents, batch by batch, at least one; and the rows that they stood in, None without a table."""
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
            yield None, self.recode(tokenizer, part)
            return
        for row, batch in batches:
            check_stopped(self.token)
            yield batch, through(batch, row, self.new.source, lambda docs: self.recode(tokenizer, docs))

    def _table(self, tokenizer: Tokenizer, batch: Any, found: Any) -> Any:
        """The table to write."""
        import pyarrow as pa

        values = self.recode.column(tokenizer, found)
        return self.new.beside(batch, values) if self.is_table else pa.table({self.new.name: values})


def joined(found: list[Any]) -> Any:
    """Results one behind the other: one `Ragged`, or a list.

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
    found = partitions_of(
        source, None if _gives_tables(source, column) else column, lines=lines, blocksize=blocksize, name="source"
    )
    if found.joined:
        raise ValueError(
            "source: a 1-D dask.array is one document, which cannot be encoded in parts; expected documents, as rows of 2-D are"
        )
    if column is not None:
        return _of_tables(found.delayed, column, {}, found.client)
    return Source(None, found.delayed, found.names, found.names, {}, found.client)


def _gives_tables(source: Any, column: str | None) -> bool:
    """Whether a source is a list of tables with this column, or of tasks that give them."""
    return column is not None and isinstance(source, (list, tuple)) and not any(map(is_path, source))


def _chosen(names: list[str], column: str | None, default: str | None) -> str | None:
    """The column that is asked for, or the only one, or the default if it is there."""
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
    recode: Recode,
    source: Source,
    new: NewColumn,
    target: Any,
    settings: dict[str, Any],
    compression: str | None,
    client: Client | None,
    progress: bool | str,
) -> Any:
    """All partitions through the model: one result, or with a target the paths of the files, in the order of the partitions.

    `what` is the name of the public function, and `settings` what the manifest says beside model and partitions.
    """
    Progress(progress)  # raises for another value
    n = len(source.parts)
    folder = None if target is None else TargetFolder(_path_of(target), n)
    todo = list(range(n))
    if folder is not None:
        todo = folder.begin({"function": what, "model": tokenizer.fingerprint, "settings": settings, "parts": source.marks})
    found: list[Any] = [None] * n
    if todo:
        token = token_of_call()
        work = Work(ShippedModel.of(tokenizer), recode, new, source.column is not None, compression, token)
        with using(client or source.client) as running:
            tasks = _tasks(what, token, source.parts, todo, folder)
            with reaching(running), shared(running, f"ubpe-{token}", work):
                for k, result in results(running, tasks, [source.names[i] for i in todo], progress, what, token):
                    found[todo[k]] = result
    return joined(found) if folder is None else folder.finish()


def _tasks(what: str, token: str, parts: list[Any], todo: list[int], folder: TargetFolder | None) -> list[Any]:
    """The tasks of partitions; what they have in common the workers have."""
    from dask import delayed

    run = delayed(_run, pure=False, traverse=False)
    tasks = []
    for i in todo:
        part = opaque(parts[i]) if isinstance(parts[i], RowGroups) else parts[i]  # else Dask would take it apart
        path = None if folder is None else folder.file(i)
        tasks.append(run(f"ubpe-{token}", part, path, dask_key_name=f"ubpe-{what}-{token}-{i}"))
    return tasks


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
