"""Decoding against the plain reference, into new arrays and into a buffer of the caller."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pair_tables import Table, tables
from reference import decode as reference_decode
from tables import each

from ubpe_numba import BPE, Ragged
from ubpe_numba.coding.decode import Decoder
from ubpe_numba.errors import UnknownTokenError


@given(tables(), st.data())
def test_decode_equals_the_reference(table: Table, data: st.DataObject) -> None:
    size, pairs, _ = table
    flat = reference_decode.expand(pairs, size)
    tok = BPE.from_merges(pairs, alphabet=size)
    ids = data.draw(st.lists(st.lists(st.integers(0, len(flat) - 1), max_size=20), max_size=5))
    assert tok.decode_batch(ids).to_lists() == [reference_decode.decode(d, flat) for d in ids]
    assert [tok.decode(d).tolist() for d in ids] == tok.decode_batch(ids).to_lists()
    bad = [*ids, [0, len(flat)]]
    with pytest.raises(UnknownTokenError, match=f"document {len(ids)}, position 1: token id {len(flat)} is outside"):
        tok.decode_batch(bad)


def test_decode_when_the_size_was_guessed_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The size is guessed from a sample, here one without the long tokens; the ends of documents are right all the same."""
    rest: list[int] = []
    size_of = Decoder._size

    def size(self: Decoder, values: np.ndarray, first: int, last: int) -> int:
        rest.append(last - first)
        return size_of(self, values, first, last)

    monkeypatch.setattr(Decoder, "_size", size)
    tok = BPE.from_merges([[0, 0], [2, 2], [3, 3], [4, 4], [5, 5], [6, 6], [7, 7]], alphabet=2)
    ids = np.full(20_000, 8, np.int32)
    ids[:: ids.size // 8192] = 1
    offsets = np.array([0, 0, 5, 9_000, 9_000, 9_000, 9_001, 20_000, 20_000])
    lengths = np.where(ids == 8, 128, 1)
    got = tok.decode_batch(ids, offsets)
    assert got.offsets.tolist() == np.concatenate([[0], np.cumsum(lengths)])[offsets].tolist()
    assert np.array_equal(got.values, np.repeat(np.where(ids == 8, 0, 1), lengths))
    assert len(rest) == 1 and 0 < rest[0] < ids.size


MERGES = [[0, 1], [2, 2], [3, 3], [4, 4], [5, 5], [6, 6], [7, 7]]
ALPHABETS: dict[str, Any] = {"uint8": bytes([7, 9]), "uint32": "aß", "int32": [3, -1], "int64": [0, 2**40]}


@given(tables(), st.data(), st.integers(0, 3000))
def test_decode_into_a_buffer_equals_the_reference(table: Table, data: st.DataObject, spare: int) -> None:
    """In a buffer of the exact size, where copies of 32 bytes at a time do not fit at the end, and in larger ones."""
    size, pairs, _ = table
    flat = reference_decode.expand(pairs, size)
    tok = BPE.from_merges(pairs, alphabet=size)
    ids = data.draw(st.lists(st.lists(st.integers(0, len(flat) - 1), max_size=40), max_size=5))
    want = [reference_decode.decode(d, flat) for d in ids]
    n = sum(map(len, want))
    whole = np.full(n + spare + 8, -5, np.int32)
    out = whole[: n + spare]
    got = tok.decode_batch(ids, out=out)
    assert got.to_lists() == want and np.shares_memory(got.values, out) == (n > 0)
    assert (whole[n + spare :] == -5).all()
    for d, symbols in zip(ids, want, strict=True):
        part = tok.decode(d, out=out)
        assert part.tolist() == symbols and part.base is not None
    if n:
        with pytest.raises(ValueError, match=f"out: expected room for {n} symbols, got {n - 1}"):
            tok.decode_batch(ids, out=whole[: n - 1])


@each("dtype", ALPHABETS)
@pytest.mark.parametrize("n_threads", [1, 3])
def test_buffers_of_every_dtype_on_one_thread_and_on_three(dtype: str, n_threads: int) -> None:
    """Sizes past the one where threads begin; long tokens."""
    tok = BPE.from_merges(MERGES, alphabet=ALPHABETS[dtype], n_threads=n_threads)
    ids = Ragged.from_lengths(np.random.default_rng(1).integers(0, 9, 300_000).astype(np.int32), [0, 100_000, 50_000] * 2)
    want = tok.decode_batch(ids)
    n = int(np.diff(tok._model.vocabulary.offsets)[ids.values].sum())
    buffer = np.zeros(n, dtype)
    for out in (buffer, np.zeros(n + 10**5, dtype)):
        got = tok.decode_batch(ids, out=out)
        assert (
            [tok._model.alphabet.output(doc) for doc in got] == list(want)
            if dtype in ("uint8", "uint32")
            else all(np.array_equal(a, b) for a, b in zip(got, want, strict=True))
        )
        assert all(np.shares_memory(doc, out) for doc in got if len(doc))
    with pytest.raises(ValueError, match=f"out: expected room for {n} symbols, got {n - 1}"):
        tok.decode_batch(ids, out=buffer[:-1])


@pytest.mark.parametrize("dtype", ALPHABETS)
def test_tokens_about_as_long_as_a_slot(dtype: str) -> None:
    """Tokens of every length up to 70 symbols, which a slot of 32 bytes holds or not, by themselves and one behind the other."""
    alphabet = ALPHABETS[dtype]
    tok = BPE.from_merges([[1, 0], *([k, k % 2] for k in range(2, 70))], alphabet=alphabet)
    flat = reference_decode.expand(tok._model.vocabulary.merges.tolist(), 2)
    assert [len(token) for token in flat] == [1, 1, *range(2, 71)]
    docs = [[t] for t in range(len(flat))] + [[t, 0, t, 1, t, t] for t in range(len(flat))]
    got = tok.decode_batch(docs)
    for doc, symbols in zip(docs, got, strict=True):
        want = [alphabet[s] for s in reference_decode.decode(doc, flat)]
        assert list(symbols) == want
        assert tok.decode(doc, out=np.zeros(len(want), dtype)).tolist() == [ord(s) if isinstance(s, str) else s for s in want]


@pytest.mark.parametrize("n_threads", [1, 3])
@each("bad", [-1, -(2**31), 9, 2**31 - 1])
def test_the_first_unknown_id_is_named(bad: int, n_threads: int) -> None:
    """Wherever it stands, in one chunk or several; a buffer is left as it was, also one without room for all symbols."""
    tok = BPE.from_merges(MERGES, alphabet=2, n_threads=n_threads)
    ids = np.random.default_rng(2).integers(0, 9, 250_000).astype(np.int32)
    offsets = np.array([0, 0, 1, 600, 100_000, 200_000, 250_000])
    n = int(np.diff(tok._model.vocabulary.offsets)[ids].sum())
    for at in (0, 1, 599, 600, 1111, 199_999, 200_000, 249_999):
        wrong = ids.copy()
        wrong[at] = bad
        wrong[at + 1 :: 1000] = -7
        document = int(np.searchsorted(offsets, at, side="right")) - 1
        match = f"document {document}, position {at - offsets[document]}: token id {bad} is outside"
        for out in (None, np.full(n, 7, np.int32), np.full(10, 7, np.int32)):
            with pytest.raises(UnknownTokenError, match=match):
                tok.decode_batch(wrong, offsets, out=out)
            assert out is None or (out == 7).all()


def test_sizes_that_differ_much_are_all_counted() -> None:
    """One id in 5000 is nine tenths of the result: a sample would be wrong by much."""
    merges = [[0, 0], *([k, k] for k in range(2, 16))]
    tok = BPE.from_merges(merges, alphabet=2)
    ids = np.ones(100_000, np.int32)
    ids[777::5000] = 16
    lengths = np.where(ids == 16, 2**15, 1)
    assert np.array_equal(tok.decode(ids), np.repeat(np.where(ids == 16, 0, 1), lengths))


def test_what_is_no_buffer_is_refused() -> None:
    tok = BPE.from_merges(MERGES, alphabet=2)
    frozen = np.zeros(9, np.int32)
    frozen.flags.writeable = False
    for out, error, match in (
        (np.zeros(9), TypeError, "out: expected an array of int32, got an array of float64"),
        (np.zeros(9, np.int64), TypeError, "out: expected an array of int32, got an array of int64"),
        (np.zeros(9, ">i4"), TypeError, "out: expected an array of int32, got an array of >i4"),
        ([0] * 9, TypeError, "out: expected an array of int32, got list"),
        (np.zeros((3, 3), np.int32), ValueError, "out: expected a 1-D, contiguous"),
        (np.zeros(18, np.int32)[::2], ValueError, "out: expected a 1-D, contiguous"),
        (frozen, ValueError, "out: expected an array that can be written to, got a read-only one"),
    ):
        with pytest.raises(error, match=match):
            tok.decode([2], out=out)
    with pytest.raises(UnknownTokenError, match="document 1, position 0: token id 99"):
        tok.decode_batch([[2], [99]], out=np.zeros(9, np.int32))
    assert tok.decode([], out=np.zeros(0, np.int32)).size == 0


def test_ends_of_empty_documents() -> None:
    tok = BPE.from_merges([[0, 1]], alphabet=2)
    for docs in ([[], [2], []], [[2], [], [], [0]], [[], []]):
        assert tok.decode_batch(docs).to_lists() == [[s for t in d for s in ([0, 1] if t == 2 else [t])] for d in docs]
