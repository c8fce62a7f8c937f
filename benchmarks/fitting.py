"""Rows of `compare.py` about learning: fits against other packages, their growth, threads and memory, refined vocabularies."""

from __future__ import annotations

import importlib.util
import statistics
import time
from typing import Any

import numpy as np
import segmentations
from harness import NONE, OURS, Bench
from suite import common
from suite.common import Corpus

import ubpe_numba


def fit(b: Bench) -> None:
    """UBPE, 50 candidates a round, on the lines of a text."""
    text = b.corpus("text")
    whole = b.put("text", text, "whole")
    data = [whole, b.put("text-200k", text.head(200_000), "first 200 k symbols")]
    goals = {"ubpe-cython": (100.0, 180.0), "ubpe-native": (NONE, 600.0)}
    what = "UBPE fit, 50 candidates, 1024 tokens, text by lines"
    b.compare(what, "fit", data, goals, alphabet_size=text.alphabet_size)
    b.note(f"{what}, whole, ours from a list of str: {b.run(OURS, 'fit', whole, form='str').cell()}")


def fit1(b: Bench) -> None:
    """UBPE, one merge a round."""
    ecg = b.corpus("ecg")
    data = [b.put("ecg", ecg, "whole"), b.put("ecg-100", ecg.head(36_000), "first 100 documents")]
    goals = {"ubpe-cython": (1000.0, 3000.0)}
    b.compare("UBPE fit, 1 candidate, 4096 tokens, ECG", "fit", data, goals, n_candidates=1, n_tokens=4096)


def bpe(b: Bench) -> None:
    """BPE on integers, as one document and in pieces; `tokenizers` on pieces only, since the one document would take it hours."""
    dna = b.corpus("dna").head(500_000) if b.quick else b.corpus("dna")
    one, pieces = b.put("dna", dna.cut(), "one document"), b.put("dna-pieces", dna, "documents of 10 k")
    options: dict[str, Any] = {"tokenizer": "BPE", "n_tokens": 4096, "alphabet_size": dna.alphabet_size}
    what, rust = "BPE fit, 4096 tokens, DNA", {"rustbpe": (8.0, 15.0)}
    b.compare(what, "fit", [one], rust, same="tokens", **options)
    b.compare(what, "fit", [pieces], rust | {"tokenizers": (40.0, 80.0)}, **options)


def growth(b: Bench) -> None:
    """How many times longer the fit of ten times the text takes."""
    sizes = [(500_000, 5_000_000)] if b.quick else [(1_000_000, 10_000_000), (5_000_000, 50_000_000)]
    text = np.frombuffer(common.stdlib_text(sizes[-1][1]), np.uint8)
    b.note("growth: standard library sources in a seeded order, repeated where too short; BPE, 4096 tokens")
    breaks = np.flatnonzero(text == ord("\n")) + 1
    for small, large in sizes:
        for kind in ("one document", "lines"):
            seconds = []
            for n in (small, large):
                inner = breaks[breaks < n] if kind == "lines" else breaks[:0]
                data = b.put(f"text-{n}", Corpus(text[:n], np.array([0, *inner, n]), 256, ""))
                seconds.append(b.run(OURS, "fit", data, tokenizer="BPE", n_tokens=4096, budget=30.0).median)
            what = f"fit growth, {small / 1e6:g} to {large / 1e6:g} M symbols of text, {kind}: time ratio"
            b.row(what, f"{seconds[0]:.3f} s, {seconds[1]:.3f} s", "-", seconds[1] / seconds[0], 12, 10.5, "")


def threads(b: Bench) -> None:
    """A fit on two threads against one, in turn; of small corpora too, where a second thread must not cost time."""
    n = 4_000_000 if b.quick else 20_000_000
    line = common.repeated(b.corpus("text"), n)
    dna, ecg = b.corpus("dna"), b.corpus("ecg")
    cases = [
        ("text by lines", line, 1024, 50, 1.5, 1.9), ("text by lines", line, 1024, 1, 1.5, 1.9),
        ("text by lines", line, 8192, 50, 1.5, 1.9), ("text by lines", line, 8192, 1, 1.5, 1.9),
        ("text by lines", line, 32_768, 1, NONE, NONE), ("DNA, one document", dna.cut(), 4096, 1, NONE, NONE),
        ("text, 500 k symbols", line.head(500_000), 1024, 50, 0.95, NONE), ("ECG", ecg, 1024, 1, 0.95, NONE),
    ]  # fmt: skip
    for name, data, n_tokens, n_candidates, first, moonshot in cases:
        seconds: dict[int, list[float]] = {1: [], common.THREADS[-1]: []}
        prints = set()
        for _ in range(3 if data.values.size > 10**6 else 15):
            for n_threads, taken in seconds.items():
                tokenizer = ubpe_numba.UBPEClassic(
                    n_tokens, n_candidates, alphabet=data.alphabet_size, n_threads=n_threads
                )  # fmt: skip
                began = time.perf_counter()
                tokenizer.fit(data.values, offsets=data.offsets, progress=False)
                taken.append(time.perf_counter() - began)
                prints.add(tokenizer.fingerprint)
        one, many = (statistics.median(sorted(taken)[: max(2, len(taken) - 1)]) for taken in seconds.values())
        size = f"{name}, {data.values.size / 1e6:.3g} M symbols, {n_candidates} candidates, {n_tokens} tokens"
        rates = (f"{data.values.size / s / 1e6:.3g} Msym/s" for s in (many, one))
        b.row(f"fit on {common.THREADS[-1]} threads, {size}", *rates, one / many, first, moonshot)
        if len(prints) > 1:
            b.note(f"NOT EQUAL on all numbers of threads: {size}")


