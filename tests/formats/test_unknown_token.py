"""The unknown token of exports: what other libraries make of symbols that a model does not know."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest

from ubpe_numba import BPE, UBPE, FitRules, ModelFormatError, Splitter
from ubpe_numba.formats import export
from ubpe_numba.formats.export_check import TEXTS
from ubpe_numba.formats.pair_table import symbol_character

tokenizers = pytest.importorskip("tokenizers")
WORDS = ["[UNK]", "<end>"]


def letters(**params: Any) -> BPE:
    return BPE(30, special_tokens=WORDS, **params).fit(["the tide, the Tide", "tied in the net"] * 2, progress=False)


PARAMS: list[dict[str, Any]] = [
    {},
    {"pretokenizer": "gpt2"},
    {"pretokenizer": Splitter(["Whitespace"])},
    {"pretokenizer": Splitter([{"type": "Metaspace", "replacement": "_", "prepend_scheme": "always", "split": True}])},
    {"normalizer": ["NFKC", "Lowercase"]},
    {"normalizer": ["NFD", "StripAccents"], "pretokenizer": Splitter(["BertPreTokenizer"])},
    {"known_words": ["net"]},
    {"break_tokens": ",", "max_token_length": 1},
]


@pytest.mark.parametrize("params", PARAMS, ids=str)
def test_unknown_characters_become_the_token(params: dict[str, Any]) -> None:
    tok = letters(**params)
    text = tok.to_huggingface(unk_token="[UNK]")
    other, again = tokenizers.Tokenizer.from_str(text), BPE.from_huggingface(text)
    unk = tok.special_ids["[UNK]"]
    for doc in [*TEXTS, "the xx tide", "x", "theéidé<end>the", "tXiXd"]:
        ids = other.encode(doc).ids
        assert again.encode(doc, allowed_special="all").tolist() == ids
    assert other.encode("tXiXd").ids.count(unk) == 2
    assert other.encode("the tide").ids == tok.encode("the tide").tolist()
    assert BPE.from_huggingface(again.to_huggingface()).encode("tXiXd").tolist() == other.encode("tXiXd").ids
    assert json.loads(again.to_huggingface())["model"] == json.loads(text)["model"]


def test_unknown_integers_and_bytes() -> None:
    tok = BPE(9, alphabet=[-5, 7, 30, 99], special_tokens=[[99, 99]]).fit([[-5, 7, -5, 7, 30]], progress=False)
    text = tok.to_huggingface(unk_token=[99, 99])
    other, again = tokenizers.Tokenizer.from_str(text), BPE.from_huggingface(text, alphabet=[-5, 7, 30, 99])
    unk = tok.special_ids[99, 99]
    assert again.special_ids == tok.special_ids
    assert other.encode(symbol_character(0) + symbol_character(12) + symbol_character(1)).ids == [0, unk, 1]
    assert again.alphabet_ == tok.alphabet_ and again.encode([-5, 7]).tolist() == tok.encode([-5, 7]).tolist()
    data = BPE(6, alphabet=b"ACGT", special_tokens=["[UNK]"]).fit([b"ACACGT"], progress=False)
    other = tokenizers.Tokenizer.from_str(data.to_huggingface(unk_token="[UNK]"))
    unk = data.special_ids["[UNK]"]
    assert other.encode("ACéT").ids == [*data.encode(b"AC").tolist(), unk, unk, *data.encode(b"T").tolist()]


def test_unknown_characters_of_unigrams_are_one() -> None:
    tok = UBPE(8, objective="tokenizers", special_tokens=WORDS).fit(["abab", "ab", "abcb"], progress=False)
    text = tok.to_huggingface(unk_token="[UNK]", special_first=True)
    other, again = tokenizers.Tokenizer.from_str(text), UBPE.from_huggingface(text)
    for doc in ("abcab", "axxb", "é", "ab<end>x"):
        assert other.encode(doc).ids == again.encode(doc, allowed_special="all").tolist()
    assert other.encode("axxb").ids.count(0) == 1
    assert other.encode("abcab").ids == (tok.encode("abcab") + 2).tolist()


LOSSY = [
    (lambda: BPE.from_merges([[0, 1]], "ab"), "2 characters and no unk_token: .* such as 'X' without a word"),
    (lambda: BPE.from_merges([[0, 1]], alphabet=2), "2 integers and no unk_token: .* stand for no integer of the alphabet"),
    (lambda: BPE.from_merges([[0, 1]], alphabet=b"ab"), r"2 bytes and no unk_token: .* such as b'\\x00'"),
]


@pytest.mark.parametrize("make, match", LOSSY, ids=["characters", "integers", "bytes"])
def test_a_file_that_loses_symbols_is_warned_about(make: Any, match: str, tmp_path: pathlib.Path) -> None:
    tok, path = make(), tmp_path / "tokenizer.json"
    with pytest.warns(UserWarning, match=f"alphabet: the exported tokenizer has {match}") as caught:
        text = tok.to_huggingface(path)
    assert caught[0].filename == __file__ and path.read_text() == text
    assert tok.to_huggingface(unk_token=False) == text
    assert json.loads(text)["model"]["unk_token"] is None


def test_nothing_is_lost_of_all_bytes() -> None:
    tok = BPE.for_text(258, special_tokens=WORDS).fit(["abab"], progress=False)
    assert export.loss_of(tok.model_) is None
    assert json.loads(tok.to_huggingface())["model"]["unk_token"] is None
    in_text = bytes(sorted({*range(0xF5)} - {0xC0, 0xC1}))
    assert export.loss_of(BPE.from_merges([[0, 1]], alphabet=in_text).model_) is None
    named = tok.to_huggingface(unk_token="[UNK]")
    assert json.loads(named)["model"]["unk_token"] == "[UNK]"
    assert tokenizers.Tokenizer.from_str(named).encode("xé中").ids == tok.encode("xé中").tolist()
    every = BPE.from_merges([[97, 98]], alphabet=[chr(i) for i in range(0x300)])
    with pytest.warns(UserWarning, match="characters such as '中'"):
        every.to_huggingface()


@pytest.mark.parametrize(
    "value, error, match",
    [
        (
            "[MASK]",
            ValueError,
            r"unk_token: '\[MASK\]' is neither a symbol nor a special token of this tokenizer: '\[UNK\]', '<end>'",
        ),
        ("net", ValueError, "unk_token: 'net' is neither a symbol nor a special token"),
        (3, TypeError, "unk_token: expected a special token, None or False, got 3"),
        (True, TypeError, "unk_token: expected a special token"),
    ],
)
def test_other_words_are_refused(value: Any, error: type[Exception], match: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "tokenizer.json"
    with pytest.raises(error, match=match):
        letters(known_words=["net"]).to_huggingface(path, unk_token=value)
    assert not path.exists()


def test_a_model_with_a_rule_keeps_it() -> None:
    tok = BPE.from_huggingface(letters().to_huggingface(unk_token="[UNK]"))
    assert tok.to_huggingface(unk_token="[UNK]") == tok.to_huggingface()
    with pytest.raises(ValueError, match="unk_token: unknown characters become the id .* in this model, which is not '<end>'"):
        tok.to_huggingface(unk_token="<end>")


def test_a_unigram_model_over_some_bytes_has_no_unknown_token() -> None:
    tok = UBPE(6, objective="tokenizers", alphabet=b"abc", special_tokens=WORDS).fit([b"abab", b"abc"], progress=False)
    with pytest.raises(ValueError, match="unk_token: a Unigram model over bytes has none unless it has all of them"):
        tok.to_huggingface(unk_token="[UNK]")


def test_a_wrong_unknown_token_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples with unknown characters show what samples of known ones cannot."""
    write = export.huggingface.write
    monkeypatch.setattr(export.huggingface, "write", lambda *a, **k: write(*a, **{**k, "unk_token": "<end>"}))
    with pytest.raises(ValueError, match="export refused: "):
        letters().to_huggingface(unk_token="[UNK]")


