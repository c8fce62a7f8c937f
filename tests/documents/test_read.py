"""What counts as documents, what it becomes, and what refusals say."""

from __future__ import annotations

import array
import re
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ubpe_numba import BPE
from ubpe_numba.documents import read as border
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import Documents, as_document, as_documents, code_points, text_of, utf8_documents

INT64 = st.integers(-(2**63), 2**63 - 1)
TEXT = st.text(st.characters(), max_size=5) | st.just("\ud800\udc00 \U0010ffff\0")
DTYPES = [f"{order}{kind}{width}" for order in "<>" for kind in "iu" for width in (1, 2, 4, 8)]


def rows(documents: Documents) -> list[list[int]]:
    """Check what kernels count on, and return the documents as lists."""
    values, offsets, _ = documents
    assert values.ndim == 1 and values.dtype.isnative and values.flags.c_contiguous and values.flags.aligned
    assert values.dtype.kind in "iu" and values.dtype != np.uint64 and type(values) is np.ndarray
    assert offsets.dtype == np.int64 and offsets.flags.carray
    return [values[a:b].tolist() for a, b in zip(offsets[:-1], offsets[1:], strict=True)]


# --- numbers


@given(st.lists(st.lists(INT64, max_size=4), max_size=5))
@settings(deadline=None)
def test_lists_tuples_and_arrays_of_integers(lists: list[list[int]]) -> None:
    assert rows(as_documents(lists)) == rows(as_documents(iter([*lists, []])))[:-1] == lists
    assert rows(as_documents(tuple(map(tuple, lists)))) == lists
    arrays = [np.array(row, np.int64) for row in lists]
    assert rows(as_documents(arrays)) == lists
    mixed = [row if i % 2 else np.array(row, np.int64) for i, row in enumerate(lists)]
    assert rows(as_documents(mixed)) == lists
    for row in lists:
        assert rows(as_document(row)) == [row]


@pytest.mark.parametrize("dtype", DTYPES)
def test_any_integer_dtype_is_normalised_to_its_own_width(dtype: str) -> None:
    flat = np.arange(6).astype(dtype)
    for doc in (flat, np.repeat(flat, 2)[::2], np.frombuffer(b"\0" + flat.tobytes(), dtype, offset=1)):
        for documents in (as_document(doc), as_documents(doc), as_documents([doc]), as_documents([doc, doc])):
            assert documents.values.dtype.itemsize == np.dtype(dtype).itemsize
            assert set(map(tuple, rows(documents))) == {(0, 1, 2, 3, 4, 5)}
    assert rows(as_documents(flat.reshape(2, 3))) == [[0, 1, 2], [3, 4, 5]]
    assert rows(as_documents(flat.reshape(2, 3).T)) == [[0, 3], [1, 4], [2, 5]]


@pytest.mark.parametrize("dtypes", [("u1", "i1"), ("u1", "i4"), ("u8", "i8"), ("u8", "u1"), ("u8", "i1", "f8"), ("u1", "f8")])
def test_different_dtypes_meet_in_one_that_holds_all(dtypes: tuple[str, ...]) -> None:
    arrays = [np.zeros(0) if dtype == "f8" else np.array([1, 100], dtype) for dtype in dtypes]
    documents = as_documents(arrays)
    assert rows(documents) == [a.tolist() for a in arrays]
    widest = {("u1", "i1"): np.int16, ("u1", "i4"): np.int32, ("u1", "f8"): np.uint8}
    assert documents.values.dtype == widest.get(dtypes, np.int64)


def test_memory_is_shared_where_it_can_be(tmp_path: Path) -> None:
    flat = np.arange(6, dtype=np.int32)
    batch = Ragged(flat, np.array([1, 3, 6]))
    for documents in (
        as_document(flat),
        as_documents(flat),
        as_documents([flat]),
        as_documents(flat.reshape(2, 3)),
        as_documents(flat, offsets=[0, 2, 6]),
        as_documents(batch),
    ):
        assert np.shares_memory(documents.values, flat)
    assert rows(as_documents(batch)) == [[1, 2], [3, 4, 5]]
    unsigned = flat.astype(np.uint64)
    assert np.shares_memory(as_document(unsigned).values, unsigned)
    flat.setflags(write=False)
    assert np.shares_memory(as_document(flat).values, flat)
    flat.tofile(tmp_path / "flat")
    mapped = np.memmap(tmp_path / "flat", np.int32, "r")
    assert np.shares_memory(as_document(mapped).values, mapped) and rows(as_document(mapped)) == [[*range(6)]]


