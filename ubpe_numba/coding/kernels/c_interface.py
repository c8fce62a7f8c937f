"""Functions of Python's C interface, for kernels that get objects by address.

The addresses are those of runtime/machine/objects.py.

Kernels know the words of objects that Python and NumPy promise to extensions (TYPE, and the others of
arrays); functions tell the rest. The caller has the GIL.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils

from ubpe_numba.runtime.machine.intrinsics import _call, _instruction

#: Words of an object, and of an array: its items, how many dimensions (32 bits), addresses of its shape and
#: strides, its dtype.
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
integer_of, utf8_of = _api("PyLong_AsLongLong", _WORD, 1), _api("PyUnicode_AsUTF8AndSize", _WORD, 2)
failed, forget, keep = (
    _api("PyErr_Occurred", _WORD, 0),
    _api("PyErr_Clear", types.void, 0),
    _api("Py_IncRef", types.void, 1),
)
str_size = _api("PyUnicode_GetLength", _WORD, 1)
leave_gil, take_gil = _api("PyEval_SaveThread", _WORD, 0), _api("PyEval_RestoreThread", types.void, 1)


@_instruction(_WORD, _WORD, _WORD, _WORD)
def read_points(builder, text, to, room):
    """Write the code points of a `str`, uint32, to an address with room for so many; 0 if they are more."""
    return _call(builder, "PyUnicode_AsUCS4", ir.IntType(64), text, to, room, _INT(0))


@_instruction(_WORD, _WORD, _WORD)
def new_text(builder, points, n):
    """A new `str` of n code points, uint32, at an address."""
    return _call(builder, "PyUnicode_FromKindAndData", ir.IntType(64), _INT(4), points, n)


@_instruction(_WORD, _WORD, _WORD, _WORD, _WORD)
def new_array(builder, function, cls, number, n):
    """A new uninitialized 1-D array of n items.

    `function` and `cls` as in `PLACES`; `number` is that of the dtype.
    """
    kind = ir.FunctionType(
        ir.IntType(64), [ir.IntType(64), _INT, _POINTER, _INT, _POINTER, _POINTER, _INT, _INT, _POINTER]
    )
    shape = builder.bitcast(cgutils.alloca_once_value(builder, n), _POINTER)
    none, make = _POINTER(None), builder.inttoptr(function, kind.as_pointer())
    return builder.call(
        make, [cls, _INT(1), shape, builder.trunc(number, _INT), none, none, _INT(0), _INT(0), none]
    )
