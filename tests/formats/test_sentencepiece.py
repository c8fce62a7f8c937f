"""Models of sentencepiece: the same ids as sentencepiece gives, and files that are not valid are refused at once."""

from __future__ import annotations

import io
import time
from typing import Any

import numpy as np
import pytest
from double_arrays import charsmap
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.token_pairs import last_merge
from sentencepiece_models import BPE as PAIRS
from sentencepiece_models import BYTE, BYTES, CHARACTER, CONTROL, NORMAL, SPECIAL, UNIGRAM, UNKNOWN, UNUSED, USER, WORD, model

from ubpe_numba import BPE, UBPE, ModelFormatError
from ubpe_numba.formats.kernels.pairs_of_pieces import pairs_of_pieces
from ubpe_numba.formats.protobuf import field
from ubpe_numba.formats.sentencepiece import _parts_of_run, model_of, read
from ubpe_numba.runtime.arrays import offsets_of
from ubpe_numba.runtime.tables.trie import trie_of

Piece = tuple[str, float, int]
LETTERS = "ab▁é"
FLAGS = st.fixed_dictionaries({name: st.booleans() for name in ("prefix", "suffix", "remove", "escape", "by_bytes")})
TEXTS = st.lists(st.text("ab é▁x😀z\n", max_size=30), min_size=1, max_size=8)


def same_ids(data: bytes, tokenizer: BPE | UBPE, docs: list[str], remove: bool = False) -> None:
    """Ids, and what they decode to, are those of sentencepiece.

    Where spaces are removed it decodes a piece of two marks at the beginning, which only a text with marks has, to one space.
    """
    peer = pytest.importorskip("sentencepiece").SentencePieceProcessor(model_proto=data)
    found = tokenizer.encode_batch(docs, disallowed_special="none").to_lists()
    for doc, ids in zip(docs, found, strict=True):
        assert ids == peer.encode(doc), doc
        assert tokenizer.encode(doc, disallowed_special="none").tolist() == ids
        if not (remove and "▁" in doc):
            assert tokenizer.decode(ids) == peer.decode(ids), (doc, ids)


@st.composite
def unigrams(draw: st.DrawFn) -> list[Piece]:
    """Pieces with few different scores, some of the user, some unused, and characters that are in pieces but are none."""
    names = draw(st.lists(st.text(LETTERS, min_size=1, max_size=4), min_size=1, max_size=12, unique=True))
    score = st.sampled_from([-1.0, -2.0, -2.5, -3.25])
    return SPECIAL + [(name, draw(score), draw(st.sampled_from([NORMAL] * 6 + [USER, UNUSED]))) for name in names]


@settings(max_examples=60)
@given(unigrams(), FLAGS, TEXTS)
def test_unigrams_equal_sentencepiece(pieces: list[Piece], flags: dict[str, bool], docs: list[str]) -> None:
    if flags["by_bytes"]:
        letters = set("".join(name for name, _, type_ in pieces if type_ in (NORMAL, USER)))
        have = {name for name, *_ in pieces}
        pieces = [(n, s, NORMAL if t == UNUSED else t) for n, s, t in pieces]
        pieces = pieces + [(c, -4.0, NORMAL) for c in sorted(letters | set("".join(n for n, *_ in pieces[2:]))) if c not in have]
        pieces = pieces + BYTES
    if not any(type_ in (NORMAL, USER) for _, _, type_ in pieces):
        return
    data = model(pieces, **flags)
    same_ids(data, UBPE.from_sentencepiece(data), docs, flags["remove"])


@st.composite
def pairs(draw: st.DrawFn) -> list[Piece]:
    """Pieces made of others, of scores in any order, and words of the user."""
    names = list(LETTERS)
    for _ in range(draw(st.integers(0, 10))):
        new = draw(st.sampled_from(names)) + draw(st.sampled_from(names))
        names += [new] if new not in names and len(new) < 9 else []
    words = draw(st.lists(st.text(LETTERS, min_size=2, max_size=3), max_size=2, unique=True))
    scores = draw(st.permutations(range(len(names)))) if draw(st.booleans()) else range(len(names))
    rows = [(name, -float(score), NORMAL) for name, score in zip(names, scores, strict=True) if name not in words]
    return SPECIAL + rows + [(word, 0.0, USER) for word in words]


