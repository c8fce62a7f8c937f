"""Fitting: learn merges from a corpus, exactly, in time linear in the corpus for all practical purposes.

The rounds run in kernels (`kernels/rounds.py`) on a shard of the text and on the driver's table of frequent pairs. This module
allocates, loads the text, counts at the start of each epoch, lowers the threshold when too few pairs are left, grows what is
full, and comes up for air every ~100 ms.

The text is held once, as int32 cells (4 bytes a symbol), plus the positions of the frequent pairs (5 to 7 bytes a symbol).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ubpe_numba._progress import Progress
from ubpe_numba.alphabet import Alphabet
from ubpe_numba.documents import Documents
from ubpe_numba.kernels import driver as d
from ubpe_numba.kernels import rounds
from ubpe_numba.kernels import shard as s
from ubpe_numba.kernels import shard_index as index
from ubpe_numba.kernels.pairtable import EMPTY, rehash
from ubpe_numba.rules import FitRules

_TIES = {"smallest": d.SMALLEST, "first_seen": d.FIRST_SEEN, "fewest_documents": d.FEWEST_DOCUMENTS}
_CHUNK = 1 << 20  # symbols mapped to ids at once while loading
_BUDGET = 4_000_000  # occurrences between two looks at the clock and at Ctrl-C: ~100 ms
_STEP = 32  # the threshold falls by this factor; flat between 16 and 64


class Merges(NamedTuple):
    """What a fit learned: m merges in order of creation; merge i makes the id `alphabet_size + i`.

    `pairs` int32[m, 2]; `counts` int64[m], adjacent occurrences (overlapping ones too) when the pair was merged; `documents`
    int64[m], documents that held it then; `replaced` int64[m], how many tokens the corpus lost; `n_symbols`, `n_documents` of
    the corpus.
    """

    pairs: np.ndarray
    counts: np.ndarray
    documents: np.ndarray
    replaced: np.ndarray
    n_symbols: int
    n_documents: int


def fit(corpus: Documents, alphabet: Alphabet, n_tokens: int, n_candidates: int, rules: FitRules, progress: Progress) -> Merges:
    """Learn merges until the vocabulary holds `n_tokens` ids, alphabet included, or no pair is frequent enough.

    Raises UnknownSymbolError for a symbol outside the alphabet, ValueError for a corpus past the size of a shard. Ctrl-C is
    obeyed between slices of ~100 ms. Source: UBPE tokenizers, part 1; the incremental scheme is described in the kernels.
    """
    return _Fit(corpus, alphabet, n_tokens, n_candidates, rules).run(progress)


class _Fit:
    """The arrays of one fit and the steps that Python takes between rounds."""

    def __init__(self, corpus: Documents, alphabet: Alphabet, n_tokens: int, n_candidates: int, rules: FitRules) -> None:
        self.alphabet_size = alphabet.size
        self.n_documents = corpus.offsets.size - 1
        self.n_symbols = int(corpus.offsets[-1] - corpus.offsets[0])
        self.n_candidates = n_candidates = min(n_candidates, max(1, self.n_symbols))  # there are no more pairs
        self.threshold_known = False
        n_cells = self.n_symbols + self.n_documents + 1
        if n_cells >= 2**31 - 1:
            raise ValueError(
                f"docs: {self.n_symbols} symbols in {self.n_documents} documents; at most 2**31 - 2 together are supported"
            )
        tokens = alphabet.size + 1024 + n_candidates
        slots = 1 << 12
        self.shard = _allocate_shard(self.n_symbols, self.n_documents, tokens, slots, n_candidates)
        _load(self.shard, corpus, alphabet)
        self.task = _allocate_task(self.n_symbols, n_candidates)
        self.driver = _allocate_driver(tokens, slots, n_candidates)
        state = self.driver.state
        state[d.NEXT_ID] = alphabet.size
        state[d.LIMIT] = n_tokens + 1 if rules.overshoot else n_tokens
        state[d.WHOLE_ROUNDS] = rules.overshoot
        state[d.MIN_COUNT] = rules.min_count
        state[d.TIES] = _TIES[rules.ties]

    def run(self, progress: Progress) -> Merges:
        state = self.driver.state
        progress.start(int(state[d.NEXT_ID]), int(state[d.LIMIT]))
        if state[d.NEXT_ID] < state[d.LIMIT]:
            self._count()
            while (why := rounds.run(self.driver, self.task, self.shard, _BUDGET)) != rounds.DONE:
                last = int(state[d.NEXT_ID])
                progress.update(last, int(self.driver.counts[last - 1]))
                if why == rounds.THIN:
                    state[d.THRESHOLD] = max(state[d.MIN_COUNT], state[d.THRESHOLD] // _STEP)
                if why in (rounds.THIN, rounds.FULL):
                    self._compact()
                    self._count()
                elif why == rounds.GROW:
                    self._grow(int(state[d.NEED]))
        learned = slice(self.alphabet_size, int(state[d.NEXT_ID]))
        progress.finish(learned.stop)
        out = self.driver
        return Merges(
            np.stack([out.left[learned], out.right[learned]], axis=1),
            out.counts[learned].copy(),
            out.documents[learned].copy(),
            out.merged[learned].copy(),
            self.n_symbols,
            self.n_documents,
        )

    def _compact(self) -> None:
        """One cell a token again."""
        shard = self.shard
        state = shard.state
        state[s.N_CELLS] = s.compact(int(state[s.N_CELLS]), shard.cells, shard.separators, shard.width)
        state[s.ARENA_FULL] = 0
        shard.width[:] = 1
        s.index_documents(int(state[s.N_CELLS]), shard.separators, shard.document_of_block)

    def _count(self) -> None:
        """A new epoch: count all pairs of the compacted text, choose the threshold, list the frequent ones."""
        state = self.driver.state
        state[[d.HEAP_SIZE, d.N_PAIRS, d.N_FREE, d.N_SLOTS, d.BELOW]] = 0
        state[d.STAGE] = rounds.CHOOSE
        self.driver.entries.fill(EMPTY)
        n_tokens = int(state[d.NEXT_ID])
        floor = int(state[d.MIN_COUNT])
        cells, arena = self.shard.cells[: self.shard.state[s.N_CELLS]], self.shard.arena
        if n_tokens <= index.DENSE:
            counts = np.zeros(n_tokens * n_tokens, np.int64)
            index.count_dense(cells, n_tokens, counts)
            existing = int(np.count_nonzero(counts >= floor))
            n = self._lower_threshold(int(counts.max()) // _STEP, lambda t: int(np.count_nonzero(counts >= t)), existing)
            frequent = np.flatnonzero(counts >= state[d.THRESHOLD])
            slots = self._seed((frequent // n_tokens << 32) | frequent % n_tokens, counts[frequent])
            slot_of = np.full(counts.size, -1, np.int32)
            slot_of[frequent] = slots
            start, length = self.shard.start, self.shard.length  # after _seed, which may replace them
            top = index.index_dense(cells, arena, start, length, n_tokens, counts, slot_of)
            state[d.BELOW] = existing - n
        else:
            ends = np.empty(n_tokens + 1, np.int64)
            total = int(index.sort_by_left(cells, arena, n_tokens, ends))
            pairs, counts = np.empty(total, np.int64), np.empty(total, np.int64)
            right, seen = self.shard.right, self.shard.scratch
            below = 0

            def count(threshold: int) -> int:
                nonlocal below
                n, below = index.count_sorted(cells, arena, right, seen, n_tokens, ends, total, threshold, floor, pairs, counts)
                return int(n)

            n = self._lower_threshold(total // 1000, count, None)
            pairs, counts = pairs[:n].copy(), counts[:n].copy()
            slots = self._seed(pairs, counts)
            start, length, right_at = self.shard.start, self.shard.length, self.shard.right_at
            top = index.index_sorted(cells, arena, start, length, right_at, n_tokens, ends, total, pairs, counts, slots)
            state[d.BELOW] = below
        self.shard.state[s.ARENA_TOP] = top

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

    def _seed(self, pairs: np.ndarray, counts: np.ndarray) -> np.ndarray:
        self._grow(pairs.size)
        slots = np.empty(pairs.size, np.int32)
        out = self.driver
        d.seed(out.state, out.entries, out.slots, out.free, out.heap_counts, out.heap_ties, out.heap_pairs, pairs, counts, slots)
        return slots

    def _grow(self, need: int) -> None:
        """Make room for `need` more pairs and for the tokens of the next rounds; sizes at least double."""
        state, old = self.driver.state, self.driver
        new: dict[str, np.ndarray] = {}
        pairs = int(state[d.N_PAIRS]) + need
        if 2 * pairs > old.slots.size:
            capacity = 1 << (3 * pairs).bit_length()
            new["entries"] = np.full(2 * capacity, EMPTY, np.int64)
            new["slots"] = np.empty(capacity, np.int32)
            rehash(old.entries, old.slots, new["entries"], new["slots"])
        heap = int(state[d.HEAP_SIZE]) + need + self.n_candidates
        if heap > old.heap_counts.size:
            for name in ("heap_counts", "heap_ties", "heap_pairs"):
                new[name] = _extend(getattr(old, name), 2 * heap)
        tokens = int(state[d.NEXT_ID]) + self.n_candidates
        if tokens > old.left.size:
            for name in ("used", "left", "right", "counts", "documents", "merged"):
                new[name] = _extend(getattr(old, name), 2 * tokens)
            names = ("width", "left", "right", "left_at", "right_at", "scratch")
            self.shard = self.shard._replace(**{n: _extend(getattr(self.shard, n), 2 * tokens) for n in names})
        slots = int(state[d.N_SLOTS]) + need
        if slots > self.shard.start.size:
            new["free"] = _extend(old.free, 2 * slots)
            self.shard = self.shard._replace(
                start=_extend(self.shard.start, 2 * slots), length=_extend(self.shard.length, 2 * slots)
            )
        self.driver = old._replace(**new)


def _extend(array: np.ndarray, size: int) -> np.ndarray:
    out = np.zeros(size, array.dtype)
    out[: array.size] = array
    return out


def _allocate_shard(n: int, documents: int, tokens: int, slots: int, merges: int) -> s.Shard:
    """Arrays sized by the text are `np.empty`: memory that is never touched is never used."""
    i32, i64 = np.int32, np.int64
    return s.Shard(
        state=np.array([n + documents + 1, 0, 0], i64),
        cells=np.empty(n + documents + 1, i32),
        separators=np.empty(documents + 1, i32),
        document_of_block=np.empty((n + documents >> s.BLOCK) + 1, i32),
        arena=np.empty(5 * n // 2 + 16, i32),
        before=np.empty(n // 2 + 1, i32),
        after=np.empty(n // 2 + 1, i32),
        width=np.ones(tokens, i32),
        start=np.zeros(slots, i64),
        length=np.zeros(slots, i64),
        left=np.zeros(tokens, i32),
        right=np.zeros(tokens, i32),
        left_at=np.zeros(tokens, i64),
        right_at=np.zeros(tokens, i64),
        scratch=np.zeros(tokens, i32),
        delta_token=np.empty(n + 2, i32),
        delta_count=np.empty(n + 2, i32),
        delta_end=np.zeros(2 * merges + 1, i64),
        merged_at=np.zeros(merges, i64),
        merged=np.zeros(merges, i64),
        merged_twins=np.zeros(merges, i64),
        merged_documents=np.zeros(merges, i64),
    )


def _allocate_task(n: int, merges: int) -> d.Task:
    i32, i64 = np.int32, np.int64
    return d.Task(
        n=np.zeros(1, i64),
        first_id=np.zeros(1, i64),
        left=np.zeros(merges, i32),
        right=np.zeros(merges, i32),
        slot=np.zeros(merges, i64),
        counts=np.zeros(merges, i64),
        new_token=np.empty(n + 2, i32),
        new_slot=np.empty(n + 2, i32),
        new_count=np.empty(n + 2, i64),
        new_end=np.zeros(2 * merges + 1, i64),
        twin_slot=np.zeros(merges, i64),
    )


def _allocate_driver(tokens: int, slots: int, candidates: int) -> d.Driver:
    i32, i64 = np.int32, np.int64
    return d.Driver(
        state=np.zeros(d.N_STATE, i64),
        entries=np.full(4 * slots, EMPTY, i64),
        slots=np.empty(2 * slots, i32),
        free=np.zeros(slots, i32),
        heap_counts=np.zeros(slots + candidates, i64),
        heap_ties=np.zeros(slots + candidates, i64),
        heap_pairs=np.zeros(slots + candidates, i64),
        used=np.zeros(tokens, i64),
        candidates=np.zeros((candidates, 3), i64),
        left=np.zeros(tokens, i32),
        right=np.zeros(tokens, i32),
        counts=np.zeros(tokens, i64),
        documents=np.zeros(tokens, i64),
        merged=np.zeros(tokens, i64),
    )


def _load(shard: s.Shard, corpus: Documents, alphabet: Alphabet) -> None:
    """Write the corpus into the cells chunk by chunk, so that ids are never held twice."""
    separators = corpus.offsets - corpus.offsets[0] + np.arange(corpus.offsets.size)
    shard.separators[:] = separators
    shard.cells[separators] = s.SEPARATOR
    document = 0
    end = int(corpus.offsets[-1])
    for first in range(int(corpus.offsets[0]), end, _CHUNK):
        ids = alphabet.lookup(corpus.values[first : min(first + _CHUNK, end)])
        if ids.min() < 0:
            alphabet.to_ids(corpus)  # raises, naming document, position and symbol
        document = s.load(shard.cells, ids, first, corpus.offsets, document)
    s.index_documents(int(shard.state[s.N_CELLS]), shard.separators, shard.document_of_block)
