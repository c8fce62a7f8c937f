"""`warmup` compiles in silence; that it compiles everything, and nothing twice, is asked of a process of its own."""

import importlib
from typing import Any

import pytest

import ubpe_numba
from ubpe_numba.cli.main import main
from ubpe_numba.runtime.messages import Progress


def test_warmup_is_silent_and_shows_no_progress_of_its_own_fits(
    monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    assert main(["warmup"]) == 0 and capsys.readouterr().out == ""
    shown: list[bool] = []
    module = importlib.import_module("ubpe_numba.tokenizers.base")
    monkeypatch.setattr(module, "Progress", lambda *show: shown.append(show) or Progress(False))
    ubpe_numba.warmup()
    assert not shown
