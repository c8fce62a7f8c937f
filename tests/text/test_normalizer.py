r"""Normalizers: every step equal to the package tokenizers, character by character, and origins that lead back to the text."""

import json
import pickle
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tables import refuses

from ubpe_numba.documents.read import code_points
from ubpe_numba.errors import ModelFormatError
from ubpe_numba.runtime.arrays import offsets_of
from ubpe_numba.text.normalizer import Normalizer, normalized

STEPS: list[dict[str, Any]] = [
    *({"type": kind} for kind in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel")),
    {"type": "Strip", "strip_left": True, "strip_right": False}, {"type": "Strip", "strip_left": False, "strip_right": True},
    {"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
    {"type": "Replace", "pattern": {"Regex": " {2,}|a+"}, "content": "<>"},
    {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True},
    {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False},
    {"type": "BertNormalizer", "clean_text": False, "handle_chinese_chars": True, "strip_accents": True, "lowercase": False},
]  # fmt: skip
TEXT = st.text(
    st.sampled_from(
        "aA  \t\n\x00\x1c\x85éÉ\u0301\u0323ﬁ½ΣςŒİ가각"
        "\u1100\u1161\u11a8한\uff76\uff9e\u304b\u3099\u4e2d\u2581\ufb01\U0001f469\u200d"
    ),
    max_size=12,
)


def theirs(step: dict[str, Any]) -> Any:
    tokenizers = pytest.importorskip("tokenizers")
    model = {"type": "BPE", "vocab": {"a": 0}, "merges": []}
    return tokenizers.Tokenizer.from_str(
        json.dumps({"version": "1.0", "normalizer": step, "model": model})
    ).normalizer


@pytest.mark.parametrize("step", STEPS[:6], ids=str)
def test_every_character_as_the_package_tokenizers(step: dict[str, Any]) -> None:
    """By itself, and where there are marks around it; the result must not depend on the Unicode of this Python."""
    other, mine = theirs(step).normalize_str, Normalizer(step).apply
    chars = [*map(chr, range(0xD800)), *map(chr, range(0xE000, 0x110000))]
    for i in range(0, len(chars), 256):
        for before, behind in (("x", " A"), ("a\u0345", "\u0334")):
            texts = [f"{before}{char}{behind}" for char in chars[i : i + 256]]
            if mine("".join(texts)) != other("".join(texts)):
                assert not [ascii(text) for text in texts if mine(text) != other(text)]


@given(text=TEXT, steps=st.lists(st.sampled_from(STEPS), max_size=3))
def test_sequences_as_the_package_tokenizers(text: str, steps: list[dict[str, Any]]) -> None:
    """And origins ascend within the text."""
    mine = Normalizer(steps)
    done, origins = mine.traced(text)
    assert done == mine.apply(text) == theirs({"type": "Sequence", "normalizers": steps}).normalize_str(text)
    assert origins.shape == (len(done),) and (np.diff(origins) >= 0).all()
    assert all(0 <= i < len(text) for i in origins.tolist())


def test_origins_by_hand() -> None:
    found = {
        text: Normalizer("NFC").traced(text)[1].tolist()
        for text in ("e\u0301x", "x\u1100\u1161\u11a8y", "\u0301a", "ab")
    }
    assert found == {"e\u0301x": [0, 2], "x\u1100\u1161\u11a8y": [0, 1, 4], "\u0301a": [0, 1], "ab": [0, 1]}
    strip = Normalizer({"type": "Strip"})
    assert strip.traced("  ab ")[1].tolist() == [2, 3]
    assert Normalizer({"type": "Prepend", "prepend": "__"}).traced("ab")[1].tolist() == [0, 0, 0, 1]
    replace = Normalizer({"type": "Replace", "pattern": {"String": "ab"}, "content": "xyz"})
    assert replace.traced("cabab")[1].tolist() == [0, 2, 2, 2, 4, 4, 4]
    assert Normalizer("BertNormalizer").traced("É中")[1].tolist() == [0, 1, 1, 1]


def test_state_and_pickle() -> None:
    made = Normalizer(
        [*STEPS, "NFC", {"type": "Sequence", "normalizers": ["NFD", {"type": "Sequence", "normalizers": []}]}]
    )
    again = Normalizer.from_state(json.loads(json.dumps(made.state())))
    assert again == made == pickle.loads(pickle.dumps(made)) and hash(again) == hash(made)
    assert (
        not made.is_lossless
        and Normalizer([]).is_lossless
        and Normalizer.of([]) is None
        and Normalizer.of(None) is None
    )
    assert made.steps[-2:] == ({"type": "NFC"}, {"type": "NFD"})


def nested(depth: int) -> Any:
    return {"type": "Sequence", "normalizers": [nested(depth - 1)]} if depth else "NFC"


@pytest.mark.parametrize("state, message", [
    (5, "expected steps"), ([5], "expected steps"), ("Nfc", "'Nfc' is not supported"), ({"type": []}, "is not supported"),
    ({"type": "NFC", "x": 1}, "NFC: unexpected field 'x'"), ({"type": "Prepend"}, "Prepend: the field 'prepend' is missing"),
    ({"type": "Prepend", "prepend": 1}, "Prepend: prepend: expected a text"),
    ({"type": "Replace", "pattern": {"String": ""}, "content": ""}, "the pattern is empty"),
    ({"type": "Replace", "pattern": {"Regex": "("}, "content": ""}, "not a regular expression"),
    ({"type": "Replace", "pattern": "a", "content": ""}, "expected a pattern"),
    ({"type": "Strip", "strip_left": 1}, "strip_left: expected true or false, got 1"),
    ({"type": "BertNormalizer", "lowercase": None}, "lowercase: expected true or false, got None"),
    ({"type": "Precompiled", "precompiled_charsmap": "?"}, "expected a map in base64"),
    (["NFC"] * 300, "at most 256 steps"), (nested(100), "more than 8 sequences"),
    ({"type": "Replace", "pattern": {"Regex": "(?:(?:[a-c]x{1000}y){1000}z){1000}"}, "content": ""},
     "Replace: .* repeats too often: written out it has more than 40000 signs; use smaller counts"),
    ({"type": "Replace", "pattern": {"Regex": "a" * 10_001}, "content": ""}, "at most 10000 characters"),
    ([{"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}] * 36, "could make more than 2048 characters of one"),
    ([{"type": "StandIns", "alphabet": "a", "words": [f"w{i}"]} for i in range(256)], "StandIns: expected at most one"),
    ([{"type": "SentencePiece", "words": [f"w{i}"]} for i in range(256)], "SentencePiece: expected at most one"),
])  # fmt: skip
def test_hostile_states(state: Any, message: str) -> None:
    refuses(ModelFormatError, message, Normalizer.from_state, state)


REPLACED = [(" ", "▁"), (" ", ""), (" ", "__"), ("é", "e"), ("▁", " "), ("a", "a"), ("ab", "c")]


@given(
    st.sampled_from(REPLACED),
    st.lists(st.one_of(st.text(" aé▁b😀").map(str.encode), st.binary()), max_size=6),
)
def test_one_character_replaced(replaced: tuple[str, str], stretches: list[bytes]) -> None:
    """Of ill-formed UTF-8, too; the empty stretch stays; read-only arrays."""
    normalizer = Normalizer({"type": "Replace", "pattern": {"String": replaced[0]}, "content": replaced[1]})
    values = np.frombuffer(b"".join(stretches), np.uint8)
    cuts = offsets_of(np.array(list(map(len, stretches)), np.int64))
    expected = [
        normalizer.apply(part.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
        for part in stretches
    ]
    done, done_cuts, _ = normalized(normalizer, values, cuts, False)
    assert [
        done[a:b].tobytes() for a, b in pairwise(done_cuts.tolist())
    ] == expected and done.dtype == np.uint8
    texts = [part.decode("utf-8", "replace") for part in stretches]
    points = code_points("".join(texts))
    cuts = offsets_of(np.array(list(map(len, texts)), np.int64))
    done, done_cuts, _ = normalized(normalizer, points, cuts, False)
    new = [done[a:b].tobytes().decode("utf-32-le") for a, b in pairwise(done_cuts.tolist())]
    assert new == list(map(normalizer.apply, texts)) and done.dtype == np.uint32
