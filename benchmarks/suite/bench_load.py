"""Reading models: large valid ones, ranks of tiktoken, and hostile files, each of which must be refused in less than 100 ms."""

import io
import json
import pathlib
import statistics
import tempfile
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np

import ubpe_numba  # its names are looked up where they are used: commits of the past have not all of them
from ubpe_numba import BPE

from .common import first_ids, rate, text_model, timed

N_MERGES = 32_000


def _valid() -> BPE:
    """32,000 merges of earlier tokens, none longer than about 20 symbols."""
    rng = np.random.default_rng(0)
    pairs = {(int(a), int(b)) for a, b in rng.integers(0, 256, (2 * N_MERGES, 2))}
    return BPE.from_merges(sorted(pairs)[:N_MERGES], alphabet=256)


def _hostile(folder: pathlib.Path) -> dict[str, tuple[str, bytes]]:
    """Hostile files by name: suffix and content, chosen to cost a reader as much time and memory as possible."""
    _valid().save(folder / "valid.json")
    _valid().save(folder / "valid.npz")
    text, archive = (folder / "valid.json").read_text(), (folder / "valid.npz").read_bytes()
    model: dict[str, Any] = json.loads(text)
    few = {k: [] for k in ("weights", "counts", "document_frequencies")}

    def with_merges(merges: list[list[int]]) -> bytes:
        lists = {k: [0] * len(merges) for k in few}
        return json.dumps(model | {"vocabulary": model["vocabulary"] | lists | {"merges": merges}}).encode()

    def zipped(name: str, data: bytes, compression: int = zipfile.ZIP_STORED) -> bytes:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", compression) as z:
            z.writestr(name, data)
        return buffer.getvalue()

    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<i4", "fortran_order": False, "shape": (10**9, 2)}
    )
    chain = [[256 + i, 256 + i] for i in range(N_MERGES)]
    return {
        "truncated json": (".json", text[:-2].encode()),
        "truncated npz": (".npz", archive[:-9]),
        "wrong version": (".json", text.replace('"version": 1', '"version": 2').encode()),
        "64 doublings": (".json", with_merges([[0, 0], *chain[:63]])),
        "32,000 doublings": (".json", with_merges([[0, 0], *chain[:-1]])),
        "a cycle of 32,000": (".json", with_merges([*[[c[0] + 1, 0] for c in chain[:-1]], [256, 0]])),
        "a pair twice": (".json", with_merges([*[[i >> 8, i & 255] for i in range(N_MERGES)], [0, 0]])),
        "a NaN": (".json", text.replace('"weights": [', '"weights": [NaN, ').encode()),
        "deep": (".json", b'{"a":' * 1_000_000),
        "deep, closed": (".json", b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
        "a number of 4,000 digits": (
            ".json",
            text.replace('"version": 1', '"version": ' + "9" * 4000).encode(),
        ),
        "not UTF-8": (".json", text.encode()[:-2] + b"\xff\xff"),
        "a header of 10**9 rows": (".npz", zipped("vocabulary.merges.npy", header.getvalue())),
        "a zip bomb": (".npz", zipped("head.npy", bytes(10**8), zipfile.ZIP_DEFLATED)),
        "zeros": (".json", bytes(20_000_000)),
        "no archive": (".npz", bytes(20_000_000)),
    }


class Honest:
    """A valid model of 32,256 tokens."""

    params = (".json", ".npz")
    param_names = ("format",)

    def setup(self, suffix: str) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name, f"model{suffix}")
        _valid().save(self.path)
        BPE.load(self.path)

    def teardown(self, _: str) -> None:
        self.folder.cleanup()

    def track_tokens_per_second(self, _: str) -> float:
        return rate(N_MERGES, lambda: BPE.load(self.path), 5)

    track_tokens_per_second.unit = "tokens/s"  # type: ignore[attr-defined]


class TextModel:
    """A text vocabulary of 32,768 tokens: from a file of ranks, and from our own in a new process that then encodes."""

    timeout = 600

    def setup_cache(self) -> None:
        text_model().save("model.npz")
        ubpe_numba.export(text_model(), "tiktoken", "model.tiktoken")
        first_ids("warm", "model.npz")
        self._from_ranks()

    def _from_ranks(self) -> None:
        BPE.load("model.tiktoken", pretokenizer="o200k")

    def track_from_ranks(self) -> float:
        return statistics.median(timed(self._from_ranks) for _ in range(3))

    def track_first_ids(self) -> float:
        return statistics.median(first_ids("warm", "model.npz") for _ in range(5))

    track_from_ranks.unit = track_first_ids.unit = "seconds"  # type: ignore[attr-defined]


def _worst(measure: Callable[[Callable[[], object]], float]) -> tuple[float, str]:
    """The highest cost, and the name of the file that has it."""
    found: list[tuple[float, str]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for what, (suffix, data) in _hostile(folder).items():
            path = folder / f"hostile{suffix}"
            path.write_bytes(data)

            def load(path: pathlib.Path = path, what: str = what) -> None:
                try:
                    BPE.load(path)
                except ubpe_numba.errors.ModelFormatError:
                    return
                raise AssertionError(f"{what}: not refused")

            load()
            found.append((measure(load), what))
    return max(found)


def _seconds(load: Callable[[], object]) -> float:
    times = []
    for _ in range(5):
        start = time.perf_counter()
        load()
        times.append(time.perf_counter() - start)
    return sorted(times)[2]


def _bytes(load: Callable[[], object]) -> float:
    tracemalloc.start()
    load()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


class Hostile:
    """The hostile file that costs the most."""

    def track_seconds(self) -> float:
        return _worst(_seconds)[0]

    def track_bytes(self) -> float:
        return _worst(_bytes)[0]

    track_seconds.unit, track_bytes.unit = "seconds", "bytes"  # type: ignore[attr-defined]
