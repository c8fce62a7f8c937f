"""Arrays of Arrow as documents: every layout of pyarrow, whole and in parts, against its own lists; and broken arrays."""

import ctypes
import gc
from typing import Any

import numpy as np
import pytest
from documents.test_read import rows
from hypothesis import given, strategies as st
from tables import each, refuses

from ubpe_numba import Ragged
from ubpe_numba.documents import arrow
from ubpe_numba.documents.read import Documents, as_document, as_documents, utf8_documents

pa = pytest.importorskip("pyarrow")
TEXTS = st.lists(st.text(st.sampled_from("ab\x00é\u07ff\u0800低😀\U0010ffff"), max_size=9), max_size=8)
LISTS = st.lists(st.lists(st.integers(0, 127), max_size=5), max_size=8)


def plain(documents: Documents) -> tuple[Any, ...]:
    """All of it, and that kernels can read it."""
    values, offsets, kind = documents
    assert (
        values.flags.c_contiguous
        and values.flags.aligned
        and offsets.flags.writeable
        and offsets.dtype == "int64"
    )
    return values.dtype, values[offsets[0] : offsets[-1]].tolist(), (offsets - offsets[0]).tolist(), kind


def in_parts(array: Any, start: int, cut: int) -> list[Any]:
    """An array from `start` on: whole, in chunks, in one chunk, and with an empty chunk."""
    part = array.slice(start)
    chunks = [part.slice(0, cut), part.slice(cut)]
    return [
        part,
        pa.chunked_array(chunks),
        pa.chunked_array([part]),
        pa.chunked_array([chunks[0], part.slice(0, 0), chunks[1]]),
    ]


KINDS = ["string", "large_string", "string_view", "binary", "large_binary", "binary_view", "dictionary"]


@given(TEXTS, st.integers(0, 4), st.integers(0, 3), st.sampled_from(KINDS))
def test_texts_of_every_type_sliced_and_in_chunks(texts: list[str], start: int, cut: int, kind: str) -> None:
    docs: list[Any] = [text.encode() for text in texts] if "binary" in kind else texts
    array = (
        pa.array(docs, pa.string()).dictionary_encode()
        if kind == "dictionary"
        else pa.array(docs, getattr(pa, kind)())
    )
    docs = docs[start:]
    for same in in_parts(array, start, cut):
        assert plain(as_documents(same)) == plain(as_documents(docs))
        assert plain(utf8_documents(same)) == plain(utf8_documents(docs))
    assert plain(as_documents(pa.chunked_array([], array.type))) == plain(as_documents([]))


LAYOUTS = ["list_", "large_list", "list_view", "large_list_view", "values", "lists"]


@given(
    LISTS,
    st.integers(0, 4),
    st.integers(0, 3),
    st.sampled_from(["int8", "uint16", "int32", "uint64"]),
    st.sampled_from(LAYOUTS),
)
def test_lists_of_every_layout_sliced_and_in_chunks(
    docs: list[list[int]], start: int, cut: int, dtype: str, layout: str
) -> None:
    """The last two: integers by a dictionary in lists, and a dictionary of lists."""
    value = getattr(pa, dtype)()
    if layout == "values":
        flat = Ragged.from_lists(docs)
        items = pa.array(flat.values, value).dictionary_encode()
        array = pa.LargeListArray.from_arrays(pa.array(flat.offsets), items)
    elif layout == "lists":
        known = pa.array([[127], [], [1, 2], *docs], pa.list_(value))
        array = pa.DictionaryArray.from_arrays(pa.array(range(3, len(docs) + 3), pa.int16()), known)
    else:
        array = pa.array(docs, getattr(pa, layout)(value))
    for same in in_parts(array, start, cut):
        found = as_documents(same)
        assert rows(found) == docs[start:] and found.kind == "int"
        assert found.values.dtype == ("int64" if dtype == "uint64" else dtype)
        assert Ragged.from_arrow(same).to_lists() == docs[start:]


