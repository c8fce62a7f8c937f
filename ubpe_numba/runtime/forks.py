"""Forks that wait: for the kernel that another thread compiles, and for the modules that it imports.

A forked child has the thread that forked and no other. A lock that another thread held at that moment is never released in it,
and the data it protected stays half written: the first kernel that such a child needs would wait for ever, and so would the
import of a module that the other thread was importing. Numba compiles and loads kernels under one lock, LLVM is entered under
another, Python imports a module under a lock of its own. Here the thread that forks takes the first two, and Python's own lock
of all those of modules: once there are none of other threads, no import can begin until it has forked.

    thread A      import ....., compile ............ end
    thread B          fork: waits .................. fork, parent and child go on: both may import and compile

A program may run within an import for as long as it lives: modules that take longer than `_PATIENCE` are not waited for, and
never again. Processes that are started by `spawn`, `forkserver` or `subprocess` inherit nothing and do not wait.
"""

from __future__ import annotations

import _imp
import _thread
import concurrent.futures.thread  # noqa: F401  # has hooks, of which those after a fork alone run if it waits meanwhile
import logging  # noqa: F401  # as it; and hooks of later modules run before these: no thread could log while a fork waits
import os
import sys
import threading
import time
from functools import partial
from importlib import _bootstrap

_PATIENCE = 10.0  # seconds that imports are waited for
_POLL = 0.001  # seconds between two looks at them
_SOON = 0.05  # seconds after which a Ctrl-C is raised that came while a fork waited

_forking = threading.local()  # of the thread that forks: the locks that it holds, and whether a Ctrl-C came meanwhile
_endless: set[str] = set()  # modules that are not waited for


def _take() -> None:
    """Take all locks, in the order of a thread that compiles, at a moment when no other thread imports."""
    _forking.held, _forking.interrupted = [], False
    me, until = _thread.get_ident(), time.monotonic() + _PATIENCE
    while True:
        try:
            compiler, llvm = map(sys.modules.get, ("numba.core.compiler_lock", "llvmlite.binding.ffi"))
            # private: a later llvmlite may have none
            inner = getattr(getattr(getattr(llvm, "lib", None), "_lock", None), "_lock", None)
            for lock in (getattr(compiler, "global_compiler_lock", None), inner):  # both are reentrant
                if lock is not None:
                    lock.acquire()
                    _forking.held.append(lock.release)
            _imp.acquire_lock()
            _forking.held.append(_imp.release_lock)
            # a lock of a module lives no longer than its import, unless it is held here, and may have no owner yet
            references = list(getattr(_bootstrap, "_module_locks", {}).values())
            names = {lock.name for ref in references for lock in [ref()] if lock is not None and getattr(lock, "owner", me) != me}
            names -= _endless
            if not names or time.monotonic() > until:
                _endless.update(names)
                return
            _release()
            time.sleep(_POLL)
        except KeyboardInterrupt:  # Python would report it and fork at once: it is raised after the fork
            _forking.interrupted = True
            _release()


def _release(in_parent: bool = False) -> None:
    held = vars(_forking).setdefault("held", [])  # not there in a fork that began before this module was imported
    while held:
        held.pop()()
    if in_parent and vars(_forking).get("interrupted"):
        threading.Timer(_SOON, _thread.interrupt_main).start()  # at once it would be raised here, reported and forgotten


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_take, after_in_parent=partial(_release, True), after_in_child=_release)
