"""The working text of a fit: cut into shards, loaded, compacted, its pairs counted and listed. Threads work on a shard each.

Shards hold consecutive documents and as many symbols each; a document is cut where it is too long for that (see
`kernels/borders.py`). The text is held once, as int32 cells (4 bytes a symbol), plus the positions of the frequent pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

from ubpe_numba.documents.corpus import Corpus
from ubpe_numba.fitting.kernels import text_cells as s
from ubpe_numba.fitting.kernels.borders import Borders, pairs_across
from ubpe_numba.fitting.kernels.merge import Weighted, weights_of
from ubpe_numba.runtime import thread_pool
from ubpe_numba.vocabulary.alphabet import Alphabet

T = TypeVar("T")

_CHUNK = 1 << 18  # symbols mapped to ids at once while loading
_POSITIONS = 1.6  # in the arena, a cell
_LARGE = 1 << 20  # cells; less is not worth giving back
_SHORT = 4  # a text that has become so many times shorter moves to arrays of its own size
_ROOM = 64  # cells at the end of a shard for tokens that it takes over; a compacted text makes more
_NEAR = 16  # a cut goes to the end of a document that is nearer than this part of a shard


class Cut(NamedTuple):
    """Where shards begin: `at` int64[K + 1] in symbols, `segment` int64[K + 1], `inside` bool[K + 1]: in its middle."""

    at: np.ndarray
    segment: np.ndarray
    inside: np.ndarray


def cut(offsets: np.ndarray, n_shards: int, near: int | None = None) -> Cut:
    """Cut segments into at most `n_shards` shards of consecutive symbols.

    >>> cut(np.array([0, 2, 5, 9]), 2, near=2)
    Cut(at=array([0, 5, 9]), segment=array([0, 2, 3]), inside=array([False, False, False]))
    >>> cut(np.array([0, 9]), 2)
    Cut(at=array([0, 4, 9]), segment=array([0, 0, 1]), inside=array([False,  True, False]))
    """
    last, n = offsets.size - 1, int(offsets[-1] - offsets[0])
    cuts = [(int(offsets[0]), 0, False)]
    for k in range(1, n_shards):
        target = int(offsets[0]) + n * k // n_shards
        after = int(np.searchsorted(offsets, target))
        nearest = after if after == 0 or offsets[after] - target <= target - offsets[after - 1] else after - 1
        if abs(int(offsets[nearest]) - target) <= n // n_shards // (near or _NEAR):
            found = (int(offsets[nearest]), nearest, False)
        else:
            found = (target, after - 1, True)
        if cuts[-1][0] < found[0] < offsets[-1]:
            cuts.append(found)
    cuts.append((int(offsets[-1]), last, False))
    at, segment, inside = zip(*cuts, strict=True)
    return Cut(np.array(at), np.array(segment), np.array(inside))


class Text:
    """The shards of one fit."""

    def __init__(
        self, corpus: Corpus, alphabet: Alphabet, n_shards: int, tokens: int, slots: int, merges: int, threads: int
    ) -> None:
        self.cut = place = cut(corpus.offsets, n_shards)
        self.k = place.at.size - 1
        self.threads = threads
        ends = place.segment[1:] + place.inside[1:]
        self.segments = list(zip(place.segment.tolist(), ends.tolist(), strict=False))
        count = np.array([b - a for a, b in self.segments])
        base = _base(np.diff(place.at) + count + 1, count + 1)
        self.shards = _allocate(base, tokens, slots, merges)
        self.weighted = None
        if corpus.weights is not None or corpus.document_of is not None:
            self.weighted = _allocate_weights(base, corpus, self.segments, tokens, merges)
        self.borders = _borders(corpus, place, merges)
        self.each(lambda k: _load(self[k], corpus, alphabet, place.at[k : k + 2], self.segments[k]))
        self.outermost()

    def __getitem__(self, k: int) -> s.Shard:
        shard: s.Shard = getattr(s.shard_of, "py_func")(self.shards, k)  # noqa: B009
        return shard

    def weights(self, k: int) -> Weighted | None:
        """The weights of shard k, if there are any."""
        part: Weighted | None = getattr(weights_of, "py_func")(self.weighted, self.shards, k)  # noqa: B009
        return part

    def cells(self, k: int) -> np.ndarray:
        """The cells in use."""
        used: np.ndarray = self[k].cells[: self.shards.state[k, s.N_CELLS]]
        return used

    def positions(self, k: int) -> np.ndarray:
        """Room for as many positions as the shard has cells: in the arena where that leaves as much at its front."""
        n, arena = int(self.shards.state[k, s.N_CELLS]), self[k].arena
        return arena[n : 2 * n] if 2 * n <= arena.size else np.empty(n, np.int32)

    def each(self, function: Callable[[int], T]) -> list[T]:
        """`function(k)` of every shard, on the threads."""
        return thread_pool.run(lambda k, _: function(k), [(k, k + 1) for k in range(self.k)], self.threads, self.cut.at[-1])

    def compact(self, width: np.ndarray, shrink: bool) -> None:
        """One cell a token again; all slices become void. `shrink`: give back memory that the text does not need any more."""

        def one(k: int) -> None:
            shard = self[k]
            shard.state[s.N_CELLS] = s.compact(int(shard.state[s.N_CELLS]), shard.cells, shard.separators, width)

        self.each(one)
        capacity = self.shards.cells.size
        if shrink and capacity > _LARGE and _SHORT * self.shards.state[:, s.N_CELLS].sum() < capacity:
            self._shrink()
        self.each(lambda k: s.index_segments(self[k].separators, self[k].segment_of_block))
        width[:] = 1
        self.outermost()

    def _shrink(self) -> None:
        """Move the cells to arrays of their size."""
        n_cells = self.shards.state[:, s.N_CELLS]
        base = _base(n_cells, np.diff(self.shards.base[:, s.SEPARATORS]))
        new = _sized_by_text(base)
        for k, (at, n) in enumerate(zip(base[:, s.CELLS].tolist(), n_cells.tolist(), strict=False)):
            new["cells"][at : at + n] = self.cells(k)
        self.shards = self.shards._replace(base=base, **new)
        if self.weighted is not None:
            self.weighted = self.weighted._replace(delta=np.empty(base[-1, s.CELLS], np.int64))

    def outermost(self) -> None:
        """Note the first and last token of every shard whose text is compact."""
        for k in range(self.k if self.segments[-1][1] else 0):
            shard = self[k]
            shard.state[s.FIRST] = shard.cells[shard.separators[0] + 1]
            shard.state[s.LAST] = shard.cells[shard.separators[-1] - 1]

    def pairs_across(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The pairs across borders: left and right tokens, and weights."""
        left, right, weight = np.empty(self.k, np.int64), np.empty(self.k, np.int64), np.empty(self.k, np.int64)
        n = pairs_across(self.shards, self.borders, left, right, weight) if self.k > 1 else 0
        return left[:n], right[:n], weight[:n]

    def more_room(self) -> None:
        """Twice the arena; all slices become void."""
        base = self.shards.base.copy()
        base[:, s.ARENA] *= 2
        self.shards = self.shards._replace(base=base, arena=np.empty(base[-1, s.ARENA], np.int32))

    def restrict(self, positions: int) -> None:
        """Use no more of the arena of the only shard than this."""
        self.shards.base[1, s.ARENA] = min(positions, self.shards.arena.size)

    def grow(self, tokens: int, slots: int) -> None:
        """Make the arrays of tokens and of slots at least so long, where they are shorter."""
        shards, new = self.shards, {}
        if tokens > shards.counters.shape[2]:
            new = {name: extend(getattr(shards, name), tokens) for name in ("counters", "cursors")}
            if self.weighted is not None:
                self.weighted = self.weighted._replace(sums=extend(self.weighted.sums, tokens))
        if 2 * slots > shards.slices.shape[1]:
            new["slices"] = extend(shards.slices, 2 * slots)
        self.shards = shards._replace(**new)


