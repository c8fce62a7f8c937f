"""Columns of Parquet files by row groups: a part is some row groups of one file, whose rows are read without the other columns.

A file of five row groups, whose column has these sizes in MB, in parts of 64 MB::

    row group    0    1    2    3    4
    MB          30   30   30  100    1
    parts       [0, 1]    [2] [3]   [4]        one that is larger than a part is a part
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.distributed.columns import arrow_documents, kind_of
from ubpe_numba.errors import quoted


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
        """What errors call the part."""
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
        chosen = _column(schema.names, column, path, argument)
        kind = kind_of(schema.field(chosen).type, f"{path}: column {quoted(chosen)}")
        kinds.setdefault(kind, path)
        parts += _parts(path, chosen, kind, metadata, blocksize)
    if len(kinds) > 1:
        (one, a), (other, b) = list(kinds.items())[:2]
        raise TypeError(f"{name}: expected documents of one kind in all files, got {one} ({a}) and {other} ({b})")
    return parts


def _column(names: list[str], column: str | None, path: str, argument: str) -> str:
    """The column to read: the one that was asked for, or the only one."""
    shown = ", ".join(map(repr, names))
    if column is None:
        if len(names) != 1:
            raise ValueError(f"{argument}: expected the name of one of the columns of {path}: {shown}")
        return names[0]
    if names.count(column) != 1:
        raise ValueError(f"{argument}: expected one column {quoted(column)} in {path}, there are {shown or 'none'}")
    return column


def _parts(path: str, column: str, kind: str, metadata: Any, blocksize: int) -> list[RowGroups]:
    """The parts of one file, by its footer."""
    groups = [_measured(metadata.row_group(i), column) for i in range(metadata.num_row_groups)]
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


def _measured(group: Any, column: str) -> tuple[int, int, int]:
    """The rows of a row group, the bytes of a column, not compressed, and its values."""
    chunks = [c for c in map(group.column, range(group.num_columns)) if c.path_in_schema.split(".")[0] == column.split(".")[0]]
    return group.num_rows, sum(c.total_uncompressed_size for c in chunks), sum(c.num_values for c in chunks)
