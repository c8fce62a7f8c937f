"""The cluster that the work runs on: the user's `Client`, or processes on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distributed import Client


def require_dask() -> None:
    """Raise ImportError, with the command that installs it, where dask or distributed is not there."""
    try:
        import dask
        import distributed  # noqa: F401
    except ImportError as error:
        raise ImportError("ubpe_numba.distributed needs dask: pip install 'ubpe-numba[dask]'") from error


@contextmanager
def using(client: Client | None) -> Iterator[Client]:
    """The given client, or one of a cluster of processes on this machine, which is closed at the end."""
    from distributed import Client, LocalCluster

    if client is not None:
        yield client
        return
    with LocalCluster(processes=True, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as made:
        yield made
