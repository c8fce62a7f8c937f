"""Progress of long work: a tqdm bar if tqdm is installed, otherwise one line on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from ubpe_numba.errors import quoted
from ubpe_numba.runtime.terminal import is_terminal

T = TypeVar("T")


class Progress:
    """A bar over the ids of a growing vocabulary, with the count of the pair merged last.

    Parameters
    ----------
    mode : bool or str
        ``"auto"`` (shown if standard error is a terminal), True (always) or False (never).
    what : str
        The label of the bar.

    Raises
    ------
    ValueError
        If `mode` is anything else.
    """

    def __init__(self, mode: bool | str = "auto", what: str = "fit") -> None:
        if mode not in ("auto", True, False):
            raise ValueError(f"progress: expected 'auto', True or False, got {quoted(mode)}")
        self.what = what
        self.shown = is_terminal() if mode == "auto" else bool(mode) and sys.stderr is not None
        self.bar: Any = None

    def start(self, done: int, total: int) -> None:
        """Begin with `done` of `total` ids."""
        self.done, self.total, self.began = done, total, time.monotonic()
        if self.shown:
            self.bar = _bar(total=total, initial=done, desc=self.what, unit="token")

    def update(self, done: int, count: int) -> None:
        """Show that `done` ids exist, and how often the pair merged last occurred."""
        if self.bar is not None:
            self.bar.set_postfix(count=count, refresh=False)
            self.bar.update(done - self.done)
        elif self.shown:
            rate = (done - self.done) / max(time.monotonic() - self.began, 1e-9)
            print(f"\r{self.what}: {done}/{self.total} tokens, {rate:.0f}/s, count {count} ", end="", file=sys.stderr)
            return
        self.done = done

    def finish(self, done: int) -> None:
        """Close the bar at `done` ids."""
        if self.bar is not None:
            self.bar.update(done - self.done)
            self.bar.close()
        elif self.shown:
            print(f"\r{self.what}: {done} tokens, {time.monotonic() - self.began:.1f} s" + " " * 20, file=sys.stderr)

    def rounds(self, items: Sequence[T], what: str, unit: str = "round") -> Iterator[T]:
        """The items, one for each round (or other `unit`) of longer work, with a bar of their own that is labelled `what`.

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
                    print(f"\r{what}: {unit} {i} of {len(items)}, {time.monotonic() - began:.1f} s ", end="", file=sys.stderr)
        finally:  # the rounds may end early
            if bar is not None:
                bar.close()
            else:
                print(file=sys.stderr)


def _bar(**options: Any) -> Any:
    """A bar of tqdm, or None if that is not installed."""
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm(**options, leave=True)