def extend(array: np.ndarray, size: int) -> np.ndarray:
    """The array with its last axis made longer by zeros."""
    out = np.zeros((*array.shape[:-1], size), array.dtype)
    out[..., : array.shape[-1]] = array
    return out


def _base(cells: np.ndarray, separators: np.ndarray) -> np.ndarray:
    """Where shards of so many cells and separators begin, with room at their ends if there are several."""
    k = cells.size
    cells = cells + (_ROOM if k > 1 else 0)
    base = np.zeros((k + 1, 4), np.int64)
    for column, sizes in (
        (s.CELLS, cells),
        (s.SEPARATORS, separators),
        (s.BLOCKS, (cells >> s.BLOCK) + 1),
        (s.ARENA, (cells * _POSITIONS).astype(np.int64) + 64),
    ):
        base[1:, column] = np.cumsum(sizes)
    return base


def _sized_by_text(base: np.ndarray) -> dict[str, np.ndarray]:
    """All `np.empty`: memory that is never touched is never used."""
    cells, _, blocks, arena = base[-1].tolist()
    sizes = {"cells": cells, "segment_of_block": blocks, "arena": arena, "neighbours": cells, "delta": 2 * cells}
    return {name: np.empty(size, np.int32) for name, size in sizes.items()}


def _allocate(base: np.ndarray, tokens: int, slots: int, merges: int) -> s.Shards:
    i32, i64 = np.int32, np.int64
    k = len(base) - 1
    return s.Shards(
        base=base,
        state=np.zeros((k, s.N_STATE), i64),
        separators=np.empty(base[-1, s.SEPARATORS], i32),
        slices=np.zeros((k, 2 * slots), i32),
        counters=np.zeros((k, 3, tokens), i32),
        cursors=np.zeros((k, 2, tokens), i32),
        delta_end=np.zeros((k, 2 * merges + 1), i64),
        merged=np.zeros((k, merges, s.N_MERGED), i64),
        **_sized_by_text(base),
    )


