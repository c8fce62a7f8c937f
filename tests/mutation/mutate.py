"""How many small mistakes the tests notice: one change at a time, the nearest tests on each.

    python tests/mutation/mutate.py                         # the sample whose score is reported, some hours on two cores
    python tests/mutation/mutate.py --mutants 20 coding     # a few of one wing
    python tests/mutation/mutate.py --again mutants.jsonl   # what survived in an earlier run

Mutants are drawn at random from all wings, by seed: of each file in proportion to the square root of how many it has, of kernels twice
as many. Each stands in a copy of the repository, where the tests run that are nearest by imports (`nearest.py`), nearest first,
until one fails (killed), the time of a mutant is over, or all have passed (survived). A mutant that hangs is killed.

A survivor that computes the same for every input is equivalent: `equivalent.toml` says of each why. The score is what was killed of the
rest. Each mutant is a line of the result file: `key`, `line`, `outcome`, `by` (the test that failed), `seconds`.
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

from nearest import Imports
from operators import Mutant, mutants

ROOT = pathlib.Path(__file__).parents[2]
EQUIVALENT = pathlib.Path(__file__).with_name("equivalent.toml")
NOT_RUN = {"tests/distributed", "tests/browser", "tests/site", "tests/cli/test_demo.py"}  # clusters and pages take minutes a run
HANGS = 240  # seconds without an end, beyond the time of a mutant


def sample(n: int, seed: int, wings: list[str]) -> list[Mutant]:
    """Draw mutants from the files of some wings (of all, if none is named), in an order that is random too."""
    rng = random.Random(seed)
    found = {}
    for path in sorted((ROOT / "ubpe_numba").glob("*/**/*.py")):
        name = path.relative_to(ROOT).as_posix()
        wing = name.split("/")[1]
        if wing not in NO_MUTANTS and (not wings or wing in wings):
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


NO_MUTANTS = {
    "distributed",
    "integrations",
}  # their tests start clusters and other people's libraries, which takes minutes a mutant


def is_kernel(path: str) -> bool:
    """Whether a file is compiled."""
    return bool(re.search(r"/kernels/|runtime/(machine|tables)/", path))


def module_of(path: str) -> str:
    """The module in a file."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def run(mutant: Mutant, tree: pathlib.Path, imports: Imports, stamp: str, seconds: float) -> dict[str, Any]:
    """Run the nearest tests on one mutant, in a copy of the repository; its line of the result."""
    file = tree / mutant.path
    original = file.read_text()
    module = module_of(mutant.path)
    tests = [test for test in imports.tests(module) if not any(test.startswith(prefix) for prefix in NOT_RUN)]
    mutated = imports.users(module) if is_kernel(mutant.path) else []
    task = json.dumps({"mutated": mutated, "stamp": stamp, "seconds": seconds})
    environment = os.environ | {"UBPE_MUTANT": task, "PYTHONPATH": f"{tree}{os.pathsep}{tree / 'tests' / 'mutation'}"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "mutated",
        "-p",
        "no:cacheprovider",
        "-x",
        "-q",
        "--no-header",
        "--tb=line",
        *tests,
    ]
    began = time.monotonic()
    line: dict[str, Any] = {"key": mutant.key, "line": mutant.line, "outcome": "survived", "by": ""}
    if not tests:
        return line | {"outcome": "without tests", "seconds": 0}
    file.write_text(mutant.source)
    try:
        process = subprocess.Popen(
            command,
            cwd=tree,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            out, _ = process.communicate(timeout=seconds + HANGS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            line |= {"outcome": "killed", "by": "hangs"}
        else:
            if process.returncode:
                failed = re.search(r"^(?:FAILED|ERROR) (\S+)", out, re.M)
                line |= {"outcome": "killed", "by": failed[1] if failed else f"exit code {process.returncode}"}
            elif "time is over" in out:
                line["by"] = "the end of its time"
    finally:
        file.write_text(original)
    return line | {"seconds": round(time.monotonic() - began)}


def main() -> int:
    """Run it; exit code 1 if a mutant survived that is not listed as equivalent."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wings", nargs="*")
    parser.add_argument("--mutants", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60, help="of tests per mutant, beyond the test that is running")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--again", type=pathlib.Path, help="a result file: only what survived there")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("mutants.jsonl"))
    parser.add_argument("--list", action="store_true", help="print the sample and end")
    args = parser.parse_args()
    if args.again:
        wanted = {line["key"] for line in map(json.loads, args.again.read_text().splitlines()) if line["outcome"] == "survived"}
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
    from ubpe_numba.runtime import kernel_cache

    stamp, imports = kernel_cache._stamp(), Imports(ROOT)
    done = {line["key"] for line in map(json.loads, args.out.read_text().splitlines())} if args.out.exists() else set()
    left = [mutant for mutant in chosen if mutant.key not in done]
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, args.out.open("a") as out:
        trees: SimpleQueue[pathlib.Path] = SimpleQueue()
        for i in range(args.jobs):
            tree = pathlib.Path(folder) / str(i)
            shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".git", ".venv", "__pycache__", "_build", "*_cache"))
            trees.put(tree)

        def one(mutant: Mutant) -> None:
            tree = trees.get()
            try:
                line = run(mutant, tree, imports, stamp, args.seconds)
            finally:
                trees.put(tree)
            out.write(json.dumps(line) + "\n")
            out.flush()
            print(f"{line['outcome']:9} {line['seconds']:4} s  {mutant.key}  {line['by']}", flush=True)

        with ThreadPoolExecutor(args.jobs) as pool:
            list(pool.map(one, left))
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
