"""The fit against the plain reference, under every rule, on random and adversarial corpora, with weights and without."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import pytest
from fit_cases import CLASSES, TIES, corpora, make, merges
from hypothesis import example, given
from hypothesis import strategies as st
from reference import fit as reference
from reference.unique import merge_until_unique

from ubpe_numba import BPE, UBPE, FitRules, UBPEClassic
from ubpe_numba.fitting import fit as fitting
from ubpe_numba.fitting import text as shards
from ubpe_numba.fitting.kernels import text_cells


@given(
    corpora(),
    st.integers(0, 60),
    st.sampled_from([1, 2, 5, 50]),
    st.sampled_from(TIES),
    st.sampled_from([1, 2, 3]),
    st.booleans(),
)
@example(([[0, 0, 0, 0, 0, 0, 0]], 1), 5, 1, "smallest", 2, False)
@example(([[0, 1] * 20, [1, 0] * 20], 2), 9, 5, "first_seen", 1, True)
def test_fit_equals_the_reference(
    corpus: tuple[list[list[int]], int], more: int, n_candidates: int, ties: str, min_count: int, overshoot: bool
) -> None:
    docs, size = corpus
    want, final = reference.fit(docs, size, size + more, n_candidates, ties, min_count, overshoot)
    rules = FitRules(ties=ties, min_count=min_count, overshoot=overshoot)
    tok = UBPEClassic(size + more, n_candidates, alphabet=size, rules=rules).fit(docs, progress=False)
    assert merges(tok) == [tuple(m) for m in want]
    weights = [reference.idf(len(docs), m.documents) for m in want]
    assert tok._model.vocabulary.weights[size:].tolist() == pytest.approx(weights, rel=1e-14)
    if n_candidates == 1 and docs:
        assert tok.encode_batch(docs).to_lists() == final


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("n_candidates", [1, 20])
@pytest.mark.parametrize("nature", ["zipf", "dna", "walk", "large alphabet"])
def test_large_corpora_with_many_epochs_equal_the_reference(
    nature: str, n_candidates: int, ties: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thousands of symbols, hundreds of merges: both ways of counting pairs, small merges in batches, arrays that grow."""
    rng = np.random.default_rng(11)
    n = 6000
    values = {
        "zipf": np.minimum(rng.zipf(1.3, n), 200),
        "dna": rng.integers(0, 4, n),
        "walk": np.cumsum(rng.integers(-1, 2, n)) % 64,
        "large alphabet": np.minimum(rng.zipf(1.2, n), 5000),
    }[nature]
    cuts = np.sort(rng.integers(0, n + 1, 39))
    docs = [d.tolist() for d in np.split(values, cuts)]
    size = int(values.max()) + 1
    more = 150 if n_candidates == 1 else 500
    want, _ = reference.fit(docs, size, size + more, n_candidates, ties)
    usual, small = fitting._SMALL, fitting._ONE_EPOCH
    ways = ((1024, usual, 1.6, small), (1024, usual, 1.6, 0), (0, usual, 1.6, 0), (0, 0, 1.0, 0), (1024, 0, 1.03, 0))
    for dense, batch, positions, one_epoch in (*ways, (1024, 0, 1.03, small)):
        monkeypatch.setattr(fitting, "_ONE_EPOCH", one_epoch)
        monkeypatch.setattr(text_cells, "DENSE", dense)
        monkeypatch.setattr(fitting, "_SMALL", batch)
        monkeypatch.setattr(shards, "_POSITIONS", positions)
        monkeypatch.setattr(shards, "_LARGE", 0 if batch == 0 else 1 << 20)
        tok = UBPEClassic(size + more, n_candidates, alphabet=size, rules=FitRules(ties=ties)).fit(docs, progress=False)
        assert merges(tok) == [tuple(m) for m in want]


@given(st.lists(st.integers(0, 3), max_size=200))
def test_without_a_limit_until_no_pair_occurs_twice(text: list[int]) -> None:
    """The third article: merge until no pair occurs twice; the text decodes from what is left."""
    tok = BPE(n_tokens=None, alphabet=4).fit([text], progress=False)
    want, final = merge_until_unique(text, 4)
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


def test_low_lower_newest() -> None:
    """The overview's corpus with its counts put right: (e, r) 7; (n, e), (e, w) and (w, </w>) 11."""
    words = {"low": 5, "lower": 2, "lowest": 1, "new": 6, "newer": 3, "newest": 2, "wide": 3, "wider": 2, "widest": 1}
    docs = [f"{word}|" for word, n in words.items() for _ in range(n)]
    tok = BPE(n_tokens=12).fit(docs, progress=False)
    v = tok._model.vocabulary
    assert int(v.counts[v.n_alphabet]) == 11
    assert tok.decode(v.merges[0]) in ("ne", "ew", "w|")
    everything = UBPEClassic(n_tokens=200, n_candidates=1).fit(docs, progress=False)
    n = everything._model.vocabulary.n_alphabet
    by_text = {everything.decode([n + i]): int(c) for i, c in enumerate(everything._model.vocabulary.counts[n:])}
    assert by_text["er"] == 7


