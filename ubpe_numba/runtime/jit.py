"""Every option of the just-in-time compiler, in one place.

Three decorators: `kernel` for functions that Python calls (compiled once per signature, cached on disk), `helper` for functions
that only kernels call (always inlined), and `section` for a part of a kernel that is called once a round. The last two cannot be
called from Python: that wrapper would take a fifth of the compile time. They are cached on disk only as parts of kernels. Nothing
uses `parallel=True`: a thread pool runs `nogil` kernels at the same speed, with a third of the compile time and without prange's
failures (OpenMP kills forked children, workqueue aborts on concurrent calls).

Indices are unsigned: in a kernel `a[-1]` is not the last item but an error. Python's rule for negative indices costs a test per
access, 10 to 20 % of a whole fit and of encoding, so a compiler pass declares integer indices of arrays unsigned once types are
known. With `NUMBA_BOUNDSCHECK=1` a negative index is then out of bounds like any other.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit, typeof, types
from numba.core import ir
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.typed_passes import NativeLowering, NopythonTypeInference

from ubpe_numba.runtime.kernel_cache import attach

F = TypeVar("F", bound=Callable[..., Any])


def _unsigned(index: types.Type) -> types.Type:
    """The type of an index, its integers made unsigned."""
    if isinstance(index, types.Integer):
        return types.uintp
    if isinstance(index, types.BaseTuple):
        return types.Tuple([_unsigned(t) for t in index])
    return index


@register_pass(mutates_CFG=False, analysis_only=False)
class _UnsignedIndices(FunctionPass):  # type: ignore[misc]
    """Make `a[i]` and `a[i] = x` of arrays take the index as unsigned; index values are cast, their bits unchanged."""

    _name = "ubpe_unsigned_indices"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        for node, signature in list(state.calltypes.items()):
            is_get = isinstance(node, ir.Expr) and node.op == "getitem"
            if (is_get or isinstance(node, ir.SetItem)) and isinstance(signature.args[0], types.Array):
                args = (signature.args[0], _unsigned(signature.args[1]), *signature.args[2:])
                del state.calltypes[node]  # numba allows an entry to be set only once
                state.calltypes[node] = signature.replace(args=args)
        return True


class _Compiler(CompilerBase):  # type: ignore[misc]
    """Numba's usual pipeline with the pass above after type inference."""

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_UnsignedIndices, NopythonTypeInference)
        passes.finalize()
        return [passes]

    def compile_extra(self, func: Any) -> Any:
        """Compile with garbage collection off: scanning millions of live objects takes an eighth of the compile time."""
        if not gc.isenabled():  # a helper compiled during the compilation of its kernel
            return super().compile_extra(func)
        gc.disable()
        try:
            return super().compile_extra(func)
        finally:
            gc.enable()


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerToLink(NativeLowering):  # type: ignore[misc]
    """Lower a function that is linked into kernels and never run by itself.

    Numba would optimise it and generate its machine code here, and again in every kernel that it is part of. Only the latter is
    used, and leaving out the former saves a seventh of the compile time.
    """

    _name = "ubpe_lower_to_link"

    def run_pass(self, state: Any) -> bool:
        library = state.library = state.targetctx.codegen().create_library(state.func_id.func_qualname)

        def finalize() -> None:
            library._finalize_dynamic_globals()
            library._finalized = True

        library._optimize_final_module = lambda: None
        library._finalize_final_module = finalize
        state.flags.no_compile = True
        super().run_pass(state)

        def function() -> None:
            """Key by which kernels find the library; the function has no machine code of its own."""

        lowered = state["cr"]
        state.targetctx.insert_user_function(function, lowered.fndesc, [library])
        state["cr"] = lowered._replace(cfunc=function)
        return True


class _InnerCompiler(_Compiler):
    """The same pipeline for functions that are not called from Python."""

    def define_pipelines(self) -> list[Any]:
        (passes,) = super().define_pipelines()
        passes.passes = [(_LowerToLink if step is NativeLowering else step, name) for step, name in passes.passes]
        passes.finalize()
        return [passes]


def kernel(function: F) -> F:
    """Compile a function that Python calls, without the GIL and cached on disk. It allocates nothing: its caller owns all memory.

    Reference counting is therefore off: a fit of many small rounds takes a quarter less time, one with ties by first occurrence
    half, and compiling an eighth less. Numba refuses to compile `np.empty` in it.
    """
    return _compiled(function, _nrt=False)


def kernel_with_scratch(function: F) -> F:
    """A `kernel` that may allocate small arrays of its own."""
    return _compiled(function)


def _compiled(function: F, **options: Any) -> F:
    dispatcher = njit(nogil=True, no_cfunc_wrapper=True, pipeline_class=_Compiler, **options)(function)
    return attach(dispatcher)  # type: ignore[no-any-return]


def direct(kernel: Callable[..., Any], *args: Any) -> Callable[..., Any]:
    """The machine code of a kernel for arguments of the types of these, to be called by position with no others.

    Numba does not look at their types then: eighteen arrays take 0.3 us instead of 2.7. It does not notice a wrong one either,
    such as a strided or a read-only array. Without the compiler (NUMBA_DISABLE_JIT) it is the kernel itself.
    """
    return kernel.compile(tuple(map(typeof, args))) if hasattr(kernel, "compile") else kernel


def helper(function: F) -> F:
    """Compile a function that only kernels call, always inlined.

    It returns numbers or views of its arguments; references are not counted (see `kernel`).
    """
    return _inner(function, forceinline=True)


def section(function: F) -> F:
    """Compile a part of a kernel that is a function of its own, called so rarely that a real call (~1 µs) costs nothing."""
    return _inner(function)


def _inner(function: F, **options: Any) -> F:
    dispatcher = njit(
        nogil=True, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=_InnerCompiler, **options
    )(function)

    def refuse(*args: object, **kwargs: object) -> None:
        raise TypeError(f"{function.__name__} is called by kernels only; {function.__name__}.py_func is the Python function")

    # Numba would call a Python wrapper that does not exist: compiled versions are hidden from the dispatcher, so a call from
    # Python always reaches `refuse`.
    dispatcher._insert = lambda *args, **kwargs: None
    dispatcher._compile_for_args = refuse
    return dispatcher  # type: ignore[no-any-return]
