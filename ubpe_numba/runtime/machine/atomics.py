"""Atomic operations on int64 items of arrays, for threads that wait for each other inside kernels.

Handing work to another thread by a future costs 16 µs, by a cell that it reads in a loop 2 to 3.
"""

from __future__ import annotations

import sys

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ubpe_numba.runtime.machine.intrinsics import address_of


@intrinsic
def load(typingctx, array, index):
    """Read `array[index]`: what the thread that stored it wrote before is visible now. array int64."""

    def codegen(context, builder, signature, args):
        return builder.load_atomic(address_of(context, builder, *signature.args, *args), "acquire", 8)

    return types.int64(array, index), codegen


@intrinsic
def store(typingctx, array, index, value):
    """Write `array[index]`: a thread that loads it sees all that was written before. array int64."""

    def codegen(context, builder, signature, args):
        pointer = address_of(context, builder, *signature.args[:2], *args[:2])
        builder.store_atomic(context.cast(builder, args[2], signature.args[2], types.int64), pointer, "release", 8)
        return context.get_dummy_value()

    return types.void(array, index, value), codegen


@intrinsic
def add(typingctx, array, index, value):
    """Add to `array[index]`, int64; returns what was there before: 5 and 2 -> 7, returns 5."""

    def codegen(context, builder, signature, args):
        pointer = address_of(context, builder, *signature.args[:2], *args[:2])
        return builder.atomic_rmw("add", pointer, context.cast(builder, args[2], signature.args[2], types.int64), "acq_rel")

    return types.int64(array, index, value), codegen


@intrinsic
def swap(typingctx, array, index, old, new):
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
