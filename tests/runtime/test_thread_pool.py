"""Work on threads and Ctrl-C."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from ubpe_numba.runtime import thread_pool


def test_ctrl_c_does_not_wait_for_a_kernel():
    """A kernel that counts a large corpus may take seconds: Ctrl-C is raised at once, and the thread ends by itself."""
    hold, ended = threading.Event(), threading.Event()

    def kernel(begin: int, end: int) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        hold.wait(60)
        ended.set()

    with pytest.raises(KeyboardInterrupt):
        thread_pool.run(kernel, [(0, 1)], 1, thread_pool.LONG)
    assert not ended.is_set()
    hold.set()
    assert thread_pool.run(lambda a, b: a + b, [(1, 2)], 1, thread_pool.LONG) == [3]
