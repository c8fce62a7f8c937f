"""Values that travel: pickled once, large arrays beside them, aligned where they arrive."""

import pickle

import numpy as np
import pytest

from ubpe_numba.distributed.relay import _IN_BAND, Packed, pack


def test_a_message_is_pickled_once_and_arrays_go_beside() -> None:
    values = np.arange(100_000)
    packed = pack((values, np.arange(5), None))
    assert len(packed.buffers) == 1
    assert np.shares_memory(np.frombuffer(packed.buffers[0], np.int64), values)
    assert packed.nbytes == len(packed.head) + values.nbytes
    again = pickle.loads(pickle.dumps(packed, protocol=5)).open()
    np.testing.assert_array_equal(again[0], values)
    shifted = bytearray(8 + values.nbytes)[3 : 3 + values.nbytes]
    shifted[:] = values.tobytes()
    raw = bytearray(values.nbytes + 1)
    raw[1:] = shifted
    found = Packed(packed.head, [memoryview(raw)[1:]]).open()[0]
    np.testing.assert_array_equal(found, values)
    assert found.ctypes.data % 16 == 0
    assert found.flags.writeable


def test_a_packed_value_in_another_travels_without_a_copy() -> None:
    values = np.arange(100_000)
    inner = pack((values, np.arange(5)))
    outer = pack([inner, None])
    assert len(outer.buffers) == 1
    assert np.shares_memory(np.frombuffer(outer.buffers[0], np.int64), values)
    assert inner.nbytes < outer.nbytes < inner.nbytes + 500
    again = pickle.loads(pickle.dumps(outer, protocol=5)).open()
    assert again[1] is None
    np.testing.assert_array_equal(again[0].open()[0], values)


@pytest.mark.parametrize("n", [0, 1, _IN_BAND - 1, _IN_BAND, _IN_BAND + 1])
def test_arrays_of_every_size_arrive(n: int) -> None:
    """Those that are not beside the message are in it."""
    values = np.arange(n, dtype=np.uint8)
    again = pickle.loads(pickle.dumps(pack([values, None]), protocol=5)).open()
    np.testing.assert_array_equal(again[0], values)
    assert len(pack(values).buffers) == (n >= _IN_BAND)
