"""The demo's figure: seconds of a signal in tokens, their skyline, and tokens at all places."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.runtime.files import atomically
from ubpe_numba.tokenizers.bpe import BPE
from ubpe_numba.tokenizers.skyline import skyline
from ubpe_numba.views.colours import Theme, theme_of
from ubpe_numba.views.displays.canvas import bare_figure
from ubpe_numba.views.displays.motifs import MotifsDisplay
from ubpe_numba.views.displays.skyline import SkylineDisplay
from ubpe_numba.views.displays.tokens import TokensDisplay
from ubpe_numba.views.motifs import choose_diverse, contexts_of, says_most

__all__ = ["Found", "Shapes", "draw"]

_SECONDS = 6  # of the signal that are shown
_LETTERS = "ABCDEF"  # of the tokens that are shown over all their places
_LEFT, _RIGHT = 0.045, 0.985  # of the figure


class Found(NamedTuple):
    """A signal, float64[n], its decoded values, and ids, first samples and lengths of its tokens."""

    signal: NDArray[np.float64]
    decoded: NDArray[np.float64]
    ids: NDArray[np.integer]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]


class Shapes(NamedTuple):
    """Tokens of a signal: ids, their counts, their decoded samples, and the signal around all occurrences.

    A token of differences serves at every height: its shape is at the mean height of its places, and they are
    moved to it.
    """

    tokens: NDArray[np.int64]
    counts: NDArray[np.int64]
    shapes: list[NDArray[np.float64]]
    contexts: list[NDArray[np.float64]]

    @classmethod
    def of(cls, found: Found, *, shortest: int, n: int = 8, least: int = 5, side: int = 0) -> Shapes:
        """At most `n` telling and different tokens of `shortest` samples or more, at `least` places.

        >>> wave = np.array([0.0, 9, 0, 1, 10, 1])
        >>> shapes = Shapes.of(Found(wave, wave, np.array([7, 7]), np.array([0, 3]), np.array([3, 3])), shortest=3, least=2)
        >>> shapes.tokens.tolist(), shapes.shapes[0].tolist(), shapes.contexts[0].tolist()
        ([7], [0.5, 9.5, 0.5], [[0.5, 9.5, 0.5], [0.5, 9.5, 0.5]])
        """
        long = np.flatnonzero(found.lengths >= max(shortest, 2))
        tokens, first, counts = np.unique(found.ids[long], return_index=True, return_counts=True)
        first = long[first]
        lengths = found.lengths[first]
        shapes = [
            found.decoded[a : a + k]
            for a, k in zip(found.starts[first].tolist(), lengths.tolist(), strict=True)
        ]
        scores = says_most(np.array([np.ptp(shape) for shape in shapes]), counts, lengths, least)
        chosen = choose_diverse(shapes, scores, n)
        chosen_shapes, contexts = [], []
        ends = np.array([0, found.signal.size])
        for i in chosen:
            starts, shape = found.starts[found.ids == tokens[i]], shapes[i]
            moved = found.decoded[starts] - shape[0]  # how much higher than the first place each is
            around = contexts_of(found.signal, ends, np.zeros_like(starts), starts, shape.size, side)
            chosen_shapes.append(shape + moved.mean())
            contexts.append(around + (moved.mean() - moved)[:, None])
        return cls(tokens[chosen].astype(np.int64), counts[chosen], chosen_shapes, contexts)


def draw(
    path: str | os.PathLike[str],
    found: Found,
    coarse: tuple[BPE, NDArray[np.int32], float],
    *,
    rate: float,
    bound: float,
    learned: int = 0,
    theme: str | Theme = "light",
) -> None:
    """Write a PNG of the tokens of an ECG, atomically.

    Above, six seconds in tokens, of which up to six have a letter and a color of their own; all others are
    grey. Below them the skyline of the same seconds, then the lettered tokens over all their places in the
    record. `found`: the record and its tokens. `coarse`: a tokenizer by rank of the record in levels, the
    level of each sample, and the largest error of a level. `rate`: samples per second. `bound`: the error
    bound of decoded samples. `learned`: the number of first samples that tokens were learned from; later
    seconds are shown, if there are enough. `theme`: ``"light"`` or ``"dark"``. Raises ImportError if
    matplotlib is not installed. Raises OSError if the file cannot be written.
    """
    chosen = theme_of(theme)
    figure = bare_figure((15, 10.6), chosen)
    top, middle = (
        figure.add_axes((_LEFT, y, _RIGHT - _LEFT, high)) for y, high in ((0.636, 0.216), (0.318, 0.234))
    )
    sides = {"left": _LEFT, "right": _RIGHT, "top": 0.168, "bottom": 0.012, "wspace": 0.08}
    axes = figure.add_gridspec(1, len(_LETTERS), **sides).subplots()
    side = round(0.3 * rate)
    shapes = Shapes.of(found, shortest=side, side=side, n=len(_LETTERS))
    inside = _window(found, shapes.tokens, round(_SECONDS * rate), learned)
    ids, starts, lengths = found.ids[inside], found.starts[inside], found.lengths[inside]
    begin, end = (int(starts[0]), int(starts[-1] + lengths[-1])) if starts.size else (0, found.signal.size)
    place = {
        token: int(np.argmax(ids == token)) if token in ids else ids.size for token in shapes.tokens.tolist()
    }
    order = sorted(range(len(place)), key=list(place.values()).__getitem__)  # letters from left to right
    shapes = Shapes(
        shapes.tokens[order], shapes.counts[order], *([part[i] for i in order] for part in shapes[2:])
    )
    colours = dict(zip(shapes.tokens.tolist(), chosen.hues, strict=False))
    names = dict(zip(colours, _LETTERS, strict=False))
    gallery = MotifsDisplay(shapes.tokens, shapes.shapes, shapes.contexts, shapes.counts, side, 0)
    gallery.plot(axes, rate=rate, colours=colours, theme=chosen)
    for ax, shape, name in zip(axes.flat, shapes.shapes, names.values(), strict=False):
        ax.set_title(name, loc="left", fontsize=12, fontweight="bold")
        ax.fill_between(
            np.arange(shape.size),
            shape - bound,
            shape + bound,
            color=chosen.paper,
            alpha=0.8,
            lw=0,
            zorder=0.5,
        )
    above = TokensDisplay(found.decoded[begin:end], ids, starts - begin, lengths, 0)
    above.plot(top, rate=rate, token=colours, theme=chosen)
    low, high = top.get_ylim()  # the letters of the gallery above the tokens that it shows
    ceiling = high + 0.16 * (high - low)
    top.plot(
        np.arange(end - begin) / rate, found.signal[begin:end], color=chosen.ink, lw=0.8, alpha=0.55, zorder=4
    )
    top.set_ylim(low, ceiling)
    top.set_title("", loc="left")
    top.set(xticks=[], yticks=[], xlabel="")
    top.spines[:].set_visible(False)
    for token, start, length in zip(
        above.ids.tolist(), above.starts.tolist(), above.lengths.tolist(), strict=True
    ):
        if token in names:
            at = (start + (length - 1) / 2) / rate
            top.text(
                at,
                ceiling,
                names[token],
                ha="center",
                va="top",
                fontsize=14,
                fontweight="bold",
                color=chosen.ink,
            )
    tok, levels, off = coarse
    sizes = tok.vocabulary.n_alphabet, len(tok.vocabulary)
    below = SkylineDisplay(skyline(tok, tok.encode(levels)), found.signal, sizes)
    below.plot(middle, start=begin, stop=end, rate=rate, theme=chosen)
    middle.set_title("", loc="left")
    middle.set(xlabel="seconds of the record", ylabel="tokens")
    n, size = found.ids.size, found.signal.size
    long = found.lengths[found.lengths >= side].sum() / max(size, 1)
    figures = (
        f"{size / rate / 60:.0f} minutes in {n:,} tokens, {long:.0%} of it in tokens of 0.3 s or more; "
        f"no sample is more than {bound:.3g} of {np.ptp(found.signal):.0f} units off"
    )
    _write_titles(figure, figures, learned > 0 and begin >= learned, sizes, off, len(names), chosen)
    with atomically(path) as file:
        figure.savefig(file, format="png", dpi=110)


def _window(found: Found, tokens: NDArray[np.int64], size: int, learned: int) -> slice:
    """The tokens of about `size` samples with the most of `tokens`, after the learned part if possible.

    The chosen place has the largest product: samples of these tokens times the number of different ones.
    """
    if found.signal.size - learned < size:
        learned = 0
    firsts = np.flatnonzero(found.starts >= learned)
    lasts = np.searchsorted(found.starts + found.lengths, found.starts[firsts] + size, side="right")
    ids, lengths = np.where(np.isin(found.ids, tokens), [found.ids, found.lengths], [[-1], [0]])
    parts = list(map(slice, firsts.tolist(), lasts.tolist()))
    return max(parts, key=lambda part: np.setdiff1d(ids[part], -1).size * int(lengths[part].sum()))


def _write_titles(
    figure: Any, figures: str, unseen: bool, sizes: tuple[int, int], off: float, n_motifs: int, theme: Theme
) -> None:
    """The title, the line of figures, and a heading and an explanation for each part."""
    title, heading, note = (
        {"fontsize": size, "fontweight": weight, "color": colour}
        for size, weight, colour in (
            (21, "bold", theme.ink),
            (14, "bold", theme.ink),
            (12, "normal", theme.dim),
        )
    )
    lines = (
        (0.966, title, "Recurring stretches of an ECG, learned without labels"),
        (0.933, note | {"fontsize": 13.5}, figures),
        (0.894, heading, f"{_SECONDS} seconds of the ECG as tokens" + ", which were learned from other minutes" * unseen),
        (0.868, note, "A block below the curve is a token, a shape that recurs approximately. The thin line is the "
         "signal, the thick line the decoded tokens."),
        (0.598, heading, f"A skyline: the same seconds in {sizes[0]} levels, under every vocabulary size up to {sizes[1]}"),
        (0.572, note, f"Each height is the record, at most {off:.3g} units off, in a vocabulary of that size. "
         "Upwards, short tokens join. Colors only separate neighbors here."),
        (0.238, heading, f"All occurrences of {n_motifs} tokens in the record, aligned"),
        (0.212, note, "Colored: the token. Grey: the signal, which inside the token stays within the band of the error "
         "bound. A waveform may serve at any height."),
    )  # fmt: skip
    for y, look, text in lines:
        figure.text(_LEFT, y, text, va="center", ha="left", **look)
    figure.text(_RIGHT, 0.966, "ubpe-numba", va="center", ha="right", fontsize=14, color=theme.dim)
