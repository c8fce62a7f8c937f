"""Predicts what a fit takes on more cores than there are: it runs with the pieces of k threads, all in one, then is scheduled.

`python benchmarks/scaling.py text:5/BPE/1000` prints the predicted speed-ups of 1, 2, 4, ... 64 threads for
the names of a corpus, a job and a number of tokens (see `JOBS`); with `--parts` also where the time goes.
`--real` measures one and two threads beside what is predicted for two; `--least` guards a prediction in
continuous integration (.ci/run).

The model: T threads take the pieces of a job in order, each as soon as it is free. A job of the rounds costs
a hand-off of 0.3 + 0.15 * T µs beside its longest piece, a task of the pool 5 µs. What is not in pieces is
serial. Seconds are processor time of the one thread, so that other processes do not count. The pieces share
the caches of one core here, and the bandwidth of memory is not modelled.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import heapq
import pathlib
import sysconfig
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from suite import common

import ubpe_numba
from ubpe_numba import BPE, UBPE
from ubpe_numba.fitting import text
from ubpe_numba.fitting.kernels import rounds
from ubpe_numba.runtime import arrays, thread_pool

THREADS = (1, 2, 4, 8, 16, 32, 64)
_TASK = 5e-6  # seconds to begin a task of the pool


class Parts(NamedTuple):
    """Seconds of a fit: predicted in all, serial, the critical paths of tasks and of the jobs of rounds, hand-offs, megabytes."""

    total: float
    serial: float
    tasks: float
    fill: float
    merge: float
    account: float
    handing: float
    jobs: int
    megabytes: float


@functools.cache
def corpus(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Flat symbols and offsets: `text:20`, 20 million symbols of Python sources by lines; `dna:4.9`, a genome, one document."""
    kind, _, millions = name.partition(":")
    n = int(float(millions) * 1e6)
    if kind == "dna":
        values = common.load("dna").values[:n]
        return values, np.array([0, values.size])
    values = np.frombuffer(_sources(n), np.uint8)
    ends = np.flatnonzero(values == 10) + 1
    return values, np.unique(np.concatenate([[0], ends, [values.size]]))


def _sources(n: int) -> bytes:
    """Python sources of the standard library and the packages, in a seeded order."""
    folders = {sysconfig.get_paths()[name] for name in ("stdlib", "purelib")}
    files = sorted({path for folder in folders for path in pathlib.Path(folder).rglob("*.py")})
    parts: list[bytes] = []
    for i in np.random.default_rng(7).permutation(len(files)):
        parts.append(files[i].read_bytes())
        if (n := n - len(parts[-1])) <= 0:
            return b"".join(parts)[: n or None]
    raise SystemExit(f"{n} bytes of sources are missing")


def scheduled(seconds: np.ndarray, threads: int) -> float:
    """When the last of the tasks ends that `threads` take in order."""
    free = [0.0] * min(threads, len(seconds))
    for task in seconds:
        heapq.heappush(free, heapq.heappop(free) + task + _TASK)
    return max(free)


#: What is timed: a fit of integers or text (lines, or one str), or the encoding of all as one document.
JOBS = {
    "BPE": lambda n, threads: BPE(n, n_threads=threads),
    "UBPE": lambda n, threads: UBPE(n, 50, objective="shortest", n_threads=threads),
    "words": lambda n, threads: BPE.for_text(n, pretokenizer="cl100k", n_threads=threads),
}
JOBS |= {"str": JOBS["words"], "document-BPE": JOBS["BPE"], "document-UBPE": JOBS["UBPE"]}


@functools.cache
def _text(name: str) -> str:
    return corpus(name)[0].tobytes().decode("utf-8", "replace")


@functools.cache
def _fitted(name: str, kind: str, n_tokens: int) -> Any:
    values, offsets = corpus(name)
    n = int(offsets[np.searchsorted(offsets, min(values.size, 1_000_000), "right") - 1]) or values.size
    return JOBS[kind](n_tokens, 1).fit(values[:n], offsets=offsets[offsets <= n], progress=False)


def job(name: str, kind: str, n_tokens: int, threads: int) -> Callable[[], str]:
    """A call to be timed, which returns a digest of its result."""
    values, offsets = corpus(name)
    tok = JOBS[kind](n_tokens, threads)
    if kind.startswith("document"):
        tok = _fitted(name, kind, n_tokens).set_params(n_threads=threads)
        return lambda: hashlib.sha256(tok.encode(values).tobytes()).hexdigest()
    if kind in ("words", "str"):
        docs = [_text(name)] if kind == "str" else _text(name).splitlines(keepends=True)
        return lambda: tok.fit(docs, progress=False).fingerprint
    return lambda: tok.fit(values, offsets=offsets, progress=False).fingerprint


