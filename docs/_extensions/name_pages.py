"""What the page of a public name says: its docstring, and of a class a table of what it can do."""

import importlib
import inspect
from collections.abc import Iterator
from typing import Any

from sphinx.pycode import ModuleAnalyzer

MODULES = (
    "ubpe_numba", "ubpe_numba.types", "ubpe_numba.text", "ubpe_numba.errors", "ubpe_numba.bounds", "ubpe_numba.kernels",
    "ubpe_numba.plot", "ubpe_numba.signals",
    "ubpe_numba.sklearn", "ubpe_numba.actions", "ubpe_numba.distributed", "ubpe_numba.integrations.miditok",
)  # fmt: skip
_OF_A_FIELD = "Alias for field number"  # the docstring that Python gives to a field of a named tuple


def public_names() -> dict[str, Any]:
    """Every public name, with its module, and what it stands for."""
    found = {}
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        found |= {f"{module_name}.{name}": getattr(module, name) for name in getattr(module, "__all__", ())}
    return found


def public_bases(value: type) -> list[type]:
    """The bases that a user can name: private ones of the library are replaced by theirs, `object` and the like say nothing."""
    found: list[type] = []
    public = {id(named) for named in public_names().values()}
    for base in value.__bases__:
        if id(base) in public or (
            issubclass(base, BaseException) and not base.__module__.startswith("ubpe_numba")
        ):
            found.append(base)
        elif base.__module__.startswith("ubpe_numba"):
            found += public_bases(base)
    return found


def members(value: type) -> dict[str, list[str]]:
    """The documented public members that the library gives a class, base classes first, under the title of their table."""
    found: dict[str, list[str]] = {"Made by": [], "Methods": [], "Properties": []}
    own = [cls for cls in reversed(value.__mro__) if cls.__module__.startswith("ubpe_numba")]
    there = set(dir(value))  # without words of other libraries
    for name in dict.fromkeys(
        name for cls in own for name in vars(cls) if not name.startswith("_") and name in there
    ):
        member = inspect.getattr_static(value, name)
        documented = inspect.getdoc(member) or ""
        if not documented or documented.startswith(_OF_A_FIELD):
            continue
        if isinstance(member, (classmethod, staticmethod)):
            found["Made by"].append(name)
        elif inspect.isroutine(member):
            found["Methods"].append(name)
        elif isinstance(member, property):
            found["Properties"].append(name)
    return {title: names for title, names in found.items() if names}


def comment_of(name: str) -> str:
    """The comment `#:` before the definition of a constant, in the module that defines it."""
    module, _, short = name.rpartition(".")
    homes = getattr(importlib.import_module(module), "_HOMES", {})
    home = f"{module}.{homes[short]}" if short in homes else module
    return " ".join(ModuleAnalyzer.for_module(home).find_attr_docs()[("", short)]).strip()


def _of_class(short: str, value: type) -> Iterator[str]:
    yield f".. autoclass:: {short}"
    if public_bases(value):
        yield "   :show-inheritance:"
    if issubclass(value, BaseException):
        return
    tables = members(value)
    for title, names in tables.items():
        yield from ("", f"   .. rubric:: {title}", "", "   .. autosummary::", "      :nosignatures:", "")
        yield from (f"      ~{short}.{name}" for name in names)
    for title, names in tables.items():
        directive = "autoproperty" if title == "Properties" else "automethod"
        yield from (f"\n   .. {directive}:: {short}.{name}" for name in names)


def page(name: str, value: Any) -> str:
    """The source of the page of a name."""
    module, _, short = name.rpartition(".")
    title = name.removeprefix("ubpe_numba.")
    lines = [title, "=" * len(title), "", f".. currentmodule:: {module}", ""]
    if inspect.isclass(value):
        lines += _of_class(short, value)
    elif inspect.isroutine(value):
        lines.append(f".. autofunction:: {short}")
    else:
        lines += [
            f".. data:: {short}",
            f"   :type: {type(value).__name__}",
            f"   :value: {value!r}",
            "",
            "   " + comment_of(name),
        ]
    return "\n".join(lines) + "\n"
