"""The n best segmentations: drivers of the searches that go beyond one best path.

The beam search (kernels/n_best.py) always runs. Where a bound is asked for, prices of tokens are found (kernels/token_prices.py);
a guided search runs the beam a second time by these prices and keeps the best of both; an exact one then tries every tail that
its bound does not exclude (kernels/exact_paths.py).
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.coding.kernels import exact_paths, n_best, tails, token_prices
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

    Attributes
    ----------
    n : int
        How many paths.
    beam : int
        How many tails are kept at a position, `n` or more.
    by_bag : bool
        Whether one path of those with the same tokens is enough.
    exact : bool
        Whether the truly best are asked for.
    guided : bool
        Whether a second beam is ordered by weight and prices.
    with_gap : bool
        Whether a bound is asked for.
    """

    n: int
    beam: int
    by_bag: bool = False
    exact: bool = False
    guided: bool = False
    with_gap: bool = False


class PathSearch:
    """Searches over the tables of a `PathEncoder`; threads may share one.

    Examples
    --------
    >>> from ubpe_numba.vocabulary.vocabulary import Vocabulary
    >>> search = PathSearch(PathEncoder(Vocabulary.from_merges(2, [[0, 1]], [1.0])))
    >>> paths, weights = search.n_best(Ragged.from_lists([[0, 1, 0]]), Options(2, 2), None)[0]
    >>> paths.to_lists(), weights.tolist()
    ([[2, 0], [0, 1, 0]], [1.0, 0.0])
    """

    def __init__(self, encoder: PathEncoder) -> None:
        self.encoder = encoder
        self.marks = _random(encoder.values.size)
        self.no_prices = np.full(encoder.values.size, np.inf)

    def n_best(self, documents: Ragged, options: Options, n_threads: int | None) -> NBest:
        """The n best paths of every document of alphabet ids.

        Parameters
        ----------
        documents : Ragged
            Alphabet ids.
        options : Options
            What to search.
        n_threads : int or None
            The result is the same for any number of threads.

        Returns
        -------
        NBest
            With gaps if `options` ask for a bound.

        Raises
        ------
        ValueError
            If a document is too long for so many paths, or for an exact search.
        """
        offsets = documents.offsets
        longest, count = int(np.diff(offsets).max(initial=0)), offsets.size - 1
        if (nodes := (longest + 1) * options.beam) > _MAX_NODES:
            name = "n" if options.beam == options.n else "beam"
            raise ValueError(
                f"{name}: {options.beam} paths of {longest} symbols need {nodes} tails; at most {_MAX_NODES} are possible"
            )
        if offsets[-1] - offsets[0] < thread_pool.SERIAL_BELOW:
            thread_pool.asked_for(n_threads)  # raises for a bad n_threads
            found = self._chunk(documents, 0, count, options)
        else:
            chunks = thread_pool.chunks_of(offsets, n_threads)
            found = _joined(thread_pool.run(lambda a, b: self._chunk(documents, a, b, options), chunks, n_threads))
        gaps = found.gaps / SCALE if options.with_gap and found.gaps is not None else None
        return NBest(found.candidates, found.offsets, found.weights / SCALE, gaps)

    def _chunk(self, documents: Ragged, begin: int, end: int, options: Options) -> NBest:
        """Documents begin to end, in fixed point; with the gaps of all if there is a price to find."""
        found = _Beam(self, documents.values, documents.offsets[begin : end + 1], options).run(self.no_prices)
        if begin == end or not (options.exact or options.guided or options.with_gap):
            return dataclasses.replace(found, gaps=np.zeros(end - begin))
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
        weights, tables = np.empty(len(paths)), self.encoder.tables
        counts = np.zeros(tables.scaled_idf.size, np.int32)
        token_prices.weigh_paths(paths.values, paths.offsets, tables.scaled_idf, tables.logs, counts, weights)
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
        self.search, tables = search, search.encoder.tables
        n, size = document.size, tables.scaled_idf.size
        self.bounds, n_matches = np.zeros(n + 1, np.int64), 4 * n
        while True:
            self.matches = np.empty(n_matches, token_prices.MATCH)
            n_matches = token_prices.list_matches(document, tables.edges, tables.states, self.bounds, self.matches)
            if n_matches <= self.matches.size:
                break
        distinct = np.unique(self.matches["token"][:n_matches])
        mean = np.bincount(path, minlength=size).astype(np.float64)
        self.prices, self.value = np.zeros(size), np.empty(n + 1)
        self.bound, self.over = token_prices.find_prices(
            self.bounds, self.matches, distinct, tables.scaled_idf, tables.logs, _PASSES,
            mean, np.zeros(size, np.int32), np.zeros(size), self.prices, self.value, np.empty(n, np.int32),
        )  # fmt: skip

    def tails(self, least: float, copies: int, size: int) -> tuple[Ragged, np.ndarray] | None:
        """All paths that weigh `least`, and some below, best first; None if there are more than `size` tails to look at."""
        tables, n = self.search.encoder.tables, self.value.size - 1
        scratch = exact_paths.Scratch(
            np.empty(size, exact_paths.TAIL), np.empty(size, exact_paths.LINK), np.empty((2, n + 1), np.int64),
            np.full(4 * size, -1, np.int32), np.zeros(tables.scaled_idf.size, np.int32),
        )  # fmt: skip
        m = exact_paths.exact_tails(
            self.bounds, self.matches, tables.scaled_idf, tables.logs, self.prices, self.value, self.over, least,
            self.search.marks, copies, _EFFORT * size, tuple(scratch),
        )  # fmt: skip
        if m < 0:
            return None
        whole = np.arange(scratch.first[0, 0], scratch.first[1, 0])
        weights, n_tokens = scratch.tails["weight"][whole], scratch.links["n_tokens"][whole]
        order = np.lexsort((n_tokens, -weights))
        offsets = offsets_of(n_tokens[order])
        ids = np.empty(offsets[-1], np.int32)
        exact_paths.read_tails(whole[order], scratch.links, offsets, ids)
        return Ragged._trusted(ids, offsets), weights[order]


