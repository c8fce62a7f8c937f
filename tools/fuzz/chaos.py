"""Chaos on a cluster: fits with a checkpoint and encodes from S3 to S3, while workers, the scheduler and the store fail.

Six worker processes. Every few seconds one is killed and another one joins, one is stopped by SIGSTOP for a
while, a worker of another version joins, or the scheduler is killed with all workers, after which the same
call is made again. The store answers some requests with errors, late, or in part. Every model and every file
is compared with those of one process; exit code 1 if one differs, or a call does not end.

    python tools/fuzz/chaos.py --minutes 20 --seed 1
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from random import Random
from typing import Any

if __name__ == "__main__":
    sys.path[:0] = [str(pathlib.Path(__file__).parents[2] / name) for name in ("tools", "tests", "")]

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from distributed import Client
from s3_server import serving

from ubpe_numba import BPE, distributed

ROOT = pathlib.Path(__file__).parents[2]
N_WORKERS = 6
OTHER = """
__version__ = "0.0.1"
from ubpe_numba.tokenizers.base import Tokenizer
def _wrong(self, *args, **options):
    raise SystemExit("a worker of another version works")
Tokenizer.encode_batch = _wrong
"""


class Cluster:
    """A scheduler and workers as processes, which may be killed at any time."""

    def __init__(self, folder: pathlib.Path, rng: Random) -> None:
        self.folder, self.rng, self.lock, self.did = folder, rng, threading.Lock(), Counter[str]()
        self.workers: list[subprocess.Popen[bytes]] = []
        self.others: list[subprocess.Popen[bytes]] = []
        shutil.copytree(
            ROOT / "ubpe_numba", folder / "other" / "ubpe_numba", ignore=shutil.ignore_patterns("__pycache__")
        )
        with open(folder / "other" / "ubpe_numba" / "__init__.py", "a") as file:
            file.write(OTHER)
        self.begin()

    def begin(self) -> None:
        """Start all processes, at a new address."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        port = self.address.rpartition(":")[2]
        self.scheduler = self._start(
            "dask_scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard"
        )
        self.workers = [self.worker() for _ in range(N_WORKERS)]

    def worker(self, path: pathlib.Path = ROOT) -> subprocess.Popen[bytes]:
        """Start a worker, with the library of this folder."""
        options = (
            "--nthreads",
            "1",
            "--no-nanny",
            "--no-dashboard",
            "--memory-limit",
            "0",
            "--local-directory",
            str(self.folder),
        )
        return self._start("dask_worker", self.address, *options, path=path)

    def _start(self, module: str, *arguments: str, path: pathlib.Path = ROOT) -> subprocess.Popen[bytes]:
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(path), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]),
        }
        command = [sys.executable, "-P", "-m", f"distributed.cli.{module}", *arguments]
        return subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def end(self) -> None:
        """Kill all processes."""
        for process in (self.scheduler, *self.workers, *self.others):
            process.kill()
            process.wait()
        self.workers, self.others = [], []

    def fault(self, stopped: float) -> None:
        """Do one thing that happens."""
        with self.lock:
            what = self.rng.choices(
                ["kill", "stop", "join", "leave", "other", "scheduler"], [4, 2, 2, 2, 2, 1]
            )[0]
            self.did[what] += 1
            k = self.rng.randrange(len(self.workers))
            if what == "scheduler":
                self.end()
                self.begin()
            elif what == "other":
                self.others.append(self.worker(self.folder / "other"))
            elif what == "join":
                self.workers.append(self.worker())
            elif what == "stop":
                process = self.workers[k]
                process.send_signal(signal.SIGSTOP)
                threading.Timer(stopped, process.send_signal, [signal.SIGCONT]).start()
            elif what == "kill" or len(self.workers) > 2:
                self.workers[k].kill()
                self.workers[k].wait()
                if what == "kill":
                    self.workers[k] = self.worker()
                else:
                    del self.workers[k]


def main() -> int:
    """Run until the time is over; print what happened."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--minutes", type=float, default=20)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--stop", type=float, default=30, help="seconds that a worker is stopped")
    given = options.parse_args()
    warnings.simplefilter("ignore")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # each lost connection is an error there
    numbers, end, done, failed = (
        np.random.default_rng(given.seed),
        time.monotonic() + 60 * given.minutes,
        Counter[str](),
        0,
    )
    docs = [numbers.integers(0, 6, numbers.integers(0, 6000)).tolist() for _ in range(480)]
    with tempfile.TemporaryDirectory() as folder, serving(0.02) as environment:
        os.environ.update(environment)
        store = fsspec.filesystem("s3")
        for i in range(24):
            with store.open(f"s3://bucket/in/{i}.parquet", "wb") as file:
                pq.write_table(
                    pa.table({"doc": pa.array(docs[20 * i : 20 * i + 20], pa.list_(pa.int32()))}), file
                )
        want = BPE(2000, alphabet=6).fit(docs, progress=False)
        ids = want.encode_batch(docs).to_lists()
        cluster = Cluster(pathlib.Path(folder), Random(given.seed))
        ended = threading.Event()

        def disturb() -> None:
            rng = Random(given.seed)
            while not ended.wait(rng.uniform(3, 12)):
                cluster.fault(given.stop)

        thread = threading.Thread(target=disturb)
        thread.start()

        def until_done(work: Any) -> Any:
            for _ in range(200):
                try:
                    with cluster.lock:
                        address = cluster.address
                    with Client(address, set_as_default=False, timeout=20) as client:
                        client.wait_for_workers(1, timeout=60)
                        return work(client)
                except (OSError, RuntimeError, TimeoutError) as error:
                    done[f"again after {type(error).__name__}"] += 1
                    print(f"  {type(error).__name__}: {str(error)[:200]}", flush=True)
            raise SystemExit("a call does not end")

        try:
            while time.monotonic() < end:
                number = done["fits"]
                saved, out = f"s3://bucket/{number}.npz", f"s3://bucket/out{number}"
                source: dict[str, Any] = {"column": "doc", "progress": False}

                def fit(client: Client, saved: str = saved, source: Any = source) -> Any:
                    return distributed.fit(
                        BPE(2000, alphabet=6), "s3://bucket/in", client, checkpoint=saved, **source
                    )

                def encode(client: Client, out: str = out, source: Any = source) -> Any:
                    return distributed.encode(
                        want, "s3://bucket/in", out, client=client, blocksize=1, **source
                    )

                failed += until_done(fit).fingerprint != want.fingerprint
                files = until_done(encode)
                found = [pq.ParquetFile(store.open(file)).read()["ids"].to_pylist() for file in files]
                failed += [row for part in found for row in part] != ids
                names = {name.rpartition("/")[2] for name in store.ls(out)}
                failed += names != {"_ubpe.json", *(file.rpartition("/")[2] for file in files)}
                done["fits"] += 1
                print(f"{dict(done)}, {dict(cluster.did)}, wrong: {failed}", flush=True)
        finally:
            ended.set()
            thread.join()
            with contextlib.suppress(ProcessLookupError):
                cluster.end()
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