def table(b: Bench) -> None:
    """Seconds of a fit by size, number of documents and size of the vocabulary; they should grow no faster than n log n."""
    sizes = [1, 2, 5] if b.quick else [1, 2, 5, 10, 20, 50]
    text = np.frombuffer(common.stdlib_text(sizes[-1] * 10**6), np.uint8)
    breaks = np.flatnonzero(text == ord("\n")) + 1
    for kind in ("one document", "lines"):
        for n_tokens in (1024, 8192, 32_768):
            seconds = []
            for n in (size * 10**6 for size in sizes):
                inner = breaks[breaks < n] if kind == "lines" else breaks[:0]
                taken = []
                for _ in range(2):
                    began = time.perf_counter()
                    ubpe_numba.BPE(n_tokens, alphabet=256, n_threads=1).fit(
                        text[:n], offsets=np.array([0, *inner, n]), progress=False
                    )
                    taken.append(time.perf_counter() - began)
                seconds.append(min(taken))
            logs = [n * np.log(n * 1e6) for n in sizes]
            worst = max(
                (t / u) / (x / y) for t, u, x, y in zip(seconds[1:], seconds, logs[1:], logs, strict=False)
            )
            cells = ", ".join(f"{n} M: {t:.3g}" for n, t in zip(sizes, seconds, strict=True))
            b.note(
                f"BPE, {n_tokens} tokens, {kind}: {cells} s; fastest growth of a step against n log n: {worst:.2f}"
            )


def memory(b: Bench) -> None:
    """Peak memory of a fit beyond its input."""
    n = 5_000_000 if b.quick else 20_000_000
    text, dna = np.frombuffer(common.stdlib_text(n), np.uint8), b.corpus("dna")
    documents = {"text": Corpus(text, np.array([0, n]), 256, ""), "DNA": dna.cut()}
    for name, (first, moonshot) in {"text": (14.0, 10.0), "DNA": (16.0, 12.0)}.items():
        data = b.put(f"memory-{name}", documents[name])
        for tokenizer, n_tokens in (("BPE", 4096), ("BPE", 32_768), ("UBPE", 4096)):
            options = {
                "tokenizer": tokenizer,
                "n_tokens": n_tokens,
                "alphabet_size": documents[name].alphabet_size,
            }
            grown = (b.run(OURS, "fit", data, **options, repeat=1).bytes or NONE) / data.n_symbols
            size = f"{name}, {data.n_symbols / 1e6:.3g} M symbols, {tokenizer}, {n_tokens} tokens"
            what = f"fit memory beyond the input, {size}"
            b.row(what, f"{grown:.1f} B/symbol", "peers: see below", grown, first, moonshot, "B/symbol")


def deltas(corpus: Corpus) -> Corpus:
    """The differences of neighbouring samples (0 for the first of a document), numbered from 0 in order of size."""
    steps = np.diff(corpus.values.astype(np.int64), prepend=0)
    steps[corpus.offsets[:-1]] = 0
    distinct, values = np.unique(steps, return_inverse=True)
    return corpus._replace(values=values.astype(np.int32), alphabet_size=distinct.size)


def refine(b: Bench) -> None:
    """Tokens for unseen documents: a refined vocabulary against BPE encoded by rank, both fitted on every other document."""
    for name, fewer in (("ecg", 0.06), ("wav", 0.03), ("dna", 0.08), ("text", 0.06)):
        corpus = deltas(b.corpus(name)) if name == "ecg" else b.corpus(name)
        corpus = corpus.head(500_000) if b.quick else corpus
        docs = ubpe_numba.Ragged(corpus.values.astype(np.int32), corpus.offsets)
        seen, unseen = docs[::2], docs[1::2]
        shared: dict[str, Any] = {"alphabet": corpus.alphabet_size, "n_threads": common.THREADS[-1]}
        ranked = ubpe_numba.BPE(4096, **shared).fit(seen, progress=False)
        flat = ubpe_numba.UBPE(4096, objective="shortest", **shared).fit(seen, progress=False)
        began = time.perf_counter()
        refined = flat.refine(seen, progress=False)
        seconds = time.perf_counter() - began
        ours, theirs = (1000 * tok.encode_batch(unseen).total / unseen.total for tok in (refined, ranked))
        cells = (
            f"{ours:.1f} in {seconds:.1f} s ({len(refined.vocabulary)})",
            f"BPE: {theirs:.1f} ({len(ranked.vocabulary)})",
        )
        what = f"tokens per 1000 unseen symbols (vocabulary), UBPE refined at 4096, {name}{' (deltas)' * (name == 'ecg')}"
        b.row(what, *cells, theirs / ours, 1 / (1 - fewer), NONE)
        if name == "text" and importlib.util.find_spec("sentencepiece"):
            began = time.process_time()
            likely = flat.refine(seen, objective="likelihood", progress=False)
            ended = time.process_time()
            pieces = segmentations.sentencepiece_model(seen, 4096)
            seconds = ended - began, time.process_time() - ended
            encode, n_pieces = segmentations.sentencepiece_encoder(pieces, corpus.alphabet_size)
            pairs = (likely.encode_batch, len(likely.vocabulary)), (encode, n_pieces)
            bits = [segmentations.bits(way(seen), way(unseen), n)[0] / unseen.total for way, n in pairs]
            cells = [f"{one:.3f} bits in {cpu:.1f} s" for one, cpu in zip(bits, seconds, strict=True)]
            what = "bits per unseen symbol by a unigram model, and CPU time to learn 4096 tokens by likelihood, text"
            b.row(what, cells[0], f"sentencepiece Unigram: {cells[1]}", bits[1] / bits[0], 1.05, NONE)
