"""The examples for users of other packages run, and give what the same task gives without this library."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).parents[2] / "docs" / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))
IMPORT = re.compile(r"^\s*(?:import|from) (\w+)", re.MULTILINE)


def run(script: pathlib.Path, folder: pathlib.Path) -> str:
    """What a script prints, run in a folder of its own; a skip where one of its packages is missing."""
    for module in set(IMPORT.findall(script.read_text(encoding="utf-8"))) - {"ubpe_numba"}:
        if not os.environ.get("UBPE_NEED_INTEGRATIONS"):
            pytest.importorskip(
                module, reason=f"{module} is not installed: pip install 'ubpe-numba[integrations]'", exc_type=ImportError
            )
    done = subprocess.run([sys.executable, script], cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_example_runs(script: pathlib.Path, tmp_path: pathlib.Path) -> None:
    assert run(script, tmp_path).strip()


@pytest.mark.parametrize(
    "script", [s for s in SCRIPTS if (EXAMPLES / "before" / s.name).exists()], ids=lambda script: script.stem
)
def test_same_result_as_before(script: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """The last line of both is the result, which has to be the same."""
    assert run(script, tmp_path).splitlines()[-1] == run(EXAMPLES / "before" / script.name, tmp_path).splitlines()[-1]
