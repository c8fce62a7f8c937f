"""The digests of `verify` are those of plain references, the library gives them, and a broken kernel is noticed."""

import json
import os
import sys
from typing import Any

import pytest
from tables import refuses
from verification.references import FILE, digests

import ubpe_numba
from ubpe_numba.verification import verify as module
from ubpe_numba.verification.cases import PARTS, Part


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_digests_are_those_of_references(part: Part) -> None:
    """Those of the library are the same: nothing differs."""
    n = None if os.environ.get("UBPE_FULL") == "1" else 40
    assert digests(part, n) == json.loads(FILE.read_text())[part.name][:n]


def test_nothing_differs() -> None:
    found = ubpe_numba.verify(progress=False)
    assert found.passed and str(found).endswith("no difference"), str(found)
    assert [(row.name, row.cases) for row in found.rows] == [(part.name, part.cases) for part in PARTS]
    assert json.loads(json.dumps(found.to_dict()))["passed"] is True
    modules = [vars(sys.modules[name]) for name in sys.modules if name.startswith("ubpe_numba.")]
    kernels = {
        id(value): len(value.signatures)
        for names in modules
        for value in names.values()
        if hasattr(value, "_cache_hits")
    }
    assert found.machine["compiled"] + found.machine["loaded"] == sum(kernels.values())


def broken(part: Part) -> Part:
    def run(given: dict[str, Any]) -> Any:
        values = list(part.run(given))
        yield from [*values[:-1], [*values[-1], 0]]

    return part._replace(run=run)


def test_a_difference_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    part = PARTS[1]
    monkeypatch.setattr(module, "PARTS", (broken(part),))
    found = ubpe_numba.verify(progress=False)
    assert not found.passed and found.rows[0].differences == part.cases
    assert "case 0: " in str(found) and "cannot be trusted" in str(found)


def test_an_error_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(given: dict[str, Any]) -> Any:
        yield 1 // 0

    monkeypatch.setattr(module, "PARTS", (PARTS[0]._replace(run=run),))
    found = ubpe_numba.verify(progress=False)
    assert not found.passed and "ZeroDivisionError" in str(found)


def test_a_child_that_ends_without_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(RuntimeError, match="verify: the process that compiled all kernels ended with code 1"):
        ubpe_numba.verify(fresh=True)


def test_bad_arguments() -> None:
    refuses(TypeError, "fresh: expected True or False, got 2", ubpe_numba.verify, fresh=2)
    refuses(
        ValueError, "progress: expected 'auto', True or False, got 'yes'", ubpe_numba.verify, progress="yes"
    )
