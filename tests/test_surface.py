"""The public surface is the one that `surface.txt` has: a change of a name, a parameter or a default is meant, and is seen.

`python tests/test_surface.py` writes the file anew.
"""

import difflib
import importlib
import inspect
import pathlib
import re
from collections.abc import Iterator
from typing import Any

import ubpe_numba

FILE = pathlib.Path(__file__).with_name("surface.txt")
_HOMES = re.compile(r"\b(?:ubpe_numba|numpy|typing|collections|abc)\.(?:\w+\.)*(?=\w)")


def described(name: str, thing: Any) -> str:
    """A name, with the parameters, defaults and errors of what can be called."""
    thing = getattr(thing, "__func__", thing)  # of a class method
    if not callable(thing):
        return name
    try:
        signature = inspect.signature(thing)
    except ValueError:  # an error that is one of Python's, too
        return name
    plain = signature.replace(
        parameters=[p.replace(annotation=p.empty) for p in signature.parameters.values()],
        return_annotation=signature.empty,
    )
    raises = re.search(r"Raises\n-+\n(.*?)(?:\n\n\w+\n-+|\Z)", inspect.getdoc(thing) or "", re.S)
    errors = sorted({*re.findall(r"\b\w*Error\b", raises[1])}) if raises else []
    return f"{name}{_HOMES.sub('', str(plain))}{' raises ' + ', '.join(errors) if errors else ''}"


def surface() -> Iterator[str]:
    """A line for each public function, class, method and attribute."""
    homes: dict[str, Any] = {"ubpe_numba": ubpe_numba}
    homes |= {
        f"ubpe_numba.{name}": importlib.import_module(f"ubpe_numba.{name}") for name in ubpe_numba._MODULES
    }
    for home, module in homes.items():
        for name in sorted(module.__all__):
            thing = getattr(module, name)
            yield described(f"{home}.{name}", thing)
            for member in sorted(dir(thing)) if inspect.isclass(thing) else ():
                if not member.startswith("_") or member in ("__call__", "__getitem__", "__iter__", "__len__"):
                    if getattr(object, member, None) is None and not hasattr(BaseException, member):
                        yield described(f"{home}.{name}.{member}", inspect.getattr_static(thing, member))


def test_the_public_surface_is_the_one_that_is_promised() -> None:
    lines, promised = [*surface()], FILE.read_text("utf-8").splitlines()
    changes = "\n".join(difflib.unified_diff(promised, lines, "surface.txt", "today", lineterm="", n=0))
    assert not changes, f"{changes}\nIf it is meant: CHANGELOG.md says so, and python tests/test_surface.py"


if __name__ == "__main__":
    FILE.write_text("\n".join(surface()) + "\n", "utf-8")
