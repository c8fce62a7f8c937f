"""The fit against the plain reference, under every rule, with weights, boundaries and a longest token or without."""

from __future__ import annotations

import collections
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from fit_cases import CLASSES, LENGTHS, TIES, check_history, in_package, large_corpus, make, marked, merges
from hypothesis import example, given
from hypothesis import strategies as st
from reference import fit as reference
from tables import each

from ubpe_numba import BPE, UBPE, FitRules, UBPEClassic
from ubpe_numba.fitting import fit as fitting
from ubpe_numba.fitting import text as shards
from ubpe_numba.fitting.kernels import text_cells


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
    st.sampled_from(CLASSES),
)
@example(([[0, 0, 0, 0, 0, 0, 0]], 1, {"weights": None, "boundaries": None}), None, 5, 1, "smallest", 2, False, UBPEClassic)
@example(([[0, 1] * 20, [1, 0] * 20], 2, {"weights": None, "boundaries": None}), None, 9, 5, "first_seen", 1, True, UBPEClassic)
def test_fits_equal_the_reference(
    corpus: tuple[list[list[int]], int, dict[str, Any]],
    longest: int | None,
    more: int,
    n_candidates: int,
    ties: str,
    min_count: int,
    overshoot: bool,
    cls: Any,
) -> None:
    """With weights, boundaries and a longest token or without: merges, weights of tokens, history, and the text as it ends."""
    docs, size, marks = corpus
    n_tried = 1 if cls is BPE else n_candidates
    want, final = reference.fit(docs, size, size + more, n_tried, ties, min_count, overshoot, **marks, max_token_length=longest)
    rules = FitRules(ties=ties, min_count=min_count, overshoot=overshoot, max_token_length=longest)
    tok = make(cls, size + more, n_candidates, alphabet=size, rules=rules).fit(docs, **in_package(marks))
    v = tok._model.vocabulary
    assert merges(tok) == [tuple(merge) for merge in want]
    assert longest is None or np.diff(v.offsets).max() <= longest
    weights = [1] * len(docs) if marks["weights"] is None else marks["weights"]
    assert v.n_documents == sum(weights)
    assert v.n_symbols == sum(len(doc) * weight for doc, weight in zip(docs, weights, strict=True))
    assert v.weights[size:].tolist() == pytest.approx([reference.idf(sum(weights), m.documents) for m in want], rel=1e-14)
    check_history(tok, docs, size, want, marks)
    if n_tried == 1 and cls is not UBPE:  # encoding the pieces is what the fit did to them
        cuts = [[]] * len(docs) if marks["boundaries"] is None else marks["boundaries"]
        weighing = [pieces(doc, cut) for doc, cut, weight in zip(docs, cuts, weights, strict=True) if weight]
        assert [[int(i) for piece in doc for i in tok.encode(piece)] for doc in weighing] == final


