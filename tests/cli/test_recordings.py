"""Recordings on the command line: fitted within an error, encoded, decoded, and refused with their place."""

import json
import pathlib
import re

import numpy as np
import pytest
from command_line import fails
from tables import each

from ubpe_numba import load
from ubpe_numba.cli.main import main
from ubpe_numba.signals import SignalTokenizer


@pytest.fixture
def here(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A folder with a recording of two channels, one with a gap, and a model of it."""
    monkeypatch.chdir(tmp_path)
    t = np.arange(600) / 20
    rows = [f"{a:.4f},{b:.4f}" for a, b in zip(np.sin(t), np.cos(2 * t), strict=True)]
    rows[50:60] = [row.split(",")[0] + "," for row in rows[50:60]]
    pathlib.Path("r.csv").write_text("\n".join(["x,y", *rows]) + "\n")
    fit = ["fit", "r.csv", "--max-error", "0.1", "--n-tokens", "60", "--rate", "20", "--quiet", "-o", "m.npz"]
    assert main(fit) == 0
    return tmp_path


def test_a_csv_with_gaps_comes_back_within_the_error(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tok = load("m.npz")
    assert (tok.channel_names, tok.sampling_rate, tok.max_error) == (["x", "y"], 20.0, 0.1)
    given = np.genfromtxt("r.csv", delimiter=",", skip_header=1)
    assert main(["encode", "m.npz", "r.csv", "-o", "ids.npz"]) == 0
    with np.load("ids.npz") as ids:
        assert np.array_equal(ids["values"], tok.encode(given).values)
    assert main(["decode", "m.npz", "ids.npz", "-o", "back.npy"]) == 0
    assert main(["decode", "m.npz", "ids.npz"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "x,y" and lines[55].endswith(",")
    back = np.load("back.npy")
    assert np.array_equal(np.genfromtxt(lines, delimiter=",", skip_header=1), back, equal_nan=True)
    assert np.array_equal(np.isnan(back), np.isnan(given)) and np.nanmax(abs(back - given)) <= 0.1
    assert main(["inspect", "m.npz", "--top", "1"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (
        facts["fingerprint"] == tok.fingerprint
        and facts["tokens"][0]["samples"] == tok.vocabulary.lengths.max()
    )


def test_a_single_channel_of_any_format_has_one_axis(here: pathlib.Path) -> None:
    samples = np.sin(np.arange(300) / 9)
    np.save("one.npy", samples)
    np.savetxt("one.csv", samples)
    for name in ("one.npy", "one.csv"):
        assert main(["fit", name, "--max-error", "0.1", "--n-tokens", "40", "--quiet", "-o", "one.npz"]) == 0
        assert np.abs(load("one.npz").decode(load("one.npz").encode(samples)) - samples).max() <= 0.1


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_files_have_channels_in_columns_whatever_axis_a_tokenizer_has(here: pathlib.Path, axis: int) -> None:
    t = np.arange(300) / 9
    samples = np.stack([np.sin(t), np.cos(t)], axis=1)
    np.save("s.npy", samples)
    SignalTokenizer(60, max_error=0.1, channel_axis=axis).fit(np.moveaxis(samples, 1, axis)).save("a.npz")
    assert main(["encode", "a.npz", "s.npy", "-o", "i.npz"]) == 0
    for name in ("b.npy", "b.csv"):
        assert main(["decode", "a.npz", "i.npz", "-o", name]) == 0
    assert np.abs(np.load("b.npy") - samples).max() <= 0.1
    assert np.array_equal(np.loadtxt("b.csv", delimiter=","), np.load("b.npy"))


@each("arguments, message", [
    (["fit", "r.csv", "-o", "x.npz"], "r.csv: numbers of recordings, which fit reads with --max-error"),
    (["fit", "r.csv", "--max-error", "1", "-o", "x.json"], "-o: expected a name that ends in .npz"),
    (["fit", "r.csv", "--max-error", "1", "--lines", "-o", "x.npz"], "--lines: not for recordings"),
    (["fit", "m.npz", "--max-error", "1", "-o", "x.npz"], "m.npz: expected recordings, a file of csv, npy or wav"),
    (["fit", "bad.csv", "--max-error", "1", "-o", "x.npz"], "bad.csv: line 3: expected numbers: .*'x'"),
    (["fit", "short.csv", "--max-error", "1", "-o", "x.npz"], "short.csv: line 2: expected 2 numbers, got 1"),
    (["fit", "empty.csv", "--max-error", "1", "-o", "x.npz"], "expected at least one sample"),
    (["fit", "r.csv", "other.csv", "--max-error", "1", "-o", "x.npz"], "other.csv: expected the columns x, y, got y, x"),
    (["encode", "m.npz", "other.csv"], "other.csv: expected the columns x, y, got y, x"),
    (["encode", "m.npz", "r.csv", "--special", "allow"], "--special: not for recordings"),
    (["decode", "m.npz", "one.ids", "--to", "jsonl"], "--to: not for recordings"),
    (["fit", "r.csv", "--rate", "9", "-o", "x.npz"], "--rate: for recordings, with --max-error"),
    (["inspect", "m.npz", "--on", "r.csv"], "--on: not for recordings"),
    (["explore", "m.npz", "r.csv", "-o", "x.html"], "m.npz: a report cannot show a SignalTokenizer"),
    (["decode", "m.npz", "one.ids"], "one.ids: expected the ids of one recording of 2 channels, got 1 documents"),
])  # fmt: skip
def test_what_is_refused(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    for name, text in (
        ("bad", "a,b\n1,2\n3,x\n"),
        ("short", "1,2\n3\n"),
        ("empty", ""),
        ("other", "y,x\n1,2\n"),
    ):
        pathlib.Path(f"{name}.csv").write_text(text)
    pathlib.Path("one.ids").write_text("1 2 3\n")
    assert re.search(message, fails(arguments, capsys))
    assert not pathlib.Path("x.npz").exists()
