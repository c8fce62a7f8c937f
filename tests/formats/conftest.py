"""Lines of English."""

import pytest
from foreign import english


@pytest.fixture(scope="module")
def lines() -> list[str]:
    return english()
