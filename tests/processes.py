"""Scripts in interpreters of their own."""

import os
import pathlib
import subprocess
import sys

import ubpe_numba

PACKAGES = pathlib.Path(ubpe_numba.__file__).parents[1]


def python(script: str, *arguments: str, path: pathlib.Path | None = None, options: tuple[str, ...] = (), **extra: str) -> str:
    """What a script prints, with this package and a folder on the path; AssertionError if it fails, hangs or complains."""
    paths = [str(folder) for folder in (PACKAGES, path, os.environ.get("PYTHONPATH")) if folder]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **extra}
    command = [sys.executable, *options, "-c", script, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, ""), f"exit code {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout.strip()
