"""The objectives of `UBPE`."""

from __future__ import annotations

import warnings

import pytest

from ubpe_numba import UBPE


def test_one_document_falls_back_to_fewest_tokens() -> None:
    with pytest.warns(UserWarning, match="every idf is 0"):
        tok = UBPE(8, 2, objective="additive").fit(["abababba"], progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        shortest = UBPE(8, 2, objective="shortest").fit(["abababba"], progress=False)
    for doc in ("abba", "ab" * 20, "b", ""):
        assert tok.encode(doc).tolist() == shortest.encode(doc).tolist()
