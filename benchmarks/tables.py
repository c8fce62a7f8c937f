"""The tables of README and pages, made from kept outputs: `report.json` of `compare.py`, `results/model.json` of `model.py`.

    python benchmarks/compare.py --out benchmarks/report.json  # half an hour on an idle machine
    python benchmarks/tables.py                                # writes the tables into the pages

A table lies between ``<!-- report: NAME -->`` and ``<!-- end of report -->``.
"""

from __future__ import annotations

import json
import pathlib
import re
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np

ROOT = pathlib.Path(__file__).parents[1]
#: The pages with tables of the report; no other page states a speed.
PAGES = ("README.md", "docs/benchmarks.md", "docs/understand/where_it_loses.md", "docs/do/which_tokenizer.md")
_WAYS = ("raw", "rank", "shortest", "fewest", "likelihood", "tfidf")
#: Columns of the table of bits: a way of `model.py`, and which of its figures.
_COLUMNS = {
    "raw": ("raw", "bits"),
    "rank": ("rank", "bits"),
    "with the mask": ("rank", "bits_masked"),
    "trained with it": ("masked", "bits"),
    **{way: (way, "bits") for way in ("shortest", "fewest", "likelihood", "tfidf")},
}
_LOSSY = ("coarse", "tolerant")
_CORPORA = ("English", "Chinese", "Russian", "Python", "dna", "ecg", "wav")
_TITLES = {"dna": "DNA", "ecg": "ECG", "wav": "audio"}
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


def of_models(results: dict[str, Any]) -> dict[str, str]:
    """The text of each block about models, from the rows of `model.py`; of several budgets the largest."""
    most = max(row["seconds"] for row in results["rows"])
    rows: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    order = (*_WAYS, "masked", *_LOSSY)
    for row in sorted(
        results["rows"], key=lambda r: (_CORPORA.index(r["corpus"]), order.index(r["way"]), r["size"])
    ):
        if row["seconds"] == most:
            rows.setdefault((row["corpus"], row["way"], row["size"]), []).append(row)
    n_seeds = len({row["seed"] for group in rows.values() for row in group})
    told = f"Measured on {results['date']}, {results['machine']}: {most:g} seconds of a processor, {n_seeds} seeds.\n\n"

    def values(key: tuple[str, str, int], column: str) -> list[float]:
        return [row[column] for row in rows.get(key, []) if column in row]

    def mean(key: tuple[str, str, int], column: str) -> float:
        return statistics.fmean(values(key, column))

    def bits(key: tuple[str, str, int], column: str) -> str:
        if not (all_of := values(key, column)):
            return "-"
        return f"{statistics.fmean(all_of):.3f} ± {(max(all_of) - min(all_of)) / 2:.3f}"

    cells, lossy, steps, predicted = [], [], [], []
    for corpus in dict.fromkeys(key[0] for key in rows):
        sizes = sorted({key[2] for key in rows if key[0] == corpus and key[1] in _WAYS and key[2]})
        known = [(k, c) for k in rows for w, c in _COLUMNS.values() if k[:2] == (corpus, w) and values(k, c)]
        best = min(mean(*cell) for cell in known)
        for size in sizes:
            line = [f"{_TITLES.get(corpus, corpus)}, {size}"]
            for way, column in _COLUMNS.values():
                key = (corpus, way, 0 if way == "raw" else size)
                first = values(key, column) and mean(key, column) <= best
                line.append(f"**{bits(key, column)}**" if first else bits(key, column))
            cells.append(line)
        for key in [key for key in rows if key[0] == corpus]:
            per_token = 1000 / mean(key, "tokens_per_1000")
            name = f"{_TITLES.get(corpus, corpus)}, {key[1]} {key[2] or ''}".strip()
            if key[1] in _LOSSY:
                lossy.append([name, bits(key, "bits"), f"{1000 / per_token:.0f}"])
            if key[1] in ("raw", "rank", "likelihood", *_LOSSY):
                whats = ("training", "generated")
                rates = [mean(key, f"{what}_tokens_per_second") * per_token / 1000 for what in whats]
                shown = [f"{1000 / per_token:.0f}", f"{128 * per_token:.0f}"]
                steps.append([name, *shown, *(f"{rate:.1f}" for rate in rates)])
        own = [
            key for key in rows if key[0] == corpus and key[1] in _WAYS
        ]  # not with a mask: n-grams have none
        y = [mean(key, "bits") for key in own]
        judged = []
        for column in ("tokens_per_1000", "unigram", "order_3", "best"):
            x = [mean(key, column) for key in own]
            judged.append(f"{spearman(x, y):+.2f}, {100 * (y[int(np.argmin(x))] / min(y) - 1):.1f} %")
        predicted.append([_TITLES.get(corpus, corpus), str(len(own)), *judged])
    length = ["corpus, way, size", "tokens per 1000 symbols", "symbols in a context"]
    return {
        "models": told + lines_of(["corpus, size", *_COLUMNS], cells),
        "models_steps": lines_of([*length, "symbols/ms in training", "generated"], steps),
        "models_lossy": lines_of(["signal, way, size", "bits per sample", "ids per 1000 samples"], lossy),
        "models_ngrams": lines_of(
            ["corpus", "rows", "tokens", "unigrams", "order 3", "best order"], predicted
        ),
    }


def spearman(x: list[float], y: list[float]) -> float:
    """The correlation of ranks.

    >>> spearman([1.0, 5.0, 2.0], [10.0, 30.0, 20.0])
    1.0
    """
    order: Callable[[list[float]], Any] = lambda values: np.argsort(np.argsort(values))  # noqa: E731
    return round(float(np.corrcoef(order(x), order(y))[0, 1]), 10)


def lines_of(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    return "".join("| " + " | ".join(row) + " |\n" for row in [head, ["---"] * len(head), *rows])


def blocks() -> dict[str, str]:
    """The text of each block of the pages, from both files of results."""
    report, models = (
        json.loads((ROOT / "benchmarks" / name).read_text(encoding="utf-8"))
        for name in ("report.json", "results/model.json")
    )
    return tables(report) | of_models(models)


def filled(page: str, texts: dict[str, str]) -> str:
    """The text of a page with the tables of a report in it."""
    return _BLOCK.sub(
        lambda found: found[1] + texts[found[2]] + found[3], (ROOT / page).read_text(encoding="utf-8")
    )


def main() -> None:
    """Write the tables into the pages."""
    texts = blocks()
    for page in PAGES:
        (ROOT / page).write_text(filled(page, texts), encoding="utf-8")


if __name__ == "__main__":
    main()
