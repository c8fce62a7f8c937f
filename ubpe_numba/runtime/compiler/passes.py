"""Numba's compiler pipeline and lowering for kernels, without what kernels never use.

Most of the time of a cold start is numba's own Python. A kernel is a loop over arrays, with closures,
generators, exceptions, array expressions and reference counts excluded. So the passes that look for these are
left out, lifetimes of variables are not computed, and functions that are always inlined are not optimized by
themselves.

    bytecode -> IR -> branches on None pruned -> a[0], a.b[1] with constant indices -> SSA -> types

    -> unsigned indices -> LLVM

The last step, from typed IR to LLVM's, writes a fraction of numba's instructions. Numba spells out every
access to an array: it stores the array's seven words on the stack, finds the address of the needed word and
loads it. The rest is left to LLVM. Kernels are little else than accesses to arrays, so this was most of their
compile time: Python writes these instructions, prints and parses them, and LLVM removes them. Here values
stay values:

    x = a[i]    numba: alloca, 8 stores, 12 loads and addresses     here: getelementptr a.data, i; load

- A variable that is assigned at one place has a value instead of a slot on the stack.
- References are not counted in kernels, so variables need not be deleted.
- Items of C-contiguous arrays at whole indices, lengths and shapes are read directly.

The machine code is the same as with numba's lowering, up to the order of instructions. With
`NUMBA_BOUNDSCHECK=1` numba's own accesses are used.
"""

from __future__ import annotations

from functools import partial
from types import BuiltinFunctionType
from typing import Any, ClassVar

from llvmlite import binding
from numba import config, types

from ubpe_numba.runtime import border

nb = border.names("passes")  # this module is only imported if they exist


class ScratchLower(nb.Lower):  # type: ignore[misc, name-defined]
    """Numba's lowering, for functions that count references."""

    def lower_assign(self, ty: Any, inst: Any) -> Any:
        """A called function is known by its name.

        numba enters its address, and cannot cache code that holds an address.
        """
        if isinstance(ty, types.Dispatcher):
            return self.context.get_constant_null(ty)
        return super().lower_assign(ty, inst)


class KernelLower(ScratchLower):
    """Lowering with the shortcuts above, for functions that do not."""

    def _find_singly_assigned_variable(self) -> None:
        """Variables assigned at one place that comes before all of their uses."""
        usage = nb.compute_use_defs(self.blocks)
        places: dict[str, list[int]] = {}
        for label, block in self.blocks.items():
            for statement in block.find_insts(nb.Assign):
                places.setdefault(statement.target.name, []).append(label)
        single = {name: labels[0] for name, labels in places.items() if len(labels) == 1}
        before = nb.compute_cfg_from_blocks(self.blocks).dominators()
        for label, names in usage.usemap.items():
            for name in names:  # used in this block, and not assigned there before
                place = single.get(name)
                if place is not None and not (place < label and place in before[label]):
                    del single[name]
        self._singly_assigned_vars = set(single)
        self._blk_local_varmap: dict[str, Any] = {}

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Keep a value under the name of a variable."""
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self._alloca_var(name, self.typeof(name))
            self.builder.store(value, self.getvar(name))

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        """An expression: accesses to arrays and named tuples here, the others as numba does it."""
        if expr.op in ("getitem", "static_getitem"):
            array, place = self.typeof(expr.value.name), self._place(expr)
            if place is not None:
                item = self.context.unpack_value(
                    self.builder, array.dtype, place, align=None if array.aligned else 1
                )
                return self.context.cast(self.builder, item, array.dtype, resty)
        elif expr.op == "getattr":
            array = self.typeof(expr.value.name)
            if type(array) is types.Array and expr.attr in ("shape", "size"):
                value = self._member(array, expr.value, "shape" if expr.attr == "shape" else "nitems")
                kind = types.UniTuple(types.intp, array.ndim) if expr.attr == "shape" else types.intp
                return self.context.cast(self.builder, value, kind, resty)
            if isinstance(array, types.BaseNamedTuple):
                index = array.fields.index(expr.attr)
                value = self.builder.extract_value(self.loadvar(expr.value.name), index)
                return self.context.cast(self.builder, value, array[index], resty)
        return super().lower_expr(resty, expr)

    def lower_inst(self, inst: Any) -> Any:
        """A statement: assignments and stores here, the others as numba does it."""
        if isinstance(inst, nb.Assign):
            return self.storevar(self.lower_assign(self.typeof(inst.target.name), inst), inst.target.name)
        if isinstance(inst, nb.SetItem | nb.StaticSetItem):
            array, place = self.typeof(inst.target.name), self._place(inst)
            if place is not None:
                between = self.fndesc.calltypes[inst].args[2]
                value = self.loadvar(inst.value.name)
                value = self.context.cast(self.builder, value, self.typeof(inst.value.name), between)
                value = self.context.cast(self.builder, value, between, array.dtype)
                return self.context.pack_value(
                    self.builder, array.dtype, value, place, align=None if array.aligned else 1
                )
        return super().lower_inst(inst)

    def _member(self, array: Any, variable: Any, name: str) -> Any:
        """A member of an array's structure."""
        return self.context.data_model_manager[array].get(self.builder, self.loadvar(variable.name), name)

    def _place(self, access: Any) -> Any:
        """The address of the item that an array access reads or writes; None if it is not a simple access."""
        variable = access.value if isinstance(access, nb.Expr) else access.target
        array, signature = self.typeof(variable.name), self.fndesc.calltypes[access]
        simple = type(array) is types.Array and array.layout == "C" and not self.context.enable_boundscheck
        if not simple or isinstance(array.dtype, types.NestedArray) or signature is None:
            return None
        if isinstance(access, nb.StaticSetItem) or (
            isinstance(access, nb.Expr) and access.op == "static_getitem"
        ):
            static = access.index if isinstance(access.index, tuple) else (access.index,)
            if not all(type(i) is int and i >= 0 for i in static):
                return None
            indices = [self.context.get_constant(types.uintp, i) for i in static]
        else:
            kind = signature.args[1]
            index = self.context.cast(
                self.builder, self.loadvar(access.index.name), self.typeof(access.index.name), kind
            )
            if isinstance(kind, types.BaseTuple):
                if not all(t == types.uintp for t in kind):
                    return None
                indices = [self.builder.extract_value(index, k) for k in range(len(kind))]
            elif kind == types.uintp:
                indices = [index]
            else:
                return None
        if len(indices) != array.ndim:
            return None
        shape = self._member(array, variable, "shape") if array.ndim > 1 else None
        place = indices[0]
        for k in range(1, array.ndim):
            place = self.builder.add(
                self.builder.mul(place, self.builder.extract_value(shape, k)), indices[k]
            )
        return self.builder.gep(self._member(array, variable, "data"), [place])


