"""The examples for users of other packages run, and give what the same task gives without this library."""

import pathlib
import re
import subprocess
import sys

import pytest
from integrations.conftest import needed

EXAMPLES = pathlib.Path(__file__).parents[2] / "docs" / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))
IMPORT = re.compile(r"^\s*(?:import|from) (\w+)", re.MULTILINE)


def run(script: pathlib.Path, folder: pathlib.Path) -> str:
    """What a script prints, run in a folder of its own; a skip where one of its packages is missing."""
    for module in set(IMPORT.findall(script.read_text(encoding="utf-8"))) - {"ubpe_numba"}:
        needed(module)
    done = subprocess.run(
        [sys.executable, script], cwd=folder, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_example_runs_and_ends_as_the_one_before(script: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """The last line of both is the result, which has to be the same."""
    lines, before = run(script, tmp_path).strip().splitlines(), EXAMPLES / "before" / script.name
    assert lines and (not before.exists() or lines[-1] == run(before, tmp_path).splitlines()[-1])
