"""The structs of Arrow's C data and C stream interfaces, and the capsules in which Python hands them around.

    schema   what the columns are: a format such as "+L" for lists, with the schema of their values as a child
    array    the data of one chunk: addresses of buffers, with the array of the values as a child
    stream   functions that give a schema and one array after the other

Whoever makes a struct sets `release`; whoever is given one calls it, once, and it sets `release` to NULL. A struct may be moved:
its bytes are copied and `release` of the source is set to NULL, so nothing may depend on where a struct is.
"""

from __future__ import annotations

import ctypes
from typing import Any

__all__ = ["Array", "Schema", "Stream", "function", "pointer_in"]

_ADDRESS = ctypes.c_void_p  # functions are addresses too: none becomes an object of Python unless it is called


class Schema(ctypes.Structure):
    """ArrowSchema."""

    _fields_ = (
        ("format", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("metadata", _ADDRESS),
        ("flags", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("children", _ADDRESS),
        ("dictionary", _ADDRESS),
        ("release", _ADDRESS),
        ("private_data", _ADDRESS),
    )


class Array(ctypes.Structure):
    """ArrowArray."""

    _fields_ = (
        ("length", ctypes.c_int64),
        ("null_count", ctypes.c_int64),
        ("offset", ctypes.c_int64),
        ("n_buffers", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("buffers", _ADDRESS),
        ("children", _ADDRESS),
        ("dictionary", _ADDRESS),
        ("release", _ADDRESS),
        ("private_data", _ADDRESS),
    )


class Stream(ctypes.Structure):
    """ArrowArrayStream."""

    _fields_ = (
        ("get_schema", _ADDRESS),
        ("get_next", _ADDRESS),
        ("get_last_error", _ADDRESS),
        ("release", _ADDRESS),
        ("private_data", _ADDRESS),
    )


def function(name: str, result: Any, *arguments: Any) -> Any:
    """A function of Python's C API, called with the GIL held; `ctypes.pythonapi`, which all packages share, is not changed."""
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


_get_pointer = function("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)


def pointer_in(capsule: Any, name: str) -> int:
    """The address in a capsule of this name; ValueError if it is another or no capsule at all."""
    found: int = _get_pointer(capsule, name.encode())
    return found
