"""The border: the private names of numba, llvmlite, NumPy and CPython that this library uses.

Each is looked up here, once.

A later version may rename any of them. Each ability needs some; if one is missing, the ability is off and the
library works without it, with equal results. One warning names the ability, the cost, and the known versions.

    interface   short calls by C                   off: by a public call of numba
    passes      our compiler pipeline              off: that of numba
    cache       machine code on disk               off: kernels are compiled in every process
    addresses   kernels called by their address    off: no `Tokenizer.kernels`, short calls as long calls
    forks       forks after our compiling          off: they do not wait for it
    imports     forks after our imports            off: they do not wait for them

Modules of this library take the names from `names`. Nothing outside of this package is changed, and nothing
is imported before it is needed.

>>> names("imports").acquire_lock.__name__
'acquire_lock'
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any, NamedTuple

from ubpe_numba.runtime.messages import warn

#: Whether `UBPE_PLAIN_NUMBA=1` turns off all abilities but `addresses`.
PLAIN = os.environ.get("UBPE_PLAIN_NUMBA") == "1"
_KNOWN = (0, 61), (0, 68)  # the first and the last version of numba that all of it is tested with


class Ability(NamedTuple):
    """The cost of being without an ability, and the names that it needs: a line per module."""

    cost: str
    needs: str


ABILITIES = {
    "interface": Ability(
        "a short call takes 1 to 2 microseconds more", "numpy._core._multiarray_umath _ARRAY_API"
    ),
    "passes": Ability(
        "the first calls of a process take four to five times as long to compile",
        """
        numba.core.analysis compute_cfg_from_blocks compute_use_defs
        numba.core.codegen JITCodeLibrary
        numba.core.compiler Compiler CompilerBase
        numba.core.compiler_machinery FunctionPass LoweringPass PassManager register_pass
        numba.core.interpreter Interpreter peep_hole_list_to_tuple
        numba.core.ir Assign Expr SetItem StaticSetItem
        numba.core.ir_utils build_definitions
        numba.core.lowering Lower
        numba.core.registry CPUDispatcher
        numba.core.rewrites.static_getitem RewriteConstGetitems RewriteConstSetitems
        numba.core.ssa reconstruct_ssa
        numba.core.transforms canonicalize_cfg
        numba.core.typed_passes AnnotateTypes IRLegalization NativeLowering NoPythonBackend
        numba.core.typed_passes NopythonTypeInference PreLowerStripPhis
        numba.core.untyped_passes DeadBranchPrune FixupArgs RewriteSemanticConstants
        """,
    ),
    "cache": Ability(
        "kernels are compiled in every process",
        """
        numba.core.compiler CompileResult
        numba.core.serialize dumps
        pickle loads
        """,
    ),
    "addresses": Ability("Tokenizer.kernels is missing, and a short call takes as long as any", ""),
    "forks": Ability(
        "a fork does not wait for a kernel that another thread compiles, and its child may hang",
        """
        llvmlite.binding.ffi lib
        numba.core.compiler_lock global_compiler_lock
        """,
    ),
    "imports": Ability(
        "a fork does not wait for an import of this library in another thread, and its child may hang",
        """
        _imp acquire_lock release_lock
        importlib._bootstrap _module_locks
        """,
    ),
}
_known_names: dict[str, Any] = {}
_off: dict[str, str] = {}  # abilities that are off, and why
_warned: set[str] = set()


def names(ability: str, load: Callable[[str], Any] = import_module) -> Any:
    """The names of an ability; None if it is off.

    `load` imports the modules that have them, at the first call only.
    """
    if ability not in _known_names:
        _known_names[ability] = _look_up(ability, load)
    return None if ability in _off else _known_names[ability]


def _look_up(ability: str, load: Callable[[str], Any]) -> Any:
    if PLAIN and ability in ("interface", "passes", "cache"):
        return None
    if ability == "passes" and not is_known(numba := load("numba").__version__):
        return off(ability, f"numba {numba} is not known")
    if ability == "interface" and not has_lock():
        return None  # as this interpreter is made
    if ability == "interface" and not (numpy := load("numpy").__version__).startswith("2."):
        return off(ability, f"NumPy {numpy} is not known")
    space = SimpleNamespace()
    for line in ABILITIES[ability].needs.strip().splitlines():
        module, *attributes = line.split()
        for attribute in attributes:
            try:
                setattr(space, attribute, getattr(load(module), attribute))
            except (ImportError, AttributeError):
                return off(ability, f"there is no {module}.{attribute}")
    return space


def is_known(version: str) -> bool:
    """Whether our passes are tested with a version of numba."""
    numbers = re.match(r"(\d+)\.(\d+)", version)
    return numbers is not None and _KNOWN[0] <= (int(numbers[1]), int(numbers[2])) <= _KNOWN[1]


def off(ability: str, reason: str) -> None:
    """Turn an ability off in this process."""
    _off.setdefault(ability, reason)


def tell() -> None:
    """Warn once of the abilities that are off.

    Abilities for kernels are reported at the first kernel, those for short calls when one is made.
    """
    for ability in ABILITIES.keys() - {"interface"}:
        names(ability)
    missing = [ability for ability in _off if ability not in _warned]
    if missing:
        _warned.update(missing)
        lines = "; ".join(f"{_off[ability]}, so that {ABILITIES[ability].cost}" for ability in missing)
        first, last = (".".join(map(str, known)) for known in _KNOWN)
        here = ", ".join(f"{package} {version(package)}" for package in ("numba", "llvmlite", "numpy"))
        warn(
            f"ubpe_numba with {here}: {lines}. Results are the same. Versions without this: numba {first} "
            f"to {last}, numpy 2. UBPE_PLAIN_NUMBA=1 uses no private parts, and does not warn",
            RuntimeWarning,
        )


def has_lock() -> bool:
    """Whether the interpreter is one of CPython with its global lock, for 64 bits."""
    is_locked = getattr(sys, "_is_gil_enabled", lambda: True)()
    return sys.implementation.name == "cpython" and is_locked and object.__basicsize__ == 16


def address_of(kernel: Any, kinds: tuple[Any, ...], by_c: bool = False) -> int:
    """The address of a kernel's machine code for arguments of these numba types.

    Kernels or C can call it.

    RuntimeError if numba describes compiled code in another way.
    """
    if kinds not in kernel.overloads:
        kernel.compile(kinds)
    try:
        compiled = kernel.overloads[kinds]
        name = compiled.fndesc.llvm_cfunc_wrapper_name if by_c else compiled.fndesc.llvm_func_name
        return int(compiled.library.get_pointer_to_function(name))
    except AttributeError as error:
        off("addresses", str(error))
        raise RuntimeError(
            f"this numba does not tell where compiled code is: {error}. Use a version that is known"
        ) from error
