"""A host that says what it hears, fails or dies when it is told to, and what is left of such on workers."""

import os
import signal
import time
from typing import Any

import numpy as np


class Echo:
    """A host that says what it hears."""

    def __init__(self, number: int) -> None:
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

    def add_own(self, values: np.ndarray) -> np.ndarray:
        """Write into what has arrived."""
        assert values.flags.aligned and values.ctypes.data % 16 == 0
        values += self.number
        return values

    def read_only(self, values: np.ndarray) -> bool:
        """Whether the array is."""
        return not values.flags.writeable

    def fail(self, *which: int) -> int:
        """Raise if this host is one of these."""
        if self.number in which:
            raise ValueError("host", self.number)
        return self.number

    def sleep(self, seconds: float) -> None:
        """Take long."""
        time.sleep(seconds)

    def die(self, *which: int) -> int:
        """Killed in the middle of a call."""
        if self.number in which:
            os.kill(os.getpid(), signal.SIGKILL)
        return self.number


def left_on(client: Any) -> list[Any]:
    """The keys that workers hold or work on, and their actors."""

    def found(dask_worker: Any) -> list[Any]:
        return [*dask_worker.state.actors, *dask_worker.data, *dask_worker.state.tasks]

    return [key for keys in client.run(found, on_error="ignore").values() for key in keys]
