"""Workers that have another version of the library get no task, whenever they join, and are named."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from dask import delayed
from distributed_cluster import started
from polling import eventually

import ubpe_numba
from ubpe_numba import BPE
from ubpe_numba.distributed import encode
from ubpe_numba.distributed.cluster import BUILD

pytestmark = [pytest.mark.xdist_group("cluster"), pytest.mark.filterwarnings("ignore:client. the worker:UserWarning")]

#: An encode that is wrong, and says so in no other way.
_OTHER = """
__version__ = "0.0.1"
from ubpe_numba.tokenizers.base import Tokenizer
_right = Tokenizer.encode_batch
def _wrong(self, *args, **options):
    found = _right(self, *args, **options)
    found.values[...] += 1
    return found
Tokenizer.encode_batch = _wrong
"""


@contextmanager
def other_worker(client: Any, folder: Path) -> Iterator[str]:
    """A worker process with another version of the library, its address."""
    if not folder.exists():
        source = Path(ubpe_numba.__file__).parent
        shutil.copytree(source, folder / "ubpe_numba", ignore=shutil.ignore_patterns("__pycache__"))
        with open(folder / "ubpe_numba" / "__init__.py", "a") as file:
            file.write(_OTHER)
    command = [sys.executable, "-P", "-m", "distributed.cli.dask_worker", client.scheduler.addr, "--no-nanny", "--nthreads", "1"]
    before = set(client.scheduler_info(n_workers=-1)["workers"])
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    worker = subprocess.Popen([*command, "--no-dashboard"], env=environment, cwd=folder, stderr=subprocess.DEVNULL)
    try:
        assert eventually(lambda: set(client.scheduler_info(n_workers=-1)["workers"]) - before)
        yield next(iter(set(client.scheduler_info(n_workers=-1)["workers"]) - before))
    finally:
        worker.kill()
        worker.wait()


def _slowly(docs: list[str]) -> list[str]:
    time.sleep(0.1)
    return docs


@contextmanager
def encoding(client: Any, n: int) -> Iterator[None]:
    """An encode of n partitions at work in a thread; it has given the right ids at the end."""
    docs = [["ab", "b" * i] for i in range(n)]
    tok = BPE.from_merges([[0, 1]], alphabet="ab")
    found: list[Any] = []
    parts = [delayed(_slowly)(part) for part in docs]
    thread = threading.Thread(target=lambda: found.append(encode(tok, parts, client=client)))
    thread.start()
    assert eventually(lambda: any(client.processing().values()))
    yield
    thread.join(120)
    assert found == [tok.encode_batch([doc for part in docs for doc in part])]


def test_a_worker_of_another_version_that_joins_late_gets_no_task(tmp_path: Path) -> None:
    tok = BPE.from_merges([[0, 1]], alphabet="ab")
    with started(1) as client, ExitStack() as stack:
        with encoding(client, 60):
            other = stack.enter_context(other_worker(client, tmp_path / "other"))
        assert client.run(lambda dask_worker: dask_worker.state.executed_count, workers=[other]) == {other: 0}
        with pytest.warns(UserWarning, match=rf"the worker {other} on host \S+ has ubpe-numba 0\.0\.1, .*: it gets no task"):
            assert encode(tok, [["ab"]], client=client).to_lists() == [[2]]  # type: ignore[union-attr]
        client.cluster.scale(0)
        assert eventually(lambda: len(client.scheduler_info(n_workers=-1)["workers"]) == 1)
        with pytest.raises(RuntimeError, match=rf"the worker {other} .* has ubpe-numba 0\.0\.1, .*; expected {BUILD}"):
            encode(tok, [["ab"]], client=client)


def test_tasks_wait_for_a_worker_that_joins_when_all_are_lost() -> None:
    with started(1) as client, encoding(client, 40):
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)  # its nanny starts another one


def test_a_worker_that_joins_gets_tasks() -> None:
    with started(1) as client, encoding(client, 150):
        first = set(client.scheduler_info(n_workers=-1)["workers"])
        client.cluster.scale(2)
        assert eventually(lambda: any(client.processing().get(where) for where in client.processing().keys() - first))
