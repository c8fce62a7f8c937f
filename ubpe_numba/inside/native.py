"""Numba types for values in compiled functions of users: `Ragged`, and `Kernels`.

Numba requests the type of a value by the attribute `_numba_type_`. That of a `Ragged` imports this module, so
code that does not compile functions of Ragged pays nothing. Names of types have the hash of all kernels and
of this file. So after a change of these, numba does not find the functions that it cached on disk for a user,
and compiles them again.

    Ragged      two arrays, values and offsets
    Kernels     an array, the header (coding/kernels/header.py): compiled code has only its address
"""

from __future__ import annotations

import hashlib
import operator
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils, errors
from numba.core.imputils import RefType, iternext_impl, lower_constant
from numba.extending import (
    NativeValue,
    box,
    intrinsic,
    lower_builtin,
    make_attribute_wrapper,
    models,
    overload,
    overload_method,
    register_model,
    type_callable,
    unbox,
)

from ubpe_numba.coding.kernels.addresses import call_at, word_at
from ubpe_numba.coding.kernels.header import DECODE, ENCODE
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.runtime.compiler.cache import kernel_sources
from ubpe_numba.runtime.machine.intrinsics import address

_WORD = ir.IntType(64)


def _stamp() -> str:
    """A hash of everything that compiled functions of users depend on."""
    digest = hashlib.sha256()
    for path in [*kernel_sources(), pathlib.Path(__file__)]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


_STAMP = _stamp()


class RaggedType(types.IterableType):  # type: ignore[misc]
    """A `Ragged`; whether its arrays are read-only."""

    def __init__(self, values_frozen: bool) -> None:
        self.values = types.Array(types.int32, 1, "C", readonly=values_frozen)
        self.offsets = types.Array(types.int64, 1, "C", readonly=True)
        super().__init__(f"ubpe_numba.Ragged({values_frozen}, {_STAMP})")

    @property
    def iterator_type(self) -> RaggedIterator:
        """The type of iterators over it."""
        return RaggedIterator(self)


class RaggedIterator(types.SimpleIteratorType):  # type: ignore[misc]
    """An iterator over a `Ragged`."""

    def __init__(self, batch: RaggedType) -> None:
        self.batch = batch
        super().__init__(f"iter({batch})", batch.values)


class KernelsType(types.Type):  # type: ignore[misc]
    """The `Kernels` of a tokenizer, by the dtype of its symbols."""

    def __init__(self, dtype: types.Type) -> None:
        self.dtype, self.header = dtype, types.Array(types.int64, 1, "C")
        super().__init__(f"ubpe_numba.Kernels({dtype}, {_STAMP})")


# made once: to make a type takes 80 us
_RAGGED = RaggedType(False), RaggedType(True)
_KERNELS = {
    np.dtype(name): KernelsType(getattr(types, name)) for name in ("uint8", "uint32", "int32", "int64")
}
kernels_type = _KERNELS.__getitem__


def ragged_type(ragged: Ragged) -> RaggedType:
    """The type of a `Ragged`."""
    return _RAGGED[not ragged.values.flags.writeable]


