"""A `Ragged` as an array of Arrow, large_list<int32>, whose buffers are its own two arrays."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.documents.arrow_callbacks import callbacks, immortal
from ubpe_numba.documents.arrow_structs import Array, Schema, function, pointer_in

__all__ = ["export_lists"]

_new_capsule = function("PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_allocate = function("PyMem_RawMalloc", ctypes.c_void_p, ctypes.c_size_t)
_NULLABLE = 2  # the flag of all columns that are not declared to be without nulls
_OFFSETS: dict[bytes, Any] = {b"+l": np.int32, b"+L": np.int64}
_VALUES: dict[bytes, Any] = {b"i": np.int32, b"l": np.int64}
#: Capsules keep the addresses of their names.
_NAMES = {
    Schema: immortal(ctypes.create_string_buffer(b"arrow_schema")),
    Array: immortal(ctypes.create_string_buffer(b"arrow_array")),
}


def export_lists(values: NDArray[np.int32], offsets: NDArray[np.int64], requested: Any = None) -> tuple[Any, Any]:
    """Capsules of a schema and of an array of n lists, as `__arrow_c_array__` returns them.

    Parameters
    ----------
    values : int32[n_values]
        C-contiguous and aligned; kept alive, and not to be changed, until the consumer releases the array.
    offsets : int64[n + 1]
        Likewise, and valid for `values`.
    requested : PyCapsule, optional
        The schema that the consumer would like. Lists with offsets of 32 bits, if these suffice, or of int64 are made by a copy;
        for any other schema the lists are large ones of int32.

    Returns
    -------
    tuple of PyCapsule
        ``"arrow_schema"`` and ``"arrow_array"``. What they hold is released with them, if nobody takes it before.
    """
    form, item = b"+L", (b"i", b"item", _NULLABLE)
    if requested is not None:
        wanted = Schema.from_address(pointer_in(requested, "arrow_schema"))
        if not wanted.release:
            raise ValueError("requested_schema: what the capsule held was taken or released before")
        place = ctypes.c_void_p.from_address(wanted.children).value if wanted.n_children == 1 else None
        if place and wanted.format in _OFFSETS and offsets[-1] <= np.iinfo(_OFFSETS[wanted.format]).max:
            child = Schema.from_address(place)
            if child.format in _VALUES and not child.dictionary:
                form, item = wanted.format, (child.format, child.name or b"", child.flags & _NULLABLE)
    numbers = np.ascontiguousarray(values, _VALUES[item[0]])
    cuts = np.ascontiguousarray(offsets, _OFFSETS[form])
    schema = _schema(form, b"", _NULLABLE, (_schema(*item, ()),))
    return _capsule(schema), _capsule(_array(cuts.size - 1, cuts, (_array(numbers.size, numbers, ()),)))


def _schema(form: bytes, name: bytes, flags: int, children: tuple[Schema, ...]) -> Schema:
    made = Schema(format=form, name=name, flags=flags, release=callbacks().release_schema)
    _own(made, children, (form, name))
    return made


def _array(length: int, buffer: NDArray[Any], children: tuple[Array, ...]) -> Array:
    """An array of two buffers: the bitmap of what is valid, which is absent since there are no nulls, and this one."""
    buffers = (ctypes.c_void_p * 2)(None, buffer.ctypes.data)
    made = Array(length=length, n_buffers=2, buffers=ctypes.addressof(buffers), release=callbacks().release_array)
    _own(made, children, (buffers, buffer))
    return made


def _own(struct: Any, children: tuple[Any, ...], owned: tuple[Any, ...]) -> None:
    """Give a struct its children and a reference to all that it points to, which `release` gives back."""
    places = (ctypes.c_void_p * len(children))(*map(ctypes.addressof, children))
    if children:
        struct.n_children, struct.children = len(children), ctypes.addressof(places)
    struct.private_data = id(immortal((*owned, places, *children)))


def _capsule(struct: Any) -> Any:
    """A capsule that owns a copy of the struct, at an address that stays."""
    kind, size = type(struct), ctypes.sizeof(struct)
    address = _allocate(size)
    if address is None:
        raise MemoryError
    ctypes.memmove(address, ctypes.byref(struct), size)
    destroy = callbacks().destroy_schema if kind is Schema else callbacks().destroy_array
    return _new_capsule(address, ctypes.addressof(_NAMES[kind]), destroy)
