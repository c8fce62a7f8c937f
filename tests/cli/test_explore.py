"""The command explore: the page that it writes, and when it writes none."""

from __future__ import annotations

import json
import pathlib
import re
from typing import Any

import numpy as np
import pytest
from command_line import INTS, TEXT, fails, process

from ubpe_numba import BPE
from ubpe_numba.cli.main import main
from ubpe_numba.views.explorer.page import unpacked
from ubpe_numba.views.explorer.report import explore


def _data(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_the_page_is_that_of_the_library(here: pathlib.Path) -> None:
    assert main(["explore", "text.json", "a.txt", "-o", "t.html", "--title", "<T>", "--quiet"]) == 0
    report = explore(BPE.load("text.json"), [TEXT], title="<T>", progress=False)
    assert report is not None and (here / "t.html").read_text("utf-8") == report.html


def test_options_become_arguments(here: pathlib.Path) -> None:
    options = [
        "--kind",
        "dna",
        "--letters",
        "ACGTACGT",
        "--unit",
        "nt",
        "--rate",
        "4",
        "--max-symbols",
        "9",
        "--segmentation",
        "shortest",
    ]
    assert main(["explore", "ints.npz", "a.jsonl", "-o", "i.HTML", "--quiet", *options]) == 0
    data = _data((here / "i.HTML").read_text("utf-8"))
    assert (data["kind"], data["unit"], data["rate"], [cut["name"] for cut in data["cuts"]]) == ("dna", "nt", 4.0, ["shortest"])
    assert data["symbols"] == sum(map(len, INTS)) and unpacked(data["arrays"]["values"]).size <= 9
    assert data["labels"][:3] == ["A", "C", "G"]


def test_files_of_all_forms(here: pathlib.Path) -> None:
    flat, offsets = np.concatenate([np.array(doc, np.int16) for doc in INTS]), np.append(0, np.cumsum([len(doc) for doc in INTS]))
    np.savez(here / "a.npz", values=flat, offsets=offsets)
    (here / "a.raw").write_bytes(flat.tobytes())
    pages = []
    for files in (["a.jsonl"], ["a.npz"]):
        assert main(["explore", "ints.npz", *files, "-o", "f.html", "--quiet"]) == 0
        pages.append((here / "f.html").read_text("utf-8"))
    assert pages[0] == pages[1] or _data(pages[0])["arrays"]["ids0"] == _data(pages[1])["arrays"]["ids0"]
    assert main(["explore", "ints.npz", "a.raw", "--dtype", "int16", "-o", "f.html", "--quiet"]) == 0
    assert _data((here / "f.html").read_text("utf-8"))["documents"] == 1
    assert main(["explore", "text.json", "a.txt", "a.txt", "--lines", "-o", "f.html", "--quiet"]) == 0
    assert _data((here / "f.html").read_text("utf-8"))["documents"] == 2 * (TEXT.count(b"\n") + 1)


def test_standard_input_and_output(here: pathlib.Path) -> None:
    done = process("explore", "text.json", "-", "--lines", "-o", "-", "--quiet", input=b"low\nlower\n", cwd=here)
    assert done.returncode == 0 and not done.stderr
    page = done.stdout.decode()
    assert page.startswith("<!doctype html>") and _data(page)["documents"] == 2


@pytest.mark.parametrize("special, n", [("allow", 1), ("ordinary", 0)])
def test_special_tokens(here: pathlib.Path, special: str, n: int) -> None:
    (here / "s.txt").write_text("low<end>low")
    assert main(["explore", "text.json", "s.txt", "-o", "s.html", "--quiet", "--special", special]) == 0
    counts = unpacked(_data((here / "s.html").read_text("utf-8"))["arrays"]["count0"])
    assert counts[BPE.load("text.json").vocabulary.special["<end>"]] == n


def test_special_tokens_refused(here: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "s.txt").write_text("low<end>low")
    said = fails(["explore", "text.json", "s.txt", "-o", "no.html", "--quiet", "--special", "refuse"], capsys)
    assert "s.txt: document 0, position 3: '<end>' is a special token; see --special" in said and not (here / "no.html").exists()


@pytest.mark.parametrize(
    "arguments, code, says",
    [
        (["a.txt", "-o", "page.txt"], 2, "-o: expected a name that ends in .html, got page.txt"),
        (["a.txt", "-o", "none/page.html"], 1, "none: no such folder"),
        (["none.txt", "-o", "no.html"], 1, "none.txt: No such file or directory"),
        (["a.txt", "-o", "no.html", "--max-symbols", "0"], 2, "--max-symbols: expected a number above 0, got 0"),
        (["a.txt", "-o", "no.html", "--rate", "nan"], 2, "--rate: expected a number above 0, got nan"),
        (["a.txt", "-o", "no.html", "--segmentation", "other"], 2, "segmentations: "),
        (["a.txt", "-o", "no.html", "--kind", "other"], 2, "argument --kind: invalid choice"),
        (["a.txt"], 2, "the following arguments are required: -o/--output"),
    ],
)
def test_errors_are_a_line_and_leave_no_file(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, says: str
) -> None:
    assert says in fails(["explore", "text.json", *arguments], capsys, code)
    assert not (here / "no.html").exists()


def test_documents_that_do_not_fit_leave_the_old_page(here: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "old.html").write_text("old")
    (here / "bad.jsonl").write_text("[1, 2]\n[1, 999]")
    said = fails(["explore", "ints.npz", "bad.jsonl", "-o", "old.html", "--quiet"], capsys)
    assert "bad.jsonl: document 1, position 1" in said and (here / "old.html").read_text() == "old"


def test_a_wordpiece_is_refused(here: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "vocab.txt").write_text("[UNK]\nlow\n##er\n")
    said = fails(["explore", "vocab.txt", "a.txt", "-o", "no.html"], capsys)
    assert "vocab.txt: a WordPiece, whose pieces a report cannot show" in said
