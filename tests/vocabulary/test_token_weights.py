"""The weights of tokens that the user gives."""

import math
from typing import Any

import numpy as np
from reference import encode_paths
from tables import each, refuses

from ubpe_numba import UBPE
from ubpe_numba.documents.read import as_documents

DOCS = ["abab abba", "baab abab", "abc", "", "ccab"]


@each("given_weights", ["additive", "log_frequency", np.linspace(-1, 1, 8)])
def test_weights_of_tokens(given_weights: Any) -> None:
    tok = UBPE(10, 2, objective="additive").fit(DOCS, progress=False)
    v = tok._model.vocabulary
    logarithms = [math.log((1 + c) / (len(v) + v.counts.sum())) for c in v.counts.tolist()]
    named = {"log_frequency": logarithms, "additive": v.weights.tolist()}
    expected = named[given_weights] if isinstance(given_weights, str) else given_weights.tolist()
    before, idf_ids = tok.fingerprint, tok.encode_batch(DOCS)
    tok.set_params(objective=given_weights)
    tokens = {tuple(v.sequence(t).tolist()): t for t in range(len(v))}
    ids = tok._model.alphabet.to_ids(as_documents(DOCS))
    want = [
        list(encode_paths.encode(d, tokens, dict(enumerate(expected)), "additive")) for d in ids.to_lists()
    ]
    assert tok.encode_batch(DOCS).to_lists() == [tok.encode(d).tolist() for d in DOCS] == want
    assert (tok.fingerprint == before) == (expected == named["additive"])
    assert tok.set_params(objective="additive").encode_batch(DOCS) == idf_ids
    for bad, error in ((np.zeros(3), ValueError), (["x"], TypeError), (np.full(len(v), np.inf), ValueError)):
        refuses(error, "^objective", lambda bad=bad: tok.set_params(objective=bad).encode("ab"))
