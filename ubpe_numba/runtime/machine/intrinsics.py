"""Machine instructions that numba has no function for.

Prefetch, wide copies, counts of zeros, loads and stores at addresses; and atomic operations on int64 items of arrays, for threads
that wait for each other inside kernels: handing work to another thread by a future costs 16 µs, by a cell that it reads in a loop
2 to 3.
"""

from __future__ import annotations

import sys

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
    """Start loading the cache line of `array[index]`; any index is safe. The fit is 30 % faster with it."""

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
def prefetch_at(typingctx, address):
    """Start loading the cache line at an address, int64; any address is safe."""

    def codegen(context, builder, signature, args):
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        function = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        call = cgutils.get_or_insert_function(builder.module, function, "llvm.prefetch.p0")
        builder.call(call, [builder.inttoptr(args[0], byte), word(0), word(3), word(1)])
        return context.get_dummy_value()

    return types.void(types.int64), codegen


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
    """Number of zero bits below the lowest set bit of a uint64, uint64: 0b1100 -> 2, 0 -> 64. One instruction."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.IntType(1)(0))

    return types.uint64(types.uint64), codegen


@intrinsic
def leading_zeros(typingctx, word):
    """Number of zero bits above the highest set bit of a uint64, uint64: 0b1100 -> 60, 0 -> 64. One instruction or a few."""

    def codegen(context, builder, signature, args):
        return builder.ctlz(args[0], ir.IntType(1)(0))

    return types.uint64(types.uint64), codegen


@intrinsic
def count_of_bits(typingctx, word):
    """Number of set bits of a uint64, int64: 0b1101 -> 3. One instruction or a few."""

    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@intrinsic
def address(typingctx, array):
    """Where the items of an array begin, int64. The caller of the kernel keeps the array alive.

    Text kernels read at addresses: helpers that take arrays leave reference counting in their innermost loops (35 MB/s instead
    of several hundred).
    """

    def codegen(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.ptrtoint(data, ir.IntType(64))

    return types.int64(array), codegen


def _pointer(builder, base, offset, bits):
    return builder.inttoptr(builder.add(base, offset), ir.IntType(bits).as_pointer())


def _load(bits, result, signed=False):
    """An intrinsic: the integer of so many bits at `base + offset`, in bytes, of any alignment."""

    @intrinsic
    def load(typingctx, base, offset):
        def codegen(context, builder, signature, args):
            word = builder.load(_pointer(builder, *args, bits), align=1)
            if bits == 64:
                return word
            return builder.sext(word, ir.IntType(64)) if signed else builder.zext(word, ir.IntType(64))

        return result(types.int64, types.int64), codegen

    return load


load8 = _load(8, types.int64)
load16 = _load(16, types.int64)
load32 = _load(32, types.int64, signed=True)
load64 = _load(64, types.uint64)


def _store(bits, word_type):
    """An intrinsic: write the lower bits of an integer, so many, at `base + offset`, in bytes, of any alignment."""

    @intrinsic
    def store(typingctx, base, offset, word):
        def codegen(context, builder, signature, args):
            word = args[2] if bits == 64 else builder.trunc(args[2], ir.IntType(bits))
            builder.store(word, _pointer(builder, args[0], args[1], bits), align=1)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64, word_type), codegen

    return store


store16 = _store(16, types.int64)
store32 = _store(32, types.int64)
store64 = _store(64, types.uint64)


@intrinsic
def atomic_load(typingctx, array, index):
    """Read `array[index]`: what the thread that stored it wrote before is visible now. array int64."""

    def codegen(context, builder, signature, args):
        return builder.load_atomic(address_of(context, builder, *signature.args, *args), "acquire", 8)

    return types.int64(array, index), codegen


@intrinsic
def atomic_store(typingctx, array, index, value):
    """Write `array[index]`: a thread that loads it sees all that was written before. array int64."""

    def codegen(context, builder, signature, args):
        pointer = address_of(context, builder, *signature.args[:2], *args[:2])
        builder.store_atomic(context.cast(builder, args[2], signature.args[2], types.int64), pointer, "release", 8)
        return context.get_dummy_value()

    return types.void(array, index, value), codegen


@intrinsic
def atomic_add(typingctx, array, index, value):
    """Add to `array[index]`, int64; returns what was there before: 5 and 2 -> 7, returns 5."""

    def codegen(context, builder, signature, args):
        pointer = address_of(context, builder, *signature.args[:2], *args[:2])
        return builder.atomic_rmw("add", pointer, context.cast(builder, args[2], signature.args[2], types.int64), "acq_rel")

    return types.int64(array, index, value), codegen


@intrinsic
def atomic_swap(typingctx, array, index, old, new):
    """Write `new` if `array[index]`, int64, is `old`; returns whether it was. 0 with old 0, new 3 -> 3, True; then False."""

    def codegen(context, builder, signature, args):
        pointer = address_of(context, builder, *signature.args[:2], *args[:2])
        values = [context.cast(builder, args[i], signature.args[i], types.int64) for i in (2, 3)]
        return builder.extract_value(builder.cmpxchg(pointer, *values, "acq_rel", "acquire"), 1)

    return types.boolean(array, index, old, new), codegen


@intrinsic
def give_way(typingctx):
    """Let another thread run on this processor: needed where there are more threads than processors."""

    def codegen(context, builder, signature, args):
        name = "SwitchToThread" if sys.platform == "win32" else "sched_yield"
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.IntType(32), []), name)
        return builder.call(function, [])

    return types.int32(), codegen
