"""Most kernels in one process, which test_bounds.py starts with bounds checks: prints "clean" if all went well.

Results are compared with one another where that costs nothing: several shards with one, documents with what comes back.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import numpy as np

from ubpe_numba import BPE, UBPE, FitRules, Preprocessing, Ragged, UBPEClassic, bounds, count_documents
from ubpe_numba.coding import n_best
from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.coding.word_encoder import WordEncoder
from ubpe_numba.fitting import fit
from ubpe_numba.fitting import text as fit_text
from ubpe_numba.fitting.kernels import text_cells
from ubpe_numba.runtime import thread_pool
from ubpe_numba.text.count_words import count_words
from ubpe_numba.text.cut import PATTERNS

RNG = np.random.default_rng(2)
N = 30_000
CORPORA = [
    np.minimum(RNG.zipf(1.3, N), 300), RNG.integers(0, 4, N), np.tile([0, 1], N // 2), np.zeros(N, int),
    np.minimum(RNG.zipf(1.15, N), 5000),
]  # fmt: skip


def documents() -> Iterator[tuple[Ragged, int]]:
    """Sixty-one documents of each nature, and the size of the alphabet."""
    for values in CORPORA:
        yield Ragged.from_lists(np.split(values, np.sort(RNG.integers(0, N, 60)))), int(values.max()) + 1


def there_and_back(tok: Any, docs: Ragged, **options: Any) -> None:
    assert tok.decode_batch(tok.encode_batch(docs, **options)) == docs


def fits_and_encodings() -> None:
    for docs, size in documents():
        for ties in ("smallest", "first_seen", "fewest_documents"):
            for cls, args in ((BPE, ()), (UBPEClassic, (30,)), (UBPE, (30,))):
                for encode in ("rank", "batch"):
                    rules = FitRules(ties=ties, min_count=1 if ties == "first_seen" else 2, encode=encode)
                    tok = cls(size + 700, *args, alphabet=size, rules=rules).fit(docs, progress=False)
                    there_and_back(tok, docs)
                    if cls is not UBPE and encode == "rank":
                        there_and_back(tok, docs, sample=0.2, seed=3)
                        some = docs[:20].compact()
                        parts = list(tok.stream().over(some))
                        out = np.empty(some.total, np.int32)
                        assert np.array_equal(tok.decode(np.concatenate(parts), out=out), some.values)


def marked_fits_in_shards() -> None:
    """Weights, boundaries, both and neither, in one shard and several, on one thread and several, with a dense table or without.

    Shards and batches are so small, and arrays move so soon, for this only.
    """
    for docs, size in documents():
        weights = {"sample_weight": RNG.choice([0, 1, 2, 9, 2**33], len(docs))}
        places = {"boundaries": [np.sort(RNG.integers(0, len(doc) + 1, 3)).tolist() for doc in docs]}
        marks: list[dict[str, Any]] = [{}, weights, places, {**weights, **places}]
        for ties, mark in zip(("smallest", "first_seen", "fewest_documents", "smallest"), marks, strict=True):
            found = set()
            for n_threads, dense, longest in ((1, 1024, None), (3, 0, None), (8, 1024, None), (1, 0, 6), (5, 1024, 6)):
                rules, small = FitRules(ties=ties), 1 << 16 if n_threads == 3 else 0
                tok = UBPEClassic(
                    size + 150, 4, alphabet=size, rules=rules.replace(max_token_length=longest), n_threads=n_threads
                )
                with (
                    patch.object(fit, "_PER_SHARD", 2500),
                    patch.object(fit, "_SMALL", small),
                    patch.multiple(fit_text, _LARGE=0, _SHORT=1),
                    patch.object(text_cells, "DENSE", dense),
                ):
                    tok.fit(docs, progress=False, **mark)
                found.add((longest, tok.fingerprint))
            assert len(found) == 2  # one for each longest token, whatever the shards
            there_and_back(tok, docs)


def more_merges_than_there_is_room_for() -> None:
    """At first; the more shards, the fewer they are."""
    for docs, size in documents():
        if size > 2:  # periodic documents have fewer merges
            found = set()
            for n_threads in (1, 5):
                tok = UBPEClassic(size + 1200, 4, alphabet=size, n_threads=n_threads)
                with patch.object(fit, "_PER_SHARD", 2500):
                    found.add(tok.fit(docs, progress=False).fingerprint)
            assert len(found) == 1


def counts_of_documents() -> None:
    """A count of equal documents, weighted then, with special tokens, known words and symbols that stand alone."""
    kinds: list[dict[str, Any]] = [
        {}, {"known_words": [[3, 0], [1, 0, 1, 1], [2]]}, {"break_tokens": [1]}, {"special_tokens": [[2, 2], [7]]},
    ]  # fmt: skip
    for values in CORPORA[:3]:
        docs = Ragged.from_lists(np.split(values[:6000] % 9, 1500))
        for options in kinds:
            found = set()
            for given in (count_documents(docs), docs):
                for n_threads in (1, 3):
                    tok = BPE(60, alphabet=12, n_threads=n_threads, preprocessing=Preprocessing(**options))
                    with patch.object(fit, "_PER_SHARD", 500), patch.object(thread_pool, "SERIAL_BELOW", 500):
                        found.add(tok.fit(given, progress=False).fingerprint)
                        there_and_back(tok, docs, **({"allowed_special": "all"} if "special_tokens" in options else {}))
            assert len(found) == 1


def fits_within_a_limit() -> None:
    """Fewer pairs are kept the less memory there is; the merges are the same, or there is too little for any."""
    kept = refused = 0
    for docs, size in documents():
        plain = UBPEClassic(size + 150, 4, alphabet=size).fit(docs, progress=False).fingerprint
        for n_threads, per_symbol in itertools.product((1, 3), (100, 40, 18, 12, 8)):
            tok = UBPEClassic(size + 150, 4, alphabet=size, n_threads=n_threads)
            with patch.multiple(fit, _TABLES=0, _SMALL=0), patch.object(fit, "_PER_SHARD", 4000):
                try:
                    tok.fit(docs, memory_limit=per_symbol * N, progress=False)
                except MemoryError:
                    refused += 1
                else:
                    assert tok.fingerprint == plain
                    kept += 1
    assert kept and refused


def paths() -> None:
    """On one thread and three, with room for the ids of few paths at first."""
    for docs, size in documents():
        for order, objective in itertools.product(("creation", "idf"), ("tfidf", "shortest", "additive")):
            tok = UBPE(size + 400, 20, alphabet=size, rules=FitRules(order=order), objective=objective)
            tok.fit(docs, progress=False)
            there_and_back(tok, docs)
            tok.encode_nbest([docs[1][:300]], 5)[0]
            with patch.object(n_best, "_FIRST_IDS", 1), patch.object(thread_pool, "SERIAL_BELOW", 500):
                some = [doc[:40] for doc in docs]
                few = [tok.set_params(n_threads=n_threads).encode_nbest(some, 3) for n_threads in (1, 3)]
            assert few[0].candidates == few[1].candidates
            if objective == "tfidf":
                bounds.encode_nbest(tok, [docs[1][:300]], 3, distinct="bag", guided=True)
                bounds.encode_nbest(tok, [docs[1][:30]], 3, exact=True)
        for order in ("creation", "idf"):
            tok = UBPEClassic(size + 400, 20, alphabet=size, rules=FitRules(order=order)).fit(docs, progress=False)
            there_and_back(tok, docs)


def fewest_and_likeliest() -> None:
    """What is refined, bounded, weighed and drawn; of a part of the documents, since each looks at all of them many times."""
    for whole, size in documents():
        docs = whole[:25].compact()
        tok = UBPE(size + 400, 20, alphabet=size, objective="additive").fit(docs, progress=False)
        fewer = tok.refine(docs, progress=False)
        there_and_back(fewer, docs)
        short = tok.refine(docs, max_token_length=8, robust=False, progress=False)
        assert bounds.lower_bound(short, docs, max_token_length=8, seconds=0.5).tokens <= short.encode_batch(docs).total
        likely = fewer.reweight(docs, n_rounds=1)
        for objective in ("likelihood", "sentencepiece"):
            likely.set_params(objective=objective)
            there_and_back(likely, docs)
            there_and_back(likely, docs, sample=0.2)
        likely.boundary_probabilities(docs[1])
        assert likely.usage(docs).unused.size < len(likely._model.vocabulary)
    short = Ragged.from_lists(np.split(CORPORA[1][:6000], 6))
    likely = UBPE(60, 1, alphabet=4, objective="likelihood").fit(short, progress=False).refine(short, objective="likelihood")
    lattice = likely._lattice(1.0)
    lattice.block = 5  # less than the longest token
    for document, ids in zip(short, lattice.sample(short, 1, 1), strict=True):
        assert likely.decode(ids).tolist() == document.tolist()
        lattice.boundaries(document)


def texts() -> None:
    for values in CORPORA[:2]:
        for text in (values.astype(np.uint8), values[:5].astype(np.uint8), (32 + values % 90).astype(np.uint8)):
            offsets = np.unique([0, text.size // 3, text.size])
            for pattern in PATTERNS:
                counts = count_words(text, offsets, pattern)
                tok = BPE(400, alphabet=256).fit(counts, progress=False)
                WordEncoder(PairEncoder(tok._model.vocabulary, batch=False)).encode(text, offsets, pattern)
    docs = ["low lower<e>lowest\nnew", "<e>", "", "the newer, the wider", "wide<e><e>widest " * 300, "low\nlow"]
    for cls in (BPE, UBPEClassic, UBPE):
        made = [
            cls.for_text(320, pretokenizer="gpt2", special_tokens=["<e>"], break_tokens="\n", n_threads=n).fit(
                docs, progress=False
            )
            for n in (1, 3)
        ]
        assert made[0].fingerprint == made[1].fingerprint
        for tok in made:
            assert tok.decode_batch(tok.encode_batch(docs, allowed_special="all")) == docs
            assert tok.decode_batch(tok.encode_batch(docs, disallowed_special="none")) == docs


def words_in_integers() -> None:
    known = [[0, 1, 0], [1], [0, 1, 0, 0, 1], [2, 2]]
    docs = Ragged.from_lists([np.tile([0, 1], 300), RNG.integers(0, 4, 3000), np.zeros(0, int), [7, 0, 1, 0]])
    there_and_back(BPE(30, alphabet=8, preprocessing=Preprocessing(known_words=known)).fit(docs, progress=False), docs)


if __name__ == "__main__":
    fits_and_encodings()
    marked_fits_in_shards()
    more_merges_than_there_is_room_for()
    counts_of_documents()
    fits_within_a_limit()
    paths()
    fewest_and_likeliest()
    texts()
    words_in_integers()
    print("clean")
