"""Builtin functions whose code is a kernel, and what kernels have to know of Python's objects.

To numba's calls of compiled code every argument costs: 60 ns for an array, of which an encoder has two dozen.
Here a kernel is given the objects as they are, by their addresses, int64, and makes the result::

    tok.encode("the cat")  ->  encode_text(me, args, 1)  me: the header, an array (coding/headers.py); args: str
                           ->  an array of ids, or None if unusual: the general reader handles it

The caller has the GIL, and no Python code runs meanwhile, so a kernel may use one memory for all calls. It
calls Python by functions of its C interface (coding/kernels/c_interface.py). Nothing of this is used where
`runtime/border.py` has turned the ability `interface` off.
"""

from __future__ import annotations

import ctypes
from importlib import import_module
from typing import Any

import numpy as np
from numba import types

from ubpe_numba.runtime import border

_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_new_function = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
    ("PyCFunction_NewEx", ctypes.pythonapi)
)
_FAST_CALL = 0x80  # the code is called with the object, the address of the arguments, and how many there are
_DTYPES = {dtype.num: dtype for dtype in map(np.dtype, "bBhHiIlq")}  # integers that int64 holds


class _Method(ctypes.Structure):
    """A builtin function as Python describes it."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("code", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


#: Words of `places`: addresses of types, of None, and of NumPy's function that makes arrays. Then, by the
#: numbers of dtypes below `MOST`, kinds as for `encode_at`, or 0; then the types of their `N_ITEMS` items.
LIST, TUPLE, INT, STR, BYTES, ARRAY, NONE, NEW_ARRAY, KINDS, MOST, N_ITEMS = (
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    16,
    len(_DTYPES),
)
ITEMS = KINDS + MOST
# what C knows the address of, as long as the process lives: methods by kernel, and the places
_kept: dict[str, Any] = {}


def _places(interface) -> np.ndarray:
    """Where kernels find types and functions."""
    # NumPy's for extensions
    table = ctypes.cast(_pointer_of(interface, None), ctypes.POINTER(ctypes.c_void_p))
    kinds = [0] * MOST
    for number, dtype in _DTYPES.items():
        kinds[number] = dtype.itemsize + (16 if dtype.kind == "u" else 0)
    objects, items = (
        (list, tuple, int, str, bytes, np.ndarray, None),
        [id(dtype.type) for dtype in _DTYPES.values()],
    )
    return np.array([*map(id, objects), table[93], *kinds, *items], np.int64)  # 93 is PyArray_New


def ready() -> bool:
    """Whether Python calls kernels by C here; warns the user if a later NumPy has turned that off."""
    interface = border.names("interface", import_module)
    border.tell()
    return interface is not None


def places() -> np.ndarray:
    """Where kernels find types and functions."""
    if "places" not in _kept:  # two threads may make one each: the first that is entered is that of both
        _kept.setdefault("places", _places(border.names("interface")._ARRAY_API))
    return _kept["places"]


def function_of(kernel, header: np.ndarray):
    """A Python function that calls a `builtin` kernel.

    The kernel gets the array `header`, the address of its arguments, and their number.
    """
    name = kernel.__name__
    if name not in _kept:  # as above
        code = border.address_of(kernel, (types.int64,) * 3, by_c=True)
        _kept.setdefault(name, _Method(name.encode(), code, _FAST_CALL))
    return _new_function(ctypes.addressof(_kept[name]), header, None)
