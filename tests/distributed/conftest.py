"""Clusters of real processes: one that all tests of a process share, and ones of their own for tests that kill."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

pytest.importorskip("distributed")


@contextmanager
def started(n_workers: int = 2) -> Iterator[Any]:
    """A client, which is nobody's default, of a cluster of processes with one thread each."""
    import dask
    from distributed import Client, LocalCluster

    with dask.config.set({"distributed.comm.timeouts.connect": "3s"}):  # a worker that waits for one that died waits so long
        cluster = LocalCluster(
            n_workers=n_workers,
            processes=True,
            threads_per_worker=1,
            memory_limit=0,
            silence_logs="CRITICAL",  # workers are killed and tasks fail on purpose
            dashboard_address=":0",
            scheduler_kwargs={"dashboard": False},
        )
    client = Client(cluster, set_as_default=False)
    try:
        yield client
    finally:
        client.close()
        cluster.close()


@pytest.fixture(scope="session")
def client() -> Iterator[Any]:
    """A client of two worker processes, which nothing kills."""
    with started() as made:
        yield made


@pytest.fixture
def mortal() -> Iterator[Any]:
    """A client of two worker processes of this test alone, which may be killed; a nanny starts others in their place."""
    with started() as made:
        yield made


def pids(client: Any) -> dict[str, int]:
    """The process of each worker, by its address."""
    return dict(client.run(os.getpid))