@settings(max_examples=60)
@given(pairs(), FLAGS, TEXTS)
def test_pairs_equal_sentencepiece(pieces: list[Piece], flags: dict[str, bool], docs: list[str]) -> None:
    data = model(pieces + (BYTES if flags["by_bytes"] else []), PAIRS, **flags)
    try:
        tokenizer = BPE.from_sentencepiece(data)
    except ModelFormatError as error:
        if "not what its parts are merged to" in str(error):
            return
        raise
    same_ids(data, tokenizer, docs, flags["remove"])


@pytest.mark.parametrize("most", [2, 3, 4, 8, 12, 16])
def test_runs_of_equal_score(most: int) -> None:
    """Pieces of 2 to 16 spaces that have the same score, as Llama has them: merged from the left."""
    pieces = [*SPECIAL, ("▁", -1e9, NORMAL), ("a", -3.0, NORMAL), ("▁a", -1.0, NORMAL)]
    pieces += [("▁" * n, -1e9, NORMAL) for n in range(2, most + 1) if n != 15]
    data = model(pieces, PAIRS)
    if most & (most - 1):
        with pytest.raises(ModelFormatError, match="have the same score"):
            BPE.from_sentencepiece(data)
    else:
        same_ids(data, BPE.from_sentencepiece(data), [" " * n + "a" * (n % 3) for n in range(100)])


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


def test_models_are_saved_and_loaded(tmp_path: Any) -> None:
    for data, kind in (
        (model([*SPECIAL, ("a", -1.0, NORMAL), ("aa", -1.5, NORMAL)]), UBPE),
        (model(SPECIAL + A_AND_B, PAIRS), BPE),
    ):
        tokenizer = kind.from_sentencepiece(data)
        for name in ("m.json", "m.npz"):
            tokenizer.save(tmp_path / name)
            again = kind.load(tmp_path / name)
            assert again.fingerprint == tokenizer.fingerprint
            assert again.encode("aab ax").tolist() == tokenizer.encode("aab ax").tolist()
            assert again.decode(again.encode("aab ax")) == tokenizer.decode(tokenizer.encode("aab ax"))


A_AND_B: list[Piece] = [("a", -1.0, NORMAL), ("b", -2.0, NORMAL), ("ab", -3.0, NORMAL)]
HOSTILE: list[tuple[bytes, str]] = [
    (b"", "it has no pieces"),
    (field(2, b""), "it has no pieces"),
    (b"\x0a\xff", "not a message of protobuf: byte 0"),
    (model([*SPECIAL, ("", 0.0, NORMAL)]), "piece 2: it is empty"),
    (model([*SPECIAL, ("a" * 8000, 0.0, NORMAL)]), "piece 2: it has 8000 bytes or more"),
    (model([*SPECIAL, ("a", float("nan"), NORMAL)]), "piece 2: its score is no finite number"),
    (model([*SPECIAL, ("a", float("-inf"), NORMAL)]), "piece 2: its score is no finite number"),
    (model([*SPECIAL, ("a", 0.0, 7)]), "piece 2: it is of an unknown type"),
    (model([*SPECIAL, ("a", 0.0, 0)]), "piece 2: it is of an unknown type"),
    (model([*SPECIAL, ("a\0", 0.0, NORMAL)]), "U+0000"),
    (model(SPECIAL) + field(1, field(1, b"\xff")), "piece 2: not UTF-8"),
    (model(SPECIAL) + field(1, field(1, b"\xc3")) + field(1, field(1, b"\xa9")), "begins within a character"),
    (model([*SPECIAL, ("a", 0.0, NORMAL), ("a", 0.0, USER)]), "the piece 'a' is there twice"),
    (model([*SPECIAL, *SPECIAL]), "the piece '<unk>' is there twice"),
    (model([*SPECIAL, ("<u>", 0.0, UNKNOWN)]), "expected one unknown piece, got 2"),
    (model([("a", 0.0, NORMAL)]), "expected one unknown piece, got 0"),
    (model([*SPECIAL, ("a", 0.0, NORMAL), ("<0x00>", 0.0, BYTE)]), "byte_fallback: expected the 256 pieces"),
    (model([*SPECIAL, ("a", 0.0, NORMAL), *BYTES[1:]], by_bytes=True), "byte_fallback: expected the 256 pieces"),
    (model([*SPECIAL, ("ab", 0.0, NORMAL), ("a", 0.0, NORMAL), *BYTES], by_bytes=True), "'b' is in pieces, but is none itself"),
    (model([*SPECIAL, ("a", 0.0, NORMAL)], WORD), "a model of words"),
    (model([*SPECIAL, ("a", 0.0, NORMAL)], 9), "an unknown kind, 9"),
    (model([*SPECIAL, ("\U00100000", 0.0, NORMAL)]), "U+100000 of a piece is needed"),
    (model([*SPECIAL, ("a", 0.0, NORMAL)], charsmap=b"abc"), "precompiled_charsmap: not a map"),
    (model([*SPECIAL, ("ab", 0.0, NORMAL), ("a", -1.0, NORMAL)], PAIRS), "'b' is in pieces, but is none itself"),
    (model(SPECIAL + A_AND_B + [("abb", -4.0, UNUSED)], PAIRS), "unused pieces"),
    (model(SPECIAL + A_AND_B + [("bbb", -4.0, NORMAL)], PAIRS), "'bbb' is not what its parts are merged to"),
    (model(SPECIAL + A_AND_B + [("ba", -3.0, NORMAL)], PAIRS), "'ba' and 'ab' have the same score"),
    (model([*SPECIAL, ("a", -1.0, NORMAL), ("a" * 7999, -2.0, NORMAL)] * 1, PAIRS), "not what its parts are merged to"),
]


