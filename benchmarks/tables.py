"""The tables of README and pages, made from `report.json`, the kept output of `compare.py`.

    python benchmarks/compare.py --out benchmarks/report.json  # half an hour on an idle machine
    python benchmarks/tables.py                                # writes the tables into the pages

A table lies between ``<!-- report: NAME -->`` and ``<!-- end of report -->``.
"""

from __future__ import annotations

import json
import pathlib
import re
from typing import Any

ROOT = pathlib.Path(__file__).parents[1]
#: The pages with tables of the report; no other page states a speed.
PAGES = ("README.md", "docs/benchmarks.md", "docs/understand/where_it_loses.md")
_BLOCK = re.compile(r"(<!-- report: (\w+) -->\n).*?(<!-- end of report -->)", re.DOTALL)
#: Rows of the README, by how they begin; of several the one with the strongest peer.
_CHOSEN = (
    "BPE fit, 4096 tokens, DNA, one document",
    "UBPE encode top-1, 1024 tokens, ECG, documents of 10 k",
    "encode of str, o200k, English, documents of 10 kB",
    "BPE training, 32768 tokens, gpt2, en_kjv",
    "encode of a str of 20 B, o200k",
)
_PREFIXES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "m": 1e-3, "µ": 1e-6}


def amount(cell: str) -> tuple[float, bool] | None:
    """The first figure of a cell such as ``23 (21) MB/s``, and whether more of it is better; None if there is none.

    >>> amount("23 (21) MB/s"), amount("3.7 µs"), amount("not installed")
    ((23000000.0, True), (3.7e-06, False), None)
    """
    found = re.match(r"([\d.]+)(?: \([\d.]+\))? ([kMGmµ]?)(sym/s|B/s|s|B)\b", cell)
    return (float(found[1]) * _PREFIXES[found[2]], found[3].endswith("/s")) if found else None


def loses(row: list[str]) -> bool:
    """Whether a package is better than this one in a row.

    >>> loses(["encode", "218 MB/s", "a 0.3.5: 244 MB/s; b 0.14.0: 13 MB/s"]), loses(["load", "0.3 s", "x 1: 0.4 s"])
    (True, False)
    """
    ours = amount(row[1])
    others = [amount(cell.partition(": ")[2]) for cell in row[2].split("; ")]
    return ours is not None and any(
        ours[1] == o[1] and (o[0] > ours[0] if o[1] else o[0] < ours[0]) for o in others if o
    )


def _table(rows: list[list[str]]) -> str:
    lines = ["| what | this library | others | ratio |", "|---|---|---|---|"]
    return "\n".join([*lines, *("| " + " | ".join(row[:4]) + " |" for row in rows)]) + "\n"


def tables(report: dict[str, Any]) -> dict[str, str]:
    """The text of each block."""
    rows = [row for section in report["sections"].values() for row in section]
    chosen = []
    for begin in _CHOSEN:
        row = min(
            (row for row in rows if row[0].startswith(begin)),
            key=lambda row: float(row[3].split()[0].replace(",", "")),
        )
        # but for the first of a new encoder
        chosen.append([re.sub(r" \([\d.]+\)", "", cell) for cell in row])
    told = f"Measured on {report['date']}: {report['machine']}.\n\n"
    notes = "\n".join("- " + note for note in report["notes"]) + "\n"
    whole = "\n".join(
        f"## `{name}`\n\n{_table(section)}" for name, section in report["sections"].items() if section
    )
    every = f"{told}{whole}\n## Notes\n\n{notes}"
    return {"chosen": told + _table(chosen), "losing": told + _table([*filter(loses, rows)]), "all": every}


def filled(page: str, blocks: dict[str, str]) -> str:
    """The text of a page with the tables of a report in it."""
    return _BLOCK.sub(
        lambda found: found[1] + blocks[found[2]] + found[3], (ROOT / page).read_text(encoding="utf-8")
    )


def main() -> None:
    """Write the tables into the pages."""
    blocks = tables(json.loads((ROOT / "benchmarks" / "report.json").read_text(encoding="utf-8")))
    for page in PAGES:
        (ROOT / page).write_text(filled(page, blocks), encoding="utf-8")


if __name__ == "__main__":
    main()
