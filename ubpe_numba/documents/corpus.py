"""The corpus of a fit: documents, their weights, and the boundaries that no token may cross."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.documents.counts import Counts, weights_of
from ubpe_numba.documents.read import Documents, as_document, as_documents
from ubpe_numba.runtime.arrays import describe, distinct


class Corpus(NamedTuple):
    """Documents divided into s segments; no token crosses the end of one."""

    given: Documents  # as they were passed, those of weight 0 included
    values: np.ndarray
    offsets: np.ndarray  # int64[s + 1]: segment i is values[offsets[i] : offsets[i + 1]]
    document_of: np.ndarray | None  # int32[s], the document of each segment; None if segments are documents
    weights: np.ndarray | None  # int64[s], of each segment, above 0; None if all are 1
    n_documents: int  # weights counted, as are symbols
    n_symbols: int

    @property
    def n_empty(self) -> int:
        """The number of documents without symbols, weights counted."""
        lengths = np.diff(self.offsets)
        weights = np.ones(lengths.size, np.int64) if self.weights is None else self.weights
        if self.document_of is not None:
            first = np.flatnonzero(np.diff(self.document_of, prepend=-1))
            lengths, weights = np.add.reduceat(lengths, first) if first.size else lengths, weights[first]
        return int(weights[lengths == 0].sum())


def as_corpus(
    docs: Any,
    offsets: Any = None,
    sample_weight: Any = None,
    boundaries: Any = None,
    read: Callable[[Any, Any], Documents] = as_documents,
) -> Corpus:
    """Read the arguments of `fit`.

    `read` makes `Documents` of `docs` and `offsets`; `Counts` have offsets and weights of their own. `sample_weight` int[n] is at
    least 0, and documents of weight 0 are left out. `boundaries` are for each document the positions that no token may cross, 0
    to its length; for one document that is a `str`, bytes or a 1-D array its positions alone. TypeError and ValueError name the
    argument, the document and the position; there are less than 2**62 symbols in all.

    >>> as_corpus([[1, 2, 3], [4]], boundaries=[[1], []]).offsets
    array([0, 1, 3, 4])
    """
    if isinstance(docs, Counts):
        if not (offsets is None and sample_weight is None):
            raise TypeError("docs: Counts have offsets and weights of their own")
        given = docs.flat
        weights: np.ndarray | None = docs.weights
    else:
        given = read(docs, offsets)
        weights = None if sample_weight is None else weights_of(sample_weight, given.offsets)
    values, cuts = given.values, given.offsets
    n = cuts.size - 1
    inner = None if boundaries is None else _inner(docs, offsets, boundaries, given)
    if weights is not None and not weights.all():  # documents of weight 0 are left out
        stay = np.flatnonzero(weights)
        kept = given.take(stay)
        if inner is not None:
            at, of = inner[0][weights[inner[1]] > 0], inner[1][weights[inner[1]] > 0]
            number = np.searchsorted(stay, of)
            inner = at - cuts[of] + kept.offsets[number], number
        values, cuts, weights, n = kept.values, kept.offsets, weights[stay], stay.size
    n_documents, n_symbols = n, int(cuts[-1] - cuts[0])
    if weights is not None:
        n_documents, n_symbols = int(weights.sum()), int((weights * np.diff(cuts)).sum())
    if inner is None:
        return Corpus(given, values, cuts, None, weights, n_documents, n_symbols)
    starts, of = np.concatenate([cuts[:-1], inner[0]]), np.concatenate([np.arange(n), inner[1]])
    order = np.lexsort((of, starts))
    document_of = of[order].astype(np.int32)
    segments = np.append(starts[order], cuts[-1])
    return Corpus(given, values, segments, document_of, None if weights is None else weights[document_of], n_documents, n_symbols)


def _inner(docs: Any, offsets: Any, boundaries: Any, read: Documents) -> tuple[np.ndarray, np.ndarray]:
    """The boundaries inside documents, each once: flat positions int64[k] and the document of each, int64[k]."""
    dtype, cuts = getattr(docs, "dtype", None), read.offsets
    dtype = getattr(getattr(dtype, "categories", None), "dtype", dtype)
    one = getattr(docs, "ndim", None) == 1 and read.kind == "int" and getattr(dtype, "kind", "i") in "iu"  # no column of texts
    single = offsets is None and (isinstance(docs, (str, bytes, bytearray, memoryview)) or one)
    if single and not isinstance(docs, Counts):
        given = as_document(boundaries, name="boundaries")
    else:
        given = as_documents(boundaries, name="boundaries")
    n = cuts.size - 1
    if given.kind != "int":
        raise TypeError(f"boundaries: expected integers, got {describe(boundaries)}")
    if given.offsets.size - 1 != n:
        raise ValueError(f"boundaries: expected {n} lists of positions, one for each document, got {given.offsets.size - 1}")
    positions = given.values[given.offsets[0] : given.offsets[-1]].astype(np.int64)
    of = np.repeat(np.arange(n), np.diff(given.offsets))
    lengths = np.diff(cuts)
    if (bad := np.flatnonzero((positions < 0) | (positions > lengths[of]))).size:
        i = int(of[bad[0]])
        raise ValueError(f"boundaries: document {i}: position {positions[bad[0]]} is not in 0..{lengths[i]}")
    inside = (positions > 0) & (positions < lengths[of])
    found = distinct(positions[inside] + cuts[of[inside]])
    return found, np.searchsorted(cuts, found, side="right") - 1
