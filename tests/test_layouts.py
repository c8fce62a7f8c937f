"""The page of layouts says what entry points take for documents and what they refuse: `tools/layouts.py` makes it by trying."""

import layouts
import pytest


def test_the_page_says_what_happens() -> None:
    for name in ("awkward", "distributed", "pandas", "polars", "pyarrow", "sklearn"):
        pytest.importorskip(name, exc_type=ImportError)
    found, expected = layouts.made()
    assert found.splitlines() == expected.splitlines() and "FAULT" not in found
