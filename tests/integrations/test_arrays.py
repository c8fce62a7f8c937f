"""Arrays and tables of other packages as documents, and batches of ids as theirs."""

from __future__ import annotations

import gc
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from integrations.conftest import needed
from tables import each

from ubpe_numba import BPE, Ragged
from ubpe_numba.documents.read import Documents, as_document, as_documents

LISTS = [[1, 2, 1, 2], [], [3], [1, 2, 3]]


def rows(documents: Documents) -> list[list[int]]:
    values, offsets, _ = documents
    assert values.flags.c_contiguous and offsets.flags.writeable and values.dtype != np.uint64
    return [values[a:b].tolist() for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)]


@pytest.fixture
def batch() -> Ragged:
    return Ragged.from_lists(LISTS)


def shares(a: Any, b: Ragged) -> bool:
    return bool(np.shares_memory(np.asarray(a), b.values))


# --- pyarrow, nanoarrow, DuckDB


def test_pyarrow_takes_a_batch(batch: Ragged) -> None:
    pa = needed("pyarrow")
    array = pa.array(batch)
    assert array.type == pa.large_list(pa.int32()) == batch.to_arrow().type and array.to_pylist() == LISTS
    assert shares(array.values.to_numpy(), batch) and array.offsets.buffers()[1].address == batch.offsets.ctypes.data
    array.validate(full=True)
    assert pa.table({"ids": batch})["ids"].to_pylist() == LISTS
    for wanted in (
        pa.list_(pa.int32()),
        pa.list_(pa.int64()),
        pa.large_list(pa.int64()),
        pa.list_(pa.field("id", pa.int32(), nullable=False)),
    ):
        for part in (batch, batch[1:3]):
            array = pa.array(part, wanted)
            array.validate(full=True)
            assert array.type == wanted and array.to_pylist() == part.to_lists()
    assert pa.array(batch[1:3]).to_pylist() == LISTS[1:3] and pa.array(batch[4:]).to_pylist() == []


def test_pyarrow_extensions_are_read_as_what_they_are_stored_as() -> None:
    pa = needed("pyarrow")
    tensors = pa.FixedShapeTensorArray.from_numpy_ndarray(np.arange(8, dtype=np.int32).reshape(2, 4))
    assert rows(as_documents(tensors)) == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_nanoarrow(batch: Ragged) -> None:
    na = needed("nanoarrow")
    array = na.Array(batch)
    assert array.to_pylist() == LISTS
    assert Ragged.from_arrow(array) == batch and shares(Ragged.from_arrow(array).values, batch)
    del array
    gc.collect()
    assert batch.to_lists() == LISTS
    assert rows(as_documents(na.Array(["a", "é"], na.string()))) == [[97], [233]]
    assert rows(as_document(na.Array([1, 2, 3], na.int16()))) == [[1, 2, 3]]
    with pytest.raises(ValueError, match="docs: document 1 is null"):
        as_documents(na.Array(["a", None], na.string()))


def test_duckdb(batch: Ragged) -> None:
    duckdb = needed("duckdb")
    pa = needed("pyarrow")
    found = duckdb.from_arrow(pa.table({"ids": batch})).query("t", "select len(ids) from t").fetchall()
    assert found == [(4,), (0,), (1,), (3,)]
    assert rows(as_documents(duckdb.sql("select [1, 2]::int[] as x union all select [3]"))) == [[1, 2], [3]]
    assert as_documents(duckdb.sql("select 'né' as x")).values.tolist() == [110, 233]
    assert rows(as_documents(duckdb.sql("select 1 as a, 2 as b"))) == [[1, 2]]
    with pytest.raises(ValueError, match="docs: document 0 is null"):
        as_documents(duckdb.sql("select null::int[] as x"))


# --- polars


def test_polars_takes_a_batch(batch: Ragged) -> None:
    pl = needed("polars")
    series = pl.Series("ids", batch)
    assert series.dtype == pl.List(pl.Int32) and series.to_list() == LISTS
    back = Ragged.from_arrow(series)
    assert back == batch and shares(back.values, batch)
    frame = pl.DataFrame({"ids": pl.Series(batch)}).with_columns(n=pl.col("ids").list.len())
    del series, back
    gc.collect()
    assert frame["n"].to_list() == [4, 0, 1, 3]


