"""What counts as documents, what it becomes, and what refusals say."""

import array
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from processes import python
from tables import each, refuses

from ubpe_numba import BPE
from ubpe_numba.documents import read as border
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import (
    Documents,
    as_document,
    as_documents,
    code_points,
    text_of,
    utf8_documents,
    with_pairs,
)

INT64 = st.integers(-(2**63), 2**63 - 1)
TEXT = st.text(st.characters(), max_size=5) | st.just("\ud800\udc00 \U0010ffff\0")
DTYPES = [f"{order}{kind}{width}" for order in "<>" for kind in "iu" for width in (1, 2, 4, 8)]


def rows(documents: Documents) -> list[list[int]]:
    """Check what kernels count on, and return the documents as lists."""
    values, offsets, _ = documents
    assert values.ndim == 1 and values.dtype.isnative and values.flags.c_contiguous and values.flags.aligned
    assert values.dtype.kind in "iu" and values.dtype != np.uint64 and type(values) is np.ndarray
    assert offsets.dtype == np.int64 and offsets.flags.carray and offsets.flags.writeable
    return [values[a:b].tolist() for a, b in zip(offsets[:-1], offsets[1:], strict=True)]


@given(st.lists(st.lists(INT64, max_size=4), max_size=5))
def test_lists_tuples_and_arrays_of_integers(lists: list[list[int]]) -> None:
    assert rows(as_documents(lists)) == rows(as_documents(iter([*lists, []])))[:-1] == lists
    assert rows(as_documents(tuple(map(tuple, lists)))) == lists
    arrays = [np.array(row, np.int64) for row in lists]
    assert rows(as_documents(arrays)) == lists
    mixed = [row if i % 2 else np.array(row, np.int64) for i, row in enumerate(lists)]
    assert rows(as_documents(mixed)) == lists
    for row in lists:
        assert rows(as_document(row)) == [row]


@each("dtype", DTYPES)
def test_any_integer_dtype_is_normalised_to_its_own_width(dtype: str) -> None:
    flat = np.arange(6).astype(dtype)
    for doc in (flat, np.repeat(flat, 2)[::2], np.frombuffer(b"\0" + flat.tobytes(), dtype, offset=1)):
        for documents in (as_document(doc), as_documents(doc), as_documents([doc]), as_documents([doc, doc])):
            assert documents.values.dtype.itemsize == np.dtype(dtype).itemsize
            assert set(map(tuple, rows(documents))) == {(0, 1, 2, 3, 4, 5)}
    assert rows(as_documents(flat.reshape(2, 3))) == [[0, 1, 2], [3, 4, 5]]
    assert rows(as_documents(flat.reshape(2, 3).T)) == [[0, 3], [1, 4], [2, 5]]


@each("dtypes", [("u1", "i1"), ("u1", "i4"), ("u8", "i8"), ("u8", "u1"), ("u8", "i1", "f8"), ("u1", "f8")])
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
        as_document(flat), as_documents(flat), as_documents([flat]), as_documents(flat.reshape(2, 3)),
        as_documents(flat, offsets=[0, 2, 6]), as_documents(batch),
    ):  # fmt: skip
        assert np.shares_memory(documents.values, flat)
    data = bytearray(b"abc")
    assert np.shares_memory(as_documents([data]).values, np.frombuffer(data, np.uint8))
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


@each("cuts", [[0, 0, 3], (0, 0, 3), np.array([0, 0, 3], np.uint8), np.array([0, 0, 3], ">u8")])
def test_flat_with_offsets(cuts: Any) -> None:
    assert rows(as_documents(np.arange(3), offsets=cuts)) == [[], [0, 1, 2]]
    assert (
        rows(as_documents([0, 1, 2], offsets=cuts)) == [[], [0, 1, 2]]
        and as_documents("abc", offsets=cuts).kind == "str"
    )
    borders = "\x7f\x80\u07ff\u0800\uffff\U00010000"
    assert rows(utf8_documents(borders, offsets=range(7))) == [[*char.encode()] for char in borders]


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


@given(st.lists(TEXT, max_size=5))
def test_str_becomes_code_points(texts: list[str]) -> None:
    documents = as_documents(texts)
    assert rows(documents) == [list(map(ord, with_pairs(text))) for text in texts] and documents.kind == (
        "str" if texts else "int"
    )
    for text in texts:
        one = as_document(text)
        assert one.kind == "str" and one.values.dtype == np.uint32 and rows(one) == rows(as_documents(text))
        assert text_of(code_points(text)) == text
        assert text_of(np.repeat(one.values, 2)[::2]) == with_pairs(text)


@given(st.lists(st.binary(max_size=5), min_size=1, max_size=5))
def test_bytes_become_their_values(texts: list[bytes]) -> None:
    for change in (bytes, bytearray, memoryview):
        documents = as_documents(list(map(change, texts)))
        assert (
            rows(documents) == list(map(list, texts))
            and documents.kind == "bytes"
            and documents.values.dtype == np.uint8
        )
        for text in texts:
            assert rows(as_document(change(text))) == rows(as_documents(change(text))) == [list(text)]
    backwards = [memoryview(text)[::-1] for text in texts]
    assert rows(as_documents(backwards)) == [list(text[::-1]) for text in texts]
    assert rows(as_document(backwards[0])) == [list(texts[0][::-1])]


