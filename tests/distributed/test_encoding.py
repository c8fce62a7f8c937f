"""Encoding on a cluster equals encoding here: all sources, files in order, runs continued, workers killed, disks full."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dask import delayed
from polling import eventually

from ubpe_numba import BPE, UBPE, Ragged
from ubpe_numba.distributed import encode
from ubpe_numba.errors import NotFittedError, UnknownSymbolError

pytestmark = pytest.mark.xdist_group("cluster")

NULL = "__HIVE_DEFAULT_PARTITION__"  # of a folder
WORDS = ["low", "lower", "lowest", "new", "newer", "newest", "wide", "wider", "widest", "né", "低い", "😀"]


def _texts(n: int = 200, seed: int = 1) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, rng.integers(0, 12))) for _ in range(n)]


def _signals(n: int = 60, seed: int = 2) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 4, rng.integers(0, 50)).tolist() for _ in range(n)]


@pytest.fixture(scope="module")
def of_text() -> BPE:
    return BPE.for_text(300, pretokenizer="gpt2", special_tokens=["<end>"]).fit(_texts(), progress=False)


@pytest.fixture(scope="module")
def of_signals() -> UBPE:
    return UBPE(20, alphabet=4).fit(_signals(), progress=False)


def _table(docs: list[Any], kind: Any = None) -> pa.Table:
    names = pa.array([f"row {i}" for i in range(len(docs))]).dictionary_encode()
    return pa.table(
        {"n": np.arange(len(docs)), "doc": pa.array(docs, kind), "name": names, "tags": [[str(i)] for i in range(len(docs))]}
    )


def _write(folder: Path, table: pa.Table, n_files: int = 3, rows: int = 20) -> list[str]:
    folder.mkdir(exist_ok=True)
    cuts = [table.num_rows * i // n_files for i in range(n_files + 1)]
    paths = [str(folder / f"source-{i}.parquet") for i in range(n_files)]
    for path, a, b in zip(paths, cuts, cuts[1:], strict=False):
        pq.write_table(table.slice(a, b - a), path, row_group_size=rows)
    return paths


def _read(files: Any) -> pa.Table:
    return pa.concat_tables([pq.read_table(path) for path in files])


def _parts_of(docs: list[Any]) -> list[list[Any]]:
    return [docs[:7], [], docs[7:8], docs[8:]]


# -------------------------------------------------------------------------------------------------- sources


def test_lists_give_the_ids_of_one_call_in_order(client: Any, of_text: BPE, of_signals: UBPE) -> None:
    for tok, docs in ((of_text, _texts()), (of_signals, _signals())):
        assert encode(tok, _parts_of(docs), client=client) == tok.encode_batch(docs)  # type: ignore[attr-defined]


def test_every_source_gives_the_same(client: Any, of_text: BPE, of_signals: UBPE, tmp_path: Path) -> None:
    import dask.array
    import dask.bag
    import dask.dataframe
    import pandas

    docs = [text for text in _texts() if text]
    wanted = of_text.encode_batch(docs)
    (tmp_path / "docs.txt").write_text("".join(doc + "\n" for doc in docs), encoding="utf-8")
    frame = dask.dataframe.from_pandas(pandas.DataFrame({"doc": docs}), npartitions=3, sort=False)
    sources = {
        "text": str(tmp_path / "docs.txt"),
        "bag": dask.bag.from_sequence(docs, npartitions=4),
        "delayed": [delayed(list)(part) for part in _parts_of(docs)],
        "column": frame["doc"],
        "table": frame,
        "parquet": _write(tmp_path / "parquet", pa.table({"doc": docs})),
    }
    for name, source in sources.items():
        found = encode(of_text, source, client=client, blocksize=500 if name == "text" else None)
        assert found == wanted, name
    rows = np.random.default_rng(3).integers(0, 4, (30, 12))
    found = encode(of_signals, dask.array.from_array(rows, chunks=(7, 5)), client=client)
    assert found == of_signals.encode_batch(rows)


@pytest.mark.parametrize("kind", [pa.large_string(), pa.dictionary(pa.int32(), pa.string()), pa.binary()], ids=str)
def test_columns_of_text_of_any_type(client: Any, of_text: BPE, tmp_path: Path, kind: Any) -> None:
    docs: list[Any] = _texts()
    if "binary" in str(kind):
        docs = [doc.encode()[:-1] for doc in docs]  # some end inside a character
    files = _write(tmp_path / "in", _table(docs, kind))
    table = _read(encode(of_text, files, str(tmp_path / "out"), column="doc", client=client))
    assert table["ids"].to_pylist() == of_text.encode_batch(docs).to_lists()


@pytest.mark.parametrize("kind", [pa.large_list(pa.uint8()), pa.list_(pa.int64())], ids=str)
def test_columns_of_integers_of_any_type(client: Any, of_signals: UBPE, tmp_path: Path, kind: Any) -> None:
    docs = _signals()
    files = _write(tmp_path / "in", _table(docs, kind))
    table = _read(encode(of_signals, files, str(tmp_path / "out"), column="doc", client=client))
    assert table["ids"].to_pylist() == of_signals.encode_batch(docs).to_lists()


def test_a_tokenizer_over_characters(client: Any, tmp_path: Path) -> None:
    docs = ["abab", "", "ba"]
    tok = BPE.from_merges([[0, 1]], alphabet="ab")
    files = _write(tmp_path / "in", pa.table({"doc": docs}), 1)
    assert encode(tok, files, client=client) == tok.encode_batch(docs)
    (tmp_path / "a.txt").write_text("abab\nba\n")
    assert encode(tok, str(tmp_path / "a.txt"), client=client) == tok.encode_batch(["abab", "ba"])  # type: ignore[comparison-overlap]


def test_options_are_those_of_encode_batch(client: Any, of_text: BPE) -> None:
    docs = ["low<end>", "new"]
    found = encode(of_text, [docs], client=client, allowed_special={"<end>"})
    assert found == of_text.encode_batch(docs, allowed_special={"<end>"})
    tok = BPE.from_merges([[0, 1]], alphabet="ab")
    assert encode(tok, [["abc"]], client=client, unknown="skip") == tok.encode_batch(["abc"], unknown="skip")


# -------------------------------------------------------------------------------------------------- tables and files


@pytest.mark.parametrize("drop", [False, True])
def test_the_other_columns_stay_as_they_are(client: Any, of_text: BPE, tmp_path: Path, drop: bool) -> None:
    table = _table(_texts())
    files = encode(of_text, _write(tmp_path / "in", table), str(tmp_path / "out"), column="doc", drop=drop, client=client)
    found = _read(files)
    ids = pa.array(of_text.encode_batch(_texts()).to_lists(), pa.list_(pa.int32()))
    wanted = table.set_column(1, "ids", ids) if drop else table.append_column("ids", ids)
    assert found.column_names == wanted.column_names
    assert found.to_pylist() == wanted.to_pylist()
    assert found.schema.field("ids").type == pa.list_(pa.field("element", pa.int32()))
    assert found.schema.field("name").type == table.schema.field("name").type


def test_columns_that_folders_name_are_kept(client: Any, of_text: BPE, tmp_path: Path) -> None:
    import pyarrow.dataset

    folder, docs = tmp_path / "run=3" / "in", iter(_texts(12))
    for part in ("lang=de/year=2023", "lang=de/year=2024", "lang=fr/year=2023", f"lang=fr/year={NULL}"):
        (folder / part).mkdir(parents=True)
        table = pa.table({"doc": [next(docs) for _ in range(3)], "n": range(3)})
        pq.write_table(table, folder / part / "a.parquet", row_group_size=2)
    pq.write_table(table.slice(0, 0), folder / "lang=de" / "empty.parquet")
    order = [("doc", "ascending"), ("lang", "ascending"), ("n", "ascending")]
    wanted = pyarrow.dataset.dataset(folder, partitioning="hive").to_table().sort_by(order)
    assert wanted.schema.names == ["doc", "n", "lang", "year"]

    def kept(source: Any, target: str, **options: Any) -> pa.Table:
        files = encode(of_text, source, tmp_path / target, column="doc", blocksize=1, client=client, **options)
        return pa.concat_tables([pq.ParquetFile(path).read() for path in files])  # raises unless all are of one schema

    found = kept(folder, "out")
    assert found.drop_columns("ids").sort_by(order).equals(wanted)
    assert found["ids"].to_pylist() == of_text.encode_batch(found["doc"].to_pylist()).to_lists()
    assert kept(folder, "dropped", drop=True).schema.names == ["ids", "n", "lang", "year"]
    found = kept(sorted(map(str, folder.rglob("a.parquet"))), "files")  # of files that are given all of the path counts
    assert found.schema.names == ["doc", "n", "run", "lang", "year", "ids"] and set(found["run"].to_pylist()) == {3}
    with pytest.raises(ValueError, match="^ids: there is a column 'year' already"):
        kept(folder, "year", ids="year")
    shutil.move(str(folder / "lang=fr"), str(folder / "lang=it"))
    with pytest.raises(ValueError, match=r"was made with another partition 5: .*, lang='fr', year=.*, now .*, lang='it', "):
        kept(folder, "out")


def test_a_column_of_the_file_goes_before_one_that_a_folder_names(client: Any, of_text: BPE, tmp_path: Path) -> None:
    for year in (2023, 2024):
        (tmp_path / "in" / f"year={year}").mkdir(parents=True)
        table = pa.table({"year": [year + 0.5], "doc": ["low"]})
        pq.write_table(table, tmp_path / "in" / f"year={year}" / "a.parquet")
    files = encode(of_text, tmp_path / "in", tmp_path / "out", column="doc", client=client)
    found = _read(files).drop_columns("ids")
    assert found.to_pydict() == {"year": [2023.5, 2024.5], "doc": ["low", "low"]}


def test_a_frame_keeps_its_columns_and_its_index(client: Any, of_text: BPE, tmp_path: Path) -> None:
    import dask.dataframe
    import pandas

    docs = _texts(50)
    frame = pandas.DataFrame({"doc": docs, "x": np.arange(50) / 2}, index=pandas.Index(range(100, 150), name="key"))
    source = dask.dataframe.from_pandas(frame, npartitions=4)
    files = encode(of_text, source, str(tmp_path / "out"), column="doc", client=client)
    assert isinstance(files, list)
    found = pandas.concat([pandas.read_parquet(path) for path in files])
    assert found.index.tolist() == frame.index.tolist() and found["x"].tolist() == frame["x"].tolist()
    assert [list(ids) for ids in found["ids"]] == of_text.encode_batch(docs).to_lists()


def test_a_partition_is_some_row_groups_and_files_are_in_order(client: Any, of_text: BPE, tmp_path: Path) -> None:
    table = _table(_texts())
    paths = _write(tmp_path / "in", table)
    files = encode(of_text, str(tmp_path / "in"), str(tmp_path / "out"), column="doc", blocksize=1, client=client)
    n = sum(pq.ParquetFile(path).num_row_groups for path in paths)
    assert [os.path.basename(path) for path in files] == [f"part-{i:05}.parquet" for i in range(n)]
    assert _read(files)["n"].to_pylist() == list(range(200))
    assert sorted(os.listdir(tmp_path / "out")) == ["_ubpe.json", *(os.path.basename(path) for path in files)]


def test_no_rows_and_no_partitions(client: Any, of_text: BPE, tmp_path: Path) -> None:
    files = encode(
        of_text, _write(tmp_path / "in", _table([], pa.string()), 1), str(tmp_path / "out"), column="doc", client=client
    )
    assert _read(files).column_names == ["n", "doc", "name", "tags", "ids"]
    assert encode(of_text, [], client=client) == Ragged.from_lists([])
    assert encode(of_text, [[], []], client=client) == Ragged.from_lists([])


def test_a_run_is_continued(client: Any, of_text: BPE, tmp_path: Path) -> None:
    paths, out = _write(tmp_path / "in", _table(_texts())), str(tmp_path / "out")
    files = encode(of_text, paths, out, column="doc", client=client)
    assert isinstance(files, list)
    before, inodes = _read(files), [os.stat(path).st_ino for path in files]
    os.unlink(files[1])
    half = Path(out) / ".part-00001.parquet.0123456789abcdef.tmp"
    half.write_bytes(b"PAR1 half")
    assert encode(of_text, paths, out, column="doc", client=client) == files
    assert _read(files) == before
    assert [os.stat(files[i]).st_ino for i in (0, 2)] == [inodes[0], inodes[2]]  # these were not written again
    assert not half.exists()


def test_a_run_that_is_done_needs_no_cluster(client: Any, of_text: BPE, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    files = encode(of_text, [_texts()], out, client=client)
    client_that_is_none: Any = "no client"
    assert encode(of_text, [_texts()], out, client=client_that_is_none) == files


def test_nothing_is_mixed(client: Any, of_text: BPE, tmp_path: Path) -> None:
    paths, out = _write(tmp_path / "in", _table(_texts())), str(tmp_path / "out")
    encode(of_text, paths, out, column="doc", client=client)
    other = BPE.for_text(280, pretokenizer="gpt2").fit(_texts(), progress=False)
    with pytest.raises(ValueError, match=r"^target: .*/out: was made with another model: .*, now .*; give another folder"):
        encode(other, paths, out, column="doc", client=client)
    with pytest.raises(ValueError, match="^target: .*: was made with another settings: .*'drop': False"):
        encode(of_text, paths, out, column="doc", drop=True, client=client)
    with pytest.raises(ValueError, match="^target: .*: was made of 3 partitions, the source now has 2"):
        encode(of_text, paths[:2], out, column="doc", client=client)
    pq.write_table(_table(_texts(seed=9)[:67]), paths[2])
    with pytest.raises(ValueError, match="^target: .*: was made with another partition 2: source-2.parquet, footer "):
        encode(of_text, paths, out, column="doc", client=client)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").touch()
    with pytest.raises(FileExistsError, match="^target: .*/full: expected a new or an empty folder, .* got thesis.tex in it"):
        encode(of_text, paths, str(tmp_path / "full"), column="doc", client=client)
    Path(out, "_ubpe.json").write_text("{")
    with pytest.raises(ValueError, match="^target: .*/_ubpe.json: not a manifest"):
        encode(of_text, paths[:2], out, column="doc", client=client)


# -------------------------------------------------------------------------------------------------- errors


def test_arguments_are_checked_before_anything_is_done(of_text: BPE, tmp_path: Path) -> None:
    import dask.array

    paths = _write(tmp_path / "in", _table(_texts()))
    none: Any = "nothing may be asked of this client"
    for arguments, error, message in [
        (("tok", [["a"]]), TypeError, "^tokenizer: expected a BPE, UBPEClassic or UBPE, got str"),
        ((BPE(10), [["a"]]), NotFittedError, "no vocabulary yet"),
        ((of_text, 3), TypeError, "^(source|parts): expected "),
        ((of_text, dask.array.from_array(np.arange(9))), ValueError, "^source: a 1-D dask.array is one document"),
        ((of_text, str(tmp_path / "missing.parquet")), FileNotFoundError, "^source: .*/missing.parquet"),
        ((of_text, [["a"]], 3), TypeError, "^target: expected the path of a folder or None, got 3 .int."),
        ((of_text, [["a"]], "nowhere://bucket"), ValueError, "^target: nowhere://bucket: Protocol not known"),
        ((of_text, [["a"]], paths[0]), NotADirectoryError, "^target: .*: expected a folder, got a file"),
    ]:
        with pytest.raises(error, match=message):
            encode(*arguments, client=none)  # type: ignore[arg-type]
    options: Any
    for options, error, message in [
        (
            {"column": "nope"},
            ValueError,
            "^column: expected the name of one column of .*source-0.parquet: 'n', 'doc', .* got 'nope'",
        ),
        ({}, ValueError, "^column: expected the name of one column of"),
        ({"column": 3}, TypeError, "^column: expected a name, got 3 .int."),
        ({"column": "doc", "ids": "n"}, ValueError, "^ids: there is a column 'n' already; give another name"),
        ({"column": "doc", "ids": 1}, TypeError, "^ids: expected a name, got 1 .int."),
        ({"column": "n"}, TypeError, "column 'n': expected lists of integers, strings or binary, got int64"),
        ({"column": "doc", "dropout": 0.1}, ValueError, "^dropout: draws depend on the number of a document in the whole"),
        ({"column": "doc", "sample": True}, ValueError, "^sample: draws depend"),
        ({"column": "doc", "return_offsets": True}, TypeError, "^unexpected argument 'return_offsets'"),
    ]:
        with pytest.raises(error, match=message):
            encode(of_text, paths, str(tmp_path / "out"), client=none, **options)
    assert not (tmp_path / "out").exists()


def test_errors_name_file_row_and_position(client: Any, tmp_path: Path) -> None:
    docs = ["ab"] * 30 + ["abxb"] + ["ab"] * 29
    paths = _write(tmp_path / "in", _table(docs), 2, rows=8)
    tok = BPE.from_merges([[0, 1]], alphabet="ab")
    with pytest.raises(UnknownSymbolError, match=r"source-1.parquet, rows 0\.\.29: document 0, position 2: symbol 'x'") as raised:
        encode(tok, paths, str(tmp_path / "out"), column="doc", client=client)
    assert (raised.value.document, raised.value.position) == (0, 2)
    docs[30], docs[17] = "ab", "x"
    paths = _write(tmp_path / "in", _table(docs), 2, rows=8)
    with pytest.raises(UnknownSymbolError, match=r"source-0.parquet, rows 16\.\.23: document 17, position 0"):
        encode(tok, paths, column="doc", client=client, blocksize=1)
    with pytest.raises(UnknownSymbolError, match=r"partition 1: document 2, position 0"):
        encode(tok, [["ab"], ["a", "b", "c"]], client=client)
    pq.write_table(pa.table({"doc": ["ab", None]}), paths[1])
    with pytest.raises(
        ValueError, match=r"source-1.parquet, rows 0\.\.1: column 'doc': document 1 is null; drop or fill nulls first"
    ):
        encode(tok, paths[1], str(tmp_path / "null"), client=client)
    assert os.listdir(tmp_path / "null") == ["_ubpe.json"]


def test_a_damaged_file_is_one_error_with_its_name(client: Any, of_text: BPE, tmp_path: Path) -> None:
    paths = _write(tmp_path / "in", _table(_texts(2000)), 2, rows=1000)
    whole = Path(paths[1]).read_bytes()
    Path(paths[1]).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="^source: not a Parquet file that can be read: .*source-1.parquet"):
        encode(of_text, paths, str(tmp_path / "out"), column="doc", client=client)
    broken = bytearray(whole)
    broken[200:3000] = b"\xff" * 2800  # the footer is as it was
    Path(paths[1]).write_bytes(bytes(broken))
    with pytest.raises((ValueError, OSError), match="source-1.parquet, rows 0..999: "):
        encode(of_text, paths, str(tmp_path / "out"), column="doc", client=client)
    Path(paths[1]).write_bytes(whole)
    files = encode(of_text, paths, str(tmp_path / "out"), column="doc", client=client)
    assert _read(files)["ids"].to_pylist() == of_text.encode_batch(_texts(2000)).to_lists()


# -------------------------------------------------------------------------------------------------- faults


def _docs_that_kill(docs: list[Any], path: str) -> list[Any]:
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return docs
    os.kill(os.getpid(), signal.SIGKILL)
    return []


def test_a_killed_worker_changes_nothing(mortal: Any, of_text: BPE, tmp_path: Path) -> None:
    docs = _texts(400)
    parts = [docs[i : i + 20] for i in range(0, 400, 20)]
    tasks = [delayed(list)(part) for part in parts]
    tasks[9] = delayed(_docs_that_kill)(parts[9], str(tmp_path / "killed"))
    found = encode(of_text, tasks, client=mortal)
    assert (tmp_path / "killed").exists() and found == of_text.encode_batch(docs)


def test_workers_killed_while_they_write(mortal: Any, of_text: BPE, tmp_path: Path) -> None:
    docs = _texts(6000)
    paths = _write(tmp_path / "in", _table(docs), 4, rows=100)
    out = tmp_path / "out"
    victims = list(mortal.run(os.getpid).values())
    done: list[Any] = []
    thread = threading.Thread(
        target=lambda: done.append(encode(of_text, paths, str(out), column="doc", blocksize=1, client=mortal, progress=False))
    )
    thread.start()
    end = time.monotonic() + 60
    while len(list(out.glob("part-*"))) < 3:
        assert time.monotonic() < end
        time.sleep(0.001)
    os.kill(victims[0], signal.SIGKILL)
    thread.join(60)
    assert len(done) == 1 and len(done[0]) == 60
    assert _read(done[0])["ids"].to_pylist() == of_text.encode_batch(docs).to_lists()
    assert sorted(os.listdir(out)) == ["_ubpe.json", *(os.path.basename(path) for path in done[0])]


def test_two_runs_at_once_on_one_folder(client: Any, of_text: BPE, tmp_path: Path) -> None:
    from distributed import Client

    docs = _texts(3000)
    paths = _write(tmp_path / "in", _table(docs), 3, rows=25)
    found: list[Any] = []

    def run() -> None:
        with Client(client.scheduler.address, set_as_default=False) as mine:
            found.append(encode(of_text, paths, tmp_path / "out", column="doc", blocksize=1, client=mine, progress=False))

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len(found) == 3 and found[0] == found[1] == found[2] and len(found[0]) == 120
    assert _read(found[0])["ids"].to_pylist() == of_text.encode_batch(docs).to_lists()
    assert sorted(os.listdir(tmp_path / "out")) == ["_ubpe.json", *map(os.path.basename, found[0])]


def test_what_a_killed_process_left_is_cleaned_up(client: Any, tmp_path: Path) -> None:
    """A process of its own, with the workers in it, ends without a word while files are half written."""
    docs = _signals(300)
    _write(tmp_path / "in", pa.table({"doc": docs}), 3, rows=100)
    script = f"""
        import os, signal
        from distributed import Client
        from ubpe_numba import BPE
        from ubpe_numba.distributed import encode, encoding, sources

        column, made = encoding._column, []

        def kill(*arguments):
            made.append(1)
            if len(made) == 150:  # the second file is half written
                os.kill(os.getpid(), signal.SIGKILL)
            return column(*arguments)

        encoding._column, sources._BATCH_BYTES = kill, 200
        with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0") as client:
            encode(BPE.from_merges([[0, 1]], alphabet=4), {str(tmp_path / "in")!r}, {str(tmp_path / "out")!r}, client=client)
    """
    assert subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=False).returncode == -signal.SIGKILL
    out = tmp_path / "out"
    assert len(list(out.glob(".part-*.tmp"))) == 1 and len(list(out.glob("part-*"))) < 3
    tok = BPE.from_merges([[0, 1]], alphabet=4)
    files = encode(tok, str(tmp_path / "in"), out, client=client)
    assert _read(files)["ids"].to_pylist() == tok.encode_batch(docs).to_lists()
    assert sorted(os.listdir(out)) == ["_ubpe.json", *map(os.path.basename, files)]


def _limit_files(n: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (n, resource.RLIM_INFINITY))


def test_a_disk_that_is_full_is_one_error_and_leaves_nothing_half(mortal: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    docs = [rng.integers(0, 256, n).tolist() for n in (1000, 200_000, 1000)]
    tok = BPE.from_merges([[0, 1]], alphabet=256)
    paths = _write(tmp_path / "in", pa.table({"doc": docs}), 3)
    out = str(tmp_path / "out")
    mortal.run(_limit_files, 100_000)
    with pytest.raises(OSError, match=r"source-1.parquet, rows 0..0: File too large: '.*/part-00001.parquet'"):
        encode(tok, paths, out, client=mortal)
    assert eventually(lambda: not list(Path(out).glob(".part*"))) and not Path(out, "part-00001.parquet").exists()
    mortal.run(_limit_files, resource.RLIM_INFINITY)
    files = encode(tok, paths, out, client=mortal)
    assert _read(files)["ids"].to_pylist() == tok.encode_batch(docs).to_lists()


def test_a_folder_that_cannot_be_made(of_text: BPE, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="/file"):
        encode(of_text, [["a"]], str(tmp_path / "file" / "out"))


def test_ctrl_c_stops_it_and_leaves_the_workers_clean(mortal: Any, tmp_path: Path) -> None:
    """A process of its own encodes on the cluster of this one, and gets the signal of Ctrl-C."""
    docs = [list(range(256)) * 40 for _ in range(4000)]
    _write(tmp_path / "in", pa.table({"doc": docs}), 1, rows=4000)
    script = f"""
        import sys
        from distributed import Client
        from ubpe_numba import BPE
        from ubpe_numba.distributed import encode

        tok = BPE.from_merges([[i, i + 1] for i in range(0, 256, 2)], alphabet=256)
        with Client({mortal.scheduler.addr!r}) as client:
            try:
                encode(tok, [{str(tmp_path / "in")!r}] * 60, {str(tmp_path / "out")!r}, client=client)
            except KeyboardInterrupt:
                print("stopped")
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True)
    try:
        end = time.monotonic() + 60
        while not list((tmp_path / "out").glob("part-*")):
            assert process.poll() is None and time.monotonic() < end
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=30)[0] == "stopped\n"
    finally:
        process.kill()
        process.wait()
    end = time.monotonic() + 30
    while any(mortal.processing().values()) or any(mortal.run(_n_executing).values()):
        assert time.monotonic() < end
        time.sleep(0.01)
    assert not list((tmp_path / "out").glob(".part*"))
    assert len(list((tmp_path / "out").glob("part-*"))) < 60


