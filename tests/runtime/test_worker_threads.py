"""Tasks on threads: a Ctrl-C at every instruction, results kept by nobody, groups that come and go."""

import gc
import sys
import threading
import time
import weakref
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from tables import refuses

from ubpe_numba.runtime import thread_pool

PATIENCE = 60  # seconds, after which a thread is taken to hang


def interrupted_at(step: int, call: Callable[[], object]) -> bool:
    """Whether `call` was interrupted: KeyboardInterrupt comes at step `step`.

    Steps are where a Python function begins or returns and where a C function has returned: there Python
    looks for signals (and where a loop turns; but not between what takes a lock for `with` and its body,
    where tracing by lines would interrupt).
    """
    left = step

    def profile(frame: FrameType, event: str, argument: object) -> None:
        nonlocal left
        if event != "c_call":
            left -= 1
            if left == 0:
                raise KeyboardInterrupt

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(before)
    return left <= 0


def run() -> object:
    return thread_pool.run(lambda begin, end: end - begin, [(0, 1), (1, 3), (3, 6)], 2)


def together() -> object:
    stopped: list[bool] = []

    def here() -> int:
        stopped.append(True)  # as kernels do
        return 7

    def helper(i: int) -> None:
        while not stopped:
            time.sleep(0.001)

    return thread_pool.together(here, helper, lambda: stopped.append(True), 3)


def apart() -> object:
    return thread_pool.apart(lambda: 5)


# one that comes in the callback of a weak reference, such as the threads of `threading` have, Python reports
# and drops
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("call, expected", [(run, [1, 2, 3]), (together, 7), (apart, 5)])
def test_a_ctrl_c_anywhere_leaves_the_threads_at_work(
    call: Callable[[], object], expected: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a thread of its own, so that one that hangs is an error and not the end of all tests."""
    monkeypatch.setattr(threading, "main_thread", threading.current_thread)  # it stands for the main thread
    steps, errors = 0, []

    def every_step() -> None:
        nonlocal steps
        try:
            while interrupted_at(steps + 1, call):
                steps += 1
                assert call() == expected
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=every_step, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    assert not thread.is_alive(), f"hangs after step {steps}"
    assert not errors, errors
    assert steps > 20


def test_a_ctrl_c_while_threads_are_started_leaves_none_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_pool, "_groups", {})
    before = set(threading.enumerate())
    start = threading.Thread.start

    def interrupt(thread: threading.Thread) -> None:
        start(thread)
        if thread.name == "ubpe_1":
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", interrupt)
        refuses(KeyboardInterrupt, "", run)
    for thread in set(threading.enumerate()) - before:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    assert run() == [1, 2, 3]


def test_without_threads_the_caller_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_pool, "_groups", {})
    callers = []

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        found = thread_pool.run(lambda a, b: callers.append(threading.current_thread()), [(0, 1), (1, 2)], 2)
        assert thread_pool.together(lambda: 5, lambda i: None, lambda: None, 2) == 5
    assert found == [None, None] and set(callers) == {threading.current_thread()}


def test_errors_wait_for_the_others_and_nested_work_is_done_at_once() -> None:
    ended = []

    def work(begin: int, end: int) -> list[int]:
        if begin == 0:
            raise MemoryError("the first")
        inner = thread_pool.run(lambda a, b: b, [(0, 10), (10, 20)], 2)
        ended.append(begin)
        return inner

    refuses(MemoryError, "the first", thread_pool.run, work, [(i, i + 1) for i in range(4)], 2)
    assert sorted(ended) == [1, 2, 3]
    begun = threading.Event()

    def helper(i: int) -> None:
        begun.set()
        raise ZeroDivisionError(f"of helper {i}")

    refuses(
        ZeroDivisionError,
        "of helper 1",
        lambda: thread_pool.together(lambda: begun.wait(PATIENCE), helper, lambda: None, 2),
    )


def test_a_thread_that_waits_keeps_no_result() -> None:
    class Large:
        """What a chunk makes."""

    found = thread_pool.run(lambda a, b: Large(), [(0, 1), (1, 2)], 2)
    references = [weakref.ref(large) for large in found]
    del found
    run()  # a worker has come back from the tasks before
    gc.collect()
    assert [reference() for reference in references] == [None, None]


def test_groups_retire_with_their_tasks_done(monkeypatch: pytest.MonkeyPatch) -> None:
    groups: dict[int, Any] = {}
    monkeypatch.setattr(thread_pool, "_groups", groups)
    hold, ended = threading.Event(), []

    def wait() -> None:
        ended.append(thread_pool.run(lambda a, b: hold.wait(PATIENCE), [(0, 1), (1, 2)], 2))

    waiting = threading.Thread(target=wait)
    waiting.start()
    while not groups:
        pass
    first = next(iter(groups.values()))[1]
    for n in range(3, 8):
        assert thread_pool.run(lambda a, b: b - a, [(i, i + 1) for i in range(8)], n) == [1] * 8
    assert len(groups) == 4 and all(first is not threads for _, threads in groups.values())
    assert any(thread.is_alive() for thread in first)
    hold.set()
    waiting.join(PATIENCE)
    assert ended == [[True, True]]
    for thread in first:
        thread.join()