@pytest.mark.parametrize("data, message", HOSTILE)
def test_what_is_not_valid_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(ModelFormatError) as error:
        (UBPE if read(data).kind == UNIGRAM else BPE).from_sentencepiece(data)
    assert message in str(error.value)


def test_the_wrong_class_is_named() -> None:
    with pytest.raises(ModelFormatError, match="use BPE.from_sentencepiece"):
        UBPE.from_sentencepiece(model(SPECIAL + A_AND_B, PAIRS))
    with pytest.raises(ModelFormatError, match="use UBPE.from_sentencepiece"):
        BPE.from_sentencepiece(model(SPECIAL + A_AND_B))


@settings(max_examples=100)
@given(st.data())
def test_changed_bytes_are_read_or_refused(data: st.DataObject) -> None:
    whole = bytearray(model([*SPECIAL, *A_AND_B, ("xy", 0.0, USER)], data.draw(st.sampled_from([UNIGRAM, PAIRS])), prefix=True))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(whole[: data.draw(st.integers(0, len(whole)))])
    try:
        model_of(read(cut))
    except ModelFormatError:
        return


def test_a_file_of_ten_million_pieces_costs_little() -> None:
    """More fields than any model has: refused when they are counted, not when they are read."""
    data = field(1, field(1, b"ab")) * 10_000_000
    with pytest.raises(ModelFormatError, match="more than 1048576 fields"):
        read(data)


@settings(max_examples=100)
@given(st.lists(st.text("abc", min_size=2, max_size=9), max_size=12, unique=True), st.randoms())
def test_pairs_of_pieces_equal_the_reference(names: list[str], random: Any) -> None:
    tokens = [*"abc", *names]
    rank = {name: i for i, name in enumerate(tokens)}
    lengths = np.array([len(name) for name in tokens])
    arena = np.array(["abc".index(c) for name in tokens for c in name], np.int32)
    found = np.empty((len(names), 2), np.int32)
    ends, ranks, parts = np.empty((3, int(lengths.max())), np.int32)
    pairs_of_pieces(
        arena, offsets_of(lengths), 3, trie_of(3, arena, lengths), ends, ranks, parts, np.empty(ends.size, np.int64), found
    )
    for name, (left, right) in zip(names, found.tolist(), strict=True):
        want = last_merge(name, lambda x, y: rank.get(x + y, 99), 99)
        assert (tokens[left], tokens[right]) == want if want else left == right == -1


