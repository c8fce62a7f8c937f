"""Encoding of text: every segment by merge rank, on threads, and most segments from a cache of those encoded before."""

from __future__ import annotations

import threading

import numpy as np

from ubpe_numba.coding.kernels import word_cache
from ubpe_numba.coding.kernels.encode_words import SCRATCH, SPARE, encode_words
from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.coding.text_tables import is_small, tables_of
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.arrays import offsets_of
from ubpe_numba.text.cut import as_text, in_blocks, places_between_parts

__all__ = ["WordEncoder"]

_BUCKETS = 1 << 17  # of the cache of short segments, 64 bytes each: 8 MB a thread
_LINES = 1 << 13  # of that of long ones, 128 bytes each: 1 MB
_CHUNK = 1 << 20  # bytes of text whose ids go to memory that a thread keeps: new memory for each call does not scale with threads
_DEAD = 1 << 12  # bytes of scratch memory for long segments, at first


class WordEncoder:
    """Encoding of text by merge rank, every segment by itself.

    Parameters
    ----------
    pairs : PairEncoder
        A linear one, over an alphabet of 256, that `takes` accepts.
    byte_ids : int32[256] or None
        The alphabet id of every byte, a permutation. None: the byte itself.
    whole_words : bool
        Whether a segment that equals a token is that token, before any merge.

    Notes
    -----
    Segments recur: up to 262,144 short ones and 8,192 long ones are kept encoded from call to call, 9 MB for each thread that
    calls, and with them the vocabulary from the start. A thread also keeps room for the ids of a megabyte of text, at most 4 MB.
    Threads may share an encoder.

    Examples
    --------
    >>> from ubpe_numba.vocabulary.vocabulary import Vocabulary
    >>> pairs = PairEncoder(Vocabulary.from_merges(256, [[98, 97], [32, 256]]), batch=False)
    >>> text = np.frombuffer(b"ba baba", np.uint8)
    >>> WordEncoder(pairs).encode(text, np.array([0, 7]), "gpt2").to_lists()  # ba, " ba", ba
    [[256, 257, 256]]
    """

    def __init__(self, pairs: PairEncoder, byte_ids: np.ndarray | None = None, whole_words: bool = False) -> None:
        assert self.takes(pairs)
        ids = np.arange(256, dtype=np.int32) if byte_ids is None else byte_ids.astype(np.int32)
        tables, self._stable, self._arena = tables_of(pairs.vocabulary, ids, whole_words)
        self.tables = tuple(tables)
        self._lengths = tables.lengths
        self._local = threading.local()

    @staticmethod
    def takes(pairs: PairEncoder) -> bool:
        """Whether text can be encoded this way: by rank, over the 256 bytes, with ids that fit packed tables."""
        return pairs.linear and pairs.vocabulary.n_alphabet == 256 and is_small(pairs.vocabulary)

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

        workers = thread_pool.resolve(n_threads)
        places = places_between_parts(values, offsets, segments) if workers > 1 else np.empty(0, np.int64)
        starts = np.insert(offsets, np.searchsorted(offsets, places), places) if places.size else offsets

        def one(begin: int, end: int) -> Ragged:
            return self._encode(values, starts[begin : end + 1], segments)

        per_thread = max(4, int(offsets[-1] - offsets[0]) // (_CHUNK // 2) // workers)
        parts = thread_pool.run(one, thread_pool.chunks_of(starts, n_threads, per_thread), n_threads)
        found = parts[0] if len(parts) == 1 else _joined(parts, n_threads)
        if not places.size:
            return found
        return Ragged._trusted(found.values, found.offsets[np.arange(offsets.size) + np.searchsorted(places, offsets)])

    def _encode(self, values: np.ndarray, offsets: np.ndarray, cut: str | np.ndarray) -> Ragged:
        """Encode in one thread."""
        caches, scratch, dead = self.scratch()
        size = int(offsets[-1] - offsets[0])
        kept = self._local.__dict__  # the room is taken out of it: the handler of a signal may encode meanwhile, in this thread
        room = kept.pop("room", None)
        if room is None:
            room = np.empty(_CHUNK + SPARE, np.int32)
        out = room if size <= _CHUNK else np.empty(size + SPARE, np.int32)
        out_offsets = np.empty(offsets.size, np.int64)
        state = np.zeros(3, np.int64)
        for block in in_blocks(values, offsets, cut):
            state[2] = 0
            while (
                encode_words(values, offsets, block, self.tables, caches, scratch, dead, state, out, out_offsets) < block.size - 1
            ):
                dead = np.zeros(int(np.diff(block).max()) // 8 + 2, np.uint8)  # for a segment that is longer than any before
        documents, n = state[:2].tolist()
        out_offsets[documents:] = n
        ids = out[:n].copy()
        kept["room"] = room
        return Ragged._trusted(ids, out_offsets)

    def scratch(self) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray, np.ndarray]:
        """The calling thread's own arguments `caches`, `scratch` and `dead` of `encode_words`, made when it first asks."""
        made: tuple[tuple[np.ndarray, np.ndarray], np.ndarray, np.ndarray] | None = getattr(self._local, "scratch", None)
        if made is None:
            short, long = _aligned(8 * _BUCKETS), _aligned(16 * _LINES)
            word_cache.enter_tokens(self._arena, self._lengths, self._stable, short, np.empty(4, np.int32))
            made = self._local.scratch = (short, long), _aligned(SCRATCH), np.zeros(_DEAD, np.uint8)
        return made


def _joined(parts: list[Ragged], n_threads: int | None) -> Ragged:
    """The documents of all parts, copied on threads: to copy takes a tenth of the time to encode."""
    first = offsets_of(np.array([part.values.size for part in parts]))
    values = np.empty(int(first[-1]), np.int32)

    def copy(i: int, end: int) -> None:
        for part, begin in zip(parts[i:end], first[i:end].tolist(), strict=True):
            values[begin : begin + part.values.size] = part.values

    thread_pool.run(copy, [(i, i + 1) for i in range(len(parts))], n_threads)
    offsets = [part.offsets[:-1] + begin for part, begin in zip(parts, first[:-1], strict=True)]
    return Ragged._trusted(values, np.concatenate([*offsets, first[-1:]]))


def _aligned(n: int) -> np.ndarray:
    """Zeros, uint64[n], aligned to the cache lines of the processor."""
    room = np.zeros(n + 8, np.uint64)
    skip = -room.ctypes.data % 64 // 8
    return room[skip : skip + n]
