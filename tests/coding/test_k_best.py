"""Objectives whose costs add up: the search against the reference, and the k best against trying everything."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pair_tables import Table, documents, named, tables
from reference import encode_paths

from ubpe_numba import UBPE, Ragged
from ubpe_numba.coding.n_best import k_best
from ubpe_numba.coding.path_encoder import PathEncoder
from ubpe_numba.vocabulary.vocabulary import Vocabulary

SIGNED = st.sampled_from([-2.5, -1.0, -0.25, 0.0, 0.25, 1.0, 3.0])


@given(st.data(), tables())
def test_additive_and_k_best_equal_the_reference(data: st.DataObject, table: Table) -> None:
    """Weights of both signs, for symbols too; of short documents the k best, the shortest by the larger idf."""
    size, pairs, learned = table
    n = size + len(pairs)
    given_weights = data.draw(st.lists(SIGNED, min_size=n, max_size=n))
    docs = data.draw(documents(size, 40))
    tokens, idf = named(table)
    weights = dict(enumerate(given_weights))
    encoder = PathEncoder(Vocabulary.from_merges(size, pairs), np.array(given_weights))
    want = [list(encode_paths.encode(d, tokens, weights, "additive")) for d in docs]
    assert encoder.encode(Ragged.from_lists(docs), "additive", 1).to_lists() == want
    by_idf = PathEncoder(Vocabulary.from_merges(size, pairs, learned))
    for d in (d[:9] for d in docs[:2]):
        for search, objective, worths in (
            (encoder, "additive", weights), (encoder, "shortest", {}), (by_idf, "shortest", idf),
        ):  # fmt: skip
            for k in (1, 2, 7, 300):
                found, worth = k_best(search, np.array(d, np.int32), objective, k)
                best = encode_paths.k_best_paths(d, tokens, worths, objective, k)
                assert found.to_lists() == [list(path) for path in best]
                sums = [sum(weights[t] for t in path) if objective == "additive" else -len(path) for path in best]
                assert worth.tolist() == sums


def test_too_many_tails_are_refused() -> None:
    tok = UBPE(10, 2, objective="additive").fit(["abab abba", "baab abab", "abc", "", "ccab"], progress=False)
    with pytest.raises(ValueError, match="n: 1000000000 paths of 4 symbols need"):
        tok.encode_nbest(["abab"], 10**9)[0]
