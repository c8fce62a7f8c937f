"""Vectors of 16 and 64 bytes at addresses: copies, 16 ranks and their least, a bucket of 8 pairs compared at once.

Generic LLVM vectors, no instructions of one processor: the compiler splits them up where registers are narrower.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_I32, _I64 = ir.IntType(32), ir.IntType(64)
_SIXTEEN = ir.VectorType(_I32, 16)
_EIGHT = ir.VectorType(_I64, 8)


def _vector_at(builder, address, kind, align=1):
    return builder.load(builder.inttoptr(address, kind.as_pointer()), align=align)


def _copy(kind):
    """An intrinsic: copy a vector from address `source` to address `target`; all is read before any is written."""

    @intrinsic
    def copy(typingctx, target, source):
        def codegen(context, builder, signature, args):
            builder.store(_vector_at(builder, args[1], kind), builder.inttoptr(args[0], kind.as_pointer()), align=1)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64), codegen

    return copy


copy_16_bytes = _copy(ir.VectorType(_I64, 2))
copy_64_bytes = _copy(_SIXTEEN)


def _reduced(builder, operation, vector):
    name = f"llvm.vector.reduce.{operation}.v{vector.type.count}i{vector.type.element.width}"
    function = ir.FunctionType(vector.type.element, [vector.type])
    return builder.call(cgutils.get_or_insert_function(builder.module, function, name), [vector])


def _splat(builder, word, kind):
    """A vector of equal items."""
    undefined = ir.Constant(kind, ir.Undefined)
    one = builder.insert_element(undefined, word, _I32(0))
    return builder.shuffle_vector(one, undefined, ir.Constant(ir.VectorType(_I32, kind.count), [0] * kind.count))


@intrinsic
def fill_16(typingctx, address, value):
    """Write an int64 that fits int32 to an address, 16 times as int32."""

    def codegen(context, builder, signature, args):
        vector = _splat(builder, builder.trunc(args[1], _I32), _SIXTEEN)
        builder.store(vector, builder.inttoptr(args[0], _SIXTEEN.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@intrinsic
def put_in_16(typingctx, address, i, x, j, y, k, z):
    """Write x at i, y at j and z at k of 16 int32 at an address, and find the least of all with its index: `value << 4 | index`.

    Values are from 0 on and below 2**27; what is to be written at an index that is not in 0..15 is not. Of equal ones the first
    counts. All is int64. [9, 7, 8, 7, 9, ...], 5 at 2, 9 at 1, 3 at -1 -> [9, 9, 5, 7, 9, ...], returns 5 << 4 | 2.

    Single items written to memory and then loaded as a vector would make the processor wait; vectors written and loaded do not.
    """

    def codegen(context, builder, signature, args):
        v = _vector_at(builder, args[0], _SIXTEEN)
        index = ir.Constant(_SIXTEEN, list(range(16)))
        for at, value in (args[1:3], args[3:5], args[5:7]):
            here = builder.icmp_signed("==", index, _splat(builder, builder.trunc(at, _I32), _SIXTEEN))
            v = builder.select(here, _splat(builder, builder.trunc(value, _I32), _SIXTEEN), v)
        builder.store(v, builder.inttoptr(args[0], _SIXTEEN.as_pointer()), align=1)
        v = builder.or_(builder.shl(v, ir.Constant(_SIXTEEN, [4] * 16)), index)
        return builder.zext(_reduced(builder, "umin", v), _I64)

    word = types.int64
    return word(word, word, word, word, word, word, word), codegen


@intrinsic
def value_of_8(typingctx, address, key):
    """The value of a key among 8 entries `key << 22 | value` at an address, uint64 aligned to 8; 0 if it is not there.

    A key, uint64, is there once at most. No branch. [5 << 22 | 1, 6 << 22 | 9, ...]: key 6 -> 9, key 7 -> 0.
    """

    def codegen(context, builder, signature, args):
        keys = _splat(builder, args[1], _EIGHT)
        entries = _vector_at(builder, args[0], _EIGHT, 8)
        same = builder.icmp_unsigned("==", builder.lshr(entries, ir.Constant(_EIGHT, [22] * 8)), keys)
        values = builder.and_(entries, ir.Constant(_EIGHT, [(1 << 22) - 1] * 8))
        return _reduced(builder, "or", builder.select(same, values, ir.Constant(_EIGHT, [0] * 8)))

    return types.int64(types.int64, types.uint64), codegen