@contextmanager
def in_one_thread(seconds: list[np.ndarray], traces: list[np.ndarray]) -> Iterator[None]:
    """All work of threads in this one, as if each had a processor: seconds of each task of the pool, and what jobs took."""

    def run(
        function: Callable[[int, int], Any],
        chunks: list[tuple[int, int]],
        n_threads: int | None,
        size: int = 0,
    ) -> list[Any]:
        results, times = [], [time.thread_time()]
        for chunk in chunks:
            results.append(function(*chunk))
            times.append(time.thread_time())
        seconds.append(np.diff(times))
        return results

    def run_rounds(shared: Any, ties: int | None, control: np.ndarray, threads: int) -> int:
        control[:] = 0
        traces.append(np.zeros(3, rounds.JOBS))
        return int(rounds.run(*shared, ties, control, threads, text.BUDGET, traces[-1]))

    names = (
        (arrays, "processors"),
        (thread_pool, "run"),
        (text, "run_rounds"),
        (rounds, "processor_time"),
        (text, "_UNDISTURBED"),
    )
    before = [getattr(*name) for name in names]
    for (module, name), new in zip(
        names, (lambda _: (1 << 12,) * 2, run, run_rounds, processor_time, 0.0), strict=True
    ):
        setattr(module, name, new)
    try:
        yield
    finally:
        for (module, name), old in zip(names, before, strict=True):
            setattr(module, name, old)


@intrinsic
def processor_time(typingctx: Any) -> Any:
    """Microseconds that processors worked for this process, int64, whatever else the machine does."""

    def write(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        clock = ir.FunctionType(ir.IntType(64), ())
        return builder.call(cgutils.get_or_insert_function(builder.module, clock, "clock"), ())

    return types.int64(), write


def predicted(name: str, kind: str, n_tokens: int, threads: int, repeat: int) -> tuple[Parts, str]:
    """What the model says; the smallest of `repeat` runs."""
    best = None
    for _ in range(repeat):
        call, tasks, traces = job(name, kind, n_tokens, threads), [], [np.zeros(3, rounds.JOBS)]
        pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak of memory is now that of today
        with in_one_thread(tasks, traces):
            began = time.thread_time()
            digest = call()
            total = time.thread_time() - began
        n, work, longest = (sum(trace[field] for trace in traces) for field in rounds.JOBS.names)
        serial = total - sum(p.sum() for p in tasks) - work.sum() / 1e6
        critical, handing = sum(scheduled(p, threads) for p in tasks), n.sum() * (0.3e-6 + 0.15e-6 * threads)
        peak = next(
            line
            for line in pathlib.Path("/proc/self/status").read_text().splitlines()
            if line.startswith("VmHWM")
        )
        longest, handed = longest / 1e6, int(n.sum())
        all_of = serial + critical + longest.sum() + handing
        parts = Parts(all_of, serial, critical, *longest, handing, handed, int(peak.split()[1]) / 1e3)
        best = parts if best is None or parts.total < best.total else best
    return best, digest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "fits", nargs="*", help=f"corpus/job/tokens, such as text:20/BPE/8192; jobs: {', '.join(JOBS)}"
    )
    parser.add_argument("--threads", type=int, nargs="+", default=THREADS)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--parts", action="store_true")
    parser.add_argument("--real", action="store_true")
    parser.add_argument(
        "--least", type=float, default=0.0, help="fail where the most threads are predicted to gain less"
    )
    options = parser.parse_args()
    print(f"ubpe_numba {ubpe_numba.__version__}")
    for fit in options.fits:
        name, kind, n_tokens = fit.split("/")
        for threads in (1, 2):
            predicted("text:5", kind, 1000, threads, 1)  # kernels are compiled here
            job("text:5", kind, 1000, threads)()
        corpus(name)
        rows, prints = {}, set()
        for threads in options.threads:
            rows[threads], fingerprint = predicted(name, kind, int(n_tokens), threads, options.repeat)
            prints.add(fingerprint)
            if options.parts:
                print(
                    threads,
                    " ".join(f"{field} {value:.3g}" for field, value in rows[threads]._asdict().items()),
                    flush=True,
                )
        assert len(prints) == 1, "the result depends on the number of threads"
        one = rows[min(rows)].total
        print(
            fit,
            f"{one:.2f} s",
            " ".join(f"{t}: {one / row.total:.2f}" for t, row in rows.items() if t > 1),
            flush=True,
        )
        if one / rows[max(rows)].total < options.least:
            raise SystemExit(
                f"{fit}: expected at least {options.least} on {max(rows)} threads, got {one / rows[max(rows)].total:.2f}"
            )
        if options.real:
            times = {1: [], 2: []}
            for threads in (1, 2) * options.repeat:
                call, began = job(name, kind, int(n_tokens), threads), time.perf_counter()
                call()
                times[threads].append(time.perf_counter() - began)
            print(fit, f"two real threads: {np.median(times[1]) / np.median(times[2]):.2f}", flush=True)


if __name__ == "__main__":
    main()
