"""Rows of `compare.py` about encoding batches of text with vocabularies that are in use; fresh text in every round."""

from __future__ import annotations

import pathlib
import statistics
from typing import Any

from corpora import TEXTS, Vocabulary, text, vocabulary
from encoders import ENCODERS
from harness import NONE, OURS, Bench, Found
from suite import common

#: Bytes of the documents (0: each round is one document), rounds, and words for them.
_SHAPES = (
    (10_000, 8, "documents of 10 kB"),
    (200, 8, "documents of 200 B"),
    (0, 2, "a document of {:.2g} MB a round"),
)
_RIVALS = ("fastokens", "gigatoken")  # the rows' goals are about the fastest of these


def _write(b: Bench) -> dict[str, str]:
    """The texts as files in the current directory: their names and sources."""
    sources = {}
    for name in ("English", "Japanese") if b.quick else TEXTS:
        whole, sources[name] = text(name, 1_000_000 if b.quick else 8_000_000)
        pathlib.Path(f"{name}.txt").write_text(whole, encoding="utf-8", newline="")
        b.note(f"{name}: {sources[name]}, {len(whole.encode())} bytes")
    return sources


def batches(b: Bench) -> None:
    """Batches of text on one thread against all packages, and on two threads against one."""
    sources = _write(b)
    b.note(
        "batches: each round has text of its own; medians of all rounds but the first of a process (in brackets)"
    )
    for name in ("o200k",) if b.quick else ("o200k", "cl100k"):
        known = vocabulary(name)
        cells = [(where, length, n) for length, n, _ in _SHAPES for where in sources]
        results = b.together(known, {"action": "batches", "cells": cells}, ENCODERS, 1 if b.quick else 2)
        for length, n_rounds, words in _SHAPES:
            for where in sources:
                size = pathlib.Path(f"{where}.txt").stat().st_size / n_rounds / 1e6
                source = where + " (stand-in)" * ("stand-in" in sources[where])
                what = f"encode of str, {known.label}, {source}, {words.format(size)}"
                _row(b, what, results, f"{where} {length}")
        cells = [(where, length, n) for where, length, n in cells if length != 200]
        _threads(b, known, {"action": "batches", "cells": cells})


def _row(b: Bench, what: str, results: Found, key: str) -> None:
    warm = {
        peer: statistics.median(r for run in runs for r in run[key]["rates"][1:])
        for peer, runs in results.found.items()
    }
    first = {
        peer: statistics.median(run[key]["rates"][0] for run in runs) for peer, runs in results.found.items()
    }
    cells = {peer: f"{warm[peer] / 1e6:.3g} ({first[peer] / 1e6:.3g}) MB/s" for peer in warm}
    others = [f"{results.label(peer)}: {cell}" for peer, cell in cells.items() if peer != OURS]
    best = max((warm[peer] for peer in _RIVALS if peer in warm), default=NONE)
    b.row(what, cells[OURS], "; ".join(others + results.missing), warm[OURS] / best, 1.0, 1.3)
    results.compare(b, what, lambda run: run[key]["ids"])


def _threads(b: Bench, known: Vocabulary, job: dict[str, Any]) -> None:
    """The time that passes; the best round of each number of threads, since other programs disturb two threads more than one."""
    n_threads = common.THREADS[-1]
    found: dict[int, list[dict[str, Any]]] = {1: [], n_threads: []}
    for _ in range(1 if b.quick else 3):
        for n, runs in found.items():
            runs += b.together(known, job | {"n_threads": n, "clock": "perf_counter"}, [OURS], 1).found[OURS]
    one, many = found.values()
    for length, _, words in _SHAPES:
        for where, own, _ in job["cells"]:
            if own == length:
                key, shape = f"{where} {length}", words.partition(" of {")[0] + " a round" * (not length)
                rates = [max(r for run in runs for r in run[key]["rates"][1:]) for runs in (many, one)]
                what = f"the same on {n_threads} threads, {known.label}, {where}, {shape}"
                b.row(what, *(f"{rate / 1e6:.3g} MB/s" for rate in rates), rates[0] / rates[1], 1.7, NONE)
                if len({run[key]["ids"] for run in one + many}) > 1:
                    b.error(f"{what}: other ids than on one thread")
