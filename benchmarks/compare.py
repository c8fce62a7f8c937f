"""The goals of the design, measured side by side with the packages that are installed, as a Markdown table.

Every figure comes from a process of its own on one thread, ours and the peer's in turn, and is a median; what
takes long runs once. All get what is native to them (arrays, lists of int, str), converted before. Progress
goes to stderr. Rows `threads`, `table`, `refine` and `blocks` run in this process.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import platform
import statistics
import sys
import tempfile
import time
from typing import Any

import numba
import numpy as np
import segment
import shapes
import text
from harness import NONE, OURS, Bench
from honesty import honesty
from suite import common
from suite.common import Corpus, fresh_process

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
    """BPE on integers, in one document and cut to pieces: tokenizers would need hours for the one."""
    dna = b.corpus("dna").head(500_000) if b.quick else b.corpus("dna")
    one, pieces = b.put("dna", dna.cut(), "one document"), b.put("dna-pieces", dna, "documents of 10 k")
    options: dict[str, Any] = {"tokenizer": "BPE", "n_tokens": 4096, "alphabet_size": dna.alphabet_size}
    what, rust = "BPE fit, 4096 tokens, DNA", {"rustbpe": (8.0, 15.0)}
    b.compare(what, "fit", [one], rust, same="tokens", **options)
    b.compare(what, "fit", [pieces], rust | {"tokenizers": (40.0, 80.0)}, **options)


def growth(b: Bench) -> None:
    """Time of ten times the text over the time of the text."""
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
    """A fit on all processors against one thread, in turn; small corpora too, where threads must not cost."""
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
    """Seconds of a fit by size, number of documents and vocabulary; no cell may grow faster than n log n."""
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
            worst = max((t / u) / (x / y) for t, u, x, y in zip(seconds[1:], seconds, logs[1:], logs, strict=False))
            cells = ", ".join(f"{n} M: {t:.3g}" for n, t in zip(sizes, seconds, strict=True))
            b.note(f"BPE, {n_tokens} tokens, {kind}: {cells} s; fastest growth of a step against n log n: {worst:.2f}")


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
    """The text as bytes in one document, newlines too, and a BPE of 4096 tokens fitted on it."""
    text, source = common.text()
    tokenizer = ubpe_numba.BPE(4096, n_threads=1).fit(text, progress=False)
    document = Corpus(np.frombuffer(text, np.uint8), np.array([0, len(text)]), 256, source)
    model = b.model("text-model", tokenizer)
    options = {"model": model, "tokenizer": "BPE", "form": "bytes", "unit": "B/s", "same": "documents"}
    return document.head(1_000_000 if b.quick else 4_000_000), options, tokenizer


def rank(b: Bench) -> None:
    """The merges in order of rank: the same tokens, the same ids as tiktoken."""
    text, options, _ = _text_model(b)
    what = "rank encode, BPE of 4096 tokens, text"
    data = b.put("text-one", text, f"one document of {text.values.size / 1e6:g} MB")
    b.compare(what, "encode", [data], {"tiktoken": (4.0, 10.0)}, **options)
    for length in (1000, 10_000):
        data = b.put(f"text-{length}", text.cut(length), f"documents of {length // 1000} kB")
        b.compare(what, "encode", [data], {"tiktoken": (1.0, 2.0)}, **options)


def decode(b: Bench) -> None:
    """Tokens back to symbols."""
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


def start(b: Bench) -> None:
    """A new process, up to its first result."""
    common.write_ecg()
    cold = fresh_process("cache", "UBPE")[0]
    cached, alone, imported = [], [], []
    for _ in range(7):
        cached.append(fresh_process("cache", "UBPE")[0])
        imported.append(fresh_process("cache")[1])
        alone.append(common.numba_alone())
    warm, base = statistics.median(cached), statistics.median(alone)
    what = "start, {}: a process that fits (4096 tokens), encodes and decodes the ECG with UBPE"
    b.row(what.format("cached"), f"{warm:.2f} s", f"`import numba` alone: {base:.2f} s", warm, 0.6, 0.4, "s")
    b.row("the same beyond `import numba`", f"{warm - base:.2f} s", "-", warm - base, 0.6, 0.4, "s")
    b.note(f"`import ubpe_numba`: {1000 * statistics.median(imported):.0f} ms")
    b.row(what.format("cold"), f"{cold:.1f} s", "-", cold, 15, 8, "s")


ROWS = {
    row.__name__: row
    for row in (
        fit, fit1, bpe, growth, table, threads, memory, encode, shapes.shapes, nbest, honesty, segment.refine, rank,
        segment.blocks, decode, text.text, text.words, start,
    )
}  # fmt: skip


def main() -> None:
    """Parse, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", default=",".join(ROWS), help="some of %(default)s")
    parser.add_argument("--quick", action="store_true", help="smaller data, for a look: two to three minutes")
    native = "a Python that has ubpe-native, 3.12 or later"
    parser.add_argument("--native-python", default=sys.executable, metavar="PATH", help=native)
    options = parser.parse_args()
    rows = options.rows.split(",")
    if unknown := set(rows) - set(ROWS):
        parser.error(f"--rows: expected some of {', '.join(ROWS)}, got {', '.join(sorted(unknown))}")
    home, bench = os.getcwd(), Bench(options.quick, options.native_python)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for row in rows:
                ROWS[row](bench)
        finally:
            os.chdir(home)
    versions = f"Python {platform.python_version()}, numpy {np.__version__}, numba {numba.__version__}"
    print(f"ubpe-numba {ubpe_numba.__version__}, {versions}, {_processor()}{', --quick' * options.quick}\n")
    print("| what | ours | peer | value | first goal | moonshot | met |\n|" + " --- |" * 7)
    print("\n".join("| " + " | ".join(row) + " |" for row in bench.rows), end="\n\n")
    print("\n".join("- " + note for note in bench.notes))


def _processor() -> str:
    try:
        info = pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        info = ""
    model = info.partition("model name")[2].partition("\n")[0].lstrip("\t :")
    return f"{os.cpu_count()} CPUs of {model or platform.machine()}"


if __name__ == "__main__":
    main()
