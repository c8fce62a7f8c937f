"""The start of an epoch of a fit: count all pairs of the text, choose the threshold, list where the frequent ones occur.

Only pairs that reach the threshold are in the driver's tables; when too few are left, the text is laid out anew, the threshold
falls, and another epoch begins.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from ubpe_numba.documents.corpus import Corpus
from ubpe_numba.fitting.kernels import index, rounds
from ubpe_numba.fitting.kernels import pair_counts as d
from ubpe_numba.fitting.kernels import text_cells as s
from ubpe_numba.fitting.kernels.account import seed
from ubpe_numba.fitting.memory_limit import Memory
from ubpe_numba.fitting.working_text import Text
from ubpe_numba.runtime.arrays import offsets_of
from ubpe_numba.runtime.tables.pairs import EMPTY, MULTIPLIER

STEP = 16  # the threshold falls by this factor: as fast as 32 or 64, and a byte a symbol less
SMALL = 1 << 16  # most pairs to keep in a small text
_PAIRS_PART = 128  # and in a large one, as a part of its cells: each takes ~150 bytes
_ENDLESS = 2**63 - 1


class Epochs(ABC):
    """What a fit does when an epoch begins; its arrays are those of the fit."""

    corpus: Corpus
    memory: Memory
    text: Text
    driver: d.Driver
    task: d.Task
    n_candidates: int
    n_cells: int
    threshold_known: bool

    @abstractmethod
    def _grow(self, need: int, listed: int) -> None:
        """Make room for `need` more pairs in each part."""

    def _count(self) -> None:
        """A new epoch: count all pairs of the compacted text, choose the threshold, list the frequent ones."""
        state, part = self.driver.state, self.driver.part
        if state[d.STAGE] == rounds.MERGE:  # there was no room for it
            state[d.PENDING] += self.task.n[0]
            self.task.n[0] = 0
        part[:] = 0
        part[:, d.ROOT] = -2
        state[d.STAGE] = rounds.CHOOSE
        self.task.filled[:] = 0
        self.driver.entries.fill(EMPTY)
        if state[d.NEXT_ID] <= index.DENSE:
            self._count_dense(int(state[d.NEXT_ID]))
        else:
            self._count_sorted(int(state[d.NEXT_ID]))

    def _count_dense(self, n_tokens: int) -> None:
        text, state = self.text, self.driver.state
        floor = int(state[d.MIN_COUNT])

        def count(k: int) -> tuple[np.ndarray, np.ndarray]:
            counts = np.zeros(n_tokens * n_tokens, np.int32)
            index.count_dense(text.cells(k), n_tokens, counts)
            if (weighted := text.weights(k)) is None:
                return counts, counts
            weights = np.zeros(n_tokens * n_tokens, np.int64)
            index.weigh_dense(text.cells(k), weighted.weights, n_tokens, weights)
            return counts, weights

        local = text.each(count)
        counts = local[0][1].astype(np.int64)
        for _, more in local[1:]:
            counts += more
        left, right, weight = text.pairs_across()
        np.add.at(counts, left * n_tokens + right, weight)
        lengths, longest = self.driver.lengths[:n_tokens], state[d.LONGEST]
        mergeable = counts if 2 * lengths.max() <= longest else counts * (np.add.outer(lengths, lengths) <= longest).ravel()
        existing = int(np.count_nonzero(mergeable >= floor))
        # halved, and not divided by STEP: where the text is at its longest, 1.2 bytes a symbol less
        self._lower_threshold(int(mergeable.max()) // STEP, 2, lambda t: int(np.count_nonzero(mergeable >= t)), existing)
        n = self._not_too_many(mergeable, mergeable, 0)
        frequent = np.flatnonzero((counts if self.n_candidates > 1 else mergeable) >= state[d.THRESHOLD])
        slot_of = np.full(counts.size, -1, np.int32)
        slot_of[frequent] = self._seed((frequent // n_tokens << 32) | frequent % n_tokens, counts[frequent])
        self.driver.part[0, d.BELOW] = existing - n

        def fill(k: int) -> None:
            shard = text[k]
            shard.state[s.ARENA_TOP] = index.index_dense(text.cells(k), shard.arena, shard.slices, n_tokens, local[k][0], slot_of)

        text.each(fill)

    def _count_sorted(self, n_tokens: int) -> None:
        text, state = self.text, self.driver.state
        floor = int(state[d.MIN_COUNT])
        ends = [np.empty(n_tokens + 1, np.int64) for _ in range(text.k)]
        starts = [text.positions(k) for k in range(text.k)]
        totals = text.each(lambda k: int(index.sort_by_left(text.cells(k), starts[k], n_tokens, ends[k])))
        across = text.pairs_across()
        firsts = offsets_of(np.array([*totals, across[0].size]))
        listed, counts = np.empty(firsts[-1], np.int64), np.empty(firsts[-1], np.int64)  # touched only as far as it is used
        order = np.argsort(across[0], kind="stable")
        listed[firsts[-2] :], counts[firsts[-2] :] = (across[0] << 32 | across[1])[order], across[2][order]
        scratch = np.zeros(n_tokens, np.int64), np.zeros(n_tokens, np.int32), np.empty(n_tokens, np.int32)
        below = 0
        pairs = bounds = np.empty(0, np.int64)

        def count(threshold: int) -> int:
            """List the pairs that may reach the threshold in all shards together; how many of them may be merged."""
            nonlocal below, pairs, bounds
            least = max(1, -(-threshold // text.k))  # who reaches it in all reaches this in one

            def one(k: int) -> tuple[int, int]:
                room = listed[firsts[k] : firsts[k + 1]], counts[firsts[k] : firsts[k + 1]]
                shard, weighted = text[k], text.weights(k)
                arrays = text.cells(k), shard.separators, shard.segment_of_block, shard.counters[1], shard.counters[2]
                weights = (None, None) if weighted is None else (weighted.weights, weighted.sums[1])
                n, under = index.count_sorted(*arrays, *weights, starts[k], n_tokens, ends[k], least, floor, *room)  # type: ignore[call-arg]
                return int(n), int(under)

            sizes = text.each(one)
            if text.k == 1:
                below = sizes[0][1]
                pairs, bounds = self._wanted(listed[: sizes[0][0]], counts[: sizes[0][0]])
                return int(np.count_nonzero(self._mergeable(pairs)))
            below = int(threshold > floor)  # rarer pairs were not counted: there may be some
            at = firsts[:-1].copy()
            till = at + np.array([*(n for n, _ in sizes), across[0].size])
            most = int((till - at).sum())
            pairs, bounds = np.empty(most, np.int64), np.empty(most, np.int64)
            n = index.add_up(listed, counts, at, till, text.k, n_tokens, least, threshold, *scratch, pairs, bounds)
            pairs, bounds = self._wanted(pairs[:n], bounds[:n])
            return int(np.count_nonzero(self._mergeable(pairs)))

        weight = sum(totals) if text.weighted is None else max(sum(totals), self.corpus.n_symbols)
        n = self._lower_threshold(weight // 1000, STEP, count, None)
        if text.k == 1:
            below += n - self._not_too_many(bounds, bounds[self._mergeable(pairs)], sum(totals))
            pairs = pairs[bounds >= state[d.THRESHOLD]]
        bounds = bounds[:0]
        slices = [np.empty(2 * pairs.size, np.int32) for _ in range(text.k)]
        local = [np.zeros(pairs.size, np.int64) for _ in range(text.k)]

        def fill(k: int) -> None:
            shard, weighted = text[k], text.weights(k)
            arrays = text.cells(k), shard.arena, shard.separators, shard.segment_of_block, shard.counters[2], shard.neighbours
            weights = None if weighted is None else weighted.weights
            shard.state[s.ARENA_TOP] = index.index_sorted(
                *arrays, weights, starts[k], n_tokens, ends[k], pairs, slices[k], local[k]
            )

        text.each(fill)
        total = np.sum(local, axis=0)
        for pair, weight in zip((across[0] << 32 | across[1]).tolist(), across[2].tolist(), strict=True):
            total[pairs == pair] += weight
        if text.k > 1:  # by what they really count: if all bounds were equal, and too high by one, no pair would be left
            mergeable = total[self._mergeable(pairs)]
            below += int(np.count_nonzero(mergeable >= floor)) - self._not_too_many(total, mergeable, 0)
        slots = self._seed(pairs, total)
        kept = slots >= 0
        for k in range(text.k):
            text.shards.slices[k, 2 * slots[kept]] = slices[k][::2][kept]
            text.shards.slices[k, 2 * slots[kept] + 1] = slices[k][1::2][kept]
        self.driver.part[0, d.BELOW] += below

    def _lower_threshold(self, first: int, factor: int, count: Callable[[int], int], existing: int | None) -> int:
        """Set the threshold, `first` in the first epoch, so low that two rounds' worth of candidates reach it; how many do."""
        state = self.driver.state
        floor = int(state[d.MIN_COUNT])
        threshold = int(state[d.THRESHOLD]) if self.threshold_known else max(floor, first)
        self.threshold_known = True
        enough = 2 * self.n_candidates if existing is None else min(existing, 2 * self.n_candidates)
        while (n := int(count(threshold))) < enough and threshold > floor:
            threshold = max(floor, threshold // factor)
        state[d.THRESHOLD] = threshold
        return n

    def _mergeable(self, pairs: np.ndarray) -> np.ndarray:
        """Which pairs are not too long."""
        lengths = self.driver.lengths
        fit: np.ndarray = lengths[pairs >> 32] + lengths[pairs & 0xFFFFFFFF] <= self.driver.state[d.LONGEST]
        return fit

    def _wanted(self, pairs: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Without those that are too long, but where many candidates are looked at: these may be kept from a round by them."""
        if self.n_candidates > 1 or (fit := self._mergeable(pairs)).all():
            return pairs, counts
        return pairs[fit], counts[fit]

    def _not_too_many(self, counts: np.ndarray, mergeable: np.ndarray, scratch: int) -> int:
        """Raise the threshold, if need be, until few enough pairs reach it; how many of those that may be merged do.

        counts: of all pairs whose positions will be listed; `mergeable`: of those that are not too long; `scratch`: cells being
        sorted. Two rounds' worth of candidates are left, where there were as many: else the next epoch would be this one again.
        """
        state, most = self.driver.state, max(2 * self.n_candidates, SMALL, self.n_cells // _PAIRS_PART)
        if np.count_nonzero(mergeable >= state[d.THRESHOLD]) > most:
            threshold = int(np.partition(mergeable, mergeable.size - most)[mergeable.size - most])
            # of those that are as frequent there may be many more: leave them out if enough are left
            rarest = np.count_nonzero(mergeable > threshold) < max(2 * self.n_candidates, most // 4)
            state[d.THRESHOLD] = threshold if rarest else threshold + 1
        chosen = int(self.task.counts[self.task.n[0] :][: state[d.PENDING]].min(initial=_ENDLESS))
        state[d.THRESHOLD] = min(state[d.THRESHOLD], chosen)  # what has been chosen is in the tables
        if self.memory.restricted:
            best = np.sort(mergeable[mergeable >= state[d.THRESHOLD]])[-self.n_candidates :]
            given = int(state[d.THRESHOLD]), min(chosen, int(best[0]) if best.size else _ENDLESS), int(state[d.BATCH])
            state[d.THRESHOLD], room = self.memory.threshold(counts, *given, scratch)
            self.text.restrict(room)
        return int(np.count_nonzero(mergeable >= state[d.THRESHOLD]))

    def _seed(self, pairs: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Enter pairs into the tables of their parts; their slots, -1 for those that are too rare or too long."""
        n_parts = len(self.driver.part)
        hashes = pairs.astype(np.uint64) * MULTIPLIER >> np.uint64(48)
        parts = (hashes * np.uint64(n_parts) >> np.uint64(16)).astype(np.int64)  # as `part_of` has it
        self._grow(int(np.bincount(parts[counts >= self.driver.state[d.THRESHOLD]], minlength=n_parts).max()), 0)
        slots = np.full(pairs.size, -1, np.int32)
        for p in range(n_parts):
            o = self.driver
            rows = [a[p] for a in (o.entries, o.slots, o.free, o.heap_counts, o.heap_ties, o.heap_pairs)]
            seed(o.state, o.part[p], p, n_parts, *rows, o.lengths, pairs, counts, slots)  # type: ignore[call-arg]
        return slots
