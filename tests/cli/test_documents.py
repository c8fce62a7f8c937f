"""The command line reads documents from files of every format and standard input; what it writes is read again."""

import gzip
import itertools
import json
import os
import pathlib
import subprocess
import sys
import wave
from typing import Any

import numpy as np
import pytest
from command_line import ENVIRONMENT, INTS, TEXT, fails, piped, read_all, read_ints, write_ints
from tables import each

from ubpe_numba import BPE, UBPEClassic
from ubpe_numba.cli.documents import Form, Reader, write_documents
from ubpe_numba.cli.main import main


def test_standard_input_of_lines_ids_and_arrays(here: pathlib.Path) -> None:
    """What the other options tell needs no --format."""
    code, ids, told = piped("encode", "text.json", "--lines", "-", given=TEXT + b"\n")
    assert (code, told) == (0, b"") and piped("decode", "text.json", "--lines", "-", given=ids) == (
        0,
        TEXT + b"\n",
        b"",
    )
    _, arrays, _ = piped(
        "encode", "ints.npz", "--format", "jsonl", "--to", "npz", "-", given=(here / "a.jsonl").read_bytes()
    )
    _, again, _ = piped("decode", "ints.npz", "--format", "npz", "-", given=arrays)
    assert [json.loads(line) for line in again.splitlines()] == INTS


def test_standard_input_is_of_the_model_s_kind(here: pathlib.Path) -> None:
    """Text for models of text, jsonl for models of integers; other options say something else."""
    text, ints = BPE.load("text.json"), UBPEClassic.load("ints.npz")
    assert piped("encode", "text.json", "-", given=TEXT)[1].split() == [
        str(i).encode() for i in text.encode(TEXT)
    ]
    want = [" ".join(map(str, ints.encode(doc))).encode() for doc in ([1, 2, 3], [], [3, 3])]
    assert piped("encode", "ints.npz", "-", given=b"[1, 2, 3]\n[]\n[3, 3]\n")[1].split(b"\n")[:-1] == want
    raw = np.array([1, 2, 3], np.int16).tobytes()
    assert piped("encode", "ints.npz", "-", "--dtype", "int16", given=raw) == (0, want[0] + b"\n", b"")
    code, out, told = piped("encode", "text.json", "-", "--format", "jsonl", given=b"[1, 2, 3]\n")
    assert (code, out) == (2, b"") and told.startswith(b"error: -: document 0: expected text, got integers")


@each("name", ["z.txt", "z.jsonl", "z.ndjson", "z.npy", "z.npz", "z.bin"])
def test_compressed_files_are_read_as_what_they_hold(here: pathlib.Path, name: str) -> None:
    docs = [[1, 2, 3], [3, 1, 2]]
    options = write_ints(name, docs)
    if name in ("z.txt", "z.ndjson"):
        (here / name).write_bytes(TEXT if name == "z.txt" else "\n".join(map(json.dumps, docs)).encode())
    data = (here / name).read_bytes()
    # two members, as of `cat`
    (here / f"{name}.GZ").write_bytes(gzip.compress(data[:7]) + gzip.compress(data[7:]))
    for kind in (["text.json", "--lines"], ["text.json"]) if name == "z.txt" else (["ints.npz"],):
        for given, made in ((name, "plain"), (f"{name}.GZ", "packed")):
            assert main(["encode", *kind, given, *options, "-o", f"{made}.npz"]) == 0
            assert main(["fit", "--quiet", "--n-tokens", "300", given, *options, "-o", f"{made}.json"]) == 0
        for end in ("npz", "json"):
            assert (here / f"packed.{end}").read_bytes() == (here / f"plain.{end}").read_bytes()


@each("name", ["i.npz", "i.ids", "i.txt", "i.jsonl"])
def test_compressed_ids_are_decoded(
    here: pathlib.Path, name: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["encode", "text.json", "a.txt", "-o", name]) == 0
    (here / f"{name}.gz").write_bytes(gzip.compress((here / name).read_bytes()))
    assert main(["decode", "text.json", f"{name}.gz"]) == 0 and capsysbinary.readouterr().out == TEXT


