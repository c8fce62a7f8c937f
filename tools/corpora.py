"""Small corpora of every nature for the differential tests: real where they can be found, seeded stand-ins elsewhere.

The ECG ships with the package. Text is this interpreter's own standard library. DNA, audio and the King James
Bible are read from the folder in the environment variable UBPE_BENCH_DATA, if it is set, and imitated
otherwise.
"""

from __future__ import annotations

import functools
import gzip
import os
import pathlib
import random
import sysconfig

import numpy as np

from ubpe_numba.cli.demo import load_ecg


def _shipped(name: str) -> tuple[np.ndarray, np.ndarray] | None:
    folder = os.environ.get("UBPE_BENCH_DATA")
    path = pathlib.Path(folder or "", f"{name}.npz")
    if not folder or not path.exists():
        return None
    with np.load(path) as data:
        return data["values"].astype(np.int64), data["offsets"]


def _cut(values: np.ndarray, length: int, documents: int, start: int) -> list[list[int]]:
    """`documents` documents of unequal lengths, `length` symbols in all, from `start` on."""
    rng = random.Random(length * 1000 + documents)
    cuts = sorted(rng.randrange(length + 1) for _ in range(documents - 1))
    part = values[start : start + length].tolist()
    return [part[a:b] for a, b in zip([0, *cuts], [*cuts, length], strict=True)]


def _dense(docs: list[list[int]]) -> tuple[list[list[int]], int]:
    """Renumber the symbols 0..A-1."""
    ids = {s: i for i, s in enumerate(sorted({s for d in docs for s in d}))}
    return [[ids[s] for s in d] for d in docs], len(ids)


@functools.cache
def corpora(length: int) -> dict[str, tuple[list[list[int]], int]]:
    """Name -> documents of ints 0..A-1 (none empty), and A; about `length` symbols each."""
    rng = np.random.default_rng(7)
    out: dict[str, list[list[int]]] = {}
    folder = os.environ.get("UBPE_BENCH_DATA")
    if folder and pathlib.Path(folder, "en_kjv.txt.gz").exists():
        text = gzip.decompress(pathlib.Path(folder, "en_kjv.txt.gz").read_bytes())
    else:
        text = b"".join(
            p.read_bytes() for p in sorted(pathlib.Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))[:40]
        )
    text_values = np.frombuffer(text, np.uint8)
    for documents in (1, 60):
        out[f"text/{documents}"] = _cut(text_values, length, documents, 10_000 * documents)
    ecg, _ = load_ecg()
    out["ecg/0"] = _cut(ecg, length, 5, 0)
    dna = _shipped("dna_ecoli")
    out["dna"] = _cut(rng.integers(0, 4, length) if dna is None else dna[0], length, 12, 0)
    wav = _shipped("wav_mulaw8")
    steps = np.cumsum(rng.integers(-2, 3, length)) % 64
    out["wav"] = _cut(steps if wav is None else wav[0], length, 9, 0)
    for size in (2, 300):
        out[f"random/{size}"] = _cut(rng.integers(0, size, length), length, 15, 0)
    out["zipf"] = _cut(np.minimum(rng.zipf(1.5, length), 90), length, 4, 0)
    out["periodic"] = [([0, 1, 2] * length)[: length // 2], ([0, 1] * length)[: length // 2]]
    return {name: _dense([d for d in docs if d]) for name, docs in out.items()}