def _pass(run: Any, kind: Any = nb.FunctionPass) -> Any:
    """A compiler pass, for numba a class, from a function that changes the state."""
    methods = {"_name": f"ubpe{run.__name__}", "run_pass": lambda self, state: run(state) or True}
    methods["__init__"] = lambda self: kind.__init__(self)
    return nb.register_pass(mutates_CFG=True, analysis_only=False)(type(run.__name__, (kind,), methods))


@_pass
def _translate(state: Any) -> None:
    """Translate bytecode to IR, with its control flow in the form that other passes expect.

    Kernels use neither `with` nor dicts of arguments.
    """
    translator = nb.Interpreter(state.func_id)
    translator.post_process = lambda peepholes, found: nb.peep_hole_list_to_tuple(found)  # of `f(*a)`
    state.func_ir = translator.interpret(state.bc)
    state.func_ir.blocks = nb.canonicalize_cfg(state.func_ir.blocks)


@_pass
def _constant_indices(state: Any) -> None:
    """`a[0]` is an access of its own: an item of a tuple has a type of its own."""
    blocks = state.func_ir.blocks
    for kind in (nb.RewriteConstGetitems, nb.RewriteConstSetitems):
        for label in list(blocks):
            rewrite = kind(state)
            while rewrite.match(state.func_ir, blocks[label], state.typemap, state.calltypes):
                blocks[label] = rewrite.apply()


@_pass
def _assign_once(state: Any) -> None:
    """Static single assignment."""
    state.func_ir = nb.reconstruct_ssa(state.func_ir)
    state.func_ir._definitions = nb.build_definitions(state.func_ir.blocks)


class _Remembering:
    """Numba's typing context, which remembers what builtin functions return for which types.

    Numba tries all templates of `+` or `a[i]` in turn at every place: about a hundred templates at about ten
    thousand places.
    """

    _known: ClassVar[dict[Any, Any]] = {}

    def __init__(self, context: Any, flags: Any) -> None:
        self._context, self._nrt = context, flags.nrt

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def resolve_function_type(self, function: Any, args: Any, kws: Any) -> Any:
        """The signature of a call."""
        resolve = self._context.resolve_function_type
        if kws or not isinstance(function, types.Function | types.NumberClass | BuiltinFunctionType):
            return resolve(function, args, kws)
        plain = tuple(types.unliteral(t) for t in args)
        if all(isinstance(t, types.Number | types.Boolean) for t in plain):
            args = plain  # numba tries these first
        key = self._nrt, function, args
        if key not in self._known:
            self._known[key] = resolve(function, args, kws)
        return self._known[key]


@_pass
def _infer_types(state: Any) -> None:
    """Type inference that remembers; then phi nodes become assignments."""
    context = state.typingctx
    state.typingctx = _Remembering(context, state.flags)
    try:
        nb.NopythonTypeInference().run_pass(state)
    finally:
        state.typingctx = context
    state.func_ir = nb.PreLowerStripPhis()._strip_phi_nodes(state.func_ir)