def test_columns_of_polars() -> None:
    pl = needed("polars")
    for dtype in (pl.Int8, pl.UInt64, pl.Int32):
        for series in (pl.Series(LISTS, dtype=pl.List(dtype)), pl.Series(LISTS, dtype=pl.List(dtype)).shuffle(0).sort()[0:0]):
            assert rows(as_documents(series)) == series.to_list()
    series = pl.concat([pl.Series(LISTS)] * 2, rechunk=False)
    assert series.n_chunks() == 2 and rows(as_documents(series)) == LISTS * 2
    assert rows(as_documents(series[3:6])) == (LISTS * 2)[3:6]
    assert rows(as_documents(pl.Series([[1, 2], [3, 4]], dtype=pl.Array(pl.Int16, 2)))) == [[1, 2], [3, 4]]
    assert rows(as_document(pl.Series([1, 2, 3]))) == rows(as_documents(pl.Series([1, 2, 3]))) == [[1, 2, 3]]
    assert rows(as_documents(pl.DataFrame({"a": [1, 2], "b": [3, 4]}))) == [[1, 3], [2, 4]]
    texts = ["né", "", "x" * 40, "x" * 12, "x" * 13]
    for dtype in (pl.String, pl.Categorical):
        found = as_documents(pl.Series(texts, dtype=dtype))
        assert found.kind == "str" and rows(found) == [list(map(ord, text)) for text in texts]
    assert as_documents(pl.Series([b"ab", b""])).kind == "bytes"
    for bad, message in [
        (pl.Series([[1], None]), "docs: document 1 is null"),
        (pl.Series([[1], [2, None]]), "docs: document 1, position 1 is null"),
        (pl.Series(["a", None]), "docs: document 1 is null"),
        (pl.Series([1, None]), "docs: position 1 is null"),
    ]:
        with pytest.raises(ValueError, match=message):
            as_documents(bad)
    with pytest.raises(TypeError, match="a table of 'a', 'b'; give one column of it"):
        as_documents(pl.DataFrame({"a": [1], "b": ["x"]}))


def test_objects_in_a_column_of_polars_are_not_their_addresses() -> None:
    pl = needed("polars")
    series = pl.Series("x", [np.array([1, 2]), [3]], dtype=pl.Object)
    for given in (series, series.to_frame()):
        assert rows(as_documents(given)) == [[1, 2], [3]]
    assert as_documents(pl.Series(["né", ""], dtype=pl.Object)).kind == "str"
    expected = BPE.for_text(260).fit(["né né"], progress=False)
    assert BPE.for_text(260).fit(pl.Series(["né né"], dtype=pl.Object), progress=False).fingerprint == expected.fingerprint
    with pytest.raises(TypeError, match="documents of one kind, got str .* and bytes"):
        as_documents(pl.Series(["a", b"b"], dtype=pl.Object))
    with pytest.raises(TypeError, match="doc: expected one document"):
        as_document(series)


def test_groups_of_polars() -> None:
    pl = needed("polars")
    frame = pl.DataFrame({"who": [2, 1, 2], "event": [5, 6, 7]})
    groups = frame.group_by("who", maintain_order=True)
    with pytest.raises(TypeError, match=r"got groups of a polars frame; give .agg\('column'\)\['column'\]"):
        as_documents(groups)
    assert rows(as_documents(groups.agg("event")["event"])) == [[5, 7], [6]]


# --- pandas


