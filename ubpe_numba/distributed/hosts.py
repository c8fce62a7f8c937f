"""The hosts of a fit on Dask's workers, and their messages: a synchronization is one coroutine.

    driver                     loop of the client                    worker
    ask("step", a, b)  ──>  one message, pickled once   ──direct──>  HostActor ──> host.step(a, b)
    [answers]          <──  all answers together        <──────────  its result or exception

Hosts are made, located, and made again when their workers end. The scheduler knows where each is; the host
itself answers whether it works:

    worker 1        worker 2        worker 3 ends                     worker 1        worker 2
    host 0          host 1          host 2             renew([2])     hosts 0 and 2   host 1

Dask's own actors wake the caller for every answer, pickle the arguments for every host, and wait forever if a
machine vanishes silently. Here the scheduler is polled about hosts that have not answered. Values are pickles
in one piece, whose arrays arrive aligned, as kernels need them. Pickles are never read from a file.
"""

from __future__ import annotations

import asyncio
import pickle
import time
import traceback
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import dask
from distributed.protocol import to_serialize

from ubpe_numba.distributed.cluster import BUILD, LARGE_GRAPHS, UNREACHED, address_of, check_workers, failure

if TYPE_CHECKING:
    from dask.delayed import Delayed
    from distributed import Client, Future

LOOK = 1.0  # seconds between two polls about hosts that have not answered
REACH = 5.0  # seconds to reach a worker directly
_ANSWER = 10.0  # seconds in which the scheduler must answer
# seconds in which a nanny may start a worker again, before hosts have to share those that are left
_RETURN = 10.0
_PATIENCE = 60.0  # seconds without any worker
TRIES = 3  # to make hosts whose workers die meanwhile
# they are short, and many: without a change of threads 0.5 ms shorter each
_ROUNDS = {"step", "take_over", "give_first"}
_ACTOR_LOST = "Worker holding Actor was lost"  # Dask's message about an actor that no longer exists
_NO_WORKER = "client: the cluster of the scheduler at {} has had no worker for {:.0f} s"


class LostHostsError(Exception):
    """Some `hosts` of a fit, a list of int, are gone, and their shards with them."""

    def __init__(self, hosts: Sequence[int], reason: str = "") -> None:
        super().__init__(f"lost: {', '.join(f'host {k}' for k in hosts)}" + f": {reason}" * bool(reason))
        self.hosts = list(hosts)


class HostActor:
    """The actor of a host, whose methods messages call."""

    def __init__(self, host: Any) -> None:
        self._host = host

    def call(self, message: bytes) -> bytes:
        """A pickle of the result of a method of the host; its exception has its origin."""
        try:
            method, args = pickle.loads(message)
            return pickle.dumps(getattr(self._host, method)(*args), 5)
        except Exception as error:
            error.add_note("On a worker:\n" + "".join(traceback.format_exception(error)))
            raise

    async def here(self) -> bytes:
        """Do nothing: another process may have the address by now. Answered even while the host works."""
        return b""


