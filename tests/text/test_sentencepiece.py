"""sentencepiece's text: the kernel equals the reference, any map is searched safely, and sentencepiece itself agrees."""

from __future__ import annotations

import struct
import unicodedata

import numpy as np
import pytest
from double_arrays import charsmap
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.sentencepiece_text import normalized

from ubpe_numba.text.sentencepiece import CharsMap, Precompiled, SentencePieceText
from ubpe_numba.text.unicode_of_tokenizers import cluster_kinds, map_of_everything

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
    assert step.growth == 60


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


def test_maps_as_tokenizers_applies_them() -> None:
    """Every character of sentencepiece's map between others, and random texts of marks and what they stand on."""
    sentencepiece, tokenizers = pytest.importorskip("sentencepiece"), pytest.importorskip("tokenizers")
    from ubpe_numba.formats.protobuf import Messages

    proto = sentencepiece.SentencePieceNormalizer(rule_name="nmt_nfkc").serialized_model_proto()
    blob = Messages.of(proto, 100).inside(3, 100).strings(2)[0]
    step, peer = Precompiled(blob), tokenizers.normalizers.Precompiled(blob)
    points = np.concatenate([np.arange(0xD800), np.arange(0xE000, 0x20000)])
    for a in range(0, points.size, 997):
        text = "a".join(map(chr, points[a : a + 997].tolist()))
        assert step.apply(text) == peer.normalize_str(text)
    rng = np.random.default_rng(0)
    marks = [c for c in points.tolist() if unicodedata.category(chr(c))[0] == "M" or c in (0x200D, 0x600, 13, 10, 0xE33)]
    for _ in range(1000):
        text = "".join(chr(int(rng.choice(marks if rng.random() < 0.5 else points[:0x2100]))) for _ in range(20))
        assert step.apply(text) == peer.normalize_str(text), [hex(ord(c)) for c in text]
        assert step.traced(text)[0] == step.apply(text)


def test_marks_that_this_python_does_not_know() -> None:
    """Marks of Unicode 15 and later belong to the cluster before them, with any release of Python."""
    step = Precompiled(charsmap({"A": "a"}))
    for point in (0x301, 0x897, 0xCF3, 0xECE, 0x1ACF, 0x10D69, 0x10EFA):
        assert step.apply("A" + chr(point)) == "a"
    assert step.apply("A\u200bB") == "a\u200bB"


def test_clusters_are_those_of_tokenizers() -> None:
    """By a map that shows them: every character behind another and before one, and random texts of all kinds."""
    tokenizers = pytest.importorskip("tokenizers")
    step, peer = Precompiled(map_of_everything()), tokenizers.normalizers.Precompiled(map_of_everything())
    points = [*range(1, 0xD800), *range(0xE000, 0x110000)]
    for apart in ("A", "A\u0301\u0301"):
        text = apart.join(map(chr, points))
        assert step.apply(text) == peer.normalize_str(text)
    kinds = cluster_kinds()
    rng = np.random.default_rng(0)
    some = [np.flatnonzero(kinds[1:0xD800] == kind) + 1 for kind in range(kinds.max() + 1)]
    some += [np.flatnonzero(kinds[0x10000:] == kind) + 0x10000 for kind in np.unique(kinds[0x10000:])]
    some += [np.flatnonzero(kinds[1:0x800] == kind) + 1 for kind in np.unique(kinds[1:0x800])]
    some += [np.arange(0x1F1E6, 0x1F200), np.array([10, 13])]  # flags of countries, and what ends lines
    for _ in range(20_000):
        text = "".join(chr(int(rng.choice(some[i]))) for i in rng.integers(0, len(some), 12))
        assert step.apply(text) == peer.normalize_str(text), [hex(ord(c)) for c in text]


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
