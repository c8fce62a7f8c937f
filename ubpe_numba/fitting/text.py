"""The text of a fit in shards, one per thread: loading, counting and listing pairs, merging.

The loop of a fit (fit.py) sees a `Text`: `LocalText` here, or shards on other machines
(distributed/remote_text.py). The text is held once, in cells of 4 bytes, or of 2 if it is large and ids are
few, plus the positions of the frequent pairs. Cells, arena and slices are shown in `kernels/text_cells.py`.

Shards hold consecutive documents and equally many symbols. A document that is too long for that, above all a
giant document, is divided in its middle. The pair of tokens across the border is handled in
`kernels/borders.py`.

    documents   |-- 5 --|- 2 -|------------ 13 ------------|      20 symbols for two threads
    shards      |-- 5 --|- 2 -|-- 3 --|--------- 10 -------|      the second begins inside the third document

When an epoch begins the text is compact, one cell per token. Its pairs are counted and listed in one of two
ways. Up to `DENSE` tokens, a table of all pairs is used (`count_dense`, `list_dense`). For more tokens, pairs
are sorted (`sort_pairs`, `count_sorted`, `list_sorted`, `give_slots`). Each shard counts its own pairs; the
pairs across borders are in none, and are added:

    shard 0          shard 1                                   counts of (1, 2)
    ... 1 2 -1       -1 1 2 ... 1 -1   |   -1 2 3 ...          shards: 2, across: 1 (1 | 2), in all 3
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np

from ubpe_numba.documents.read import Corpus
from ubpe_numba.fitting.kernels import rounds, text_cells as s
from ubpe_numba.fitting.kernels.borders import Borders, allocate_borders, left_neighbours
from ubpe_numba.fitting.kernels.merge import Weighted, allocate_weighted
from ubpe_numba.fitting.kernels.pair_table import Driver, Task
from ubpe_numba.runtime import thread_pool
from ubpe_numba.vocabulary.alphabet import Alphabet

if TYPE_CHECKING:
    from ubpe_numba.fitting.memory import Memory

T = TypeVar("T")

# cells at the end of each of several shards, for tokens that it takes over; a compacted text leaves more
ROOM = 64
BUDGET = 4_000_000  # occurrences between two looks at the clock and at Ctrl-C: ~100 ms
_WINDOW = 0.2  # seconds after which a fit looks whether the machine is busy
_UNDISTURBED = 0.9  # of a processor that the thread of the rounds has otherwise
_CALM = 12  # polls of this kind, after which all threads continue
_NEAR = 16  # snap a cut to a document end within 1/16 of a shard
CHUNK = 1 << 18  # symbols mapped to ids at once while loading
_POSITIONS = 1.6  # in the arena, a cell
_LARGE = 1 << 20  # cells; less is not worth giving back
_SHORT = 4  # a text that has become so many times shorter moves to arrays of its own size


class Text(Protocol):
    """The text of a fit, of `k` shards, with the arrays that kernels read, and the counts of its symbols."""

    k: int
    scratch: int  # cells that `sort_pairs` has sorted at once
    shards: s.Shards
    weighted: Weighted | None
    symbol_counts: np.ndarray  # int64[alphabet], by weight; complete after `count_dense` or `count_symbols`

    def count_symbols(self) -> None:
        """Complete `symbol_counts`, for a fit that asks for no pairs."""

    def count_dense(self, n_tokens: int) -> np.ndarray:
        """Count every pair in a table by weight, (a, b) at a * V + b: int64[V * V].

        `list_dense` comes next.
        """

    def list_dense(self, n_tokens: int, pairs: np.ndarray, slots: np.ndarray) -> None:
        """List the occurrences of the pairs whose slot is not -1.

        `pairs` int64[n] are a * V + b, `slots` is int32[n].
        """

    def sort_pairs(self, n_tokens: int) -> int:
        """Sort the beginnings of pairs by their left token; returns how many there are.

        Those across borders are not included.
        """

    def count_sorted(self, threshold: int, floor: int) -> tuple[np.ndarray, np.ndarray, int]:
        """The pairs that may reach the threshold, by left token, and their counts, int64.

        For several shards counts are upper bounds, as a shard does not list pairs that are rare in it. The
        third result is an upper bound of how many other pairs reach `floor`: 0 only if there are none.
        """

    def list_sorted(self, pairs: np.ndarray) -> np.ndarray:
        """List where `pairs`, by left token, occur; their counts by weight, int64.

        `give_slots` comes next.
        """

    def give_slots(self, slots: np.ndarray) -> None:
        """Enter the pairs that were listed last at their slots, int32; those with slot -1 are left out."""

    def rounds(self, driver: Driver, task: Task, ties: int | None, control: np.ndarray, threads: int) -> int:
        """Rounds until there is a reason to stop; returns it (`rounds.DONE` ...)."""

    def compact(self, width: np.ndarray, shrink: bool, more_room: bool) -> None:
        """Rewrite the text with one cell per token, with `width` 1; all slices become void.

        `more_room` doubles the arena.

        `shrink`: give back unused memory.
        """

    def grow(self, tokens: int, slots: int) -> None:
        """Make room for so many tokens and slots, if there is less."""


class Cut(NamedTuple):
    """Beginnings of shards: `at` int64[K + 1] in symbols, `segment` int64[K + 1].

    `inside` bool[K + 1]: in the middle of the segment.
    """

    at: np.ndarray
    segment: np.ndarray
    inside: np.ndarray

    @property
    def segments(self) -> list[tuple[int, int]]:
        """The range of segments of each shard; a divided segment belongs to both shards."""
        ends = self.segment[1:] + self.inside[1:]
        return list(zip(self.segment.tolist(), ends.tolist(), strict=False))


def cut(offsets: np.ndarray, n_shards: int, near: int | None = None) -> Cut:
    """Divide segments into at most `n_shards` shards of consecutive symbols.

    `near` replaces `_NEAR`; 0 divides only at the ends of segments.

    >>> cut(np.array([0, 2, 5, 9]), 2, near=2)
    Cut(at=array([0, 5, 9]), segment=array([0, 2, 3]), inside=array([False, False, False]))
    >>> cut(np.array([0, 9]), 2)
    Cut(at=array([0, 4, 9]), segment=array([0, 0, 1]), inside=array([False,  True, False]))
    """
    last, n = offsets.size - 1, int(offsets[-1] - offsets[0])
    cuts, reach = [(int(offsets[0]), 0, False)], n if near == 0 else n // n_shards // (near or _NEAR)
    for k in range(1, n_shards):
        target = int(offsets[0]) + n * k // n_shards
        after = int(np.searchsorted(offsets, target))
        nearest = after if after == 0 or offsets[after] - target <= target - offsets[after - 1] else after - 1
        if abs(int(offsets[nearest]) - target) <= reach:
            place = (int(offsets[nearest]), nearest, False)
        else:
            place = (target, after - 1, True)
        if cuts[-1][0] < place[0] < offsets[-1]:
            cuts.append(place)
    cuts.append((int(offsets[-1]), last, False))
    at, segment, inside = zip(*cuts, strict=True)
    return Cut(np.array(at), np.array(segment), np.array(inside))


def allocate_shards(
    n_cells: np.ndarray,
    n_separators: np.ndarray,
    positions: float,
    tokens: int,
    slots: int,
    merges: int,
    cell: type = np.int32,
) -> s.Shards:
    """The arrays of shards of `n_cells` cells and `n_separators` separators, int64[K] each.

    The arena has `positions` per cell.
    """
    i32, i64 = np.int32, np.int64
    k = n_cells.size
    return _with_arrays_of_text(
        s.Shards(
            base=np.zeros(k + 1, s.BASE),
            state=np.zeros(k, s.SHARD_STATE),
            cells=np.empty(0, cell),
            separators=np.empty(int(n_separators.sum()), i32),
            segment_of_block=np.empty(0, i32),
            arena=np.empty(0, i32),
            neighbours=np.empty(0, i32),
            delta=np.empty(0, i32),
            dealt=np.empty(0, i32),
            slices=np.zeros((k, 2 * slots), i32),
            counters=np.zeros((k, 3, tokens), i32),
            cursors=np.zeros((k, 2, tokens), i32),
            delta_end=np.zeros((k, 2 * merges + 1), i64),
            merged=np.zeros((k, merges), s.MERGED),
            dealt_end=np.zeros((k, 2 * k + 1), i64),
        ),
        n_cells,
        n_separators,
        positions,
    )


def _with_arrays_of_text(
    shards: s.Shards, n_cells: np.ndarray, n_separators: np.ndarray, positions: float
) -> s.Shards:
    """With new arrays for those whose length depends on the text.

    They are made by `np.empty`, as memory that is never touched is never used.
    """
    base = np.zeros(n_cells.size + 1, s.BASE)
    sizes = {
        "cells": n_cells,
        "separators": n_separators,
        "blocks": (n_cells >> s.BLOCK) + 1,
        "arena": (n_cells * positions).astype(np.int64) + 64,
    }
    for name, of_shards in sizes.items():
        base[name][1:] = np.cumsum(of_shards)
    cells, _, blocks, arena = base[-1].tolist()
    lengths = {
        "cells": cells,
        "segment_of_block": blocks,
        "arena": arena,
        "neighbours": cells,
        "delta": 2 * cells,
    }
    lengths["dealt"] = 2 * cells * (n_cells.size > 1)
    return shards._replace(
        base=base, **{name: np.empty(n, getattr(shards, name).dtype) for name, n in lengths.items()}
    )


def extended(arrays: Any, names: tuple[str, ...], need: int, factor: int = 1) -> dict[str, np.ndarray]:
    """The named arrays of a NamedTuple whose last axis is shorter than `need`, made longer.

    They are filled with zeros and `factor` times that long.
    """
    new = {}
    for name in names:
        old = getattr(arrays, name)
        if need > old.shape[-1]:
            new[name] = np.zeros((*old.shape[:-1], factor * need), old.dtype)
            new[name][..., : old.shape[-1]] = old
    return new


class _Sorted(NamedTuple):
    """The pairs of a text of K shards by left token, to be counted and listed; V tokens.

    With little memory only those of a range of left tokens are sorted at a time, and again whenever they are
    needed.
    """

    ranges: list[tuple[int, int]]  # of left tokens
    starts: list[np.ndarray]  # int32, of each shard: cells at which a pair begins
    ends: list[np.ndarray]  # int64[V + 1], of each shard: the end of the bucket of a left token
    rooms: list[int]  # beginnings of the lists of each shard in the two arrays below, and the end of the last
    # int64: room for all of the pairs of all shards and K more, touched only as far as it is used
    pairs: np.ndarray
    counts: np.ndarray  # int64
    across: tuple[np.ndarray, np.ndarray]  # int64: the pairs across borders, and their weights


class LocalText:
    """Shards of a fit in this process: all of them (`whole`), or those of a host.

    A host's shards receive tokens from other hosts. `weighted`: occurrences have weights, or segments are not
    documents. `room`: tokens, slots and merges per round; `grow` makes more of the first two. `threads` work
    on shards. `cell` is int32, or int16 for ids below `s.NARROW`. `memory` is for a single shard, whose pairs
    are then sorted within the arena. UnknownSymbolError for a symbol outside the alphabet.

    The attribute `weighted` is None without weights, `borders` is None for a single shard or a host.
    `symbol_counts` at first counts only the last symbols of segments; the first dense table of pairs adds the
    others (for hosts, the driver does).
    """

    def __init__(
        self, corpus: Corpus, alphabet: Alphabet, place: Cut, weighted: bool, room: tuple[int, int, int],
        threads: int,
        whole: bool = True, cell: type = np.int32, memory: Memory | None = None,
    ) -> None:  # fmt: skip
        offsets, origin = corpus.offsets, (corpus.document_of, corpus.weights)
        tokens, slots, merges = room
        self.k, self.limited, self.scratch = place.at.size - 1, memory is not None, 0
        self.threads, self.n_symbols = threads, int(place.at[-1] - place.at[0])
        self.at_once, self.passed, self.worked, self.calm = threads, 0.0, 0.0, 0  # see `rounds`
        segments = place.segments
        n_separators = place.segment[1:] + place.inside[1:] - place.segment[:-1] + 1
        self.spare = 0 if whole and self.k == 1 else ROOM
        n_cells = np.diff(place.at) + n_separators + self.spare
        self.shards = allocate_shards(n_cells, n_separators, _POSITIONS, tokens, slots, merges, cell)
        self.weighted: Weighted | None = None
        if weighted:
            self.weighted = allocate_weighted(
                self.shards.base, segments, *origin, offsets.size - 1, tokens, merges
            )
        self._counted = (
            alphabet.size > (s.DENSE if memory is None else memory.dense) or corpus.given.kind == "marks"
        )
        counts = self.each(lambda k: self._load(k, corpus, alphabet, place, segments[k]))
        self.symbol_counts: np.ndarray = np.sum(counts, axis=0)
        self._counted |= not whole  # of a host the driver adds the others
        self.borders = (
            allocate_borders(place.segment, place.inside, *origin, merges) if whole and self.k > 1 else None
        )

    def _load(
        self, k: int, corpus: Corpus, alphabet: Alphabet, place: Cut, segments: tuple[int, int]
    ) -> np.ndarray:
        """Write a part of the corpus into its cells chunk by chunk; returns the counts of ids.

        So ids are never held twice.
        """
        begin, end = place.at[k : k + 2].tolist()
        shard = self._shard(k)
        offsets = np.clip(corpus.offsets[segments[0] : segments[1] + 1], begin, end)
        counts = np.zeros(alphabet.size, np.int64)
        for first in range(begin, end, CHUNK):
            ids = ids_of(corpus, alphabet, first, min(first + CHUNK, end))
            s.load(ids, first, offsets, shard.cells)
            if not self._counted:
                continue
            known = ids - s.FRAME  # which is one of them
            if corpus.weights is None:
                counts += np.bincount(known, minlength=counts.size - s.FRAME)[-s.FRAME :]
            else:
                stop = first + ids.size
                a, b = (
                    np.searchsorted(corpus.offsets, first, "right") - 1,
                    np.searchsorted(corpus.offsets, stop),
                )
                lengths = np.diff(np.clip(corpus.offsets[a : b + 1], first, stop))
                counts += _weighed(known, np.repeat(corpus.weights[a:b], lengths), counts.size - s.FRAME)[
                    -s.FRAME :
                ]
        s.lay_out(offsets, shard)
        if not self._counted:
            lasts = shard.cells[shard.separators[1:] - 1]
            ends = lasts != s.SEPARATOR
            ends[ends.size - place.inside[k + 1] :] = False  # a segment that continues in the next shard
            if corpus.weights is None:
                return np.bincount(lasts[ends], minlength=alphabet.size)
            return _weighed(lasts[ends], corpus.weights[slice(*segments)][ends], alphabet.size)
        return counts

    def count_symbols(self) -> None:
        """See `Text`."""
        if not self._counted:
            self.count_dense(self.symbol_counts.size)

    # ---------------------------------------------------------------------------------------------- counting
    # and listing pairs

    def count_dense(self, n_tokens: int) -> np.ndarray:
        """See `Text`."""

        def one(k: int) -> tuple[np.ndarray, np.ndarray]:
            cells = self._cells(k)
            counts = np.zeros(n_tokens * n_tokens, np.int32)
            s.count_dense(cells, n_tokens, counts)
            if self.weighted is None:
                return counts, counts
            weights = np.zeros(n_tokens * n_tokens, np.int64)
            s.weigh_dense(cells, self._weights(k), n_tokens, weights)
            return counts, weights

        tables = self.each(one)
        self._dense, weights = zip(*tables, strict=True)
        total = np.empty(n_tokens * n_tokens, np.int64)

        def add(k: int) -> None:
            """Add up a stripe."""
            begin, end = k * total.size // self.k, (k + 1) * total.size // self.k
            total[begin:end] = weights[0][begin:end]
            for more in weights[1:]:
                total[begin:end] += more[begin:end]

        self.each(add)
        if self.borders is not None:
            left, right, weight = pairs_across(self.shards, self.borders)
            np.add.at(total, left * n_tokens + right, weight)
        if not self._counted:
            self.symbol_counts += total.reshape(n_tokens, n_tokens).sum(axis=1)
            self._counted = True
        return total

    def list_dense(self, n_tokens: int, pairs: np.ndarray, slots: np.ndarray) -> None:
        """See `Text`."""
        slot_of = np.full(n_tokens * n_tokens, -1, np.int32)
        slot_of[pairs] = slots
        counts = self._dense
        del self._dense

        def one(k: int) -> None:
            shard = self._shard(k)
            cells = self._cells(k)
            shard.state["arena_top"] = s.index_dense(
                cells, shard.arena, shard.slices, n_tokens, counts[k], slot_of
            )

        self.each(one)

    def sort_pairs(self, n_tokens: int) -> int:
        """See `Text`."""
        starts, ends, ranges = [], [np.empty(n_tokens + 1, np.int64) for _ in range(self.k)], [(0, n_tokens)]
        for k in range(self.k):
            cells, arena = self._cells(k), self._shard(k).arena
            n = cells.size
            if self.limited and 2 * n > arena.size:  # in ranges, at the end of the arena
                of_tokens = np.zeros(n_tokens, np.int64)
                for at in range(0, n, CHUNK):
                    of_tokens += np.bincount(cells[at : at + CHUNK] - s.FRAME, minlength=n_tokens + 2)[2:]
                n = max(arena.size // 4, int(of_tokens.max()))
                ranges = ranges_of(of_tokens, n)
                starts.append(arena[arena.size - n :] if n < arena.size else np.empty(n, np.int32))
            else:  # in the arena, if that leaves as much at its front
                starts.append(arena[n : 2 * n] if 2 * n <= arena.size else np.empty(n, np.int32))
        self.scratch = starts[0].size
        if len(ranges) == 1:
            sizes = self.each(lambda k: int(s.sort_by_left(self._cells(k), 0, n_tokens, starts[k], ends[k])))
        else:
            sizes = [self._cells(0).size]
        rooms = np.cumsum([0, *sizes]).tolist()
        pairs, counts = np.empty(rooms[-1] + self.k, np.int64), np.empty(rooms[-1] + self.k, np.int64)
        self._sorted = _Sorted(
            ranges, starts, ends, rooms, pairs, counts, sorted_across(self.shards, self.borders)
        )
        return int(rooms[-1])

    def _sorted_ranges(self, k: int) -> Iterator[tuple[int, int]]:
        """The ranges of left tokens, while the pairs of each are sorted."""
        ranges = self._sorted
        for first, last in ranges.ranges:
            if len(ranges.ranges) > 1:
                s.sort_by_left(self._cells(k), first, last, ranges.starts[k], ranges.ends[k])
            yield first, last

    def count_sorted(self, threshold: int, floor: int) -> tuple[np.ndarray, np.ndarray, int]:
        """See `Text`."""
        ranges = self._sorted
        # a pair that reaches the threshold reaches this in one shard at least
        least = max(1, -(-threshold // self.k))

        def one(k: int) -> tuple[int, int]:
            shard = self._shard(k)
            cells = self._cells(k), shard.separators, shard.segment_of_block
            weights = (None, None) if self.weighted is None else (self._weights(k), self.weighted.sums[k, 1])
            starts = shard.counters, ranges.starts[k], ranges.ends[k]
            begin, end = ranges.rooms[k : k + 2]
            at, below = begin, 0
            for _ in self._sorted_ranges(k):
                n, rare = s.count_sorted(
                    *cells, *weights, *starts, least, floor, ranges.pairs[at:end], ranges.counts[at:end]
                )  # type: ignore[call-arg]
                at, below = at + int(n), below + int(rare)
            return at - begin, below

        sizes, below = np.array(self.each(one), np.int64).T
        if self.k == 1:
            n = int(sizes[0])
            return ranges.pairs[:n], ranges.counts[:n], int(below[0])
        begins = np.array(ranges.rooms[:-1], np.int64)
        ends = begins + sizes
        at, (pairs, counts) = int(ends[-1]), ranges.across  # one list more, of which there is room at the end
        ranges.pairs[at : at + pairs.size], ranges.counts[at : at + pairs.size] = pairs, counts
        lists = ranges.pairs, ranges.counts, np.append(begins, at), np.append(ends, at + pairs.size)
        # rarer pairs were not counted: there may be some
        return *add_up(*lists, least, threshold, ranges.ends[0].size - 1), int(threshold > floor)

    def list_sorted(self, pairs: np.ndarray) -> np.ndarray:
        """See `Text`."""
        ranges = self._sorted
        slices = [np.empty(2 * pairs.size, np.int32) for _ in range(self.k)]
        counts = [np.zeros(pairs.size, np.int64) for _ in range(self.k)]

        def one(k: int) -> None:
            shard = self._shard(k)
            cells = self._cells(k), shard.separators, shard.segment_of_block
            weights = None if self.weighted is None else self._weights(k)
            starts, scratch = (ranges.starts[k], ranges.ends[k]), (shard.counters[2], shard.neighbours)
            top = 0
            for first, last in self._sorted_ranges(k):
                a, b = np.searchsorted(pairs, [first << 32, last << 32])
                results = shard.arena[top:], pairs[a:b], slices[k][2 * a : 2 * b], counts[k][a:b]
                n = s.index_sorted(*cells, weights, *starts, *scratch, *results)
                slices[k][2 * a : 2 * b : 2] += top
                top += int(n)
            shard.state["arena_top"] = top

        self.each(one)
        del self._sorted
        self._slices = slices
        total = np.asarray(np.sum(counts, axis=0))
        add_across(total, pairs, ranges.across)
        return total

    def give_slots(self, slots: np.ndarray) -> None:
        """See `Text`."""
        listed = np.flatnonzero(slots >= 0)
        at, slices = slots[listed], self._slices
        del self._slices

        def one(k: int) -> None:
            self.shards.slices[k].reshape(-1, 2)[at] = slices[k].reshape(-1, 2)[listed]

        self.each(one)

    # ---------------------------------------------------------------------------------------------- the
    # arrays

    def rounds(self, driver: Driver, task: Task, ties: int | None, control: np.ndarray, threads: int) -> int:
        """See `Text`: in one kernel, on the arrays of the driver and the text alike.

        This thread works or polls, and rarely sleeps. If it gets less of a processor than that, the machine
        is busy, and threads would wait for a thread that waits for a processor. Then half of the threads
        continue, and all of them once it has been calm for a while.
        """
        is_loaded = driver.state["visited"][0] > 0  # the kernel is, which another thread does
        passed, worked = time.perf_counter(), time.thread_time()
        reason = run_rounds(
            (driver, task, self.shards, self.weighted, self.borders), ties, control, self.at_once
        )
        if is_loaded:
            self.passed += time.perf_counter() - passed
            self.worked += time.thread_time() - worked
        if self.passed > _WINDOW:
            is_busy, self.calm = self.worked < _UNDISTURBED * self.passed, self.calm + 1
            if is_busy or self.calm == _CALM:
                self.at_once, self.calm = max(1, self.at_once // 2) if is_busy else threads, 0
            self.passed = self.worked = 0.0
        return reason

    def compact(self, width: np.ndarray, shrink: bool, more_room: bool) -> None:
        """See `Text`."""

        def one(k: int) -> None:
            shard = self._shard(k)
            s.compact(width, shard.state, shard.cells, shard.separators)
            s.index_cells(shard)

        self.each(one)
        width[:] = 1
        capacity = self.shards.cells.size
        if shrink and capacity > _LARGE and _SHORT * self.shards.state["n_cells"].sum() < capacity:
            old = self.shards
            n_cells = old.state["n_cells"]
            self.shards = _with_arrays_of_text(
                old, n_cells + self.spare, np.diff(old.base["separators"]), _POSITIONS
            )
            for k, begin in enumerate(old.base["cells"][:-1].tolist()):
                cells = self._cells(k)
                cells[:] = old.cells[begin : begin + cells.size]
                s.index_cells(self._shard(k))
            if self.weighted is not None:
                self.weighted = self.weighted._replace(delta=np.empty(self.shards.cells.size, np.int64))
        if more_room:
            base = self.shards.base.copy()
            base["arena"] *= 2
            self.shards = self.shards._replace(base=base, arena=np.empty(base["arena"][-1], np.int32))

    def grow(self, tokens: int, slots: int) -> None:
        """See `Text`."""
        old, new = self.shards.slices, extended(self.shards, ("counters", "cursors"), tokens)
        if 2 * slots > old.shape[1]:
            new["slices"] = slices = np.zeros((self.k, 4 * slots), np.int32)
            self.each(lambda k: np.copyto(slices[k, : old.shape[1]], old[k]))
        self.shards = self.shards._replace(**new)
        if self.weighted is not None:
            self.weighted = self.weighted._replace(**extended(self.weighted, ("sums",), tokens))

    def each(self, function: Callable[[int], T]) -> list[T]:
        """`function(k)` of every shard, on the threads; here if a thread would not even help Ctrl-C."""
        if self.k == 1 and self.n_symbols < thread_pool.LONG:
            return [function(0)]
        return thread_pool.run(
            lambda k, _: function(k), [(k, k + 1) for k in range(self.k)], self.threads, self.n_symbols
        )

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


def ranges_of(counts: np.ndarray, most: int) -> list[tuple[int, int]]:
    """Ranges of indices whose counts, none of them above `most`, add up to `most` at most.

    >>> ranges_of(np.array([3, 1, 2, 4, 0]), 4)
    [(0, 2), (2, 3), (3, 5)]
    """
    sums = np.cumsum(counts)
    ranges, end, before = [], 0, 0
    while end < counts.size:
        begin, end = end, int(np.searchsorted(sums, before + most, "right"))
        before = int(sums[end - 1])
        ranges.append((begin, end))
    return ranges


def ids_of(corpus: Corpus, alphabet: Alphabet, begin: int, end: int) -> np.ndarray:
    """The ids of the symbols begin..end - 1, int32.

    UnknownSymbolError names document, position and symbol.
    """
    if corpus.given.kind == "marks":  # of frames, among ids
        return corpus.values[begin:end]
    while (ids := alphabet.lookup(corpus.values[begin:end])).min() < 0:
        alphabet.to_ids(corpus.given)  # raises, unless they were changed meanwhile
    return ids


def _weighed(ids: np.ndarray, weights: np.ndarray, size: int) -> np.ndarray:
    """The sum of the weights of each of `size` ids, int64; weights int64, one an occurrence."""
    low = np.bincount(ids, weights & (1 << 26) - 1, size)  # sums of floats, exact below 2**53
    return low.astype(np.int64) + (np.bincount(ids, weights >> 26, size).astype(np.int64) << 26)


def run_rounds(
    shared: tuple[Driver, Task, s.Shards, Weighted | None, Borders | None],
    ties: int | None,
    control: np.ndarray,
    threads: int,
) -> int:
    """Rounds in this thread, helped by `threads` - 1 others, until the kernel returns; its reason.

    The reasons are `rounds.DONE` ...
    """
    control[:] = 0

    def stop() -> None:
        control[rounds.JOB] |= rounds.STOP

    run = lambda: int(rounds.run(*shared, ties, control, threads, BUDGET, None))  # noqa: E731
    if threads == 1:
        return run()
    return thread_pool.together(run, lambda me: rounds.work(*shared, control, me), stop, threads)


def pairs_across(shards: s.Shards, borders: Borders | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The pairs across borders: left and right tokens, and weights; int64."""
    if borders is None:
        return (np.empty(0, np.int64),) * 3
    left_of = np.empty(shards.state.size, np.int64)
    left_neighbours(shards, borders, left_of)
    k = np.flatnonzero(left_of >= 0)
    return shards.state["last"][left_of[k]], shards.state["first"][k], borders.weight[k]


