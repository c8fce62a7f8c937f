"""The kernels again with bounds checks, compiled into a fresh cache in a process of their own."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

SCRIPT = """
import numpy as np
from ubpe_numba import BPE, FitRules, Ragged, UBPE, UBPEClassic
from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.coding.word_encoder import WordEncoder
from ubpe_numba.text.count_words import count_words
from ubpe_numba.text.cut import PATTERNS

rng = np.random.default_rng(2)
n = 30_000
corpora = [
    np.minimum(rng.zipf(1.3, n), 300), rng.integers(0, 4, n), np.tile([0, 1], n // 2), np.zeros(n, int),
    np.minimum(rng.zipf(1.15, n), 5000),
]
for values in corpora:
    docs = Ragged.from_lists(np.split(values, np.sort(rng.integers(0, n, 60))))
    for ties in ("smallest", "first_seen", "fewest_documents"):
        for cls, args in ((BPE, ()), (UBPEClassic, (30,)), (UBPE, (30,))):
            for encode in ("rank", "batch"):
                size = int(values.max()) + 1
                rules = FitRules(ties=ties, min_count=1 if ties == "first_seen" else 2, encode=encode)
                tok = cls(size + 700, *args, alphabet=size, rules=rules).fit(docs, progress=False)
                assert tok.decode_batch(tok.encode_batch(docs)) == docs
                if cls is not UBPE and encode == "rank":
                    assert tok.decode_batch(tok.encode_batch(docs, dropout=0.2, seed=3)) == docs
                    parts = list(tok.encode_stream(docs))
                    out = np.empty(docs.total, np.int32)
                    assert np.array_equal(tok.decode(np.concatenate(parts), out=out), docs.values)
    for order in ("creation", "idf"):
        for objective in ("tfidf", "shortest", "additive"):
            tok = UBPE(size + 400, 20, alphabet=size, rules=FitRules(order=order), objective=objective)
            tok.fit(docs, progress=False)
            assert tok.decode_batch(tok.encode_batch(docs)) == docs
            tok.encode_nbest(docs[1][:300], 5)
            if objective == "tfidf":
                tok.encode_nbest(docs[1][:300], 3, distinct="bag", guided=True, return_gap=True)
                tok.encode_nbest(docs[1][:30], 3, exact=True)
        fewer = tok.refine(docs, progress=False)
        assert fewer.decode_batch(fewer.encode_batch(docs)) == docs
        short = tok.refine(docs, max_token_length=8, robust=False, progress=False)
        assert short.lower_bound(docs, max_token_length=8, seconds=0.5).tokens <= short.encode_batch(docs).total
        likely = fewer.reweight(docs, n_rounds=1)
        for objective in ("likelihood", "sentencepiece"):
            likely.set_params(objective=objective)
            assert likely.decode_batch(likely.encode_batch(docs)) == docs
            assert likely.decode_batch(likely.encode_batch(docs, sample=True, alpha=0.2)) == docs
        likely.boundary_probabilities(docs[1])
        assert likely.usage(docs).unused.size < len(likely.vocabulary)
        tok = UBPEClassic(size + 400, 20, alphabet=size, rules=FitRules(order=order)).fit(docs, progress=False)
        assert tok.decode_batch(tok.encode_batch(docs)) == docs
for values in corpora[:2]:
    for text in (values.astype(np.uint8), values[:5].astype(np.uint8), (32 + values % 90).astype(np.uint8)):
        offsets = np.unique([0, text.size // 3, text.size])
        for pattern in PATTERNS:
            counts = count_words(text, offsets, pattern)
            tok = BPE(400, alphabet=256).fit(counts, progress=False)
            WordEncoder(PairEncoder(tok.vocabulary, batch=False)).encode(text, offsets, pattern)
known = [[0, 1, 0], [1], [0, 1, 0, 0, 1], [2, 2]]
docs = [np.tile([0, 1], 300), rng.integers(0, 4, 3000), np.zeros(0, int), [7, 0, 1, 0]]
tok = BPE(30, alphabet=8, known_words=known).fit(docs, progress=False)
assert tok.decode_batch(tok.encode_batch(docs)) == Ragged.from_lists(docs)
short = Ragged.from_lists(np.split(corpora[1][:6000], 6))
likely = UBPE(60, 1, alphabet=4, objective="likelihood").fit(short, progress=False).refine(short, objective="likelihood")
lattice = likely._lattice(1.0)
lattice.block = 5  # less than the longest token
for document, ids in zip(short, lattice.sample(short, 1, 1)):
    assert likely.decode(ids).tolist() == document.tolist()
    lattice.boundaries(document)
print("clean")
"""


def test_kernels_stay_in_bounds(tmp_path: pathlib.Path) -> None:
    root = pathlib.Path(__file__).parent.parent
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "UBPE_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(root)}
    done = subprocess.run([sys.executable, "-W", "error", "-c", SCRIPT], capture_output=True, text=True, env=environment)
    assert done.stdout == "clean\n", done.stderr
    # the fresh cache was really used, and is private
    assert list((tmp_path / "cache").glob("fitting.rounds.run.*.nbc"))
    if os.name == "posix":
        assert (tmp_path / "cache").stat().st_mode & 0o777 == 0o700
