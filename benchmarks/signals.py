"""Tokens of signals within a tolerance, on halves that are held out: samples a token, bits, errors, time; beside compressors.

    UBPE_BENCH_DATA=data python benchmarks/signals.py                  # all rows, half an hour of a processor
    UBPE_BENCH_DATA=data python benchmarks/signals.py ecg:1:256 ecg_q8:1:1024

A row is signal:tolerance:tokens. `ecg` is the record of the package, averaged to 120 Hz, without drift, with
a step of 6: the first 60 % are learned from, of the others the first half of the documents. `ecg_q8` and
`wav_mulaw8` are corpora of integers as for the other benchmarks, `face` has the rows of the photograph in the
wheel of scipy 1.9.3, in grey:

    pip download scipy==1.9.3 --no-deps --only-binary :all: && unzip -j scipy-*.whl scipy/misc/face.dat -d
    data

Exact levels and exact differences have the same largest error. Bits are those of independent tokens, with the
counts of the half that was learned from; with the vocabulary: and its tokens, compressed by zlib. SZ3 (pysz),
zfp (zfpy) and FLAC (soundfile) are taken where they are installed.
"""

from __future__ import annotations

import bz2
import contextlib
import io
import os
import pathlib
import sys
import time
import zlib
from typing import Any

import numpy as np

from ubpe_numba.cli.demo import load_ecg
from ubpe_numba.signals import SignalTokenizer

ROWS = (
    "ecg:1:256", "ecg:1:1024", "ecg_q8:1:1024", "ecg_q8:3:1024",
    "wav_mulaw8:3:1024", "wav_mulaw8:1:4096", "wav_mulaw8:2:4096", "wav_mulaw8:3:4096",
    "face:2:1024", "face:1:4096", "face:2:4096", "face:3:4096",
)  # fmt: skip
STEP = 6.0  # of the record of the package


def signal(name: str) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Recordings to learn from, and held-out ones."""
    if name == "ecg":
        slow = load_ecg()[0].astype(float).reshape(-1, 3).mean(axis=1)
        slow -= np.convolve(np.pad(slow, 60, mode="edge"), np.ones(121) / 121, "valid")
        cut = int(slow.size * 0.6)
        return [slow[:cut]], [slow[cut:]]
    folder = pathlib.Path(os.environ["UBPE_BENCH_DATA"])
    if name == "face":
        red, green, blue = (
            np.frombuffer(bz2.decompress((folder / "face.dat").read_bytes()), np.uint8).reshape(-1, 3).T
        )
        docs = list((0.21 * red + 0.71 * green + 0.07 * blue).astype(np.int64).reshape(768, 1024))
    else:
        with np.load(folder / f"{name}.npz") as data:
            docs = np.split(data["values"].astype(np.int64), data["offsets"][1:-1])
    return docs[: len(docs) // 2], docs[len(docs) // 2 :]


def measured(tok: SignalTokenizer, train: list[np.ndarray], test: list[np.ndarray]) -> str:
    """What a tokenizer does with what was held out."""
    counts = np.bincount(tok.encode_batch(train).values, minlength=tok.n_tokens) + 0.5
    began = time.perf_counter()
    ids = tok.encode_batch(test, n_threads=1)
    seconds = time.perf_counter() - began
    given = np.concatenate(test)
    error = np.concatenate(tok.decode_batch(ids)) - given
    bits = -np.log2(counts / counts.sum())[ids.values].sum()
    tokens = tok._fitted().tokens
    vocabulary = 8 * len(
        zlib.compress(tokens.arena.astype("<i4").tobytes() + tokens.lengths.astype("<i2").tobytes(), 9)
    )
    rms, largest = np.sqrt((error**2).mean()), np.abs(error).max()
    return (
        f"{given.size / ids.total:6.2f} samples a token, {bits / given.size:.3f} bits, with the vocabulary "
        f"{(bits + vocabulary) / given.size:.3f}, rms {rms:.3g}, largest {largest:.4g} of {tok.error_bound():.4g}, "
        f"{given.size / seconds / 1e6:.2f} M samples/s"
    )


def compressors(test: list[np.ndarray], bound: float) -> None:
    """Bits and rms of SZ3, zfp and FLAC at the same largest error, where they are installed; FLAC packs levels 2 bounds apart."""
    x = np.concatenate(test).astype(np.float32)

    def row(name: str, size: int, back: Any) -> None:
        error = np.abs(np.asarray(back, np.float64).ravel() - x)
        print(
            f"  {name:12} {size * 8 / x.size:.3f} bits, rms {np.sqrt((error**2).mean()):.3g}, largest {error.max():.4g}"
        )

    with contextlib.suppress(ImportError):
        from pysz import sz, szConfig, szErrorBoundMode

        config = szConfig()
        config.errorBoundMode, config.absErrorBound = szErrorBoundMode.ABS, bound
        packed: Any = sz.compress(x, config)[0]
        row("SZ3", packed.size, sz.decompress(packed, np.float32, x.shape)[0])
    with contextlib.suppress(ImportError):
        import zfpy

        zfp = zfpy.compress_numpy(x, tolerance=bound)
        row("zfp", len(zfp), zfpy.decompress_numpy(zfp))
    with contextlib.suppress(ImportError):
        import soundfile

        step, file = max(1.0, 2 * bound), io.BytesIO()
        levels = np.rint(x / step)
        soundfile.write(file, levels.astype(np.int16), 44_100, format="FLAC", subtype="PCM_16")
        row("FLAC", file.getbuffer().nbytes, levels * step)


def main(rows: list[str]) -> None:
    """Print the rows."""
    for row in rows or ROWS:
        name, tolerance, n = row.split(":")[0], int(row.split(":")[1]), int(row.split(":")[2])
        train, test = signal(name)
        both = train + test
        ends = {"low": min(part.min() for part in both), "high": max(part.max() for part in both)}
        options: dict[str, Any] = {"step": 1} if name != "ecg" else {"max_error": STEP * (tolerance + 0.5)}
        print(f"{name}, tolerance {tolerance}, {n} tokens", flush=True)
        for representation, objective in (
            ("levels", "tokens"),
            ("differences", "tokens"),
            ("auto", "tokens"),
            ("auto", "bits"),
        ):
            began = time.perf_counter()
            tok = SignalTokenizer(
                n, tolerance=tolerance, representation=representation, objective=objective, **options
            )
            tok.fit(train, **ends)
            seconds = time.perf_counter() - began
            label = representation if objective == "tokens" else "auto, bits"
            print(f"  {label:12} {measured(tok, train, test)}, fit {seconds:.0f} s", flush=True)
        compressors(test, float(tok.error_bound()))


if __name__ == "__main__":
    main(sys.argv[1:])
