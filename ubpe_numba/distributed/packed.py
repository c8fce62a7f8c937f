"""Values as they travel between processes: a pickle, and beside it the large arrays that it holds."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

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
        """What travels."""
        return len(self.head) + sum(memoryview(b).nbytes for b in self.buffers)

    def frames(self) -> Any:
        """A `distributed.protocol.Serialized`, which Dask passes on as it is: as often as need be, and by any protocol."""
        from distributed.protocol import Serialized, serialize

        return Serialized(*serialize(self))

    def apart(self) -> Packed:
        """The same, whose arrays nobody else writes to."""
        return Packed(self.head, [b if memoryview(b).readonly else bytearray(b) for b in self.buffers])

    def open(self) -> Any:
        """The value; its arrays are aligned, and those writable that were."""
        return pickle.loads(self.head, buffers=[_aligned(b) for b in self.buffers])


def received(value: Any) -> Any:
    """A value as it arrives: where both sides are in one process, Dask leaves frames as they were sent."""
    from distributed.protocol import Serialized, deserialize

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
