"""Machine instructions that are missing in numba.

These are prefetch, copies, counts of zeros, loads and stores at addresses. Atomic operations on int64 items
of arrays serve threads that wait for each other inside kernels. Handing work to another thread by a future
costs 16 µs, by a cell that it polls 2 to 3. Vectors have 16 and 64 bytes. They are LLVM's generic vectors,
which the compiler splits up for narrower registers.
"""

from __future__ import annotations

import inspect
import platform
import sys

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_BIT, _I8, _I32, _I64 = ir.IntType(1), ir.IntType(8), ir.IntType(32), ir.IntType(64)
_SIXTEEN = ir.VectorType(_I32, 16)
_EIGHT = ir.VectorType(_I64, 8)
_WORD, _UNSIGNED, _INDEX = types.int64, types.uint64, types.intp


def _instruction(result, *kinds):
    """Make a kernel function from a writer of instructions.

    The writer gets LLVM's builder and the values of its arguments.

    `result` and `kinds` are the types. An `Array` is of any type; it and the index after it are one value,
    the address of the item (without an index, of the first).
    """

    def made(write):
        def typed(typingctx, *args):
            def codegen(context, builder, signature, values):
                arguments, left = [], iter(zip(signature.args, values, strict=True))
                for kind, value in left:
                    if isinstance(kind, types.Array):
                        data = context.make_array(kind)(context, builder, value).data
                        _, index = next(left, (None, None))
                        arguments.append(data if index is None else builder.gep(data, [index]))
                    else:
                        arguments.append(value)
                written = write(builder, *arguments)
                return context.get_dummy_value() if result is types.void else written

            return result(
                *(arg if kind is types.Array else kind for kind, arg in zip(kinds, args, strict=True))
            ), codegen

        return named(typed, write.__name__, len(kinds))

    return made


def named(typed, name, n):
    """The intrinsic of a function of a typing context and any number of types.

    It gets a name and n arguments.
    """
    parameters = [inspect.Parameter(f"a{i}", inspect.Parameter.POSITIONAL_OR_KEYWORD) for i in range(n + 1)]
    typed.__signature__, typed.__name__ = inspect.Signature(parameters), name
    return intrinsic(typed)


def _call(builder, name, result, *values):
    """Call a function of LLVM or of the system."""
    function = ir.FunctionType(result, [value.type for value in values])
    return builder.call(cgutils.get_or_insert_function(builder.module, function, name), values)


def _prefetch(builder, pointer):
    pointer = builder.bitcast(pointer, _I8.as_pointer())
    _call(builder, "llvm.prefetch.p0", ir.VoidType(), pointer, _I32(0), _I32(3), _I32(1))


@_instruction(types.void, types.Array, _INDEX)
def prefetch(builder, item):
    """`prefetch(array, index)`: start loading the cache line of an item; any index is safe.

    The fit is 30 % faster with it.
    """
    _prefetch(builder, item)


@_instruction(types.void, _WORD)
def prefetch_at(builder, address):
    """Start loading the cache line at an address, int64; any address is safe."""
    _prefetch(builder, builder.inttoptr(address, _I8.as_pointer()))


@_instruction(types.void, types.Array, _INDEX, types.Array, _INDEX)
def copy32(builder, target, source):
    """`copy32(target, to, source, start)`: copy 32 bytes, unaligned, between arrays of uint8.

    No bounds are checked.
    """
    wide = ir.VectorType(_I8, 32).as_pointer()
    builder.store(
        builder.load(builder.bitcast(source, wide), align=1), builder.bitcast(target, wide), align=1
    )


@_instruction(_UNSIGNED, _UNSIGNED)
def trailing_zeros(builder, word):
    """Number of zero bits below the lowest set bit of a uint64, uint64: 0b1100 -> 2, 0 -> 64.

    One instruction.
    """
    return builder.cttz(word, _BIT(0))


@_instruction(_UNSIGNED, _UNSIGNED)
def leading_zeros(builder, word):
    """Number of zero bits above the highest set bit of a uint64, uint64: 0b1100 -> 60, 0 -> 64.

    One instruction or a few.
    """
    return builder.ctlz(word, _BIT(0))