def test_columns_of_pandas(batch: Ragged) -> None:
    pd = needed("pandas")
    pa = needed("pyarrow")
    arrow = pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([pa.array(batch)])))
    assert rows(as_documents(arrow)) == LISTS and shares(as_documents(arrow).values, batch)
    assert rows(as_documents(pd.Series(LISTS))) == rows(as_documents(pd.Series([np.array(x, int) for x in LISTS]))) == LISTS
    for dtype in ("int8", "uint64", "Int64", "UInt8", "int32[pyarrow]"):
        for made in (pd.Series([1, 2], dtype=dtype), pd.array([1, 2], dtype=dtype)):
            assert rows(as_documents(made)) == rows(as_document(made)) == [[1, 2]]
    for dtype in ("str", "string", "object", "string[python]", "string[pyarrow]", "category"):
        assert rows(as_documents(pd.Series(["né", ""], dtype=dtype))) == [[110, 233], []]
        assert BPE.for_text(260).fit(pd.Series(["né né", ""], dtype=dtype), progress=False)._model.vocabulary.n_documents == 2
    for dtype in (object, "S2"):
        assert rows(as_documents(pd.Series(np.array([b"ab", b"c"], dtype)))) == [[97, 98], [99]]
    for bad, error, message in [
        (pd.Series([1, None], dtype="Int64"), ValueError, "docs: position 1 is missing"),
        (pd.array([1, None], dtype="Int64"), ValueError, "docs: position 1 is missing"),
        (pd.array([1, None], dtype="int8[pyarrow]"), ValueError, "docs: position 1 is null"),
        (pd.array([1.0, None], dtype="Float64"), TypeError, "docs: "),
        (pd.Series([1, None], dtype="int8[pyarrow]"), ValueError, "docs: position 1 is null"),
        (pd.Series([1, None]), TypeError, "documents are integers, got an array of float64"),
        (pd.Series([[1], None]), TypeError, "docs: document 1: expected one of .*, got None"),
        (pd.Series(["a", None], dtype="string[pyarrow]"), ValueError, "docs: document 1 is null"),
        (pd.Series(["a", None], dtype="string[python]"), TypeError, "docs: document 1: expected one of"),
    ]:
        with pytest.raises(error, match=message):
            as_documents(bad)
    with pytest.raises(TypeError, match="doc: "):
        as_document(pd.Series([[1, 2]]))


def test_columns_of_pandas_by_position() -> None:
    """Whatever the index says, and however the values lie in memory."""
    pd = needed("pandas")
    documents = pd.Series(LISTS, index=[7, 7, -1, 3])
    assert rows(as_documents(documents)) == LISTS
    assert rows(as_documents(documents[::2])) == LISTS[::2]
    assert rows(as_documents(documents[documents.map(len) > 2])) == [LISTS[0], LISTS[3]]
    numbers = pd.Series(range(10), index=list("jihgfedcba"))
    assert rows(as_documents(numbers[::-3])) == rows(as_document(numbers[::-3])) == [[9, 6, 3, 0]]
    assert rows(as_documents([numbers[:2], numbers[::-5]])) == rows(as_documents(pd.Series([numbers[:2], numbers[::-5]])))
    frame = pd.DataFrame(np.arange(12).reshape(3, 4), columns=["a", "a", "b", "c"], index=[5, 5, 0])
    assert rows(as_documents(frame["b"])) == [[2, 6, 10]] and rows(as_document(frame.iloc[1])) == [[4, 5, 6, 7]]
    assert rows(as_documents(frame.iloc[::-2])) == [[8, 9, 10, 11], [0, 1, 2, 3]]
    for array in (pd.array([5, 7]), pd.Categorical([5, 7]), pd.Index([5, 7]), pd.Series([5, 7], dtype="category")):
        assert rows(as_documents(array)) == rows(as_document(array)) == [[5, 7]]
    assert rows(as_documents(pd.Categorical(["ab", "", "ab"]))) == [[97, 98], [], [97, 98]]
    assert rows(as_document(pd.Series([5, 7, 5], dtype=pd.CategoricalDtype(pd.array([7, 5], dtype="Int8"))))) == [[5, 7, 5]]


