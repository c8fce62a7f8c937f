"""Vectors of 16 and 64 bytes at addresses: copies, the least of 16 ranks, a bucket of 8 pairs compared at once.

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


@intrinsic
def least_of_16(typingctx, address):
    """The least of 16 int32 at an address, with its index: `value << 4 | index`, int64; of equal ones the first.

    All are from 0 on and below 2**27. [9, 7, 8, 7, 9, 9, ...] -> 7 << 4 | 1.
    """

    def codegen(context, builder, signature, args):
        v = builder.shl(_vector_at(builder, args[0], _SIXTEEN), ir.Constant(_SIXTEEN, [4] * 16))
        v = builder.or_(v, ir.Constant(_SIXTEEN, list(range(16))))
        return builder.zext(_reduced(builder, "umin", v), _I64)

    return types.int64(types.int64), codegen


@intrinsic
def value_of_8(typingctx, address, key):
    """The value of a key among 8 entries `key << 22 | value` at an address, uint64 aligned to 8; 0 if it is not there.

    A key, uint64, is there once at most. No branch. [5 << 22 | 1, 6 << 22 | 9, ...]: key 6 -> 9, key 7 -> 0.
    """

    def codegen(context, builder, signature, args):
        undefined = ir.Constant(_EIGHT, ir.Undefined)
        one = builder.insert_element(undefined, args[1], _I32(0))
        keys = builder.shuffle_vector(one, undefined, ir.Constant(ir.VectorType(_I32, 8), [0] * 8))
        entries = _vector_at(builder, args[0], _EIGHT, 8)
        same = builder.icmp_unsigned("==", builder.lshr(entries, ir.Constant(_EIGHT, [22] * 8)), keys)
        values = builder.and_(entries, ir.Constant(_EIGHT, [(1 << 22) - 1] * 8))
        return _reduced(builder, "or", builder.select(same, values, ir.Constant(_EIGHT, [0] * 8)))

    return types.int64(types.int64, types.uint64), codegen
