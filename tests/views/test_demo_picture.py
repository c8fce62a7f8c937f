"""The picture of the demo: a PNG that is whole, of the window and the shapes that are said."""

import pathlib
import sys
from typing import Any

import matplotlib.image
import numpy as np
import pytest
from pictures import picture_of
from tables import refuses

from ubpe_numba import BPE, Scale
from ubpe_numba.views import demo_picture
from ubpe_numba.views.colours import DARK
from ubpe_numba.views.demo_picture import Found, Shapes, draw

SHARP, BROAD = (
    np.array([0, 0, 1, 6, 12, 5, -2, 0, 0, 1, 2, 2, 1.0] * 2),
    np.array([0, 2, 4, 7, 9, 9, 6, 2, -3, -4, -3, -1, 0.0] * 2),
)


def record(n: int) -> Found:
    """Beats of two kinds and rests by turns, at any height, 1 away from what their tokens 7, 8 and 3 decode to."""
    rng = np.random.default_rng(1)
    kinds = np.stack([rng.permutation([7, 8]) for _ in range(n)]).ravel()
    ids = np.stack([kinds, np.full(2 * n, 3)], axis=1).ravel()
    shapes = [{7: SHARP, 8: BROAD, 3: np.zeros(10)}[i] + rng.integers(0, 9) for i in ids.tolist()]
    lengths = np.array([shape.size for shape in shapes])
    decoded = np.concatenate(shapes)
    return Found(
        decoded + rng.choice([-1, 1], decoded.size), decoded, ids, np.cumsum(lengths) - lengths, lengths
    )


def levels_of(found: Found) -> tuple[BPE, np.ndarray, float]:
    """The record in levels of two units."""
    scale = Scale(step=2)
    levels = scale.fit_transform(found.signal)
    return BPE(40, alphabet=scale.n_symbols).fit(levels, progress=False), levels, 1.0


def test_shapes_are_long_tokens_with_all_their_places() -> None:
    found = record(20)
    shapes = Shapes.of(found, shortest=15, side=3)
    assert sorted(shapes.tokens.tolist()) == [7, 8] and shapes.counts.tolist() == [20, 20]
    for shape, contexts in zip(shapes.shapes, shapes.contexts, strict=True):
        assert contexts.shape == (20, 32) and np.allclose(np.abs(contexts[:, 3:-3] - shape), 1)
        assert any(np.allclose(shape - shape[0], kind) for kind in (SHARP, BROAD))
    assert (
        Shapes.of(found, shortest=15, least=21).tokens.size == Shapes.of(found, shortest=27).tokens.size == 0
    )


def test_a_picture_is_written_in_the_colours_of_the_theme(tmp_path: pathlib.Path) -> None:
    found, theme = record(20), DARK
    draw(tmp_path / "demo.png", found, levels_of(found), rate=50, bound=1, learned=700, theme="dark")
    pixels = np.round(matplotlib.image.imread(tmp_path / "demo.png")[:, :, :3] * 255).astype(int) @ [
        1 << 16,
        1 << 8,
        1,
    ]
    assert pixels.shape == (1166, 1650)
    seen = {f"#{colour:06x}": n for colour, n in zip(*np.unique(pixels, return_counts=True), strict=True)}
    assert max(seen, key=seen.__getitem__) == theme.paper
    # the skyline has all hues
    assert {theme.highlight, theme.ink, theme.dim, theme.grid, *theme.hues} <= set(seen)
    assert [p.name for p in tmp_path.iterdir()] == ["demo.png"]
    tokens = list(zip(found.ids.tolist(), found.starts.tolist(), found.lengths.tolist(), strict=True))
    end = found.signal.size
    for size, learned, least in (
        (300, 700, 700),
        (90, 0, 0),
        (300, end - 300, end - 300),
        (300, end - 299, 0),
    ):
        windows = [
            [t for t in tokens if a <= t[1] and t[1] + t[2] <= a + size] for _, a, _ in tokens if a >= least
        ]
        worth = [
            len({t[0] for t in part} & {7, 8}) * sum(t[2] for t in part if t[0] != 3) for part in windows
        ]
        assert (
            tokens[demo_picture._window(found, np.array([7, 8]), size, learned)]
            == windows[worth.index(max(worth))]
        )


def test_a_short_record_is_shown_whole_and_a_failure_leaves_the_old_picture(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, path, figures, bare = record(1), tmp_path / "demo.png", list[Any](), demo_picture.bare_figure
    monkeypatch.setattr(demo_picture, "bare_figure", lambda *of: figures.append(bare(*of)) or figures[-1])
    draw(path, found, levels_of(found), rate=50, bound=1)
    assert matplotlib.image.imread(path).shape[0] == 1166
    assert picture_of(figures[0].axes) == "677123176b98"
    before = path.read_bytes()
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    refuses(
        ImportError,
        r"pip install 'ubpe-numba\[plot\]'",
        lambda: draw(path, found, levels_of(found), rate=50, bound=1),
    )
    assert path.read_bytes() == before and len(list(tmp_path.iterdir())) == 1
