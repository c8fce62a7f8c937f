"""Machine code that releases what was exported to Arrow, made once a process.

A consumer may release from any thread, without the GIL, and while an exception of Python is on its way: `int(array)` drops the
array after the TypeError was set. Python code must not run then, and callbacks of ctypes are Python code: the exception is lost,
or pyarrow ends the process. So these are four functions of a few instructions each::

    release(struct)     release the child, if it was not moved; release = NULL; give back private_data
    destroy(capsule)    release(struct), if nobody has taken it; free the struct

`private_data` is a reference to a tuple that owns the buffers. It is given back with the GIL held and the exception put aside, or
never if the interpreter has ended: a library that outlives it may still release.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any, NamedTuple

from ubpe_numba.documents.arrow_structs import Array, Schema, function

__all__ = ["Callbacks", "callbacks", "immortal"]

_keep = function("Py_IncRef", None, ctypes.py_object)


class Callbacks(NamedTuple):
    """Addresses of the functions: to release structs, and to destroy capsules of them."""

    release_schema: int
    release_array: int
    destroy_schema: int
    destroy_array: int


def immortal(value: Any) -> Any:
    """The value, which stays alive until the process ends, also while the interpreter ends."""
    _keep(value)
    return value


@lru_cache(maxsize=1)
def callbacks() -> Callbacks:
    """The functions, compiled on the first call, which takes some milliseconds."""
    from llvmlite import binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(codemodel="jitdefault")
    engine = immortal(llvm.create_mcjit_compiler(llvm.parse_assembly(_code()), machine))
    engine.finalize_object()
    return Callbacks(*map(engine.get_function_address, Callbacks._fields))


def _code() -> str:
    """The assembly of all functions; addresses of Python's C API stand in it as numbers."""
    from llvmlite import ir

    word, flag, void = ir.IntType(8 * ctypes.sizeof(ctypes.c_void_p)), ir.IntType(32), ir.VoidType()
    releases = ir.FunctionType(void, [word])

    def load(builder: Any, base: Any, offset: int = 0) -> Any:
        return builder.load(builder.inttoptr(builder.add(base, word(offset)), word.as_pointer()))

    def call(builder: Any, name: str, result: Any, *arguments: Any) -> Any:
        address = word(ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value)
        kind = ir.FunctionType(result, [argument.type for argument in arguments])
        return builder.call(builder.inttoptr(address, kind.as_pointer()), arguments)

    def release_if_present(builder: Any, struct: Any, release_at: int) -> None:
        release = load(builder, struct, release_at)
        with builder.if_then(builder.icmp_unsigned("!=", release, word(0))):
            builder.call(builder.inttoptr(release, releases.as_pointer()), [struct])

    def give_back(builder: Any, owner: Any) -> None:
        error = [builder.alloca(word) for _ in range(3)]
        at = [builder.ptrtoint(part, word) for part in error]
        with builder.if_then(builder.icmp_unsigned("!=", call(builder, "Py_IsInitialized", flag), flag(0))):
            state = call(builder, "PyGILState_Ensure", flag)
            call(builder, "PyErr_Fetch", void, *at)
            call(builder, "Py_DecRef", void, owner)
            call(builder, "PyErr_Restore", void, *map(builder.load, error))
            call(builder, "PyGILState_Release", void, state)

    module = ir.Module("arrow_callbacks")
    for name, kind in (("schema", Schema), ("array", Array)):
        release_at = kind.release.offset
        function = ir.Function(module, releases, f"release_{name}")
        builder, (struct,) = ir.IRBuilder(function.append_basic_block()), function.args
        with builder.if_then(builder.icmp_unsigned("!=", load(builder, struct, kind.n_children.offset), word(0))):
            release_if_present(builder, load(builder, load(builder, struct, kind.children.offset)), release_at)
        owner = load(builder, struct, kind.private_data.offset)
        builder.store(word(0), builder.inttoptr(builder.add(struct, word(release_at)), word.as_pointer()))
        give_back(builder, owner)
        builder.ret_void()
        function = ir.Function(module, releases, f"destroy_{name}")
        builder, (capsule,) = ir.IRBuilder(function.append_basic_block()), function.args
        struct = call(builder, "PyCapsule_GetPointer", word, capsule, call(builder, "PyCapsule_GetName", word, capsule))
        release_if_present(builder, struct, release_at)
        call(builder, "PyMem_RawFree", void, struct)
        builder.ret_void()
    return str(module)