class _Beam:
    """Scratch and results of one run of the n-best kernel; the tree and the results grow when they have to."""

    def __init__(self, search: PathSearch, symbols: np.ndarray, offsets: np.ndarray, options: Options) -> None:
        self.search, self.symbols, self.offsets, self.options = search, symbols, offsets, options
        self.longest, beam = int(np.diff(offsets).max(initial=0)), options.beam
        ring = 1 << (min(search.encoder.longest, self.longest) + 1).bit_length()
        self.scratch = n_best.Scratch(
            np.empty((ring, beam), n_best.TAIL), np.empty(ring, np.int64), np.empty(beam, n_best.ENTRY),
            np.empty(beam, n_best.NEW), np.zeros(search.marks.size, n_best.COUNT), np.empty(tails.WALKS, np.int64),
            np.empty(self.longest, np.int32),
        )  # fmt: skip
        self.most_nodes = (self.longest + 1) * beam + 1
        self._grow(max(_FIRST_NODES, 16 * beam))

    def _grow(self, n: int) -> None:
        n = min(n, self.most_nodes)
        self.nodes = np.empty(n, tails.NODE), np.empty(n, np.int64), np.empty(n, tails.REST)
        self.free = np.empty(n, np.int32)

    def run(self, prices: np.ndarray) -> NBest:
        """The best paths where a token adds at most its price to what tails are ordered by: float64[V], infinite for none."""
        n, documents = self.options.n, self.offsets.size - 1
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
                self.symbols, self.offsets, tables, prices, self.search.marks, self.options.by_bag, n, scratch,
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
    gaps = np.concatenate([np.zeros(0) if part.gaps is None else part.gaps for part in parts])
    return NBest(candidates, offsets, np.concatenate([part.weights for part in parts]), gaps)


def _random(size: int) -> np.ndarray:
    """A random odd number for every token, int64, the same everywhere: splitmix64 (G. Steele, D. Lea, C. Flood, 2014)."""
    x = np.arange(1, size + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((x ^ (x >> np.uint64(31))) | np.uint64(1)).view(np.int64)
