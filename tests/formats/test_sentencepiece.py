"""Files of sentencepiece: what is not valid is refused at once, and what is written is read again, by sentencepiece too."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from sentencepiece_models import (
    A_AND_B,
    BYTE,
    BYTES,
    FLAGS,
    NORMAL,
    SPECIAL,
    TEXTS,
    UNIGRAM,
    UNKNOWN,
    UNUSED,
    USER,
    WORD,
    Piece,
    model,
    pairs,
    same_ids,
    unigrams,
)
from sentencepiece_models import BPE as PAIRS

from ubpe_numba import BPE, UBPE, ModelFormatError
from ubpe_numba.formats.protobuf import field
from ubpe_numba.formats.sentencepiece import read


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
    (model([*SPECIAL, ("\U0010ff00", 0.0, NORMAL)]), "U+10FF00 of a piece is needed"),
    (
        model([*SPECIAL, ("\U00100000", 0.0, NORMAL), ("x", 0.0, USER)], PAIRS),
        "U+100000 of a piece is needed to stand for something else",
    ),
    (model([*SPECIAL, ("a", 0.0, NORMAL)], charsmap=b"abc"), "precompiled_charsmap: not a map"),
    (model([*SPECIAL, ("ab", 0.0, NORMAL), ("a", -1.0, NORMAL)], PAIRS), "'b' is in pieces, but is none itself"),
    (model(SPECIAL + A_AND_B + [("abb", -4.0, UNUSED), ("ba", -5.0, NORMAL)], PAIRS), "piece 5: 'abb' is unused"),
    (model(SPECIAL + A_AND_B + [("abb", -4.0, UNUSED), ("abba", -5.0, NORMAL)], PAIRS), "piece 5: 'abb' is unused"),
    (model(SPECIAL + A_AND_B + [("ba", -3.0, NORMAL)], PAIRS), "'ba' and 'ab' have the same score"),
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
    kind = data.draw(st.sampled_from([UNIGRAM, PAIRS]))
    whole = bytearray(model([*SPECIAL, *A_AND_B, ("xy", 0.0, USER)], kind, prefix=True))
    for _ in range(data.draw(st.integers(1, 2))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    end = data.draw(st.just(len(whole)) | st.integers(0, len(whole)))
    try:
        tokenizer = (UBPE if kind == UNIGRAM else BPE).from_sentencepiece(bytes(whole[:end]))
    except ModelFormatError:
        return
    ids = tokenizer.encode("ab xyab", disallowed_special="none")
    assert isinstance(tokenizer.decode(ids), str) and set(ids.tolist()) <= set(tokenizer.segmenter_.token_ids.tolist())


def test_a_file_of_ten_million_pieces_costs_little() -> None:
    """More fields than any model has: refused when they are counted, not when they are read."""
    data = field(1, field(1, b"ab")) * 10_000_000
    with pytest.raises(ModelFormatError, match="more than 1048576 fields"):
        read(data)


def test_a_hundred_thousand_pieces_are_read() -> None:
    names = [f"{i:05d}" for i in range(100_000)]
    data = model([*SPECIAL, *[(c, -9.0, NORMAL) for c in "0123456789"], *[(name, -10.0, NORMAL) for name in names]])
    tokenizer = UBPE.from_sentencepiece(data)
    assert len(tokenizer.vocabulary) == 100_011
    assert tokenizer.encode("0012399999").tolist() == [12 + 123, 12 + 99_999]


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
        reject()
    if not any(number in (1, 4) for _, _, number in pieces):
        pytest.importorskip("sentencepiece")
        with pytest.raises(ValueError, match="export refused: sentencepiece does not read it"):
            tokenizer.to_sentencepiece()
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


def test_private_characters_in_pieces() -> None:
    """Only those that the model needs for bytes, the unknown and its words are refused."""
    private = "\U00100001\U0010d592\U0010fe83"
    letters = [(c, -1.0 - i, NORMAL) for i, c in enumerate(private)]
    for kind, class_ in ((UNIGRAM, UBPE), (PAIRS, BPE)):
        data = model([*SPECIAL, *letters, (private[1:], -0.5, NORMAL), ("xy", 0.0, USER)], kind)
        tokenizer = class_.from_sentencepiece(data)
        docs = [private, private[::-1] + "a\U00100000\U0010ff00" + private, "xy"]
        same_ids(data, tokenizer, docs)
        written = tokenizer.to_sentencepiece()
        same_ids(written, class_.from_sentencepiece(written), docs)
    with pytest.raises(ModelFormatError, match=r"U\+10FE83 of a piece is needed"):
        UBPE.from_sentencepiece(model([*SPECIAL, *letters, *BYTES], by_bytes=True))
