"""Sources and targets in stores, by URLs: in memory, and on an S3 server whose answers fail, are slow, and are cut."""

import importlib.util
from collections.abc import Iterator
from typing import Any

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from s3_server import serving
from tables import refuses

from ubpe_numba import BPE, Ragged
from ubpe_numba.distributed import decode, encode, fit
from ubpe_numba.distributed.encoding import publish

HAS_S3 = all(importlib.util.find_spec(name) for name in ("s3fs", "moto", "flask"))


def _docs() -> list[list[int]]:
    rng = np.random.default_rng(1)
    return [rng.integers(0, 9, rng.integers(0, 300)).tolist() for _ in range(400)]


def _write(store: Any, folder: str, docs: list[list[int]]) -> None:
    for i in range(4):
        table = pa.table({"n": range(len(docs[i::4])), "doc": pa.array(docs[i::4], pa.list_(pa.int32()))})
        with store.open(f"{folder}/lang={i % 2}/{i}.parquet", "wb") as file:
            pq.write_table(table, file, row_group_size=25)


@pytest.fixture(
    params=["memory", pytest.param("s3", marks=pytest.mark.skipif(not HAS_S3, reason="needs s3fs and moto"))]
)
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Any, str]]:
    """A client, and the URL of a place that its workers see."""
    from distributed import Client

    if request.param == "memory":
        with Client(processes=False, n_workers=1, dashboard_address=":0", set_as_default=False) as client:
            yield client, "memory://bucket"
        fsspec.filesystem("memory").store.clear()
        return
    with serving(0.1) as environment:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        fsspec.filesystem("s3").clear_instance_cache()
        with Client(processes=False, n_workers=2, dashboard_address=":0", set_as_default=False) as client:
            yield client, "s3://bucket"


def test_a_journey_from_store_to_store(place: tuple[Any, str]) -> None:
    client, url = place
    docs, store = _docs(), fsspec.filesystem(url.split(":")[0])
    _write(store, f"{url}/in", docs)
    ordered = [doc for i in (0, 2, 1, 3) for doc in docs[i::4]]  # by folders
    tok = fit(
        BPE(30, alphabet=9), f"{url}/in", client, column="doc", progress=False, checkpoint=f"{url}/fit.npz"
    )
    assert tok.fingerprint == BPE(30, alphabet=9).fit(ordered, progress=False).fingerprint
    options: dict[str, Any] = {"column": "doc", "blocksize": 1000, "client": client, "progress": False}
    files = encode(tok, f"{url}/in", f"{url}/out", **options)
    assert isinstance(files, list) and all(file.startswith(url[:5]) for file in files) and len(files) > 8
    found = [pq.ParquetFile(store.open(file)).read() for file in files]
    assert found[0].column_names == ["n", "doc", "lang", "ids"]
    assert [ids for table in found for ids in table["ids"].to_pylist()] == tok.encode_batch(
        ordered
    ).to_lists()
    store.rm(files[3])
    before = store.modified(files[2])
    assert encode(tok, f"{url}/in", f"{url}/out", **options) == files
    assert store.modified(files[2]) == before and store.exists(files[3])
    refuses(
        ValueError,
        "was made with another settings",
        encode,
        tok,
        f"{url}/in",
        f"{url}/out",
        drop=True,
        **options,
    )
    decoded = decode(tok, f"{url}/out", ids="ids", column="back", client=client, progress=False)
    assert decoded == Ragged.from_lists(ordered)


def test_what_is_half_written_is_not_there() -> None:
    store = fsspec.filesystem("memory")

    def write(file: Any) -> None:
        file.write(b"half")
        raise OSError("no more")

    refuses(OSError, "no more", publish, store, "/half", write)
    assert not store.exists("/half")
    publish(store, "/whole", lambda file: file.write(b"whole"), new=True)
    refuses(
        FileExistsError, "", lambda: publish(store, "/whole", lambda file: file.write(b"other"), new=True)
    )
    assert store.cat("/whole") == b"whole"
