"""Counted documents: counting, merging, fitting, files, and weights of languages against the shares that they are made for."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fit_cases import CLASSES, TIES, corpora, make
from hypothesis import given, strategies as st
from tables import each, refuses

from ubpe_numba import BPE, Counts, FitRules, count_documents
from ubpe_numba.errors import ModelFormatError

KINDS: dict[str, Any] = {"int": list, "str": lambda doc: "".join("aß😀"[i] for i in doc), "bytes": bytes}
SMALL = st.lists(st.integers(0, 2), max_size=3)


def plain(counts: Counts) -> tuple[str, list[Any], list[int]]:
    assert counts.weights.dtype == np.int64 and len(counts) == len(counts.weights) == len(counts.documents)
    return counts.kind, counts.to_lists(), counts.weights.tolist()


@given(st.lists(st.lists(st.tuples(SMALL, st.sampled_from([1, 3, 2**40])), min_size=1), max_size=4))
@each("kind", KINDS)
def test_counting_and_merging(parts: list[list[tuple[list[int], int]]], kind: str) -> None:
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


def test_weights_beyond_2_to_the_62_are_refused() -> None:
    """From three parts on the sum would not fit int64."""
    counts = count_documents(["a"], sample_weight=[2**62 - 4096])
    for parts in (2, 5):
        refuses(OverflowError, r"weights reach 2\*\*62", Counts.merge, *[counts] * parts)


def test_counting_other_containers() -> None:
    assert plain(count_documents([])) == ("int", [], [])
    assert plain(count_documents(["ab", "b", "ab"])) == ("str", ["ab", "b"], [2, 1])
    assert plain(count_documents([[2**40, -1], [], [2**40, -1]])) == ("int", [[2**40, -1], []], [2, 1])
    flat = np.array([1, 2, 1, 2], np.uint8)
    assert plain(count_documents(flat, offsets=[0, 2, 2, 4])) == ("int", [[1, 2], []], [2, 1])


@given(corpora(), st.lists(st.integers(0, 7), max_size=20), st.sampled_from(CLASSES), st.sampled_from(TIES))
def test_a_fit_of_counts_is_one_of_weighted_documents(
    corpus: tuple[list[list[int]], int], picks: list[int], cls: Any, ties: str
) -> None:
    distinct, size = corpus
    docs = [distinct[i] for i in picks if i < len(distinct)]
    counts = count_documents(docs)
    tok = make(cls, size + 20, 5, alphabet=size, rules=FitRules(ties=ties)).fit(counts, progress=False)
    again = make(cls, size + 20, 5, alphabet=size, rules=FitRules(ties=ties))
    if ties == "first_seen":
        again.fit(counts.to_lists(), sample_weight=counts.weights, progress=False)
    else:
        again.fit(docs, progress=False)
    assert tok._model.vocabulary == again._model.vocabulary


@each("kind", KINDS)
def test_saved_counts_are_loaded_and_fitted(kind: str, tmp_path: Path) -> None:
    counts = count_documents(
        [KINDS[kind](doc) for doc in ([0, 1, 0, 1], [], [2, 0, 1], [])], sample_weight=[2**40, 1, 5, 2]
    )
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
        refuses(ModelFormatError, "", Counts.load, path)
    refuses(FileNotFoundError, "", lambda: Counts.load(tmp_path / "none.npz"))


def test_counts_of_segments(tmp_path: Path) -> None:
    """A fit does not cut them again; they do not go together with counts of documents, and a file remembers what they are."""
    tok = BPE.for_text(260, pretokenizer="gpt2")
    made = Counts(count_documents([b"a b", b"a b", b"c"]).flat, np.array([2, 1]), are_segments=True)
    assert repr(made) == "Counts(2 distinct segments of 3, bytes)"
    # gpt2 cuts before the space
    assert tok.fit(made, progress=False).decode(np.array([256, 257]), as_bytes=True) == b" ba b"
    whole = Counts(made.flat, made.weights)
    assert made != whole and Counts.merge(made, made) == Counts(
        made.flat, 2 * made.weights, are_segments=True
    )
    refuses(TypeError, "counts: expected documents or segments of documents, got both", lambda: made + whole)
    for counts in (made, whole):
        counts.save(tmp_path / "counts.npz")
        assert Counts.load(tmp_path / "counts.npz") == counts


@each("alpha", [0.0, 0.3, 0.7, 1.0])
def test_shares_are_powers_of_sizes(alpha: float) -> None:
    sizes = [1_870_000, 390_000, 100_000, 40_000, 1]
    weights = Counts.language_weights(sizes, alpha)
    assert min(weights) == weights[0] == 16 and all(type(weight) is int for weight in weights)
    shares = [weight * size for weight, size in zip(weights, sizes, strict=True)]
    for share, size in zip(shares, sizes, strict=True):
        assert share / shares[0] == pytest.approx((size / sizes[0]) ** alpha, rel=0.04)
    assert Counts.language_weights(iter(sizes), alpha) == weights and Counts.language_weights([]) == []


def test_sizes_and_alpha_out_of_range() -> None:
    for size in (0, -1, 2**62, 10**400, float("inf"), float("nan")):
        refuses(
            ValueError,
            r"sizes\[1\]: expected at least 1 and less than 2\*\*62, got",
            Counts.language_weights,
            [1, size],
        )
    for sizes in ("ab", [True], [None]):
        refuses(TypeError, r"sizes\[0\]: expected a number", Counts.language_weights, sizes)
    refuses(TypeError, "alpha: expected a number, got 'a'", Counts.language_weights, [1], "a")
    for alpha in (-0.1, 1.1, float("nan")):
        refuses(ValueError, r"alpha: expected 0..1", Counts.language_weights, [1], alpha)
