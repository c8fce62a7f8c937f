"""Rows of `machines.py` on clusters of Dask: processes of this machine with one thread each."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import pathlib
import pickle
import signal
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from hosts import Work, corpus_of
from suite import common

from ubpe_numba import BPE, distributed
from ubpe_numba.distributed import cluster as clusters, fitting
from ubpe_numba.distributed.hosts import DaskEngine

_PARTITIONS = 8


@contextmanager
def cluster(n_workers: int) -> Iterator[Any]:
    """A client of so many processes, with their kernels compiled or read."""
    from distributed import Client, LocalCluster

    port = {"dashboard_address": ":0", "scheduler_kwargs": {"dashboard": False}}
    size = {"n_workers": n_workers, "threads_per_worker": 1, "processes": True, "memory_limit": 0}
    with LocalCluster(**size, **port) as made, Client(made, set_as_default=False) as client:
        ecg = common.load("ecg").values[:20_000]
        distributed.fit(BPE(300, alphabet=256), [[ecg]] * n_workers, client, progress=False)
        yield client


class Clocked(DaskEngine):
    """Notes down when a fit began to lay out its text; kills a worker in the middle, if asked."""

    loading = 0.0
    kill_at = 0  # batch; 0: never
    killed = went_on = 0.0
    last: Clocked

    def ask(self, method: str, *args: Any) -> list[Any]:
        """See `DaskEngine`."""
        if method == "load" and not self.loading:
            self.loading = time.perf_counter()
        if method == "step":
            self.batch = getattr(self, "batch", 0) + 1
            if self.batch == Clocked.kill_at and not self.killed:
                pid = self.client.run(os.getpid, workers=[self.where[0]])[self.where[0]]
                self.killed = time.perf_counter()
                os.kill(pid, signal.SIGKILL)
        found = super().ask(method, *args)
        if method == "step" and self.killed and not self.went_on:
            self.went_on = time.perf_counter()
        return found

    def close(self) -> None:
        """See `DaskEngine`."""
        Clocked.last = self
        super().close()


def _slice(path: str, begin: int, end: int) -> np.ndarray:
    """Symbols of a file, in a worker."""
    return np.array(np.load(path, mmap_mode="r")[begin:end])


def _array(path: str, size: int) -> Any:
    """A file of symbols as a 1-D dask.array: one document."""
    import dask.array as da
    from dask import delayed

    cuts = [size * i // _PARTITIONS for i in range(_PARTITIONS + 1)]
    read = delayed(_slice)
    parts = [da.from_delayed(read(path, a, b), (b - a,), np.uint8) for a, b in itertools.pairwise(cuts)]
    return da.concatenate(parts)


def _reset_peak() -> int:
    """Forget the peak of this process's memory; what it has now."""
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    return _memory("VmRSS")


def _peak() -> int:
    return _memory("VmHWM")


def _memory(what: str) -> int:
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.partition(what + ":")[2].split()[0]) * 1024


