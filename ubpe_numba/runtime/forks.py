"""Forks at a safe moment.

That is after the kernel that another thread compiles, and the module of ours that it imports.

A forked child has only the thread that forked. A lock that another thread held at that moment is never
released in it: the first kernel that the child compiles or loads would wait forever. So a fork waits while
this library compiles or imports in another thread, at most `PATIENCE` seconds; then it warns. It waits only
briefly while the user's own code compiles or imports.

    thread A      compile a kernel of ours ............ end
    thread B          fork: waits ..................... fork, parent and child continue

A child that was forked while a lock of the compiler was held knows it, and raises RuntimeError instead of
waiting forever. Modules of this library that were half imported raise ImportError there. Processes that are
started by `spawn`, `forkserver` or `subprocess` inherit nothing and do not wait.
"""

from __future__ import annotations

import _thread
import concurrent.futures.thread  # noqa: F401  # has hooks, of which those after a fork alone run if it waits meanwhile
import logging  # noqa: F401  # as it; and hooks of later modules run before these: no thread could log while a fork waits
import os
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ubpe_numba.runtime import border

PATIENCE = 2.0  # seconds that a fork waits
# seconds that it waits for what may be ours or the user's: a lock of the compiler, a part of NumPy
_BRIEFLY = 0.2
_POLL = 0.001  # seconds between two looks
_SOON = 0.05  # seconds after which a Ctrl-C is raised that came while a fork waited
_PACKAGE = __name__.partition(".")[0]
_OURS = _PACKAGE, "llvmlite", "numba", "numpy"  # what calls of this library import
_WAY_ON = "call ubpe_numba.warmup() before the fork, or start processes by 'spawn' or 'forkserver'"

_gate = threading.Lock()  # held while a thread becomes busy, and by a fork
_busy: Counter[int] = Counter()  # threads that compile or load kernels, and how deep
# of the thread that forks: its locks, whether it gave up, whether a Ctrl-C came
_state = threading.local()
_is_lost = False  # in a child: whether a lock of the compiler will never be released


@contextmanager
def busy() -> Iterator[None]:
    """Compile or load a kernel, while forks of other threads wait.

    RuntimeError in a child that could only hang.
    """
    if _is_lost:
        raise RuntimeError(
            f"forked while another thread compiled: this process cannot compile or load kernels; {_WAY_ON}"
        )
    me = _thread.get_ident()
    is_open = _gate.acquire(timeout=PATIENCE)
    _busy[me] += 1
    if is_open:
        _gate.release()
    try:
        yield
    finally:
        _busy[me] -= 1
        if not _busy[me]:
            del _busy[me]


def _locks() -> list[Any]:
    """The locks of numba and of llvmlite, both reentrant, once both modules are complete.

    A fork does not wait for their import here.
    """
    # have the attribute once it is imported
    parents = (("numba.core", "compiler_lock"), ("llvmlite.binding", "ffi"))
    is_whole = all(hasattr(sys.modules.get(package), module) for package, module in parents)
    names = border.names("forks") if is_whole else None
    owners = () if names is None else (names.global_compiler_lock, getattr(names.lib, "_lock", None))
    return [lock for owner in owners if (lock := getattr(owner, "_lock", None)) is not None]


def _importing(imports: Any) -> tuple[list[str], bool]:
    """The modules that other threads import for calls of ours, and whether they import any."""
    # the lock of a module lives no longer than its import, and may still lack an owner
    locks = (
        []
        if imports is None
        else [lock for ref in list(imports._module_locks.values()) if (lock := ref()) is not None]
    )
    me = _thread.get_ident()
    others = {lock.name: owner for lock in locks if (owner := getattr(lock, "owner", me)) != me}
    threads = {owner for name, owner in others.items() if name.partition(".")[0] in _OURS}
    return [name for name, owner in others.items() if owner in threads], bool(others)


def _take() -> None:
    """Hold all that another thread would need to begin to compile or import.

    This happens at a moment when none does, or at the last.
    """
    _state.held, _state.is_late, _state.interrupted = [], False, False
    imports, began = border.names("imports"), time.monotonic()
    while True:
        try:
            if imports is not None:
                imports.acquire_lock()
                _state.held.append(imports.release_lock)
            locks = _gate, *_locks()
            taken = [lock for lock in locks if lock.acquire(timeout=_POLL)]
            _state.held += [lock.release for lock in taken]
            _state.halted, is_importing = _importing(imports)
            is_ours = bool(_state.halted) or bool(_busy.keys() - {_thread.get_ident()})
            waited = time.monotonic() - began
            if waited > (PATIENCE if is_ours else _BRIEFLY) or not (
                is_ours or is_importing or len(taken) < len(locks)
            ):
                _state.is_late = is_ours
                return
            _release()
            time.sleep(_POLL)
        except KeyboardInterrupt:  # Python would report it and fork at once: it is raised after the fork
            _state.interrupted = True
            _release()


def _release() -> None:
    # not there in a fork that began before this module was imported
    held = vars(_state).setdefault("held", [])
    while held:
        held.pop()()


def _in_parent() -> None:
    _release()
    if vars(_state).get("interrupted"):
        # at once it would be raised here, reported and forgotten
        threading.Timer(_SOON, _thread.interrupt_main).start()
    if vars(_state).get("is_late"):
        warnings.warn(
            f"fork: {_PACKAGE} still compiles in another thread after {PATIENCE} s; {_WAY_ON}",
            RuntimeWarning,
            2,
        )


def _in_child() -> None:
    global _is_lost
    _release()
    me = _thread.get_ident()
    for thread in _busy.keys() - {me}:
        del _busy[thread]
    # no thread will end them: to import them is an error
    sys.modules.update(dict.fromkeys(vars(_state).get("halted", ())))
    for lock in _locks():  # one that a thread held which is not here is never released
        if lock.acquire(blocking=False):
            lock.release()
        else:
            _is_lost = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_take, after_in_parent=_in_parent, after_in_child=_in_child)
