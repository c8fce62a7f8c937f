"""Arrays and tables of other packages as documents, and batches of ids as theirs."""

import gc
import importlib.util
import pickle
import warnings
from typing import Any

import numpy as np
from documents.test_read import rows
from integrations.conftest import needed
from tables import each, refuses

from ubpe_numba import BPE, Ragged
from ubpe_numba.documents.read import as_document, as_documents

LISTS = [[1, 2, 1, 2], [], [3], [1, 2, 3]]
BATCH = Ragged.from_lists(LISTS)


def shares(a: Any, b: Ragged) -> bool:
    return bool(np.shares_memory(np.asarray(a), b.values))


def are_read(cases: list[tuple[Any, Any]]) -> None:
    """Documents are read as these lists, or as others of the same rows."""
    for given, expected in cases:
        assert rows(as_documents(given)) == expected, given


def are_refused(cases: list[tuple[Any, type[Exception], str]], read: Any = as_documents) -> None:
    """Documents are refused with these words."""
    for given, error, message in cases:
        refuses(error, message, read, given)


def test_pyarrow_takes_a_batch() -> None:
    pa = needed("pyarrow")
    array = pa.array(BATCH)
    assert array.type == pa.large_list(pa.int32()) == BATCH.to_arrow().type and array.to_pylist() == LISTS
    assert (
        shares(array.values.to_numpy(), BATCH)
        and array.offsets.buffers()[1].address == BATCH.offsets.ctypes.data
    )
    assert pa.table({"ids": BATCH})["ids"].to_pylist() == LISTS
    narrow, wide = pa.list_(pa.int32()), pa.large_list(pa.int64())
    for wanted in (
        None,
        narrow,
        pa.list_(pa.int64()),
        wide,
        pa.list_(pa.field("id", pa.int32(), nullable=False)),
    ):
        for part in (BATCH, BATCH[1:3], BATCH[4:]):
            array = pa.array(part, wanted)
            array.validate(full=True)
            assert (
                array.type == (wanted or pa.large_list(pa.int32())) and array.to_pylist() == part.to_lists()
            )


def test_pyarrow_extensions_are_read_as_what_they_are_stored_as() -> None:
    pa = needed("pyarrow")
    tensors = pa.FixedShapeTensorArray.from_numpy_ndarray(np.arange(8, dtype=np.int32).reshape(2, 4))
    assert rows(as_documents(tensors)) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    matrices = pa.FixedShapeTensorArray.from_numpy_ndarray(np.arange(8, dtype=np.int32).reshape(1, 2, 4))
    are_refused(
        [
            (
                matrices,
                ValueError,
                r"docs: expected lists, got Arrow's tensors of shape \[2, 4\]; .*reshape\(-1, 4\) keeps rows",
            )
        ]
    )


def test_duckdb() -> None:
    duckdb = needed("duckdb")
    pa = needed("pyarrow")
    found = duckdb.from_arrow(pa.table({"ids": BATCH})).query("t", "select len(ids) from t").fetchall()
    assert found == [(4,), (0,), (1,), (3,)]
    are_read([
        (duckdb.sql("select [1, 2]::int[] as x union all select [3]"), [[1, 2], [3]]),
        (duckdb.sql("select 'né' as x"), [[110, 233]]),
    ])  # fmt: skip
    are_refused([(duckdb.sql("select null::int[] as x"), ValueError, "docs: document 0 is null")])


def test_polars_takes_a_batch() -> None:
    pl = needed("polars")
    series = pl.Series("ids", BATCH)
    assert series.dtype == pl.List(pl.Int32) and series.to_list() == LISTS
    back = Ragged.from_arrow(series)
    assert back == BATCH and shares(back.values, BATCH)
    frame = pl.DataFrame({"ids": pl.Series(BATCH)}).with_columns(n=pl.col("ids").list.len())
    del series, back
    gc.collect()
    assert frame["n"].to_list() == [4, 0, 1, 3]