def test_columns_of_pandas_as_weights_and_ids() -> None:
    pd = needed("pandas")
    documents = pd.Series([[1, 2, 1, 2], [3], [1, 2, 3], []], index=[7, 7, -1, 3])
    want = BPE(6, alphabet=4).fit(documents.tolist(), sample_weight=[1, 2, 3, 0], progress=False)
    assert want._model.vocabulary.n_documents == 6
    frame = pd.DataFrame({"other": [0, 0, 0, 0], "weight": [1, 2, 3, 0]}, index=[2, 1, 0, 3])
    for weights in (
        frame["weight"], frame["weight"].astype("Int64"), frame["weight"].astype("int8[pyarrow]"), pd.Index(frame["weight"]),
        frame["weight"].astype("category"), pd.array([1, 2, 3, 0], dtype="UInt8"),
    ):  # fmt: skip
        made = BPE(6, alphabet=pd.Series([0, 1, 2, 3])).fit(documents, sample_weight=weights, progress=False)
        assert made._model.vocabulary.merges is not None and want._model.vocabulary.merges is not None
        assert made._model.vocabulary.merges.tolist() == want._model.vocabulary.merges.tolist()
        assert made._model.vocabulary.n_documents == 6
    ids = made.encode_batch(documents)
    assert ids.to_lists() == [made.encode(doc).tolist() for doc in documents] == [i.tolist() for i in made.encode_iter(documents)]
    assert made.decode(pd.Series(ids[0].tolist(), dtype="Int64", index=range(ids[0].size, 0, -1))).tolist() == documents.iloc[0]
    assert made.decode_batch(pd.Series(ids.to_lists(), index=documents.index)).to_lists() == documents.tolist()
    for bad, error, message in [
        (pd.Series([1, 2, None, 0], dtype="Int64"), ValueError, "sample_weight: position 2 is missing"),
        (pd.Series([1.0, 2, 3, 0]), TypeError, "sample_weight: .* got an array of float64"),
        (pd.Series(pd.date_range("2020", periods=4)), TypeError, "sample_weight: .* got an array of datetime64"),
        (frame, TypeError, "sample_weight: expected "),
        (frame["weight"][1:], ValueError, "sample_weight: expected 4 weights, one for each document, got 3"),
        (-frame["weight"], ValueError, "sample_weight: document 0: expected 0 or more, got -1"),
    ]:
        with pytest.raises(error, match=message):
            BPE(6, alphabet=4).fit(documents, sample_weight=bad, progress=False)


def test_columns_of_pandas_that_are_no_documents() -> None:
    pd = needed("pandas")
    dates = pd.Series(pd.date_range("2020", periods=3))
    for bad, error, message in [
        (dates, TypeError, "integers, got an array of datetime64"),
        (dates.dt.tz_localize("UTC"), TypeError, "got Timestamp"),
        (dates.astype("timestamp[ns][pyarrow]"), TypeError, "got Arrow's timestamp"),
        (dates - dates, TypeError, "integers, got an array of timedelta64"),
        (dates.dt.to_period("D"), TypeError, "got Period"),
        (dates.to_frame(), TypeError, "integers, got an array of datetime64"),
        (pd.DatetimeIndex(dates), TypeError, "integers, got an array of datetime64"),
        (pd.Series(pd.interval_range(0, 3)), TypeError, "got Interval"),
        (pd.Series([True, False]), TypeError, r"integers, got an array of bool, shape \(2,\); use astype\('uint8'\)"),
        (pd.Series([True, None], dtype="boolean"), TypeError, "got True"),
        (pd.Series([True], dtype="bool[pyarrow]"), TypeError, "got Arrow's bool; cast to uint8"),
        (pd.Series([1, 2], dtype=object), TypeError, "a flat list of integers; for one document"),
        (pd.Series(["ab", [1]]), TypeError, "documents of one kind, got str .document 0. and integers .document 1."),
        (pd.array([1, None]), ValueError, "docs: position 1 is missing; drop missing values first"),
        (pd.Series([5, 5, None], dtype=pd.CategoricalDtype([5])), ValueError, "docs: position 2 is missing"),
        (pd.Categorical([None, 5]), ValueError, "docs: position 0 is missing"),
        (pd.Categorical(["a", None]), TypeError, "document 1: expected one of .*, got nan"),
        ([[1, pd.NA]], TypeError, "document 0, position 1: expected an integer, got <NA>"),
        (pd.NaT, TypeError, "got NaTType"),
    ]:
        with pytest.raises(error, match=message):
            as_documents(bad)


