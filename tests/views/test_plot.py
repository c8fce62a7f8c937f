"""Drawing without matplotlib."""

from __future__ import annotations

import pathlib
import sys

import pytest

from ubpe_numba.cli import demo


def test_a_picture_without_matplotlib_names_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    with pytest.raises(ImportError, match=r"drawing needs matplotlib: pip install 'ubpe-numba\[plot\]'"):
        demo.run(300, str(tmp_path / "x.png"), progress=False)
