"""Objectives whose costs add up: the search against the reference, and the k best against brute force."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import decode as reference_decode
from reference import encode_paths
from test_encode import Table, documents, tables

from ubpe_numba import UBPE, Ragged, Vocabulary
from ubpe_numba.coding.k_cheapest import k_best
from ubpe_numba.coding.path_encoder import PathEncoder

SIGNED = st.sampled_from([-2.5, -1.0, -0.25, 0.0, 0.25, 1.0, 3.0])


@given(st.data(), tables())
@settings(max_examples=150)
def test_against_the_reference(data: st.DataObject, table: Table) -> None:
    """Weights of both signs, of symbols too; the k best of short documents are those of brute force."""
    size, pairs, _ = table
    n = size + len(pairs)
    given_weights = data.draw(st.lists(SIGNED, min_size=n, max_size=n))
    docs = data.draw(documents(size, 40))
    tokens = {s: i for i, s in enumerate(reference_decode.expand(pairs, size))}
    weights = dict(enumerate(given_weights))
    vocabulary = Vocabulary.from_merges(size, pairs)
    encoder = PathEncoder(vocabulary, np.array(given_weights))
    want = [list(encode_paths.encode_additive(d, tokens, weights)) for d in docs]
    assert encoder.encode(Ragged.from_lists(docs), "additive", 1).to_lists() == want
    for d, top in zip(docs, want, strict=True):
        assert k_best(encoder, np.array(d, np.int32), "additive", 3)[0][0].tolist() == top
    for d in (d[:9] for d in docs[:2]):
        for objective in ("additive", "shortest"):
            idf = weights if objective == "additive" else {}
            for k in (1, 2, 7, 300):
                found, worth = k_best(encoder, np.array(d, np.int32), objective, k)
                best = encode_paths.k_best_paths(d, tokens, idf, objective, k)
                assert found.to_lists() == [list(path) for path in best]
                sums = [sum(weights[t] for t in path) if idf else -len(path) for path in best]
                assert worth.tolist() == sums


@given(st.data(), tables())
@settings(max_examples=50)
def test_k_shortest_prefer_the_larger_idf(data: st.DataObject, table: Table) -> None:
    size, pairs, idf = table
    doc = data.draw(documents(size, 9).filter(bool))[0]
    tokens = {s: i for i, s in enumerate(reference_decode.expand(pairs, size))}
    weights = {size + i: w for i, w in enumerate(idf)}
    found, _ = k_best(PathEncoder(Vocabulary.from_merges(size, pairs, idf)), np.array(doc, np.int32), "shortest", 10)
    assert found.to_lists() == [list(p) for p in encode_paths.k_best_paths(doc, tokens, weights, "shortest", 10)]


DOCS = ["abab abba", "baab abab", "abc", "", "ccab"]


@pytest.mark.parametrize("given_weights", [None, "idf", "log_frequency", "array"])
def test_weights_and_files(given_weights: Any, tmp_path: Any) -> None:
    tok = UBPE(10, 2, objective="additive").fit(DOCS, progress=False)
    v = tok.vocabulary
    if given_weights == "array":
        given_weights = np.linspace(-1, 1, len(v))
    expected = {
        "log_frequency": [math.log((1 + c) / (len(v) + v.counts.sum())) for c in v.counts.tolist()],
    }.get(given_weights, v.weights.tolist()) if not isinstance(given_weights, np.ndarray) else given_weights.tolist()  # fmt: skip
    before, idf_ids = tok.fingerprint, tok.encode_batch(DOCS)
    tok.set_params(token_weights=given_weights)
    tokens = {tuple(v.sequence(t).tolist()): t for t in range(len(v))}
    ids = tok.alphabet_.to_ids(tok_documents(DOCS))
    want = [list(encode_paths.encode_additive(d, tokens, dict(enumerate(expected)))) for d in ids.to_lists()]
    assert tok.encode_batch(DOCS).to_lists() == want
    assert [tok.encode(d).tolist() for d in DOCS] == want
    assert (tok.fingerprint == before) == (given_weights is None or (isinstance(given_weights, str) and given_weights == "idf"))
    for suffix in (".json", ".npz"):
        tok.save(tmp_path / f"m{suffix}")
        again = UBPE.load(tmp_path / f"m{suffix}")
        assert again.fingerprint == tok.fingerprint
        assert again.encode_batch(DOCS).to_lists() == want
    assert tok.set_params(token_weights=None).encode_batch(DOCS) == idf_ids


def tok_documents(docs: list[str]) -> Any:
    from ubpe_numba.documents.normalise import as_documents

    return as_documents(docs)


def test_weights_of_another_vocabulary_are_refused() -> None:
    tok = UBPE(10, 2, objective="additive").fit(DOCS, progress=False)
    for bad, error in ((np.zeros(3), ValueError), (["x"], TypeError), (np.full(len(tok.vocabulary), np.inf), ValueError)):
        with pytest.raises(error, match="token_weights"):
            tok.set_params(token_weights=bad).encode("ab")


def test_one_document_falls_back_to_fewest_tokens() -> None:
    with pytest.warns(UserWarning, match="every idf is 0"):
        tok = UBPE(8, 2, objective="additive").fit(["abababba"], progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        shortest = UBPE(8, 2, objective="shortest").fit(["abababba"], progress=False)
    for doc in ("abba", "ab" * 20, "b", ""):
        assert tok.encode(doc).tolist() == shortest.encode(doc).tolist()


def test_too_many_tails_are_refused() -> None:
    tok = UBPE(10, 2, objective="additive").fit(DOCS, progress=False)
    with pytest.raises(ValueError, match="n: 1000000000 paths of 4 symbols need"):
        tok.encode_nbest("abab", 10**9)