def test_columns_of_polars() -> None:
    pl = needed("polars")
    doubled = pl.concat([pl.Series(LISTS)] * 2, rechunk=False)
    assert doubled.n_chunks() == 2
    texts = ["né", "", "x" * 40, "x" * 12, "x" * 13]
    letters = [list(map(ord, text)) for text in texts]
    are_read([
        *[(pl.Series(LISTS, dtype=pl.List(dtype)), LISTS) for dtype in (pl.Int8, pl.UInt64, pl.Int32)],
        (pl.Series(LISTS)[:0], []), (doubled, LISTS * 2), (doubled[3:6], (LISTS * 2)[3:6]),
        (pl.Series([[1, 2], [3, 4]], dtype=pl.Array(pl.Int16, 2)), [[1, 2], [3, 4]]), (pl.Series([1, 2, 3]), [[1, 2, 3]]),
        (np.asarray(pl.DataFrame({"a": [1, 2], "b": [3, 4]})), [[1, 3], [2, 4]]), (pl.Series(texts), letters),
        (pl.Series(texts, dtype=pl.Categorical), letters), (pl.Series([b"ab", b""]), [[97, 98], []]),
    ])  # fmt: skip
    assert as_documents(pl.Series(texts)).kind == "str" and as_documents(pl.Series([b"ab"])).kind == "bytes"
    assert rows(as_document(pl.Series([1, 2, 3]))) == [[1, 2, 3]]
    are_refused([
        (pl.Series([[1], None]), ValueError, "docs: document 1 is null"),
        (pl.Series([[1], [2, None]]), ValueError, "docs: document 1, position 1 is null"),
        (pl.Series(["a", None]), ValueError, "docs: document 1 is null"),
        (pl.Series([1, None]), ValueError, "docs: position 1 is null"),
        (pl.DataFrame({"a": [1], "b": ["x"]}), TypeError, "a table of 'a', 'b'; give one column of it"),
    ])  # fmt: skip


def test_objects_in_a_column_of_polars_are_not_their_addresses() -> None:
    pl = needed("polars")
    series = pl.Series("x", [np.array([1, 2]), [3]], dtype=pl.Object)
    are_read([(series, [[1, 2], [3]]), (series.to_frame(), [[1, 2], [3]])])
    expected = BPE.for_text(260).fit(["né né"], progress=False)
    assert (
        BPE.for_text(260).fit(pl.Series(["né né"], dtype=pl.Object), progress=False).fingerprint
        == expected.fingerprint
    )
    are_refused(
        [(pl.Series(["a", b"b"], dtype=pl.Object), TypeError, "documents of one kind, got str .* and bytes")]
    )
    are_refused([(series, TypeError, "doc: expected one document")], as_document)


def test_groups_of_polars() -> None:
    pl = needed("polars")
    groups = pl.DataFrame({"who": [2, 1, 2], "event": [5, 6, 7]}).group_by("who", maintain_order=True)
    are_refused([(groups, TypeError, r"got groups of a polars frame; give .agg\('column'\)\['column'\]")])
    are_read([(groups.agg("event")["event"], [[5, 7], [6]])])


def test_columns_of_pandas() -> None:
    pd = needed("pandas")
    pa = needed("pyarrow")
    arrow = pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([pa.array(BATCH)])))
    assert shares(as_documents(arrow).values, BATCH)
    are_read(
        [(arrow, LISTS), (pd.Series(LISTS), LISTS), (pd.Series([np.array(x, int) for x in LISTS]), LISTS)]
    )
    for dtype in ("int8", "uint64", "Int64", "UInt8", "int32[pyarrow]"):
        for made in (pd.Series([1, 2], dtype=dtype), pd.array([1, 2], dtype=dtype)):
            assert rows(as_documents(made)) == rows(as_document(made)) == [[1, 2]]
    for dtype in ("str", "string", "object", "string[python]", "string[pyarrow]", "category"):
        column = pd.Series(["né né", ""], dtype=dtype)
        are_read([(column, [[110, 233, 32, 110, 233], []])])
        assert BPE.for_text(260).fit(column, progress=False)._model.vocabulary.n_documents == 2
    are_read([(pd.Series(np.array([b"ab", b"c"], dtype)), [[97, 98], [99]]) for dtype in (object, "S2")])


