"""Notes coloured by the token that holds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.runtime.arrays import told
from ubpe_numba.views.colours import Theme, colours_of
from ubpe_numba.views.displays.canvas import Display, signal_of

if TYPE_CHECKING:
    from ubpe_numba.tokenizers.base import Tokenizer

__all__ = ["PianoRollDisplay"]


@told
class PianoRollDisplay(Display):
    """A piano roll: notes as bars, coloured by the token that holds them, and grounds that show where tokens begin and end.

    Parameters
    ----------
    pitch, onset, duration : float[n_events]
        Of every symbol of the document; those whose pitch is NaN are rests or no notes.
    ids : int[n]
        The tokens of the document, in order.
    lengths : int[n]
        How many of its symbols each covers.
    n_alphabet : int
        The size of the alphabet, whose symbols are grey.

    Examples
    --------
    Symbols are pitches, and all notes have the length of one beat.

    >>> from matplotlib.figure import Figure
    >>> from ubpe_numba import BPE
    >>> tune = np.array([60, 62, 64, 60, 62, 64, 60])
    >>> tok = BPE(8, alphabet=[60, 62, 64]).fit(tune)
    >>> read = {"pitch": lambda s: s, "duration": np.ones_like}
    >>> display = PianoRollDisplay.from_document(tok, tune, **read, ax=Figure().subplots())
    >>> display.onset.tolist(), int(display.lengths.sum())
    ([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 7)
    """

    def __init__(self, pitch: Any, onset: Any, duration: Any, ids: Any, lengths: Any, n_alphabet: int) -> None:
        self.pitch, self.onset, self.duration = (np.asarray(each, np.float64) for each in (pitch, onset, duration))
        self.ids, self.lengths = np.asarray(ids, np.int64), np.asarray(lengths, np.int64)
        self.n_alphabet = n_alphabet
        if not self.pitch.size == self.onset.size == self.duration.size == self.lengths.sum():
            sizes = (self.pitch.size, self.onset.size, self.duration.size, int(self.lengths.sum()))
            raise ValueError(f"pitch: expected a pitch, an onset and a duration for each symbol of the tokens, got {sizes}")

    @classmethod
    def from_document(
        cls,
        tok: Tokenizer,
        doc: Any,
        *,
        pitch: Callable[[NDArray[Any]], Any],
        duration: Callable[[NDArray[Any]], Any],
        onset: Callable[[NDArray[Any]], Any] | None = None,
        **how: Any,
    ) -> Self:
        """Encode a document and draw its notes.

        Parameters
        ----------
        tok : Tokenizer
            A tokenizer of integers.
        doc : int[n_events]
            The symbols of a piece.
        pitch, duration : function
            How symbols are read: given all of them, the pitch of each (NaN for a rest, or for what is no note), and its length.
        onset : function, optional
            When each begins; by default one follows the other.
        **how
            As for `plot`.

        Raises
        ------
        ValueError
            If the tokenizer is one of text or bytes or has ids of its own, `doc` is not one document, a function gives another
            number of values than there are symbols, or for an unknown theme.
        """
        symbols, spans, n_alphabet = signal_of(tok, doc, cls.__name__)
        lasts = np.asarray(duration(symbols), np.float64)
        begins = np.cumsum(lasts) - lasts if onset is None else onset(symbols)
        return cls(pitch(symbols), begins, lasts, spans.ids, spans.lengths, n_alphabet).plot(**how)

    def _draw(self, ax: Any, theme: Theme) -> None:
        colours = np.repeat(np.array(colours_of(self.ids, self.n_alphabet, theme), object), self.lengths)
        sounds = np.isfinite(self.pitch)
        # a hair shorter than they sound, so that a repeated note is seen
        lasts, left = 0.94 * self.duration[sounds], self.onset[sounds]
        ax.barh(self.pitch[sounds], lasts, left=left, height=0.86, color=colours[sounds].tolist(), zorder=2)
        firsts = np.cumsum(self.lengths) - self.lengths
        for at in self.onset[firsts[1:]].tolist():
            ax.axvline(at, color=theme.grid, lw=0.8, zorder=0)
        end = float((self.onset + self.duration).max(initial=1.0))
        ax.set_xlim(min(0.0, float(self.onset.min(initial=0.0))), end)
        ax.set_xlabel("time")
        ax.set_ylabel("pitch")
        ax.set_title(f"{int(sounds.sum()):,} notes, {self.ids.size:,} tokens", loc="left")
