"""The picture of the demo: some seconds of a signal cut into tokens, above the places where some of these tokens occur."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.runtime.files import atomically
from ubpe_numba.views.colours import Theme, theme_of
from ubpe_numba.views.displays.canvas import bare_figure
from ubpe_numba.views.displays.motifs import MotifsDisplay
from ubpe_numba.views.displays.tokens import TokensDisplay
from ubpe_numba.views.motifs import choose_motifs, ranges_of, says_most

if TYPE_CHECKING:
    from ubpe_numba.coding.occurrences import Spans
    from ubpe_numba.tokenizers.base import Tokenizer

__all__ = ["draw"]

_SECONDS = 6  # of the signal that are shown
_COLUMNS, _ROWS = 4, 2  # of the gallery: a panel for each hue
_LEAST = 5  # occurrences of a motif of the gallery: fewer do not look like a rule
_LEAST_RANGE = 2  # levels: what is nearly level looks like nothing
_LETTERS = "ABCDEFGH"
_LEFT, _RIGHT = 0.035, 0.985  # of the figure


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

    Above, six seconds cut into tokens, of which up to eight are lettered, each in a colour of its own, all others in greys.
    Below, these tokens over all their occurrences in the record. `samples` (int[n]): the record in levels; `offsets` (int[d +
    1]): where its documents begin; `tok`: a tokenizer that was fitted to it; `rate`: samples a second; `step`: the size of a
    level in the units of the record, for the title; `theme`: ``"light"`` or ``"dark"``. Raises ImportError if matplotlib is not
    installed. Raises OSError if the file cannot be written.
    """
    chosen = theme_of(theme)
    samples, offsets = np.asarray(samples), np.asarray(offsets, np.int64)
    figure = bare_figure((15, 9.4), chosen)
    sides = {"left": _LEFT, "right": _RIGHT}
    top = figure.add_subplot(figure.add_gridspec(1, 1, top=0.83, bottom=0.56, **sides)[0])
    axes = figure.add_gridspec(_ROWS, _COLUMNS, top=0.403, bottom=0.02, hspace=0.28, wspace=0.08, **sides).subplots(sharey=True)
    spans = tok.spans(samples, offsets)
    starts = spans.starts + offsets[spans.documents]
    begin, end, tokens = _window(tok, spans, starts, offsets, round(_SECONDS * rate))
    colours = dict(zip(tokens.tolist(), chosen.hues, strict=False))
    gallery = MotifsDisplay.from_batch(tok, samples, offsets, tokens=tokens, side=round(0.3 * rate), ax=axes, theme=chosen)
    titles = [f"{name}  token {token}" for name, token in zip(_LETTERS, colours, strict=False)]
    gallery.plot(axes, rate=rate, names=titles, colours=list(colours.values()), theme=chosen)
    if tokens.size:
        ax = axes.flat[0]  # a bar as long as a tenth of a second, at the bottom right
        right, bottom = ax.get_xlim()[1] - 1, ax.get_ylim()[0]
        height = bottom + 0.08 * (ax.get_ylim()[1] - bottom)
        ax.plot([right - 0.1 * rate, right], [height, height], color=chosen.dim, lw=1.5)
        ax.text(right - 0.05 * rate, height, "0.1 s", ha="center", va="bottom", fontsize=9, color=chosen.dim)
    inside = slice(*np.searchsorted(starts, [begin, end]).tolist())
    ids, lengths = spans.ids[inside], spans.lengths[inside]
    above = TokensDisplay(samples[begin:end], ids, starts[inside] - begin, lengths, gallery.n_alphabet)
    above.plot(top, rate=rate, colours=colours, theme=chosen)
    low, high = top.get_ylim()  # the letters of the gallery above the tokens that it shows
    ceiling = high + 0.16 * (high - low)
    top.set_yticks([tick for tick in range(-100, 101, 5) if above.samples.min() <= tick <= above.samples.max()])
    top.set_ylim(low, ceiling)
    top.set_title("", loc="left")
    top.set_ylabel("level")
    names = dict(zip(colours, _LETTERS, strict=False))
    for token, start, length in zip(above.ids.tolist(), above.starts.tolist(), above.lengths.tolist(), strict=True):
        if token in names:
            middle = (start + (length - 1) / 2) / rate
            top.text(middle, ceiling, names[token], ha="center", va="top", fontsize=14, fontweight="bold", color=chosen.ink)
    n = spans.ids.size
    figures = (
        f"{samples.size:,} samples became {n:,} tokens from a vocabulary of {len(tok._model.vocabulary):,}: "
        f"{samples.size / max(n, 1):.1f} samples each; lossless after rounding to levels {step:g} apart"
    )
    _write_titles(figure, figures, samples.size / rate / 60, int(tokens.size), chosen)
    with atomically(path) as file:
        figure.savefig(file, format="png", dpi=110)


