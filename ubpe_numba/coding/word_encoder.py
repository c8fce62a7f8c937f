"""Encoding of text: every segment by merge rank, on threads, and most segments from a cache of those encoded before."""

from __future__ import annotations

import threading

import numpy as np

from ubpe_numba.coding.kernels.encode_words import LINE, LINE_IDS, encode_words
from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.arrays import offsets_of
from ubpe_numba.text.cut import as_text, in_blocks

__all__ = ["WordEncoder"]

_CACHE_LINES = 1 << 16  # encoded segments, 64 bytes each: 4 MB a thread


class WordEncoder:
    """Encoding of text by merge rank, every segment by itself.

    Parameters
    ----------
    pairs : PairEncoder
        A linear one, whose tables are shared.
    byte_ids : int32[256] or None
        The alphabet id of every byte; all bytes must have one. None: the byte itself.

    Notes
    -----
    Segments recur: up to 65,536 of them are kept encoded from call to call, 4 MB for each thread that calls. Threads may share an
    encoder.

    Examples
    --------
    >>> from ubpe_numba.vocabulary.vocabulary import Vocabulary
    >>> pairs = PairEncoder(Vocabulary.from_merges(256, [[98, 97], [32, 256]]), batch=False)
    >>> text = np.frombuffer(b"ba baba", np.uint8)
    >>> WordEncoder(pairs).encode(text, np.array([0, 7]), "gpt2").to_lists()  # ba, " ba", ba
    [[256, 257, 256]]
    """

    def __init__(self, pairs: PairEncoder, byte_ids: np.ndarray | None = None) -> None:
        assert pairs.linear  # otherwise documents are encoded pair by pair, and there is no trie
        self.pairs = pairs
        self.byte_ids = np.arange(256, dtype=np.int32) if byte_ids is None else byte_ids.astype(np.int32)
        self._local = threading.local()

    def encode(self, values: np.ndarray, offsets: np.ndarray, segments: str | np.ndarray, n_threads: int | None = None) -> Ragged:
        """Encode every document: the ids of its segments, one behind the other.

        Parameters
        ----------
        values : uint8[n]
            The text, contiguous; it may be read-only.
        offsets : int64[d + 1]
            Where documents begin and end.
        segments : str or int64[s + 1]
            A name of `cut.PATTERNS`, or segments as `cut.scan` returns them. None of the three is checked.
        n_threads : int or None
            The result is the same for any number of threads.

        Returns
        -------
        Ragged
            What `PairEncoder.encode` makes of the segments, joined document by document.

        Raises
        ------
        TypeError, ValueError
            For a bad `n_threads`.
        """
        values = as_text(values)
        if offsets[-1] - offsets[0] < thread_pool.SERIAL_BELOW:
            thread_pool.asked_for(n_threads)  # raises for a bad n_threads
            return self._encode(values, offsets, segments)

        def one(begin: int, end: int) -> Ragged:
            return self._encode(values, offsets[begin : end + 1], segments)

        parts = thread_pool.run(one, thread_pool.chunks_of(offsets, n_threads), n_threads)
        if len(parts) == 1:
            return parts[0]
        lengths = np.concatenate([part.lengths for part in parts])
        return Ragged._trusted(np.concatenate([part.values for part in parts]), offsets_of(lengths))

    def _encode(self, values: np.ndarray, offsets: np.ndarray, cut: str | np.ndarray) -> Ragged:
        """Encode in one thread."""
        tables, cache = tuple(self.pairs.tables), self._cache()
        out = np.empty(int(offsets[-1] - offsets[0]) + LINE_IDS, np.int32)
        out_offsets = np.empty(offsets.size, np.int64)
        state = np.zeros(2, np.int64)
        word, dead = np.empty(0, np.int32), np.empty(1, np.uint8)
        for block in in_blocks(values, offsets, cut):
            longest = int(np.diff(block).max(initial=0))
            if longest > word.size:
                word, dead = np.empty(2 * longest, np.int32), np.empty(longest // 4 + 1, np.uint8)
            encode_words(values, offsets, block, self.byte_ids, tables, cache, word, dead, state, out, out_offsets)
        documents, n = state.tolist()
        out_offsets[documents:] = n
        return Ragged._trusted(out[:n].copy(), out_offsets)

    def _cache(self) -> np.ndarray:
        """The calling thread's own cache (kernels/encode_words.py), aligned to the cache lines of the processor."""
        cache: np.ndarray | None = getattr(self._local, "cache", None)
        if cache is None:
            room = np.zeros(LINE * (_CACHE_LINES + 1), np.uint64)
            skip = -room.ctypes.data % 64 // 8
            cache = self._local.cache = room[skip : skip + LINE * _CACHE_LINES]
        return cache
