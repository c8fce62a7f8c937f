r"""Ranks of npm's packages: read from each form, and refused by name where they are not valid."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest
from foreign import MIXED

import ubpe_numba
from ubpe_numba import ModelFormatError
from ubpe_numba.formats import tiktoken

PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


@pytest.mark.parametrize("form", ["{}", "export default {};", "module.exports = {};\n"])
def test_every_form(tok: Any, form: str, tmp_path: pathlib.Path) -> None:
    tokens = [line.split()[0].decode() for line in tok.to_tiktoken().splitlines()]
    first = tok.special_ids["<|endoftext|>"] + 5
    ranks = f"! 0 {' '.join(tokens[:300])}\n! 300 {' '.join(tokens[300:])}"
    known = {"explicit_n_vocab": 9, "pat_str": PATTERN, "special_tokens": {"<|endoftext|>": first}, "bpe_ranks": ranks}
    path = tmp_path / "ranks.js"
    path.write_text(form.replace("{}", json.dumps(known)))
    loaded = ubpe_numba.load(path)
    expected = ubpe_numba.BPE.from_tiktoken(tok.to_tiktoken(), pretokenizer="gpt2", special_tokens={"<|endoftext|>": first})
    assert loaded.pretokenizer == expected.pretokenizer
    texts = [*MIXED, "a<|endoftext|>b"]
    assert loaded.encode_batch(texts, allowed_special="all") == expected.encode_batch(texts, allowed_special="all")


@pytest.mark.parametrize(
    "change, message",
    [
        ({"pat_str": 1}, "expected text"), ({"bpe_ranks": None}, "expected text"),
        ({"special_tokens": []}, "expected an object of ids"), ({"special_tokens": {"a": "b"}}, "expected an object of ids"),
        ({"bpe_ranks": "!"}, "line 1: expected a mark"), ({"bpe_ranks": "! 0 YQ==\n! x"}, "line 2: expected a mark"),
        ({"bpe_ranks": "! 12345678901 YQ=="}, "line 1"), ({"bpe_ranks": "! 0 \u00e9"}, "line 1"),
        ({"bpe_ranks": "! \u0663 YQ=="}, "line 1"), ({"bpe_ranks": ""}, "at least one token"),
        ({"bpe_ranks": "! 0 YQ== Y"}, "base64"), ({"bpe_ranks": "! 0 YQ== YQ=="}, "twice"),
    ],
)  # fmt: skip
def test_hostile_modules_are_refused(change: dict[str, Any], message: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x"
    path.write_text(json.dumps({"pat_str": "a+", "special_tokens": {}, "bpe_ranks": "! 0 YQ=="} | change))
    with pytest.raises(ModelFormatError, match=message):
        ubpe_numba.load(path)
    path.write_text('module.exports = {"pat_str": 5')
    with pytest.raises(ModelFormatError):
        ubpe_numba.load(path)


def test_modules_are_told_by_what_they_export() -> None:
    assert tiktoken.javascript_object(b"export default 5", bytes) is None
