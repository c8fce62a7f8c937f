"""Vocabularies of .gguf files."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest
from double_arrays import charsmap
from gguf_files import F64, I8, I32, STRING, U8, U64, Typed, vocabulary
from sentencepiece_models import BPE as PAIRS
from sentencepiece_models import BYTES, NORMAL, SPECIAL, UNIGRAM, USER, model

from ubpe_numba import BPE, UBPE, ModelFormatError, WordPiece, load

PIECES = [
    *SPECIAL,
    *BYTES,
    ("▁", -5.0, NORMAL),
    ("a", -4.0, NORMAL),
    ("▁a", -1.0, NORMAL),
    ("aa", -2.0, NORMAL),
    ("a▁", 0.0, USER),
]
DOCS = ["a aa", "  aaa é a  a", "", "a\nb"]


def written(path: pathlib.Path, kind: str, tokens: list[str], **fields: Any) -> pathlib.Path:
    """A file of a vocabulary."""
    path.write_bytes(vocabulary(kind, tokens, **fields))
    return path


@pytest.mark.parametrize("kind, number", [("llama", PAIRS), ("t5", UNIGRAM)])
def test_sentencepiece_s_kinds(tmp_path: pathlib.Path, kind: str, number: int) -> None:
    names, scores, types = map(list, zip(*PIECES, strict=True))
    path = written(tmp_path / "m.gguf", kind, names, scores=scores, token_type=types, add_space_prefix=True)
    cls: Any = UBPE if number == UNIGRAM else BPE
    tokenizer = cls.from_gguf(path)
    want = cls.from_sentencepiece(model(PIECES, number, prefix=True, remove=number == UNIGRAM, by_bytes=True))
    assert load(path).fingerprint == tokenizer.fingerprint == want.fingerprint
    assert tokenizer.encode_batch(DOCS).to_lists() == want.encode_batch(DOCS).to_lists()
    with pytest.raises(ModelFormatError, match="use U?BPE.from_gguf"):
        (BPE if number == UNIGRAM else UBPE).from_gguf(path)


def test_maps_of_characters_are_bytes_of_any_type(tmp_path: pathlib.Path) -> None:
    names, scores, types = map(list, zip(*PIECES, strict=True))
    map_of_a = charsmap({"Ä": "a"})
    want = UBPE.from_sentencepiece(model(PIECES, UNIGRAM, prefix=True, remove=True, by_bytes=True, charsmap=map_of_a))
    signed = np.frombuffer(map_of_a, np.int8).tolist()
    for values in (Typed(U8, list(map_of_a)), Typed(I8, signed), Typed(I32, list(map_of_a))):
        path = written(tmp_path / "m.gguf", "t5", names, scores=scores, token_type=types, precompiled_charsmap=values)
        assert UBPE.from_gguf(path).fingerprint == want.fingerprint


def test_bytes_with_merges(tmp_path: pathlib.Path) -> None:
    tokens = ["a", "b", "Ġ", "ab", "Ġab", "<s>"]
    path = written(tmp_path / "m.gguf", "gpt2", tokens, token_type=[1] * 5 + [3], merges=["a b", "Ġ ab"], pre="qwen2")
    tokenizer = BPE.from_gguf(path)
    assert tokenizer.encode("ab ab<s>", allowed_special="all").tolist() == [3, 4, 5]


def test_placeholders_that_are_said_to_be_unknown(tmp_path: pathlib.Path) -> None:
    """One is the unknown piece; the others are in no text."""
    tokens, types = ["<unk>", "a", "<p1>", "<p2>"], [2, 1, 2, 2]
    for unknown in ({}, {"unknown_token_id": 0}):
        path = written(
            tmp_path / "m.gguf", "llama", tokens, scores=[0.0] * 4, token_type=types, add_space_prefix=False, **unknown
        )
        tokenizer = BPE.from_gguf(path)
        assert tokenizer.encode("axa").tolist() == [1, 0, 1]
        assert tokenizer.decode([1, 3]).startswith("a")


def test_tokens_that_nothing_makes_are_in_no_text(tmp_path: pathlib.Path) -> None:
    path = written(tmp_path / "m.gguf", "gpt2", ["a", "b", "Ġ", "ab", "\u200d", "ba"], merges=["a b"], pre="gpt-2")
    tokenizer = BPE.from_gguf(path)
    assert tokenizer.encode("abba", allowed_special="all").tolist() == [3, 1, 0]
    assert tokenizer.decode([3, 4, 5]) == "ab\u200dba"


LLAMA: dict[str, Any] = {"kind": "llama", "scores": [0.0, -1.0], "token_type": [2, 1]}


def test_what_is_not_valid_is_refused(tmp_path: pathlib.Path) -> None:
    (tmp_path / "x").write_bytes(b"GGUF" + bytes(20))
    with pytest.raises(ModelFormatError, match="version 0; there are versions 2 and 3"):
        BPE.from_gguf(tmp_path / "x")
    refused: tuple[tuple[dict[str, Any], str], ...] = (
        ({"kind": "rwkv"}, "'rwkv' is not supported; there are llama, t5, gpt2 and bert"),
        ({"kind": "bert"}, "unknown_token_id: expected the id of a token, got 100"),
        ({"kind": "bert", "unknown_token_id": 1}, "a vocabulary of WordPiece: use WordPiece.from_gguf"),
        (
            {"kind": "gpt2", "pre": "x", "merges": ["a b"]},
            "the pattern of 'x' is not known; read the tokenizer.json",
        ),
        ({"kind": "gpt2", "merges": ["ab"]}, "expected a list of two tokens each|not in the vocabulary"),
        ({"kind": "llama"}, "scores: expected a finite number"),
        ({"kind": "llama", "token_type": [9, 9]}, "expected a type of 1 to 6"),
        ({"kind": "llama", "token_type": [1]}, "expected a type of 1 to 6"),
        ({"kind": "llama", "token_type": Typed(U64, [1, 2**64 - 1])}, "expected a type of 1 to 6"),
        ({"kind": "llama", "token_type": ["1", "1"]}, "token_type: expected an array of integers"),
        ({"kind": "llama", "token_type": [1.0, float("nan")]}, "token_type: expected an array of integers"),
        ({"kind": "llama", "token_type": [True, True]}, "token_type: expected an array of integers"),
        ({"kind": "llama", "token_type": 1}, "token_type: expected an array of integers"),
        ({"kind": "llama", "token_type": "1"}, "token_type: expected an array of integers"),
        ({"kind": "llama", "scores": ["a", "b"]}, "scores: expected an array of numbers"),
        ({"kind": "llama", "scores": 1.0}, "scores: expected an array of numbers"),
        ({"kind": "llama", "scores": [1.0, float("nan")]}, "scores: expected a finite number"),
        ({"kind": "llama", "scores": Typed(F64, [1.0, 1e300])}, "scores: expected a finite number"),
        ({**LLAMA, "precompiled_charsmap": Typed(U64, 1 << 40)}, "precompiled_charsmap: expected an array of integers"),
        ({**LLAMA, "precompiled_charsmap": "abcd"}, "precompiled_charsmap: expected an array of integers"),
        ({**LLAMA, "precompiled_charsmap": [1.0]}, "precompiled_charsmap: expected an array of integers"),
        ({**LLAMA, "precompiled_charsmap": [256]}, "precompiled_charsmap: expected bytes"),
        ({**LLAMA, "precompiled_charsmap": [-1]}, "precompiled_charsmap: expected bytes"),
        ({**LLAMA, "precompiled_charsmap": Typed(U8, [1, 2])}, "."),
        ({**LLAMA, "add_space_prefix": "no"}, "add_space_prefix: expected true or false"),
        ({**LLAMA, "remove_extra_whitespaces": [1]}, "remove_extra_whitespaces: expected true or false"),
        ({"kind": ["llama"]}, "tokenizer.ggml.model: expected a text"),
        ({"kind": 5}, "tokenizer.ggml.model: expected a text"),
        ({"kind": "llama", "tokens": [1, 2]}, "tokens: expected a list of tokens"),
        ({"kind": "llama", "tokens": "ab"}, "tokens: expected a list of tokens"),
        ({"kind": "llama", "tokens": Typed(STRING, [])}, "tokens: expected a list of tokens"),
        ({"kind": "llama", "tokens": ["a", ""]}, "tokens: expected a list of tokens"),
        ({"kind": "gpt2", "pre": ["qwen2"], "merges": ["a b"]}, "pre: the pattern of"),
        ({"kind": "gpt2", "pre": 5, "merges": ["a b"]}, "pre: the pattern of 5 is not known"),
        ({"kind": "gpt2", "merges": [1]}, "merges: expected a list of two tokens each"),
        ({"kind": "gpt2", "merges": "a b"}, "merges: expected a list of two tokens each"),
        ({"kind": "bert", "unknown_token_id": "1"}, "unknown_token_id: expected the id of a token"),
        ({"kind": "bert", "unknown_token_id": [1]}, "unknown_token_id: expected the id of a token"),
        ({"kind": "bert", "unknown_token_id": 0, "normalizer__lowercase": "x"}, "lowercase: expected true or false"),
    )
    for fields, message in refused:
        kind = fields.pop("kind")
        path = written(tmp_path / "m.gguf", kind, fields.pop("tokens", ["a", "b"]), **fields)
        with pytest.raises(ModelFormatError, match=message):
            BPE.from_gguf(path)
    with pytest.raises(FileNotFoundError):
        BPE.from_gguf(tmp_path / "none")


@pytest.mark.parametrize(
    "names, pattern",
    [
        ("gpt-2 mpt roberta-bpe phi-2", "gpt2"), ("llama-bpe glm4 dbrx", "llama3"), ("qwen2 stablelm2 grok-2", "qwen2"),
        ("qwen35", "qwen35"), ("gpt-4o llama4", "o200k"), ("tekken", "tekken"), ("deepseek-v3 hunyuan-dense", "deepseek"),
        ("starcoder command-r smollm", "starcoder"),
    ],
)  # fmt: skip
def test_patterns_by_the_names_of_llama_cpp(tmp_path: pathlib.Path, names: str, pattern: str) -> None:
    for name in names.split():
        path = written(tmp_path / "m.gguf", "gpt2", ["a", "b", "Ġ", "ab"], merges=["a b"], pre=name)
        cutter = BPE.from_gguf(path).segmenter_.pretokenizer
        assert cutter is not None and cutter.name == pattern


BERT = ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "un", "##able", "a", "##b", "!", "▁", "##▁", "]", "##]"]


def of_bert(path: pathlib.Path, pieces: list[str], **fields: Any) -> pathlib.Path:
    """A file as llama.cpp's converter writes it: a mark before pieces that begin a word, none before control tokens."""
    types = [3 if piece in ("[PAD]", "[CLS]") else 1 for piece in pieces]
    named = [p if t == 3 else p[2:] if p.startswith("##") else f"▁{p}" for p, t in zip(pieces, types, strict=True)]
    return written(path, "bert", named, token_type=types, unknown_token_id=pieces.index("[UNK]"), **fields)