def test_columns_of_pandas_by_position() -> None:
    """Whatever the index says, and however the values lie in memory."""
    pd = needed("pandas")
    documents = pd.Series(LISTS, index=[7, 7, -1, 3])
    numbers = pd.Series(range(10), index=list("jihgfedcba"))
    frame = pd.DataFrame(np.arange(12).reshape(3, 4), columns=["a", "a", "b", "c"], index=[5, 5, 0])
    are_read([
        (documents, LISTS), (documents[::2], LISTS[::2]),
        (documents[documents.map(len) > 2], [LISTS[0], LISTS[3]]), (numbers[::-3], [[9, 6, 3, 0]]),
        ([numbers[:2], numbers[::-5]], [[0, 1], [9, 4]]),
        (pd.Series([numbers[:2], numbers[::-5]]), [[0, 1], [9, 4]]), (frame["b"], [[2, 6, 10]]),
        (frame.iloc[::-2].to_numpy(), [[8, 9, 10, 11], [0, 1, 2, 3]]),
        (pd.Categorical(["ab", "", "ab"]), [[97, 98], [], [97, 98]]),
    ])  # fmt: skip
    for array in (
        pd.array([5, 7]),
        pd.Categorical([5, 7]),
        pd.Index([5, 7]),
        pd.Series([5, 7], dtype="category"),
    ):
        assert rows(as_documents(array)) == rows(as_document(array)) == [[5, 7]]
    assert rows(as_document(frame.iloc[1])) == [[4, 5, 6, 7]] and rows(as_document(numbers[::-3])) == [
        [9, 6, 3, 0]
    ]
    assert rows(
        as_document(pd.Series([5, 7, 5], dtype=pd.CategoricalDtype(pd.array([7, 5], dtype="Int8"))))
    ) == [[5, 7, 5]]


def test_columns_of_pandas_as_weights_and_ids() -> None:
    pd = needed("pandas")
    documents = pd.Series([[1, 2, 1, 2], [3], [1, 2, 3], []], index=[7, 7, -1, 3])
    want = BPE(6, alphabet=4).fit(documents.tolist(), sample_weight=[1, 2, 3, 0], progress=False)
    frame = pd.DataFrame({"other": [0, 0, 0, 0], "weight": [1, 2, 3, 0]}, index=[2, 1, 0, 3])
    for weights in (
        frame["weight"], frame["weight"].astype("Int64"), frame["weight"].astype("int8[pyarrow]"), pd.Index(frame["weight"]),
        frame["weight"].astype("category"), pd.array([1, 2, 3, 0], dtype="UInt8"),
    ):  # fmt: skip
        made = BPE(6, alphabet=pd.Series([0, 1, 2, 3])).fit(documents, sample_weight=weights, progress=False)
        assert made._model.vocabulary == want._model.vocabulary and made._model.vocabulary.n_documents == 6
    ids = made.encode_batch(documents)
    assert (
        ids.to_lists()
        == [made.encode(doc).tolist() for doc in documents]
        == [i.tolist() for i in made.encode_iter(documents)]
    )
    assert (
        made.decode(pd.Series(ids[0].tolist(), dtype="Int64", index=range(ids[0].size, 0, -1))).tolist()
        == documents.iloc[0]
    )
    assert (
        made.decode_batch(pd.Series(ids.to_lists(), index=documents.index)).to_lists() == documents.tolist()
    )
    are_refused(
        [
            (pd.Series([1, 2, None, 0], dtype="Int64"), ValueError, "sample_weight: position 2 is missing"),
            (pd.Series([1.0, 2, 3, 0]), TypeError, "sample_weight: .* got an array of float64"),
            (
                pd.Series(pd.date_range("2020", periods=4)),
                TypeError,
                "sample_weight: .* got an array of datetime64",
            ),
            (frame, TypeError, "sample_weight: expected "),
            (
                frame["weight"][1:],
                ValueError,
                "sample_weight: expected 4 weights, one for each document, got 3",
            ),
            (-frame["weight"], ValueError, "sample_weight: document 0: expected 0 or more, got -1"),
        ],
        lambda weights: BPE(6, alphabet=4).fit(documents, sample_weight=weights, progress=False),
    )


