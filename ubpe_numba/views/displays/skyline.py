"""The encodings of a document by every size of the vocabulary, one above the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.runtime.arrays import integer, told
from ubpe_numba.tokenizers.seam import merge_rows, model_of
from ubpe_numba.tokenizers.skyline import skyline
from ubpe_numba.views.colours import N_HUES, ON_HUES, Theme, hue_of, theme_of
from ubpe_numba.views.displays.canvas import Display, check_rate, ticks_of
from ubpe_numba.views.motifs import cells_of, labels_of

if TYPE_CHECKING:
    from ubpe_numba.tokenizers.base import Tokenizer

__all__ = ["SkylineDisplay"]

_COLUMNS, _ROWS = 1600, 240  # of the image of a document that is too long for rectangles


@told
class SkylineDisplay(Display):
    """A document by every size of the vocabulary: x is the document, y the size.

    Each horizontal line is an encoding. A block is a token: as wide as its symbols, from the vocabulary size
    that learns it, to the size at which a longer token replaces it. The ground is symbols of the alphabet. If
    a symbol has less than a pixel, blocks are an image of a sample of the symbols. Below a quarter of a pixel
    the curve is left out.

    Parameters
    ----------
    blocks : record[k]
        As `skyline` gives them.
    symbols : list of str or None, or float[n_symbols]
        The text below each symbol, None for later bytes of a character, or a curve: the value of each symbol.
    sizes : (int, int)
        The size of the alphabet, and that of the vocabulary.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from ubpe_numba import BPE
    >>> tok = BPE.from_merges([[0, 1], [3, 2]], alphabet="abc")
    >>> display = SkylineDisplay.from_document(tok, "abcab", ax=Figure().subplots())
    >>> display.blocks["token"].tolist(), display.symbols
    ([4, 3, 2, 0, 1, 3, 0, 1], ['a', 'b', 'c', 'a', 'b'])
    >>> [text.get_text() for text in display.ax_.texts]
    ['abc', 'ab', 'ab']
    """

    _size = (11.0, 4.0)

    def __init__(self, blocks: Any, symbols: Any, sizes: tuple[int, int]) -> None:
        self.blocks: NDArray[np.void] = np.asarray(blocks)
        self.symbols: list[str | None] | NDArray[np.float64] = symbols
        self.sizes = sizes

    @classmethod
    def from_document(
        cls, tok: Tokenizer, doc: Any, *, values: Callable[[NDArray[Any]], Any] | None = None, **how: Any
    ) -> Self:
        """Encode a document and draw it.

        Parameters
        ----------
        tok : Tokenizer
            A tokenizer that encodes by merge rank.
        doc
            One document: integers, text, bytes or names.
        values : function, optional
            How integers are plotted: a function from the symbols to the height of each, NaN for none. By
            default the symbols themselves.
        **how
            As for `plot`.

        Raises
        ------
        ValueError
            If encodings by smaller vocabularies are not parts of this encoding (see `skyline`), and as `plot`
            raises it.
        """
        blocks = skyline(tok, tok.encode(doc))
        alphabet, vocabulary, _ = model_of(tok)
        leaves = blocks[merge_rows(table := tok.vocabulary)[blocks["token"]] < 0]
        leaves = leaves[np.argsort(leaves["start"], kind="stable")]
        number = np.full(len(table), -1)
        number[table.symbol_ids[::-1]] = np.arange(table.n_alphabet)[::-1]
        known = number[leaves["token"]]
        if alphabet.kind == "int" and alphabet.names is None and known.min(initial=0) >= 0:
            levels = alphabet.to_symbols(known.astype(np.int32))
            symbols: Any = np.asarray(levels if values is None else values(levels), np.float64)
            if symbols.shape != levels.shape:
                raise ValueError(
                    f"values: expected a number for each of {levels.size} symbols, got shape {symbols.shape}"
                )
        else:
            symbols = labels_of(alphabet, known, leaves, table)
        display = cls(blocks, symbols, (table.n_alphabet, len(vocabulary)))
        return display.plot(**how)

    def plot(
        self,
        ax: Any = None,
        *,
        start: int = 0,
        stop: int | None = None,
        rate: float | None = None,
        bar: int | None = None,
        theme: str | Theme = "light",
    ) -> Self:
        """Draw again.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default a new figure of pyplot.
        start, stop : int
            The symbols to show, of text in UTF-8 its bytes; by default all.
        rate : float, optional
            Symbols a second, for an axis in seconds.
        bar : int, optional
            Symbols per bar of music, for an axis of bars; values are plotted as notes, not as a curve.
        theme : str or Theme
            ``"light"`` or ``"dark"``.

        Raises
        ------
        ValueError
            If `start` and `stop` are not within the document, `rate` is not above 0, `bar` is below 1, both
            are passed, or for an unknown theme.
        TypeError
            If any of them is not a number.

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from ubpe_numba import BPE
        >>> from ubpe_numba.plot import skyline
        >>> tok = BPE.from_merges([[0, 1]], alphabet="ab")
        >>> display = SkylineDisplay(skyline(tok, [2, 0]), ["a", "b", "a"], (2, 3)).plot(Figure().subplots())
        >>> len(display.blocks), display.ax_.get_yscale()
        (4, 'log')
        """
        n = len(self.symbols)
        stop = n if stop is None else integer(stop, "stop")
        if not 0 <= integer(start, "start") < max(stop, 1) or stop > n:
            raise ValueError(
                f"start: expected a part of the {n:,} symbols of the document, got {start} to {stop}"
            )
        check_rate(rate)
        if bar is not None and (integer(bar, "bar") < 1 or rate is not None):
            raise ValueError(f"bar: expected 1 symbol or more, and no rate, got {bar} and the rate {rate}")
        chosen = theme_of(theme)
        new, ax = ax is None, self._axes(ax, chosen)
        bottom, top = self.sizes[0], self.sizes[1] + 1
        ax.set(yscale="log", xlim=(start, max(stop, start + 1)), ylim=(bottom, top))
        ax.set_facecolor(chosen.grid)  # the symbols
        ticks = ticks_of(bottom, top)
        ax.set_yticks(ticks, [f"{tick:,}" for tick in ticks])
        ax.minorticks_off()
        ax.set_ylabel("tokens in the vocabulary")
        ax.set_title("Each height is the document, cut by a vocabulary of that size", loc="left")
        if isinstance(self.symbols, list):
            ax.set_xlabel("symbols")
        else:
            ax.set_xlabel("sample" if rate is None else "seconds")
        wide, points = ax.get_window_extent().width / max(stop - start, 1), 72 / ax.figure.dpi
        if isinstance(self.symbols, list):
            _write_below(ax, self.symbols, wide * points, (start, stop), chosen)
        elif rate is not None or bar is not None:
            self._scale(ax, start, stop, rate, bar)
        for _ in range(2 if new and wide >= 1 else 0):  # the layout that the figure will have
            ax.figure.draw_without_rendering()
        box = ax.get_window_extent()
        wide, high = box.width / max(stop - start, 1), box.height / np.log(top / bottom)
        there = self.blocks[
            (self.blocks["stop"] > start) & (self.blocks["start"] < stop) & (self.blocks["born"] > bottom)
        ]
        self._draw_blocks(ax, there, wide, chosen)
        if isinstance(self.symbols, list):
            self._write(ax, there, self.symbols, wide, high, points, (start, stop), chosen)
        elif wide >= 0.25:
            self._draw_values(ax, self.symbols, (start, stop), bar is not None, chosen)
        return self

    def _draw_blocks(self, ax: Any, blocks: NDArray[np.void], wide: float, theme: Theme) -> None:
        """Rectangles in the hues of tokens."""
        hues = np.array([theme.hues[hue_of(token, 0)] for token in range(N_HUES)], object)
        if wide < 1:  # as an image that samples one symbol per column
            from matplotlib.colors import to_rgb

            (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
            columns = left + (np.arange(_COLUMNS) + 0.5) * (right - left) / _COLUMNS
            rows = np.geomspace(bottom, top, 2 * _ROWS + 1)[1::2]
            image = np.tile(np.array(to_rgb(theme.grid)), (_ROWS, _COLUMNS, 1))
            palette = np.array([to_rgb(hue) for hue in hues])
            x = np.searchsorted(columns, [blocks["start"], blocks["stop"]])
            hit = x[0] < x[1]
            y = np.searchsorted(rows, [blocks["born"][hit], blocks["absorbed"][hit]])
            of_each = palette[blocks["token"][hit] % N_HUES]
            for a, b, low, high, colour in zip(*x[:, hit].tolist(), *y.tolist(), of_each, strict=True):
                image[low:high, a:b] = colour
            place: dict[str, Any] = {
                "extent": (0, 1, 0, 1),
                "transform": ax.transAxes,
                "origin": "lower",
                "aspect": "auto",
            }
            ax.imshow(image, interpolation="nearest", zorder=1, **place)
            return
        from matplotlib.collections import PolyCollection

        left, right, low, high = (
            blocks[name].astype(float) for name in ("start", "stop", "born", "absorbed")
        )
        corners: Any = np.stack([left, low, right, low, right, high, left, high], axis=1).reshape(-1, 4, 2)
        drawn = PolyCollection(
            corners, facecolors=hues[blocks["token"] % N_HUES].tolist(), edgecolors=theme.paper, zorder=1
        )
        drawn.set_linewidth(0.7 if wide >= 2 else 0.3)
        ax.add_collection(drawn, autolim=False)

    def _draw_values(
        self, ax: Any, values: NDArray[np.float64], part: tuple[int, int], notes: bool, theme: Theme
    ) -> None:
        """A curve, or notes as dots, over the blocks; the heights are those of the part that is shown."""
        from matplotlib.patheffects import withStroke

        shown = values[slice(*part)]
        finite = shown[np.isfinite(shown)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
        y = 0.06 + 0.88 * (shown - low) / ((high - low) or 1.0)
        look: dict[str, Any] = {"color": theme.ink, "transform": ax.get_xaxis_transform(), "zorder": 3}
        halo = [withStroke(linewidth=2.6, foreground=theme.paper)]
        if notes:
            ax.plot(np.arange(*part) + 0.5, y, ls="", marker="o", ms=3.4, mec=theme.paper, mew=0.7, **look)
        else:
            ax.plot(np.arange(*part) + 0.5, y, lw=1.2, path_effects=halo, **look)

    def _write(
        self,
        ax: Any,
        blocks: NDArray[np.void],
        symbols: list[str | None],
        wide: float,
        high: float,
        points: float,
        part: tuple[int, int],
        theme: Theme,
    ) -> None:
        """Label blocks with their tokens, if they fit."""
        for block in blocks[(blocks["stop"] - blocks["start"]) * wide * points >= 7]:
            a, b, born, absorbed, token = block.tolist()
            tall, broad = high * np.log(absorbed / born) * points, (b - a) * wide * points
            parts = [symbol for symbol in symbols[a:b] if symbol is not None]
            letters = all(len(each) == 1 or each[0] == "\\" for each in parts)
            text = ("" if letters else " · " if any(" " in each for each in parts) else " ").join(parts)
            for turned, along, across in ((0, broad, tall), (90, tall, broad)):
                size = min(9.0, (along - 4) / (0.67 * max(cells_of(text), 1)), (across - 2) / 1.25)
                if size >= 6 and a >= part[0] and b <= part[1]:
                    middle = (a + b) / 2, (born * absorbed) ** 0.5
                    ax.text(
                        *middle,
                        text,
                        fontsize=size,
                        rotation=turned,
                        ha="center",
                        va="center",
                        parse_math=False,
                        family="monospace",
                        color=ON_HUES[hue_of(token, 0)],
                        zorder=2,
                        clip_on=True,
                    )
                    break

    def _scale(self, ax: Any, start: int, stop: int, rate: float | None, bar: int | None) -> None:
        """Ticks in seconds, or numbers of bars, each where its bar begins."""
        from matplotlib.ticker import MaxNLocator

        unit, first = (bar, 1) if bar is not None else (rate or 1.0, 0)
        locator = MaxNLocator(
            nbins=16 if bar else 9, integer=bar is not None, steps=[1, 2, 4, 5, 10] if bar else [1, 2, 5, 10]
        )
        ticks = [
            tick for tick in locator.tick_values(start / unit, stop / unit) if start <= tick * unit <= stop
        ]
        ax.set_xticks([tick * unit for tick in ticks], [f"{tick + first:.10g}" for tick in ticks])
        ax.set_xlabel("bar" if bar is not None else "seconds")


def _write_below(
    ax: Any, symbols: list[str | None], wide: float, part: tuple[int, int], theme: Theme
) -> None:
    """Symbols below the axis, `wide` points each, if there is room for all of them, upright or turned."""
    begins = [i for i in range(*part) if symbols[i] is not None] if wide > 1 else []
    ends = [*begins[1:], part[1]]
    texts = [str(symbols[i]) for i in begins]
    size = min(
        (
            9.0,
            *(
                (b - a) * wide / 0.62 / cells_of(text)
                for a, b, text in zip(begins, ends, texts, strict=False)
            ),
        )
    )
    turned = size < 5.5
    if not texts or (turned and (wide < 8 or max(map(len, texts)) > 32)):
        return
    middles = [(a + b) / 2 for a, b in zip(begins, ends, strict=True)]
    look: dict[str, Any] = {"family": "monospace", "color": theme.dim, "rotation": 90 if turned else 0}
    ax.set_xticks(middles, texts, fontsize=7.5 if turned else size, **look)
    ax.tick_params(axis="x", length=0)
    ax.set_xlabel("")
