"""sentencepiece's text: the kernel equals the reference, any map is searched safely, and sentencepiece itself agrees."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from double_arrays import charsmap
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.sentencepiece_text import normalized

from ubpe_numba.text.sentencepiece import CharsMap, SentencePieceText

TEXT = st.text(st.sampled_from(" abé▁\u3000ﬁ😀\ud800\u0301"), max_size=20)
RULES = st.dictionaries(st.text("abé\u3000ﬁ😀\u0301", min_size=1, max_size=4), st.text(" aé▁", max_size=4), max_size=6)
FLAGS = st.fixed_dictionaries({name: st.booleans() for name in ("prefix", "suffix", "remove", "escape")})
NAMES = {
    "prefix": "add_dummy_prefix",
    "suffix": "treat_whitespace_as_suffix",
    "remove": "remove_extra_whitespaces",
    "escape": "escape_whitespaces",
}
ALL = {"add_dummy_prefix": True, "remove_extra_whitespaces": True, "escape_whitespaces": True}


@settings(max_examples=300)
@given(TEXT, RULES, st.lists(st.text(" abé▁", min_size=1, max_size=4), max_size=3), FLAGS)
def test_text_equals_the_reference(text: str, rules: dict[str, str], words: list[str], flags: dict[str, bool]) -> None:
    step = SentencePieceText(charsmap(rules) if rules else b"", words, **{NAMES[name]: flag for name, flag in flags.items()})
    want, origins = normalized(text, rules, words, **flags)
    assert step.traced(text) == (want, origins)
    assert step.apply(text) == want


def test_replacements_that_are_longer_than_the_room() -> None:
    step = SentencePieceText(charsmap({"a": "x" * 60}))
    assert step.apply("aba" * 20) == ("x" * 60 + "b" + "x" * 60) * 20


@pytest.mark.parametrize(
    "blob, message",
    [
        (b"abc", "the size of its trie"),
        (struct.pack("<I", 8) + bytes(4), "the size of its trie"),
        (struct.pack("<I", 6) + bytes(8), "the size of its trie"),
        (struct.pack("<I", 2**32 - 1) + bytes(8), "the size of its trie"),
        (struct.pack("<I", 0) + bytes(8), "the size of its trie"),
        (struct.pack("<I", 4) + bytes(4) + b"\xff", "replacements: 'utf-8' codec"),
        (struct.pack("<I", 4) + bytes(4) + b"x" * 80, "more than 64 characters"),
        (struct.pack("<I", 4) + bytes(4) + b"x\0" + b"y" * 65 + b"\0", "more than 64 characters"),
    ],
)
def test_a_blob_that_is_no_map_is_refused(blob: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CharsMap.of(blob)


@settings(max_examples=200)
@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=600), st.binary(max_size=20), st.text(max_size=30))
def test_any_trie_is_searched_within_its_bounds(units: list[int], texts: bytes, text: str) -> None:
    texts = bytes(b & 0x7F for b in texts)
    step = SentencePieceText(
        struct.pack("<I", 4 * len(units)) + struct.pack(f"<{len(units)}I", *units) + texts, remove_extra_whitespaces=True
    )
    assert len(step.apply(text)) <= 21 * len(text)


def test_a_trie_that_leads_back_to_itself_ends() -> None:
    """Every byte leads back to the root, so that only the limit of a rule's length ends a search."""
    n = 256
    units = [0] * n
    for b in range(n):
        units[b] = (b << 10) | b | 256  # node 0: index ^ offset is 0 again
    step = SentencePieceText(struct.pack("<I", 4 * n) + struct.pack(f"<{n}I", *units) + b"y\0")
    assert step.apply("a" * 100_000).count("a") == 100_000  # the unit of the value is a node: no replacement begins there


def test_maps_of_sentencepiece_itself() -> None:
    """Every character of its own map of normal forms, and random texts."""
    sentencepiece = pytest.importorskip("sentencepiece")
    norm = sentencepiece.SentencePieceNormalizer(rule_name="nmt_nfkc")
    if not hasattr(norm, "serialized_model_proto"):
        pytest.skip("this version does not give its map")
    from ubpe_numba.formats.protobuf import Messages

    blob = Messages.of(norm.serialized_model_proto(), 100).inside(3, 100).strings(2)[0]
    step = SentencePieceText(blob, **ALL)
    rng = np.random.default_rng(0)
    points = np.concatenate([np.arange(0xD800), np.arange(0xE000, 0x30000), np.arange(0xE0000, 0xE0200)])
    for a in range(0, points.size, 997):
        text = "a".join(map(chr, points[a : a + 997].tolist()))
        assert step.apply(text) == norm.normalize(text)
    for _ in range(200):
        text = "".join(map(chr, rng.choice(points[: 0x3000 if rng.random() < 0.5 else None], rng.integers(1, 60)).tolist()))
        assert step.apply(text) == norm.normalize(text)


def test_a_replacement_of_as_many_characters_as_the_message_says() -> None:
    step = SentencePieceText(charsmap({"a": "x" * 64}))
    assert step.apply("aba") == "x" * 64 + "b" + "x" * 64


@pytest.mark.parametrize("text", ["", "a", "a b"])
def test_many_documents_of_little_text(text: str) -> None:
    step, n = SentencePieceText(b"", **ALL), 1000
    points = np.array([ord(c) for c in text * n], np.uint32)
    found = step.run(points, np.arange(n + 1) * len(text))
    want = step.apply(text)
    assert "".join(map(chr, found[0])) == want * n and found[1].tolist() == [len(want) * i for i in range(n + 1)]
