"""The n best segmentations: drivers of the searches that go beyond one best path, and what they give."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.coding.kernels import exact, n_best, prices, tails
from ubpe_numba.coding.nbest import NBest, end_to_end
from ubpe_numba.coding.path_encoder import SCALE, PathEncoder
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.arrays import offsets_of

__all__ = ["Options", "PathSearch"]

_MAX_NODES = 2**31 - 1  # of the tree of tails in a search
_FIRST_NODES = 1 << 14
_FIRST_IDS = 1 << 20
_PASSES = 32  # of looking for prices
#: The most tails that an exact search looks at, and the steps for each that it may take; ~1 s and 100 MB.
MOST_TAILS = 1 << 20
_EFFORT = 64


class Options(NamedTuple):
    """What to search.

    n paths; beam, how many tails are kept at a position; by_bag, whether one path of those with the same tokens is enough; exact,
    the truly best; guided, a second beam by weight and prices; with_gap, whether a bound is asked for.
    """

    n: int
    beam: int
    by_bag: bool = False
    exact: bool = False
    guided: bool = False
    with_gap: bool = False


class PathSearch:
    """Searches over the tables of a `PathEncoder`; threads may share one."""

    def __init__(self, encoder: PathEncoder) -> None:
        self.encoder = encoder
        size = encoder.values.size
        self.marks = _random(size)
        self.no_prices = np.full(size, np.inf)

    def n_best(self, documents: Ragged, options: Options, n_threads: int | None) -> NBest:
        """The n best paths of every document of alphabet ids; the same for any number of threads."""
        longest = int(documents.lengths.max(initial=0))
        if (nodes := (longest + 1) * options.beam) > _MAX_NODES:
            name = "n" if options.beam == options.n else "beam"
            raise ValueError(
                f"{name}: {options.beam} paths of {longest} symbols need {nodes} tails; at most {_MAX_NODES} are possible"
            )
        chunks = thread_pool.chunks_of(documents.offsets, n_threads)
        found = _joined(thread_pool.run(lambda a, b: self._chunk(documents, a, b, options), chunks, n_threads))
        gaps = found.gaps / SCALE if options.with_gap and found.gaps is not None else None
        return NBest(found.candidates, found.offsets, found.weights / SCALE, gaps)

    def _chunk(self, documents: Ragged, begin: int, end: int, options: Options) -> NBest:
        """Documents begin to end, in fixed point; with the gaps of all if there is a price to find."""
        found = _Beam(self, documents.values, documents.offsets[begin : end + 1], options).run(self.no_prices)
        if begin == end or not (options.exact or options.guided or options.with_gap):
            return dataclasses.replace(found, gaps=np.zeros(len(found)))
        parts = []
        for i, (candidates, weights) in enumerate(found):
            document = documents[begin + i]
            priced = _Priced(self, document, candidates[0])
            if options.exact or options.guided:
                beam = _Beam(self, document, np.array([0, document.size]), options._replace(n=options.beam))
                candidates, weights = self._merged(candidates, beam.run(priced.prices).candidates, options)
            if options.exact:
                candidates, weights = self._exact(priced, weights, options, begin + i)
            gap = 0.0 if options.exact else priced.bound - weights[0]
            parts.append(NBest(candidates, np.array([0, len(candidates)]), weights, np.array([gap])))
        return _joined(parts)

    def weigh(self, paths: Ragged) -> np.ndarray:
        """Weights of paths in fixed point."""
        weights, encoder = np.empty(len(paths)), self.encoder
        counts = np.zeros(encoder.values.size, np.int32)
        prices.weigh_paths(paths.values, paths.offsets, encoder.scaled_idf, encoder.logs, counts, weights)
        return weights

    def _merged(self, one: Ragged, other: Ragged, options: Options) -> tuple[Ragged, np.ndarray]:
        """The n best of both, those of `one` first among equals."""
        both = end_to_end([one, other])
        weights = self.weigh(both)
        seen: set[bytes] = set()
        chosen: list[int] = []
        for i in np.lexsort((both.lengths, -weights)):
            path = np.sort(both[i]) if options.by_bag else both[i]
            if len(chosen) < options.n and (key := path.tobytes()) not in seen:
                seen.add(key)
                chosen.append(i)
        return both.take(np.array(chosen)), weights[chosen]

    def _exact(self, priced: _Priced, weights: np.ndarray, options: Options, document: int) -> tuple[Ragged, np.ndarray]:
        """The truly n best; `weights` are those of n paths, or of all if there are fewer."""
        least = weights[-1] if len(weights) == options.n else -1.0  # fewer: there are no others
        copies = 1 if options.by_bag else options.n
        size = 1 << 12
        while (found := priced.tails(least, copies, size)) is None:
            if size >= MOST_TAILS:
                raise ValueError(
                    f"exact: document {document} of {priced.value.size - 1} symbols needs more than {MOST_TAILS} tails; "
                    "cut it to shorter ones, or use beam= and return_gap=True instead"
                )
            size *= 16
        return found[0][: options.n], found[1][: options.n]


class _Priced:
    """The lattice of a document, prices of its tokens, and what a path of it can weigh at most, in fixed point."""

    def __init__(self, search: PathSearch, document: np.ndarray, path: np.ndarray) -> None:
        self.search, encoder = search, search.encoder
        n, size = document.size, encoder.values.size
        self.bounds, n_matches = np.zeros(n + 1, np.int64), 4 * n
        while True:
            self.tokens, self.ends = np.empty(n_matches, np.int32), np.empty(n_matches, np.int32)
            n_matches = prices.list_matches(document, encoder.edges, encoder.states, self.bounds, self.tokens, self.ends)
            if n_matches <= self.tokens.size:
                break
        mean = np.bincount(path, minlength=size).astype(np.float64)
        self.prices, self.value = np.zeros(size), np.empty(n + 1)
        self.bound, self.over = prices.find_prices(
            self.bounds, self.tokens, self.ends, np.unique(self.tokens[:n_matches]), encoder.scaled_idf, encoder.logs, _PASSES,
            mean, np.zeros(size, np.int32), np.zeros(size), self.prices, self.value, np.empty(n, np.int32),
        )  # fmt: skip

    def tails(self, least: float, copies: int, size: int) -> tuple[Ragged, np.ndarray] | None:
        """All paths that weigh `least`, and some below, best first; None if there are more than `size` tails to look at."""
        encoder, n = self.search.encoder, self.value.size - 1
        weight, link, first = np.empty(size), np.empty((size, 4), np.int32), np.empty((2, n + 1), np.int64)
        m = exact.exact_tails(
            self.bounds, self.tokens, self.ends, encoder.scaled_idf, encoder.logs, self.prices, self.value, self.over, least,
            self.search.marks, copies, _EFFORT * size,
            np.empty(size), weight, np.empty(size, np.int64), link, first,
            np.full(4 * size, -1, np.int32), np.zeros(encoder.values.size, np.int32),
        )  # fmt: skip
        if m < 0:
            return None
        whole = np.arange(first[0, 0], first[1, 0])
        chosen = whole[np.lexsort((link[whole, exact.N_TOKENS], -weight[whole]))]
        offsets = offsets_of(link[chosen, exact.N_TOKENS])
        ids = np.empty(offsets[-1], np.int32)
        exact.read_tails(chosen, link, offsets, ids)
        return Ragged._trusted(ids, offsets), weight[chosen]


class _Beam:
    """Scratch and results of one run of the n-best kernel; the tree and the results grow when they have to."""

    def __init__(self, search: PathSearch, symbols: np.ndarray, offsets: np.ndarray, options: Options) -> None:
        self.search, self.symbols, self.offsets, self.options = search, symbols, offsets, options
        longest, beam = int(np.diff(offsets).max(initial=0)), options.beam
        ring = 1 << (min(search.encoder.longest, longest) + 1).bit_length()
        self.lists = np.empty((ring, beam)), np.empty((ring, beam, 2), np.int64), np.empty(ring, np.int64)
        integers = np.empty((2, beam), np.int64)
        self.new = np.empty(beam), integers[0], integers[1], np.empty((beam, 3), np.int64)
        self.counts = np.zeros((2, search.marks.size), np.int32)
        self.rest = np.empty((2, tails.WALKS), np.int32), np.empty(longest, np.int32)
        self.most_nodes = (longest + 1) * beam + 1
        self.tree = self._nodes(min(self.most_nodes, max(_FIRST_NODES, 16 * beam)))

    @staticmethod
    def _nodes(n: int) -> tuple[np.ndarray, ...]:
        return np.empty((4, n), np.int64), np.empty(n, np.int32)

    def run(self, prices: np.ndarray) -> NBest:
        encoder, n, documents = self.search.encoder, self.options.n, self.offsets.size - 1
        total = int(self.offsets[-1] - self.offsets[0])
        out = np.empty(min(n * total, max(_FIRST_IDS, n * int(np.diff(self.offsets).max(initial=0)))), np.int32)
        progress, found = np.zeros(4, np.int64), np.zeros(documents, np.int64)
        weights, out_offsets = np.empty(n * documents), np.zeros(n * documents + 1, np.int64)
        kernel: Any = n_best.n_best_paths
        while True:
            status = kernel(
                self.symbols, self.offsets, encoder.edges, encoder.states, encoder.scaled_idf, encoder.logs,
                prices, self.search.marks, self.options.by_bag, n,
                *self.lists, *self.new, *self.tree, self.counts, *self.rest,
                progress, found, weights, out, out_offsets,
            )  # fmt: skip
            if status == n_best.NO_NODES:
                self.tree = self._nodes(min(self.most_nodes, 4 * self.tree[1].size))
            elif status == n_best.NO_ROOM:
                out = np.concatenate([out[: progress[n_best.IDS]], np.empty(min(n * total, 2 * out.size), np.int32)])
            else:
                break
        paths = int(progress[n_best.PATHS])
        ids = out[: progress[n_best.IDS]].copy()  # most of the buffer is not used: give it back
        return NBest(Ragged._trusted(ids, out_offsets[: paths + 1].copy()), offsets_of(found), weights[:paths])


def _joined(parts: list[NBest]) -> NBest:
    """Results of chunks, one behind the other."""
    if len(parts) == 1:
        return parts[0]
    candidates = end_to_end([part.candidates for part in parts])
    offsets = offsets_of(np.concatenate([np.diff(part.offsets) for part in parts]))
    gaps = np.concatenate([np.zeros(0) if part.gaps is None else part.gaps for part in parts])
    return NBest(candidates, offsets, np.concatenate([part.weights for part in parts]), gaps)


def _random(size: int) -> np.ndarray:
    """A random odd number for every token, int64, the same everywhere: splitmix64 (G. Steele, D. Lea, C. Flood, 2014)."""
    x = np.arange(1, size + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((x ^ (x >> np.uint64(31))) | np.uint64(1)).view(np.int64)
