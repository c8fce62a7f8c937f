"""Tables on their way through a worker: read in batches of bounded memory, one column made of another, and written whole.

A file appears under its name when all of it is on the disk; until then it is a hidden one beside it (``runtime/files.py``).
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ubpe_numba.distributed.columns import arrow_documents
from ubpe_numba.distributed.row_groups import RowGroups, open_parquet
from ubpe_numba.errors import LocatedError, quoted
from ubpe_numba.runtime.files import atomically

BATCH_BYTES = 1 << 24  # of the documents that are worked on at a time
_ROW_BYTES = 1 << 26  # of whole rows, with the other columns

#: Turns the documents of a batch, an array of Arrow, into something.
Convert = Callable[[Any], Any]


class NewColumn(NamedTuple):
    """The column `name` is made of the column `source`, and stands behind the others; with `drop` in the place of `source`.

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
    """The rows of row groups in batches with all columns, those that folders name behind those of the file.

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
    """The next batch, or None behind the last; ValueError with the first row that could not be read."""
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


def through(batch: Any, row: int, column: str, convert: Convert) -> Any:
    """What becomes of the documents of a batch; errors number them from `row` on. ValueError for one that is null."""
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
