"""Pairs in buckets, also where buckets overflow, against a dict."""

from random import Random

import numpy as np
from numba import njit
from tables import each

from ubpe_numba.coding.kernels.packed import NO_PAIR, NOBODY, bucket_of, pair_buckets
from ubpe_numba.runtime.machine.intrinsics import address
from ubpe_numba.runtime.tables import packed as table, pairs


@njit
def _enter(left, right, first, entries):
    table.enter_pairs(left, right, first, entries)


@njit
def _look_up(entries, left, right):
    return table.id_of(address(entries), entries.size // 8 - 1, left, right)


@njit
def _bucket(mask, left, right):
    return bucket_of(np.int64(0), mask, left, right)


@njit
def _enter_wide(left, right, first, entries):
    pairs.enter(left, right, first, entries)


@njit
def _look_up_wide(entries, left, right):
    return pairs.value_of(entries, pairs.pair_of(left, right))


@njit
def _home(mask, left, right):
    return pairs.home(pairs.pair_of(left, right), mask)


@each("n", [0, 1, 5, 9, 10, 21, 42, 300])
@each("crowded", [False, True])
@each("wide", [False, True])
def test_every_pair_is_found(n: int, crowded: bool, wide: bool) -> None:
    """Of ids below NOBODY in 8 bytes an entry, and of any in 16."""
    rng = Random(n)
    entries = np.full(4 << max(2, n.bit_length()), -1, np.int64) if wide else pair_buckets(n)
    assert wide or (entries.ctypes.data % 64 == 0 and 2 * entries.size >= 3 * n)
    most, none = (2**31 - 1, -1) if wide else (NOBODY, NO_PAIR)
    enter, look_up, bucket = (_enter_wide, _look_up_wide, _home) if wide else (_enter, _look_up, _bucket)
    mask = entries.size // (16 if wide else 8) - 1
    known: dict[tuple[int, int], int] = {}
    while len(known) < n:
        pair = rng.randrange(most), rng.choice([0, 1, 2, most - 1, rng.randrange(most)])
        # all in the last two buckets, so that they overflow, and into the first
        if not crowded or bucket(mask, *pair) >= (1 if wide else 64) * (mask - 1):
            known.setdefault(pair, 256 + len(known))
    left, right = (np.array([pair[i] for pair in known], np.int32) for i in (0, 1))
    enter(left, right, 256, entries)
    for (a, b), token in known.items():
        assert look_up(entries, a, b) == token
        for other in ((b, a), (a, most), (most, b), (a, b ^ 1)):
            assert look_up(entries, *other) == known.get(other, none)
