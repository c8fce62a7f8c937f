"""Arrays of Arrow from any library, moved here through capsules; they are released when nothing refers to their memory."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.documents.arrow_structs import Array, Schema, Stream, pointer_in
from ubpe_numba.errors import quoted

__all__ = ["Field", "Part", "opened"]

_RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)  # without the GIL, as all functions of other libraries
_GET = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_LAST_ERROR = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)
_ADDRESS_SIZE = ctypes.sizeof(ctypes.c_void_p)


class Field(NamedTuple):
    """A type: Arrow's format, the name of the column, the types of the children, and that of a dictionary's values or None."""

    format: str
    name: str
    children: tuple[Field, ...]
    dictionary: Field | None


class Moved:
    """A struct that was moved here. It is released with this object, on whatever way that is left."""

    def __init__(self, kind: Any, address: int | None = None) -> None:
        """A struct of this kind, moved from an address; without one it is empty, to be filled."""
        self.struct = kind()
        if address is not None:
            source, moved = kind.from_address(address), kind()
            ctypes.memmove(ctypes.byref(moved), address, ctypes.sizeof(kind))
            release, moved.release = moved.release, None
            self.struct, source.release = moved, None  # Ctrl-C may come anywhere: at no time can both be released
            moved.release = release

    @property
    def address(self) -> int:
        """Where the struct is."""
        return ctypes.addressof(self.struct)

    def __del__(self, call: Any = _RELEASE, address_of: Any = ctypes.addressof) -> None:
        """Release; what that takes is bound here, for when the interpreter ends."""
        if self.struct.release:
            call(self.struct.release)(address_of(self.struct))


class _Memory:
    """Memory of an array, as NumPy asks for it, with what owns it."""

    def __init__(self, address: int, dtype: np.dtype[Any], n: int, owner: Moved) -> None:
        self.__array_interface__ = {"data": (address, True), "shape": (n,), "typestr": dtype.str, "version": 3}
        self.owner = owner


class Part:
    """An array of a chunk or one of its children, as far as its struct is consistent; sizes of buffers are not in it.

    Attributes
    ----------
    length, offset : int
        The elements of the array: `length` of them, behind the first `offset` that its buffers hold.
    null_count : int
        -1 if it is not known.
    buffers : list of int or None
        Addresses.
    """

    def __init__(self, address: int, owner: Moved, field: Field, where: str) -> None:
        struct = Array.from_address(address)
        self.where, self._owner, self._field = where, owner, field
        self.length, self.offset, self.null_count = struct.length, struct.offset, struct.null_count
        if self.length < 0 or self.offset < 0 or self.null_count < -1 or struct.n_buffers < 0:
            raise self.invalid("a length, an offset or a count is negative")
        if struct.n_children != len(field.children):
            raise self.invalid(f"it has {struct.n_children} children, its schema {len(field.children)}")
        if bool(struct.dictionary) != (field.dictionary is not None):
            raise self.invalid("either the array or its schema has a dictionary, the other has none")
        self.buffers = self._addresses(struct.buffers, struct.n_buffers, "buffers")
        self._children = self._addresses(struct.children, struct.n_children, "children")
        self._dictionary = struct.dictionary

    def invalid(self, why: str) -> ValueError:
        """The error for an array that contradicts itself."""
        return ValueError(f"{self.where}: not a valid Arrow array of format {quoted(self._field.format)}: {why}")

    def _addresses(self, at: int | None, n: int, what: str) -> list[int | None]:
        if n and not at:
            raise self.invalid(f"{n} {what} at NULL")
        return list((ctypes.c_void_p * n).from_address(at)) if n and at else []

    def child(self, i: int) -> Part:
        """The array of a child."""
        address = self._children[i]
        if address is None:
            raise self.invalid(f"child {i} is NULL")
        return Part(address, self._owner, self._field.children[i], self.where)

    def slice(self, start: int, n: int) -> Part:
        """Elements start..start + n - 1 of the array."""
        if start + n > self.length:
            raise self.invalid(f"it has {self.length} elements, {start + n} are asked for")
        part = copy(self)  # of its nulls there are as many or fewer: `nulls` counts them
        part.offset, part.length = self.offset + start, n
        return part

    @property
    def dictionary(self) -> Part:
        """The array of the values of a dictionary."""
        assert self._field.dictionary is not None
        return Part(self._dictionary, self._owner, self._field.dictionary, self.where)

    def expect(self, n_buffers: int, at_least: bool = False) -> None:
        """Check the number of buffers."""
        n = len(self.buffers)
        if n != n_buffers and not (at_least and n > n_buffers):
            raise self.invalid(f"expected {'at least ' * at_least}{n_buffers} buffers, there are {n}")

    def view(self, buffer: int, dtype: Any, start: int, n: int) -> NDArray[Any]:
        """Items start..start + n - 1 of a buffer as a read-only array of the same memory. A buffer without items may be NULL."""
        kind = np.dtype(dtype)
        if n == 0:
            return np.zeros(0, kind)
        address = self.buffers[buffer]
        if address is None:
            raise self.invalid(f"buffer {buffer} is NULL")
        return np.asarray(_Memory(address + start * kind.itemsize, kind, n, self._owner))

    def nulls(self, start: int, n: int) -> NDArray[np.bool_] | None:
        """Which of n elements of the array are null; None if none of them is."""
        if self.null_count == 0 or n == 0:
            return None
        if not self.buffers or self.buffers[0] is None:
            if self.null_count > 0:
                raise self.invalid(f"{self.null_count} nulls without a bitmap that says which")
            return None
        first = self.offset + start
        skip = first % 8
        valid = np.unpackbits(self.view(0, np.uint8, first // 8, (skip + n + 7) // 8), count=skip + n, bitorder="little")[skip:]
        return None if valid.all() else valid == 0


def opened(source: Any, name: str) -> tuple[Field, Iterator[Part]]:
    """The type and the arrays of an object that has `__arrow_c_stream__` or `__arrow_c_array__`.

    Parameters
    ----------
    source
        The object.
    name : str
        What messages call it.

    Returns
    -------
    field : Field
        The type of all arrays.
    parts : iterator of Part
        The arrays, one after the other; the memory of each lives as long as a view of it.

    Raises
    ------
    ValueError
        If the stream breaks, or a struct contradicts itself; the iterator raises it, too.
    """
    if hasattr(source, "__arrow_c_stream__"):
        capsule = source.__arrow_c_stream__()
        stream = Moved(Stream, _taken(capsule, "arrow_array_stream", Stream, name))
        schema = Moved(Schema)
        _get(stream, "get_schema", schema, name)
        if not schema.struct.release:
            raise ValueError(f"{name}: the Arrow stream gave no schema")
        field = _field(schema.address, name)
        return field, _arrays(stream, field, name)
    schema_capsule, capsule = source.__arrow_c_array__()
    field = _field(_taken(schema_capsule, "arrow_schema", Schema, name), name)
    moved = Moved(Array, _taken(capsule, "arrow_array", Array, name))
    return field, iter([Part(moved.address, moved, field, name)])


def _arrays(stream: Moved, field: Field, name: str) -> Iterator[Part]:
    while True:
        array = Moved(Array)
        _get(stream, "get_next", array, name)
        if not array.struct.release:
            return
        yield Part(array.address, array, field, name)


def _get(stream: Moved, what: str, target: Moved, name: str) -> None:
    """Let a stream fill a struct."""
    if code := _GET(getattr(stream.struct, what))(stream.address, target.address):
        target.struct.release = None  # what a call that failed has left there is not to be released
        said = stream.struct.get_last_error and _LAST_ERROR(stream.struct.get_last_error)(stream.address)
        reason = said.decode("utf-8", "replace") if said else os.strerror(code)
        raise ValueError(f"{name}: the Arrow stream broke: {reason}")


def _taken(capsule: Any, what: str, kind: Any, name: str) -> int:
    """The address of a struct in a capsule, if it was not taken by somebody else."""
    address = pointer_in(capsule, what)
    if not kind.from_address(address).release:
        raise ValueError(f"{name}: what the capsule {quoted(what)} held was taken or released before")
    return address


def _field(address: int, name: str) -> Field:
    """A schema as objects of Python."""
    schema = Schema.from_address(address)
    n = schema.n_children
    if schema.format is None or n < 0 or (n and not schema.children):
        raise ValueError(f"{name}: not a valid Arrow schema")
    places = list((ctypes.c_void_p * n).from_address(schema.children)) if n else []
    if None in places:
        raise ValueError(f"{name}: not a valid Arrow schema: a child is NULL")
    return Field(
        schema.format.decode("utf-8", "replace"),
        (schema.name or b"").decode("utf-8", "replace"),
        tuple(_field(place, name) for place in places if place is not None),
        _field(schema.dictionary, name) if schema.dictionary else None,
    )