@given(st.integers(0, 3), st.integers(0, 4), st.integers(0, 2), st.integers(0, 2))
def test_fixed_sizes(width: int, n: int, start: int, cut: int) -> None:
    docs = [[i * width + j for j in range(width)] for i in range(n)]
    items = pa.array(np.arange(n * width + 2, dtype=np.int16)).slice(0, n * width)
    array = (
        pa.FixedSizeListArray.from_arrays(items, width) if width else pa.array(docs, pa.list_(pa.int16(), 0))
    )
    for same in in_parts(array, start, cut):
        assert rows(as_documents(same)) == docs[start:]
    if width:
        texts = [bytes(doc) for doc in docs]
        for same in in_parts(pa.array(texts, pa.binary(width)), start, cut):
            assert plain(as_documents(same)) == plain(as_documents(texts[start:]))


def test_list_views_in_any_order() -> None:
    items = pa.array([9, 1, 2, 3, 4], pa.int32()).slice(1)
    for cls, index in ((pa.ListViewArray, pa.int32()), (pa.LargeListViewArray, pa.int64())):
        array = cls.from_arrays(pa.array([2, 0, 0, 4], index), pa.array([2, 3, 0, 0], index), items)
        assert rows(as_documents(array)) == array.to_pylist() == [[3, 4], [1, 2, 3], [], []]
        assert rows(as_documents(array.slice(1, 2))) == [[1, 2, 3], []]
        in_order = cls.from_arrays(pa.array([1, 3], index), pa.array([2, 1], index), items)
        # then it is not copied
        assert as_documents(in_order).values.ctypes.data == items.buffers()[1].address + 8


def test_views_of_strings_in_several_buffers() -> None:
    texts = ["a" * n + "é" * (n % 3) for n in (0, 1, 11, 12, 13, 14, 40, 200)] * 3
    array = pa.concat_arrays([pa.array(texts[i : i + 5], pa.string_view()) for i in range(0, len(texts), 5)])
    assert len(array.buffers()) > 3
    order = np.random.default_rng(0).permutation(len(texts))
    shuffled = pa.concat_arrays([array.slice(i, 1) for i in order.tolist()])
    assert len(shuffled.buffers()) > len(texts)
    assert plain(as_documents(shuffled)) == plain(as_documents([texts[i] for i in order]))


def test_binary_ascii_and_lists_of_int32_are_not_copied() -> None:
    for kind in ("string", "large_binary"):
        texts = pa.array(["ab", "c"], getattr(pa, kind)())
        flat, cuts, _ = utf8_documents(texts)
        assert flat.ctypes.data == texts.buffers()[2].address and cuts.tolist() == [0, 2, 3]
    for make in (pa.list_, pa.large_list, pa.list_view):
        array = pa.array([[1, 2], [], [3]], make(pa.int32()))
        for docs, at in ((array, 0), (array.slice(2), 8), (pa.chunked_array([array]), 0)):
            batch = Ragged.from_arrow(docs)
            assert (
                batch.values.ctypes.data == array.values.buffers()[1].address + at
                and not batch.values.flags.writeable
            )
            assert batch.to_lists() == docs.to_pylist()


def test_what_was_shared_outlives_its_producer() -> None:
    gc.collect()
    before = pa.total_allocated_bytes()
    views = []
    for _ in range(5):
        views.append(Ragged.from_arrow(pa.array([list(range(1000))] * 100, pa.large_list(pa.int32())))[3:][0])
    gc.collect()
    assert pa.total_allocated_bytes() - before >= 5 * 400_000 and all(
        view.tolist() == [*range(1000)] for view in views
    )
    views.clear()
    del _
    gc.collect()
    assert pa.total_allocated_bytes() == before


