"""The kernels again with bounds checks, compiled into a fresh cache in a process of their own."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys


def test_kernels_stay_in_bounds(tmp_path: pathlib.Path) -> None:
    root = pathlib.Path(__file__).parent.parent
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "UBPE_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(root)}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(root / "tests" / "under_bounds_checks.py")],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert done.stdout == "clean\n", done.stderr
    # the fresh cache was really used, and is private
    assert list((tmp_path / "cache").glob("fitting.rounds.run.*.nbc"))
    if os.name == "posix":
        assert (tmp_path / "cache").stat().st_mode & 0o777 == 0o700
