"""Units for choosing a vocabulary of fewest tokens: documents, or distinct segments of text."""

from __future__ import annotations

import logging
from typing import NamedTuple

import numpy as np

from ubpe_numba.documents.kernels.distinct import find_distinct
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.runtime.arrays import writable

_PARTS = 64  # number of parts into which a few documents are divided
_SHORTEST = 4096  # symbols of a part of a document
_EVERY = 8  # of so many parts one is held out, and the next another time
# times a number, modulo 2**32: evenly spread, also over every eighth number, whatever the share
_GOLDEN = 2654435769
_FEWEST = 1000  # symbols that are held out, or that time is left out

log = logging.getLogger("ubpe_numba")


class Units(NamedTuple):
    """Sequences of symbols, each of which occurs a number of times.

    `documents` are d sequences of alphabet ids. `weights` int64[d] is how often each occurs, and `most`
    int64[d] how often in the document that holds it most often, by weight. `held` int64[k, d] is how many of
    these occurrences are held out each time; k is 0 if there are too few. `most_seen` int64[k, d] is as
    `most`, for the documents that are not held out then.
    """

    documents: Ragged
    weights: np.ndarray
    most: np.ndarray
    held: np.ndarray
    most_seen: np.ndarray

    def sample(self, n: int) -> Units:
        """A part of about `n` symbols: the most frequent units.

        Units as frequent as the last of these are chosen from everywhere.
        """
        lengths = self.documents.lengths
        if int(lengths.sum()) <= n:
            return self
        order = np.argsort(-self.weights, kind="stable")
        fits = int(np.searchsorted(np.cumsum(lengths[order]), n, side="right"))
        last = self.weights[order[fits]]
        stays, some = self.weights > last, np.flatnonzero(self.weights == last)
        share = (n - int(lengths[stays].sum())) * 2**32 // int(lengths[some].sum())
        stays[some[(some * _GOLDEN) % 2**32 < share]] = True
        stay = np.flatnonzero(stays) if stays.any() else order[:1]
        log.info("refine: looks at %d of %d sequences, within its limit of memory", stay.size, lengths.size)
        return _enough(
            Units(self.documents.take(stay).compact(), *(values[..., stay] for values in self[1:]))
        )


def units_of(
    ids: Ragged, document_of: np.ndarray | None, weights: np.ndarray | None, counted: bool = False
) -> Units:
    """The units of documents, or of their segments.

    `ids` are segments as alphabet ids, each of an ascending document (None: its own).

    `weights` int64 (None: all are 1) are those of segments. `counted`: they count the words, or the like, of
    many documents, so an eighth of each is held out. Long documents are divided into pieces, which can be
    held out. Equal units are joined, empty units are dropped. Every eighth document or piece is held out,
    whatever it weighs; of equal documents some may be held out, others not.

    >>> units = units_of(Ragged.from_lists([[0, 1], [], [2]]), None, np.array([1, 1, 3]))
    >>> units.documents.to_lists(), units.weights.tolist(), units.most.tolist()
    ([[0, 1], [2]], [1, 3], [1, 3])
    >>> units = units_of(Ragged.from_lists([[0, 1], [2], [0, 1], [0, 1]]), np.array([0, 0, 0, 1]), None)
    >>> units.documents.to_lists(), units.weights.tolist(), units.most.tolist()
    ([[0, 1], [2]], [3, 1], [2, 1])
    """
    weights = np.ones(len(ids), np.int64) if weights is None else weights
    ids, length = ids.compact(), max(_SHORTEST, -(-ids.total // _PARTS))
    if document_of is None:
        # documents of `2 * length` symbols or more: pieces of `length` at least
        n_pieces = np.maximum(1, ids.lengths // length)
        of = np.repeat(np.arange(len(ids)), n_pieces)
        part = np.arange(of.size)
        number = part - np.repeat(np.cumsum(n_pieces) - n_pieces, n_pieces)
        starts = ids._offsets[of] + ids.lengths[of] * number // n_pieces[of]
        ids, weights = Ragged(ids.values, np.append(starts, ids._offsets[-1])), weights[of]
    else:
        part = _parts(ids, document_of, length)
    full = np.flatnonzero(ids.lengths > 0)
    ids, part, weights = ids[full].compact(), part[full], weights[full]
    if counted:
        number, once = np.arange(full.size), np.ones_like(weights)
        held = np.stack([(weights + (number + i) % _EVERY) // _EVERY for i in range(_EVERY)])
        return _enough(Units(ids, weights, once, held, np.ones_like(held)))
    ids, kind = _numbered(ids)
    n_parts = int(part.max(initial=0)) + 1
    pairs, of = np.unique(kind * n_parts + part, return_inverse=True)  # equal segments of a part are one
    in_part = np.zeros(pairs.size, np.int64)
    np.add.at(in_part, of, weights)
    kind, part = pairs // n_parts, pairs % n_parts
    total, most = np.zeros(len(ids), np.int64), np.zeros(len(ids), np.int64)
    np.add.at(total, kind, in_part)
    np.maximum.at(most, kind, in_part)
    held, most_seen = np.zeros((2, _EVERY, len(ids)), np.int64)
    for i in range(_EVERY):
        out = np.where(part % _EVERY == i, in_part, 0)  # every eighth part
        np.add.at(held[i], kind, out)
        np.maximum.at(most_seen[i], kind, in_part - out)
    return _enough(Units(ids, total, most, held, most_seen))


def _numbered(ids: Ragged) -> tuple[Ragged, np.ndarray]:
    """The distinct sequences in order of their first occurrence, and which of them each is, int64."""
    n = len(ids)
    table = np.full(1 << max(4, (2 * n).bit_length()), -1, np.int32)
    first_of = np.empty(n, np.int64)
    find_distinct(writable(ids.values).view(np.uint32), ids._offsets, table, np.empty(n, np.uint64), first_of)
    first = first_of == np.arange(n)
    return ids[first].compact(), (np.cumsum(first) - 1)[first_of]


def _enough(units: Units) -> Units:
    """The units, without the times at which too little is held out to tell anything."""
    stay = units.held @ units.documents.lengths >= _FEWEST
    return units._replace(held=units.held[stay], most_seen=units.most_seen[stay])


def _parts(ids: Ragged, document_of: np.ndarray, length: int) -> np.ndarray:
    """The part of each segment, int64 from 0: its document or, in a long one, a stretch of it.

    A stretch has `length` symbols.
    """
    new = np.diff(document_of, prepend=-1) != 0
    starts = ids._offsets[:-1]
    within = (starts - np.maximum.accumulate(np.where(new, starts, 0))) // length
    return np.cumsum(new | (np.diff(within, prepend=0) != 0)) - 1
