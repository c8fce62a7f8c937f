"""Lazy properties and lazy imports: optional packages, and the notebook displays of values.

`cached_property` is `functools.cached_property` as it is from Python 3.12 on. That of Python 3.11 computes
under a lock that all objects of a class share. A child that is forked meanwhile inherits it locked forever,
and two threads with an object each wait for one another. Without the lock two threads may compute the same
value, and one of the two is kept.

>>> class Circle:
...     @cached_property
...     def area(self):
...         return 3.0
>>> circle = Circle()
>>> circle.area, vars(circle)
(3.0, {'area': 3.0})
"""

from __future__ import annotations

import functools
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801 (a decorator, named as that of Python is)
        """A property that is computed once and kept in the object's dictionary."""

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            """The value, which hides the property from then on."""
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value


__all__ = ["cached_property", "require", "view"]


def require(module: str, what: str, extra: str, package: str | None = None) -> Any:
    """Import a module of an optional package.

    ImportError names the package and the extra of this library that installs it.

    `what` needs the module, for the message. `package` is its name, if it differs from the first part of
    `module`.

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


def view(module: str, name: str) -> Any:
    """A function of `ubpe_numba.views`, which uses what calls it; imported when it is first needed."""
    return getattr(import_module(f"ubpe_numba.views.{module}"), name)
