"""The same vocabulary, cut another way."""

from typing import Any

import numpy as np
import pytest
from tables import each, refuses

from ubpe_numba import BPE, UBPE, FitRules, UBPEClassic
from ubpe_numba.errors import NotFittedError

DOCS = [[0, 1, 2, 0, 1, 1, 1], [2, 0, 1, 1, 2], [1, 1, 0, 2], [0, 1, 0, 1, 2, 2]]


@each("objective", ["tfidf", "shortest", "additive", "likelihood", "sentencepiece"])
@pytest.mark.parametrize("cls", [BPE, UBPE, UBPEClassic])
def test_ids_are_those_of_a_tokenizer_with_that_objective(cls: Any, objective: str) -> None:
    """The vocabulary of pairs, taken over by way of a file, encodes the same."""
    tok = cls(9, alphabet=3).fit(DOCS, progress=False)
    other = tok.with_objective(objective)
    assert (
        type(other) is UBPE
        and other.objective == objective
        and other._model.vocabulary is tok._model.vocabulary
    )
    expected = UBPE(9, alphabet=3, objective=objective)
    expected._adopt(tok._model)
    assert (
        other.encode_batch(DOCS) == expected.encode_batch(DOCS) and other.fingerprint == expected.fingerprint
    )
    assert other.history_ is tok.history_ and np.array_equal(
        other.history_.compression(other._model.vocabulary.n_alphabet)[1],
        tok.history_.compression(tok._model.vocabulary.n_alphabet)[1],
    )


@pytest.mark.parametrize("cls, made", [(BPE, BPE), (UBPEClassic, UBPEClassic), (UBPE, UBPEClassic)])
def test_by_rank(cls: Any, made: type) -> None:
    tok = cls(9, alphabet=3, rules=FitRules(encode="batch", max_token_length=5)).fit(DOCS, progress=False)
    other: Any = tok.with_objective("rank")
    assert type(other) is made and other.rules == FitRules(encode="rank", max_token_length=5)
    expected = UBPEClassic.from_merges(tok._model.vocabulary.merges, alphabet=3)
    assert other.encode_batch(DOCS) == expected.encode_batch(DOCS)
    assert tok.rules == FitRules(encode="batch", max_token_length=5)  # this one stays as it is


def test_text_is_cut_as_before() -> None:
    tok = BPE.for_text(264, pretokenizer="gpt2", special_tokens=["<e>"], normalizer="Lowercase").fit(
        ["low lower lowest"]
    )
    other = tok.with_objective("shortest")
    assert (
        other.vocabulary.special == tok.vocabulary.special and other._model.segmenter is tok._model.segmenter
    )
    assert other.decode(other.encode("LOWER<e>", allowed_special="all")) == "lower<e>"


def test_weights_of_the_user_come_along() -> None:
    tok = UBPE(9, alphabet=3).fit(DOCS, progress=False)
    weights = np.arange(len(tok._model.vocabulary), dtype=float)
    other: Any = tok.with_objective(weights)
    assert np.array_equal(other.objective, weights) and other.objective is not weights


def test_objectives_that_cannot_be_had_are_refused() -> None:
    tok = UBPE(9, alphabet=3, rules=FitRules.ARTICLE).fit(DOCS, progress=False)
    refuses(ValueError, "objective: expected one of", tok.with_objective, "greedy")
    refuses(ValueError, "ranks no segmentations", tok.with_objective("longest").encode_nbest, DOCS, 2)
    flat = tok.refine(DOCS, progress=False)
    refuses(ValueError, "flat sequences only", flat.with_objective, "rank")
    refuses(NotFittedError, "", lambda: BPE().with_objective("rank"))
