"""A browser for tests: Chromium of the system, driven by playwright. Skipped without one; UBPE_NEED_BROWSER=1: failed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome")


def _missing(reason: str) -> None:
    if os.environ.get("UBPE_NEED_BROWSER") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium without a window."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _missing("no browser tests: playwright is not installed (pip install 'ubpe-numba[browser]')")
    path = next(filter(None, map(shutil.which, _NAMES)), None)
    if path is None:
        _missing(f"no browser tests: none of {', '.join(_NAMES)} is on the PATH")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()
