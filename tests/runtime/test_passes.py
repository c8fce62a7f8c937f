"""Compiled kernels give what Python gives: accesses to arrays, tuples and records, and variables assigned in many ways."""

from collections import namedtuple

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

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
        row, column = pair.table[1], pair.table[1:, 0]  # one of them without gaps
        column[2] += row[0]
        out[1] += row[0] + len(pair.table) + column.size + column[3]
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
    assert (numbers.tolist(), small.tolist(), floats.tolist()) == (
        [5, 1, 2**40 + 3],
        [-1, 0, 3],
        [0, 0, 2**39 + 1],
    )
    assert narrowed(numbers, small, floats, 0) == (6, True)