def register_type(kind: type, names: dict[str, str], make: Callable[..., Any]) -> None:
    """Make values of a type a structure of arrays: attributes of a Python object.

    `make` rebuilds the object from the arrays.
    """

    class Model(models.StructModel):  # type: ignore[misc]
        def __init__(self, manager: Any, kind: Any) -> None:
            super().__init__(manager, kind, [(name, getattr(kind, name)) for name in names])

    register_model(kind)(Model)

    @unbox(kind)
    def _unbox(kind: Any, obj: Any, c: Any) -> Any:
        native, failed = cgutils.create_struct_proxy(kind)(c.context, c.builder), cgutils.false_bit
        for name, attribute in names.items():
            value = c.pyapi.object_getattr_string(obj, attribute)
            array = c.unbox(getattr(kind, name), value)
            setattr(native, name, array.value)
            c.pyapi.decref(value)
            failed = c.builder.or_(failed, array.is_error)
        return NativeValue(native._getvalue(), is_error=failed)

    @box(kind)
    def _box(kind: Any, value: Any, c: Any) -> Any:
        native = cgutils.create_struct_proxy(kind)(c.context, c.builder, value=value)
        arguments = [c.box(getattr(kind, name), getattr(native, name)) for name in names]
        maker = c.env_manager.read_const(c.env_manager.add_const(make))
        result = c.pyapi.call_function_objargs(maker, arguments)
        for one in arguments:
            c.pyapi.decref(one)
        return result

    @lower_constant(kind)
    def _refuse(context: Any, builder: Any, kind: Any, value: Any) -> Any:
        name = type(value).__name__
        raise errors.TypingError(
            f"{name}: a global or a closure cannot be compiled into a function; pass it as an argument"
        )


register_type(RaggedType, {"values": "values", "offsets": "offsets"}, Ragged)
for _name in ("values", "offsets"):
    make_attribute_wrapper(RaggedType, _name, _name)


# ---------------------------------------------------------------------------------------------------- Ragged


@type_callable(Ragged)
def _made(context):
    def typed(values, offsets):
        for array, dtype in ((values, types.int32), (offsets, types.int64)):
            if not isinstance(array, types.Array) or (array.dtype, array.ndim, array.layout) != (
                dtype,
                1,
                "C",
            ):
                return None
        return _RAGGED[not values.mutable]

    return typed


@lower_builtin(Ragged, types.Array, types.Array)
def _make(context, builder, signature, args):
    """Make a `Ragged`; offsets are not checked in compiled code, unlike in Python.

    Each slice stays within `values`.
    """
    native = cgutils.create_struct_proxy(signature.return_type)(context, builder)
    native.values, native.offsets = args
    for kind, value in zip(signature.args, args, strict=True):
        context.nrt.incref(builder, kind, value)
    return native._getvalue()


@overload(len)
def _length(r):
    return (lambda r: r.offsets.size - 1) if isinstance(r, RaggedType) else None


@overload(operator.getitem)
def _item(r, i):
    if isinstance(r, RaggedType) and isinstance(i, types.Integer):

        def get(r, i):
            n, k = r.offsets.size - 1, np.intp(i)  # prange counts in uint64
            if k < -n or k >= n:
                raise IndexError("index: there is no such document in the Ragged")
            k += n if k < 0 else 0
            return r.values[r.offsets[k] : r.offsets[k + 1]]

        return get
    if isinstance(r, RaggedType) and isinstance(i, types.SliceType):

        def cut(r, i):
            first, last, step = i.indices(r.offsets.size - 1)
            if step != 1:
                raise ValueError("index: a slice of a Ragged in compiled code has the step 1")
            return Ragged(r.values, r.offsets[first : max(first, last) + 1])

        return cut
    return None


@register_model(RaggedIterator)
class _Iterator(models.StructModel):  # type: ignore[misc]
    def __init__(self, manager, kind):
        super().__init__(manager, kind, [("at", types.CPointer(types.intp)), ("batch", kind.batch)])


@lower_builtin("getiter", RaggedType)
def _iterate(context, builder, signature, args):
    iterator = cgutils.create_struct_proxy(signature.return_type)(context, builder)
    iterator.at, iterator.batch = cgutils.alloca_once_value(builder, _WORD(0)), args[0]
    context.nrt.incref(builder, signature.args[0], args[0])
    return iterator._getvalue()