@each("layout", ["list_", "large_list", "list_view", "large_list_view", "fixed", "dictionary"])
@each("start", [0, 1, 7, 9])
def test_null_documents_are_refused_or_empty(layout: str, start: int) -> None:
    docs: list[Any] = [[i, i + 1] for i in range(20)]
    docs[4] = docs[9] = docs[17] = None
    if layout == "fixed":
        array = pa.array(docs, pa.list_(pa.int32(), 2))
    elif layout == "dictionary":
        # a null of the dictionary, and two of the indices
        held = pa.array([*docs[:10], *docs[10:]], pa.list_(pa.int32()))
        at = [None if i in (4, 17) else i for i in range(20)]
        array = pa.DictionaryArray.from_arrays(pa.array(at, pa.int8()), held)
    else:
        array = pa.array(docs, getattr(pa, layout)(pa.int32()))
    part = array.slice(start)
    first = next(i for i, doc in enumerate(docs[start:]) if doc is None)
    for docs_given in (part, pa.chunked_array([part.slice(0, 2), part.slice(2)])):
        refuses(
            ValueError,
            f"^docs: document {first} is null; drop or fill nulls first$",
            as_documents,
            docs_given,
        )
        refuses(
            ValueError,
            f"^array: document {first} is null; .* pass nulls='empty'$",
            Ragged.from_arrow,
            docs_given,
        )
        assert Ragged.from_arrow(docs_given, nulls="empty").to_lists() == [doc or [] for doc in docs[start:]]
    # without nulls, in an array that has some
    assert Ragged.from_arrow(array.slice(10, 5)).to_lists() == docs[10:15]


def test_a_null_list_may_hold_values() -> None:
    """Those of a list that is null are not looked at, whatever they are."""
    items = pa.array([1, 2, None, 4, 5], pa.int32())
    bitmap = pa.py_buffer(bytes([0b101]))
    array = pa.Array.from_buffers(
        pa.list_(pa.int32()), 3, [bitmap, pa.py_buffer(np.array([0, 2, 3, 5], np.int32))], 1, 0, [items]
    )
    assert Ragged.from_arrow(array, nulls="empty").to_lists() == [[1, 2], [], [4, 5]]
    refuses(ValueError, "document 1 is null", as_documents, array)


@each("chunks", [False, True])
def test_nulls_inside_are_refused(chunks: bool) -> None:
    array = pa.array([[9, None], [8], [], [1, 2, None], [3]])
    part: Any = array.slice(1)
    if chunks:
        part = pa.chunked_array([part.slice(0, 1), part.slice(1)])
    for read in (as_documents, lambda docs: Ragged.from_arrow(docs, nulls="empty")):
        refuses(ValueError, r": document 2, position 2 is null; drop or fill nulls first", read, part)
    assert rows(as_documents(array.slice(1, 2))) == [[8], []]
    with pytest.raises(ValueError, match="document 1, position 0 is null"):
        as_documents(pa.array([[1, 2], [None, 3]], pa.list_(pa.int32())))
    refuses(ValueError, "^docs: position 2 is null", lambda: as_documents(pa.chunked_array([[1, 2], [None]])))
    refuses(ValueError, "^doc: position 1 is null", lambda: as_document(pa.array([1, None])))


@each("kind", ["string", "large_string", "string_view", "binary_view", "dictionary"])
@each("texts", [["a", None], [None], ["a" * 20, "b", None, "c" * 30]])
def test_texts_that_are_null_are_refused(texts: list[Any], kind: str) -> None:
    array = (
        pa.array(texts, pa.string()).dictionary_encode()
        if kind == "dictionary"
        else pa.array(texts, getattr(pa, kind)())
    )
    for read in (as_documents, utf8_documents):
        refuses(
            ValueError, rf"docs: document {texts.index(None)} is null; drop or fill nulls first", read, array
        )
    given = arrow.read_arrow(array, "docs", "empty")
    assert given.values.tobytes() == "".join(text or "" for text in texts).encode()


def test_arrays_of_nothing_but_nulls() -> None:
    assert (
        rows(as_documents(pa.array([], pa.null())))
        == rows(as_documents(pa.chunked_array([], pa.null())))
        == []
    )
    assert rows(as_documents(pa.array([[], []]))) == [[], []]  # lists of nulls without any
    refuses(ValueError, "document 0 is null", lambda: as_documents(pa.array([None, None])))
    refuses(ValueError, "document 1, position 0 is null", lambda: as_documents(pa.array([[], [None]])))


