"""Numba's compiler pipeline for kernels, without what kernels never use.

Most of the time of a cold start is numba's own Python. A kernel is a loop over arrays without closures, generators, exceptions or
array expressions, whose references are not counted: the passes that look for these are left out, lifetimes of variables are not
computed, and functions that are inlined everywhere are not optimised by themselves.

    bytecode -> IR -> branches on None pruned -> a[0], a.b[1] with constant indices -> SSA -> types -> unsigned indices -> LLVM
"""

from __future__ import annotations

import gc
from types import BuiltinFunctionType
from typing import Any, ClassVar

from numba import types
from numba.core import ir, transforms, typed_passes, untyped_passes
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import FunctionPass, PassManager, register_pass
from numba.core.ir_utils import build_definitions
from numba.core.rewrites.static_getitem import RewriteConstGetitems, RewriteConstSetitems
from numba.core.ssa import reconstruct_ssa

from ubpe_numba.runtime.lowering import KernelLower, ScratchLower


class _Pass(FunctionPass):  # type: ignore[misc]
    def __init__(self) -> None:
        FunctionPass.__init__(self)


@register_pass(mutates_CFG=True, analysis_only=False)
class _Canonicalise(_Pass):
    """The control flow in the form that the other passes expect."""

    _name = "ubpe_canonicalise"

    def run_pass(self, state: Any) -> bool:
        state.func_ir.blocks = transforms.canonicalize_cfg(state.func_ir.blocks)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _ConstantIndices(_Pass):
    """`a[0]` is an access of its own: what it gives of a tuple has a type of its own."""

    _name = "ubpe_constant_indices"

    def run_pass(self, state: Any) -> bool:
        blocks = state.func_ir.blocks
        for kind in (RewriteConstGetitems, RewriteConstSetitems):
            for label in list(blocks):
                rewrite = kind(state)
                while rewrite.match(state.func_ir, blocks[label], state.typemap, state.calltypes):
                    blocks[label] = rewrite.apply()
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _AssignOnce(_Pass):
    """Static single assignment."""

    _name = "ubpe_assign_once"

    def run_pass(self, state: Any) -> bool:
        state.func_ir = reconstruct_ssa(state.func_ir)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return True


class _Remembering:
    """Numba's typing context, which remembers what builtin functions return for which types.

    Numba tries all templates of `+` or `a[i]` in turn at every place where they occur: some hundred different ones at some ten
    thousand places.
    """

    _known: ClassVar[dict[Any, Any]] = {}

    def __init__(self, context: Any, flags: Any) -> None:
        self._context, self._nrt = context, flags.nrt

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def _remember(self, resolve: Any, *args: Any) -> Any:
        key = resolve.__name__, self._nrt, *args
        if (found := self._known.get(key)) is None:
            found = self._known[key] = resolve(*args)
        return found

    def resolve_function_type(self, function: Any, args: Any, kws: Any) -> Any:
        if kws or not isinstance(function, types.Function | types.NumberClass | BuiltinFunctionType):
            return self._context.resolve_function_type(function, args, kws)
        plain = tuple(types.unliteral(t) for t in args)
        if all(isinstance(t, types.Number | types.Boolean) for t in plain):
            args = plain  # numba tries these first
        return self._remember(self._resolve_builtin, function, args)

    def _resolve_builtin(self, function: Any, args: Any) -> Any:
        return self._context.resolve_function_type(function, args, {})

    def resolve_getattr(self, owner: Any, name: str) -> Any:
        return self._remember(self._context.resolve_getattr, owner, name)

    def resolve_getitem(self, owner: Any, index: Any) -> Any:
        return self._remember(self._context.resolve_getitem, owner, index)

    def resolve_setitem(self, owner: Any, index: Any, value: Any) -> Any:
        return self._remember(self._context.resolve_setitem, owner, index, value)


