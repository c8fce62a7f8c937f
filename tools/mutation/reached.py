"""Which tests run a line of the package, found by one run of the suite under coverage, some twenty minutes on two cores.

    python tools/mutation/reached.py --out reached.json          # needs pytest-cov and pytest-xdist
    python tools/mutation/mutate.py --reached reached.json

Lines of compiled code are not seen by coverage: a kernel is reached by the lines of Python that name it, or
name a kernel that names it.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from collections import defaultdict
from typing import Any

from nearest import Names, is_kernel

ROOT = pathlib.Path(__file__).parents[2]
NOT_RUN = ("tests/distributed", "tests/integrations", "tests/browser", "tests/site")  # minutes a run
MOST = 300  # tests of a mutant: they are run for a limited time


class Reached:
    """The tests that run a line, short ones first.

    Parameters
    ----------
    tests
        The name of each test, and the seconds it takes.
    lines
        Of each file, below the root of the repository, and each of its lines: the numbers of the tests that
        run it.
    """

    def __init__(self, tests: list[tuple[str, float]], lines: dict[str, dict[int, list[int]]]) -> None:
        self._tests, self._lines, self._names = tests, lines, Names(ROOT)
        self.files = {name.partition("::")[0] for name, _ in tests}

    @classmethod
    def load(cls, path: pathlib.Path) -> Reached:
        """What `main` wrote; lines that have moved since are found again."""
        state = json.loads(path.read_text())
        lines = {}
        for file, found in state["lines"].items():
            now = (ROOT / file).read_text().splitlines() if (ROOT / file).exists() else []
            same = difflib.SequenceMatcher(
                None, state["sources"][file].splitlines(), now, False
            ).get_matching_blocks()
            at = {a + i + 1: b + i + 1 for a, b, n in same for i in range(n)}
            lines[file] = {at[int(line)]: of for line, of in found.items() if int(line) in at}
        return cls([(name, seconds) for name, seconds in state["tests"]], lines)

    def tests(self, path: str, function: str, line: int, users: set[tuple[str, str]]) -> list[str]:
        """Tests that run a line of a file, or name a kernel of `users`; one of each function first, and short ones first.

        >>> reached = Reached([("t::a[0]", 0.1), ("t::a[1]", 0.2), ("t::b", 0.3)], {"x.py": {4: [0, 1, 2]}})
        >>> reached.tests("x.py", "f", 4, set())
        ['t::a[0]', 't::b', 't::a[1]']
        """
        if is_kernel(path):
            places = self._names.places(users)
        else:
            known = self._lines.get(path, {})
            at = max((one for one in known if one <= line), default=line)
            places = {(path, at)} if function else {(path, one) for one in known}
        numbers = {number for file, at in places for number in self._lines.get(file, {}).get(at, ())}
        by_function: defaultdict[str, int] = defaultdict(int)
        order = []
        for seconds, name in sorted((seconds, name) for name, seconds in (self._tests[i] for i in numbers)):
            base = name.partition("[")[0]
            by_function[base] += 1
            order.append((by_function[base], seconds, name))
        return [name for *_, name in sorted(order)][:MOST]


def pytest_sessionfinish(session: Any) -> None:
    """As a plugin of the process that is asked for it: how long tests took."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and "UBPE_SECONDS" in os.environ and not hasattr(session.config, "workerinput"):
        seconds: defaultdict[str, float] = defaultdict(float)
        for report in (
            report for of in reporter.stats.values() for report in of if hasattr(report, "duration")
        ):
            seconds[report.nodeid] += report.duration
        pathlib.Path(os.environ["UBPE_SECONDS"]).write_text(json.dumps(seconds))


def main() -> None:
    """Run the suite, and write which tests run which lines."""
    from coverage import CoverageData

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("reached.json"))
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data_file, seconds_file = folder / "coverage", folder / "seconds.json"
        (folder / "rc").write_text(f"[run]\nsource = ubpe_numba\ndata_file = {data_file}\n")
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-n",
            str(options.jobs),
            "-p",
            "reached",
            "-p",
            "no:cacheprovider",
        ]
        command += ["--cov", f"--cov-config={folder / 'rc'}", "--cov-context=test", "--cov-report="]
        command += ["tests", *(f"--ignore={folder}" for folder in NOT_RUN)]
        paths = os.pathsep.join(map(str, (ROOT, pathlib.Path(__file__).parent)))
        environment = os.environ | {"PYTHONPATH": paths, "UBPE_SECONDS": str(seconds_file)}
        # a test that fails is of no matter here
        subprocess.run(command, cwd=ROOT, env=environment, check=False)
        seconds = json.loads(seconds_file.read_text())
        data = CoverageData(str(data_file))
        data.read()
        names: dict[str, int] = {}
        lines = {}
        for file in data.measured_files():
            found = {}
            for line, contexts in data.contexts_by_lineno(file).items():
                tests = sorted({context.rpartition("|")[0] for context in contexts} - {""})
                found[line] = [names.setdefault(test, len(names)) for test in tests]
            lines[pathlib.Path(file).relative_to(ROOT).as_posix()] = found
    sources = {file: (ROOT / file).read_text() for file in lines}
    tests = [(name, seconds.get(name, 1.0)) for name in names]
    options.out.write_text(json.dumps({"tests": tests, "lines": lines, "sources": sources}))
    print(f"{len(names)} tests, {sum(map(len, lines.values()))} lines")


if __name__ == "__main__":
    main()
