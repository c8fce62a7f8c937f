"""The goals of the design, measured side by side with the packages that are installed; prints a Markdown table.

With ``--out benchmarks/report.json`` all of it is kept, with every single measurement: the tables of the
pages are made from that file (`tables.py`), and no page has a figure of speed that is not in it.

Every figure is the median of runs in a process of its own, on one thread, our runs and those of the peer in
turn; what takes longer than a second runs once. Each package is given documents in the form that it takes
(arrays, lists of int, str), made before the clock starts. Progress goes to stderr. Rows `threads`, `table`,
`refine` and `blocks` run in this process.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import pathlib
import platform
import sys
import tempfile

import coding
import fitting
import numba
import numpy as np
import rounds
import shapes
import short
import start
import text
from harness import Bench
from honesty import honesty

import ubpe_numba

ROWS = {
    row.__name__: row
    for row in (
        fitting.fit, fitting.fit1, fitting.bpe, fitting.growth, fitting.table, fitting.threads, fitting.memory, coding.encode,
        shapes.shapes, coding.nbest, honesty, fitting.refine, coding.rank, coding.blocks, coding.decode,
        text.training, text.words, text.decoding, text.pieces,
        rounds.batches, short.short, short.integers, start.start, start.cold, start.loading,
    )
}  # fmt: skip


def main() -> None:
    """Run the rows that are asked for, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", default=",".join(ROWS), help="some of %(default)s")
    parser.add_argument(
        "--quick", action="store_true", help="smaller data, for a first look: three to five minutes"
    )
    native = "a Python that has ubpe-native, 3.12 or later"
    parser.add_argument("--native-python", default=sys.executable, metavar="PATH", help=native)
    parser.add_argument(
        "--out", metavar="PATH", help="write rows, notes and every measurement to a file of JSON"
    )
    parser.add_argument(
        "--again", action="store_true", help="put these rows into the file of --out, the others stay"
    )
    options = parser.parse_args()
    rows = options.rows.split(",")
    if unknown := set(rows) - set(ROWS):
        parser.error(f"--rows: expected some of {', '.join(ROWS)}, got {', '.join(sorted(unknown))}")
    home, bench = os.getcwd(), Bench(options.quick, options.native_python)
    sections: dict[str, list[tuple[str, ...]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for row in rows:
                before = len(bench.rows)
                ROWS[row](bench)
                sections[row] = bench.rows[before:]
        finally:
            os.chdir(home)
    versions = f"Python {platform.python_version()}, numpy {np.__version__}, numba {numba.__version__}"
    machine = f"ubpe-numba {ubpe_numba.__version__}, {versions}, {_processor()}{', --quick' * options.quick}"
    print(machine + "\n")
    print("| what | ours | peer | value | first goal | moonshot | met |\n|" + " --- |" * 7)
    print("\n".join("| " + " | ".join(row) + " |" for row in bench.rows), end="\n\n")
    print("\n".join("- " + note for note in bench.notes))
    if options.out:
        path, told = pathlib.Path(options.out), {"date": f"{datetime.date.today()}", "machine": machine}
        report = told | {"sections": sections, "notes": [*bench.notes], "measurements": bench.raw}
        if options.again:  # rows of the same day and machine beside these
            before = json.loads(path.read_text())
            if any(before[name] != value for name, value in told.items()):
                sys.exit(f"--again: {path} is of another day, machine or version")
            report["sections"] = before["sections"] | sections
            report["notes"] = list(dict.fromkeys(before["notes"] + report["notes"]))
            again = {(run["peer"], run["action"], run.get("data")) for run in bench.raw}
            kept = [
                run
                for run in before["measurements"]
                if (run["peer"], run["action"], run.get("data")) not in again
            ]
            report["measurements"] = kept + bench.raw
        path.write_text(json.dumps(report, indent=1, default=float) + "\n")
    if bench.wrong:
        sys.exit(f"{len(bench.wrong)} results are wrong")


def _processor() -> str:
    try:
        info = pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        info = ""
    model = info.partition("model name")[2].partition("\n")[0].lstrip("\t :")
    return f"{os.cpu_count()} CPUs of {model or platform.machine()}"


if __name__ == "__main__":
    main()
