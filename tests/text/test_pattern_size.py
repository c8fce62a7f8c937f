"""How large patterns become when repeats are written out: never less than the engine makes of them."""

from __future__ import annotations

import pytest

from ubpe_numba.text.pattern_size import size_of
from ubpe_numba.text.patterns import NAMED


@pytest.mark.parametrize(
    ("pattern", "signs"),
    [
        ("", 0), ("abc", 3), (r"\p{N}{3}", 6), ("a{3,}b", 4), ("a{0,9}", 1), ("a{0}", 1), ("(a{3}b){2}", 8),
        ("(a{3}b){2,5}+c", 9),
        ("((a{9}){9}){9}", 729), (r"\(a\){5}", 7), ("[(]{3}(b{2}){2}", 7), ("[](]{3}", 3), (r"[\](]{3}", 3), ("[^](]{3}", 3),
        ("[[:alpha:](]{2}(?:a{9}){9}", 94), ("(?#[)(a{9}){9}", 82), ("a{2}){3}", 6), ("((a{2}", 2),
        ("a{99999999999999}", 999999999),
    ],
)  # fmt: skip
def test_by_hand(pattern: str, signs: int) -> None:
    assert size_of(pattern) == len(pattern) + signs


def test_other_syntax_counts_all_repeats_in_one_another() -> None:
    assert size_of("(?x) # [\n (a{100}){100}") >= 10_000
    assert size_of("(?V1)(?:y{100}[a[b](]){100}") >= 10_000  # sets in sets: the parenthesis is in one
    assert size_of("(?x)(?:a{1 00}b){ 100}") >= 10_000


def test_large_numbers_and_long_patterns_take_little_work() -> None:
    assert size_of("(" * 3000 + "a" + "){999999999}" * 3000) > 1 << 39
    assert size_of("(?x)" + "(a){99}" * 3000) > 1 << 39


def test_published_patterns_are_small() -> None:
    assert max(map(size_of, NAMED.values())) < 1000
