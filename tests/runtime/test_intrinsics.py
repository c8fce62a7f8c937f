"""Vectors at addresses, against lists."""

from __future__ import annotations

from random import Random

import numpy as np
from numba import njit

from ubpe_numba.runtime.machine import intrinsics
from ubpe_numba.runtime.machine.intrinsics import address


@njit
def _put(ranks, i, x, j, y, k, z):
    return intrinsics.put_in_16(address(ranks), i, x, j, y, k, z)


@njit
def _value(entries, key):
    return intrinsics.value_of_8(address(entries), key)


@njit
def _copies(target, source):
    intrinsics.fill_16(address(target), np.int64(7))
    intrinsics.copy_64_bytes(address(target) + 64, address(source) + 4)
    intrinsics.copy_16_bytes(address(target) + 132, address(source))


def test_sixteen_ranks() -> None:
    rng = Random(1)
    top = (1 << 27) - 1
    for _ in range(200):
        ranks = [rng.choice([0, 1, 5, top, rng.randrange(top)]) for _ in range(16)]
        places = [*rng.sample(range(16), 2), rng.choice([-1, -2, 16, 40, -100])]
        rng.shuffle(places)
        values = [rng.choice([0, 1, top, rng.randrange(top)]) for _ in range(3)]
        want = list(ranks)
        for place, value in zip(places, values, strict=True):
            if 0 <= place < 16:
                want[place] = value
        array = np.array(ranks, np.int32)
        (i, j, k), (x, y, z) = places, values
        assert divmod(_put(array, i, x, j, y, k, z), 16) == (min(want), want.index(min(want)))
        assert array.tolist() == want


def test_eight_pairs() -> None:
    rng = Random(2)
    for _ in range(200):
        keys = rng.sample(range(20), 8)
        keys[0] = (1 << 42) - 2
        values = [rng.randrange(1, 1 << 21) for _ in keys]
        entries = np.array([key << 22 | value for key, value in zip(keys, values, strict=True)], np.uint64)
        for key in (*range(20), keys[0]):
            assert _value(entries, np.uint64(key)) == (values[keys.index(key)] if key in keys else 0)


def test_fills_and_copies_write_as_much_as_their_names_say() -> None:
    source = np.arange(20, dtype=np.int32)
    target = np.zeros(40, np.int32)
    _copies(target, source)
    assert target.tolist() == [7] * 16 + list(range(1, 17)) + [0] + [0, 1, 2, 3] + [0] * 3
