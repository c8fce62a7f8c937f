"""How many small mistakes the tests notice: one change at a time, the nearest tests on each.

    python tools/mutation/mutate.py                         # the reported sample, hours on two cores
    python tools/mutation/mutate.py --mutants 20 coding     # a few of one wing
    python tools/mutation/mutate.py --again mutants.jsonl   # what survived in an earlier run

Mutants are drawn at random from all wings, by seed: of each file in proportion to the square root of how many
it has, of kernels twice as many. Each stands in a copy of the repository, where the tests run that are
nearest by imports (`nearest.py`), the examples of the file itself and then nearest first, with digests before
those of a kernel and the tests of all calls among those of other files, until one fails (killed), the time of
a mutant is over, or all have passed (survived). With ``--reached`` those that run the line itself come before
others (`reached.py`). A mutant that hangs is killed.

A test that fails without the mutant, too, is not counted: the mutant is unsound until the test is mended. A
survivor that computes the same for every input is equivalent: `equivalent.toml` says of each why. The score
is what was killed of the rest. Each mutant is a line of the result file: `key`, `line`, `outcome`, `by` (the
test that failed), `seconds`.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any

import pytest
from nearest import Imports, Names, is_kernel
from operators import Mutant, mutants
from reached import NOT_RUN, Reached

ROOT = pathlib.Path(__file__).parents[2]
EQUIVALENT = pathlib.Path(__file__).with_name("equivalent.toml")
# Tests of these start clusters and import other people's libraries, minutes a mutant: they are mutated when
# they are named.
NO_MUTANTS = {"distributed", "integrations"}
# Tests of no folder: of all kernels, in seconds, and of all public calls.
DIGESTS = "tests/test_digests.py"
EVERYTHING = [
    f"tests/test_{name}.py" for name in ("inputs", "bad_input", "layouts", "ways_on", "fuzzers", "ownership")
]
# Tests of no folder or of one that is not run, of some wings and modules: of kernels that count and encode
# bytes, of layouts of Arrow and of other packages' arrays, and of what a warm-up compiles.
OF_WINGS = {
    **dict.fromkeys(("coding", "runtime", "text"), "tests/test_guard_pages.py"),
    "documents": "tests/integrations/test_arrays.py",
    "tokenizers.warmup": "tests/test_process.py::test_every_kernel_has_one_signature",
}
NEAR = 5  # files of tests that are collected first: most mutants fail there
FIRST = 40  # tests that run the line, before files that have tests of a whole wing
HANGS = 200  # the exit code of a test that goes on for so many seconds of the processor (`mutated.py`)
WAITS = 1200  # seconds without an end; those of a mutant are of the processor


def sample(n: int, seed: int, wings: list[str]) -> list[Mutant]:
    """Draw mutants from the files of some wings (of all, if none is named), in an order that is random too."""
    rng = random.Random(seed)
    found = {}
    for path in sorted((ROOT / "ubpe_numba").glob("*/**/*.py")):
        name = path.relative_to(ROOT).as_posix()
        wing = name.split("/")[1]
        if wing in wings or (not wings and wing not in NO_MUTANTS):
            found[name] = list(mutants(name, path.read_text()))
    weights = {name: len(of) ** 0.5 * (1 + (is_kernel(name))) for name, of in found.items() if of}
    unit = n / sum(weights.values())
    chosen: list[Mutant] = []
    for name, weight in weights.items():
        share = unit * weight
        count = int(share) + (rng.random() < share % 1)
        chosen += rng.sample(found[name], min(count, len(found[name])))
    rng.shuffle(chosen)
    return chosen


def module_of(path: str) -> str:
    """The module in a file."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