def test_integers_are_bytes_of_text_only_where_that_is_said(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save("low.npy", np.frombuffer(b"low lower", np.uint8))
    assert "If they are bytes, use --dtype uint8" in fails(["encode", "text.json", "low.npy"], capsys)
    assert main(["encode", "text.json", "low.npy", "--dtype", "uint8"]) == 0
    assert capsys.readouterr().out.split() == [str(i) for i in BPE.load("text.json").encode("low lower")]


@each("name, content, what", [
    ("none.txt", b"", "symbol"), ("none.jsonl", b"\n\n", "document"), ("two.jsonl", b"[]\n[]\n", "symbol"),
    ("none.npy", np.zeros(0, np.int32), "symbol"), ("none.npz", np.zeros(0, np.int32), "document"),
    ("none.txt.gz", gzip.compress(b"", mtime=0), "symbol"),
])  # fmt: skip
def test_an_empty_file_is_said(
    here: pathlib.Path, name: str, content: bytes | np.ndarray, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if isinstance(content, bytes):
        (here / name).write_bytes(content)
    elif name == "none.npy":
        np.save(name, content)
    else:
        np.savez(name, values=content, offsets=np.zeros(1, np.int64))
    model = "ints.npz" if name in ("two.jsonl", "none.npy", "none.npz", "none.jsonl") else "text.json"
    told = f"warning: {name}: empty, there is no {what} in it"
    for command in (
        ["encode", model, name, "-o", "empty.npz"],
        ["inspect", model, "--top", "0", "--on", name],
    ):
        assert main(command) == 0 and capsys.readouterr().err == f"{told}\n"
    assert main(["fit", "--quiet", name, "-o", "empty.json"]) == 0
    assert capsys.readouterr().err == f"{told}\n"  # once


def test_the_empty_one_of_several_files_is_named(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "none.txt").write_bytes(b"")
    assert main(["encode", "text.json", "--lines", "a.txt", "none.txt", "a.txt", "-o", "some.npz"]) == 0
    assert capsys.readouterr().err == "warning: none.txt: empty, there is no document in it\n"
    (here / "e.ids").write_bytes(b"\n\n")  # ids of empty documents are nothing to warn of
    assert main(["decode", "ints.npz", "e.ids"]) == 0 and capsys.readouterr() == ("[]\n[]\n", "")


def test_too_little_memory_says_nothing_of_the_file(
    here: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def none(*args: object, **options: object) -> None:
        raise MemoryError("no memory")

    np.savez("a.npz", values=np.arange(6), offsets=np.array([0, 6]))
    np.save("a.npy", np.arange(6).reshape(2, 3))
    monkeypatch.setattr(np, "load", none)
    for form in ("npy", "npz"):
        assert fails(["fit", "--quiet", "-o", "m.json", f"a.{form}"], capsys, 1) == "error: no memory\n"


def test_fit_reads_every_array_it_is_given(here: pathlib.Path) -> None:
    """A single one is given to the fit as it is, several are read one after the other."""
    values = np.random.default_rng(1).integers(0, 5, 400).reshape(8, 50)
    for name, part in (("first.npy", values[:4]), ("second.npy", values[4:])):
        np.save(name, part)
    assert (
        main(
            [
                "fit",
                "--quiet",
                "--n-tokens",
                "20",
                "--alphabet",
                "5",
                "-o",
                "two.json",
                "first.npy",
                "second.npy",
            ]
        )
        == 0
    )
    assert BPE.load("two.json")._model.vocabulary == BPE(20, alphabet=5).fit(values)._model.vocabulary
    found = Reader(["first.npy"], Form()).whole()
    assert found["docs"].size == 200 and found["offsets"].tolist() == [0, 50, 100, 150, 200]


EQUAL = [[[1, 2, 3]], [[1, 2, 3], [3, 2, 1]], [[]]]  # in length, as npy and raw files need it
FILES = [(name, docs) for name in ("x.jsonl", "x.npz") for docs in (INTS, *EQUAL)]
FILES += [(name, docs) for name in ("x.npy", "x.bin") for docs in EQUAL]


@each("file, ids", zip(FILES, itertools.cycle(["ids.npz", "ids.jsonl", "ids.ids", "ids.txt"])))
def test_integers_are_encoded_and_decoded_between_files(
    here: pathlib.Path, file: tuple[str, list[list[int]]], ids: str
) -> None:
    name, docs = file
    options = write_ints(name, docs)
    assert main(["encode", "ints.npz", name, *options, "-o", ids]) == 0
    back = f"back-{name}"
    assert main(["decode", "ints.npz", ids, "-o", back, "--out-dtype", "int16"]) == 0
    record = len(docs[0]) if len(docs) > 1 else 0
    assert read_ints(back, "int16", record if name == "x.bin" else 0) == docs


WORDS = b'["low", "high", "low", "high"]\n[]\n["high", "\\u00e9"]\n'


@each("name, content", [("x.jsonl", WORDS), ("x.km", b"14 14 171\n\n-3 14 14\n")])
def test_words_and_units_are_encoded_and_decoded_between_files(
    here: pathlib.Path, name: str, content: bytes
) -> None:
    (here / name).write_bytes(content)
    special = ["--special-token", "[PAD]", "--special-first", "--unknown", "[PAD]"]
    assert main(["fit", "--quiet", name, *special, "-o", "m.json"]) == 0
    # as --help says
    assert BPE.load("m.json").vocabulary.special == {"[PAD]": 0} and BPE.load("m.json").n_tokens == 4096
    assert (
        main(["encode", "m.json", name, "-o", "x.ids"])
        == main(["decode", "m.json", "x.ids", "-o", f"back-{name}"])
        == 0
    )
    assert (here / f"back-{name}").read_bytes() == content and main(["inspect", "m.json", "--on", name]) == 0


SEQUENCES = [
    ("x.fa", b";a comment\n>1 chr1\r\nAC gt\r\n;of it\n\nN*-\r\n>empty\n>2\nT", [b"ACgtN*-", b"", b"T"]),
    ("x.fastq", b"\n@1\nACGT\nNN\n+1\n@II>\n+I\n@2\n\n+\n\n@3\nG\n+\n@", [b"ACGTNN", b"", b"G"]),
    ("x.unt", b"a 1|2 3,-4\n\n7\n", [[2, 3, -4], [], [7]]),
]


@each("name, content, docs", SEQUENCES)
def test_headers_are_no_data(here: pathlib.Path, name: str, content: bytes, docs: list[Any]) -> None:
    for path, data in ((name, content), (f"{name}.gz", gzip.compress(content))):
        (here / path).write_bytes(data)
        assert [doc if isinstance(doc, bytes) else doc.tolist() for doc in read_all(path, Form())] == docs


@each(
    "width, low, high",
    [(1, 0, 255), (2, -(2**15), 2**15 - 1), (3, -(2**23), 2**23 - 1), (4, -(2**31), 2**31 - 1)],
)
def test_samples_of_wav_are_exact(here: pathlib.Path, width: int, low: int, high: int) -> None:
    left, right = [low, high, 0, 1], [high, 2, low, 3]
    with wave.open("x.wav", "wb") as sound:
        sound.setparams((2, width, 8000, 0, "NONE", ""))
        sound.writeframes(
            b"".join(
                i.to_bytes(width, "little", signed=width > 1) for i in np.c_[left, right].ravel().tolist()
            )
        )
    # 16 bytes of format from 20 on; in an extensible one the kind of samples is said later
    data = (here / "x.wav").read_bytes()
    kind = b"\xfe\xff" + data[22:36] + bytes([22, 0, 8 * width, *bytes(5), 1, *bytes(15)])
    rest = data[8:16] + bytes([40, 0, 0, 0]) + kind + data[36:]
    (here / "y.wav").write_bytes(b"RIFF" + len(rest).to_bytes(4, "little") + rest)
    assert [[doc.tolist() for doc in read_all(path, Form())] for path in ("x.wav", "y.wav")] == [
        [left, right]
    ] * 2


@each("text, ids", [
    (TEXT, "t.npz"), (b"", "t.npy"), (bytes(range(256)), "t.jsonl"), ("\ud800".encode("utf-8", "surrogatepass"), "t.ids"),
    (TEXT, "t.bin"),
])  # fmt: skip
def test_a_text_is_encoded_and_decoded_between_files(here: pathlib.Path, text: bytes, ids: str) -> None:
    (here / "x.txt").write_bytes(text)
    assert main(["encode", "text.json", "x.txt", "-o", ids]) == 0
    assert (
        main(["decode", "text.json", ids, "-o", "back.txt"]) == 0 and (here / "back.txt").read_bytes() == text
    )
    for name in ("back.npz", "back.npy", "back.bin"):
        assert main(["decode", "text.json", ids, "-o", name]) == 0
        assert main(["encode", "text.json", name, "--dtype", "uint8", "-o", f"again-{ids}"]) == 0
        assert (here / f"again-{ids}").read_bytes() == (here / ids).read_bytes()
        found = read_all(name, Form(dtype="uint8"))
        assert [doc.tobytes() for doc in found] == [text] and found[0].dtype == np.uint8


def test_jsonl_is_encoded_and_decoded_between_files(here: pathlib.Path) -> None:
    docs = ["low", "", "two\nlines", "\ud800 低 \U0001f600"]
    (here / "x.jsonl").write_text("".join(json.dumps({"body": doc}) + "\n" for doc in docs))
    assert main(["encode", "text.json", "--field", "body", "x.jsonl", "-o", "x.npz"]) == 0
    assert main(["decode", "text.json", "x.npz", "-o", "back.jsonl"]) == 0
    assert [json.loads(line) for line in (here / "back.jsonl").read_text().splitlines()] == docs


def test_the_old_file_stays(here: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "kept.jsonl").write_text("old")
    (here / "odd.jsonl").write_text("[1]\n[9]")
    fails(["encode", "ints.npz", "odd.jsonl", "-o", "kept.jsonl"], capsys)
    assert (here / "kept.jsonl").read_text() == "old" and not list(here.glob(".kept*"))


def test_arrays_of_several_dtypes_are_written_in_one_that_holds_all(tmp_path) -> None:
    write_documents(str(tmp_path / "x.npz"), Form(), [np.array([2**40]), np.array([1], np.int32)], None)
    assert np.load(tmp_path / "x.npz")["values"].tolist() == [2**40, 1]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_full_disk_is_told_with_what_was_written(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    err = fails(["encode", "text.json", "a.txt", "--to", "ids", "-o", "/dev/full"], capsys, 1)
    assert err == "error: /dev/full: No space left on device\n"
    for command in (["encode", "text.json", "a.txt"], ["inspect", "text.json"]):
        with open("/dev/full", "wb") as full:
            line = [sys.executable, "-m", "ubpe_numba", *command]
            done = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, env=ENVIRONMENT, check=False)
        assert done.returncode == 1 and done.stderr.decode().splitlines() == [
            "error: standard output: No space left on device"
        ]
