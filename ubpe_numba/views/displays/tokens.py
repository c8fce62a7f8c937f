"""A signal coloured by token, above a lane of its tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.runtime.arrays import integer, told
from ubpe_numba.views.colours import Theme, colours_of, hue_of, theme_of
from ubpe_numba.views.displays.canvas import Display, check_rate, room_of, signal_of

if TYPE_CHECKING:
    pass

__all__ = ["TokensDisplay"]


@told
class TokensDisplay(Display):
    """A signal coloured by token: the same token has the same hue, and no hue follows itself.

    Parameters
    ----------
    samples : array[n_samples]
        The signal.
    ids : int[n]
        Its tokens, in order.
    starts, lengths : int[n]
        The first sample of each token, and how many it covers.
    n_alphabet : int
        The size of the alphabet, whose symbols are grey.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from ubpe_numba import BPE
    >>> doc = [0, 1, 2, 1, 0, 0, 1, 2, 1, 0]
    >>> tok = BPE.from_merges([[0, 1], [3, 2]], alphabet=[0, 1, 2])
    >>> display = TokensDisplay.from_document(tok, doc, ax=Figure().subplots())
    >>> display.ids.tolist(), display.starts.tolist()
    ([4, 1, 0, 4, 1, 0], [0, 3, 4, 5, 8, 9])
    """

    def __init__(self, samples: Any, ids: Any, starts: Any, lengths: Any, n_alphabet: int) -> None:
        self.samples: NDArray[Any] = np.asarray(samples)
        self.ids, self.starts, self.lengths = (np.asarray(each, np.int64) for each in (ids, starts, lengths))
        self.n_alphabet = n_alphabet

    @classmethod
    def from_document(cls, tok: Any, doc: Any, *, channel: int = 0, **how: Any) -> Self:
        """Encode a document and draw it.

        Parameters
        ----------
        tok : Tokenizer or SignalTokenizer
            A tokenizer of integers, or of recordings.
        doc : int[n_samples] or a recording
            The signal.
        channel : int
            The plotted channel of a recording.
        **how
            As for `plot`.

        Raises
        ------
        ValueError
            If the tokenizer is one of text or bytes or has ids of its own, `doc` is not one document, and as
            `plot` raises it.
        """
        if hasattr(tok, "error_bound"):  # a SignalTokenizer
            spans, samples = tok.spans(doc), np.ma.filled(np.ma.asarray(doc, np.float64), np.nan)
            if tok.channel_axis is not None:
                samples = np.moveaxis(samples, tok.channel_axis, 0)[channel]
            own = spans.documents == channel % tok.scale_.n_channels
            levels = int(np.argmax(tok.vocabulary.lengths > 1))  # as ids, before those of several samples
            return cls(samples, spans.ids[own], spans.starts[own], spans.lengths[own], levels).plot(**how)
        samples, spans, n_alphabet = signal_of(tok, doc, cls.__name__)
        return cls(samples, spans.ids, spans.starts, spans.lengths, n_alphabet).plot(**how)

    def plot(
        self,
        ax: Any = None,
        *,
        rate: float | None = None,
        token: int | Mapping[int, str] | None = None,
        theme: str | Theme = "light",
    ) -> Self:
        """Draw again.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default a new figure of pyplot.
        rate : float, optional
            Samples a second, for an axis in seconds; by default the axis counts samples.
        token : int or dict of int to str, optional
            A token to show, or several. They and their grounds are colored; all others alternate between two
            greys.
        theme : str or Theme
            ``"light"`` or ``"dark"``.

        Raises
        ------
        ValueError
            If `rate` is not finite and above 0, or for an unknown theme.
        TypeError
            If `rate` is not a number, or `token` not an integer.

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> display = TokensDisplay([0, 1, 2, 2], [3, 2], starts=[0, 3], lengths=[3, 1], n_alphabet=3)
        >>> display.plot(Figure().subplots(), rate=2).ax_.get_xlabel()
        'seconds'
        """
        check_rate(rate)
        chosen = theme_of(theme)
        colours = (
            token
            if token is None or isinstance(token, Mapping)
            else {token: chosen.hues[hue_of(integer(token, "token"), 0)]}
        )
        ax = self._axes(ax, chosen)
        from matplotlib.collections import LineCollection

        scale = 1 / (rate or 1)
        if colours is None:
            shown, drawn = self.ids >= self.n_alphabet, colours_of(self.ids, self.n_alphabet, chosen)
        else:
            shown, greys = np.isin(self.ids, list(colours)), (chosen.dim, chosen.grey)
            drawn = [colours.get(t, greys[i % 2]) for i, t in enumerate(self.ids.tolist())]
        # each token extends to the first sample of the next, so that the line is continuous
        points = np.column_stack([np.arange(self.samples.size) * scale, self.samples])
        ends = self.starts + self.lengths
        lines = [points[a : b + 1] for a, b in zip(self.starts.tolist(), ends.tolist(), strict=True)]
        widths = np.where(shown, 2.4, 1.2)  # points; an end that is not round is not wider than its token
        ax.add_collection(
            LineCollection(lines, colors=drawn, linewidths=widths, capstyle="butt", zorder=3), autolim=False
        )
        present = self.samples[self.samples == self.samples]  # NaN is missing
        low, high = (float(present.min()), float(present.max())) if present.size else (0.0, 1.0)
        room = room_of(low, high, 0.06)
        bottom = low - 3 * room
        bars = np.column_stack([self.starts * scale, self.lengths * scale])
        ax.broken_barh(
            bars, (bottom, 1.6 * room), facecolors=drawn, edgecolors=chosen.paper, linewidth=0.8, zorder=2
        )
        if colours is not None:
            for a, b in zip(self.starts[shown].tolist(), ends[shown].tolist(), strict=True):
                ax.axvspan(a * scale, b * scale, color=chosen.highlight, zorder=0, lw=0)
        ax.set(xlim=(0, max(self.samples.size, 1) * scale), ylim=(bottom, high + room))
        ax.set_xlabel("sample" if rate is None else "seconds")
        named = f"{self.samples.size:,} samples, {self.ids.size:,} tokens"
        ax.set_title(
            named
            if colours is None or token is colours
            else f"{named}: token {token}, {int(shown.sum()):,} times",
            loc="left",
        )
        return self