def test_columns_of_pandas_that_are_no_documents() -> None:
    pd = needed("pandas")
    dates = pd.Series(pd.date_range("2020", periods=3))
    are_refused([
        (pd.array([1.0, None], dtype="Float64"), TypeError, "docs: "),
        (pd.Series([1, None], dtype="int8[pyarrow]"), ValueError, "docs: position 1 is null"),
        (pd.Series([1, None]), TypeError, "documents are integers, got an array of float64"),
        (pd.Series([[1], None]), TypeError, "docs: document 1: expected one of .*, got None"),
        (pd.Series(["a", None], dtype="string[pyarrow]"), ValueError, "docs: document 1 is null"),
        (pd.Series(["a", None], dtype="string[python]"), TypeError, "docs: document 1: expected one of"),
        (dates, TypeError, "integers, got an array of datetime64"), (dates.dt.tz_localize("UTC"), TypeError, "got Timestamp"),
        (dates.astype("timestamp[ns][pyarrow]"), TypeError, "got Arrow's timestamp"),
        (dates - dates, TypeError, "integers, got an array of timedelta64"), (dates.dt.to_period("D"), TypeError, "got Period"),
        (pd.Series([True, None], dtype="boolean"), TypeError, "got True"),
        (pd.Series([True], dtype="bool[pyarrow]"), TypeError, "got Arrow's bool; cast to uint8"),
        (pd.Series([1, 2], dtype=object), TypeError, "a flat list of integers; for one document"),
        (pd.Series(["ab", [1]]), TypeError, "documents of one kind, got str .document 0. and integers .document 1."),
        (pd.Series([5, 5, None], dtype=pd.CategoricalDtype([5])), ValueError, "docs: position 2 is missing"),
        (pd.Categorical([None, 5]), ValueError, "docs: position 0 is missing"),
        (pd.Categorical(["a", None]), TypeError, "document 1: expected one of .*, got nan"),
        ([[1, pd.NA]], TypeError, "document 0, position 1: expected an integer, got <NA>"), (pd.NaT, TypeError, "got NaTType"),
    ])  # fmt: skip
    are_refused([(pd.Series([[1, 2]]), TypeError, "doc: ")], as_document)


@each("dtype", ["int16", "Int64", "uint64", "int32[pyarrow]"])
def test_groups_of_pandas(dtype: str) -> None:
    """Also of missing groups, of none, and of categories that do not occur."""
    pd = needed("pandas")
    frame = pd.DataFrame(
        {"who": ["b", "a", "b", None, "c", "a"], "event": pd.Series([5, 6, 7, 8, 9, 1], dtype=dtype)}
    )
    for options in ({}, {"sort": False}, {"dropna": False}, {"as_index": False}):
        groups = frame.groupby("who", **options)["event"]
        are_read([(groups, [group.tolist() for _, group in groups])])
    are_refused([
        (frame.groupby("who"), TypeError, r"got groups of a DataFrame; select a column: groupby\(...\)\['column'\]"),
        (frame.groupby("event")["who"], TypeError, "expected groups of integers, each of them a document, got groups of"),
    ])  # fmt: skip
    large = pd.DataFrame({"who": [1, 2, 1], "event": np.array([1, 2, 2**63], np.uint64)}).groupby("who")[
        "event"
    ]
    are_refused(
        [
            (
                large,
                ValueError,
                "document 0, position 1: expected an integer that fits int64, got 9223372036854775808",
            )
        ]
    )
    frame["who"] = pd.Categorical(["a", "c", "a", None, "c", "a"], categories=["d", "c", "b", "a"])
    for options in ({"observed": o, "sort": s} for o in (True, False) for s in (True, False)):
        groups = frame.groupby("who", **options)["event"]
        are_read([(groups, [group.tolist() for _, group in groups])])
    are_read([(frame[:0].groupby("who", observed=True)["event"], [])])


def test_awkward() -> None:
    ak = needed("awkward")
    array = BATCH.to_awkward()
    assert array.to_list() == LISTS and shares(array.layout.content.data, BATCH)
    assert BATCH[1:3].to_awkward().to_list() == LISTS[1:3] and shares(as_documents(array).values, BATCH)
    some = ak.Array([[9], *LISTS, None])
    are_read([
        (array, LISTS), (some[1:-1], LISTS), (ak.Array(LISTS)[[3, 0, 1]], [LISTS[3], LISTS[0], []]),
        (ak.Array(LISTS)[:, ::-1], [doc[::-1] for doc in LISTS]), (ak.to_regular(ak.Array([[1, 2], [3, 4]])), [[1, 2], [3, 4]]),
        (ak.Array(np.array([[1, 2], [3, 4]])), [[1, 2], [3, 4]]), (ak.Array([[], []]), [[], []]),
        (ak.Array([1, None, 2])[[0, 2]], [[1, 2]]), (ak.Array([[1, None], [2]])[1:], [[2]]),
        (ak.Array(["né", ""]), [[110, 233], []]),
    ])  # fmt: skip
    assert rows(as_document(ak.Array([1, 2]))) == [[1, 2]]
    assert (
        as_documents(ak.Array(["né", ""])).kind == "str"
        and as_documents(ak.Array([b"a", b"bc"])).kind == "bytes"
    )
    are_refused([
        (some, ValueError, "docs: document 5 is null"),
        (ak.Array([[1], [2, None]]), ValueError, "docs: document 1, position 1 is null"),
        (ak.Array([1, None]), ValueError, "docs: position 1 is null"),
        (ak.Array([[0.5]]), TypeError, r"got an awkward array of type 1 \* var \* float64"),
        (ak.Array([[[1]]]), TypeError, "got an awkward array of type"),
    ])  # fmt: skip
    are_refused([(array, TypeError, "doc: expected one document")], as_document)


