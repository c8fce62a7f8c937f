"""`encode` and `decode` on a cluster, partition by partition, to files or to memory.

Tables are read in batches of bounded memory, one column is made of another, and written whole: a file appears
under its name when all of it is written. The target folder, on a disk or in a store:

    _ubpe.json              the manifest: `encode` or `decode`, the model and settings, the partitions
    part-00000.parquet      a complete partition
    .part-00001.parquet.4f00c2a9d1b7e655.tmp     on disks: being written, or left by a killed process

A run that finds files does only the rest. It is rejected if the manifest differs from its own. Several runs
may write to one folder at once, under temporary names, and skip files that another has finished. Nothing is
locked.
"""

from __future__ import annotations

import copy
import errno
import io
import json
import os
import posixpath
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from dask import delayed

from ubpe_numba.coding.streams import check_options
from ubpe_numba.distributed.cluster import reaching, results, shared, using, value_of
from ubpe_numba.distributed.sources import (
    Partitions,
    batches_of,
    documents_of,
    is_local,
    is_path,
    partitions_of,
    store_of,
)
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.errors import LocatedError, quoted
from ubpe_numba.runtime.arrays import describe
from ubpe_numba.runtime.files import atomically
from ubpe_numba.runtime.messages import Progress
from ubpe_numba.tokenizers.base import Tokenizer
from ubpe_numba.tokenizers.seam import model_of

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["decode", "encode"]

#: Options of `encode_batch` whose draws depend on the number of a document in its batch.
_DRAWS = ("dropout", "sample", "alpha", "seed")
_MANIFEST = "_ubpe.json"
_FORMAT = 1


def encode(
    tokenizer: Tokenizer,
    source: Any,
    target: Any = None,
    *,
    column: str | None = None,
    ids: str = "ids",
    drop: bool = False,
    blocksize: int | str | None = None,
    client: Client | None = None,
    progress: bool | str = "auto",
    **options: Any,
) -> Ragged | list[str]:
    """Encode documents on a cluster, partition by partition.

    Parameters
    ----------
    tokenizer
        A fitted tokenizer. It is sent once to every worker.
    source
        As `parts` of `count`. All other columns of tables are kept, and after them those that folders of
        Parquet files name (``year=2024/``), unless the file has a column of this name itself.
    target
        The path or URL of a folder that all machines see: one Parquet file for each partition,
        ``part-00000.parquet`` and so on in their order, and a manifest, ``_ubpe.json``. None: the ids are
        brought here.
    column
        The column of documents if `source` is tables; not needed if there is one column.
    ids
        The column that ids are written to, ``list<int32>``.
    drop
        False: the ids are one more column of a table, after all others. True: they take the place of
        `column`.
    blocksize, client, progress
        As for `count`.
    **options
        `unknown`, `allowed_special` and `disallowed_special`, as for `Tokenizer.encode_batch`.

    Returns
    -------
    list of str or Ragged
        The paths of the files in the order of the partitions; without `target` the ids of all documents, in
        order.

    Raises
    ------
    NotFittedError
        Without a vocabulary.
    UnknownSymbolError, SpecialTokenError, TypeError, ValueError
        As `encode_batch`, with the partition before the message; `document` is the row in its file, or in the
        partition. For `dropout` and `sample`. For a target that was made by another model, with other
        settings or of another source.
    OSError, ConnectionError
        For a file that cannot be read or written, with its path; if the scheduler is lost.

    Notes
    -----
    A file appears under its name when all of it is on the disk. So a run that was killed, or stopped by an
    error, is continued by the same call. The call may also run several times at once, on one machine or
    several. Parquet files of a source are recognized by their footers; of other sources only the names and
    the number of partitions are compared.

    Examples
    --------
    >>> import tempfile
    >>> from distributed import Client
    >>> from ubpe_numba import BPE
    >>> tok = BPE.from_merges([[0, 1]], alphabet="ab")
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0") as client:
    ...     here = encode(tok, [["ab", ""], ["bab"]], client=client)
    ...     files = encode(tok, [["ab", ""], ["bab"]], tempfile.mkdtemp(), client=client)
    >>> here.to_lists(), [path[-18:] for path in files]
    ([[2], [], [1, 2]], ['part-00000.parquet', 'part-00001.parquet'])
    """
    _check(tokenizer, ids=ids)
    for name in _DRAWS:
        if name in options:
            raise ValueError(
                f"{name}: samples depend on the document's number, which a partition does not know"
            )
    # raises for a value that is not valid, before anything is written
    tokenizer.encode_batch([], **check_options(options))
    lines = "bytes" if model_of(tokenizer).alphabet.kind == "bytes" else "str"
    partitions = partitions_of(source, column, lines=lines, blocksize=blocksize, name="source")
    result: Ragged | list[str] = _recoded(
        "encode", tokenizer, options, partitions, (ids, "ids", drop), target, client, progress
    )
    return result


