"""Threads that wait for tasks, made so that Ctrl-C can come at any time.

Python raises KeyboardInterrupt in the main thread between any two of its instructions. In the pools of `concurrent.futures`, one
that comes while Python takes a future's lock leaves it locked: the thread that works for the future then waits for ever, and so
does the interpreter when it ends. Here all that passes between threads goes through `SimpleQueue` and locks, whose methods are
single operations: they happen, or they do not.

    caller   put task 0, put task 1, ...                get, get: all have ended
    worker       get task 0, claim it, work, put it in `done`       a task that the caller has claimed first is left out

There is one group of threads per process and size, made when first needed and again after a fork (threads do not survive a fork).
There are none where gevent or eventlet has put its own in place of Python's: they take turns in one thread of the system, where
a kernel that waits for another one would wait for ever.
"""

from __future__ import annotations

import _thread
import atexit
import os
import threading
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

T = TypeVar("T")

_POLL_SECONDS = 0.1  # between two checks for Ctrl-C
_MOST_GROUPS = 4  # kept, one for each number of threads requested recently

_groups: dict[tuple[int, int], Group] = {}
_retired: list[Group] = []  # told to end, as far as they have not
_lock = threading.Lock()
_this_thread = threading.local()
_ended = False  # the interpreter ends: no thread is to be started


class Task(Generic[T]):
    """A call that a worker makes, unless somebody cancels it first.

    Parameters
    ----------
    call
        What is to be done.
    done
        Where the task goes when the call has returned or raised.
    """

    __slots__ = ("_call", "_claim", "_done", "_error", "_result")

    def __init__(self, call: Callable[[], T], done: SimpleQueue[object]) -> None:
        self._call, self._done = call, done
        self._claim = threading.Lock()  # never released: the first to take it decides
        self._error: BaseException | None = None

    def cancel(self) -> bool:
        """Whether no worker has begun with the task, and none will."""
        return self._claim.acquire(blocking=False)

    def work(self) -> None:
        """Make the call, if the task is not cancelled."""
        if self._claim.acquire(blocking=False):
            try:
                self._result = self._call()
            except BaseException as error:
                self._error = error
            self._done.put(self)

    def result(self) -> T:
        """What the call returned; raises what it raised. For tasks in `done`."""
        if self._error is not None:
            raise self._error
        return self._result


class Group:
    """Threads that take their tasks from one queue. Raises RuntimeError if not all can be started."""

    def __init__(self, size: int) -> None:
        self._tasks: SimpleQueue[Task[Any] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        try:
            for i in range(size):
                # daemons: those left alone by a Ctrl-C in this loop do not keep the interpreter; `_end` waits for all others
                thread = threading.Thread(target=_work, args=(self._tasks,), name=f"ubpe_{i}", daemon=True)
                self._threads.append(thread)
                thread.start()
        except BaseException:
            self.end()
            raise

    def put(self, tasks: Sequence[Task[Any]]) -> None:
        """Have tasks done, in this order as threads become free."""
        for task in tasks:
            self._tasks.put(task)

    def end(self) -> None:
        """Let the threads end when they have done the tasks put before."""
        for _ in self._threads:
            self._tasks.put(None)

    def is_alive(self) -> bool:
        """Whether a thread has not ended."""
        return any(thread.is_alive() for thread in self._threads)

    def join(self) -> None:
        """Wait until all threads have ended."""
        for thread in self._threads:
            thread.join()


def is_worker() -> bool:
    """Whether the calling thread belongs to a group: its nested work would wait for itself, and is done at once instead."""
    return getattr(_this_thread, "works", False)


def are_green() -> bool:
    """Whether what Python calls threads are greenlets, of gevent or eventlet, by now."""
    return _thread.start_new_thread.__module__.partition(".")[0] in ("gevent", "eventlet")


def submit(tasks: Sequence[Task[Any]], size: int) -> bool:
    """Give tasks to the group of `size` threads; False if there can be none: greenlets, limits of the system, the end."""
    if are_green():
        return False
    process = os.getpid()
    with _lock:
        for key in [key for key in _groups if key[0] != process]:
            del _groups[key]  # inherited by fork: its threads exist only in the parent
        group = _groups.get((process, size))
        if group is None:
            group = _new(size)
            if group is None:
                return False
            if len(_groups) == _MOST_GROUPS:
                _retire(_groups.pop(next(iter(_groups))))
            _groups[process, size] = group
        group.put(tasks)
        return True


def wait(done: SimpleQueue[object]) -> None:
    """Wait for one more task."""
    while True:
        try:
            done.get(timeout=_POLL_SECONDS)  # without, a signal that arrives just before the wait begins would not end it
            return
        except Empty:
            pass


def apart(call: Callable[[], T]) -> T:
    """What `call()` returns, made where no Ctrl-C can interrupt it: for libraries that an interruption leaves in disorder.

    In the main thread the call is left to another thread. A Ctrl-C is raised at once, while the call ends in the background.
    """
    if threading.current_thread() is not threading.main_thread():
        return call()
    done: SimpleQueue[object] = SimpleQueue()
    task = Task(call, done)
    with _lock:
        group = _new(1)
        if group is None:
            return call()
        group.put([task])
        _retire(group)
    wait(done)
    return task.result()


def _new(size: int) -> Group | None:
    try:
        return None if _ended or are_green() else Group(size)
    except RuntimeError:
        return None


def _retire(group: Group) -> None:
    group.end()
    _retired[:] = [other for other in _retired if other.is_alive()] + [group]


def _work(tasks: SimpleQueue[Task[Any] | None]) -> None:
    _this_thread.works = True
    while True:
        task = tasks.get()
        if task is None:
            return
        task.work()
        del task  # its result is the caller's alone while this thread waits


def _end() -> None:
    """Before the interpreter ends: let kernels end first, which must not run while their code is taken down."""
    global _ended
    with _lock:
        _ended = True
        for (process, _), group in _groups.items():
            if process == os.getpid():
                _retire(group)
        _groups.clear()
    for group in _retired:
        group.join()


def _renew_lock() -> None:
    global _lock
    _lock = threading.Lock()


atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)
