"""The picture of the demo: a PNG that is whole, of the window and the motifs that are said."""

from __future__ import annotations

import pathlib
import sys
from typing import Any

import matplotlib.image
import numpy as np
import pytest

from ubpe_numba import UBPE
from ubpe_numba.views import demo_picture
from ubpe_numba.views.colours import DARK
from ubpe_numba.views.demo_picture import draw


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


def test_a_picture_is_written_in_the_colours_of_the_theme(record: Any, tmp_path: pathlib.Path) -> None:
    (samples, offsets, tok), theme = record, DARK
    draw(tmp_path / "demo.png", samples, offsets, tok, rate=50, theme="dark")
    pixels = np.round(matplotlib.image.imread(tmp_path / "demo.png")[:, :, :3] * 255).astype(int) @ [1 << 16, 1 << 8, 1]
    assert pixels.shape == (1034, 1650)
    found = {f"#{colour:06x}": n for colour, n in zip(*np.unique(pixels, return_counts=True), strict=True)}
    assert max(found, key=found.__getitem__) == theme.paper
    assert {theme.highlight, theme.ink, theme.dim} <= set(found)
    spans = tok.spans(samples, offsets)
    begin, end, tokens = demo_picture._window(tok, spans, spans.starts + offsets[spans.documents], offsets, 300)
    assert {begin, end} <= set(offsets.tolist()) and end - begin == 300 and 2 <= tokens.size <= 8
    assert [found.get(hue, 0) > 200 for hue in theme.hues] == [i < tokens.size for i in range(len(theme.hues))]
    assert [p.name for p in tmp_path.iterdir()] == ["demo.png"]


def test_a_short_record_is_shown_whole_and_a_failure_leaves_the_old_picture(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples, path = np.array([0, 0, 9, 0] * 20), tmp_path / "demo.png"
    tok = UBPE(12, objective="shortest").fit(samples.reshape(4, 20), progress=False)
    draw(path, samples, np.arange(0, 81, 20), tok, rate=50)
    assert matplotlib.image.imread(path).shape[0] == 1034
    before = path.read_bytes()
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    with pytest.raises(ImportError, match=r"pip install 'ubpe-numba\[plot\]'"):
        draw(path, samples, np.arange(0, 81, 20), tok, rate=50)
    assert path.read_bytes() == before and len(list(tmp_path.iterdir())) == 1
