"""Decoding: token ids back to symbols, through the arena, in two passes: lengths, then wide copies."""

from __future__ import annotations

import numpy as np

from ubpe_numba import _threads
from ubpe_numba._arrays import writable
from ubpe_numba.alphabet import Alphabet
from ubpe_numba.errors import UnknownTokenError
from ubpe_numba.kernels import arena
from ubpe_numba.ragged import Ragged
from ubpe_numba.vocabulary import Vocabulary


class Decoder:
    """The arena in the symbols of an alphabet: uint8 for bytes, uint32 code points for str, int32 or int64 for integers."""

    def __init__(self, vocabulary: Vocabulary, alphabet: Alphabet) -> None:
        self.vocabulary = vocabulary
        symbols = np.ascontiguousarray(alphabet.to_symbols(vocabulary.arena))
        self.dtype = symbols.dtype
        self.lengths = np.diff(vocabulary.offsets).astype(np.int32)  # no token is longer than a document
        self.offsets = vocabulary.offsets * symbols.itemsize
        self.arena = np.zeros(symbols.nbytes + arena.SLACK, np.uint8)
        self.arena[: symbols.nbytes] = symbols.view(np.uint8)
        self.sizes = self.lengths * np.int32(symbols.itemsize)
        self.slots = np.zeros(self.lengths.size * arena.SLOT, np.uint8)
        arena.fill_slots(self.offsets, self.arena, self.slots)
        self._tables = (self.sizes, self.slots, self.offsets, self.arena)

    def decode(self, ids: Ragged, n_threads: int | None) -> tuple[np.ndarray, np.ndarray]:
        """The symbols of all documents, and int64 offsets of the documents in them.

        Raises UnknownTokenError for an id outside the vocabulary, naming document and position. O(ids + symbols).
        """
        values, starts = writable(ids.values), writable(ids.offsets)
        chunks = _threads.chunks_of(starts, n_threads)
        lengths = np.empty(len(ids), np.int64)

        def measure(begin: int, end: int) -> int:
            return int(arena.decoded_lengths(values, starts[begin : end + 1], self.lengths, lengths[begin:end]))

        bad = [at for at in _threads.run(measure, chunks, n_threads) if at >= 0]
        if bad:
            document = int(np.searchsorted(starts, bad[0], side="right")) - 1
            raise UnknownTokenError(document, bad[0] - int(starts[document]), int(values[bad[0]]), self.lengths.size)
        offsets = np.zeros(len(ids) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        size = self.dtype.itemsize
        out = np.empty(int(offsets[-1]) * size + arena.SLACK, np.uint8)

        def copy(begin: int, end: int) -> None:
            tokens = values[starts[begin] : starts[end]]
            first, last = int(offsets[begin]) * size, int(offsets[end]) * size
            if len(chunks) == 1:
                arena.decode(tokens, *self._tables, out)
                return
            part = np.empty(last - first + arena.SLACK, np.uint8)  # the slack must not reach into a neighbour's part
            arena.decode(tokens, *self._tables, part)
            out[first:last] = part[: last - first]

        _threads.run(copy, chunks, n_threads)
        return out[: int(offsets[-1]) * size].view(self.dtype), offsets
