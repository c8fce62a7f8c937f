"""BPE-dropout: the ids of the plain reference, and the frequencies of omissions."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pair_tables import Table, documents, tables
from reference import dropout as reference

from ubpe_numba import BPE, FitRules, Ragged, UBPEClassic
from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.vocabulary.vocabulary import Vocabulary


@given(st.data(), tables(), st.randoms(use_true_random=False))
def test_dropout_equals_the_reference(data: st.DataObject, table: Table, rng: Any) -> None:
    """Tables in order of creation and shuffled; dropout 0 is `encode`, dropout 1 merges nothing."""
    size, pairs, _ = table
    docs = data.draw(documents(size, 60))
    seed = data.draw(st.integers(0, 2**64 - 1))
    order = list(range(len(pairs)))
    rng.shuffle(order)
    new = {size + old: size + i for i, old in enumerate(order)}
    shuffled = [(new.get(pairs[o][0], pairs[o][0]), new.get(pairs[o][1], pairs[o][1])) for o in order]
    ragged = Ragged.from_lists(docs)
    for merges in (pairs, shuffled):
        ranks = {p: (i, size + i) for i, p in enumerate(merges)}
        encoder = PairEncoder(Vocabulary.from_merges(size, merges), batch=False)
        for p in (0.0, 0.1, 0.5, 0.9, 1.0):
            want = [reference.encode_dropout(d, ranks, p, seed, i) for i, d in enumerate(docs)]
            assert encoder.encode_dropout(ragged, p, seed, 1).to_lists() == want
        assert encoder.encode_dropout(ragged, 0.0, seed, 1) == encoder.encode(ragged, 1)
        assert encoder.encode_dropout(ragged, 1.0, seed, 1) == ragged


@given(st.data(), tables(), st.randoms(use_true_random=False))
def test_one_by_one_equals_the_reference(data: st.DataObject, table: Table, rng: Any) -> None:
    """Tables in any order whose pairs count at once."""
    size, pairs, _ = table
    docs, seed = data.draw(documents(size, 60)), data.draw(st.integers(0, 2**64 - 1))
    order = rng.sample(range(len(pairs)), len(pairs))
    new = {size + old: size + i for i, old in enumerate(order)}
    merges = [(new.get(pairs[o][0], pairs[o][0]), new.get(pairs[o][1], pairs[o][1])) for o in order]
    ranks = {p: (i, size + i) for i, p in enumerate(merges)}
    encoder = PairEncoder(Vocabulary.from_merges(size, merges), batch=False, one_by_one=True)
    ragged = Ragged.from_lists(docs)
    for p in (0.0, 0.1, 0.5, 0.9, 1.0):
        want = [reference.encode_dropout(d, ranks, p, seed, i, encoder.one_by_one) for i, d in enumerate(docs)]
        assert encoder.encode_dropout(ragged, p, seed, 2).to_lists() == want
    assert encoder.encode_dropout(ragged, 1e-12, seed, 1) == encoder.encode(ragged, 1)
    assert encoder.encode_dropout(ragged, 1.0, seed, 1) == ragged


def test_hardly_any_dropout_is_encode_for_a_file_whose_order_matters() -> None:
    file = {
        "model": {
            "type": "BPE",
            "vocab": {"a": 0, "b": 1, "aa": 2, "aaa": 3, "ab": 4, "aab": 5},
            "merges": [["aa", "a"], ["a", "ab"], ["a", "a"], ["a", "b"]],
        },
        "added_tokens": [],
    }
    tok = BPE.load(json.dumps(file))
    assert tok.encode("aaaabaab").tolist() == [3, 4, 2, 1]
    assert tok.encode("aaaabaab", sample=1e-12, seed=0).tolist() == [3, 4, 2, 1]
    assert tok.encode("aaaabaab", sample=1.0, seed=0).tolist() == [0, 0, 0, 0, 1, 0, 0, 1]


@pytest.fixture(scope="module")
def tok() -> BPE:
    return BPE.from_merges([[0, 1]], alphabet=2)


def test_each_occurrence_is_left_out_on_its_own(tok: BPE) -> None:
    """The share of omissions is p, independently for neighbours, documents and seeds."""
    n = 200_000
    doc = np.tile([0, 1], n).astype(np.int32)

    def made(p: float, seed: int) -> np.ndarray:
        """Whether each occurrence was merged."""
        ids, starts = tok.encode(doc, sample=p, seed=seed, return_offsets=True)
        merged = np.zeros(n, bool)
        merged[starts[ids == 2] // 2] = True
        return merged

    for p in (0.01, 0.1, 0.5, 0.9):
        left_out = ~made(p, 3)
        sigma = (p * (1 - p) / n) ** 0.5
        assert abs(left_out.mean() - p) < 5 * sigma
        for lag in (1, 2, 7, 64):
            both = (left_out[lag:] & left_out[:-lag]).mean()
            assert abs(both - p * p) < 6 * (p * p / n) ** 0.5
        assert abs((left_out & ~made(p, 4)).mean() - p * p) < 6 * (p / n) ** 0.5
    rows = doc.reshape(-1, 2)  # the same, a document each
    single = tok.encode_batch(rows, sample=0.3, seed=8)
    assert abs((single.lengths == 2).mean() - 0.3) < 5 * (0.21 / n) ** 0.5


@pytest.mark.parametrize("cls", [BPE, UBPEClassic])
def test_threads_and_batches_change_nothing(cls: Any) -> None:
    rng = np.random.default_rng(5)
    docs = np.split(rng.integers(0, 30, 400_000).astype(np.int32), np.sort(rng.integers(0, 400_000, 300)))
    tok = cls(200, n_threads=1).fit(docs[:50], progress=False)
    want = tok.encode_batch(docs, sample=0.1, seed=7)
    assert want != tok.encode_batch(docs) and want != tok.encode_batch(docs, sample=0.1, seed=8)
    for n_threads in (2, 3, 8):
        assert tok.set_params(n_threads=n_threads).encode_batch(docs, sample=0.1, seed=7) == want
    assert np.array_equal(tok.encode(docs[0], sample=0.1, seed=7), want[0])
    assert tok.decode_batch(want) == Ragged.from_lists(docs)
    assert tok.encode_batch(docs, sample=0.0, seed=7) == tok.encode_batch(docs)


def test_bad_probabilities_and_seeds_are_refused(tok: BPE) -> None:
    for bad, error in ((-0.1, ValueError), (1.1, ValueError), (float("nan"), ValueError), ("a", TypeError), (True, TypeError)):
        with pytest.raises(error, match="sample: expected"):
            tok.encode([0, 1], sample=bad)
    for seed, error in ((-1, ValueError), (2**64, ValueError), (0.5, TypeError)):
        with pytest.raises(error, match="seed: expected"):
            tok.encode_batch([[0, 1]], sample=0.5, seed=seed)
    with pytest.raises(ValueError, match="sample: the articles' batch rule"):
        BPE(5, alphabet=2, rules=FitRules(encode="batch")).fit([[0, 1, 0, 1]]).encode([0, 1], sample=0.5)
