"""Masks of 64 bytes: what is traced computes the same as plain Python on numbers."""

from __future__ import annotations

import numpy as np
from numba import types

from ubpe_numba.runtime.compiler import kernel
from ubpe_numba.runtime.machine.bytes import Mask, below, equal, in_range, lowest, reach_down, reach_up, traced, width_of
from ubpe_numba.runtime.machine.intrinsics import address

ALL = 2**64 - 1


def _operators(a: Mask, b: Mask) -> tuple[Mask, ...]:
    n = b & 63
    branch = (a & 1).if_any(lambda: a ^ b)
    return a & ~b | a << 3, (a ^ b) + (a >> n) - b, a.least(b), (a & 7).equals(n & 7), branch, below(n), lowest(a), width_of(a)


def _reach(a: Mask, b: Mask) -> tuple[Mask, ...]:
    return reach_up(a, b), reach_down(a, b)


_operated = traced(_operators, *[types.uint64] * 8)
_reached = traced(_reach, *[types.uint64] * 2)
_lower = traced(lambda text, i, char: in_range(text, i, ord("a"), ord("z")) | equal(text, i, char), char="!")


@kernel
def _run(pairs, text, found, masks):
    for k in range(pairs.shape[0]):
        found[k, 0], found[k, 1], found[k, 2], found[k, 3], found[k, 4], found[k, 5], found[k, 6], found[k, 7] = _operated(
            pairs[k, 0], pairs[k, 1]
        )
        found[k, 8], found[k, 9] = _reached(pairs[k, 0], pairs[k, 1])
    for i in range(masks.size):
        masks[i] = _lower(address(text), i)


def _up(a: int, runs: int) -> int:
    found = a
    for k in range(64):
        if found >> k & runs >> k & 1:
            found |= 2 << k
    return found & ALL


def _mirrored(a: int) -> int:
    return int(f"{a:064b}"[::-1], 2)


def test_masks_equal_numbers() -> None:
    rng = np.random.default_rng(3)
    pairs = rng.integers(0, 2**64, (300, 2), np.uint64)
    pairs[100:200] &= rng.integers(0, 2**64, (100, 2), np.uint64)
    pairs[200:] |= rng.integers(0, 2**64, (100, 2), np.uint64)
    pairs[:6] = [[0, 0], [ALL, ALL], [0, ALL], [ALL, 0], [1, 1 << 63], [1 << 63, 1]]
    text = rng.integers(0, 256, 200).astype(np.uint8)
    found, masks = np.zeros((300, 10), np.uint64), np.zeros(text.size - 63, np.uint64)
    _run(pairs, text, found, masks)
    for (a, b), row in zip(pairs.tolist(), found.tolist(), strict=True):
        n = b & 63
        assert row == [
            (a & ~b | a << 3) & ALL,
            ((a ^ b) + (a >> n) - b) & ALL,
            min(a, b),
            ALL if a & 7 == n & 7 else 0,
            a ^ b if a & 1 else 0,
            (1 << n) - 1,
            (a & -a).bit_length() - 1 if a else 64,
            a.bit_length(),
            _up(a, b),
            _mirrored(_up(_mirrored(a), _mirrored(b))),
        ]
    for i, mask in enumerate(masks.tolist()):
        assert mask == sum(1 << k for k in range(64) if chr(text[i + k]) in "abcdefghijklmnopqrstuvwxyz!")
