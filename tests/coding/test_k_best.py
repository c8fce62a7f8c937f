"""Objectives whose costs add up: the search against the reference, and the k best against trying everything."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pair_tables import Table, documents, tables
from reference import decode as reference_decode
from reference import encode_paths

from ubpe_numba import UBPE, Ragged
from ubpe_numba.coding.n_best import k_best
from ubpe_numba.coding.path_encoder import PathEncoder
from ubpe_numba.vocabulary.vocabulary import Vocabulary

SIGNED = st.sampled_from([-2.5, -1.0, -0.25, 0.0, 0.25, 1.0, 3.0])


@given(st.data(), tables())
def test_additive_and_k_best_equal_the_reference(data: st.DataObject, table: Table) -> None:
    """Weights of both signs, for symbols too; the k best of short documents are found by trying everything."""
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


def test_too_many_tails_are_refused() -> None:
    tok = UBPE(10, 2, objective="additive").fit(DOCS, progress=False)
    with pytest.raises(ValueError, match="n: 1000000000 paths of 4 symbols need"):
        tok.encode_nbest(["abab"], 10**9)[0]
