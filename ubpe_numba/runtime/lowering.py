"""From numba's typed IR to LLVM's, in a fifth of the instructions that numba writes itself.

Numba spells out every access to an array: it stores the array's seven words on the stack, finds the address of the one it needs,
loads it, and leaves it to LLVM to see that nothing of this was necessary. Kernels are little else than accesses to arrays, so
this was most of their compile time: Python writes these instructions, prints and parses them, and LLVM removes them. Here values
stay values:

    x = a[i]    numba: alloca, 8 stores, 12 loads and addresses     here: getelementptr a.data, i; load

- `_Builder` looks through aggregates: the third item of a tuple that was just made is what was put in.
- A variable that is assigned at one place has no slot on the stack, wherever it is used.
- References are not counted in kernels, so variables need not be deleted.
- Items of C-contiguous arrays at whole indices, lengths and shapes are read without a detour.

The machine code is the same as before, up to the order of instructions. With `NUMBA_BOUNDSCHECK=1` numba's own accesses are used.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir as llvm
from numba import types
from numba.core import ir
from numba.core.analysis import compute_cfg_from_blocks, compute_use_defs
from numba.core.lowering import Lower


class _Builder(llvm.IRBuilder):  # type: ignore[misc]
    """Takes a member of an aggregate from where it was inserted, and each member once a block."""

    def __init__(self, block: Any) -> None:
        super().__init__(block)
        self._members: dict[Any, Any] = {}

    def extract_value(self, agg: Any, idx: Any, name: str = "") -> Any:
        path = tuple(idx) if isinstance(idx, tuple | list) else (idx,)
        while isinstance(agg, llvm.instructions.InsertValue):
            inserted = tuple(agg.indices)
            if path[: len(inserted)] == inserted:
                agg, path = agg.value, path[len(inserted) :]
                if not path:
                    return agg
            elif inserted[: len(path)] == path:
                break  # a part of what is asked for
            else:
                agg = agg.aggregate
        key = self.block, agg, path
        if key not in self._members:
            self._members[key] = super().extract_value(agg, path, name)
        return self._members[key]


class ScratchLower(Lower):  # type: ignore[misc]
    """Numba's lowering, for functions that count references."""

    def lower_assign(self, ty: Any, inst: Any) -> Any:
        """A function that is called is known by its name; numba enters its address, and cannot cache what holds an address."""
        if isinstance(ty, types.Dispatcher):
            return self.context.get_constant_null(ty)
        return super().lower_assign(ty, inst)


class KernelLower(ScratchLower):
    """Lowering with the shortcuts above, for functions that do not."""

    def setup_function(self, fndesc: Any) -> None:
        """Begin a function, with a builder of our own."""
        super().setup_function(fndesc)
        self.builder = _Builder(self.entry_block)
        self.call_helper = self.call_conv.init_call_helper(self.builder)

    def _find_singly_assigned_variable(self) -> None:
        """Variables assigned at one place that comes before all of their uses."""
        usage = compute_use_defs(self.blocks)
        places: dict[str, list[int]] = {}
        for label, block in self.blocks.items():
            for statement in block.find_insts(ir.Assign):
                places.setdefault(statement.target.name, []).append(label)
        single = {name: labels[0] for name, labels in places.items() if len(labels) == 1}
        before = compute_cfg_from_blocks(self.blocks).dominators()
        for label, names in usage.usemap.items():
            for name in names:  # used in this block, and not assigned there before
                place = single.get(name)
                if place is not None and not (place < label and place in before[label]):
                    del single[name]
        self._singly_assigned_vars = set(single)
        self._blk_local_varmap: dict[str, Any] = {}

    def pre_block(self, block: Any) -> None:
        """Nothing: there are no slots to prepare, and no exceptions are caught."""

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
                item = self.context.unpack_value(self.builder, array.dtype, place, align=None if array.aligned else 1)
                return self.context.cast(self.builder, item, array.dtype, resty)
        elif expr.op == "getattr":
            array = self.typeof(expr.value.name)
            if type(array) is types.Array and expr.attr in ("shape", "size"):
                value = self._member(array, expr.value, "shape" if expr.attr == "shape" else "nitems")
                return self.context.cast(self.builder, value, self._attribute_type(array, expr.attr), resty)
            if isinstance(array, types.BaseNamedTuple):
                index = array.fields.index(expr.attr)
                value = self.builder.extract_value(self.loadvar(expr.value.name), index)
                return self.context.cast(self.builder, value, array[index], resty)
        return super().lower_expr(resty, expr)

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        """An operation on two values: numba looks its types up again, several times."""
        function = self.context.typing_context.resolve_value_type(op)
        signature = self.fndesc.calltypes[expr]
        values = [
            self.context.cast(self.builder, self.loadvar(v.name), self.typeof(v.name), kind)
            for v, kind in zip((expr.lhs, expr.rhs), signature.args, strict=True)
        ]
        try:
            operate = self.context.get_function(function, signature)
        except KeyError:  # `x += y` was looked up, `x + y` not yet
            function.get_call_type(self.context.typing_context, signature.args, {})
            operate = self.context.get_function(function, signature)
        result = operate(self.builder, values)
        return self.context.cast(self.builder, result, signature.return_type, resty)

    def lower_inst(self, inst: Any) -> Any:
        """A statement: assignments and stores here, the others as numba does it."""
        if isinstance(inst, ir.Assign):
            return self.storevar(self.lower_assign(self.typeof(inst.target.name), inst), inst.target.name)
        if isinstance(inst, ir.SetItem | ir.StaticSetItem):
            array, place = self.typeof(inst.target.name), self._place(inst)
            if place is not None:
                between = self.fndesc.calltypes[inst].args[2]
                value = self.loadvar(inst.value.name)
                value = self.context.cast(self.builder, value, self.typeof(inst.value.name), between)
                value = self.context.cast(self.builder, value, between, array.dtype)
                return self.context.pack_value(self.builder, array.dtype, value, place, align=None if array.aligned else 1)
        return super().lower_inst(inst)

    def _attribute_type(self, array: Any, name: str) -> Any:
        return types.UniTuple(types.intp, array.ndim) if name == "shape" else types.intp

    def _member(self, array: Any, variable: Any, name: str) -> Any:
        """A member of an array's structure."""
        return self.context.data_model_manager[array].get(self.builder, self.loadvar(variable.name), name)

    def _place(self, access: Any) -> Any:
        """The address of the item that an access to an array reads or writes; None if it is not a simple one."""
        variable = access.value if isinstance(access, ir.Expr) else access.target
        array, signature = self.typeof(variable.name), self.fndesc.calltypes[access]
        simple = type(array) is types.Array and array.layout == "C" and not self.context.enable_boundscheck
        if not simple or isinstance(array.dtype, types.NestedArray) or signature is None:
            return None
        if isinstance(access, ir.StaticSetItem) or (isinstance(access, ir.Expr) and access.op == "static_getitem"):
            static = access.index if isinstance(access.index, tuple) else (access.index,)
            if not all(type(i) is int and i >= 0 for i in static):
                return None
            indices = [self.context.get_constant(types.uintp, i) for i in static]
        else:
            kind = signature.args[1]
            index = self.context.cast(self.builder, self.loadvar(access.index.name), self.typeof(access.index.name), kind)
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
            place = self.builder.add(self.builder.mul(place, self.builder.extract_value(shape, k)), indices[k])
        return self.builder.gep(self._member(array, variable, "data"), [place])
