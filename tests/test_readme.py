"""The README's Python runs, and its demo command does what it says."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys

import pytest

from ubpe_numba.cli import demo

ROOT = pathlib.Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_python_blocks_run(block: str) -> None:
    exec(compile(block, "README.md", "exec"), {})


def test_round_trip_fits_in_ten_lines() -> None:
    assert len([line for line in BLOCKS[0].splitlines() if line.strip()]) <= 10


def test_demo(tmp_path: pathlib.Path) -> None:
    picture = tmp_path / "demo.png"
    command = [sys.executable, "-m", "ubpe_numba", "demo", "--tokens", "300", "--plot", str(picture)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("exact") == 3
    assert "NOT EXACT" not in done.stdout
    for word in ("classic", "universal", "shortest", "five longest motifs", "tokens/s of signal"):
        assert word in done.stdout
    assert not done.stderr  # the progress bar is for terminals
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_demo_says_what_is_wrong(tmp_path: pathlib.Path) -> None:
    command = [sys.executable, "-m", "ubpe_numba", "demo", "--tokens", "10"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 2
    assert "n_tokens: expected at least the alphabet's 256 symbols, got 10" in done.stderr


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    with pytest.raises(ImportError, match=r"drawing needs matplotlib: pip install 'ubpe-numba\[plot\]'"):
        demo.run(300, str(tmp_path / "x.png"), progress=False)
