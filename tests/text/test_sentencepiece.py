"""sentencepiece's text: the kernel equals the reference, any map is searched safely, and sentencepiece itself agrees."""

import struct

import numpy as np
import pytest
from double_arrays import charsmap
from hypothesis import given, strategies as st
from reference.words import normalized
from tables import refuses

from ubpe_numba.text.sentencepiece import (
    BYTES,
    MOST_WORDS,
    UNKNOWN,
    WORDS,
    SentencePieceText,
    StandIns,
    read_charsmap,
)

TEXT = st.text(st.sampled_from(" abé▁\u3000ﬁ😀\ud800\u0301"), max_size=20)
RULES = st.dictionaries(
    st.text("abé\u3000ﬁ😀\u0301", min_size=1, max_size=4), st.text(" aé▁", max_size=4), max_size=6
)
FLAGS = st.fixed_dictionaries({name: st.booleans() for name in ("prefix", "suffix", "remove", "escape")})
NAMES = {
    "prefix": "add_dummy_prefix", "suffix": "treat_whitespace_as_suffix", "remove": "remove_extra_whitespaces",
    "escape": "escape_whitespaces",
}  # fmt: skip
ALL = {"add_dummy_prefix": True, "remove_extra_whitespaces": True, "escape_whitespaces": True}


@given(TEXT, RULES, st.lists(st.text(" abé▁", min_size=1, max_size=4), max_size=3), FLAGS)
def test_text_equals_the_reference(
    text: str, rules: dict[str, str], words: list[str], flags: dict[str, bool]
) -> None:
    step = SentencePieceText(
        charsmap(rules) if rules else b"", words, **{NAMES[name]: flag for name, flag in flags.items()}
    )
    want, origins = normalized(text, rules, words, **flags)
    assert step(text) == (want, origins)


def test_replacements_that_are_longer_than_the_room() -> None:
    for n in (60, 64):  # the most that the message says
        step = SentencePieceText(charsmap({"a": "x" * n}))
        assert step("aba" * 20)[0] == ("x" * n + "b" + "x" * n) * 20


@pytest.mark.parametrize("blob, message", [
    (b"abc", "the size of its trie"), (struct.pack("<I", 8) + bytes(4), "the size of its trie"),
    (struct.pack("<I", 6) + bytes(8), "the size of its trie"), (struct.pack("<I", 0) + bytes(8), "the size of its trie"),
    (struct.pack("<I", 4) + bytes(4) + b"\xff", "replacements: 'utf-8' codec"),
    (struct.pack("<I", 4) + bytes(4) + b"x\0" + b"y" * 65 + b"\0", "more than 64 characters"),
])  # fmt: skip
def test_a_blob_that_is_no_map_is_refused(blob: bytes, message: str) -> None:
    refuses(ValueError, message, read_charsmap, blob)


@given(
    st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=600),
    st.binary(max_size=20),
    st.text(max_size=30),
)
def test_any_trie_is_searched_within_its_bounds(units: list[int], texts: bytes, text: str) -> None:
    texts = bytes(b & 0x7F for b in texts)
    step = SentencePieceText(
        struct.pack("<I", 4 * len(units)) + struct.pack(f"<{len(units)}I", *units) + texts,
        remove_extra_whitespaces=True,
    )
    assert len(step(text)[0]) <= 21 * len(text)


def test_a_trie_that_leads_back_to_itself_ends() -> None:
    """Every byte leads back to the root, so that only the limit of a rule's length ends a search."""
    n = 256
    units = [0] * n
    for b in range(n):
        units[b] = (b << 10) | b | 256  # node 0: index ^ offset is 0 again
    step = SentencePieceText(struct.pack("<I", 4 * n) + struct.pack(f"<{n}I", *units) + b"y\0")
    # the unit of the value is a node: no replacement begins there
    assert step("a" * 100_000)[0].count("a") == 100_000


def test_many_documents_of_little_text() -> None:
    step, n = SentencePieceText(b"", **ALL), 1000
    for text in ("", "a", "a b"):
        found, want = (
            step.run(np.array([ord(c) for c in text * n], np.uint32), np.arange(n + 1) * len(text)),
            step(text)[0],
        )
        assert "".join(map(chr, found[0])) == want * n and found[1].tolist() == [
            len(want) * i for i in range(n + 1)
        ]


PRIVATE = st.text(st.sampled_from("abé中😀\ud800▁\U00100000\U0010fe41\U0010ff00"), max_size=20)


def plain(text: str, known: str, words: list[str], by_bytes: bool, fused: bool) -> list[tuple[int, int]]:
    """Every character, as a number, and where it comes from."""
    out: list[tuple[int, int]] = []
    i, last_unknown = 0, -1
    while i < len(text):
        word = max((word for word in words if text.startswith(word, i)), key=len, default="")
        if word:
            out.append((WORDS + words.index(word), i))
        elif text[i] in known:
            out.append((ord(text[i]), i))
        elif by_bytes:
            out += [(BYTES + byte, i) for byte in text[i].encode("utf-8", "surrogatepass")]
        else:
            if not (fused and last_unknown == i - 1 and i):
                out.append((UNKNOWN, i))
            last_unknown = i
        i += len(word) or 1
    return out


@given(
    PRIVATE,
    st.lists(st.text("abé▁", min_size=1, max_size=3), max_size=3, unique=True),
    st.booleans(),
    st.booleans(),
)
def test_placeholders_equal_a_plain_loop(text: str, words: list[str], by_bytes: bool, fused: bool) -> None:
    step = StandIns("abé", words, by_bytes=by_bytes, fused=fused, unknown="?")
    done, origins = step(text)
    assert list(zip(map(ord, done), origins, strict=True)) == plain(text, "abé", words, by_bytes, fused)
    if by_bytes and not any("▁" in word for word in words):
        assert step.restore(done, "surrogatepass") == text


def test_characters_that_stand_for_something_are_refused() -> None:
    for char, words, by_bytes in (
        ("\U00100000", ["x"], False),
        ("\U0010fe41", [], True),
        ("\U0010ff00", [], False),
    ):
        refuses(
            ValueError, rf"U\+{ord(char):04X} is reserved", StandIns, "a" + char, words, by_bytes=by_bytes
        )
    known = "a\U00100001\U0010d592\U0010fe03"  # those that nothing stands for are characters like others
    step = StandIns(known, ["x"], unknown="?")
    assert step(known + "x\U00100000\U0010ff00b")[0] == known + "\U00100000" + "\U0010ff00" * 3
    assert step.restore(step(known + "x\U00100000\U0010ff00b")[0]) == known + "x???"
    refuses(ValueError, f"at most {MOST_WORDS}", StandIns, "a", ["x"] * (MOST_WORDS + 1))
    assert StandIns("", [])("") == ("", [])
