"""Clusters of real processes: one that all tests of a process share, and ones of their own for tests that kill."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

pytest.importorskip("distributed")


@contextmanager
def _started() -> Iterator[Any]:
    """A client, which is nobody's default, of a cluster of two processes with one thread each."""
    import dask
    from distributed import Client, LocalCluster

    from ubpe_numba.distributed.cluster import declare_builds

    size = {"n_workers": 2, "processes": True, "threads_per_worker": 1, "memory_limit": 0}
    with dask.config.set({"distributed.comm.timeouts.connect": "3s"}):  # a worker that waits for one that died waits so long
        # workers are killed and tasks fail on purpose
        cluster = LocalCluster(**size, silence_logs="CRITICAL", dashboard_address=":0", scheduler_kwargs={"dashboard": False})
    client = Client(cluster, set_as_default=False)
    try:
        declare_builds(client)
        yield client
    finally:
        client.close()
        cluster.close()


@pytest.fixture(scope="session")
def client() -> Iterator[Any]:
    """A client of two worker processes, which nothing kills."""
    with _started() as made:
        yield made


@pytest.fixture
def mortal() -> Iterator[Any]:
    """A client of two worker processes of this test alone, which may be killed; a nanny starts others in their place."""
    with _started() as made:
        yield made
