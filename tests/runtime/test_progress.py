"""The progress of a fit, with tqdm and without."""

from __future__ import annotations

import pytest

from ubpe_numba import BPE


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