def test_read_only_offsets_are_copied() -> None:
    cuts = np.array([0, 1, 2])
    cuts.setflags(write=False)
    flat = np.arange(2, dtype=np.int32)
    assert rows(as_documents(flat, cuts)) == rows(as_documents(Ragged(flat, cuts))) == [[0], [1]]


@pytest.mark.parametrize("cuts", [[0, 0, 3], (0, 0, 3), np.array([0, 0, 3], np.uint8), np.array([0, 0, 3], ">u8")])
def test_flat_with_offsets(cuts: Any) -> None:
    assert rows(as_documents(np.arange(3), offsets=cuts)) == [[], [0, 1, 2]]
    assert rows(as_documents([0, 1, 2], offsets=cuts)) == [[], [0, 1, 2]]
    assert as_documents("abc", offsets=cuts).kind == "str"


@pytest.mark.parametrize(
    ("cuts", "way"),
    [
        ([2, 3, 4], r"cumsum\(\[0, \*lengths\]\)"),
        ([4, 3, 2], r"cumsum\(\[0, \*lengths\]\)"),
        ([0, 2, 5], "append 9 to starts"),
        ([2, 5, 9], "put 0 before ends"),
        ([1, 2, 4], r"docs\[1:4\] and offsets - 1"),
        ([0, 7, 5, 9], "document 1 ends before it starts"),
        ([0, 10], "at most 9"),
        ([-1, 9], "0 or more at the start"),
        ([], "at least one entry"),
    ],
)
def test_offsets_that_leave_symbols_out_are_refused(cuts: list[int], way: str) -> None:
    with pytest.raises(ValueError, match=f"^offsets: .*{way}"):
        as_documents(np.arange(9), offsets=np.array(cuts, np.int64))


def test_what_numpy_takes_for_arrays() -> None:
    class Tensor:
        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
            return np.array([1, 2], np.int16)

    class Column(list[Any]):
        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
            return np.array(list(self), object)

    for doc in (Tensor(), array.array("h", [1, 2]), memoryview(np.array([1, 2], np.int16))):
        for documents in (as_document(doc), as_documents(doc), as_documents([doc])):
            assert rows(documents) == [[1, 2]] and documents.values.dtype == np.int16
        assert rows(as_documents([doc, [3], doc])) == [[1, 2], [3], [1, 2]]
    assert as_documents(Column(["a", "b"])).kind == "str"


# --- text


@given(st.lists(TEXT, max_size=5))
@settings(deadline=None)
def test_str_becomes_code_points(texts: list[str]) -> None:
    documents = as_documents(texts)
    assert rows(documents) == [list(map(ord, text)) for text in texts]
    assert documents.kind == ("str" if texts else "int")
    for text in texts:
        one = as_document(text)
        assert one.kind == "str" and one.values.dtype == np.uint32 and rows(one) == rows(as_documents(text))
        assert text_of(code_points(text)) == text == text_of(np.repeat(one.values, 2)[::2])


@given(st.lists(st.binary(max_size=5), min_size=1, max_size=5))
@settings(deadline=None)
def test_bytes_become_their_values(texts: list[bytes]) -> None:
    for change in (bytes, bytearray, memoryview):
        documents = as_documents(list(map(change, texts)))
        assert rows(documents) == list(map(list, texts))
        assert documents.kind == "bytes" and documents.values.dtype == np.uint8
        for text in texts:
            assert rows(as_document(change(text))) == rows(as_documents(change(text))) == [list(text)]
    backwards = [memoryview(text)[::-1] for text in texts]
    assert rows(as_documents(backwards)) == [list(text[::-1]) for text in texts]
    assert rows(as_document(backwards[0])) == [list(texts[0][::-1])]


def test_bytes_of_one_document_are_not_copied() -> None:
    data = bytearray(b"abc")
    assert np.shares_memory(as_documents([data]).values, np.frombuffer(data, np.uint8))


# --- nothing


