"""The cells of a working text, and its pairs: the worked examples of the kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from ubpe_numba.fitting.kernels import text_cells
from ubpe_numba.fitting.kernels.text_cells import SHARD_STATE, compact, lay_out, load


def test_text_is_loaded_laid_out_and_compacted() -> None:
    state, cells, separators, blocks = (
        np.zeros(1, SHARD_STATE),
        np.zeros(8, np.int32),
        np.zeros(3, np.int32),
        np.zeros(1, np.int32),
    )
    offsets = np.array([0, 3, 5])
    assert load(np.array([1, 2, 3, 1, 2], np.int32), 0, offsets, 0, cells) == 1
    lay_out(offsets, state, cells, separators, blocks)
    assert separators.tolist() == [0, 4, 7]
    assert cells.tolist() == [-1, 1, 2, 3, -1, 1, 2, -1]
    assert state[0].tolist() == (8, 0, 1, 2)
    cells[:] = [-1, 4, -6, 3, -1, 4, -6, -1]
    compact(np.array([1, 1, 1, 1, 2], np.int32), state, cells, separators, blocks)
    assert cells[:6].tolist() == [-1, 4, 3, -1, 4, -1]
    assert separators.tolist() == [0, 3, 5]
    assert state[0].tolist() == (6, 0, 4, 4)


CELLS = np.array([-1, 0, 1, 0, 2, -1, 0, 1, -1], np.int32)


def pair(left: int, right: int) -> int:
    return left << 32 | right


def ints(*values: int, dtype: Any = np.int64) -> np.ndarray:
    return np.array(values, dtype)


def test_dense_table() -> None:
    counts = np.zeros(4, np.int32)
    text_cells.count_dense(ints(-1, 0, 1, 0, -1, dtype=np.int32), 2, counts)
    assert counts.tolist() == [0, 1, 1, 0]
    weights = np.zeros(4, np.int64)
    text_cells.weigh_dense(ints(-1, 0, 1, -1, 1, 0, -1, dtype=np.int32), ints(1, 5), 2, weights)
    assert weights.tolist() == [0, 1, 5, 0]
    arena, slices = np.zeros(4, np.int32), np.zeros(2, np.int32)
    counts, slot_of = ints(0, 2, 1, 0, dtype=np.int32), ints(-1, 0, -1, -1, dtype=np.int32)
    assert text_cells.index_dense(ints(-1, 0, 1, 0, 1, -1, dtype=np.int32), arena, slices, 2, counts, slot_of) == 2
    assert slices.tolist() == [0, 2]
    assert arena[:2].tolist() == [1, 3]


def test_by_left_token() -> None:
    starts, ends = np.zeros(9, np.int32), np.zeros(4, np.int64)
    assert text_cells.sort_by_left(CELLS, starts, ends) == 4
    assert starts[:4].tolist() == [1, 3, 6, 2]
    assert ends[:3].tolist() == [3, 4, 4]
    separators, blocks = ints(0, 5, 8, dtype=np.int32), np.zeros(1, np.int32)
    counters, pairs, counts = np.zeros((3, 3), np.int32), np.zeros(4, np.int64), np.zeros(4, np.int64)
    text = CELLS, separators, blocks
    assert text_cells.count_sorted(*text, None, None, counters, starts, ends, 2, 1, pairs, counts) == (1, 2)  # type: ignore[call-arg]
    assert pairs[0] == pair(0, 1)
    assert counts[0] == 2
    assert not counters[:2].any()
    arena, slices, found = np.zeros(9, np.int32), np.zeros(2, np.int32), np.zeros(1, np.int64)
    scratch = counters[2], np.zeros(9, np.int32)
    assert text_cells.index_sorted(*text, None, starts, ends, *scratch, arena, pairs[:1], slices, found) == 2  # type: ignore[call-arg]
    assert arena[:2].tolist() == [1, 6]
    assert slices.tolist() == [0, 2]
    assert found.tolist() == [2]


def test_bounds_of_several_shards() -> None:
    a, b = pair(0, 1), pair(0, 2)
    found, bounds = np.zeros(3, np.int64), np.zeros(3, np.int64)
    lists = ints(a, a, b), ints(5, 3, 4)
    at, ends = ints(0, 1, 3), ints(1, 3, 3)  # of two shards, and of the borders
    assert text_cells.add_up(*lists, at, ends, 3, 6, np.zeros((3, 3), np.int64), found, bounds) == 2
    assert found[:2].tolist() == [a, b]
    assert bounds[:2].tolist() == [8, 6]