def _unsigned(index: types.Type) -> types.Type:
    """The type of an index, its integers made unsigned."""
    if isinstance(index, types.Integer):
        return types.uintp
    if isinstance(index, types.BaseTuple):
        return types.Tuple([_unsigned(t) for t in index])
    return index


@_pass
def _unsigned_indices(state: Any) -> None:
    """Make `a[i]` and `a[i] = x` of arrays use unsigned indices.

    Index values are cast, with their bits unchanged.
    """
    for node, signature in list(state.calltypes.items()):
        is_get = isinstance(node, nb.Expr) and node.op == "getitem"
        if (is_get or isinstance(node, nb.SetItem)) and isinstance(signature.args[0], types.Array):
            args = (signature.args[0], _unsigned(signature.args[1]), *signature.args[2:])
            del state.calltypes[node]  # numba allows an entry to be set only once
            state.calltypes[node] = signature.replace(args=args)


class _Part(nb.JITCodeLibrary):  # type: ignore[misc, name-defined]
    """Code that is linked into kernels and never run by itself.

    Numba would optimize it, generate its machine code and link it with the functions it calls here, and again
    in every kernel that contains it. Only the last is used.
    """

    def _optimize_functions(self, module: Any) -> None:
        pass

    def finalize(self) -> None:
        """Leave a module to link, into several kernels."""
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == binding.Linkage.external:
                function.linkage = "linkonce_odr"
        self._shared_module, self._finalized = self._final_module, True


# Kernels of fitting/kernels/rounds.py, the largest. Their loops are not vectorized and unrolled: that is half
# of the compile work and makes nothing faster, since the loops are short or wait for memory.
_AS_WRITTEN = "run", "work"


class _Kernel(nb.JITCodeLibrary):  # type: ignore[misc, name-defined]
    """Code of a kernel that does not count references, optimized once.

    numba optimizes twice, and prunes references in between.
    """

    def add_ir_module(self, module: Any) -> None:
        """Add a function; the function that reads the arguments is not optimized, and calls the kernel."""
        for function in (f for f in module.functions if f.name.startswith("_ZN7cpython")):
            function.attributes.update(("noinline", "optnone"))
        super().add_ir_module(module)

    def _optimize_functions(self, module: Any) -> None:
        pass

    def _optimize_final_module(self) -> None:
        options = binding.create_pipeline_tuning_options(int(config.OPT))
        options.loop_vectorization = options.loop_unrolling = self.name not in _AS_WRITTEN
        builder = binding.create_pass_builder(self._codegen._tm, options)
        builder.getModulePassManager().run(self._final_module, builder)


def _lower_by(lowering: Any, library: Any, state: Any) -> None:
    state.library = library(state.targetctx.codegen(), state.func_id.func_qualname)
    state.library.enable_object_caching()
    step: Any = type("Lowering", (nb.NativeLowering,), {"lowering_class": lowering})
    step().run_pass(state)


@partial(_pass, kind=nb.LoweringPass)
def _lower(state: Any) -> None:
    """Lower a kernel; one that counts references, or is to be debugged, as numba does it."""
    counted = state.flags.nrt or state.flags.debuginfo
    _lower_by(ScratchLower if counted else KernelLower, nb.JITCodeLibrary if counted else _Kernel, state)


@partial(_pass, kind=nb.LoweringPass)
def _lower_to_link(state: Any) -> None:
    """Lower a function that is linked into kernels."""
    state.flags.no_compile = True
    _lower_by(KernelLower, _Part, state)

    def function() -> None:
        """A key by which kernels find the library; the function itself has only this code."""

    # all that it calls, directly or not
    lowered, libraries = state["cr"], [state.library, *state.library._linking_libraries]
    state.targetctx.insert_user_function(function, lowered.fndesc, list(dict.fromkeys(libraries)))
    state["cr"] = lowered._replace(cfunc=function)


class Compiler(nb.CompilerBase):  # type: ignore[misc, name-defined]
    """The passes of a kernel, or of a function that only kernels call."""

    is_kernel = True

    def define_pipelines(self) -> list[Any]:
        """One pipeline; references are legalized if they are counted."""
        flags = self.state.flags
        passes = nb.PassManager("ubpe")
        for step in (
            _translate,
            nb.FixupArgs,
            nb.RewriteSemanticConstants,
            nb.DeadBranchPrune,
            _constant_indices,
            _assign_once,
            nb.DeadBranchPrune,
            _infer_types,
            _unsigned_indices,
            *((nb.IRLegalization,) if flags.nrt or flags.debuginfo else ()),
            nb.AnnotateTypes,
            _lower if self.is_kernel else _lower_to_link,
            nb.NoPythonBackend,
        ):
            passes.add_pass(step, step.__name__)
        passes.finalize()
        return [passes]
