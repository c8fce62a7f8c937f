"""Patterns of other libraries: cut as by their engines, on random patterns and texts, or refused by the name of a sign."""

import re
from random import Random
from typing import Any

import numpy as np
import pytest
from tables import refuses

import ubpe_numba
from ubpe_numba.text.dialect import left_out, portable
from ubpe_numba.text.patterns import NAMED, VERSION_OF_OTHERS
from ubpe_numba.text.pretokenizer import Pretokenizer

regex = pytest.importorskip("regex")
BYTES = {bytes([byte]): byte for byte in range(256)}
CHARACTERS = [*"aabbAkKsSIiſ\u212aÉé中漢か 1２½\n\r\t'.-&~^|[]#\u0301İıß", "  ", "ab", "  \n"]
COMMON = [
    *"abskIi' .é中1-",
    r"\n",
    r"\.",
    r"\d",
    r"\s",
    r"\S",
    r"\p{L}",
    r"\p{N}",
    r"\P{L}",
    r"[\s\S]",
    ".",
    r"\'",
    "&&",
    "ſ",
]
MEMBERS = [
    *"abks~ |#é",
    "a-c",
    "A-K",
    "0-9",
    r"\d",
    r"\s",
    r"\S",
    r"\p{L}",
    r"\P{L}",
    r"\p{Lu}",
    r"\p{Han}",
    r"\p{^N}",
    r"\n",
]
MEMBERS += [r"\]", r"\-"]
REPEATS = [
    "*",
    "+",
    "?",
    "+?",
    "*?",
    "??",
    "{1,3}",
    "{2}",
    "++",
    "*+",
    "?+",
    "{2,}",
    "{1,2}",
    "{1,2}+",
    "{1,3}?",
]
RUST = [*COMMON, r"\w", r"\W", "^", "$", r"\b", r"\B", r"\A", r"\z", r"\x{e9}", "}", "]"]
RUST_MEMBERS = [*MEMBERS, *"&-^", r"\w", r"\W", r"\x61", r"\u{4e2d}", r"\v", r"\pN"]
FOLDED = ["(?i:'s|'t|'re|'ve|'m|'ll|'d)", "(?i:k)", "(?i:s|a)", "(?i:ab|k)"]


def a_set(rng: Random, rust: bool, depth: int = 0) -> str:
    members = RUST_MEMBERS if rust else MEMBERS
    made = "[" + "^" * (rng.random() < 0.25)
    for _ in range(rng.randint(1, 4)):
        nested = rust and depth < 2 and rng.random() < 0.15
        made += a_set(rng, rust, depth + 1) if nested else rng.choice(members)
        if rust and rng.random() < 0.12:
            made += rng.choice(["&&", "--", "~~"]) + (
                a_set(rng, rust, depth + 1) if depth < 2 else rng.choice(members)
            )
    return made + "]"


def a_part(rng: Random, rust: bool, depth: int) -> str:
    kind = rng.random()
    if kind < 0.5 or depth > 3:
        return rng.choice(RUST if rust else COMMON)
    if kind < 0.7:
        return a_set(rng, rust)
    if kind < 0.76:
        return rng.choice(FOLDED)
    groups = [
        "(",
        "(?:",
        "(?:",
        "(?=",
        "(?!",
        "(?<=",
        "(?<!",
        *(["(?i:", "(?s:", "(?>", "(?-i:", "(?<n>"] if rust else []),
    ]
    return rng.choice(groups) + a_pattern(rng, rust, depth + 1) + ")"


def a_pattern(rng: Random, rust: bool, depth: int = 0) -> str:
    branches = []
    for _ in range(rng.randint(1, 4)):
        parts = [
            a_part(rng, rust, depth) + rng.choice([*REPEATS, *[""] * 30]) for _ in range(rng.randint(1, 4))
        ]
        branches.append(rng.choice(["(?i)", "(?s)", *[""] * 30]) * rust + "".join(parts))
    return "|".join(branches)


