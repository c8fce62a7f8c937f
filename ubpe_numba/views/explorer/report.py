"""`explore`: a report of a vocabulary and of encoded documents, in one HTML file."""

from __future__ import annotations

import contextlib
import html
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from ubpe_numba.documents.flat import Named
from ubpe_numba.documents.read import Documents, read_documents
from ubpe_numba.runtime.arrays import describe, positive
from ubpe_numba.runtime.files import write_atomically
from ubpe_numba.runtime.messages import Progress
from ubpe_numba.tokenizers.base import Tokenizer, given_tokenizer
from ubpe_numba.tokenizers.seam import model_of
from ubpe_numba.tokenizers.skyline import nesting
from ubpe_numba.views import colours
from ubpe_numba.views.displays.canvas import check_rate
from ubpe_numba.views.explorer.counts import (
    AUTO,
    SYMBOL,
    UNITS,
    Cut,
    Symbols,
    choose,
    cut_of,
    kind_of,
    kinds_of,
    segmentations_of,
    symbols_of,
    typing_of,
)
from ubpe_numba.views.explorer.page import as_html, packed, page_of

__all__ = ["Report", "explore"]

MAX_SYMBOLS = 2_000_000
_FRAME = 900  # pixels of the frame in a notebook


class Report:
    """A report that was not written to a file: notebooks show it in a frame of its own.

    Attributes
    ----------
    html : str
        The whole page.
    title : str
        Its title.
    """

    def __init__(self, page: str, title: str) -> None:
        self.html, self.title = page, title

    def _repr_html_(self) -> str:
        """A frame that may only run its own scripts.

        It cannot access the notebook, its storage or the network.
        """
        frame = f'sandbox="allow-scripts" title="{as_html(self.title)}" width="100%" height="{_FRAME}"'
        return f'<iframe {frame} frameborder="0" srcdoc="{html.escape(self.html)}"></iframe>'

    def __repr__(self) -> str:
        return f"Report({self.title!r}, {len(self.html)} characters)"


def explore(
    tok: Tokenizer,
    docs: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    offsets: Any = None,
    title: str | None = None,
    kind: str = "auto",
    unit: str | None = None,
    rate: float | None = None,
    letters: Any = None,
    pitches: Any = None,
    segmentations: str | Sequence[str] = AUTO,
    max_symbols: int = MAX_SYMBOLS,
    unknown: Any = None,
    allowed_special: Any = "all",
    disallowed_special: Any = "none",
    progress: bool | str = "auto",
) -> Report | None:
    """Make the report of a tokenizer and documents, as `Tokenizer.explore` does.

    Examples
    --------
    >>> from ubpe_numba import BPE
    >>> tok = BPE(4).fit([[0, 1, 2, 0, 1], [0, 1]])
    >>> report = explore(tok, [[0, 1, 2, 0, 1], [0, 1]], title="Three tokens", progress=False)
    >>> report.title, report.html[:15]
    ('Three tokens', '<!doctype html>')
    """
    tok = given_tokenizer(tok)
    for argument, text in (("title", title), ("unit", unit)):
        if text is not None and not isinstance(text, str):
            raise TypeError(f"{argument}: expected str or None, got {describe(text)}")
    check_rate(rate)
    most = positive(max_symbols, "max_symbols")
    bar = Progress(progress, "explore")
    alphabet, vocabulary, segmenter = model_of(tok)
    if segmenter.frame:
        raise ValueError(
            "tok: the report knows no tokens that keep to frames yet; spans() and the plots have them"
        )
    documents = alphabet.aligned(
        read_documents(docs, offsets, segmenter.encoding, True if alphabet.names is not None else None)
    )
    alphabet.check_kind(documents)
    as_kind = kind_of(kind, documents)
    if isinstance(documents.kind, Named):
        if letters is not None:
            raise ValueError("letters: symbols with names are shown by these")
        letters, unit = [f"{symbol} " for symbol in documents.kind.names], unit or "symbol"
    options = {
        "unknown": tok.unknown if unknown is None else unknown,
        "allowed_special": allowed_special,
        "disallowed_special": disallowed_special,
    }
    cutters = segmentations_of(tok, segmentations)
    lengths = np.diff(documents.offsets)
    drawn, limit = choose(lengths, most)
    cuts = [
        cut_of(name, cutters[name], documents, drawn, limit, options)
        for name in bar.rounds(list(cutters), "explore", "segmentation")
    ]
    v = tok.vocabulary
    shown = documents.take(drawn)
    if limit is not None:
        shown = shown._replace(values=shown.values[:limit], offsets=np.array([0, limit]))
    name = title or f"{type(tok).__name__} of {len(vocabulary):,} tokens"
    is_utf8 = documents.kind == "bytes" or alphabet.kind == "bytes"
    used = [np.unique(part) for part in (shown.values, v.arena) if part.size]
    symbols = symbols_of(as_kind, np.unique(np.concatenate(used)) if used else v.arena, letters, pitches)
    of_theme = ("paper", "ink", "dim", "grid", "highlight", "grey", "hues")
    typing, classes = typing_of(tok, as_kind, symbols)
    arrays = _arrays(tok, shown, drawn, cuts, cutters, symbols) | classes
    meta = {
        "title": name,
        "kind": as_kind,
        "unit": unit or ("byte" if as_kind == "text" and is_utf8 else UNITS[as_kind]),
        "rate": None if rate is None else float(rate),
        "utf8": is_utf8,
        "tokenizer": type(tok).__name__,
        "size": len(v),
        "learned": vocabulary.n_learned,
        "fingerprint": tok.fingerprint,
        "documents": lengths.size,
        "symbols": int(lengths.sum()),
        "limit": limit,
        "labels": symbols and symbols.labels,
        "base": symbols.base if symbols else "",
        "colours": {
            theme.name: {key: getattr(theme, key) for key in of_theme}
            for theme in (colours.LIGHT, colours.DARK)
        },
        "cuts": [{"name": cut.name, "tokens": cut.n_tokens} for cut in cuts],
        "alphabet": vocabulary.n_alphabet,
        "typing": typing
        if "born" in arrays
        else "only merge ranks, each merge made of earlier ones, are computed here",
        "arrays": {name: packed(array) for name, array in arrays.items()},
    }
    figures = ", ".join(f"{cut.n_tokens:,} by {cut.name}" for cut in cuts)
    summary = (  # for readers without scripts
        f"{meta['symbols']:,} {meta['unit']}s in {meta['documents']:,} documents, cut into tokens of a "
        f"vocabulary of {meta['size']:,} ({meta['tokenizer']}): {figures}."
    )
    page = page_of(meta, name, summary)
    if path is None:
        return Report(page, name)
    write_atomically(path, page.encode())
    return None