class Runner:
    """Runs tests in copies of the repository, one copy a job."""

    def __init__(
        self, folder: pathlib.Path, jobs: int, stamp: str, seconds: float, reached: Reached | None
    ) -> None:
        self._stamp, self._seconds, self._reached = stamp, seconds, reached
        self._imports, self._names = Imports(ROOT), Names(ROOT)
        self._known = set() if reached is None else self._collected()
        self._trees: SimpleQueue[pathlib.Path] = SimpleQueue()
        self._sound: dict[str, bool] = {}  # tests that were tried without a mutant
        for i in range(jobs):
            skip = shutil.ignore_patterns(".git", ".venv", "__pycache__", "_build", "*_cache")
            self._trees.put(shutil.copytree(ROOT, folder / str(i), ignore=skip))

    def run(self, mutant: Mutant) -> dict[str, Any]:
        """Run the nearest tests on one mutant; its line of the result."""
        began, line = time.monotonic(), {"key": mutant.key, "line": mutant.line}
        module, kernel = module_of(mutant.path), is_kernel(mutant.path)
        wing = module.split(".")[1]
        files = self._imports.tests(module)
        if wing not in NO_MUTANTS:
            files = [test for test in files if not test.startswith(NOT_RUN)]
        mutated = (
            self._names.users(module, (ROOT / mutant.path).read_text(), mutant.line) if kernel else set()
        )
        general = [] if kernel else EVERYTHING
        more = [OF_WINGS[name] for name in (module.partition(".")[2], wing) if name in OF_WINGS]
        if self._reached is not None:
            by_line = self._reached.tests(mutant.path, mutant.function, mutant.line, mutated)
            by_line = [test for test in by_line if test in self._known]
            by_line.sort(key=lambda test: not test.startswith((DIGESTS, files[0])))
            new = [file for file in files[:1] if file not in self._reached.files]
            tests = [*new, *by_line[:FIRST], *more, *by_line[FIRST:], *files]
        else:
            tests = [*files[:2], *more, *general, *files[2:]]
        if kernel:
            tests = [DIGESTS, *(test for test in tests if not test.startswith(DIGESTS))]
        tests = list(dict.fromkeys([mutant.path, *tests]))  # the examples of the file first
        tree = self._trees.get()
        file = tree / mutant.path
        try:
            file.write_text(mutant.source)
            near = list(dict.fromkeys(test.partition("::")[0] for test in tests))[:NEAR]
            first = [test for test in tests if test.partition("::")[0] in near]
            with tempfile.TemporaryDirectory() as kept:
                outcome, by = self._pytest(tree, first, sorted(mutated), kept)
                if (outcome, by) == ("survived", "") and len(first) < len(tests):
                    outcome, by = self._pytest(
                        tree, [test for test in tests if test not in first], sorted(mutated), kept
                    )
            file.write_text((ROOT / mutant.path).read_text())
            if outcome == "killed" and "/" in by:
                if by not in self._sound:
                    self._sound[by] = self._pytest(tree, [by], [], "")[0] == "survived"
                if not self._sound[by]:
                    outcome = "unsound"
        finally:
            self._trees.put(tree)
        return line | {"outcome": outcome, "by": by, "seconds": round(time.monotonic() - began)}

    def _collected(self) -> set[str]:
        """The names of all tests, as some that were there when lines were listed may not be there any more."""
        ignored = [f"--ignore={folder}" for folder in NOT_RUN]
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "-q",
            "--collect-only",
            "tests",
            *ignored,
        ]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        found = subprocess.run(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True
        )
        return set(found.stdout.splitlines())

    def _pytest(self, tree: pathlib.Path, tests: list[str], mutated: list[str], kept: str) -> tuple[str, str]:
        """Whether a test failed, and which; mutated kernels are kept in the folder `kept`."""
        task = json.dumps(
            {"mutated": mutated, "stamp": self._stamp, "seconds": self._seconds, "order": tests, "kept": kept}
        )
        environment = os.environ | {
            "UBPE_MUTANT": task,
            "PYTHONPATH": f"{tree}{os.pathsep}{tree / 'tools' / 'mutation'}",
        }
        # asserts of a file of tests are rewritten once, not for every mutant
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "mutated",
            "-p",
            "no:cacheprovider",
            "-xq",
            "--tb=line",
            *tests,
        ]
        with tempfile.TemporaryFile("w+") as out:
            process = subprocess.Popen(
                command, cwd=tree, env=environment, start_new_session=True, stdout=out, stderr=out
            )
            try:
                code = process.wait(self._seconds + WAITS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                return "killed", "hangs"
            out.seek(0)
            text = out.read()
        if code == HANGS:
            return "killed", "hangs"
        if code == pytest.ExitCode.USAGE_ERROR and "conftest" in text:
            return "killed", "the package cannot be imported"
        if code == pytest.ExitCode.NO_TESTS_COLLECTED and len(tests) == 1:  # a file without examples
            return "survived", ""
        if code in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED):
            raise RuntimeError(f"{' '.join(command)}: {text}")
        if code:
            failed = re.search(r"^(?:FAILED|ERROR) (\S.*?)(?: - |$)", text, re.M)
            return "killed", failed[1] if failed else f"exit code {code}"
        return "survived", "the end of its time" if "time is over" in text else ""


