"""The command line: every format there and back, models in every form, and what is said when something is wrong."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest

import ubpe_numba
from ubpe_numba import BPE, UBPE, UBPEClassic
from ubpe_numba.cli import main as cli
from ubpe_numba.cli import read as corpora
from ubpe_numba.cli.main import main

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(pathlib.Path(cli.__file__).parents[1])}
TEXT = b"low lower lowest newer newest\nwide wider widest\n\n\xe4\xbd\x8e \xff\r\nlow low low"
INTS = [[1, 2, 3, 1, 2, 3, 1, 2], [], [3, 1, 2, 3, 3], [2]]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A model of text and one of integers."""
    folder = tmp_path_factory.mktemp("cli")
    (folder / "a.txt").write_bytes(TEXT)
    (folder / "a.jsonl").write_text("\n".join(map(json.dumps, INTS)))
    fit = ["fit", "--quiet", "--n-tokens"]
    assert main([*fit, "280", "-o", f"{folder}/text.json", "--special-token", "<end>", f"{folder}/a.txt"]) == 0
    assert main([*fit, "8", "-o", f"{folder}/ints.npz", "--tokenizer", "UBPEClassic", f"{folder}/a.jsonl"]) == 0
    return folder


@pytest.fixture
def here(home: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.chdir(home)
    return home


def fails(arguments: list[str], capsys: Any, code: int = 2) -> str:
    """The only line on standard error."""
    try:
        found = main(arguments)
    except SystemExit as error:  # argparse
        found = error.code
    assert found == code
    out, err = capsys.readouterr()
    assert err.startswith("error: ") and err.count("\n") == 1 and not out
    return str(err)


def process(*arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "ubpe_numba", *arguments], capture_output=True, env=ENVIRONMENT, **options)


# -------------------------------------------------------------------------------------------------- fit


def test_fit_is_the_library_s_fit(here: pathlib.Path) -> None:
    same = BPE(280, alphabet=bytes(range(256)), encoding="utf-8", special_tokens=["<end>"]).fit(TEXT)
    assert BPE.load("text.json").fingerprint == same.fingerprint
    assert UBPEClassic.load("ints.npz").fingerprint == UBPEClassic(8).fit(INTS).fingerprint


def test_fit_options(here: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "more.txt").write_bytes(b"slow slower slowest")
    options = ["--n-tokens", "270", "--n-candidates", "3", "--tokenizer", "UBPE", "--objective", "shortest", "--threads", "1"]
    more = ["--pretokenizer", "gpt2", "--max-token-length", "4", "--min-count", "3", "--memory-limit", "0.5G"]
    assert main(["fit", *options, *more, "-o", "u.npz", "a.txt", "more.txt"]) == 0
    tok = UBPE.load("u.npz")
    assert np.diff(tok.vocabulary.offsets).max() <= 4 and tok.vocabulary.counts[256:].min() >= 3
    assert tok.objective == "shortest" and tok.pretokenizer.name == "gpt2"
    assert f"u.npz: UBPE of {len(tok.vocabulary)} tokens" in capsys.readouterr().err


def test_fit_memory_maps(here: pathlib.Path) -> None:
    values = np.random.default_rng(0).integers(0, 9, 600).astype(">i2")
    np.save("big.npy", values.reshape(20, 30))
    (here / "big.bin").write_bytes(values.tobytes())
    options = ["--quiet", "--n-tokens", "20", "--alphabet", "12"]
    assert main(["fit", *options, "-o", "npy.json", "big.npy"]) == 0
    assert main(["fit", *options, "-o", "raw.json", "--dtype", ">i2", "--record", "30", "big.bin"]) == 0
    same = BPE(20, alphabet=12).fit(values.reshape(20, 30))
    assert BPE.load("npy.json").vocabulary == BPE.load("raw.json").vocabulary == same.vocabulary


