"""The fields of protobuf messages in wire format.

A message is a sequence of fields. Each begins with a key, ``number << 3 | wire type``; the rest depends on
the wire type::

    08 96 01            key 1 << 3 | 0: a varint, 7 bits per byte, low first; the high bit: more follow: 150
    12 02 61 62         key 2 << 3 | 2: a length, and as many bytes: "ab", or a message
    1d 00 00 80 3f      key 3 << 3 | 5: four bytes: 1.0 as a float
                        wire type 1: eight bytes; 3 and 4: groups, no longer written

Messages inside of messages are the bytes of a field, which another call reads: nothing here nests.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import helper, kernel

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5  # wire types
TOO_MANY = -1  # fields; other negative results are -2 - the position of invalid bytes

FIELD = np.dtype(
    [
        ("message", np.int64),  # which message it is in
        ("number", np.int32),
        ("type", np.int32),  # the wire type
        ("value", np.int64),  # of a varint; of others where their bytes begin
        ("end", np.int64),  # of its bytes
    ]
)


@helper
def _varint(data, i, end):
    """The varint at i and its end; (0, -1) if it does not end before `end` or within ten bytes.

    O(bytes).

    data uint8. The bytes [0x96, 0x01] at 0: (150, 2).
    """
    value = np.uint64(0)
    shift = np.uint64(0)
    stop = min(end, i + 10)
    while i < stop:
        b = np.uint64(data[i])
        i += 1
        value |= (b & np.uint64(127)) << shift
        shift += np.uint64(7)
        if b < np.uint64(128):
            return np.int64(value), i
    return np.int64(0), np.int64(-1)


@kernel
def wire_fields(data, begins, ends, fields):
    """List the fields of messages; returns how many there are.

    `data` is uint8. `begins` and `ends` int64[m] are the bytes of each message, inside of data. `fields`
    FIELD[room] is allocated by the caller. Returns TOO_MANY if the room ends, -2 - i for invalid bytes at i.
    O(bytes).

    The example above, one message from 0 to 12: (0, 1, 0, 150, 3), (0, 2, 2, 5, 7), (0, 3, 5, 8, 12); 3.
    """
    n = np.int64(0)
    for m in range(begins.size):
        i = np.int64(begins[m])
        end = np.int64(ends[m])
        while i < end:
            at = i
            key, i = _varint(data, i, end)
            number = key >> 3
            if i < 0 or number < 1 or number >= 1 << 29:
                return -2 - at
            if n == fields.size:
                return np.int64(TOO_MANY)
            kind = key & 7
            value = i
            if kind == VARINT:
                value, i = _varint(data, i, end)
            elif kind == FIXED64:
                i += 8
            elif kind == FIXED32:
                i += 4
            elif kind == BYTES:
                length, i = _varint(data, i, end)
                value = i
                if length < 0 or length > end - i:
                    i = np.int64(-1)
                elif i >= 0:
                    i += length
            else:
                i = np.int64(-1)
            if i < 0 or i > end:
                return -2 - at
            field = fields[n]
            field.message = m
            field.number = number
            field.type = kind
            field.value = value
            field.end = i
            n += 1
    return n