def test_article_preset_fits_and_overshoots() -> None:
    """Whole rounds while the last id is below n_tokens, then the highest idf first, cut to size."""
    docs = [[0, 1, 2, 3] * 5, [3, 2, 1, 0] * 5, [0, 2, 0, 2, 1, 3] * 4]
    plain = UBPE(8, 10, alphabet=4, rules=FitRules.ARTICLE.replace(order="creation")).fit(docs, progress=False)
    assert len(plain._model.vocabulary) > 8
    tok = UBPE(8, 10, alphabet=4, rules=FitRules.ARTICLE).fit(docs, progress=False)
    assert len(tok._model.vocabulary) == 8
    assert np.all(np.diff(tok._model.vocabulary.weights[4:]) <= 0)


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


@st.composite
def weighted(draw: st.DrawFn, largest: int = 2**40) -> tuple[list[list[int]], int, list[int]]:
    """Documents, the size of the alphabet, and a weight for each document."""
    docs, size = draw(corpora())
    weight = st.sampled_from([0, 1, 2, 3, largest - 1, largest])
    return docs, size, draw(st.lists(weight, min_size=len(docs), max_size=len(docs)))


@given(
    weighted(),
    st.integers(0, 60),
    st.sampled_from([1, 2, 5, 50]),
    st.sampled_from(TIES),
    st.sampled_from([1, 2, 3]),
    st.booleans(),
)
def test_weighted_documents_equal_reference(
    corpus: tuple[list[list[int]], int, list[int]], more: int, n_candidates: int, ties: str, min_count: int, overshoot: bool
) -> None:
    docs, size, weights = corpus
    want, final = reference.fit(docs, size, size + more, n_candidates, ties, min_count, overshoot, weights)
    rules = FitRules(ties=ties, min_count=min_count, overshoot=overshoot)
    tok = UBPEClassic(size + more, n_candidates, alphabet=size, rules=rules)
    v = tok.fit(docs, sample_weight=weights, progress=False)._model.vocabulary
    assert merges(tok) == [tuple(merge) for merge in want]
    assert v.n_documents == sum(weights)
    assert v.n_symbols == sum(len(doc) * weight for doc, weight in zip(docs, weights, strict=True))
    assert v.weights[size:].tolist() == pytest.approx([reference.idf(sum(weights), m.documents) for m in want], rel=1e-14)
    if n_candidates == 1 and docs:
        weighing = [doc for doc, weight in zip(docs, weights, strict=True) if weight]
        assert tok.encode_batch(weighing).to_lists() == final


@pytest.mark.parametrize("one_epoch", [0, fitting._ONE_EPOCH_WEIGHTED])
@pytest.mark.parametrize("more", [30, 400])
def test_weighted_words_in_one_epoch_or_many(one_epoch: int, more: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer merges than pairs, and more: some pairs are listed at once, or all of them."""
    monkeypatch.setattr(fitting, "_ONE_EPOCH_WEIGHTED", one_epoch)
    rng = np.random.default_rng(12)
    words = [np.minimum(rng.zipf(1.3, n), 30).tolist() for n in rng.integers(0, 12, 300)]
    weights = np.minimum(rng.zipf(1.5, 300), 40)
    repeated = [word for word, weight in zip(words, weights.tolist(), strict=True) for _ in range(weight)]
    want, _ = reference.fit(repeated, 31, 31 + more, 1, "smallest", 2)
    tok = BPE(31 + more, alphabet=31).fit(words, sample_weight=weights, progress=False)
    assert merges(tok) == [tuple(m) for m in want]


@given(weighted(largest=5), st.sampled_from(CLASSES), st.sampled_from([1, 5]), st.sampled_from(TIES), st.integers(0, 30))
def test_a_weight_is_a_repetition(
    corpus: tuple[list[list[int]], int, list[int]], cls: Any, n_candidates: int, ties: str, more: int
) -> None:
    docs, size, weights = corpus
    repeated = [doc for doc, weight in zip(docs, weights, strict=True) for _ in range(weight)]
    want = reference.fit(repeated, size, size + more, n_candidates, ties)[0]
    assert reference.fit(docs, size, size + more, n_candidates, ties, weights=weights)[0] == want
    tok = make(cls, size + more, n_candidates, alphabet=size, rules=FitRules(ties=ties))
    plain = tok.fit(repeated, progress=False)._model.vocabulary
    for given_as in (weights, np.array(weights, np.uint8), tuple(weights)):
        assert tok.fit(docs, sample_weight=given_as, progress=False)._model.vocabulary == plain


@pytest.mark.parametrize("ties", TIES)
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


@pytest.mark.parametrize("n_candidates", [1, 5])
def test_pairs_that_are_new_and_rare_are_found_when_no_frequent_one_is_left(n_candidates: int) -> None:
    """A pair that a merge made, rarer than all that were listed before: it is the only one that a next epoch has."""
    docs = [[0, 1, 2]] * 10 + [[1, 2]] * 310 + [[0, 1]] * 190
    want, _ = reference.fit(docs, 3, 20, n_candidates)
    assert [merge.count for merge in want] == [320, 190, 10]
    for limit in (None, 10**9):  # with a limit not all pairs of a small text are listed at first
        tok = UBPEClassic(20, n_candidates, alphabet=3).fit(docs, progress=False, memory_limit=limit)
        assert merges(tok) == [tuple(merge) for merge in want]
