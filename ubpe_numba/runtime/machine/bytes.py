"""Bytes of texts, given by their addresses: sets among 64 bytes as masks, short strings as words.

Sets of bytes among 64 consecutive bytes are masks: bit k of a uint64 is the byte at i + k. Bytes are compared
by vectors of 64, which LLVM maps to the processor's; the rest is arithmetic on whole words. A run is a row of
set bits, and a carry passes through it as through nines::

    bytes           a  b  c  1  2  _  3  x     the lowest bit on the left
    letters         1  1  1  0  0  0  0  1     in_range(text, i, "a", "z")
    starts          1  0  0  0  0  0  0  1     letters & ~(letters << 1)
    next            0  0  0  1  0  0  0  0     (letters + starts) & ~letters; the last run has none here

`traced` makes a function of kernels from a plain Python function on masks. It runs once, when the kernel is
compiled, and each operator writes its instruction. Numba infers no types in it, which would take a tenth of a
millisecond per operation and more.

Strings up to 15 bytes are two words, the keys of hash tables; longer ones have hashes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from ubpe_numba.runtime.compiler import helper
from ubpe_numba.runtime.machine.intrinsics import load64, named

WINDOW = 64  # bytes of a window, bits of a mask
_WORD = ir.IntType(64)
_BYTES = ir.VectorType(ir.IntType(8), WINDOW)

_FIRST = np.uint64(0x9E3779B97F4A7C15)
_SECOND = np.uint64(0xD6E8FEB86659FD93)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)

SHORT = 15  # bytes of the longest string that a key of two words holds, with its length
# the bits that the first 8 bytes of a word of n bytes have, and the other 7: to look them up is faster than
# to compute them
FIRST_BYTES = np.array([(1 << 8 * min(n, 8)) - 1 for n in range(SHORT + 1)], np.uint64)
_LAST_BYTES = np.array([(1 << 8 * max(n - 8, 0)) - 1 for n in range(SHORT + 1)], np.uint64)


class Mask:
    """A uint64 that a kernel will compute: its operators, with masks or numbers, write instructions.

    Shifts by less than 64.
    """

    __slots__ = ("builder", "word")

    def __init__(self, builder: ir.IRBuilder, word: ir.Value | int) -> None:
        self.builder = builder
        self.word = _WORD(word) if isinstance(word, int) else word

    @staticmethod
    def _operator(name: str) -> Callable[[Mask, Mask | int], Mask]:
        def operate(mask: Mask, other: Mask | int) -> Mask:
            word = other.word if isinstance(other, Mask) else _WORD(other)
            return Mask(mask.builder, getattr(mask.builder, name)(mask.word, word))

        return operate

    __and__ = _operator("and_")
    __or__ = _operator("or_")
    __xor__ = _operator("xor")
    __add__ = _operator("add")
    __sub__ = _operator("sub")
    __lshift__ = _operator("shl")
    __rshift__ = _operator("lshr")

    def __invert__(self) -> Mask:
        return Mask(self.builder, self.builder.not_(self.word))

    def equals(self, number: Mask | int) -> Mask:
        """All bits if the numbers are equal, none otherwise."""
        other = number.word if isinstance(number, Mask) else _WORD(number)
        return Mask(
            self.builder, self.builder.sext(self.builder.icmp_unsigned("==", self.word, other), _WORD)
        )

    def least(self, number: Mask) -> Mask:
        """The smaller of two numbers."""
        less = self.builder.icmp_unsigned("<", self.word, number.word)
        return Mask(self.builder, self.builder.select(less, self.word, number.word))

    def if_any(self, make: Callable[[], Mask]) -> Mask:
        """The result of `make` if any bit is set, otherwise the empty mask: a branch, for rare cases."""
        builder, before = self.builder, self.builder.block
        with builder.if_then(builder.icmp_unsigned("!=", self.word, _WORD(0))):
            word = make().word
            inner = builder.block
        result = builder.phi(_WORD)
        result.add_incoming(_WORD(0), before)
        result.add_incoming(word, inner)
        return Mask(builder, result)


def traced(function: Callable[..., Any], *results: types.Type, **constants: Any) -> Any:
    """Make a kernel function of `function`, whose arguments, int64 or uint64, become masks.

    `results` are the types of its results, if they are more than one uint64. `constants` are arguments that
    are known beforehand. The operations of `function` become part of the kernel, without a call.
    """

    def typed(typingctx: Any, *args: types.Type) -> Any:
        def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: list[ir.Value]) -> ir.Value:
            results = function(*(Mask(builder, value) for value in values), **constants)
            if isinstance(results, Mask):
                return results.word
            return context.make_tuple(builder, signature.return_type, [mask.word for mask in results])

        return (types.Tuple(results) if results else types.uint64)(*map(types.unliteral, args)), codegen

    return named(typed, function.__name__, len(inspect.signature(function).parameters) - len(constants))


def in_range(text: Mask, i: Mask, first: int, last: int) -> Mask:
    """The mask of the 64 bytes from address `text` + i on that are first..last. "a1b", "a".."z" -> 0b101."""
    builder = text.builder
    pointer = builder.inttoptr((text + i).word, _BYTES.as_pointer())
    distance = builder.sub(builder.load(pointer, align=1), ir.Constant(_BYTES, [first] * WINDOW))
    inside = builder.icmp_unsigned("<=", distance, ir.Constant(_BYTES, [last - first] * WINDOW))
    return Mask(builder, builder.bitcast(inside, _WORD))


def equal(text: Mask, i: Mask, char: str | int) -> Mask:
    """The mask of the bytes equal to `char`. "a1b1", "1" -> 0b1010."""
    byte = ord(char) if isinstance(char, str) else char
    return in_range(text, i, byte, byte)


def below(n: Mask) -> Mask:
    """The mask of the n lowest bits, 0 <= n <= 64: 3 -> 0b111."""
    return ~n.equals(0) & (Mask(n.builder, 2**64 - 1) >> ((Mask(n.builder, 64) - n) & 63))


def lowest(mask: Mask) -> Mask:
    """The number of the lowest set bit; 64 if none is set. 0b1100 -> 2."""
    return Mask(mask.builder, mask.builder.cttz(mask.word, ir.IntType(1)(0)))


def width_of(mask: Mask) -> Mask:
    """The number of the highest set bit, and 1; 0 if none is set. 0b1100 -> 4."""
    return Mask(mask.builder, 64) - Mask(mask.builder, mask.builder.ctlz(mask.word, ir.IntType(1)(0)))


def reach_up(markers: Mask, runs: Mask) -> Mask:
    """The markers, and from every marker in a run all bits up to the first after the run.

    0b100010, 0b001110 -> 0b111110.
    """
    return (((markers & runs) + runs) ^ runs) | markers


def reach_down(markers: Mask, runs: Mask) -> Mask:
    """`reach_up` in the other direction. 0b0100, 0b1110 -> 0b0111."""
    reverse = markers.builder.bitreverse
    reached = reach_up(
        Mask(markers.builder, reverse(markers.word)), Mask(markers.builder, reverse(runs.word))
    )
    return Mask(markers.builder, reverse(reached.word))


@helper
def eight_bytes(text, i, n, last):
    """The n bytes at i as a uint64, zeros after them; all 8 if n is more, none if it is less than 1.

    O(1), without a branch.

    `last` is the last position at which 8 bytes can be read: a text has at least 8. For `abcdefghij`, last 2:
    i = 1, n = 3 -> `bcd` as 0x646362; i = 8, n = 2 -> `ij`, read at 2 and shifted.
    """
    n = min(max(n, np.int64(0)), np.int64(8))
    start = min(i, last)
    word = load64(text, start) >> np.uint64(8 * min(i - start, np.int64(7)))
    half = np.uint64(32 - 4 * n)  # twice half of the shift: a shift by 64 is undefined
    return word & (_ALL >> half >> half)


@helper
def key_of_short(text, i, n, last):
    """The key of the n bytes at i, 1..SHORT: two uint64.

    `last`: the last position where 8 bytes can be read. O(1).

    "ba" -> 0x6162, 2 << 56.
    """
    if i + 8 <= last:
        lo = load64(text, i) & FIRST_BYTES[n]
        hi = load64(text, i + 8) & _LAST_BYTES[n]
    else:
        lo = eight_bytes(text, i, n, last)
        hi = eight_bytes(text, i + 8, n - 8, last)
    return lo, hi | np.uint64(n) << np.uint64(56)


@helper
def mixed(word):
    """A hash of a uint64: all bits of the result depend on all of the word. O(1)."""
    word = (word ^ (word >> np.uint64(32))) * _FIRST
    word = (word ^ (word >> np.uint64(29))) * _SECOND
    return word ^ (word >> np.uint64(32))


@helper
def mixed_two(a, b):
    """A hash of two uint64 by which tables can be addressed: its lowest bits depend on all bits of both.

    O(1).
    """
    word = (a ^ (b * _SECOND)) * _FIRST
    return word ^ (word >> np.uint64(32))


@helper
def key_of(text, i, n, last):
    """A uint64 key of the n bytes at i: the bytes themselves up to 8, a hash of more. O(n).

    `ab` -> 0x6261. Two texts of the same length of more than 8 bytes may have the same key: compare them by
    `same_bytes`.
    """
    if n <= 8:
        return eight_bytes(text, i, n, last)
    key = np.uint64(n)
    for k in range(0, n, 8):
        key = (key ^ eight_bytes(text, i + k, n - k, last)) * _FIRST
        key ^= key >> np.uint64(29)
    return key


@helper
def same_bytes(text, i, j, n, last):
    """Whether the n bytes at i and those at j are equal. O(n).

    `abcabd`, i = 0, j = 3 -> True for n = 2, False for 3.
    """
    k = np.int64(0)
    while k < n and eight_bytes(text, i + k, n - k, last) == eight_bytes(text, j + k, n - k, last):
        k += 8
    return k >= n
