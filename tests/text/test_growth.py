"""Steps that could blow a text up are refused; those of real models are not, and the bound holds for every character."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from double_arrays import charsmap
from hypothesis import given
from hypothesis import strategies as st

from ubpe_numba.text import growth
from ubpe_numba.text.normalizer import Normalizer


def replace(found: str, content: str, kind: str = "String") -> dict[str, Any]:
    return {"type": "Replace", "pattern": {kind: found}, "content": content}


def precompiled(rules: dict[str, str]) -> dict[str, Any]:
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap(rules)).decode()}


MAP = precompiled({"\ufdfa": "x" * 18})
SENTENCEPIECE = {"type": "SentencePiece", "precompiled_charsmap": MAP["precompiled_charsmap"]}


@pytest.mark.parametrize(
    "steps",
    [
        [replace("a", "aa")] * 36,
        [replace("a", "bb"), replace("b", "aa")] * 20,
        [replace("a", "aa", "Regex")] * 36,
        [replace("ab", "abab")] * 36,
        [replace("a", "x" * 2049)],
        [{"type": "Prepend", "prepend": "x" * 2049}],
        [{"type": "Prepend", "prepend": "x" * 20}, replace("x", "y" * 200)],
        ["ByteLevel"] * 10,
        ["BertNormalizer"] * 10,
        [precompiled({"a": "a" * 30})] * 3,
        [MAP, "NFKC", MAP],
        [replace("x", "\ufdfa"), "NFKC"] * 3,
    ],
)
def test_what_could_blow_up_a_text_is_refused(steps: list[Any]) -> None:
    with pytest.raises(ValueError, match="normalizer: its steps could make more than 2048 characters of one"):
        Normalizer(steps)


@pytest.mark.parametrize(
    "steps",
    [
        [replace("``", '"'), replace("''", '"'), "NFKD", "StripAccents", "Lowercase", MAP, replace(" {2,}", " ", "Regex")],
        [replace("…", "..."), "NFKD", "Lowercase", "NFC", "NFKC", MAP, replace("\n", "<n>")],
        [{"type": "Prepend", "prepend": "▁"}, replace(" ", "▁")],
        [SENTENCEPIECE, {"type": "StandIns", "alphabet": "ab", "by_bytes": True}],
        ["BertNormalizer", "NFKC"],
        [replace(sign, f" {sign * 2}name of it ") for sign in "$%&/()=?@€"],  # one after the other, none of them twice
        [{"type": "Prepend", "prepend": "▁"}] * 256,
        [replace("a", "bb"), replace("b", "cc")] * 20,
    ],
)
def test_what_real_models_do_is_not(steps: list[Any]) -> None:
    if "Regex" in str(steps):
        pytest.importorskip("regex")
    text = "``a… $é\n"
    assert 0 < len(Normalizer(steps).apply(text)) <= 2048 * len(text)


@pytest.mark.parametrize("steps, most", [(kind, most) for kind, most in (growth._FORMS | growth._OTHERS).items()])
def test_how_long_one_character_becomes(steps: str, most: int) -> None:
    change = Normalizer(steps).apply
    assert max(len(change(chr(point))) for point in (*range(0xD800), *range(0xE000, 0x110000))) <= most


@pytest.mark.parametrize("steps, most", [(["NFC", "Lowercase", "NFD"], 4), (["NFKC", "Lowercase", "NFKD", "Lowercase"], 18)])
def test_forms_in_a_row_are_no_longer_than_one(steps: list[str], most: int) -> None:
    change = Normalizer(steps).apply
    assert max(len(change(chr(point))) for point in (*range(0xD800), *range(0xE000, 0x20000))) == most


STEPS = st.one_of(
    st.builds(replace, st.text("aAbé", min_size=1, max_size=2), st.text("aAbéﷺ", max_size=4)),
    st.builds(lambda content: {"type": "Prepend", "prepend": content}, st.text("aAé", max_size=2)),
    st.sampled_from(["NFC", "NFKD", "Lowercase", "StripAccents", "ByteLevel", "BertNormalizer", MAP, SENTENCEPIECE]),
)


@given(st.lists(STEPS, max_size=6), st.text("aAbéİﷺ中 ", min_size=1, max_size=4))
def test_no_text_becomes_longer_than_the_bound(steps: list[Any], text: str) -> None:
    old, growth._MOST = growth._MOST, 20
    try:
        made = Normalizer(steps)
    except ValueError:
        return
    finally:
        growth._MOST = old
    assert len(made.apply(text)) <= 20 * len(text)
