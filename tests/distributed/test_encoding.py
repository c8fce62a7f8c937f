"""Encoding on a cluster equals encoding here: all sources, files in order, runs continued, workers killed, disks full."""

import json
import os
import resource
import shutil
import signal
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dask import delayed
from polling import eventually
from tables import refuses

from ubpe_numba import BPE, UBPE, Ragged
from ubpe_numba.distributed import decode, encode
from ubpe_numba.errors import NotFittedError, UnknownSymbolError, UnknownTokenError

WORDS = ["low", "lower", "lowest", "new", "newer", "newest", "wide", "wider", "widest", "né", "低い", "😀"]


def _texts(n: int = 200, seed: int = 1) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, rng.integers(0, 12))) for _ in range(n)]


def _signals(n: int = 60, seed: int = 2) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 4, rng.integers(0, 50)).tolist() for _ in range(n)]


OF_TEXT = BPE.for_text(300, pretokenizer="gpt2", special_tokens=["<end>"]).fit(_texts(), progress=False)
OF_SIGNALS = UBPE(20, alphabet=4).fit(_signals(), progress=False)
AB = BPE.from_merges([[0, 1]], alphabet="ab")


def _table(docs: list[Any], kind: Any = None) -> pa.Table:
    names = pa.array([f"row {i}" for i in range(len(docs))]).dictionary_encode()
    return pa.table(
        {
            "n": np.arange(len(docs)),
            "doc": pa.array(docs, kind),
            "name": names,
            "tags": [[str(i)] for i in range(len(docs))],
        }
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


def test_sources_give_the_same(client: Any, tmp_path: Path) -> None:
    """Every form is read in test_sources.py."""
    import dask.array

    docs = [text for text in _texts() if text]
    (tmp_path / "docs.txt").write_text("".join(doc + "\n" for doc in docs), encoding="utf-8")
    sources = {
        "text": str(tmp_path / "docs.txt"),
        "lists": [docs[:7], [], docs[7:8], docs[8:]],
        "parquet": _write(tmp_path / "parquet", pa.table({"doc": docs})),
    }
    for name, source in sources.items():
        found = encode(OF_TEXT, source, client=client, blocksize=500 if name == "text" else None)
        assert found == OF_TEXT.encode_batch(docs), name
    rows = np.random.default_rng(3).integers(0, 4, (30, 12))
    found = encode(OF_SIGNALS, dask.array.from_array(rows, chunks=(7, 5)), client=client)
    assert found == OF_SIGNALS.encode_batch(rows)
    for nothing in ([], [[], []]):
        assert encode(OF_TEXT, nothing, client=client) == Ragged.from_lists([])


def test_columns_of_any_type(client: Any, tmp_path: Path) -> None:
    cases: list[tuple[Any, Any, list[Any]]] = [
        (OF_TEXT, pa.dictionary(pa.int32(), pa.string()), _texts()),
        (OF_TEXT, pa.binary(), [doc.encode()[:-1] for doc in _texts()]),  # some end inside a character
        (OF_SIGNALS, pa.large_list(pa.uint8()), _signals()),
        (OF_TEXT, pa.string(), []),
    ]
    for i, (tok, kind, docs) in enumerate(cases):
        files = _write(tmp_path / f"in{i}", _table(docs, kind))
        table = _read(encode(tok, files, str(tmp_path / f"out{i}"), column="doc", client=client))
        assert table["ids"].to_pylist() == tok.encode_batch(docs).to_lists()
        assert table.column_names == ["n", "doc", "name", "tags", "ids"]


def test_characters_and_options(client: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("abab\nba\n")
    assert encode(AB, str(tmp_path / "a.txt"), client=client) == AB.encode_batch(["abab", "ba"])  # type: ignore[comparison-overlap]
    assert encode(AB, [["abc"]], client=client, unknown="skip") == AB.encode_batch(["abc"], unknown="skip")
    docs = ["low<end>", "new"]
    found = encode(OF_TEXT, [docs], client=client, allowed_special={"<end>"})
    assert found == OF_TEXT.encode_batch(docs, allowed_special={"<end>"})


@pytest.mark.parametrize("drop", [False, True])
def test_the_other_columns_stay_as_they_are(client: Any, tmp_path: Path, drop: bool) -> None:
    table = _table(_texts())
    files = encode(
        OF_TEXT, _write(tmp_path / "in", table), str(tmp_path / "out"), column="doc", drop=drop, client=client
    )
    found = _read(files)
    ids = pa.array(OF_TEXT.encode_batch(_texts()).to_lists(), pa.list_(pa.int32()))
    wanted = table.set_column(1, "ids", ids) if drop else table.append_column("ids", ids)
    assert found.column_names == wanted.column_names and found.to_pylist() == wanted.to_pylist()
    assert found.schema.field("ids").type == pa.list_(pa.field("element", pa.int32()))
    assert found.schema.field("name").type == table.schema.field("name").type


def test_columns_that_folders_name_are_kept(client: Any, tmp_path: Path) -> None:
    folder, docs = tmp_path / "run=3" / "in", _texts(12)
    parts = (
        "lang=de/year=2023",
        "lang=de/year=2024",
        "lang=fr/year=2023",
        "lang=fr/year=__HIVE_DEFAULT_PARTITION__",
    )
    for i, part in enumerate(parts):
        (folder / part).mkdir(parents=True)
        pq.write_table(
            pa.table({"doc": docs[3 * i : 3 * i + 3], "n": range(3)}),
            folder / part / "a.parquet",
            row_group_size=2,
        )

    def kept(source: Any, target: str, **options: Any) -> pa.Table:
        files = encode(
            OF_TEXT, source, tmp_path / target, column="doc", blocksize=1, client=client, **options
        )
        # raises unless all are of one schema
        return pa.concat_tables([pq.ParquetFile(path).read() for path in files])

    found = kept(folder, "out")
    assert found["ids"].to_pylist() == OF_TEXT.encode_batch(docs).to_lists()
    assert found["lang"].to_pylist() == ["de"] * 6 + ["fr"] * 6
    assert found["year"].to_pylist() == [2023] * 3 + [2024] * 3 + [2023] * 3 + [None] * 3
    assert kept(folder, "dropped", drop=True).schema.names == ["ids", "n", "lang", "year"]
    # of files that are given all of the path counts
    found = kept(sorted(map(str, folder.rglob("a.parquet"))), "files")
    assert found.schema.names == ["doc", "n", "run", "lang", "year", "ids"] and set(
        found["run"].to_pylist()
    ) == {3}
    refuses(ValueError, "^ids: there is a column 'year' already", kept, folder, "year", ids="year")
    shutil.move(str(folder / "lang=fr"), str(folder / "lang=it"))
    refuses(
        ValueError,
        r"was made with another partition 4: .*, lang='fr', year=.*, now .*, lang='it', ",
        kept,
        folder,
        "out",
    )
    own = folder / "lang=it" / "year=2023" / "a.parquet"
    # a column of the file goes before one that a folder names
    pq.write_table(pa.table({"year": [0.5], "doc": ["low"]}), own)
    assert kept(own, "own").drop_columns("ids").to_pydict() == {
        "year": [0.5],
        "doc": ["low"],
        "run": [3],
        "lang": ["it"],
    }


def test_a_frame_keeps_its_columns_and_its_index(client: Any, tmp_path: Path) -> None:
    import dask.dataframe
    import pandas

    docs = _texts(50)
    frame = pandas.DataFrame(
        {"doc": docs, "x": np.arange(50) / 2}, index=pandas.Index(range(100, 150), name="key")
    )
    source = dask.dataframe.from_pandas(frame, npartitions=4)
    files = encode(OF_TEXT, source, str(tmp_path / "out"), column="doc", client=client)
    assert isinstance(files, list)
    found = pandas.concat([pandas.read_parquet(path) for path in files])
    assert found.index.tolist() == frame.index.tolist() and found["x"].tolist() == frame["x"].tolist()
    assert [list(ids) for ids in found["ids"]] == OF_TEXT.encode_batch(docs).to_lists()


def test_a_run_is_in_order_and_is_continued(client: Any, tmp_path: Path) -> None:
    paths, out = _write(tmp_path / "in", _table(_texts())), tmp_path / "out"
    options: dict[str, Any] = {"column": "doc", "blocksize": 1}
    files: Any = encode(OF_TEXT, str(tmp_path / "in"), str(out), client=client, **options)
    n = sum(pq.ParquetFile(path).num_row_groups for path in paths)
    names = [f"part-{i:05}.parquet" for i in range(n)]
    assert files == [str(out / name) for name in names] and sorted(os.listdir(out)) == ["_ubpe.json", *names]
    before, inodes = _read(files), [os.stat(path).st_ino for path in files]
    assert before["n"].to_pylist() == list(range(200))
    manifest = json.loads((out / "_ubpe.json").read_text())
    assert manifest["function"] == "encode" and manifest["model"] == OF_TEXT.fingerprint
    assert len(manifest["parts"]) == n and manifest["parts"][0].startswith("source-0.parquet, ")
    os.unlink(files[1])
    half = out / ".part-00001.parquet.0123456789abcdef.tmp"
    half.write_bytes(b"PAR1 half")
    assert (
        encode(OF_TEXT, paths, out, client=client, **options) == files
        and _read(files) == before
        and not half.exists()
    )
    # these were not written again
    assert [os.stat(files[i]).st_ino for i in (0, 2)] == [inodes[0], inodes[2]]
    no_client: Any = "a run that is done needs none"
    assert encode(OF_TEXT, paths, out, client=no_client, **options) == files


def test_nothing_is_mixed(client: Any, tmp_path: Path) -> None:
    paths, out = _write(tmp_path / "in", _table(_texts())), str(tmp_path / "out")
    encode(OF_TEXT, paths, out, column="doc", client=client)
    other = BPE.for_text(280, pretokenizer="gpt2").fit(_texts(), progress=False)
    with pytest.raises(
        ValueError, match=r"^target: .*/out: was made with another model: .*, now .*; give another folder"
    ):
        encode(other, paths, out, column="doc", client=client)
    with pytest.raises(ValueError, match="^target: .*: was made with another settings: .*'drop': False"):
        encode(OF_TEXT, paths, out, column="doc", drop=True, client=client)
    with pytest.raises(ValueError, match="^target: .*: was made of 3 partitions, the source now has 2"):
        encode(OF_TEXT, paths[:2], out, column="doc", client=client)
    pq.write_table(_table(_texts(seed=9)[:67]), paths[2])
    with pytest.raises(
        ValueError, match="^target: .*: was made with another partition 2: source-2.parquet, footer "
    ):
        encode(OF_TEXT, paths, out, column="doc", client=client)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").touch()
    with pytest.raises(
        FileExistsError, match="^target: .*/full: expected a new or an empty folder, .* got thesis.tex in it"
    ):
        encode(OF_TEXT, paths, str(tmp_path / "full"), column="doc", client=client)
    Path(out, "_ubpe.json").write_text("{")
    refuses(
        ValueError,
        "^target: .*/_ubpe.json: not a manifest",
        encode,
        OF_TEXT,
        paths[:2],
        out,
        column="doc",
        client=client,
    )


def test_arguments_are_checked_before_anything_is_done(tmp_path: Path) -> None:
    import dask.array

    paths = _write(tmp_path / "in", _table(_texts()))
    none: Any = "nothing may be asked of this client"
    for arguments, error, message in [
        (("tok", [["a"]]), TypeError, "^tokenizer: expected a BPE, UBPEClassic or UBPE, got str"),
        ((BPE(10), [["a"]]), NotFittedError, "no vocabulary yet"),
        ((OF_TEXT, 3), TypeError, "^(source|parts): expected "),
        (
            (OF_TEXT, dask.array.from_array(np.arange(9))),
            ValueError,
            "^source: a 1-D dask.array is one document",
        ),
        ((OF_TEXT, str(tmp_path / "missing.parquet")), FileNotFoundError, "^source: .*/missing.parquet"),
        ((OF_TEXT, [["a"]], 3), TypeError, "^target: expected the path of a folder or None, got 3 .int."),
        ((OF_TEXT, [["a"]], "nowhere://bucket"), ValueError, "^target: nowhere://bucket: Protocol not known"),
        ((OF_TEXT, [["a"]], paths[0]), NotADirectoryError, "^target: .*: expected a folder, got a file"),
        ((OF_TEXT, [["a"]], paths[0] + "/out"), OSError, "/source-0.parquet"),
    ]:
        refuses(error, message, encode, *arguments, client=none)
    options: Any
    for options, error, message in [
        (
            {"column": "nope"},
            ValueError,
            "^column: expected the name of one column of .*-0.parquet: 'n', 'doc', .* got 'nope'",
        ),
        ({}, ValueError, "^column: expected the name of one column of"),
        ({"column": 3}, TypeError, "^column: expected a name, got 3 .int."),
        ({"column": "doc", "ids": "n"}, ValueError, "^ids: there is a column 'n' already; give another name"),
        ({"column": "doc", "ids": 1}, TypeError, "^ids: expected a str, got 1 .int."),
        ({"column": "n"}, TypeError, "column 'n': expected lists of integers, strings or binary, got int64"),
        ({"column": "doc", "dropout": 0.1}, ValueError, "^dropout: samples depend on the document's number"),
        ({"column": "doc", "sample": True}, ValueError, "^sample: samples depend"),
        ({"column": "doc", "return_offsets": True}, TypeError, "^unexpected argument 'return_offsets'"),
    ]:
        refuses(error, message, encode, OF_TEXT, paths, str(tmp_path / "out"), client=none, **options)
    assert not (tmp_path / "out").exists()


def test_errors_name_file_row_and_position(client: Any, tmp_path: Path) -> None:
    docs = ["ab"] * 30 + ["abxb"] + ["ab"] * 29
    paths = _write(tmp_path / "in", _table(docs), 2, rows=8)
    with pytest.raises(
        UnknownSymbolError, match=r"source-1.parquet, rows 0\.\.29: document 0, position 2: symbol 'x'"
    ) as raised:
        encode(AB, paths, str(tmp_path / "out"), column="doc", client=client)
    assert (raised.value.document, raised.value.position) == (0, 2)
    docs[30], docs[17] = "ab", "x"
    paths = _write(tmp_path / "in", _table(docs), 2, rows=8)
    with pytest.raises(UnknownSymbolError, match=r"source-0.parquet, rows 16\.\.23: document 17, position 0"):
        encode(AB, paths, column="doc", client=client, blocksize=1)
    refuses(
        UnknownSymbolError,
        r"partition 1: document 2, position 0",
        encode,
        AB,
        [["ab"], ["a", "b", "c"]],
        client=client,
    )
    pq.write_table(pa.table({"doc": ["ab", None]}), paths[1])
    with pytest.raises(
        ValueError,
        match=r"source-1.parquet, rows 0\.\.1: column 'doc': document 1 is null; drop or fill nulls first",
    ):
        encode(AB, paths[1], str(tmp_path / "null"), client=client)
    assert os.listdir(tmp_path / "null") == ["_ubpe.json"]


def test_a_damaged_file_is_one_error_with_its_name(client: Any, tmp_path: Path) -> None:
    paths = _write(tmp_path / "in", _table(_texts(2000)), 2, rows=1000)
    whole = Path(paths[1]).read_bytes()
    Path(paths[1]).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="^source: not a Parquet file that can be read: .*source-1.parquet"):
        encode(OF_TEXT, paths, str(tmp_path / "out"), column="doc", client=client)
    broken = bytearray(whole)
    broken[200:3000] = b"\xff" * 2800  # the footer is as it was
    Path(paths[1]).write_bytes(bytes(broken))
    with pytest.raises((ValueError, OSError), match="source-1.parquet, rows 0..999: "):
        encode(OF_TEXT, paths, str(tmp_path / "out"), column="doc", client=client)
    Path(paths[1]).write_bytes(whole)
    files = encode(OF_TEXT, paths, str(tmp_path / "out"), column="doc", client=client)
    assert _read(files)["ids"].to_pylist() == OF_TEXT.encode_batch(_texts(2000)).to_lists()


def _docs_that_kill(docs: list[Any], path: str) -> list[Any]:
    if not os.path.exists(path):
        Path(path).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return docs


def test_a_killed_worker_changes_nothing(mortal: Any, tmp_path: Path) -> None:
    docs, out = _texts(400), tmp_path / "out"
    tasks = [
        delayed(_docs_that_kill)(docs[i : i + 20], str(tmp_path / f"killed{i // 200}"))
        for i in range(0, 400, 20)
    ]
    files: Any = encode(OF_TEXT, tasks, out, client=mortal)
    assert (tmp_path / "killed0").exists() and _read(files)["ids"].to_pylist() == OF_TEXT.encode_batch(
        docs
    ).to_lists()
    assert sorted(os.listdir(out)) == ["_ubpe.json", *(os.path.basename(path) for path in files)]


def test_two_runs_at_once_on_one_folder(client: Any, tmp_path: Path) -> None:
    from distributed import Client

    docs = _texts(3000)
    paths = _write(tmp_path / "in", _table(docs), 3, rows=25)
    found: list[Any] = []

    def run() -> None:
        with Client(client.scheduler.address, set_as_default=False) as mine:
            found.append(
                encode(
                    OF_TEXT, paths, tmp_path / "out", column="doc", blocksize=1, client=mine, progress=False
                )
            )

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len(found) == 3 and found[0] == found[1] == found[2] and len(found[0]) == 120
    assert _read(found[0])["ids"].to_pylist() == OF_TEXT.encode_batch(docs).to_lists()
    assert sorted(os.listdir(tmp_path / "out")) == ["_ubpe.json", *map(os.path.basename, found[0])]


def _limit_files(n: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (n, resource.RLIM_INFINITY))


def test_a_disk_that_is_full_is_one_error_and_leaves_nothing_half(mortal: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    docs = [rng.integers(0, 256, n).tolist() for n in (1000, 200_000, 1000)]
    tok = BPE.from_merges([[0, 1]], alphabet=256)
    paths = _write(tmp_path / "in", pa.table({"doc": docs}), 3)
    out = str(tmp_path / "out")
    mortal.run(_limit_files, 100_000)
    with pytest.raises(
        OSError, match=r"source-1.parquet, rows 0..0: File too large: '.*/part-00001.parquet'"
    ):
        encode(tok, paths, out, client=mortal)
    assert (
        eventually(lambda: not list(Path(out).glob(".part*")))
        and not Path(out, "part-00001.parquet").exists()
    )
    mortal.run(_limit_files, resource.RLIM_INFINITY)
    files = encode(tok, paths, out, client=mortal)
    assert _read(files)["ids"].to_pylist() == tok.encode_batch(docs).to_lists()


def test_a_list_of_tables_keeps_their_columns_and_is_checked(client: Any, tmp_path: Path) -> None:
    tables = [pa.table({"doc": ["ab", "b"], "n": [1, 2]}), pa.table({"doc": ["a"], "n": [3]}).to_pandas()]
    for later in (delayed, lambda table: table):
        files = encode(
            AB, list(map(later, tables)), tmp_path / f"{later is delayed}", column="doc", client=client
        )
        assert [pq.read_table(file).to_pydict() for file in files] == [
            {"doc": ["ab", "b"], "n": [1, 2], "ids": [[2], [1]]},
            {"doc": ["a"], "n": [3], "ids": [[0]]},
        ]
        for bad, column, error, message in [
            (
                tables[0],
                "x",
                ValueError,
                "^partition 0: column 'x': expected one column of this name, there are 'doc', 'n'",
            ),
            (["ab"], "doc", TypeError, "^partition 0: column 'doc': expected a partition that is a table"),
            (
                pa.table({"doc": ["ab"], "ids": [1]}),
                "doc",
                ValueError,
                "^partition 0: ids: there is a column 'ids' already",
            ),
        ]:
            refuses(error, message, encode, AB, [later(bad)], column=column, client=client)


LINES = ["low lower", "", "né 低い \U0001f600", "low"] * 9


def _models() -> dict[str, tuple[Any, list[Any], str]]:
    rng = np.random.default_rng(1)
    small = [rng.integers(0, 4, n).tolist() for n in (0, 5, 60, 1)] * 5
    return {
        "utf-8": (BPE.for_text(270, pretokenizer="gpt2").fit(LINES, progress=False), LINES, "string"),
        "characters": (BPE(12).fit(["abab", "né"], progress=False), ["abné", "", "baba"] * 5, "string"),
        "bytes": (
            BPE(260, alphabet=bytes(range(256))).fit([b"abab"], progress=False),
            [b"ab\xff", b"", b"\x00a"] * 5,
            "binary",
        ),
        "integers": (UBPE(8, alphabet=4).fit(small, progress=False), small, "list<element: int32>"),
        "wide": (
            BPE.from_merges([[0, 1]], alphabet=[2**40, 7]),
            [[2**40, 7, 7], [], [2**40]] * 5,
            "list<element: int64>",
        ),
    }


@pytest.mark.parametrize("name", ["utf-8", "characters", "bytes", "integers", "wide"])
def test_from_parquet_to_parquet_and_back(client: Any, tmp_path: Path, name: str) -> None:
    tok, docs, kind = _models()[name]
    source = _write(tmp_path / "in", pa.table({"n": np.arange(len(docs)), "doc": docs}), 1, rows=10)
    files = encode(tok, source, str(tmp_path / "ids"), column="doc", drop=True, blocksize=1, client=client)
    back = decode(tok, str(tmp_path / "ids"), str(tmp_path / "back"), column="doc", drop=True, client=client)
    assert len(back) == len(files) == -(-len(docs) // 10)
    assert _read(back)["doc"].to_pylist() == docs and _read(back)["n"].to_pylist() == list(range(len(docs)))
    assert str(pq.read_schema(back[0]).field("doc").type) == kind
    here = decode(tok, str(tmp_path / "ids"), client=client)
    with pytest.raises(ValueError, match="^ids: expected the name of one column of .*, got 'x'"):
        decode(tok, str(tmp_path / "ids"), ids="x", client=client)
    batch = tok.decode_batch(tok.encode_batch(docs))
    assert type(here) is type(batch)
    assert (
        here == batch
        if isinstance(here, Ragged)
        else [list(doc) for doc in here] == [list(doc) for doc in batch]
    )


def test_documents_stand_beside_their_ids(client: Any, tmp_path: Path) -> None:
    tok = BPE.for_text(270).fit(LINES, progress=False)
    files = encode(tok, [LINES[:5], LINES[5:]], str(tmp_path / "ids"), client=client)
    back = decode(tok, files, str(tmp_path / "back"), client=client)
    assert (
        pq.read_schema(back[0]).names == ["ids", "document"] and _read(back)["document"].to_pylist() == LINES
    )
    refuses(
        ValueError,
        "^column: there is a column 'ids' already",
        decode,
        tok,
        files,
        column="ids",
        client=client,
    )


def test_bytes_that_are_no_utf8(client: Any, tmp_path: Path) -> None:
    tok = BPE.for_text(256).fit(["a"], progress=False)
    assert decode(tok, [[[97, 255]]], client=client) == ["a\ufffd"]
    assert decode(tok, [[[97, 255]]], errors="ignore", client=client) == ["a"]
    with pytest.raises(RuntimeError, match="^partition 1: UnicodeDecodeError: "):
        decode(tok, [[[97]], [[97, 255]]], errors="strict", client=client)
    with pytest.raises(
        ValueError,
        match="^partition 0: errors: with 'surrogateescape' texts have surrogates, which files cannot",
    ):
        decode(tok, [[[97, 255]]], str(tmp_path / "out"), errors="surrogateescape", client=client)


def test_an_unknown_id_has_its_place(client: Any, tmp_path: Path) -> None:
    tok = BPE.from_merges([[0, 1]], alphabet="ab")
    pq.write_table(pa.table({"ids": [[0], [1, 2], [0, 3]]}), tmp_path / "a.parquet", row_group_size=2)
    with pytest.raises(
        UnknownTokenError, match=r"a.parquet, rows 2\.\.2: document 2, position 1: token id 3"
    ) as raised:
        decode(tok, str(tmp_path / "a.parquet"), blocksize=1, client=client)
    assert raised.value.token == 3
    pq.write_table(pa.table({"ids": [[0], [1, None]]}), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"a.parquet, rows 0\.\.1: .*document 1, position 1 is null"):
        decode(tok, str(tmp_path / "a.parquet"), client=client)


def test_arguments_of_decode_are_checked() -> None:
    tok: Any = BPE.from_merges([[0, 1]], alphabet="ab")
    none: Any = "nothing may be asked of this client"
    for options, error, message in [
        ({"column": 3}, TypeError, "^column: expected a str, got 3"),
        ({"errors": None}, TypeError, "^errors: expected a str, got None"),
        ({"ids": 3}, TypeError, "^ids: expected a name, got 3"),
    ]:
        refuses(error, message, decode, tok, [[[0]]], client=none, **options)
    refuses(TypeError, "^tokenizer: expected a BPE", decode, none, [[[0]]])
