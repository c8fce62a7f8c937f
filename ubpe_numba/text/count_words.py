"""Counting the distinct segments of a text.

Each thread counts its documents, or parts of them, then counts are added up.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.documents.counts import Counts
from ubpe_numba.documents.read import Documents
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.arrays import distinct, offsets_of, plain, writable
from ubpe_numba.text.cut import BLOCK, as_text, checked_text, in_blocks, places_between_parts
from ubpe_numba.text.kernels.count_words import ENTRY, ROOM, collect, spread, tally

_FIRST_TABLE = 1 << 14  # entries of a new table


def count_words(
    values: np.ndarray, offsets: np.ndarray, segments: str | np.ndarray, n_threads: int | None = None
) -> Counts:
    """Count equal segments of all documents. O(bytes) expected.

    `values` uint8[n], `offsets` int64[d + 1]; `segments`: a name of `cut.PATTERNS`, or segments as `cut.scan`
    returns them. The result, that of `count_documents` for the segments, is the same for any number of
    threads. TypeError or ValueError for other arrays.

    >>> text = np.frombuffer(b"no, no, no", np.uint8)
    >>> counts = count_words(text, np.array([0, len(text)]), "gpt2")
    >>> counts.to_lists(), counts.weights.tolist()
    ([b'no', b',', b' no'], [1, 2, 2])
    """
    values, offsets = checked_text(values, offsets)
    cut = segments if isinstance(segments, str) else writable(plain(segments))
    # empty documents give no segments
    offsets = distinct(offsets, places_between_parts(values, offsets, cut))

    def one(begin: int, end: int) -> Counts:
        words = _Words(values)
        ones = np.ones(BLOCK, np.int64)
        for block in in_blocks(values, offsets[begin : end + 1], cut):
            words.add(block, ones[: block.size - 1])
        return words.counts()

    parts = thread_pool.run(one, thread_pool.chunks_of(offsets, n_threads, per_thread=1), n_threads)
    if len(parts) == 1:
        return parts[0]
    words = _Words(as_text(np.concatenate([part.flat.values for part in parts])))
    lengths = np.concatenate([np.diff(part.flat.offsets) for part in parts])
    words.add(offsets_of(lengths), np.concatenate([part.weights for part in parts]))
    return words.counts()


class _Words:
    """The distinct segments of a text so far, in a hash table that grows (kernels/count_words.py)."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values
        self.n = np.zeros(1, np.int64)
        self.batch = np.empty(ROOM, np.int64)
        self.table = np.zeros(ENTRY * _FIRST_TABLE, np.int64)
        self.words = np.empty(_FIRST_TABLE, np.int64)

    def add(self, segments: np.ndarray, weights: np.ndarray) -> None:
        """Add segments, int64[s + 1], of these weights, int64[s]."""
        done = 0
        while (
            done := done
            + tally(self.values, segments[done:], weights[done:], self.table, self.words, self.n, self.batch)
        ) < weights.size:
            table, words = self.table, self.words
            self.table, self.words = np.zeros(2 * table.size, np.int64), np.empty(2 * words.size, np.int64)
            spread(table, self.table)
            self.words[: words.size] = words

    def counts(self) -> Counts:
        """The segments in order of first appearance, their bytes side by side, and their weights."""
        n = int(self.n[0])
        begins, ends = self.words[: 2 * n].reshape(n, 2).T
        offsets = offsets_of(ends - begins)
        spelled, weights = np.empty(int(offsets[-1]), np.uint8), np.empty(n, np.int64)
        collect(self.values, self.table, self.words, offsets, spelled, weights)
        return Counts(Documents(spelled, offsets, "bytes"), weights)
