r"""Splitters: pieces equal to those of the package tokenizers, for every step, sequences of them, and random text."""

import json
import pickle
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from tables import refuses

from ubpe_numba.errors import ModelFormatError
from ubpe_numba.text.characters import bytes_of
from ubpe_numba.text.patterns import NAMED, published_steps
from ubpe_numba.text.splitter import Splitter, split_text

BEHAVIORS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
STEPS: list[dict[str, Any]] = [
    *({"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}
      for pattern in ({"String": " "}, {"Regex": r"\p{N}{1,3}"}, {"Regex": r"\s+|a"})
      for behavior in BEHAVIORS for invert in (False, True)),
    *({"type": "Punctuation", "behavior": behavior} for behavior in BEHAVIORS),
    *({"type": "Digits", "individual_digits": alone} for alone in (False, True)),
    *({"type": kind} for kind in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer")),
    {"type": "CharDelimiterSplit", "delimiter": "-"},
    *({"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": regex}
      for prefix in (False, True) for regex in (False, True)),
    *({"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split}
      for scheme in ("always", "first", "never") for split in (False, True)),
]  # fmt: skip
TEXT = st.text(
    st.sampled_from("aAb   \t\n\x1c\x85\xa0é\u0301'-.,!$_+\u20ac«»²½٣12345\u4e2d\u2581\u200d\U0001f469"),
    max_size=16,
)


def theirs(steps: list[dict[str, Any]]) -> Any:
    tokenizers = pytest.importorskip("tokenizers")
    model = {"type": "BPE", "vocab": {"a": 0}, "merges": []}
    step = {"type": "Sequence", "pretokenizers": steps}
    return tokenizers.Tokenizer.from_str(
        json.dumps({"version": "1.0", "pre_tokenizer": step, "model": model})
    ).pre_tokenizer


@example(text="aé 1", steps=[STEPS[-7]])
@given(
    text=TEXT,
    steps=st.lists(st.sampled_from(STEPS), max_size=4) | st.sampled_from(STEPS).map(lambda step: [step]),
)
def test_sequences_as_the_package_tokenizers(text: str, steps: list[dict[str, Any]]) -> None:
    kinds = [step["type"] for step in steps]
    if "ByteLevel" in kinds and {"ByteLevel", "Metaspace"} & {*kinds[kinds.index("ByteLevel") + 1 :]}:
        refuses(ValueError, "after a ByteLevel step", Splitter, steps)
        return
    expected = [piece for piece, _ in theirs(steps).pre_tokenize_str(text)]
    mine = Splitter(steps)
    assert mine.pieces(text) == [piece for piece in expected if piece]
    check(mine, text)


def check(mine: Splitter, text: str) -> None:
    """Origins are those of the characters, arrays are cut as the text is, and what only cuts cuts arrays alike."""
    pieces = mine.pieces(text)
    traced = mine.traced(text)
    assert [piece for piece, _ in traced] == pieces
    for piece, origins in traced:
        assert (
            len(origins) == len(piece)
            and all(0 <= i < len(text) for i in origins)
            and origins == sorted(origins)
        )
    data = np.frombuffer(text.encode(), np.uint8)
    values, _, segments, came = split_text(mine, data, np.array([0, data.size]), np.array([True]), True)
    parts = [bytes_of(piece) if mine.bytewise else piece.encode() for piece in pieces]
    assert values.tobytes() == b"".join(parts) and np.diff(segments).tolist() == [*map(len, parts)]
    assert came is not None and came.size == values.size
    if mine.is_lossless:
        assert values.tobytes() == data.tobytes() and came.tolist() == sorted(came.tolist())
    if mine.cutters is not None:
        assert mine.split(data, np.unique([0, data.size])).tolist() == np.unique(segments).tolist()


def test_texts_after_the_first_do_not_begin_a_document() -> None:
    mine = Splitter({"type": "Metaspace", "prepend_scheme": "first"})
    assert (mine.pieces("a b"), mine.pieces("a b", at_start=False)) == (["▁a", "▁b"], ["a", "▁b"])


def test_every_character_is_of_the_unicode_of_the_package() -> None:
    chars = [*map(chr, range(0xD800)), *map(chr, range(0xE000, 0x32000))]
    digits, delimiter = (
        {"type": "Digits", "individual_digits": True},
        {"type": "CharDelimiterSplit", "delimiter": "\U00016ea0"},
    )
    for step in (digits, delimiter, {"type": "Whitespace"}, {"type": "WhitespaceSplit"}):
        split, mine = theirs([step]).pre_tokenize_str, Splitter(step)
        for i in range(0, len(chars), 256):
            text = "".join(f"a{char}a " for char in chars[i : i + 256])
            assert mine.pieces(text) == [piece for piece, _ in split(text) if piece], hex(ord(chars[i]))


def test_old_metaspace() -> None:
    old = Splitter({"type": "Metaspace", "replacement": "▁", "add_prefix_space": False, "str_rep": "▁"})
    assert old == Splitter({"type": "Metaspace", "prepend_scheme": "never"})


def test_state_and_pickle() -> None:
    assert Splitter.from_state(long(5993, 5993)).is_lossless  # of these two sizes 12,000 together
    texts = [step for step in STEPS if step["type"] not in ("ByteLevel", "Metaspace")]
    nested = {"type": "Sequence", "pretokenizers": [{"type": "Sequence", "pretokenizers": []}, "Digits"]}
    made = Splitter([*STEPS[-6:], *texts, STEPS[-8], nested])
    again = Splitter.from_state(json.loads(json.dumps(made.state())))
    assert again == made == pickle.loads(pickle.dumps(made)) and hash(again) == hash(made)


def long(*sizes: int) -> list[dict[str, Any]]:
    return [{"type": "Split", "pattern": {"Regex": f"a{{{size}}}"}, "behavior": "Isolated"} for size in sizes]


@pytest.mark.parametrize("state, message", [
    (5, "expected steps"), ({"type": "Split", "pattern": {"Regex": ""}, "behavior": "Isolated"}, "the pattern is empty"),
    ({"type": "Split", "pattern": {"Regex": "a"}, "behavior": "isolated"}, "behavior: expected one of Removed"),
    ({"type": "Digits", "individual_digits": 1}, "individual_digits: expected true or false"),
    ({"type": "Metaspace", "replacement": "ab"}, "replacement: expected a character"),
    ({"type": "Metaspace", "prepend_scheme": "last"}, "prepend_scheme: expected one of always"),
    ({"type": "FixedLength", "length": 0}, "expected a positive integer"), (["Digits"] * 65, "at most 64 steps"),
    ({"type": "Split", "pattern": {"Regex": "a{999999999}"}, "behavior": "Isolated"}, "repeats too often"),
    (long(5993, 5994), "Split: all patterns together are too long, or repeat too often"),
    ([{"type": "Marks", "inside": "x", "end": "y"}] * 2, "Marks: expected at most one such step"),
    (["ByteLevel", "Metaspace"], "after a ByteLevel step there can only be steps that cut"),
])  # fmt: skip
def test_hostile_states(state: Any, message: str) -> None:
    refuses(ModelFormatError, message, Splitter.from_state, state)


def test_published_patterns_are_cut_by_kernels_or_regex() -> None:
    for name in NAMED:
        steps = [
            {"type": "Split", "pattern": {"Regex": step}, "behavior": "Isolated"}
            for step in published_steps(name)
        ]
        assert (
            Splitter([*steps, {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}]).cutters
            is not None
        )


def test_a_pattern_that_does_not_end_is_named() -> None:
    """By the package tokenizers, whose engine gives up."""
    pytest.importorskip("tokenizers")
    step = {"type": "Split", "pattern": {"Regex": "(?:a|aa)+b"}, "behavior": "MergedWithNext"}
    with pytest.raises(
        ValueError, match=r"pre_tokenizer: Split: '.*' takes too long on 'a{16}\.{3}, 5000 characters"
    ):
        Splitter(step).pieces("a" * 5000)


ILL = st.lists(st.one_of(TEXT.map(str.encode), st.binary(max_size=3)), max_size=5).map(b"".join)


@given(
    data=ILL,
    steps=st.lists(st.sampled_from([step for step in STEPS if step["type"] != "ByteLevel"]), max_size=3),
)
def test_ill_formed_bytes_are_characters_without_a_class(data: bytes, steps: list[dict[str, Any]]) -> None:
    """As another text without any, whose characters U+10FFFF stand for them."""
    pytest.importorskip("tokenizers")
    text = data.decode("utf-8", "surrogateescape").replace("\U0010ffff", "")
    plain = re.sub("[\udc80-\udcff]", "\U0010ffff", text)
    mine = Splitter(steps)
    assert [re.sub("[\udc80-\udcff]", "\U0010ffff", piece) for piece in mine.pieces(text)] == mine.pieces(
        plain
    )
    assert [came for _, came in mine.traced(text)] == [came for _, came in mine.traced(plain)]
