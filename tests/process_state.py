"""What a process holds beside this library: attributes of modules, of their classes, and of the objects that they hold.

    before = look()
    ...
    differences(before, look())  ["numba.core.entrypoints.init_all: <function init_all> -> <function ours>"]

Values are compared by identity; numbers, strings and tuples may be equal instead, since Python makes them
anew.
"""

from __future__ import annotations

import gc
import signal
import sys
import threading
from types import ModuleType
from typing import Any

#: Packages that this library uses, with all of their modules.
PACKAGES = ("numba", "llvmlite", "numpy")
#: Modules of Python whose attributes steer the process.
STANDARD = (
    "_imp", "_signal", "_thread", "_warnings", "atexit", "builtins", "codecs", "concurrent.futures.thread", "copyreg", "ctypes",
    "faulthandler", "functools", "gc", "importlib", "importlib._bootstrap", "importlib._bootstrap_external", "inspect", "logging",
    "os", "pickle", "signal", "sys", "threading", "types", "typing", "warnings", "weakref",
)  # fmt: skip
_PLAIN = (int, float, complex, str, bytes, bool, tuple, frozenset, type(None))
_DEPTH = 3  # objects within objects
_MISSING = "<missing>"


def is_theirs(name: str | None) -> bool:
    """Whether a module, by its name, belongs to none of ours."""
    return isinstance(name, str) and (name.partition(".")[0] in PACKAGES or name in STANDARD)


def _walk(path: str, value: Any, seen: dict[str, Any], known: set[int], depth: int) -> None:
    seen[path] = value
    if isinstance(value, (ModuleType, *_PLAIN)) or id(value) in known:
        return
    known.add(id(value))
    if isinstance(value, type):
        members = vars(value) if is_theirs(value.__module__) else {}
    elif isinstance(value, list | dict | set) and depth:
        # what it holds, not deeper
        seen[f"{path}()"] = tuple(value.items() if isinstance(value, dict) else value)
        return
    else:
        has_members = (
            depth and is_theirs(type(value).__module__) and isinstance(getattr(value, "__dict__", None), dict)
        )
        members = vars(value) if has_members else {}
    for key, member in list(members.items()):
        _walk(f"{path}.{key}", member, seen, known, depth - 1)


def look() -> dict[str, Any]:
    """Values by their paths: of each attribute of modules, of their classes, of objects to some depth."""
    seen: dict[str, Any] = {}
    known = {id(sys.modules), id(sys.path_importer_cache), id(seen)}
    for name, module in sorted(sys.modules.items()):
        if is_theirs(name) and isinstance(module, ModuleType):
            for key, value in list(vars(module).items()):
                _walk(f"{name}.{key}", value, seen, known, _DEPTH)
    return seen


def classes_of(package: str) -> dict[str, Any]:
    """Attributes of the classes of a package, by their paths."""
    seen: dict[str, Any] = {}
    for name, module in sorted(sys.modules.items()):
        if name.partition(".")[0] == package:
            for cls in [
                value
                for value in vars(module).values()
                if isinstance(value, type) and value.__module__ == name
            ]:
                seen |= {f"{name}.{cls.__qualname__}.{key}": value for key, value in vars(cls).items()}
    return seen


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    return isinstance(a, _PLAIN) and type(a) is type(b) and bool(a == b)


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Paths whose values differ; what belongs to a module that was imported in between has no path before and is left out."""
    modules = {path.rpartition(".")[0] for path in before}
    changed = []
    for path in sorted({*before, *after}):
        a, b = before.get(path, _MISSING), after.get(path, _MISSING)
        is_import = path not in before and (
            isinstance(b, ModuleType) or path.rpartition(".")[0] not in modules
        )
        if not is_import and not _same(a, b):
            changed.append(f"{path}: {str(a)[:80]!r} -> {str(b)[:80]!r}")
    return changed


def strangers(state: dict[str, Any], package: str = "ubpe_numba") -> list[str]:
    """Paths of functions, classes and objects that a package has put into others; members of registries are left out."""
    return sorted(
        path
        for path, value in state.items()
        for home in (getattr(value, "__module__", None), type(value).__module__)
        if not path.endswith("()") and isinstance(home, str) and home.partition(".")[0] == package
    )


def settings() -> dict[str, Any]:
    """What steers all threads, in a form that a sampler can ask for all the time."""
    numba = sys.modules["numba"]
    return {
        "gc.isenabled": gc.isenabled(),
        "gc.get_threshold": gc.get_threshold(),
        "gc.callbacks": [*gc.callbacks],
        "signal handlers": {number: signal.getsignal(number) for number in signal.valid_signals()},
        "switch interval": sys.getswitchinterval(),
        "recursion limit": sys.getrecursionlimit(),
        "threading.excepthook": threading.excepthook,
        "sys hooks": (sys.excepthook, sys.unraisablehook, sys.displayhook, sys.stdout, sys.stderr),
        "trace and profile": (threading.gettrace(), threading.getprofile(), sys.gettrace(), sys.getprofile()),
        "numba.config": {key: value for key, value in vars(numba.config).items() if key.isupper()},
        "BLAS": getattr(sys.modules.get("numba.np.linalg"), "ensure_blas", None),
        "entry points": getattr(sys.modules.get("numba.core.entrypoints"), "init_all", None),
        "llvmlite's callbacks": _callbacks(),
    }


def _callbacks() -> Any:
    lock = getattr(getattr(sys.modules.get("llvmlite.binding.ffi"), "lib", None), "_lock", None)
    return id(getattr(lock, "_cblist", None)), [*getattr(lock, "_cblist", [])]