def _window(
    tok: Tokenizer, spans: Spans, starts: NDArray[np.int64], offsets: NDArray[np.int64], size: int
) -> tuple[int, int, NDArray[np.int64]]:
    """Where to look, whole documents of about `size` samples, and the tokens there that say most and differ, in order.

    Such tokens go up or down by two levels and occur at least five times in the record. Of all places the one is taken where
    those that are chosen say most together; a record that is shorter is shown whole.
    """
    vocabulary = tok._model.vocabulary
    symbols = tok._model.alphabet.to_symbols(vocabulary.arena).astype(np.float64)
    counts = np.bincount(spans.ids, minlength=len(vocabulary))[: len(vocabulary)]
    ranges = ranges_of(vocabulary, symbols)
    counts[ranges < _LEAST_RANGE] = 0
    scores = says_most(ranges, counts, np.diff(vocabulary.offsets), _LEAST)
    best, score = (int(offsets[0]), int(offsets[-1])), -1.0
    there: NDArray[np.integer] = np.arange(counts.size)
    for begin in offsets[:-1].tolist():
        last = int(np.searchsorted(offsets, begin + size))
        if last == offsets.size:
            break
        ids = np.unique(spans.ids[slice(*np.searchsorted(starts, [begin, offsets[last]]).tolist())])
        ids = ids[ids < counts.size]
        found = float(np.sort(scores[ids])[-_COLUMNS * _ROWS :].sum())
        if found > score:
            best, score, there = (begin, int(offsets[last])), found, ids
    here = np.zeros_like(counts)
    here[there] = counts[there]
    tokens = choose_motifs(vocabulary, symbols, here, _COLUMNS * _ROWS, least=_LEAST)
    inside = slice(*np.searchsorted(starts, best).tolist())
    first = [int(np.argmax(spans.ids[inside] == token)) for token in tokens.tolist()]
    return *best, tokens[np.argsort(first)]


def _write_titles(figure: Any, figures: str, minutes: float, n_motifs: int, theme: Theme) -> None:
    """The title, the line of figures, and a heading and an explanation for each half."""
    title, heading, note = (
        {"fontsize": size, "fontweight": weight, "color": colour}
        for size, weight, colour in ((21, "bold", theme.ink), (14, "bold", theme.ink), (12, "normal", theme.dim))
    )
    lines = (
        (0.962, title, "Shapes that recur in an ECG, found without being told what a heart beat is"),
        (0.925, note | {"fontsize": 13.5}, f"{minutes:.0f} minutes of it: {figures}"),
        (0.882, heading, f"{_SECONDS} seconds, cut into tokens"),
        (0.855, note, "Each block below the curve is a token: a run of levels that occurs again and again. "
         f"The {n_motifs} that say most, by height and by what they save, have a letter and a colour."),
        (0.478, heading, f"Every place in the {minutes:.0f} minutes where these {n_motifs} tokens occur, one over the other"),
        (0.451, note, "In colour the token, the same each time. What differs by one level is another token. In grey what comes "
         "before and after it, to the ends of its document of one second."),
    )  # fmt: skip
    for y, look, text in lines:
        figure.text(_LEFT, y, text, va="center", ha="left", **look)
    figure.text(_RIGHT, 0.962, "ubpe-numba", va="center", ha="right", fontsize=14, color=theme.dim)
