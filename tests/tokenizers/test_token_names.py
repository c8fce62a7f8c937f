"""Tokens by name, as Hugging Face and tiktoken have them, and tokenizers that are equal."""

import pickle
from typing import Any

import numpy as np
import pytest
from tables import each, refuses

from ubpe_numba import BPE, UBPE, Preprocessing, export
from ubpe_numba.errors import UnknownTokenError

TEXTS = ["the low lower lowest tide", "low tide, no tide", "höher als the tide 低い"]


@each("special_first", [False, True])
@each("kind", ["bytes", "str"])
def test_names_are_those_of_hugging_face(kind: str, special_first: bool) -> None:
    Tokenizer = pytest.importorskip("tokenizers").Tokenizer  # noqa: N806

    given: dict[str, Any] = {"special_tokens": ["<end>", "[SEP]"], "special_first": special_first}
    tok = (
        BPE.for_text(270, pretokenizer="gpt2", **given)
        if kind == "bytes"
        else BPE(40, preprocessing=Preprocessing(**given))
    )
    tok.fit(TEXTS, progress=False)
    other = Tokenizer.from_str(export(tok, "tokenizer.json", unk_token=False))
    assert tok.get_vocab() == other.get_vocab() and tok.vocab_size == other.get_vocab_size()
    assert list(tok.get_vocab().values()) == sorted(tok.get_vocab().values())
    for name, i in other.get_vocab().items():
        assert (tok.token_to_id(name), tok.id_to_token(i)) == (i, name)
    assert tok.token_to_id("nowhere") is None is other.token_to_id("nowhere")
    assert tok.id_to_token(tok.vocab_size) is None is other.id_to_token(tok.vocab_size)


def test_bytes_are_told_from_names_that_look_alike() -> None:
    """The byte 20 is written "Ġ", which is the text C4 A0, and the byte E9 is written "é", which is C3 A9."""
    plain = BPE.from_merges([], alphabet=bytes(range(256)))
    assert (
        plain.token_to_id("é".encode()) is None
        and plain.token_to_id("é") == plain.token_to_id(b"\xe9") == 0xE9
    )
    for special_first in (False, True):
        words: list[Any] = ["Ġ", "é", "Ã©", "Ġa", b"\xff\xfe"]
        tok = BPE.from_merges(
            [[32, 97]],
            alphabet=bytes(range(256)),
            preprocessing=Preprocessing(special_tokens=words, special_first=special_first),
        )
        for i in range(tok.vocab_size):
            assert tok.token_to_id(tok.decode([i], as_bytes=True)) == i
        assert [tok.token_to_id(word) for word in words] == [tok.vocabulary.special[word] for word in words]
        assert [tok.token_to_id(name) for name in tok.get_vocab()] == list(tok.get_vocab().values())


def test_single_tokens_as_tiktoken_has_them() -> None:
    pytest.importorskip("tiktoken")
    tok = BPE.for_text(270, pretokenizer="gpt2", special_tokens={"<end>": 300}).fit(TEXTS * 2, progress=False)
    other = export(tok, "tiktoken.Encoding")
    assert tok.vocab_size == other.n_vocab == 301 and len(tok.get_vocab()) == 271
    for i in [*range(270), 300]:
        data = tok.decode([i], as_bytes=True)
        assert data == other.decode_single_token_bytes(i) and tok.token_to_id(
            data
        ) == i == other.encode_single_token(data)
    assert tok.token_to_id(b"\xff\xff") is None and tok.id_to_token(280) is None
    for wrong in (280, 301, -1):
        refuses(
            UnknownTokenError,
            f"token id {wrong} is outside the vocabulary",
            tok.decode,
            [wrong],
            as_bytes=True,
        )
    refuses(TypeError, "expected", tok.decode, ["low"], as_bytes=True)
    refuses(
        TypeError,
        "the alphabet is one of int",
        BPE.from_merges([[0, 1]], alphabet=[1, 2]).decode,
        [0],
        as_bytes=True,
    )
    assert BPE.from_merges([[0, 1]], alphabet="aé").decode([2], as_bytes=True) == "aé".encode()


def test_integers_have_tuples_for_names() -> None:
    tok = BPE.from_merges(
        [[0, 1], [2, 3]], alphabet=[60, 62, 64], preprocessing=Preprocessing(special_tokens=[[60, 60]])
    )
    assert tok.get_vocab() == {(60,): 0, (62,): 1, (64,): 2, (60, 62): 3, (64, 60, 62): 4, (60, 60): 5}
    for name, i in tok.get_vocab().items():
        assert tok.id_to_token(i) == name == tuple(np.asarray(tok.decode([i])).tolist())
        assert (
            tok.token_to_id(name)
            == tok.token_to_id(list(name))
            == tok.token_to_id(np.array(name, np.int16))
            == i
        )
    assert tok.token_to_id(62) == 1 and tok.token_to_id(63) is None and tok.token_to_id([]) is None
    for wrong in ("a", b"a", [2.5], True, None):
        refuses(TypeError, "token: expected", tok.token_to_id, wrong)


def test_of_tokens_with_equal_symbols_the_lowest_id_has_the_name() -> None:
    tok = BPE.from_merges(
        [[0, 1], [1, 2], [3, 2], [0, 4]], alphabet="abc", preprocessing=Preprocessing(special_tokens=["bc"])
    )
    assert tok.get_vocab() == {"a": 0, "b": 1, "c": 2, "ab": 3, "abc": 5, "bc": 7}
    assert [tok.id_to_token(i) for i in range(9)] == ["a", "b", "c", "ab", "bc", "abc", "abc", "bc", None]


def test_names_of_a_refit_are_new(cls: Any) -> None:
    tok = cls(20).fit(TEXTS, progress=False)
    before = tok.get_vocab()
    before["x"] = 7  # the user's
    assert (
        tok.fit(["xyxyxy", "xyx"], progress=False).get_vocab().keys() >= {"x", "y"}
        and "t" not in tok.get_vocab()
    )


def test_equal_tokenizers(cls: Any, tmp_path: Any) -> None:
    """By class and arguments before a fit, by class and fingerprint after it."""
    tok, other = cls(40), cls(40)
    assert tok == other and hash(tok) == hash(other)
    assert tok != cls(41) and tok != 20 and cls(40, preprocessing=Preprocessing(special_tokens=["a"])) != tok
    assert cls(alphabet=np.arange(3)) == cls(alphabet=np.arange(3)) != cls(alphabet=np.arange(4))
    places = {tok: "first"}
    tok.fit(TEXTS, progress=False)
    assert tok != other and places[tok] == "first"  # the hash stays
    assert tok == other.fit(TEXTS, progress=False)
    tok.save(tmp_path / "model.npz")
    assert tok == cls.load(tmp_path / "model.npz") == pickle.loads(pickle.dumps(tok))
    assert (
        other.fit(TEXTS[1:], progress=False)
        != tok
        != (UBPE if cls is BPE else BPE)(40).fit(TEXTS, progress=False)
    )


def test_arguments_that_hold_arrays_are_compared() -> None:
    pandas = pytest.importorskip("pandas")
    for make in (
        pandas.Series,
        np.array,
        lambda numbers: {"a": np.array(numbers)},
        lambda numbers: [np.array(numbers)],
    ):
        assert (
            BPE(40, alphabet=make([1, 2])) == BPE(40, alphabet=make([1, 2])) != BPE(40, alphabet=make([1, 3]))
        )
    words = {"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 1}
    one, same, other = (BPE(40, preprocessing=Preprocessing(special_tokens=of)) for of in words)
    assert one == same != other
