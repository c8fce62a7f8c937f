"""Fitting: learn merges from a corpus, exactly, in time linear in the corpus for all practical purposes.

A fit is a loop of rounds and epochs:

    load the text
    epoch:  count all pairs of the text, choose a threshold, enter the pairs that reach it into the tables and list where they
            occur
    round:  choose the best pairs of the tables, merge them where they occur, carry the counts of the pairs beside them
    ...     until too few pairs reach the threshold: then the text is compacted, the threshold falls, and another epoch begins

Rounds run in one kernel (`kernels/rounds.py`), which returns to Python every ~100 ms. The text and the lists are in
`working_text.py`, the tables in `kernels/pair_counts.py`; this module steers: it chooses thresholds and grows what is full.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ubpe_numba.documents.corpus import Corpus
from ubpe_numba.fitting.all_shards import AllShards
from ubpe_numba.fitting.kernels import index, rounds
from ubpe_numba.fitting.kernels import pair_counts as d
from ubpe_numba.fitting.kernels.text_cells import MOST_CELLS
from ubpe_numba.runtime.messages import Progress
from ubpe_numba.runtime.tables.pairs import EMPTY
from ubpe_numba.vocabulary.rules import FitRules

_TIES = {"smallest": d.SMALLEST, "first_seen": d.FIRST_SEEN, "fewest_documents": d.FEWEST_DOCUMENTS}
_ROUND = 1024  # most merges of a round where one is asked for
BATCH_PART = 32  # of the symbols are merged at once: what a batch replaces is noted down (12 bytes each)
_SMALL = 1 << 16  # but not less than so many
_PER_SHARD = 500_000  # cells; smaller shards cost more in hand-offs than their threads spare
_STEP = 16  # the threshold falls by this factor: as fast as 32 or 64, and a byte a symbol less
_FEW_PAIRS = 1 << 16  # most pairs to keep of a small text
_PAIRS_PART = 128  # and of a large one, as a part of its cells: each takes ~150 bytes
_ONE_EPOCH = 1 << 18  # symbols; of a text so small all pairs are listed at once if there may be as many merges
_ONE_EPOCH_WEIGHTED = 1 << 21  # and of one with weights as many pairs as merges: its documents tend to be short, as words are
_MOST_READY = 1 << 15  # most pairs and tokens that there is room for at first; a round that needs more asks for it
ENDLESS = 2**63 - 1


class Settings(NamedTuple):
    """How to fit: until the vocabulary holds `n_tokens` ids, alphabet included; no token of more than `longest` symbols."""

    n_tokens: int
    n_candidates: int
    rules: FitRules
    n_threads: int
    longest: int = 2**62
    n_shards: int | None = None  # None: by the size of the corpus and the number of threads
    memory_limit: int | None = None  # bytes


class Merges(NamedTuple):
    """The m merges of a fit in order of creation, all counts by weight; merge i makes the id `n_alphabet + i`."""

    pairs: np.ndarray  # int32[m, 2]
    counts: np.ndarray  # int64[m]: adjacent occurrences, overlapping ones too, when the pair was merged
    documents: np.ndarray  # int64[m]: documents that held it then
    replaced: np.ndarray  # int64[m]: how many tokens the corpus lost
    last_round: int  # index of the first merge of the last round
    symbols: np.ndarray  # int64[n_alphabet]: occurrences of each symbol in the corpus

    def occurrences(self) -> np.ndarray:
        """How often each id occurs in the corpus after the last merge, int64[n_alphabet + m].

        Wherever a merge replaced its pair, one occurrence of each part was lost and one of its own was won.
        """
        found = np.concatenate([self.symbols, self.replaced])
        np.subtract.at(found, self.pairs.ravel(), np.repeat(self.replaced, 2))
        return found


class CorpusSize(NamedTuple):
    """What the driver of a fit knows of its corpus."""

    n_symbols: int
    by_weight: int  # with weights counted
    cells: int  # symbols and separators
    has_weights: bool

    @classmethod
    def of(cls, corpus: Corpus) -> CorpusSize:
        """That of a corpus."""
        n_symbols = int(corpus.offsets[-1] - corpus.offsets[0])
        return cls(n_symbols, corpus.n_symbols, n_symbols + corpus.offsets.size, corpus.weights is not None)

    def candidates(self, settings: Settings) -> int:
        """How many candidates a round has: there are no more pairs than symbols."""
        return min(settings.n_candidates, max(1, self.n_symbols))


class Room(NamedTuple):
    """For how much there is room when a fit begins."""

    tokens: int
    slots: int  # pairs
    merges: int  # of a round; never more

    @classmethod
    def of(cls, size: CorpusSize, n_alphabet: int, settings: Settings, n_parts: int) -> Room:
        """That of a fit whose pairs are dealt to `n_parts`."""
        wanted = max(0, settings.n_tokens - n_alphabet)
        n_candidates = size.candidates(settings)
        merges = n_candidates if n_candidates > 1 else min(_ROUND, max(1, wanted))
        ready = max(1 << 10, min(_MOST_READY, size.n_symbols // 4, 4 * wanted) // n_parts)
        return cls(n_alphabet + merges + min(ready, wanted), 1 << (ready - 1).bit_length(), merges)


def plan(n_cells: int, n_threads: int, n_shards: int | None = None) -> tuple[int, int]:
    """How many threads, and how many shards: one each, unless they would be too small to pay or too large to be possible."""
    if n_shards is not None:
        return n_threads, n_shards
    threads = max(1, min(n_threads, n_cells // _PER_SHARD))
    return threads, max(threads, -(-n_cells // (MOST_CELLS - 2**20)))


class Loop(ABC):
    """The driver of a fit: the arrays of its tables, and the steps that Python takes between rounds.

    Parameters
    ----------
    shards
        The text.
    size, n_alphabet, settings
        Of the corpus; of the alphabet; how to fit, with the threads to use.
    room
        What the arrays begin with.
    n_parts
        To which the pairs are dealt.
    offsets
        As for `fit`.
    """

    def __init__(
        self, shards: AllShards, size: CorpusSize, n_alphabet: int, room: Room, settings: Settings, n_parts: int,
        offsets: np.ndarray | None,
    ) -> None:  # fmt: skip
        self.shards, self.n_alphabet = shards, n_alphabet
        self.n_candidates, self.n_symbols, self.by_weight = size.candidates(settings), size.n_symbols, size.by_weight
        self.has_weights, self.threads = size.has_weights, settings.n_threads
        self.driver, self.task = d.allocate(n_parts, *room, self.n_candidates)
        self.driver.lengths[:n_alphabet] = 1 if offsets is None else np.diff(offsets)[:n_alphabet]
        self.ties = None if settings.rules.ties == "smallest" else _TIES[settings.rules.ties]
        self.control = np.zeros(rounds.CLAIMS + rounds.LINE * max(n_parts, shards.k), np.int64)
        self.threshold, self.min_count, self.longest = 0, settings.rules.min_count, settings.longest
        # beginning an epoch costs a small text more than its rounds: if there may be as many merges, all pairs are listed
        small = size.n_symbols <= (_ONE_EPOCH_WEIGHTED if size.has_weights else _ONE_EPOCH) and settings.memory_limit is None
        self.wanted = max(0, settings.n_tokens - n_alphabet) if small else 0
        self.enough = max(2 * self.n_candidates, self.wanted if size.has_weights else 0)
        self.state = state = self.driver.state[0]
        state["next_id"] = state["round_start"] = n_alphabet
        state["limit"] = settings.n_tokens + 1 if settings.rules.overshoot else settings.n_tokens
        state["whole_rounds"] = settings.rules.overshoot
        state["min_count"] = self.min_count
        state["longest"] = self.longest
        state["ties"] = _TIES[settings.rules.ties]
        state["candidates"] = self.n_candidates
        state["batch"] = self.batch = max(_SMALL, size.by_weight // BATCH_PART)

    def run(self, progress: Progress) -> Merges:
        """Rounds and epochs until the vocabulary is full, or no pair is frequent enough."""
        state = self.state
        progress.start(int(state["next_id"]), int(state["limit"]))
        if state["next_id"] < state["limit"]:
            self._begin_epoch()
            full_at = -1
            while (reason := self._rounds()) != rounds.DONE:
                last = int(state["next_id"])
                progress.update(last, int(self.driver.learned["count"][last - 1]))
                if reason == rounds.THIN:
                    self.threshold = max(self.min_count, self.threshold // _STEP)
                if reason in (rounds.THIN, rounds.FULL):
                    # a slice that is to be moved is longer than what is left
                    self._compact(more_room=reason == rounds.FULL and full_at == last)
                    full_at = last if reason == rounds.FULL else full_at
                    self._begin_epoch()
                elif reason == rounds.GROW:
                    self._grow(int(state["need"]), int(state["need"]))
        else:
            self.shards.count_symbols()
        progress.finish(int(state["next_id"]))
        learned = self.driver.learned[self.n_alphabet : state["next_id"]]
        return Merges(
            np.stack([learned["left"], learned["right"]], axis=1).astype(np.int32),
            learned["count"].copy(),
            learned["documents"].copy(),
            learned["replaced"].copy(),
            max(0, learned.size - 1) if self.n_candidates == 1 else int(state["round_start"]) - self.n_alphabet,
            self.shards.symbol_counts,
        )

    @abstractmethod
    def _rounds(self) -> int:
        """Rounds until there is a reason to stop; returns it (`rounds.DONE` ...)."""

    @abstractmethod
    def _compact(self, more_room: bool) -> None:
        """Compact the text, or raise MemoryError if it wants more room than there may be."""

    def _grow(self, need: int, listed: int) -> None:
        """Make room for `need` more pairs in each part, `listed` new ones of a round, and the tokens of the next round."""
        self.driver, self.task = d.grown(self.driver, self.task, need, listed)

    # ---------------------------------------------------------------------------------------------- epochs

    def _begin_epoch(self) -> None:
        """Count all pairs of the compacted text, choose the threshold, list the pairs that reach it and enter them."""
        state, part, batch = self.state, self.driver.part, self.task.batch[0]
        if state["stage"] == rounds.MERGE:  # there was no room for what was to be merged
            state["pending"] += batch["n"]
            batch["n"] = 0
        part[:] = 0
        part["root"] = d.NOT_KNOWN
        state["stage"] = rounds.CHOOSE
        batch["filled"] = 0
        self.driver.entries.fill(EMPTY)
        n_tokens = int(state["next_id"])
        rarer = self._index_dense(n_tokens) if n_tokens <= index.DENSE else self._index_sorted(n_tokens)
        part["below"][0] += rarer

    def _index_dense(self, n_tokens: int) -> int:
        """Begin an epoch by a table of all pairs; how many pairs that may be merged are left out."""
        lengths = self.driver.lengths[:n_tokens]
        counts = self.shards.count_dense(n_tokens)
        mergeable = counts
        if 2 * lengths.max() > self.longest:
            mergeable = counts * (np.add.outer(lengths, lengths) <= self.longest).ravel()
        existing = int(np.count_nonzero(mergeable >= self.min_count))
        # halved, and not divided by _STEP: where the text is at its longest, 1.2 bytes a symbol less
        first = self.min_count if existing <= self.wanted else int(mergeable.max()) // _STEP
        enough = min(existing, self.enough)
        self._lower_threshold(first, 2, enough, lambda t: int(np.count_nonzero(mergeable >= t)))
        n = self._not_too_many(mergeable, mergeable, 0)
        frequent = np.flatnonzero((counts if self.n_candidates > 1 else mergeable) >= self.threshold)
        slots = self._seed((frequent // n_tokens << 32) | frequent % n_tokens, counts[frequent])
        self.shards.list_dense(n_tokens, frequent, slots)
        return existing - n

    def _index_sorted(self, n_tokens: int) -> int:
        """Begin an epoch by sorting the pairs of the text; an upper bound of how many that may be merged are left out."""
        shards, single, floor = self.shards, self.shards.k == 1, self.min_count
        n_pairs = shards.sort_pairs(n_tokens)
        pairs = counts = np.empty(0, np.int64)
        rarer = 0

        def count(threshold: int) -> int:
            """Count the pairs that may reach the threshold; how many of them may be merged."""
            nonlocal pairs, counts, rarer
            pairs, counts, rarer = shards.count_sorted(threshold, floor)
            short = self._mergeable(pairs)
            n = int(np.count_nonzero(short))
            if self.n_candidates == 1 and n < pairs.size:  # a long pair may still keep one of many candidates from a round
                pairs, counts = pairs[short], counts[short]
            return n

        weight = n_pairs if shards.view.weighted is None else max(n_pairs, self.by_weight)
        n = self._lower_threshold(weight // 1000, _STEP, self.enough, count)
        if single:
            rarer += n - self._not_too_many(counts, counts[self._mergeable(pairs)], n_pairs)
            pairs = pairs[counts >= self.threshold]
        counts = shards.list_sorted(pairs)
        if not single:  # now by what they really count: if all bounds were equal, and too high by one, no pair would be left
            mergeable = counts[self._mergeable(pairs)]
            rarer += int(np.count_nonzero(mergeable >= floor)) - self._not_too_many(counts, mergeable, 0)
        shards.give_slots(self._seed(pairs, counts))
        return rarer

    def _lower_threshold(self, first: int, factor: int, enough: int, count: Callable[[int], int]) -> int:
        """Set the threshold, `first` in the first epoch, so low that `enough` pairs reach it, if there are; how many do."""
        floor = self.min_count
        threshold = self.threshold or max(floor, first)
        while (n := count(threshold)) < enough and threshold > floor:
            threshold = max(floor, threshold // factor)
        self.threshold = threshold
        return n

    def _mergeable(self, pairs: np.ndarray) -> np.ndarray:
        """Which pairs are not too long; bool."""
        lengths = self.driver.lengths
        short: np.ndarray = lengths[pairs >> 32] + lengths[pairs & 0xFFFFFFFF] <= self.longest
        return short

    def _not_too_many(self, counts: np.ndarray, mergeable: np.ndarray, scratch: int) -> int:
        """Raise the threshold, if need be, until few enough pairs reach it.

        Parameters
        ----------
        counts
            Of all pairs whose positions will be listed.
        mergeable
            Counts of those that are not too long.
        scratch
            Cells that are being sorted.

        Returns
        -------
        How many of the mergeable pairs reach the threshold. Two rounds' worth of candidates are left, where there were as many:
        otherwise the next epoch would be this one again.
        """
        most = max(2 * self.n_candidates, _FEW_PAIRS, self.n_symbols // _PAIRS_PART)
        if np.count_nonzero(mergeable >= self.threshold) > most:
            threshold = int(np.partition(mergeable, mergeable.size - most)[mergeable.size - most])
            # of those that are as frequent there may be many more: leave them out if enough are left
            rarest = np.count_nonzero(mergeable > threshold) < max(2 * self.n_candidates, most // 4)
            self.threshold = threshold if rarest else threshold + 1
        self.threshold = min(self.threshold, self._least_chosen())  # what has been chosen is in the tables
        return int(np.count_nonzero(mergeable >= self.threshold))

    def _least_chosen(self) -> int:
        """The count of the rarest pair that the round has still to merge."""
        return int(self.task.counts[self.task.batch["n"][0] :][: self.state["pending"]].min(initial=ENDLESS))

    def _seed(self, pairs: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Enter pairs into the tables of their parts; their slots, -1 for those that are too rare or too long."""
        self.state["threshold"] = self.threshold
        slots = np.empty(pairs.size, np.int32)
        while True:
            of = self.driver
            tables = of.entries, of.slots, of.free, of.heap
            if (need := int(d.seed(of.state, of.part, *tables, of.lengths, pairs, counts, slots))) == 0:
                return slots
            self._grow(need, 0)
