"""The fuzzing of text reports a difference."""

from __future__ import annotations

import pytest
from fuzz import fuzz_text
from fuzz.fuzz_text import fuzz, make


def test_a_difference_is_found_and_can_be_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    split = fuzz_text.words.split
    monkeypatch.setattr(fuzz_text.words, "split", lambda doc, pattern: split(doc, pattern)[::-1])
    with pytest.raises(AssertionError, match=r"(?s)cuts.*\nCase.*\nmake\(\d+\)$"):
        fuzz(10_000, seed=1)
    assert make(5) == make(5) != make(6)
