"""When a search that goes on as long as it finds something has to stop."""

from __future__ import annotations

import time


class Deadline:
    """A point in time.

    Parameters
    ----------
    seconds
        How far ahead it is; None for never.

    Examples
    --------
    >>> Deadline(0).is_over(), Deadline(None).is_over()
    (True, False)
    """

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._end = None if seconds is None else time.monotonic() + seconds

    def is_over(self) -> bool:
        """Whether it has passed."""
        return self._end is not None and time.monotonic() >= self._end

    def part(self, share: float) -> Deadline:
        """An earlier one: this share of the time from now."""
        return Deadline(None if self._end is None else max(0.0, self._end - time.monotonic()) * share)
