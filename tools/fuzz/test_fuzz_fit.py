"""The fuzzing of fits reports a difference, with references here and in another interpreter."""

from __future__ import annotations

import shutil
import sys

import pytest
from fuzz import fit_problems
from fuzz.fit_problems import make
from fuzz.fuzz_fit import fuzz
from fuzz.reference_process import answers

from ubpe_numba.fitting import fit

INTERPRETERS = [
    sys.executable,
    pytest.param(
        "pypy3",
        marks=pytest.mark.skipif(shutil.which("pypy3") is None, reason="PyPy is not installed: pypy3"),
    ),
]


@pytest.mark.parametrize("interpreter", [None, *INTERPRETERS])
def test_a_difference_is_found_and_can_be_made_again(
    monkeypatch: pytest.MonkeyPatch, interpreter: str | None
) -> None:
    monkeypatch.setitem(fit._TIES, "fewest_documents", fit._TIES["smallest"])
    with pytest.raises(
        AssertionError, match=r"(?s)plain differs: .*: found .*\nProblem\(.*\nmake\(\d+\)\nwanted Learned\("
    ):
        fuzz(10_000, seed=1, reference=interpreter)
    assert make(5) == make(5) != make(6)


@pytest.mark.parametrize("interpreter", INTERPRETERS)
def test_references_of_another_process_are_the_same(interpreter: str) -> None:
    numbers = range(7 << 32, (7 << 32) + 40)
    for i, answer in zip(numbers, answers(interpreter, "fuzz.fit_problems", numbers[0]), strict=False):
        assert answer == fit_problems.answer(i)


def test_tables_that_dangle_occur() -> None:
    """What has to be refused is among the problems, and tables that are cut without it."""
    found = [
        (fit_problems.learn(problem), problem) for problem in map(make, range(400)) if problem.order == "idf"
    ]
    assert any(learned.table is None for learned, _ in found)
    assert any(learned.table is not None and len(learned.table) < len(learned.merges) for learned, _ in found)
