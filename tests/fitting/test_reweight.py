"""Weights from the documents' own encodings: occurrences, idf, and probabilities by EM."""

import math
from collections import Counter

import numpy as np
from corpora import corpora
from hypothesis import given, strategies as st
from pair_tables import Table, named, tables
from reference import encode_paths
from tables import each, refuses

from ubpe_numba import BPE, UBPE, Ragged, UBPEClassic, count_documents
from ubpe_numba.documents.read import as_corpus
from ubpe_numba.errors import NotFittedError, UnknownSymbolError
from ubpe_numba.fitting import reweight
from ubpe_numba.runtime.messages import Progress
from ubpe_numba.vocabulary.vocabulary import Vocabulary

DOCS = ["abab abba", "baab abab", "abc", "", "ccab abab", "cab abc"]


def counted(encoded: Ragged, weights: list[int], size: int) -> list[int]:
    found: Counter[int] = Counter()
    for ids, weight in zip(encoded.to_lists(), weights, strict=True):
        for token in ids:
            found[token] += weight
    return [found[i] for i in range(size)]


@each("name", ["dna", "periodic"])
def test_occurrences_are_those_of_the_merged_corpus(name: str) -> None:
    """Encoding by rank makes the merges of the fit, so it holds each token as often."""
    docs, size = corpora(10_000)[name]
    docs = [doc[i : i + 700] for doc in docs for i in range(0, len(doc), 700)]
    weights = [1 + i % 3 for i in range(len(docs))]
    for given_weights in (None, weights):
        tok = BPE(size + 200, alphabet=size).fit(docs, sample_weight=given_weights, progress=False)
        v = tok._model.vocabulary
        assert v.occurrences is not None
        assert v.occurrences.tolist() == counted(
            tok.encode_batch(docs), given_weights or [1] * len(docs), len(v)
        )
        shorter = tok.truncate(size + 50)
        shorter.fit_more(docs, size + 200, sample_weight=given_weights, progress=False)
        assert shorter._model.vocabulary.occurrences.tolist() == v.occurrences.tolist()  # type: ignore[union-attr]


def test_occurrences_of_weights_that_are_large_of_cut_text_and_of_counts() -> None:
    v = (
        BPE(4, alphabet=2)
        .fit([[0, 1, 0], [1, 1, 1]], sample_weight=[2**57 + 1, 3], progress=False)
        ._model.vocabulary
    )
    assert v.occurrences is not None and v.merges is not None and v.merges.tolist() == [[0, 1], [2, 0]]
    assert v.occurrences.tolist() == [0, 9, 0, 2**57 + 1]
    tok = BPE.for_text(280, pretokenizer="gpt2").fit(DOCS * 3, progress=False)
    assert tok._model.vocabulary.occurrences.tolist() == tok.usage(DOCS * 3).counts.tolist()
    again = BPE.for_text(280, pretokenizer="gpt2").fit(count_documents(DOCS * 3), progress=False)
    assert again._model.vocabulary == tok._model.vocabulary
    cut = BPE(5, alphabet=3).fit([[0, 1, 2, 0, 1]] * 2, boundaries=[[1], []], progress=False)
    assert cut._model.vocabulary.occurrences.tolist() == [1, 1, 0, 1, 2]


def test_occurrences_and_probabilities_of_some_tokens() -> None:
    v = Vocabulary.from_merges(
        2, [[0, 1], [2, 0], [2, 2]], occurrences=[1, 2, 3, 4, 5], log_probabilities=[-1.0, -2, -3, -4, -5]
    )
    assert v.select(np.array([0]), np.array([[0, 1]])).occurrences.tolist() == [5, 2, 17]  # type: ignore[union-attr]
    assert v.select(np.array([1, 2]), None).occurrences.tolist() == [4, 5, 4, 5]  # type: ignore[union-attr]
    assert v.select(np.array([1, 2]), None).log_probabilities.tolist() == [-1, -2, -4, -5]  # type: ignore[union-attr]
    most = v.with_statistics(occurrences=np.full(5, 2**62))
    assert most.select(np.array([0]), np.array([[0, 1]])).occurrences.tolist() == [
        2**63 - 1,
        2**62,
        2**63 - 1,
    ]  # type: ignore[union-attr]


@given(st.data(), tables())
def test_rounds_of_em_equal_the_definition_and_raise_the_likelihood(
    data: st.DataObject, table: Table
) -> None:
    size, pairs, _ = table
    symbol = st.integers(0, size - 1)
    docs = data.draw(st.lists(st.lists(symbol, min_size=1, max_size=8), min_size=1, max_size=4))
    vocabulary = Vocabulary.from_merges(size, pairs)
    tokens, _ = named(table)
    start = np.ones(len(vocabulary), np.int64)
    p = [1 / len(vocabulary)] * len(vocabulary)
    for _ in range(2):
        counts = [reweight.LEAST] * len(p)
        found: Counter[int] = Counter()
        for doc in docs:
            for token, count in encode_paths.expected_counts(doc, tokens, p).items():
                found[token] += float(count)  # type: ignore[assignment]
        counts = [max(reweight.LEAST, found[i]) for i in range(len(p))]
        p = [count / sum(counts) for count in counts]
    corpus = as_corpus(docs)
    result = reweight.likeliest(Ragged.from_lists(docs), corpus, vocabulary, start, 2, 1, Progress(False))
    assert np.allclose(np.exp(result.log_probabilities), p, rtol=1e-6)
    weights = dict(enumerate(result.log_probabilities.tolist()))  # type: ignore[union-attr]
    paths = [encode_paths.encode(doc, tokens, weights, "additive") for doc in docs]
    assert result.occurrences.tolist() == counted(
        Ragged.from_lists([list(p) for p in paths]), [1] * len(docs), len(vocabulary)
    )  # type: ignore[union-attr]