def test_warnings_are_a_line(here: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", "--quiet", "--n-tokens", "260", "--tokenizer", "UBPE", "-o", "w.json", "a.txt"]) == 0
    err = capsys.readouterr().err
    assert err.startswith("warning: every idf is 0") and err.count("\n") == 1


def test_curve(here: pathlib.Path) -> None:
    for name in ("c.csv", "c.png"):
        assert main(["fit", "--quiet", "--n-tokens", "262", "--curve", name, "-o", "c.json", "a.txt"]) == 0
    sizes, ratios = BPE(262, alphabet=bytes(range(256)), encoding="utf-8").fit(TEXT).compression_curve()
    rows = (here / "c.csv").read_text().splitlines()
    assert rows[0] == "n_tokens,symbols_per_token"
    assert [row.split(",") for row in rows[1:]] == [[str(n), str(r)] for n, r in zip(sizes, ratios.tolist(), strict=True)]
    assert (here / "c.png").read_bytes().startswith(b"\x89PNG")


def test_fit_reads_lines(here: pathlib.Path) -> None:
    assert main(["fit", "--quiet", "--n-tokens", "260", "--lines", "-o", "l.json", "a.txt"]) == 0
    lines = TEXT.split(b"\n")
    same = BPE(260, alphabet=bytes(range(256)), encoding="utf-8").fit(lines)
    assert BPE.load("l.json").fingerprint == same.fingerprint and BPE.load("l.json").vocabulary.n_documents == len(lines)


@pytest.mark.parametrize("size, n", [("1", 1), ("500M", 500_000_000), ("2G", 2 * 10**9), ("1.5KB", 1500), ("3k", 3000)])
def test_sizes(size: str, n: int) -> None:
    assert cli._bytes(size) == n


# -------------------------------------------------------------------------------------------------- there and back


def write_ints(name: str, docs: list[list[int]], dtype: str = "int16") -> list[str]:
    """Documents of integers in a file of the format that its suffix tells; the options that reading it needs."""
    values, offsets = np.array([i for doc in docs for i in doc], dtype), np.cumsum([0] + [len(doc) for doc in docs])
    path = pathlib.Path(name)
    match path.suffix:
        case ".jsonl":
            path.write_text("\n".join(map(json.dumps, docs)) + "\n\n")
        case ".npz":
            np.savez(path, values=values, offsets=offsets)
        case ".npy":
            np.save(path, values.reshape(len(docs), -1) if len(docs) > 1 else values)
        case ".bin":
            path.write_bytes(values.tobytes())
            return ["--dtype", dtype] + (["--record", str(len(docs[0]))] if len(docs) > 1 else [])
    return []


def read_ints(name: str, dtype: str, record: int) -> list[list[int]]:
    form = corpora.Form(dtype=dtype, record=record or None)
    return [doc.tolist() for doc in corpora.Reader([name], form)]


@pytest.mark.parametrize("ids", ["ids.npz", "ids.jsonl", "ids.ids", "ids.txt"])
@pytest.mark.parametrize("name", ["x.jsonl", "x.npz", "x.npy", "x.bin"])
@pytest.mark.parametrize("docs", [INTS, [[1, 2, 3]], [[1, 2, 3], [3, 2, 1]], [[]]])
def test_integers_there_and_back(here: pathlib.Path, name: str, ids: str, docs: list[list[int]]) -> None:
    if len({len(doc) for doc in docs}) > 1 and name in ("x.npy", "x.bin"):
        return
    options = write_ints(name, docs)
    assert main(["encode", "ints.npz", name, *options, "-o", ids]) == 0
    back = f"back-{name}"
    assert main(["decode", "ints.npz", ids, "-o", back, "--out-dtype", "int16"]) == 0
    record = len(docs[0]) if len(docs) > 1 else 0
    assert read_ints(back, "int16", record if name == "x.bin" else 0) == docs
    if name == "x.bin":
        assert pathlib.Path(back).read_bytes() == pathlib.Path(name).read_bytes()


@pytest.mark.parametrize("ids", ["t.npz", "t.npy", "t.jsonl", "t.ids", "t.bin"])
@pytest.mark.parametrize("text", [TEXT, b"", bytes(range(256)), "\ud800".encode("utf-8", "surrogatepass")])
def test_a_text_there_and_back(here: pathlib.Path, text: bytes, ids: str) -> None:
    (here / "x.txt").write_bytes(text)
    assert main(["encode", "text.json", "x.txt", "-o", ids]) == 0
    assert main(["decode", "text.json", ids, "-o", "back.txt"]) == 0
    assert (here / "back.txt").read_bytes() == text
    for name in ("back.npz", "back.npy", "back.bin"):
        assert main(["decode", "text.json", ids, "-o", name]) == 0
        assert main(["encode", "text.json", name, "--dtype", "uint8", "-o", f"again-{ids}"]) == 0
        assert (here / f"again-{ids}").read_bytes() == (here / ids).read_bytes()
        found = list(corpora.Reader([name], corpora.Form(dtype="uint8")))
        assert [doc.tobytes() for doc in found] == [text] and found[0].dtype == np.uint8


def test_lines_there_and_back(here: pathlib.Path) -> None:
    assert main(["encode", "text.json", "--lines", "a.txt", "-o", "l.npz"]) == 0
    with np.load("l.npz") as data:
        assert data["values"].dtype == np.int32 and data["offsets"].dtype == np.int64 and data["offsets"].size == 6
    assert main(["decode", "text.json", "l.npz", "--lines", "-o", "back.txt"]) == 0
    assert (here / "back.txt").read_bytes() == TEXT + b"\n"


def test_jsonl_there_and_back(here: pathlib.Path) -> None:
    docs = ["low", "", "two\nlines", "\ud800 低 \U0001f600"]
    (here / "x.jsonl").write_text("".join(json.dumps({"body": doc}) + "\n" for doc in docs))
    assert main(["encode", "text.json", "--field", "body", "x.jsonl", "-o", "x.npz"]) == 0
    assert main(["decode", "text.json", "x.npz", "-o", "back.jsonl"]) == 0
    assert [json.loads(line) for line in (here / "back.jsonl").read_text().splitlines()] == docs


def test_arrays_of_ids(here: pathlib.Path) -> None:
    write_ints("x.npy", [[1, 2, 1], [2, 1, 2]])
    assert main(["encode", "ints.npz", "x.npy", "-o", "ids.npy"]) == 0
    ids = np.load("ids.npy")
    assert ids.dtype == np.int32 and ids.shape[0] == 2
    assert main(["decode", "ints.npz", "ids.npy", "-o", "back.npy"]) == 0
    assert np.array_equal(np.load("back.npy"), np.load("x.npy"))


def test_models_of_characters(here: pathlib.Path) -> None:
    BPE(12, alphabet="abc\n").fit(["abcab", "abc\n"]).save("chars.json")
    (here / "x.txt").write_bytes(b"abcabc\nab")
    assert main(["encode", "chars.json", "x.txt", "-o", "c.npz"]) == 0
    assert main(["decode", "chars.json", "c.npz", "-o", "back.txt"]) == 0
    assert (here / "back.txt").read_bytes() == b"abcabc\nab"


def test_standard_streams(here: pathlib.Path) -> None:
    ids = process("encode", "text.json", "--format", "text", "-", input=TEXT)
    expected = BPE.load("text.json").encode(TEXT).tolist()
    assert (ids.returncode, ids.stderr, list(map(int, ids.stdout.split()))) == (0, b"", expected)
    back = process("decode", "text.json", "--format", "ids", "-", input=ids.stdout)
    assert (back.returncode, back.stderr, back.stdout) == (0, b"", TEXT)
    arrays = process("encode", "ints.npz", "--format", "jsonl", "--to", "npz", "-", input=(here / "a.jsonl").read_bytes())
    again = process("decode", "ints.npz", "--format", "npz", "-", input=arrays.stdout)
    assert [json.loads(line) for line in again.stdout.splitlines()] == INTS


def test_special_tokens(here: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "s.txt").write_bytes(b"low<end>")
    told = fails(["encode", "text.json", "a.txt", "s.txt"], capsys)
    assert told == "error: s.txt: document 0, position 3: '<end>' is a special token; see --special\n"
    assert main(["encode", "text.json", "--special", "allow", "s.txt"]) == 0
    assert capsys.readouterr().out.split()[-1] == str(BPE.load("text.json").special_ids["<end>"])
    assert main(["encode", "text.json", "--special", "ordinary", "s.txt"]) == 0
    ordinary = BPE.load("text.json").encode("low<end>", disallowed_special="none")
    assert capsys.readouterr().out.split() == [str(i) for i in ordinary]


def test_standard_input_of_lines_and_ids(here: pathlib.Path) -> None:
    """What the other options tell needs no --format."""
    ids = process("encode", "text.json", "--lines", "-", input=TEXT + b"\n")
    again = process("decode", "text.json", "--lines", "-", input=ids.stdout)
    assert again.stdout == TEXT + b"\n", (ids.stderr, again.stderr)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0 and capsys.readouterr().out == f"ubpe-numba {ubpe_numba.__version__}\n"


# -------------------------------------------------------------------------------------------------- inspect, convert


def test_inspect(here: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    tok = BPE.load("text.json")
    assert main(["inspect", "text.json", "--json", "--top", "3", "--sort", "count", "--on", "a.txt"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["fingerprint"] == tok.fingerprint and found["special_tokens"] == {"<end>": tok.special_ids["<end>"]}
    assert len(found["tokens"]) == 3 and found["tokens"][0]["count"] == tok.vocabulary.counts.max()
    assert found["encoded"]["tokens"] == tok.encode(TEXT).size and found["encoded"]["symbols"] == len(TEXT)
    assert main(["inspect", "text.json"]) == 0
    out = capsys.readouterr().out
    assert tok.fingerprint in out and "256 bytes and 14 pairs" in out and "  'er'\n" in out
    assert main(["inspect", "ints.npz", "--on", "a.jsonl", "--sort", "weight"]) == 0
    assert "integers" in capsys.readouterr().out


def test_inspect_has_a_curve(here: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    docs = [[0, 1, 0, 1, 1, 0, 0, 1] * 4, [1, 1, 0, 1]]
    tok = BPE(7, alphabet=2).fit(docs)
    tok.save("two.json")
    (here / "two.jsonl").write_text("\n".join(map(json.dumps, docs)))
    assert main(["inspect", "two.json", "--json", "--on", "two.jsonl"]) == 0
    curve = json.loads(capsys.readouterr().out)["encoded"]["curve"]
    sizes, ratios = tok.compression_curve()
    assert curve == [[4, pytest.approx(ratios[sizes.tolist().index(4)])]]


@pytest.mark.parametrize("form", ["huggingface", "tiktoken", "vocab-merges"])
def test_convert(here: pathlib.Path, form: str) -> None:
    if form != "vocab-merges":
        pytest.importorskip({"huggingface": "tokenizers"}.get(form, form))
    words = {"huggingface": [], "tiktoken": ["--special-token", "<end>=270"], "vocab-merges": ["--pretokenizer", "none"]}[form]
    assert main(["convert", "text.json", "--to", form, "-o", f"out-{form}"]) == 0
    assert main(["convert", f"out-{form}", "--from", form, *words, "-o", f"{form}.npz"]) == 0
    mine, other = BPE.load("text.json"), BPE.load(f"{form}.npz")
    text = "low lower <end> widest"
    assert mine.encode(text, allowed_special="all").tolist() == other.encode(text, allowed_special="all").tolist()


def test_convert_published_and_own(here: pathlib.Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["convert", "ints.npz", "--to", "published", "-o", "-"]) == 0
    (here / "old.json").write_bytes(capsysbinary.readouterr().out)
    assert main(["convert", "old.json", "--from", "published", "--tokenizer", "UBPEClassic", "-o", "old.npz"]) == 0
    assert main(["convert", "old.npz", "-o", "new.json"]) == 0
    docs = UBPEClassic.load("new.json").encode_batch(INTS)
    assert docs.to_lists() == UBPEClassic.load("ints.npz").encode_batch(INTS).to_lists()


# -------------------------------------------------------------------------------------------------- what is wrong


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["fit", "a.txt"], "-o/--output"),
        (["fit", "a.txt", "-o", "m.pickle"], "-o: expected a name that ends in .json or .npz, got m.pickle"),
        (["fit", "a.unknown", "-o", "m.json"], "a.unknown: its name does not tell the format, say it with --format"),
        (["fit", "-", "-o", "m.json"], "-: its name does not tell the format"),
        (["fit", "a.txt", "-o", "m.json", "--n-candidates", "3"], "--n-candidates: BPE has none, only UBPE and UBPEClassic"),
        (["fit", "a.txt", "-o", "m.json", "--objective", "shortest"], "--objective: BPE has none, only UBPE"),
        (["fit", "a.jsonl", "-o", "m.json", "--pretokenizer", "gpt2"], "--pretokenizer: the documents are integers"),
        (["fit", "a.txt", "-o", "m.json", "--alphabet", "9"], "--alphabet: the documents are text"),
        (["fit", "a.jsonl", "-o", "m.json", "--alphabet", "3"], "a.jsonl: document 0, position 2: symbol 3 is not"),
        (["fit", "a.jsonl", "-o", "m.json", "--special-token", "x"], "--special-token: the documents are integers"),
        (["fit", "a.txt", "-o", "m.json", "--pretokenizer", "gtp2"], "there is no 'gtp2'"),
        (["fit", "a.txt", "-o", "m.json", "--n-tokens", "5"], "n_tokens: expected at least the alphabet's 256"),
        (["fit", "a.txt", "-o", "m.json", "--memory-limit", "2X"], "expected a number of bytes such as 500M or 2G, got '2X'"),
        (["fit", "a.txt", "-o", "m.json", "--curve", "c.pdf"], "--curve: expected a name that ends in .csv or .png"),
        (["fit", "a.txt", "a.jsonl", "-o", "m.json"], "a.jsonl: document 0: integers, but documents before it are text"),
        (["fit", "bad.jsonl", "-o", "m.json"], "bad.jsonl: line 2: not valid JSON"),
        (["fit", "fields.jsonl", "-o", "m.json"], "fields.jsonl: line 1: no field 'text', say another with --field"),
        (["fit", "float.jsonl", "-o", "m.json"], "float.jsonl: line 1"),
        (["fit", "a.txt", "--format", "npy", "-o", "m.json"], "a.txt: not a valid npy file"),
        (["fit", "a.txt", "--format", "npz", "-o", "m.json"], "a.txt: not a valid npz file"),
        (["fit", "a.txt", "--format", "raw", "-o", "m.json"], "a.txt: raw integers, say of which type with --dtype"),
        (["fit", "a.jsonl", "--lines", "-o", "m.json"], "--lines: for text only, the input is jsonl"),
        (["encode", "text.json", "a.txt", "--record", "3"], "--record: for raw only, the input is text"),
        (["fit", "a.txt", "--format", "raw", "--dtype", "float32", "-o", "m.json"], "--dtype: expected a type of integers"),
        (["fit", "a.txt", "--format", "raw", "--dtype", "int16", "-o", "m.json"], "bytes are no whole number of int16"),
        (["fit", "a.txt", "--format", "raw", "--dtype", "u1", "--record", "7", "-o", "m.json"], "of records of 7"),
        (["fit", "a.txt", "--format", "raw", "--dtype", "u1", "--record", "0", "-o", "m.json"], "--record: expected at least 1"),
        (["encode", "ints.npz", "a.jsonl", "odd.jsonl"], "odd.jsonl: document 1, position 2: symbol 9 is not in the alphabet"),
        (["encode", "ints.npz", "a.txt"], "a.txt: document 0, position 0: symbol 108 is not in the alphabet, 0..3"),
        (["encode", "text.json", "odd.jsonl", "far.jsonl"], "far.jsonl: document 0: integers 1..256, but the model is"),
        (["encode", "chars.json", "a.txt"], "a.txt: document 0, byte 53: not UTF-8"),
        (["encode", "a.txt", "a.txt"], "expected a name that ends in .json or .npz"),
        (["encode", "bad.json", "a.txt"], "bad.json: not a JSON object"),
        (["encode", "ints.npz", "a.jsonl", "-o", "x.npy"], "4 documents of different lengths cannot be told apart in npy"),
        (["encode", "text.json", "a.txt", "--threads", "0"], "n_threads: expected at least 1"),
        (["decode", "ints.npz", "many.jsonl"], "many.jsonl: document 1, position 1: token id 99 is outside the vocabulary"),
        (["decode", "ints.npz", "words.ids"], "words.ids: line 2: expected integers"),
        (["decode", "ints.npz", "a.jsonl", "-o", "x.txt"], "--to: the model is one of integers, not of text"),
        (["decode", "ints.npz", "a.jsonl", "-o", "x.npz", "--out-dtype", "bool"], "--out-dtype: expected a type of integers"),
        (["decode", "text.json", "two.ids", "-o", "x.txt"], "several documents cannot be told apart in a text"),
        (["decode", "text.json", "newline.ids", "--lines", "-o", "x.txt"], "document 1: it has more than one line"),
        (["decode", "text.json", "high.ids", "-o", "x.jsonl"], "document 0, byte 0: not UTF-8"),
        (["decode", "text.json", "high.ids", "-o", "x.npz", "--out-dtype", "int8"], "symbols 255..255 do not fit int8"),
        (["inspect", "text.json", "--top", "-1"], "--top: expected at least 0"),
        (["convert", "text.json", "-o", "x"], "x: its name does not tell the form, say it with --to"),
        (["convert", "text.json", "--to", "npz", "-o", "x.json"], "-o: expected a name that ends in .npz"),
        (["convert", "ints.npz", "--to", "tiktoken", "-o", "x"], "alphabet: tiktoken needs one of all 256 bytes"),
        (["convert", "text.json", "--kind", "str", "-o", "x.npz"], "--kind: not for --from own"),
        (["convert", "a.txt", "--from", "tiktoken", "-o", "x.npz"], "a.txt: line 1: not base64"),
        (["convert", "a.txt", "--from", "tiktoken", "--special-token", "x", "-o", "x.npz"], "expected WORD=ID, got 'x'"),
        (["convert", "a.txt", "--from", "tiktoken", "--tokenizer", "UBPE", "-o", "x.npz"], "tiktoken has merges"),
    ],
)  # fmt: skip
def test_bad_use_and_bad_input(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    contents = {
        "bad.jsonl": "[1]\n[1", "fields.jsonl": '{"body": "x"}', "float.jsonl": "[1.5]", "odd.jsonl": "[1]\n[1, 2, 9]",
        "bad.json": "x", "many.jsonl": "[1]\n[1, 99]", "words.ids": "1\na", "two.ids": "1\n2\n", "newline.ids": "1\n10\n",
        "high.ids": "255\n", "far.jsonl": "[1, 256]", "a.unknown": "x",
    }  # fmt: skip
    BPE(12, alphabet="abc\n").fit(["abcab", "abc\n"]).save("chars.json")
    for name, content in contents.items():
        (here / name).write_text(content)
    before = sorted(os.listdir(here))
    assert message in fails(arguments, capsys)
    assert sorted(os.listdir(here)) == before


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["fit", "none.txt", "-o", "m.json"], "none.txt: No such file or directory"),
        (["fit", "none", "-o", "m.json"], "none: No such file or directory"),
        (["fit", "a.txt", "-o", "nowhere/m.json"], "nowhere: no such folder"),
        (["encode", "none.json", "a.txt"], "none.json: No such file or directory"),
        (["encode", "text.json", "a.txt", "-o", "nowhere/x.npz"], "nowhere: no such folder"),
        (["fit", "a.txt", "-o", "m.json", "--memory-limit", "1k"], "memory_limit: "),
    ],
)
def test_failures(here: pathlib.Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    assert message in fails(arguments, capsys, code=1)


def test_the_old_file_stays(here: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "kept.jsonl").write_text("old")
    (here / "odd.jsonl").write_text("[1]\n[9]")
    fails(["encode", "ints.npz", "odd.jsonl", "-o", "kept.jsonl"], capsys)
    assert (here / "kept.jsonl").read_text() == "old" and not list(here.glob(".kept*"))


def test_devices_are_not_replaced(here: pathlib.Path) -> None:
    assert main(["encode", "text.json", "a.txt", "--to", "ids", "-o", os.devnull]) == 0
    assert not os.path.isfile(os.devnull)


def test_without_matplotlib(here: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    message = fails(["fit", "a.txt", "-o", "unseen.json", "--curve", "c.png"], capsys, code=1)
    assert "pip install 'ubpe-numba[plot]'" in message and not (here / "unseen.json").exists()


def test_help_needs_no_compiler() -> None:
    script = "import sys, ubpe_numba.__main__ as m\ntry: m.main(['fit', '--help'])\nexcept SystemExit: pass\n"
    done = subprocess.run([sys.executable, "-c", script + "assert 'numpy' not in sys.modules"], capture_output=True)
    assert done.returncode == 0, done.stderr
    assert b"--memory-limit" in done.stdout


@pytest.mark.skipif(os.name != "posix", reason="signals and pipes of POSIX")
def test_a_closed_pipe_is_quiet(here: pathlib.Path) -> None:
    command = f"{sys.executable} -m ubpe_numba encode text.json --format jsonl -; echo $? >&2"
    lines = b'"low"\n' * 200_000
    with subprocess.Popen(
        ["sh", "-c", f"({command}) | head -n 1"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    ) as running:
        _, err = running.communicate(lines)
    assert err == b"141\n"


@pytest.mark.skipif(os.name != "posix", reason="signals and pipes of POSIX")
def test_ctrl_c(here: pathlib.Path) -> None:
    command = [sys.executable, "-m", "ubpe_numba", "fit", "--format", "jsonl", "-", "-o", "never.json"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT) as running:
        assert running.stdin is not None and running.stderr is not None
        running.stdin.write(b"[1, 2, 3]\n" * 100_000)  # more than a pipe holds: once it is written, the command is reading
        running.stdin.flush()
        time.sleep(0.2)
        running.send_signal(signal.SIGINT)
        err = running.stderr.read()
        assert (running.wait(60), err) == (130, b"interrupted\n")
    assert not (here / "never.json").exists()
