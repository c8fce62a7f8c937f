"""The demo command runs, says that its round trips are exact, and refuses bad sizes."""

from __future__ import annotations

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[2]


def test_the_demo_decodes_what_it_encoded_and_draws_a_picture(tmp_path: pathlib.Path) -> None:
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
