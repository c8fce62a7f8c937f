"""Every form in which partitions may be given, and how files are found, cut and read."""

from pathlib import Path
from typing import Any

import dask
import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from hypothesis import given, strategies as st
from reference.files import MARK, lines
from tables import refuses

from ubpe_numba import Counts, Ragged, count_documents
from ubpe_numba.distributed import sources
from ubpe_numba.distributed.sources import (
    Lines,
    Partitions,
    batches_of,
    documents_of,
    files_of,
    partitions_of,
)

DOCS = [[1, 2], [3], [1, 2], [], [4, 4, 4]]
TEXTS = ["né", "x", "né", "", "long"]
NULL = "__HIVE_DEFAULT_PARTITION__"  # of a folder


def read(found: Partitions) -> list[Any]:
    """The documents of each partition, read in this process."""
    assert len(found.names) == len(found.delayed)
    return [documents_of(part, found.column) for part in dask.compute(*found.delayed, scheduler="sync")]


def whole(*arguments: Any, **options: Any) -> Counts:
    """The counts of all partitions."""
    parts = read(partitions_of(*arguments, **options))
    return Counts.merge(*[part if isinstance(part, Counts) else count_documents(part) for part in parts])


def written(path: Path, rows: int = 3, **columns: Any) -> str:
    """A Parquet file of these columns, so many rows a group."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path, row_group_size=rows)
    return str(path)


PARTS: dict[str, list[Any]] = {
    "lists": [DOCS[:2], DOCS[2:]],
    "arrays": [[np.array(doc, np.int16) for doc in DOCS[:3]], [np.array(doc, np.int64) for doc in DOCS[3:]]],
    "ragged": [Ragged.from_lists(DOCS[:1]), Ragged.from_lists(DOCS)[1:]],
    "arrow": [pa.array(DOCS[:4]), pa.chunked_array([DOCS[4:]])],
    "counts": [count_documents(DOCS[:3]), count_documents(DOCS[3:])],
    "empty": [[], DOCS[:1], [], [], DOCS[1:], np.zeros((0, 3), np.int64)],
}


@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
def test_lists_of_partitions(parts: list[Any]) -> None:
    for form in (parts, tuple(parts), [dask.delayed(part) for part in parts]):
        assert partitions_of(form).names == [f"partition {i}" for i in range(len(parts))]
        assert whole(form) == count_documents(DOCS)


def test_sizes_that_are_known_beforehand(tmp_path: Path) -> None:
    assert partitions_of([[[1]], [[1], [2]]]).sizes is None
    assert partitions_of(da.zeros((10, 4), dtype=int, chunks=((7, 3), (1, 3)))).sizes == [28, 12]
    values = da.arange(10, chunks=5)
    assert partitions_of(values[values > 3]).sizes is None
    written(tmp_path / "a.parquet", 1, ids=pa.array([[7] * 1000, [7] * 5, []], pa.list_(pa.int32())))
    assert partitions_of(tmp_path, blocksize=1).sizes == [1000, 5, 1]  # no elements are one value in the file
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "a.txt").write_text("ab\nc\n")
    assert partitions_of(tmp_path / "text", blocksize=3).sizes == [3, 2]


def test_collections_of_dask_are_partitions() -> None:
    for docs in (DOCS, TEXTS, [text.encode() for text in TEXTS]):
        bag = db.from_sequence(docs, npartitions=3)
        assert whole(bag) == whole(bag.map_partitions(iter)) == count_documents(docs)
    values = np.arange(10, dtype=np.int16)
    found = partitions_of(da.from_array(values, chunks=4))
    assert (
        found.joined
        and np.concatenate(dask.compute(*found.delayed, scheduler="sync")).tolist() == values.tolist()
    )
    rows = np.arange(24).reshape(6, 4) % 5
    assert whole(da.from_array(rows, chunks=(4, 3))) == count_documents(rows)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of pandas, in Dask
def test_columns_of_tables_are_documents(tmp_path: Path) -> None:
    frame = pd.DataFrame({"text": TEXTS, "n": range(5)})
    ddf = dd.from_pandas(frame, npartitions=2)
    assert whole(ddf, "text") == whole(ddf.text) == whole(ddf.to_delayed(), "text") == count_documents(TEXTS)
    assert whole(ddf.text.astype("category")) == count_documents(TEXTS)
    table = pa.table(frame)
    assert whole([table, frame, table.to_batches()[0]], "text") == Counts.merge(*[count_documents(TEXTS)] * 3)
    written(tmp_path / "a.parquet", ids=pa.array(DOCS, pa.list_(pa.int32())), n=range(5))
    for options in ({}, {"dtype_backend": "pyarrow"}):
        assert whole(dd.read_parquet(tmp_path / "a.parquet", **options), "ids") == count_documents(DOCS)
    refuses(
        ValueError,
        r"column: expected the name of one column of the dataframe: 'text', 'n', got None",
        partitions_of,
        ddf,
    )
    refuses(
        TypeError,
        "column: it is one of tables, and source is Series",
        partitions_of,
        ddf.text,
        "text",
        name="source",
    )
    for given_ in (table, frame):
        refuses(
            ValueError,
            r"column 'x': expected one column of this name, there are 'text', 'n'",
            documents_of,
            given_,
            "x",
        )
    for wrong in (TEXTS, None, np.zeros((2, 2)), pd.Series(TEXTS)):
        refuses(
            TypeError,
            "column 'text': expected a partition that is a table of Arrow or pandas",
            documents_of,
            wrong,
            "text",
        )


@pytest.mark.parametrize("wrong", [
    pa.array([1]).dictionary_encode(), pa.array([[1.0]]), pa.array([["a"]]), pa.array([{"a": 1}]), pd.Series([1]),
], ids=str)  # fmt: skip
def test_a_column_of_something_else_is_refused(tmp_path: Path, wrong: Any) -> None:
    message = "expected lists of integers, strings or binary, got "
    refuses(TypeError, f"docs: {message}", documents_of, wrong)
    table = pa.table({"c": wrong}) if isinstance(wrong, pa.Array) else wrong.to_frame("c")
    refuses(TypeError, f"column 'c': {message}", documents_of, table, "c")
    if isinstance(table, pa.Table):
        path = written(tmp_path / "a.parquet", c=wrong)
        refuses(TypeError, rf"a\.parquet: column 'c': {message}", partitions_of, path)


def test_other_arguments_are_refused() -> None:
    for arguments, error, message in [
        ((3,), TypeError, r"parts: expected a list of partitions .*, got 3 \(int\)"),
        (([["a"], "a.txt"],), TypeError, "parts: partition 1: expected documents, got a path"),
        (
            ([["a"], dask.delayed(["a"])],),
            TypeError,
            r"of one form, got list \(partition 0\) and DelayedLeaf \(partition 1\)",
        ),
        ((da.ones(3),), TypeError, "parts: documents are integers, got a dask.array of float64"),
        (
            (da.zeros((1, 1, 1), dtype=int),),
            ValueError,
            r"expected a 1-D dask\.array \(one document\) or 2-D .*, got 3-D",
        ),
        (([["a"]], 3), TypeError, "column: expected a name, got 3"),
        ((db.from_sequence(["a"]), "a"), TypeError, "column: it is one of tables, and parts is Bag"),
    ]:
        refuses(error, message, partitions_of, *arguments)
    for wrong, error in ((0, ValueError), ("x", ValueError), ("0 MB", ValueError), (1.5, TypeError)):
        refuses(error, "blocksize: ", partitions_of, [], blocksize=wrong)


def touch(folder: Path, *names: str) -> list[str]:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return [str(folder / name) for name in names]


def test_files_of_folders_globs_and_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    want = touch(tmp_path, "part-2.parquet", "part-10.parquet", "x=1/part-0.PARQUET")
    touch(
        tmp_path,
        "_metadata",
        "_SUCCESS",
        ".part-0.parquet.crc",
        "_tmp/a.parquet",
        "part-3.parquet.part",
        "notes.txt",
        "a.csv",
    )
    assert files_of(tmp_path)[1:] == (want, str(tmp_path)) and files_of([str(tmp_path), tmp_path])[1:] == (
        want * 2,
        "",
    )
    assert files_of(touch(tmp_path, "_only/b.txt")[0])[1] == [str(tmp_path / "_only/b.txt")]
    text = touch(tmp_path, "t/a1.txt", "t/a2.txt", "t/a10.txt")
    touch(tmp_path, "t/_a.txt")
    assert files_of(str(tmp_path / "t/*.txt"))[1] == files_of(str(tmp_path / "t"))[1] == text
    assert files_of(str(tmp_path / "t/[a]1*"))[1] == [text[0], text[2]]
    inner = touch(tmp_path, "lang=en/b.txt", "lang=ru/c.txt")
    assert (
        files_of(str(tmp_path / "lang=*"))[1:] == (inner, "")
        and files_of(str(tmp_path / "**" / "[bc].txt"))[1] == inner
    )
    odd = touch(tmp_path, "odd[1].txt")
    assert files_of(odd[0])[1] == odd
    monkeypatch.chdir(tmp_path)
    assert files_of([Path("t/a2.txt"), "t/a1.txt", "t/a2.txt"])[1] == [text[i] for i in (1, 0, 1)]


def test_files_that_are_not_there_or_of_other_formats(tmp_path: Path) -> None:
    touch(tmp_path, "a.csv", "one/a.txt", "one/a.parquet", "two/_a.txt", "a.txt.gz")
    for asked, error, message in [
        (tmp_path / "no.txt", FileNotFoundError, r"parts: .*no\.txt: there is no such file$"),
        (tmp_path / "*.txt", FileNotFoundError, r"\*\.txt: there is no such file$"),
        (
            "some text",
            FileNotFoundError,
            "some text: there is no such file; a str is a path: texts are given as lists",
        ),
        (
            tmp_path / "two",
            ValueError,
            "two: expected .parquet or .txt files, found none; read others with dask.bag.read_text",
        ),
        (tmp_path / "a.csv", ValueError, "a.csv: expected .parquet or .txt files, found none"),
        (
            [tmp_path / "one/a.parquet", tmp_path / "one/a.txt"],
            ValueError,
            "expected files of one format, got .*a.parquet and",
        ),
        ("nowhere://bucket/a.parquet", ValueError, r"nowhere://bucket/a\.parquet: Protocol not known"),
        (["a.txt", "memory://a.txt"], ValueError, r"expected files of one store, got a\.txt and others"),
    ]:
        refuses(error, message, files_of, asked)


PIECES = st.sampled_from([b"a", b"\n", b"\r", b"\r\n", b"\xef", MARK, b"\x00", "é".encode()])
ODD = [
    b"", b"\n", b"\r\n", b"\r", b"\n\n\n", b"a", b"a\r", b"a\r\r\n", b"a\n\r", MARK, MARK + b"\n", MARK + b"a",
    MARK[:2], MARK[:1] + b"\n", b"a" + MARK, b"\n" + MARK, MARK + MARK + b"a\n", b"long " * 9 + b"\nb", b"\n" * 9 + b"long " * 9,
]  # fmt: skip


@given(st.sampled_from(ODD) | st.lists(PIECES, max_size=12).map(b"".join), st.integers(3, 60))
def test_ranges_of_bytes_hold_every_line_once(data: bytes, size: int) -> None:
    store = MemoryFileSystem()
    store.pipe_file("/a.txt", data)
    found = partitions_of("memory://a.txt", lines="bytes", blocksize=size)
    assert sum(found.sizes or []) == len(data) and [
        line for part in read(found) for line in part.to_pylist()
    ] == lines(data)


def test_text_files(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("né\r\nx\nné", encoding="utf-8", newline="")
    (tmp_path / "b.txt").write_text("\nlong\n", encoding="utf-8", newline="")
    found = partitions_of([tmp_path / "a.txt"], blocksize=4)
    assert found.names == [f"{tmp_path}/a.txt, bytes {a}..{b}" for a, b in ((0, 3), (4, 7), (8, 9))]
    assert whole(tmp_path) == whole(str(tmp_path / "*.txt"), blocksize=2) == count_documents(TEXTS)
    assert whole(tmp_path, lines="bytes", blocksize="3 B") == count_documents(
        [text.encode() for text in TEXTS]
    )
    refuses(
        TypeError,
        r"column: it is one of tables, and .*a\.txt is text",
        lambda: partitions_of(tmp_path / "a.txt", "ids"),
    )
    (tmp_path / "c.txt").write_bytes(MARK + b"ab\ncd\xff\n")
    part = partitions_of(tmp_path / "c.txt").delayed[0]()
    refuses(
        ValueError, r"line 1 is not UTF-8 \(invalid start byte\); a tokenizer of bytes", documents_of, part
    )
    assert isinstance(part, Lines) and documents_of(part._replace(kind="bytes")).to_pylist() == [
        b"ab",
        b"cd\xff",
    ]


def test_parquet_files_are_cut_by_row_groups(tmp_path: Path) -> None:
    docs = [[i] * (i % 7) for i in range(20)]
    path = written(tmp_path / "a.parquet", ids=pa.array(docs, pa.list_(pa.int32())), text=["x" * 1000] * 20)
    size = pq.ParquetFile(path).metadata.row_group(0).column(0).total_uncompressed_size
    for blocksize, n in ((1, 7), (2 * size + size // 2, None), (10**9, 1)):
        found = partitions_of(path, "ids", blocksize=blocksize)
        assert n is None or len(found.names) == n
        assert [doc for part in read(found) for doc in part.to_pylist()] == docs
    assert partitions_of(path, "ids", blocksize=1).names[-1] == f"{path}, rows 18..19"
    none = written(tmp_path / "b.parquet", text=pa.array([], pa.string()))
    some = written(tmp_path / "c.parquet", text=["x"])
    found = partitions_of([none, some, none], blocksize=1)
    assert found.names == [f"{none}, no rows", f"{some}, rows 0..0", f"{none}, no rows"]
    assert [part.to_pylist() for part in read(found)] == [[], ["x"], []]
    dots = tmp_path / "dots.parquet"
    pq.write_table(pa.table([pa.array(["x"]), pa.array([[1]])], ["a.b", "a"]), dots)
    assert whole(dots, "a.b") == count_documents(["x"]) and whole(dots, "a") == count_documents([[1]])
    for column, shown in (("nope", "'nope'"), (None, "None")):
        with pytest.raises(
            ValueError,
            match=rf"column: expected the name of one column of {path}: 'ids', 'text', got {shown}",
        ):
            partitions_of(path, column)
    for data in (b"", b"PAR1", b"not at all" * 10):
        (tmp_path / "bad.parquet").write_bytes(data)
        with pytest.raises(ValueError, match=r"parts: not a Parquet file that can be read: .*bad\.parquet"):
            partitions_of([some, tmp_path / "bad.parquet"])


@pytest.mark.parametrize(
    "folders",
    [
        ["y=01", "y=-2", "y=0x1f", "y=-2147483648"],
        ["y=1", "y=a", f"y={NULL}", "none"],
        ["y=1/z=a", "y=2", "x"],
        ["k%3D=c=d", "y=a%20b+c", "y=%zz"],
        [
            f"year={y}/month={m:02}/lang={lang}"
            for y in (2023, 2024)
            for m in (1, 12)
            for lang in ("de", "fr")
        ],
        ["x/y", "x/z"],
    ],
    ids=str,
)
def test_columns_that_folders_name_are_those_of_pyarrow(tmp_path: Path, folders: list[str]) -> None:
    for folder in folders:
        written(tmp_path / folder / "a.parquet", folder=[folder])
    want = ds.dataset(tmp_path, partitioning="hive").to_table()
    found = [
        batch for part in partitions_of(tmp_path, "folder").delayed for _, batch in batches_of(part, "folder")
    ]
    assert pa.Table.from_batches(found).sort_by("folder").equals(want.sort_by("folder"))


def _table(n: int = 1000) -> pa.Table:
    rng = np.random.default_rng(1)
    docs = pa.array([rng.integers(0, 9, 50) for _ in range(n)], pa.list_(pa.int32()))
    return pa.table({"n": np.arange(n), "doc": docs}, metadata={"whose": "mine"})


@pytest.mark.parametrize("limit", [1, 4000, 1 << 24])
def test_batches_are_all_rows_in_order_in_bounded_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    monkeypatch.setattr(sources, "_BATCH_BYTES", limit)
    pq.write_table(_table(), tmp_path / "a.parquet", row_group_size=300)
    (part,) = partitions_of(tmp_path / "a.parquet", "doc").delayed
    for found in (list(batches_of(part, "doc")), list(batches_of(_table(), "doc"))):
        assert pa.Table.from_batches([batch for _, batch in found]).to_pylist() == _table().to_pylist()
        sizes = [batch.num_rows for _, batch in found]
        assert [row for row, _ in found] == np.cumsum([0, *sizes[:-1]]).tolist() and max(sizes) * 200 <= max(
            limit, 200
        ) * 1.05
        assert all(batch.schema.metadata[b"whose"] == b"mine" for _, batch in found)


def test_batches_of_a_dictionary_are_not_large_and_those_of_no_rows_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "_BATCH_BYTES", 40_000)
    written(tmp_path / "a.parquet", 100, doc=pa.array([[1] * 1000] * 100, pa.list_(pa.int32())))
    pq.write_table(_table(0), tmp_path / "b.parquet")
    a, b = partitions_of(tmp_path, "doc").delayed
    assert max(batch.num_rows for _, batch in batches_of(a, "doc")) == 10
    for found in (list(batches_of(b, "doc")), list(batches_of(_table(0), "doc"))):
        assert [batch.num_rows for _, batch in found] == [0] and found[0][1].schema.names == ["n", "doc"]
