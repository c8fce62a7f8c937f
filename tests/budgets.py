"""Size of the library in concepts: what `test_budgets.py` holds below its limits, and `python tests/budgets.py` prints."""

import ast
import inspect
import json
import pathlib
import pydoc
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

ROOT = pathlib.Path(__file__).parent.parent
PACKAGE = ROOT / "ubpe_numba"
#: Phrases of a private language, and what plain technical English has for them.
PHRASES = {
    r'"""What\b': "begin a summary with a verb or a noun",
    r'"""(That|Those) of\b': "name the thing",
    r'"""The same\b': "name the thing",
    r"\bstands? (for|in|at|behind|beside|alone|on)\b": "is, lies, represents, is isolated",
    r"\bstood\b": "was",
    r"\bbehind\b": "after, follows",
    r"\b(is|are|was|were) asked for\b": "is requested",
    r"\bgo(es)? with\b": "matches, belongs to",
    r"\bwithout a word\b": "silently",
    r"\bsay so\b": "report it",
    r"\bwhat becomes of\b": "treatment of",
    r"\bwhatever it is\b": "any",
    r"\bfor good\b": "permanently",
    r"\bat a time like\b": "as",
    r"\bto and fro\b": "there and back: a round trip",
    r"\bof its own accord\b": "by itself",
    r"\bnobody (asks|reads)\b": "unused",
    r"\bis told of\b": "is given",
    r"\bbelow one another\b": "in rows",
    r"\bof (these|those) the\b": "name them",
}


def sources() -> list[pathlib.Path]:
    """All Python files of the package."""
    return sorted(PACKAGE.rglob("*.py"))


def concepts() -> dict[str, int]:
    """Lines, lines of code, functions, classes, modules, and lines of the longest file."""
    lines = code = functions = classes = longest = 0
    for path in sources():
        text = path.read_text("utf-8")
        n = text.count("\n")
        lines, longest = lines + n, max(longest, n)
        prose = 0
        for node in ast.walk(ast.parse(text)):
            functions += isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            classes += isinstance(node, ast.ClassDef)
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and ast.get_docstring(node):
                first = node.body[0]
                prose += (first.end_lineno or 0) - first.lineno + 1
        blank = sum(not line.strip() or line.lstrip().startswith("#") for line in text.splitlines())
        code += n - prose - blank
    found = {"lines": lines, "lines of code": code, "functions": functions, "classes": classes}
    return {**found, "modules": len(sources()), "lines of the longest file": longest}


def arrows() -> dict[str, set[str]]:
    """The modules of the package that each one imports, anywhere in it: deferred and for type checking, too."""
    names = {_module(path): path for path in sources()}
    found: dict[str, set[str]] = {name: set() for name in names}
    for name, path in names.items():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found[name] |= {to for alias in node.names if (to := f"{node.module}.{alias.name}") in names}
                if node.module in names and not all(f"{node.module}.{alias.name}" in names for alias in node.names):
                    found[name].add(node.module)
            elif isinstance(node, ast.Import):
                found[name] |= {alias.name for alias in node.names if alias.name in names}
    root = PACKAGE.name  # its table of homes imports nothing before it is used
    found[root] = set()
    return {name: to - {name, root} for name, to in found.items()}


def _module(path: pathlib.Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def circles() -> list[list[str]]:
    """A group of modules that import one another, if there is one."""
    try:
        TopologicalSorter(arrows()).prepare()
    except CycleError as error:
        return [error.args[1]]
    return []


def phrases() -> Iterator[str]:
    """Where a phrase of the private language is written in the library, as `file:line: phrase`."""
    any_of = re.compile("|".join(PHRASES))
    for path in sources():
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            for pattern in PHRASES if any_of.search(line) else ():
                if re.search(pattern, line):
                    yield f"{path.relative_to(ROOT)}:{number}: {pattern}"


def layers() -> int:
    """Floors of the contract of imports."""
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return max(len(contract.get("layers", ())) for contract in known)


_JOURNEYS = r"""
import json, os, sys
import numpy as np
import ubpe_numba
from ubpe_numba import BPE

def loaded():
    ours = {name: module.__file__ for name, module in sys.modules.items() if name.split(".")[0] == "ubpe_numba"}
    lines = sum(open(file, encoding="utf-8").read().count("\n") for file in ours.values())
    return len(ours), lines, sum(name.startswith("ubpe_numba.text") for name in ours)

root = os.path.dirname(ubpe_numba.__file__) + os.sep
docs = np.random.default_rng(0).integers(0, 20, (3, 5000))

def trace(work):
    files = []
    def profile(frame, event, _):
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(root) and frame.f_code.co_name not in ("<module>",):
            files.append(name[len(root):])
    sys.setprofile(profile)
    try:
        made = work()
    finally:
        sys.setprofile(None)
    return [len(set(files)), len(files), sum(a != b for a, b in zip(files, files[1:]))], made

warm = BPE(300).fit([docs[0].tolist()], progress=False)
warm.decode(warm.encode(docs[1][:300].tolist()))
fit, tok = trace(lambda: BPE(300).fit([docs[0].tolist()], progress=False))
encode, ids = trace(lambda: tok.encode(docs[1][:300].tolist()))
decode, _ = trace(lambda: tok.decode(ids))
modules, lines, text = loaded()
print(json.dumps({
    "files of a fit": fit[0], "crossings of a fit": fit[2],
    "files of a first encode": encode[0], "calls of a first encode": encode[1], "files of a first decode": decode[0],
    "modules loaded for integers": modules, "lines loaded for integers": lines, "modules of text loaded for integers": text,
}))
"""


def journeys() -> dict[str, int]:
    """Files, calls and crossings of files of the first fit, encode and decode of integers, and modules that these load."""
    for _ in range(2):  # the first may compile kernels, which loads more than the journeys themselves
        done = subprocess.run([sys.executable, "-c", _JOURNEYS], capture_output=True, text=True, cwd=ROOT, check=True)
    found: dict[str, int] = json.loads(done.stdout)
    return found


def surface() -> dict[str, int]:
    """What a user meets: public names, parameters of the constructors, lines of help, the README."""
    import ubpe_numba

    classes = ubpe_numba.BPE, ubpe_numba.UBPE, ubpe_numba.WordPiece
    found = {"names of the package": len(ubpe_numba.__all__)}
    found |= {f"names of {cls.__name__}": sum(not name.startswith("_") for name in dir(cls)) for cls in classes}
    most = max(len(inspect.signature(cls).parameters) for cls in (*classes, ubpe_numba.UBPEClassic))
    found["parameters of a constructor"] = most
    found["lines of help(BPE)"] = pydoc.render_doc(ubpe_numba.BPE, renderer=pydoc.plaintext).count("\n")
    readme = (ROOT / "README.md").read_text("utf-8")
    return {**found, "lines of the README": readme.count("\n"), "words of the README": len(readme.split())}


def measured() -> dict[str, int]:
    """Every figure that has a budget."""
    more = {"circles of modules": len(circles()), "layers": layers(), "phrases to reword": sum(1 for _ in phrases())}
    return {**concepts(), **journeys(), **more, **surface()}


if __name__ == "__main__":
    for name, value in measured().items():
        print(f"{value:8,}  {name}")
    for group in circles():
        print("circle:", *group, sep="\n  ")
    if "--phrases" in sys.argv:
        print(*phrases(), sep="\n")
