"""Counting the distinct segments of a text, on threads."""

from __future__ import annotations

import numpy as np

from ubpe_numba.documents.counts import Counts
from ubpe_numba.documents.normalise import Documents
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.arrays import offsets_of
from ubpe_numba.text.cut import BLOCK, checked_cut, checked_text, in_blocks
from ubpe_numba.text.kernels.count_words import ENTRY, spread, tally

_FIRST_TABLE = 1 << 14  # entries of a table of words


_LARGE_TABLE = 1 << 18  # entries, from which on it doubles only


def count_words(values: np.ndarray, offsets: np.ndarray, segments: str | np.ndarray, n_threads: int | None = None) -> Counts:
    """Count equal segments of all documents.

    values uint8[n], offsets int64[d + 1]; `segments` a name of `scan.PATTERNS`, or int64[s + 1] as `scan` returns them. Equals
    `count_documents` with the segments for documents, for any number of threads. O(bytes) expected. Raises as `scan` does.

    >>> text = np.frombuffer(b"no, no, no", np.uint8)
    >>> counts = count_words(text, np.array([0, len(text)]), "gpt2")
    >>> counts.to_lists(), counts.weights.tolist()
    ([b'no', b',', b' no'], [1, 2, 2])
    """
    values, offsets = checked_text(values, offsets)
    cut = checked_cut(segments, offsets)

    def one(begin: int, end: int) -> Counts:
        words = _Words(values)
        ones = np.ones(BLOCK, np.int64)
        for block in in_blocks(values, offsets[begin : end + 1], cut):
            words.add(block, ones[: block.size - 1])
        return words.counts()

    parts = thread_pool.run(one, thread_pool.chunks_of(offsets, n_threads, per_thread=1), n_threads)
    if len(parts) == 1:
        return parts[0]
    words = _Words(np.concatenate([*(part.flat.values for part in parts), np.zeros(8, np.uint8)]))  # some to read past the end
    lengths = np.concatenate([np.diff(part.flat.offsets) for part in parts])
    words.add(offsets_of(lengths), np.concatenate([part.weights for part in parts]))
    return words.counts()


class _Words:
    """The distinct segments of one text so far, in a hash table that grows."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values
        self.n = np.zeros(1, np.int64)
        self._make(_FIRST_TABLE)

    def _make(self, capacity: int) -> None:
        self.table = np.zeros(ENTRY * capacity, np.int64)
        self.words = np.empty(capacity, np.int64)

    def add(self, segments: np.ndarray, weights: np.ndarray) -> None:
        done = tally(self.values, segments, weights, self.table, self.words, self.n)
        while done < weights.size:
            self._grow()
            done += tally(self.values, segments[done:], weights[done:], self.table, self.words, self.n)

    def _grow(self) -> None:
        table, words = self.table, self.words
        self._make(words.size * (4 if words.size < _LARGE_TABLE else 2))
        spread(table, self.table)
        self.words[: words.size] = words

    def counts(self) -> Counts:
        n = int(self.n[0])
        begins, ends = self.words[: 2 * n].reshape(n, 2).T
        offsets = offsets_of(ends - begins)
        source = np.repeat(begins - offsets[:-1], ends - begins)
        source += np.arange(source.size)
        _, numbers, weights, _ = self.table.reshape(-1, ENTRY).T
        used = np.flatnonzero(numbers)
        totals = np.empty(n, np.int64)
        totals[(numbers[used] & 0xFFFFFFFF) - 1] = weights[used]
        return Counts(Documents(self.values[source], offsets, "bytes"), totals)
