"""Memory and machine code at addresses, for kernels that take everything by the address of a header.

A header is an array of int64: of a table it has two words, where its items begin and how many there are. So
one word has all tables of a tokenizer, and code that takes it is compiled once. Memory comes from Python's
raw allocator, which needs no GIL and which LLVM finds on every platform.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ubpe_numba.runtime.machine.intrinsics import _call, _instruction

_WORD, _BYTES = ir.IntType(64), ir.IntType(8).as_pointer()
#: Result of a kernel at an address that failed to allocate memory of its own.
NO_MEMORY = -(1 << 62) - 1


@_instruction(types.int64, types.int64, types.int64)
def word_at(builder, header, i):
    """Word i of the header at an address, int64."""
    return builder.load(builder.gep(builder.inttoptr(header, _WORD.as_pointer()), [i]))


@_instruction(types.int64, types.int64)
def allocate(builder, n_words):
    """The address of `n_words` words of zeros, for `release`; 0 if memory is exhausted."""
    return builder.ptrtoint(_call(builder, "PyMem_RawCalloc", _BYTES, n_words, _WORD(8)), _WORD)


@_instruction(types.int64, types.int64)
def claim(builder, n_bytes):
    """The address of `n_bytes` uninitialized bytes, for `release`; 0 if memory is exhausted."""
    return builder.ptrtoint(_call(builder, "PyMem_RawMalloc", _BYTES, n_bytes), _WORD)


@_instruction(types.void, types.int64)
def release(builder, address):
    """Give back what `allocate` or `claim` returned."""
    _call(builder, "PyMem_RawFree", ir.VoidType(), builder.inttoptr(address, _BYTES))


@_instruction(types.void, types.int64, types.int64, types.int64)
def copy_bytes(builder, target, source, n):
    """Copy n bytes to one address from another; the two do not overlap."""
    cgutils.raw_memcpy(builder, builder.inttoptr(target, _BYTES), builder.inttoptr(source, _BYTES), n, 1)


def _array(context, builder, kind, address, n):
    array = context.make_array(kind)(context, builder)
    item = _WORD(context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    array.data = builder.inttoptr(address, context.get_data_type(kind.dtype).as_pointer())
    array.nitems, array.itemsize = n, item
    array.shape, array.strides = cgutils.pack_array(builder, [n]), cgutils.pack_array(builder, [item])
    array.meminfo, array.parent = array.meminfo.type(None), array.parent.type(None)
    return array._getvalue()


@intrinsic
def array_at(typingctx, address, n, dtype):
    """`array_at(address, n, dtype)`: an array of n items of memory that belongs to somebody else."""
    kind = types.Array(dtype.dtype, 1, "C")
    signature = kind(types.int64, types.int64, dtype)
    return signature, lambda context, builder, _, args: _array(context, builder, kind, args[0], args[1])


@intrinsic
def table_at(typingctx, header, i, dtype):
    """The table of a dtype whose address and length are words i and i + 1 of a header."""
    kind = types.Array(dtype.dtype, 1, "C")

    def codegen(context, builder, _, args):
        first = builder.gep(builder.inttoptr(args[0], _WORD.as_pointer()), [args[1]])
        return _array(
            context, builder, kind, builder.load(first), builder.load(builder.gep(first, [_WORD(1)]))
        )

    return kind(types.int64, types.int64, dtype), codegen


@intrinsic
def call_at(typingctx, function, args):
    """`call_at(address, (a, b, ...))`: call a compiled kernel whose result is int64.

    The kernel takes arguments of these types. The result is NO_MEMORY if the call failed.
    """

    def codegen(context, builder, signature, values):
        kinds, convention = tuple(signature.args[1]), context.call_conv
        pointer = convention.get_function_type(types.int64, kinds).as_pointer()
        arguments = [builder.extract_value(values[1], i) for i in range(len(kinds))]
        status, result = convention.call_function(
            builder, builder.inttoptr(values[0], pointer), types.int64, kinds, arguments
        )
        return builder.select(status.is_error, _WORD(NO_MEMORY), result)

    return types.int64(types.int64, args), codegen
