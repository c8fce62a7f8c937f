"""Where messages of a fit arrive on a worker: an actor for each host, of which some pass messages on to others.

The driver of many hosts sends a message to the first desk of each group of consecutive hosts, its *lead*. The lead passes it on,
and sends one answer back:

    driver  ──>  desk 0  ──>  host 0: 3          list_sorted: counts of pairs, which are added up where `together` can
                         ──>  desk 1: 0
            <── 5 ──     ──>  desk 2: 2
            ──>  desk 3  ──>  host 3: 1
            <── 5 ──     ──>  desk 4: 4

Dask runs the coroutines of actors on the worker's event loop, and other methods, one after the other, on a thread for actors: a
lead that waits keeps no host of its worker from working.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ubpe_numba.distributed.packed import Packed, pack, received

if TYPE_CHECKING:
    from distributed import Worker

#: Given a method and what consecutive hosts answered, in order: the same, or fewer answers, where they can be added up.
Together = Callable[[str, list[Any]], list[Any]]


class Desk:
    """The actor of a host: takes messages, and answers whatever happens there.

    Messages have numbers, which rise. One that was overtaken by a later one is not delivered any more: its sender has given it
    up, as another host of its group was lost, and what the driver said next is valid.

    Parameters
    ----------
    host
        Whose methods messages call.
    together
        Adds up the answers of a group; None: they are sent back one by one.
    """

    def __init__(self, host: Any, together: Together | None = None) -> None:
        self._host, self._together, self._newest = host, together, -1

    def call(self, number: int, message: Packed) -> Any:
        """Call a method with arguments. Packed: True and what it returned, or False and what it raised."""
        return self.answer(number, received(message)).frames()

    def answer(self, number: int, message: Packed) -> Packed:
        """As `call`, for a lead on the same worker."""
        try:
            if number < self._newest:
                raise RuntimeError("a message that was given up")
            self._newest = number
            method, args = message.open()
            return pack((True, getattr(self._host, method)(*args)))
        except Exception as error:
            return _packed_error(error)

    async def call_group(self, number: int, members: Sequence[tuple[str, str]], *messages: Packed) -> Any:
        """Call a method of all hosts of a group, whose desks are at these addresses with these keys; this is the first.

        One message for all, or one for each. Packed: what they answered, None for those that cannot be reached, in order; fewer
        answers where all are there and could be added up.
        """
        from distributed import get_worker

        messages = tuple(map(received, messages))
        worker, to_each = get_worker(), messages if len(messages) > 1 else messages * len(members)
        calls = [_pass_on(worker, *member, number, message) for member, message in zip(members, to_each, strict=True)]
        found = await asyncio.gather(*calls, return_exceptions=True)
        answers = [one if isinstance(one, Packed) else None for one in found]
        return await _on_this(worker, members[0][1], "gathered", messages[0], answers)

    def gathered(self, message: Packed, answers: list[Packed | None]) -> Any:
        """The answers to a message as one, packed; added up if they can be."""
        whole = [answer for answer in answers if answer is not None]
        if self._together is not None and len(whole) == len(answers):
            try:
                opened = [answer.open() for answer in whole]
                if all(fine for fine, _ in opened):
                    added = self._together(message.open()[0], [answer for _, answer in opened])
                    if len(added) < len(whole):
                        answers = [pack((True, answer)) for answer in added]
            except Exception as error:
                answers = [_packed_error(error)]
        return pack(answers).frames()

    async def here(self) -> bool:
        """Whether this is it: another process may have the address by now. Answered while the host works, too."""
        return True


async def _pass_on(worker: Worker, where: str, key: str, number: int, message: Packed) -> Packed:
    """What the desk with this key answers. Any exception: it did not get the message, or is not there."""
    if not where:
        raise OSError("not there")
    answer: Packed
    if where == worker.address:
        answer = await _on_this(worker, key, "answer", number, message.apart())
    else:
        frames = message.frames()
        answered = await worker.rpc(where).actor_execute(actor=key, function="call", args=(number, frames), kwargs={})
        if answered["status"] != "OK":
            raise answered["exception"]
        answer = received(answered["result"])
    return answer


async def _on_this(worker: Worker, key: str, method: str, *args: Any) -> Any:
    """What a method of a desk on this worker returns, which runs on the thread for actors as if a message had called it."""
    answered = await worker.actor_execute(actor=key, function=method, args=args, kwargs={})
    if answered["status"] != "OK":
        raise answered["exception"].data
    return answered["result"].data


def _packed_error(error: Exception) -> Packed:
    """An exception that travels, with a note where it came from; a RuntimeError with its text if it cannot."""
    error.add_note("On a worker:\n" + "".join(traceback.format_exception(error)))
    try:
        packed = pack((False, error))
        packed.open()
    except Exception:
        packed = pack((False, RuntimeError(f"{type(error).__name__}: {error}")))
    return packed
