"""Ids that are left out before decoding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ubpe_numba import BPE, UnknownTokenError

TOK = BPE.for_text(256, special_tokens=["<s>", "<pad>"], known_words=["##"]).fit(["low"])
S, PAD, KNOWN = 256, 257, 258


def test_special_tokens_and_ids_of_the_caller() -> None:
    ids = [S, 108, KNOWN, 111, PAD, 119, -1, -100]
    assert TOK.decode(ids, skip_special_tokens=True, skip=[-1, -100]) == "l##ow"
    assert TOK.decode(ids, skip=(-1, -100, 108)) == "<s>##o<pad>w"
    assert TOK.decode_bytes(ids, skip_special_tokens=True, skip=np.array([-1, -100])) == b"l##ow"
    assert TOK.decode([S, 108], skip_special_tokens=True) == "l" and TOK.decode([], skip=-1) == ""
    with pytest.raises(UnknownTokenError, match="document 0, position 4: token id -100 "):
        TOK.decode(ids[1:], skip=[-1, PAD], skip_special_tokens=True)


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
    assert TOK.decode_batch(np.array([1, 108, 111, 2]), [1, 2, 3], skip=108) == ["", "o"]


@pytest.mark.parametrize("skip", ["a", 1.5, [[1]], [None]])
def test_what_is_no_id(skip: Any) -> None:
    with pytest.raises(TypeError, match="skip: expected an id or several"):
        TOK.decode([108], skip=skip)
