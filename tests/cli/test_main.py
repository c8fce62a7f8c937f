"""The command line's messages, exit codes and signals."""

import gzip
import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from command_line import ENVIRONMENT, fails
from tables import each

import ubpe_numba
from ubpe_numba import BPE
from ubpe_numba.cli import main as cli
from ubpe_numba.cli.main import main


def test_warnings_are_a_line(here: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", "--quiet", "--n-tokens", "260", "--tokenizer", "UBPE", "-o", "w.json", "a.txt"]) == 0
    err = capsys.readouterr().err
    assert err.startswith("warning: every idf is 0") and err.count("\n") == 1


def test_sizes_of_memory_have_decimal_suffixes() -> None:
    sizes = {
        "1": 1,
        "500M": 500_000_000,
        "2G": 2 * 10**9,
        "1.5KB": 1500,
        "3k": 3000,
        "9007199254740993": 9007199254740993,
    }
    assert [cli._bytes(size) for size in sizes] == [*sizes.values()]


def test_names_of_files_do_not_move_the_cursor(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, shown in (
        ("a\n\x1b[31mb", "a\\n\\x1b[31mb"),
        ("a\udcff", "a\\udcff"),
        ("", "''"),
        ("é 低", "é 低"),
    ):
        assert fails(["inspect", name], capsys, 1) == f"error: {shown}: No such file or directory\n"
    (here / "a\x1b[31m\nb.txt").write_bytes(b"")
    assert main(["fit", "--quiet", "--n-tokens", "260", "-o", "w.json", "a\x1b[31m\nb.txt"]) == 0
    assert capsys.readouterr().err.startswith(
        "warning: a\\x1b[31m\\nb.txt: empty, there is no symbol in it\n"
    )


def test_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0 and capsys.readouterr().out == f"ubpe-numba {ubpe_numba.__version__}\n"


@pytest.fixture(scope="module")
def odd(home: pathlib.Path) -> None:
    """Files that are wrong somewhere, beside a model of characters and one of words."""
    contents = {
        "bad.jsonl": "[1]\n[1", "fields.jsonl": '{"body": "x"}', "odd.jsonl": "[1]\n[1, 2, 9]",
        "bad.json": "x", "many.jsonl": "[1]\n[1, 99]", "words.ids": "1\na", "two.ids": "1\n2\n", "newline.ids": "1\n10\n",
        "high.ids": "255\n", "words.jsonl": '["a", "b"]', "numbers.fa": ">a\n12\n", "far.jsonl": "[1, 256]",
        "a.unknown.gz": "x", "bad.txt.gz": "not compressed", "zero.txt.gz": "",
    }  # fmt: skip
    BPE(12, alphabet="abc\n").fit(["abcab", "abc\n"]).save(home / "chars.json")
    BPE(4).fit([["low", "high", "low"]], progress=False).save(home / "words.json")
    for name, content in contents.items():
        (home / name).write_text(content)
    np.save(home / "signal.npy", np.array([4, 5, 6, 5], np.uint8))
    (home / "cut.jsonl.gz").write_bytes(gzip.compress(b"[1, 2, 3]\n" * 1000)[:-12])


@each("arguments, message", [
    (["fit", "a.txt"], "-o/--output"),
    (["fit", "a.txt", "-o", "m.pickle"], "-o: expected a name that ends in .json or .npz, got m.pickle"),
    (["fit", "-", "-o", "m.json"], "-: its name does not tell the format"),
    (["fit", "a.txt", "-o", "m.json", "--n-candidates", "3"], "--n-candidates: BPE has none, only UBPE and UBPEClassic"),
    (["fit", "a.txt", "-o", "m.json", "--objective", "shortest"], "--objective: BPE has none, only UBPE"),
    (["fit", "a.jsonl", "-o", "m.json", "--pretokenizer", "gpt2"], "--pretokenizer: the documents are integers"),
    (["fit", "a.txt", "-o", "m.json", "--alphabet", "9"], "--alphabet: the documents are text"),
    (["fit", "a.jsonl", "-o", "m.json", "--alphabet", "3"], "a.jsonl: document 0, position 2: symbol 3 is not"),
    (["fit", "a.txt", "-o", "m.json", "--memory-limit", "2X"], "expected a number of bytes such as 500M or 2G, got '2X'"),
    (["fit", "a.txt", "-o", "m.json", "--curve", "c.pdf"], "--curve: expected a name that ends in .csv or .png"),
    (["fit", "a.txt", "a.jsonl", "-o", "m.json"], "a.jsonl: document 0: integers, but documents before it are text"),
    (["fit", "bad.jsonl", "-o", "m.json"], "bad.jsonl: line 2: not valid JSON"),
    (["fit", "fields.jsonl", "-o", "m.json"], "fields.jsonl: line 1: no field 'text', say another with --field"),
    (["fit", "a.txt", "--format", "npy", "-o", "m.json"], "a.txt: not a valid npy file"),
    (["fit", "a.jsonl", "--lines", "-o", "m.json"], "--lines: for text only, the input is jsonl"),
    (["encode", "text.json", "a.txt", "--record", "3"], "--record: for npy and raw only, the input is text"),
    (["fit", "a.txt", "--format", "raw", "--dtype", "float32", "-o", "m.json"], "--dtype: expected a type of integers"),
    (["fit", "a.txt", "--format", "raw", "--dtype", "int16", "-o", "m.json"], "bytes are no whole number of int16"),
    (["fit", "a.txt", "--format", "raw", "--dtype", "u1", "--record", "7", "-o", "m.json"], "of records of 7"),
    (["fit", "a.txt", "--format", "raw", "--dtype", "u1", "--record", "0", "-o", "m.json"], "--record: expected at least 1"),
    (["encode", "ints.npz", "a.jsonl", "odd.jsonl"], "odd.jsonl: document 1, position 2: symbol 9 is not in the alphabet"),
    (["encode", "ints.npz", "a.txt"], "a.txt: document 0: text, but the model is one of integers; --format raw"),
    (["encode", "text.json", "odd.jsonl"], "odd.jsonl: document 0: expected text, got integers. If they are"),
    (["encode", "text.json", "signal.npy", "--dtype", "int16"], "signal.npy: document 0: expected text, got integers"),
    (["encode", "text.json", "a.txt", "-o", "x.ids.gz"], "-o: x.ids.gz: outputs are not compressed"),
    (["encode", "text.json", "a.unknown.gz"], "a.unknown.gz: its name does not tell the format"),
    (["encode", "text.json", "bad.txt.gz"], "bad.txt.gz: not a valid gzip file: Not a gzipped file"),
    (["encode", "ints.npz", "cut.jsonl.gz"], "cut.jsonl.gz: not a valid gzip file: Compressed file ended"),
    (["encode", "text.json", "zero.txt.gz"], "zero.txt.gz: not a valid gzip file: it has no byte"),
    (["fit", "a.jsonl", "-o", "m.json", "--unknown", "x"], "--unknown: the documents are integers, got 'x'"),
    (["decode", "ints.npz", "a.jsonl", "-o", "x.wav"], "x.wav: its name does not tell the format, say it with --to"),
    (["encode", "words.json", "a.jsonl"], "a.jsonl: document 0: integers, but the model is one of words"),
    (["encode", "ints.npz", "words.jsonl"], "words.jsonl: document 0: words, but the model is one of integers"),
    (["decode", "words.json", "two.ids", "-o", "x.npz"], "--to: the model is one of words, not of text: expected one"),
    (["fit", "words.jsonl", "-o", "m.json", "--pretokenizer", "gpt2"], "--pretokenizer: the documents are words, not text"),
    (["fit", "numbers.fa", "-o", "m.json"], "numbers.fa: line 2: expected letters of a sequence, got b'12'"),
    (["fit", "a.txt", "-o", "m.json", "--special-first"], "--special-first: there are no special tokens"),
    (["fit", "a.txt", "-o", "m.json", "--unknown", "<end>"], "a byte of the alphabet or a special token, got '<end>'"),
    (["convert", "text.json", "-o", "x.npz", "--unk-token", "<end>"], "--unk-token: for tokenizer.json only, not for npz"),
    (["convert", "text.json", "--to", "tiktoken", "-o", "x", "--unk-token", "a"], "--unk-token: for tokenizer.json only"),
    (["convert", "text.json", "--to", "tokenizer.json", "-o", "x", *["--template", "$A"] * 3], "--template: expected one"),
    (["fit", "a.jsonl", "-o", "m.json", "--symbols", "ab"], "--symbols: the documents are integers, not text"),
    (["fit", "a.txt", "-o", "m.json", "--symbols", ",ab"], "--symbols: expected characters, before a comma too, got ',ab'"),
    (["fit", "a.txt", "-o", "m.json", "--symbols", "AC,GTN"], "--symbols: 'GTN' has more characters than 'AC', whose ids"),
    (["fit", "a.txt", "-o", "m.json", "--symbols", "ab,a"], "--symbols: 'a' is there twice"),
    (["fit", "a.txt", "-o", "m.json", "--symbols", "aä"], "--symbols: expected characters of one byte, got 'ä'"),
    (["fit", "a.txt", "-o", "m.json", "--symbols", "low,LO"], "a.txt: document 0, position 3: symbol 32 is not in the"),
    (["encode", "text.json", "odd.jsonl", "far.jsonl", "--dtype", "u1"], "far.jsonl: document 0: integers 1..256, but the"),
    (["encode", "chars.json", "a.txt"], "a.txt: document 0, byte 53: not UTF-8"),
    (["encode", "bad.json", "a.txt"], "bad.json: a file that begins with b'x', which is none of: "),
    (["encode", "ints.npz", "a.jsonl", "-o", "x.npy"], "4 documents have different lengths, which npy loses"),
    (["encode", "text.json", "a.txt", "--threads", "0"], "error: --threads: expected at least 1, got 0"),
    (["fit", "a.txt", "-o", "m.json", "--min-count", "9" * 30], "min_count: expected an int below 2**63, got 999"),
    (["fit", "a.txt", "-o", "m.json", "--n-tokens", "9" * 5000], "argument --n-tokens: invalid int value: '999"),
    (["inspect", "text.json", "--threads", "999999"], "error: --threads: expected at most 8192, got 999999"),
    (["decode", "ints.npz", "many.jsonl"], "many.jsonl: document 1, position 1: token id 99 is outside the vocabulary"),
    (["decode", "ints.npz", "words.ids"], "words.ids: line 2: expected integers"),
    (["decode", "ints.npz", "a.jsonl", "-o", "x.txt"], "--to: the model is one of integers, not of text"),
    (["decode", "ints.npz", "a.jsonl", "-o", "x.npz", "--out-dtype", "bool"], "--out-dtype: expected a type of integers"),
    (["decode", "text.json", "two.ids", "-o", "x.txt"], "several documents cannot be told apart in a text"),
    (["decode", "text.json", "newline.ids", "--lines", "-o", "x.txt"], "document 1: it has more than one line"),
    (["decode", "text.json", "high.ids", "-o", "x.jsonl"], "document 0, byte 0: not UTF-8"),
    (["decode", "text.json", "high.ids", "-o", "x.npz", "--out-dtype", "int8"], "symbols 255..255 do not fit int8"),
    (["explore", "text.json", "a.txt", "-o", "page.txt"], "-o: expected a name that ends in .html, got page.txt"),
    (["explore", "text.json", "a.txt", "-o", "no.html", "--max-symbols", "0"], "--max-symbols: expected a number above 0"),
    (["explore", "text.json", "a.txt", "-o", "no.html", "--rate", "nan"], "--rate: expected a number above 0, got nan"),
    (["explore", "text.json", "a.txt", "-o", "no.html", "--segmentation", "other"], "segmentations: "),
    (["inspect", "text.json", "--top", "-1"], "--top: expected at least 0"),
    (["convert", "text.json", "-o", "x"], "x: its name does not tell the form, say it with --to"),
    (["convert", "text.json", "--to", "npz", "-o", "x.json"], "-o: expected a name that ends in .npz"),
    (["convert", "text.json", "--kind", "str", "-o", "x.npz"], "kind: text.json is a model of this library"),
    (["convert", "a.txt", "--special-token", "x", "-o", "x.npz"], "expected WORD=ID, got 'x'"),
    (["convert", "a.txt", "--special-token", "x=y", "-o", "x.npz"], "expected WORD=ID, got 'x=y'"),
])  # fmt: skip
def test_bad_arguments_and_bad_input_are_one_line_and_exit_code_2(
    here: pathlib.Path, odd: None, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    before = sorted(os.listdir(here))
    assert message in fails(arguments, capsys) and sorted(os.listdir(here)) == before


@each("arguments, message", [
    (["fit", "none.txt", "-o", "m.json"], "none.txt: No such file or directory"),
    (["explore", "text.json", "a.txt", "-o", "nowhere/page.html"], "nowhere: no such folder"),
    (["encode", "none.json", "a.txt"], "none.json: No such file or directory"),
    (["encode", "text.json", "a.txt", "-o", "nowhere/x.npz"], "nowhere: no such folder"),
    (["fit", "a.txt", "-o", "m.json", "--memory-limit", "1k"], "memory_limit: "),
])  # fmt: skip
def test_missing_files_and_folders_are_one_line_and_exit_code_1(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert message in fails(arguments, capsys, code=1)


def test_help_needs_no_compiler() -> None:
    script = "import sys, ubpe_numba.__main__ as m\ntry: m.main(['fit', '--help'])\nexcept SystemExit: pass\n"
    done = subprocess.run(
        [sys.executable, "-c", script + "assert 'numpy' not in sys.modules"], capture_output=True
    )
    assert done.returncode == 0, done.stderr
    assert b"--memory-limit" in done.stdout


@pytest.mark.skipif(os.name != "posix", reason="signals and pipes of POSIX")
def test_a_closed_pipe_is_quiet(here: pathlib.Path) -> None:
    command = f"{sys.executable} -m ubpe_numba encode text.json --format jsonl -; echo $? >&2"
    done = subprocess.run(
        ["sh", "-c", f"({command}) | head -n 1"],
        input=b'"low"\n' * 200_000,
        capture_output=True,
        env=ENVIRONMENT,
    )
    assert done.stderr == b"141\n"


@pytest.mark.skipif(os.name != "posix", reason="signals and pipes of POSIX")
def test_ctrl_c_ends_a_fit_with_exit_code_130(here: pathlib.Path) -> None:
    command = [sys.executable, "-m", "ubpe_numba", "fit", "--format", "jsonl", "-", "-o", "never.json"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT) as running:
        assert running.stdin is not None and running.stderr is not None
        # more than a pipe holds: once it is written, the command is reading
        running.stdin.write(b"[1, 2, 3]\n" * 100_000)
        running.stdin.flush()
        time.sleep(0.2)
        running.send_signal(signal.SIGINT)
        err = running.stderr.read()
        assert (running.wait(60), err) == (130, b"interrupted\n")
    assert not (here / "never.json").exists()


@pytest.mark.skipif(os.name != "posix", reason="signals and pipes of POSIX")
def test_little_output_to_a_closed_pipe_is_quiet(here: pathlib.Path) -> None:
    """So little that it is written at the end only: Python would try once more when it exits, and say so."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "ubpe_numba", "inspect", "text.json"]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, env=ENVIRONMENT)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


def test_an_output_that_is_an_input_is_refused(
    here: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By any of its names: also a link of either kind, and a file of a folder."""
    (here / "folder").mkdir()
    (here / "folder" / "tokenizer.json").write_bytes(b"{}")
    (here / "ids.npz").write_bytes(b"ids")
    with open("a.txt") as standard:
        monkeypatch.setattr(sys, "stdin", standard)
        for command, name in (
            ("encode ints.npz a.jsonl -o", "l.ids"),
            ("encode text.json a.txt -o", "l.ids"),
            ("decode text.json ids.npz -o", "l.txt"),
            ("fit a.txt --quiet -o", "l.json"),
            ("fit a.txt --quiet -o fresh.json --curve", "l.csv"),
            ("explore text.json a.txt --quiet -o", "l.html"),
            ("convert text.json -o", "l.json"),
            ("encode text.json --lines - -o", "l.ids"),
        ):
            for given in [word for word in command.split() if os.path.isfile(word)] + ["a.txt"] * (
                " - " in command
            ):
                content = pathlib.Path(given).read_bytes()
                for link in (os.link, os.symlink):
                    link(given, name)
                    told = fails([*command.split(), name], capsys)
                    assert "is an input of this command" in told and name in told
                    assert pathlib.Path(given).read_bytes() == content
                    os.unlink(name)
    for name in ("text.json", f"../{here.name}/text.json", "folder/tokenizer.json"):
        given = ["folder", "--to", "tokenizer.json"] if "folder" in name else ["text.json"]
        assert "is an input of this command" in fails(["convert", *given, "-o", name], capsys)


@pytest.mark.skipif(os.name != "posix", reason="redirections of a shell")
def test_standard_streams_may_be_closed(here: pathlib.Path) -> None:
    (here / "none.txt").write_text("")
    me = f"'{sys.executable}' -m ubpe_numba"

    def run(command: str) -> tuple[int, bytes, bytes]:
        done = subprocess.run(["sh", "-c", command], capture_output=True, env=ENVIRONMENT)
        return done.returncode, done.stdout, done.stderr

    clean = run(f"{me} encode text.json none.txt a.txt 2>/dev/null")
    assert run(f"{me} encode text.json none.txt a.txt 2>&-") == clean
    assert run(f"{me} encode text.json - -o x.npz --lines <&-")[0::2] == (
        1,
        b"error: standard input: Bad file descriptor\n",
    )
    assert run(f"{me} encode text.json a.txt >&-")[0::2] == (
        1,
        b"error: standard output: Bad file descriptor\n",
    )
