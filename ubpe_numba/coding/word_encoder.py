"""Text as UTF-8 bytes in segments: counting the distinct ones, and encoding, by kernels and on threads.

A text is `values`, uint8, and `offsets`, int64[d + 1], of documents that follow each other; segments are as `scan` returns them.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from ubpe_numba.coding.kernels.encode_words import LINE, LINE_IDS, encode_words
from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.errors import UnknownSymbolError
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.arrays import describe, offsets_of
from ubpe_numba.text.cut import checked_cut, checked_text, cut_into, scan
from ubpe_numba.vocabulary.vocabulary import Vocabulary

__all__ = ["WordEncoder"]

_CACHE_LINES = 1 << 16  # of encoded words, 64 bytes each: 4 MB a thread


class WordEncoder:
    """Encoding of text by merge rank, every segment for itself.

    Parameters
    ----------
    vocabulary
        One that knows pairs.
    byte_ids : int32[256] or None
        The symbol, an id of the alphabet, of every byte; -1 for a byte that the alphabet has not. None: the byte itself.
    whole_tokens
        Whether a segment that is a token becomes that token whatever the merges say: what Hugging Face calls `ignore_merges`, and
        tiktoken always does. They differ on tokens that their own merges do not lead to.
    batch
        Encode by the articles' batch rule.

    Segments recur: up to 65,536 of them are kept encoded, 4 MB a thread that calls, from call to call. May be shared between
    threads, and pickled.

    Examples
    --------
    >>> encoder = WordEncoder(Vocabulary.from_merges(256, [[98, 97], [32, 256]]))
    >>> text = np.frombuffer(b"ba baba", np.uint8)
    >>> encoder.encode(text, np.array([0, 7]), "gpt2").to_lists()
    [[256, 257, 256]]
    """

    def __init__(
        self, vocabulary: Vocabulary, byte_ids: np.ndarray | None = None, *, whole_tokens: bool = False, batch: bool = False
    ) -> None:
        given = np.arange(256) if byte_ids is None else np.asarray(byte_ids)
        if given.shape != (256,) or given.dtype.kind not in "iu":
            raise TypeError(f"byte_ids: expected 256 integers, got {describe(byte_ids)}")
        if (bad := np.flatnonzero((given < -1) | (given >= vocabulary.n_alphabet))).size:
            raise ValueError(f"byte_ids[{bad[0]}]: expected -1..{vocabulary.n_alphabet - 1}, got {given[bad[0]]}")
        self.vocabulary = vocabulary
        self.byte_ids = given.astype(np.int32)
        self.whole_tokens = bool(whole_tokens)
        self.batch = batch
        self._pairs = PairEncoder(vocabulary, batch)
        self._absent = self.byte_ids < 0
        self._local = threading.local()

    def __reduce__(self) -> tuple[Any, ...]:
        return _encoder, (self.vocabulary, self.byte_ids, self.whole_tokens, self.batch)

    def encode(self, values: np.ndarray, offsets: np.ndarray, segments: str | np.ndarray, n_threads: int | None = None) -> Ragged:
        """Encode every document: the ids of its segments, one behind the other.

        values uint8[n], offsets int64[d + 1]; `segments` a name of `scan.PATTERNS`, or int64[s + 1] as `scan` returns them. The
        same for any number of threads, and the same as `BPE.encode_batch` makes of the segments. UnknownSymbolError for a byte
        that is not in the alphabet; otherwise raises as `scan` does.
        """
        values, offsets = checked_text(values, offsets)
        cut = checked_cut(segments, offsets)
        self._check_bytes(values, offsets)
        if not self._pairs.linear:
            return self._by_documents(values, offsets, cut, n_threads)

        def one(begin: int, end: int) -> Ragged:
            return self._encode(values, offsets[begin : end + 1], cut)

        parts = thread_pool.run(one, thread_pool.chunks_of(offsets, n_threads), n_threads)
        if len(parts) == 1:
            return parts[0]
        lengths = np.concatenate([part.lengths for part in parts])
        return Ragged._trusted(np.concatenate([part.values for part in parts]), offsets_of(lengths))

    def _encode(self, values: np.ndarray, offsets: np.ndarray, cut: str | np.ndarray) -> Ragged:
        """Encode in one thread."""
        pairs, vocabulary = self._pairs, self.vocabulary
        cache = self._cache()
        out = np.empty(int(offsets[-1] - offsets[0]) + LINE_IDS, np.int32)
        out_offsets = np.empty(offsets.size, np.int64)
        state = np.zeros(2, np.int64)
        word, dead = np.empty(0, np.int32), np.empty(1, np.uint8)
        for block in cut_into(values, offsets, cut):
            longest = int(np.diff(block).max(initial=0))
            if longest > word.size:
                word, dead = np.empty(2 * longest, np.int32), np.empty(longest // 4 + 1, np.uint8)
            encode_words(
                values, offsets, block, self.byte_ids, self.whole_tokens, pairs.pairs, pairs.left, pairs.right,
                vocabulary.n_alphabet, pairs.trie, pairs.stable, pairs.prefixes, pairs.lengths,
                cache, word, dead, state, out, out_offsets,
            )  # fmt: skip
        documents, n = state.tolist()
        out_offsets[documents:] = n
        return Ragged._trusted(out[:n].copy(), out_offsets)

    def _cache(self) -> np.ndarray:
        """The calling thread's own cache; lines begin where those of the processor do."""
        cache: np.ndarray | None = getattr(self._local, "cache", None)
        if cache is None:
            room = np.zeros(LINE * (_CACHE_LINES + 1), np.uint64)
            skip = -room.ctypes.data % 64 // 8
            cache = self._local.cache = room[skip : skip + LINE * _CACHE_LINES]
        return cache

    def _by_documents(self, values: np.ndarray, offsets: np.ndarray, cut: str | np.ndarray, n_threads: int | None) -> Ragged:
        """Encode the segments as documents: tables that are not in order of creation, and the batch rule."""
        segments = scan(values, offsets, cut, n_threads) if isinstance(cut, str) else cut
        part = Ragged._trusted(self.byte_ids[values[segments[0] : segments[-1]]], segments - segments[0])
        ids = self._pairs.encode(part, n_threads)
        return Ragged._trusted(ids.values, ids.offsets[np.searchsorted(segments, offsets)])

    def _check_bytes(self, values: np.ndarray, offsets: np.ndarray) -> None:
        if self._absent.any():
            first, last = int(offsets[0]), int(offsets[-1])
            if (bad := np.flatnonzero(self._absent[values[first:last]])).size:
                at = first + int(bad[0])
                document = int(np.searchsorted(offsets, at, side="right")) - 1
                raise UnknownSymbolError(document, at - int(offsets[document]), int(values[at]))


def _encoder(vocabulary: Vocabulary, byte_ids: np.ndarray, whole_tokens: bool, batch: bool) -> WordEncoder:
    return WordEncoder(vocabulary, byte_ids, whole_tokens=whole_tokens, batch=batch)
