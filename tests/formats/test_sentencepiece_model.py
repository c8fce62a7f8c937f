"""Models of the pieces of sentencepiece, unigrams and pairs: the same ids as sentencepiece gives."""

from __future__ import annotations

from typing import Any

import pytest
from double_arrays import charsmap
from hypothesis import assume, given, settings
from sentencepiece_models import BPE as PAIRS
from sentencepiece_models import (
    BYTES,
    CHARACTER,
    CONTROL,
    FLAGS,
    NORMAL,
    SPECIAL,
    TEXTS,
    UNIGRAM,
    UNUSED,
    USER,
    Piece,
    model,
    pairs,
    same_ids,
    unigrams,
)

from ubpe_numba import BPE, UBPE


@settings(max_examples=60)
@given(unigrams(), FLAGS, TEXTS)
def test_unigrams_equal_sentencepiece(pieces: list[Piece], flags: dict[str, bool], docs: list[str]) -> None:
    if flags["by_bytes"]:
        letters = set("".join(name for name, _, type_ in pieces if type_ in (NORMAL, USER)))
        have = {name for name, *_ in pieces}
        pieces = [(n, s, NORMAL if t == UNUSED else t) for n, s, t in pieces]
        pieces = pieces + [(c, -4.0, NORMAL) for c in sorted(letters | set("".join(n for n, *_ in pieces[2:]))) if c not in have]
        pieces = pieces + BYTES
    assume(any(type_ in (NORMAL, USER) for _, _, type_ in pieces))
    data = model(pieces, **flags)
    same_ids(data, UBPE.from_sentencepiece(data), docs, flags["remove"])


@settings(max_examples=60)
@given(pairs(), FLAGS, TEXTS)
def test_pairs_equal_sentencepiece(pieces: list[Piece], flags: dict[str, bool], docs: list[str]) -> None:
    data = model(pieces + (BYTES if flags["by_bytes"] else []), PAIRS, **flags)
    same_ids(data, BPE.from_sentencepiece(data), docs, flags["remove"])


@pytest.mark.parametrize("kind", [UNIGRAM, PAIRS])
def test_characters_of_private_use(kind: int) -> None:
    """Those that would stand for words, of which this model has fewer, may be its own; so has a real one."""
    own = "\U0010fc03"
    pieces = [*SPECIAL, *BYTES, (own, -1.0, NORMAL), ("a", -2.0, NORMAL), (f"a{own}", -0.5, NORMAL), ("xy", 0.0, USER)]
    pieces += [("x", -1.0, NORMAL), ("y", -1.0, NORMAL)]
    data = model(pieces, kind, by_bytes=True)
    tokenizer: Any = (UBPE if kind == UNIGRAM else BPE).from_sentencepiece(data)
    docs = [f"a{own}{own}xy a", f"\U00100000{own}", f"\U0010fe00\U0010fc04 {own}a"]
    same_ids(data, tokenizer, docs)
    again = type(tokenizer).from_sentencepiece(tokenizer.to_sentencepiece())
    assert [again.encode(doc).tolist() for doc in docs] == [tokenizer.encode(doc).tolist() for doc in docs]


def test_characters_equal_sentencepiece() -> None:
    data = model([*SPECIAL, ("a", -1.0, NORMAL), ("ab", -1.0, NORMAL), ("▁", -1.0, NORMAL), ("xy", 0.0, USER)], CHARACTER)
    same_ids(data, BPE.from_sentencepiece(data), ["ab axyx", "", "zzza"])


def test_a_map_of_characters_and_positions() -> None:
    data = model([*SPECIAL, ("a", -1.0, NORMAL), ("▁", -2.0, NORMAL)], prefix=True, charsmap=charsmap({"é": "aa", "x": ""}))
    tokenizer = UBPE.from_sentencepiece(data)
    same_ids(data, tokenizer, ["éxa b", "x", "bbb a"])
    ids, starts = tokenizer.encode("éxa bbx", return_offsets=True)
    assert ids.tolist() == [3, 2, 2, 2, 3, 0] and starts.tolist() == [0, 0, 0, 2, 3, 4]
    assert tokenizer.special_ids == {"<s>": 1}


def test_control_pieces_are_special_tokens() -> None:
    tokenizer = UBPE.from_sentencepiece(model([*SPECIAL, ("a", -1.0, NORMAL), ("<p>", 0.0, CONTROL)]))
    assert tokenizer.encode("a<s>a", allowed_special="all").tolist() == [2, 1, 2]
    assert tokenizer.special_ids == {"<s>": 1, "<p>": 3}
