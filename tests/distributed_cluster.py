"""Clusters of real worker processes."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def started(n_workers: int = 2) -> Iterator[Any]:
    """A client, which is nobody's default, of a cluster of processes with one thread each."""
    import dask
    from distributed import Client, LocalCluster

    from ubpe_numba.distributed.cluster import declare_builds

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
        declare_builds(client)
        yield client
    finally:
        client.close()
        cluster.close()