def _n_executing(dask_worker: Any) -> int:
    return int(dask_worker.state.executing_count)


def test_the_manifest_says_what_was_done(client: Any, of_text: BPE, tmp_path: Path) -> None:
    encode(of_text, _write(tmp_path / "in", _table(_texts())), str(tmp_path / "out"), column="doc", client=client)
    manifest = json.loads((tmp_path / "out" / "_ubpe.json").read_text())
    assert manifest["function"] == "encode" and manifest["model"] == of_text.fingerprint
    assert len(manifest["parts"]) == 3 and manifest["parts"][0].startswith("source-0.parquet, ")


@pytest.mark.parametrize("later", [False, True], ids=["here", "delayed"])
def test_a_list_of_tables_keeps_their_columns_and_is_checked(client: Any, tmp_path: Path, later: bool) -> None:
    tok = BPE.from_merges([[0, 1]], alphabet="ab")
    tables = [pa.table({"doc": ["ab", "b"], "n": [1, 2]}), pa.table({"doc": ["a"], "n": [3]}).to_pandas()]

    def given(tables: list[Any]) -> list[Any]:
        return [delayed(table) for table in tables] if later else tables

    files = encode(tok, given(tables), str(tmp_path / "out"), column="doc", client=client)
    assert [pq.read_table(file).to_pydict() for file in files] == [
        {"doc": ["ab", "b"], "n": [1, 2], "ids": [[2], [1]]},
        {"doc": ["a"], "n": [3], "ids": [[0]]},
    ]
    for bad, column, error, message in [
        (tables, "x", ValueError, "^partition 0: column 'x': expected one column of this name, there are 'doc', 'n'"),
        ([["ab"]], "doc", TypeError, "^partition 0: column 'doc': expected a partition that is a table"),
        ([pa.table({"doc": ["ab"], "ids": [1]})], "doc", ValueError, "^partition 0: ids: there is a column 'ids' already"),
    ]:
        with pytest.raises(error, match=message):
            encode(tok, given(bad[:1]), str(tmp_path / "bad"), column=column, client=client)
        shutil.rmtree(tmp_path / "bad")
