"""Packages that are imported only where they are used: the extras."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def require(module: str, what: str, extra: str, package: str | None = None) -> Any:
    """A module of a package that may be missing.

    `what` needs it, for the message, `extra` of this library installs it, and `package` is its name where that is not the first
    part of `module`. ImportError that says all three if it is missing.

    >>> require("json", "reading", "none").loads("[1]")
    [1]
    >>> require("no_such.part", "to_nothing", "nothing")
    Traceback (most recent call last):
    ...
    ImportError: to_nothing needs no_such: pip install 'ubpe-numba[nothing]'
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = package or module.partition(".")[0]
        raise ImportError(f"{what} needs {package}: pip install 'ubpe-numba[{extra}]'") from error
