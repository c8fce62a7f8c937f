"""Work on threads and Ctrl-C."""

import os
import pathlib
import signal
import threading

import numpy as np
import pytest
from tables import refuses

from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.arrays import MOST_THREADS, THREAD_VARIABLES, processors, resolve_threads


def test_more_threads_than_any_machine_has_processors_are_refused(monkeypatch: pytest.MonkeyPatch):
    """From the argument and from the environment, which are named; in no time and without a thread, however long the number."""
    monkeypatch.delenv("UBPE_NUM_THREADS", raising=False)
    monkeypatch.setenv("NUMBA_NUM_THREADS", "5000")
    most = MOST_THREADS
    assert resolve_threads(most) == most and resolve_threads(None) == 5000
    refuses(ValueError, f"^n_threads: expected at most {most}, got 999999$", resolve_threads, 999_999)
    monkeypatch.setenv("UBPE_NUM_THREADS", "0" * 30 + str(most))
    assert resolve_threads(None) == most
    for name in THREAD_VARIABLES:
        monkeypatch.delenv(name)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert resolve_threads(None) == 1


V1 = "/sys/fs/cgroup/cpu/cpu.cfs_"


@pytest.mark.parametrize("groups, limits, n", [
    ("0::/a/b", {"/sys/fs/cgroup/a/cpu.max": "150000 100000", "/sys/fs/cgroup/a/b/cpu.max": "max 100000"}, 2),
    ("2:cpuset:/\n3:cpu,cpuacct:/not/seen/here", {V1 + "quota_us": "9000\n", V1 + "period_us": "10000\n"}, 1),
])  # fmt: skip
def test_quotas_and_cores(monkeypatch: pytest.MonkeyPatch, groups: str, limits: dict[str, str], n: int):
    """Of four CPUs two are one core: a fit takes cores, unless more threads are requested, and never more than the quota."""
    files = {"/proc/self/cgroup": groups, **limits}
    files |= {f"/sys/devices/system/cpu/cpu{i}/topology/thread_siblings_list": "2,5" for i in (2, 5)}
    monkeypatch.setattr(pathlib.Path, "read_text", lambda path: files.get(path.as_posix(), ""))
    for name in THREAD_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", [{0, 2, 5, 7}].__getitem__, raising=False)
    processors.cache_clear()
    assert [resolve_threads(i, fit) for fit in (False, True) for i in (None, 64, 1)] == [
        n,
        64,
        1,
        min(n, 3),
        n,
        1,
    ]


def test_ctrl_c_does_not_wait_for_a_kernel():
    """A kernel that counts a large corpus may take seconds: Ctrl-C is raised at once, and the thread ends by itself."""
    hold, ended = threading.Event(), threading.Event()

    def kernel(begin: int, end: int) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        hold.wait(60)
        ended.set()

    refuses(KeyboardInterrupt, "", thread_pool.run, kernel, [(0, 1)], 1, thread_pool.LONG)
    assert not ended.is_set()
    hold.set()
    assert thread_pool.run(lambda a, b: a + b, [(1, 2)], 1, thread_pool.LONG) == [3]
    assert [
        thread_pool.run(lambda a, b: a + b, chunks, 2) for chunks in ([], [(1, 2)], [(1, 2), (3, 4)])
    ] == [[], [3], [3, 7]]
    # as many symbols in each range, to a document
    offsets = np.arange(0, 2 * thread_pool.SERIAL_BELOW + 1, 1000)
    for threads, per_thread in ((2, 4), (3, 1), (1, 4)):
        sizes = [int(offsets[b] - offsets[a]) for a, b in thread_pool.chunks_of(offsets, threads, per_thread)]
        n = threads * per_thread if threads > 1 else 1
        assert len(sizes) == n and sum(sizes) == offsets[-1] and max(sizes) <= offsets[-1] // n + 1000
    assert len(thread_pool.chunks_of(offsets[: offsets.size // 2], 2)) == 1
