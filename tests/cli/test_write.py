"""What the command line writes is read again: integers, text, lines, JSON Lines and arrays."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from command_line import ENVIRONMENT, INTS, TEXT, fails, process, read_all, read_ints, write_ints
from tables import each

from ubpe_numba import BPE
from ubpe_numba.cli.documents import Form, write_documents
from ubpe_numba.cli.main import main

EQUAL = [[[1, 2, 3]], [[1, 2, 3], [3, 2, 1]], [[]]]  # in length, as npy and raw files need it
FILES = [(name, docs) for name in ("x.jsonl", "x.npz") for docs in (INTS, *EQUAL)]
FILES += [(name, docs) for name in ("x.npy", "x.bin") for docs in EQUAL]


@each("ids", ["ids.npz", "ids.jsonl", "ids.ids", "ids.txt"])
@each("name, docs", FILES)
def test_integers_are_encoded_and_decoded_between_files(here: pathlib.Path, name: str, ids: str, docs: list[list[int]]) -> None:
    options = write_ints(name, docs)
    assert main(["encode", "ints.npz", name, *options, "-o", ids]) == 0
    back = f"back-{name}"
    assert main(["decode", "ints.npz", ids, "-o", back, "--out-dtype", "int16"]) == 0
    record = len(docs[0]) if len(docs) > 1 else 0
    assert read_ints(back, "int16", record if name == "x.bin" else 0) == docs


@each("ids", ["t.npz", "t.npy", "t.jsonl", "t.ids", "t.bin"])
@each("text", [TEXT, b"", bytes(range(256)), "\ud800".encode("utf-8", "surrogatepass")])
def test_a_text_is_encoded_and_decoded_between_files(here: pathlib.Path, text: bytes, ids: str) -> None:
    (here / "x.txt").write_bytes(text)
    assert main(["encode", "text.json", "x.txt", "-o", ids]) == 0
    assert main(["decode", "text.json", ids, "-o", "back.txt"]) == 0
    assert (here / "back.txt").read_bytes() == text
    for name in ("back.npz", "back.npy", "back.bin"):
        assert main(["decode", "text.json", ids, "-o", name]) == 0
        assert main(["encode", "text.json", name, "--dtype", "uint8", "-o", f"again-{ids}"]) == 0
        assert (here / f"again-{ids}").read_bytes() == (here / ids).read_bytes()
        found = read_all(name, Form(dtype="uint8"))
        assert [doc.tobytes() for doc in found] == [text] and found[0].dtype == np.uint8


def test_lines_are_encoded_and_decoded_between_files(here: pathlib.Path) -> None:
    assert main(["encode", "text.json", "--lines", "a.txt", "-o", "l.npz"]) == 0
    with np.load("l.npz") as data:
        assert data["values"].dtype == np.int32 and data["offsets"].dtype == np.int64 and data["offsets"].size == 6
    assert main(["decode", "text.json", "l.npz", "--lines", "-o", "back.txt"]) == 0
    assert (here / "back.txt").read_bytes() == TEXT + b"\n"


def test_jsonl_is_encoded_and_decoded_between_files(here: pathlib.Path) -> None:
    docs = ["low", "", "two\nlines", "\ud800 低 \U0001f600"]
    (here / "x.jsonl").write_text("".join(json.dumps({"body": doc}) + "\n" for doc in docs))
    assert main(["encode", "text.json", "--field", "body", "x.jsonl", "-o", "x.npz"]) == 0
    assert main(["decode", "text.json", "x.npz", "-o", "back.jsonl"]) == 0
    assert [json.loads(line) for line in (here / "back.jsonl").read_text().splitlines()] == docs


def test_encode_and_decode_from_standard_input_to_standard_output(here: pathlib.Path) -> None:
    ids = process("encode", "text.json", "--format", "text", "-", input=TEXT)
    expected = BPE.load("text.json").encode(TEXT).tolist()
    assert (ids.returncode, ids.stderr, list(map(int, ids.stdout.split()))) == (0, b"", expected)
    back = process("decode", "text.json", "--format", "ids", "-", input=ids.stdout)
    assert (back.returncode, back.stderr, back.stdout) == (0, b"", TEXT)
    arrays = process("encode", "ints.npz", "--format", "jsonl", "--to", "npz", "-", input=(here / "a.jsonl").read_bytes())
    again = process("decode", "ints.npz", "--format", "npz", "-", input=arrays.stdout)
    assert [json.loads(line) for line in again.stdout.splitlines()] == INTS


def test_the_old_file_stays(here: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "kept.jsonl").write_text("old")
    (here / "odd.jsonl").write_text("[1]\n[9]")
    fails(["encode", "ints.npz", "odd.jsonl", "-o", "kept.jsonl"], capsys)
    assert (here / "kept.jsonl").read_text() == "old" and not list(here.glob(".kept*"))


def test_arrays_of_several_dtypes_are_written_in_one_that_holds_all(tmp_path) -> None:
    write_documents(str(tmp_path / "x.npz"), Form(), [np.array([2**40]), np.array([1], np.int32)], None)
    assert np.load(tmp_path / "x.npz")["values"].tolist() == [2**40, 1]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_full_disk_is_told_with_what_was_written(here: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    err = fails(["encode", "text.json", "a.txt", "--to", "ids", "-o", "/dev/full"], capsys, 1)
    assert err == "error: /dev/full: No space left on device\n"
    for command in (["encode", "text.json", "a.txt"], ["inspect", "text.json"]):
        with open("/dev/full", "wb") as full:
            line = [sys.executable, "-m", "ubpe_numba", *command]
            done = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, env=ENVIRONMENT, check=False)
        assert done.returncode == 1
        assert done.stderr.decode().splitlines() == ["error: standard output: No space left on device"]
