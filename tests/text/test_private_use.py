"""Characters that stand for words, bytes and the unknown: the kernel equals a plain loop, and text comes back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubpe_numba.text.private_use import BYTES, MOST_WORDS, UNKNOWN, WORDS, StandIns

TEXT = st.text(st.sampled_from("abé中😀\ud800▁\U00100000\U0010fe41\U0010ff00"), max_size=20)


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


@given(TEXT, st.lists(st.text("abé▁", min_size=1, max_size=3), max_size=3, unique=True), st.booleans(), st.booleans())
def test_text_equals_a_plain_loop(text: str, words: list[str], by_bytes: bool, fused: bool) -> None:
    step = StandIns("abé", words, by_bytes=by_bytes, fused=fused, unknown="?")
    done, origins = step.traced(text)
    assert list(zip(map(ord, done), origins, strict=True)) == plain(text, "abé", words, by_bytes, fused)
    assert step.apply(text) == done
    if by_bytes and not any("▁" in word for word in words):
        assert step.restore(done, "surrogatepass") == text


def test_characters_that_stand_for_something_are_refused() -> None:
    for char, words, by_bytes in (("\U00100000", ["x"], False), ("\U0010fe41", [], True), ("\U0010ff00", [], False)):
        with pytest.raises(ValueError, match=rf"U\+{ord(char):04X} is needed"):
            StandIns("a" + char, words, by_bytes=by_bytes)
    step = StandIns("a\U00100001", ["x"])  # which stands for no word
    assert step.restore(step.apply("x\U00100001a")) == "x\U00100001a"
    with pytest.raises(ValueError, match=f"at most {MOST_WORDS}"):
        StandIns("a", ["x"] * (MOST_WORDS + 1))
    assert StandIns("", []).apply("") == ""


def test_private_characters_of_the_model() -> None:
    """Those that nothing stands for are characters like others: real models have some."""
    known = "a\U00100001\U0010d592\U0010fe03"
    step = StandIns(known, ["x"], unknown="?")
    text = known + "x\U00100000\U0010ff00b"
    assert step.apply(text) == known + "\U00100000" + "\U0010ff00" * 3
    assert step.restore(step.apply(text)) == known + "x???"
