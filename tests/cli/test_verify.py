"""The command verify: a table or JSON, and an exit code."""

from __future__ import annotations

import json

import pytest
from command_line import fails

from ubpe_numba.cli.main import main
from ubpe_numba.verification import pairs
from ubpe_numba.verification import verify as module


@pytest.fixture(autouse=True)
def two_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PARTS", (pairs.RANK._replace(cases=20), pairs.DECODE._replace(cases=20)))


def test_a_table_and_exit_code_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--seconds", "1e6"]) == 0
    out, err = capsys.readouterr()
    assert "encode: by merge rank" in out and "numba" in out and out.endswith("no difference\n") and not err


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--seconds", "1e6", "--seed", "4", "--json", "--quiet"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["passed"] is found["complete"] is True and found["seed"] == 4 and found["left_out"] == []
    assert [row["cases"] for row in found["rows"]] == [20, 20] and found["machine"]["cpu"]


def test_a_difference_is_exit_code_1(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(pairs.encode_pairs, "encode_rank", lambda doc, merges: [*doc, 7])
    assert main(["verify", "--seconds", "1e6", "--seed", "2"]) == 1
    out = capsys.readouterr().out
    assert "encode: by merge rank, case 0, a batch: at [0]" in out and "'ubpe-numba verify --seed 2" in out
    assert main(["verify", "--seconds", "1e6", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert not found["passed"] and found["rows"][0]["first"]["inputs"] == json.loads(json.dumps(pairs.RANK.inputs(0, 0)))
    assert found["rows"][1]["differences"] == 0


def test_bad_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert "seed: expected 0 or more, got -3" in fails(["verify", "--seed", "-3"], capsys)
    assert "seconds: expected a number above 0" in fails(["verify", "--seconds", "0"], capsys)
    assert "argument --seed: invalid int value: 'x'" in fails(["verify", "--seed", "x"], capsys)
