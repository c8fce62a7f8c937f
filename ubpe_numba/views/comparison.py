"""`compare`: which tokens will cost a model the fewest bits, asked of n-grams before it is trained.

The n-grams are those of S. Chen and J. Goodman, *An empirical study of smoothing techniques for language
modeling* (1998): Kneser-Ney smoothing with three discounts, interpolated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import read_documents
from ubpe_numba.errors import quoted
from ubpe_numba.runtime.arrays import describe, offsets_of, positive, told
from ubpe_numba.runtime.tables.trie import EDGE
from ubpe_numba.tokenizers.base import Tokenizer
from ubpe_numba.tokenizers.seam import preprocessing_of
from ubpe_numba.tokenizers.wordpiece import WordPiece
from ubpe_numba.views.colours import N_HUES, Theme
from ubpe_numba.views.displays.canvas import Display
from ubpe_numba.views.kernels.ngrams import count_grams, find_grams

__all__ = ["Comparison", "compare"]

ORDERS = 5  # of n-grams, of which the best is shown
_TITLES = ("tokens per 1000", "unigram", "order 3", "best", "order", "unused")


class Comparison(Display):
    """Result of `compare`; ``print`` shows it as a table, `plot` draws bits over tokens.

    Attributes
    ----------
    names : list of str
        The rows: ``"raw"``, or the levels of a signal, before the tokenizers that they are the symbols of.
    tokens_per_1000 : float64[n]
        Tokens per 1000 held-out symbols.
    unigram, order_3, best : float64[n]
        Bits per held-out symbol of n-grams of order 1, of order 3, and of the best order up to 5. Half of the
        held-out tokens chooses the order for the other half.
    order : float64[n]
        The order that is best on all held-out tokens.
    unused : float64[n]
        Share of the ids that occur nowhere in the documents that the n-grams learn from.

    Examples
    --------
    >>> Comparison(["raw", "BPE"], [[1000, 2, 1.5, 1.4, 4, 0], [500, 1.8, 1.25, 1.25, 3, 0.125]])
         tokens per 1000  unigram  order 3   best  order  unused
    raw           1000.0    2.000    1.500  1.400      4   0.0 %
    BPE            500.0    1.800    1.250  1.250      3  12.5 %
    """

    _size = (7.0, 4.0)

    def __init__(self, names: Sequence[str], figures: Any) -> None:
        self.names = list(names)
        columns: NDArray[np.float64] = np.asarray(figures, np.float64).T
        self.tokens_per_1000, self.unigram, self.order_3, self.best, self.order, self.unused = columns

    def __repr__(self) -> str:
        rows = zip(
            self.tokens_per_1000, self.unigram, self.order_3, self.best, self.order, self.unused, strict=True
        )
        cells: list[tuple[str, ...]] = [("", *_TITLES)]
        for name, (tokens, *bits, order, unused) in zip(self.names, rows, strict=True):
            cells.append(
                (name, f"{tokens:.1f}", *(f"{b:.3f}" for b in bits), f"{order:.0f}", f"{100 * unused:.1f} %")
            )
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = []
        for first, *others in cells:
            right = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
            lines.append("  ".join([first.ljust(widths[0]), *right]))
        return "\n".join(lines)

    def _draw(self, ax: Any, theme: Theme) -> None:
        for i, name in enumerate(self.names):
            colour = theme.hues[i % N_HUES]
            at = self.tokens_per_1000[i], self.best[i]
            ax.plot(*at, "o", color=colour, ms=7)
            ax.annotate(name, at, xytext=(8, 4), textcoords="offset points", color=colour)
        ax.margins(0.18)
        ax.set_xlabel("tokens per 1000 symbols")
        ax.set_ylabel("bits per symbol, n-grams of the best order")
        ax.grid(color=theme.grid, lw=0.8)
        ax.set_axisbelow(True)


@told
def compare(
    docs: Any, tokenizers: Mapping[str, Any], *, held_out: Any, symbols: int | None = None
) -> Comparison:
    """Compare how many bits per symbol tokens cost a model, by n-grams, before a model is trained.

    N-grams of the ids, with Kneser-Ney smoothing, learn from `docs` and are scored on `held_out`. The symbols
    themselves are always a row: tokens that do not have fewer bits only make sequences shorter.

    Parameters
    ----------
    docs
        Documents in any form that the tokenizers take, to learn n-grams from.
    tokenizers : dict of str to tokenizer
        Fitted ones of any class, under the names of their rows. For a `SignalTokenizer` the documents are
        recordings, and symbols are samples: its raw row rounds them to levels with the same error bound.
    held_out
        Documents that are neither in `docs` nor in a fit.
    symbols : int, optional
        How many symbols the model will learn from: n-grams take the first documents that have as many. By
        default all.

    Returns
    -------
    Comparison
        Tokens, bits and unused ids of each row. The bits of all ids of a document and its end are divided by
        its symbols; those of text are bytes if a tokenizer reads UTF-8, else characters.

    Raises
    ------
    TypeError, ValueError
        Without tokenizers, if one has another class or several channels, or if documents hold no symbols.
    NotFittedError
        If a tokenizer is not fitted.

    Notes
    -----
    The model of order k interpolates those of all lower orders, down to equal probabilities of all ids; only
    the highest order counts occurrences. Time and memory are linear, about 100 bytes per symbol at a time.

    Examples
    --------
    >>> from ubpe_numba import BPE
    >>> docs = ["the cat sat on the mat", "the hat is on the cat", "a cat sat on a hat"] * 5
    >>> table = compare(docs, {"20": BPE(20).fit(docs)}, held_out=["the cat is on a mat"])
    >>> table.names, table.tokens_per_1000.round().tolist()
    (['raw', '20'], [1000.0, 474.0])
    """
    if not isinstance(tokenizers, Mapping) or not tokenizers:
        raise TypeError(
            f"tokenizers: expected a dict of names and tokenizers, got {describe(tokenizers)}. Name each."
        )
    budget = None if symbols is None else positive(symbols, "symbols")
    parts = [list(part) if isinstance(part, Iterator) else part for part in (docs, held_out)]
    signals = [name for name, tok in tokenizers.items() if hasattr(tok, "error_bound")]
    for name, tok in tokenizers.items():
        if name not in signals and not isinstance(tok, (Tokenizer, WordPiece)):
            raise TypeError(
                f"tokenizers: {quoted(name)}: expected a tokenizer of this library, got {describe(tok)}."
            )
    utf8 = any(preprocessing_of(tok).encoding for name, tok in tokenizers.items() if name not in signals)
    encoding = "utf-8" if utf8 else None
    raw: dict[str, list[Ragged]] = {}
    rows = []
    for name, tok in tokenizers.items():
        width = _width(name, tok) if name in signals else 0.0
        title = f"raw, {width:g} wide" if width else "raw"
        encoded = [tok.encode_batch(part) for part in parts]
        if title not in raw:
            raw[title] = _numbered(
                [
                    _levels(part, width) if width else read_documents(part, None, encoding, None)
                    for part in parts
                ]
            )
            rows.append((title, figures(raw[title], raw[title], None, budget)))
        rows.append((str(name), figures(raw[title], encoded, tok.vocab_size, budget)))
    return Comparison(*zip(*rows, strict=True))


def _width(name: str, tok: Any) -> float:
    """The width of levels with the error bound of a tokenizer of signals.

    For integers one more than twice the bound.
    """
    if tok.channel_axis is not None:
        raise ValueError(
            f"tokenizers: {quoted(name)}: expected recordings of one channel, got "
            f"channel_axis={tok.channel_axis}. Fit a tokenizer without, and give each channel as a "
            "recording."
        )
    bound = tok.error_bound()
    return float(2 * bound + (tok.step == 1 and bound == tok.tolerance))


def _levels(recordings: Any, width: float) -> Any:
    """Recordings as levels of this width, with their offsets; missing samples are a separate level."""
    parts = [recordings] if len(recordings) and np.ndim(recordings[0]) == 0 else list(recordings)
    arrays = [np.ma.filled(np.ma.asarray(part, np.float64), np.nan) for part in parts]
    levels = np.nan_to_num(np.floor(np.concatenate([*arrays, []]) / width), nan=np.inf)
    return levels, offsets_of(np.array([array.size for array in arrays], np.int64)), "int"


def _numbered(parts: list[Any]) -> list[Ragged]:
    """Documents with their symbols numbered as they come, equal ones of all parts alike."""
    numbers: dict[Any, int] = {}
    ragged = []
    for name, (values, offsets, kind) in zip(("docs", "held_out"), parts, strict=True):
        if offsets[-1] == offsets[0]:
            raise ValueError(f"{name}: expected documents with symbols, got none. Give at least one.")
        distinct, ids = np.unique(values[offsets[0] : offsets[-1]], return_inverse=True)
        names = getattr(kind, "names", None)
        symbols = distinct.tolist() if names is None else [names[i] for i in distinct.tolist()]
        table = np.array([numbers.setdefault(symbol, len(numbers)) for symbol in symbols], np.int32)
        ragged.append(Ragged(table[ids], offsets - offsets[0]))
    return ragged


def figures(raw: list[Ragged], ids: list[Ragged], n_ids: int | None, budget: int | None) -> list[float]:
    """A row of the table; `raw` and `ids` are the documents to learn from, and the held-out ones."""
    learned = raw[0].lengths.cumsum()
    n = learned.size if budget is None else min(learned.size, int(np.searchsorted(learned, budget)) + 1)
    train, held = ids[0][:n].compact(), ids[1].compact()
    if n_ids is None:
        n_ids = 1 + max(int(part.values.max()) for part in ids)
    bits = ngram_bits(_stream(train, n_ids), _stream(held, n_ids), n_ids + 1, ORDERS)
    halves = np.stack([half.sum(axis=1) for half in np.array_split(bits, 2, axis=1)])
    best = halves[0, halves[1].argmin()] + halves[1, halves[0].argmin()]
    used = np.count_nonzero(np.bincount(train.values, minlength=n_ids))
    whole, total = halves.sum(axis=0), raw[1].total
    shown = [1000 * held.total, whole[0], whole[2], best]
    return [*(figure / total for figure in shown), int(whole.argmin()) + 1, 1 - used / n_ids]


def _stream(documents: Ragged, end: int) -> NDArray[np.int32]:
    """Documents one after the other, with an end before the first and after each."""
    return np.insert(documents.values, documents.offsets, end).astype(np.int32)


def ngram_bits(
    train: NDArray[np.int32], held: NDArray[np.int32], n_ids: int, orders: int
) -> NDArray[np.float64]:
    """The bits of each symbol of a stream but the first, by n-grams of each order that learned from another.

    `train` and `held`: streams of ids below `n_ids`, whose first symbol is only context. Returns
    float64[orders, held.size - 1].

    >>> stream = np.array([2, 0, 1, 0, 1, 0, 1, 2], np.int32)
    >>> ngram_bits(stream, stream[:4], 3, 2).round(2).tolist()
    [[1.39, 1.39, 1.39], [0.5, 0.63, 0.65]]
    """
    bits = np.empty((orders, held.size - 1))
    grams, seen = np.zeros(train.size, np.int32), np.zeros(held.size, np.int32)
    p = np.full(held.size - 1, 1 / n_ids)
    last: Any = ()
    n_contexts = 1
    for k in range(orders):
        edges = np.full(4 << train.size.bit_length(), -1, np.int64).view(EDGE)
        counts, contexts, before = np.zeros((3, train.size + 1), np.int32)
        n_grams = count_grams(train, grams, edges, counts, contexts, before)
        if k:  # lower orders count what may come before a gram, not how often it occurs
            p = _mixed(before, p, *last)
        context = seen[:-1].copy()
        find_grams(held, seen, edges)
        last = contexts[:n_grams], context, seen[1:].copy(), n_contexts
        bits[k] = -np.log2(_mixed(counts, p, *last))
        n_contexts = n_grams
    return bits


def _mixed(
    counts: NDArray[np.int32],
    lower: NDArray[np.float64],
    contexts: NDArray[np.int32],
    context: NDArray[np.int32],
    gram: NDArray[np.int32],
    n_contexts: int,
) -> NDArray[np.float64]:
    """The probability of each symbol by grams that are one symbol longer, float64[n].

    `lower` float64[n]: its probability by the lower orders; `counts` and `contexts` int32: of each gram;
    `context` and `gram` int32[n]: of each symbol, -1 if it was not seen.
    """
    counts = counts[: contexts.size]
    times = np.bincount(counts, minlength=5)[1:5].astype(float)  # grams that occur once, twice, ...
    discounts = np.array([0, 0.5, 1, 1.5])  # where these do not determine them
    if times[0] and times[1]:
        y = times[0] / (times[0] + 2 * times[1])
        for i in (1, 2, 3):
            if times[i - 1] and 0 < (d := i - (i + 1) * y * times[i] / times[i - 1]) < i:
                discounts[i] = d
    taken = discounts[np.minimum(counts, 3)]
    totals = np.bincount(contexts, counts, n_contexts)[context.clip(0)]
    left = np.bincount(contexts, taken, n_contexts)[context.clip(0)]
    own = np.where(gram < 0, 0.0, (counts - taken)[gram.clip(0)])
    known = (context >= 0) & (totals > 0)
    return np.where(known, (own + left * lower) / np.maximum(totals, 1), lower)
