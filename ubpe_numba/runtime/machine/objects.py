"""Python's objects in kernels: functions of its C interface, and builtin functions whose code is a kernel.

To numba's calls of compiled code every argument costs: 60 ns for an array, of which an encoder has two dozen. Here a kernel is
given the objects as they are, by their addresses, int64, and makes the result::

    tok.encode("the cat")  ->  encode_text(me, args, 1)     me: an array, the header (coding/headers.py); args: the str
                           ->  an array of ids, or None for what is unusual, which the general reader takes

Once there is such a function, the methods that call it are of C too (`replace_method`): no call has a frame of Python.

The caller has the GIL, and no Python code runs meanwhile, so a kernel may use one memory for all calls. Of the layout of objects
it knows words that Python and NumPy promise to extensions (TYPE, and the others of arrays); functions tell the rest. `READY` is
False, and nothing of this is compiled, without a GIL, with other interpreters, and where `UBPE_PLAIN_NUMBA=1` turns off all that
uses internals.
"""

from __future__ import annotations

import ctypes
import functools
import inspect
import sys
from importlib import import_module

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils

from ubpe_numba.runtime.compiler import _OWN_PASSES, address_of
from ubpe_numba.runtime.machine.intrinsics import _call, _instruction

_HAS_GIL = sys.implementation.name == "cpython" and getattr(sys, "_is_gil_enabled", lambda: True)()
#: Whether Python calls kernels so.
READY = _OWN_PASSES and _HAS_GIL and object.__basicsize__ == 16  # of 64 bits, nothing before the type

#: Words of an object, and of an array: its items, how many dimensions (32 bits), addresses of its shape and strides, its dtype.
TYPE, DATA, N_DIMENSIONS, SHAPE, STRIDES, DTYPE = 1, 2, 3, 4, 5, 7
BYTE_ORDER, NUMBER = 26, 28  # bytes of a dtype: a character, and 32 bits
_POINTER, _INT, _WORD = ir.IntType(8).as_pointer(), ir.IntType(32), types.int64
_KINDS = {types.int64: ir.IntType(64), types.void: ir.VoidType()}


def _api(name, result, n_args):
    """A function of C of n arguments; objects and addresses are int64."""

    @_instruction(result, *[_WORD] * n_args)
    def call(builder, *values):
        return _call(builder, name, _KINDS[result], *values)

    return call


list_size, list_item = _api("PyList_Size", _WORD, 1), _api("PyList_GetItem", _WORD, 2)
tuple_size, tuple_item = _api("PyTuple_Size", _WORD, 1), _api("PyTuple_GetItem", _WORD, 2)
bytes_size, bytes_data = _api("PyBytes_Size", _WORD, 1), _api("PyBytes_AsString", _WORD, 1)
new_bytes, new_str = _api("PyBytes_FromStringAndSize", _WORD, 2), _api("PyUnicode_DecodeUTF8", _WORD, 3)
integer_of, characters_of = _api("PyLong_AsLongLong", _WORD, 1), _api("PyUnicode_AsUTF8AndSize", _WORD, 2)
failed, forget, keep = _api("PyErr_Occurred", _WORD, 0), _api("PyErr_Clear", types.void, 0), _api("Py_IncRef", types.void, 1)
attributes_of, entry_of = _api("PyObject_GenericGetDict", _WORD, 2), _api("PyDict_GetItemWithError", _WORD, 2)
drop = _api("Py_DecRef", types.void, 1)
call_object, method_of = _api("PyObject_Vectorcall", _WORD, 4), _api("PyMethod_New", _WORD, 2)
leave_gil, take_gil = _api("PyEval_SaveThread", _WORD, 0), _api("PyEval_RestoreThread", types.void, 1)


@_instruction(_WORD)
def here(builder):
    """The address of `places`, in this process."""
    known = builder.module.globals
    symbol = known.get(_SYMBOL) or ir.GlobalVariable(builder.module, ir.IntType(64), _SYMBOL)
    return builder.ptrtoint(symbol, ir.IntType(64))


@_instruction(_WORD, _WORD, _WORD)
def two(builder, a, b):
    """The address of two words, as long as the kernel runs."""
    return builder.ptrtoint(cgutils.alloca_once_value(builder, cgutils.pack_array(builder, [a, b])), ir.IntType(64))


@_instruction(_WORD, _WORD, _WORD)
def read_str(builder, text, to):
    """The address of the characters of a `str`; `to` gets how many, int64, then bytes of one and whether all are ASCII, int32."""
    steps = [builder.add(to, ir.IntType(64)(k)) for k in (8, 12, 16)]
    return _call(builder, "numba_extract_unicode", ir.IntType(64), text, to, *steps)


@_instruction(_WORD, _WORD, _WORD)
def new_text(builder, points, n):
    """A new `str` of n code points, uint32, at an address."""
    return _call(builder, "PyUnicode_FromKindAndData", ir.IntType(64), _INT(4), points, n)


