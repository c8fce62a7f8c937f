"""An array that grows holds what it was given."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ubpe_numba.runtime.arrays import GrowingArray


@given(st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5), max_size=8))
def test_growing_holds_what_it_was_given(batches):
    growing = GrowingArray()
    for batch in batches:
        growing.append(np.array(batch, np.int64))
    assert growing.finish().tolist() == [x for batch in batches for x in batch]
