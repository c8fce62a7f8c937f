"""What vocabularies for the fewest tokens are chosen on: which part of the corpus a segment belongs to."""

from __future__ import annotations

import numpy as np
import pytest

from ubpe_numba import Ragged
from ubpe_numba.fitting.units import _parts


@pytest.mark.parametrize("first", [0, 1, 2, 7])
def test_parts_are_documents_or_stretches_of_long_ones(first: int) -> None:
    """Counted from 0, also where the first documents have no segment."""
    segments = Ragged.from_lists([[0] * n for n in (3, 3, 5, 1, 4, 4, 2)])
    document_of = first + np.array([0, 0, 1, 3, 3, 3, 3])
    assert _parts(segments, document_of, 100).tolist() == [0, 0, 1, 2, 2, 2, 2]
    assert _parts(segments, document_of, 5).tolist() == [0, 0, 1, 2, 2, 3, 3]