def test_a_frame_of_one_column_of_texts() -> None:
    pd = needed("pandas")
    for column in (pd.Series(["low", "lower"]), pd.Series(["low", "lower"], dtype=object), pd.Series([b"ab", b""], dtype=object)):
        assert rows(as_documents(column.to_frame("text"))) == rows(as_documents(column))


def test_wide_frames_of_pandas() -> None:
    pd = needed("pandas")
    frame = pd.DataFrame({"a": [1, 2], "b": np.array([3, 4], np.uint64), "c": pd.Series([5, 6], dtype="Int16")})
    assert rows(as_documents(frame)) == [[1, 3, 5], [2, 4, 6]]
    assert rows(as_documents(frame.astype("int32[pyarrow]"))) == [[1, 3, 5], [2, 4, 6]]
    assert rows(as_documents(frame[:0])) == []
    for bad, error, message in [
        (pd.DataFrame({"a": [1], "b": ["x"]}), TypeError, "got a table of 'a', 'b'; give one column of it"),
        (pd.DataFrame({"a": [1], "b": [0.5]}), TypeError, "got a table of 'a', 'b'; give one column of it"),
        (pd.DataFrame({"a": [1]}), TypeError, "a table of one column of integers; give the column, one document"),
        (pd.DataFrame(), TypeError, "a table of no columns"),
        (pd.DataFrame({"a": [1, 2], "b": pd.array([1, None])}), ValueError, "docs: column 'b': position 1 is missing"),
        (pd.DataFrame({"a": [1], "b": np.array([2**63], np.uint64)}), ValueError, "document 0, position 1: .* fits int64"),
    ]:
        with pytest.raises(error, match=message):
            as_documents(bad)


@pytest.mark.parametrize("dtype", ["int16", "Int64", "uint64", "int32[pyarrow]"])
def test_groups_of_pandas(dtype: str) -> None:
    pd = needed("pandas")
    frame = pd.DataFrame({"who": ["b", "a", "b", None, "c", "a"], "event": pd.Series([5, 6, 7, 8, 9, 1], dtype=dtype)})
    for options in ({}, {"sort": False}, {"dropna": False}, {"as_index": False}):
        groups = frame.groupby("who", **options)["event"]
        assert rows(as_documents(groups)) == [group.tolist() for _, group in groups]
    with pytest.raises(TypeError, match=r"got groups of a DataFrame; select a column: groupby\(...\)\['column'\]"):
        as_documents(frame.groupby("who"))
    with pytest.raises(TypeError, match="expected groups of integers, each of them a document, got groups of"):
        as_documents(frame.groupby("event")["who"])


@each("dtype", ["int16", "uint64", "int32[pyarrow]"])
@each("sort", [True, False])
def test_groups_of_categories_that_do_not_occur(dtype: str, sort: bool) -> None:
    pd = needed("pandas")
    who = pd.Categorical(["a", "c", "a", None], categories=["d", "c", "b", "a"])
    frame = pd.DataFrame({"who": who, "event": pd.Series([1, 2, 3, 4], dtype=dtype)})
    for observed in (True, False):
        groups = frame.groupby("who", observed=observed, sort=sort)["event"]
        assert rows(as_documents(groups)) == [group.tolist() for _, group in groups]
    assert rows(as_documents(frame[:0].groupby("who", observed=True)["event"])) == []


def test_groups_of_integers_beyond_int64() -> None:
    pd = needed("pandas")
    frame = pd.DataFrame({"who": [1, 2, 1], "event": np.array([1, 2, 2**63], np.uint64)})
    with pytest.raises(
        ValueError, match="docs: document 0, position 1: expected an integer that fits int64, got 9223372036854775808"
    ):
        as_documents(frame.groupby("who")["event"])


# --- awkward


