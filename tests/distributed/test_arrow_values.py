"""Lists of Arrow made of ids: slices, offsets that do not begin at 0, empty arrays."""

import numpy as np
import pyarrow as pa
import pytest

from ubpe_numba import Ragged
from ubpe_numba.distributed import tables
from ubpe_numba.distributed.tables import list_array


def test_lists_share_their_values_and_are_divided_where_offsets_end(monkeypatch: pytest.MonkeyPatch) -> None:
    ragged = Ragged.from_lists([[9], [1, 2], [], [3, 4, 5], [6]])[1:]
    array = list_array(ragged)
    assert array.type == pa.list_(pa.int32()) and array.to_pylist() == ragged.to_lists()
    assert np.shares_memory(array.values.to_numpy(), ragged.values)
    assert list_array(Ragged.from_lists([])).to_pylist() == []
    monkeypatch.setattr(tables, "_MOST", 3)
    assert [chunk.to_pylist() for chunk in list_array(ragged).chunks] == [[[1, 2], []], [[3, 4, 5]], [[6]]]
    monkeypatch.setattr(tables, "_MOST", 2)
    with pytest.raises(ValueError, match="^document 2 has 3 values: a list has at most 2"):
        list_array(ragged)
