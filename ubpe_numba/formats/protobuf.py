"""Messages of protobuf: as much of the format as models of sentencepiece need, read as arrays and written.

The package protobuf makes an object of every message, a quarter of a million for a large vocabulary, and
nests as deeply as a file requires. Here a kernel lists the fields of all messages of a level (see
kernels/wire_fields.py); the caller knows the meaning of their numbers. If a field occurs several times the
last counts, as in protobuf.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np

from ubpe_numba.errors import ModelFormatError
from ubpe_numba.formats.kernels.wire_fields import BYTES, FIELD, FIXED32, TOO_MANY, VARINT, wire_fields


class Messages(NamedTuple):
    """Messages of a level, and their fields in order: message i is ``data[begins[i]:ends[i]]``."""

    data: np.ndarray  # uint8
    begins: np.ndarray  # int64[m]
    ends: np.ndarray  # int64[m]
    listed: np.ndarray  # FIELD[n]

    @classmethod
    def of(cls, data: bytes, most: int) -> Messages:
        """The one message of `data`.

        ModelFormatError for invalid bytes, and for more than `most` fields.
        """
        return cls._listed(
            np.frombuffer(bytearray(data), np.uint8), np.array([0]), np.array([len(data)]), most
        )

    @classmethod
    def _listed(cls, data: np.ndarray, begins: np.ndarray, ends: np.ndarray, most: int) -> Messages:
        room = min(most, int((ends - begins).sum()) // 2 + 1)  # memory that is not written to costs nothing
        fields_of = np.empty(room, FIELD)
        n = int(wire_fields(data, begins, ends, fields_of))
        if n == TOO_MANY:
            raise ModelFormatError(f"more than {most} fields in a message of protobuf")
        if n < 0:
            raise ModelFormatError(f"not a message of protobuf: byte {-2 - n}")
        return cls(data, begins, ends, fields_of[:n])

    def inside(self, number: int, most: int) -> Messages:
        """The messages in the fields of a number; errors as of `of`."""
        place = self._of(number, BYTES)
        return self._listed(self.data, place["value"].copy(), place["end"].copy(), most)

    def _of(self, number: int, wire_type: int) -> np.ndarray:
        """The fields of a number, FIELD[k]; fields of another wire type are unknown, and no error."""
        listed = self.listed
        matches: np.ndarray = listed[(listed["number"] == number) & (listed["type"] == wire_type)]
        return matches

    def _last(self, number: int, wire_type: int) -> tuple[np.ndarray, np.ndarray]:
        """The last field of a number in each message that has it: FIELD[k], and the messages, int64[k]."""
        fields_of = self._of(number, wire_type)
        last = np.flatnonzero(np.diff(fields_of["message"], append=-1))
        return fields_of[last], fields_of["message"][last]

    def strings(self, number: int) -> list[bytes]:
        """The bytes of all fields of a number."""
        data = self.data
        return [
            data[begin:end].tobytes() for begin, end in self._of(number, BYTES)[["value", "end"]].tolist()
        ]

    def texts(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Bytes of a field of every message as one text, uint8, and lengths int64[m], 0 if it is absent."""
        fields_of, which = self._last(number, BYTES)
        lengths = np.zeros(self.begins.size, np.int64)
        lengths[which] = sizes = fields_of["end"] - fields_of["value"]
        shift = np.repeat(fields_of["value"] - (np.cumsum(sizes) - sizes), sizes)
        return self.data[shift + np.arange(shift.size)], lengths

    def integers(self, number: int, default: int) -> np.ndarray:
        """A varint of every message, int64[m]."""
        fields_of, which = self._last(number, VARINT)
        values = np.full(self.begins.size, default)
        values[which] = fields_of["value"]
        return values

    def floats(self, number: int, default: float) -> np.ndarray:
        """A float of every message, float32[m]."""
        fields_of, which = self._last(number, FIXED32)
        values = np.full(self.begins.size, default, np.float32)
        values[which] = self.data[fields_of["value"][:, None] + np.arange(4)].copy().view("<f4")[:, 0]
        return values


def field(number: int, value: int | float | bytes) -> bytes:
    """A field in wire format: an int as a varint, a float of four bytes, or bytes.

    >>> field(1, 150).hex(), field(2, b"ab").hex(), field(3, 1.0).hex()
    ('089601', '12026162', '1d0000803f')
    """
    if isinstance(value, float):
        return _varint(number << 3 | FIXED32) + struct.pack("<f", value)
    if isinstance(value, int):
        return _varint(number << 3 | VARINT) + _varint(value)
    return _varint(number << 3 | BYTES) + _varint(len(value)) + value


def _varint(x: int) -> bytes:
    """A number of 0 to 2**64 - 1, 7 bits per byte."""
    out = bytearray()
    while x > 127:
        out.append(x & 127 | 128)
        x >>= 7
    out.append(x)
    return bytes(out)