def _large(name: str, n_symbols: int) -> Work:
    """A corpus of so many symbols as one document, repeated where there are fewer."""
    work = corpus_of(name, n_symbols)
    times = -(-n_symbols // work.values.size)
    return work._replace(values=np.tile(work.values, times)[:n_symbols]).one()


def _fit_there(path: str, work: Work, n_tokens: int, client: Any) -> tuple[float, float, Any]:
    """Seconds of a whole fit, and from the moment when workers have read their partitions; the tokenizer."""
    fitting.DaskEngine = Clocked  # type: ignore[misc]
    began = time.perf_counter()
    tok = BPE(n_tokens, alphabet=work.alphabet_size)
    distributed.fit(tok, _array(path, work.values.size), client, progress=False)
    done = time.perf_counter()
    return done - began, done - Clocked.last.loading, tok


def _touch(n_bytes: int) -> None:
    """Use memory and give it back: where the host of a virtual machine takes free memory away the first use costs seconds."""
    np.ones(n_bytes, np.uint8)


def _fit_here(path: str, n_tokens: int, alphabet: int, answer: Any) -> None:
    """Seconds of a fit on two threads without and with reading, and the model's fingerprint; in a process of its own."""
    # reads kernels
    BPE(n_tokens, alphabet=alphabet, n_threads=2).fit(np.load(path)[:2_000_000], progress=False)
    _touch(14 * np.load(path, mmap_mode="r").size)
    began = time.perf_counter()
    values = np.load(path)
    read = time.perf_counter() - began
    tok = BPE(n_tokens, alphabet=alphabet, n_threads=2).fit(values, progress=False)
    done = time.perf_counter() - began
    answer.put((done - read, done, tok.fingerprint))


def fit(quick: bool) -> None:
    """A fit on two worker processes against two threads of one, in turn, all of them new processes."""
    sizes = [("dna", 4096, 200_000_000, 5), ("python", 8192, 200_000_000, 5), ("dna", 4096, 1_000_000_000, 2)]
    if quick:
        sizes = [(name, n_tokens, 10_000_000, 1) for name, n_tokens, _, _ in sizes[:2]]
    print(
        "| corpus, one document | symbols | tokens | 2 threads here, s | with reading | 2 workers, s | with reading | ratio |",
        end="",
    )
    print(
        " with reading | synchronisations | MB from a worker | peak of a worker, B a symbol |\n|"
        + " --- |" * 12
    )
    spawn = multiprocessing.get_context("spawn")
    for name, n_tokens, n_symbols, repeat in sizes:
        work = _large(name, n_symbols)
        with tempfile.TemporaryDirectory() as folder:
            np.save(path := os.path.join(folder, f"{name}.npy"), work.values)
            rounds, peak = [], 0
            for _ in range(repeat):
                answer = spawn.SimpleQueue()
                process = spawn.Process(target=_fit_here, args=(path, n_tokens, work.alphabet_size, answer))
                process.start()
                alone_here, whole_here, fingerprint = answer.get()
                process.join()
                with cluster(2) as client:
                    np.save(small := os.path.join(folder, "small.npy"), work.values[:2_000_000])
                    _fit_there(small, work._replace(values=work.values[:2_000_000]), n_tokens, client)
                    client.run(_touch, 7 * n_symbols)
                    before = client.run(_reset_peak)
                    whole, alone, there = _fit_there(path, work, n_tokens, client)
                    peak = max(peak, *(after - before[w] for w, after in client.run(_peak).items()))
                if fingerprint != there.fingerprint:
                    raise AssertionError(f"{name}: another model")
                rounds.append((alone_here, whole_here, alone, whole, alone_here / alone, whole_here / whole))
            times = [statistics.median(column) for column in zip(*rounds, strict=True)]
            engine = Clocked.last
            row = (work.name, f"{n_symbols:,}", f"{n_tokens:,}", *(f"{t:.2f}" for t in times), engine.rounds)
            row += (f"{engine.received / engine.n / 1e6:.1f}", f"{2 * peak / n_symbols:.1f}")
            print("| " + " | ".join(map(str, row)) + " |", flush=True)


def recovery(quick: bool) -> None:
    """A worker killed in the middle of a fit."""
    n_symbols = 10_000_000 if quick else 100_000_000
    print(
        "| corpus, one document | symbols | tokens | batches | killed at | fit, s | with the kill, s |",
        end="",
    )
    print(" from the kill to the next batch, s |")
    print("|" + " --- |" * 8)
    for name, n_tokens in (("dna", 4096), ("python", 8192), ("wav", 4096)):
        with cluster(2) as client, tempfile.TemporaryDirectory() as folder:
            work, path = _large(name, n_symbols), os.path.join(folder, f"{name}.npy")
            np.save(path, work.values)
            whole, _, tok = _fit_there(path, work, n_tokens, client)
            batches = Clocked.last.batch
            Clocked.kill_at = batches // 2
            try:
                again, _, same = _fit_there(path, work, n_tokens, client)
            finally:
                Clocked.kill_at = 0
            if tok.fingerprint != same.fingerprint:
                raise AssertionError(f"{name}: another model")
            engine = Clocked.last
            row = (
                work.name,
                f"{n_symbols:,}",
                f"{n_tokens:,}",
                batches,
                batches // 2,
                f"{whole:.1f}",
                f"{again:.1f}",
            )
            print("| " + " | ".join(map(str, row)) + f" | {engine.went_on - engine.killed:.1f} |", flush=True)


def _tables(folder: str, quick: bool) -> Iterator[tuple[str, Any, int, Any]]:
    """Corpora as Parquet files, a partition each: name, tokenizer, symbols or bytes, and the documents of each file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for name, n_symbols in (("dna", 60_000_000), ("wav", 60_000_000), ("python", 200_000_000)):
        work = corpus_of(name, n_symbols // 10 if quick else n_symbols)
        if name == "python":
            texts = [
                work.values[a:b].tobytes().decode("utf-8", "replace")
                for a, b in zip(work.offsets, work.offsets[1:], strict=False)
            ]
            tok = BPE.for_text(32_768, pretokenizer="o200k", n_threads=1).fit(texts[::8], progress=False)
            docs = pa.array(texts, pa.large_string())
        else:
            base = common.load(name)
            tok = BPE(4096, alphabet=work.alphabet_size, n_threads=1).fit(
                base.values, offsets=base.offsets, progress=False
            )
            docs = pa.LargeListArray.from_arrays(work.offsets, pa.array(work.values.astype(np.int32)))
        cuts = [len(docs) * i // _PARTITIONS for i in range(_PARTITIONS + 1)]
        parts = [docs.slice(a, b - a) for a, b in itertools.pairwise(cuts)]
        os.mkdir(os.path.join(folder, name))
        for i, part in enumerate(parts):
            pq.write_table(pa.table({"docs": part}), os.path.join(folder, name, f"{i}.parquet"))
        yield work.name, tok, work.values.size, parts


def encode(quick: bool) -> None:
    """Parquet to Parquet on one and two workers, against `encode_batch` on the same partitions in memory, in turn."""
    print(
        "| corpus | symbols | encode_batch here, one thread, M/s | 1 worker, M/s | of that | 2 workers, M/s a worker | of that |",
        end="",
    )
    print(" 2 workers / 1 |\n|" + " --- |" * 8)
    with tempfile.TemporaryDirectory() as folder, cluster(1) as one, cluster(2) as two:
        for name, tok, size, parts in _tables(folder, quick):
            source = os.path.join(folder, name.split(" ")[0])
            rounds = []
            for i in range(2 if quick else 4):
                fresh = pickle.loads(pickle.dumps(tok))  # no words in its cache
                began = time.perf_counter()
                for part in parts:
                    fresh.encode_batch(part)
                times = [time.perf_counter() - began]
                for client in (one, two):
                    client.run(_forget)
                    began = time.perf_counter()
                    target = os.path.join(folder, f"{name}-{i}-{len(times)}")
                    distributed.encode(tok, source, target, client=client, progress=False, drop=True)
                    times.append(time.perf_counter() - began)
                rounds.append(times)
            here, single, double = (
                size / statistics.median(column) / 1e6 for column in zip(*rounds[1:], strict=True)
            )
            row = (
                f"{here:.1f}",
                f"{single:.1f}",
                f"{single / here:.2f}",
                f"{double / 2:.1f}",
                f"{double / 2 / here:.2f}",
            )
            print(f"| {name} | {size:,} | " + " | ".join(row) + f" | {double / single:.2f} |", flush=True)


def _forget() -> None:
    """Words that encoders of a worker remember."""
    clusters._loaded.cache_clear()


class Echo:
    """A host that does nothing."""

    def __init__(self, k: int) -> None:
        self.k = k

    def step(self, a: np.ndarray, size: int) -> np.ndarray:
        """An array of so many bytes."""
        return np.zeros(size, np.uint8)


def latency(quick: bool) -> None:
    """Messages without work: one synchronisation, and the processor time that it takes here."""
    from dask import delayed

    cells = [(n, n, size, size) for n in (2, 4) for size in (64, 100_000, 4_000_000)]
    cells += [(2, n, 1500, 30_000) for n in (8, 32, 128)]
    print(
        "| workers | hosts | bytes to each | from each | median, ms | 95th percentile, ms | processor time of the driver, ms |"
    )
    print("|" + " --- |" * 7)
    for n_workers in (2, 4):
        with cluster(n_workers) as client:
            for workers, n, to, back in cells:
                if workers != n_workers:
                    continue
                engine, times, message = (
                    DaskEngine(client, [delayed(Echo)(k) for k in range(n)]),
                    [],
                    np.zeros(to, np.uint8),
                )
                repeat = 20 if quick or to > 1e6 or n > 8 else 200
                for i in range(repeat + 3):
                    if i == 3:
                        used = time.process_time()
                    began = time.perf_counter()
                    engine.ask("step", message, back)
                    times.append(1e3 * (time.perf_counter() - began))
                used = 1e3 * (time.process_time() - used) / repeat
                engine.close()
                times = sorted(times[3:])
                row = (n_workers, n, f"{to:,}", f"{back:,}", f"{statistics.median(times):.2f}")
                row += (f"{times[int(0.95 * len(times))]:.2f}", f"{used:.2f}")
                print("| " + " | ".join(map(str, row)) + " |", flush=True)
