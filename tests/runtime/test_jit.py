"""Helpers of kernels are not called from Python."""

from __future__ import annotations

import pytest

from ubpe_numba.runtime.tables import pairs as pairtable


def test_a_helper_is_not_called_from_python() -> None:
    with pytest.raises(TypeError, match="pair_of is called by kernels only"):
        pairtable.pair_of(1, 2)
    assert pairtable.pair_of.py_func(1, 2) == 1 << 32 | 2
