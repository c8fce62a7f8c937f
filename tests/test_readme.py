"""The Python of the README and of the pages in docs runs."""

from __future__ import annotations

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parent.parent
PAGES = ("README.md", "docs/distributed.md")
BLOCKS = {page: re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL) for page in PAGES}


@pytest.mark.parametrize(("page", "i"), [(page, i) for page in PAGES for i in range(len(BLOCKS[page]))])
def test_python_blocks_run(page: str, i: int) -> None:
    block = BLOCKS[page][i]
    if "dask" in block:
        pytest.importorskip("distributed")
    exec(compile(block, page, "exec"), {"__name__": "__main__"})


def test_round_trip_fits_in_ten_lines() -> None:
    assert len([line for line in BLOCKS["README.md"][0].splitlines() if line.strip()]) <= 10