class DaskEngine:
    """Hosts on the workers of a cluster, made with the engine.

    They are spread over workers and machines as evenly as possible.

    `make`: each makes a host, on the worker on which it will live, and is computed again if the host is lost.
    `name_of` is the name of the source of host k, for messages. For the key of a task it is the part that the
    task belongs to, or None; for None all of it. `retries`: of the tasks that make a host.

    Attributes: `rounds` are the synchronizations so far, `sent` and `received` the bytes from the driver to
    hosts, and back. `where` are the addresses of the hosts' workers, empty while a host is nowhere. `direct`
    are those of workers that answer the client itself. ConnectionError here and in every method, with its
    address, if the scheduler does not answer.
    """

    def __init__(
        self, client: Client, make: Sequence[Delayed],
        name_of: Callable[[int, Any], str | None] = lambda k, key: f"host {k}" if key is None else None,
        retries: int = 0,
    ) -> None:  # fmt: skip
        self.client, self.make, self.n, self.name_of, self.retries = (
            client,
            list(make),
            len(make),
            name_of,
            retries,
        )
        self.where, self.direct = [""] * self.n, set[str]()
        self._address = address_of(client)  # of the scheduler; a client forgets it
        self._actors: dict[int, Future] = {}
        self.rounds = self.sent = self.received = 0
        try:
            self.renew(range(self.n))
        except BaseException as error:
            self.close()
            if not isinstance(error, LostHostsError):
                raise
            names = ", ".join(str(name_of(k, None)) for k in error.hosts[:3])
            way = "the memory of one may be too small for it (see the workers' logs)"
            raise RuntimeError(f"{names}: {TRIES} times workers died while they read it: {way}") from None

    def ask(self, method: str, *args: Any) -> list[Any]:
        """Answers of all hosts to one message, in their order.

        LostHostsError if hosts are gone, else the exception of the first host that raised one, when all
        others have answered.
        """
        return self._exchange(range(self.n), method, args)

    def tell(self, k: int, method: str, *args: Any) -> Any:
        """The answer of host k. Raises as `ask`."""
        return self._exchange([k], method, args)[0]

    def _exchange(self, hosts: Sequence[int], method: str, args: tuple[Any, ...]) -> list[Any]:
        """Answers of some hosts to a message."""
        message = pickle.dumps((method, args), 5)
        self.rounds += 1
        self.sent += len(hosts) * len(message)
        answers = self.sync(self._gather, hosts, message, method not in _ROUNDS)
        if lost := [k for k, answer in zip(hosts, answers, strict=True) if answer is None]:
            raise LostHostsError(lost, "their workers have ended, or cannot be reached")
        for answer in answers:
            if answer["status"] != "OK":
                raise answer["exception"]
        self.received += sum(len(answer["result"]) for answer in answers)
        return [pickle.loads(answer["result"]) for answer in answers]

    async def _gather(self, hosts: Sequence[int], message: bytes, separate_thread: bool) -> list[Any]:
        """The answers of hosts to a message, None of those that are lost."""
        calls = {
            k: asyncio.ensure_future(self._call(k, "call", [to_serialize(message)], separate_thread))
            for k in hosts
        }
        waiting = set(hosts)
        try:
            while waiting:
                await asyncio.wait([calls[k] for k in waiting], timeout=LOOK)
                waiting = {k for k in waiting if not calls[k].done()}
                if waiting:
                    waiting &= await self.there(waiting)
        finally:
            for call in calls.values():
                call.cancel()  # of those that are done nothing changes
            await asyncio.wait(calls.values(), timeout=REACH)  # a dead connection may be slow to close
        answered = [
            call.done() and not call.cancelled() and call.exception() is None for call in calls.values()
        ]
        if not all(answered):
            await self.there(())  # if the scheduler is gone, so are the workers soon
        return [call.result() if fine else None for call, fine in zip(calls.values(), answered, strict=True)]

    async def _call(self, k: int, method: str, args: Sequence[Any] = (), separate_thread: bool = True) -> Any:
        """The answer of the actor of host k, as Dask has it.

        Any exception: it did not get the message, or does not exist.
        """
        where, about = self.where[k], {"kwargs": {"separate_thread": separate_thread}, "args": list(args)}
        message = {"function": method, "actor": self._actors[k].key, **about}
        if where in self.direct:
            return await self.client.rpc(where).actor_execute(**message)
        return await self.client.scheduler.proxy(worker=where, msg={"op": "actor_execute", **message})

    async def there(self, hosts: Collection[int]) -> set[int]:
        """Which of these hosts the scheduler still knows at their places."""
        return {k for k, holders in (await self._holders(hosts)).items() if self.where[k] in holders}

    async def _holders(self, hosts: Collection[int]) -> dict[int, Sequence[str]]:
        """The addresses at which the scheduler knows hosts."""
        keys = {k: self._actors[k].key for k in hosts if k in self._actors}
        holders = await self._answer_of("who_has", keys=list(keys.values()))
        return {k: holders.get(key, ()) for k, key in keys.items()}

    async def _answer_of(self, question: str, **about: Any) -> Any:
        """The answer of the scheduler."""
        try:
            return await asyncio.wait_for(getattr(self.client.scheduler, question)(**about), _ANSWER)
        except (OSError, TimeoutError) as error:
            raise ConnectionError(UNREACHED.format(self._address)) from error

    def sync(self, function: Any, *args: Any, **about: Any) -> Any:
        """Run a coroutine on the loop of the client. Ctrl-C ends the wait at once, and the coroutine."""
        if self.client.status != "running":
            raise ConnectionError(UNREACHED.format(self._address))
        return self.client.sync(function, *args, **about)

    def renew(self, lost: Sequence[int]) -> None:
        """Make lost hosts again, on the workers that are left or that nannies have restarted.

        RuntimeError if all workers are missing for a minute. LostHostsError if the new hosts are lost as
        well, and those after them. Otherwise the exception of making a host.
        """
        lost = list(lost)
        for _ in range(TRIES):
            # drop them until the scheduler has forgotten them: their inputs would wait for the earlier
            # workers
            old = [self._actors.pop(k) for k in lost if k in self._actors]
            for actor in old:
                actor.release()
            end, keys = time.monotonic() + _ANSWER, [actor.key for actor in old]
            while (
                old
                and any(self.sync(self._answer_of, "get_task_status", keys=keys).values())
                and time.monotonic() < end
            ):
                time.sleep(0.01)
            places = dict(zip(lost, self._places(lost), strict=True))
            for k, where in places.items():
                self.where[k] = ""
                key = f"ubpe-shard-{k}-{uuid4().hex}"
                host_actor = dask.delayed(HostActor, pure=False)(self.make[k], dask_key_name=key)
                with dask.config.set(LARGE_GRAPHS):
                    self._actors[k] = self.client.compute(
                        host_actor, workers=[where], actors=True, retries=self.retries
                    )
            self._wait(places)
            self.sync(self._find, lost)
            lost = [k for k in lost if not self.where[k]]
            if not lost:
                return
        raise LostHostsError(lost, f"their workers ended {TRIES} times while they were made")

    def crowded(self) -> list[int]:
        """Hosts that share a worker, as many as there are workers without a host.

        These are workers that joined later.
        """
        n_free = len(self._workers().keys() - self.where)
        return [k for k in range(self.n) if self.where[k] in self.where[:k]][:n_free]

    def _workers(self) -> dict[str, str]:
        """The addresses of the workers that can have hosts, and their machines."""
        info = self.sync(self._answer_of, "identity", n_workers=-1)["workers"]
        return {a: w["host"] for a, w in info.items() if w["status"] == "running" and BUILD in w["resources"]}

    def close(self) -> None:
        """Let go of all hosts; their workers drop them."""
        for actor in self._actors.values():
            actor.release()
        self._actors = {}

    def _places(self, lost: Sequence[int]) -> list[str]:
        """A worker for each of the lost hosts.

        The worker has the fewest others, on a machine with the fewest.
        """
        left_alone, began = {self.where[k] for k in lost}, time.monotonic()
        n_hosts = Counter(self.where[k] for k in range(self.n) if k not in lost and self.where[k])
        while True:
            fit, waited = self._workers(), time.monotonic() - began
            new = fit.keys() - left_alone
            if (
                not any(left_alone)
                or waited > _RETURN
                or sum(a not in n_hosts for a in new) >= min(len(lost), len(left_alone))
            ):
                fit = {a: fit[a] for a in new} or fit
                if fit:
                    break
            if waited > _PATIENCE:
                check_workers(self.client, set())
                raise RuntimeError(_NO_WORKER.format(self._address, _PATIENCE))
            time.sleep(0.1)
        places = []
        for _ in lost:
            places.append(
                min(fit, key=lambda a: (n_hosts[a], sum(fit[b] == fit[a] for b in n_hosts if b in fit), a))
            )
            n_hosts[places[-1]] += 1
        return places

    def _wait(self, places: Mapping[int, str]) -> None:
        """Wait until hosts are made, or their workers ended; raise the error of making a host.

        Dask leaves a task that was meant for an ended worker waiting forever, if it was the only worker at
        that time.
        """
        waiting, look = set(places), time.monotonic()
        while waiting := {k for k in waiting if not self._actors[k].done()}:
            time.sleep(0.005)
            if time.monotonic() > look + LOOK:
                look, there = (
                    time.monotonic(),
                    self.sync(self._answer_of, "identity", n_workers=-1)["workers"],
                )
                waiting = {k for k in waiting if places[k] in there}
        for k in places:
            actor = self._actors[k]
            if actor.status == "cancelled":
                # raises if the scheduler is lost, and the future with it
                self.sync(self._answer_of, "identity")
                raise RuntimeError(
                    f"{self.name_of(k, None)}: cancelled, or data of a future was lost with its worker"
                )
            if actor.status == "error" and str(error := actor.exception()) != _ACTOR_LOST:
                cause = self.sync(self._answer_of, "get_error_cause", keys=[actor.key])
                name = self.name_of(k, tuple(cause) if isinstance(cause, list) else cause)
                raise error if name is None or name in str(error) else failure(error, name)

    async def _find(self, made: Sequence[int]) -> None:
        """Find the places of hosts, and whether they can be reached directly; nowhere if lost again."""
        for k, holders in (await self._holders(made)).items():
            self.where[k] = next(iter(holders), "")
        await asyncio.gather(*[self._reach(k) for k in made if self.where[k]])

    async def _reach(self, k: int) -> None:
        """Whether host k answers the client itself; otherwise the scheduler has to pass messages on."""
        where = self.where[k]
        for direct in (True, False):
            (self.direct.add if direct else self.direct.discard)(where)
            with suppress(Exception):
                await asyncio.wait_for(self._call(k, "here"), REACH)
                return
        self.where[k] = ""
