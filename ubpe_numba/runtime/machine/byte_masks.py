"""Sets of bytes among 64 that follow each other, as masks: bit k of a uint64 stands for the byte at i + k.

Bytes are compared by vectors of 64, which LLVM maps to what the processor has; the rest is arithmetic on whole words. A run is a
row of set bits, and a carry goes through it as through nines::

    bytes           a  b  c  1  2  _  3  x     the lowest bit on the left
    letters         1  1  1  0  0  0  0  1     in_range(text, i, "a", "z")
    starts          1  0  0  0  0  0  0  1     letters & ~(letters << 1)
    behind          0  0  0  1  0  0  0  0     (letters + starts) & ~letters; the last run has none within 8 bytes

`traced` makes a function of kernels from a plain Python function on masks: that runs once, when the kernel is compiled, and each
operator writes its instruction. Numba infers no types in it, which takes a tenth of a millisecond an operation and more.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

WINDOW = 64  # bytes of a window, bits of a mask
_WORD = ir.IntType(64)
_BYTES = ir.VectorType(ir.IntType(8), WINDOW)


class Mask:
    """A uint64 that a kernel will compute: its operators, with masks or numbers, write instructions. Shifts by less than 64."""

    __slots__ = ("builder", "word")

    def __init__(self, builder: ir.IRBuilder, word: ir.Value | int) -> None:
        self.builder = builder
        self.word = _WORD(word) if isinstance(word, int) else word

    def _with(self, write: Callable[..., ir.Value], other: Mask | int) -> Mask:
        return Mask(self.builder, write(self.word, other.word if isinstance(other, Mask) else _WORD(other)))

    def __and__(self, other: Mask | int) -> Mask:
        return self._with(self.builder.and_, other)

    def __or__(self, other: Mask | int) -> Mask:
        return self._with(self.builder.or_, other)

    def __xor__(self, other: Mask | int) -> Mask:
        return self._with(self.builder.xor, other)

    def __add__(self, other: Mask | int) -> Mask:
        return self._with(self.builder.add, other)

    def __sub__(self, other: Mask | int) -> Mask:
        return self._with(self.builder.sub, other)

    def __lshift__(self, other: Mask | int) -> Mask:
        return self._with(self.builder.shl, other)

    def __rshift__(self, other: Mask | int) -> Mask:
        return self._with(self.builder.lshr, other)

    def __invert__(self) -> Mask:
        return Mask(self.builder, self.builder.not_(self.word))

    def equals(self, number: Mask | int) -> Mask:
        """All bits if the numbers are equal, none otherwise."""
        other = number.word if isinstance(number, Mask) else _WORD(number)
        return Mask(self.builder, self.builder.sext(self.builder.icmp_unsigned("==", self.word, other), _WORD))

    def least(self, number: Mask) -> Mask:
        """The smaller of two numbers."""
        less = self.builder.icmp_unsigned("<", self.word, number.word)
        return Mask(self.builder, self.builder.select(less, self.word, number.word))

    def if_any(self, make: Callable[[], Mask]) -> Mask:
        """What `make` returns if any bit is set, no bits otherwise: a branch, for what is rarely needed."""
        builder, before = self.builder, self.builder.block
        with builder.if_then(builder.icmp_unsigned("!=", self.word, _WORD(0))):
            made = make().word
            inner = builder.block
        result = builder.phi(_WORD)
        result.add_incoming(_WORD(0), before)
        result.add_incoming(made, inner)
        return Mask(builder, result)


def traced(function: Callable[..., Any], *results: types.Type, **constants: Any) -> Any:
    """A function of kernels that does what `function` does with masks, given its arguments, int64 or uint64, as masks.

    `results` are the types of what it returns, if that is more than one uint64; `constants` are arguments of `function` that are
    known beforehand. What `function` returns for them is part of the kernel: there is no call.
    """
    parameters = [p for name, p in inspect.signature(function).parameters.items() if name not in constants]

    def typed(typingctx: Any, *args: types.Type) -> Any:
        def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: list[ir.Value]) -> ir.Value:
            made = function(*(Mask(builder, value) for value in values), **constants)
            if isinstance(made, Mask):
                return made.word
            return context.make_tuple(builder, signature.return_type, [mask.word for mask in made])

        return (types.Tuple(results) if results else types.uint64)(*map(types.unliteral, args)), codegen

    first = inspect.Parameter("typingctx", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    plain = [p.replace(kind=p.POSITIONAL_OR_KEYWORD, annotation=p.empty) for p in parameters]
    typed.__signature__ = inspect.Signature([first, *plain])  # type: ignore[attr-defined]
    typed.__name__ = function.__name__
    return intrinsic(typed)


def in_range(text: Mask, i: Mask, first: int, last: int) -> Mask:
    """The mask of the 64 bytes from address `text` + i on that are first..last. "a1b", "a".."z" -> 0b101."""
    builder = text.builder
    pointer = builder.inttoptr((text + i).word, _BYTES.as_pointer())
    distance = builder.sub(builder.load(pointer, align=1), ir.Constant(_BYTES, [first] * WINDOW))
    found = builder.icmp_unsigned("<=", distance, ir.Constant(_BYTES, [last - first] * WINDOW))
    return Mask(builder, builder.bitcast(found, _WORD))


def equal(text: Mask, i: Mask, char: str | int) -> Mask:
    """The mask of the bytes that are this one. "a1b1", "1" -> 0b1010."""
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
    """The markers, and from every marker in a run all bits up to the one behind the run. 0b100010, 0b001110 -> 0b111110."""
    return (((markers & runs) + runs) ^ runs) | markers


def reach_down(markers: Mask, runs: Mask) -> Mask:
    """`reach_up` in the other direction. 0b0100, 0b1110 -> 0b0111."""

    def reversed_bits(mask: Mask) -> Mask:
        return Mask(mask.builder, mask.builder.bitreverse(mask.word))

    return reversed_bits(reach_up(reversed_bits(markers), reversed_bits(runs)))