def test_words_of_bert(tmp_path: pathlib.Path) -> None:
    path = of_bert(tmp_path / "m.gguf", [*BERT, "ÄB"])
    tokenizer = WordPiece.from_gguf(path)
    want = {piece: i for i, piece in enumerate([*BERT, "ÄB"])}
    assert tokenizer.vocabulary == want and tokenizer.special_tokens == {"[PAD]": 0, "[CLS]": 3, "[UNK]": 2}
    assert tokenizer.encode("[CLS]Unable unable!").tolist() == [3, 2, 4, 5, 8]

    path = of_bert(tmp_path / "n.gguf", BERT)
    tokenizer = WordPiece.from_gguf(path)
    assert tokenizer.encode("Unable Áb b").tolist() == [4, 5, 6, 7, 2]
    again = load(path)
    assert isinstance(again, WordPiece) and again.encode("Unable Áb").tolist() == [4, 5, 6, 7]
    with pytest.raises(ModelFormatError, match="not a vocabulary of WordPiece"):
        WordPiece.from_gguf(written(tmp_path / "o.gguf", "gpt2", ["a", "b", "ab"], merges=["a b"]))
    older = written(tmp_path / "p.gguf", "bert", ["[UNK]", "[unused0]", "▁a", "b"], unknown_token_id=0)
    assert WordPiece.from_gguf(older).vocabulary == {"[UNK]": 0, "[unused0]": 1, "a": 2, "##b": 3}