def main() -> int:
    """Run it; exit code 1 if a mutant survived that is not listed as equivalent."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("wings", nargs="*")
    parser.add_argument("--mutants", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--seconds",
        type=float,
        default=45,
        help="of the processor, per mutant, beyond the test that is running",
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--again", type=pathlib.Path, help="a result file: only what survived there")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("mutants.jsonl"))
    parser.add_argument(
        "--reached", type=pathlib.Path, help="what reached.py wrote: tests that run the line come first"
    )
    parser.add_argument("--list", action="store_true", help="print the sample and end")
    args = parser.parse_args()
    if args.again:
        wanted = {
            line["key"]
            for line in map(json.loads, args.again.read_text().splitlines())
            if line["outcome"] == "survived"
        }
        paths = {key.partition("::")[0] for key in wanted}
        every = {m.key: m for path in paths for m in mutants(path, (ROOT / path).read_text())}
        chosen = [every[key] for key in sorted(wanted & every.keys())]
        for key in sorted(wanted - every.keys()):
            print("no longer there:", key)
    else:
        chosen = sample(args.mutants, args.seed, args.wings)
    if args.list:
        print(*(f"{m.path}:{m.line}: {m.before} -> {m.after}" for m in chosen), sep="\n")
        return 0
    equivalent = {one["key"] for one in tomllib.loads(EQUIVALENT.read_text()).get("mutant", [])}
    sys.path.insert(0, str(ROOT))
    from ubpe_numba.runtime.compiler import cache

    done = (
        {line["key"] for line in map(json.loads, args.out.read_text().splitlines())}
        if args.out.exists()
        else set()
    )
    with (
        tempfile.TemporaryDirectory(prefix="mutants-") as folder,
        args.out.open("a") as out,
        ThreadPoolExecutor(args.jobs) as pool,
    ):
        reached = Reached.load(args.reached) if args.reached else None
        runner = Runner(pathlib.Path(folder), args.jobs, cache._stamp(), args.seconds, reached)
        for line in pool.map(runner.run, [mutant for mutant in chosen if mutant.key not in done]):
            print(json.dumps(line), file=out, flush=True)
            print(f"{line['outcome']:9} {line['seconds']:4} s  {line['key']}  {line['by']}", flush=True)
    lines = [json.loads(line) for line in args.out.read_text().splitlines()]
    survived = [line for line in lines if line["outcome"] == "survived"]
    argued = [line for line in survived if line["key"] in equivalent]
    killed = sum(line["outcome"] == "killed" for line in lines)
    rest = len(survived) - len(argued)
    score = 100 * killed / max(killed + rest, 1)
    print(f"{len(lines)} mutants: {killed} killed, {len(argued)} equivalent, {rest} survived: {score:.1f} %")
    return bool(rest)


if __name__ == "__main__":
    sys.exit(main())
