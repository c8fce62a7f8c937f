"""The fuzzing of `UBPE.refine` reports a difference."""

from __future__ import annotations

import pytest
from fuzz.fuzz_refine import fuzz, make

from ubpe_numba.fitting.vocabulary_search import SwapSearch


def test_a_difference_is_found_and_can_be_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    fill = SwapSearch.fill
    monkeypatch.setattr(SwapSearch, "fill", lambda search, *how: fill(search, *how)[:-1])
    with pytest.raises(AssertionError, match=r"(?s)occur 2 times.*\nCase.*\nmake\(\d+\)$"):
        fuzz(30, seed=1)
    assert repr(make(5)) == repr(make(5)) != repr(make(6))
