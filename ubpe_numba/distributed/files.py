"""Files of a source or a target, on disks or in stores: paths that a user names, ranges of text, row groups of Parquet.

A path may be a URL of any store that fsspec knows, ``s3://bucket/folder``. What is written appears under its name when it is
whole: on disks by a rename, in stores by one request (`publish`).
"""

from __future__ import annotations

import errno
import glob
import io
import os
import posixpath
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from dask.utils import natural_sort_key
from fsspec.core import url_to_fs
from fsspec.utils import read_block

from ubpe_numba.distributed.tables import arrow_documents, kind_of
from ubpe_numba.errors import quoted
from ubpe_numba.runtime.arrays import offsets_of
from ubpe_numba.runtime.files import atomically

T = TypeVar("T")

PARQUET, TEXT = ".parquet", ".txt"
_SUFFIXES = (PARQUET, TEXT)
_HIDDEN = (".", "_")
_ADVICE = {
    ".jsonl": "; read it with dask.bag.read_text(...).map(json.loads), or dask.dataframe.read_json",
    ".json": "; read it with dask.bag.read_text(...).map(json.loads), or dask.dataframe.read_json",
    ".csv": "; read it with dask.dataframe.read_csv, and pass the column",
    **dict.fromkeys((".gz", ".bz2", ".xz", ".zst"), "; compressed text has no byte ranges: dask.bag.read_text reads it"),
}
_ATTEMPTS = 4  # of a piece of work on a store, one more second apart each


def is_path(value: object) -> bool:
    """Whether a user's argument names files."""
    return isinstance(value, (str, os.PathLike))


def store_of(given: Any, name: str) -> tuple[Any, str]:
    """The file system of a path or URL, of fsspec, and the path in it; ValueError for a store that is not known."""
    path = os.fspath(given)
    if not isinstance(path, str):
        raise TypeError(f"{name}: expected paths that are str, got {quoted(path)}")
    try:
        store, inside = url_to_fs(path)
    except (ValueError, ImportError) as error:
        raise type(error)(f"{name}: {path}: {error}") from error
    return store, inside


def is_local(store: Any) -> bool:
    """Whether a file system is that of this machine."""
    return "file" in ([store.protocol] if isinstance(store.protocol, str) else store.protocol)


