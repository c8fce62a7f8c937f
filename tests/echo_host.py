"""A host that says what it hears, fails or dies when it is told to: for tests of messages to hosts."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from typing import Any

import numpy as np


class OddError(Exception):
    """One that does not come back from a pickle."""

    def __init__(self, a: int, b: int) -> None:
        super().__init__(f"{a} and {b}")


class Echo:
    """A host that says what it hears."""

    def __init__(self, number: int, ballast: Any = None) -> None:
        self.number, self.heard = number, 0

    def hear(self, *args: Any) -> tuple[int, Any]:
        """Say it back."""
        self.heard += 1
        return self.number, args

    def heard_so_far(self) -> int:
        """How often `hear` was called."""
        return self.heard

    def process(self) -> int:
        """The id of this process."""
        return os.getpid()

    def add_one(self, values: np.ndarray) -> np.ndarray:
        """Write into what has arrived."""
        assert values.flags.aligned
        assert values.ctypes.data % 8 == 0
        values += 1
        return values

    def read_only(self, values: np.ndarray) -> bool:
        """Whether the array is."""
        return not values.flags.writeable

    def fail(self, *which: int) -> int:
        """Raise if this host is one of these."""
        if self.number in which:
            raise ValueError("host", self.number)
        return self.number

    def fail_oddly(self) -> None:
        """Raise what does not travel."""
        raise OddError(1, 2)

    def answer_oddly(self) -> Any:
        """Answer what does not travel."""
        return lambda: None

    def sleep(self, seconds: float, which: Sequence[int] | None = None) -> int:
        """Take long, if this host is one of these."""
        time.sleep(seconds if which is None or self.number in which else 0)
        return self.number

    def number_of(self) -> int:
        """To be added up."""
        return self.number

    def spoil(self) -> int:
        """What cannot be added up."""
        return self.number

    def add_own(self, values: np.ndarray) -> np.ndarray:
        """Write into what has arrived."""
        values += self.number
        return values

    def die(self, *which: int) -> int:
        """Killed in the middle of a call."""
        if self.number in which:
            os.kill(os.getpid(), signal.SIGKILL)
        return self.number