@register_pass(mutates_CFG=True, analysis_only=False)
class _InferTypes(typed_passes.NopythonTypeInference):  # type: ignore[misc]
    """Type inference that remembers."""

    _name = "ubpe_infer_types"

    def run_pass(self, state: Any) -> bool:
        context = state.typingctx
        state.typingctx = _Remembering(context, state.flags)
        try:
            return bool(super().run_pass(state))
        finally:
            state.typingctx = context


def _unsigned(index: types.Type) -> types.Type:
    """The type of an index, its integers made unsigned."""
    if isinstance(index, types.Integer):
        return types.uintp
    if isinstance(index, types.BaseTuple):
        return types.Tuple([_unsigned(t) for t in index])
    return index


@register_pass(mutates_CFG=False, analysis_only=False)
class _UnsignedIndices(_Pass):
    """Make `a[i]` and `a[i] = x` of arrays take the index as unsigned; index values are cast, their bits unchanged."""

    _name = "ubpe_unsigned_indices"

    def run_pass(self, state: Any) -> bool:
        for node, signature in list(state.calltypes.items()):
            is_get = isinstance(node, ir.Expr) and node.op == "getitem"
            if (is_get or isinstance(node, ir.SetItem)) and isinstance(signature.args[0], types.Array):
                args = (signature.args[0], _unsigned(signature.args[1]), *signature.args[2:])
                del state.calltypes[node]  # numba allows an entry to be set only once
                state.calltypes[node] = signature.replace(args=args)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _Assign(typed_passes.PreLowerStripPhis):  # type: ignore[misc]
    """Phi nodes become assignments."""

    _name = "ubpe_assign"

    def run_pass(self, state: Any) -> bool:
        state.func_ir = self._strip_phi_nodes(state.func_ir)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerCounted(typed_passes.NativeLowering):  # type: ignore[misc]
    """Lower a kernel that counts references."""

    _name = "ubpe_lower_counted"
    lowering_class = ScratchLower


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lower(typed_passes.NativeLowering):  # type: ignore[misc]
    """Lower a function without reference counts."""

    _name = "ubpe_lower"

    lowering_class = KernelLower

    def run_pass(self, state: Any) -> bool:
        library = state.library = state.targetctx.codegen().create_library(state.func_id.func_qualname)
        library.enable_object_caching()
        library._optimize_functions = lambda module: None  # done once all of the kernel is linked
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerToLink(typed_passes.NativeLowering):  # type: ignore[misc]
    """Lower a function that is linked into kernels and never run by itself.

    Numba would optimise it and generate its machine code here, and again in every kernel that it is part of. Only the latter is
    used.
    """

    _name = "ubpe_lower_to_link"
    lowering_class = KernelLower

    def run_pass(self, state: Any) -> bool:
        library = state.library = state.targetctx.codegen().create_library(state.func_id.func_qualname)

        def finalize() -> None:
            library._finalize_dynamic_globals()
            library._finalized = True

        library._optimize_functions = lambda module: None
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


class KernelCompiler(CompilerBase):  # type: ignore[misc]
    """The passes of a kernel."""

    lowering = _Lower

    def define_pipelines(self) -> list[Any]:
        """One pipeline; a kernel that counts references, or is to be debugged, is lowered as numba does it."""
        flags = self.state.flags
        counted = flags.nrt or flags.debuginfo
        passes = PassManager("ubpe")
        for step in (
            untyped_passes.TranslateByteCode,
            untyped_passes.FixupArgs,
            _Canonicalise,
            untyped_passes.RewriteSemanticConstants,
            untyped_passes.DeadBranchPrune,
            _ConstantIndices,
            _AssignOnce,
            untyped_passes.DeadBranchPrune,
            _InferTypes,
            _Assign,
            _UnsignedIndices,
            *((typed_passes.IRLegalization,) if counted else ()),
            typed_passes.AnnotateTypes,
            _LowerCounted if counted and self.lowering is _Lower else self.lowering,
            typed_passes.NoPythonBackend,
        ):
            passes.add_pass(step, step.__name__)
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


class PartCompiler(KernelCompiler):
    """The same for functions that are not called from Python."""

    lowering = _LowerToLink
