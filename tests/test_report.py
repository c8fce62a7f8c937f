"""Figures of speed and of models in the README and the pages are those of the files that benchmarks wrote."""

import importlib.util
import json
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parent.parent
SPEED = re.compile(
    r"\d[\d.,]*(?: to [\d.]+)? ?(?:[kMG]?B/s|[kMG] ?sym(?:bols)?/s|µs|ns\b|times (?:as fast|faster))"
)


def _module():
    spec = importlib.util.spec_from_file_location("tables", ROOT / "benchmarks" / "tables.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TABLES = _module()
REPORT = json.loads((ROOT / "benchmarks" / "report.json").read_text(encoding="utf-8"))
BLOCKS = TABLES.blocks()


@pytest.mark.parametrize("page", TABLES.PAGES)
def test_the_tables_of_a_page_are_those_of_the_report(page: str) -> None:
    assert TABLES.filled(page, BLOCKS) == (ROOT / page).read_text(encoding="utf-8")
    assert "<!-- report: " in (ROOT / page).read_text(encoding="utf-8")


def test_a_figure_in_the_prose_of_a_page_is_in_the_report() -> None:
    text = json.dumps(REPORT["sections"], ensure_ascii=False)
    odd = []
    # the cluster's page tells of `benchmarks/machines.py`, which starts clusters and has a command of its own
    pages = {ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")} - {
        ROOT / "docs" / "distributed.md"
    }
    for page in sorted(page for page in pages if "_build" not in page.parts):
        prose = TABLES._BLOCK.sub("", page.read_text(encoding="utf-8"))
        odd += [f"{page.relative_to(ROOT)}: {found}" for found in SPEED.findall(prose) if found not in text]
    assert odd == []


def test_a_report_is_whole() -> None:
    assert "--quick" not in REPORT["machine"] and re.fullmatch(r"\d{4}-\d\d-\d\d", REPORT["date"])
    assert {"fit", "encode", "decode", "training", "batches", "short", "loading"} <= REPORT["sections"].keys()
    assert all(run.get("seconds") or run.get("found") or run.get("error") for run in REPORT["measurements"])
