"""The hosts of a fit on Dask's workers, and the messages to them: a synchronisation is one coroutine.

    driver                     loop of the client                    worker
    ask("step", a, b)  ──>  one message, pickled once   ──direct──>  HostActor ──> host.step(a, b)
    [answers]          <──  all answers together        <──────────  what it returned, or raised

Hosts are made, found, and made anew when their workers end. The scheduler says where each is; whether it answers, the host
itself:

    worker 1        worker 2        worker 3 ends                     worker 1        worker 2
    host 0          host 1          host 2             renew([2])     hosts 0 and 2   host 1

Dask's own actors wake the caller for every answer, pickle the arguments once for every host and array by array, go through the
scheduler unless the client was made with ``direct_to_workers``, and wait for ever where a machine vanishes silently. Here, while
answers are missing, the scheduler is asked whether the hosts are still there.

A message costs the process of the driver about 0.3 ms, whatever its size. Of more than 16 hosts consecutive ones form groups,
about sqrt(n) of about sqrt(n) hosts; the driver sends one message to the first of each, which passes it on (relay.py).
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import dask

from ubpe_numba.distributed.cluster import BUILD, LARGE_GRAPHS, address_of, check_workers, failure
from ubpe_numba.distributed.messages import LostHostsError
from ubpe_numba.distributed.relay import HostActor, Packed, Together, pack, received

if TYPE_CHECKING:
    from dask.delayed import Delayed
    from distributed import Client, Future

LOOK = 1.0  # seconds between two questions whether hosts are there that have not answered
REACH = 5.0  # seconds to reach a worker directly
_ANSWER = 10.0  # seconds in which the scheduler must answer
_RETURN = 10.0  # seconds in which a nanny may start a worker again, before hosts have to share those that are left
_PATIENCE = 60.0  # seconds without any worker
TRIES = 3  # to make hosts whose workers die meanwhile
_ACTOR_LOST = "Worker holding Actor was lost"  # what Dask says of an actor that is not there any more
_UNREACHED = "client: the scheduler at {} cannot be reached: it has ended, or the connection is lost"
_DIRECT = 16  # hosts that the driver asks itself, one by one
_NO_WORKER = "client: the cluster of the scheduler at {} has had no worker for {:.0f} s"


class DaskEngine:
    """Hosts on the workers of a cluster, made when the engine is, as evenly over workers and machines as can be.

    make: each gives a host, on the worker where it is to live, and is computed again if the host is lost; together: adds up what
    consecutive hosts answered to a method, in order, or leaves it as it is: it is called on workers, and `ask` gives fewer
    answers then; name_of: the name of the source of host k, for messages: of the key of a task the part that the task belongs
    to, or None if there is no such part; of None all of it; retries: of what makes a host. `rounds`: synchronisations so far;
    `sent`, `received`: bytes from the driver to each host, and back; those of a group go to and come from its first host;
    `where`: the addresses of the hosts' workers; empty while a host is nowhere; `direct`: those of workers that answer the
    client itself. ConnectionError here and in every method, with its address, if the scheduler does not answer.
    """

    def __init__(
        self, client: Client, make: Sequence[Delayed], together: Together | None = None,
        name_of: Callable[[int, Any], str | None] = lambda k, key: f"host {k}" if key is None else None, retries: int = 0,
    ) -> None:  # fmt: skip
        self.client, self.make, self.n, self.together, self.name_of = client, list(make), len(make), together, name_of
        self.retries = retries
        self.where, self.direct = [""] * self.n, set[str]()
        self._address = address_of(client)  # of the scheduler; a client forgets it
        self._actors: list[Future | None] = [None] * self.n
        n_groups = self.n if self.n <= _DIRECT else math.isqrt(self.n)
        cuts = [self.n * g // n_groups for g in range(n_groups + 1)]
        self._groups = [range(begin, end) for begin, end in pairwise(cuts)]
        self.rounds, self.sent, self.received = 0, [0] * self.n, [0] * self.n
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

        LostHostsError if hosts are gone, when all others have answered; of a group whose first host is gone, or of which one is
        silent, others may be at work still, and take the next message after that. Else the exception of the first host that
        raised one, when all have answered.
        """
        return self._exchange(self._groups, pack((method, args)))

    def tell(self, k: int, method: str, *args: Any) -> Any:
        """The answer of host k. Raises as `ask`."""
        return self._exchange([range(k, k + 1)], pack((method, args)))[0]

    def _exchange(self, groups: Sequence[range], message: Packed) -> list[Any]:
        """Answers of the hosts of groups to a message."""
        self.rounds += 1
        for group in groups:
            self.sent[group.start] += message.nbytes
        found, lost = self.sync(self._gather, groups, message.frames())
        answers: list[Packed] = []
        for group, packed in zip(groups, found, strict=True):
            if packed is None:
                continue
            self.received[group.start] += packed.nbytes
            several = [packed] if len(group) == 1 else packed.open()
            lost += [k for k, answer in zip(group, several, strict=False) if answer is None]
            answers += several
        if lost:
            raise LostHostsError(sorted(lost), "their workers have ended, or cannot be reached")
        opened = [packed.open() for packed in answers]
        for fine, answer in opened:
            if not fine:
                raise answer
        return [answer for _, answer in opened]

    async def _gather(self, groups: Sequence[range], frames: Any) -> tuple[list[Packed | None], list[int]]:
        """The answers of groups; None of those that gave none, and hosts that were lost in them."""
        calls = [asyncio.ensure_future(self._call_group(group, frames)) for group in groups]
        of = dict(zip(calls, groups, strict=True))
        waiting = set(calls)
        silent: dict[Any, list[int]] = {}  # of calls that wait for them
        try:
            while waiting:
                _, waiting = await asyncio.wait(waiting, timeout=LOOK)
                if waiting:
                    there = await self.there([k for call in waiting for k in of[call]])
                    silent |= {call: gone for call in waiting if (gone := [k for k in of[call] if k not in there])}
                    waiting -= silent.keys()
        finally:
            for call in calls:
                call.cancel()  # of those that are done nothing changes
            await asyncio.wait(calls, timeout=REACH)  # a dead connection may be slow to close
        answered = [call.done() and not call.cancelled() and call.exception() is None for call in calls]
        found = [call.result() if fine else None for call, fine in zip(calls, answered, strict=True)]
        broken = [call for call, fine in zip(calls, answered, strict=True) if not fine]
        went = await asyncio.gather(*[self._gone(of[call]) for call in broken if call not in silent])
        went += [silent[call] for call in broken if call in silent]
        lost = [k for hosts in went for k in hosts]
        if lost:
            await self.there([])  # if the scheduler is gone, so are the workers soon
        return found, lost

    async def _call_group(self, group: range, frames: Any) -> Packed:
        """The answers of the hosts of a group. Any exception: its first actor is not there, or did not answer."""
        actors = [(k, self._actors[k]) for k in group]
        members = [("", "") if actor is None else (self.where[k], actor.key) for k, actor in actors]
        method = ("call", self.rounds) if len(group) == 1 else ("call_group", self.rounds, members)
        answer: Packed = await self.call(group.start, *method, frames)
        return answer

    async def _gone(self, group: range) -> list[int]:
        """Hosts of a group that are lost, when its first actor has not answered: that, and those that went with it."""
        others = list(await self.there(group[1:])) if len(group) > 1 else []
        answers = await asyncio.gather(*[self.is_here(k) for k in others])
        alive = {k for k, fine in zip(others, answers, strict=True) if fine}
        return [k for k in group if k not in alive]

    async def call(self, k: int, method: str, *args: Any) -> Any:
        """The answer of the actor of host k. Any exception: it did not get the message, or is not there."""
        where, actor = self.where[k], self._actors[k]
        if actor is None or not where:
            raise OSError("not there")
        message = {"function": method, "actor": actor.key, "args": args, "kwargs": {}}
        if where in self.direct:
            answer = await self.client.rpc(where).actor_execute(**message)
        else:
            answer = await self.client.scheduler.proxy(worker=where, msg={"op": "actor_execute", **message})
        if answer["status"] != "OK":
            raise answer["exception"]
        return received(answer["result"])

    async def is_here(self, k: int) -> bool:
        """Whether the actor of host k answers."""
        with suppress(Exception):
            return await asyncio.wait_for(self.call(k, "here"), REACH) is True
        return False

    async def there(self, hosts: Sequence[int]) -> set[int]:
        """Which of these hosts the scheduler still knows to be where they were."""
        keys = {k: actor.key for k in hosts if (actor := self._actors[k]) is not None}
        found = await self._answer_of("who_has", keys=list(keys.values()))
        return {k for k, key in keys.items() if self.where[k] in found.get(key, ())}

    async def _answer_of(self, question: str, **about: Any) -> Any:
        """The answer of the scheduler."""
        try:
            return await asyncio.wait_for(getattr(self.client.scheduler, question)(**about), _ANSWER)
        except (OSError, TimeoutError) as error:
            raise ConnectionError(_UNREACHED.format(self._address)) from error

    def sync(self, function: Any, *args: Any, **about: Any) -> Any:
        """Run a coroutine on the loop of the client. Ctrl-C ends the wait at once, and the coroutine."""
        if self.client.status != "running":
            raise ConnectionError(_UNREACHED.format(self._address))
        return self.client.sync(function, *args, **about)

    def renew(self, lost: Sequence[int]) -> None:
        """Make hosts anew that are lost, on the workers that are left or on those that nannies have started again.

        RuntimeError if there is no worker for a minute; LostHostsError if the new hosts are lost as well, and those after them;
        and the exception of making a host.
        """
        lost = list(lost)
        for _ in range(TRIES):
            # drop them until the scheduler has forgotten them: what they are made of would wait for the workers of before
            old = [actor for k in lost if (actor := self._actors[k]) is not None]
            for actor in old:
                actor.release()
            for k in lost:
                self._actors[k] = None
            end, keys = time.monotonic() + _ANSWER, [actor.key for actor in old]
            while old and any(self.sync(self._answer_of, "get_task_status", keys=keys).values()) and time.monotonic() < end:
                time.sleep(0.01)
            places = dict(zip(lost, self._places(lost), strict=True))
            for k, where in places.items():
                self.where[k] = ""
                key = f"ubpe-shard-{k}-{uuid4().hex}"
                made = dask.delayed(HostActor, pure=False)(self.make[k], self.together, dask_key_name=key)
                with dask.config.set(LARGE_GRAPHS):
                    self._actors[k] = self.client.compute(made, workers=[where], actors=True, retries=self.retries)
            self._wait(places)
            self.sync(self._find, lost)
            lost = [k for k in lost if not self.where[k]]
            if not lost:
                return
        raise LostHostsError(lost, f"their workers ended {TRIES} times while they were made")

    def crowded(self) -> list[int]:
        """Hosts that share a worker, as many as there are workers without a host: such as joined after it was made."""
        info = self.sync(self._answer_of, "identity", n_workers=-1)["workers"]
        n_free = sum(w["status"] == "running" and BUILD in w["resources"] and a not in self.where for a, w in info.items())
        return [k for k in range(self.n) if self.where[k] in self.where[:k]][:n_free]

    def close(self) -> None:
        """Let go of all hosts; their workers drop them."""
        for actor in self._actors:
            if actor is not None:
                actor.release()
        self._actors = [None] * self.n

    def _places(self, lost: Sequence[int]) -> list[str]:
        """A worker for each of the lost hosts: where there are the fewest others, on machines with the fewest."""
        left_alone = {self.where[k] for k in lost}
        began = time.monotonic()
        while True:
            info = self.sync(self._answer_of, "identity", n_workers=-1)["workers"]
            fit = {a: w["host"] for a, w in info.items() if w["status"] == "running" and BUILD in w["resources"]}
            kept = Counter(self.where[k] for k in range(self.n) if k not in lost and self.where[k])
            waited = time.monotonic() - began
            new = [a for a in fit if a not in left_alone]
            if not any(left_alone) or waited > _RETURN or sum(a not in kept for a in new) >= min(len(lost), len(left_alone)):
                fit = {a: fit[a] for a in new} or fit
                if fit:
                    break
            if waited > _PATIENCE:
                check_workers(self.client, set())
                raise RuntimeError(_NO_WORKER.format(self._address, _PATIENCE))
            time.sleep(0.1)
        places = []
        for _ in lost:
            places.append(min(fit, key=lambda a: (kept[a], sum(fit[b] == fit[a] for b in kept if b in fit), a)))
            kept[places[-1]] += 1
        return places

    def _wait(self, places: Mapping[int, str]) -> None:
        """Wait until hosts are made, or the workers ended where they were to be made; raise the error of making one of them.

        Dask leaves a task that was meant for a worker that ended waiting for ever, if there was no other worker at that time.
        """
        actors = {k: actor for k in places if (actor := self._actors[k]) is not None}
        waiting = set(actors)
        look = began = time.monotonic()
        while waiting := {k for k in waiting if not actors[k].done()}:
            time.sleep(0.005)
            if (now := time.monotonic()) > look + LOOK:
                look = now
                if there := self.sync(self._answer_of, "identity", n_workers=-1)["workers"]:
                    began = now
                    waiting = {k for k in waiting if places[k] in there}
                elif now > began + _PATIENCE:
                    raise RuntimeError(_NO_WORKER.format(self._address, _PATIENCE))
        for k, actor in actors.items():
            if actor.status == "cancelled":
                self.sync(self._answer_of, "identity")  # raises if the scheduler is lost, and the future with it
                raise RuntimeError(f"{self.name_of(k, None)}: cancelled, or data of a future was lost with its worker")
            if actor.status == "error" and str(error := actor.exception()) != _ACTOR_LOST:
                cause = self.sync(self._answer_of, "get_error_cause", keys=[actor.key])
                name = self.name_of(k, tuple(cause) if isinstance(cause, list) else cause)
                raise error if name is None or name in str(error) else failure(error, name)

    async def _find(self, made: Sequence[int]) -> None:
        """Where hosts are, and whether they can be reached directly; of those that are lost again, nowhere."""
        keys = {k: actor.key for k in made if (actor := self._actors[k]) is not None}
        found = await self._answer_of("who_has", keys=list(keys.values()))
        for k, key in keys.items():
            self.where[k] = next(iter(found.get(key, ())), "")
        await asyncio.gather(*[self._reach(k) for k in made if self.where[k]])

    async def _reach(self, k: int) -> None:
        """Whether host k answers the client itself; otherwise the scheduler has to pass messages on."""
        where = self.where[k]
        for direct in (True, False):
            (self.direct.add if direct else self.direct.discard)(where)
            if await self.is_here(k):
                return
        self.where[k] = ""
