"""Decorators of compiled functions, with every option of the just-in-time compiler.

`kernel` is for functions that Python calls (compiled once per signature, cached on disk), `helper` for functions that only
kernels call (always inlined), `section` for a part of a kernel that is called once a round. The last two cannot be called from
Python: that wrapper would take a fifth of the compile time. They are cached on disk only as parts of kernels. Nothing uses
`parallel=True`: a thread pool runs `nogil` kernels at the same speed, with a third of the compile time and without prange's
failures (OpenMP kills forked children, workqueue aborts on concurrent calls).

Indices are unsigned: in a kernel `a[-1]` is not the last item but an error. Python's rule for negative indices costs a test per
access, 10 to 20 % of a whole fit and of encoding, so a pass declares integer indices of arrays unsigned once types are known.
With `NUMBA_BOUNDSCHECK=1` a negative index is then out of bounds like any other.

The rest of this folder uses numba's internals:

    passes.py       a shorter compiler pipeline and lowering; with untested versions of numba its own are used
    cache.py        one private, checksummed file per compiled kernel; reads packages made by prebuilt.py

`UBPE_PLAIN_NUMBA=1` turns all of it off: kernels are compiled by `numba.njit(nogil=True)` in every process. Results are the same,
kernels are a little slower, and compiling takes several times as long.

`NUMBA_DISABLE_JIT=1` is for functions of users: kernels are compiled all the same, since they have machine instructions.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import numba
from numba import njit
from numba.core import entrypoints
from numba.core.compiler_lock import global_compiler_lock

F = TypeVar("F", bound=Callable[..., Any])

_TESTED = (0, 61), (0, 68)  # the first and the last version of numba that the passes are tested with


def _is_tested(version: str) -> bool:
    found = re.match(r"(\d+)\.(\d+)", version)
    return found is not None and _TESTED[0] <= (int(found[1]), int(found[2])) <= _TESTED[1]


_PLAIN = os.environ.get("UBPE_PLAIN_NUMBA") == "1"
_OWN_PASSES = not _PLAIN and _is_tested(numba.__version__)

if not _PLAIN:
    from ubpe_numba.runtime.compiler import cache
    from ubpe_numba.runtime.messages import notice
    from ubpe_numba.runtime.thread_pool import apart

_KERNEL: dict[str, Any] = {"nogil": True}
_INNER: dict[str, Any] = {"nogil": True}
_UNCOUNTED: dict[str, Any] = {}
if _OWN_PASSES:

    def _pipeline(is_kernel: bool, *args: Any) -> Any:
        """A compiler of `passes.py`, imported when the first kernel is compiled: one from the cache does not need it."""
        from ubpe_numba.runtime.compiler.passes import Compiler

        compiler = Compiler(*args)
        compiler.is_kernel = is_kernel
        return compiler

    _UNCOUNTED = {"_nrt": False}
    _KERNEL |= {"no_cfunc_wrapper": True, "pipeline_class": partial(_pipeline, True)}
    _INNER |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, **_UNCOUNTED}
    _INNER["pipeline_class"] = partial(_pipeline, False)


_compiling = threading.local()  # whether this thread compiles or loads a kernel


def _init_unless_kernel(init_all: Callable[[], None] = entrypoints.init_all) -> None:
    """Import the extensions of numba that other packages have registered, but not for a kernel, which has arrays and numbers."""
    if not getattr(_compiling, "is_kernel", False):
        init_all()


if not _PLAIN:
    entrypoints.init_all = _init_unless_kernel  # called whenever numba compiles, and where `cache` has it set up what it knows


@contextmanager
def _enabled() -> Iterator[None]:
    """Compile whatever NUMBA_DISABLE_JIT says, and without the extensions of other packages."""
    before, numba.config.DISABLE_JIT = numba.config.DISABLE_JIT, 0
    outer, _compiling.is_kernel = getattr(_compiling, "is_kernel", False), True
    try:
        yield
    finally:
        numba.config.DISABLE_JIT, _compiling.is_kernel = before, outer


def kernel(function: F) -> F:
    """Compile a function that Python calls, without the GIL and cached on disk. It allocates nothing: its caller owns all memory.

    Reference counting is therefore off: a fit of many small rounds takes a quarter less time, one with ties by first occurrence
    half, and compiling an eighth less. Numba refuses to compile `np.empty` in it.
    """
    return _compiled(function, **_UNCOUNTED)


def kernel_with_scratch(function: F) -> F:
    """A `kernel` that may allocate small arrays of its own."""
    return _compiled(function)


def builtin(function: F) -> F:
    """A `kernel` that Python calls by C, with the GIL; its arguments and result are int64. See runtime/machine/objects.py."""
    return _compiled(function, **_UNCOUNTED, no_cfunc_wrapper=False, nogil=False)


def _compiled(function: F, **options: Any) -> F:
    with _enabled():
        dispatcher = njit(**(_KERNEL | options))(function)
    compile_ = dispatcher.compile = _enabled()(dispatcher.compile)
    if _PLAIN:
        return dispatcher  # type: ignore[no-any-return]
    dispatcher._compilation_chain_init_hook = lambda: None  # which imports extensions of other packages: 0.4 s of one
    if (compiler := getattr(dispatcher, "_compiler", None)) is not None:  # called for kernels that are in no cache
        compiler.compile = notice(f"{function.__module__.partition('.')[2]}.{function.__name__}")(compiler.compile)
    # numba and LLVM do not bear an interruption: a Ctrl-C while a kernel was compiled or loaded could end in a crash much later;
    # but another thread would wait for the lock that this one has, if it compiles a function that calls the kernel
    inside = global_compiler_lock.is_locked
    dispatcher.compile = lambda signature: compile_(signature) if inside() else apart(partial(compile_, signature))
    return cache.attach(dispatcher)  # type: ignore[no-any-return]


def address_of(kernel: Callable[..., Any], kinds: tuple[Any, ...], by_c: bool = False) -> int:
    """The address of the machine code of a kernel for arguments of these types of numba, as kernels call it, or C."""
    if kinds not in kernel.overloads:  # type: ignore[attr-defined]
        kernel.compile(kinds)  # type: ignore[attr-defined]
    compiled = kernel.overloads[kinds]  # type: ignore[attr-defined]
    name = compiled.fndesc.llvm_cfunc_wrapper_name if by_c else compiled.fndesc.llvm_func_name
    return int(compiled.library.get_pointer_to_function(name))


def helper(function: F) -> F:
    """Compile a function that only kernels call, always inlined.

    It returns numbers or views of its arguments; references are not counted (see `kernel`).
    """
    return _inner(function, forceinline=True)


def section(function: F) -> F:
    """Compile a part of a kernel that is a function of its own, called so rarely that a real call (~1 µs) costs nothing."""
    return _inner(function)


def _inner(function: F, **options: Any) -> F:
    with _enabled():
        dispatcher = njit(**_INNER, **({} if _PLAIN else options))(function)
    if not _OWN_PASSES:
        return dispatcher  # type: ignore[no-any-return]

    def refuse(*args: object, **kwargs: object) -> None:
        raise TypeError(f"{function.__name__} is called by kernels only; {function.__name__}.py_func is the Python function")

    # Numba would call a Python wrapper that does not exist: compiled versions are hidden from the dispatcher, so a call from
    # Python always reaches `refuse`.
    dispatcher._insert = lambda *args, **kwargs: None
    dispatcher._compile_for_args = refuse
    return dispatcher  # type: ignore[no-any-return]