def test_the_only_column_of_a_table_is_read() -> None:
    assert rows(as_documents(pa.table({"a": [[1], [2, 3]]}))) == [[1], [2, 3]]
    assert as_documents(pa.table({"a": ["x", "y"]})).kind == "str"
    for bad, message in [
        (pa.table({"a": [1], "b": ["x"]}), "expected a sequence of documents, got a table of 'a', 'b'; give one column of it$"),
        (pa.table({"a": [1, 2], "b": [3, 4]}), r"of 'a', 'b'; give one column of it, or numpy.asarray\(table\), whose rows are"),
        (pa.StructArray.from_arrays([pa.array([1])] * 2, ["a", "b"]), "of 'a', 'b'; give one column of it, or"),
        (pa.table({"a": [1]}), "got a table of 'a'; give one column of it, or"), (pa.table({}), "got a table of no columns"),
        (pa.table({"a": [["x"]]}), "got Arrow's list<item: string>; give the column of words itself"),
    ]:  # fmt: skip
        refuses(TypeError, f"^docs: .*{message}", as_documents, bad)
    assert rows(as_documents(np.asarray(pa.table({"a": [1, 2], "b": [3, 4]})))) == [[1, 3], [2, 4]]


def test_one_document() -> None:
    one = pa.array([1, 2])
    for docs in (one, pa.chunked_array([[1], [2]]), pa.array([0, 1, 2]).slice(1), one.dictionary_encode()):
        assert rows(as_document(docs)) == rows(as_documents(docs)) == [[1, 2]]
        assert rows(as_documents([docs, [3]])) == [[1, 2], [3]] and rows(
            as_documents(docs, offsets=[0, 1, 2])
        ) == [[1], [2]]
    assert rows(as_documents(pa.chunked_array([], pa.int32()))) == [[]]
    for bad, what in (
        (pa.array([[1]]), "a column of list<item: int64>"),
        (pa.array(["a"]), "a column of string"),
        (pa.table({"a": ["x"]}), "a table"),
    ):
        refuses(
            TypeError,
            f"^doc: expected one document .* got .*, {what}; encode_batch takes several",
            as_document,
            bad,
        )
    beyond = pa.array([1, 2**64 - 1], pa.uint64())
    for read in (as_document, as_documents):
        for docs, position in ((beyond, 1), (pa.chunked_array([beyond.slice(0, 1)] * 3 + [beyond]), 4)):
            refuses(
                ValueError,
                f"^docs?: position {position}: expected an integer that fits int64, got 184467",
                read,
                docs,
            )
    lists = pa.array([[1], [], [5, 2**63]], pa.list_(pa.uint64()))
    for docs, document in (
        (lists, 2),
        (lists.slice(1), 1),
        (pa.chunked_array([lists.slice(0, 1), lists.slice(1)]), 2),
    ):
        refuses(
            ValueError,
            f"document {document}, position 1: expected an integer that fits int64, got 9223",
            as_documents,
            docs,
        )


def test_other_types_are_refused() -> None:
    for docs, said in [
        (pa.array([[0.5]]), "list<item: double>; round or quantize first"),
        (pa.array([[True]]), "list<item: bool>; cast to uint8"),
        (pa.array([0.5], pa.float32()), "float; round or quantize first"),
        (pa.chunked_array([], pa.float16()), "halffloat; round"),
        (pa.array([["a"]]), "list<item: string>; give the column of words"), (pa.array([[b"a"]]), "list<item: binary>"),
        (pa.array([[[1]]], pa.large_list(pa.list_view(pa.int8()))), "large_list<item: list_view<item: int8>>; flatten it once"),
        (pa.array([1], pa.timestamp("ns")), "timestamp"), (pa.array([1], pa.decimal128(5)), r"decimal128\(5, 0\); cast to int64"),
        (pa.array([[[(1, 2)]]], pa.list_(pa.map_(pa.int8(), pa.int8()))), "list<item: map<int8, int8>>$"),
        (pa.chunked_array([pa.RunEndEncodedArray.from_arrays([2], [1])]), "run_end_encoded"),
        (pa.nulls(1, pa.month_day_nano_interval()), "month_day_nano_interval$"), (pa.array([0.5]).dictionary_encode(), "double"),
    ]:  # fmt: skip
        refuses(
            TypeError,
            f"^docs: expected lists of integers, strings or binary, got Arrow's {said}",
            as_documents,
            docs,
        )


