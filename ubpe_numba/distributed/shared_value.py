"""A value that every worker has while a call lasts: the scheduler keeps it, and gives it to workers that come later, too.

Were it the result of a task, a worker that fetches it from one that dies would wait for the timeout of connections (30 s).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from distributed import WorkerPlugin, get_worker

if TYPE_CHECKING:
    from distributed import Client


class SharedValue(WorkerPlugin):  # type: ignore[misc]  # of a package without types
    """The value, under a name."""

    def __init__(self, name: str, value: Any) -> None:
        self.name, self.value = name, value


@contextmanager
def shared(client: Client, name: str, value: Any) -> Iterator[None]:
    """Give a value to all workers, to be had by `value_of` in tasks until the block ends.

    Examples
    --------
    >>> from distributed import Client
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0") as client, shared(client, "seven", 7):
    ...     client.submit(value_of, "seven").result()
    7
    """
    client.register_plugin(SharedValue(name, value), name=name)
    try:
        yield
    finally:
        if client.status == "running":
            client.unregister_worker_plugin(name)


def value_of(name: str) -> Any:
    """In a task: the value of this name."""
    return get_worker().plugins[name].value
