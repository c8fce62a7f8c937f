"""Files of a source: the paths that a user names, columns that folders name, byte ranges of text and row groups of Parquet."""

from __future__ import annotations

import glob
import os
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from urllib.parse import unquote

import numpy as np
from dask.utils import natural_sort_key

from ubpe_numba.distributed.tables import arrow_documents, kind_of
from ubpe_numba.errors import quoted
from ubpe_numba.runtime.arrays import offsets_of

PARQUET, TEXT = ".parquet", ".txt"
_SUFFIXES = (PARQUET, TEXT)
_HIDDEN = (".", "_")
_ADVICE = {
    ".jsonl": "; read it with dask.bag.read_text(...).map(json.loads), or dask.dataframe.read_json",
    ".json": "; read it with dask.bag.read_text(...).map(json.loads), or dask.dataframe.read_json",
    ".csv": "; read it with dask.dataframe.read_csv, and pass the column",
    ".gz": "; compressed text has no byte ranges: dask.bag.read_text reads it",
    ".bz2": "; compressed text has no byte ranges: dask.bag.read_text reads it",
    ".xz": "; compressed text has no byte ranges: dask.bag.read_text reads it",
    ".zst": "; compressed text has no byte ranges: dask.bag.read_text reads it",
}


def is_path(value: object) -> bool:
    """Whether a user's argument names files."""
    return isinstance(value, (str, os.PathLike))


def files_of(given: Any, name: str = "parts") -> tuple[str, list[str], list[str]]:
    """The format of the files of a path or a list of paths, their absolute paths, and the folder that each is in.

    The format is ``".parquet"`` or ``".txt"``. Files of a folder or a glob are in natural order (2 before 10), others as they
    were given. Folders are those below the folder that was given; of a file that was given itself or matches a glob, all of them.
    Of a folder, and of its folders, all ``.parquet`` files are taken, or all ``.txt`` files if there are none; names that
    begin with a dot or an underscore are left out, as Dask and Spark leave them out (``_SUCCESS``), and so are other files.
    ValueError for two formats, for a file that is neither, and where nothing is found; FileNotFoundError for a path without a
    file; TypeError for paths that are not `str`. All name the path.
    """
    found: list[str] = []
    folders: list[str] = []
    for one in [given] if is_path(given) else given:
        paths = _expanded(one, name)
        found += paths
        inside = map(os.path.dirname, paths)
        folders += [os.path.relpath(folder, one) for folder in inside] if os.path.isdir(one) else inside
    suffixes = {os.path.splitext(path)[1].lower(): path for path in reversed(found)}
    for suffix, path in suffixes.items():
        if suffix not in _SUFFIXES:
            raise ValueError(
                f"{name}: {path}: expected a .parquet or a .txt file{_ADVICE.get(suffix, '; see dask.bag.read_text')}"
            )
    if len(suffixes) > 1:
        raise ValueError(f"{name}: expected files of one format, got {suffixes[PARQUET]} and {suffixes[TEXT]}")
    return next(iter(suffixes)), found, folders


def _expanded(given: Any, name: str) -> list[str]:
    """The files of one path, folder or glob; at least one."""
    path = os.fspath(given)
    if not isinstance(path, str):
        raise TypeError(f"{name}: expected paths that are str, got {quoted(path)}")
    if "://" in path:
        raise ValueError(f"{name}: {path}: expected a file that all workers see; dask.dataframe and dask.bag read from stores")
    path = os.path.abspath(path)
    if os.path.isdir(path):
        return _of_folder(path, name)
    if os.path.exists(path):
        return [path]
    if not glob.has_magic(path):
        hint = "" if os.sep in os.fspath(given) else "; a str is a path: texts are given as lists of them, a list a partition"
        raise FileNotFoundError(f"{name}: {path}: there is no such file{hint}")
    matches = [match for match in glob.glob(path, recursive=True) if not os.path.basename(match).startswith(_HIDDEN)]
    matches.sort(key=natural_sort_key)
    inner = [[match] if not os.path.isdir(match) else _of_folder(match, name) for match in matches]
    if not inner:
        raise FileNotFoundError(f"{name}: {path}: no file matches")
    return [file for files in inner for file in files]


def _of_folder(folder: str, name: str) -> list[str]:
    """The files of a folder and its folders that belong to it."""
    found: dict[str, list[str]] = {}
    for path in Path(folder).rglob("*"):
        if path.is_file() and not any(part.startswith(_HIDDEN) for part in path.relative_to(folder).parts):
            found.setdefault(path.suffix.lower(), []).append(str(path))
    for suffix in _SUFFIXES:
        if suffix in found:
            return sorted(found[suffix], key=natural_sort_key)  # as Dask reads them
    others = f", only {', '.join(sorted(suffix or 'names without a suffix' for suffix in found))}" if found else ""
    raise FileNotFoundError(f"{name}: {folder}: there is no .parquet or .txt file in this folder{others}")


NULL = "__HIVE_DEFAULT_PARTITION__"


def columns_of_folders(folders: list[str]) -> list[dict[str, Any]]:
    """The columns of each file by the folder that it is in: arrays of Arrow of one element, in order of first appearance.

    ValueError, with the folder, for what is not UTF-8 when it is decoded.

    >>> first, second = columns_of_folders(["year=2024/lang=de", "year=2023"])
    >>> {name: (value.type, value[0].as_py()) for name, value in first.items()}
    {'year': (DataType(int32), 2024), 'lang': (DataType(string), 'de')}
    >>> [value[0].as_py() for value in second.values()]
    [2023, None]
    """
    import pyarrow as pa

    each, columns = [_values(folder) for folder in folders], {}
    for name in dict.fromkeys(n for values in each for n in values):
        column = pa.array([values.get(name) for values in each], pa.string())
        if column.null_count == len(column):
            column = pa.nulls(len(column))
        else:
            with suppress(pa.ArrowInvalid):  # it is not of integers
                column = column.cast(pa.int32())
        columns[name] = column
    return [{name: column.take([i]) for name, column in columns.items()} for i in range(len(folders))]  # a slice travels whole


