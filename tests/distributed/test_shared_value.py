"""A value that workers have, also those that come later, while a call lasts."""

import os
import signal
from typing import Any

import pytest

from ubpe_numba.distributed.cluster import shared, value_of

pytestmark = pytest.mark.xdist_group("cluster")


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_every_worker_has_the_value_until_the_end(client: Any) -> None:
    with shared(client, "seven", 7):
        found = [client.submit(value_of, "seven", workers=[worker], pure=False) for worker in client.run(os.getpid)]
        assert client.gather(found) == [7, 7]
    with pytest.raises(KeyError):
        client.submit(value_of, "seven", pure=False).result()


def test_a_worker_that_comes_later_has_it_too(mortal: Any) -> None:
    with shared(mortal, "eight", 8):
        before = set(mortal.run(os.getpid).values())
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        assert mortal.submit(value_of, "eight", pure=False).result(timeout=60) == 8
        assert not before & set(mortal.run(os.getpid).values())
