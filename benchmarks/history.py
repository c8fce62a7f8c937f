"""Measures commits of the past by today's suite, for the pages of asv; results are kept in `results/`.

What a commit cannot run is left out. A commit takes about a minute:

    python benchmarks/history.py COMMIT...
    asv publish --config benchmarks/asv.conf.json --html-dir $PWD/docs/_build/html/history
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[1]
MACHINE = "two-cores"  # as `asv machine` was told
#: One corpus on one thread, short calls, and a new process.
BENCHMARKS = (
    r"bench_(fit\.Fit|encode\.Encode|decode\.Decode)\.track_symbols.*\('(ecg|text)', '\w+', 1\)",
    r"bench_short\.Integers\.track.*'array'",
    r"bench_startup\.(Startup\.track_cached|track_import)",
)


def measure(commit: str) -> None:
    """Run the benchmarks on a checkout of a commit, with kernels compiled anew, and keep the results under its hash."""
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder, "tree")
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", tree, commit], cwd=ROOT, check=True)
        try:
            there = os.environ | {
                "ASV_PYTHONPATH": str(tree),
                "UBPE_CACHE_DIR": str(pathlib.Path(folder, "kernels")),
            }
            run = [
                sys.executable,
                "-m",
                "asv",
                "run",
                "--config",
                str(ROOT / "benchmarks" / "asv.conf.json"),
                "--python=same",
                "--machine",
                MACHINE,
            ]
            chosen = [part for pattern in BENCHMARKS for part in ("--bench", pattern)]
            subprocess.run([*run, "--set-commit-hash", commit, *chosen], cwd=ROOT / "benchmarks", env=there)
            for path in (ROOT / "benchmarks" / "results" / MACHINE).glob(f"{commit[:8]}-*"):
                result = json.loads(path.read_text())  # the path of an interpreter is nobody's business
                result["env_name"], result["python"] = "existing", platform.python_version()
                result["params"]["python"] = platform.python_version()
                path.unlink()
                path.with_name(f"{commit[:8]}-existing.json").write_text(json.dumps(result) + "\n")
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", tree], cwd=ROOT, check=True)


def main() -> None:
    """Measure the commits that are named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("commits", nargs="+")
    for commit in parser.parse_args().commits:
        full = subprocess.run(
            ["git", "rev-parse", commit], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout.strip()
        measure(full)


if __name__ == "__main__":
    main()
