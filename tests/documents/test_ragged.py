"""`Ragged` against plain lists of lists."""

import copy
import itertools
import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tables import each, refuses

from ubpe_numba import BPE
from ubpe_numba.documents.ragged import Ragged

INT32 = st.integers(-(2**31), 2**31 - 1)
LISTS = st.lists(st.lists(INT32, max_size=5), max_size=8)


def values(*items: int) -> np.ndarray:
    return np.array(items, np.int32)


def offsets(*items: int) -> np.ndarray:
    return np.array(items, np.int64)


def sliced() -> Ragged:
    """[[2, 3], []] inside of larger arrays."""
    return Ragged(values(1, 2, 3, 4), offsets(1, 3, 3))


def test_constructor_shares_memory() -> None:
    v, o = values(1, 2, 3), offsets(0, 2, 3)
    batch = Ragged(v, o)
    assert np.shares_memory(batch.values, v) and not np.shares_memory(batch.offsets, o)
    view = batch[0]
    assert np.shares_memory(view, v)
    view[0] = 9
    assert v[0] == 9 and (batch.total, len(batch), batch.lengths.tolist()) == (3, 2, [2, 1])
    assert repr(batch) == "Ragged(2 documents, 3 values)"


def test_strided_and_unaligned_values_are_copied_once() -> None:
    strided = Ragged(np.arange(6, dtype=np.int32)[::2], offsets(0, 3))
    assert strided.values.flags.c_contiguous and strided.to_lists() == [[0, 2, 4]]
    unaligned = np.frombuffer(b"\0" + values(7, 8).tobytes(), np.int32, offset=1)
    assert not unaligned.flags.aligned and Ragged(unaligned, offsets(0, 2)).values.flags.aligned


def test_frozen_and_unhashable() -> None:
    batch = sliced()
    with pytest.raises(AttributeError, match="a Ragged is frozen: cannot set or delete 'values'"):
        batch.values = values()
    with pytest.raises(AttributeError, match="a Ragged is frozen: cannot set or delete 'offsets'"):
        del batch.offsets
    with pytest.raises(AttributeError, match="cannot set or delete 'other'"):
        batch.other = 1  # type: ignore[attr-defined]
    refuses(TypeError, "unhashable", hash, batch)


@given(LISTS)
def test_lists_round_trip(lists: list[list[int]]) -> None:
    batch = Ragged.from_lists(lists)
    assert batch.values.dtype == np.int32 and batch.offsets.dtype == np.int64
    assert batch.to_lists() == lists == [view.tolist() for view in batch] and batch.lengths.tolist() == list(
        map(len, lists)
    )
    assert batch == Ragged.from_lengths(batch.values, list(map(len, lists)))
    for clone in (pickle.loads(pickle.dumps(batch)), copy.deepcopy(batch)):
        assert clone == batch and clone is not batch


def test_from_lists_takes_any_sequence_of_integers() -> None:
    rows = (row for row in [(1, 2), range(3), [np.uint8(4)], np.array([5]), np.array([])])
    assert Ragged.from_lists(rows).to_lists() == [[1, 2], [0, 1, 2], [4], [5], []]


@given(LISTS, st.slices(8))
def test_slices_are_those_of_lists(lists: list[list[int]], window: slice) -> None:
    batch = Ragged.from_lists(lists)
    part = batch[window]
    assert part.to_lists() == lists[window] and part.total == sum(map(len, lists[window]))
    assert part == Ragged.from_lists(lists[window]) and pickle.loads(pickle.dumps(part)) == part
    if window.step in (None, 1) and part.total:
        assert np.shares_memory(part.values, batch.values) and np.shares_memory(part.offsets, batch.offsets)


@given(LISTS.filter(len), st.data())
def test_take_and_mask(lists: list[list[int]], data: st.DataObject) -> None:
    n = len(lists)
    batch = Ragged.from_lists([[0], *lists])[1:]  # offsets[0] above 0
    some = data.draw(st.lists(st.integers(-n, n - 1)))
    mask = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
    expected = [lists[i] for i in some]
    assert batch[some].to_lists() == batch[np.array(some, np.int8)].to_lists() == expected
    masked = [row for row, keep in zip(lists, mask, strict=True) if keep]
    assert batch[mask].to_lists() == batch.take(np.array(mask)).to_lists() == masked
    for i in range(-n, n):
        assert batch[i].tolist() == batch[np.int64(i)].tolist() == lists[i]


