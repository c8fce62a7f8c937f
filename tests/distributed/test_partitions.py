"""Every form in which partitions may be given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

dask = pytest.importorskip("dask")
pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")

import dask.array as da  # noqa: E402
import dask.bag as db  # noqa: E402
import dask.dataframe as dd  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

from ubpe_numba import Counts, Ragged, count_documents  # noqa: E402
from ubpe_numba.distributed.partitions import BLOCKSIZE, blocksize_of, partitions_of  # noqa: E402

DOCS = [[1, 2], [3], [1, 2], [], [4, 4, 4]]
TEXTS = ["né", "x", "né", "", "long"]


def counts(*arguments: Any, **options: Any) -> list[Counts]:
    """What the partitions hold, computed in this process."""
    found = partitions_of(*arguments, **options)
    assert len(found.names) == len(found.delayed)
    return [
        part if isinstance(part, Counts) else count_documents(part)
        for part in dask.compute(*found.delayed, scheduler="sync")
    ]  # fmt: skip


def whole(*arguments: Any, **options: Any) -> Counts:
    return Counts.merge(*counts(*arguments, **options))


PARTS: dict[str, list[Any]] = {
    "lists": [DOCS[:2], DOCS[2:]],
    "tuples": [tuple(DOCS[:2]), tuple(DOCS[2:])],
    "arrays": [[np.array(doc, np.int16) for doc in DOCS[:3]], [np.array(doc, np.int64) for doc in DOCS[3:]]],
    "ragged": [Ragged.from_lists(DOCS[:1]), Ragged.from_lists(DOCS)[1:]],
    "arrow": [pa.array(DOCS[:4]), pa.chunked_array([DOCS[4:]])],
    "counts": [count_documents(DOCS[:3]), count_documents(DOCS[3:])],
    "empty": [[], DOCS[:1], [], [], DOCS[1:], np.zeros((0, 3), np.int64)],
    "mixed": [DOCS[:1], Ragged.from_lists(DOCS[1:2]), pa.array(DOCS[2:])],
}


@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize(
    "form", [list, tuple, lambda parts: [dask.delayed(part) for part in parts]], ids=["list", "tuple", "delayed"]
)
def test_lists_of_partitions(parts: list[Any], form: Any) -> None:
    found = partitions_of(form(parts))
    assert found.names == [f"partition {i}" for i in range(len(parts))]
    assert not found.joined
    assert whole(form(parts)) == count_documents(DOCS)


def test_sizes_that_are_known_beforehand(tmp_path: Path) -> None:
    lengths = [2, 1, 2, 0, 3]
    parts = [DOCS[:2], [], DOCS[2:]]
    for form, want in PARTS.items():
        assert sum(partitions_of(want).sizes or []) == sum(lengths[:2] + lengths[3:] if form == "counts" else lengths), form
    more = [
        np.array([4, 5, 6]),
        np.zeros((3, 4), np.int32),
        ["né", ""],
        [b"abc"],
        pa.array(["né"]),
        pa.array(DOCS),
        Ragged.from_lists(DOCS)[1:],
    ]
    assert partitions_of(more).sizes == [3, 12, 2, 3, 3, 8, 6]
    assert partitions_of([dask.delayed(part) for part in parts]).sizes is None
    assert partitions_of([[[1]], [[1], 2.5]]).sizes is None
    assert partitions_of(db.from_sequence(DOCS, npartitions=2)).sizes is None
    assert partitions_of(da.zeros(10, dtype=int, chunks=((7, 0, 3),))).sizes == [7, 0, 3]
    assert partitions_of(da.zeros((10, 4), dtype=int, chunks=((7, 3), (1, 3)))).sizes == [28, 12]
    values = da.arange(10, chunks=5)
    assert partitions_of(values[values > 3]).sizes is None
    for i, docs in enumerate([[[7] * 1000, [7] * 5], DOCS]):
        pq.write_table(pa.table({"ids": pa.array(docs, pa.list_(pa.int32()))}), tmp_path / f"{i}.parquet", row_group_size=1)
    assert partitions_of(tmp_path, blocksize=1).sizes == [1000, 5, 2, 1, 2, 1, 3]  # no elements are one value in the file
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "a.txt").write_text("ab\nc\n")
    assert partitions_of(tmp_path / "text", blocksize=3).sizes == [3, 2]


def test_no_partitions() -> None:
    assert partitions_of([])[:5] == ([], [], False, None, [])


def test_futures_are_partitions(client: Any) -> None:
    futures = client.map(lambda docs: docs, [DOCS[:2], DOCS[2:]], pure=False)
    found = partitions_of(futures)
    assert found.client is client
    assert Counts.merge(*client.gather(client.compute([dask.delayed(count_documents)(part) for part in found.delayed]))) == (
        count_documents(DOCS)
    )
    tables = client.scatter([pd.DataFrame({"t": TEXTS[:2]}), pa.table({"t": TEXTS[2:]})])
    parts = client.gather(client.compute(partitions_of(tables, "t").delayed))
    assert Counts.merge(*map(count_documents, parts)) == count_documents(TEXTS)


@pytest.mark.parametrize("docs", [DOCS, TEXTS, [text.encode() for text in TEXTS]], ids=["int", "str", "bytes"])
def test_bags_are_partitions(docs: list[Any]) -> None:
    bag = db.from_sequence(docs, npartitions=3)
    assert whole(bag) == count_documents(docs)
    assert whole(bag.map(lambda doc: doc)) == count_documents(docs)
    assert whole(bag.map_partitions(iter)) == count_documents(docs)
    assert [len(part) for part in counts(bag.filter(lambda doc: doc == docs[0]))] == [1, 1, 0]


def test_chunks_of_arrays_are_partitions() -> None:
    values = np.arange(10, dtype=np.int16)
    found = partitions_of(da.from_array(values, chunks=4))
    assert found.joined and len(found.delayed) == 3
    assert np.concatenate(dask.compute(*found.delayed, scheduler="sync")).tolist() == values.tolist()
    assert partitions_of(da.from_array(values, chunks=4)[lambda_mask(values)]).joined  # of unknown chunks
    rows = np.arange(24).reshape(6, 4) % 5
    assert whole(da.from_array(rows, chunks=(4, 3))) == count_documents(rows)
    assert not partitions_of(da.from_array(rows, chunks=(4, 3))).joined


def lambda_mask(values: np.ndarray) -> Any:
    return da.from_array(values % 2 == 0, chunks=4)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of pandas, in Dask
def test_columns_of_dataframes_are_partitions(tmp_path: Path) -> None:
    frame = pd.DataFrame({"text": TEXTS, "n": range(5)})
    ddf = dd.from_pandas(frame, npartitions=2)
    assert whole(ddf, "text") == whole(ddf.text) == whole(ddf.to_delayed(), "text") == count_documents(TEXTS)
    assert whole(ddf.text.astype("category")) == count_documents(TEXTS)
    pq.write_table(pa.table({"ids": pa.array(DOCS, pa.list_(pa.int32())), "n": range(5)}), tmp_path / "a.parquet")
    for options in ({}, {"dtype_backend": "pyarrow"}):
        assert whole(dd.read_parquet(tmp_path / "a.parquet", **options), "ids") == count_documents(DOCS)
    with pytest.raises(TypeError, match=r"parts: column 'n': expected lists of integers, strings or binary, got int64"):
        partitions_of(ddf.n)
    with pytest.raises(
        ValueError, match=r"column: expected the name of one column of the dataframe, got None, there are 'text', 'n'"
    ):
        partitions_of(ddf)
    with pytest.raises(TypeError, match="column: it is one of tables, and source is Series"):
        partitions_of(ddf.text, "text", name="source")


def test_files_are_cut_into_partitions(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("né\r\nx\nné", encoding="utf-8", newline="")
    (tmp_path / "b.txt").write_text("\nlong\n", encoding="utf-8", newline="")
    assert whole(tmp_path) == whole(str(tmp_path / "*.txt"), blocksize=2) == count_documents(TEXTS)
    assert whole([tmp_path / "a.txt", tmp_path / "b.txt"], lines="bytes", blocksize="3 B") == (
        count_documents([text.encode() for text in TEXTS])
    )
    pq.write_table(
        pa.table({"ids": pa.array(DOCS, pa.list_(pa.int32())), "n": range(5)}), tmp_path / "a.parquet", row_group_size=2
    )
    found = partitions_of(tmp_path / "a.parquet", "ids", blocksize=1)
    assert found.names == [f"{tmp_path / 'a.parquet'}, rows {rows}" for rows in ("0..1", "2..3", "4..4")]
    assert whole(tmp_path, "ids") == count_documents(DOCS)
    with pytest.raises(TypeError, match=r"column: it is one of tables, and .*a\.txt is text"):
        partitions_of(tmp_path / "a.txt", "ids")
    with pytest.raises(ValueError, match="lines: expected 'str' or 'bytes', got 'utf-8'"):
        partitions_of(tmp_path / "a.txt", lines="utf-8")


def test_errors_on_workers_name_the_partition(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"ab\nc\xff\n")
    broken = partitions_of(tmp_path / "a.txt", blocksize=3)
    with pytest.raises(ValueError, match=r"a\.txt, bytes 0\.\.2: line 1 is not UTF-8"):
        dask.compute(*broken.delayed, scheduler="sync")
    tables = [dask.delayed(pd.DataFrame({"a": ["x"]})), dask.delayed(pd.DataFrame({"b": ["x"]}))]
    with pytest.raises(ValueError, match=r"partition 1: column 'a': expected one column of this name, there are 'b'"):
        dask.compute(*partitions_of(tables, "a").delayed, scheduler="sync")


@pytest.mark.parametrize(
    "parts, message",
    [
        (3, r"parts: expected a list of partitions .*, got 3 \(int\)"),
        (None, "got None"),
        (np.zeros(3, np.int64), "got an array of int64"),
        ({"a": 1}, "got dict"),
        ([[1, 2], [3]], "parts: partition 0: expected a list of documents, got a flat list of integers"),
        ([[[1]], 3], r"parts: partition 1: expected .*, got 3 \(int\)"),
        ([[[1]], None], "parts: partition 1: expected .*, got None"),
        ([[[1]], {"a"}], "parts: partition 1: expected .*, got set"),
        ([iter([[1]])], "parts: partition 0: expected .*, got list_iterator"),
        ([["a"], "a.txt"], "parts: partition 1: expected documents, got a path"),
        ([["a"], dask.delayed(["a"])], r"partitions of one form, got list \(partition 0\) and DelayedLeaf \(partition 1\)"),
        ([pa.array([1, 2])], "parts: partition 0: expected lists of integers, strings or binary, got int64"),
        (da.ones(3), "parts: documents are integers, got a dask.array of float64"),
        (da.zeros(3, dtype=bool), "got a dask.array of bool"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_refused(parts: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        partitions_of(parts)


def test_other_arguments() -> None:
    with pytest.raises(
        ValueError, match=r"parts: expected a 1-D dask\.array \(one document\) or 2-D \(a document a row\), got 3-D"
    ):
        partitions_of(da.zeros((1, 1, 1), dtype=np.int64))
    with pytest.raises(TypeError, match="column: expected a name, got 3"):
        partitions_of([["a"]], 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="parts: partition 0: column 'a': expected a partition that is a table"):
        partitions_of([["a"]], "a")
    with pytest.raises(TypeError, match="column: it is one of tables, and parts is Bag"):
        partitions_of(db.from_sequence(["a"]), "a")


def test_block_sizes_are_numbers_or_have_units() -> None:
    assert blocksize_of(None) == BLOCKSIZE
    assert blocksize_of(100) == 100
    assert blocksize_of("2 KiB") == 2048
    for wrong, error in (
        (0, ValueError),
        (-1, ValueError),
        ("x", ValueError),
        ("0 MB", ValueError),
        (1.5, TypeError),
        (True, TypeError),
    ):
        with pytest.raises(error, match="blocksize: "):
            blocksize_of(wrong)  # type: ignore[arg-type]
