"""The cluster: the user's `Client`, or processes on this machine.

Also tasks, and values that workers share.

Every worker, even one that joins later, declares its build of this library as a resource of Dask, by a plugin
that `using` registers. Tasks need the resource of the driver's build, so Dask gives them to no other worker.
If a worker dies the scheduler moves its task to another (``distributed.scheduler.allowed-failures`` times).

Dask writes results to disk by the sizes of objects, which are registered here: a `Ragged` of a gigabyte is an
object of 56 bytes.
"""

from __future__ import annotations

import functools
import hashlib
import pathlib
import pickle
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import dask
from dask.sizeof import sizeof
from distributed import Client, KilledWorker, LocalCluster, WorkerPlugin, as_completed, get_worker
from distributed.client import default_client
from distributed.comm.core import CommClosedError

import ubpe_numba
from ubpe_numba.documents.counts import Counts
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import Documents
from ubpe_numba.runtime.arrays import describe
from ubpe_numba.runtime.messages import Progress

if TYPE_CHECKING:
    from dask.delayed import Delayed

#: Options of Dask for graphs that hold models or partitions: a large graph must not warn.
LARGE_GRAPHS = {"distributed.admin.large-graph-warning-threshold": "1GB"}

UNREACHED = "client: the scheduler at {} cannot be reached: it has ended, or the connection is lost"
_RETURN = 60.0  # seconds in which a worker may come back, if all that are left have another build
_LOOK = 5.0  # seconds between two looks at the workers while none of them finishes a task


@contextmanager
def using(client: Client | None) -> Iterator[Client]:
    """A client to work with, whose workers have been found fit for it: the user's, which stays open.

    None: the current client of Dask if there is one, as for Dask's own `compute`. Otherwise the client of a
    cluster of processes on this machine, one per core with one thread each, which is closed at the end.
    TypeError if `client` is something else, or asynchronous. ConnectionError, with its address, if the
    scheduler does not answer. RuntimeError if all workers have another build of this library. If only some
    have, a UserWarning, and these get no task.
    """
    if client is None:
        with suppress(ValueError):  # there is none
            client = default_client()
    if client is None:
        # any: None is 8787, or a warning
        port = {"dashboard_address": ":0", "scheduler_kwargs": {"dashboard": False}}
        # of a worker that asks one that died for data
        with dask.config.set({"distributed.comm.timeouts.connect": "5s"}):
            cluster = LocalCluster(processes=True, threads_per_worker=1, **port)
        with cluster, Client(cluster, set_as_default=False) as own:
            declare_builds(own)
            own.run(_leave_ctrl_c)
            yield own
        return
    if not isinstance(client, Client):
        raise TypeError(f"client: expected a distributed.Client or None, got {describe(client)}")
    if client.asynchronous:
        raise TypeError("client: expected a synchronous Client, got an asynchronous one")
    declare_builds(client)
    yield client


@contextmanager
def reaching(client: Client) -> Iterator[None]:
    """Turn Dask's errors in the block, if its scheduler cannot be reached, into a ConnectionError.

    It has the address.
    """
    message = UNREACHED.format(address_of(client))
    if client.status != "running":
        raise ConnectionError(message)
    try:
        yield
    except Exception as error:
        lost = (
            isinstance(error, CommClosedError) or getattr(error, "reason", "") == "scheduler-connection-lost"
        )
        if not lost and client.status == "running":
            raise
        raise ConnectionError(message) from error


def address_of(client: Client) -> str:
    """The address of the scheduler, as far as it is still known."""
    scheduler = client.scheduler
    return str(getattr(scheduler, "addr", None) or getattr(scheduler, "address", None) or client)