def test_lists_of_awkward_outside_of_their_values() -> None:
    """Awkward does not look; a kernel would read what is beyond."""
    ak = needed("awkward")

    def lists(starts: list[int], stops: list[int]) -> Any:
        index = ak.index.Index64
        numbers = ak.contents.NumpyArray(np.arange(3))
        return ak.Array(ak.contents.ListArray(index(np.array(starts)), index(np.array(stops)), numbers))

    huge = 2**62
    are_refused([
        (lists([0, 2], [2, 50]), ValueError, r"docs: not a valid awkward array: stop\[i\] > len\(content\) at i=1$"),
        (lists([0, -2], [2, 1]), ValueError, r"docs: .*: start\[i\] < 0 at i=1$"),
        (lists([0, 2], [2, 1]), ValueError, r"docs: .*: start\[i\] > stop\[i\] at i=1$"),
        (lists([huge, 0], [2**63 - 1, 1]), ValueError, r"docs: .*: stop\[i\] > len\(content\) at i=0$"),
    ])  # fmt: skip
    are_read([(lists([9, 0], [9, 3]), [[], [0, 1, 2]])])


def test_torch() -> None:
    torch = needed("torch")
    nested = BATCH.to_torch()
    assert nested.is_nested and nested.layout == torch.jagged and nested.dtype == torch.int32
    assert nested.values().data_ptr() == BATCH.values.ctypes.data
    assert nested.offsets().data_ptr() != BATCH.offsets.ctypes.data  # which nobody may write to
    assert shares(as_documents(nested).values, BATCH)
    for batch in (BATCH, BATCH[2:], Ragged.from_arrow(BATCH)):  # the last one of memory that is read-only
        assert [each.tolist() for each in batch.to_torch().unbind()] == batch.to_lists()
    with warnings.catch_warnings():  # torch's own of its older layout, once in a process
        warnings.simplefilter("ignore")
        strided = torch.nested.nested_tensor([torch.tensor([1, 2]), torch.tensor([3])], layout=torch.strided)
    are_read([
        (nested, LISTS), ([torch.tensor(doc, dtype=torch.int16) for doc in LISTS], LISTS),
        (strided, [[1, 2], [3]]), (torch.tensor([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
    ])  # fmt: skip
    wide, floats = torch.zeros(2, 3, dtype=torch.int32), torch.zeros(2)
    are_refused([
        (
            torch.nested.nested_tensor([wide], layout=torch.jagged), TypeError,
            "expected a nested tensor of 1-D tensors of integers, got values as an array of int32, shape",
        ),
        (torch.nested.nested_tensor([floats], layout=torch.jagged), TypeError, "got values as an array of float32"),
    ])  # fmt: skip
    are_refused([(nested, TypeError, "doc: expected one document")], as_document)


def test_nested_tensors_that_torch_does_not_check() -> None:
    torch = needed("torch")

    def jagged(offsets: list[int], lengths: list[int] | None = None, values: Any = None) -> Any:
        values = torch.arange(4, dtype=torch.int32) if values is None else values
        return torch.nested.nested_tensor_from_jagged(
            values, torch.tensor(offsets), None if lengths is None else torch.tensor(lengths)
        )

    are_read([(jagged([1, 3, 3]), [[1, 2], []]), (jagged([0, 2, 4], [2, 1]), [[0, 1], [2]])])
    where = "docs: offsets of the nested tensor:"
    are_refused([
        (jagged([0, 2, 1000]), ValueError, f"{where} expected at most 4, the number of values, got 1000"),
        (jagged([0, 3, 2]), ValueError, f"{where} document 1 ends before it starts: 3, then 2"),
        (jagged([-1, 3]), ValueError, f"{where} expected 0 or more at the start, got -1"),
        (jagged([0, 2, 4], [2, 100]), ValueError, "docs: document 1 has 100 values from 2 on, of 4"),
        (jagged([0, 2, 4], [2, -1]), ValueError, "docs: document 1 has -1 values from 2 on, of 4"),
    ])  # fmt: skip
    large = torch.from_numpy(np.array([1, 2, 2**64 - 1], np.uint64))
    for lengths in (None, [1, 2]):
        are_read([(jagged([0, 1, 3], lengths, torch.tensor([1, 2, 3], dtype=torch.uint64)), [[1], [2, 3]])])
        message = "docs: document 1, position 1: expected an integer that fits int64"
        are_refused([(jagged([0, 1, 3], lengths, large), ValueError, message)])


def test_torch_does_not_write_into_arrow() -> None:
    """Arrays of Arrow do not change, and may be a file that is mapped read-only."""
    pa, _ = needed("pyarrow"), needed("torch")
    array = pa.array(LISTS, pa.large_list(pa.int32()))
    nested = Ragged.from_arrow(array).to_torch()
    nested.values().zero_()
    nested.offsets().zero_()
    assert array.to_pylist() == LISTS


def test_datasets() -> None:
    datasets = needed("datasets")
    pa = needed("pyarrow")
    data = datasets.Dataset.from_dict({"x": LISTS, "text": ["né", "", "b", "c"]})
    doubled = data.with_transform(lambda part: {"x": [doc * 2 for doc in part["x"]]})
    formats = ["numpy", "arrow", *(["torch"] if importlib.util.find_spec("torch") else [])]
    are_read([
        *((given["x"], LISTS) for given in (data, *map(data.with_format, formats))),
        (data["text"], [[110, 233], [], [98], [99]]), (data.select([3, 0])["x"], [LISTS[3], LISTS[0]]),
        (doubled["x"], [doc * 2 for doc in LISTS]),
    ])  # fmt: skip
    tok = BPE(6, alphabet=4).fit(data["x"], progress=False)
    expected = tok.encode_batch(LISTS).to_lists()
    mapped = data.with_format("arrow").map(
        lambda part: pa.table({"ids": tok.encode_batch(part["x"])}),
        batched=True,
        remove_columns=data.column_names,
    )
    assert (
        mapped.with_format(None)["ids"][:] == expected and tok.decode_batch(mapped["ids"]).to_lists() == LISTS
    )
    made = datasets.Dataset(pa.table({"ids": BATCH}))
    assert (
        made.features["ids"] == datasets.LargeList(datasets.Value("int32"))
        and rows(as_documents(made["ids"])) == LISTS
    )


def test_equal_tokenizers_have_one_hash_in_datasets() -> None:
    datasets = needed("datasets")
    data = datasets.Dataset.from_dict({"x": LISTS})
    tok, other = (BPE(6, alphabet=4).fit(data["x"], progress=False) for _ in range(2))
    printed = datasets.fingerprint.Hasher.hash(tok)
    other.encode(LISTS[0])
    assert (
        printed
        == datasets.fingerprint.Hasher.hash(other)
        == datasets.fingerprint.Hasher.hash(pickle.loads(pickle.dumps(tok)))
    )


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
    are_refused([([Seq("A"), Seq(None, length=5)], TypeError, "docs: document 1: Seq gives no bytes: ")])


@each("package", ["pandas", "awkward"])
def test_boundaries_in_a_column_are_a_list_for_each_document(package: str) -> None:
    module = needed(package)
    column = module.Array if package == "awkward" else module.Series
    for texts in (["abab", "ab"], ["abab"]):
        cuts = [[1], [0]][: len(texts)]
        made, expected = (
            BPE(6, alphabet="ab").fit(given, boundaries=cuts, progress=False)
            for given in (column(texts), texts)
        )
        assert made.fingerprint == expected.fingerprint
    numbers = [0, 1, 0, 1]
    dtypes = ("int64", "Int8", "category", "int32[pyarrow]")
    for one in (
        [module.Array(numbers)]
        if package == "awkward"
        else [column(numbers, dtype=dtype) for dtype in dtypes]
    ):
        assert BPE(6, alphabet=2).fit(one, boundaries=[1], progress=False)._model.vocabulary.n_documents == 1