def test_from_arrow_refuses() -> None:
    with pytest.raises(ValueError, match="nulls: expected 'raise' or 'empty', got 'drop'"):
        Ragged.from_arrow(pa.array([[1]]), nulls="drop")
    refuses(
        TypeError,
        "array: expected what has __arrow_c_array__ or __arrow_c_stream__, got list",
        Ragged.from_arrow,
        [[1]],
    )
    with pytest.raises(ValueError, match="array: document 1, position 1: 2147483648 does not fit int32"):
        Ragged.from_arrow(pa.array([[1], [2, 2**31]]))
    for bad, what in (
        (pa.array(["a"]), "strings"),
        (pa.array([b"a"]), "binary"),
        (pa.array([1]), "a column of integers"),
    ):
        refuses(TypeError, f"array: expected lists of integers, got {what}", Ragged.from_arrow, bad)


def test_strings_that_are_not_utf8() -> None:
    """Arrow does not look: an alphabet of bytes takes them, characters cannot be made of them."""
    array = pa.Array.from_buffers(
        pa.string(), 2, [*pa.array(["ab", "c"]).buffers()[:2], pa.py_buffer(b"a\xffc")]
    )
    assert plain(utf8_documents(array))[1] == [0x61, 0xFF, 0x63]
    refuses(UnicodeDecodeError, "", as_documents, array)


def test_dictionaries_without_chunks() -> None:
    for values in (pa.list_(pa.int64()), pa.list_(pa.int8(), 2), pa.string(), pa.binary(), pa.null()):
        assert rows(as_documents(pa.chunked_array([], pa.dictionary(pa.int8(), values)))) == []
    assert rows(as_documents(pa.chunked_array([], pa.dictionary(pa.int8(), pa.int64())))) == [[]]
    no_table = pa.struct([("a", pa.int8()), ("b", pa.int8())])
    for values, said in (
        (pa.list_(pa.string()), "list<item: string>"),
        (pa.bool_(), "bool"),
        (no_table, "struct"),
    ):
        column = pa.chunked_array([], pa.dictionary(pa.int8(), values))
        refuses(TypeError, f"got Arrow's {said}", as_documents, column)


def test_a_stream_that_breaks() -> None:
    table = pa.table({"a": [[7]]})

    def parts() -> Any:
        yield from table.to_batches()
        raise OSError("the cable is out")

    with pytest.raises(ValueError, match="^docs: the Arrow array cannot be read: .*the cable is out"):
        as_documents(pa.RecordBatchReader.from_batches(table.schema, parts()))


_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


class Shared:
    """An array in capsules, which were `taken` before, or whose child says that it has another length."""

    def __init__(self, array: Any, taken: bool = False, child: int | None = None) -> None:
        self.capsules = array.__arrow_c_array__()
        if taken:
            pa.Array._import_from_c_capsule(*self.capsules)
        if child is not None:
            # after five numbers and the place of the buffers
            children = ctypes.c_void_p.from_address(_pointer(self.capsules[1], b"arrow_array") + 48).value
            ctypes.c_int64.from_address(ctypes.c_void_p.from_address(children).value).value = child

    def __arrow_c_array__(self, requested_schema: object = None) -> Any:
        return self.capsules


def made(kind: Any, n: int, *buffers: Any, **options: Any) -> Any:
    """An array of buffers as they are; a list has one child."""
    held = [None if buffer is None else pa.py_buffer(np.asarray(buffer)) for buffer in buffers]
    return pa.Array.from_buffers(
        kind, n, held, options.pop("null_count", 0), options.pop("offset", 0), **options
    )


def lists(cuts: Any, items: Any, n: int | None = None, bitmap: Any = None, **options: Any) -> Any:
    """Lists with offsets of 64 bits."""
    child = pa.array(items)
    n = len(cuts) - 1 if n is None else n
    return made(pa.large_list(child.type), n, bitmap, np.array(cuts, np.int64), children=[child], **options)


def list_view(starts: Any, sizes: Any, n: int) -> Any:
    items = pa.array(range(n), pa.int32())
    both = np.array(starts, np.int64), np.array(sizes, np.int64)
    return made(pa.large_list_view(pa.int32()), len(starts), None, *both, children=[items])