def _leave_ctrl_c() -> None:
    """Let a worker process on this machine ignore Ctrl-C, which its terminal sends it as well.

    The user's process handles it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _build() -> str:
    """The build of the library that this process has loaded: version, hash of its sources, byte order."""
    root, digest = pathlib.Path(ubpe_numba.__file__).parent, hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return f"ubpe-numba {ubpe_numba.__version__}, sources {digest.hexdigest()[:12]}, {sys.byteorder}-endian"


BUILD = _build()


def _builds() -> Callable[[], str]:
    """A function that returns the build of the caller's process.

    It is local, so that Dask sends it whole to a worker without this library.
    """

    def build() -> str:
        import ubpe_numba

        try:
            from ubpe_numba.distributed.cluster import BUILD
        except ImportError:
            return f"ubpe-numba {ubpe_numba.__version__}"
        return BUILD

    return build


def _plugin(data: bytes | None = None) -> WorkerPlugin:
    """A plugin that holds `data` on every worker, or without it declares the build of the worker.

    It is sent whole, as above.
    """
    build = _builds()

    class Plugin(WorkerPlugin):  # type: ignore[misc]  # of a package without types
        def __init__(self) -> None:
            self.data = data

        async def setup(self, worker: Any) -> None:
            if self.data is not None:
                return
            try:
                mine = build()
            except ImportError:
                return
            if mine not in worker.state.total_resources:
                await worker.set_resources(**{mine: 1 << 30})
                paused, running = (type(worker.status)[name] for name in ("paused", "running"))
                # so that the scheduler tries again the tasks that waited for this worker
                if worker.status == running:
                    worker.status = paused
                    worker.status = running

    return Plugin()


def declare_builds(client: Client) -> None:
    """Let all workers declare their builds, those that join later too; see `check_workers`."""
    with reaching(client):
        client.register_plugin(_plugin(), name="ubpe-build")
    check_workers(client, set())


def check_workers(client: Client, told: set[str]) -> Mapping[str, Any]:
    """The workers that have the build of this process, from the scheduler's description of them.

    RuntimeError, with worker, host and both builds, if there are only others; a UserWarning of each that is
    not among those `told`, which become more.
    """
    with reaching(client):
        workers = client.scheduler_info(n_workers=-1)["workers"]
    same = {where: info for where, info in workers.items() if BUILD in info["resources"]}
    others = workers.keys() - same.keys()
    if others - told or (workers and not same):
        with reaching(client):
            builds = client.run(_builds(), workers=sorted(others), on_error="return")
        reasons = {}
        for where, state in builds.items():
            if isinstance(state, (str, ImportError)) and state != BUILD:  # others have just ended
                has = state if isinstance(state, str) else f"cannot import ubpe_numba: {state}"
                reasons[where] = (
                    f"the worker {where} on host {workers[where]['host']} has {has}, expected {BUILD}"
                )
        if reasons and not same:
            raise RuntimeError(f"client: {'; '.join(reasons.values())}")
        for where in reasons.keys() - told:
            told.add(where)
            warnings.warn(f"client: {reasons[where]}: it gets no task", stacklevel=2)
    return same


def results(
    client: Client,
    delayeds: Sequence[Delayed],
    names: Sequence[str],
    progress: bool | str,
    what: str,
    retries: int = 0,
) -> Iterator[tuple[int, Any]]:
    """Run tasks and yield their indices and results as they finish.

    The rest is cancelled when the iterator ends.

    A result is fetched when the iterator reaches it, and the worker may forget it then: one result at a time
    is in memory here. `names` are those of the tasks in messages, `what` is the label of the bar, `retries`
    is for a task that fails. ConnectionError if the scheduler is lost. RuntimeError if several workers died
    one after the other while they ran one task, or if its input is lost. Otherwise the exception of a task,
    of its class, with the name of the task before the message.
    """
    indices = {task.key: i for i, task in enumerate(delayeds)}
    with reaching(client):
        with dask.config.set(LARGE_GRAPHS):
            futures = {
                future.key: future
                for future in client.compute(delayeds, resources={BUILD: 1}, retries=retries)
            }
        done, reported, seen = False, set[str](), time.monotonic()
        try:
            waiting = as_completed(list(futures.values()), loop=client.loop)
            for _ in Progress(progress).rounds(range(len(delayeds)), what, "partition"):
                look = time.monotonic() + _LOOK
                while not waiting.has_ready():
                    time.sleep(0.002)
                    if time.monotonic() > look and client.status == "running":
                        try:
                            seen = time.monotonic() if check_workers(client, reported) else seen
                        except RuntimeError:  # there are others only: nannies may start those that died again
                            if time.monotonic() > seen + _RETURN:
                                raise
                        look = time.monotonic() + _LOOK
                future = next(waiting)
                if future.status == "error":  # with it all that depend on it: the error belongs to the first
                    future = next(one for one in futures.values() if one.status == "error")
                i = indices[future.key]
                try:
                    result = future.result()
                except Exception as error:
                    if getattr(error, "reason", "") == "scheduler-connection-lost":
                        raise
                    named = failure(error, names[i])
                    raise named from (None if named is error or isinstance(error, KilledWorker) else error)
                del futures[future.key], future  # so that the worker may forget the result
                yield i, result
                del result
            done = True
        finally:
            if not done and client.status == "running":
                client.cancel(list(futures.values()), force=True)


def failure(error: Exception, name: str) -> Exception:
    """The exception of a task, or of Dask about it, with the name before the message."""
    if isinstance(error, KilledWorker):
        return RuntimeError(
            f"{name}: {error.allowed_failures + 1} workers died while they ran it, the last at "
            f"{error.last_worker.address}: the memory of one may be too small for it (see the workers' logs)"
        )
    return with_name(error, name)


def with_name(error: Exception, name: str) -> Exception:
    """The error with a name before its message, once.

    The same object if possible, so that it keeps its class and attributes.

    >>> with_name(ValueError("no such column"), "a.parquet"), with_name(KeyError("x"), "a.parquet")
    (ValueError('a.parquet: no such column'), RuntimeError("a.parquet: KeyError: 'x'"))
    """
    message = str(error.strerror if isinstance(error, OSError) and error.errno is not None else error)
    if message.startswith(f"{name}: "):
        return error
    if isinstance(error, OSError) and error.errno is not None:
        error.strerror = f"{name}: {error.strerror}"
        return error
    if len(error.args) == 1 and isinstance(error.args[0], str) and str(error) == error.args[0]:
        error.args = (f"{name}: {error.args[0]}",)
        return error
    return RuntimeError(f"{name}: {type(error).__name__}: {error}")


@contextmanager
def shared(client: Client, name: str, value: Any) -> Iterator[None]:
    """Give a value to all present and later workers; `value_of` returns it in tasks of the block.

    If it were the result of a task, a worker that fetches it from a dying worker would wait for the timeout
    of connections (30 s).

    >>> from distributed import Client
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0") as client, shared(client, "seven", 7):
    ...     client.submit(value_of, "seven").result()
    7
    """
    client.register_plugin(_plugin(pickle.dumps(value, 5)), name=name)
    try:
        yield
    finally:
        if client.status == "running":
            client.unregister_worker_plugin(name)


def value_of(name: str) -> Any:
    """In a task: the value of this name, which is made once for a process and shared by its threads."""
    with _lock:
        return _loaded(get_worker().plugins[name].data)


_lock = threading.Lock()
_loaded: Callable[[bytes], Any] = functools.lru_cache(maxsize=4)(pickle.loads)  # those used last
_OBJECT = 200  # bytes: the Python object and those of its arrays


sizeof.register(Ragged, lambda ragged: _OBJECT + int(ragged.offsets.nbytes) + 4 * int(ragged.total))
sizeof.register(Documents, lambda docs: _OBJECT + int(docs.values.nbytes) + int(docs.offsets.nbytes))
sizeof.register(Counts, lambda counts: _OBJECT + int(sizeof(counts.flat)) + int(counts.weights.nbytes))
