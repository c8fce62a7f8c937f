"""Messages of a fit to its shards on Dask's workers: each host is an actor, and a synchronisation is one coroutine.

    driver                     loop of the client                    worker
    ask("step", a, b)  ──>  one message, pickled once   ──direct──>  Desk ──> host.step(a, b)
    [answers]          <──  all answers together        <──────────  what it returned, or raised

Dask's own actors wake the caller for every answer, pickle the arguments once for every host and array by array, go through the
scheduler unless the client was made with ``direct_to_workers``, and wait for ever where a machine vanishes without a word. Here,
while answers are missing, the scheduler is asked whether the hosts are still there.

A message costs the process of the driver about 0.3 ms, whatever is in it. Of more than 16 hosts consecutive ones form groups,
about sqrt(n) of about sqrt(n) hosts; the driver sends one message to the first desk of each, which passes it on (desk.py).
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ubpe_numba.distributed import hosts
from ubpe_numba.distributed.desk import Together
from ubpe_numba.distributed.messages import LostHostsError
from ubpe_numba.distributed.packed import Packed, pack

if TYPE_CHECKING:
    from dask.delayed import Delayed
    from distributed import Client

_DIRECT = 16  # hosts that the driver asks itself, one by one


class DaskEngine:
    """Hosts on the workers of a cluster, made when the engine is, as evenly over workers and machines as can be.

    Parameters
    ----------
    client : Client
        A synchronous one.
    make : list of Delayed
        Each gives a host, on the worker where it is to live. It is computed again if the host is lost.
    together
        Adds up what consecutive hosts answered to a method, in order, or leaves it as it is: it is called on workers, and `ask`
        gives fewer answers then. None: there is an answer of every host.
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
        Bytes from the driver to each host, and back, so far; those of a group go to and come from its first host.

    Raises
    ------
    ConnectionError
        Here and in every method: if the scheduler does not answer, with its address.
    """

    def __init__(
        self,
        client: Client,
        make: Sequence[Delayed],
        together: Together | None = None,
        name_of: Callable[[int, Any], str | None] = hosts.number_of,
    ) -> None:
        self.hosts, self.n = hosts.Hosts(client, make, together, name_of), len(make)
        n_groups = self.n if self.n <= _DIRECT else math.isqrt(self.n)
        cuts = [self.n * g // n_groups for g in range(n_groups + 1)]
        self._groups = [range(begin, end) for begin, end in pairwise(cuts)]
        self.rounds, self.sent, self.received = 0, [0] * self.n, [0] * self.n
        try:
            self.renew(range(self.n))
        except LostHostsError as error:
            self.close()
            names = ", ".join(str(name_of(k, None)) for k in error.hosts[:3])
            raise RuntimeError(
                f"{names}: {hosts.TRIES} times workers died while they read it: the memory of one may be too small for it (see "
                "the workers' logs)"
            ) from None
        except BaseException:
            self.close()
            raise

    # -------------------------------------------------------------------------------------------- messages

    def ask(self, method: str, *args: Any, each: Sequence[tuple[Any, ...]] | None = None) -> list[Any]:
        """What the hosts answer, in their order; all get the same arguments, or with `each` host k gets `each[k]`.

        Raises
        ------
        LostHostsError
            If hosts are gone, when all others have answered; of a group whose first host is gone, or of which one does not say
            a word, others may be at work still, and take the next message after that.
        Exception
            What the first host that raised did raise, when all have answered.
        """
        if each is None:
            return self._exchange(self._groups, [[pack((method, args))]] * len(self._groups))
        own = [pack((method, args)) for _, args in zip(range(self.n), each, strict=True)]
        return self._exchange(self._groups, [own[group.start : group.stop] for group in self._groups])

    def tell(self, k: int, method: str, *args: Any) -> Any:
        """What host k answers. Raises as `ask`."""
        return self._exchange([range(k, k + 1)], [[pack((method, args))]])[0]

    def _exchange(self, groups: Sequence[range], messages: Sequence[list[Packed]]) -> list[Any]:
        """Messages to the hosts of groups, one for all of a group or one for each host, and the answers."""
        self.rounds += 1
        frames = {id(m): m.frames() for several in messages for m in several}
        for group, several in zip(groups, messages, strict=True):
            self.sent[group.start] += sum(m.nbytes for m in several)
        found, lost = self.hosts.sync(self._gather, groups, [[frames[id(m)] for m in several] for several in messages])
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

    async def _gather(self, groups: Sequence[range], frames: Sequence[list[Any]]) -> tuple[list[Packed | None], list[int]]:
        """The answers of groups; None of those that gave none, and hosts that were lost in them."""
        calls = [asyncio.ensure_future(self._call_group(g, f)) for g, f in zip(groups, frames, strict=True)]
        of = dict(zip(calls, groups, strict=True))
        waiting = set(calls)
        silent: dict[Any, list[int]] = {}  # of calls that wait for them
        try:
            while waiting:
                _, waiting = await asyncio.wait(waiting, timeout=hosts.LOOK)
                if waiting:
                    there = await self.hosts.there([k for call in waiting for k in of[call]])
                    silent |= {call: gone for call in waiting if (gone := [k for k in of[call] if k not in there])}
                    waiting -= silent.keys()
        finally:
            for call in calls:
                call.cancel()  # of those that are done nothing changes
            await asyncio.wait(calls, timeout=hosts.REACH)  # a dead connection may be slow to close
        answered = [call.done() and not call.cancelled() and call.exception() is None for call in calls]
        found = [call.result() if fine else None for call, fine in zip(calls, answered, strict=True)]
        broken = [call for call, fine in zip(calls, answered, strict=True) if not fine]
        went = await asyncio.gather(*[self._gone(of[call]) for call in broken if call not in silent])
        went += [silent[call] for call in broken if call in silent]
        lost = [k for hosts in went for k in hosts]
        if lost:
            await self.hosts.there([])  # if the scheduler is gone, so are the workers soon
        return found, lost

    async def _call_group(self, group: range, frames: list[Any]) -> Packed:
        """What the hosts of a group answer. Any exception: its first desk is not there, or did not answer."""
        answer: Packed
        if len(group) == 1:
            answer = await self.hosts.call(group.start, "call", self.rounds, *frames)
        else:
            where, keys = self.hosts.where, self.hosts.keys
            members = [(where[k] if keys[k] else "", keys[k]) for k in group]
            answer = await self.hosts.call(group.start, "call_group", self.rounds, members, *frames)
        return answer

    async def _gone(self, group: range) -> list[int]:
        """Hosts of a group that are lost, when its first desk has not answered: that, and those that went with it."""
        others = list(await self.hosts.there(group[1:])) if len(group) > 1 else []
        answers = await asyncio.gather(*[self.hosts.is_here(k) for k in others])
        alive = {k for k, fine in zip(others, answers, strict=True) if fine}
        return [k for k in group if k not in alive]

    # -------------------------------------------------------------------------------------------- hosts

    def renew(self, lost: Sequence[int]) -> None:
        """Make hosts anew that are lost. Raises as `hosts.Hosts.renew`."""
        self.hosts.renew(lost)

    def close(self) -> None:
        """Let go of all hosts; their workers drop them."""
        self.hosts.close()
