"""BPE-dropout: the ids of the plain reference."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pair_tables import Table, documents, in_any_order, tables
from reference import encode_pairs as reference

from ubpe_numba import BPE, FitRules, Ragged
from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.vocabulary.vocabulary import Vocabulary


@given(st.data(), tables(), st.booleans())
def test_dropout_equals_the_reference(data: st.DataObject, table: Table, one_by_one: bool) -> None:
    """Tables in order of creation and in any order; dropout 0 is `encode`, dropout 1 merges nothing."""
    size, pairs, _ = table
    docs = data.draw(documents(size, 60))
    seed = data.draw(st.integers(0, 2**64 - 1))
    ragged = Ragged.from_lists(docs)
    for merges in (pairs, data.draw(in_any_order(table))):
        ranks = {p: (i, size + i) for i, p in enumerate(merges)}
        encoder = PairEncoder(Vocabulary.from_merges(size, merges), batch=False, one_by_one=one_by_one)
        for p in (0.0, 0.1, 0.5, 0.9, 1.0):
            want = [reference.encode_dropout(d, ranks, p, seed, i, encoder.one_by_one) for i, d in enumerate(docs)]
            assert encoder.encode_dropout(ragged, p, seed, 1).to_lists() == want
        assert encoder.encode_dropout(ragged, 1e-12, seed, 2) == encoder.encode(ragged, 1)
        assert encoder.encode_dropout(ragged, 1.0, seed, 1) == ragged


def test_bad_probabilities_and_seeds_are_refused() -> None:
    tok = BPE.from_merges([[0, 1]], alphabet=2)
    for bad, error in ((-0.1, ValueError), (1.1, ValueError), (float("nan"), ValueError), ("a", TypeError), (True, TypeError)):
        with pytest.raises(error, match="sample: expected"):
            tok.encode([0, 1], sample=bad)
    for seed, error in ((-1, ValueError), (2**64, ValueError), (0.5, TypeError)):
        with pytest.raises(error, match="seed: expected"):
            tok.encode_batch([[0, 1]], sample=0.5, seed=seed)
    with pytest.raises(ValueError, match="sample: the articles' batch rule"):
        BPE(5, alphabet=2, rules=FitRules(encode="batch")).fit([[0, 1, 0, 1]]).encode([0, 1], sample=0.5)
