"""The base of displays: existing or new axes, in the colors of a theme, and checks of the data."""

from __future__ import annotations

import sys
from typing import Any, Self

import numpy as np

from ubpe_numba.coding.occurrences import Spans
from ubpe_numba.errors import quoted
from ubpe_numba.runtime.arrays import describe
from ubpe_numba.runtime.lazy import require
from ubpe_numba.tokenizers.base import given_tokenizer
from ubpe_numba.tokenizers.seam import model_of
from ubpe_numba.views.colours import Theme, theme_of


class Display:
    """The arrays, and the axes and figure of the last plot: `ax_` and `figure_`."""

    _size = (11.0, 3.2)  # inches of a new figure

    def plot(self, ax: Any = None, *, theme: str | Theme = "light") -> Self:
        """Draw again.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default a new figure of pyplot.
        theme : str or Theme
            ``"light"`` or ``"dark"``.

        Raises
        ------
        ValueError
            For an unknown theme.
        """
        chosen = theme_of(theme)
        self._draw(self._axes(ax, chosen), chosen)
        return self

    def _draw(self, ax: Any, theme: Theme) -> None:
        """Draw on styled axes: of a display without options of its own."""
        raise NotImplementedError

    def _axes(self, ax: Any, theme: Theme) -> Any:
        """The axes that are given, or those of a new figure of pyplot, styled.

        ImportError if matplotlib is missing.
        """
        require_matplotlib()
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots(figsize=self._size, layout="constrained", facecolor=theme.paper)
        style(ax, theme)
        self.ax_, self.figure_ = ax, ax.figure
        return ax


def style(ax: Any, theme: Theme) -> None:
    """Give axes the colors of a theme, and remove the lines above and on the right."""
    ax.set_facecolor(theme.paper)
    for side, spine in ax.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(theme.dim)
    ax.tick_params(which="both", colors=theme.dim, labelcolor=theme.dim)
    for text in (ax.xaxis.label, ax.yaxis.label):
        text.set_color(theme.dim)
    for place in ("left", "center", "right"):
        ax.set_title(ax.get_title(place), loc=place, color=theme.ink)


def bare_figure(size: tuple[float, float], theme: Theme, **options: Any) -> Any:
    """A figure of `size` inches unknown to pyplot, for pixels.

    ImportError if matplotlib is missing.
    """
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, facecolor=theme.paper, **options)
    FigureCanvasAgg(figure)
    return figure


def require_matplotlib() -> None:
    """An ImportError that names the extra to install, if matplotlib is missing."""
    require("matplotlib.backends.backend_agg", "drawing", "plot")  # the part that draws


def signal_of(tok: Any, doc: Any, what: str) -> tuple[np.ndarray, Spans, int]:
    """A document of integers as an array, its tokens, and the size of the alphabet.

    ValueError for several documents, and for text and bytes, which are not plotted as levels. ValueError for
    a tokenizer whose ids differ from those of its vocabulary, which determine the colors.
    """
    alphabet, _, segmenter = model_of(given_tokenizer(tok))
    kind = alphabet.kind if alphabet.names is None else "words"
    if kind != "int":
        raise ValueError(
            f"tok: {what} draws signals of integers, and the documents of this tokenizer are {kind}"
        )
    if segmenter.token_ids is not None:
        raise ValueError(
            f"tok: {what} needs ids in the order of the vocabulary, and this tokenizer has ids of its own"
        )
    samples = np.asarray(doc)
    if samples.ndim != 1:
        raise ValueError(
            f"doc: expected the symbols of one document, an array of one dimension, got shape {samples.shape}"
        )
    samples = samples if samples.size else samples.astype(np.int64)  # an empty list does not have a type
    return samples, tok.spans(samples), alphabet.size


def check_rate(rate: Any) -> None:
    """ValueError or TypeError unless a rate is None or a finite number of samples per second above 0."""
    if rate is None:
        return
    if isinstance(rate, (bool, np.bool_)) or not isinstance(rate, (int, float, np.integer, np.floating)):
        raise TypeError(f"rate: expected a number, got {describe(rate)}")
    if not 0 < rate <= sys.float_info.max:
        raise ValueError(f"rate: expected samples a second, more than 0, got {quoted(rate)}")


def room_of(low: float, high: float, part: float) -> float:
    """The space below and above values: a part of their range, but above 0 also for a constant."""
    return part * max(high - low, 1.0, 1e-6 * max(abs(low), abs(high)))


def ticks_of(low: int, high: int) -> list[int]:
    """Sizes to write at a logarithmic axis: 1, 2 and 5 of each decade.

    More of them if these are fewer than three.

    >>> ticks_of(256, 5000), ticks_of(24, 70), ticks_of(10, 50)
    ([500, 1000, 2000, 5000], [30, 40, 50, 60, 70], [10, 20, 50])
    """
    for steps in ((1, 2, 5), range(1, 10), range(10, 100)):
        ticks = [step * 10**power for power in range(10) for step in steps if low <= step * 10**power <= high]
        if len(ticks) > 2:
            return ticks[:: -(-len(ticks) // 8)]
    return [low, high]