def _arrays(
    tok: Tokenizer,
    shown: Documents,
    drawn: np.ndarray,
    cuts: list[Cut],
    cutters: dict[str, Tokenizer],
    symbols: Symbols | None,
) -> dict[str, np.ndarray]:
    """The arrays of the page but those that typing needs."""
    v = tok.vocabulary

    def numbered(values: np.ndarray) -> np.ndarray:
        return values if symbols is None else np.searchsorted(symbols.order, values)

    arrays = {
        "values": numbered(shown.values),
        "doclen": np.diff(shown.offsets),
        "docid": drawn,
        "arena": numbered(v.arena),
        "toklen": v.lengths,
        "kinds": (kinds := kinds_of(v)),
        "hue": np.array(
            [colours.hue_of(i, len(v) if kind == SYMBOL else 0) for i, kind in enumerate(kinds)], np.int8
        ),
        "idf": v.weights.astype(np.float32),
        "merged": v.counts,
    }
    if v.log_probabilities is not None:
        arrays["logp"] = np.nan_to_num(v.log_probabilities).astype(np.float32)
    if v.merges is not None and v.merged is not None:
        parents = np.full((len(v), 2), -1, np.int32)
        parents[v.merged[::-1]] = v.merges[::-1]  # the first of several merges of an id
        arrays["left"], arrays["right"] = parents.T
    if symbols is not None and symbols.levels is not None:
        arrays["levels"] = symbols.levels
    for i, cut in enumerate(cuts):
        parts = {
            "count": cut.counts,
            "docs": cut.document_frequencies,
            "ids": cut.ids,
            "per": cut.per_document,
        }
        arrays |= {f"{name}{i}": array for name, array in parts.items()}
        if cut.gaps is not None:
            arrays[f"gaps{i}"] = cut.gaps
        same = cut.widths is None or np.array_equal(cut.widths, v.lengths[cut.ids])
        if cut.widths is not None and not same:
            arrays[f"widths{i}"] = cut.widths
        if cut.name == "rank" and same:
            # if encodings of smaller vocabularies are not parts of this encoding
            with contextlib.suppress(ValueError):
                born, pairs = nesting(cutters["rank"], np.flatnonzero(cut.counts))
                arrays["born"] = np.where(pairs[:, 0] < 0, 0, born)
    return arrays
