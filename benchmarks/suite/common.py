"""Corpora, and what the benchmarks share. Append only: a changed seed makes old results useless."""

from __future__ import annotations

import functools
import gzip
import importlib.resources
import os
import pathlib
import statistics
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import ubpe_numba

#: The one switch for slow cases: whole corpora instead of their first `SHORT` symbols.
SLOW = bool(os.environ.get("UBPE_BENCH_SLOW"))
SHORT = 500_000
TOKENIZERS = ["BPE", "UBPEClassic", "UBPE"]
THREADS = [1, 2]
N_TOKENS = 1024
_FILES = {"ecg": "ecg_q8.npz", "wav": "wav_mulaw8.npz", "dna": "dna_ecoli.npz", "text": "en_kjv.txt.gz"}


def _file(name: str) -> pathlib.Path | None:
    folder = os.environ.get("UBPE_BENCH_DATA")
    path = pathlib.Path(folder or "", _FILES[name])
    return path if folder and path.is_file() else None


#: The ECG ships with the package; results on other stand-ins are recorded under another name.
CORPORA = ["ecg", *(name if _file(name) else f"{name} (stand-in)" for name in ("wav", "dna", "text"))]


class Corpus(NamedTuple):
    """Documents of ids 0..alphabet_size-1: values uint8, offsets int64[d + 1], and where they come from."""

    values: np.ndarray
    offsets: np.ndarray
    alphabet_size: int
    source: str

    def head(self, n_symbols: int) -> Corpus:
        """The first whole documents of up to `n_symbols` symbols; of a single document, its beginning."""
        n = int(np.searchsorted(self.offsets, n_symbols, side="right")) - 1
        if n >= self.offsets.size - 1:
            return self
        offsets = self.offsets[: n + 1] if n > 0 else np.array([0, n_symbols])
        return self._replace(values=self.values[: offsets[-1]], offsets=offsets)

    def cut(self, length: int | None = None) -> Corpus:
        """The same symbols as one document, or as documents of `length` symbols each (rest dropped)."""
        n = self.values.size
        if length is None or length > n:
            return self._replace(offsets=np.array([0, n]))
        return self._replace(values=self.values[: n // length * length], offsets=np.arange(0, n + 1, length))


def load(name: str) -> Corpus:
    """A corpus by name, from the folder UBPE_BENCH_DATA, else from what ships with the package and Python."""
    if name == "text":
        return lines(*text())
    path = _file(name)
    if path is None and name != "ecg":
        return _synthetic_dna() if name == "dna" else _synthetic_wav()
    file = path or importlib.resources.files("ubpe_numba") / "cli" / "data" / "ecg.npz"
    with file.open("rb") as f, np.load(f) as data:
        source = path.name if path else "ECG record of the package"
        return Corpus(data["values"], data["offsets"], int(data["alphabet_size"]), source)


def text() -> tuple[bytes, str]:
    """ASCII text, and where it comes from."""
    if path := _file("text"):
        return gzip.decompress(path.read_bytes()), path.name
    return stdlib_text(4_300_000), "standard library sources (stand-in)"


def lines(text: bytes, source: str) -> Corpus:
    """The lines of a text that are not empty as documents, its distinct bytes as a dense alphabet."""
    documents = [line for line in text.split(b"\n") if line]
    distinct, values = np.unique(np.frombuffer(b"".join(documents), np.uint8), return_inverse=True)
    offsets = np.cumsum([0] + [len(line) for line in documents])
    return Corpus(values.astype(np.uint8), offsets, distinct.size, source)


@functools.cache
def stdlib_text(n_bytes: int) -> bytes:
    """ASCII sources of the standard library, in a seeded order, repeated where there are too few."""
    parts = stdlib_files(n_bytes)
    return (b"".join(parts) * (n_bytes // sum(map(len, parts)) + 1))[:n_bytes]


def stdlib_files(n_bytes: int) -> list[bytes]:
    """ASCII sources of the standard library, in a seeded order, until there are `n_bytes`."""
    root = pathlib.Path(sysconfig.get_paths()["stdlib"])
    files = np.array(sorted(path for path in root.rglob("*.py") if "site-packages" not in path.parts))
    parts, total = [], 0
    for path in np.random.default_rng(20_240_501).permutation(files):
        if total < n_bytes and (part := path.read_bytes()).isascii():
            parts.append(part)
            total += len(part)
    return parts


def _synthetic_dna(n: int = 5_000_000) -> Corpus:
    """Four symbols: random, with a copy of an earlier stretch, 2 % of it changed, in every other kilobase."""
    rng = np.random.default_rng(20_240_502)
    values = rng.integers(0, 4, n, np.uint8)
    for at in range(2000, n - 1000, 2000):
        source = int(rng.integers(0, at - 1000))
        keep = rng.random(1000) > 0.02
        values[at : at + 1000][keep] = values[source : source + 1000][keep]
    return Corpus(values, np.arange(0, n + 1, 10_000), 5, "synthetic DNA (stand-in)")


def _synthetic_wav(n: int = 547_200) -> Corpus:
    """Three drifting tones and noise in 8 bits."""
    rng = np.random.default_rng(20_240_503)
    t = np.arange(n) / 8000
    drift = np.cumsum(rng.normal(0, 0.01, (3, n)), axis=1)
    tones = np.sin(2 * np.pi * np.array([[110], [220], [331]]) * t + drift).sum(axis=0)
    values = np.clip(tones * 30 + rng.normal(0, 2, n) + 128, 0, 255).astype(np.uint8)
    return Corpus(values, np.arange(0, n + 1, 4800), 256, "synthetic sound (stand-in)")


class Corpora:
    """Base of the benchmarks: writes the corpora once a run, so that a benchmark reads only its own."""

    def setup_cache(self) -> None:
        for name in CORPORA:
            corpus = load(name.partition(" ")[0])
            corpus = corpus if SLOW else corpus.head(SHORT)
            np.savez(f"{name}.npz", **corpus._asdict())

    def read(self, name: str) -> Corpus:
        with np.load(f"{name}.npz") as data:
            return Corpus(data["values"], data["offsets"], int(data["alphabet_size"]), str(data["source"]))


def unfitted(tokenizer: str, corpus: Corpus, n_threads: int, n_tokens: int = N_TOKENS) -> Any:
    return getattr(ubpe_numba, tokenizer)(n_tokens, alphabet=corpus.alphabet_size, n_threads=n_threads)


def fitted(tokenizer: str, corpus: Corpus, n_threads: int, n_tokens: int = N_TOKENS) -> Any:
    new = unfitted(tokenizer, corpus, n_threads, n_tokens)
    return new.fit(corpus.values, offsets=corpus.offsets, progress=False)


def rate(n_symbols: int, work: Callable[[], Any], repeat: int = 5) -> float:
    """Symbols per second, by the median time of `repeat` runs."""
    return n_symbols / statistics.median(timed(work) for _ in range(repeat))


def timed(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


FIRST_RESULT = """
import sys, time
began = time.perf_counter()
import ubpe_numba
imported = time.perf_counter() - began
if len(sys.argv) > 1:
    import numpy as np
    values, offsets = np.load("ecg-values.npy"), np.load("ecg-offsets.npy")
    tokenizer = getattr(ubpe_numba, sys.argv[1])(alphabet=256, n_threads=1)
    ids = tokenizer.fit(values, offsets=offsets, progress=False).encode_batch(values, offsets)
    assert np.array_equal(tokenizer.decode_batch(ids).values, values)
print(imported, time.time())
"""


def repeated(corpus: Corpus, n_symbols: int) -> Corpus:
    """The corpus repeated, whole documents of it, up to `n_symbols` symbols."""
    times = -(-n_symbols // corpus.values.size)
    values = np.tile(corpus.values, times)
    starts = np.arange(times)[:, None] * corpus.values.size
    offsets = np.append((starts + corpus.offsets[:-1]).ravel(), values.size)
    return corpus._replace(values=values, offsets=offsets).head(n_symbols)


def fresh_process(cache: str, *tokenizer: str) -> tuple[float, float]:
    """Seconds from the start of a new process to its result, and those of its import.

    Given the name of a tokenizer, it also fits, encodes and decodes what `write_ecg` wrote. `cache` is the
    directory of compiled kernels.
    """
    package = str(pathlib.Path(ubpe_numba.__file__).parents[1])
    env = {**os.environ, "UBPE_CACHE_DIR": cache, "PYTHONPATH": package}
    env.pop("UBPE_CACHE", None)
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    began = time.time()
    code = [sys.executable, "-c", FIRST_RESULT, *tokenizer]
    done = subprocess.run(code, env=env, check=True, capture_output=True, text=True)
    imported, ended = map(float, done.stdout.split())
    return ended - began, imported


def numba_alone() -> float:
    """Seconds from the start of a new process until it has imported numba."""
    began = time.time()
    done = subprocess.run(
        [sys.executable, "-c", "import numba, time; print(time.time())"], check=True, capture_output=True
    )
    return float(done.stdout) - began


def write_ecg() -> None:
    """What `fresh_process` reads."""
    ecg = load("ecg")
    np.save("ecg-values.npy", ecg.values)
    np.save("ecg-offsets.npy", ecg.offsets)


@functools.cache
def text_model() -> Any:
    """A BPE for text of 32,768 tokens with o200k's pattern, fitted on the standard library's sources, on one thread."""
    new = ubpe_numba.BPE.for_text(32_768, pretokenizer="o200k", n_threads=1)
    return new.fit(lines_of(stdlib_text(4_000_000)), progress=False)


def lines_of(text: bytes) -> list[str]:
    """The lines of a text, with their ends."""
    return text.decode().splitlines(keepends=True)


FIRST_IDS = """
import sys, time
import numba
began = time.perf_counter()
import ubpe_numba
assert ubpe_numba.BPE.load(sys.argv[1], n_threads=1).encode("the first text").size
print(time.perf_counter() - began)
"""


def first_ids(cache: str, model: str) -> float:
    """Seconds that a new process takes to import the package, load a model and encode a text, once numba is imported."""
    env = {
        **os.environ,
        "UBPE_CACHE_DIR": cache,
        "PYTHONPATH": str(pathlib.Path(ubpe_numba.__file__).parents[1]),
    }
    env.pop("UBPE_CACHE", None)
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    code = [sys.executable, "-c", FIRST_IDS, model]
    return float(subprocess.run(code, env=env, check=True, capture_output=True, text=True).stdout)
