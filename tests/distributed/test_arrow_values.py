"""Arrays of Arrow without an object for each document: slices, offsets that do not begin at 0, empty arrays."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ubpe_numba import Ragged
from ubpe_numba.distributed import arrow_values
from ubpe_numba.distributed.arrow_values import flat_bytes, list_array

TEXTS = ["é", "", "ab", "\U0001f600", ""]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()], ids=str)
def test_bytes_of_any_slice(kind: Any) -> None:
    docs = [text.encode() for text in TEXTS]
    for first in range(6):
        for last in range(first, 6):
            data, offsets = flat_bytes(pa.array(docs, kind)[first:last])
            assert [bytes(data[a:b]) for a, b in zip(offsets, offsets[1:], strict=False)] == docs[first:last]


def test_lists_share_their_values_and_are_divided_where_offsets_end(monkeypatch: pytest.MonkeyPatch) -> None:
    ragged = Ragged.from_lists([[9], [1, 2], [], [3, 4, 5], [6]])[1:]
    array = list_array(ragged)
    assert array.type == pa.list_(pa.int32()) and array.to_pylist() == ragged.to_lists()
    assert np.shares_memory(array.values.to_numpy(), ragged.values)
    assert list_array(Ragged.from_lists([])).to_pylist() == []
    monkeypatch.setattr(arrow_values, "_MOST", 3)
    assert [chunk.to_pylist() for chunk in list_array(ragged).chunks] == [[[1, 2], []], [[3, 4, 5]], [[6]]]
    monkeypatch.setattr(arrow_values, "_MOST", 2)
    with pytest.raises(ValueError, match="^document 2 has 3 values: a list has at most 2"):
        list_array(ragged)
