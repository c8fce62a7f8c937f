"""Every option of the just-in-time compiler, in one place.

Three decorators: `kernel` for what Python calls (compiled once per signature, kept on disk), `helper` for what only kernels call
(always inlined), and `section` for a part of a kernel that is called once a round. The last two have no way in from Python, which
would be a fifth of the time that compiling takes, and are kept on disk only as parts of kernels. No `parallel=True` anywhere: a
pool of threads drives `nogil` kernels at the same speed, with a third of the compile time and none of prange's traps (OpenMP
kills forked children, workqueue aborts on concurrent calls).

Indices are unsigned: in a kernel `a[-1]` is not the last item but an error. Testing every index for being counted from the end
costs 10 to 20 % of the whole fit, and the same of encoding, so a pass of our own declares integer indices of arrays unsigned once
types are known. With `NUMBA_BOUNDSCHECK=1` a negative index is then out of bounds like any other.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit, types
from numba.core import ir
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.typed_passes import NativeLowering, NopythonTypeInference

from ubpe_numba.runtime.kernel_cache import attach

F = TypeVar("F", bound=Callable[..., Any])


def _unsigned(index: types.Type) -> types.Type:
    """The type of an index, with unsigned integers in it."""
    if isinstance(index, types.Integer):
        return types.uintp
    if isinstance(index, types.BaseTuple):
        return types.Tuple([_unsigned(t) for t in index])
    return index


@register_pass(mutates_CFG=False, analysis_only=False)
class _UnsignedIndices(FunctionPass):  # type: ignore[misc]
    """Let `a[i]` and `a[i] = x` of arrays take the index as unsigned; the values are cast, their bits unchanged."""

    _name = "ubpe_unsigned_indices"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        for node, signature in list(state.calltypes.items()):
            is_get = isinstance(node, ir.Expr) and node.op == "getitem"
            if (is_get or isinstance(node, ir.SetItem)) and isinstance(signature.args[0], types.Array):
                args = (signature.args[0], _unsigned(signature.args[1]), *signature.args[2:])
                del state.calltypes[node]  # it may be set once only
                state.calltypes[node] = signature.replace(args=args)
        return True


class _Compiler(CompilerBase):  # type: ignore[misc]
    """Numba's usual pipeline, and the pass above behind type inference."""

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_UnsignedIndices, NopythonTypeInference)
        passes.finalize()
        return [passes]

    def compile_extra(self, func: Any) -> Any:
        """Compile, with the collector of garbage at rest: it looks at millions of live objects, an eighth of the time."""
        if not gc.isenabled():  # as in the compilation of a helper, within that of a kernel
            return super().compile_extra(func)
        gc.disable()
        try:
            return super().compile_extra(func)
        finally:
            gc.enable()


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerToLink(NativeLowering):  # type: ignore[misc]
    """Lower a function that is linked into kernels and never run by itself.

    Numba would optimise it and make machine code of it, and do so again for every kernel that it is part of: only the second
    counts. A seventh of the time that compiling takes.
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
            """By this, kernels find the library; there is no code to point to."""

        lowered = state["cr"]
        state.targetctx.insert_user_function(function, lowered.fndesc, [library])
        state["cr"] = lowered._replace(cfunc=function)
        return True


class _InnerCompiler(_Compiler):
    """The same for what is not called from Python."""

    def define_pipelines(self) -> list[Any]:
        (passes,) = super().define_pipelines()
        passes.passes = [(_LowerToLink if step is NativeLowering else step, name) for step, name in passes.passes]
        passes.finalize()
        return [passes]


def kernel(function: F) -> F:
    """Compile a function that Python calls: without the GIL, with a cache on disk. All memory is its caller's.

    So no references need be counted while it runs: a fit of many small rounds takes a quarter less, of ties by first occurrence
    half, and compiling an eighth less. Numba refuses to compile `np.empty` in it.
    """
    return _compiled(function, _nrt=False)


def kernel_with_scratch(function: F) -> F:
    """A `kernel` that may allocate small arrays of its own."""
    return _compiled(function)


def _compiled(function: F, **options: Any) -> F:
    dispatcher = njit(nogil=True, no_cfunc_wrapper=True, pipeline_class=_Compiler, **options)(function)
    return attach(dispatcher)  # type: ignore[no-any-return]


def helper(function: F) -> F:
    """Compile a function that only kernels call.

    Inlined always. It returns numbers or views of its arguments, whose memory nobody counts references to (see `kernel`).
    """
    return _inner(function, forceinline=True)


def section(function: F) -> F:
    """Compile a part of a kernel that is written apart and called so rarely that a real call costs nothing (~1 µs)."""
    return _inner(function)


def _inner(function: F, **options: Any) -> F:
    dispatcher = njit(
        nogil=True, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=_InnerCompiler, **options
    )(function)

    def refuse(*args: object, **kwargs: object) -> None:
        raise TypeError(f"{function.__name__} is called by kernels only; {function.__name__}.py_func is the Python function")

    # numba would jump to a wrapper that is not there: what is compiled stays unknown to it, and a call ends here
    dispatcher._insert = lambda *args, **kwargs: None
    dispatcher._compile_for_args = refuse
    return dispatcher  # type: ignore[no-any-return]