def of_tiktoken(pattern: str, texts: list[str]) -> list[list[str]]:
    """The segments of texts: each part of a text is a token, so that a segment becomes one."""
    ranks = dict(BYTES)
    for data in (text.encode() for text in texts):
        for i in range(len(data)):
            for j in range(i + 2, len(data) + 1):
                ranks.setdefault(data[i:j], len(ranks))
    peer = pytest.importorskip("tiktoken")
    encoding = peer.Encoding("x", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return [
        [encoding.decode_single_token_bytes(i).decode() for i in encoding.encode_ordinary(text)]
        for text in texts
    ]


def random_cases(rust: bool, n: int) -> Any:
    """Patterns that are read here, as they are and as `regex` has them, and texts."""
    rng = Random(7)
    while n:
        pattern = a_pattern(rng, rust)
        try:
            made = regex.compile(portable(pattern, not rust))
        except (ValueError, regex.error):
            continue
        n -= 1
        yield pattern, made, ["".join(rng.choices(CHARACTERS, k=rng.randint(1, 9))) for _ in range(20)]


def test_random_patterns_match_as_in_tiktoken() -> None:
    compared = 0
    for pattern, made, texts in random_cases(True, 250):
        try:
            want = of_tiktoken(pattern, texts)
        except ValueError:  # no pattern for tiktoken
            continue
        assert [made.findall(text) for text in texts] == want, pattern
        compared += 1
    assert compared > 180


def test_random_patterns_cut_as_in_tokenizers() -> None:
    theirs = pytest.importorskip("tokenizers")
    compared = 0
    for pattern, made, texts in random_cases(False, 250):
        assert portable(pattern) == portable(pattern, oniguruma=True)
        try:
            split = theirs.pre_tokenizers.Split(theirs.Regex(pattern), "isolated")
        except Exception:  # no pattern for tokenizers
            continue
        for text in texts:
            want = {0, len(text), *(at for _, span in split.pre_tokenize_str(text) for at in span)}
            found = {at for match in made.finditer(text) for at in match.span()}
            assert found | {0, len(text)} == want, (pattern, text)
        compared += 1
    assert compared > 180


_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]"
KIMI = "|".join([  # as it is published
    r"[\p{Han}]+", rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*(?i:'s|'t|'re|'ve|'m|'ll|'d)?", r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n]*",
    r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+",
])  # fmt: skip
MEANT = [
    KIMI, r"[a-z--[aeiou]]+|[\s\S]", r"[a-z~~c-f]+|[\s\S]", r"[^a-z&&[^aeiou]]+|[\s\S]", r"\s+$|[\s\S]", r"b$|[\s\S]+?",
    r"(?i:[a-z]+|[\s\S])", r"(?i)kis|[\s\S]", r"[--a]+|[\s\S]", r"[]a]+|[\s\S]", r"[^\w\W]|[\s\S]", r"\p{N}{1,3}+|[\s\S]",
    r"a(?i)b|A|[\s\S]", r"(?<n>ab)+|[\s\S]", r"[!-\[]+|[\s\S]",
]  # fmt: skip


@pytest.mark.parametrize("pattern", MEANT)
def test_a_pattern_means_what_it_means_in_tiktoken(pattern: str) -> None:
    """Read from an object of tiktoken, given to a tokenizer, and as the pattern of ranks."""
    rng = Random(3)
    texts = [
        "(kana漢字)it's",
        "mixed words",
        "abc & def",
        "ab\n",
        *("".join(rng.choices(CHARACTERS, k=12)) for _ in range(20)),
    ]
    want = of_tiktoken(pattern, texts)
    pairs = sorted({data[i : i + 2] for data in map(str.encode, texts) for i in range(len(data) - 1)})
    ranks = BYTES | {pair: 256 + i for i, pair in enumerate(pairs)}
    theirs = pytest.importorskip("tiktoken").Encoding(
        "x", pat_str=pattern, mergeable_ranks=ranks, special_tokens={}
    )
    loaded = ubpe_numba.load(theirs)
    assert Pretokenizer(pattern).name == ("kimi" if pattern is KIMI else None)
    for text, parts in zip(texts, want, strict=True):
        data = np.frombuffer(text.encode(), np.uint8)
        cuts = Pretokenizer(pattern, VERSION_OF_OTHERS).split(data, np.array([0, data.size])).tolist()
        assert [data[a:b].tobytes().decode() for a, b in zip(cuts[:-1], cuts[1:], strict=True)] == parts
        assert loaded.encode(text).tolist() == theirs.encode_ordinary(text)


REFUSED = [
    (r"(?x) a b", r"'\(\?x\)'"), (r"(?m)^a", r"'\(\?m\)'"),
    (r"[[:alpha:]]+", r"'\[:' is not read as by tiktoken; write the characters"),
    (r"\h+", r"h' is not read as by tiktoken; write \["), (r"a\Z", "Z'"), (r"(a)\1", "1'"), (r"a{2}{3}", r"'\{3\}'"),
    (r"a{e<=1}", r"'\{'"), (r"(*SKIP)a", r"'\(\*S'"), (r"\p{Foo}", "Foo"), (r"[a&&]", "'&&]'"),
    (r"(?i:é)", "without regard to case only ASCII"), (r"(?i:\p{L})", "L"), (r"a*", "it may match nothing"),
    (r"(?:a?)+b", "repeats what may match nothing"), (r"(a(?i)b)c", r"'\(\?i\)'"), (r"\<a", "<'"), (r"a(?=b)*c", r"'\*'"),
    ("(?:" * 60 + "a" + ")" * 60, r"'\(\?:'"), ("[a" * 60 + "]" * 60, r"'a\['"), (r"[\d-a]", "d-a"), (r"[a", r"'\['"),
    (r"\x{d800}", "d800"), (r"[!-[a]]", "'!-"), (r"(?<=1*+a)b", r"'\*\+'"),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "told"), REFUSED, ids=[pattern[:12] for pattern, _ in REFUSED])
def test_what_is_not_followed_is_refused_by_name(pattern: str, told: str) -> None:
    refuses(ValueError, told, Pretokenizer, pattern)
    refuses(ValueError, told, portable, pattern)


def test_a_pattern_that_leaves_text_out_is_refused_as_one_of_tiktoken() -> None:
    """Such text is dropped there; given by the user the pattern keeps it."""
    peer = pytest.importorskip("tiktoken")
    for pattern, char in ((r"\p{N}", r"\x00"), (r"\w+|\s+(?!x)|[^\w\s]", r"\t")):
        made = peer.Encoding("x", pat_str=pattern, mergeable_ranks=BYTES, special_tokens={})
        with pytest.raises(
            ValueError,
            match=re.escape(f"{pattern!r} may match nothing at '{char}': tiktoken drops such text"),
        ):
            ubpe_numba.load(made)
        assert ubpe_numba.load(made, pretokenizer=pattern).encode("a 1").tolist() == [97, 32, 49]
    for pattern in (NAMED["kimi"], r"\X"):
        assert not left_out(pattern)
