"""Weighted documents against the plain reference and against repeated documents; counted documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import fit as reference
from test_fit import TIES, corpora, merges

from ubpe_numba import BPE, UBPE, Counts, FitRules, ModelFormatError, UBPEClassic, count_documents

CLASSES: list[Any] = [BPE, UBPEClassic, UBPE]
KINDS: dict[str, Any] = {"int": list, "str": lambda doc: "".join("aß😀"[i] for i in doc), "bytes": bytes}
SMALL = st.lists(st.integers(0, 2), max_size=3)


@st.composite
def weighted(draw: st.DrawFn, largest: int = 2**40) -> tuple[list[list[int]], int, list[int]]:
    """Documents, the size of the alphabet, and a weight for each document."""
    docs, size = draw(corpora())
    weight = st.sampled_from([0, 1, 2, 3, largest - 1, largest])
    return docs, size, draw(st.lists(weight, min_size=len(docs), max_size=len(docs)))


def make(cls: Any, n_tokens: int | None, n_candidates: int, **params: Any) -> Any:
    """A tokenizer of any class; that of all segmentations without its word on equal weights."""
    if cls is BPE:
        return BPE(n_tokens, **params)
    return cls(n_tokens, n_candidates, **params, **({"objective": "shortest"} if cls is UBPE else {}))


@given(
    weighted(),
    st.integers(0, 60),
    st.sampled_from([1, 2, 5, 50]),
    st.sampled_from(TIES),
    st.sampled_from([1, 2, 3]),
    st.booleans(),
)
@settings(max_examples=300)
def test_equals_reference(
    corpus: tuple[list[list[int]], int, list[int]], more: int, n_candidates: int, ties: str, min_count: int, overshoot: bool
) -> None:
    docs, size, weights = corpus
    want, final = reference.fit(docs, size, size + more, n_candidates, ties, min_count, overshoot, weights)
    rules = FitRules(ties=ties, min_count=min_count, overshoot=overshoot)
    tok = UBPEClassic(size + more, n_candidates, alphabet=size, rules=rules)
    v = tok.fit(docs, sample_weight=weights, progress=False).vocabulary
    assert merges(tok) == [tuple(merge) for merge in want]
    assert v.n_documents == sum(weights)
    assert v.n_symbols == sum(len(doc) * weight for doc, weight in zip(docs, weights, strict=True))
    assert v.weights[size:].tolist() == pytest.approx([reference.idf(sum(weights), m.documents) for m in want], rel=1e-14)
    if n_candidates == 1 and docs:
        weighing = [doc for doc, weight in zip(docs, weights, strict=True) if weight]
        assert tok.encode_batch(weighing).to_lists() == final


@given(weighted(largest=5), st.sampled_from(CLASSES), st.sampled_from([1, 5]), st.sampled_from(TIES), st.integers(0, 30))
@settings(max_examples=150)
def test_a_weight_is_a_repetition(
    corpus: tuple[list[list[int]], int, list[int]], cls: Any, n_candidates: int, ties: str, more: int
) -> None:
    docs, size, weights = corpus
    repeated = [doc for doc, weight in zip(docs, weights, strict=True) for _ in range(weight)]
    want = reference.fit(repeated, size, size + more, n_candidates, ties)[0]
    assert reference.fit(docs, size, size + more, n_candidates, ties, weights=weights)[0] == want
    tok = make(cls, size + more, n_candidates, alphabet=size, rules=FitRules(ties=ties))
    plain = tok.fit(repeated, progress=False).vocabulary
    for given_as in (weights, np.array(weights, np.uint8), tuple(weights)):
        assert tok.fit(docs, sample_weight=given_as, progress=False).vocabulary == plain


@pytest.mark.parametrize("ties", TIES)
def test_counts_past_what_floats_tell_apart(ties: str) -> None:
    """(0, 1) occurs 9000 * 2**40 times, (2, 3) once more; that is past 2**53."""
    docs = [[0, 1] * 9000, [2, 3] * 9000, [2, 3]]
    weights = [2**40, 2**40, 1]
    want, _ = reference.fit(docs, 4, 6, ties=ties, weights=weights)
    assert want[0] == (2, 3, 9000 * 2**40 + 1, 2**40 + 1)
    assert merges(BPE(6, alphabet=4, rules=FitRules(ties=ties)).fit(docs, sample_weight=weights, progress=False)) == want


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize(
    "weights, error",
    [
        ([1.0, 2.0], TypeError), (np.array([1.0, 2.0]), TypeError), (["1", "2"], TypeError), ([1, None], TypeError),
        ([], ValueError), ([1], ValueError), ([1, 1, 1], ValueError), ([1, -1], ValueError),
        ([2**61, 0], ValueError), ([2**60, 2**60], ValueError), (np.array([2**63, 0], np.uint64), ValueError),
    ],
)  # fmt: skip
def test_refusals(cls: Any, weights: Any, error: type[Exception]) -> None:
    docs = [[0, 1], [1, 0]]
    tok = make(cls, 9, 2).fit([[0, 1, 0, 1]], progress=False)
    before = tok.fingerprint
    for call in (lambda: tok.fit(docs, sample_weight=weights), lambda: count_documents(docs, sample_weight=weights)):
        with pytest.raises(error, match="^sample_weight"):
            call()
    assert tok.fingerprint == before


# --- counted documents


def plain(counts: Counts) -> tuple[str, list[Any], list[int]]:
    assert counts.weights.dtype == np.int64
    assert len(counts) == len(counts.weights) == len(counts.documents)
    return counts.kind, counts.to_lists(), counts.weights.tolist()


@given(st.sampled_from(list(KINDS)), st.lists(st.lists(st.tuples(SMALL, st.sampled_from([1, 3, 2**40])), min_size=1), max_size=4))
def test_counting_and_merging(kind: str, parts: list[list[tuple[list[int], int]]]) -> None:
    """The distinct documents in order of first appearance, however they were put together."""
    parts = [[([0], 1)], *parts]
    want: dict[Any, int] = {}
    for doc, weight in [entry for part in parts for entry in part]:
        want[tuple(doc)] = want.get(tuple(doc), 0) + weight
    counted = []
    for part in parts:
        docs, weights = zip(*part, strict=True)
        counted.append(count_documents([KINDS[kind](doc) for doc in docs], sample_weight=weights))
    left = right = counted[0]
    for one in counted[1:]:
        left = left + one
    if len(counted) > 1:
        right = Counts.merge(counted[0], Counts.merge(*counted[1:]))
    for counts in (left, right, Counts.merge(*counted)):
        assert plain(counts) == (kind, [KINDS[kind](doc) for doc in want], list(want.values()))


def test_counting_other_containers() -> None:
    assert plain(count_documents([])) == ("int", [], [])
    assert plain(count_documents(["ab", "b", "ab"])) == ("str", ["ab", "b"], [2, 1])
    assert plain(count_documents([[2**40, -1], [], [2**40, -1]])) == ("int", [[2**40, -1], []], [2, 1])
    flat = np.array([9, 1, 2, 1, 2, 9], np.uint8)
    assert plain(count_documents(flat, offsets=[1, 3, 3, 5])) == ("int", [[1, 2], []], [2, 1])


@given(corpora(), st.lists(st.integers(0, 7), max_size=20), st.sampled_from(CLASSES), st.sampled_from(TIES))
@settings(max_examples=150)
def test_fitting_counts(corpus: tuple[list[list[int]], int], picks: list[int], cls: Any, ties: str) -> None:
    distinct, size = corpus
    docs = [distinct[i] for i in picks if i < len(distinct)]
    counts = count_documents(docs)
    tok = make(cls, size + 20, 5, alphabet=size, rules=FitRules(ties=ties)).fit(counts, progress=False)
    again = make(cls, size + 20, 5, alphabet=size, rules=FitRules(ties=ties))
    if ties == "first_seen":
        again.fit(counts.to_lists(), sample_weight=counts.weights, progress=False)
    else:
        again.fit(docs, progress=False)
    assert tok.vocabulary == again.vocabulary


@pytest.mark.parametrize("kind", KINDS)
def test_files(kind: str, tmp_path: Path) -> None:
    counts = count_documents([KINDS[kind](doc) for doc in ([0, 1, 0, 1], [], [2, 0, 1], [])], sample_weight=[2**40, 1, 5, 2])
    counts.save(tmp_path / "counts.npz")
    assert plain(Counts.load(tmp_path / "counts.npz")) == plain(counts)
    tok = BPE(300, rules=FitRules(ties="first_seen"))
    want = tok.fit(counts, progress=False).fingerprint
    assert tok.fit(Counts.load(tmp_path / "counts.npz"), progress=False).fingerprint == want


def test_files_that_hold_something_else(tmp_path: Path) -> None:
    path = tmp_path / "counts.npz"
    count_documents([[0, 1], [2]]).save(path)
    whole = path.read_bytes()
    BPE(9).fit([[0, 1, 0, 1]], progress=False).save(tmp_path / "model.npz")
    np.savez(tmp_path / "arrays.npz", weights=np.ones(2))
    others = [(tmp_path / name).read_bytes() for name in ("model.npz", "arrays.npz")]
    for data in (b"", b"no counts", whole[:-30], *others):
        path.write_bytes(data)
        with pytest.raises(ModelFormatError):
            Counts.load(path)
    with pytest.raises(FileNotFoundError):
        Counts.load(tmp_path / "none.npz")