def test_equality_looks_at_documents_only() -> None:
    assert sliced() == Ragged.from_lists([[2, 3], []]) and sliced() != Ragged.from_lists([[2], [3]])
    assert sliced() != Ragged.from_lists([[2, 4], []])
    assert (sliced() == None) is False and sliced() != "ab"  # noqa: E711


def test_compact_cuts_off_what_no_document_holds() -> None:
    whole = sliced().compact()
    assert (
        whole.values.tolist() == [2, 3] and whole.offsets.tolist() == [0, 2, 2] and whole.compact() is whole
    )


def test_pickle_leaves_the_rest_behind() -> None:
    big = Ragged.from_lengths(np.zeros(100_000, np.int32), [1] * 100_000)
    assert len(pickle.dumps(big[5:6])) < 1000


def test_concat_joins_batches_in_new_memory() -> None:
    batch = Ragged.from_lists([[9], [1, 2], [], [3]])
    for parts in ([batch[1:3], batch[:0], batch[3:]], iter([batch[1:]]), (batch[1:2], batch[2:])):
        assert Ragged.concat(parts).to_lists() == [[1, 2], [], [3]]
    joined = Ragged.concat([batch])
    assert joined == batch and not np.shares_memory(joined.values, batch.values)
    assert Ragged.concat([]).to_lists() == [] and Ragged.concat([]).values.dtype == np.int32


@given(LISTS, st.none() | st.integers(0, 6), INT32)
@each("side, cut", itertools.product(["right", "left"], [True, "right", "left"]))
def test_padding_and_cutting_at_either_side(
    lists: list[list[int]], length: int | None, fill: int, side: str, cut: Any
) -> None:
    batch = Ragged.from_lists([[0], *lists])[1:]
    width = max(map(len, lists), default=0) if length is None else length
    kept = [doc[len(doc) - min(len(doc), width) :] if cut == "left" else doc[:width] for doc in lists]
    pads = [[fill] * (width - len(doc)) for doc in kept]
    expected, marks = (
        [doc + pad if side == "right" else pad + doc for doc, pad in zip(docs, fills, strict=True)]
        for docs, fills in (
            (kept, pads),
            ([[1] * len(doc) for doc in kept], [[0] * len(pad) for pad in pads]),
        )
    )
    matrix, mask = batch.to_padded(fill, length, side=side, truncate=cut, return_mask=True)  # type: ignore[call-overload]
    assert (
        matrix.dtype == np.int32 and mask.dtype == bool and matrix.shape == mask.shape == (len(lists), width)
    )
    assert matrix.tolist() == expected and mask.astype(int).tolist() == marks


