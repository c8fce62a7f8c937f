"""Hooks around compilation: a notice to the user, and forks that wait for the compiler.

A kernel is compiled when it is first used, which is once per machine where the cache is kept, and may be at a call that was fast
yesterday: each option has kernels of its own. A line on a terminal says so while it takes long, and the log names each kernel.
Kernels that are loaded from the cache are not mentioned.

A forked child has the thread that forked and no other. A lock that another thread held at that moment is never released in it,
and the data it protected stays half written: the first kernel that such a child needs would wait for ever. Numba compiles and
loads kernels under one lock, LLVM is entered under another; here the thread that forks takes both before and releases them on
both sides. It waits for the kernel that is being compiled, and no other begins.

    thread A      compile ............ end
    thread B          fork: waits ....... fork, parent and child go on: both may compile

Processes that are started by `spawn`, `forkserver` or `subprocess` inherit nothing and do not wait.
"""

from __future__ import annotations

import _thread
import logging
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from llvmlite.binding import ffi
from numba.core.compiler_lock import global_compiler_lock

from ubpe_numba.runtime.messages import is_terminal

log = logging.getLogger("ubpe_numba")

_PATIENCE = 1.0  # seconds of compilation in a process before anything is shown
_spent = 0.0  # seconds that this process has compiled for
_SOON = 0.05  # seconds after which a Ctrl-C is raised that came while a fork waited


def _text() -> str:
    often = "in each process, since UBPE_CACHE=0" if os.environ.get("UBPE_CACHE") == "0" else "once per machine"
    return f"ubpe_numba: compiling kernels, {often} ..."


def _write(text: str) -> None:
    """Write to standard error, ignoring errors: a terminal that is gone must not keep a kernel from being compiled."""
    with suppress(OSError, ValueError, AttributeError):
        print(text, end="", file=sys.stderr, flush=True)


@contextmanager
def notice(name: str) -> Iterator[None]:
    """Show the line while a kernel is compiled, once this process has compiled for a second in all; log the time."""
    global _spent
    began, lock, state = time.monotonic(), threading.Lock(), {"ended": False, "shown": False}

    def show() -> None:
        with lock:
            if not state["ended"]:
                _write(f"\r{_text()}")
                state["shown"] = True

    timer = None
    if os.environ.get("UBPE_PROGRESS") != "0" and is_terminal():
        timer = threading.Timer(max(0.0, _PATIENCE - _spent), show)
        timer.daemon = True
        timer.start()
    try:
        yield
    finally:
        took = time.monotonic() - began
        _spent += took
        if timer is not None:
            timer.cancel()
            with lock:
                state["ended"] = True
                if state["shown"]:
                    _write("\r" + " " * len(_text()) + "\r")
    log.info("compiled the kernel %s in %.1f s", name, took)


_forking = threading.local()  # of the thread that forks: the locks that it holds, and whether a Ctrl-C came meanwhile


def _take() -> None:
    _forking.held, _forking.interrupted = [], False
    llvm = getattr(getattr(ffi.lib, "_lock", None), "_lock", None)  # private: a later llvmlite may have none
    locks: list[Any] = [global_compiler_lock, *filter(None, [llvm])]  # in the order of a thread that compiles; both are reentrant
    while locks:
        try:
            locks[0].acquire()
            _forking.held.append(locks.pop(0))
        except KeyboardInterrupt:  # Python would report it and fork at once: it is raised after the fork
            _forking.interrupted = True


def _release() -> None:
    while _forking.held:
        _forking.held.pop().release()


def _release_in_parent() -> None:
    _release()
    if _forking.interrupted:
        threading.Timer(_SOON, _thread.interrupt_main).start()  # at once it would be raised here, reported and forgotten


def hold_compiler() -> None:
    """Hold the compiler's locks over all later forks of this process; nothing where there are no forks."""
    if hasattr(os, "register_at_fork"):
        # numba imports this when it first compiles; if a fork waits then, of its hooks those after the fork would run alone
        import concurrent.futures.thread  # noqa: F401

        os.register_at_fork(before=_take, after_in_parent=_release_in_parent, after_in_child=_release)
