"""The picture of the demo: some seconds of a signal coloured by token, above the motifs that its tokens are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.runtime.files import atomically
from ubpe_numba.views.colours import Theme, hue_of, hues_of, theme_of
from ubpe_numba.views.displays.canvas import bare_figure
from ubpe_numba.views.displays.motifs import MotifsDisplay
from ubpe_numba.views.displays.tokens import TokensDisplay
from ubpe_numba.views.motif_choice import choose_motifs, ranges_of

if TYPE_CHECKING:
    from ubpe_numba.coding.spans import Spans
    from ubpe_numba.tokenizers.base import Tokenizer

__all__ = ["beats_of", "draw"]

_SECONDS = 6  # of the signal that are shown
_COLUMNS, _ROWS = 6, 2  # of the gallery
_LEAST = 5  # occurrences of a motif of the gallery: fewer do not look like a rule
_LEAST_RANGE = 2  # levels: what is nearly level looks like nothing
_LETTERS = "ABCDEFGHIJKL"


def draw(
    path: str | os.PathLike[str],
    samples: np.ndarray,
    offsets: np.ndarray,
    tok: Tokenizer,
    *,
    rate: float = 120,
    step: float = 6,
    theme: str | Theme = "light",
) -> None:
    """Write a PNG that shows what a tokenizer finds in an ECG; a reader finds the old file or the new one, never a part of it.

    Above, the six seconds that hold the most different motifs of the gallery: every token in its colour, beats marked, motifs
    lettered. Below, the gallery: the motifs that say most and differ, each over all its occurrences in the record.

    Parameters
    ----------
    path : str or path
        The file.
    samples : int[n]
        The record in levels.
    offsets : int[d + 1]
        Where its documents begin.
    tok : Tokenizer
        A tokenizer that was fitted to it.
    rate : float
        Samples a second.
    step : float
        The size of a level in the units of the record, for the title.
    theme : str or Theme
        ``"light"`` or ``"dark"``.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    OSError
        If the file cannot be written.
    """
    chosen = theme_of(theme)
    samples, offsets = np.asarray(samples), np.asarray(offsets, np.int64)
    figure = bare_figure((15, 9), chosen)
    sides = {"left": 0.035, "right": 0.985}
    top = figure.add_subplot(figure.add_gridspec(1, 1, top=0.84, bottom=0.535, **sides)[0])
    axes = figure.add_gridspec(_ROWS, _COLUMNS, top=0.405, bottom=0.02, hspace=0.3, wspace=0.1, **sides).subplots(sharey=True)
    spans = tok.spans(samples, offsets)
    tokens = _gallery(tok, spans)
    side = round(0.25 * rate)
    gallery = MotifsDisplay.from_batch(tok, samples, offsets, tokens=tokens, side=side, rate=rate, ax=axes, theme=chosen)
    names = dict(zip(tokens.tolist(), _LETTERS, strict=False))
    titles = [f"{name}  token {token}" for token, name in names.items()]
    gallery.plot(axes, rate=rate, names=titles, theme=chosen)
    starts = spans.starts + offsets[spans.documents]
    begin, end = _window(spans, starts, offsets, tokens, round(_SECONDS * rate), gallery.n_alphabet)
    inside = slice(*np.searchsorted(starts, [begin, end]).tolist())
    above = TokensDisplay(
        samples[begin:end], spans.ids[inside], starts[inside] - begin, spans.lengths[inside], gallery.n_alphabet
    )
    above.plot(top, rate=rate, theme=chosen)
    _mark(above, names, np.bincount(spans.ids), rate, chosen)
    _write_titles(figure, top, _figures(samples, spans, tok, step), samples.size / rate / 60, tokens.size, chosen)
    with atomically(path) as file:
        figure.savefig(file, format="png", dpi=110)


def beats_of(samples: NDArray[Any], rate: float) -> NDArray[np.int64]:
    """The tops of heart beats: peaks of more than half the height of the highest, at least 0.25 s from a higher one.

    Examples
    --------
    >>> beats_of(np.array([0, 9, 1, 0, 0, 5, 8, 2, 0, 3, 0]), rate=8)
    array([1, 6])
    """
    if not samples.size:
        return np.zeros(0, np.int64)
    middle = float(np.median(samples))
    high = np.flatnonzero(samples - middle > 0.5 * (float(samples.max()) - middle))
    tops: list[int] = []
    for at in high[np.argsort(-samples[high], kind="stable")].tolist():
        if all(abs(at - top) >= 0.25 * rate for top in tops):
            tops.append(at)
    return np.array(sorted(tops), np.int64)


def _gallery(tok: Tokenizer, spans: Spans) -> NDArray[np.int64]:
    """The tokens of the gallery: those that say most and differ, go up or down by two levels, and occur often enough."""
    vocabulary = tok.vocabulary
    symbols = tok.alphabet_.to_symbols(vocabulary.arena).astype(np.float64)
    counts = np.bincount(spans.ids, minlength=len(vocabulary))[: len(vocabulary)]
    counts[ranges_of(vocabulary, symbols) < _LEAST_RANGE] = 0
    return choose_motifs(vocabulary, symbols, counts, _COLUMNS * _ROWS, least=_LEAST)


def _window(
    spans: Spans,
    starts: NDArray[np.int64],
    offsets: NDArray[np.int64],
    tokens: NDArray[np.int64],
    size: int,
    n_alphabet: int,
) -> tuple[int, int]:
    """Where to look: at whole documents of about `size` samples together that hold most of these tokens, and most different ones.

    All of them must stand there in their own hue, so that they look as in the gallery.
    """
    best, score = (int(offsets[0]), int(offsets[-1])), (False, -1)
    own = {token: hue_of(token, n_alphabet) for token in tokens.tolist()}
    for begin in offsets[:-1].tolist():
        last = int(np.searchsorted(offsets, begin + size))
        if last == offsets.size:
            break
        ids = spans.ids[slice(*np.searchsorted(starts, [begin, offsets[last]]).tolist())]
        shown = [(i, hue) for i, hue in zip(ids.tolist(), hues_of(ids, n_alphabet).tolist(), strict=True) if i in own]
        found = (all(own[i] == hue for i, hue in shown), len({i for i, _ in shown}) + len(shown))
        if found > score:
            best, score = (begin, int(offsets[last])), found
    return best


def _mark(above: TokensDisplay, names: dict[int, str], counts: NDArray[np.int64], rate: float, theme: Theme) -> None:
    """Mark beats by a heart and the number of the token at their top, motifs of the gallery by their letter and their ground."""
    ax, samples = above.ax_, above.samples
    low, high = ax.get_ylim()
    ax.set_yticks([tick for tick in range(-100, 101, 5) if samples.min() <= tick <= samples.max()])
    ax.set_ylim(low, high + 0.38 * (high - low))
    # counts of all of the record, so that a beat is seen to be one of many
    tops = beats_of(samples, rate)
    for top in tops[(tops > 0.15 * rate) & (tops < samples.size - 0.15 * rate)].tolist():  # the edge would cut others
        over = int(np.searchsorted(above.starts, top, side="right")) - 1
        texts = (
            (4, f"{counts[above.ids[over]]} times", 9, theme.dim),
            (15, str(above.ids[over]), 10.5, theme.ink),
            (29, "♥", 10, theme.dim),
        )
        for rise, text, size, colour in texts:
            ax.annotate(
                text, (top / rate, samples[top]), xytext=(0, rise), textcoords="offset points",
                ha="center", va="bottom", fontsize=size, fontweight="bold", color=colour,
            )  # fmt: skip
    ceiling = ax.get_ylim()[1]
    for token, start, length in zip(above.ids.tolist(), above.starts.tolist(), above.lengths.tolist(), strict=True):
        if token in names:
            ax.axvspan((start - 0.5) / rate, (start + length - 0.5) / rate, color=theme.highlight, lw=0, zorder=0)
            middle = (start + (length - 1) / 2) / rate
            ax.text(middle, ceiling, names[token], ha="center", va="top", fontsize=13, fontweight="bold", color=theme.ink)


def _figures(samples: NDArray[Any], spans: Spans, tok: Tokenizer, step: float) -> str:
    """What was made of what, in a line."""
    n, size = spans.ids.size, len(tok.vocabulary)
    return (
        f"{samples.size:,} samples → {n:,} tokens of {size:,}: {samples.size / max(n, 1):.1f} samples a token; "
        f"lossless after quantising to levels of {step:g}"
    )


def _write_titles(figure: Any, top: Any, figures: str, minutes: float, n_motifs: int, theme: Theme) -> None:
    """The title, the line of figures, and a heading and a note for each half."""
    left, right = 0.035, 0.985
    lines = (
        (left, 0.955, "Shapes that recur in an ECG, found without being told what a heart beat is", 21, "bold", theme.ink),
        (right, 0.955, "ubpe-numba", 14, "normal", theme.dim),
        (left, 0.914, f"{minutes:.0f} minutes: {figures}", 14, "normal", theme.dim),
        (left, 0.866, f"{_SECONDS} seconds of it, cut into tokens: pieces that occur again and again", 13, "bold", theme.ink),
        (right, 0.866,
         "a block, a token  ·  ♥ a beat: the token at its top, and how often it occurs  ·  A, B, …: below", 11, "normal",
         theme.dim),
        (left, 0.455, f"{n_motifs} of these tokens, with all places of the {minutes:.0f} minutes where they occur", 13, "bold",
         theme.ink),
        (right, 0.455, "in colour the token, the same every time  ·  in grey what comes before and after it", 11, "normal",
         theme.dim),
    )  # fmt: skip
    for x, y, text, size, weight, colour in lines:
        side = "left" if x == left else "right"
        figure.text(x, y, text, fontsize=size, fontweight=weight, color=colour, va="center", ha=side)
    top.set_title("", loc="left")
    top.set_ylabel("level")
