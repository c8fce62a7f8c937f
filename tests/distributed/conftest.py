"""Clusters of real processes: one that all tests of a process share, and ones of their own for tests that kill."""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from distributed_cluster import started

pytest.importorskip("distributed")


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
