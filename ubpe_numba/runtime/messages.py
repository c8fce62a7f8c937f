"""Messages to the user: warnings, and the progress of long work."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from ubpe_numba.errors import quoted

T = TypeVar("T")
log = logging.getLogger("ubpe_numba")

_PATIENCE = 1.0  # seconds of compilation in a process before anything is shown
_spent = 0.0  # seconds that this process has compiled for

#: Packages whose lines are not the user's: this library, the compiler, and pipelines and searches that call a
#: fit.
_PASSED = (__name__.partition(".")[0], "numba", "sklearn", "joblib")


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the user: the innermost caller outside of this package and of scikit-learn.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn("nothing is left")
    >>> caught[0].category.__name__, str(caught[0].message)
    ('UserWarning', 'nothing is left')
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _PASSED:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def is_terminal() -> bool:
    """Whether standard error is a terminal. It may be closed, missing, or an object of the user's: False.

    >>> import io
    >>> from contextlib import redirect_stderr
    >>> with redirect_stderr(io.StringIO()):
    ...     is_terminal()
    False
    """
    try:
        return bool(sys.stderr.isatty())
    except (AttributeError, ValueError, OSError):  # it is None, or lacks the method, or is closed
        return False


def _write(text: str) -> None:
    print(text, end="", file=sys.stderr, flush=True)


@contextmanager
def notice(name: str) -> Iterator[None]:
    """Show a line while a kernel is compiled, once this process has compiled for a second in all.

    The time is logged.

    Each option has kernels of its own: a call that was fast yesterday may compile. Kernels from the cache are
    not mentioned.
    """
    global _spent
    often = (
        "in each process, since UBPE_CACHE=0" if os.environ.get("UBPE_CACHE") == "0" else "once per machine"
    )
    text = f"ubpe_numba: compiling kernels, {often} ..."
    began, lock, state = time.monotonic(), threading.Lock(), {"ended": False, "shown": False}

    def show() -> None:
        with lock, suppress(OSError, ValueError, AttributeError):  # a terminal may be gone
            if not state["ended"]:
                state["shown"] = True
                _write(f"\r{text}")

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
            with lock, suppress(OSError, ValueError, AttributeError):
                state["ended"] = True
                if state["shown"]:
                    _write(f"\r{' ' * len(text)}\r")
    log.info("compiled the kernel %s in %.1f s", name, took)


class Progress:
    """Progress over the ids of a growing vocabulary, as a tqdm bar or as a line.

    The line, on standard error, is used if tqdm is not installed.

    `mode` is "auto" (shown if standard error is a terminal), True or False, else ValueError; `label` is that
    of the bar.
    """

    def __init__(self, mode: bool | str = "auto", label: str = "fit") -> None:
        if mode not in ("auto", True, False):
            raise ValueError(f"progress: expected 'auto', True or False, got {quoted(mode)}")
        self.label = label
        self.shown = is_terminal() if mode == "auto" else bool(mode) and sys.stderr is not None
        self.bar: Any = None

    def start(self, done: int, total: int) -> None:
        """Begin with `done` of `total` ids, or continue."""
        self.done, self.total, self.began = done, total, time.monotonic()
        if self.shown and self.bar is None:
            self.bar = _bar(total=total, initial=done, desc=self.label, unit="token")

    def update(self, done: int, count: int) -> None:
        """Show that `done` ids exist, and how often the pair merged last occurred."""
        if self.bar is not None:
            self.bar.set_postfix(count=count, refresh=False)
            self.bar.update(done - self.done)
        elif self.shown:
            rate = (done - self.done) / max(time.monotonic() - self.began, 1e-9)
            _write(f"\r{self.label}: {done}/{self.total} tokens, {rate:.0f}/s, count {count} ")
            return
        self.done = done

    def finish(self, done: int) -> None:
        """Close the bar at `done` ids."""
        if self.bar is not None:
            self.bar.update(done - self.done)
            self.bar.close()
            self.bar = None
        elif self.shown:
            _write(f"\r{self.label}: {done} tokens, {time.monotonic() - self.began:.1f} s{' ' * 20}\n")

    def rounds(self, items: Sequence[T], what: str, unit: str = "round") -> Iterator[T]:
        """The items, one per round of longer work, with a progress bar labeled `what`.

        `unit` is another word for round.

        >>> list(Progress(False).rounds(range(3), "EM"))
        [0, 1, 2]
        """
        if not self.shown or not items:
            yield from items
            return
        began, bar = time.monotonic(), _bar(total=len(items), desc=what, unit=unit)
        try:
            for i, item in enumerate(items, 1):
                yield item
                if bar is not None:
                    bar.update()
                else:
                    _write(f"\r{what}: {unit} {i} of {len(items)}, {time.monotonic() - began:.1f} s ")
        finally:  # the rounds may end early
            if bar is not None:
                bar.close()
            else:
                _write("\n")


def _bar(**options: Any) -> Any:
    """A bar of tqdm, or None if that is not installed."""
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm(**options, leave=True)