def test_parts_of_runs() -> None:
    assert _parts_of_run(19, dict.fromkeys(range(2, 17), 0)) == [16, 3]
    assert _parts_of_run(5, {2: 0}) == [2, 2, 1]


def test_loading_is_linear() -> None:
    """A vocabulary of a hundred thousand pieces; the time is not asserted, only that it is read."""
    names = [f"{i:05d}" for i in range(100_000)]
    data = model([*SPECIAL, *[(c, -9.0, NORMAL) for c in "0123456789"], *[(name, -10.0, NORMAL) for name in names]])
    start = time.perf_counter()
    tokenizer = UBPE.from_sentencepiece(io.BytesIO(data).getvalue())
    assert len(tokenizer.vocabulary) == 100_011 and time.perf_counter() > start
    assert tokenizer.encode("0012399999").tolist() == [12 + 123, 12 + 99_999]


def test_control_pieces_are_special_tokens() -> None:
    tokenizer = UBPE.from_sentencepiece(model([*SPECIAL, ("a", -1.0, NORMAL), ("<p>", 0.0, CONTROL)]))
    assert tokenizer.encode("a<s>a", allowed_special="all").tolist() == [2, 1, 2]
    assert tokenizer.special_ids == {"<s>": 1, "<p>": 3}


# ---------------------------------------------------------------------------------------------------- writing


@settings(max_examples=40)
@given(st.one_of(unigrams(), pairs()), FLAGS, TEXTS, st.booleans())
def test_what_was_read_is_written_again(pieces: list[Piece], flags: dict[str, bool], docs: list[str], unigram: bool) -> None:
    flags["by_bytes"] = False
    data = model(pieces, UNIGRAM if unigram else PAIRS, **flags)
    kind = UBPE if unigram else BPE
    try:
        tokenizer = kind.from_sentencepiece(data)
    except (ModelFormatError, ValueError):
        return
    written = tokenizer.to_sentencepiece()
    again = kind.from_sentencepiece(written)
    want = tokenizer.encode_batch(docs, disallowed_special="none").to_lists()
    assert again.encode_batch(docs, disallowed_special="none").to_lists() == want
    same_ids(written, again, docs, flags["remove"])


def test_own_models_are_written(tmp_path: Any) -> None:
    docs = ["low lower lowest", "slow newer wider", "low low new"]
    for tokenizer in (
        BPE(40, special_tokens=["<s>"]).fit(docs, progress=False),
        UBPE(40, 4, objective="sentencepiece").fit(docs, progress=False),
        UBPE(40, 4, objective="shortest").fit(docs, progress=False).set_params(objective="sentencepiece"),
    ):
        data = tokenizer.to_sentencepiece(tmp_path / "m.model")
        again = type(tokenizer).from_sentencepiece(tmp_path / "m.model")
        for doc in docs:
            assert again.encode(doc).tolist() == tokenizer.encode(doc).tolist()
            assert again.decode(again.encode(doc)) == doc
        same_ids(data, again, docs)


def test_what_cannot_be_written_is_refused() -> None:
    with pytest.raises(ValueError, match="of characters, not of int"):
        BPE.from_merges([[0, 1]], alphabet=2).to_sentencepiece()
    with pytest.raises(ValueError, match="does not cut text"):
        BPE(10, pretokenizer="gpt2").fit(["ab ab"], progress=False).to_sentencepiece()
    with pytest.raises(ValueError, match="expected 'sentencepiece'"):
        UBPE(10).fit(["ab ab", "b"], progress=False).to_sentencepiece()
    with pytest.raises(ValueError, match="surrogates"):
        BPE.from_merges([[0, 1]], alphabet="a\ud800").to_sentencepiece()
    with pytest.raises(ValueError, match="always found"):
        UBPE(10, objective="sentencepiece", known_words=["ab"]).fit(["ab c ab c", "b"], progress=False).to_sentencepiece()
    with pytest.raises(ValueError, match="no place for 'NFC'"):
        BPE(10, normalizer="NFC").fit(["ab ab"], progress=False).to_sentencepiece()
    with pytest.raises(ValueError, match="export refused"):  # a b b is not what its parts are merged to
        BPE.from_merges([[1, 1], [0, 1], [3, 1]], alphabet="ab").to_sentencepiece()
