"""The progress of a fit, in the terminal and on Dask's dashboard: there a task that does nothing for each hundredth."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

from ubpe_numba.runtime.messages import Progress

if TYPE_CHECKING:
    from distributed import Client


class Percent(Progress):
    """A `Progress` that the dashboard of a cluster shows too.

    Parameters
    ----------
    bar
        What shows it in the terminal.
    client
        Of the cluster.
    """

    def __init__(self, bar: Progress, client: Client) -> None:
        self.terminal, self.client, self.futures = bar, client, list[Any]()
        self.call = uuid4().hex

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.futures.clear()  # the workers forget them

    def start(self, done: int, total: int) -> None:
        """See `Progress`."""
        self.began_at, self.total = done, total
        self.terminal.start(done, total)

    def update(self, done: int, count: int) -> None:
        """See `Progress`."""
        self.terminal.update(done, count)
        self._reach(100 * (done - self.began_at) // max(1, self.total - self.began_at))

    def finish(self, done: int) -> None:
        """See `Progress`."""
        self.terminal.finish(done)
        self._reach(100)

    def _reach(self, percent: int) -> None:
        new = range(len(self.futures), min(percent, 100))
        if new:
            self.futures += self.client.map(_nothing, new, key=[f"ubpe-percent-{self.call}-{i}" for i in new])


def _nothing(_: int) -> None:
    """Done at once."""
