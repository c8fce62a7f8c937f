"""Rows of `compare.py` about text as language models use it: a pattern cuts it, bytes are merged, peers are given list[str].

`text`: training end to end, encoding with the same model, decoding. `words`: the merges alone, on the distinct words with their
counts; for a peer, the time that it takes for the whole vocabulary less that for a vocabulary of single bytes. The adapters are
in `text_peers.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from harness import NONE, OURS, Bench, Data
from suite import common
from suite.common import Corpus

import ubpe_numba
from ubpe_numba.text.pretokenizer import NAMED

_N_TOKENS = 32_768
#: The spelling with which tiktoken is fastest.
_CL100K = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"


def _corpora(b: Bench) -> list[tuple[str, Corpus]]:
    """The King James Bible and the standard library's sources, cut at the first line end after every 10 kB."""
    bible, name = common.text()
    sources = common.stdlib_text(300_000 if b.quick else 12_000_000)
    found = []
    for what, text in ((name, bible[:300_000] if b.quick else bible), ("standard library sources", sources)):
        ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n")) + 1
        cuts = ends[np.unique(np.searchsorted(ends, np.arange(10_000, len(text), 10_000)).clip(max=ends.size - 1))]
        offsets = np.unique([0, *cuts, len(text)])
        found.append((what, Corpus(np.frombuffer(text, np.uint8), offsets, 256, what)))
        b.note(f"text: {what}, {len(text)} bytes in {offsets.size - 1} documents")
    return found


def _n_tokens(b: Bench) -> int:
    return 2048 if b.quick else _N_TOKENS


def text(b: Bench) -> None:
    """Training with GPT-2's pattern; encoding and decoding with cl100k's."""
    corpora = _corpora(b)
    options: dict[str, Any] = {"text": True, "unit": "B/s", "n_tokens": _n_tokens(b)}
    for i, (name, corpus) in enumerate(corpora):
        data = b.put(f"train-{i}", corpus, name)
        goals = {"rustbpe": (4.0, 10.0), "tokenizers": (8.0, NONE), "sentencepiece": (NONE, NONE)}
        b.compare(f"BPE training, {_n_tokens(b)} tokens, gpt2", "fit", [data], goals, pattern=NAMED["gpt2"], **options)
    b.note("sentencepiece trains on words of its own rule, and on characters")

    corpus = corpora[1][1]
    tokenizer = ubpe_numba.BPE.for_text(_n_tokens(b), pretokenizer="cl100k", n_threads=1)
    tokenizer.fit(corpus.values.tobytes().decode(), progress=False)
    model = b.model("cl100k", tokenizer)
    tokenizer.to_tiktoken("cl100k.tiktoken")
    whole = corpus.cut().head(4_000_000)
    options |= {"pattern": _CL100K, "model": model, "same": "documents"}
    pieces = [whole.cut(length) for length in (200, 10_000, None)]
    names = ["documents of 200 B", "documents of 10 kB", f"one document of {whole.values.size / 1e6:g} MB"]
    for i, (name, piece) in enumerate(zip(names, pieces, strict=True)):
        data = b.put(f"encode-{i}", piece, name)
        b.compare("BPE encode of str, cl100k, source code", "encode", [data], {"tiktoken": (4.0, 10.0)}, **options)
    for i, (name, piece) in enumerate(zip(names[1:], pieces[1:], strict=True)):
        ids = tokenizer.encode_batch(piece.values.tobytes(), piece.offsets)
        data = b.put(f"decode-{i}", ids, name, piece.values.size)
        for form in ("str", "bytes") if piece.offsets.size == 2 else ("str",):
            b.compare(f"BPE decode to {form}, source code", "decode", [data], {"tiktoken": (12.0, NONE)}, form=form, **options)


def words(b: Bench) -> None:
    """The merges alone."""
    n_tokens = _n_tokens(b)
    options: dict[str, Any] = {"text": True, "pattern": NAMED["gpt2"]}
    for i, (name, corpus) in enumerate(_corpora(b)):
        data = b.put(f"words-{i}", corpus, name)
        ours = [b.run(OURS, "words", data, n_tokens=n_tokens, out="ours", **options) for _ in range(3)]
        seconds = sorted(run.median for run in ours)[1]
        for peer in ("rustbpe", "tokenizers"):
            taken, version = _merge_seconds(b, peer, data, n_tokens, options)
            cells = f"{seconds:.3f} s", f"{peer} {version}" + (f": {taken:.3f} s" if taken == taken else "")
            b.row(f"the merges alone, distinct words, {n_tokens} tokens, gpt2, {name}", *cells, taken / seconds, NONE, NONE)
            if peer == "tokenizers" and not np.isnan(taken + seconds):
                b.note(f"the merges alone, {name}: equal to those of {peer}, in order: {_equal_merges('ours', peer)}")


def _merge_seconds(b: Bench, peer: str, data: Data, n_tokens: int, options: dict[str, Any]) -> tuple[float, str]:
    """Seconds of a peer for the whole vocabulary less those for single bytes, and its version; or NaN and what went wrong."""
    least = {}
    for size in (256, n_tokens):
        out = peer if size == n_tokens else ""
        runs = [b.run(peer, "fit", data, n_tokens=size, out=out, **options) for _ in range(2)]
        if failed := next((run.error for run in runs if run.error), None):
            return NONE, failed
        least[size] = min(run.median for run in runs)
    return least[n_tokens] - least[256], runs[0].version


def _equal_merges(a: str, b: str) -> str:
    """How many merges of two results are equal, in order."""
    merges = [np.split(np.load(f"{x}.values.npy"), np.load(f"{x}.offsets.npy")[1:-1]) for x in (a, b)]
    same = sum(np.array_equal(*pair) for pair in zip(*merges, strict=False))
    return f"{same} of {max(map(len, merges))}"
