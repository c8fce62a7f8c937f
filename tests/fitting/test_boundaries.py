"""Boundaries that no token spans, and a largest length of tokens, with weights or without, against the plain reference."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fit_cases import CLASSES, LENGTHS, TIES, in_package, large_corpus, make, marked, merges
from hypothesis import given
from hypothesis import strategies as st
from reference import fit as reference

from ubpe_numba import FitRules, UBPEClassic
from ubpe_numba.fitting.kernels import text_cells

DOCS = [[0, 1, 2, 0, 1, 2, 0, 1], [], [2, 0, 1, 2, 0], [0, 1, 2]]


def pieces(doc: list[int], positions: list[int]) -> list[list[int]]:
    return [doc[a:b] for a, b in pairwise(sorted({0, *positions, len(doc)}))]


@given(
    marked(),
    LENGTHS,
    st.integers(0, 60),
    st.sampled_from([1, 2, 5, 50]),
    st.sampled_from(TIES),
    st.sampled_from([1, 2, 3]),
    st.booleans(),
)
def test_boundaries_weights_and_lengths_equal_the_reference(
    corpus: tuple[list[list[int]], int, dict[str, Any]],
    longest: int | None,
    more: int,
    n_candidates: int,
    ties: str,
    min_count: int,
    overshoot: bool,
) -> None:
    docs, size, marks = corpus
    want, final = reference.fit(
        docs, size, size + more, n_candidates, ties, min_count, overshoot, **marks, max_token_length=longest
    )
    rules = FitRules(ties=ties, min_count=min_count, overshoot=overshoot)
    tok = UBPEClassic(size + more, n_candidates, alphabet=size, rules=rules.replace(max_token_length=longest))
    v = tok.fit(docs, **in_package(marks))._model.vocabulary
    assert merges(tok) == [tuple(merge) for merge in want]
    assert longest is None or np.diff(v.offsets).max() <= longest
    weights = [1] * len(docs) if marks["weights"] is None else marks["weights"]
    assert v.n_documents == sum(weights)
    assert v.n_symbols == sum(len(doc) * weight for doc, weight in zip(docs, weights, strict=True))
    assert v.weights[size:].tolist() == pytest.approx([reference.idf(sum(weights), m.documents) for m in want], rel=1e-14)
    if n_candidates == 1:  # encoding the pieces is what the fit did to them
        cuts = [[]] * len(docs) if marks["boundaries"] is None else marks["boundaries"]
        weighing = [pieces(doc, cut) for doc, cut, weight in zip(docs, cuts, weights, strict=True) if weight]
        assert [[int(i) for piece in doc for i in tok.encode(piece)] for doc in weighing] == final


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize(
    "nature, n_candidates, longest, with_weights",
    [
        ("zipf", 1, None, True), ("zipf", 20, 5, False), ("dna", 20, None, True), ("dna", 1, 6, True),
        ("walk", 1, 4, False), ("periodic", 5, None, True), ("large alphabet", 20, None, False),
    ],
)  # fmt: skip
def test_large_corpora_with_boundaries_equal_the_reference(
    nature: str, n_candidates: int, longest: int | None, with_weights: bool, ties: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs, size, marks = large_corpus(nature, with_weights)
    more = 120 if n_candidates == 1 else 400
    want, _ = reference.fit(docs, size, size + more, n_candidates, ties, **marks, max_token_length=longest)
    for dense in (text_cells.DENSE, 0):
        monkeypatch.setattr(text_cells, "DENSE", dense)
        tok = UBPEClassic(size + more, n_candidates, alphabet=size, rules=FitRules(ties=ties, max_token_length=longest))
        assert merges(tok.fit(docs, **in_package(marks))) == [tuple(merge) for merge in want]


@given(marked(), st.sampled_from(["smallest", "first_seen"]), st.sampled_from([1, 5]))
def test_pieces_count_like_documents_of_their_own(
    corpus: tuple[list[list[int]], int, dict[str, Any]], ties: str, n_candidates: int
) -> None:
    """Pairs and counts are those of a fit on the pieces; numbers of documents are not."""
    docs, size, marks = corpus
    cuts = [[]] * len(docs) if marks["boundaries"] is None else marks["boundaries"]
    parts = [piece for doc, cut in zip(docs, cuts, strict=True) for piece in pieces(doc, cut)]
    tok = UBPEClassic(size + 20, n_candidates, alphabet=size, rules=FitRules(ties=ties))
    want = merges(tok.fit(parts, progress=False))
    assert [merge[:3] for merge in merges(tok.fit(docs, boundaries=cuts, progress=False))] == [merge[:3] for merge in want]


def test_pairs_that_are_too_long_count_as_borders() -> None:
    """(8, 5) waits for a round because (7, 8), which may not be merged, is as frequent; so (7, 6) comes before it."""
    docs = [[0, 1, 2, 3, 4, 5]] * 3 + [[1, 2, 6]] * 3 + [[3, 4]]
    tok = UBPEClassic(12, 10, alphabet=7, rules=FitRules(max_token_length=3)).fit(docs, progress=False)
    assert [merge[:3] for merge in merges(tok)] == [(1, 2, 6), (3, 4, 4), (0, 7, 3), (7, 6, 3), (8, 5, 3)]
    assert [tuple(merge) for merge in reference.fit(docs, 7, 12, 10, max_token_length=3)[0]] == merges(tok)


@pytest.mark.parametrize("cls", CLASSES)
def test_the_largest_length_is_a_parameter(cls: Any, tmp_path: Path) -> None:
    assert FitRules().max_token_length is None
    tok = make(cls, None, 3, alphabet=3, rules=FitRules(max_token_length=3)).fit(DOCS, progress=False)
    assert np.diff(tok._model.vocabulary.offsets).max() == 3
    tok.save(tmp_path / "m.json")
    assert cls.load(tmp_path / "m.json").rules == FitRules(max_token_length=3)
    assert tok.set_params(rules=FitRules(max_token_length=1)).fit(DOCS, progress=False)._model.vocabulary.n_learned == 0
    for odd, error in ((0, ValueError), (-1, ValueError), (2.5, ValueError), ("3", ValueError), (True, ValueError)):
        with pytest.raises(error, match="^max_token_length"):
            FitRules(max_token_length=odd)  # type: ignore[arg-type]
