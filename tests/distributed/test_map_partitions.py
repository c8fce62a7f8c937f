"""Batches of tables in bounded memory, and files that are there whole or not at all."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fsspec.implementations.local import LocalFileSystem

from ubpe_numba.distributed import map_partitions
from ubpe_numba.distributed.files import RowGroups, files_of, row_groups_of
from ubpe_numba.distributed.map_partitions import NewColumn, batches_of, slices_of, through, write_tables
from ubpe_numba.errors import UnknownSymbolError

DISK = LocalFileSystem()


def _table(n: int = 1000) -> pa.Table:
    rng = np.random.default_rng(1)
    docs = pa.array([rng.integers(0, 9, 50) for _ in range(n)], pa.list_(pa.int32()))
    return pa.table({"n": np.arange(n), "doc": docs}, metadata={"whose": "mine"})


def _part(path: Path) -> RowGroups:
    (part,) = row_groups_of(files_of(path), "doc", 1 << 40)
    return part


@pytest.mark.parametrize("limit", [1, 4000, 1 << 24])
def test_batches_are_all_rows_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    monkeypatch.setattr(map_partitions, "BATCH_BYTES", limit)
    pq.write_table(_table(), tmp_path / "a.parquet", row_group_size=300)
    for found in (list(batches_of(_part(tmp_path / "a.parquet"))), list(slices_of(_table(), "doc"))):
        assert pa.Table.from_batches([batch for _, batch in found]).to_pylist() == _table().to_pylist()
        sizes = [batch.num_rows for _, batch in found]
        assert [row for row, _ in found] == np.cumsum([0, *sizes[:-1]]).tolist()
        assert max(sizes) * 200 <= max(limit, 200) * 1.05
        assert all(batch.schema.metadata[b"whose"] == b"mine" for _, batch in found)


def test_a_dictionary_does_not_make_batches_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(map_partitions, "BATCH_BYTES", 40_000)
    pq.write_table(pa.table({"doc": pa.array([[1] * 1000] * 100, pa.list_(pa.int32()))}), tmp_path / "a.parquet")
    assert max(batch.num_rows for _, batch in batches_of(_part(tmp_path / "a.parquet"))) == 10


def test_no_rows_are_one_batch(tmp_path: Path) -> None:
    empty = _table().slice(0, 0)
    pq.write_table(empty, tmp_path / "a.parquet")
    for found in (list(batches_of(_part(tmp_path / "a.parquet"))), list(slices_of(empty, "doc"))):
        assert [batch.num_rows for _, batch in found] == [0] and found[0][1].schema.names == ["n", "doc"]


def test_errors_count_rows_from_the_first(tmp_path: Path) -> None:
    def refuse(docs: Any) -> None:
        raise UnknownSymbolError(2, 5, "x")

    batch = _table(5).to_batches()[0]
    with pytest.raises(UnknownSymbolError, match="^document 102, position 5"):
        through(batch, 100, "doc", refuse)
    nulls = pa.RecordBatch.from_pydict({"doc": ["a", None]})
    with pytest.raises(ValueError, match="^column 'doc': document 101 is null"):
        through(nulls, 100, "doc", len)


def test_where_a_new_column_stands() -> None:
    batch = pa.RecordBatch.from_pydict({"doc": ["a"], "n": [1]})
    values = pa.array([[0]])
    assert NewColumn("doc", "ids", False, "ids").beside(batch, values).to_pydict() == {"doc": ["a"], "n": [1], "ids": [[0]]}
    assert NewColumn("doc", "ids", True, "ids").beside(batch, values).column_names == ["ids", "n"]
    NewColumn("doc", "doc", True, "ids").check(["doc", "n"], "t")
    for name, drop in (("doc", False), ("n", True), ("n", False)):
        with pytest.raises(ValueError, match=f"^ids: t has a column '{name}' already"):
            NewColumn("doc", name, drop, "ids").check(["doc", "n"], "t")


@pytest.mark.parametrize("compression", [None, "none", "snappy", "lz4", "zstd"])
def test_a_file_has_all_tables(tmp_path: Path, compression: str | None) -> None:
    path, table = str(tmp_path / "a.parquet"), _table().append_column("name", pa.array(["x", "y"] * 500))
    write_tables(DISK, path, iter([table, table.slice(0, 0), table]), "doc", compression)
    assert pq.read_table(path).to_pylist() == 2 * table.to_pylist()
    group = pq.ParquetFile(path).metadata.row_group(0)
    encodings = {group.column(i).path_in_schema: group.column(i).encodings for i in range(3)}
    assert "RLE_DICTIONARY" in encodings["name"] and "RLE_DICTIONARY" not in encodings["doc.list.element"]


def test_a_file_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    def tables() -> Any:
        yield _table()
        assert not (tmp_path / "a.parquet").exists() and len(list(tmp_path.iterdir())) == 1
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        write_tables(DISK, str(tmp_path / "a.parquet"), tables(), "doc", "none")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileNotFoundError, match="nowhere"):
        write_tables(DISK, str(tmp_path / "nowhere" / "a.parquet"), iter([_table()]), "doc", "none")