def publish(store: Any, path: str, write: Callable[[Any], None], *, new: bool = False) -> None:
    """Let a function write a file, whose name appears when all is written; with `new` FileExistsError if it is there.

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


def persistently(store: Any, work: Callable[[], T]) -> T:
    """The result of work on a store, done again after an error that may be of the moment: not one of values or permissions."""
    lasting = (TypeError, ValueError, RuntimeError, FileNotFoundError, FileExistsError, PermissionError)
    for attempt in range(1, _ATTEMPTS):
        try:
            return work()
        except Exception as error:
            if is_local(store) or isinstance(error, lasting):
                raise
        time.sleep(attempt)
    return work()


class Files(NamedTuple):
    """Files of one format, ``".parquet"`` or ``".txt"``, in one store, by their paths there.

    `base` is the folder below which the names of folders are columns, as ``year=2024``; empty: all folders.
    """

    store: Any
    suffix: str
    paths: list[str]
    base: str


def files_of(given: Any, name: str = "parts") -> Files:
    """The files of a path or URL, or a list of them.

    Files of a folder or a glob are in natural order (2 before 10), others as they were given. Of a folder, and of its folders,
    all ``.parquet`` files are taken, or all ``.txt`` files if there are none; names that begin with a dot or an underscore are
    left out, as Dask and Spark leave them out (``_SUCCESS``), and so are other files. ValueError for two formats or stores, for
    a file that is neither, and where nothing is found; FileNotFoundError for a path without a file; TypeError for paths that are
    not `str`. All name the path.
    """
    each = [given] if is_path(given) else given
    places = [store_of(one, name) for one in each]
    store, base = places[0]
    if any(other is not store for other, _ in places):
        raise ValueError(f"{name}: expected files of one store, got {each[0]} and others")
    paths = [path for (_, inside), one in zip(places, each, strict=True) for path in _expanded(store, inside, str(one), name)]
    suffixes = {os.path.splitext(path)[1].lower(): path for path in reversed(paths)}
    for suffix, path in suffixes.items():
        if suffix not in _SUFFIXES:
            advice = _ADVICE.get(suffix, "; see dask.bag.read_text")
            raise ValueError(f"{name}: {path}: expected a .parquet or a .txt file{advice}")
    if len(suffixes) > 1:
        raise ValueError(f"{name}: expected files of one format, got {suffixes[PARQUET]} and {suffixes[TEXT]}")
    return Files(store, next(iter(suffixes)), paths, base if len(places) == 1 and store.isdir(base) else "")


def _expanded(store: Any, path: str, given: str, name: str) -> list[str]:
    """The files of one path, folder or glob; at least one."""
    if store.isdir(path):
        return _of_folder(store, path, name)
    if store.exists(path):
        return [path]
    if not glob.has_magic(path):
        hint = "" if os.sep in given else "; a str is a path: texts are given as lists of them, a list a partition"
        raise FileNotFoundError(f"{name}: {path}: there is no such file{hint}")
    matches = [match for match in store.glob(path) if not posixpath.basename(match).startswith(_HIDDEN)]
    matches.sort(key=natural_sort_key)
    inner = [_of_folder(store, match, name) if store.isdir(match) else [match] for match in matches]
    if not inner:
        raise FileNotFoundError(f"{name}: {path}: no file matches")
    return [file for files in inner for file in files]


def _of_folder(store: Any, folder: str, name: str) -> list[str]:
    """The files of a folder and its folders that belong to it."""
    found: dict[str, list[str]] = {}
    for path in store.find(folder):
        if not any(part.startswith(_HIDDEN) for part in path[len(folder) :].split("/") if part):
            found.setdefault(posixpath.splitext(path)[1].lower(), []).append(path)
    for suffix in _SUFFIXES:
        if suffix in found:
            return sorted(found[suffix], key=natural_sort_key)  # as Dask reads them
    others = f", only {', '.join(sorted(suffix or 'names without a suffix' for suffix in found))}" if found else ""
    raise FileNotFoundError(f"{name}: {folder}: there is no .parquet or .txt file in this folder{others}")


def columns_of_folders(files: Files) -> list[dict[str, Any]]:
    """The columns that folders give each file, as pyarrow reads them: arrays of Arrow of one element, each column of one type."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    if not any("=" in path[len(files.base) :] for path in files.paths):
        return [{} for _ in files.paths]
    options = ds.FileSystemFactoryOptions(partition_base_dir=files.base, partitioning=ds.HivePartitioning.discover())
    store = pa.fs.PyFileSystem(pa.fs.FSSpecHandler(files.store))
    factory = ds.FileSystemDatasetFactory(store, files.paths, ds.ParquetFileFormat(), options)
    schema = factory.inspect_schemas()[-1]
    fragments = factory.finish(schema).get_fragments()
    keys = {fragment.path: ds.get_partition_keys(fragment.partition_expression) for fragment in fragments}
    return [{field.name: pa.array([keys[path].get(field.name)], field.type) for field in schema} for path in files.paths]


_LF, _CR = 10, 13
_MARK = b"\xef\xbb\xbf"


class ByteRange(NamedTuple):
    """The lines that begin after the first end of a line in the bytes `begin` to `end` of a file, as ``"str"`` or ``"bytes"``."""

    store: Any
    path: str
    begin: int
    end: int
    kind: str

    @property
    def name(self) -> str:
        """The name of the part in errors."""
        return f"{self.path}, bytes {self.begin}..{self.end - 1}" if self.end else f"{self.path}, no bytes"

    @property
    def size(self) -> int:
        """How large the documents are, but for where lines end."""
        return self.end - self.begin

    def documents(self) -> Any:
        """The lines, an array of Arrow of strings or binary; ValueError for a string that is not UTF-8, with its line."""
        import pyarrow as pa

        with self.store.open(self.path, "rb") as file:
            data = read_block(file, self.begin, self.end - self.begin, b"\n") if self.end else b""
        data = data if self.begin else data.removeprefix(_MARK)
        if self.kind == "str":
            try:
                data.decode("utf-8")
            except UnicodeDecodeError as error:
                line = data.count(b"\n", 0, error.start)
                raise ValueError(f"line {line} is not UTF-8 ({error.reason}); a tokenizer of bytes reads any") from error
        values, offsets = lines_of(data)
        kind = pa.large_string() if self.kind == "str" else pa.large_binary()
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(values)]
        return pa.Array.from_buffers(kind, offsets.size - 1, buffers)


def byte_ranges_of(files: Files, blocksize: int, kind: str) -> list[ByteRange]:
    """The ranges of files, in order: of `blocksize` bytes, the last of a file shorter; one of an empty file."""
    parts = []
    for path in files.paths:
        size = files.store.size(path)
        parts += [ByteRange(files.store, path, i, min(i + blocksize, size), kind) for i in range(0, max(size, 1), blocksize)]
    return parts


