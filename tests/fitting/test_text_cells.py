"""The cells of a working text: the worked examples of the kernels."""

from __future__ import annotations

import numpy as np

from ubpe_numba.fitting.kernels.text_cells import SHARD_STATE, compact, lay_out, load


def test_text_is_laid_out_loaded_and_compacted() -> None:
    state, cells, separators, blocks = (
        np.zeros(1, SHARD_STATE),
        np.zeros(8, np.int32),
        np.zeros(3, np.int32),
        np.zeros(1, np.int32),
    )
    offsets = np.array([0, 3, 5])
    lay_out(offsets, state, cells, separators, blocks)
    assert separators.tolist() == [0, 4, 7]
    assert load(np.array([1, 2, 3, 1, 2], np.int32), 0, offsets, 0, state, cells, separators) == 1
    assert cells.tolist() == [-1, 1, 2, 3, -1, 1, 2, -1]
    assert state[0].tolist() == (8, 0, 1, 2)
    cells[:] = [-1, 4, -6, 3, -1, 4, -6, -1]
    compact(np.array([1, 1, 1, 1, 2], np.int32), state, cells, separators, blocks)
    assert cells[:6].tolist() == [-1, 4, 3, -1, 4, -1]
    assert separators.tolist() == [0, 3, 5]
    assert state[0].tolist() == (6, 0, 4, 4)
