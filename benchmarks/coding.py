"""Rows of `compare.py` about encoding and decoding with a vocabulary that is given."""

from __future__ import annotations

import statistics
import time
from typing import Any

import numpy as np
from harness import NONE, OURS, Bench
from suite import common
from suite.common import Corpus

import ubpe_numba


def _ecg_model(b: Bench) -> tuple[Corpus, str, np.ndarray]:
    ecg = b.corpus("ecg")
    tokenizer = common.fitted("UBPE", ecg, 1)
    return ecg, b.model("ecg-model", tokenizer), tokenizer.vocabulary.weights


def encode(b: Bench) -> None:
    """The best path of short and of long documents."""
    ecg, model, weights = _ecg_model(b)
    what = "UBPE encode top-1, 1024 tokens, ECG"
    shared: dict[str, Any] = {"model": model, "weights": weights, "same": "documents"}
    short = b.put("ecg", ecg, "documents of 360")
    long = b.put("ecg-10ks", ecg.cut(10_000), "documents of 10 k")
    three = b.put("ecg-30k", ecg.cut(10_000).head(30_000), "3 documents of 10 k")
    one = b.put("ecg-10k", ecg.cut(10_000).head(10_000))
    b.compare(what, "encode", [short], {"ubpe-cython": (100.0, 250.0)}, **shared)
    b.compare(what, "encode", [long, three], {"ubpe-cython": (1000.0, 3000.0)}, **shared)
    runs = [b.run(who, "encode", one, model=model, repeat=1) for who in (OURS, "ubpe-cython")]
    ours, theirs = (f"{run.bytes / 1e6:.3g} MB" if run.bytes else run.error for run in runs)
    grown = (runs[0].bytes or NONE) / one.n_symbols
    b.row("memory of that, one document of 10 k", ours, f"ubpe-cython: {theirs}", grown, 30, NONE, "B/symbol")


def nbest(b: Bench) -> None:
    """The n best paths."""
    ecg, model, _ = _ecg_model(b)
    whole = b.put("ecg", ecg, "documents of 360")
    data, goals = [whole, b.put("ecg-50", ecg.head(18_000), "50 documents")], {"ubpe-cython": (100.0, 250.0)}
    b.compare("UBPE encode top-5, 1024 tokens, ECG", "nbest", data, goals, model=model, top_n=5)
    single = b.run(OURS, "encode", whole, model=model)
    for n, first, moonshot in ((2, NONE, NONE), (5, 1 / 8, 1 / 5), (16, 1 / 20, 1 / 14), (64, NONE, NONE)):
        best = b.run(OURS, "nbest", whole, model=model, top_n=n)
        what = f"UBPE encode top-{n} against our top-1, ECG"
        b.row(what, best.cell(), f"top-1: {single.cell()}", best.rate / single.rate, first, moonshot)


def _text_model(b: Bench) -> tuple[Corpus, dict[str, Any], Any]:
    """The text, newlines included, as one document of bytes, the options of its jobs, and a BPE of 4096 tokens fitted on it."""
    text, source = common.text()
    tokenizer = ubpe_numba.BPE(4096, n_threads=1).fit(text, progress=False)
    document = Corpus(np.frombuffer(text, np.uint8), np.array([0, len(text)]), 256, source)
    model = b.model("text-model", tokenizer)
    options = {"model": model, "tokenizer": "BPE", "form": "bytes", "unit": "B/s", "same": "documents"}
    return document.head(1_000_000 if b.quick else 4_000_000), options, tokenizer


def rank(b: Bench) -> None:
    """Encoding by rank, with the same tokens as tiktoken, and so to the same ids."""
    text, options, _ = _text_model(b)
    what = "rank encode, BPE of 4096 tokens, text"
    data = b.put("text-one", text, f"one document of {text.values.size / 1e6:g} MB")
    b.compare(what, "encode", [data], {"tiktoken": (4.0, 10.0)}, **options)
    for length in (1000, 10_000):
        data = b.put(f"text-{length}", text.cut(length), f"documents of {length // 1000} kB")
        b.compare(what, "encode", [data], {"tiktoken": (1.0, 2.0)}, **options)


def blocks(b: Bench) -> None:
    """One document encoded by rank, on two threads against one."""
    text, source = common.text()
    symbols = np.frombuffer(text, np.uint8)[: 1_000_000 if b.quick else 4_000_000]
    tokenizer = ubpe_numba.BPE(4096, n_threads=1).fit(text, progress=False)
    seconds: dict[int, list[float]] = {1: [], common.THREADS[-1]: []}
    for _ in range(11):
        for n_threads, taken in seconds.items():
            tokenizer.set_params(n_threads=n_threads)
            began = time.perf_counter()
            tokenizer.encode(symbols)
            taken.append(time.perf_counter() - began)
    one, many = (statistics.median(taken) for taken in seconds.values())
    what = f"rank encode, one document of {symbols.size / 1e6:g} MB, {common.THREADS[-1]} threads, {source}"
    b.row(what, *(f"{symbols.size / s / 1e6:.3g} MB/s" for s in (many, one)), one / many, 1.5, NONE)


def decode(b: Bench) -> None:
    """Decoding, to int32 and to bytes."""
    wav = b.corpus("wav")
    tokenizer = common.fitted("UBPE", wav, 1)
    ids = tokenizer.encode_batch(wav.values, wav.offsets)
    exact = [np.array_equal(tokenizer.decode_batch(ids).values, wav.values)]
    data = b.put("wav-ids", ids, n_symbols=wav.values.size)
    options = {"model": b.model("wav-model", tokenizer), "same": "documents"}
    what = "decode to int32, UBPE of 1024 tokens, WAV"
    b.compare(what, "decode", [data], {"ubpe-cython": (60.0, 150.0)}, **options)

    text, options, tokenizer = _text_model(b)
    ids = tokenizer.encode_batch([text.values.tobytes()])
    exact.append(tokenizer.decode(ids.values) == text.values.tobytes())
    data = b.put("text-ids", ids, f"{text.values.size / 1e6:g} MB", text.values.size)
    what = "decode to bytes, BPE of 4096 tokens, text"
    b.compare(what, "decode", [data], {"tiktoken": (12.0, 20.0)}, **options)

    dna = b.corpus("dna").cut()
    tokenizer = common.fitted("BPE", dna, 1, 4096)
    ids = tokenizer.encode_batch(dna.values, dna.offsets)
    exact.append(np.array_equal(tokenizer.decode_batch(ids).values, dna.values))
    data, symbols = b.put("dna-ids", ids, n_symbols=dna.values.size), b.put("dna", dna)
    options = {"tokenizer": "BPE", "model": b.model("dna-model", tokenizer)}
    runs = [(b.run(OURS, "decode", data, **options), b.run("memcpy", "copy", symbols)) for _ in range(3)]
    ours, copy = (4 * statistics.median(run[i].rate for run in runs) for i in (0, 1))
    cells = f"{ours / 1e9:.3g} GB/s", f"memcpy: {copy / 1e9:.3g} GB/s"
    b.row("decode to int32, BPE of 4096 tokens, DNA, one document", *cells, ours / copy, NONE, 0.5)
    b.note(f"round trips of WAV, text and DNA: {'all exact' if all(exact) else f'NOT EXACT: {exact}'}")