def texts(cuts: list[int]) -> Any:
    return made(pa.string(), len(cuts) - 1, None, np.array(cuts, np.int32), np.full(3, 97, np.uint8))


def string_view(length: int, buffer: int, start: int, size: int) -> Any:
    data = [np.zeros(size, np.uint8)] if size else []
    return made(pa.string_view(), 1, None, np.array([length, 0, buffer, start], np.int32), *data)


def by_index(indices: Any, kind: Any, values: Any) -> Any:
    return pa.DictionaryArray.from_arrays(pa.array(indices, kind), values, safe=False)


def test_memory_that_is_not_aligned() -> None:
    raw = np.zeros(64, np.uint8)
    raw[1:13], raw[33:57] = (
        np.array([5, 6, 7], np.int32).view(np.uint8),
        np.array([0, 1, 3], np.int64).view(np.uint8),
    )
    items = made(pa.int32(), 3, None, raw[1:])
    found = as_documents(made(pa.large_list(pa.int32()), 2, None, raw[33:], children=[items]))
    assert rows(found) == [[5], [6, 7]] and found.values.flags.aligned and found.offsets.flags.aligned
    for read in (as_document, as_documents):
        assert rows(read(items)) == [[5, 6, 7]] and read(items).values.flags.aligned


LISTED = pa.array([[0], [1]], pa.large_list(pa.int32()))
FOUR = np.arange(4, dtype=np.int32)
NOT_VALID = {
    "capsules that were taken": (lambda: Shared(LISTED, taken=True), "Cannot import released"),
    "a list past the values": (lambda: Shared(LISTED, child=1), "larger than values array"),
    "values of a fixed size too few": (lambda: Shared(pa.array([[1, 2]], pa.list_(pa.int8(), 2)), child=1), "is less than"),
    "a list that ends before it starts": (lambda: lists([0, 2, 1], FOUR), "document 1 ends before it starts: 2, then 1"),
    "the same among nulls": (lambda: lists([0, 5, 5, 2], FOUR, 3, np.array([2], np.uint8), null_count=2), "."),
    "a string that ends before it starts": (lambda: texts([0, 3, 1]), "then 1"),
    "a view past the values": (lambda: list_view([0, 2], [2, 2], 3), "size for slot 1 out of bounds"),
    "a view whose end overflows": (lambda: list_view([1], [2**63 - 1], 3), "size for slot 0 out of bounds"),
    "a string's view past its buffer": (lambda: string_view(20, 0, 1, 20), "slot 0 references range 1-21 of buffer 0"),
    "a string's view before its buffer": (lambda: string_view(20, 0, -1, 40), "slot 0 has negative offset -1"),
    "a string's view without buffers": (lambda: string_view(20, 0, 0, 0), "there are only 0 data buffers"),
    "an index past the dictionary": (lambda: by_index([0, 2], pa.uint8(), LISTED), "Index 2 out of bounds"),
    "an index before the dictionary": (lambda: by_index([0, -1], pa.int8(), LISTED), "Index -1 out of bounds"),
    "an index beyond int64": (lambda: by_index([2**63], pa.uint64(), LISTED), "Index 9223372036854775808 out"),
    "a list of a dictionary": (lambda: by_index([0], pa.int8(), lists([0, 3, 1], FOUR)), "non-monotonic"),
    "an index of an item": (lambda: lists([0, 1], by_index([7], pa.int32(), pa.array([5, 6]))), "Index 7 out of bounds"),
    "a word that ends before it starts": (lambda: lists([0, 2], texts([0, 3, 1])), "."),
    "an index of a word": (lambda: lists([0, 1], by_index([7], pa.int32(), pa.array(["a"]))), "."),
}  # fmt: skip


@each("case", NOT_VALID)
def test_arrays_that_contradict_themselves(case: str) -> None:
    make, message = NOT_VALID[case]
    words = "word" in case
    with pytest.raises(ValueError, match=f"^docs: .*({message})"):
        arrow.read_arrow(make(), "docs", words=words)
    if not words:
        with pytest.raises(ValueError, match="^docs: "):
            as_documents(make())