def decode(
    tokenizer: Tokenizer,
    source: Any,
    target: Any = None,
    *,
    ids: str | None = None,
    column: str = "document",
    drop: bool = False,
    errors: str = "replace",
    blocksize: int | str | None = None,
    client: Client | None = None,
    progress: bool | str = "auto",
) -> Ragged | list[Any]:
    """Decode ids on a cluster, partition by partition: the way back from what `encode` wrote.

    Parameters
    ----------
    tokenizer, source, target
        As for `encode`, of documents of ids: a folder that `encode` wrote, for example. Without a target
        documents come here.
    ids
        The column of ids where `source` is tables: ``"ids"`` unless given, or the only one. Needed where
        `Delayed` give tables.
    column, drop
        The column that documents are written to: lists of integers, strings, or binary, by the kind of the
        model; one more, after all others, or in the place of `ids`.
    errors, blocksize, client, progress
        As for `Tokenizer.decode` and `encode`.

    Returns
    -------
    list of str, Ragged or list
        The paths of the files in the order of the partitions; without `target` all documents, in order, as by
        `decode_batch`.

    Raises
    ------
    UnknownTokenError, NotFittedError, TypeError, ValueError, OSError, ConnectionError
        For an id outside the vocabulary, with its partition, row and position; else as `encode`.

    Examples
    --------
    >>> from distributed import Client
    >>> from ubpe_numba import BPE
    >>> tok = BPE.from_merges([[0, 1]], alphabet="ab")
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0") as client:
    ...     decode(tok, [[[2], []], [[1, 2]]], client=client)
    ['ab', '', 'bab']
    """
    _check(tokenizer, column=column, errors=errors)
    model_of(tokenizer)
    partitions = partitions_of(
        source, ids, lines="bytes", blocksize=blocksize, name="source", argument="ids", default="ids"
    )
    names = column, "column", drop
    result: Ragged | list[Any] = _recoded(
        "decode", tokenizer, {"errors": errors}, partitions, names, target, client, progress
    )
    return result


def _check(tokenizer: Tokenizer, **names: str) -> None:
    """TypeError for another tokenizer, and for names that are not str."""
    if not isinstance(tokenizer, Tokenizer):
        raise TypeError(f"tokenizer: expected a BPE, UBPEClassic or UBPE, got {describe(tokenizer)}")
    for name, value in names.items():
        if not isinstance(value, str):
            raise TypeError(f"{name}: expected a str, got {describe(value)}")


class Work(NamedTuple):
    """Options that all tasks of a call share."""

    tokenizer: Tokenizer  # with a single thread
    fingerprint: str  # that it has here
    method: str  # of the tokenizer, which makes a `Ragged` or a list of documents, or of an array of Arrow
    options: dict[str, Any]  # of the method
    source: str | None  # column of the documents, where partitions are tables
    new: str  # column of the results
    argument: str  # that names it
    drop: bool  # the new column takes the place of `source`
    folder: Target | None

    def check(self, columns: Any) -> None:
        """ValueError if there is a column of the new name already."""
        if self.new in columns and not (self.drop and self.new == self.source):
            raise ValueError(
                f"{self.argument}: there is a column {quoted(self.new)} already; give another name"
            )


