"""The n best segmentations: drivers of the searches that go beyond one best path, and what they give."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ubpe_numba import _threads
from ubpe_numba._arrays import describe
from ubpe_numba.encode import SCALE, PathEncoder
from ubpe_numba.kernels import nbest, tails
from ubpe_numba.ragged import Ragged

__all__ = ["NBest", "Options", "PathSearch"]

_MAX_NODES = 2**31 - 1  # of the tree of tails in a search
_FIRST_NODES = 1 << 14
_FIRST_IDS = 1 << 20


@dataclasses.dataclass(frozen=True, eq=False)
class NBest:
    """The best segmentations of several documents, in flat arrays; a sequence of (candidates, weights) of each document.

    Attributes
    ----------
    candidates
        A `Ragged` of all segmentations, document by document, the best first.
    offsets
        int64[d + 1]: document i has the candidates offsets[i] to offsets[i + 1].
    weights
        float64[len(candidates)].
    gaps
        float64[d], how much heavier than its best candidate any segmentation of a document can be at most; None if not asked for.

    Examples
    --------
    >>> found = NBest(Ragged.from_lists([[4], [0, 1], [2]]), np.array([0, 2, 3]), np.array([0.5, 0.25, 0.0]))
    >>> len(found), [weights.tolist() for _, weights in found]
    (2, [[0.5, 0.25], [0.0]])
    >>> found[0][0].to_lists()
    [[4], [0, 1]]
    >>> found[1:].candidates.to_lists()
    [[2]]
    """

    candidates: Ragged
    offsets: np.ndarray
    weights: np.ndarray
    gaps: np.ndarray | None = None

    def __len__(self) -> int:
        return self.offsets.size - 1

    def __iter__(self) -> Iterator[tuple[Ragged, np.ndarray]]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        """Candidates and weights of one document, or an `NBest` of a slice of step 1; nothing is copied but offsets."""
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step != 1:
                raise ValueError(f"index: expected a slice of step 1, got {index!r}")
            offsets = self.offsets[start : max(start, stop) + 1]
            part = slice(int(offsets[0]), int(offsets[-1]))
            gaps = None if self.gaps is None else self.gaps[start : max(start, stop)]
            return NBest(self.candidates[part], offsets - offsets[0], self.weights[part], gaps)
        try:
            i = operator.index(index)
        except TypeError:
            raise TypeError(f"index: expected an integer or a slice, got {describe(index)}") from None
        if not -len(self) <= i < len(self):
            raise IndexError(f"index: expected a document in {-len(self)}..{len(self) - 1}, got {i}")
        i %= len(self)
        part = slice(int(self.offsets[i]), int(self.offsets[i + 1]))
        return self.candidates[part], self.weights[part]

    def __repr__(self) -> str:
        return f"NBest({len(self)} documents, {len(self.candidates)} candidates)"


class Options(NamedTuple):
    """What to search: how many paths, how many tails are kept at a position, and whether one path of a bag of tokens is enough."""

    n: int
    beam: int
    by_bag: bool = False


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
        chunks = _threads.chunks_of(documents.offsets, n_threads)
        return _joined(_threads.run(lambda a, b: self._chunk(documents, a, b, options), chunks, n_threads))

    def _chunk(self, documents: Ragged, begin: int, end: int, options: Options) -> NBest:
        return _Beam(self, documents.values, documents.offsets[begin : end + 1], options).run(self.no_prices)


class _Beam:
    """Scratch and results of one run of the n-best kernel; the tree and the results grow when they have to."""

    def __init__(self, search: PathSearch, symbols: np.ndarray, offsets: np.ndarray, options: Options) -> None:
        self.search, self.symbols, self.offsets, self.options = search, symbols, offsets, options
        longest, beam = int(np.diff(offsets).max(initial=0)), options.beam
        ring = 1 << (min(search.encoder.longest, longest) + 1).bit_length()
        self.lists = np.empty((ring, beam)), np.empty((ring, beam, 3), np.int64), np.empty(ring, np.int64)
        self.new = np.empty(beam), np.empty(beam, np.int64), np.empty(beam, np.int64), np.empty((5, beam), np.int64)
        self.counts = np.zeros((2, search.marks.size), np.int32)
        self.rest = np.empty((2, tails.WALKS), np.int32), np.empty(longest, np.int32)
        self.most_nodes = (longest + 1) * beam + 1
        self.tree = self._nodes(min(self.most_nodes, max(_FIRST_NODES, 16 * beam)))

    @staticmethod
    def _nodes(n: int) -> tuple[np.ndarray, ...]:
        return np.empty(n, np.int64), np.empty((n, 4), np.int32), np.empty(n, np.int64), np.empty(n, np.int32)

    def run(self, prices: np.ndarray) -> NBest:
        encoder, n, documents = self.search.encoder, self.options.n, self.offsets.size - 1
        total = int(self.offsets[-1] - self.offsets[0])
        out = np.empty(min(n * total, max(_FIRST_IDS, n * int(np.diff(self.offsets).max(initial=0)))), np.int32)
        progress, found = np.zeros(4, np.int64), np.zeros(documents, np.int64)
        weights, out_offsets = np.empty(n * documents), np.zeros(n * documents + 1, np.int64)
        while True:
            status = nbest.n_best_paths(
                self.symbols, self.offsets, encoder.edges, encoder.states, encoder.scaled_idf, encoder.logs,
                prices, self.search.marks, self.options.by_bag, n,
                *self.lists, *self.new, *self.tree, self.counts, *self.rest,
                progress, found, weights, out, out_offsets,
            )  # fmt: skip
            if status == nbest.NO_NODES:
                self.tree = self._nodes(min(self.most_nodes, 4 * self.tree[0].size))
            elif status == nbest.NO_ROOM:
                out = np.concatenate([out[: progress[nbest.IDS]], np.empty(min(n * total, 2 * out.size), np.int32)])
            else:
                break
        paths = int(progress[nbest.PATHS])
        offsets = np.zeros(documents + 1, np.int64)
        np.cumsum(found, out=offsets[1:])
        ids = out[: progress[nbest.IDS]].copy()  # most of the buffer is not used: give it back
        return NBest(Ragged._trusted(ids, out_offsets[: paths + 1].copy()), offsets, weights[:paths] / SCALE)


def _joined(parts: list[NBest]) -> NBest:
    """Results of chunks, one behind the other."""
    if len(parts) == 1:
        return parts[0]
    candidates = Ragged.from_lengths(
        np.concatenate([part.candidates.values for part in parts]), np.concatenate([part.candidates.lengths for part in parts])
    )
    offsets = np.zeros(sum(map(len, parts)) + 1, np.int64)
    np.cumsum(np.concatenate([np.diff(part.offsets) for part in parts]), out=offsets[1:])
    return NBest(candidates, offsets, np.concatenate([part.weights for part in parts]))


def _random(size: int) -> np.ndarray:
    """A random odd number for every token, int64, the same everywhere: splitmix64 (G. Steele, D. Lea, C. Flood, 2014)."""
    x = np.arange(1, size + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((x ^ (x >> np.uint64(31))) | np.uint64(1)).view(np.int64)