def test_likelihood_encodes_by_the_probabilities_that_a_fit_estimates() -> None:
    docs, size = corpora(10_000)["text/60"]
    tok, other = (
        UBPE(size + 150, 1, alphabet=size, objective="likelihood", n_threads=n).fit(docs, progress=False)
        for n in (1, 3)
    )
    v = tok._model.vocabulary
    assert tok.fingerprint == other.fingerprint and abs(math.fsum(np.exp(v.log_probabilities)) - 1.0) < 1e-9
    tokens = {tuple(v.sequence(t).tolist()): t for t in range(len(v))}
    doc = docs[0][:300]
    weights = dict(enumerate(v.log_probabilities.tolist()))
    assert tok.encode(doc).tolist() == list(encode_paths.encode(list(doc), tokens, weights, "additive"))
    assert v.occurrences.tolist() == counted(tok.encode_batch(docs), [1] * len(docs), len(v))
    more = tok.fit_more(docs, size + 160, progress=False)
    assert (
        more._model.vocabulary.log_probabilities is not None
        and len(more._model.vocabulary.log_probabilities) == size + 160
    )
    plain = UBPE(size + 150, 1, alphabet=size, objective="shortest").fit(docs, progress=False)
    again = plain.reweight(docs)
    assert (
        again.objective == "likelihood"
        and plain.objective == "shortest"
        and plain._model.vocabulary.log_probabilities is None
    )
    assert again._model.vocabulary.merges.tolist() == plain._model.vocabulary.merges.tolist()


@each("objective", ["tfidf", "shortest"])
def test_idf_of_the_documents_own_encodings(objective: str) -> None:
    tok = UBPE(12, 2, objective=objective).fit(DOCS, progress=False)
    weights = [1, 2, 3, 1, 1, 2]
    other = tok.reweight(DOCS, "idf", 1, sample_weight=weights)
    holding = Counter({t: 0 for t in range(len(tok._model.vocabulary))})
    for ids, weight in zip(tok.encode_batch(DOCS).to_lists(), weights, strict=True):
        for token in set(ids):
            holding[token] += weight
    n = tok._model.vocabulary.n_alphabet
    expected = [0.0] * n + [
        math.log((1 + sum(weights)) / (1 + holding[t])) for t in range(n, len(tok._model.vocabulary))
    ]
    assert other._model.vocabulary.weights.tolist() == expected
    assert (
        other.objective == objective
        and other._model.vocabulary.counts.tolist() == tok._model.vocabulary.counts.tolist()
    )
    assert other._model.vocabulary.occurrences.tolist() == counted(
        other.encode_batch(DOCS), weights, len(tok._model.vocabulary)
    )
    twice = tok.reweight(DOCS, "idf", 2)._model.vocabulary
    assert twice == tok.reweight(DOCS, "idf", 1).reweight(DOCS, "idf", 1)._model.vocabulary


@each("objective", ["tfidf", "shortest", "additive", "likelihood", "sentencepiece"])
def test_occurrences_are_what_the_new_tokenizer_encodes_to(objective: str) -> None:
    """Also where ties go another way than in the encoding that decided on weights or tokens."""
    rng = np.random.default_rng(5)
    docs = [rng.integers(0, 3, n).tolist() for n in rng.integers(1, 60, 30)]
    tok = UBPE(30, 3, alphabet=3, objective=objective).fit(docs, progress=False)
    made = [tok.reweight(docs, "idf", n_rounds) for n_rounds in (1, 2, 30)]
    made += [tok.reweight(docs), tok.refine(docs), tok.refine(docs, objective="likelihood")]
    for other in made:
        assert other._model.vocabulary.occurrences.tolist() == other.usage(docs).counts.tolist()  # type: ignore[union-attr]


def test_arguments_of_reweight() -> None:
    refuses(NotFittedError, "", lambda: UBPE().reweight(["ab"]))
    tok = UBPE(10, 2).fit(DOCS, progress=False)
    refuses(ValueError, "weights: expected 'idf' or 'likelihood', got 'best'", tok.reweight, DOCS, "best")
    refuses(ValueError, "n_rounds: expected at least 1", tok.reweight, DOCS, n_rounds=0)
    refuses(UnknownSymbolError, "document 1, position 2", tok.reweight, ["ab", "abx"])
    assert not hasattr(UBPEClassic, "reweight")
