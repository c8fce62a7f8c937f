"""The lint of phrases: sentences of the README, the pages, docstrings and comments that readers stumble over.

`python tools/prose.py [FILES]` lists them. `phrases.txt` has the phrases; `tests/test_budgets.py` has limits
for their numbers.
"""

import ast
import io
import pathlib
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator

ROOT = pathlib.Path(__file__).parents[1]
#: Phrases that must not occur in the library, and those that have a budget: regular expressions.
FORBIDDEN, STUMBLING = (
    [line.split("\t")[0] for line in part.splitlines() if line[0] != "#"]
    for part in (ROOT / "tools" / "phrases.txt").read_text("utf-8").split("\n\n")
)
#: Words of a sentence that is read in one go.
LONGEST = 30


def prose_of(path: pathlib.Path) -> str:
    """The docstrings and comments of a file of Python, or a page; without code, cells of tables as paragraphs."""
    text = path.read_text("utf-8")
    if path.suffix == ".md":
        text = re.sub(r"```.*?```|::::?.*?\n|<!--.*?-->|\$[^$]*\$", " ", text, flags=re.DOTALL)
        return re.sub(
            r"`[^`\n]*`|\]\([^)]*\)", "X", re.sub(r"\||\n *(?=- |#)|(?<=\n)(?=\d\. )", "\n\n", text)
        )
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    comments = [
        token.string.lstrip("#: ") if token.type == tokenize.COMMENT else ""
        for token in tokens
        if token.type != tokenize.NL
    ]
    nodes = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
    ]
    docs = "\n\n".join(ast.get_docstring(node) or "" for node in nodes)
    docs = re.sub(r"(?m)^ *(>>>|\.\.\.).*$", "", docs)
    # a section, the name of a field, or an item begins a paragraph
    docs = re.sub(
        r"(?m)^ *-{3,}$|^ *[\w*, ]+ : .*$|^( *)[\w*, ]+\n(?=\1 {4}\S)|^(?= *[-*] )", r"\n\g<0>\n", docs
    )
    # a figure is no sentence
    docs = "\n\n".join(p for p in re.split(r"\n\s*\n", docs) if not re.search(r"[^\s.!?] {2,}\S", p))
    return re.sub(r"``[^`]*``|`[^`]*`", "X", docs + "\n\n" + "\n".join(comments))


def stumbling(paths: Iterable[pathlib.Path] = ()) -> Iterator[str]:
    """Sentences with a phrase of the list, or of more than `LONGEST` words, as `file: phrase: sentence`."""
    any_of = re.compile("|".join(STUMBLING))
    for path in paths or (
        ROOT / "README.md",
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "ubpe_numba").rglob("*.py"),
    ):
        for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z])|\n\s*\n", prose_of(path)):
            for pattern in STUMBLING if any_of.search(sentence) else ():
                for phrase in re.finditer(pattern, sentence):
                    yield f"{path.absolute().relative_to(ROOT)}: {phrase[0]}: {' '.join(sentence.split())}"
            if len(sentence.split()) > LONGEST:
                yield f"{path.absolute().relative_to(ROOT)}: long: {' '.join(sentence.split())}"


if __name__ == "__main__":
    print(*stumbling([*map(pathlib.Path, sys.argv[1:])]), sep="\n")
