"""The documents that a report draws: all, or some at even distances that have at most so many symbols together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ubpe_numba.documents.normalise import Documents, text_of


class Drawn(NamedTuple):
    """Which documents are drawn.

    `indices` (int64[k]): the documents, ascending; `limit`: none: they are drawn whole. Otherwise there is one, and only so many
    symbols of its beginning are drawn.
    """

    indices: np.ndarray
    limit: int | None = None


def choose(lengths: np.ndarray, max_symbols: int) -> Drawn:
    """Choose documents at even distances.

    `lengths` (int64[d]): the symbols of each document; `max_symbols`: how many symbols may be drawn, at least 1. Returns all
    documents if they fit; if not even one does, the beginning of the first that has symbols.

    >>> choose(np.array([4, 4, 4, 4, 4]), 12).indices.tolist()
    [0, 2, 4]
    >>> choose(np.array([0, 50]), 12)
    Drawn(indices=array([1]), limit=12)
    """
    total, n = int(lengths.sum()), lengths.size
    if total <= max_symbols:
        return Drawn(np.arange(n))
    k = max(1, n * max_symbols // total)
    while k:
        indices = np.round(np.linspace(0, n - 1, k)).astype(np.int64)
        size = int(lengths[indices].sum())
        if 0 < size <= max_symbols:
            return Drawn(indices)
        k = min(k - 1, k * max_symbols // size) if size else k - 1
    fits = np.flatnonzero((lengths > 0) & (lengths <= max_symbols))
    if fits.size:
        return Drawn(fits[:1])
    return Drawn(np.flatnonzero(lengths)[:1], max_symbols)


def as_given(documents: Documents) -> object:
    """The flat document in the form in which `encode_batch` takes it beside offsets.

    >>> as_given(Documents(np.array([104, 105], np.uint32), np.array([0, 1, 2]), "str"))
    'hi'
    """
    if documents.kind == "str":
        return text_of(documents.values)
    return documents.values.data if documents.kind == "bytes" else documents.values