def _allocate_weights(base: np.ndarray, corpus: Corpus, segments: list[tuple[int, int]], tokens: int, merges: int) -> Weighted:
    i32, i64 = np.int32, np.int64
    k = len(base) - 1
    n_segments = corpus.offsets.size - 1
    every = np.arange(n_segments, dtype=i32) if corpus.document_of is None else corpus.document_of
    weight = np.ones(n_segments, i64) if corpus.weights is None else corpus.weights
    weights, documents = np.zeros(base[-1, s.SEPARATORS], i64), np.zeros(base[-1, s.SEPARATORS], i32)
    for begin, (first, end) in zip(base[:, s.SEPARATORS].tolist(), segments, strict=False):
        weights[begin : begin + end - first] = weight[first:end]
        documents[begin : begin + end - first] = every[first:end]
    return Weighted(
        weights, documents, np.zeros((k, 2, tokens), i64), np.empty(base[-1, s.CELLS], i64), np.zeros((k, merges, 2), i64)
    )


def _borders(corpus: Corpus, place: Cut, merges: int) -> Borders:
    k = place.at.size - 1
    continued, weight = place.inside.copy(), np.ones(k + 1, np.int64)
    for i in range(1, k):
        first_of = int(place.segment[i])
        if corpus.document_of is not None:
            continued[i] |= corpus.document_of[first_of - 1] == corpus.document_of[first_of]
        if corpus.weights is not None:
            weight[i] = corpus.weights[first_of if place.inside[i] else first_of - 1]
    first, last = place.segment[:-1], place.segment[1:] + place.inside[1:] - 1
    document_of = np.arange(corpus.offsets.size) if corpus.document_of is None else corpus.document_of
    return Borders(
        continued=continued,
        whole=document_of[first] == document_of[last] if k > 1 else np.zeros(1, bool),
        joined=place.inside.copy(),
        weight=weight,
        before=np.zeros((k, 2), np.int64),
        end=np.zeros(2 * merges + 1, np.int64),
        token=np.empty(merges * k, np.int32),
        gain=np.empty(merges * k, np.int64),
        twins=np.zeros(merges, np.int64),
        repeated=np.zeros(merges, np.int64),
    )


def _load(shard: s.Shard, corpus: Corpus, alphabet: Alphabet, at: np.ndarray, segments: tuple[int, int]) -> None:
    """Write a part of the corpus into its cells chunk by chunk, so that ids are never held twice."""
    begin, end = at.tolist()
    offsets = np.clip(corpus.offsets[segments[0] : segments[1] + 1], begin, end)
    shard.separators[:] = offsets - begin + np.arange(offsets.size)
    shard.cells[shard.separators] = s.SEPARATOR
    shard.state[s.N_CELLS] = end - begin + offsets.size
    segment = 0
    for first in range(begin, end, _CHUNK):
        ids = alphabet.lookup(corpus.values[first : min(first + _CHUNK, end)])
        if ids.min() < 0:
            alphabet.to_ids(corpus.given)  # raises, naming document, position and symbol
        segment = s.load(shard.cells, ids, first, offsets, segment)
    s.index_segments(shard.separators, shard.segment_of_block)
