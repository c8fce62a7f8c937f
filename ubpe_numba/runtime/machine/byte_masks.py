"""Sets of bytes among 64 that follow each other, as masks: bit k of a uint64 stands for the byte at i + k.

Comparison is by vectors of 64 bytes, which LLVM maps to what the processor has; what follows is arithmetic on whole words. A run is
a row of set bits; a carry goes through a run as through nines::

    bytes           a  b  c  1  2     3  x
    letters         1  1  1  0  0  0  0  1     in_range "a".."z", the lowest bit on the left
    starts          1  0  0  0  0  0  0  1     letters & ~(letters << 1)
    ends            0  0  1  0  0  0  0  1     letters & ~(letters >> 1)
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ubpe_numba.runtime.jit import helper
from ubpe_numba.runtime.machine.intrinsics import trailing_zeros

WINDOW = 64  # bytes of a window, bits of a mask
_BYTES = ir.VectorType(ir.IntType(8), WINDOW)
_ONE = np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


def _splat(builder, number):
    """A vector of 64 equal bytes; a constant if the number is one."""
    byte = builder.trunc(number, ir.IntType(8))
    empty = ir.Constant(_BYTES, ir.Undefined)
    first = builder.insert_element(empty, byte, ir.IntType(32)(0))
    return builder.shuffle_vector(first, empty, ir.Constant(ir.VectorType(ir.IntType(32), WINDOW), [0] * WINDOW))


@intrinsic
def in_range(typingctx, text, i, first, last):
    """The mask of the 64 bytes from address `text` + i on that are first..last, uint64. "a1b", "a".."z" -> 0b101."""

    def codegen(context, builder, signature, args):
        text, i, first, last = args
        pointer = builder.inttoptr(builder.add(text, i), _BYTES.as_pointer())
        distance = builder.sub(builder.load(pointer, align=1), _splat(builder, first))
        found = builder.icmp_unsigned("<=", distance, _splat(builder, builder.sub(last, first)))
        return builder.bitcast(found, ir.IntType(64))

    return types.uint64(types.int64, types.int64, types.int64, types.int64), codegen


@intrinsic
def _leading_zeros(typingctx, word):
    def codegen(context, builder, signature, args):
        return builder.ctlz(args[0], ir.IntType(1)(0))

    return types.uint64(types.uint64), codegen


@intrinsic
def _reversed(typingctx, word):
    def codegen(context, builder, signature, args):
        return builder.bitreverse(args[0])

    return types.uint64(types.uint64), codegen


@helper
def equal(text, i, byte):
    """The mask of the bytes that are `byte`. "a1b1", "1" -> 0b1010."""
    return in_range(text, i, byte, byte)


@helper
def below(n):
    """The mask of the n lowest bits, 0 <= n <= 64: 3 -> 0b111."""
    half = np.uint64(64 - n) >> _ONE  # in two halves: a shift by 64 is undefined
    return _ALL >> half >> (np.uint64(64 - n) - half)


@helper
def lowest(mask):
    """The number of the lowest set bit, int64; 64 if none is set. 0b1100 -> 2."""
    return np.int64(trailing_zeros(mask))


@helper
def width_of(mask):
    """The number of the highest set bit, and 1; 0 if none is set. 0b1100 -> 4."""
    return np.int64(64) - np.int64(_leading_zeros(mask))


@helper
def reach_up(markers, runs):
    """The markers, and from every marker in a run all bits up to the one behind the run. 0b100010, 0b001110 -> 0b111110."""
    return (((markers & runs) + runs) ^ runs) | markers


@helper
def reach_down(markers, runs):
    """`reach_up` in the other direction. 0b0100, 0b1110 -> 0b0111."""
    return _reversed(reach_up(_reversed(markers), _reversed(runs)))
