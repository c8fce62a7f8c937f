"""A fit that is continued: on the same corpus it equals one longer fit, on another corpus it keeps the old merges."""

from __future__ import annotations

from typing import Any

import pytest
from fit_cases import CLASSES, LENGTHS, TIES, in_package, make, marked, merges
from hypothesis import given
from hypothesis import strategies as st
from reference import fit as reference
from tables import each

from ubpe_numba import BPE, UBPE, FitRules, UBPEClassic, export
from ubpe_numba.errors import NotFittedError, UnknownSymbolError
from ubpe_numba.fitting import fit as fitting

Marked = tuple[list[list[int]], int, dict[str, Any]]
CANDIDATES = st.sampled_from([1, 2, 5, 50])
DOCS = [[0, 1, 2, 0, 1, 2, 0, 1, 1, 1], [], [2, 0, 1, 2, 0, 2, 2, 1, 1], [0, 0, 2, 0, 0, 2], [0, 1, 2, 2]]


def learned(tok: Any) -> tuple[Any, ...]:
    return merges(tok), tok._model.vocabulary.weights.tolist(), tok.fingerprint


@given(
    marked(),
    LENGTHS,
    st.lists(st.integers(0, 12), min_size=2, max_size=5),
    CANDIDATES,
    st.sampled_from(TIES),
    st.sampled_from([1, 2, 3]),
    st.sampled_from(CLASSES),
)
def test_equals_one_longer_fit(
    corpus: Marked, longest: int | None, steps: list[int], n_candidates: int, ties: str, min_count: int, cls: Any
) -> None:
    """A step may end within a round of merges; the next step finishes the round."""
    docs, size, marks = corpus
    params = {"alphabet": size, "rules": FitRules(ties=ties, min_count=min_count, max_token_length=longest)}
    n_tokens = size + sum(steps)
    whole = make(cls, n_tokens, n_candidates, **params).fit(docs, **in_package(marks))
    n_tried = 1 if cls is BPE else n_candidates
    want, _ = reference.fit(docs, size, n_tokens, n_tried, ties, min_count, **marks, max_token_length=longest)
    tok = make(cls, size + steps[0], n_candidates, **params).fit(docs, **in_package(marks))
    for i in range(1, len(steps)):
        assert tok.fit_more(docs, size + sum(steps[: i + 1]), **in_package(marks)) is tok
    assert merges(tok) == [tuple(merge) for merge in want]
    assert learned(tok) == learned(whole)
    assert [column.tolist() for column in tok.history_[:4]] == [column.tolist() for column in whole.history_[:4]]


@given(marked(), LENGTHS, st.integers(0, 8), st.integers(0, 12), st.integers(0, 12), CANDIDATES, st.sampled_from(TIES))
def test_fit_more_on_another_corpus_equals_the_reference(
    corpus: Marked, longest: int | None, split: int, first: int, more: int, n_candidates: int, ties: str
) -> None:
    """No round is left to finish after another corpus: a new round begins, on the other corpus encoded by the old merges."""
    docs, size, marks = corpus
    old = [merge[:2] for merge in reference.fit(docs[:split], size, size + first, ties=ties, max_token_length=longest)[0]]
    docs = docs[split:]
    marks = {name: values and values[split:] for name, values in marks.items()}
    n_tokens = size + len(old) + more
    params = {"rules": FitRules(ties=ties, max_token_length=longest)}
    for cls, n_tried in ((BPE, 1), (UBPEClassic, n_candidates)):
        want, _ = reference.fit(docs, size, n_tokens, n_tried, ties, **marks, max_token_length=longest, old=old)
        tok = cls.from_merges(old, size, **({} if cls is BPE else {"n_candidates": n_tried}), **params)
        tok.fit_more(docs, n_tokens, **in_package(marks))
        assert merges(tok)[len(old) :] == [tuple(merge) for merge in want]
        assert [merge[:2] for merge in merges(tok)[: len(old)]] == old


# --- refusals, after which the tokenizer is as it was


def refused(tok: Any, error: type[Exception], match: str, docs: Any = DOCS, n_tokens: Any = 20, **params: Any) -> None:
    before = tok._model.vocabulary, tok.fingerprint, repr(tok), repr(getattr(tok, "history_", None))
    with pytest.raises(error, match=match):
        tok.fit_more(docs, n_tokens, **params)
    assert (tok._model.vocabulary, tok.fingerprint, repr(tok), repr(getattr(tok, "history_", None))) == before


@each("cls", CLASSES)
def test_a_refused_fit_more_changes_nothing(cls: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotFittedError):
        cls(9).fit_more(DOCS, 10)
    tok = make(cls, 6, 2, alphabet=3).fit(DOCS, progress=False)
    assert learned(tok.fit_more(DOCS, 6, progress=False)) == learned(make(cls, 6, 2, alphabet=3).fit(DOCS, progress=False))
    refused(tok, ValueError, "^n_tokens", n_tokens=5)
    refused(tok, ValueError, "^n_tokens", n_tokens=2**31)
    refused(tok, TypeError, "^n_tokens", n_tokens=7.5)
    refused(tok, UnknownSymbolError, "document 1, position 2: symbol 3", docs=[[0, 1], [0, 1, 3]])
    refused(tok, TypeError, "docs", docs=["abab"])
    refused(tok, TypeError, "docs", docs=[[0.5]])
    refused(tok, ValueError, "^sample_weight", sample_weight=[1])
    refused(tok, ValueError, "^boundaries", boundaries=[[99], *[[]] * 4])
    monkeypatch.setattr(fitting.rounds, "run", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    refused(tok, KeyboardInterrupt, "^$")
    monkeypatch.undo()
    by_idf = make(cls, 7, 2, alphabet=3, rules=FitRules(order="idf")).fit(DOCS, progress=False)
    refused(by_idf, ValueError, "order|pairs")  # of UBPE, sequences are left
    refused(UBPE.load(export(UBPE(7, 2, alphabet=3).fit(DOCS, progress=False), "ubpe")), ValueError, "pairs")
    refused(BPE.from_merges([[4, 2], [0, 1]], 3), ValueError, "order")