@_instruction(_WORD, _UNSIGNED)
def count_of_bits(builder, word):
    """Number of set bits of a uint64, int64: 0b1101 -> 3. One instruction or a few."""
    return builder.ctpop(word)


@_instruction(_WORD, types.Array)
def address(builder, first):
    """`address(array)`: the address of the first item of an array, int64.

    The caller of the kernel keeps the array alive.

    Text kernels read at addresses: helpers that take arrays leave reference counting in their innermost loops
    (35 MB/s instead of several hundred).
    """
    return builder.ptrtoint(first, _I64)


def _pointer(builder, base, offset, bits):
    return builder.inttoptr(builder.add(base, offset), ir.IntType(bits).as_pointer())


def _load(bits, result, extend="zext"):
    """The integer of so many bits at `base + offset`, in bytes, of any alignment."""

    @_instruction(result, _WORD, _WORD)
    def load(builder, base, offset):
        word = builder.load(_pointer(builder, base, offset, bits), align=1)
        return word if bits == 64 else getattr(builder, extend)(word, _I64)

    return load


load8 = _load(8, _WORD)
load16 = _load(16, _WORD)
load32 = _load(32, _WORD, "sext")
load64 = _load(64, _UNSIGNED)


def _store(bits, kind):
    """Write the lower bits of an integer, so many, at `base + offset`, in bytes, of any alignment."""

    @_instruction(types.void, _WORD, _WORD, kind)
    def store(builder, base, offset, word):
        word = word if bits == 64 else builder.trunc(word, ir.IntType(bits))
        builder.store(word, _pointer(builder, base, offset, bits), align=1)

    return store


store16 = _store(16, _WORD)
store32 = _store(32, _WORD)
store64 = _store(64, _UNSIGNED)


@_instruction(_WORD, types.Array, _INDEX)
def atomic_load(builder, item):
    """Read `array[index]`: all earlier writes of the thread that stored it are visible now. array int64."""
    return builder.load_atomic(item, "acquire", 8)


@_instruction(types.void, types.Array, _INDEX, _WORD)
def atomic_store(builder, item, value):
    """Write `array[index]`: a thread that loads it sees all that was written before. array int64."""
    builder.store_atomic(value, item, "release", 8)


@_instruction(_WORD, types.Array, _INDEX, _WORD)
def atomic_add(builder, item, value):
    """Add to `array[index]`, int64; returns the value before: 5 and 2 -> 7, returns 5."""
    return builder.atomic_rmw("add", item, value, "acq_rel")


@_instruction(types.boolean, types.Array, _INDEX, _WORD, _WORD)
def atomic_swap(builder, item, old, new):
    """Write `new` if `array[index]`, int64, is `old`; returns whether it was.

    0 with old 0, new 3 -> 3, True; then False.
    """
    return builder.extract_value(builder.cmpxchg(item, old, new, "acq_rel", "acquire"), 1)


@_instruction(types.void)
def pause(builder):
    """For a loop that waits: the processor saves power, and favors the other thread of the core."""
    if platform.machine() in ("x86_64", "AMD64"):  # that of ARM does nothing
        _call(builder, "llvm.x86.sse2.pause", ir.VoidType())


@_instruction(types.int32)
def give_way(builder):
    """Sleep for 0.1 ms, so that another thread may have the processor.

    On Windows, which sleeps longer, yield once.
    """
    return (
        _call(builder, "SwitchToThread", _I32)
        if sys.platform == "win32"
        else _call(builder, "usleep", _I32, _I32(50))
    )


def _copy(kind):
    """Copy a vector to address `target` from address `source`; all is read before any is written."""

    @_instruction(types.void, _WORD, _WORD)
    def copy(builder, target, source):
        vector = builder.load(builder.inttoptr(source, kind.as_pointer()), align=1)
        builder.store(vector, builder.inttoptr(target, kind.as_pointer()), align=1)

    return copy