def _values(folder: str) -> dict[str, str | None]:
    """Columns in the names of a folder and of those that it is in.

    >>> _values("data/year=2024/__/lang=a%20b/year=1")
    {'year': '2024', 'lang': 'a b'}
    """
    found: dict[str, str | None] = {}
    for part in Path(folder).parts:
        name, sign, value = part.partition("=")
        if not sign:
            continue
        try:
            name, value = unquote(name, errors="strict"), unquote(value, errors="strict")
        except UnicodeDecodeError as error:
            raise ValueError(f"{folder}: {quoted(part)} is not UTF-8 when it is decoded as in a URL") from error
        found.setdefault(name, None if value == NULL else value)
    return found


_LF, _CR = 10, 13
_MARK = b"\xef\xbb\xbf"
_AHEAD = 1 << 16  # bytes that are read at a time to find the end of the last line


class ByteRange(NamedTuple):
    """The lines that begin in the bytes `begin` to `end` - 1 of a file, as documents ``"str"`` or ``"bytes"``."""

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
        """The lines, an array of Arrow of strings or binary; ValueError for a string that is not UTF-8, with its place."""
        import pyarrow as pa

        with open(self.path, "rb") as file:
            start, data = lines_that_begin(file, self.begin, self.end)
        if self.kind == "str":
            try:
                data.decode("utf-8")
            except UnicodeDecodeError as error:
                raise ValueError(
                    f"byte {start + error.start} of the file is not UTF-8 ({error.reason}); a tokenizer of bytes reads any"
                ) from error
        values, offsets = lines_of(data)
        kind = pa.large_string() if self.kind == "str" else pa.large_binary()
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(values)]
        return pa.Array.from_buffers(kind, offsets.size - 1, buffers)


def byte_ranges_of(paths: list[str], blocksize: int, kind: str) -> list[ByteRange]:
    """The ranges of files, in order: of `blocksize` bytes, the last of a file shorter; one of an empty file."""
    parts = []
    for path in paths:
        size = os.stat(path).st_size
        parts += [ByteRange(path, i, min(i + blocksize, size), kind) for i in range(0, max(size, 1), blocksize)]
    return parts


def lines_that_begin(file: BinaryIO, begin: int, end: int) -> tuple[int, bytes]:
    r"""Where the lines begin that begin in a range, and their bytes, from the first of the first to the end of the last.

    O(bytes of the range and of its last line).

    >>> import io
    >>> [lines_that_begin(io.BytesIO(b"ab\ncdef\ng"), i, i + 4) for i in (0, 4, 8)]
    [(0, b'ab\ncdef\n'), (8, b''), (8, b'g')]
    """
    skipped = len(_MARK) if begin == 0 and file.read(len(_MARK)) == _MARK else 0
    before = max(begin - 1, skipped)  # whether a line begins at `begin` is seen by the byte before
    file.seek(before)
    data = file.read(max(end - before, 0))
    start = 0
    if begin > 0:
        start = data.find(b"\n", 0, max(len(data) - 1, 0)) + 1
        if start == 0:
            return end, b""
    pieces = [data[start:]]
    last = data
    while not last.endswith(b"\n"):
        last = file.read(_AHEAD)
        found = last.find(b"\n") + 1
        pieces.append(last[:found] if found else last)
        if found or not last:
            break
    return before + start, b"".join(pieces)


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
        with open_parquet(self.path) as file:
            table = file.read_row_groups(list(range(self.first, self.last)), columns=[self.column], use_threads=False)
        return arrow_documents(table.column(self.column), f"{self.path}: column {quoted(self.column)}")


def open_parquet(path: str) -> Any:
    """A `pyarrow.parquet.ParquetFile`, to be closed; ValueError with the path for one that is damaged or of another format."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(path)
    except pa.ArrowInvalid as error:
        raise ValueError(f"{path}: not a Parquet file that can be read: {error}") from error


def row_groups_of(
    paths: list[str], column: str | None, blocksize: int, name: str = "parts", argument: str = "column"
) -> list[RowGroups]:
    """The parts of files, in order: as many row groups as have `blocksize` bytes of the column together, at least one.

    Only the footers of the files are read. A file without rows is one part. Without `column` the files have one column.
    `name` and `argument` are what messages call the files and the column.
    ValueError for a column that is not there; TypeError for one without documents, or of another kind than in the first file.
    """
    parts: list[RowGroups] = []
    kinds: dict[str, str] = {}
    for path in paths:
        with open_parquet(path) as file:
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
        parts += _parts(path, chosen, kind, metadata, blocksize)
    if len(kinds) > 1:
        (one, a), (other, b) = list(kinds.items())[:2]
        raise TypeError(f"{name}: expected documents of one kind in all files, got {one} ({a}) and {other} ({b})")
    return parts


def _parts(path: str, column: str, kind: str, metadata: Any, blocksize: int) -> list[RowGroups]:
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
        parts.append(RowGroups(path, column, first, last, (row, row + n), n_values if kind == "int" else n_bytes, {}))
        row += n
    return parts


def chunks_of(group: Any, column: str) -> list[Any]:
    """The chunks of a column, of lists too, in the metadata of a row group."""
    chunks = map(group.column, range(group.num_columns))
    return [chunk for chunk in chunks if chunk.path_in_schema.split(".")[0] == column.split(".")[0]]
