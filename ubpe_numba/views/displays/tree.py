"""The merges that a token was built by, as a tree of its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ubpe_numba.runtime.arrays import told
from ubpe_numba.views.colours import Theme
from ubpe_numba.views.displays.canvas import Display
from ubpe_numba.views.motifs import line_of

if TYPE_CHECKING:
    from ubpe_numba.tokenizers.base import Tokenizer
    from ubpe_numba.tokenizers.token_table import MergeTree

__all__ = ["TreeDisplay"]

_HALF = 0.36  # of the width of a shape; leaves are 1 apart
_TALL = 0.44  # the height of a shape; levels are 1 apart
_LONGEST = 18  # cells of a string that are shown


@told
class TreeDisplay(Display):
    """The merge tree of a token: every part with its id and its shape, or its string if documents are text.

    Parameters
    ----------
    tree : MergeTree
        The nodes in preorder.
    labels : list of (float[length] or str)
        What each node represents: values to draw, or a string to write.
    n_alphabet : int
        The size of the alphabet, whose symbols are grey.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from ubpe_numba import BPE
    >>> tok = BPE.from_merges([[0, 1], [2, 0]], alphabet="ab")
    >>> display = TreeDisplay.from_token(tok, 3, ax=Figure().subplots())
    >>> display.labels
    ['aba', 'ab', 'a', 'b', 'a']
    """

    def __init__(self, tree: MergeTree, labels: list[Any], n_alphabet: int) -> None:
        self.tree, self.labels, self.n_alphabet = tree, labels, n_alphabet
        leaves = tree.above.size - np.unique(tree.above[1:]).size
        self._size = min(18.0, max(4.0, 0.85 * leaves)), min(12.0, 2.1 + int(tree.depths.max()))

    @classmethod
    def from_token(cls, tok: Tokenizer, token: int, *, depth: int | None = 4, **how: Any) -> Self:
        """Draw the merges of a token.

        Parameters
        ----------
        tok : Tokenizer
            A tokenizer of pairs.
        token : int
            The id, as in encodings.
        depth : int or None
            How many merges below the token to follow; None for all.
        **how
            As for `plot`.

        Raises
        ------
        ValueError
            If the vocabulary knows no pairs, `depth` is below 0, and as `plot` raises it.
        IndexError
            If the token does not exist.
        """
        v = tok.vocabulary
        tree = v.tree(token, depth)
        parts = [v[i] for i in tree.tokens.tolist()]
        labels = [
            part.astype(np.float64) if isinstance(part, np.ndarray) else line_of(part, _LONGEST)
            for part in parts
        ]
        return cls(tree, labels, v.n_alphabet).plot(**how)

    def _draw(self, ax: Any, theme: Theme) -> None:
        above, depths = self.tree.above, self.tree.depths
        # leaves 1 apart, others over the middle of their parts
        x, levels = np.zeros(above.size), int(depths.max()) + 1
        parts = np.bincount(above[1:], minlength=above.size)
        leaves = np.flatnonzero(parts == 0)
        x[leaves] = np.arange(leaves.size)
        for i in range(above.size - 1, 0, -1):  # preorder: parts follow the whole
            x[above[i]] += x[i] / parts[above[i]]
        ax.set_axis_off()
        drawn = [label for label in self.labels if not isinstance(label, str)]
        low = min((float(shape.min()) for shape in drawn), default=0.0)
        high = max((float(shape.max()) for shape in drawn), default=0.0)
        for i, (token, label) in enumerate(zip(self.tree.tokens.tolist(), self.labels, strict=True)):
            y = -float(depths[i])
            if above[i] >= 0:
                bend = [x[above[i]], x[above[i]], x[i], x[i]]
                ax.plot(bend, [y + 0.5, y + 0.4, y + 0.4, y + 0.26], color=theme.grey, lw=0.9, zorder=0)
            colour = theme.colour_of(token, self.n_alphabet)
            if isinstance(label, str):
                room = {
                    "facecolor": theme.paper,
                    "edgecolor": colour,
                    "boxstyle": "round,pad=0.25",
                    "linewidth": 1.4,
                }
                ax.text(
                    x[i],
                    y - 0.25,
                    label,
                    ha="center",
                    va="center",
                    color=theme.ink,
                    family="monospace",
                    bbox=room,
                    parse_math=False,
                )
            else:  # all shapes have one scale, so that a part is seen in the whole
                ys = y - _HALF / 2 - _TALL / 2 + _TALL * (label - low) / max(high - low, 1.0)
                xs = x[i] + (np.linspace(-_HALF, _HALF, label.size) if label.size > 1 else np.zeros(1))
                ax.plot(
                    xs,
                    ys,
                    color=colour,
                    lw=2.2,
                    marker="o",
                    ms=5 if label.size == 1 else 2.4,
                    solid_capstyle="round",
                )
            ax.text(x[i], y + 0.16, str(token), ha="center", va="center", fontsize=8, color=theme.dim)
        ax.set(xlim=(-0.7, x.max() + 0.7), ylim=(-levels + 0.2, 0.4))