copy_16_bytes = _copy(ir.VectorType(_I64, 2))
copy_64_bytes = _copy(_SIXTEEN)


def _splat(builder, word, kind):
    """A vector of equal items, the lower bits of a word."""
    undefined = ir.Constant(kind, ir.Undefined)
    word = word if word.type == kind.element else builder.trunc(word, kind.element)
    one = builder.insert_element(undefined, word, _I32(0))
    return builder.shuffle_vector(
        one, undefined, ir.Constant(ir.VectorType(_I32, kind.count), [0] * kind.count)
    )


@_instruction(types.void, _WORD, _WORD)
def fill_16(builder, address, value):
    """Write an int64 that fits int32 to an address, 16 times as int32."""
    builder.store(_splat(builder, value, _SIXTEEN), builder.inttoptr(address, _SIXTEEN.as_pointer()), align=1)


@_instruction(_WORD, _WORD, _WORD, _WORD, _WORD, _WORD, _WORD, _WORD)
def put_in_16(builder, address, i, x, j, y, k, z):
    """Write x at i, y at j and z at k of 16 int32 at an address, and find the least of all.

    Returns it with its index: `value << 4 | index`.

    Values are from 0 on and below 2**27. A value for an index outside 0..15 is not written. Among equal
    values the first counts. All are int64. For [9, 7, 8, 7, 9, ...], 5 at 2, 9 at 1 and 3 at -1 give [9, 9,
    5, 7, 9, ...]; returns 5 << 4 | 2.

    Single items written to memory and then loaded as a vector would make the processor wait; vectors written
    and loaded do not.
    """
    pointer = builder.inttoptr(address, _SIXTEEN.as_pointer())
    v = builder.load(pointer, align=1)
    index = ir.Constant(_SIXTEEN, list(range(16)))
    for at, value in ((i, x), (j, y), (k, z)):
        here = builder.icmp_signed("==", index, _splat(builder, at, _SIXTEEN))
        v = builder.select(here, _splat(builder, value, _SIXTEEN), v)
    builder.store(v, pointer, align=1)
    v = builder.or_(builder.shl(v, ir.Constant(_SIXTEEN, [4] * 16)), index)
    return builder.zext(_call(builder, "llvm.vector.reduce.umin.v16i32", _I32, v), _I64)


def _chosen(builder, keys, key, values, how, otherwise):
    """The value of the equal key among 8, otherwise 8 times `otherwise`, reduced."""
    same = builder.icmp_unsigned("==", keys, _splat(builder, key, _EIGHT))
    values = builder.select(same, values, ir.Constant(_EIGHT, [otherwise] * 8))
    return _call(builder, f"llvm.vector.reduce.{how}.v8i64", _I64, values)


@_instruction(_WORD, _WORD, _WORD)
def value_of_8_words(builder, address, key):
    """The value of a key among 8 keys at an address and 8 values after them, int64.

    It is -1, which is never a value, if the key is missing.

    A key occurs once at most. No branch. [5, 6, -1, ...] and [1, 9, -1, ...]: key 6 -> 9, key 7 -> -1.
    """
    keys, values = (
        builder.load(builder.inttoptr(builder.add(address, _I64(at)), _EIGHT.as_pointer()), align=8)
        for at in (0, 64)
    )
    return _chosen(builder, keys, key, values, "and", -1)


@_instruction(_WORD, _WORD, _UNSIGNED)
def value_of_8(builder, address, key):
    """The value of a key among 8 entries `key << 22 | value` at an address; 0 if it is missing.

    The entries are uint64, aligned to 8.

    A key, uint64, occurs once at most. No branch. [5 << 22 | 1, 6 << 22 | 9, ...]: key 6 -> 9, key 7 -> 0.
    """
    entries = builder.load(builder.inttoptr(address, _EIGHT.as_pointer()), align=8)
    keys = builder.lshr(entries, ir.Constant(_EIGHT, [22] * 8))
    return _chosen(
        builder, keys, key, builder.and_(entries, ir.Constant(_EIGHT, [(1 << 22) - 1] * 8)), "or", 0
    )
