"""Size of the library as a reader meets it: what `test_budgets.py` holds below its limits, and `python tests/budgets.py` prints.

A token of code is a name, number, string or operator of Python, or a word, number, string or sign of the
explorer's pages. Docstrings, comments and layout are free, so packing a line wins nothing. Each figure is
shown beside that of the last release, which `released_sizes.json` holds. `--write` replaces that file;
`--phrases` lists phrases to reword, `--private` the uses of private names.
"""

import ast
import importlib
import inspect
import io
import json
import pathlib
import pydoc
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

ROOT = pathlib.Path(__file__).parent.parent
PACKAGE = ROOT / "ubpe_numba"
sys.path.append(str(ROOT / "tools"))
prose = importlib.import_module("prose")
RELEASED = pathlib.Path(__file__).with_name("released_sizes.json")
#: Folders of the core; all others are wings.
CORE = ("documents", "text", "vocabulary", "coding", "fitting", "tokenizers", "runtime")
#: Modules that own a constraint of a fit, and the words by which other lines ask for one.
CONSTRAINTS = {"frames.py", "mirror.py", "runs.py", "constraints.py"}
CONSTRAINT = re.compile(r"\b(?:frames?|mirrors?|runs)\b")
#: Names of variables that do not say what they hold.
VAGUE = {"found", "made", "given", "told", "kept", "said"}
#: Public methods that begin with an underscore only to be no fields: of named tuples, and of structures in
#: numba's extensions.
OF_RECORDS = {"_replace", "_asdict", "_fields", "_make", "_getvalue"}
CODE = {tokenize.OP, tokenize.NAME, tokenize.NUMBER, tokenize.STRING}


def sources(folder: pathlib.Path = PACKAGE) -> list[pathlib.Path]:
    """All Python files of a folder."""
    return sorted(folder.rglob("*.py"))


def wing(path: pathlib.Path) -> str:
    """The folder of the package that a file belongs to: its wing, `.` for modules of the package itself."""
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else "."


def docstrings(tree: ast.AST) -> set[int]:
    """The lines of all docstrings."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(
            node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        ) and ast.get_docstring(node):
            lines.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return lines


def code_tokens(text: str, tree: ast.AST) -> list[tokenize.TokenInfo]:
    """The tokens of code of a Python file."""
    prose = docstrings(tree)
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [token for token in tokens if token.type in CODE and token.start[0] not in prose]


def concepts_of(path: pathlib.Path) -> Counter[str]:
    """The figures of one Python file, which are added up."""
    text = path.read_text("utf-8")
    tree = ast.parse(text)
    tokens = code_tokens(text, tree)
    sizes = Counter({"tokens": len(tokens), "lines of code": len({token.start[0] for token in tokens})})
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            sizes["functions"] += 1
            arguments = node.args
            n_arguments = len(arguments.posonlyargs) + len(arguments.args) + len(arguments.kwonlyargs)
            sizes["functions of ten arguments and more"] += n_arguments >= 10
        sizes["classes"] += isinstance(node, ast.ClassDef)
        sizes["raises"] += isinstance(node, ast.Raise)
        sizes["vague names"] += (
            isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in VAGUE
        )
    if path.name not in CONSTRAINTS:
        sizes["constraint lines"] = len(
            {token.start[0] for token in tokens if CONSTRAINT.search(token.string)}
        )
    return sizes


def concepts() -> dict[str, float]:
    """Tokens by folder, of core, wings, pages and tests; functions, classes, modules and what makes them hard to read."""
    wings: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    longest = 0
    for path in sources():
        of_file = concepts_of(path)
        longest = max(longest, of_file["tokens"])
        wings[wing(path)] += of_file["tokens"]
        sizes.update(of_file)
    core = sum(wings[name] for name in CORE)
    tests: Counter[str] = Counter()
    for path in sources(ROOT / "tests"):
        tests.update(concepts_of(path))
    return {
        **{
            f"tokens of {name}/" if name != "." else "tokens of other modules": wings[name]
            for name in sorted(wings)
        },
        "tokens of the core": core,
        "tokens of the wings": sizes["tokens"] - core,
        "tokens": sizes["tokens"],
        "tokens of the explorer's pages": page_tokens(),
        "tokens of the largest file": longest,
        "tokens per line of code": round(sizes["tokens"] / sizes["lines of code"], 1),
        **{name: sizes[name] for name in ("functions", "classes")},
        "modules": sum(path.name != "__init__.py" for path in sources()),
        **{
            name: sizes[name]
            for name in ("functions of ten arguments and more", "raises", "vague names", "constraint lines")
        },
        "private uses in wings": sum(1 for _ in private_uses()),
        "tokens of tests": tests["tokens"],
        "tokens per line of tests": round(tests["tokens"] / tests["lines of code"], 1),
    }


def page_tokens() -> int:
    """Words, numbers, strings and signs of the pages that run in a browser, without comments."""
    n_tokens = 0
    for path in PACKAGE.rglob("*"):
        if path.suffix in (".js", ".html", ".css"):
            code = re.sub(r"//[^\n]*|/\*.*?\*/|<!--.*?-->", "", path.read_text("utf-8"), flags=re.S)
            n_tokens += len(re.findall(r"\w+|\"[^\"\n]*\"|'[^'\n]*'|[^\w\s]", code))
    return n_tokens


def is_private(name: str) -> bool:
    """Whether a name is private: one underscore before it, and no method of named tuples."""
    return name.startswith("_") and not name.startswith("__") and name not in OF_RECORDS and len(name) > 1


def private_uses() -> Iterator[str]:
    """Uses, in wings, of private names that their own folder does not define, as `file:line: name`.

    These are names of the core, or of another package: attributes, names that are imported, and names in
    `getattr` and `setattr`.
    """
    trees = {path: ast.parse(path.read_text("utf-8")) for path in sources() if wing(path) not in CORE}
    own: dict[str, set[str]] = {}
    for path, tree in trees.items():
        defined = own.setdefault(wing(path), set())
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                defined.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                defined.add(node.id)
            elif (
                isinstance(node, ast.Attribute)
                and isinstance(node.ctx, ast.Store)
                and ast.unparse(node.value) in ("self", "cls")
            ):
                defined.add(node.attr)
    for path, tree in trees.items():
        for node in ast.walk(tree):
            names: list[str] = []
            if isinstance(node, ast.Attribute):
                names = [node.attr]
            elif isinstance(node, ast.ImportFrom):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("getattr", "setattr", "hasattr"):
                names = [
                    part.value
                    for part in node.args
                    if isinstance(part, ast.Constant) and isinstance(part.value, str)
                ]
            for name in names:
                if is_private(name) and name not in own[wing(path)]:
                    yield f"{path.relative_to(ROOT)}:{node.lineno}: {name}"


def arrows() -> dict[str, set[str]]:
    """The modules of the package that each one imports, anywhere in it: deferred and for type checking, too."""
    names = {_module(path): path for path in sources()}
    found: dict[str, set[str]] = {name: set() for name in names}
    for name, path in names.items():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found[name] |= {to for alias in node.names if (to := f"{node.module}.{alias.name}") in names}
                if node.module in names and not all(
                    f"{node.module}.{alias.name}" in names for alias in node.names
                ):
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
    any_of = re.compile("|".join(prose.FORBIDDEN))
    for path in sources():
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if phrase := any_of.search(line):
                yield f"{path.relative_to(ROOT)}:{number}: {phrase[0]}"


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
    return list(ours.values()), sum(name.startswith("ubpe_numba.text") for name in ours)

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
files, text = loaded()
print(json.dumps({
    "files of a fit": fit[0], "crossings of a fit": fit[2],
    "files of a first encode": encode[0], "calls of a first encode": encode[1], "files of a first decode": decode[0],
    "modules of text loaded for integers": text, "files": files,
}))
"""