def test_the_constructor_s_unknown_is_the_default() -> None:
    """A tokenizer that says what unknown symbols become exports it, where that is a special token or a symbol."""
    tok = letters()
    tok.unknown = "[UNK]"
    assert json.loads(tok.to_huggingface())["model"]["unk_token"] == "[UNK]"
    assert json.loads(tok.to_huggingface(unk_token="<end>"))["model"]["unk_token"] == "<end>"
    for symbol in (3, "t"):
        tok.unknown = symbol
        name = symbol if isinstance(symbol, str) else chr(int(tok.alphabet_.symbols[symbol]))
        assert json.loads(tok.to_huggingface())["model"]["unk_token"] == name
    for other in ("skip", "raise"):
        tok.unknown = other
        with pytest.warns(UserWarning, match="no unk_token"):
            tok.to_huggingface()


@pytest.mark.parametrize("seed", range(12))
def test_random_models(seed: int) -> None:
    """The same ids by three ways: the model with its alphabet made wider, the file read back, and the package tokenizers."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 9))
    alphabet = "".join(map(chr, rng.choice(np.r_[32:127, 0xE0:0x100, 0x4E00:0x4E40], size, replace=False)))
    docs = ["".join(alphabet[i] for i in rng.integers(0, size, 60)) for _ in range(4)]
    cut = [None, "gpt2", Splitter(["Whitespace"]), Splitter([{"type": "Digits", "individual_digits": True}])][seed % 4]
    tok = BPE(24, alphabet=alphabet, special_tokens=WORDS, pretokenizer=cut, rules=FitRules(min_count=1))
    text = tok.fit(docs, progress=False).to_huggingface(unk_token="[UNK]", special_first=bool(seed % 2))
    other, again = tokenizers.Tokenizer.from_str(text), BPE.from_huggingface(text)
    letters = [*alphabet, *"aZ 9é中\n"]
    for _ in range(200):
        doc = "".join(letters[i] for i in rng.integers(0, len(letters), int(rng.integers(0, 30))))
        assert other.encode(doc).ids == again.encode(doc).tolist()


@pytest.mark.parametrize("cls", [BPE, UBPE])
def test_a_normalizer_that_makes_unknown_characters(cls: Any) -> None:
    """Of known ones: ``c`` and an accent become one character, which only the file with an unknown token has an id for."""
    params = {"objective": "tokenizers"} if cls is UBPE else {}
    tok = cls(None, alphabet="abc \u0301", normalizer="NFC", special_tokens=WORDS, **params)
    tok.fit(["abc cab", "abba b\u0301"], progress=False)
    text = tok.to_huggingface(unk_token="[UNK]")
    other, again = tokenizers.Tokenizer.from_str(text), cls.from_huggingface(text)
    unk = tok.special_ids["[UNK]"]
    assert other.encode("ac\u0301b").ids == again.encode("ac\u0301b").tolist() == [*tok.encode("a"), unk, *tok.encode("b")]
    assert json.loads(tok.to_huggingface(unk_token=False))["model"]["vocab"] == json.loads(text)["model"]["vocab"]


def _letters_of(rng: np.random.Generator, letters: list[str]) -> list[str]:
    return ["".join(rng.choice(letters, rng.integers(0, 12))) for _ in range(400)]


@pytest.mark.parametrize(
    "params",
    [
        {"alphabet": "ACN", "unknown": "N"}, {"alphabet": "ACN", "unknown": 2}, {"alphabet": "NCA", "unknown": "N"},
        {"alphabet": "ACN", "unknown": "C", "pretokenizer": "gpt2"},
        {"alphabet": "ACN", "unknown": "N", "special_tokens": ["[A]"], "special_first": True},
        {"alphabet": "acn", "unknown": "n", "normalizer": ["NFC", "Lowercase"]},
        {"alphabet": b"ACN", "unknown": "N", "encoding": "utf-8"},
        {"alphabet": b"ACN", "unknown": b"N", "encoding": "utf-8", "pretokenizer": "gpt2"},
    ],
    ids=str,
)  # fmt: skip
def test_a_symbol_is_the_unknown_token_there_and_here(params: dict[str, Any]) -> None:
    """It is merged with its neighbours as the symbol itself is."""
    tok = BPE(12, **params).fit(["ACNNACNACANCACNCANCA" * 3, "NANANCNC"], progress=False)
    text = tok.to_huggingface()
    other, again = tokenizers.Tokenizer.from_str(text), BPE.from_huggingface(text)
    assert again.alphabet_.kind == tok.alphabet_.kind and again.to_huggingface() == text
    for doc in _letters_of(np.random.default_rng(0), ["A", "C", "N", "X", "é", "e\u0301", "\U0001f600", " ", "\n"]):
        assert other.encode(doc).ids == tok.encode(doc).tolist() == again.encode(doc).tolist()


def test_an_integer_is_the_unknown_token() -> None:
    symbols = [9, 2, 1]
    tok = BPE(8, alphabet=symbols, unknown=1).fit([[1, 2, 9, 9, 1, 2] * 5], progress=False)
    text = tok.to_huggingface()
    assert tok.to_huggingface(unk_token=[2]) == text
    other, again = tokenizers.Tokenizer.from_str(text), BPE.from_huggingface(text, alphabet=symbols)
    assert again.unknown == 1
    rng = np.random.default_rng(0)
    for _ in range(200):
        doc = rng.choice([1, 2, 9, 40], rng.integers(0, 9)).tolist()
        there = "".join(symbol_character(symbols.index(i) if i in symbols else 100) for i in doc)
        assert other.encode(there).ids == tok.encode(doc).tolist() == again.encode(doc).tolist()
    likely = UBPE(8, alphabet="ab", objective="likelihood").fit(["abab", "ba"], progress=False).reweight(["abab", "ba"])
    likely.set_params(objective="tokenizers")
    with pytest.raises(ValueError, match=r"unk_token: .* is a symbol, which is not searched for"):
        likely.to_huggingface(unk_token="a")
    text = likely.to_huggingface()
    assert likely.set_params(unknown="a").to_huggingface() == text  # by default none


_PAIRS = {"vocab": {"A": 0, "C": 1, "N": 2, "NA": 3, "AC": 4, "NN": 5}, "merges": ["N A", "A C", "N N"]}


@pytest.mark.parametrize(
    "model, message",
    [
        ({"unk_token": "N", "fuse_unk": True}, "'N' is part of merges, which is not supported with fuse_unk"),
        ({"unk_token": "N", "ignore_merges": True}, "'N' is part of merges, which is not supported with ignore_merges"),
        ({"unk_token": "AC", "merges": ["A C", "AC N"], "vocab": {**_PAIRS["vocab"], "ACN": 6}}, "several characters"),
        ({"unk_token": "NN", "fuse_unk": True}, "'NN' is a token of texts too, not supported with fuse_unk"),
    ],
)  # fmt: skip
def test_an_unknown_token_that_texts_have_is_refused_where_ids_would_differ(model: dict[str, Any], message: str) -> None:
    file = json.dumps({"model": {"type": "BPE", **_PAIRS, **model}})
    with pytest.raises(ModelFormatError, match=message):
        BPE.from_huggingface(file)


def test_a_file_whose_unknown_token_is_merged_is_read() -> None:
    file = json.dumps({"model": {"type": "BPE", "unk_token": "N", **_PAIRS}})
    other, tok = tokenizers.Tokenizer.from_str(file), BPE.from_huggingface(file)
    assert other.encode("NéA").ids == tok.encode("NéA").tolist() == [2, 3]  # not [2, 2, 0]
    for doc in _letters_of(np.random.default_rng(1), ["A", "C", "N", "é"]):
        assert other.encode(doc).ids == tok.encode(doc).tolist()


def test_transformers_do_not_take_a_symbol_for_a_special_token(tmp_path: pathlib.Path) -> None:
    transformers = pytest.importorskip("transformers")
    tok = BPE(12, alphabet="ACN", unknown="N").fit(["ACNNACNACANCACNCANCA" * 3], progress=False)
    fast = tok.to_transformers()
    fast.save_pretrained(tmp_path)
    for there in (fast, transformers.AutoTokenizer.from_pretrained(tmp_path)):
        assert there("ACNXACNN")["input_ids"] == tok.encode("ACNXACNN").tolist()