def lines_of(data: bytes) -> tuple[np.ndarray, np.ndarray]:
    r"""The bytes of the lines of a text side by side, uint8, and int64[n + 1] offsets. O(bytes); 3 bytes a byte in all.

    >>> values, offsets = lines_of(b"ab\r\n\ncd")
    >>> values.tobytes(), offsets.tolist()
    (b'abcd', [0, 2, 2, 4])
    """
    given = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(given == _LF)
    returned = (ends > 0) & (given[ends - 1] == _CR)
    keep = np.ones(given.size, bool)
    keep[ends] = False
    keep[ends[returned] - 1] = False
    closed = given.size == 0 or given[-1] == _LF
    cuts = np.concatenate([[0], ends + 1] if closed else [[0], ends + 1, [given.size]])
    lengths = np.diff(cuts)
    lengths[: ends.size] -= 1 + returned
    return given[keep], offsets_of(lengths)


class RowGroups(NamedTuple):
    """The row groups `first` to `last` - 1 of a file, and which rows of the file they are.

    `size` is how large the documents are by the footer: elements of lists, or bytes. `more` are columns that the names of folders
    give: to each name an array of one element, which all rows have.
    """

    store: Any
    path: str
    column: str
    first: int
    last: int
    rows: tuple[int, int]
    size: int
    more: dict[str, Any]

    @property
    def name(self) -> str:
        """The name of the part in errors."""
        return f"{self.path}, rows {self.rows[0]}..{self.rows[1] - 1}" if self.rows[1] > self.rows[0] else f"{self.path}, no rows"

    def documents(self) -> Any:
        """The documents, a chunked array of Arrow that `fit` takes."""
        with open_parquet(self.store, self.path) as file:
            table = file.read_row_groups(list(range(self.first, self.last)), columns=[self.column], use_threads=False)
        return arrow_documents(table.column(self.column), f"{self.path}: column {quoted(self.column)}")


def open_parquet(store: Any, path: str) -> Any:
    """A `pyarrow.parquet.ParquetFile`, to be closed; ValueError with the path for one that is damaged or of another format."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(path, filesystem=store, pre_buffer=not is_local(store))
    except pa.ArrowInvalid as error:
        raise ValueError(f"{path}: not a Parquet file that can be read: {error}") from error


def row_groups_of(
    files: Files, column: str | None, blocksize: int, name: str = "parts", argument: str = "column"
) -> list[RowGroups]:
    """The parts of files, in order: as many row groups as have `blocksize` bytes of the column together, at least one.

    Only the footers of the files are read. A file without rows is one part. Without `column` the files have one column.
    `name` and `argument` are what messages call the files and the column.
    ValueError for a column that is not there; TypeError for one without documents, or of another kind than in the first file.
    """
    parts: list[RowGroups] = []
    kinds: dict[str, str] = {}
    for path in files.paths:
        with open_parquet(files.store, path) as file:
            schema, metadata = file.schema_arrow, file.metadata
        names, chosen = schema.names, column
        shown = ", ".join(map(repr, names))
        if chosen is None:
            if len(names) != 1:
                raise ValueError(f"{argument}: expected the name of one of the columns of {path}: {shown}")
            chosen = names[0]
        elif names.count(chosen) != 1:
            raise ValueError(f"{argument}: expected one column {quoted(chosen)} in {path}, there are {shown or 'none'}")
        kind = kind_of(schema.field(chosen).type, f"{path}: column {quoted(chosen)}")
        kinds.setdefault(kind, path)
        parts += _parts(files.store, path, chosen, kind, metadata, blocksize)
    if len(kinds) > 1:
        (one, a), (other, b) = list(kinds.items())[:2]
        raise TypeError(f"{name}: expected documents of one kind in all files, got {one} ({a}) and {other} ({b})")
    return parts


def _parts(store: Any, path: str, column: str, kind: str, metadata: Any, blocksize: int) -> list[RowGroups]:
    """The parts of one file, by its footer."""
    groups = []  # rows, bytes that are not compressed, and values of each
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        chunks = chunks_of(group, column)
        groups.append((group.num_rows, sum(c.total_uncompressed_size for c in chunks), sum(c.num_values for c in chunks)))
    cuts, size = [0], 0
    for i, (_, more, _) in enumerate(groups):
        if i > cuts[-1] and size + more > blocksize:
            cuts.append(i)
            size = 0
        size += more
    parts: list[RowGroups] = []
    row = 0
    for first, last in pairwise([*cuts, len(groups)]):
        n, n_bytes, n_values = np.array(groups[first:last], np.int64).reshape(-1, 3).sum(0).tolist()
        parts.append(RowGroups(store, path, column, first, last, (row, row + n), n_values if kind == "int" else n_bytes, {}))
        row += n
    return parts


def chunks_of(group: Any, column: str) -> list[Any]:
    """The chunks of a column, of lists too, in the metadata of a row group."""
    chunks = map(group.column, range(group.num_columns))
    return [chunk for chunk in chunks if chunk.path_in_schema.split(".")[0] == column.split(".")[0]]