def sorted_across(shards: s.Shards, borders: Borders | None) -> tuple[np.ndarray, np.ndarray]:
    """The pairs across borders by left token, and their weights, int64."""
    left, right, weight = pairs_across(shards, borders)
    order = np.argsort(left, kind="stable")
    return (left << 32 | right)[order], weight[order]


def add_across(counts: np.ndarray, pairs: np.ndarray, across: tuple[np.ndarray, np.ndarray]) -> None:
    """Add `sorted_across` to the counts of pairs."""
    for pair, weight in zip(*(a.tolist() for a in across), strict=True):
        counts[pairs == pair] += weight


def add_up(
    pairs: np.ndarray,
    counts: np.ndarray,
    begins: np.ndarray,
    ends: np.ndarray,
    least: int,
    threshold: int,
    n_tokens: int,
) -> tuple[np.ndarray, np.ndarray]:
    """The pairs of lists that may reach the threshold together, and bounds of their counts.

    See `s.add_up`.
    """
    most = int((ends - begins).sum())
    pairs_of_all, bounds = np.empty(most, np.int64), np.empty(most, np.int64)
    n = s.add_up(
        pairs, counts, begins, ends, least, threshold, np.zeros((3, n_tokens), np.int64), pairs_of_all, bounds
    )
    return pairs_of_all[:n], bounds[:n]
