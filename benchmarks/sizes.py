"""Large numbers of things: seconds and peak memory of calls, each in a process of its own, and how both grow with the number.

python benchmarks/sizes.py prints a table: two minutes and 3 GB, on Linux. Names of rows select some, --quick
divides by 10.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ubpe_numba import BPE, Ragged, UBPEClassic

Call = Callable[[], Any]


def documents(n: int, parts: int | None = None) -> list[tuple[str, Call]]:
    """Documents of 0 to 3 integers, or the same integers in so many `parts`."""
    rng = np.random.default_rng(0)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 4, n))])
    flat = rng.integers(0, 200, offsets[-1]).astype(np.int32)
    if parts is not None:
        offsets = np.linspace(0, flat.size, parts + 1).astype(np.int64)
    tok, ids = BPE(2000, alphabet=200, n_threads=1), []
    return [
        ("fit", lambda: tok.fit(flat, offsets=offsets, progress=False)),
        ("encode_batch", lambda: ids.append(tok.encode_batch(flat, offsets))),
        ("decode_batch", lambda: tok.decode_batch(ids[0])),
    ]


def texts(n: int) -> list[tuple[str, Call]]:
    """Strings of 0 to 3 letters."""
    letters = "".join(map(chr, np.random.default_rng(0).integers(97, 123, 2 * n)))
    given = [letters[2 * i : 2 * i + i % 4] for i in range(n)]
    tok, ids = BPE.for_text(500, pretokenizer="gpt2", n_threads=1), []
    return [
        ("fit", lambda: tok.fit(given, progress=False)),
        ("encode_batch", lambda: ids.append(tok.encode_batch(given))),
        ("decode_batch", lambda: tok.decode_batch(ids[0])),
    ]


def candidates(n: int) -> list[tuple[str, Call]]:
    """Pairs of equal count, all candidates of one round, and all kept."""
    docs = Ragged(np.tile(np.arange(2 * n, dtype=np.int32), 3), np.arange(0, 6 * n + 1, 2))
    return [("fit", lambda: UBPEClassic(3 * n, n, alphabet=2 * n, n_threads=1).fit(docs, progress=False))]


def _of_words(n: int, **words: list[str]) -> list[tuple[str, Call]]:
    (listed,) = words.values()
    text = " ".join(listed[i] for i in np.random.default_rng(0).integers(0, n, 200_000))
    tok, options = (
        BPE.for_text(1000, n_threads=1, **words),
        {"allowed_special": "all"} if "special_tokens" in words else {},
    )
    file = pathlib.Path(tempfile.mkdtemp()) / "model.json"
    return [
        ("fit", lambda: tok.fit([text], progress=False)),
        ("encode of 200,000 words", lambda: tok.encode(text, **options)),
        ("1000 calls of encode", lambda: [tok.encode(f"a {listed[i % n]}", **options) for i in range(1000)]),
        ("save", lambda: tok.save(file)),
        ("load", lambda: BPE.load(file)),
    ]


def known(n: int) -> list[tuple[str, Call]]:
    """Known words of five letters or more."""
    return _of_words(n, known_words=[f"word{i:x}" for i in range(n)])


def special(n: int) -> list[tuple[str, Call]]:
    """Special tokens."""
    return _of_words(n, special_tokens=[f"<{i:x}>" for i in range(n)])


def tokens(n: int) -> list[tuple[str, Call]]:
    """A vocabulary of merges in which every token is the beginning of eight."""
    pairs = np.stack([np.arange(n) // 8, np.arange(n) % 64], axis=1)
    file, held = pathlib.Path(tempfile.mkdtemp()), {}
    text = np.random.default_rng(0).integers(0, 64, 1_000_000)

    def keep(tok: BPE) -> None:
        held["tok"] = tok

    return [
        ("from_merges", lambda: keep(BPE.from_merges(pairs, alphabet=256))),
        ("encode of 1,000,000 bytes", lambda: held.update(ids=held["tok"].encode(text))),
        ("decode", lambda: held["tok"].decode(held["ids"])),
        ("get_vocab", lambda: held["tok"].get_vocab()),
        ("save .npz", lambda: held["tok"].save(file / "m.npz")),
        ("load .npz", lambda: BPE.load(file / "m.npz")),
        ("save .json", lambda: held["tok"].save(file / "m.json")),
        ("load .json", lambda: BPE.load(file / "m.json")),
    ]


#: Of each row: what is made, and the numbers that it is made of.
ROWS: dict[str, tuple[Callable[[int], list[tuple[str, Call]]], tuple[int, ...]]] = {
    "documents": (documents, (1_000_000, 10_000_000)),
    "the same in ten documents": (lambda n: documents(n, 10), (1_000_000, 10_000_000)),
    "texts": (texts, (1_000_000, 10_000_000)),
    "candidates": (candidates, (1_000, 10_000, 100_000)),
    "known words": (known, (1_000, 10_000, 100_000)),
    "special tokens": (special, (1_000, 10_000, 100_000)),
    "tokens": (tokens, (100_000, 1_000_000)),
}


def _memory(name: str) -> float:
    """A line of Linux's account of the process, in MB."""
    lines = pathlib.Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith(name))


def _measure(row: str, n: int) -> None:
    """Print what the calls of a row take: name, seconds, and the most memory beyond that before, in MB."""
    make, _ = ROWS[row]
    for _, call in make(100):  # kernels are loaded
        call()
    for name, call in make(n):
        pathlib.Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak is the memory now
        before, began = _memory("VmRSS"), time.perf_counter()
        call()
        print(json.dumps([name, time.perf_counter() - began, _memory("VmHWM") - before]))


def main() -> None:
    """Run the rows, each size in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", choices=[*ROWS, []], help="names of rows")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure:
        _measure(asked.measure[0], int(asked.measure[1]))
        return
    print("| what | number | call | s | MB more |\n| --- | ---: | --- | ---: | ---: |")
    for row in asked.rows or ROWS:
        for n in ROWS[row][1]:
            n //= 10 if asked.quick else 1
            command = [sys.executable, "-W", "ignore", __file__, "--measure", row, str(n)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            for name, seconds, more in map(json.loads, done.stdout.splitlines()):
                print(f"| {row} | {n:,} | {name} | {seconds:.3g} | {more:.0f} |", flush=True)


if __name__ == "__main__":
    main()