def journeys() -> dict[str, int]:
    """Files, calls and crossings of files of the first fit, encode and decode of integers, and modules that these load."""
    for _ in range(2):  # the first may compile kernels, which loads more than the journeys themselves
        done = subprocess.run(
            [sys.executable, "-c", _JOURNEYS], capture_output=True, text=True, cwd=ROOT, check=True
        )
    figures = json.loads(done.stdout)
    files = [pathlib.Path(file) for file in figures.pop("files")]
    n_tokens = sum(concepts_of(file)["tokens"] for file in files)
    return {**figures, "modules loaded for integers": len(files), "tokens loaded for integers": n_tokens}


def surface() -> dict[str, int]:
    """What a user meets: public names, parameters of the constructors, lines of help, the README."""
    import ubpe_numba

    classes = ubpe_numba.BPE, ubpe_numba.UBPE, ubpe_numba.WordPiece
    found = {"names of the package": len(ubpe_numba.__all__)}
    found |= {
        f"names of {cls.__name__}": sum(not name.startswith("_") for name in dir(cls)) for cls in classes
    }
    most = max(len(inspect.signature(cls).parameters) for cls in (*classes, ubpe_numba.UBPEClassic))
    found["parameters of a constructor"] = most
    found["lines of help(BPE)"] = pydoc.render_doc(ubpe_numba.BPE, renderer=pydoc.plaintext).count("\n")
    readme = (ROOT / "README.md").read_text("utf-8")
    return {**found, "lines of the README": readme.count("\n"), "words of the README": len(readme.split())}


def measured() -> dict[str, float]:
    """Every figure that has a budget."""
    more = {
        "circles of modules": len(circles()),
        "layers": layers(),
        "phrases to reword": sum(1 for _ in phrases()),
    }
    kinds = Counter("long" if ": long: " in line else "phrase" for line in prose.stumbling())
    more |= {"phrases to stumble over": kinds["phrase"], "sentences of more than 30 words": kinds["long"]}
    return {**concepts(), **journeys(), **more, **surface()}


def main(*options: str) -> None:
    """Print all figures and their differences to the last release."""
    figures = measured()
    if "--write" in options:
        RELEASED.write_text(json.dumps(figures, indent=1) + "\n")
    released = json.loads(RELEASED.read_text())
    for name in [*figures, *(released.keys() - figures.keys())]:
        value, before = figures.get(name, 0), released.get(name, 0)
        print(f"{value:9,} {f'{value - before:+,.6g}' if value != before else '':>9}  {name}")
    for group in circles():
        print("circle:", *group, sep="\n  ")
    for option, lines in (("--phrases", phrases), ("--private", private_uses)):
        if option in options:
            print(*lines(), sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