def test_awkward(batch: Ragged) -> None:
    ak = needed("awkward")
    array = batch.to_awkward()
    assert array.to_list() == LISTS and shares(array.layout.content.data, batch)
    assert batch[1:3].to_awkward().to_list() == LISTS[1:3]
    assert rows(as_documents(array)) == LISTS and shares(as_documents(array).values, batch)
    some = ak.Array([[9], *LISTS, None])
    assert rows(as_documents(some[1:-1])) == LISTS
    assert rows(as_documents(ak.Array(LISTS)[[3, 0, 1]])) == [LISTS[3], LISTS[0], []]
    assert rows(as_documents(ak.Array(LISTS)[:, ::-1])) == [doc[::-1] for doc in LISTS]
    assert rows(as_documents(ak.to_regular(ak.Array([[1, 2], [3, 4]])))) == [[1, 2], [3, 4]]
    assert rows(as_documents(ak.Array(np.array([[1, 2], [3, 4]])))) == [[1, 2], [3, 4]]
    assert rows(as_documents(ak.Array([[], []]))) == [[], []]
    assert rows(as_document(ak.Array([1, 2]))) == rows(as_documents(ak.Array([1, None, 2])[[0, 2]])) == [[1, 2]]
    assert rows(as_documents(ak.Array([[1, None], [2]])[1:])) == [[2]]
    found = as_documents(ak.Array(["né", ""]))
    assert found.kind == "str" and rows(found) == [[110, 233], []]
    assert as_documents(ak.Array([b"a", b"bc"])).kind == "bytes"
    for bad, error, message in [
        (some, ValueError, "docs: document 5 is null"),
        (ak.Array([[1], [2, None]]), ValueError, "docs: document 1, position 1 is null"),
        (ak.Array([1, None]), ValueError, "docs: position 1 is null"),
        (ak.Array([[0.5]]), TypeError, r"got an awkward array of type 1 \* var \* float64"),
        (ak.Array([[[1]]]), TypeError, "got an awkward array of type"),
        (ak.Array([["a"]]), TypeError, "got an awkward array of type"),
    ]:
        with pytest.raises(error, match=message):
            as_documents(bad)
    with pytest.raises(TypeError, match="doc: expected one document"):
        as_document(array)


@pytest.mark.parametrize(
    ("starts", "stops", "message"),
    [
        ([0, 2], [2, 50], "docs: document 1 has 48 values from 2 on, of 3"),
        ([0, -2], [2, 1], "docs: document 1 has 3 values from -2 on, of 3"),
        ([0, 2], [2, 1], "docs: document 1 has -1 values from 2 on, of 3"),
        ([2**62, 0], [2**63 - 1, 1], "docs: document 0 has 4611686018427387903 values from 4611686018427387904 on, of 3"),
    ],
)
def test_lists_of_awkward_outside_of_their_values(starts: list[int], stops: list[int], message: str) -> None:
    """Awkward does not look; a kernel would read what is beyond."""
    ak = needed("awkward")
    index = ak.index.Index64
    layout = ak.contents.ListArray(index(np.array(starts)), index(np.array(stops)), ak.contents.NumpyArray(np.arange(3)))
    with pytest.raises(ValueError, match=message):
        as_documents(ak.Array(layout))
    empty = ak.contents.ListArray(index(np.array([9, 0])), index(np.array([9, 3])), ak.contents.NumpyArray(np.arange(3)))
    assert rows(as_documents(ak.Array(empty))) == [[], [0, 1, 2]]


# --- torch


