"""Which tests are nearest to a module: its own, those that import it, then those of the modules that import it, and so on.

tests/coding/test_decode.py    is nearest to    ubpe_numba/coding/decode.py
one step from    ubpe_numba/coding/kernels/copy_symbols.py, which decode.py imports
"""

from __future__ import annotations

import ast
import pathlib
from collections import defaultdict


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
        self._testers: defaultdict[str, list[str]] = defaultdict(list)  # tests that import a module themselves
        for path in sorted(root.glob("tests/*/test_*.py")):
            wing, test = path.parent.name, path.relative_to(root).as_posix()
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
        rest = {test for of in (*self._tests.values(), *self._testers.values()) for test in of if test.split("/")[1] == wing}
        return list(nearest | dict.fromkeys(sorted(rest)))


def _name(path: pathlib.Path, root: pathlib.Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
