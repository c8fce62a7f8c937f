"""Machine instructions that Python has no word for: prefetch, and a wide copy between byte arrays."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def address_of(context, builder, array_type, index_type, array, index):
    """The address of `array[index]`, for other intrinsics."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(data, [context.cast(builder, index, index_type, types.intp)])


@intrinsic
def prefetch(typingctx, array, index):
    """Ask for the cache line of `array[index]`; any index is safe. The fit waits for memory without it: worth 30 %."""

    def codegen(context, builder, signature, args):
        pointer = address_of(context, builder, *signature.args, *args)
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        pointer = builder.bitcast(pointer, byte)
        function = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        call = cgutils.get_or_insert_function(builder.module, function, "llvm.prefetch.p0")
        builder.call(call, [pointer, word(0), word(3), word(1)])
        return context.get_dummy_value()

    return types.void(array, index), codegen


@intrinsic
def copy32(typingctx, target, to, source, start):
    """Copy 32 bytes, unaligned: `target[to:to + 32] = source[start:start + 32]`, both uint8. No bounds are checked."""

    def codegen(context, builder, signature, args):
        target_type, to_type, source_type, start_type = signature.args
        wide = ir.VectorType(ir.IntType(8), 32).as_pointer()
        into = builder.bitcast(address_of(context, builder, target_type, to_type, args[0], args[1]), wide)
        out_of = builder.bitcast(address_of(context, builder, source_type, start_type, args[2], args[3]), wide)
        builder.store(builder.load(out_of, align=1), into, align=1)
        return context.get_dummy_value()

    return types.void(target, to, source, start), codegen


@intrinsic
def trailing_zeros(typingctx, word):
    """Number of zero bits below the lowest set bit of a uint64 that is not 0: one instruction."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.IntType(1)(0))

    return types.uint64(types.uint64), codegen
