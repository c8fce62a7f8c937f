"""Ids that are left out before decoding."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from tables import each

from ubpe_numba import BPE
from ubpe_numba.errors import UnknownTokenError

TOK = BPE.for_text(256, special_tokens=["<s>", "<pad>"], known_words=["##"]).fit(["low"])
S, PAD, KNOWN = 256, 257, 258


def test_special_tokens_and_ids_of_the_caller() -> None:
    ids = [S, 108, KNOWN, 111, PAD, 119, -1, -100]
    assert TOK.decode(ids, skip_special_tokens=True, skip=[-1, -100]) == "l##ow"
    assert TOK.decode(ids, skip=(-1, -100, 108)) == "<s>##o<pad>w"
    assert TOK.decode(ids, skip_special_tokens=True, skip=np.array([-1, -100]), as_bytes=True) == b"l##ow"
    assert TOK.decode([S, 108], skip_special_tokens=True) == "l" and TOK.decode([], skip=-1) == ""


def test_errors_name_the_position_among_the_ids_as_given() -> None:
    gone = {"skip": [-1, PAD], "skip_special_tokens": True}
    for ids in ([-1, -1, S, 256, 108, -1, 999, -1, 999], [-1, PAD, 2**40]):
        at = next(i for i, t in enumerate(ids) if t not in (-1, PAD, S) and not 0 <= t < 259)
        message = f"position {at}: token id {ids[at]} "
        for call in (TOK.decode, partial(TOK.decode, as_bytes=True), TOK.decode_stream(**gone).push):
            with pytest.raises(UnknownTokenError, match=f"document 0, {message}"):
                call(ids, **({} if getattr(call, "__name__", "") == "push" else gone))
        with pytest.raises(UnknownTokenError, match=f"document 2, {message}"):
            TOK.decode_batch([[108, -1], [], ids], **gone)
        with pytest.raises(UnknownTokenError, match=f"document 2, {message}"):
            list(TOK.decode_iter([[108, -1], [], ids], **gone))
        with pytest.raises(UnknownTokenError, match=f"document 1, {message}"):
            TOK.decode_batch([-1, 7, *ids], [0, 2, 2 + len(ids)], **gone)


def test_a_padded_matrix() -> None:
    docs = ["low", "", "l"]
    for fill in (-1, PAD):
        matrix = TOK.encode_batch(docs).to_padded(fill)
        assert TOK.decode_batch(matrix, skip=fill) == docs
        assert TOK.decode_batch(matrix.astype(np.int64), skip=[fill]) == docs
        assert list(TOK.decode_iter(iter(matrix), skip=fill)) == docs
    numbers = BPE.from_merges([[0, 1]], alphabet=[7, 8])
    assert numbers.decode_batch(np.array([[2, -1], [0, 1]]), skip=-1).to_lists() == [[7, 8], [7, 8]]
    out = np.zeros(4, np.int32)
    assert numbers.decode([2, -1, 0], skip=-1, out=out).tolist() == [7, 8, 7]
    assert TOK.decode_batch([[S, 108], [PAD]], skip_special_tokens=True) == ["l", ""]
    assert TOK.decode_batch(np.array([108, 111]), [0, 1, 2], skip=108) == ["", "o"]


@each("skip", ["a", 1.5, [[1]], [None]])
def test_what_is_no_id(skip: Any) -> None:
    with pytest.raises(TypeError, match="skip: expected an id or several"):
        TOK.decode([108], skip=skip)
