"""Decoding on a cluster is the way back from encoding, for every kind of model."""

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dask import delayed

from ubpe_numba import BPE, UBPE, Ragged
from ubpe_numba.distributed import decode, encode
from ubpe_numba.errors import UnknownTokenError

pytestmark = pytest.mark.xdist_group("cluster")

TEXTS = ["low lower", "", "né 低い \U0001f600", "low"] * 9


def _write(path: Path, docs: list[Any], rows: int = 10) -> str:
    pq.write_table(pa.table({"n": np.arange(len(docs)), "doc": docs}), path, row_group_size=rows)
    return str(path)


def _column(files: Any, name: str) -> pa.ChunkedArray:
    return pa.concat_tables([pq.read_table(path) for path in files])[name]


def _models() -> dict[str, tuple[Any, list[Any], str]]:
    rng = np.random.default_rng(1)
    small = [rng.integers(0, 4, n).tolist() for n in (0, 5, 60, 1)] * 5
    return {
        "utf-8": (BPE.for_text(270, pretokenizer="gpt2").fit(TEXTS, progress=False), TEXTS, "string"),
        "characters": (BPE(12).fit(["abab", "né"], progress=False), ["abné", "", "baba"] * 5, "string"),
        "bytes": (BPE(260, alphabet=bytes(range(256))).fit([b"abab"], progress=False), [b"ab\xff", b"", b"\x00a"] * 5, "binary"),
        "integers": (UBPE(8, alphabet=4).fit(small, progress=False), small, "list<element: int32>"),
        "wide": (BPE.from_merges([[0, 1]], alphabet=[2**40, 7]), [[2**40, 7, 7], [], [2**40]] * 5, "list<element: int64>"),
    }


@pytest.mark.parametrize("name", ["utf-8", "characters", "bytes", "integers", "wide"])
def test_from_parquet_to_parquet_and_back(client: Any, tmp_path: Path, name: str) -> None:
    tok, docs, kind = _models()[name]
    source = _write(tmp_path / "in.parquet", docs)
    files = encode(tok, source, str(tmp_path / "ids"), column="doc", drop=True, blocksize=1, client=client)
    back = decode(tok, str(tmp_path / "ids"), str(tmp_path / "back"), column="doc", drop=True, client=client)
    assert len(back) == len(files) == -(-len(docs) // 10)
    assert _column(back, "doc").to_pylist() == docs and _column(back, "n").to_pylist() == list(range(len(docs)))
    assert str(pq.read_schema(back[0]).field("doc").type) == kind
    here = decode(tok, str(tmp_path / "ids"), client=client)
    with pytest.raises(ValueError, match="^ids: expected the name of one column of .*, got 'x'"):
        decode(tok, str(tmp_path / "ids"), ids="x", client=client)
    batch = tok.decode_batch(tok.encode_batch(docs))
    assert type(here) is type(batch)
    assert here == batch if isinstance(here, Ragged) else [list(doc) for doc in here] == [list(doc) for doc in batch]


def test_documents_stand_beside_their_ids(client: Any, tmp_path: Path) -> None:
    tok = BPE.for_text(270).fit(TEXTS, progress=False)
    files = encode(tok, [TEXTS[:5], TEXTS[5:]], str(tmp_path / "ids"), client=client)
    back = decode(tok, files, str(tmp_path / "back"), client=client)
    assert pq.read_schema(back[0]).names == ["ids", "document"]
    assert _column(back, "document").to_pylist() == TEXTS
    with pytest.raises(ValueError, match="^column: there is a column 'ids' already"):
        decode(tok, files, column="ids", client=client)


def test_bytes_that_are_no_utf8(client: Any, tmp_path: Path) -> None:
    tok = BPE.for_text(256).fit(["a"], progress=False)
    assert decode(tok, [[[97, 255]]], client=client) == ["a\ufffd"]
    assert decode(tok, [[[97, 255]]], errors="ignore", client=client) == ["a"]
    with pytest.raises(RuntimeError, match="^partition 1: UnicodeDecodeError: "):
        decode(tok, [[[97]], [[97, 255]]], errors="strict", client=client)
    with pytest.raises(
        ValueError, match="^partition 0: errors: with 'surrogateescape' texts have surrogates, which files cannot"
    ):
        decode(tok, [[[97, 255]]], str(tmp_path / "out"), errors="surrogateescape", client=client)


def test_an_unknown_id_has_its_place(client: Any, tmp_path: Path) -> None:
    tok = BPE.from_merges([[0, 1]], alphabet="ab")
    pq.write_table(pa.table({"ids": [[0], [1, 2], [0, 3]]}), tmp_path / "a.parquet", row_group_size=2)
    with pytest.raises(UnknownTokenError, match=r"a.parquet, rows 2\.\.2: document 2, position 1: token id 3") as raised:
        decode(tok, str(tmp_path / "a.parquet"), blocksize=1, client=client)
    assert raised.value.token == 3
    pq.write_table(pa.table({"ids": [[0], [1, None]]}), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"a.parquet, rows 0\.\.1: .*document 1, position 1 is null"):
        decode(tok, str(tmp_path / "a.parquet"), client=client)


def test_arguments_are_checked() -> None:
    tok: Any = BPE.from_merges([[0, 1]], alphabet="ab")
    none: Any = "nothing may be asked of this client"
    for options, error, message in [
        ({"column": 3}, TypeError, "^column: expected a str, got 3"),
        ({"errors": None}, TypeError, "^errors: expected a str, got None"),
        ({"ids": 3}, TypeError, "^ids: expected a name, got 3"),
    ]:
        with pytest.raises(error, match=message):
            decode(tok, [[[0]]], client=none, **options)
    with pytest.raises(TypeError, match="^tokenizer: expected a BPE"):
        decode(none, [[[0]]])


def _ids_that_kill(ids: Any, path: str) -> Any:
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return ids
    os.kill(os.getpid(), signal.SIGKILL)
    return []


def test_a_killed_worker_changes_nothing(mortal: Any, tmp_path: Path) -> None:
    tok = BPE.for_text(270).fit(TEXTS, progress=False)
    parts = [tok.encode_batch(TEXTS[i : i + 6]) for i in range(0, 36, 6)]
    tasks = [delayed(_ids_that_kill if i == 3 else _same)(part, str(tmp_path / "killed")) for i, part in enumerate(parts)]
    files = decode(tok, tasks, str(tmp_path / "out"), client=mortal)
    assert (tmp_path / "killed").exists() and _column(files, "document").to_pylist() == TEXTS


def _same(ids: Any, _: str) -> Any:
    return ids
