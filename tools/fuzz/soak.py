"""Soak: eight threads fit, encode, decode, save, load, refine and count for half an hour, while faults come and go.

Faults in turns: none, little memory (RLIMIT_AS), threads refused (RLIMIT_NPROC), a full disk, a limit of file
sizes, jumps of the clock, signals every 10 ms with Ctrl-C now and then, forks. Results are compared with
those of one thread before, and with the plain references. After each fault all jobs pause, and memory,
descriptors, threads and files are looked at. Any wrong result, error that a fault does not explain, hang,
leak, or file that is left behind or not whole is a finding; exit code 1 if there is any.

    python tools/fuzz/soak.py --minutes 30 --seed 1
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import faulthandler
import gc
import hashlib
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections import Counter
from random import Random
from typing import NamedTuple

if __name__ == "__main__":
    sys.path[:0] = [str(pathlib.Path(__file__).parents[2] / name) for name in ("tools", "tests", "")]

from fuzz.soak_faults import FAULTS, MIB, Fault, Place, after, give_back_memory
from fuzz.soak_work import JOBS, prepare

import ubpe_numba

N_THREADS = 8
HANGS = 180.0  # seconds that no job takes
LEAK = 24 * MIB  # more at the end than in the beginning
# minutes: shorter runs compile no kernels on a full disk, nor is memory flat: each thread fills caches of its
# own
LONG = 4.0
WARM_UP = 60.0  # seconds of a long run before the first fault

COLD = """
import sys, warnings
from ubpe_numba import BPE
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    tok = BPE.from_merges([[0, 1], [2, 0], [3, 2]], alphabet="ab")
    ids = tok.encode("abababbaab" * 20)
assert tok.decode(ids) == "abababbaab" * 20
print([w.category.__name__ for w in told], len(ids))
"""


class Sample(NamedTuple):
    """What the process holds while no job runs."""

    seconds: float
    fault: str  # the one that has just ended
    rss: int
    descriptors: int
    threads: int


class Workers:
    """Threads that do one random job after the other, but for when they pause."""

    def __init__(self, place: Place, seed: int, fault: Fault) -> None:
        self.place, self.fault = place, fault
        self.paused = self.ended = False
        self.busy = [False] * N_THREADS
        self.began = [time.monotonic()] * N_THREADS
        self.job = [""] * N_THREADS
        self.done: list[Counter[tuple[str, str]]] = [Counter() for _ in range(N_THREADS)]  # by fault and job
        # by fault and error
        self.failed: list[Counter[tuple[str, str]]] = [Counter() for _ in range(N_THREADS)]
        self.threads = [
            threading.Thread(target=self._run, args=(i, Random(seed * 1000 + i))) for i in range(N_THREADS)
        ]
        for thread in self.threads:
            thread.start()

    def pause(self) -> None:
        """Return when no job runs; TimeoutError if one hangs."""
        self.paused = True
        while any(self.busy):
            for i, (busy, began) in enumerate(zip(self.busy, self.began, strict=True)):
                if busy and time.monotonic() - began > HANGS:
                    raise TimeoutError(f"{self.job[i]} has been running for {HANGS:.0f} s")
            time.sleep(0.005)

    def go_on(self, fault: Fault) -> None:
        """Work while a fault is there."""
        self.fault, self.paused = fault, False

    def end(self) -> None:
        """Stop, when paused."""
        self.ended = True
        for thread in self.threads:
            thread.join()

    def _run(self, i: int, rng: Random) -> None:
        while not self.ended:
            # the limit of memory may come at any instruction, of this loop too; what a job raises is dealt
            # with inside
            with contextlib.suppress(MemoryError):
                self.busy[i] = True
                if self.paused:
                    self.busy[i] = False
                    time.sleep(0.005)
                    continue
                self._one(i, rng)

    def _one(self, i: int, rng: Random) -> None:
        fault, job = self.fault, rng.choice(JOBS)
        self.job[i], self.began[i] = job.__name__, time.monotonic()
        try:
            job(self.place.work, rng, rng.choice([self.place.models, self.place.small]))
            self.done[i][fault.name, job.__name__] += 1
        except BaseException as error:
            if not fault.allows(error):
                self.place.find(f"{fault.name}, {job.__name__}: {traceback.format_exc()}")
            self.failed[i][fault.name, type(error).__name__] += 1


def sample(began: float, fault: str) -> Sample:
    """Look at the process, when no job runs."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    rss = int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
    descriptors = len(os.listdir("/proc/self/fd")) - 1  # the folder itself
    return Sample(time.monotonic() - began, fault, rss, descriptors, len(os.listdir("/proc/self/task")))


