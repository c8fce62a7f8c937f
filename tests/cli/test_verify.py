"""The command verify: a table or JSON, and an exit code."""

from __future__ import annotations

import json

import pytest

from ubpe_numba.cli.main import main
from ubpe_numba.verification import verify as module
from ubpe_numba.verification.cases import PARTS


@pytest.fixture(autouse=True)
def one_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PARTS", PARTS[1:2])


def test_a_table_and_exit_code_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify"]) == 0
    out, err = capsys.readouterr()
    assert PARTS[1].name in out and "numba" in out and out.endswith("no difference\n") and not err


def test_json_and_exit_code_1(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(module, "PARTS", (PARTS[1]._replace(run=lambda given: iter([0])),))
    assert main(["verify", "--json", "--quiet"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert not found["passed"] and found["machine"]["cpu"]
    assert found["rows"][0]["differences"] == PARTS[1].cases and "case 0: " in found["rows"][0]["first"]
