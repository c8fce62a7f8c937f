"""What a user hears of kernels that are compiled: a line on a terminal while it takes long, and the log.

A kernel is compiled when it is first used, which is once per machine where the cache is kept, and may be at a call that was fast
yesterday: each option has kernels of its own. Kernels that are loaded from the cache say nothing.
"""

from __future__ import annotations

import functools
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ubpe_numba.runtime.terminal import is_terminal

log = logging.getLogger("ubpe_numba")

_PATIENCE = 1.0  # seconds of compilation in a process before anything is shown
_spent = 0.0  # seconds that this process has compiled for


def _text() -> str:
    """The line."""
    often = "in each process, since UBPE_CACHE=0" if os.environ.get("UBPE_CACHE") == "0" else "once per machine"
    return f"ubpe_numba: compiling kernels, {often} ..."


def _may_show() -> bool:
    """Whether there is a terminal to show it on, and the user has not said UBPE_PROGRESS=0."""
    return os.environ.get("UBPE_PROGRESS") != "0" and is_terminal()


def _write(text: str) -> None:
    """Show it; a terminal that is gone meanwhile is no reason for a kernel not to be compiled."""
    with suppress(OSError, ValueError, AttributeError):
        print(text, end="", file=sys.stderr, flush=True)


@contextmanager
def told(name: str) -> Iterator[None]:
    """Around the compilation of a kernel: the line is there from when this process has compiled for a second, until it ends."""
    global _spent
    began, lock, state = time.monotonic(), threading.Lock(), {"ended": False, "shown": False}

    def show() -> None:
        with lock:
            if not state["ended"]:
                _write(f"\r{_text()}")
                state["shown"] = True

    timer = None
    if _may_show():
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


def telling(compile_: Callable[..., Any], name: str) -> Callable[..., Any]:
    """What compiles a kernel of this name, with the notice."""

    @functools.wraps(compile_)
    def compiled(*args: Any, **kwargs: Any) -> Any:
        with told(name):
            return compile_(*args, **kwargs)

    return compiled
