"""Vocabularies of .gguf files, which the package gguf writes here."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest
from sentencepiece_models import BPE as PAIRS
from sentencepiece_models import BYTES, NORMAL, SPECIAL, UNIGRAM, USER, model

from ubpe_numba import BPE, UBPE, ModelFormatError, load

gguf = pytest.importorskip("gguf")

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
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model(kind)
    writer.add_token_list(tokens)
    for name, value in fields.items():
        getattr(writer, f"add_{name}")(value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


@pytest.mark.parametrize("kind, number", [("llama", PAIRS), ("t5", UNIGRAM)])
def test_sentencepiece_s_kinds(tmp_path: pathlib.Path, kind: str, number: int) -> None:
    names, scores, types = map(list, zip(*PIECES, strict=True))
    path = written(tmp_path / "m.gguf", kind, names, token_scores=scores, token_types=types, add_space_prefix=True)
    cls: Any = UBPE if number == UNIGRAM else BPE
    tokenizer = cls.from_gguf(path)
    want = cls.from_sentencepiece(model(PIECES, number, prefix=True, remove=number == UNIGRAM, by_bytes=True))
    assert load(path).fingerprint == tokenizer.fingerprint == want.fingerprint
    assert tokenizer.encode_batch(DOCS).to_lists() == want.encode_batch(DOCS).to_lists()
    with pytest.raises(ModelFormatError, match="use U?BPE.from_gguf"):
        (BPE if number == UNIGRAM else UBPE).from_gguf(path)


def test_bytes_with_merges(tmp_path: pathlib.Path) -> None:
    tokens = ["a", "b", "Ġ", "ab", "Ġab", "<s>"]
    path = written(
        tmp_path / "m.gguf", "gpt2", tokens, token_types=[1] * 5 + [3], token_merges=["a b", "Ġ ab"], tokenizer_pre="qwen2"
    )
    tokenizer = BPE.from_gguf(path)
    assert tokenizer.encode("ab ab<s>", allowed_special="all").tolist() == [3, 4, 5]


def test_what_is_not_valid_is_refused(tmp_path: pathlib.Path) -> None:
    (tmp_path / "x").write_bytes(b"GGUF" + bytes(20))
    with pytest.raises(ModelFormatError, match="not a file of gguf|expected a list of tokens"):
        BPE.from_gguf(tmp_path / "x")
    for fields, message in (
        ({"kind": "bert"}, "'bert' is not supported"),
        ({"kind": "gpt2", "tokenizer_pre": "x", "token_merges": ["a b"]}, "the pattern of 'x' is not known"),
        ({"kind": "gpt2", "token_merges": ["ab"]}, "expected a list of two tokens each|not in the vocabulary"),
        ({"kind": "llama"}, "scores: expected a finite number"),
        ({"kind": "llama", "token_types": [9, 9]}, "expected a type of 1 to 6"),
    ):
        kind = fields.pop("kind")
        path = written(tmp_path / "m.gguf", kind, ["a", "b"], **fields)  # type: ignore[arg-type]
        with pytest.raises(ModelFormatError, match=message):
            BPE.from_gguf(path)
    with pytest.raises(FileNotFoundError):
        BPE.from_gguf(tmp_path / "none")