def test_torch(batch: Ragged) -> None:
    torch = needed("torch")
    nested = batch.to_torch()
    assert nested.is_nested and nested.layout == torch.jagged and nested.dtype == torch.int32
    assert [part.tolist() for part in nested.unbind()] == LISTS
    assert nested.values().data_ptr() == batch.values.ctypes.data
    assert nested.offsets().data_ptr() != batch.offsets.ctypes.data  # which nobody may write to
    assert rows(as_documents(nested)) == LISTS and shares(as_documents(nested).values, batch)
    part = batch[2:]
    assert [each.tolist() for each in part.to_torch().unbind()] == LISTS[2:]
    assert [each.tolist() for each in Ragged.from_arrow(batch).to_torch().unbind()] == LISTS  # of memory that is read-only
    assert rows(as_documents([torch.tensor(doc, dtype=torch.int16) for doc in LISTS])) == LISTS
    with warnings.catch_warnings():  # torch's own of its older layout, once in a process
        warnings.simplefilter("ignore")
        strided = torch.nested.nested_tensor([torch.tensor([1, 2]), torch.tensor([3])], layout=torch.strided)
    assert rows(as_documents(strided)) == [[1, 2], [3]]
    assert rows(as_documents(torch.tensor([[1, 2], [3, 4]]))) == [[1, 2], [3, 4]]
    holes = torch.nested.nested_tensor_from_jagged(torch.arange(6), torch.tensor([0, 3, 6]), torch.tensor([2, 1]))
    assert rows(as_documents(holes)) == [[0, 1], [3]]
    wide = torch.nested.nested_tensor([torch.zeros(2, 3, dtype=torch.int32)], layout=torch.jagged)
    with pytest.raises(
        TypeError, match=r"expected a nested tensor of 1-D tensors of integers, got values as an array of int32, shape"
    ):
        as_documents(wide)
    with pytest.raises(TypeError, match="got values as an array of float32"):
        as_documents(torch.nested.nested_tensor([torch.zeros(2)], layout=torch.jagged))
    with pytest.raises(TypeError, match="doc: expected one document"):
        as_document(nested)


def test_nested_tensors_that_torch_does_not_check() -> None:
    torch = needed("torch")
    jagged = torch.nested.nested_tensor_from_jagged
    values = torch.arange(4, dtype=torch.int32)
    assert rows(as_documents(jagged(values, torch.tensor([1, 3, 3])))) == [[1, 2], []]
    for offsets, lengths, message in [
        ([0, 2, 1000], None, "docs: offsets of the nested tensor: expected at most 4, the number of values, got 1000"),
        ([0, 3, 2], None, "docs: offsets of the nested tensor: document 1 ends before it starts: 3, then 2"),
        ([-1, 3], None, "docs: offsets of the nested tensor: expected 0 or more at the start, got -1"),
        ([0, 2, 4], [2, 100], "docs: document 1 has 100 values from 2 on, of 4"),
        ([0, 2, 4], [2, -1], "docs: document 1 has -1 values from 2 on, of 4"),
    ]:
        nested = jagged(values, torch.tensor(offsets), None if lengths is None else torch.tensor(lengths))
        with pytest.raises(ValueError, match=message):
            as_documents(nested)


def test_nested_tensors_of_uint64() -> None:
    torch = needed("torch")
    for lengths in (None, torch.tensor([1, 2])):
        offsets = torch.tensor([0, 1, 3])
        values = torch.tensor([1, 2, 3], dtype=torch.uint64)
        assert rows(as_documents(torch.nested.nested_tensor_from_jagged(values, offsets, lengths))) == [[1], [2, 3]]
        values = torch.from_numpy(np.array([1, 2, 2**64 - 1], np.uint64))
        with pytest.raises(ValueError, match="docs: document 1, position 1: expected an integer that fits int64"):
            as_documents(torch.nested.nested_tensor_from_jagged(values, offsets, lengths))


def test_torch_does_not_write_into_arrow() -> None:
    """Arrays of Arrow do not change, and may be a file that is mapped read-only."""
    torch = needed("torch")
    pa = needed("pyarrow")
    array = pa.array(LISTS, pa.large_list(pa.int32()))
    nested = Ragged.from_arrow(array).to_torch()
    assert nested.values().dtype == torch.int32
    nested.values().zero_()
    nested.offsets().zero_()
    assert array.to_pylist() == LISTS


# --- datasets


