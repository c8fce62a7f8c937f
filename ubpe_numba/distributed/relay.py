"""Messages of a fit on a worker: packed as they travel, and an actor for each host that takes them or passes them on.

The driver of many hosts sends a message to the first actor of each group of consecutive hosts, its *lead*. The lead passes it on,
and sends one answer back:

    driver  ──>  actor 0  ──>  host 0: 3         list_sorted: counts of pairs, which are added up where `together` can
                          ──>  actor 1: 0
            <── 5 ──      ──>  actor 2: 2
            ──>  actor 3  ──>  host 3: 1
            <── 5 ──      ──>  actor 4: 4

Dask runs the coroutines of actors on the worker's event loop, and other methods, one after the other, on a thread for actors: a
lead that waits keeps no host of its worker from working.

Values are pickles, as is all that processes of a cluster send each other; nothing that is read from a file is one.
"""

from __future__ import annotations

import asyncio
import pickle
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from distributed import Worker, get_worker
from distributed.protocol import Serialized, deserialize, serialize

_IN_BAND = 1 << 14  # bytes; larger arrays travel as they are: a copy of less costs no more than a frame of its own
_ALIGNED = 16  # bytes, of arrays that arrive: kernels are compiled for aligned ones


class Packed:
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
        return Packed, (self.head, [pickle.PickleBuffer(b) for b in self.buffers])

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        return len(self.head) + sum(memoryview(b).nbytes for b in self.buffers)

    def frames(self) -> Any:
        """A `distributed.protocol.Serialized`, which Dask passes on as it is: as often as need be, and by any protocol."""
        return Serialized(*serialize(self))

    def open(self) -> Any:
        """The value; its arrays are aligned, and those writable that were."""
        return pickle.loads(self.head, buffers=[_aligned(b) for b in self.buffers])


def received(value: Any) -> Any:
    """A value as it arrives: where both sides are in one process, Dask leaves frames as they were sent."""
    return deserialize(value.header, value.frames) if isinstance(value, Serialized) else value


def pack(value: Any) -> Packed:
    """Pickle a value; see `Packed`."""
    buffers: list[memoryview] = []

    def keep(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes >= _IN_BAND:
            buffers.append(raw)
        return raw.nbytes < _IN_BAND

    return Packed(pickle.dumps(value, protocol=5, buffer_callback=keep), buffers)


def _aligned(buffer: Any) -> Any:
    """The buffer, or a copy at an address that kernels like: several frames may arrive in one."""
    found = np.frombuffer(buffer, np.uint8)
    if found.ctypes.data % _ALIGNED == 0:
        return buffer
    copy = np.empty(found.size, np.uint8)
    copy[:] = found
    return copy.data if found.flags.writeable else copy.data.toreadonly()


#: Given a method and what consecutive hosts answered, in order: the same, or fewer answers, where they can be added up.
Together = Callable[[str, list[Any]], list[Any]]


class HostActor:
    """The actor of a host: takes messages, and answers whatever happens there.

    Messages have numbers, which rise. One that was overtaken by a later one is not delivered any more: its sender has given it
    up, as another host of its group was lost, and what the driver said next is valid. `host`: whose methods messages call;
    `together`: adds up the answers of a group; None: they are sent back one by one.
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

    async def call_group(self, number: int, members: Sequence[tuple[str, str]], message: Packed) -> Any:
        """Call a method of all hosts of a group, whose actors are at these addresses with these keys; this is the first.

        Packed: what they answered, None for those that cannot be reached, in order; fewer answers where all are there and could
        be added up.
        """
        worker, message = get_worker(), received(message)
        calls = [_pass_on(worker, *member, number, message) for member in members]
        found = await asyncio.gather(*calls, return_exceptions=True)
        answers = [one if isinstance(one, Packed) else None for one in found]
        return await _on_this(worker, members[0][1], "gathered", message, answers)

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
    """The answer of the actor with this key. Any exception: it did not get the message, or is not there."""
    if not where:
        raise OSError("not there")
    answer: Packed
    if where == worker.address:
        own = [b if memoryview(b).readonly else bytearray(b) for b in message.buffers]  # others might write to them
        answer = await _on_this(worker, key, "answer", number, Packed(message.head, own))
    else:
        frames = message.frames()
        answered = await worker.rpc(where).actor_execute(actor=key, function="call", args=(number, frames), kwargs={})
        if answered["status"] != "OK":
            raise answered["exception"]
        answer = received(answered["result"])
    return answer


async def _on_this(worker: Worker, key: str, method: str, *args: Any) -> Any:
    """The result of a method of an actor on this worker, which runs on the thread for actors as if a message had called it."""
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
