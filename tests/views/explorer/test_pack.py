"""Arrays of a page: what is packed comes back, in a type that JavaScript has."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ubpe_numba.views.explorer.page import packed, unpacked

_TYPES = {"u1", "i1", "u2", "i2", "u4", "i4", "f4", "f8"}


@given(
    st.sampled_from([np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64]).flatmap(
        lambda dtype: arrays(dtype, st.integers(0, 40), elements={} if dtype != np.int64 else st.integers(-(2**53), 2**53))
    )
)
def test_integers_come_back(array: np.ndarray) -> None:
    made = json.loads(json.dumps(packed(array)))
    assert made["t"] in _TYPES and made["n"] == array.size
    assert unpacked(made).astype(np.int64).tolist() == array.astype(np.int64).tolist()


@given(arrays(np.float32, st.integers(0, 20)))
def test_floats_come_back_bit_by_bit(array: np.ndarray) -> None:
    assert unpacked(packed(array)).tobytes() == array.tobytes()


def test_the_narrowest_type_is_taken() -> None:
    for name, values in {
        "u1": [0, 255], "i1": [-1, 127], "u2": [0, 256], "i2": [-200, 5], "u4": [0, 2**32 - 1], "i4": [-(2**31), 0], "f8": [2**40]
    }.items():  # fmt: skip
        assert packed(np.array(values))["t"] == name
    assert packed(np.array([True, False]))["t"] == "u1"


def test_differences_are_kept_where_they_pay() -> None:
    rising, noise = np.arange(4000) * 3, np.random.default_rng(0).integers(0, 200, 4000)
    assert packed(rising)["c"] == 1 and packed(noise)["c"] == 0
    assert len(packed(rising)["d"]) < 200
    wraps = np.tile([0, 65535], 600)
    assert unpacked(packed(wraps)).tolist() == wraps.tolist()


def test_integers_beyond_float64_are_refused() -> None:
    with pytest.raises(ValueError, match=r"array: integers .* are not exact"):
        packed(np.array([2**53 + 1]))