def test_datasets(batch: Ragged) -> None:
    datasets = needed("datasets")
    pa = needed("pyarrow")
    data = datasets.Dataset.from_dict({"x": LISTS, "text": ["né", "", "b", "c"]})
    for given in (data, data.with_format("numpy"), data.with_format("arrow"), data.with_format("torch")):
        assert rows(as_documents(given["x"])) == LISTS
    assert as_documents(data["text"]).kind == "str" and rows(as_documents(data["text"])) == [[110, 233], [], [98], [99]]
    assert rows(as_documents(data.select([3, 0])["x"])) == [LISTS[3], LISTS[0]]
    doubled = data.with_transform(lambda part: {"x": [doc * 2 for doc in part["x"]]})
    assert rows(as_documents(doubled["x"])) == [doc * 2 for doc in LISTS]
    tok = BPE(6, alphabet=4).fit(data["x"], progress=False)
    expected = tok.encode_batch(LISTS).to_lists()
    mapped = data.with_format("arrow").map(
        lambda part: pa.table({"ids": tok.encode_batch(part["x"])}), batched=True, remove_columns=data.column_names
    )
    assert mapped.with_format(None)["ids"][:] == expected
    assert data.map(lambda part: {"ids": tok.encode_batch(part["x"]).to_lists()}, batched=True)["ids"][:] == expected
    assert tok.decode_batch(mapped["ids"]).to_lists() == LISTS
    made = datasets.Dataset(pa.table({"ids": batch}))
    assert made.features["ids"] == datasets.LargeList(datasets.Value("int32")) and rows(as_documents(made["ids"])) == LISTS


def test_equal_tokenizers_have_one_hash_in_datasets() -> None:
    datasets = needed("datasets")
    data = datasets.Dataset.from_dict({"x": LISTS})
    tok, other = (BPE(6, alphabet=4).fit(data["x"], progress=False) for _ in range(2))
    printed = datasets.fingerprint.Hasher.hash(tok)
    other.encode(LISTS[0])
    assert printed == datasets.fingerprint.Hasher.hash(other) == datasets.fingerprint.Hasher.hash(pickle.loads(pickle.dumps(tok)))
    two = data.map(lambda part: {"ids": tok.encode_batch(part["x"]).to_lists()}, batched=True, num_proc=2)
    assert two["ids"][:] == tok.encode_batch(LISTS).to_lists()


# --- biopython


def test_sequences_of_biopython() -> None:
    needed("Bio")
    from Bio.Seq import MutableSeq, Seq
    from Bio.SeqRecord import SeqRecord

    strands = [Seq("GATTACA"), MutableSeq("GAT"), SeqRecord(Seq("ACA"), id="x")]
    found = as_documents(strands)
    assert found.kind == "bytes" and rows(found) == [list(b"GATTACA"), list(b"GAT"), list(b"ACA")]
    assert rows(as_documents(strands[0])) == rows(as_document(strands[0])) == [list(b"GATTACA")]
    tok = BPE(8, alphabet=b"ACGT").fit(strands, progress=False)
    assert tok.decode(tok.encode(strands[0])) == b"GATTACA"
    with pytest.raises(TypeError, match="docs: document 1: Seq gives no bytes: "):
        as_documents([Seq("A"), Seq(None, length=5)])


def test_boundaries_in_a_column_are_a_list_for_each_document() -> None:
    pd = needed("pandas")
    for texts in (["abab", "ab"], ["abab"]):
        cuts = [[1], [0]][: len(texts)]
        expected = BPE(6, alphabet="ab").fit(texts, boundaries=cuts, progress=False)
        column = pd.Series(texts, dtype="object")
        assert BPE(6, alphabet="ab").fit(column, boundaries=cuts, progress=False).fingerprint == expected.fingerprint
    for dtype in ("int64", "Int8", "category", "int32[pyarrow]"):
        one = pd.Series([0, 1, 0, 1], dtype=dtype)
        assert BPE(6, alphabet=2).fit(one, boundaries=[1], progress=False)._model.vocabulary.n_documents == 1


def test_boundaries_in_texts_of_awkward_are_a_list_for_each_document() -> None:
    ak = needed("awkward")
    for texts in (["abab", "ab"], ["abab"]):
        cuts = [[1], [0]][: len(texts)]
        expected = BPE(6, alphabet="ab").fit(texts, boundaries=cuts, progress=False)
        assert BPE(6, alphabet="ab").fit(ak.Array(texts), boundaries=cuts, progress=False).fingerprint == expected.fingerprint
    assert BPE(6, alphabet=2).fit(ak.Array([0, 1, 0, 1]), boundaries=[1], progress=False)._model.vocabulary.n_documents == 1
