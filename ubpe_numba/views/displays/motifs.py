"""A gallery of motifs, each with its occurrences in context."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from ubpe_numba.runtime.arrays import describe, integer, told
from ubpe_numba.tokenizers.base import given_tokenizer
from ubpe_numba.tokenizers.seam import tables_of
from ubpe_numba.views.colours import Theme, theme_of
from ubpe_numba.views.displays.canvas import check_rate, require_matplotlib, room_of, style
from ubpe_numba.views.motifs import contexts_of, evenly, is_signal, line_of, say_most, sides_of

if TYPE_CHECKING:
    from ubpe_numba.tokenizers.base import Tokenizer

__all__ = ["MotifsDisplay"]

_LINES = 7  # of occurrences that are written
_COLUMNS = 4  # of a new figure


@told
class MotifsDisplay:
    """A gallery of motifs: the aligned occurrences of each, in its hue, with grey context.

    Those of text, DNA and named symbols are written, each occurrence in a line of its own.

    Parameters
    ----------
    tokens : int[k]
        The motifs.
    motifs : list of float[length] or str
        The values of each, or its text.
    contexts : list of float[n, side + length + side]
        Occurrences of each with their context, NaN outside the document; if motifs are `str`, lists of the
        text before and after.
    counts : int[k]
        The number of occurrences of each, plotted or not.
    side : int
        Symbols of context on either side.
    n_alphabet : int
        The size of the alphabet, whose symbols are grey.

    Attributes
    ----------
    axes_, figure_
        The axes of the last plot, an array, of which the first k hold a motif each.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from ubpe_numba import BPE
    >>> docs = [[0, 0, 3, 9, 3], [3, 9, 3, 1]]
    >>> tok = BPE.from_merges([[1, 2], [4, 1]], alphabet=[0, 3, 9, 1])
    >>> display = MotifsDisplay.from_batch(tok, docs, n=1, side=1, ax=Figure().subplots(1, 1, squeeze=False))
    >>> display.motifs[0].tolist(), display.contexts[0].tolist()
    ([3.0, 9.0, 3.0], [[0.0, 3.0, 9.0, 3.0, nan], [nan, 3.0, 9.0, 3.0, 1.0]])
    """

    def __init__(
        self, tokens: Any, motifs: list[Any], contexts: list[Any], counts: Any, side: int, n_alphabet: int
    ) -> None:
        self.tokens, self.counts = np.asarray(tokens, np.int64), np.asarray(counts, np.int64)
        self.motifs, self.contexts, self.side, self.n_alphabet = motifs, contexts, side, n_alphabet

    @classmethod
    def from_batch(
        cls,
        tok: Tokenizer,
        docs: Any,
        offsets: Any = None,
        *,
        n: int = 12,
        tokens: Any = None,
        least: int = 2,
        side: int = 20,
        most: int = 200,
        **how: Any,
    ) -> Self:
        """Encode documents, choose motifs and draw them.

        Parameters
        ----------
        tok : Tokenizer
            A tokenizer.
        docs, offsets
            Documents, as `Tokenizer.encode_batch` takes them.
        n : int
            How many motifs: those that say most, by the range of their values times the tokens that they
            save. Fewer, if fewer occur `least` times, are not flat and differ from the others.
        tokens : int[k], optional
            The motifs to show instead.
        least : int
            How often a motif must occur to be chosen.
        side : int
            Symbols of context on either side; none of another document.
        most : int
            Maximal number of plotted occurrences per motif, evenly spaced.
        **how
            As for `plot`.

        Raises
        ------
        ValueError
            If `n` or `most` is below 1 or `side` below 0, and as
            `plot` raises it.
        IndexError
            If one of `tokens` is not in the vocabulary.
        TypeError
            For tokens or numbers other than integers.
        """
        for name, value, lowest in (("n", n, 1), ("most", most, 1), ("side", side, 0)):
            if integer(value, name) < lowest:
                raise ValueError(f"{name}: expected {lowest} or more, got {value}")
        # the classes' options differ
        v, encode = given_tokenizer(tok).vocabulary, cast(Any, tok.encode_batch)
        index = tok.index(ids := encode(docs, offsets))
        if tokens is None:
            chosen = say_most(v, index.counts, n, least)
        else:
            requested = np.atleast_1d(np.asarray(tokens))
            if requested.size and (requested.dtype.kind not in "iu" or requested.ndim > 1):
                raise TypeError(f"tokens: expected a 1-D sequence of integers, got {describe(requested)}")
            chosen = requested.astype(np.int64)
            if (bad := chosen[(chosen < 0) | (chosen >= len(v))]).size:
                raise IndexError(f"tokens: expected ids in 0..{len(v) - 1}, got {bad[0]}")
        symbols, bounds = (decoder := tables_of(tok).decoder).decode(ids, tok.n_threads)
        written = not is_signal(v)
        motifs: list[Any] = []
        contexts: list[Any] = []
        for token in chosen.tolist():
            occurrences, length = index[token], int(decoder.lengths[token])
            some = evenly(occurrences.starts.size, min(most, _LINES) if written else most)
            documents, starts = occurrences.documents[some], occurrences.starts[some]
            if written:
                motifs.append(line_of(v[token]))
                contexts.append(sides_of(v, symbols, bounds, documents, starts, length, side))
            else:
                motifs.append(v[token].astype(np.float64))
                contexts.append(
                    contexts_of(symbols.astype(np.float64), bounds, documents, starts, length, side)
                )
        display = cls(chosen, motifs, contexts, index.counts[chosen], side, v.n_alphabet)
        return display.plot(**how)

    def plot(
        self,
        ax: Any = None,
        *,
        rate: float | None = None,
        colours: Mapping[int, str] | None = None,
        theme: str | Theme = "light",
    ) -> Self:
        """Draw again.

        Parameters
        ----------
        ax : Axes or array of Axes, optional
            Axes for each motif; by default a new figure of pyplot.
        rate : float, optional
            Samples a second, for lengths in seconds; by default they are in symbols.
        colours : dict of int to str, optional
            Colors for tokens, instead of their hue.
        theme : str or Theme
            ``"light"`` or ``"dark"``.

        Raises
        ------
        ValueError
            If there are fewer axes than motifs, `rate` is not finite and above 0, or for an unknown theme.

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> beat = np.array([0.0, 9.0, 0.0])
        >>> display = MotifsDisplay([7], [beat], [beat[None]], [1], side=0, n_alphabet=3)
        >>> display.plot(Figure().subplots(1, 1, squeeze=False)).axes_.shape
        (1, 1)
        """
        check_rate(rate)
        chosen = theme_of(theme)
        require_matplotlib()
        n, axes = self.tokens.size, np.asarray([] if ax is None else ax, object)
        if ax is None:
            import matplotlib.pyplot as plt

            columns, rows = min(_COLUMNS, max(n, 1)), -(-max(n, 1) // _COLUMNS)
            figure = plt.figure(
                figsize=(2.8 * columns, 1.9 * rows), layout="constrained", facecolor=chosen.paper
            )
            figure.get_layout_engine().set(wspace=0.06)
            axes = figure.subplots(rows, columns, squeeze=False)
        if axes.size < n:
            raise ValueError(f"ax: expected at least {n} axes, one for each motif, got {axes.size}")
        for one in axes.flat:
            style(one, chosen)
            one.set_axis_off()
        limits = None  # the same for all, so that heights can be compared
        seen = [
            part[np.isfinite(part)] for part in (*self.motifs, *self.contexts) if isinstance(part, np.ndarray)
        ]
        if any(part.size for part in seen):
            low, high = (float(value) for value in (np.concatenate(seen).min(), np.concatenate(seen).max()))
            room = room_of(low, high, 0.05)
            limits = low - room, high + room
        for i, (ax, token) in enumerate(zip(axes.flat, self.tokens.tolist(), strict=False)):
            colour = (colours or {}).get(token, chosen.colour_of(token, self.n_alphabet))
            ax.set_title(f"token {token}", loc="left", fontsize=10, fontweight="bold", color=chosen.ink)
            if isinstance(self.motifs[i], str):
                long = self._write(ax, i, colour, chosen)
            else:
                long = self._draw_values(ax, i, colour, rate, limits, chosen)
            ax.set_title(f"{int(self.counts[i]):,} times · {long}", loc="right", fontsize=9, color=chosen.dim)
        self.axes_, self.figure_ = axes, axes.flat[0].figure
        return self

    def _draw_values(
        self,
        ax: Any,
        i: int,
        colour: str,
        rate: float | None,
        limits: tuple[float, float] | None,
        theme: Theme,
    ) -> str:
        """Plot a motif in its axes, with its length."""
        motif, contexts = self.motifs[i], self.contexts[i]
        x = np.arange(-self.side, motif.size + self.side)
        opacity = max(0.12, min(0.75, 6 / max(1, len(contexts))))
        ax.axvspan(-0.5, motif.size - 0.5, color=theme.highlight, lw=0, zorder=0)
        ax.plot(x, contexts.T, color=theme.grey, alpha=opacity, lw=1.0, zorder=1)
        ax.plot(
            np.arange(motif.size),
            motif,
            color=colour,
            lw=2.4,
            solid_capstyle="butt",
            marker="o",
            ms=2.0,
            zorder=2,
        )
        ax.set_xlim(x[0] - 0.5, x[-1] + 0.5)
        if limits is not None:
            ax.set_ylim(*limits)
        return f"{motif.size} samples" if rate is None else f"{motif.size / rate:.2f} s"

    def _write(self, ax: Any, i: int, colour: str, theme: Theme) -> str:
        """Write the occurrences of a motif in its axes, one per line, with its text."""
        look: dict[str, Any] = {
            "family": "monospace",
            "fontsize": 8,
            "va": "center",
            "clip_on": True,
            "parse_math": False,
        }
        for line, sides in enumerate(self.contexts[i]):
            token = ax.text(
                0.5,
                1 - (line + 0.5) / _LINES,
                self.motifs[i],
                ha="center",
                color=colour,
                fontweight="bold",
                **look,
            )
            for at, aligned, text in zip((0, 1), ("right", "left"), sides, strict=True):
                ax.annotate(text, (at, 0.5), xycoords=token, ha=aligned, color=theme.dim, **look)
        return "in context"
