"""The demo: what its signal is, that its round trips are exact, that it finds whole beats; it refuses bad sizes."""

import pathlib
import re

import numpy as np
import pytest
from tables import refuses

from ubpe_numba import UBPE
from ubpe_numba.cli import demo
from ubpe_numba.cli.main import main
from ubpe_numba.views.demo_picture import Found


def test_the_demo_decodes_what_it_encoded_and_draws_a_picture(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "demo.png"
    assert main(["demo", "--plot", str(picture)]) == 0
    out, err = capsys.readouterr()
    assert out.count("  exact\n") == 3 and "NOT EXACT" not in out
    for word in (
        "classic",
        "universal",
        "shortest",
        "lossless after quantizing",
        "samples a token",
        "Whole beats",
    ):
        assert word.lower() in out.lower()
    assert not err  # the progress bar is for terminals
    assert picture.read_bytes().startswith(b"\x89PNG")
    ratios = dict(re.findall(r"^(\w+) .*? (\d+\.\d\d) +\d+\.\dms", out, re.MULTILINE))
    assert set(ratios) == {"classic", "universal", "shortest"} and float(ratios["shortest"]) >= 7.0
    share, unseen = (int(found) / 100 for found in re.findall(r"(\d+)% of the", out))
    error, bound = (
        float(found) for found in re.search(r"Largest error (\d+\.\d), bound (\d+\.\d)", out).groups()
    )  # type: ignore[union-attr]
    assert share >= 0.6 and unseen >= 0.6 and error <= bound <= 12 and "NOT KEPT" not in out
    assert len(re.findall(r"^ +\d+  [▁-█]{18,40} .*\d\.\d\d s", out, re.MULTILINE)) == 8


def test_sizes_below_the_alphabet_are_refused() -> None:
    refuses(
        ValueError,
        "n_tokens: expected at least the alphabet's 27 symbols, got 10",
        demo.run,
        10,
        progress=False,
    )


def test_a_round_trip_that_is_not_exact_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    decode, wave = UBPE.decode_batch, np.zeros(9)
    beats = Found(wave, wave + 2, np.zeros(1, int), np.zeros(1, int), np.full(1, 9))
    monkeypatch.setattr(demo, "whole_beats", lambda: (beats, 1.0))
    monkeypatch.setattr(demo, "_LEARNED", 0)
    monkeypatch.setattr(UBPE, "decode_batch", lambda self, batch: decode(self, batch[1:]))
    assert demo.run(64, progress=False) == 1
    out = capsys.readouterr().out
    # the classic tokenizer is no UBPE
    assert out.count("NOT EXACT") == 2 and "NOT KEPT" in out and "none occurs 5 times" in out


def test_beats_are_the_record_averaged_without_drift_and_rounded() -> None:
    values, offsets = demo.load_ecg()
    levels, ends, scale = demo.load_beats()
    assert levels.dtype == np.int32 and ends.dtype == np.int64
    assert np.array_equal(ends * 3, offsets) and scale.n_symbols == 27 and scale.step == 6
    averaged = values.reshape(-1, 3).mean(axis=1)
    around = np.convolve(np.pad(averaged, 60, mode="edge"), np.ones(121) / 121, "valid")
    assert np.abs(scale.inverse_transform(levels) - (averaged - around)).max() <= scale.max_error[0] + 1e-9
    assert set(np.unique(levels).tolist()) <= set(range(27)) and levels.min() == 0 and levels.max() == 26


def test_a_sketch_of_a_long_shape_keeps_its_peaks() -> None:
    drawn = demo.sketch(100 * np.eye(1, 1000, 333)[0], 40)
    assert len(drawn) == 40 and drawn.count("█") == 1 and drawn.count("▁") == 39