def test_name_of_the_argument() -> None:
    refuses(
        TypeError,
        "^corpus: expected documents, got a flat tuple .* list .*corpus",
        as_documents,
        (1,),
        name="corpus",
    )
    refuses(TypeError, "^x, position 0: ", as_document, [None], name="x")
    frame = type("Frame", (list,), {"__dataframe__": lambda self: None})
    refuses(
        TypeError,
        "docs: expected a sequence of documents .* got Frame",
        lambda: as_documents(frame(["column"])),
    )


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
    for docs in (strands, iter(strands), [b"GAT", strands[1], bytearray(b"C")]):
        found = as_documents(docs)
        assert found.kind == "bytes" and rows(found) == [[71, 65, 84], [], [67]]
    assert (
        rows(as_documents(strands[0]))
        == rows(as_document(strands[0]))
        == rows(as_documents([strands[0]]))
        == [[71, 65, 84]]
    )
    assert rows(utf8_documents(["é", strands[0]])) == [[0xC3, 0xA9], [71, 65, 84]]
    with pytest.raises(
        TypeError, match=r"docs: document 1: Strand gives no bytes: the sequence is not known"
    ):
        as_documents([strands[0], Strand(None)])
    refuses(
        TypeError,
        r"one kind, got bytes \(document 0\) and integers \(document 1\)",
        as_documents,
        [strands[0], [1]],
    )


def test_too_little_memory_for_bytes_is_a_memory_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(strand: Strand) -> bytes:
        raise MemoryError

    monkeypatch.setattr(Strand, "__bytes__", none)
    for read in (as_document, as_documents):
        with pytest.raises(MemoryError):
            read(Strand("GAT"))


@each("kind", [int, float, dict, set, frozenset])
def test_numbers_and_mappings_are_no_documents_whatever_their_bytes(kind: type) -> None:
    value = type("Value", (kind,), {"__bytes__": lambda self: b"xx"})()
    for read, docs in ((as_document, value), (as_documents, value), (as_documents, [value])):
        refuses(TypeError, "docs?: .*expected", read, docs)


def test_an_iterator_gives_documents_whatever_its_bytes() -> None:
    class Reader:
        def __init__(self) -> None:
            self.lines = iter(["ab", "c"])

        def __iter__(self) -> Any:
            return self

        def __next__(self) -> str:
            return next(self.lines)

        def __bytes__(self) -> bytes:
            return b"xx"

    assert rows(as_documents(Reader())) == rows(utf8_documents(Reader())) == [[97, 98], [99]]


def test_arrow_is_not_imported() -> None:
    """Nor is numba, of which a scale needs nothing."""
    python("""
import sys
from ubpe_numba import Scale
Scale(step=1).fit_transform([1, 2])
assert "numba" not in sys.modules
from ubpe_numba.documents.read import as_documents
as_documents([[1]])
assert "pyarrow" not in sys.modules
""")


@each("small", [False, True])
@each("docs", [
    [[1, 2, 3], [], [300, -1]],
    [np.array([1, 2], np.uint8), np.array([2**40]), np.zeros(0, np.int16)],
    ["né", "", "\ud800x", "\U0001f600"],
    [b"abc", bytearray(b"d"), b""],
    [[]],
])  # fmt: skip
def test_iterators_equal_lists(docs: Any, small: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if small:
        monkeypatch.setattr(border, "_BATCH_SYMBOLS", 1)
    listed, streamed = as_documents(docs), as_documents(iter(docs))
    assert listed.kind == streamed.kind and listed.offsets.tolist() == streamed.offsets.tolist()
    assert listed.values.tolist() == streamed.values.tolist()


def test_errors_name_the_document_in_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TypeError, match=r"got integers \(document \d+\) and str \(document 65538\)"):
        as_documents(iter([[1]] * 65536 + [[1], [2], "a"]))
    monkeypatch.setattr(border, "_BATCH_SYMBOLS", 1)
    rows: list[tuple[list[Any], str]] = [
        ([[1], [2], "x"], r"integers \(document 0\) and str \(document 2\)"),
        ([b"a", b"b", [1.5]], r"document 2.*expected an integer"), ([[1], [2], None], r"document 2: expected one of"),
        ([[1], [2], [3, 2**64]], r"document 2, position 1.*fits int64"),
        ([np.array([1]), np.array([2]), np.array([1.0])], r"document 2: documents are integers"),
        ([np.array([1]), np.array([2**63], np.uint64)], r"document 1, position 0.*fits int64"),
    ]  # fmt: skip
    for docs, message in rows:
        refuses((TypeError, ValueError), message, as_documents, iter(docs))


def test_a_stream_is_held_once_and_narrow() -> None:
    rng = np.random.default_rng(0)
    texts = [rng.integers(97, 107, 4000) for _ in range(5)]
    n = 2_000_000
    tracemalloc.start()
    documents = as_documents(texts[i % 5] for i in range(n // 4000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert documents.values.size == n and documents.values.dtype == np.uint8
    assert peak < 2 * n + 16 * border._BATCH_SYMBOLS  # of a batch there are the arrays, joined
    assert (
        BPE(140).fit(iter(texts), progress=False).fingerprint
        == BPE(140).fit(texts, progress=False).fingerprint
    )
