"""The demo: what its signal is, that its round trips are exact, that its motifs are there; it refuses bad sizes."""

import pathlib
import re

import numpy as np
import pytest

from ubpe_numba import UBPE
from ubpe_numba.cli import demo
from ubpe_numba.cli.main import main
from ubpe_numba.documents.quantization import Quantization


def test_the_demo_decodes_what_it_encoded_and_draws_a_picture(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "demo.png"
    assert main(["demo", "--plot", str(picture)]) == 0
    out, err = capsys.readouterr()
    assert out.count("  exact\n") == 3 and "NOT EXACT" not in out
    for word in ("classic", "universal", "shortest", "lossless after quantising", "samples a token", "Shapes that recur"):
        assert word.lower() in out.lower()
    assert not err  # the progress bar is for terminals
    assert picture.read_bytes().startswith(b"\x89PNG")
    ratios = dict(re.findall(r"^(\w+) .*? (\d+\.\d\d) +\d+\.\dms", out, re.MULTILINE))
    assert set(ratios) == {"classic", "universal", "shortest"} and float(ratios["shortest"]) >= 7.0
    assert len(re.findall(r"\|[▁-█]+\|", out)) == 10


def test_a_vocabulary_of_few_tokens_has_no_motifs(capsys: pytest.CaptureFixture[str]) -> None:
    assert demo.run(28, progress=False) == 0
    assert "none occurs 5 times" in capsys.readouterr().out
    with pytest.raises(ValueError, match="n_tokens: expected at least the alphabet's 27 symbols, got 10"):
        demo.run(10, progress=False)


def test_a_round_trip_that_is_not_exact_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    decode = UBPE.decode_batch
    monkeypatch.setattr(UBPE, "decode_batch", lambda self, batch: decode(self, batch[1:]))
    assert demo.run(64, progress=False) == 1
    assert capsys.readouterr().out.count("NOT EXACT") == 2  # the classic tokenizer is no UBPE


def test_beats_are_the_record_averaged_without_drift_and_rounded() -> None:
    values, offsets = demo.load_ecg()
    levels, ends, scale = demo.load_beats()
    assert levels.dtype == np.int32 and ends.dtype == np.int64
    assert np.array_equal(ends * 3, offsets) and scale.n_symbols == 27 and scale.step == (6,)
    averaged = values.reshape(-1, 3).mean(axis=1)
    around = np.convolve(np.pad(averaged, 60, mode="edge"), np.ones(121) / 121, "valid")
    assert np.abs(scale.restore(levels) - (averaged - around)).max() <= scale.max_error[0] + 1e-9
    assert set(np.unique(levels).tolist()) <= set(range(27)) and levels.min() == 0 and levels.max() == 26


def test_motifs_are_tokens_with_their_occurrences() -> None:
    beat, rest = [0, 0, 8, 3, 0, 1], [0, 1, 0, 0, 1, 1, 0]
    levels = np.array((beat + rest) * 6, np.int32)
    offsets = np.arange(0, levels.size + 1, len(beat + rest))
    tok = UBPE(20, alphabet=9, objective="shortest", n_candidates=1).fit(levels, offsets=offsets)
    encoded = tok.encode_batch(levels, offsets)
    scale = Quantization(step=(6,), low=(0,), high=(48,))
    header, first, *_ = demo.motifs(tok, levels, offsets, encoded, scale, n=3)
    assert header.split() == ["token", "samples", "time", "values", "times", "in", "documents"]
    token, drawn, size, _, unit, reach, times, documents = first.split()
    sequence = tok._model.vocabulary.sequence(int(token))
    assert (int(size), unit, reach) == (sequence.size, "s", f"{6 * sequence.min()}..{6 * sequence.max()}")
    assert int(times) == int(np.count_nonzero(encoded.values == int(token))) and int(documents) == 6
    assert len(drawn.split("|")[1]) == sequence.size


def test_a_sketch_of_a_long_shape_keeps_its_peaks() -> None:
    drawn = demo.sketch(100 * np.eye(1, 1000, 333)[0], 40)
    assert len(drawn) == 40 and drawn.count("█") == 1 and drawn.count("▁") == 39
