"""The pictures of the front page, light and dark, drawn of the bundled ECG when the library has changed."""

import pathlib
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from sphinx.application import Sphinx

from ubpe_numba import UBPE
from ubpe_numba.cli.demo import load_ecg
from ubpe_numba.plot import MotifsDisplay, TokensDisplay
from ubpe_numba.views.colours import THEMES
from ubpe_numba.views.motif_choice import choose_motifs

FOLDER = "_build/pictures"
_SECONDS = slice(2, 7)  # what is shown, five seconds
_RATE = 120
_MOTIFS, _LEAST = 4, 5  # of the gallery, and how often each occurs at least


def _beats() -> tuple[np.ndarray, np.ndarray]:
    """The ECG at 120 Hz without the drift of the electrode, in levels of 6: shapes come again, noise does not."""
    values, offsets = load_ecg()
    slow = values.reshape(-1, 3).mean(1)
    drift = np.convolve(np.pad(slow, 60, mode="edge"), np.ones(121) / 121, "valid")
    return np.round((slow - drift) / 6).astype(np.int64), offsets // 3


def _save(figure: Figure, path: pathlib.Path) -> None:
    figure.patch.set_alpha(0)
    for ax in figure.axes:
        ax.patch.set_alpha(0)
    with matplotlib.rc_context({"svg.hashsalt": "ubpe-numba"}):
        figure.savefig(path, metadata={"Date": None})


def _draw(folder: pathlib.Path) -> None:
    values, offsets = _beats()
    tok: Any = UBPE(1024, objective="shortest").fit(values, offsets=offsets, progress=False)
    shown = values[offsets[_SECONDS.start] : offsets[_SECONDS.stop]]
    symbols = tok.alphabet_.to_symbols(tok.vocabulary.arena).astype(float)
    tokens = choose_motifs(tok.vocabulary, symbols, tok.usage(values, offsets=offsets).counts, _MOTIFS, least=_LEAST)
    for theme in THEMES:
        figure = Figure(figsize=(11, 2.6), layout="constrained")
        ax = figure.subplots()
        TokensDisplay.from_document(tok, shown, rate=_RATE, ax=ax, theme=theme)
        ax.set_title("", loc="left")
        ax.set_axis_off()
        _save(figure, folder / f"ecg_{theme}.svg")
        figure = Figure(figsize=(11, 2.0), layout="constrained")
        axes = figure.subplots(1, _MOTIFS, squeeze=False, sharey=True)
        MotifsDisplay.from_batch(tok, values, offsets, tokens=tokens, rate=_RATE, ax=axes, theme=theme)
        _save(figure, folder / f"motifs_{theme}.svg")


def _make(app: Sphinx) -> None:
    folder = pathlib.Path(app.srcdir) / FOLDER
    made = folder / "made_of"
    if made.exists() and made.read_text() == app.config.made_of:
        return
    folder.mkdir(parents=True, exist_ok=True)
    _draw(folder)
    made.write_text(app.config.made_of)


def setup(app: Sphinx) -> dict[str, bool]:
    """Draw before pages are read."""
    app.connect("builder-inited", _make)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
