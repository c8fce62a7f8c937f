"""Columns of Parquet files by row groups."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from ubpe_numba import count_documents  # noqa: E402
from ubpe_numba.distributed.files import files_of  # noqa: E402
from ubpe_numba.distributed.files import row_groups_of as row_groups_of_files  # noqa: E402


def written(path: Path, rows: int = 3, **columns: Any) -> str:
    """A file of these columns, so many rows a group."""
    pq.write_table(pa.table(columns), path, row_group_size=rows)
    return str(path)


def row_groups_of(paths: list[str], *options: Any) -> list[Any]:
    return row_groups_of_files(files_of(paths), *options)


def test_row_groups_are_put_together_up_to_a_size(tmp_path: Path) -> None:
    docs = [[i] * (i % 7) for i in range(20)]
    path = written(tmp_path / "a.parquet", ids=pa.array(docs, pa.list_(pa.int32())), text=["x" * 1000] * 20)
    size = pq.ParquetFile(path).metadata.row_group(0).column(0).total_uncompressed_size
    for blocksize, groups in ((1, [1] * 7), (2 * size + size // 2, None), (10**9, [7])):
        parts = row_groups_of([path], "ids", blocksize)
        assert groups is None or [part.last - part.first for part in parts] == groups
        assert [part.first for part in parts[1:]] == [part.last for part in parts[:-1]]
        read = [part.documents() for part in parts]
        assert [part.rows for part in parts] == _rows(map(len, read))
        assert [doc for array in read for doc in array.to_pylist()] == docs
    assert [part.name for part in row_groups_of([path], "ids", 1)][-1] == f"{path}, rows 18..19"


def _rows(lengths: Any) -> list[tuple[int, int]]:
    found, at = [], 0
    for n in lengths:
        found.append((at, at + n))
        at += n
    return found


def test_files_without_rows(tmp_path: Path) -> None:
    none = written(tmp_path / "a.parquet", text=pa.array([], pa.string()))
    some = written(tmp_path / "b.parquet", text=["x"])
    parts = row_groups_of([none, some, none], None, 1)
    assert [part.name for part in parts] == [f"{none}, no rows", f"{some}, rows 0..0", f"{none}, no rows"]
    assert [part.documents().to_pylist() for part in parts] == [[], ["x"], []]


TYPES: list[tuple[Any, list[Any]]] = [
    (pa.list_(pa.int32()), [[1, 2], [], [3]]),
    (pa.large_list(pa.int64()), [[2**40, -1], []]),
    (pa.list_(pa.uint8()), [[255, 0]]),
    (pa.list_(pa.uint64()), [[2**63 - 1]]),
    (pa.list_(pa.int16(), 2), [[1, 2], [3, 4]]),
    (pa.list_(pa.null()), [[], []]),
    (pa.string(), ["né", "", "x"]),
    (pa.large_string(), ["né"]),
    (pa.binary(), [b"a\xff", b""]),
    (pa.large_binary(), [b"a"]),
    (pa.binary(2), [b"ab", b"cd"]),
    (pa.dictionary(pa.int8(), pa.string()), ["a", "b", "a"]),
]


@pytest.mark.parametrize("kind, docs", TYPES, ids=[str(kind) for kind, _ in TYPES])
def test_types_of_columns(tmp_path: Path, kind: Any, docs: list[Any]) -> None:
    path = written(tmp_path / "a.parquet", 2, column=pa.array(docs, kind), n=range(len(docs)))
    (part,) = row_groups_of([path], "column", 10**9)
    assert count_documents(part.documents()) == count_documents(docs)


@pytest.mark.parametrize(
    "kind, docs", [(pa.int32(), [1]), (pa.list_(pa.float64()), [[1.0]]), (pa.list_(pa.string()), [["a"]]), (pa.bool_(), [True])]
)
def test_columns_that_are_no_documents(tmp_path: Path, kind: Any, docs: list[Any]) -> None:
    path = written(tmp_path / "a.parquet", column=pa.array(docs, kind))
    with pytest.raises(TypeError, match=r"a\.parquet: column 'column': expected lists of integers, strings or binary, got"):
        row_groups_of([path], None, 1)


def test_columns_that_are_not_there(tmp_path: Path) -> None:
    path = written(tmp_path / "a.parquet", text=["a"], n=[1])
    with pytest.raises(ValueError, match=r"column: expected one column 'ids' in .*a\.parquet, there are 'text', 'n'"):
        row_groups_of([path], "ids", 1)
    with pytest.raises(ValueError, match=r"column: expected the name of one of the columns of .*a\.parquet: 'text', 'n'"):
        row_groups_of([path], None, 1)


def test_nulls_are_named_by_their_place_in_a_row_group(tmp_path: Path) -> None:
    for i, (docs, message) in enumerate(
        [([[1], None], "document 1 is null"), ([[1], [2, None]], "document 1, position 1 is null")]
    ):
        path = written(tmp_path / f"{i}.parquet", ids=pa.array(docs, pa.list_(pa.int32())))
        (part,) = row_groups_of([path], None, 1)
        with pytest.raises(ValueError, match=message):
            count_documents(part.documents())


def test_files_of_two_kinds(tmp_path: Path) -> None:
    paths = [written(tmp_path / "a.parquet", c=["x"]), written(tmp_path / "b.parquet", c=pa.array([[1]]))]
    with pytest.raises(TypeError, match=r"parts: expected documents of one kind in all files, got str \(.*a.*\) and int \(.*b"):
        row_groups_of(paths, "c", 1)


@pytest.mark.parametrize("data", [b"", b"PAR1", b"not at all" * 10])
def test_files_that_cannot_be_read(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"a\.parquet: not a Parquet file that can be read"):
        row_groups_of([str(path)], None, 1)


def test_a_name_with_a_dot(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table([pa.array(["x"]), pa.array([[1]])], ["a.b", "a"]), path)
    for column, want in (("a.b", ["x"]), ("a", [[1]])):
        (part,) = row_groups_of([str(path)], column, 1)
        assert part.documents().to_pylist() == want
