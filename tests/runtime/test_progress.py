"""The progress of a fit, with tqdm and without."""

from __future__ import annotations

import pytest

from ubpe_numba import BPE, UBPE


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


def test_rounds_of_longer_work_are_shown(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
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
