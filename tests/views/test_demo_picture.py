"""The picture of the demo: a PNG that is whole, of the window and the motifs that are said."""

from __future__ import annotations

import pathlib
import sys

import matplotlib.image
import numpy as np
import pytest

from ubpe_numba import UBPE
from ubpe_numba.views import demo_picture
from ubpe_numba.views.colours import DARK, LIGHT, Theme, hue_of, hues_of
from ubpe_numba.views.demo_picture import beats_of, draw
from ubpe_numba.views.motif_choice import ranges_of


@pytest.fixture(scope="module")
def record() -> tuple[np.ndarray, np.ndarray, UBPE]:
    """A minute of made beats at 50 Hz, of two kinds, in documents of a second, and a tokenizer of it."""
    rng = np.random.default_rng(1)
    sharp, broad = [0, 0, 1, 6, 12, 5, -2, 0, 0, 1, 2, 2, 1], [0, 2, 4, 7, 9, 9, 6, 2, -3, -4, -3, -1, 0]
    parts: list[int] = []
    while len(parts) < 3000:
        parts += [0] * int(rng.integers(15, 25)) + [sharp, broad][int(rng.integers(0, 4) == 0)]
    samples, offsets = np.array(parts[:3000]), np.arange(0, 3001, 50)
    return samples, offsets, UBPE(120, objective="shortest").fit(samples, offsets=offsets, progress=False)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_a_picture_is_written_in_the_colours_of_the_theme(
    record: tuple[np.ndarray, np.ndarray, UBPE], theme: Theme, tmp_path: pathlib.Path
) -> None:
    samples, offsets, tok = record
    draw(tmp_path / "demo.png", samples, offsets, tok, rate=50, theme=theme.name)
    pixels = np.round(matplotlib.image.imread(tmp_path / "demo.png")[:, :, :3] * 255).astype(int)
    assert pixels.shape == (990, 1650, 3)
    colours, counts = np.unique(pixels.reshape(-1, 3), axis=0, return_counts=True)
    found = {f"#{r:02x}{g:02x}{b:02x}": n for (r, g, b), n in zip(colours.tolist(), counts.tolist(), strict=True)}
    assert max(found, key=found.__getitem__) == theme.paper
    assert {theme.highlight, theme.ink, theme.dim} <= set(found)
    assert sum(found.get(hue, 0) > 200 for hue in theme.hues) >= 5
    assert [p.name for p in tmp_path.iterdir()] == ["demo.png"]


def test_a_picture_that_fails_leaves_the_old_one(
    record: tuple[np.ndarray, np.ndarray, UBPE], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples, offsets, tok = record
    path = tmp_path / "demo.png"
    path.write_bytes(b"old")
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    with pytest.raises(ImportError, match=r"pip install 'ubpe-numba\[plot\]'"):
        draw(path, samples, offsets, tok, rate=50)
    assert path.read_bytes() == b"old" and len(list(tmp_path.iterdir())) == 1


def test_motifs_are_frequent_and_not_level(record: tuple[np.ndarray, np.ndarray, UBPE]) -> None:
    samples, offsets, tok = record
    spans = tok.spans(samples, offsets)
    tokens = demo_picture._gallery(tok, spans)
    counts = np.bincount(spans.ids, minlength=len(tok.vocabulary))
    ranges = ranges_of(tok.vocabulary, tok.alphabet_.to_symbols(tok.vocabulary.arena).astype(float))
    assert 2 <= tokens.size <= 12 and counts[tokens].min() >= 5 and ranges[tokens].min() >= 2


def test_the_window_shows_motifs_in_their_own_hue(record: tuple[np.ndarray, np.ndarray, UBPE]) -> None:
    samples, offsets, tok = record
    spans, n = tok.spans(samples, offsets), tok.vocabulary.n_alphabet
    starts = spans.starts + offsets[spans.documents]
    tokens = demo_picture._gallery(tok, spans)[:3]
    begin, end = demo_picture._window(spans, starts, offsets, tokens, 300, n)
    assert {begin, end} <= set(offsets.tolist()) and end - begin == 300
    ids = spans.ids[(starts >= begin) & (starts < end)]
    hues = hues_of(ids, n)
    shown = [(int(i), int(h)) for i, h in zip(ids, hues, strict=True) if i in tokens]
    assert shown and all(hue == hue_of(i, n) for i, hue in shown)


def test_a_record_shorter_than_the_window_is_shown_whole(tmp_path: pathlib.Path) -> None:
    samples = np.array([0, 0, 9, 0] * 20)
    tok = UBPE(12, objective="shortest").fit(samples.reshape(4, 20), progress=False)
    draw(tmp_path / "short.png", samples, np.arange(0, 81, 20), tok, rate=50)
    assert matplotlib.image.imread(tmp_path / "short.png").shape[0] == 990


def test_beats_are_peaks_that_stand_apart() -> None:
    beat = [0, 0, 0, 5, 9, 4, 0, 0, 2, 2, 0, 0]
    samples = np.array(beat * 6)
    assert beats_of(samples, 12).tolist() == [4 + 12 * k for k in range(6)]
    assert beats_of(np.where(np.arange(72) // 12 == 1, samples // 3, samples), 12).tolist() == [4, 28, 40, 52, 64]
    assert beats_of(np.zeros(5, int), 12).size == beats_of(np.zeros(0, int), 12).size == 0
