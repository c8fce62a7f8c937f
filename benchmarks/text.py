"""Rows of `compare.py` about text as language models use it: a pattern cuts it, bytes are merged, peers are given list[str].

`training`: from text to vocabulary. `decoding`: to str and bytes. `words`: the merges alone, on the distinct
words with their counts; for a peer, the time that it takes for the whole vocabulary less that for a
vocabulary of single bytes. `pieces`: words to ids of WordPiece. The adapters are in `text_peers.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import text_peers
from harness import NONE, OURS, Bench, Data
from suite import common
from suite.common import Corpus

import ubpe_numba
from ubpe_numba import export
from ubpe_numba.text.patterns import NAMED

_N_TOKENS = 32_768


def _corpora(b: Bench) -> list[tuple[str, Corpus]]:
    """The King James Bible and the standard library's sources, cut at the first line end after every 10 kB."""
    bible, name = common.text()
    sources = common.stdlib_text(300_000 if b.quick else 12_000_000)
    found = []
    for what, text in ((name, bible[:300_000] if b.quick else bible), ("standard library sources", sources)):
        ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n")) + 1
        cuts = ends[
            np.unique(np.searchsorted(ends, np.arange(10_000, len(text), 10_000)).clip(max=ends.size - 1))
        ]
        offsets = np.unique([0, *cuts, len(text)])
        found.append((what, Corpus(np.frombuffer(text, np.uint8), offsets, 256, what)))
        b.note(f"text: {what}, {len(text)} bytes in {offsets.size - 1} documents")
    return found


def _n_tokens(b: Bench) -> int:
    return 2048 if b.quick else _N_TOKENS


def training(b: Bench) -> None:
    """Training from text to vocabulary with GPT-2's pattern.

    gigabpe reads a file, and its lines are documents: of its rows, one gives ours the documents that the
    other packages get, the other one the bytes of the text with the starts of its lines, from which both
    learn the same.
    """
    options: dict[str, Any] = {
        "text": True,
        "unit": "B/s",
        "n_tokens": _n_tokens(b),
        "pattern": NAMED["gpt2"],
    }
    for i, (name, corpus) in enumerate(_corpora(b)):
        ends = np.flatnonzero(corpus.values == ord("\n")) + 1
        lines = corpus._replace(offsets=np.unique([0, *ends, corpus.values.size]))
        parts = b.put(f"train-{i}", corpus, name), b.put(f"lines-{i}", lines, f"{name} by lines")
        goals = {
            "rustbpe": (4.0, 10.0),
            "tokenizers": (8.0, NONE),
            "sentencepiece": (NONE, NONE),
            "gigabpe": (2.5, 4.0),
        }
        for peer, data in [*((peer, parts[0]) for peer in goals), ("gigabpe", parts[1])]:
            form = "bytes" if data is parts[1] else "str"
            what = f"BPE training, {_n_tokens(b)} tokens, gpt2"
            runs = b.compare(what, "fit", [data], {peer: goals[peer]}, form=form, **options)
            if all(run.seconds for run in runs) and peer != "sentencepiece":
                ours, other = ({token for _, token in _merges(who)} for who in (OURS, peer))
                counts = f"{len(ours)}, of {peer} {len(other)}, {len(ours & other)} of them the same"
                b.note(f"{what}, {data.label}: tokens learned: {counts}")
    b.note("sentencepiece trains on words of its own rule, and on characters")


def decoding(b: Bench) -> None:
    """Decoding to str and bytes with a vocabulary of our own."""
    corpus = _corpora(b)[1][1]
    tokenizer = ubpe_numba.BPE.for_text(_n_tokens(b), pretokenizer="cl100k", n_threads=1)
    tokenizer.fit(corpus.values.tobytes().decode(), progress=False)
    export(tokenizer, "tiktoken", "own.tiktoken")
    options: dict[str, Any] = {
        "text": True,
        "unit": "B/s",
        "pattern": NAMED["cl100k"],
        "model": b.model("own", tokenizer),
    }
    whole = corpus.cut().head(4_000_000)
    for name, piece in (
        ("documents of 10 kB", whole.cut(10_000)),
        (f"one document of {whole.values.size / 1e6:g} MB", whole),
    ):
        ids = tokenizer.encode_batch(piece.values.tobytes(), piece.offsets)
        data = b.put("ids", ids, name, piece.values.size)
        for form in ("str", "bytes") if piece is whole else ("str",):
            goals = {"tiktoken": (15.0 if form == "bytes" else 12.0, NONE)}
            b.compare(
                f"BPE decode to {form}, source code",
                "decode",
                [data],
                goals,
                form=form,
                same="documents",
                **options,
            )


def pieces(b: Bench) -> None:
    """WordPiece on lists of words, with a vocabulary that tokenizers learned on the sources."""
    try:
        from tokenizers import Tokenizer, models, trainers
    except ImportError:
        b.note("pieces: no vocabulary, tokenizers is not installed")
        return
    corpora = _corpora(b)
    _, sources = corpora[1]
    learner = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    trainer = trainers.WordPieceTrainer(
        vocab_size=_n_tokens(b), special_tokens=["[UNK]"], show_progress=False
    )
    (seen,) = text_peers.words(sources.values, np.array([0, min(4_000_000, sources.values.size)]))
    learner.train_from_iterator(seen, trainer)
    vocabulary = learner.get_vocab()
    export(ubpe_numba.WordPiece(vocabulary), "vocab.txt", "pieces.txt")
    for i, (name, corpus) in enumerate(corpora):
        data = b.put(f"pieces-{i}", corpus, name)
        options: dict[str, Any] = {"text": True, "unit": "B/s", "model": "pieces", "same": "documents"}
        b.compare(
            f"WordPiece of words, {len(vocabulary)} pieces",
            "pieces",
            [data],
            {"tokenizers": (8.0, NONE)},
            **options,
        )


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
            b.row(
                f"the merges alone, distinct words, {n_tokens} tokens, gpt2, {name}",
                *cells,
                taken / seconds,
                NONE,
                NONE,
            )
            if peer == "tokenizers" and not np.isnan(taken + seconds):
                b.note(
                    f"the merges alone, {name}: equal to those of {peer}, in order: {_equal_merges('ours', peer)}"
                )


def _merge_seconds(
    b: Bench, peer: str, data: Data, n_tokens: int, options: dict[str, Any]
) -> tuple[float, str]:
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
    merges = _merges(a), _merges(b)
    return f"{sum(x == y for x, y in zip(*merges, strict=False))} of {max(map(len, merges))}"


def _merges(who: str) -> list[tuple[int, bytes]]:
    """The merges of a result: the length of the left part, and the token."""
    parts = np.split(np.load(f"{who}.values.npy"), np.load(f"{who}.offsets.npy")[1:-1])
    return [(int(part[0]), part[1:].astype(np.uint8).tobytes()) for part in parts]