@pytest.mark.parametrize(
    "nature, n_candidates, ties, longest, with_weights",
    [
        ("zipf", 20, "first_seen", 5, True), ("dna", 1, "fewest_documents", None, False), ("walk", 1, "smallest", 4, True),
        ("periodic", 5, "first_seen", None, True), ("large alphabet", 20, "smallest", None, False),
    ],
)  # fmt: skip
def test_large_corpora_in_every_way_equal_the_reference(
    nature: str, n_candidates: int, ties: str, longest: int | None, with_weights: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hundreds of merges: both ways of counting pairs, small merges in batches, arrays that grow, and a fit in three steps."""
    docs, size, marks = large_corpus(nature, with_weights)
    step = 30 if n_candidates == 1 else 90
    n_tokens = size + 3 * step
    want, _ = reference.fit(docs, size, n_tokens, n_candidates, ties, **marks, max_token_length=longest)
    rules = FitRules(ties=ties, max_token_length=longest)
    given = in_package(marks)
    usual, small = fitting._SMALL, fitting._ONE_EPOCH
    ways = ((1024, usual, 1.6, small), (1024, usual, 1.6, 0), (0, usual, 1.6, 0), (0, 0, 1.0, 0), (1024, 0, 1.03, 0))
    for dense, batch, positions, one_epoch in (*ways, (1024, 0, 1.03, small)):
        monkeypatch.setattr(fitting, "_ONE_EPOCH", one_epoch)
        monkeypatch.setattr(text_cells, "DENSE", dense)
        monkeypatch.setattr(fitting, "_SMALL", batch)
        monkeypatch.setattr(shards, "_POSITIONS", positions)
        monkeypatch.setattr(shards, "_LARGE", 0 if batch == 0 else 1 << 20)
        whole = UBPEClassic(n_tokens, n_candidates, alphabet=size, rules=rules).fit(docs, **given)
        assert merges(whole) == [tuple(m) for m in want]
    check_history(whole, docs, size, want, marks)
    for dense in (1024, 0):
        monkeypatch.setattr(text_cells, "DENSE", dense)
        tok = UBPEClassic(size + step, n_candidates, alphabet=size, rules=rules).fit(docs, **given)
        for i in (2, 3):
            tok.fit_more(docs, size + i * step, **given)
        assert (merges(tok), tok.fingerprint) == (merges(whole), whole.fingerprint)


@given(st.lists(st.integers(0, 3), max_size=200))
def test_without_a_limit_until_no_pair_occurs_twice(text: list[int]) -> None:
    """The third article: merge until no pair occurs twice; the text decodes from what is left."""
    tok = BPE(n_tokens=None, alphabet=4).fit([text], progress=False)
    want, [final] = reference.fit([text], 4, 10**9)
    assert merges(tok) == [tuple(m) for m in want]
    ids = tok.encode(text)
    assert ids.tolist() == final
    counts = collections.Counter(zip(ids.tolist(), ids[1:].tolist(), strict=False))
    assert max(counts.values(), default=0) <= 1
    assert tok.decode(ids).tolist() == text


def test_hug_pug_pun_bun_hugs() -> None:
    """The third article's example: (u, g) first, five merges in all, and the text comes back."""
    text = "hug pug pun bun hugs"
    tok = BPE(n_tokens=None).fit([text], progress=False)
    assert tok._model.vocabulary.counts[tok._model.vocabulary.n_alphabet :].tolist() == [3, 2, 2, 2, 2]
    assert tok.decode(tok._model.vocabulary.merges[0]) == "ug"
    assert tok.encode(text).size == 9
    assert tok.decode(tok.encode(text)) == text


def test_interrupted_fit_leaves_the_tokenizer_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C is raised between two calls of the kernel."""
    tok = BPE(20, alphabet=4).fit([[0, 1, 2, 3] * 10], progress=False)
    before = tok.fingerprint

    def interrupt(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(fitting.rounds, "run", interrupt)
    with pytest.raises(KeyboardInterrupt):
        tok.fit([[1, 1, 1, 1, 2]], progress=False)
    assert tok.fingerprint == before


def test_pauses_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel may return to Python after any round."""
    rng = np.random.default_rng(3)
    docs = [rng.integers(0, 9, 300).tolist() for _ in range(5)]
    whole = UBPEClassic(200, 5, alphabet=9).fit(docs, progress=False)
    monkeypatch.setattr(shards, "BUDGET", 1)
    assert UBPEClassic(200, 5, alphabet=9).fit(docs, progress=False).fingerprint == whole.fingerprint


@each("more", [30, 200])
def test_weighted_words_in_one_epoch_or_many(more: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer merges than pairs, and more: some pairs are listed at once, or all of them."""
    rng = np.random.default_rng(12)
    words = [np.minimum(rng.zipf(1.3, n), 30).tolist() for n in rng.integers(0, 12, 150)]
    weights = np.minimum(rng.zipf(1.5, 150), 40).tolist()
    want, _ = reference.fit(words, 31, 31 + more, 1, "smallest", 2, weights=weights)
    for one_epoch in (0, fitting._ONE_EPOCH_WEIGHTED):
        monkeypatch.setattr(fitting, "_ONE_EPOCH_WEIGHTED", one_epoch)
        tok = BPE(31 + more, alphabet=31).fit(words, sample_weight=weights, progress=False)
        assert merges(tok) == [tuple(m) for m in want]


@each("ties", TIES)
def test_counts_past_what_floats_tell_apart(ties: str) -> None:
    """(0, 1) occurs 9000 * 2**40 times, (2, 3) once more; that is past 2**53."""
    docs = [[0, 1] * 9000, [2, 3] * 9000, [2, 3]]
    weights = [2**40, 2**40, 1]
    want, _ = reference.fit(docs, 4, 6, ties=ties, weights=weights)
    assert want[0] == (2, 3, 9000 * 2**40 + 1, 2**40 + 1)
    assert merges(BPE(6, alphabet=4, rules=FitRules(ties=ties)).fit(docs, sample_weight=weights, progress=False)) == want


def test_threads_are_chosen_by_size() -> None:
    plan = fitting.plan
    assert plan(10_000, 8) == (1, 1)
    assert plan(1_200_000, 8) == (2, 2)
    assert plan(10**9, 8) == (8, 8)
    assert plan(10**10, 2) == (2, 10)  # more cells than one shard can number
    assert plan(2**30, 1) == (1, 2)


def test_public_fit_on_threads() -> None:
    """One document long enough that threads share it, and the same cut into many."""
    values = np.minimum(np.random.default_rng(8).zipf(1.4, 1_300_000), 99).astype(np.uint8)
    for docs in ([values], np.array_split(values, 1000)):
        prints = {
            cls(500, alphabet=100, n_threads=threads, **more).fit(docs, progress=False).fingerprint
            for cls, more in ((BPE, {}), (UBPEClassic, {"n_candidates": 1}))
            for threads in (1, 2, 5)
        }
        assert len(prints) == 2  # one for each class


def test_counts_past_32_bits() -> None:
    """Counts and document frequencies beyond 2**31 without the memory: by weights."""
    heavy = BPE(4, alphabet=2).fit([[0, 1, 0, 1], [1, 1]], sample_weight=[2**40, 3], progress=False)
    assert heavy._model.vocabulary.counts[2:].tolist() == [2**41, 2**40]
    assert heavy._model.vocabulary.document_frequencies[2:].tolist() == [2**40, 2**40]
    assert heavy._model.vocabulary.n_symbols == 2**42 + 6
    assert heavy.history_.lengths.tolist() == [2**41 + 6, 2**40 + 6]


@each("n_candidates", [1, 5])
def test_pairs_that_are_new_and_rare_are_found_when_no_frequent_one_is_left(n_candidates: int) -> None:
    """A pair that a merge made, rarer than all that were listed before: it is the only one that a next epoch has."""
    docs = [[0, 1, 2]] * 10 + [[1, 2]] * 310 + [[0, 1]] * 190
    want, _ = reference.fit(docs, 3, 20, n_candidates)
    assert [merge.count for merge in want] == [320, 190, 10]
    for limit in (None, 10**9):  # with a limit not all pairs of a small text are listed at first
        tok = UBPEClassic(20, n_candidates, alphabet=3).fit(docs, progress=False, memory_limit=limit)
        assert merges(tok) == [tuple(merge) for merge in want]


def test_pairs_that_are_too_long_count_as_borders() -> None:
    """(8, 5) waits for a round because (7, 8), which may not be merged, is as frequent; so (7, 6) comes before it."""
    docs = [[0, 1, 2, 3, 4, 5]] * 3 + [[1, 2, 6]] * 3 + [[3, 4]]
    tok = UBPEClassic(12, 10, alphabet=7, rules=FitRules(max_token_length=3)).fit(docs, progress=False)
    assert [merge[:3] for merge in merges(tok)] == [(1, 2, 6), (3, 4, 4), (0, 7, 3), (7, 6, 3), (8, 5, 3)]
    assert [tuple(merge) for merge in reference.fit(docs, 7, 12, 10, max_token_length=3)[0]] == merges(tok)


@each("longest", [0, -1, 2.5, "3", True])
def test_lengths_that_are_refused(longest: Any) -> None:
    with pytest.raises(ValueError, match="^max_token_length"):
        FitRules(max_token_length=longest)
