"""How often tokens occur: by rank, or by length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.errors import quoted
from ubpe_numba.runtime.arrays import told
from ubpe_numba.views.colours import Theme, theme_of
from ubpe_numba.views.displays.canvas import Display

if TYPE_CHECKING:
    from ubpe_numba.coding.occurrences import Usage
    from ubpe_numba.tokenizers.base import Tokenizer

__all__ = ["CountsDisplay"]


@told
class CountsDisplay(Display):
    """How often tokens occur in an encoding: the n-th most frequent on logarithmic axes, or those of each length.

    Parameters
    ----------
    counts : int[V]
        Occurrences of each id.
    lengths : int[V]
        How many symbols each represents.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from ubpe_numba import BPE
    >>> tok = BPE.from_merges([[0, 1]], alphabet=[0, 1])
    >>> display = CountsDisplay.from_usage(tok, tok.usage([[0, 1, 1]]), by="length", ax=Figure().subplots())
    >>> display.counts.tolist(), display.lengths.tolist()
    ([0, 1, 1], [1, 1, 2])
    """

    _size = (6.0, 3.6)

    def __init__(self, counts: Any, lengths: Any) -> None:
        self.counts: NDArray[np.int64] = np.asarray(counts, np.int64)
        self.lengths: NDArray[np.int64] = np.asarray(lengths, np.int64)

    @classmethod
    def from_usage(cls, tok: Tokenizer, usage: Usage, **how: Any) -> Self:
        """Draw counts, but those of special tokens, which represent no symbols.

        Parameters
        ----------
        tok : Tokenizer
            The tokenizer.
        usage : Usage
            What `Tokenizer.usage` counted of documents, or of ids.
        **how
            As for `plot`.
        """
        v, counts = tok.vocabulary, usage.counts.copy()
        counts[list(v.special.values())] = 0
        return cls(counts, v.lengths).plot(**how)

    def plot(self, ax: Any = None, *, by: str = "rank", theme: str | Theme = "light") -> Self:
        """Draw again.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default a new figure of pyplot.
        by : str
            ``"rank"``: occurrences of the n-th most frequent token, after Zipf. ``"length"``: occurrences of all tokens of each
            length.
        theme : str or Theme
            ``"light"`` or ``"dark"``.

        Raises
        ------
        ValueError
            If `by` is something else, no token occurs, or for an unknown theme.

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> CountsDisplay([4, 0, 2], [1, 1, 2]).plot(Figure().subplots()).ax_.get_title(loc="left")
        '2 of 3 tokens occur'
        """
        if by not in ("rank", "length"):
            raise ValueError(f"by: expected 'rank' or 'length', got {quoted(by)}")
        if not self.counts.any():
            raise ValueError("counts: expected a token that occurs, got none")
        chosen = theme_of(theme)
        ax = self._axes(ax, chosen)
        if by == "rank":
            from matplotlib.ticker import FuncFormatter

            used = np.sort(self.counts[self.counts > 0])[::-1]
            ranks = np.arange(1, used.size + 1)
            ax.plot(ranks, used, color=chosen.hues[0], lw=2.2, marker="o" if used.size < 40 else None, ms=4)
            ax.set(xscale="log", yscale="log")
            for axis in (ax.xaxis, ax.yaxis):
                axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
            ax.set_xlabel("rank of the token")
            ax.set_title(f"{used.size:,} of {self.counts.size:,} tokens occur", loc="left")
        else:
            found = np.bincount(self.lengths, self.counts)
            mean = float(self.lengths @ self.counts / self.counts.sum())
            ax.bar(np.arange(found.size), found, width=0.86, color=chosen.hues[0])
            ax.axvline(mean, color=chosen.ink, lw=1.2, ls=(0, (4, 3)))
            ax.set_xlim(0.4, max(1, int(np.flatnonzero(found)[-1])) + 0.6)
            ax.set_xlabel("symbols of the token")
            ax.set_title(f"{mean:.2f} symbols a token on average", loc="left")
        ax.set_ylabel("occurrences")
        ax.grid(color=chosen.grid, lw=0.8)
        ax.set_axisbelow(True)
        return self
