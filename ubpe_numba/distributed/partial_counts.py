"""The counts of partitions: how each is made on its worker, divided into tables, added up and put in order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.distributed.cluster import with_name
from ubpe_numba.distributed.opaque import opened
from ubpe_numba.distributed.partitions import no_documents
from ubpe_numba.documents.corpus import Corpus
from ubpe_numba.documents.counts import Counts, count_documents, distinct, side_by_side
from ubpe_numba.documents.read import Documents
from ubpe_numba.runtime.arrays import offsets_of, places_of
from ubpe_numba.tokenizers.base import Tokenizer
from ubpe_numba.vocabulary.alphabet import Alphabet

_CHANGES = ("pretokenizer", "special_tokens", "known_words", "normalizer")  # arguments by which segments are not documents
_GATHERED = 1 << 17  # symbols that are put in order at a time


class Counted(NamedTuple):
    """The counts of one or several partitions.

    Attributes
    ----------
    counts : Counts
        Of documents or segments, in order of first appearance.
    places : int64[n]
        Where each appeared first: 2**32 * partition + its number there.
    n_symbols : int
        The symbols of all documents; of partitions that were `Counts` already 0.
    name : str
        The first partition that has documents, for messages.
    """

    counts: Counts
    places: np.ndarray
    n_symbols: int
    name: str

    def alphabet(self) -> Alphabet:
        """The alphabet that a fit on all the documents learns: for integers that depends on how many symbols there are."""
        flat = self.counts.flat
        return Alphabet.learn(flat, max(self.n_symbols, int(flat.offsets[-1])))


def count_part(docs: Any, how: bytes, number: int, name: str, tables: int) -> Any:
    """The counts of one partition: `Counted`, or with several tables a list of one for each."""
    try:
        tokenizer: Tokenizer | None = opened(how)
        counts, n_symbols = _counts(docs, tokenizer)
        made = Counted(counts, (number << 32) + np.arange(len(counts)), n_symbols, name)
        return made if tables == 1 else split(made, tables)
    except Exception as error:
        raise with_name(error, name) from None


def _counts(docs: Any, tokenizer: Tokenizer | None) -> tuple[Counts, int]:
    """The counts of documents, and how many symbols they have; 0 of `Counts`."""
    if tokenizer is None:
        counts = Counts.merge(docs) if isinstance(docs, Counts) else count_documents(docs)
        return counts, 0 if isinstance(docs, Counts) else int(counts.weights @ np.diff(counts.flat.offsets))
    if no_documents(docs):  # they are of any kind, which only a tokenizer that is given all of them knows
        return count_documents([]), 0
    corpus = tokenizer._corpus(docs, None, None, None)
    given = corpus.given
    changed = any(getattr(tokenizer, name) is not None for name in _CHANGES)
    counts = _of_corpus(corpus, changed or (isinstance(docs, Counts) and docs.are_segments))
    if tokenizer.alphabet is not None:
        alphabet = Alphabet.from_user(tokenizer.alphabet, given.kind if given.offsets[-1] > given.offsets[0] else None)
        alphabet.check_kind(given)
        if (alphabet.lookup(counts.flat.values) < 0).any():
            alphabet.to_ids(given)  # raises, naming document, position and symbol
    return counts, 0 if isinstance(docs, Counts) else int(given.offsets[-1] - given.offsets[0])


def _of_corpus(corpus: Corpus, are_segments: bool) -> Counts:
    """The segments of a corpus as counts; documents without any symbol that are not among them as one, which is empty."""
    flat = Documents(corpus.values, corpus.offsets, corpus.given.kind)
    if corpus.weights is not None and corpus.n_documents == corpus.weights.sum():
        return Counts(flat, corpus.weights, are_segments)  # they are distinct: who counts segments gives them weights
    weights = np.ones(corpus.offsets.size - 1, np.int64) if corpus.weights is None else corpus.weights
    if (missing := corpus.n_documents - int(weights.sum())) > 0:
        flat = flat._replace(offsets=np.append(flat.offsets, flat.offsets[-1]))
        weights = np.append(weights, missing)
    counts = Counts.of(flat, weights)
    counts.are_segments = are_segments
    return counts


def done(counted: Any) -> None:
    """Nothing; its task is done when that of the argument is."""


def table(counted: list[Counted], t: int) -> Counted:
    """One of the tables that a partition was divided into."""
    return counted[t]


def split(counted: Counted, tables: int) -> list[Counted]:
    """The documents of each table: those for whose hash ``(hash >> 33) % tables`` is its number."""
    counts = counted.counts
    stay, total, hashes = distinct(counts.flat, counts.weights)
    table = (hashes >> np.uint64(33)) % np.uint64(tables)
    parts = []
    for t in range(tables):
        at = np.flatnonzero(table == t)
        part = _chosen(counts, stay[at])
        part.weights = total[at]
        parts.append(Counted(part, counted.places[stay[at]], 0 if t else counted.n_symbols, counted.name))
    return parts


def add(parts: list[Counted], min_count: int = 1) -> Counted:
    """The sum of counts, without what occurs less than `min_count` times."""
    filled = [part for part in parts if len(part.counts)]
    n_symbols = sum(part.n_symbols for part in parts)
    if not filled:
        return parts[0]._replace(n_symbols=n_symbols)
    first = filled[0]
    _check_kinds(filled)
    flat, weights = side_by_side([part.counts for part in filled])
    stay, total, _ = distinct(flat, weights)
    often = total >= min_count
    counts = _chosen(Counts(flat, weights, first.counts.are_segments), stay[often])
    counts.weights = total[often]
    return Counted(counts, np.concatenate([part.places for part in filled])[stay[often]], n_symbols, first.name)


def _check_kinds(parts: list[Counted]) -> None:
    """TypeError, with the names of two partitions, unless the documents of all parts are of one kind."""
    first = parts[0]
    for part in parts:
        if _what(part.counts) != _what(first.counts):
            raise TypeError(
                f"parts: expected documents of one kind, got {_what(first.counts)} ({first.name}) and "
                f"{_what(part.counts)} ({part.name})"
            )


def _what(counts: Counts) -> str:
    return f"{'segments of ' if counts.are_segments else ''}{'integers' if counts.kind == 'int' else counts.kind}"


def _chosen(counts: Counts, rows: np.ndarray) -> Counts:
    """The documents with these indices, int64[k], in this order; O(their symbols), without a loop over documents."""
    values, offsets, kind = counts.flat
    starts, lengths = offsets[rows], offsets[rows + 1] - offsets[rows]
    ends = offsets_of(lengths)
    out = np.empty(ends[-1], values.dtype)
    begin = 0
    while begin < rows.size:  # in pieces: a place is 8 bytes
        end = max(int(np.searchsorted(ends, ends[begin] + _GATHERED, side="right")) - 1, begin + 1)
        out[ends[begin] : ends[end]] = values[places_of(starts[begin:end], lengths[begin:end])]
        begin = end
    return Counts(Documents(out, ends, kind), counts.weights[rows], counts.are_segments)


def together(tables: list[Counted]) -> Counted:
    """The documents of all tables in order of first appearance, in memory of their own."""
    filled = [table for table in tables if len(table.counts)] or tables[:1]
    _check_kinds(filled)
    places = np.concatenate([table.places for table in filled])
    order = np.argsort(places, kind="stable")
    flat, weights = side_by_side([table.counts for table in filled])
    counts = _chosen(Counts(flat, weights, filled[0].counts.are_segments), order)
    return Counted(counts, places[order], sum(table.n_symbols for table in tables), filled[0].name)
