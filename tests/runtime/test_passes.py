"""Compiled kernels give what Python gives: accesses to arrays, tuples and records, and variables assigned in many ways."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tables import each

from ubpe_numba.runtime.compiler import helper, kernel, section

RECORD = np.dtype([("count", np.int64), ("left", np.int32)])
Pair = namedtuple("Pair", "numbers table")


@helper
def swapped(pair, i):
    first, second = pair.numbers[i], pair.table[i, 1]
    return (second, first), pair.table.shape[0]


@section
def sum_of(table):
    total = np.int64(0)
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            total += table[i, j]
    return total


@kernel
def accesses(pair, records, values, flags, out):
    n = values.size
    last = np.int64(-1)
    for i in range(n):
        at = values[i]
        if at % 2 == 0:
            last = at  # assigned in one branch
        (a, b), rows = swapped(pair, at)
        records[at].count += a
        records[at]["left"] = b
        pair.table[at, 0] = a - b
        flags[i] = last >= 0
        out[i] = records[at].count * 3 + records[at].left + rows
        x, y = a, b
        while x > y:  # two variables that change places
            x, y = y, x + 1
            out[i] += x
            if out[i] > 1000:
                break
        out[i] += y
    out[0] = sum_of(pair.table) + last
    if n > 1:
        row = pair.table[1]
        out[1] += row[0] + len(pair.table) + pair.table[1:, 0].size
    return last


def arguments(values):
    rng = np.random.default_rng(len(values))
    numbers = rng.integers(-50, 50, 8)
    pair = Pair(numbers, rng.integers(-50, 50, (8, 3)).astype(np.int32))
    n = len(values)
    return pair, np.zeros(8, RECORD), np.array(values, np.uint8), np.zeros(n, np.bool_), np.zeros(n, np.int64)


def reference(monkeypatch, args):
    args = args[0], args[1].view(np.recarray), *args[2:]  # fields are attributes in kernels
    with monkeypatch.context() as patch:
        patch.setitem(globals(), "swapped", swapped.py_func)
        patch.setitem(globals(), "sum_of", sum_of.py_func)
        return accesses.py_func(*args)


@given(st.lists(st.integers(0, 7), min_size=1, max_size=40))
@example([0])
@example([7, 7, 7])
@example([0, 1, 2, 3, 4, 5, 6, 7])
def test_every_kind_of_access_is_that_of_numpy(values: list[int]) -> None:
    compiled, plain = arguments(values), arguments(values)
    with pytest.MonkeyPatch.context() as patch:
        assert accesses(*compiled) == reference(patch, plain)
    for a, b in zip((*compiled[0], *compiled[1:]), (*plain[0], *plain[1:]), strict=True):
        np.testing.assert_array_equal(a, b)


@kernel
def narrowed(numbers, small, floats, i):
    small[i] = numbers[i]  # to fewer bits
    floats[i] = numbers[i] // 2
    small[0] = -1  # a constant index
    unsigned = numbers.view(np.uint64)
    unsigned[np.uint64(1)] >>= np.uint64(63)
    return small.size + floats.shape[0], small[0] == small[i]


def test_values_are_cast_as_numba_casts_them() -> None:
    numbers, small, floats = np.array([5, -7, 2**40 + 3]), np.zeros(3, np.int32), np.zeros(3)
    assert narrowed(numbers, small, floats, 2) == (6, False)
    assert (numbers.tolist(), small.tolist(), floats.tolist()) == ([5, 1, 2**40 + 3], [-1, 0, 3], [0, 0, 2**39 + 1])
    assert narrowed(numbers, small, floats, 0) == (6, True)


@helper
def last_positive(values):
    i = values.size
    while i > 0:
        i -= 1
        if values[i] > 0:
            found = values[i]  # assigned in one branch, used behind the loop
            break
    else:
        found = np.int64(-1)
    return found, i


@section
def floors(numbers, by):
    total = np.int64(0)
    for i in range(numbers.size - 1, -1, -2):
        if numbers[i] % 5 == 0:
            continue
        total += 3 * (numbers[i] // by) + 7 * (numbers[i] % by) + (numbers[i] >> 2) + min(numbers[i], i) - max(numbers[i], by)
    return total


@kernel
def layouts(plain, fortran, strided, small, words, flags, records):
    total, last = np.int64(0), np.int64(0)
    for i in range(plain.shape[0]):
        row = plain[i]
        for j in range(plain.shape[1]):
            fortran[i, j] += row[j] * 2
            total += plain[i][j] - fortran[i, j] * j + strided[i, j]
            strided[i, j] = -total % 100
    for i in range(small.size):
        small[i] += 200  # wraps around
        words[i] = (words[i] ^ np.uint64(small[i])) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(3)
        flags[i] = not flags[i] and -3 < strided[0, i % 2] <= 50 != i
        total += 2 if flags[i] else -1
        records[i].left += small[i]
        records[i].count -= records[i].left
    found, at = last_positive(plain[1])
    for by in (-3, -1, 2, 5):
        last += floors(plain[2], by) * by
    plain[0, 0], plain[0, 1] = plain[0, 1], plain[0, 0]
    return total, last, (found, (at, total > last)), total / 7


@each("seed", range(4))
def test_layouts_types_and_branches(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    def made():
        rng = np.random.default_rng(seed)
        plain, words = rng.integers(-30, 30, (3, 4)), rng.integers(0, 2**63, 6).astype(np.uint64)
        fortran, strided = np.asfortranarray(rng.integers(-9, 9, (3, 4))), rng.integers(-9, 9, (6, 8))[::2, ::2]
        return plain, fortran, strided, rng.integers(0, 256, 6).astype(np.uint8), words, rng.random(6) < 0.5, np.zeros(6, RECORD)

    compiled, plain = made(), made()
    found = layouts(*compiled)
    with monkeypatch.context() as patch, np.errstate(over="ignore"):
        patch.setitem(globals(), "last_positive", last_positive.py_func)
        patch.setitem(globals(), "floors", floors.py_func)
        assert found == layouts.py_func(*plain[:-1], plain[-1].view(np.recarray))
    for a, b in zip(compiled, plain, strict=True):
        np.testing.assert_array_equal(a, b)