def _recoded(
    what: str, tokenizer: Tokenizer, options: dict[str, Any], source: Partitions,
    names: tuple[str, str, bool], target: Any,
    client: Client | None, progress: bool | str,
) -> Any:  # fmt: skip
    """All partitions through the model, by `what`.

    `names` as in `Work`, the three of the column of results.
    """
    if source.joined:
        raise ValueError(
            "source: a 1-D dask.array is one document, which has no parts. Pass rows of a 2-D array."
        )
    lean = copy.copy(tokenizer)
    vars(lean).pop("history_", None)  # which need not travel
    lean.n_threads = 1
    work = Work(lean, tokenizer.fingerprint, f"{what}_batch", options, source.column, *names, None)
    work.check(source.columns)
    Progress(progress)  # raises for another value
    recoded: list[Any] = [None] * len(source.delayed)
    todo = list(range(len(recoded)))
    if target is not None:
        if not is_path(target):
            raise TypeError(f"target: expected the path of a folder or None, got {describe(target)}")
        folder = Target(*store_of(target, "target"), len(recoded))
        work = work._replace(folder=folder)
        shown = {
            k: sorted(map(repr, v)) if isinstance(v, (set, frozenset, list, tuple)) else str(v)
            for k, v in options.items()
        }
        settings = {"source": source.column, "result": names[0], "drop": names[2], "options": shown}
        manifest = {"function": what, "model": tokenizer.fingerprint, "settings": settings}
        todo = folder.begin({**manifest, "parts": source.identities or source.names})
    if todo:
        token = f"ubpe-{what}-{uuid4().hex}"
        run = delayed(_run, pure=False, traverse=False)
        retries = 3 if source.remote or (work.folder and not is_local(work.folder.store)) else 0
        with using(client or source.client) as running, reaching(running), shared(running, token, work):
            tasks = [run(token, source.delayed[i], i, dask_key_name=f"{token}-{i}") for i in todo]
            for k, result in results(
                running, tasks, [source.names[i] for i in todo], progress, what, retries
            ):
                recoded[todo[k]] = result
    return _joined(recoded) if work.folder is None else work.folder.finish()


def _run(token: str, part: Any, number: int) -> Any:
    """In a worker: a partition through the model.

    Returns the result, or None if it goes to the file of this number.
    """
    import pyarrow as pa

    work: Work = value_of(token)
    tokenizer = work.tokenizer
    if tokenizer.fingerprint != work.fingerprint:
        raise RuntimeError(
            f"the model has the fingerprint {tokenizer.fingerprint} on this worker, expected "
            f"{work.fingerprint}"
        )
    convert = partial(getattr(tokenizer, work.method), **work.options)
    if work.folder is None:
        return _joined([result for _, result in _pieces(work, part, convert)])

    def tables() -> Iterator[Any]:
        for batch, result in _pieces(work, part, convert):
            values = _column(tokenizer, result, work.options)
            if batch is None or work.source is None:
                yield pa.table({work.new: values})
            elif work.drop:
                yield pa.Table.from_batches([batch]).set_column(
                    batch.schema.get_field_index(work.source), work.new, values
                )
            else:
                yield pa.Table.from_batches([batch]).append_column(work.new, values)

    work.folder.write(number, partial(_write_tables, tables(), work.new))
    return None


