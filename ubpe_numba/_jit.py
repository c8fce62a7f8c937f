"""Every option of the just-in-time compiler, in one place.

Two decorators: `kernel` for what Python calls (compiled once per signature, kept on disk), `helper` for what only kernels
call (always inlined, so it never exists as code of its own and is never cached). No `parallel=True` anywhere: a pool of
threads drives `nogil` kernels at the same speed, with a third of the compile time and none of prange's traps (OpenMP kills
forked children, workqueue aborts on concurrent calls).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

from ubpe_numba._cache import attach

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a function that Python calls: without the GIL, with a cache on disk."""
    return attach(njit(nogil=True)(function))  # type: ignore[no-any-return]


def helper(function: F) -> F:
    """Compile a function that only kernels call.

    Inlined always: a real call that takes arrays pays two atomic reference counts per array, ~150 ns for a dozen.
    """
    return njit(nogil=True, forceinline=True)(function)  # type: ignore[no-any-return]