def leaks(samples: list[Sample], of_memory: bool = True) -> list[str]:
    """What grows: of samples behind the warm-up, the last quarter above the first.

    >>> few, more = ([Sample(i, "none", 10**8, 5 + i * k, 9) for i in range(8)] for k in (0, 1))
    >>> leaks(few), leaks(more)
    ([], ['descriptors: from 6 to 11'])
    """
    part = max(1, len(samples) // 4)
    first, last = samples[:part], samples[-part:]
    found = []
    for name in ("descriptors", "threads"):
        was, now = max(getattr(s, name) for s in first), min(getattr(s, name) for s in last)
        if now > was:
            found.append(f"{name}: from {was} to {now}")
    was, now = statistics.median(s.rss for s in first), statistics.median(s.rss for s in last)
    if of_memory and now > was + LEAK:
        found.append(f"memory: from {was / MIB:.0f} to {now / MIB:.0f} MiB")
    return found


class ColdCache:
    """A fresh process that compiles kernels where the disk of the kernel cache is full; its results, and what it leaves."""

    def __init__(self, place: Place) -> None:
        self.place, self.folder = place, place.small.parent / "cache"
        environment = {**os.environ, "UBPE_CACHE_DIR": str(self.folder)}
        command = [sys.executable, "-c", COLD]
        self.process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def check(self) -> None:
        """Wait for it; findings."""
        try:
            out, _ = self.process.communicate(timeout=HANGS * 3)
        except subprocess.TimeoutExpired:
            self.process.kill()
            out, _ = self.process.communicate()
        kept = list(self.folder.iterdir()) if self.folder.exists() else []
        if self.process.returncode or not out.startswith("["):
            self.place.find(f"kernel cache: exit code {self.process.returncode}: {out}")
        for path in kept:
            data = path.read_bytes()
            if path.suffix != ".nbc" or hashlib.sha256(data[32:]).digest() != data[:32]:
                self.place.find(f"kernel cache: {path.name} is left behind, or not whole")
            path.unlink()
        self.place.happened["cold caches on full disks"] += 1
        self.place.happened["of them told by a warning"] += "RuntimeWarning" in out
        if self.folder.exists():
            self.folder.rmdir()


def soak(minutes: float, seed: int, root: pathlib.Path, names: list[str] | None = None) -> list[str]:
    """Run, with the faults of these names or with all; the findings."""
    warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
    give_back_memory()
    ubpe_numba.warmup()
    place = Place(prepare(seed), root, seed)
    faults = []
    for kind in (kind for kind in FAULTS if names is None or kind.name in names):
        if (fault := kind(place)).missing is None:
            faults.append(fault)
        else:
            print(f"LEFT OUT: {fault.name}: {fault.missing}", flush=True)
    with_cache = place.own_disk and minutes >= LONG
    if not with_cache:
        print(f"LEFT OUT: kernel cache on a full disk: needs root and {LONG:.0f} minutes", flush=True)
    if minutes < LONG:
        print(f"LEFT OUT: whether memory is flat: needs {LONG:.0f} minutes", flush=True)
    total = 60.0 * minutes
    phase = min(15.0, total / len(faults) / 2)
    began = said = time.monotonic()
    workers = Workers(place, seed, Fault(place))
    samples: list[Sample] = []
    used: Counter[str] = Counter()
    n = 0
    try:
        time.sleep(WARM_UP if minutes >= LONG else 0.0)  # the threads work already
        while time.monotonic() < began + total or n < 2 * len(faults):
            fault = faults[n % len(faults)]
            cold = (
                ColdCache(place)
                if fault.name == "disk" and with_cache and n // len(faults) % 4 == 0
                else None
            )
            begin = time.monotonic()
            workers.go_on(fault)
            fault.disturb(begin + phase)
            while cold is not None and cold.process.poll() is None:  # the disk has to stay full
                fault.disturb(time.monotonic() + 1.0)
            workers.pause()
            used[fault.name] += round(1000 * (time.monotonic() - begin))
            if cold is not None:
                cold.check()
            after(place)
            samples.append(sample(began, fault.name))
            n += 1
            if time.monotonic() - said > 60 or n % len(faults) == 0:
                said = time.monotonic()
                jobs, s = sum(counter.total() for counter in workers.done), samples[-1]
                held = f"{s.rss / MIB:.0f} MiB, {s.descriptors} descriptors, {s.threads} threads"
                print(
                    f"{s.seconds / 60:.1f} min: {jobs} jobs, {held}, {len(place.findings)} findings",
                    flush=True,
                )
    except TimeoutError as error:
        place.find(f"hangs: {error}")
        faulthandler.dump_traceback(all_threads=True)
        report(place, workers, samples, used)
        os._exit(1)  # threads that hang would keep the process
    workers.end()
    # the first turn of all faults warms up
    for what in leaks(samples[len(faults) :], of_memory=minutes >= LONG):
        place.find(f"leak: {what}")
    report(place, workers, samples, used)
    return place.findings


def report(place: Place, workers: Workers, samples: list[Sample], used: Counter[str]) -> None:
    """The table at the end."""
    done, failed = sum(workers.done, Counter()), sum(workers.failed, Counter())
    names = sorted({job for _, job in done})
    print(
        f"\n{'':12}{'seconds':>8}{'jobs':>9}  "
        + "".join(f"{name[:9]:>10}" for name in names)
        + "  errors that were allowed"
    )
    for fault, milliseconds in used.items():
        counts = [done[fault, name] for name in names]
        errors = ", ".join(f"{count} {error}" for (of, error), count in sorted(failed.items()) if of == fault)
        print(
            f"{fault:12}{milliseconds / 1000:8.0f}{sum(counts):9}  "
            + "".join(f"{n:10}" for n in counts)
            + f"  {errors}"
        )
    print(f"{'all':12}{sum(used.values()) / 1000:8.0f}{done.total():9}")
    print(", ".join(f"{n} {what}" for what, n in sorted(place.happened.items())))
    if len(samples) > len(FAULTS):
        rest = samples[len(FAULTS) :]
        for name, unit in (("rss", MIB), ("descriptors", 1), ("threads", 1)):
            values = [getattr(s, name) / unit for s in rest]
            print(
                f"{name}: {values[0]:.0f} behind the warm-up, {values[-1]:.0f} in the end, {min(values):.0f} to {max(values):.0f}"
            )
    print(f"{len(place.findings)} findings", flush=True)


def main() -> None:
    """Parse and run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=30.0, help="how long (default %(default)g)")
    parser.add_argument(
        "--seed", type=int, default=0, help="another seed is another run (default %(default)s)"
    )
    parser.add_argument(
        "--faults", nargs="*", choices=[kind.name for kind in FAULTS], help="which ones (default: all)"
    )
    options = parser.parse_args()
    if not sys.platform.startswith("linux"):
        sys.exit("soak: limits, forks and /proc of Linux are needed")
    # objects come from the reserve that the fault of memory leaves
    if os.environ.get("PYTHONMALLOC") != "malloc":
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | {"PYTHONMALLOC": "malloc"})
    # what is mounted there goes with the process
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o755)  # for a child that is nobody
        findings = soak(options.minutes, options.seed, pathlib.Path(folder), options.faults)
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
