"""Lines of English."""

from __future__ import annotations

import pytest
from foreign import english


@pytest.fixture(scope="module")
def lines() -> list[str]:
    return english()
