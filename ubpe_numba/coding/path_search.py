"""The n best segmentations by tf-idf: drivers of the beam search (kernels/n_best.py)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ubpe_numba.coding.kernels import n_best
from ubpe_numba.coding.nbest import NBest, end_to_end
from ubpe_numba.coding.path_encoder import SCALE, PathEncoder
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.arrays import offsets_of

__all__ = ["PathSearch"]

_MAX_NODES = 2**31 - 1  # of the tree of tails in a search
_FIRST_NODES = 1 << 14
_FIRST_IDS = 1 << 20


class PathSearch:
    """Searches over the tables of a `PathEncoder`; threads may share one.

    Examples
    --------
    >>> from ubpe_numba.vocabulary.vocabulary import Vocabulary
    >>> search = PathSearch(PathEncoder(Vocabulary.from_merges(2, [[0, 1]], [1.0])))
    >>> paths, weights = search.n_best(Ragged.from_lists([[0, 1, 0]]), 2, 2, False, None)[0]
    >>> paths.to_lists(), weights.tolist()
    ([[2, 0], [0, 1, 0]], [1.0, 0.0])
    """

    def __init__(self, encoder: PathEncoder) -> None:
        self.encoder = encoder
        self.marks = _random(encoder.values.size)
        self.no_prices = np.full(encoder.values.size, np.inf)

    def n_best(
        self, documents: Ragged, n: int, beam: int, by_bag: bool, n_threads: int | None, prices: np.ndarray | None = None
    ) -> NBest:
        """The `n` best paths of every document of alphabet ids; `beam` tails are kept at a position, `n` or more.

        `by_bag`: one path of those with the same tokens is enough. `prices` float64[V]: what a token adds at most to the order of
        tails; None for their weight. ValueError if a document is too long for so many paths.
        """
        offsets = documents.offsets
        longest = int(np.diff(offsets).max(initial=0))
        if (nodes := (longest + 1) * beam) > _MAX_NODES:
            name = "n" if beam == n else "beam"
            raise ValueError(f"{name}: {beam} paths of {longest} symbols need {nodes} tails; at most {_MAX_NODES} are possible")
        most = self.no_prices if prices is None else prices

        def chunk(begin: int, end: int) -> NBest:
            return _Beam(self, documents.values, offsets[begin : end + 1], n, beam, by_bag).run(most)

        if offsets[-1] - offsets[0] < thread_pool.SERIAL_BELOW:
            thread_pool.asked_for(n_threads)  # raises for a bad n_threads
            found = chunk(0, len(documents))
        else:
            found = _joined(thread_pool.run(chunk, thread_pool.chunks_of(offsets, n_threads), n_threads))
        return NBest(found.candidates, found.offsets, found.weights / SCALE)


class _Beam:
    """Scratch and results of one run of the n-best kernel; the tree and the results grow when they have to."""

    def __init__(self, search: PathSearch, symbols: np.ndarray, offsets: np.ndarray, n: int, beam: int, by_bag: bool) -> None:
        self.search, self.symbols, self.offsets, self.n, self.by_bag = search, symbols, offsets, n, by_bag
        self.longest = int(np.diff(offsets).max(initial=0))
        ring = 1 << (min(search.encoder.longest, self.longest) + 1).bit_length()
        self.scratch = n_best.Scratch(
            np.empty((ring, beam), n_best.TAIL), np.empty(ring, np.int64), np.empty(beam, n_best.ENTRY),
            np.empty(beam, n_best.NEW), np.zeros(search.marks.size, n_best.COUNT), np.empty(n_best.WALKS, np.int64),
            np.empty(self.longest, np.int32),
        )  # fmt: skip
        self.most_nodes = (self.longest + 1) * beam + 1
        self._grow(max(_FIRST_NODES, 16 * beam))

    def _grow(self, n: int) -> None:
        n = min(n, self.most_nodes)
        self.nodes = np.empty(n, n_best.NODE), np.empty(n, np.int64), np.empty(n, n_best.REST)
        self.free = np.empty(n, np.int32)

    def run(self, prices: np.ndarray) -> NBest:
        """The best paths where a token adds at most its price to what tails are ordered by: float64[V], infinite for none."""
        n, documents = self.n, self.offsets.size - 1
        total = int(self.offsets[-1] - self.offsets[0])
        out = np.empty(min(n * total, max(_FIRST_IDS, n * self.longest)), np.int32)
        results = n_best.Results(
            np.zeros(documents + 1, np.int64), np.empty(n * documents), out, np.zeros(n * documents + 1, np.int64)
        )
        progress = np.zeros(1, n_best.PROGRESS)
        kernel: Any = n_best.n_best_paths
        tables, scratch = tuple(self.search.encoder.tables), tuple(self.scratch)
        while True:
            status = kernel(
                self.symbols, self.offsets, tables, prices, self.search.marks, self.by_bag, n, scratch,
                self.nodes, self.free, progress, tuple(results),
            )  # fmt: skip
            _, paths, ids, _ = progress[0].tolist()
            if status == n_best.NO_NODES:
                self._grow(4 * self.free.size)
            elif status == n_best.NO_ROOM:
                out = np.concatenate([results.out[:ids], np.empty(min(n * total, 2 * results.out.size), np.int32)])
                results = results._replace(out=out)
            else:
                break
        out = results.out[:ids].copy()  # most of the buffer is not used: give it back
        candidates = Ragged._trusted(out, results.out_offsets[: paths + 1].copy())
        return NBest(candidates, results.bounds, results.weights[:paths])


def _joined(parts: list[NBest]) -> NBest:
    """Results of chunks, one behind the other."""
    if len(parts) == 1:
        return parts[0]
    candidates = end_to_end([part.candidates for part in parts])
    offsets = offsets_of(np.concatenate([np.diff(part.offsets) for part in parts]))
    return NBest(candidates, offsets, np.concatenate([part.weights for part in parts]))


def _random(size: int) -> np.ndarray:
    """A random odd number for every token, int64, the same everywhere: splitmix64 (G. Steele, D. Lea, C. Flood, 2014)."""
    x = np.arange(1, size + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((x ^ (x >> np.uint64(31))) | np.uint64(1)).view(np.int64)
