"""Lines of English, and tokenizers fitted on them with every pretokenizer."""

from __future__ import annotations

from typing import Any

import pytest
from foreign import END, MIXED, english

from ubpe_numba import BPE


@pytest.fixture(scope="module")
def lines() -> list[str]:
    return english()


@pytest.fixture(scope="module", params=["gpt2", "cl100k", "o200k", "[^ ]+ ?", None])
def tok(request: pytest.FixtureRequest, lines: list[str]) -> Any:
    """Fitted on a mixture, so that tokens cross characters of several bytes."""
    docs = lines[:2000] + MIXED * 20
    return BPE.for_text(1500, pretokenizer=request.param, special_tokens=[END, "<é>"]).fit(docs, progress=False)
