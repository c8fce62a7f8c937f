"""The pictures of the front page, light and dark, drawn of the bundled ECG."""

import functools
import pathlib

import matplotlib
from matplotlib.figure import Figure
from sphinx.application import Sphinx

from _extensions.ecg import RATE, beats, tokenizer
from _extensions.made import when_changed
from ubpe_numba.plot import MotifsDisplay, TokensDisplay
from ubpe_numba.views.colours import THEMES
from ubpe_numba.views.motifs import say_most

_SECONDS = (2, 7)  # what is shown of the record
_MOTIFS, _LEAST = 4, 5  # of the gallery, and how often each occurs at least


def _save(figure: Figure, path: pathlib.Path) -> None:
    """An SVG without a ground, the same one for the same picture."""
    for part in (figure, *figure.axes):
        part.patch.set_alpha(0)
    with matplotlib.rc_context({"svg.hashsalt": "ubpe-numba"}):
        figure.savefig(path, metadata={"Date": None})


def _draw(folder: pathlib.Path) -> None:
    (values, offsets), tok = beats(), tokenizer()
    first, last = offsets[list(_SECONDS)]
    tokens = say_most(tok.vocabulary, tok.usage(values, offsets=offsets).counts, _MOTIFS, _LEAST)
    for theme in THEMES:
        figure = Figure(figsize=(11, 2.6), layout="constrained")
        ax = figure.subplots()
        TokensDisplay.from_document(tok, values[first:last], rate=RATE, ax=ax, theme=theme)
        ax.set_title("", loc="left")
        ax.set_axis_off()
        _save(figure, folder / f"ecg_{theme}.svg")
        figure = Figure(figsize=(11, 2.0), layout="constrained")
        axes = figure.subplots(1, _MOTIFS, squeeze=False)
        MotifsDisplay.from_batch(
            tok, values, offsets, tokens=tokens, most=60, rate=RATE, ax=axes, theme=theme
        )
        _save(figure, folder / f"motifs_{theme}.svg")


def setup(app: Sphinx) -> dict[str, bool]:
    """Draw before pages are read."""
    app.connect("builder-inited", functools.partial(when_changed, name="pictures", make=_draw))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
