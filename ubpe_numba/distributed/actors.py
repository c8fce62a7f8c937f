"""Messages of a fit to its shards on Dask's workers: each host is an actor, and a synchronisation is one coroutine.

    driver                     loop of the client                    worker
    ask("step", a, b)  ──>  one message, pickled once   ──direct──>  _Desk ──> host.step(a, b)
    [answers]          <──  all answers together        <──────────  what it returned, or raised

Dask's own actors wake the caller for every answer, pickle the arguments once for every host and array by array, go through the
scheduler unless the client was made with ``direct_to_workers``, and wait for ever where a machine vanishes without a word. Here,
while answers are missing, the scheduler is asked whether the hosts are still there.
"""

from __future__ import annotations

import asyncio
import pickle
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from ubpe_numba.distributed.cluster import address_of, failure
from ubpe_numba.fitting.engine import LostHostsError

if TYPE_CHECKING:
    from dask.delayed import Delayed
    from distributed import Client, Future

_IN_BAND = 1 << 14  # bytes; larger arrays travel as they are: a copy of less costs no more than a frame of its own
_ALIGNED = 16  # bytes, of arrays that arrive: kernels are compiled for aligned ones
_LOOK = 1.0  # seconds between two questions whether hosts are there that have not answered
_ANSWER = 10.0  # seconds in which the scheduler must answer
_REACH = 5.0  # seconds to reach a worker directly
_RETURN = 10.0  # seconds in which a nanny may start a worker again, before hosts have to share those that are left
_PATIENCE = 60.0  # seconds without any worker
_TRIES = 3  # to make hosts whose workers die meanwhile
_ACTOR_LOST = "Worker holding Actor was lost"  # what Dask says of an actor that is not there any more
_UNREACHED = "client: the scheduler at {} cannot be reached: it has ended, or the connection is lost"
_NO_WORKER = "client: the cluster of the scheduler at {} has had no worker for {:.0f} s"


class _Packed:
    """A value in a pickle beside the arrays that it holds, which travel without a copy.

    Dask would take a tuple of arrays apart, with a header and a read of its own for each, however small.

    >>> a, b = pack((np.arange(3), 2)).open()
    >>> a.tolist(), b
    ([0, 1, 2], 2)
    """

    __slots__ = ("buffers", "head")

    def __init__(self, head: bytes, buffers: list[Any]) -> None:
        self.head, self.buffers = head, buffers

    def __reduce__(self) -> tuple[Any, ...]:
        return _Packed, (self.head, [pickle.PickleBuffer(b) for b in self.buffers])

    @property
    def nbytes(self) -> int:
        """What travels."""
        return len(self.head) + sum(memoryview(b).nbytes for b in self.buffers)

    def frames(self) -> Any:
        """A `distributed.protocol.Serialized`, which Dask passes on as it is: as often as need be, and by any protocol."""
        from distributed.protocol import Serialized, serialize

        return Serialized(*serialize(self))

    def open(self) -> Any:
        """The value; its arrays are aligned, and those writable that were."""
        return pickle.loads(self.head, buffers=[_aligned(b) for b in self.buffers])


