"""A gallery of motifs, each with its occurrences in context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.documents.read import as_documents
from ubpe_numba.runtime.arrays import describe, integer, told
from ubpe_numba.views.colours import Theme, hue_of, theme_of
from ubpe_numba.views.displays.canvas import check_rate, grid_for, require_signal, room_of
from ubpe_numba.views.motifs import choose_motifs, contexts_of, evenly

if TYPE_CHECKING:
    from ubpe_numba.tokenizers.base import Tokenizer

__all__ = ["MotifsDisplay"]


@told
class MotifsDisplay:
    """A gallery of motifs: each in its hue over its occurrences, which are aligned at it and go on in grey on both sides.

    Parameters
    ----------
    tokens : int[k]
        The motifs.
    motifs : list of float[length]
        The values of each.
    contexts : list of float[n, side + length + side]
        Occurrences of each with their context, NaN outside the document.
    counts : int[k]
        How often each occurs, drawn or not.
    side : int
        Symbols of context on either side.
    n_alphabet : int
        The size of the alphabet, whose symbols are grey.

    Attributes
    ----------
    tokens, motifs, contexts, counts, side, n_alphabet
        As they were given.
    axes_, figure_
        What was drawn on: an array of axes, of which the first k hold a motif each.

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
        self,
        tokens: Any,
        motifs: list[NDArray[np.float64]],
        contexts: list[NDArray[np.float64]],
        counts: Any,
        side: int,
        n_alphabet: int,
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
        diverse: bool = True,
        least: int = 2,
        side: int = 20,
        most: int = 200,
        columns: int = 4,
        rate: float | None = None,
        share_y: bool = True,
        ax: Any = None,
        theme: str | Theme = "light",
    ) -> Self:
        """Encode documents, choose motifs and draw them.

        Parameters
        ----------
        tok : Tokenizer
            A tokenizer of integers.
        docs, offsets
            Documents, as `Tokenizer.encode_batch` takes them.
        n : int
            How many motifs: those that say most, by the range of their values times the tokens that they save. Fewer, if fewer
            occur `least` times and are not level.
        tokens : int[k], optional
            The motifs to show instead.
        diverse : bool
            Whether variations of one shape are passed over.
        least : int
            How often a motif must occur to be chosen.
        side : int
            Symbols of context on either side; none of another document.
        most : int
            How many occurrences of a motif are drawn at most, at even distances.
        columns, rate, share_y, ax, theme
            As for `plot`.

        Raises
        ------
        ValueError
            If the tokenizer is one of text or bytes or has ids of its own, `n` or `most` is below 1 or `side` below 0, and as
            `plot` raises it.
        IndexError
            If one of `tokens` is not in the vocabulary.
        TypeError
            For tokens or numbers that are no integers.
        """
        require_signal(tok, cls.__name__)
        for name, value, lowest in (("n", n, 1), ("most", most, 1), ("side", side, 0)):
            if integer(value, name) < lowest:
                raise ValueError(f"{name}: expected {lowest} or more, got {value}")
        documents = as_documents(docs, offsets)
        values = np.asarray(documents.values, np.float64)
        bounds = np.asarray(documents.offsets, np.int64)
        alphabet, vocabulary, _ = tok._fitted()
        symbols = alphabet.to_symbols(vocabulary.arena).astype(np.float64)
        encode: Any = tok.encode_batch  # the classes' options differ
        index = tok.index(encode(documents.values[bounds[0] : bounds[-1]], bounds - bounds[0]))
        counts = index.counts[: len(vocabulary)]  # special tokens have ids after them
        if tokens is None:
            chosen = choose_motifs(vocabulary, symbols, counts, n, diverse, least)
        else:
            given = np.atleast_1d(np.asarray(tokens))
            if given.size and (given.dtype.kind not in "iu" or given.ndim > 1):
                raise TypeError(f"tokens: expected a 1-D sequence of integers, got {describe(given)}")
            chosen = given.astype(np.int64)
            if (bad := chosen[(chosen < 0) | (chosen >= len(vocabulary))]).size:
                raise IndexError(f"tokens: expected ids in 0..{len(vocabulary) - 1}, got {bad[0]}")
        motifs, contexts = [], []
        for token in chosen.tolist():
            found = index[token]
            drawn = evenly(found.starts.size, most)
            motif = symbols[vocabulary.offsets[token] : vocabulary.offsets[token + 1]]
            motifs.append(motif)
            contexts.append(contexts_of(values, bounds, found.documents[drawn], found.starts[drawn], motif.size, side))
        made = cls(chosen, motifs, contexts, counts[chosen], side, vocabulary.n_alphabet)
        return made.plot(ax, columns=columns, rate=rate, share_y=share_y, theme=theme)

    def plot(
        self,
        ax: Any = None,
        *,
        columns: int = 4,
        rate: float | None = None,
        share_y: bool = True,
        names: Sequence[str] | None = None,
        colours: Sequence[str] | None = None,
        theme: str | Theme = "light",
    ) -> Self:
        """Draw again.

        Parameters
        ----------
        ax : Axes or array of Axes, optional
            Axes for each motif, or one whose place in its grid is divided; by default a new figure of pyplot.
        columns : int
            How many motifs are drawn in a row, unless the axes are given.
        rate : float, optional
            Samples a second, for lengths in seconds; by default they are in symbols.
        share_y : bool
            Whether all have the same axis of values, so that heights can be compared.
        names : list of str, optional
            What each motif is called; by default ``"token"`` and its id.
        colours : list of str, optional
            The colour of each; by default its hue.
        theme : str or Theme
            ``"light"`` or ``"dark"``.

        Raises
        ------
        ValueError
            If there are fewer axes, `names` or `colours` than motifs, `columns` is below 1, `rate` is not finite and above 0, or
            for an unknown theme.

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> beat = np.array([0.0, 9.0, 0.0])
        >>> display = MotifsDisplay([7], [beat], [beat[None]], [1], side=0, n_alphabet=3)
        >>> display.plot(Figure().subplots(1, 1, squeeze=False)).axes_.shape
        (1, 1)
        """
        if integer(columns, "columns") < 1:
            raise ValueError(f"columns: expected 1 or more, got {columns}")
        check_rate(rate)
        called = [f"token {token}" for token in self.tokens.tolist()] if names is None else list(names)
        if len(called) != self.tokens.size:
            raise ValueError(f"names: expected {self.tokens.size}, one for each motif, got {len(called)}")
        chosen = theme_of(theme)
        palette = [*chosen.hues, chosen.grey]  # the last is that of GREY, -1
        own = [palette[hue_of(token, self.n_alphabet)] for token in self.tokens.tolist()]
        drawn = own if colours is None else list(colours)
        if len(drawn) != self.tokens.size:
            raise ValueError(f"colours: expected {self.tokens.size}, one for each motif, got {len(drawn)}")
        axes = grid_for(ax, self.tokens.size, columns, (2.8, 1.9), chosen, share_y)
        for one in axes.flat:
            one.set_axis_off()
        limits = None
        seen = [part[np.isfinite(part)] for part in (*self.motifs, *self.contexts)] if share_y else []
        if any(part.size for part in seen):
            low, high = (float(found) for found in (np.concatenate(seen).min(), np.concatenate(seen).max()))
            room = room_of(low, high, 0.05)
            limits = low - room, high + room
        for i, name in enumerate(called):
            self._draw(axes.flat[i], i, name, drawn[i], rate, limits, chosen)
        self.axes_, self.figure_ = axes, axes.flat[0].figure
        return self

    def _draw(
        self,
        ax: Any,
        i: int,
        name: str,
        colour: str,
        rate: float | None,
        limits: tuple[float, float] | None,
        theme: Theme,
    ) -> None:
        """One motif in its axes."""
        motif, contexts, count = self.motifs[i], self.contexts[i], int(self.counts[i])
        x = np.arange(-self.side, motif.size + self.side)
        opacity = max(0.12, min(0.75, 6 / max(1, len(contexts))))
        ax.axvspan(-0.5, motif.size - 0.5, color=theme.highlight, lw=0, zorder=0)
        ax.plot(x, contexts.T, color=theme.grey, alpha=opacity, lw=1.0, zorder=1)
        ax.plot(np.arange(motif.size), motif, color=colour, lw=2.8, solid_capstyle="round", marker="o", ms=2.6, zorder=2)
        long = f"{motif.size} samples" if rate is None else f"{motif.size / rate:.2f} s"
        ax.set_title(name, loc="left", fontsize=10, fontweight="bold", color=theme.ink)
        ax.set_title(f"{count:,} times · {long}", loc="right", fontsize=9, color=theme.dim)
        ax.set_xlim(x[0] - 0.5, x[-1] + 0.5)
        if limits is not None:
            ax.set_ylim(*limits)
