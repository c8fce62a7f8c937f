"""Patterns of the engine of Hugging Face: they match the same here, or are refused."""

from __future__ import annotations

import itertools

import pytest
import regex

from ubpe_numba.text import oniguruma
from ubpe_numba.text.patterns import NAMED
from ubpe_numba.text.splitter import Splitter

ALIKE = [
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    r"\p{N}{1,3}+", r"a{0,2}+b|a", r"\s+$|\s", r"^a|a$|[^a$]\$|b", r"[\]$]+|a{1,2}+", r"\p{N}{2}", "a{2,3}", r"a{,1}",
    r"\w+|[^\w\s]+", r"\W", r"[\w$]+", r"[^\w\-]", r"\b", r"\B", r"a\b", r"\h+", r"\H", r"[\hb]", r"\R", r"a\z", r"a\Z", r"\Aa",
    r"[^(\s|[1.])]+", r"[a[b]$]", r"[[:alpha:]]", r"[^[:space:]a]", r"(?m:a.)", r"^", "$", r"\n|$", "x*", "b*", r"(?=a)",
    r"[1-9\d-]", r"a{0,1}?b", r"\x{61}|\x31", r"\u0062", r"(?i)A", r"(?i:A|b)$", r"(?>a+)1", r"\p{^L}", r"\P{L}",
    r"[\p{Han}$]", r"[.-]", r"(?<!a)b", r"[-\w]+",
    r"[^-a]", r"[-$-b]",
]  # fmt: skip
REFUSED = [
    r"\X", r"\G", r"\K", r"(?<x>a)\k<x>", r"\m", r"[a&&b]", r"[\w--\d]", r"[^a[^b]]", r"[]a]", r"[[:punct:]]", r"\p{Punct}",
    r"a(?i)b", r"(?i:ss)", r"(?i:[a-z])", r"(?i)é", r"(?x: a)", r"(?~a)", r"a{2,3}+", r"a{2}+", r"a{2}?", r"(*FAIL)", "[a", "\\",
]  # fmt: skip


@pytest.mark.parametrize("pattern", ALIKE)
@pytest.mark.parametrize("behavior", ["isolated", "merged_with_next"])
def test_texts_are_cut_as_there(pattern: str, behavior: str) -> None:
    theirs = pytest.importorskip("tokenizers")
    cutter = theirs.pre_tokenizers.Split(theirs.Regex(pattern), behavior)
    named = {"isolated": "Isolated", "merged_with_next": "MergedWithNext"}[behavior]
    mine = Splitter({"type": "Split", "pattern": {"Regex": pattern}, "behavior": named})
    for letters, n in (("a1$ \nb", 4), ("aé½\u200d中語", 3)):
        for text in map("".join, itertools.product(letters, repeat=n)):
            assert mine.pieces(text) == [piece for piece, _ in cutter.pre_tokenize_str(text)], text


@pytest.mark.parametrize("pattern", REFUSED)
def test_what_may_be_read_otherwise_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="Oniguruma|class"):
        oniguruma.as_regex(pattern)


@pytest.mark.parametrize("name", NAMED)
def test_published_patterns_stay_as_they_are(name: str) -> None:
    assert oniguruma.as_regex(NAMED[name]) == NAMED[name]


@pytest.mark.parametrize("pattern", [r"\w", r"\h", r"\d", r"\s", r"\p{L}", r"\p{P}", "[[:alpha:]]"])
def test_every_character(pattern: str) -> None:
    """Of the version of Unicode that the engine has."""
    theirs = pytest.importorskip("tokenizers")
    cutter = theirs.pre_tokenizers.Split(theirs.Regex(pattern), "removed")
    compiled = regex.compile(oniguruma.as_regex(pattern))
    for begin in range(0, 0x110000, 0x2000):
        text = "".join(chr(point) for point in range(begin, begin + 0x2000) if not 0xD800 <= point < 0xE000)
        kept = {at for _, (start, end) in cutter.pre_tokenize_str(text) for at in range(start, end)}
        assert {start for start, _ in oniguruma.spans(compiled, text)} == set(range(len(text))) - kept, hex(begin)


@pytest.mark.parametrize("pattern", ["(?i)[a-z]", "(?i:a[b-c])", "(?i:(a)[[b]-c])", r"(?i)[\-a]", "(?i:(?-i:[a-z]))"])
def test_ranges_in_any_case_are_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="in any case is read otherwise by Oniguruma"):
        oniguruma.as_regex(pattern)


@pytest.mark.parametrize("pattern", ["(?i:a)[a-z]", "(?i:(a)(?:b))[a-z]", "(?:(?i:a)[b-c])", r"(?i)\[a-c", "(?i)[abc]-d"])
def test_ranges_where_case_matters_are_read(pattern: str) -> None:
    assert oniguruma.as_regex(pattern) == pattern


def test_many_brackets_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 3000 brackets in any case: what is searched for has no loop that starts anew at each of them."""
    assert "*" not in oniguruma._FOLDED.pattern and "+" not in oniguruma._FOLDED.pattern
    looked = []
    plain = oniguruma._check_folded
    monkeypatch.setattr(oniguruma, "_check_folded", lambda part: (looked.append(len(part)), plain(part))[1])
    pattern = "(?i:" + "(" * 500 + "a" + ")" * 501
    assert oniguruma.as_regex(pattern) == pattern and sum(looked) < len(pattern)