@_instruction(_WORD, _WORD, _WORD, _WORD, _WORD)
def new_array(builder, function, cls, number, n):
    """A new 1-D array of n items, not initialised: `function` and `cls` as in `PLACES`, `number` of the dtype."""
    kind = ir.FunctionType(ir.IntType(64), [ir.IntType(64), _INT, _POINTER, _INT, _POINTER, _POINTER, _INT, _INT, _POINTER])
    shape = builder.bitcast(cgutils.alloca_once_value(builder, n), _POINTER)
    none, make = _POINTER(None), builder.inttoptr(function, kind.as_pointer())
    return builder.call(make, [cls, _INT(1), shape, builder.trunc(number, _INT), none, none, _INT(0), _INT(0), none])


_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
_new_function = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
    ("PyCFunction_NewEx", ctypes.pythonapi)
)
_new_method = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.c_void_p)(("PyDescr_NewMethod", ctypes.pythonapi))
_FAST_CALL = 0x80  # the code is called with the object, the address of the arguments, and how many there are
_WITH_NAMES = 0x02  # and with a tuple of the names of the last ones, or 0
_DTYPES = {dtype.num: dtype for dtype in map(np.dtype, "bBhHiIlq")}  # integers that int64 holds


class _Method(ctypes.Structure):
    """A builtin function as Python describes it."""

    _fields_ = (("name", ctypes.c_char_p), ("code", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


#: Words of `places`: addresses of types, of None, and of NumPy's function that makes arrays; then of the dtypes by their numbers,
#: below `MOST`, kinds as `encode_at` has them, or 0; then the types of their `N_ITEMS` items; then `NAMES`, and the methods of
#: Python that those of C call for what is unusual.
LIST, TUPLE, INT, STR, BYTES, ARRAY, NONE, NEW_ARRAY, KINDS, MOST, N_ITEMS = 0, 1, 2, 3, 4, 5, 6, 7, 8, 16, len(_DTYPES)
ITEMS = KINDS + MOST
NAMES = ("_made_plans", "short", "decode", "replace")
PLANS, SHORT, DECODE, REPLACE = range(ITEMS + N_ITEMS, ITEMS + N_ITEMS + len(NAMES))
ENCODING, DECODING = REPLACE + 1, REPLACE + 2
_SYMBOL = "ubpe_numba_places"  # by which code finds `places`
_KEPT: list[object] = []  # what C knows the address of


@functools.cache
def places() -> np.ndarray:
    """Where kernels find types and functions; lives as long as the process."""
    interface = import_module("numpy._core._multiarray_umath")._ARRAY_API  # NumPy's for extensions; 93 is PyArray_New
    table = ctypes.cast(_pointer_of(interface, None), ctypes.POINTER(ctypes.c_void_p))
    kinds = [0] * MOST
    for number, dtype in _DTYPES.items():
        kinds[number] = dtype.itemsize + (16 if dtype.kind == "u" else 0)
    objects, items = (list, tuple, int, str, bytes, np.ndarray, None), [id(dtype.type) for dtype in _DTYPES.values()]
    names = [id(sys.intern(name)) for name in NAMES]  # which this module keeps
    made = np.array([*map(id, objects), table[93], *kinds, *items, *names, 0, 0], np.int64)
    binding.add_symbol(_SYMBOL, made.ctypes.data)
    return made


@functools.cache
def _method_of(kernel) -> _Method:
    """The description of the builtin functions of a kernel."""
    code = address_of(kernel, (types.int64,) * 3, by_c=True)
    return _Method(kernel.__name__.encode(), code, _FAST_CALL)


def function_of(kernel, header: np.ndarray):
    """A function of Python that calls a `builtin` kernel with the array `header`, the address of its arguments, and how many."""
    return _new_function(ctypes.addressof(_method_of(kernel)), header, None)


@functools.cache
def replace_method(cls, name: str, kernel, at: int) -> None:
    """Replace a method of Python by one of C, a `builtin` kernel that finds the other one at word `at` of `places`."""
    method = vars(cls)[name]
    if not inspect.isfunction(method):  # another thread was faster, or the user has put something else there
        return
    parameters = inspect.signature(method).parameters.values()
    shown = inspect.Signature([parameter.replace(annotation=parameter.empty) for parameter in parameters])
    doc = f"{name}{str(shown).replace('(', '($', 1)}\n--\n\n{method.__doc__}"
    places()[at] = id(method)
    code = address_of(kernel, (types.int64,) * 4, by_c=True)
    made = _Method(name.encode(), code, _FAST_CALL | _WITH_NAMES, doc.encode())
    _KEPT.append((method, made))
    setattr(cls, name, _new_method(cls, ctypes.addressof(made)))
