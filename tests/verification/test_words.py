"""The reference that cuts text: `re` with classes spelled out finds what the package `regex` finds."""

from __future__ import annotations

from random import Random

import pytest
from reference import words
from text_samples import POINTS, SAMPLES


def test_cuts_are_the_same_without_the_package_regex(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("regex")
    rng = Random(0)
    texts = [text for line in SAMPLES.splitlines(keepends=True) for text in (line, line.strip(), line.swapcase(), line[::-1])]
    texts += ["".join(rng.choices(POINTS, k=40)) for _ in range(100)]
    want = [[words.places(text, pattern) for pattern in words.PATTERNS] for text in texts]
    monkeypatch.setattr(words, "regex", None)
    assert [[words.places(text, pattern) for pattern in words.PATTERNS] for text in texts] == want
