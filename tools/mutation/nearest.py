"""Which tests are nearest to a module: its own, those that import it, then those of the modules that import it, and so on.

tests/coding/test_decode.py    is nearest to    ubpe_numba/coding/decode.py
one step from    ubpe_numba/coding/kernels/copy_symbols.py, which decode.py imports
"""

from __future__ import annotations

import ast
import pathlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator


class Imports:
    """Which module of the package imports which, and which file of tests.

    Parameters
    ----------
    root
        The root of a checkout.
    """

    def __init__(self, root: pathlib.Path) -> None:
        self._files = {_name(path, root): path for path in root.glob("ubpe_numba/*/**/*.py")}
        self._importers: defaultdict[str, set[str]] = defaultdict(set)
        for name, path in self._files.items():
            for imported in self._imported(path):
                self._importers[imported].add(name)
        self._tests: defaultdict[str, list[str]] = defaultdict(list)  # of a module
        # tests that import a module themselves
        self._testers: defaultdict[str, list[str]] = defaultdict(list)
        for path in sorted(root.glob("tests/*/**/test_*.py")):
            test = path.relative_to(root).as_posix()
            wing = test.split("/")[1]
            for name in self._files:
                parts = name.split(".")
                if parts[1:2] == [wing] and parts[-1] == path.stem.removeprefix("test_"):
                    self._tests[name].append(test)
            for imported in self._imported(path):
                self._testers[imported].append(test)

    def _imported(self, path: pathlib.Path) -> set[str]:
        found = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
            elif isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
        return found & self._files.keys()

    def users(self, module: str) -> list[str]:
        """A module and all that import it, directly or not, nearest first; within a distance those of its own wing first.

        >>> imports = Imports(pathlib.Path(__file__).parents[2])
        >>> imports.users("ubpe_numba.coding.kernels.decode")[:2]
        ['ubpe_numba.coding.kernels.decode', 'ubpe_numba.coding.decode']
        """
        wing = module.split(".")[1]
        seen, level = [module], [module]
        while level:
            found = {name for one in level for name in self._importers[one]} - set(seen)
            level = sorted(found, key=lambda name: (name.split(".")[1] != wing, name))
            seen += level
        return seen

    def tests(self, module: str) -> list[str]:
        """Files of tests, nearest first; at the end what else there is in the folder of the wing."""
        nearest = dict.fromkeys(self._tests[module] + self._testers[module])
        for name in self.users(module)[1:]:
            nearest |= dict.fromkeys(self._tests[name])
        wing = module.split(".")[1]
        rest = {
            test
            for of in (*self._tests.values(), *self._testers.values())
            for test in of
            if test.split("/")[1] == wing
        }
        return list(nearest | dict.fromkeys(sorted(rest)))


class Names:
    """What of the compiled code uses what is defined in a file of kernels, and where Python names it.

    Parameters
    ----------
    root
        The root of a checkout.
    """

    def __init__(self, root: pathlib.Path) -> None:
        trees = {
            _name(path, root): (path, ast.parse(path.read_text()))
            for path in sorted(root.glob("ubpe_numba/**/*.py"))
        }
        self._defined = {
            name: {one for top in tree.body for one in _defined(top)} for name, (_, tree) in trees.items()
        }
        self._imported = {name: dict(_imports(tree)) for name, (_, tree) in trees.items()}
        self._users: defaultdict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
        self._places: defaultdict[tuple[str, str], set[tuple[str, int]]] = defaultdict(set)
        for name, (path, tree) in trees.items():
            file = path.relative_to(root).as_posix()
            for top in tree.body:
                for used, line in self._used(name, top):
                    if is_kernel(file):
                        self._users[used] |= {(name, one) for one in _defined(top)}
                    else:
                        self._places[used].add((file, line))

    def users(self, module: str, source: str, line: int) -> set[tuple[str, str]]:
        r"""What is defined in a line of a file of kernels, and all kernels, helpers and constants that use it, directly or not.

        >>> names, module = Names(pathlib.Path(__file__).parents[2]), "ubpe_numba.runtime.tables.automaton"
        >>> found = names.users(module, "def longest_match(states, state):\n    pass", 2)
        >>> [f"ubpe_numba.coding.kernels.{name}" in dict(found) for name in ("n_best", "decode")]
        [True, False]
        """
        seen = {
            (module, name)
            for name in _defined([top for top in ast.parse(source).body if top.lineno <= line][-1])
        }
        left = list(seen)
        while left:
            new = self._users[left.pop()] - seen
            seen |= new
            left += new
        return seen

    def places(self, users: Iterable[tuple[str, str]]) -> set[tuple[str, int]]:
        """The files and lines of Python that use one of these names."""
        return {place for user in users for place in self._places[user]}

    def _used(self, module: str, top: ast.stmt) -> Iterator[tuple[tuple[str, str], int]]:
        """Every name of a module in a statement of a file, and its line."""
        for node in ast.walk(top):
            if isinstance(node, ast.Name):
                found = self._resolved(module, node.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                found = self._resolved(self._imported[module].get(node.value.id, ""), node.attr)
            else:
                continue
            if found:
                yield found, node.lineno

    def _resolved(self, module: str, name: str) -> tuple[str, str] | None:
        """Where a name is defined, through modules that import it."""
        for _ in range(3):
            if name in self._defined.get(module, ()):
                return module, name
            module, _, name = self._imported.get(module, {}).get(name, "").rpartition(".")
        return None


def is_kernel(path: str) -> bool:
    """Whether a file is compiled."""
    return bool(re.search(r"/kernels/|runtime/(machine|tables)/", path))


def _defined(top: ast.stmt) -> set[str]:
    """The names that a statement of a file defines."""
    if isinstance(top, ast.FunctionDef | ast.ClassDef):
        return {top.name}
    return {
        node.id for node in ast.walk(top) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The names that a file imports anywhere, and what they are."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)


def _name(path: pathlib.Path, root: pathlib.Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