def pack(value: Any) -> _Packed:
    """Pickle a value; see `_Packed`."""
    buffers: list[memoryview] = []

    def keep(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes >= _IN_BAND:
            buffers.append(raw)
        return raw.nbytes < _IN_BAND

    return _Packed(pickle.dumps(value, protocol=5, buffer_callback=keep), buffers)


def _aligned(buffer: Any) -> Any:
    """The buffer, or a copy at an address that kernels like: several frames may arrive in one."""
    found = np.frombuffer(buffer, np.uint8)
    if found.ctypes.data % _ALIGNED == 0:
        return buffer
    copy = np.empty(found.size, np.uint8)
    copy[:] = found
    return copy.data if found.flags.writeable else copy.data.toreadonly()


class _Desk:
    """The actor: takes messages for a host, and answers whatever happens there."""

    def __init__(self, host: Any) -> None:
        self._host = host

    def call(self, message: _Packed) -> Any:
        """Call a method with arguments. Packed: True and what it returned, or False and what it raised."""
        try:
            method, args = message.open()
            packed = pack((True, getattr(self._host, method)(*args)))
        except Exception as error:
            packed = _packed_error(error)
        return packed.frames()

    def here(self) -> bool:
        """Whether this is it: another process may have the address by now."""
        return True


def _number_of(k: int, key: Any) -> str | None:
    """The name of a host whose parts have none."""
    return f"host {k}" if key is None else None


def _packed_error(error: Exception) -> _Packed:
    """An exception that travels, with a note where it came from; a RuntimeError with its text if it cannot."""
    error.add_note("On a worker:\n" + "".join(traceback.format_exception(error)))
    try:
        packed = pack((False, error))
        packed.open()
    except Exception:
        packed = pack((False, RuntimeError(f"{type(error).__name__}: {error}")))
    return packed


class DaskEngine:
    """Hosts on the workers of a cluster, made when the engine is, as evenly over workers and machines as can be.

    Parameters
    ----------
    client : Client
        A synchronous one.
    make : list of Delayed
        Each gives a host, on the worker where it is to live. It is computed again if the host is lost.
    name_of : callable
        What messages call that of which host k is made: of the key of a task the part that the task belongs to, or None if there
        is no such part; of None all of it.

    Attributes
    ----------
    n : int
        How many hosts.
    rounds : int
        Synchronisations so far.
    sent, received : list of int
        Bytes to and from each host so far.

    Raises
    ------
    ConnectionError
        Here and in every method: if the scheduler does not answer, with its address.
    """

    def __init__(
        self, client: Client, make: Sequence[Delayed], name_of: Callable[[int, Any], str | None] = _number_of
    ) -> None:  # fmt: skip
        self.client, self.make, self.n, self.name_of = client, list(make), len(make), name_of
        self._address = address_of(client)  # of the scheduler; a client forgets it
        self.rounds, self.sent, self.received = 0, [0] * self.n, [0] * self.n
        self._actors: list[Future | None] = [None] * self.n
        self._where = [""] * self.n  # addresses of workers
        self._direct: set[str] = set()  # those that answer the client itself
        try:
            self.renew(range(self.n))
        except LostHostsError as error:
            self.close()
            names = ", ".join(str(self.name_of(k, None)) for k in error.hosts[:3])
            raise RuntimeError(
                f"{names}: {_TRIES} times workers died while they read it: the memory of one may be too small for it (see the "
                "workers' logs)"
            ) from None
        except BaseException:
            self.close()
            raise

    # -------------------------------------------------------------------------------------------- messages

    def ask(self, method: str, *args: Any, each: Sequence[tuple[Any, ...]] | None = None) -> list[Any]:
        """What every host answers, in order of hosts; all get the same arguments, or with `each` host k gets `each[k]`.

        Raises
        ------
        LostHostsError
            If hosts are gone, when all others have answered.
        Exception
            What the first host that raised did raise, when all have answered.
        """
        if each is None:
            return self._exchange(range(self.n), [pack((method, args))] * self.n)
        return self._exchange(range(self.n), [pack((method, own)) for own in each])

    def tell(self, k: int, method: str, *args: Any) -> Any:
        """What host k answers. Raises as `ask`."""
        return self._exchange([k], [pack((method, args))])[0]

    def _exchange(self, hosts: Sequence[int], messages: list[_Packed]) -> list[Any]:
        """Messages to these hosts, one each, and the answers."""
        self.rounds += 1
        frames = {id(m): m.frames() for m in messages}
        for k, message in zip(hosts, messages, strict=True):
            self.sent[k] += message.nbytes
        found = self._sync(self._gather, hosts, [frames[id(m)] for m in messages])
        for k, packed in zip(hosts, found, strict=True):
            self.received[k] += 0 if packed is None else packed.nbytes
        if lost := [k for k, packed in zip(hosts, found, strict=True) if packed is None]:
            raise LostHostsError(lost, "their workers have ended, or cannot be reached")
        answers = [packed.open() for packed in found]
        for fine, answer in answers:
            if not fine:
                raise answer
        return [answer for _, answer in answers]

    async def _gather(self, hosts: Sequence[int], frames: list[Any]) -> list[_Packed | None]:
        """The answers; None of hosts that are lost."""
        calls = [asyncio.ensure_future(self._call(k, "call", f)) for k, f in zip(hosts, frames, strict=True)]
        of = dict(zip(calls, hosts, strict=True))
        waiting = set(calls)
        try:
            while waiting:
                _, waiting = await asyncio.wait(waiting, timeout=_LOOK)
                if waiting:
                    there = await self._there([of[call] for call in waiting])
                    waiting = {call for call in waiting if of[call] in there}
        finally:
            for call in calls:
                call.cancel()  # of those that are done nothing changes
            await asyncio.wait(calls, timeout=_REACH)  # a dead connection may be slow to close
        answered = [call.done() and not call.cancelled() and call.exception() is None for call in calls]
        found = [call.result() if fine else None for call, fine in zip(calls, answered, strict=True)]
        if None in found:
            await self._there([])  # if the scheduler is gone, so are the workers soon
        return found

    async def _call(self, k: int, method: str, *frames: Any) -> Any:
        """What the desk of host k answers. Any exception: it did not get the message, or is not there."""
        where, actor = self._where[k], self._actors[k]
        if actor is None or not where:
            raise OSError("not there")
        message = {"function": method, "actor": actor.key, "args": frames, "kwargs": {}}
        if where in self._direct:
            answer = await self.client.rpc(where).actor_execute(**message)
        else:
            answer = await self.client.scheduler.proxy(worker=where, msg={"op": "actor_execute", **message})
        if answer["status"] != "OK":
            raise answer["exception"]
        return answer["result"]

    # -------------------------------------------------------------------------------------------- life of hosts

    def renew(self, lost: Sequence[int]) -> None:
        """Make hosts anew that are lost, on the workers that are left or on those that nannies have started again.

        Raises
        ------
        RuntimeError
            If there is no worker for a minute.
        LostHostsError
            If the new hosts are lost as well, and those after them.
        Exception
            What making a host raised.
        """
        lost = list(lost)
        for _ in range(_TRIES):
            self._let_go(lost)
            places = dict(zip(lost, self._places(lost), strict=True))
            for k, where in places.items():
                self._start(k, where)
            self._wait(places)
            self._sync(self._find, lost)
            lost = [k for k in lost if not self._where[k]]
            if not lost:
                return
        raise LostHostsError(lost, f"their workers ended {_TRIES} times while they were made")

    def close(self) -> None:
        """Let go of all hosts; their workers drop them."""
        for actor in self._actors:
            if actor is not None:
                actor.release()
        self._actors = [None] * self.n

    def _let_go(self, hosts: Sequence[int]) -> None:
        """Drop hosts, until the scheduler has forgotten them: what they are made of would wait for the workers of before."""
        old = [actor for k in hosts if (actor := self._actors[k]) is not None]
        for actor in old:
            actor.release()
        for k in hosts:
            self._actors[k] = None
        end = time.monotonic() + _ANSWER
        keys = [actor.key for actor in old]
        while old and any(self._sync(self._answer_of, "get_task_status", keys=keys).values()) and time.monotonic() < end:
            time.sleep(0.01)

    def _places(self, lost: Sequence[int]) -> list[str]:
        """A worker for each of the lost hosts: where there are the fewest others, on machines with the fewest."""
        left_alone = {self._where[k] for k in lost}
        began = time.monotonic()
        while True:
            info = self._sync(self._answer_of, "identity", n_workers=-1)["workers"]
            fit = {a: w["host"] for a, w in info.items() if w["status"] == "running"}
            kept = Counter(self._where[k] for k in range(self.n) if k not in lost and self._where[k])
            waited = time.monotonic() - began
            new = [a for a in fit if a not in left_alone]
            if not any(left_alone) or waited > _RETURN or sum(a not in kept for a in new) >= min(len(lost), len(left_alone)):
                fit = {a: fit[a] for a in new} or fit
                if fit:
                    break
            if waited > _PATIENCE:
                raise RuntimeError(_NO_WORKER.format(self._address, _PATIENCE))
            time.sleep(0.1)
        machines = Counter(fit[a] for a in kept.elements() if a in fit)
        places = []
        for _ in lost:
            where = min(fit, key=lambda a: (kept[a], machines[fit[a]], a))
            kept[where] += 1
            machines[fit[where]] += 1
            places.append(where)
        return places

    def _start(self, k: int, where: str) -> None:
        """Have host k made on a worker; if that ends meanwhile, on another one."""
        import dask

        self._where[k] = ""
        desk = dask.delayed(_Desk, pure=False)(self.make[k], dask_key_name=f"ubpe-shard-{k}-{time.time_ns():x}")
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}):
            self._actors[k] = self.client.compute(desk, workers=[where], allow_other_workers=True, actors=True)

    def _wait(self, places: Mapping[int, str]) -> None:
        """Until hosts are made, or the workers ended where they were to be made; what making one of them raised.

        Dask leaves a task that was meant for a worker that ended waiting for ever, if there was no other worker at that time.
        """
        actors = {k: actor for k in places if (actor := self._actors[k]) is not None}
        waiting = set(actors)
        look = began = time.monotonic()
        while waiting := {k for k in waiting if not actors[k].done()}:
            time.sleep(0.005)
            if (now := time.monotonic()) > look + _LOOK:
                look = now
                if there := self._sync(self._answer_of, "identity", n_workers=-1)["workers"]:
                    began = now
                    waiting = {k for k in waiting if places[k] in there}
                elif now > began + _PATIENCE:
                    raise RuntimeError(_NO_WORKER.format(self._address, _PATIENCE))
        for k, actor in actors.items():
            if actor.status == "cancelled":
                raise RuntimeError(f"{self.name_of(k, None)}: cancelled, or data of a future was lost with its worker")
            if actor.status == "error" and str(error := actor.exception()) != _ACTOR_LOST:
                cause = self._sync(self._answer_of, "get_error_cause", keys=[actor.key])
                name = self.name_of(k, tuple(cause) if isinstance(cause, list) else cause)
                raise error if name is None or name in str(error) else failure(error, name)

    async def _find(self, made: Sequence[int]) -> None:
        """Where hosts are, and whether they can be reached directly; of those that are lost again, nowhere."""
        keys = {k: actor.key for k in made if (actor := self._actors[k]) is not None}
        found = await self._answer_of("who_has", keys=list(keys.values()))
        for k, key in keys.items():
            self._where[k] = next(iter(found.get(key, ())), "")
        await asyncio.gather(*[self._reach(k) for k in made if self._where[k]])

    async def _reach(self, k: int) -> None:
        """Whether host k answers the client itself; otherwise the scheduler has to pass messages on."""
        where = self._where[k]
        for direct in (True, False):
            (self._direct.add if direct else self._direct.discard)(where)
            with suppress(Exception):
                if await asyncio.wait_for(self._call(k, "here"), _REACH) is True:
                    return
        self._where[k] = ""

    async def _there(self, hosts: Sequence[int]) -> set[int]:
        """Which of these hosts the scheduler still knows to be where they were."""
        keys = {k: actor.key for k in hosts if (actor := self._actors[k]) is not None}
        found = await self._answer_of("who_has", keys=list(keys.values()))
        return {k for k, key in keys.items() if self._where[k] in found.get(key, ())}

    async def _answer_of(self, question: str, **about: Any) -> Any:
        """What the scheduler answers."""
        try:
            return await asyncio.wait_for(getattr(self.client.scheduler, question)(**about), _ANSWER)
        except Exception as error:
            raise ConnectionError(_UNREACHED.format(self._address)) from error

    def _sync(self, function: Any, *args: Any, **about: Any) -> Any:
        """Run a coroutine on the loop of the client. Ctrl-C ends the wait at once, and the coroutine."""
        if self.client.status != "running":
            raise ConnectionError(_UNREACHED.format(self._address))
        return self.client.sync(function, *args, **about)
