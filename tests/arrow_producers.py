"""Arrays of Arrow made by hand, field by field, that count how often each struct is released."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

_ADDRESS = ctypes.c_void_p  # functions are addresses too: none becomes an object of Python unless it is called


_STRINGS = dict.fromkeys(("format", "name"), ctypes.c_char_p)


def struct(name: str, fields: str, numbers: str = "") -> Any:
    """A structure of Arrow: of the fields those are numbers that `numbers` names."""
    kinds = dict.fromkeys(fields.split(), _ADDRESS) | dict.fromkeys(numbers.split(), ctypes.c_int64)
    return type(name, (ctypes.Structure,), {"_fields_": [(field, _STRINGS.get(field, kinds[field])) for field in fields.split()]})


_ENDS = "children dictionary release private_data"
Schema = struct("Schema", f"format name metadata flags n_children {_ENDS}", "flags n_children")
Array = struct(
    "Array", f"length null_count offset n_buffers n_children buffers {_ENDS}", "length null_count offset n_buffers n_children"
)
Stream = struct("Stream", "get_schema get_next get_last_error release private_data")


def function(name: str, result: Any, *arguments: Any) -> Any:
    """A function of Python's C API, called with the GIL held; `ctypes.pythonapi`, which all packages share, is not changed."""
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


_get_pointer = function("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)


def pointer_in(capsule: Any, name: str) -> int:
    """The address in a capsule of this name; ValueError if it is another or no capsule at all."""
    found: int = _get_pointer(capsule, name.encode())
    return found


_RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_GET = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_MESSAGE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
_new_capsule = function("PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_CALLED: list[Any] = []  # functions that a consumer may call when the producer is gone: after an error, by the garbage collector
_NAMES = {
    Schema: ctypes.create_string_buffer(b"arrow_schema"),
    Array: ctypes.create_string_buffer(b"arrow_array"),
    Stream: ctypes.create_string_buffer(b"arrow_array_stream"),
}


def address_of(kept: list[Any], value: Any) -> int | None:
    """Where an object of ctypes or NumPy is; it is kept."""
    kept.append(value)
    if value is None or isinstance(value, int):
        return value
    return int(value.ctypes.data) if isinstance(value, np.ndarray) else ctypes.addressof(value)


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


class Made:
    """An array with its type, as a producer that is asked once. Releases are counted, nothing is freed."""

    def __init__(
        self,
        format: bytes,
        length: int,
        buffers: Sequence[Any] = (),
        children: Sequence[Made] = (),
        dictionary: Made | None = None,
        offset: int = 0,
        null_count: int = 0,
        name: bytes = b"",
    ) -> None:
        self.released: list[str] = []
        self.kept: list[Any] = [children, dictionary]
        self._on_schema = _RELEASE(lambda at: self._release(Schema, at, "schema"))
        self._on_array = _RELEASE(lambda at: self._release(Array, at, "array"))
        _CALLED.extend([self._on_schema, self._on_array])
        self.schema = Schema(format=format, name=name, release=ctypes.cast(self._on_schema, ctypes.c_void_p).value)
        self.array = Array(length=length, null_count=null_count, offset=offset, n_buffers=len(buffers))
        self.array.release = ctypes.cast(self._on_array, ctypes.c_void_p).value
        if buffers:
            places = (ctypes.c_void_p * len(buffers))(*(address_of(self.kept, buffer) for buffer in buffers))
            self.array.buffers = address_of(self.kept, places)
        for struct, parts in (
            (self.schema, [child.schema for child in children]),
            (self.array, [child.array for child in children]),
        ):
            struct.n_children = len(parts)
            if parts:
                places = (ctypes.c_void_p * len(parts))(*map(ctypes.addressof, parts))
                struct.children = address_of(self.kept, places)
        if dictionary is not None:
            self.schema.dictionary = ctypes.addressof(dictionary.schema)
            self.array.dictionary = ctypes.addressof(dictionary.array)

    def _release(self, kind: Any, at: int, what: str) -> None:
        self.released.append(what)
        kind.from_address(at).release = None

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[Any, Any]:
        return capsule(self.schema), capsule(self.array)


class MadeStream:
    """A stream of arrays, one of which may be the number of an error."""

    def __init__(self, schema: Made, parts: Sequence[Made | int], message: bytes | None = b"the cable is out") -> None:
        self.released: list[str] = []
        self.schema, self.parts, self.message = schema, list(parts), message
        self._functions = (
            _GET(self._get_schema),
            _GET(self._get_next),
            _MESSAGE(lambda _: None if message is None else ctypes.cast(ctypes.c_char_p(message), ctypes.c_void_p).value),
            _RELEASE(self._release),
        )
        addresses = [ctypes.cast(each, ctypes.c_void_p).value for each in self._functions]
        self.stream = Stream(*addresses)

    def _get_schema(self, stream: int, target: int) -> int:
        copied = Schema.from_buffer_copy(self.schema.schema)  # a consumer may ask again
        return move(copied, target)

    def _get_next(self, stream: int, target: int) -> int:
        if not self.parts:
            Array.from_address(target).release = None
            return 0
        part = self.parts.pop(0)
        if isinstance(part, int):
            return part
        return move(part.array, target)

    def _release(self, at: int) -> None:
        self.released.append("stream")
        Stream.from_address(at).release = None

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return capsule(self.stream)


def move(struct: Any, target: int) -> int:
    """Move a struct, as consumers do."""
    ctypes.memmove(target, ctypes.byref(struct), ctypes.sizeof(struct))
    struct.release = None
    return 0


def capsule(struct: Any) -> Any:
    """A capsule without a destructor: it does not own the struct, and a consumer that does not move it releases nothing."""
    return _new_capsule(ctypes.addressof(struct), ctypes.addressof(_NAMES[type(struct)]), None)


def integers(values: Any, dtype: Any = np.int32, **options: Any) -> Made:
    """An array of integers without nulls."""
    array = np.array(values, dtype)
    form = {"i1": b"c", "u1": b"C", "i2": b"s", "u2": b"S", "i4": b"i", "u4": b"I", "i8": b"l", "u8": b"L"}[array.dtype.str[1:]]
    options.setdefault("length", array.size - options.get("offset", 0))
    return Made(form, buffers=[None, array], **options)


def lists(offsets: Any, child: Made, dtype: Any = np.int64, **options: Any) -> Made:
    """An array of lists without nulls."""
    cuts = np.array(offsets, dtype)
    options.setdefault("length", cuts.size - 1 - options.get("offset", 0))
    return Made(b"+L" if dtype is np.int64 else b"+l", buffers=[options.pop("bitmap", None), cuts], children=[child], **options)
