"""The examples of the site's pages run, and give what the pages say; the tutorials are executed when the site is built."""

import doctest
import pathlib
import re

import pytest
from integrations.conftest import needed

DOCS = pathlib.Path(__file__).parent.parent / "docs"
FOLDERS = ("coming_from", "do", "understand")
PAGES = [page for folder in FOLDERS for page in sorted((DOCS / folder).glob("*.md"))]
#: Blocks that are run: sessions, whose outputs are compared, and scripts. Other blocks are for a shell, or
#: text.
BLOCK = re.compile(r"^```(pycon|python)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
WITH_EXAMPLES = [page for page in PAGES if BLOCK.search(page.read_text(encoding="utf-8"))]
#: What blocks of a page import; where it is missing the page is not run.
NEEDED = (
    "tokenizers", "tiktoken", "rustbpe", "sentencepiece", "dask", "miditok", "pyfastx", "Bio", "transformers", "polars",
    "datasets", "sklearn",
)  # fmt: skip


def name_of(page: pathlib.Path) -> str:
    return page.relative_to(DOCS).as_posix()


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=name_of)
def test_examples_run(page: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All blocks of a page in order, in one namespace and in a folder of their own."""
    text = page.read_text(encoding="utf-8")
    blocks = list(BLOCK.finditer(text))
    code = "\n".join(block[2] for block in blocks)
    for module in NEEDED:
        if re.search(rf"(import|from) {module}\b|export\([^\"]*\"{module}\"", code):
            needed("distributed" if module == "dask" else module)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks:
        line = text.count("\n", 0, block.start(2))
        if block[1] == "python":
            exec(compile("\n" * line + block[2], str(page), "exec"), names)
            continue
        examples = doctest.DocTestParser().get_doctest(block[2], names, name_of(page), str(page), line)
        report: list[str] = []
        doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(
            examples, out=report.append, clear_globs=False
        )
        assert not report, "".join(report)
        names = examples.globs


def test_pages_are_in_their_index_and_those_of_other_libraries_have_a_table_and_a_session() -> None:
    for folder in ("learn", *FOLDERS):
        index = (DOCS / folder / "index.md").read_text(encoding="utf-8")
        listed = set(re.search(r"```\{toctree\}(.*?)```", index, re.DOTALL)[1].split())  # type: ignore[index]
        assert {page.stem for page in (DOCS / folder).glob("*.md")} - {"index"} <= listed
    for page in PAGES:
        if page.parent.name == "coming_from" and page.stem != "index":
            text = page.read_text(encoding="utf-8")
            assert text.count("\n| before | after | difference |\n|---|---|---|\n") == 1, page
            assert "```pycon\n" in text, page