@lower_builtin("iternext", RaggedIterator)
@iternext_impl(RefType.NEW)
def _next(context, builder, signature, args, result):
    kind = signature.args[0].batch
    iterator = cgutils.create_struct_proxy(signature.args[0])(context, builder, args[0])
    at = builder.load(iterator.at)
    n = context.compile_internal(builder, lambda r: r.offsets.size - 1, types.intp(kind), [iterator.batch])
    result.set_valid(is_one := builder.icmp_signed("<", at, n))
    with builder.if_then(is_one):
        get = context.compile_internal(
            builder,
            lambda r, i: r.values[r.offsets[i] : r.offsets[i + 1]],
            kind.values(kind, types.intp),
            [iterator.batch, at],
        )
        result.yield_(get)
        builder.store(builder.add(at, _WORD(1)), iterator.at)


# ---------------------------------------------------------------------------------------------------- Kernels


@intrinsic
def _address(typingctx, k):
    """Where the header of `Kernels` is."""

    def codegen(context, builder, signature, args):
        array = cgutils.create_struct_proxy(k)(context, builder, value=args[0]).header
        return builder.ptrtoint(context.make_array(k.header)(context, builder, array).data, _WORD)

    return types.int64(k), codegen


def _check(name, given, dtype, what, contiguous=True):
    """TypingError unless an argument is a 1-D array of a dtype, None for any integers.

    `what` is the expected value in the message.
    """
    is_array = isinstance(given, types.Array) and given.ndim == 1
    right = is_array and (isinstance(given.dtype, types.Integer) if dtype is None else given.dtype == dtype)
    if not right or (contiguous and (given.layout != "C" or not given.mutable)):
        raise errors.TypingError(f"{name}: expected {what}, got {given}")


def _check_document(doc):
    """The kind of a document for `encode_at`: bytes of a symbol, and 16 if it is unsigned."""
    _check("doc", doc, None, "a 1-D array of integers", contiguous=False)
    return int(doc.dtype.bitwidth) // 8 + (0 if doc.dtype.signed else 16)


@overload_method(KernelsType, "encode_into")
def _encode_into(k, doc, out):
    kind = _check_document(doc)
    _check("out", out, types.int32, "a 1-D, contiguous and writable array of int32")

    def encode_into(k, doc, out):
        h = _address(k)
        return call_at(
            word_at(h, ENCODE), (h, address(doc), doc.strides[0], doc.size, kind, address(out), out.size)
        )

    return encode_into


@overload_method(KernelsType, "count")
def _count(k, doc):
    kind = _check_document(doc)

    def count(k, doc):
        h = _address(k)
        return call_at(word_at(h, ENCODE), (h, address(doc), doc.strides[0], doc.size, kind, 0, 0))

    return count


@overload_method(KernelsType, "encode")
def _encode(k, doc):
    _check_document(doc)

    def encode(k, doc):
        out = np.empty(doc.size, np.int32)
        n = k.encode_into(doc, out)
        if n < 0:
            raise ValueError("doc: it holds a symbol that is not in the alphabet; encode_into tells where")
        return out[:n].copy() if 2 * n < doc.size else out[:n]

    return encode


@overload_method(KernelsType, "decode_into")
def _decode_into(k, ids, out):
    width = k.dtype.bitwidth // 8
    _check("ids", ids, types.int32, "a 1-D array of int32", contiguous=False)
    _check("out", out, k.dtype, f"a 1-D, contiguous and writable array of {k.dtype}")

    def decode_into(k, ids, out):
        h = _address(k)
        n = call_at(
            word_at(h, DECODE), (h, address(ids), ids.strides[0], ids.size, address(out), out.size * width)
        )
        return n // width if n > 0 else n

    return decode_into


@overload_method(KernelsType, "decode")
def _decode(k, ids):
    width, dtype = k.dtype.bitwidth // 8, k.dtype
    _check("ids", ids, types.int32, "a 1-D array of int32", contiguous=False)

    def decode(k, ids):
        h = _address(k)
        n = call_at(word_at(h, DECODE), (h, address(ids), ids.strides[0], ids.size, 0, 0))
        if n < 0:
            raise ValueError("ids: there is one that no token has; decode_into tells where")
        out = np.empty(n // width, dtype)
        k.decode_into(ids, out)
        return out

    return decode
