"""The progress of a fit, with tqdm and without."""

from typing import Any

import pytest
from tables import each

from ubpe_numba import BPE, UBPE
from ubpe_numba.runtime.messages import Progress


def test_progress_is_shown(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """With tqdm, and with a plain line where tqdm is missing."""
    docs = [[0, 1, 2, 3] * 50]
    BPE(10, alphabet=4).fit(docs, progress=True)
    assert "fit" in capsys.readouterr().err
    monkeypatch.setitem(__import__("sys").modules, "tqdm", None)
    BPE(10, alphabet=4).fit(docs, progress=True)
    assert "fit: 10 tokens" in capsys.readouterr().err
    BPE(10, alphabet=4).fit(docs, progress=False)
    assert capsys.readouterr().err == ""


def test_rounds_of_longer_work_are_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = [[0, 1, 2, 3, 0, 1] * 20, [3, 2, 1, 0] * 20]
    tok = UBPE(10, 1, alphabet=4, objective="shortest").fit(docs, progress=False)
    for bars in (True, False):
        if not bars:
            monkeypatch.setitem(__import__("sys").modules, "tqdm", None)
        tok.reweight(docs, n_rounds=3, progress=True)
        assert ("3/3" if bars else "round 3 of 3") in capsys.readouterr().err
        tok.reweight(docs, "idf", n_rounds=3, progress=True)
        assert "reweight" in capsys.readouterr().err
        tok.refine(docs, objective="likelihood", progress=True)
        assert "refine for the likelihood" in capsys.readouterr().err
        UBPE(10, 1, objective="likelihood").fit(docs, progress=True)
        assert "expectation" in capsys.readouterr().err
    tok.refine(docs, objective="likelihood", progress=False).reweight(docs, progress=False)
    assert capsys.readouterr().err == ""


@each("bars", [True, False])
def test_what_the_last_line_says(bars: bool, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if not bars:
        monkeypatch.setitem(__import__("sys").modules, "tqdm", None)
    rounds = Progress(True).rounds(range(9), "exchange")
    assert [next(rounds), next(rounds)] == [0, 1]
    rounds.close()  # type: ignore[attr-defined]  # as a loop does that is left
    shown = capsys.readouterr().err
    assert ("1/9" if bars else "round 1 of 9") in shown and shown.endswith("\n")
    tokens = Progress(True)
    tokens.start(4, 10)
    tokens.update(6, 3)
    tokens.finish(9)
    shown = capsys.readouterr().err
    assert all(
        part in shown
        for part in (["9/10", "count=3"] if bars else ["6/10 tokens", "count 3 ", "fit: 9 tokens"])
    )
