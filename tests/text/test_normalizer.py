r"""Normalizers: every step equal to the package tokenizers, character by character, and origins that lead back to the text."""

from __future__ import annotations

import json
import pickle
import unicodedata
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ubpe_numba.errors import ModelFormatError
from ubpe_numba.text.normalizer import Normalizer

STEPS: list[dict[str, Any]] = [
    *({"type": kind} for kind in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel")),
    {"type": "Strip", "strip_left": True, "strip_right": False},
    {"type": "Strip", "strip_left": False, "strip_right": True},
    {"type": "Prepend", "prepend": "▁"},
    {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
    {"type": "Replace", "pattern": {"Regex": " {2,}|a+"}, "content": "<>"},
    {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True},
    {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False},
    {"type": "BertNormalizer", "clean_text": False, "handle_chinese_chars": True, "strip_accents": True, "lowercase": False},
]
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
    return tokenizers.Tokenizer.from_str(json.dumps({"version": "1.0", "normalizer": step, "model": model})).normalizer


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step["type"])
def test_every_character_as_the_package_tokenizers(step: dict[str, Any]) -> None:
    # theirs are the tables of a Unicode of their own: what was added or assigned since Unicode 11 may differ
    other, mine = theirs(step), Normalizer(step)
    for point in [*range(0xD800), *range(0xE000, 0x20000, 7)]:
        text = f"x{chr(point)} y{chr(point)}"
        if unicodedata.ucd_3_2_0.category(chr(point)) != "Cn" and point not in (
            0x1734,
            0x1885,
            0x1886,
        ):  # marks changed their kind
            assert mine.apply(text) == other.normalize_str(text), hex(point)


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_normal_forms_of_all_characters(form: str) -> None:
    """Their version of Unicode is an older one; what later ones added to the forms stays as it is."""
    other, mine = theirs({"type": form}), Normalizer(form)
    if unicodedata.unidata_version > "15.1.0":
        pytest.skip("which characters Unicode added since is not known here")
    for point in [*range(0xD800), *range(0xE000, 0x30000), *range(0xE0000, 0xE0200)]:
        assert mine.apply("x" + chr(point)) == other.normalize_str("x" + chr(point)), hex(point)


@settings(deadline=None, max_examples=300)
@given(text=TEXT, steps=st.lists(st.sampled_from(STEPS), max_size=3))
def test_sequences_as_the_package_tokenizers(text: str, steps: list[dict[str, Any]]) -> None:
    other = theirs({"type": "Sequence", "normalizers": steps})
    assert Normalizer({"type": "Sequence", "normalizers": steps}).apply(text) == other.normalize_str(text)


@settings(deadline=None, max_examples=500)
@given(text=TEXT, steps=st.lists(st.sampled_from(STEPS), max_size=3))
def test_origins(text: str, steps: list[dict[str, Any]]) -> None:
    mine = Normalizer(steps)
    done, origins = mine.traced(text)
    assert done == mine.apply(text)
    assert origins.shape == (len(done),) and (np.diff(origins) >= 0).all()
    assert all(0 <= i < len(text) for i in origins.tolist())


def test_origins_by_hand() -> None:
    found = {text: Normalizer("NFC").traced(text)[1].tolist() for text in ("e\u0301x", "x\u1100\u1161\u11a8y", "\u0301a", "ab")}
    assert found == {"e\u0301x": [0, 2], "x\u1100\u1161\u11a8y": [0, 1, 4], "\u0301a": [0, 1], "ab": [0, 1]}
    strip = Normalizer({"type": "Strip"})
    assert strip.traced("  ab ")[1].tolist() == [2, 3]
    assert Normalizer({"type": "Prepend", "prepend": "__"}).traced("ab")[1].tolist() == [0, 0, 0, 1]
    replace = Normalizer({"type": "Replace", "pattern": {"String": "ab"}, "content": "xyz"})
    assert replace.traced("cabab")[1].tolist() == [0, 1, 1, 1, 3, 3, 3]
    assert Normalizer("BertNormalizer").traced("É中")[1].tolist() == [0, 1, 1, 1]


def test_no_character_is_joined_with_one_before_it_unseen() -> None:
    """`_starts_part` knows all characters that a normal form joins with the one before: checked against all compositions."""
    from ubpe_numba.text.normalizer import _starts_part

    for point in range(0x110000):
        parts = unicodedata.decomposition(chr(point)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            assert not _starts_part(chr(int(parts[1], 16))), parts


def test_state_and_pickle() -> None:
    made = Normalizer([*STEPS, "NFC", {"type": "Sequence", "normalizers": ["NFD", {"type": "Sequence", "normalizers": []}]}])
    again = Normalizer.from_state(json.loads(json.dumps(made.state())))
    assert again == made == pickle.loads(pickle.dumps(made)) and hash(again) == hash(made)
    assert not made.is_lossless and Normalizer([]).is_lossless and Normalizer.of([]) is None and Normalizer.of(None) is None
    assert made.steps[-2:] == ({"type": "NFC"}, {"type": "NFD"})


@pytest.mark.parametrize(
    "state, message",
    [
        (5, "expected steps"), (b"NFC", "expected steps"), ([5], "expected steps"), ("Nfc", "'Nfc' is not supported"),
        ({"type": None}, "None is not supported"), ({"type": []}, "is not supported"), ({}, "None is not supported"),
        ({"type": "NFC", "x": 1}, "NFC: unexpected field 'x'"), ({"type": "Prepend"}, "Prepend: the field 'prepend' is missing"),
        ({"type": "Prepend", "prepend": 1}, "Prepend: prepend: expected a text"),
        ({"type": "Replace", "pattern": {"String": ""}, "content": ""}, "the pattern is empty"),
        ({"type": "Replace", "pattern": {"Regex": "("}, "content": ""}, "not a regular expression"),
        ({"type": "Replace", "pattern": "a", "content": ""}, "expected a pattern"),
        ({"type": "Strip", "strip_left": 1}, "strip_left: expected true or false, got 1"),
        ({"type": "BertNormalizer", "lowercase": None}, "lowercase: expected true or false, got None"),
        ({"type": "Precompiled", "precompiled_charsmap": "?"}, "expected a map in base64"),
        (["NFC"] * 300, "at most 256 steps"),
    ],
)  # fmt: skip
def test_hostile_states(state: Any, message: str) -> None:
    with pytest.raises(ModelFormatError, match=message):
        Normalizer.from_state(state)


def test_deep_sequences() -> None:
    state: Any = "NFC"
    for _ in range(100):
        state = {"type": "Sequence", "normalizers": [state]}
    with pytest.raises(ModelFormatError, match="more than 8 sequences"):
        Normalizer.from_state(state)
