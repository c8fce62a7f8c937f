"""Messages of protobuf: what was written is read, and what is no message is refused at once."""

import struct

import pytest
from hypothesis import given, strategies as st
from tables import refuses

from ubpe_numba.errors import ModelFormatError
from ubpe_numba.formats.kernels.wire_fields import BYTES, FIXED32, VARINT
from ubpe_numba.formats.protobuf import Messages, field

NUMBER = st.integers(1, 2**29 - 1)
FIELDS = st.lists(
    st.one_of(
        st.tuples(st.just(VARINT), NUMBER, st.integers(0, 2**63 - 1)),
        st.tuples(st.just(BYTES), NUMBER, st.binary(max_size=40)),
        st.tuples(st.just(FIXED32), NUMBER, st.floats(width=32, allow_nan=False)),
    ),
    max_size=20,
)


@given(st.lists(FIELDS, max_size=4))
def test_what_is_written_is_read(messages: list[list[tuple[int, int, int | bytes | float]]]) -> None:
    parts = [b"".join(field(number, value) for _, number, value in message) for message in messages]
    outer = Messages.of(b"".join(field(1, part) for part in parts) + field(2, 7), 100)
    found = outer.inside(1, 1000)
    assert outer.integers(2, 0).tolist() == [7]
    data = outer.data
    want = [(i, kind, number, value) for i, message in enumerate(messages) for kind, number, value in message]
    assert found.listed.size == len(want)
    for (message, number, kind, value, end), (i, wire_type, n, wanted) in zip(
        found.listed.tolist(), want, strict=True
    ):
        assert (message, number, kind) == (i, n, wire_type)
        if kind == VARINT:
            assert value == wanted
        elif kind == BYTES:
            assert data[value:end].tobytes() == wanted
        else:
            assert struct.unpack("<f", data[value:end].tobytes())[0] == wanted


@pytest.mark.parametrize("data, at", [
    (b"\x80", 0),  # a key without an end
    (b"\x80" * 11 + b"\x01", 0),  # of more than ten bytes
    (b"\x00\x01", 0),  # of number 0
    (b"\x0a", 0),  # without a length
    (b"\x0a\x05ab", 0),  # cut off
    (b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 0),  # a length of 2**63 - 1
    (b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 0),  # of 2**64 - 1
    (b"\x08\x01\x0d\x00\x00", 2),  # four bytes, cut off
    (b"\x09\x00", 0),  # eight
    (b"\x0b\x0c", 0),  # a group
    (b"\x0f", 0),  # a wire type that does not exist
    (b"\xff" * 5 + b"\x7f\x00", 0),  # a number beyond 2**29
])  # fmt: skip
def test_what_is_no_message_is_refused(data: bytes, at: int) -> None:
    refuses(ModelFormatError, f"not a message of protobuf: byte {at}$", Messages.of, data, 10)


def test_too_many_or_too_long_fields_are_refused() -> None:
    assert Messages.of(field(1, 1) * 10, 10).listed.size == 10
    with pytest.raises(ModelFormatError, match="byte 2"):  # a field that ends after its message
        Messages.of(field(1, b"\x0a\x03a") + b"\x10\x01", 10).inside(1, 10)
    refuses(ModelFormatError, "more than 10 fields", lambda: Messages.of(field(1, 1) * 11, 10))


WRITTEN = FIELDS.map(lambda fields: b"".join(field(number, value) for _, number, value in fields))


@given(st.one_of(st.binary(max_size=200), st.tuples(WRITTEN, st.binary(max_size=3), WRITTEN).map(b"".join)))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        found = Messages.of(data, 50)
    except ModelFormatError:
        return
    listed = found.listed
    assert (listed["end"] <= len(data)).all() and (
        listed["value"][listed["type"] == BYTES] <= len(data)
    ).all()
