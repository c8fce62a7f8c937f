"""Fitting: learn merges from a corpus, exactly, in time linear in the corpus for all practical purposes.

The rounds run in kernels (`kernels/rounds.py`) on shards of the text (`shards.py`) and on the driver's tables of frequent pairs.
What is counted at the start of each epoch is in `epoch.py`. This module lowers the threshold when too few pairs are left, grows
what is full, and comes up for air every ~100 ms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ubpe_numba.documents.corpus import Corpus
from ubpe_numba.fitting.epoch import STEP, Epochs
from ubpe_numba.fitting.kernels import pair_counts as d
from ubpe_numba.fitting.kernels import rounds
from ubpe_numba.fitting.kernels import text_cells as s
from ubpe_numba.fitting.memory_limit import Memory
from ubpe_numba.fitting.working_text import Text, extend
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.progress import Progress
from ubpe_numba.runtime.tables.pairs import EMPTY, rehash
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.rules import FitRules

_TIES = {"smallest": d.SMALLEST, "first_seen": d.FIRST_SEEN, "fewest_documents": d.FEWEST_DOCUMENTS}
_BUDGET = 4_000_000  # occurrences between two looks at the clock and at Ctrl-C: ~100 ms
_ROUND = 1024  # most merges of a round where one is asked for
_BATCH_PART = 32  # of the symbols are merged at once: what a batch replaces is noted down (12 bytes each)
_SMALL = 1 << 16  # but not less than so many
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


class _Fit(Epochs):
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
        merges = self.n_candidates if self.n_candidates > 1 else min(_ROUND, max(1, settings.n_tokens - alphabet.size))
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
                    state[d.THRESHOLD] = max(state[d.MIN_COUNT], state[d.THRESHOLD] // STEP)
                if why in (rounds.THIN, rounds.FULL):
                    self.text.compact(self.task.width, shrink=not self.memory.restricted)
                    if why == rounds.FULL:
                        if full_at == last:  # a slice that is to be moved is longer than what is left
                            self.text.more_room() if not self.memory.restricted else self.memory.refuse()
                        full_at = last
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

        return thread_pool.together(
            lambda: int(rounds.run(*shared, ties, control, self.threads, _BUDGET)),
            lambda me: rounds.work(*shared, control, me),
            stop,
            self.threads,
        )

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
