"""The Python of the README and of the pages in docs runs."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = ("README.md", "docs/distributed.md")
BLOCKS = {
    page: re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
    for page in PAGES
}


@pytest.mark.parametrize(("page", "i"), [(page, i) for page in PAGES for i in range(len(BLOCKS[page]))])
def test_python_blocks_run(page: str, i: int) -> None:
    block = BLOCKS[page][i]
    if "dask" in block:
        pytest.importorskip("distributed")
    exec(compile(block, page, "exec"), {"__name__": "__main__"})


def test_the_first_example_is_short_and_comes_first() -> None:
    assert README.splitlines()[5] == "```python" and BLOCKS["README.md"][0].count("\n") <= 10


def test_pages_that_the_readme_names_are_links_to_files() -> None:
    linked = {target for target in re.findall(r"\]\(([^)\s]+)\)", README) if "://" not in target}
    assert len(linked) > 30 and [target for target in linked if not (ROOT / target).is_file()] == []
    assert set(re.findall(r"docs/[\w./]+\.md", README)) <= linked
