"""Clusters of real processes: one that all tests of a process share, and ones of their own for tests that kill."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
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
    # a worker that waits for one that died waits so long; nobody looks at profiles of workers
    with dask.config.set(
        {"distributed.comm.timeouts.connect": "3s", "distributed.worker.profile.enabled": False}
    ):
        # workers are killed and tasks fail on purpose
        cluster = LocalCluster(
            **size, silence_logs="CRITICAL", dashboard_address=":0", scheduler_kwargs={"dashboard": False}
        )
    client = Client(cluster, set_as_default=False)
    try:
        declare_builds(client)
        yield client
    finally:
        client.close()
        cluster.close()


_open = ExitStack()
_shared: list[Any] = []


@pytest.fixture
def client() -> Any:
    """A client of two worker processes, which nothing kills; it is the same for all tests that ask for it in turn."""
    if not _shared:
        _shared.append(_open.enter_context(_started()))
    return _shared[0]


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Close it when tests of another folder come: idle it takes a tenth of a processor, and opens files and threads meanwhile."""
    if nextitem is None or nextitem.path.parent != item.path.parent:
        _shared.clear()
        _open.close()


@pytest.fixture
def mortal() -> Iterator[Any]:
    """A client of two worker processes of this test alone, which may be killed; a nanny starts others in their place."""
    with _started() as made:
        yield made