A = values(1, 2, 3)
#: A call, and words of the message.
REFUSED: dict[type[Exception], list[tuple[Callable[[], Any], str]]] = {
    TypeError: [
        (lambda: Ragged([1], offsets(0, 1)), "values: expected a 1-D array of int32, got list"),  # type: ignore[arg-type]
        (lambda: Ragged(np.array([1]), offsets(0, 1)), "int32, got an array of int64, shape (1,)"),
        (lambda: Ragged(A.astype(">i4"), offsets(0, 1)), "int32, got an array of >i4"),
        (lambda: Ragged(A, values(0, 1)), "offsets: expected a 1-D array of int64, got an array of int32"),
        *[(lambda lists=lists: Ragged.from_lists(lists), words) for lists, words in [
            ([[1], [2, 3.0]], "lists: document 1, position 1: expected an integer, got 3.0 (float)"),
            ([[], [True]], "lists: document 1, position 0: expected an integer, got True (bool)"),
            ([[1], 2], "lists: document 1: expected a list of integers, got 2 (int)"),
            (["ab"], "lists: document 0: expected a list of integers, got str"),
        ]],
        (lambda: Ragged.from_lengths(A, [1.0, 2.0]), "lengths: expected a 1-D sequence of integers, got list"),
        (lambda: sliced()["a"], "index: expected an integer, a slice, integers or a mask, got str"),  # type: ignore[call-overload]
        (lambda: sliced()[0, 1], "a slice, integers or a mask, got tuple; ids[i][j] is one value"),  # type: ignore[call-overload]
        (lambda: sliced()[[0.5]], "indices: expected integers or a mask, got an array of float64"),  # type: ignore[list-item]
        (lambda: sliced().to_padded(length=1.0), "length: expected an integer, got 1.0 (float)"),  # type: ignore[call-overload]
        (lambda: sliced().to_padded(fill=0.5), "fill: expected an integer, got 0.5 (float)"),  # type: ignore[call-overload]
        (lambda: Ragged.concat([sliced(), [[1]]]), "parts: part 1: expected a Ragged, got list"),  # type: ignore[list-item]
    ],
    ValueError: [
        (lambda: Ragged(A[None], offsets(0, 1)), "values: expected a 1-D array, got an array of int32"),
        (lambda: Ragged(A, offsets(0, 1)[None]), "offsets: expected a 1-D array"),
        (lambda: Ragged(A, offsets()), "offsets: expected at least one entry"),
        (lambda: Ragged(A, offsets(-1, 1)), "offsets: expected 0 or more at the start, got -1"),
        (lambda: Ragged(A, offsets(0, 2, 1)), "document 1 ends before it starts: 2, then 1"),
        (lambda: Ragged(A, offsets(0, 4)), "expected at most 3, the number of values, got 4"),
        (lambda: Ragged.from_lists([[0], [1, 2**31]]), "document 1, position 1: 2147483648 does not fit int32"),
        (lambda: Ragged.from_lists([[0, 2**63]]), "document 0, position 1: expected an integer that fits int64"),
        (lambda: Ragged.from_lengths(A, [1, -1, 3]), "lengths: document 1: expected a length in 0..3, got"),
        (lambda: Ragged.from_lengths(A, [1, 1]), "lengths: expected a sum of 3, the size of values, got 2"),
        (lambda: sliced().to_padded(side="top"), "side: expected 'right' or 'left', got 'top'"),  # type: ignore[call-overload]
        *[(lambda cut=cut: sliced().to_padded(truncate=cut), f"truncate: expected False, True, 'right' or 'left', got {cut!r}")
          for cut in ("middle", 1, None)],
        (lambda: sliced().to_padded(length=1), "length: document 0 has 2 values, more than 1. Use truncate=True."),
        (lambda: sliced().to_padded(length=-1), "length: expected 0 or more, got -1"),
        (lambda: sliced().to_padded(fill=2**31), "fill: expected an integer that fits int32, got 2147483648"),
    ],
    IndexError: [
        (lambda: sliced()[2], "index: expected a document in -2..1, got 2"),
        (lambda: sliced()[[0, 2]], "indices: expected documents in -2..1, got 2"),
        (lambda: sliced()[[True]], "indices: expected 1-D integers or a mask of 2, got an array of bool"),
    ],
}  # fmt: skip


@each("error, rows", REFUSED.items())
def test_what_is_refused(error: type[Exception], rows: list[tuple[Callable[[], Any], str]]) -> None:
    for call, words in rows:
        refuses(error, re.escape(words), call)


#: Uses of an array of NumPy, of a `Ragged` of which all lengths are equal and of one of which they are not.
USES: dict[str, Callable[[Any], Any]] = {
    "asarray": np.asarray, "of two": lambda r: np.array([r, r]), "ufunc": lambda r: np.add(r, 1), "+": lambda r: r + 1,
    "right of an array": lambda r: np.ones(2) + r, "right of a number": lambda r: 1 - r, "-": lambda r: -r,
    "<": lambda r: r < 3, "== list": lambda r: r == [[1, 2], [3, 4]], "== number": lambda r: r == 1,
    "!= array": lambda r: r != np.ones((2, 2)), "in": lambda r: 1 in r, "set": lambda r: r.__setitem__(0, [1]), "sum": np.sum,
    "shape": lambda r: r.shape, "method": lambda r: r.astype(int), "Series": lambda r: __import__("pandas").Series(r),
}  # fmt: skip


@each("lists", [[[1, 2], [3, 4]], [[1, 2], [3]]])
def test_what_is_done_to_arrays_is_refused_with_the_way_on(lists: list[list[int]]) -> None:
    batch = Ragged.from_lists(lists)
    assert (
        np.array_equal(batch, batch[:])
        and not np.array_equal(batch, batch[:1])
        and batch.tolist() == lists
        and bool(batch)
    )
    for name, use in USES.items():
        with pytest.raises((TypeError, AttributeError), match="Use ids.values") as caught:
            use(batch)
        assert caught.value, name


def test_offsets_are_the_librarys_own() -> None:
    given = offsets(0, 3, 4)
    batch = Ragged(values(0, 1, 2, 2), given)
    given[-1] = 10**8
    with pytest.raises(ValueError, match="read-only"):
        batch.offsets[-1] = 10**8
    assert BPE.from_merges([[0, 1]], 3).decode_batch(batch).to_lists() == batch.to_lists() == [[0, 1, 2], [2]]