def _pieces(work: Work, part: Any, convert: Callable[[Any], Any]) -> Iterator[tuple[Any, Any]]:
    """Results batch by batch, at least one, each with its rows, or None without a table.

    Errors number documents in the whole.
    """
    if work.source is None and not isinstance(part, partial):
        yield None, convert(documents_of(part))
        return
    for row, batch in batches_of(part, work.source):
        work.check(batch.schema.names if work.source else ())
        docs = documents_of(batch.column(work.source or 0))
        if docs.null_count:
            at = row + docs.is_null().to_pylist().index(True)
            raise ValueError(f"column {quoted(work.source)}: document {at} is null; drop or fill nulls first")
        try:
            yield batch, convert(docs)
        except LocatedError as error:
            raise error.at(row + error.document) from None


def _joined(found: list[Any]) -> Any:
    """Results one after the other: one `Ragged`, or a list.

    >>> _joined([Ragged.from_lists([[1], []]), Ragged.from_lists([[2, 3]])]).to_lists(), _joined([["a"], ["b", "c"]])
    ([[1], [], [2, 3]], ['a', 'b', 'c'])
    """
    if all(isinstance(part, Ragged) for part in found):
        return Ragged.concat(found)
    return [doc for part in found for doc in part]


def _column(tokenizer: Tokenizer, found: Any, options: dict[str, Any]) -> Any:
    """Ids, or documents by the kind of the model, as an Arrow array.

    Lists of int32 or int64, strings, or binary.
    """
    import pyarrow as pa

    if isinstance(found, Ragged):
        return pa.array(found).cast(pa.list_(pa.int32()))
    kind, names = model_of(tokenizer).alphabet.kind, model_of(tokenizer).alphabet.names
    if kind == "int":
        return pa.array(found, pa.list_(pa.int64() if names is None else pa.infer_type(names)))
    try:
        return pa.array(
            found,
            pa.binary()
            if kind == "bytes" and model_of(tokenizer).segmenter.encoding is None
            else pa.string(),
        )
    except UnicodeEncodeError as error:
        how = quoted(options.get("errors"))
        raise ValueError(
            f"errors: with {how} texts have surrogates, which files cannot hold; use 'replace'"
        ) from error


