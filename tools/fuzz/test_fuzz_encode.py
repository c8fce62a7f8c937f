"""The fuzzing of encoders reports a difference, with references here and in another interpreter."""

from __future__ import annotations

import shutil
import sys

import pytest
from fuzz import encode_cases, fuzz_encode
from fuzz.encode_cases import Case, Docs, make
from fuzz.fuzz_encode import CHECKS, Found, fuzz
from fuzz.reference_process import answers

INTERPRETERS = [
    sys.executable,
    pytest.param(
        "pypy3",
        marks=pytest.mark.skipif(shutil.which("pypy3") is None, reason="PyPy is not installed: pypy3"),
    ),
]


@pytest.mark.parametrize("interpreter", INTERPRETERS)
def test_a_difference_is_found_and_can_be_made_again(
    monkeypatch: pytest.MonkeyPatch, interpreter: str
) -> None:
    def wrong(case: Case, want: list[Docs]) -> Found:
        for way, found, wanted in fuzz_encode.by_batch(case, want):
            yield way, [ids[::-1] for ids in found], wanted

    monkeypatch.setitem(CHECKS, "by_batch", wrong)
    for reference in (None, interpreter):
        with pytest.raises(
            AssertionError, match=r"by_batch differs, whole:\nCase.*\nmake\(\d+\)\nfound .*\nwanted"
        ):
            fuzz(1_000_000, seed=1, reference=reference)
    assert make(5) == make(5) != make(6)


@pytest.mark.parametrize("interpreter", INTERPRETERS)
def test_references_of_another_process_are_the_same(interpreter: str) -> None:
    numbers = range(7 << 32, (7 << 32) + 12)
    for i, answer in zip(numbers, answers(interpreter, "fuzz.encode_cases", numbers[0]), strict=False):
        assert answer == encode_cases.answer(i)


def test_a_process_that_cannot_be_or_ends_is_told() -> None:
    with pytest.raises(FileNotFoundError, match="interpreter: there is no 'pypy-of-nobody'"):
        next(answers("pypy-of-nobody", "fuzz.encode_cases", 0))
    with pytest.raises(RuntimeError, match=r"(?s)references ended.*No module named 'fuzz.nothing'"):
        next(answers(sys.executable, "fuzz.nothing", 0))


def test_mutated_vocabularies_occur() -> None:
    cases = [make(i) for i in range(400)]
    assert len({tuple(case.pairs) for case in cases}) > 300
    assert any(
        len(set(encode_cases.decode.expand(c.pairs, c.size))) < c.size + len(c.pairs) for c in cases
    ), "twins"
