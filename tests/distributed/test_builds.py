"""Workers that join, die, and have another version of the library, which get no task and are named."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from dask import delayed
from polling import eventually

import ubpe_numba
from ubpe_numba import BPE
from ubpe_numba.distributed import cluster, encode
from ubpe_numba.distributed.cluster import BUILD

pytestmark = pytest.mark.filterwarnings("ignore:client. the worker:UserWarning")

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


def workers(client: Any) -> dict[str, Any]:
    """The names of workers by their addresses."""
    return {where: info["name"] for where, info in client.scheduler_info(n_workers=-1)["workers"].items()}


@contextmanager
def other_worker(client: Any, folder: Path) -> Iterator[str]:
    """A worker process with another version of the library, its address: known by its name, as any worker may join meanwhile."""
    shutil.copytree(Path(ubpe_numba.__file__).parent, folder / "ubpe_numba")
    with open(folder / "ubpe_numba" / "__init__.py", "a") as file:
        file.write(_OTHER)
    command = [
        sys.executable,
        "-P",
        "-m",
        "distributed.cli.dask_worker",
        client.scheduler.addr,
        "--no-nanny",
        "--nthreads",
        "1",
    ]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    worker = subprocess.Popen([*command, "--no-dashboard", "--name", "other"], env=environment, cwd=folder)
    try:
        assert eventually(lambda: "other" in workers(client).values(), 120)
        yield next(where for where, name in workers(client).items() if name == "other")
    finally:
        worker.kill()
        worker.wait()


def _slowly(docs: list[str], enough: Path) -> list[str]:
    time.sleep(0 if enough.exists() else 0.2)
    return docs


def test_workers_that_join_die_and_are_of_another_version(
    mortal: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.setattr(cluster, "_LOOK", 0.1)  # also while all workers but the foreign one are dead
    docs = [["ab", "b" * i] for i in range(600)]
    tok = BPE.from_merges([[0, 1]], alphabet="ab")
    found: list[Any] = []
    parts = [delayed(_slowly)(part, tmp_path / "enough") for part in docs]
    thread = threading.Thread(target=lambda: found.append(encode(tok, parts, client=mortal)))
    thread.start()
    assert eventually(lambda: any(mortal.processing().values()))
    first = set(workers(mortal))
    with other_worker(mortal, tmp_path / "other") as other:
        mortal.cluster.scale(3)
        assert eventually(
            lambda: any(mortal.processing().get(w) for w in workers(mortal).keys() - first - {other})
        )
        for pid in mortal.run(os.getpid, workers=sorted(workers(mortal).keys() - {other})).values():
            os.kill(pid, signal.SIGKILL)  # tasks wait for the nannies, which start others
        assert eventually(lambda: len(workers(mortal)) == 4 and not workers(mortal).keys() & first)
        (tmp_path / "enough").touch()
        thread.join(120)
        assert found == [tok.encode_batch([doc for part in docs for doc in part])]
        assert mortal.run(lambda dask_worker: dask_worker.state.executed_count, workers=[other]) == {other: 0}
        with pytest.warns(
            UserWarning, match=rf"the worker {other} on host \S+ has ubpe-numba 0\.0\.1, .*: it gets no task"
        ):
            assert encode(tok, [["ab"]], client=mortal).to_lists() == [[2]]  # type: ignore[union-attr]
        mortal.cluster.scale(0)
        assert eventually(lambda: len(workers(mortal)) == 1)
        with pytest.raises(
            RuntimeError, match=rf"the worker {other} .* has ubpe-numba 0\.0\.1, .*, expected {BUILD}"
        ):
            encode(tok, [["ab"]], client=mortal)
