"""What is done to the process of the soak, a fault a class: it begins, disturbs for some seconds, and ends without a trace.

Linux only. What needs root says so by `missing`, and is left out.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import pathlib
import resource
import signal
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

from fuzz.soak_work import JOBS, READING, Work, check_files, fill

MIB = 1 << 20
CHILD_SECONDS = 120  # a child that takes longer hangs
NO_ROOM = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.malloc.restype, _LIBC.malloc.argtypes, _LIBC.free.argtypes = (
    ctypes.c_void_p,
    [ctypes.c_size_t],
    [ctypes.c_void_p],
)
_LARGE = 1 << 17  # bytes of an array that malloc takes from the system, and of what it gives back
_RESERVE = 32 * MIB
_ARENA_MAX, _MMAP_THRESHOLD, _TRIM_THRESHOLD = -8, -3, -1  # of malloc.h
_NEWNS, _PRIVATE, _REC = 0x20000, 1 << 18, 1 << 14  # of sched.h and mount.h


class Place:
    """What faults know: the work, folders for models, how to tell a finding, and counts of what happened."""

    def __init__(self, work: Work, root: pathlib.Path, seed: int) -> None:
        self.work, self.rng = work, Random(seed)
        self.models, self.small = root / "models", root / "small"
        self.own_disk = mount(root / "disk", 2_000_000)
        if self.own_disk:
            self.small = root / "disk" / "small"
        for folder in (self.models, self.small):
            folder.mkdir()
            fill(work, folder)
        self.findings: list[str] = []
        self.happened: Counter[str] = Counter()

    def find(self, what: str) -> None:
        """Note what must not be."""
        self.findings.append(what)
        print(f"FOUND: {what}", flush=True)


class Fault:
    """Nothing happens."""

    name = "none"
    missing: str | None = None  # why it cannot be done here

    def __init__(self, place: Place) -> None:
        self.place = place

    def allows(self, error: BaseException) -> bool:
        """Whether a job may fail by this error."""
        return False

    def disturb(self, end: float) -> None:
        """In the main thread, until the time `end` of the monotonic clock; jobs run in the other threads."""
        time.sleep(max(0.0, end - time.monotonic()))


class Memory(Fault):
    """The address space is limited to little more than there is, by turns more and less.

    A ufunc of numbers of two types takes memory to convert them when it has given up Python's lock, and if
    there is none, NumPy crashes (2.4: `npyiter_allocate_buffers` calls `PyErr_NoMemory` there); Python itself
    crashes, or waits for ever for a thread that it could not begin, when there is none for an object. So
    small blocks come from a reserve, and what fails is every array of `_LARGE` bytes and more.
    """

    name = "memory"

    def allows(self, error: BaseException) -> bool:
        """Memory errors, of the system's calls too."""
        return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM)

    def disturb(self, end: float) -> None:
        """Change the limit three times a second."""
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        _LIBC.mallopt(_TRIM_THRESHOLD, 2 * _RESERVE)
        try:
            while time.monotonic() < end:
                with contextlib.suppress(MemoryError, OSError):  # in this loop
                    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
                    _reserve()
                    more = self.place.rng.choice([0, 0, 1, 2, 4, 8, 30])
                    resource.setrlimit(resource.RLIMIT_AS, (address_space() + more * MIB, hard))
                    self.place.happened["limits of memory"] += 1
                    time.sleep(0.3)
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
            _LIBC.mallopt(_TRIM_THRESHOLD, _LARGE)
            _LIBC.malloc_trim(0)


