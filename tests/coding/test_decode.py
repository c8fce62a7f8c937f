"""Decoding against the plain reference, into new arrays and into a buffer of the caller, without ids that are left out."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from pair_tables import Table, tables
from reference import decode as reference_decode
from tables import each, refuses

from ubpe_numba import BPE, Ragged
from ubpe_numba.coding.decode import Decoder
from ubpe_numba.errors import UnknownTokenError

MERGES = [[0, 1], [2, 2], [3, 3], [4, 4], [5, 5], [6, 6], [7, 7]]
ALPHABETS: dict[str, Any] = {"uint8": bytes([7, 9]), "uint32": "aß", "int32": [3, -1], "int64": [0, 2**40]}


@given(tables(), st.data())
def test_decode_equals_the_reference(table: Table, data: st.DataObject) -> None:
    """Also in a buffer of the exact size."""
    size, pairs, _ = table
    flat = reference_decode.expand(pairs, size)
    tok = BPE.from_merges(pairs, alphabet=size)
    ids = data.draw(st.lists(st.lists(st.integers(0, len(flat) - 1), max_size=40), max_size=5))
    want = [reference_decode.decode(d, flat) for d in ids]
    assert tok.decode_batch(ids).to_lists() == want
    n = sum(map(len, want))
    out = np.full(n, -5, np.int32)
    got = tok.decode_batch(ids, out=out)
    assert got.to_lists() == want and np.shares_memory(got.values, out) == (n > 0)
    for d, symbols in zip(ids, want, strict=True):
        part = tok.decode(d, out=out)
        assert part.tolist() == symbols == tok.decode(d).tolist()
    if n:
        refuses(
            ValueError,
            f"out: expected room for {n} symbols, got {n - 1}",
            tok.decode_batch,
            ids,
            out=out[: n - 1],
        )
    with pytest.raises(
        UnknownTokenError, match=f"document {len(ids)}, position 1: token id {len(flat)} is outside"
    ):
        tok.decode_batch([*ids, [0, len(flat)]])


def test_decode_when_the_size_was_guessed_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The size is guessed from a sample, here one without the long tokens; the ends of documents are right all the same."""
    rest: list[int] = []
    size_of = Decoder._size

    def size(self: Decoder, values: np.ndarray, first: int, last: int) -> int:
        rest.append(last - first)
        return size_of(self, values, first, last)

    monkeypatch.setattr(Decoder, "_size", size)
    tok = BPE.from_merges([[0, 0], *MERGES[1:]], alphabet=2)
    ids = np.full(20_000, 8, np.int32)
    ids[:: ids.size // 8192] = 1
    offsets = np.array([0, 0, 5, 9_000, 9_000, 9_000, 9_001, 20_000, 20_000])
    lengths = np.where(ids == 8, 128, 1)
    got = tok.decode_batch(ids, offsets)
    assert got.offsets.tolist() == np.concatenate([[0], np.cumsum(lengths)])[offsets].tolist()
    assert np.array_equal(got.values, np.repeat(np.where(ids == 8, 0, 1), lengths))
    assert len(rest) == 1 and 0 < rest[0] < ids.size


@each("dtype", ALPHABETS)
def test_buffers_of_every_dtype_and_the_first_unknown_id_in_several_chunks(dtype: str) -> None:
    """Sizes past the one where threads begin; after an error a buffer is left as it was, also one without room for all."""
    tok = BPE.from_merges(MERGES, alphabet=ALPHABETS[dtype], n_threads=3)
    offsets = np.array([0, 0, 1, 600, 100_000, 200_000, 250_000])
    ids = Ragged(np.random.default_rng(1).integers(0, 9, 250_000).astype(np.int32), offsets)
    flat = [np.array(token) for token in reference_decode.expand([(a, b) for a, b in MERGES], 2)]
    want = np.asarray(tok._model.alphabet.to_symbols(np.concatenate([flat[t] for t in ids.values])))
    out = np.zeros(want.size + 10**5, dtype)
    got = tok.decode_batch(ids, out=out)
    assert np.array_equal(out[: want.size], want) and all(
        np.shares_memory(doc, out) for doc in got if len(doc)
    )
    for at, bad in ((0, -1), (199_999, 9)):
        wrong = ids.values.copy()
        wrong[at + 1 :: 1000], wrong[at] = -7, bad
        document = int(np.searchsorted(offsets, at, side="right")) - 1
        match = f"document {document}, position {at - offsets[document]}: token id {bad} is outside"
        for buffer in (None, np.full(10, 7, dtype)):
            refuses(UnknownTokenError, match, tok.decode_batch, wrong, offsets, out=buffer)
            assert buffer is None or (buffer == 7).all()


@each("dtype", ALPHABETS)
def test_tokens_about_as_long_as_a_slot(dtype: str) -> None:
    """Tokens of every length up to 70 symbols, which a slot of 32 bytes holds or not, by themselves and beside others."""
    alphabet = ALPHABETS[dtype]
    tok = BPE.from_merges([[1, 0], *([k, k % 2] for k in range(2, 70))], alphabet=alphabet)
    flat = reference_decode.expand(tok._model.vocabulary.merges.tolist(), 2)
    docs = [[t] for t in range(len(flat))] + [[t, 0, t, 1, t, t] for t in range(len(flat))]
    for doc, symbols in zip(docs, tok.decode_batch(docs), strict=True):
        want = [alphabet[s] for s in reference_decode.decode(doc, flat)]
        assert list(symbols) == want
        assert tok.decode(doc, out=np.zeros(len(want), dtype)).tolist() == [
            ord(s) if isinstance(s, str) else s for s in want
        ]


def test_what_is_no_buffer_is_refused() -> None:
    tok = BPE.from_merges(MERGES, alphabet=2)
    frozen = np.zeros(9, np.int32)
    frozen.flags.writeable = False
    for out, error, match in (
        (np.zeros(9), TypeError, "out: expected an array of int32, got an array of float64"),
        (np.zeros(9, ">i4"), TypeError, "out: expected an array of int32, got an array of >i4"),
        ([0] * 9, TypeError, "out: expected an array of int32, got list"),
        (np.zeros((3, 3), np.int32), ValueError, "out: expected a 1-D, contiguous"),
        (np.zeros(18, np.int32)[::2], ValueError, "out: expected a 1-D, contiguous"),
        (frozen, ValueError, "out: expected an array that can be written to, got a read-only one"),
    ):
        refuses(error, match, tok.decode, [2], out=out)
    assert tok.decode([], out=np.zeros(0, np.int32)).size == 0


TOK = BPE.for_text(256, special_tokens=["<s>", "<pad>"], known_words=["##"]).fit(["low"])
S, PAD, KNOWN = 256, 257, 258


def test_special_tokens_and_ids_of_the_caller() -> None:
    ids = [S, 108, KNOWN, 111, PAD, 119, -1, -100]
    assert TOK.decode(ids, skip_special_tokens=True, skip=[-1, -100]) == "l##ow"
    assert TOK.decode(ids, skip=(-1, -100, 108)) == "<s>##o<pad>w"
    assert TOK.decode(ids, skip_special_tokens=True, skip=np.array([-1, -100]), as_bytes=True) == b"l##ow"
    assert TOK.decode_batch([[0]], as_bytes=True) == [TOK.decode([0]).encode()]
    assert TOK.decode([S, 108], skip_special_tokens=True) == "l" and TOK.decode([], skip=-1) == ""


def test_errors_name_the_position_among_the_ids_as_given() -> None:
    gone = {"skip": [-1, PAD], "skip_special_tokens": True}
    for ids in ([-1, -1, S, 256, 108, -1, 999, -1, 999], [-1, PAD, 2**40]):
        at = next(i for i, t in enumerate(ids) if t not in (-1, PAD, S) and not 0 <= t < 259)
        message = f"position {at}: token id {ids[at]} "
        for call in (TOK.decode, partial(TOK.decode, as_bytes=True), TOK.decode_stream(**gone).push):
            with pytest.raises(UnknownTokenError, match=f"document 0, {message}"):
                call(ids, **({} if getattr(call, "__name__", "") == "push" else gone))
        refuses(UnknownTokenError, f"document 2, {message}", TOK.decode_batch, [[108, -1], [], ids], **gone)
        with pytest.raises(UnknownTokenError, match=f"document 2, {message}"):
            list(TOK.decode_iter([[108, -1], [], ids], **gone))
        refuses(
            UnknownTokenError,
            f"document 1, {message}",
            TOK.decode_batch,
            [-1, 7, *ids],
            [0, 2, 2 + len(ids)],
            **gone,
        )


def test_a_padded_matrix() -> None:
    docs = ["low", "", "l"]
    for fill in (-1, PAD):
        matrix = TOK.encode_batch(docs).to_padded(fill)
        assert (
            TOK.decode_batch(matrix, skip=fill) == docs
            and TOK.decode_batch(matrix.astype(np.int64), skip=[fill]) == docs
        )
        assert list(TOK.decode_iter(iter(matrix), skip=fill)) == docs
    numbers = BPE.from_merges([[0, 1]], alphabet=[7, 8])
    assert numbers.decode_batch(np.array([[2, -1], [0, 1]]), skip=-1).to_lists() == [[7, 8], [7, 8]]
    out = np.zeros(4, np.int32)
    assert numbers.decode([2, -1, 0], skip=-1, out=out).tolist() == [7, 8, 7]
    assert TOK.decode_batch([[S, 108], [PAD]], skip_special_tokens=True) == ["l", ""]
    assert TOK.decode_batch(np.array([108, 111]), [0, 1, 2], skip=108) == ["", "o"]


@each("skip", ["a", 1.5, [[1]], [None]])
def test_what_is_no_id(skip: Any) -> None:
    refuses(TypeError, "skip: expected an id or several", TOK.decode, [108], skip=skip)
