"""Forks while another thread compiles: the compiler's locks are held over a fork, so a child inherits them free and in order.

A child has the thread that forked and no other. A lock that another thread held at that moment is never released in it, and
what the lock protected stays half done: the first kernel that such a child needs would wait for ever. Numba compiles and loads
kernels under one lock, LLVM is entered under another; here the thread that forks takes both before and releases them on both
sides. It waits for the kernel that is just compiled, and no other begins.

    thread A      compile ............ end
    thread B          fork: waits ....... fork, parent and child go on: both may compile

Processes that are started by `spawn`, `forkserver` or `subprocess` inherit nothing and do not wait.
"""

from __future__ import annotations

import _thread
import os
import threading
from typing import Any, Protocol

from llvmlite.binding import ffi
from numba.core.compiler_lock import global_compiler_lock

_SOON = 0.05  # seconds after which a Ctrl-C is raised that came while a fork waited


class _Lock(Protocol):
    def acquire(self) -> Any: ...
    def release(self) -> Any: ...


def _compiler_locks() -> list[_Lock]:
    """Numba's lock, then LLVM's, in the order in which a thread that compiles takes them. Both are reentrant."""
    llvm = getattr(getattr(ffi.lib, "_lock", None), "_lock", None)  # private: a later llvmlite may have none
    return [global_compiler_lock] if llvm is None else [global_compiler_lock, llvm]


class _Forking(threading.local):
    """What the thread that forks holds meanwhile."""

    def __init__(self) -> None:
        self.held: list[_Lock] = []
        self.interrupted = False


_forking = _Forking()


def _take() -> None:
    for lock in _compiler_locks():
        taken = False
        while not taken:
            try:
                lock.acquire()
                taken = True
                _forking.held.append(lock)
            except KeyboardInterrupt:  # Python would report it and fork at once: it is raised after the fork
                _forking.interrupted = True


def _release() -> None:
    while _forking.held:
        _forking.held.pop().release()


def _release_in_parent() -> None:
    _release()
    if _forking.interrupted:
        _forking.interrupted = False
        threading.Timer(_SOON, _thread.interrupt_main).start()  # at once it would be raised here, reported and forgotten


def _release_in_child() -> None:
    _release()
    _forking.interrupted = False


def hold_compiler() -> None:
    """Hold the compiler's locks over all later forks of this process; nothing where there are no forks."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_take, after_in_parent=_release_in_parent, after_in_child=_release_in_child)
