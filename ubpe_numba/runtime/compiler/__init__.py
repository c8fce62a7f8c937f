"""Decorators of compiled functions, with every option of the just-in-time compiler.

`kernel` is for functions that Python calls (compiled once per signature, cached on disk). `helper` is for
functions that only kernels call (always inlined). `section` is for a part of a kernel that is called once per
round. The last two cannot be called from Python: that wrapper would take a fifth of the compile time. They
are cached on disk only as parts of kernels. `parallel=True` is never used. A thread pool runs `nogil` kernels
at the same speed, with a third of the compile time and without prange's failures (OpenMP kills forked
children, workqueue aborts on concurrent calls).

Indices are unsigned: in a kernel `a[-1]` is not the last item but an error. Python's rule for negative
indices costs a test per access, 10 to 20 % of a whole fit and of encoding. So a pass declares integer indices
of arrays unsigned once types are known. With `NUMBA_BOUNDSCHECK=1` a negative index is then out of bounds
like any other.

The rest of this folder uses numba's internals, by the names of `runtime/border.py`:

    passes.py       a shorter compiler pipeline and lowering; with untested versions of numba, numba's own
    cache.py        a private, checksummed file per compiled kernel; reads packages of tools/kernels_wheel.py

`UBPE_PLAIN_NUMBA=1` turns all of it off: kernels are compiled by `numba.njit(nogil=True)` in every process.
Results are the same, kernels are a little slower, and compiling takes several times as long.

`NUMBA_DISABLE_JIT=1` is for functions of users. Kernels have machine instructions, and numba compiles nothing
then: they are read from the cache, which another process has to fill.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import numba
from numba import njit

from ubpe_numba.runtime import border
from ubpe_numba.runtime.forks import busy
from ubpe_numba.runtime.messages import notice
from ubpe_numba.runtime.thread_pool import apart

F = TypeVar("F", bound=Callable[..., Any])

_passes = border.names("passes")
_inner: list[Any] = []  # helpers and sections, which are compiled again where our passes fail

if _passes is None and numba.config.DISABLE_JIT:
    raise ImportError(
        "NUMBA_DISABLE_JIT=1: kernels of ubpe_numba have machine instructions, and have to be compiled. "
        "Unset it, or decorate the functions to debug without numba"
    )


def kernel(function: F) -> F:
    """Compile a function that Python calls, without the GIL and cached on disk.

    It allocates nothing: its caller owns all memory.

    Reference counting is therefore off: a fit of many small rounds takes a quarter less time, one with ties
    by first occurrence half, and compiling an eighth less. Numba refuses to compile `np.empty` in it.
    """
    return _outer(function, _nrt=False)


def kernel_with_scratch(function: F) -> F:
    """A `kernel` that may allocate small arrays of its own."""
    return _outer(function)


def builtin(function: F) -> F:
    """A `kernel` that Python calls by C, with the GIL; its arguments and result are int64.

    See runtime/machine/objects.py.
    """
    return _outer(function, _nrt=False, no_cfunc_wrapper=False, nogil=False)


def helper(function: F) -> F:
    """Compile a function that only kernels call, always inlined.

    It returns numbers or views of its arguments; references are not counted (see `kernel`).
    """
    return _part(function, forceinline=True)


def section(function: F) -> F:
    """Compile a part of a kernel as a separate function, for rare calls (~1 µs each)."""
    return _part(function)


def _dispatcher(function: Any, is_kernel: bool, **options: Any) -> Any:
    """A function that numba compiles, by our passes if they are on."""
    if _passes is None:
        return njit(nogil=options.get("nogil", True))(function)
    options = {"nopython": True, "nogil": True, "no_cfunc_wrapper": True, **options}
    dispatcher = _passes.CPUDispatcher(
        function, targetoptions=options, pipeline_class=partial(_pipeline, is_kernel)
    )
    # which imports extensions of other packages: one takes 0.4 s
    dispatcher._compilation_chain_init_hook = lambda: None
    return dispatcher


def _pipeline(is_kernel: bool, *args: Any) -> Any:
    """A compiler of `passes.py`, imported when the first kernel is compiled.

    That of numba once ours has failed.
    """
    if border.names("passes") is None:
        return _passes.Compiler(*args)
    from ubpe_numba.runtime.compiler.passes import Compiler

    compiler = Compiler(*args)
    compiler.is_kernel = is_kernel
    return compiler


def _outer(function: F, **options: Any) -> F:
    dispatcher = _dispatcher(function, True, **options)
    if border.PLAIN:
        return dispatcher  # type: ignore[no-any-return]
    # called for kernels that are in no cache
    if (compiler := getattr(dispatcher, "_compiler", None)) is not None:
        shown = notice(f"{function.__module__.partition('.')[2]}.{function.__name__}")
        compiler.compile = shown(compiler.compile)
    dispatcher.compile = partial(_compile, dispatcher.compile)
    if os.environ.get("UBPE_CACHE") != "0" and border.names("cache") is not None:
        from ubpe_numba.runtime.compiler.cache import Cache

        dispatcher._cache = Cache(function)
    return dispatcher  # type: ignore[no-any-return]


def _compile(compile_: Callable[[Any], Any], signature: Any) -> Any:
    """Compile or load a kernel for a signature.

    numba and LLVM do not survive an interruption: a Ctrl-C meanwhile could end in a crash much later, so
    another thread compiles. But that thread would wait for the lock of the compiler if this thread has it, as
    when it compiles a function that calls the kernel.
    """
    border.tell()
    lock = border.names("forks")
    is_inside = lock is None or getattr(lock.global_compiler_lock, "is_locked", lambda: True)()
    work = partial(_or_plainly, compile_, signature)
    compiled = work() if is_inside else apart(work)
    border.tell()
    return compiled


def _or_plainly(compile_: Callable[[Any], Any], signature: Any) -> Any:
    """Compile by our passes; if they fail, by those of numba, and continue with these."""
    with busy():
        try:
            return compile_(signature)
        except Exception as error:
            if numba.config.DISABLE_JIT:
                way = (
                    "run `ubpe-numba warmup` once without the variable: then kernels are read from the cache"
                )
                raise RuntimeError(
                    f"NUMBA_DISABLE_JIT=1: a kernel of ubpe_numba is not compiled yet; {way}"
                ) from error
            if border.names("passes") is None:
                raise
            border.off("passes", f"a pass failed with {type(error).__name__} ({error})")
        for part in _inner:
            part.overloads.clear()
        return compile_(signature)


def _part(function: F, **options: Any) -> F:
    dispatcher = _dispatcher(function, False, no_cpython_wrapper=True, _nrt=False, **options)
    if _passes is None:
        return dispatcher  # type: ignore[no-any-return]

    def refuse(*args: object, **kwargs: object) -> None:
        raise TypeError(
            f"{function.__name__} is called by kernels only. Use {function.__name__}.py_func in Python."
        )

    # Numba would call a Python wrapper that does not exist: compiled versions are hidden from the dispatcher,
    # so a call from Python always reaches `refuse`.
    dispatcher._insert = lambda *args, **kwargs: None
    dispatcher._compile_for_args = refuse
    _inner.append(dispatcher)
    return dispatcher  # type: ignore[no-any-return]
