"""Fitting: learn merges from a corpus, exactly, in time linear in the corpus for all practical purposes.

The rounds run in kernels (`kernels/rounds.py`) on shards of the text (`shards.py`) and on the driver's tables of frequent pairs.
This module counts at the start of each epoch, lowers the threshold when too few pairs are left, grows what is full, and comes up
for air every ~100 ms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ubpe_numba import _threads
from ubpe_numba._arrays import offsets_of
from ubpe_numba._progress import Progress
from ubpe_numba.alphabet import Alphabet
from ubpe_numba.corpus import Corpus
from ubpe_numba.kernels import driver as d
from ubpe_numba.kernels import rounds
from ubpe_numba.kernels import shard as s
from ubpe_numba.kernels import shard_index as index
from ubpe_numba.kernels.pairtable import EMPTY, MULTIPLIER, rehash
from ubpe_numba.memory import Memory
from ubpe_numba.rules import FitRules
from ubpe_numba.shards import Text, extend

_TIES = {"smallest": d.SMALLEST, "first_seen": d.FIRST_SEEN, "fewest_documents": d.FEWEST_DOCUMENTS}
_BUDGET = 4_000_000  # occurrences between two looks at the clock and at Ctrl-C: ~100 ms
_STEP = 16  # the threshold falls by this factor: as fast as 32 or 64, and a byte a symbol less
_BATCH = 1024  # most merges that are made at once where one a round is asked for
_BATCH_PART = 32  # and at most this part of the symbols: what a batch replaces is noted down (8 bytes each)
_PAIRS_PART = 128  # most pairs to keep, as a part of the cells: each takes ~150 bytes
_SMALL = 1 << 16  # not less than so many of either
_PER_SHARD = 500_000  # cells; smaller shards cost more in hand-offs than their threads spare
_MOST = s.MOST_CELLS


class Merges(NamedTuple):
    """What a fit learned: m merges in order of creation; merge i makes the id `n_alphabet + i`.

    `pairs` int32[m, 2]; `counts` int64[m], adjacent occurrences (overlapping ones too) when the pair was merged; `documents`
    int64[m], documents that held it then; `replaced` int64[m], how many tokens the corpus lost; `n_symbols`, `n_documents` of
    the corpus; all by weight. `last_round` is the index of the first merge of the last round.
    """

    pairs: np.ndarray
    counts: np.ndarray
    documents: np.ndarray
    replaced: np.ndarray
    n_symbols: int
    n_documents: int
    last_round: int


class Settings(NamedTuple):
    """How to fit: until the vocabulary holds `n_tokens` ids, alphabet included; no token of more than `longest` symbols."""

    n_tokens: int
    n_candidates: int
    rules: FitRules
    n_threads: int
    longest: int = 2**62
    n_shards: int | None = None  # None: by the size of the corpus and the number of threads
    memory_limit: int | None = None  # bytes


def fit(corpus: Corpus, alphabet: Alphabet, settings: Settings, progress: Progress, offsets: np.ndarray | None = None) -> Merges:
    """Learn merges until the vocabulary is full, or no pair is frequent enough.

    The symbols of the alphabet may be tokens themselves, of `offsets[i + 1] - offsets[i]` symbols each. Raises UnknownSymbolError
    for a symbol outside the alphabet. Ctrl-C is obeyed between slices of ~100 ms. The result does not depend on the number of
    threads. Source: UBPE tokenizers, part 1; the incremental scheme is described in the kernels.
    """
    return _Fit(corpus, alphabet, settings, offsets).run(progress)


class _Fit:
    """The arrays of one fit and the steps that Python takes between rounds."""

    def __init__(self, corpus: Corpus, alphabet: Alphabet, settings: Settings, offsets: np.ndarray | None) -> None:
        self.corpus, self.n_alphabet, self.rules = corpus, alphabet.size, settings.rules
        n_symbols = int(corpus.offsets[-1] - corpus.offsets[0])
        self.n_candidates = min(settings.n_candidates, max(1, n_symbols))  # there are no more pairs
        self.n_cells = n_symbols
        self.threshold_known = False
        cells = n_symbols + corpus.offsets.size
        self.memory = Memory(settings.memory_limit, cells, corpus.offsets.size, corpus.weights is None and cells < _MOST)
        if self.memory.restricted:  # one shard takes the least
            settings = settings._replace(n_threads=1)
        self.threads, n_shards = _plan(cells, settings)
        merges = self.n_candidates if self.n_candidates > 1 else min(_BATCH, max(1, settings.n_tokens - alphabet.size))
        tokens = alphabet.size + 1024 + merges
        slots = 1 << 12
        self.text = Text(corpus, alphabet, n_shards, tokens, slots, merges, self.threads)
        # other ties are decided by a look at the text, for which the driver has to be alone
        n_parts = self.text.k if settings.rules.ties == "smallest" else 1
        self.task = d.allocate_task(tokens, merges, n_parts)
        self.driver = d.allocate_driver(n_parts, tokens, slots, merges)
        self.driver.lengths[: alphabet.size] = 1 if offsets is None else np.diff(offsets)[: alphabet.size]
        self.control = np.zeros(rounds.CLAIMS + rounds.LINE * self.text.k, np.int64)
        state = self.driver.state
        state[d.NEXT_ID] = state[d.ROUND_START] = alphabet.size
        state[d.LIMIT] = settings.n_tokens + 1 if settings.rules.overshoot else settings.n_tokens
        state[d.WHOLE_ROUNDS] = settings.rules.overshoot
        state[d.MIN_COUNT] = settings.rules.min_count
        state[d.LONGEST] = settings.longest
        state[d.TIES] = _TIES[settings.rules.ties]
        state[d.CANDIDATES] = self.n_candidates
        state[d.BATCH] = max(_SMALL, corpus.n_symbols // _BATCH_PART)

    def run(self, progress: Progress) -> Merges:
        state = self.driver.state
        progress.start(int(state[d.NEXT_ID]), int(state[d.LIMIT]))
        if state[d.NEXT_ID] < state[d.LIMIT]:
            self._count()
            full_at = -1
            while (why := self._rounds()) != rounds.DONE:
                last = int(state[d.NEXT_ID])
                progress.update(last, int(self.driver.learned[last - 1, d.COUNT]))
                if why == rounds.THIN:
                    state[d.THRESHOLD] = max(state[d.MIN_COUNT], state[d.THRESHOLD] // _STEP)
                if why == rounds.FULL:
                    if full_at == last:  # a slice that is to be moved is longer than what is left
                        self.text.more_room() if not self.memory.restricted else self.memory.refuse()
                    full_at = last
                if why in (rounds.THIN, rounds.FULL):
                    self.text.compact(self.task.width)
                    self._count()
                elif why == rounds.GROW:
                    self._grow(int(state[d.NEED]), int(state[d.NEED]))
        progress.finish(int(state[d.NEXT_ID]))
        learned = self.driver.learned[self.n_alphabet : state[d.NEXT_ID]]
        return Merges(
            learned[:, [d.LEFT, d.RIGHT]].astype(np.int32),
            learned[:, d.COUNT].copy(),
            learned[:, d.HOLDERS].copy(),
            learned[:, d.REPLACED].copy(),
            self.corpus.n_symbols,
            self.corpus.n_documents,
            int(state[d.ROUND_START]) - self.n_alphabet,
        )

    def _rounds(self) -> int:
        """Rounds in this thread, with the help of others, until there is a reason to stop."""
        text, control = self.text, self.control
        control[:] = 0
        borders = text.borders if text.k > 1 else None
        ties = None if self.rules.ties == "smallest" else _TIES[self.rules.ties]
        shared = self.driver, self.task, text.shards, text.weighted, borders

        def stop() -> None:
            control[rounds.JOB] |= rounds.STOP

        return _threads.together(
            lambda: int(rounds.run(*shared, ties, control, self.threads, _BUDGET)),
            lambda me: rounds.work(*shared, control, me),
            stop,
            self.threads,
        )

    def _count(self) -> None:
        """A new epoch: count all pairs of the compacted text, choose the threshold, list the frequent ones."""
        state, part = self.driver.state, self.driver.part
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
        existing = int(np.count_nonzero(counts >= floor))
        n = self._lower_threshold(int(counts.max()) // _STEP, lambda t: int(np.count_nonzero(counts >= t)), existing)
        n = self._not_too_many(counts, 0)
        frequent = np.flatnonzero(counts >= state[d.THRESHOLD])
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
            """List the pairs that may reach the threshold in all shards together."""
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
                pairs, bounds = listed[: sizes[0][0]], counts[: sizes[0][0]]
                return int(pairs.size)
            below = int(threshold > floor)  # rarer pairs were not counted: there may be some
            at = firsts[:-1].copy()
            till = at + np.array([*(n for n, _ in sizes), across[0].size])
            most = int((till - at).sum())
            pairs, bounds = np.empty(most, np.int64), np.empty(most, np.int64)
            n = index.add_up(listed, counts, at, till, text.k, n_tokens, least, threshold, *scratch, pairs, bounds)
            pairs, bounds = pairs[:n], bounds[:n]
            return int(n)

        weight = sum(totals) if text.weighted is None else max(sum(totals), self.corpus.n_symbols)
        n = self._lower_threshold(weight // 1000, count, None)
        below += n - self._not_too_many(bounds, sum(totals))
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
        slots = self._seed(pairs, total)
        kept = slots >= 0
        for k in range(text.k):
            text.shards.slices[k, 2 * slots[kept]] = slices[k][::2][kept]
            text.shards.slices[k, 2 * slots[kept] + 1] = slices[k][1::2][kept]
        self.driver.part[0, d.BELOW] += below

    def _lower_threshold(self, first: int, count: Callable[[int], int], existing: int | None) -> int:
        """Set the threshold, `first` in the first epoch, so low that two rounds' worth of candidates reach it."""
        state = self.driver.state
        floor = int(state[d.MIN_COUNT])
        threshold = int(state[d.THRESHOLD]) if self.threshold_known else max(floor, first)
        self.threshold_known = True
        enough = 2 * self.n_candidates if existing is None else min(existing, 2 * self.n_candidates)
        while (n := int(count(threshold))) < enough and threshold > floor:
            threshold = max(floor, threshold // _STEP)
        state[d.THRESHOLD] = threshold
        return n

    def _not_too_many(self, counts: np.ndarray, scratch: int) -> int:
        """Raise the threshold, if need be, until few enough pairs reach it; how many do. `scratch`: cells being sorted."""
        state, most = self.driver.state, max(2 * self.n_candidates, _SMALL, self.n_cells // _PAIRS_PART)
        if np.count_nonzero(counts >= state[d.THRESHOLD]) > most:
            threshold = int(np.partition(counts, counts.size - most)[counts.size - most])
            # of those that are as frequent there may be many more: leave them out if enough are left
            rarest = np.count_nonzero(counts > threshold) < max(2 * self.n_candidates, most // 4)
            state[d.THRESHOLD] = threshold if rarest else threshold + 1
        if self.memory.restricted:
            given = int(state[d.THRESHOLD]), self.n_candidates, int(state[d.BATCH])
            state[d.THRESHOLD], room = self.memory.threshold(counts, *given, scratch)
            self.text.restrict(room)
        return int(np.count_nonzero(counts >= state[d.THRESHOLD]))

    def _seed(self, pairs: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Enter pairs into the tables of their parts; their slots, -1 for those that are too rare or too long."""
        n_parts = len(self.driver.part)
        hashes = pairs.astype(np.uint64) * MULTIPLIER >> np.uint64(48)
        parts = (hashes * np.uint64(n_parts) >> np.uint64(16)).astype(np.int64)  # as `part_of` has it
        self._grow(int(np.bincount(parts, minlength=n_parts).max()), 0)
        slots = np.full(pairs.size, -1, np.int32)
        for p in range(n_parts):
            o = self.driver
            rows = [a[p] for a in (o.entries, o.slots, o.free, o.heap_counts, o.heap_ties, o.heap_pairs)]
            d.seed(o.state, o.part[p], p, n_parts, *rows, o.lengths, pairs, counts, slots)  # type: ignore[call-arg]
        return slots

    def _grow(self, need: int, listed: int) -> None:
        """Make room for `need` more pairs in each part, `listed` of them of one round, and for the tokens of the next rounds.

        Sizes at least double.
        """
        state, part, old = self.driver.state, self.driver.part, self.driver
        new: dict[str, np.ndarray] = {}
        pairs = int(part[:, d.N_PAIRS].max()) + need
        if 2 * pairs > old.slots.shape[1]:
            capacity = 1 << (3 * pairs).bit_length()
            new["entries"] = np.full((len(part), 2 * capacity), EMPTY, np.int64)
            new["slots"] = np.empty((len(part), capacity), np.int32)
            for p in range(len(part)):
                rehash(old.entries[p], old.slots[p], new["entries"][p], new["slots"][p])
        heap = int(part[:, d.HEAP_SIZE].max()) + need + len(old.candidates)
        if heap > old.heap_counts.shape[1]:
            for name in ("heap_counts", "heap_ties", "heap_pairs"):
                new[name] = extend(getattr(old, name), 2 * heap)
        tokens = int(state[d.NEXT_ID]) + self.task.left.size
        if tokens > len(old.learned):
            for name in ("sums", "seen", "used", "lengths"):
                new[name] = extend(getattr(old, name), 2 * tokens)
            new["learned"] = np.zeros((2 * tokens, d.N_LEARNED), np.int64)
            new["learned"][: len(old.learned)] = old.learned
            width = np.ones(2 * tokens, np.int32)
            width[: self.task.width.size] = self.task.width
            self.task = self.task._replace(width=width)
        slots = int(part[:, d.N_SLOTS].max()) + need
        if slots > old.free.shape[1]:
            new["free"] = extend(old.free, 2 * slots)
        if listed > self.task.new_token.shape[1]:
            names = ("new_token", "new_slot")
            self.task = self.task._replace(**{n: extend(getattr(self.task, n), 2 * listed) for n in names})
        self.driver = old._replace(**new)
        self.text.grow(len(self.driver.learned), self.driver.free.size)


def _plan(n_cells: int, settings: Settings) -> tuple[int, int]:
    """How many threads, and how many shards: one each, unless they would be too small to pay or too large to be possible."""
    if settings.n_shards is not None:
        return settings.n_threads, settings.n_shards
    threads = max(1, min(settings.n_threads, n_cells // _PER_SHARD))
    return threads, max(threads, -(-n_cells // (_MOST - 2**20)))