@pytest.mark.parametrize(
    ("docs", "expected"),
    [
        ([], []),
        (np.zeros((0, 3), int), []),
        (np.zeros((2, 0)), [[], []]),
        ([[]], [[]]),
        ([[], ()], [[], []]),
        (np.array([]), [[]]),
        ([np.array([]), [1], np.array([], np.uint8)], [[], [1], []]),
        ([np.array([]), np.array([])], [[], []]),
        ([""], [[]]),
        (b"", [[]]),
        (Ragged.from_lists([]), []),
    ],
)
def test_no_documents_and_empty_ones(docs: Any, expected: list[list[int]]) -> None:
    assert rows(as_documents(docs)) == expected


def test_empty_documents_have_the_kind_of_their_container() -> None:
    assert [as_documents(docs).kind for docs in ([], [""], [b""], [[]])] == ["int", "str", "bytes", "int"]
    assert rows(as_document([])) == rows(as_document("")) == rows(as_document(np.array([]))) == [[]]


# --- refusals

ARRAY = "documents are integers, got an array of"


@pytest.mark.parametrize(
    ("docs", "error", "message"),
    [
        (np.array([0.5]), TypeError, f"docs: {ARRAY} float64, shape (1,); round or quantise first"),
        (np.array([np.nan]), TypeError, f"docs: {ARRAY} float64"),
        (np.zeros((1, 2), np.float32), TypeError, f"docs: {ARRAY} float32"),
        (np.array([], np.float32), TypeError, f"docs: {ARRAY} float32"),
        (np.array([1j]), TypeError, f"docs: {ARRAY} complex128"),
        (np.array([True]), TypeError, f"docs: {ARRAY} bool, shape (1,); use astype('uint8')"),
        (
            np.array([[1], [2, 3]], object),
            TypeError,
            f"docs: {ARRAY} object, shape (2,); use tolist() for a document each",
        ),
        (
            np.array(["a"]),
            TypeError,
            f"docs: {ARRAY} <U1, shape (1,); numpy.unique(words, return_inverse=True)",
        ),
        (
            np.array(0),
            ValueError,
            "docs: expected a 1-D array (one document) or 2-D (a document a row), got",
        ),
        (np.int64(3), ValueError, "docs: expected a 1-D array"),
        (np.zeros((1, 1, 1, 1), int), ValueError, "got an array of int64, shape (1, 1, 1, 1)"),
        (np.ma.array([1, 2], mask=[0, 1]), TypeError, "docs: expected a plain array, got a masked array"),
        ([np.array([1]), np.array([0.0])], TypeError, f"docs: document 1: {ARRAY} float64"),
        (
            [np.array([1]), np.zeros((1, 1), int)],
            ValueError,
            "docs: document 1: expected a 1-D integer array",
        ),
        (
            [np.array([1]), np.array([1, 2**63], np.uint64)],
            ValueError,
            "docs: document 1, position 1: expected ",
        ),
        (
            np.array([[0], [2**63]], np.uint64),
            ValueError,
            "docs: document 1, position 0: expected an integer",
        ),
        ([1, 2], TypeError, "got a flat list of integers; for one document wrap it in a list ([docs])"),
        (range(3), TypeError, "docs: expected documents, got a flat list of integers"),
        ([np.int8(1)], TypeError, "docs: expected documents, got a flat list of integers"),
        ([[1], 2], TypeError, "docs: document 1: expected one of integer arrays, lists of integers, str or"),
        ([0.5], TypeError, "docs: document 0: expected one of integer arrays"),
        (
            [[1], None],
            TypeError,
            "docs: document 1: expected one of integer arrays, lists of integers, str or",
        ),
        ([{1}], TypeError, "docs: document 0: expected one of"),
        ([Ragged.from_lists([])], TypeError, "bytes, got Ragged"),
        ([[1], [2, True]], TypeError, "docs: document 1, position 1: expected an integer, got True (bool)"),
        ([[], [], [1.0]], TypeError, "docs: document 2, position 0: expected an integer, got 1.0 (float)"),
        ([[1, None]], TypeError, "docs: document 0, position 1: expected an integer, got None (NoneType)"),
        ([["a"], [1]], TypeError, "docs: document 0, position 0: expected an integer, got 'a' (str)"),
        (
            [np.array([1]), ["a"]],
            TypeError,
            "docs: document 1, position 0: expected an integer, got 'a' (str)",
        ),
        ([[[1]], []], TypeError, "docs: document 0, position 0: expected an integer, got [1] (list)"),
        (
            [[1], [0, 2**63]],
            ValueError,
            "document 1, position 1: expected an integer that fits int64, got 92233",
        ),
        (
            [[np.uint64(2**63)]],
            ValueError,
            "document 0, position 0: expected an integer that fits int64, got 92",
        ),
        (["a", [1]], TypeError, "documents of one kind, got str (document 0) and integers (document 1)"),
        (
            [[1], [2], b"a"],
            TypeError,
            "documents of one kind, got integers (document 0) and bytes (document 2)",
        ),
        (["a", b"a"], TypeError, "documents of one kind, got str (document 0) and bytes (document 1)"),
        (
            {"a": 1},
            TypeError,
            "docs: expected a sequence of documents (integer arrays, lists of integers, str or",
        ),
        ({"a"}, TypeError, "bytes), got set"),
        (None, TypeError, "bytes), got None"),
        (7, TypeError, "bytes), got 7 (int)"),
    ],
)
def test_bad_documents_are_refused(docs: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        as_documents(docs)


@pytest.mark.parametrize(
    ("doc", "error", "message"),
    [
        ([1, 0.5], TypeError, "doc, position 1: expected an integer, got 0.5 (float)"),
        ([1, False], TypeError, "doc, position 1: expected an integer, got False (bool)"),
        (
            [2**64],
            ValueError,
            "doc, position 0: expected an integer that fits int64, got 18446744073709551616",
        ),
        (
            np.array([0, 2**64 - 1], np.uint64),
            ValueError,
            "doc, position 1: expected an integer that fits int64",
        ),
        (
            np.zeros((1, 2), int),
            ValueError,
            "doc: expected a 1-D integer array, got an array of int64, shape",
        ),
        (np.array(1), ValueError, "doc: expected a 1-D integer array"),
        (np.array([0.5]), TypeError, "doc: documents are integers"),
        (None, TypeError, "doc: expected one document (an integer array or list, str or bytes), got None"),
        ({1: 2}, TypeError, "doc: expected one document (an integer array or list, str or bytes), got dict"),
        (3, TypeError, "str or bytes), got 3 (int)"),
    ],
)
def test_a_bad_document_is_refused(doc: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        as_document(doc)


@pytest.mark.parametrize(
    ("docs", "cuts", "error", "message"),
    [
        (Ragged.from_lists([]), [0], TypeError, "docs: expected a flat array with offsets=, got a Ragged"),
        (np.zeros((2, 2), int), [0], ValueError, "docs: expected a 1-D integer array"),
        ([[1]], [0, 1], TypeError, "docs, position 0: expected an integer, got [1] (list)"),
        (np.arange(3), [], ValueError, "offsets: expected at least one entry"),
        (np.arange(3), [0, 4], ValueError, "offsets: expected at most 3, the number of values, got 4"),
        (np.arange(3), [0, 2, 1], ValueError, "offsets: document 1 ends before it starts: 2, then 1"),
        (np.arange(3), [-1, 2], ValueError, "offsets: expected 0 or more at the start, got -1"),
        (np.arange(3), [0, 1.0], TypeError, "offsets, position 1: expected an integer, got 1.0 (float)"),
        (np.arange(3), "ab", TypeError, "offsets: expected integers, got str"),
        (np.arange(3), 3, TypeError, "offsets: expected one document"),
    ],
)
def test_bad_offsets_are_refused(docs: Any, cuts: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        as_documents(docs, offsets=cuts)


def test_name_of_the_argument() -> None:
    with pytest.raises(TypeError, match="^corpus: expected documents, got a flat tuple .* list .*corpus"):
        as_documents((1,), name="corpus")
    with pytest.raises(TypeError, match="^x, position 0: "):
        as_document([None], name="x")


def test_data_frames_are_refused() -> None:
    class Frame(list[str]):
        def __dataframe__(self) -> None: ...

    with pytest.raises(TypeError, match="docs: expected a sequence of documents .* got Frame"):
        as_documents(Frame(["column"]))


def test_rows_of_matrices_are_documents() -> None:
    chunk = np.arange(12, dtype=np.int16).reshape(4, 3)
    for given_ in (chunk, np.asfortranarray(chunk), chunk.astype(">u8"), chunk.T.copy().T):
        assert rows(as_documents(given_)) == chunk.tolist()
    assert np.shares_memory(as_documents(chunk).values, chunk)
    assert rows(as_documents(np.zeros((0, 4), int))) == [] and rows(as_documents(np.zeros((2, 0), int))) == [[], []]
    big = chunk.astype(np.uint64)
    big[2, 1] = 2**63
    with pytest.raises(
        ValueError, match="docs: document 2, position 1: expected an integer that fits int64, got 9223372036854775808"
    ):
        as_documents(big)
    with pytest.raises(ValueError, match=r"shape \(2, 2, 3\); reshape\(-1, 3\) keeps rows apart, reshape\(2, -1\) joins them"):
        as_documents(chunk.reshape(2, 2, 3))


class Strand:
    """A sequence that says what its bytes are, as biopython's do."""

    def __init__(self, text: str | None) -> None:
        self.text = text

    def __bytes__(self) -> bytes:
        if self.text is None:
            raise LookupError("the sequence is not known")
        return self.text.encode()

    def __len__(self) -> int:
        return len(self.text or "")

    def __iter__(self) -> Iterator[str]:
        return iter(self.text or "")


def test_objects_with_bytes_are_documents() -> None:
    strands = [Strand("GAT"), Strand(""), Strand("C")]
    for docs in (strands, tuple(strands), iter(strands), [b"GAT", strands[1], bytearray(b"C")]):
        found = as_documents(docs)
        assert found.kind == "bytes" and rows(found) == [[71, 65, 84], [], [67]]
    assert rows(as_documents(strands[0])) == rows(as_document(strands[0])) == rows(as_documents([strands[0]])) == [[71, 65, 84]]
    assert rows(utf8_documents(["é", strands[0]])) == [[0xC3, 0xA9], [71, 65, 84]]
    with pytest.raises(TypeError, match=r"docs: document 1: Strand gives no bytes: the sequence is not known"):
        as_documents([strands[0], Strand(None)])
    with pytest.raises(TypeError, match=r"one kind, got bytes \(document 0\) and integers \(document 1\)"):
        as_documents([strands[0], [1]])


def test_too_little_memory_for_bytes_is_a_memory_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(strand: Strand) -> bytes:
        raise MemoryError

    monkeypatch.setattr(Strand, "__bytes__", none)
    for read in (as_document, as_documents):
        with pytest.raises(MemoryError):
            read(Strand("GAT"))


@pytest.mark.parametrize("kind", [int, float, dict, set, frozenset])
def test_numbers_and_mappings_are_no_documents_whatever_their_bytes(kind: type) -> None:
    value = type("Value", (kind,), {"__bytes__": lambda self: b"xx"})()
    for read, docs in ((as_document, value), (as_documents, value), (as_documents, [value])):
        with pytest.raises(TypeError, match="docs?: .*expected"):
            read(docs)


def test_an_iterator_gives_documents_whatever_its_bytes() -> None:
    class Reader:
        def __init__(self) -> None:
            self.lines = iter(["ab", "c"])

        def __iter__(self) -> Reader:
            return self

        def __next__(self) -> str:
            return next(self.lines)

        def __bytes__(self) -> bytes:
            return b"xx"

    assert rows(as_documents(Reader())) == rows(utf8_documents(Reader())) == [[97, 98], [99]]


def test_paths_are_no_documents(tmp_path: Path) -> None:
    """A path has bytes, too; they are not what anybody wants to learn from."""
    with pytest.raises(TypeError, match="expected one document .* got PosixPath|expected one document .* got WindowsPath"):
        as_document(tmp_path)
    with pytest.raises(TypeError, match="docs: document 0: expected one of"):
        as_documents([tmp_path])
    with pytest.raises(TypeError, match="docs: expected a sequence of documents"):
        as_documents(tmp_path)


# --- Arrow


def test_arrow_arrays_are_taken_without_a_copy() -> None:
    pa = pytest.importorskip("pyarrow")
    lists = [[1, 2], [], [3], [4, 5]]
    for make in (pa.list_, pa.large_list):
        whole = pa.array(lists, make(pa.int16()))
        for part in (whole, whole.slice(1, 2), pa.chunked_array([whole, whole.slice(3)]), whole.slice(4)):
            documents = as_documents(part)
            assert rows(documents) == part.to_pylist() and documents.values.dtype == np.int16
        first = pa.chunked_array([whole])
        address = whole.values.buffers()[1].address
        assert as_documents(whole).values.ctypes.data == as_documents(first).values.ctypes.data == address
    assert rows(as_documents(pa.chunked_array([], pa.list_(pa.int8())))) == []
    assert rows(as_documents(pa.array([], pa.list_(pa.int8())))) == []
    assert as_documents(pa.array(["a", "bc"])).kind == as_documents(pa.chunked_array([["a"]])).kind == "str"
    assert rows(as_documents(pa.array([b"a"]))) == [[97]]
    assert rows(as_document(pa.array([1, 2]))) == [[1, 2]]
    assert rows(as_documents(Ragged.from_lists(lists).to_arrow())) == lists


def test_bad_arrow_arrays_are_refused() -> None:
    pa = pytest.importorskip("pyarrow")
    for docs, error, message in [
        (pa.array([[1], None]), ValueError, "docs: document 1 is null; drop or fill nulls first"),
        (pa.chunked_array([[[1]], [None]], pa.list_(pa.int8())), ValueError, "docs: document 1 is null"),
        (pa.array([[9], [], [1, None]]).slice(1), ValueError, "docs: document 1, position 1 is null"),
        (pa.array([[0.5]]), TypeError, "got Arrow's lists of float64; round or quantise first"),
        (pa.array([["a"]]), TypeError, "got Arrow's lists of strings"),
        (pa.array(["a", None]), ValueError, "docs: document 1 is null; drop or fill nulls first"),
        (pa.scalar(1), TypeError, "docs: expected a sequence of documents"),
        (pa.table({"a": [[1]], "b": [1]}), TypeError, "docs: expected a sequence of documents"),
    ]:
        with pytest.raises(error, match=re.escape(message)):
            as_documents(docs)


def test_arrow_is_not_imported() -> None:
    script = """
import sys
from ubpe_numba.documents.read import as_documents
as_documents([[1]])
assert "pyarrow" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize(
    "docs",
    [
        [[1, 2, 3], [], [300, -1]],
        [np.array([1, 2], np.uint8), np.array([2**40]), np.zeros(0, np.int16)],
        ["né", "", "\ud800x", "\U0001f600"],
        [b"abc", bytearray(b"d"), b""],
        [[]],
    ],
)
def test_iterators_equal_lists(docs, small, monkeypatch) -> None:
    if small:
        monkeypatch.setattr(border, "_BATCH_SYMBOLS", 1)
    listed, streamed = as_documents(docs), as_documents(iter(docs))
    assert listed.kind == streamed.kind
    assert listed.offsets.tolist() == streamed.offsets.tolist()
    assert listed.values.tolist() == streamed.values.tolist()


@pytest.mark.parametrize(
    "docs, message",
    [
        ([[1], [2], "x"], r"integers \(document 0\) and str \(document 2\)"),
        ([b"a", b"b", [1.5]], r"document 2.*expected an integer"),
        ([[1], [2], [3, 2**64]], r"document 2, position 1.*fits int64"),
        ([[1], [2], None], r"document 2: expected one of"),
        ([np.array([1]), np.array([2]), np.array([1.0])], r"document 2: documents are integers"),
        ([np.array([1]), np.array([2**63], np.uint64)], r"document 1, position 0.*fits int64"),
    ],
)
def test_errors_name_the_document_in_the_stream(docs, message, monkeypatch) -> None:
    monkeypatch.setattr(border, "_BATCH_SYMBOLS", 1)
    with pytest.raises((TypeError, ValueError), match=message):
        as_documents(iter(docs))


def test_a_stream_is_held_once_and_narrow() -> None:
    rng = np.random.default_rng(0)
    texts = [rng.integers(97, 107, 4000) for _ in range(5)]
    n = 2_000_000
    tracemalloc.start()
    documents = as_documents(texts[i % 5] for i in range(n // 4000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert documents.values.size == n
    assert documents.values.dtype == np.uint8
    assert peak < 2 * n + 16 * border._BATCH_SYMBOLS  # of a batch there are the arrays, joined
    assert BPE(140).fit(iter(texts), progress=False).fingerprint == BPE(140).fit(texts, progress=False).fingerprint


def test_null_at_the_start_of_an_arrow_document() -> None:
    with pytest.raises(ValueError, match="document 1, position 0 is null"):
        as_documents(pa.array([[1, 2], [None, 3]], pa.list_(pa.int32())))


def test_a_stream_names_the_document_of_another_kind() -> None:
    with pytest.raises(TypeError, match=r"got integers \(document \d+\) and str \(document 65538\)"):
        as_documents(iter([[1]] * 65536 + [[1], [2], "a"]))
