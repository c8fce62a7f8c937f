"""Columns of tables as documents: Arrow's types, and Series of pandas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")

from ubpe_numba import count_documents  # noqa: E402
from ubpe_numba.distributed.tables import arrow_documents, kind_of, series_documents, table_documents  # noqa: E402

LISTS = [[1, 2], [], [3]]
TEXTS = ["né", "", "x", "x"]


ARRAYS = [
    (pa.array(TEXTS, pa.string_view()), TEXTS),
    (pa.array([b"a", b""], pa.binary_view()), [b"a", b""]),
    (pa.array([[1, 2], [3, 4], [1, 2]], pa.list_(pa.int32(), 2)), [[1, 2], [3, 4], [1, 2]]),
    (pa.array(TEXTS).dictionary_encode(), TEXTS),
    (pa.array([b"a", b"a"], pa.large_binary()).dictionary_encode(), [b"a", b"a"]),
]


@pytest.mark.parametrize("array, docs", ARRAYS, ids=[str(array.type) for array, _ in ARRAYS])
def test_arrays_of_other_types(array: Any, docs: list[Any]) -> None:
    for given in (array, pa.chunked_array([array.slice(0, 1), array.slice(1, 0), array.slice(1)])):
        assert count_documents(arrow_documents(given, "here")) == count_documents(docs)
    assert kind_of(array.type, "here") == count_documents(docs).kind


@pytest.mark.parametrize(
    "kind", [pa.list_view(pa.int32()), pa.list_(pa.list_(pa.int32())), pa.struct([("a", pa.int32())]), pa.null()]
)
def test_arrays_that_are_no_documents(kind: Any) -> None:
    """Arrow 26 casts views of lists to lists that are not valid."""
    with pytest.raises(TypeError, match="here: expected lists of integers, strings or binary, got"):
        arrow_documents(pa.array([], kind), "here")


def test_extension_types() -> None:
    array = pa.ExtensionArray.from_storage(pa.opaque(pa.list_(pa.int32()), "ids", "test"), pa.array(LISTS, pa.list_(pa.int32())))
    assert kind_of(array.type, "here") == "int"
    assert count_documents(arrow_documents(array, "here")) == count_documents(LISTS)


SERIES = [
    pd.Series(LISTS, dtype=object),
    pd.Series([np.array(doc, np.int16) for doc in LISTS], dtype=object),
    pd.Series(LISTS, dtype=pd.ArrowDtype(pa.list_(pa.int32()))),
]
TEXT_SERIES = [
    pd.Series(TEXTS, dtype=kind) for kind in (object, "string", "string[python]", "category", pd.ArrowDtype(pa.large_string()))
]


@pytest.mark.parametrize("series", SERIES, ids=lambda series: str(series.dtype))
def test_series_of_lists(series: Any) -> None:
    assert count_documents(series_documents(series, "here")) == count_documents(LISTS)


@pytest.mark.parametrize("series", TEXT_SERIES, ids=lambda series: str(series.dtype))
def test_series_of_texts(series: Any) -> None:
    assert count_documents(series_documents(series, "here")) == count_documents(TEXTS)


@pytest.mark.parametrize("values", [[1, 2], [1.5], [True], pd.to_datetime(["2026-01-01"]), pd.Categorical([1, 2])])
def test_series_of_something_else(values: Any) -> None:
    with pytest.raises(TypeError, match="here: expected lists of integers, strings or binary, got"):
        series_documents(pd.Series(values), "here")


@pytest.mark.parametrize("series", [pd.Series(["a", None], dtype=kind) for kind in (object, "string")], ids=["object", "string"])
def test_missing_values(series: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"docs: document 1"):
        count_documents(series_documents(series, "here"))


def test_columns_of_tables() -> None:
    table = pa.table({"text": TEXTS, "n": range(4)})
    for given in (table, table.to_batches()[0], table.to_pandas()):
        assert count_documents(table_documents(given, "text")) == count_documents(TEXTS)
        with pytest.raises(ValueError, match=r"column 'x': expected one column of this name, there are 'text', 'n'"):
            table_documents(given, "x")
        with pytest.raises(TypeError, match=r"column 'n': expected lists of integers, strings or binary, got int64"):
            table_documents(given, "n")
    for wrong in (TEXTS, None, np.zeros((2, 2)), pd.Series(TEXTS)):
        with pytest.raises(TypeError, match="column 'text': expected a partition that is a table of Arrow or pandas"):
            table_documents(wrong, "text")
