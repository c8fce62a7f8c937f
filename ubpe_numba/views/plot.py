"""A picture of an encoded signal; it needs the extra `plot` (matplotlib)."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.vocabulary.vocabulary import Vocabulary


def draw(path: str | os.PathLike[str], samples: np.ndarray, encoded: Ragged, vocabulary: Vocabulary) -> None:
    """Write a picture of a signal coloured by token: single samples grey, longer tokens in one of twelve colours by their id.

    Parameters
    ----------
    path : str or path
        The PNG file.
    samples : int[n]
        The signal.
    encoded : Ragged
        The ids of the signal, whose documents are its parts in order.
    vocabulary : Vocabulary
        What the ids stand for.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    agg, figure_class = _matplotlib()
    from matplotlib.collections import LineCollection

    lengths = np.diff(vocabulary.offsets)[encoded.values]
    ends = np.cumsum(lengths)
    starts = ends - lengths
    x = np.arange(samples.size)
    colours = np.array([(0.7, 0.7, 0.7)] + [_colour(i) for i in range(12)])
    figure = figure_class(figsize=(14, 4), layout="constrained")
    axes = figure.add_subplot()
    # each token is drawn up to the first sample of the next, so that the line has no gaps
    lines = [np.column_stack([x[a : b + 1], samples[a : b + 1]]) for a, b in zip(starts, ends, strict=True)]
    which = np.where(lengths > 1, 1 + encoded.values % 12, 0)
    axes.add_collection(LineCollection(lines, colors=colours[which], linewidths=1.6))
    axes.vlines(starts[lengths > 1], *_limits(samples), colors="0.9", linewidth=0.5, zorder=0)
    axes.set(xlim=(0, samples.size), ylim=_limits(samples), xlabel="sample", ylabel="value")
    axes.set_title(f"{samples.size} samples as {encoded.total} tokens of {len(vocabulary)}")
    agg(figure).print_figure(os.fspath(path), dpi=120)


def _matplotlib() -> tuple[Any, Any]:
    """The classes of matplotlib's canvas and figure; ImportError, which says what to install, if it is missing."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("drawing needs matplotlib: pip install 'ubpe-numba[plot]'") from error
    return FigureCanvasAgg, Figure


def _limits(samples: np.ndarray) -> tuple[float, float]:
    return float(samples.min()) - 3.0, float(samples.max()) + 3.0


def _colour(i: int) -> tuple[float, float, float]:
    """RGB of colour i of twelve, in an order in which neighbours differ clearly."""
    import colorsys

    return colorsys.hsv_to_rgb((i * 5 % 12) / 12, 0.85, 0.8)
