"""`ubpe_numba.plot` as users see it: what is there, and that importing it does not import matplotlib."""

from __future__ import annotations

import subprocess
import sys

import ubpe_numba.plot


def test_the_displays_are_there() -> None:
    names = {"TokensDisplay", "MotifsDisplay", "CompressionDisplay", "CountsDisplay", "TreeDisplay", "PianoRollDisplay"}
    assert set(ubpe_numba.plot.__all__) == names
    for name in names:
        display = getattr(ubpe_numba.plot, name)
        assert display.__name__ == name and callable(display.plot)
        assert any(member.startswith("from_") for member in vars(display))


def test_matplotlib_is_imported_when_something_is_drawn() -> None:
    code = "import sys, ubpe_numba.plot; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
