"""Rows of `compare.py` about single short calls, as a service or a notebook makes them."""

from __future__ import annotations

import pathlib
import statistics

import numpy as np
from corpora import text, vocabulary
from encoders import ENCODERS, calls
from harness import NONE, OURS, Bench
from suite import common

#: action and length: our time over tiktoken's, or microseconds
_GOALS = {
    "encode 20": (1.0, NONE),
    "encode 200": (0.4, NONE),
    "decode 5": (1.2, NONE),
    "decode 50": (1.2, NONE),
    "decode 100": (1.2, NONE),
}
_WHAT = {"encode": "encode of a str of {} B", "decode": "decode of {} ids to str"}


def short(b: Bench) -> None:
    """Texts and ids, each given once: medians of single calls, in microseconds."""
    whole, source = text("English", 4_000_000)
    pathlib.Path("English.txt").write_text(whole, encoding="utf-8", newline="")
    b.note(
        f"short calls: {source}, every text and every piece of ids given once; medians; ours gives an int32 array"
    )
    for name in ("o200k",) if b.quick else ("o200k", "cl100k"):
        known = vocabulary(name)
        job = {"action": "short", "n_calls": 1000 if b.quick else 4000}
        results = b.together(known, job, ENCODERS, 1 if b.quick else 3)
        for key, goals in _GOALS.items():
            action, n = key.split()
            medians = {
                peer: statistics.median(run[key]["us"] for run in runs)
                for peer, runs in results.found.items()
            }
            cells = [f"{results.label(peer)}: {us:.3g} µs" for peer, us in medians.items() if peer != OURS]
            value = medians[OURS] / medians.get("tiktoken", NONE)
            what = f"{_WHAT[action].format(n)}, {known.label}: time over tiktoken's"
            b.row(what, f"{medians[OURS]:.3g} µs", "; ".join(cells + results.missing), value, *goals, "")
            results.compare(b, what, lambda run, key=key: run[key]["ids"])


def integers(b: Bench) -> None:
    """Encode and decode of 16 integers, ours alone."""
    ecg = b.corpus("ecg")
    values = ecg.values[: 16 * 4000].astype(np.int32).reshape(-1, 16)
    for cls in ("BPE", "UBPE"):
        tokenizer = common.fitted(cls, ecg, 1)
        what = f"{cls}{' top-1' * (cls == 'UBPE')} of 16 integers, ECG"
        for form, given, goals in (("array", list(values), (5, 3)), ("list", values.tolist(), (8, 3))):
            us, ids = calls(tokenizer.encode, given)
            b.row(f"encode with {what}, {form}", f"{us:.3g} µs", "-", us, *goals, "µs")
        us, _ = calls(tokenizer.decode, ids)
        b.row(f"decode with {what}", f"{us:.3g} µs", "-", us, NONE, NONE, "µs")