class Threads(Fault):
    """A child whose threads do the work may not start any more: neither those of the library nor others."""

    name = "threads"

    def disturb(self, end: float) -> None:
        """One child after the other."""
        while time.monotonic() < end:
            wait_for(fork(lambda: self._child(end), self.place), "a child without threads", self.place)
            self.place.happened["children without threads"] += 1

    def _child(self, end: float) -> None:
        go, failed = threading.Event(), []

        def run(seed: int) -> None:
            go.wait()
            rng = Random(seed)
            try:
                while time.monotonic() < end:
                    rng.choice(READING)(self.place.work, rng, self.place.models)
            except BaseException:
                failed.append(traceback.format_exc())

        seed = self.place.rng.randrange(2**32)
        threads = [threading.Thread(target=run, args=(seed + i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        if os.getuid() == 0:  # whom this limit does not bind
            os.setgroups([])
            os.setgid(60_000)
            os.setuid(60_000 + os.getpid() % 5000)
        resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
        try:
            threading.Thread(target=print).start()
        except RuntimeError:
            pass
        else:
            raise AssertionError("a thread was started beyond the limit")
        go.set()
        for thread in threads:
            thread.join()
        if failed:
            raise AssertionError(failed[0])


class Disk(Fault):
    """A file system of its own is filled, but for some bytes."""

    name = "disk"

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.missing = None if place.own_disk else "a file system of its own needs root"

    def allows(self, error: BaseException) -> bool:
        """That there is no room."""
        return isinstance(error, OSError) and error.errno in NO_ROOM

    def disturb(self, end: float) -> None:
        """Fill it anew three times a second."""
        ballast = self.place.small.parent / "ballast"
        try:
            while time.monotonic() < end:
                ballast.unlink(missing_ok=True)
                with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as f:
                    while True:
                        f.write(bytes(4096))
                keep = self.place.rng.choice([0, 0, 4096, 8192, 20_480, 100_000])
                os.truncate(ballast, max(0, ballast.stat().st_size - keep))
                self.place.happened["full disks"] += 1
                time.sleep(0.3)
        finally:
            ballast.unlink(missing_ok=True)


class FileSize(Fault):
    """No file may grow beyond some bytes."""

    name = "file size"

    def allows(self, error: BaseException) -> bool:
        """That there is no room."""
        return isinstance(error, OSError) and error.errno in NO_ROOM

    def disturb(self, end: float) -> None:
        """Change the limit three times a second."""
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        try:
            while time.monotonic() < end:
                resource.setrlimit(
                    resource.RLIMIT_FSIZE, (self.place.rng.choice([0, 1, 511, 4096, 8000, 60_000]), hard)
                )
                self.place.happened["limits of files"] += 1
                time.sleep(0.3)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
            signal.signal(signal.SIGXFSZ, before)


class Clock(Fault):
    """The time of day jumps by years; the library must not ask for it, and what it uses does not mind."""

    name = "clock"

    def disturb(self, end: float) -> None:
        """Jump twenty times a second."""
        real, jump = {name: getattr(time, name) for name in ("time", "time_ns")}, 0.0

        def asked() -> None:
            caller = sys._getframe(2).f_globals.get("__name__", "")
            if caller.startswith("ubpe_numba"):
                self.place.find(f"clock: {caller} asks for the time of day")

        def wrong() -> float:
            asked()
            return float(real["time"]() + jump)

        def wrong_ns() -> int:
            asked()
            return int(real["time_ns"]() + jump * 1e9)

        try:
            time.time, time.time_ns = wrong, wrong_ns
            while time.monotonic() < end:
                jump = self.place.rng.choice([-real["time"](), -3e8, -3600, 3600, 3e8, 3e9])
                self.place.happened["jumps of the clock"] += 1
                time.sleep(0.05)
        finally:
            time.time, time.time_ns = real["time"], real["time_ns"]


class Signals(Fault):
    """An alarm every 10 ms; jobs in the main thread are interrupted by Ctrl-C."""

    name = "signals"

    def disturb(self, end: float) -> None:
        """Work here, with both signals."""
        place, armed, stop = self.place, [False], threading.Event()

        def alarm(*_: Any) -> None:
            place.happened["alarms"] += 1

        def interrupt(*_: Any) -> None:
            if armed[0]:  # once a job, and never outside of one
                armed[0] = False
                place.happened["interruptions"] += 1
                raise KeyboardInterrupt

        def press() -> None:
            rng = Random(place.rng.randrange(2**32))
            while not stop.wait(rng.choice([0.003, 0.02, 0.1, 0.3])):
                os.kill(os.getpid(), signal.SIGINT)

        old = signal.signal(signal.SIGALRM, alarm), signal.signal(signal.SIGINT, interrupt)
        presser = threading.Thread(target=press)
        presser.start()
        signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
        try:
            while time.monotonic() < end:
                with contextlib.suppress(KeyboardInterrupt):
                    self._one_job(armed)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            stop.set()
            presser.join()
            signal.signal(signal.SIGALRM, old[0])
            signal.signal(signal.SIGINT, old[1])

    def _one_job(self, armed: list[bool]) -> None:
        place = self.place
        job = place.rng.choice(JOBS)
        try:
            armed[0] = True
            job(place.work, place.rng, place.rng.choice([place.models, place.small]))
            armed[0] = False
            place.happened["jobs of the main thread"] += 1
        except KeyboardInterrupt:
            pass
        except Exception:
            armed[0] = False
            place.find(f"signals, {job.__name__}: {traceback.format_exc()}")
        finally:
            armed[0] = False


class Forks(Fault):
    """Children of the busy process encode, fit, decode and exit."""

    name = "forks"

    def disturb(self, end: float) -> None:
        """Two children at a time."""
        place = self.place
        while time.monotonic() < end:
            seeds = [place.rng.randrange(2**32) for _ in range(2)]
            children = [fork(lambda seed=seed: self._child(seed), place) for seed in seeds]
            for child in children:
                wait_for(child, "a child", place)
                place.happened["children"] += 1

    def _child(self, seed: int) -> None:
        rng = Random(seed)
        for _ in range(4):
            rng.choice([*READING, JOBS[0]])(self.place.work, rng, self.place.models)


FAULTS: list[type[Fault]] = [Fault, Memory, Threads, Disk, FileSize, Clock, Signals, Forks]


# ---------------------------------------------------------------------------------------------- of the system


def address_space() -> int:
    """Bytes of the address space of this process."""
    return int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGESIZE")


def give_back_memory() -> None:
    """Let malloc take arrays from the system and give them back, so that limits are felt and what is held is what is used.

    To be called before there are other threads: each would reserve 64 MiB of addresses.
    """
    for parameter, value in ((_ARENA_MAX, 1), (_MMAP_THRESHOLD, _LARGE), (_TRIM_THRESHOLD, _LARGE)):
        _LIBC.mallopt(parameter, value)


def _reserve() -> None:
    """Leave free memory in malloc's heap, for blocks that are not large."""
    size = _LARGE - 4096
    blocks = [_LIBC.malloc(size) for _ in range(_RESERVE // size)]
    for block in blocks:
        _LIBC.free(block)


def mount(folder: pathlib.Path, size: int) -> bool:
    """Mount a file system of so many bytes that this process alone sees, and that ends with it; False if it may not.

    To be called before there are other threads, which would not see it.
    """
    folder.mkdir()
    if os.getuid() != 0 or _LIBC.unshare(_NEWNS) or _LIBC.mount(None, b"/", None, _PRIVATE | _REC, None):
        return False
    return _LIBC.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", 0, f"size={size}".encode()) == 0


def fork(call: Callable[[], None], place: Place) -> tuple[int, int]:
    """A child that makes the call and exits, with its error where it fails; its number, and where it writes the error."""
    read, write = os.pipe()
    pid = os.fork()
    if pid:
        os.close(write)
        return pid, read
    code = 1
    try:
        os.close(read)
        call()
        code = 0
    except BaseException:
        with contextlib.suppress(BaseException):
            os.write(write, traceback.format_exc().encode()[-8000:])
    finally:
        os._exit(code)


def wait_for(child: tuple[int, int], name: str, place: Place) -> None:
    """Wait for a child; a finding if it fails, crashes or hangs."""
    pid, read = child
    end = time.monotonic() + CHILD_SECONDS
    try:
        while time.monotonic() < end:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                code = os.waitstatus_to_exitcode(status)
                if code:
                    place.find(f"{name} ended with {code}: {os.read(read, 8000).decode()}")
                return
            time.sleep(0.005)
        stacks = stacks_of(pid)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        place.find(f"{name} hangs: {stacks}")
    finally:
        os.close(read)


def stacks_of(pid: int) -> str:
    """In which calls of the system the threads of a process wait."""
    threads = pathlib.Path(f"/proc/{pid}/task")
    with contextlib.suppress(OSError):
        return ", ".join(sorted((path / "wchan").read_text() for path in threads.iterdir()))
    return "unknown"


def after(place: Place) -> None:
    """Findings about files, when no job runs."""
    for folder in (place.models, place.small):
        for what in check_files(place.work, folder):
            place.find(f"files: {what}")
    if place.own_disk and len(list(place.small.parent.iterdir())) > 1:
        place.find(f"files: {sorted(map(str, place.small.parent.iterdir()))}")
