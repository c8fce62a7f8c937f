"""Pairs in buckets, also where buckets overflow, against a dict."""

from random import Random

import numpy as np
from numba import njit
from tables import each

from ubpe_numba.runtime.machine.intrinsics import address
from ubpe_numba.runtime.tables import packed as table
from ubpe_numba.runtime.tables.packed import NO_PAIR, NOBODY, bucket_of, pair_buckets


@njit
def _enter(left, right, first, entries):
    table.enter_pairs(left, right, first, entries)


@njit
def _look_up(entries, left, right):
    return table.id_of(address(entries), entries.size // 8 - 1, left, right)


@njit
def _bucket(mask, left, right):
    return bucket_of(np.int64(0), mask, left, right)


@each("n", [0, 1, 5, 9, 10, 21, 42, 300])
@each("crowded", [False, True])
def test_every_pair_is_found(n: int, crowded: bool) -> None:
    rng = Random(n)
    entries = pair_buckets(n)
    assert entries.ctypes.data % 64 == 0 and 2 * entries.size >= 3 * n
    mask = entries.size // 8 - 1
    pairs: dict[tuple[int, int], int] = {}
    while len(pairs) < n:
        pair = rng.randrange(NOBODY), rng.choice([0, 1, 2, NOBODY - 1, rng.randrange(NOBODY)])
        # all in the last two buckets, so that they overflow, and into the first
        if not crowded or _bucket(mask, *pair) >= 64 * (mask - 1):
            pairs.setdefault(pair, 256 + len(pairs))
    left, right = (np.array([pair[i] for pair in pairs], np.int32) for i in (0, 1))
    _enter(left, right, 256, entries)
    for (a, b), token in pairs.items():
        assert _look_up(entries, a, b) == token
        for other in ((b, a), (a, NOBODY), (NOBODY, b), (a, b ^ 1)):
            assert _look_up(entries, *other) == pairs.get(other, NO_PAIR)
