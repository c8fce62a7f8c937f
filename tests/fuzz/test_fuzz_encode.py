"""The fuzzing of encoders on a few symbols, and that it reports a difference."""

from __future__ import annotations

import pytest
from fuzz import fuzz_encode
from fuzz.fuzz_encode import fuzz, make


def test_thirty_thousand_symbols_without_a_difference() -> None:
    assert fuzz(30_000, seed=12) >= 30_000


def test_a_difference_is_found_and_can_be_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(case: fuzz_encode.Case) -> tuple[object, object]:
        found, want = fuzz_encode.by_batch(case)
        return found, [ids[::-1] for ids in want]

    monkeypatch.setattr(fuzz_encode, "CHECKS", [wrong])
    with pytest.raises(AssertionError, match=r"wrong differs:\nCase.*\nmake\(\d+\)\nfound .*\nwanted"):
        fuzz(10_000, seed=1)
    assert make(5) == make(5) != make(6)
