"""Compression at every size of a vocabulary, a curve for each tokenizer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.errors import quoted
from ubpe_numba.runtime.arrays import told
from ubpe_numba.views.colours import N_HUES, Theme
from ubpe_numba.views.displays.canvas import Display

if TYPE_CHECKING:
    from ubpe_numba.tokenizers.base import Tokenizer

__all__ = ["CompressionDisplay"]


@told
class CompressionDisplay(Display):
    """Symbols per token at every size of the vocabulary: a labeled curve for each tokenizer.

    Parameters
    ----------
    curves : dict of str to (int[m], float[m])
        Sizes and symbols per token of each, under its name, which may be empty.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from ubpe_numba import BPE
    >>> docs = [[0, 1, 0, 1, 1], [0, 1, 1]]
    >>> tokenizers = {"small": BPE(3).fit(docs), "large": BPE(4).fit(docs)}
    >>> display = CompressionDisplay.from_tokenizers(tokenizers, ax=Figure().subplots())
    >>> sizes, ratios = display.curves["large"]
    >>> sizes.tolist(), ratios.round(2).tolist()
    ([2, 3, 4], [1.0, 1.6, 2.67])
    """

    _size = (7.0, 4.0)

    def __init__(self, curves: Mapping[str, tuple[Any, Any]]) -> None:
        self.curves: dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]] = {
            name: (np.asarray(sizes), np.asarray(ratios, np.float64))
            for name, (sizes, ratios) in curves.items()
        }
        if not self.curves:
            raise ValueError("curves: expected at least one curve")
        for name, (sizes, ratios) in self.curves.items():
            if not sizes.size or sizes.shape != ratios.shape:
                raise ValueError(
                    f"curves: {quoted(name)}: expected as many ratios as sizes, got {ratios.shape} and "
                    f"{sizes.shape}"
                )

    @classmethod
    def from_tokenizers(cls, tokenizers: Tokenizer | Mapping[str, Tokenizer], **how: Any) -> Self:
        """Draw the curves of tokenizers (`history_.compression`).

        Parameters
        ----------
        tokenizers : Tokenizer or dict of str to Tokenizer
            One, or several with their names.
        **how
            As for `plot`.

        Raises
        ------
        NotFittedError
            If one knows nothing of its fit.
        """
        named = tokenizers if isinstance(tokenizers, Mapping) else {type(tokenizers).__name__: tokenizers}
        if isinstance(tokenizers, (list, tuple)):
            raise TypeError(
                "tokenizers: expected a tokenizer, or a dict of names and tokenizers, got a list. Name each."
            )
        curves = {name: tok.history_.compression(tok.vocabulary.n_alphabet) for name, tok in named.items()}
        return cls(curves).plot(**how)

    def _draw(self, ax: Any, theme: Theme) -> None:
        top = max(float(ratios.max()) for _, ratios in self.curves.values()) * 1.06
        at = _apart([float(ratios[-1]) for _, ratios in self.curves.values()], 0.065 * top)
        for i, (name, (sizes, ratios)) in enumerate(self.curves.items()):
            colour = theme.hues[i % N_HUES]
            ax.plot(sizes, ratios, color=colour, lw=2.2)
            ax.plot(sizes[-1:], ratios[-1:], color=colour, marker="o", ms=5)
            ax.annotate(
                f"{name} {ratios[-1]:.2f}".strip(),
                (sizes[-1], at[i]),
                xytext=(8, 0),
                textcoords="offset points",
                va="center",
                color=colour,
                fontweight="bold",
                annotation_clip=False,
            )
        ax.set(xscale="log", ylim=(0, top))
        ax.set_xlabel("tokens in the vocabulary")
        ax.set_ylabel("symbols a token")
        ax.grid(color=theme.grid, lw=0.8)
        ax.set_axisbelow(True)
        from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

        ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))  # of each decade
        ax.xaxis.set_major_formatter(FuncFormatter(lambda size, _: f"{size:,.0f}"))
        ax.xaxis.set_minor_formatter(NullFormatter())


def _apart(heights: list[float], gap: float) -> list[float]:
    """Heights of labels at least `gap` from one another, in the same order, near the requested heights.

    >>> _apart([1.0, 1.1, 5.0], 0.5)
    [1.0, 1.5, 5.0]
    """
    placed = list(heights)
    below = -np.inf
    for i in sorted(range(len(heights)), key=heights.__getitem__):
        below = placed[i] = max(heights[i], below + gap)
    return placed
