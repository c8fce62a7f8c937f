"""The working text of a fit: loaded into shards (shards.py), compacted, its pairs counted and listed; a thread has a shard each.

The text is held once, as int32 cells (4 bytes a symbol), plus the positions of the frequent pairs. Cells,
arena and slices are drawn in `kernels/text_cells.py`.

When an epoch begins the text is compact, one cell a token. Its pairs are counted and listed in one of two ways: of up to
`index.DENSE` tokens in a table of all pairs (`count_dense`, `list_dense`), of more tokens by sorting (`sort_pairs`,
`count_sorted`, `list_sorted`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

from ubpe_numba.documents.corpus import Corpus
from ubpe_numba.fitting.kernels import index
from ubpe_numba.fitting.kernels import text_cells as s
from ubpe_numba.fitting.kernels.merge import allocate_weighted
from ubpe_numba.fitting.shards import Cut
from ubpe_numba.runtime import thread_pool
from ubpe_numba.vocabulary.alphabet import Alphabet

T = TypeVar("T")

_CHUNK = 1 << 18  # symbols mapped to ids at once while loading
_POSITIONS = 1.6  # in the arena, a cell
_LARGE = 1 << 20  # cells; less is not worth giving back
_SHORT = 4  # a text that has become so many times shorter moves to arrays of its own size
ROOM = 64  # cells at the end of each of several shards, for tokens that it takes over; a compacted text leaves more


class PairLists(NamedTuple):
    """Pairs that several lists count: list i is `pairs[begins[i] : ends[i]]`, by left token ascending."""

    pairs: np.ndarray  # int64
    counts: np.ndarray  # int64, of each pair
    begins: np.ndarray  # int64[lists]
    ends: np.ndarray  # int64[lists]
    below: int  # how many pairs that are in no list reach the least count, by list; 0 only if there are none


class _Sorted(NamedTuple):
    """The pairs of a text of K shards by left token, to be counted and listed; V tokens."""

    starts: list[np.ndarray]  # int32, of each shard: cells where a pair begins
    ends: list[np.ndarray]  # int64[V + 1], of each shard: where the bucket of a left token ends
    rooms: list[int]  # where the lists of each shard begin in the two arrays below, and where the last ends
    pairs: np.ndarray  # int64: room for all of the pairs of all shards and K more, touched only as far as it is used
    counts: np.ndarray  # int64


class WorkingText:
    """The shards of a fit that are in one process.

    Parameters
    ----------
    corpus, alphabet
        What to load. UnknownSymbolError for a symbol outside the alphabet.
    place
        Where it is cut into shards.
    room
        Cells at the end of each shard for tokens that it takes over.
    weighted
        Whether occurrences have weights, or segments are not documents.
    counted
        Whether symbols are counted while they are loaded, whatever the alphabet.
    tokens, slots, merges
        Room for so many ids, pairs and merges of a round; `grow` makes more of the first two.
    threads
        To work on shards.

    Attributes
    ----------
    k
        Number of shards.
    symbol_counts
        int64[alphabet], how often each symbol occurs, by weight, if `counted` or if there are more than `index.DENSE`; otherwise
        how often it ends a segment, since the others are counted with the pairs.
    shards, weighted
        Their arrays; the weights, or None.
    width
        int32[V]: cells of a token, of the task that says what is merged; to be set by whose task it is.
    """

    width: np.ndarray

    def __init__(
        self, corpus: Corpus, alphabet: Alphabet, place: Cut, room: int, weighted: bool, counted: bool,
        tokens: int, slots: int, merges: int, threads: int,
    ) -> None:  # fmt: skip
        offsets = corpus.offsets
        self.k = place.at.size - 1
        self.threads, self.n_symbols = threads, int(place.at[-1] - place.at[0])
        segments = place.segments
        n_separators = place.segment[1:] + place.inside[1:] - place.segment[:-1] + 1
        n_cells = np.diff(place.at) + n_separators
        self.room = room
        self.shards = s.allocate(n_cells + self.room, n_separators, _POSITIONS, tokens, slots, merges)
        self.weighted = None
        if weighted:
            given = corpus.document_of, corpus.weights
            self.weighted = allocate_weighted(self.shards.base, segments, *given, corpus.offsets.size - 1, tokens, merges)
        self.counted = counted or alphabet.size > index.DENSE
        counts = self.each(lambda k: self._load(k, corpus, alphabet, place.at[k : k + 2], segments[k]))
        if not self.counted:
            ends = np.flatnonzero(np.diff(offsets))
            lasts = alphabet.lookup(corpus.values[offsets[ends + 1] - 1])
            counts = [_counted(lasts, None if corpus.weights is None else corpus.weights[ends], alphabet.size)]
        self.symbol_counts: np.ndarray = np.sum(counts, axis=0)

    def _load(self, k: int, corpus: Corpus, alphabet: Alphabet, at: np.ndarray, segments: tuple[int, int]) -> np.ndarray:
        """Write a part of the corpus into its cells chunk by chunk, so that ids are never held twice; returns their counts."""
        begin, end = at.tolist()
        shard = self._shard(k)
        offsets = np.clip(corpus.offsets[segments[0] : segments[1] + 1], begin, end)
        s.lay_out(offsets, shard.state, shard.cells, shard.separators, shard.segment_of_block)
        segment = 0
        counts = np.zeros(alphabet.size, np.int64)
        for first in range(begin, end, _CHUNK):
            ids = alphabet.lookup(corpus.values[first : min(first + _CHUNK, end)])
            if ids.min() < 0:
                alphabet.to_ids(corpus.given)  # raises, naming document, position and symbol
            segment = s.load(ids, first, offsets, segment, shard.state, shard.cells, shard.separators)
            if self.counted:
                counts += _counted(ids, _weights_from(first, ids.size, corpus), counts.size)
        return counts

    # ---------------------------------------------------------------------------------------------- counting and listing pairs

    def count_dense(self, n_tokens: int) -> np.ndarray:
        """Count every pair in a table, the pair (a, b) at a * V + b: int64[V * V], by weight; `list_dense` comes next."""

        def one(k: int) -> tuple[np.ndarray, np.ndarray]:
            cells = self._cells(k)
            counts = np.zeros(n_tokens * n_tokens, np.int32)
            index.count_dense(cells, n_tokens, counts)
            if self.weighted is None:
                return counts, counts
            weights = np.zeros(n_tokens * n_tokens, np.int64)
            index.weigh_dense(cells, self._weights(k), n_tokens, weights)
            return counts, weights

        found = self.each(one)
        total: np.ndarray = found[0][1].astype(np.int64, copy=self.weighted is None)
        for _, more in found[1:]:
            total += more
        self._dense = [counts for counts, _ in found]
        return total

    def list_dense(self, n_tokens: int, pairs: np.ndarray, slots: np.ndarray) -> None:
        """List where the pairs with a slot, that is not -1, occur; pairs int64[n] at a * V + b, slots int32[n]."""
        slot_of = np.full(n_tokens * n_tokens, -1, np.int32)
        slot_of[pairs] = slots
        counts = self._dense
        del self._dense

        def one(k: int) -> None:
            shard = self._shard(k)
            cells = self._cells(k)
            shard.state["arena_top"] = index.index_dense(cells, shard.arena, shard.slices, n_tokens, counts[k], slot_of)

        self.each(one)

    def sort_pairs(self, n_tokens: int) -> int:
        """Sort where pairs begin by their left token: in the arena where that leaves as much at its front. How many there are."""
        starts, ends = [], [np.empty(n_tokens + 1, np.int64) for _ in range(self.k)]
        for k in range(self.k):
            n, arena = self._cells(k).size, self._shard(k).arena
            starts.append(arena[n : 2 * n] if 2 * n <= arena.size else np.empty(n, np.int32))
        sizes = self.each(lambda k: int(index.sort_by_left(self._cells(k), starts[k], ends[k])))
        rooms = np.cumsum([0, *sizes]).tolist()
        pairs, counts = np.empty(rooms[-1] + self.k, np.int64), np.empty(rooms[-1] + self.k, np.int64)
        self._sorted = _Sorted(starts, ends, rooms, pairs, counts)
        return int(rooms[-1])

    def count_sorted(self, least: int, floor: int) -> PairLists:
        """The pairs that occur `least` times in a shard, a list of each; `below` counts the others that reach `floor` in one."""
        found = self._sorted

        def one(k: int) -> tuple[int, int]:
            shard = self._shard(k)
            cells = self._cells(k), shard.separators, shard.segment_of_block
            weights = (None, None) if self.weighted is None else (self._weights(k), self.weighted.sums[k, 1])
            starts = shard.counters, found.starts[k], found.ends[k]
            room = slice(*found.rooms[k : k + 2])
            n, below = index.count_sorted(*cells, *weights, *starts, least, floor, found.pairs[room], found.counts[room])  # type: ignore[call-arg]
            return int(n), int(below)

        sizes, below = np.array(self.each(one), np.int64).T
        begins = np.array(found.rooms[:-1], np.int64)
        return PairLists(found.pairs, found.counts, begins, begins + sizes, int(below.sum()))

    def list_sorted(self, pairs: np.ndarray) -> np.ndarray:
        """List where `pairs`, by left token, occur; their counts by weight, int64. `give_slots` comes next."""
        found = self._sorted
        slices = [np.empty(2 * pairs.size, np.int32) for _ in range(self.k)]
        counts = [np.zeros(pairs.size, np.int64) for _ in range(self.k)]

        def one(k: int) -> None:
            shard = self._shard(k)
            cells = self._cells(k), shard.separators, shard.segment_of_block
            weights = None if self.weighted is None else self._weights(k)
            starts, scratch = (found.starts[k], found.ends[k]), (shard.counters[2], shard.neighbours)
            results = shard.arena, pairs, slices[k], counts[k]
            shard.state["arena_top"] = index.index_sorted(*cells, weights, *starts, *scratch, *results)

        self.each(one)
        del self._sorted
        self._slices = slices
        total: np.ndarray = np.sum(counts, axis=0)
        return total

    def give_slots(self, slots: np.ndarray) -> None:
        """Enter the slices of the pairs that were listed last at their slots, int32; those with slot -1 are left out."""
        kept = slots >= 0
        for k, slices in enumerate(self._slices):
            self.shards.slices[k, 2 * slots[kept]] = slices[::2][kept]
            self.shards.slices[k, 2 * slots[kept] + 1] = slices[1::2][kept]
        del self._slices

    # ---------------------------------------------------------------------------------------------- the arrays

    def compact(self, shrink: bool) -> None:
        """One cell a token again; all slices become void. `shrink`: give back memory that the text does not need any more."""

        def one(k: int) -> None:
            shard = self._shard(k)
            s.compact(self.width, shard.state, shard.cells, shard.separators, shard.segment_of_block)

        self.each(one)
        self.width[:] = 1
        capacity = self.shards.cells.size
        if shrink and capacity > _LARGE and _SHORT * self.shards.state["n_cells"].sum() < capacity:
            self.shards = s.shrunk(self.shards, self.room, _POSITIONS)
            if self.weighted is not None:
                self.weighted = self.weighted._replace(delta=np.empty(self.shards.cells.size, np.int64))

    def more_room(self) -> None:
        """Twice the arena; all slices become void."""
        base = self.shards.base.copy()
        base["arena"] *= 2
        self.shards = self.shards._replace(base=base, arena=np.empty(base["arena"][-1], np.int32))

    def restrict(self, positions: int) -> None:
        """Use no more of the arena of the only shard than this."""
        self.shards.base["arena"][1] = min(positions, self.shards.arena.size)

    def grow(self, tokens: int, slots: int) -> None:
        """Make the arrays of tokens and of slots at least so long, where they are shorter."""
        shards = self.shards
        new: dict[str, np.ndarray] = {}
        if tokens > shards.counters.shape[2]:
            new = s.extended(shards, ("counters", "cursors"), tokens)
            if self.weighted is not None:
                self.weighted = self.weighted._replace(**s.extended(self.weighted, ("sums",), tokens))
        if 2 * slots > shards.slices.shape[1]:
            new |= s.extended(shards, ("slices",), 2 * slots)
        self.shards = shards._replace(**new)

    def each(self, function: Callable[[int], T]) -> list[T]:
        """`function(k)` of every shard, on the threads; here where a thread of its own would not even help Ctrl-C."""
        if self.k == 1 and self.n_symbols < thread_pool.LONG:
            return [function(0)]
        return thread_pool.run(lambda k, _: function(k), [(k, k + 1) for k in range(self.k)], self.threads, self.n_symbols)

    def _shard(self, k: int) -> s.Shard:
        """Shard k as `shard_of` has it in kernels: rows and slices of the same arrays."""
        a = self.shards
        begin, end = a.base[k], a.base[k + 1]
        return s.Shard(
            a.state[k : k + 1],
            a.cells[begin["cells"] : end["cells"]],
            a.separators[begin["separators"] : end["separators"]],
            a.segment_of_block[begin["blocks"] : end["blocks"]],
            a.arena[begin["arena"] : end["arena"]],
            a.neighbours[begin["cells"] : end["cells"]],
            a.delta[2 * begin["cells"] : 2 * end["cells"]],
            *(rows[k] for rows in (a.slices, a.counters, a.cursors, a.delta_end, a.merged)),
        )

    def _cells(self, k: int) -> np.ndarray:
        """The cells in use of shard k."""
        begin = self.shards.base["cells"][k]
        return self.shards.cells[begin : begin + self.shards.state["n_cells"][k]]

    def _weights(self, k: int) -> np.ndarray:
        """The weights of the segments of shard k."""
        begin, end = self.shards.base["separators"][k : k + 2].tolist()
        assert self.weighted is not None
        return self.weighted.weights[begin:end]


def _counted(ids: np.ndarray, weights: np.ndarray | None, size: int) -> np.ndarray:
    """How often each of `size` ids occurs, int64, by weights, int64 of as many."""
    if weights is None:
        return np.bincount(ids, minlength=size)
    low = np.bincount(ids, weights & (1 << 26) - 1, size)  # sums of floats, exact below 2**53
    return low.astype(np.int64) + (np.bincount(ids, weights >> 26, size).astype(np.int64) << 26)


def _weights_from(first: int, n: int, corpus: Corpus) -> np.ndarray | None:
    """The weights of `n` symbols of a corpus from `first` on; None where all are 1."""
    if corpus.weights is None:
        return None
    a, b = np.searchsorted(corpus.offsets, first, "right") - 1, np.searchsorted(corpus.offsets, first + n)
    return np.repeat(corpus.weights[a:b], np.diff(np.clip(corpus.offsets[a : b + 1], first, first + n)))