def _write_tables(tables: Iterator[Any], new: str, file: Any) -> None:
    """Write tables of the same schema into a Parquet file, a row group each.

    The column `new` is written without a dictionary and statistics, its integers as differences: in half the
    bytes and two thirds of the time that snappy takes.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = next(tables)
    # which names columns, ``ids.list.element`` for lists
    pq.write_table(table.schema.empty_table(), empty := io.BytesIO())
    leaves = [column.path for column in pq.ParquetFile(empty).schema]
    others = [leaf for leaf in leaves if leaf.split(".")[0] != new]
    options: dict[str, Any] = {"use_dictionary": others, "write_statistics": others}
    kind = table.schema.field(new).type
    if pa.types.is_list(kind) and pa.types.is_integer(kind.value_type):  # not of words
        options["column_encoding"] = {leaf: "DELTA_BINARY_PACKED" for leaf in leaves if leaf not in others}
        options["compression"] = {leaf: "snappy" if leaf in others else "none" for leaf in leaves}
    with pq.ParquetWriter(file, table.schema, **options) as writer:
        while table is not None:
            writer.write_table(table, row_group_size=max(table.num_rows, 1))
            table = next(tables, None)


def publish(store: Any, path: str, write: Callable[[Any], Any], *, new: bool = False) -> None:
    """Let a function write a file, whose name appears when all is written.

    With `new` FileExistsError if it exists.

    A store gets the whole content in one request, which it obeys or not; until then the content is in memory.
    """
    if is_local(store):
        with atomically(path, new=new) as file:
            write(file)
        return
    buffer = io.BytesIO()
    write(buffer)
    store.invalidate_cache()
    if new and store.exists(path):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
    store.pipe_file(path, buffer.getvalue())


class Target(NamedTuple):
    """A folder for the files of `n_parts` partitions, by its path in a store, an absolute one on disks."""

    store: Any
    path: str
    n_parts: int

    def file(self, i: int) -> str:
        """The path of the file of partition i; all names have the same length."""
        return f"{self.path.rstrip('/')}/part-{i:0{max(5, len(str(self.n_parts - 1)))}}.parquet"

    def names(self) -> set[str]:
        """The names in the folder, as the store has them now."""
        self.store.invalidate_cache()
        with suppress(FileNotFoundError):  # in a store of objects folders are not made
            return {posixpath.basename(path.rstrip("/")) for path in self.store.ls(self.path, detail=False)}
        return set()

    def begin(self, manifest: dict[str, Any]) -> list[int]:
        """Make the folder with the manifest, or compare its manifest; returns the missing partitions.

        ValueError, with the first difference, if the existing manifest differs or is invalid. OSError if the
        folder has other files but no manifest, or cannot be made or written to.
        """
        if self.store.isfile(self.path):
            raise NotADirectoryError(f"target: {self.path}: expected a folder, got a file")
        self.store.makedirs(self.path, exist_ok=True)
        where, manifest = f"{self.path.rstrip('/')}/{_MANIFEST}", {"format": _FORMAT, **manifest}
        others = sorted(name for name in self.names() if not _is_temporary(name))
        # asked after the folder was listed: another run may begin at the same time
        if not self.store.exists(where):
            if others:
                raise FileExistsError(
                    f"target: {self.path}: expected a new or an empty folder, or one with {_MANIFEST}, got "
                    f"{others[0]} in it"
                )
            with suppress(FileExistsError, FileNotFoundError):
                publish(
                    self.store,
                    where,
                    lambda file: file.write(json.dumps(manifest, indent=1).encode()),
                    new=True,
                )
        try:
            present = dict(json.loads(self.store.cat_file(where)))
        except (ValueError, TypeError) as error:
            raise ValueError(f"target: {where}: not a manifest: {error}") from error
        for key, new in manifest.items():
            old = present.get(key)
            if key == "parts" and isinstance(old, list) and len(old) == len(new):
                pairs = enumerate(zip(old, new, strict=True))
                key, old, new = next(((f"partition {i}", a, b) for i, (a, b) in pairs if a != b), (key, 0, 0))
            elif key == "parts":
                raise ValueError(
                    f"target: {self.path}: was made of {len(old or ())} partitions, the source now has "
                    f"{len(new)}"
                )
            if old != new:
                raise ValueError(
                    f"target: {self.path}: was made with another {key}: {old}, now {new}; give another folder"
                )
        there = self.names()
        return [i for i in range(self.n_parts) if posixpath.basename(self.file(i)) not in there]

    def write(self, i: int, write: Callable[[Any], None]) -> None:
        """In a worker: let a function write the file of partition i, unless it exists."""
        path = self.file(i)
        if self.store.exists(path):
            return
        try:
            publish(self.store, path, write)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ESTALE) and self.store.exists(path):
                return  # another run has written it, and removed the temporary file
            if error.errno is not None and error.filename is None:
                error.filename = path
            raise

    def finish(self) -> list[str]:
        """The files in the order of the partitions, without the temporary files.

        FileNotFoundError if they are elsewhere.
        """
        files, names = [self.file(i) for i in range(self.n_parts)], self.names()
        for file in files:
            if posixpath.basename(file) not in names:
                raise FileNotFoundError(
                    f"target: a worker wrote {file}, which is missing here. All machines must share the "
                    "folder."
                )
        for name in filter(_is_temporary, names):
            # another run was first; on Windows a file is open there
            with suppress(FileNotFoundError, PermissionError):
                self.store.rm_file(f"{self.path.rstrip('/')}/{name}")
        return files if is_local(self.store) else [self.store.unstrip_protocol(file) for file in files]


def _is_temporary(name: str) -> bool:
    """Whether a file is one that `atomically` writes before it has its name."""
    return name.endswith(".tmp") and name.startswith((".part-", f".{_MANIFEST}"))
