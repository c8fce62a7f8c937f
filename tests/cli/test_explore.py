"""The command explore: the page that it writes, and when it writes none."""

import json
import pathlib
from typing import Any

import pytest
from command_line import INTS, TEXT, fails, piped
from explorer_reports import unpacked

from ubpe_numba import BPE
from ubpe_numba.cli.main import main
from ubpe_numba.views.explorer.report import explore


def _data(page: str) -> Any:
    return json.loads(
        page.partition('<script type="application/json" id="data">')[2].partition("</script>")[0]
    )


def test_the_page_is_that_of_the_library(here: pathlib.Path) -> None:
    assert main(["explore", "text.json", "a.txt", "-o", "t.html", "--title", "<T>", "--quiet"]) == 0
    report = explore(BPE.load("text.json"), [TEXT], title="<T>", progress=False)
    assert report is not None and (here / "t.html").read_text("utf-8") == report.html


def test_options_become_arguments(here: pathlib.Path) -> None:
    options = ["--kind", "dna", "--letters", "ACGTACGT", "--unit", "nt", "--rate", "4"]
    options += ["--max-symbols", "9", "--segmentation", "shortest"]
    assert main(["explore", "ints.npz", "a.jsonl", "-o", "i.HTML", "--quiet", *options]) == 0
    data = _data((here / "i.HTML").read_text("utf-8"))
    assert (data["kind"], data["unit"], data["rate"], [cut["name"] for cut in data["cuts"]]) == (
        "dna",
        "nt",
        4.0,
        ["shortest"],
    )
    assert data["symbols"] == sum(map(len, INTS)) and unpacked(data["arrays"]["values"]).size <= 9
    assert data["labels"][:3] == ["A", "C", "G"]


def test_standard_input_and_output(here: pathlib.Path) -> None:
    code, page, told = piped(
        "explore", "text.json", "-", "--lines", "-o", "-", "--quiet", given=b"low\nlower\n"
    )
    assert (
        (code, told) == (0, b"")
        and page.startswith(b"<!doctype html>")
        and _data(page.decode())["documents"] == 2
    )


def test_special_tokens(here: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "s.txt").write_text("low<end>low")
    command = ["explore", "text.json", "s.txt", "-o", "s.html", "--quiet", "--special"]
    assert "s.txt: document 0, position 3: '<end>' is a special token; see --special" in fails(
        [*command, "refuse"], capsys
    )
    assert not (here / "s.html").exists()
    for special, n in (("allow", 1), ("ordinary", 0)):
        assert main([*command, special]) == 0
        counts = unpacked(_data((here / "s.html").read_text("utf-8"))["arrays"]["count0"])
        assert counts[BPE.load("text.json").vocabulary.special["<end>"]] == n


def test_documents_that_do_not_fit_leave_the_old_page(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "old.html").write_text("old")
    (here / "bad.jsonl").write_text("[1, 2]\n[1, 999]")
    (here / "vocab.txt").write_text("[UNK]\nlow\n##er\n")
    for given, told in (
        (["ints.npz", "bad.jsonl"], "bad.jsonl: document 1, position 1"),
        (["vocab.txt", "a.txt"], "vocab.txt: a report cannot show a WordPiece"),
    ):
        assert told in fails(["explore", *given, "-o", "old.html", "--quiet"], capsys)
        assert (here / "old.html").read_text() == "old"
