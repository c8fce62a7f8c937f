"""Fitting: learn merges from a corpus, exactly, in time linear in the corpus for all practical purposes.

A fit is a loop of rounds and epochs:

    load the text
    epoch:  count all pairs of the text, choose a threshold, enter the pairs that reach it into the tables,
            and list their occurrences
    round:  choose the best pairs of the tables, merge them everywhere, update the counts of their neighbors
    ...     until too few pairs reach the threshold: then the text is compacted, the threshold falls,
            and another epoch begins

The first merges of a large text are made differently (dense.py), and the loop continues with the rest.

Rounds run in one kernel (`kernels/rounds.py`), which returns to Python every ~100 ms. The text and the lists
are in `text.py`, the tables in `kernels/pair_table.py`. `Loop` chooses thresholds, keeps to a limit of
memory, and enlarges full arrays. `learn` is a whole fit in one process; `learn_more.py` continues from an
earlier vocabulary, `memory.py` has the limit.

A fit holds its text (4 bytes per cell, or 2) and the positions of the frequent pairs (4 bytes each). The
records of a batch of merges take 12 bytes per occurrence. Only the positions can be made smaller: pairs below
the threshold have none. With room for fewer positions a fit takes more epochs; its result is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ubpe_numba.documents.read import Corpus
from ubpe_numba.fitting.history import History
from ubpe_numba.fitting.kernels import pair_table as d, rounds, text_cells
from ubpe_numba.fitting.kernels.text_cells import MOST_CELLS
from ubpe_numba.fitting.text import LocalText, Text, cut, extended
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.messages import Progress
from ubpe_numba.runtime.tables.pairs import EMPTY, rehash
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.kernels.arena import fill_arena
from ubpe_numba.vocabulary.rules import FitRules
from ubpe_numba.vocabulary.vocabulary import Vocabulary, idf

_TIES = {"smallest": d.SMALLEST, "first_seen": d.FIRST_SEEN, "fewest_documents": d.FEWEST_DOCUMENTS}
_BATCH_PART = 32  # of the symbols are merged at once: each occurrence in a batch is recorded (12 bytes)
_LEAST_BATCH_PART = 256  # or so few where memory is short
_SMALL = 1 << 16  # but not less than so many
SWEPT = 1 << 22  # symbols; the pairs of so large a text are merged by sweeps while they are dense (dense.py)
_STEP = 16  # the threshold falls by this factor: as fast as 32 or 64, and one byte per symbol less
_SMALL_STEP = 2  # and by this with a limit of memory, so that there are fewer pairs to choose from
_FEW_PAIRS = 1 << 16  # most pairs to keep of a small text
_PAIRS_PART = 128  # and of a large one, as a part of its cells: each takes ~150 bytes
# symbols; of a text so small all pairs are listed at once if there may be as many merges
_ONE_EPOCH = 1 << 18
# a corpus with weights: as many pairs as merges, since its documents tend to be short, as words are
_ONE_EPOCH_WEIGHTED = 1 << 21
_ENDLESS = 2**63 - 1
# cells; smaller shards cost more than their threads spare, and beyond a few those of twice as many
_PER_SHARD = 500_000
_ROUND = 1024  # most merges of a round with one candidate
# most pairs and tokens that there is room for at first; a round that needs more asks for it
_MOST_READY = 1 << 15

if TYPE_CHECKING:
    from ubpe_numba.fitting.memory import Memory


class Settings(NamedTuple):
    """How to fit: until the vocabulary has `n_tokens` ids, alphabet included.

    No token has more than `longest` symbols.
    """

    n_tokens: int
    n_candidates: int
    rules: FitRules
    n_threads: int
    longest: int = 2**62
    n_shards: int | None = None  # None: by the size of the corpus and the number of threads
    memory_limit: int | None = None  # bytes
    frame: int = 0  # symbols of a frame; 0 without
    # int32[alphabet]: the mirror of each symbol, if documents count with their mirrors
    mirror: np.ndarray | None = None


class Merges(NamedTuple):
    """The m merges of a fit in order of creation; merge i makes the id `n_alphabet + i`.

    All counts are by weight.
    """

    pairs: np.ndarray  # int32[m, 2]
    counts: np.ndarray  # int64[m]: adjacent occurrences, overlapping ones too, when the pair was merged
    documents: np.ndarray  # int64[m]: documents that held it then
    replaced: np.ndarray  # int64[m]: how many tokens the corpus lost
    last_round: int  # index of the first merge of the last round
    symbols: np.ndarray  # int64[n_alphabet]: occurrences of each symbol in the corpus
    lengths: np.ndarray  # int64[n_alphabet + m]: symbols in each id

    def occurrences(self) -> np.ndarray:
        """How often each id occurs in the corpus after the last merge, int64[n_alphabet + m].

        Wherever a merge replaced its pair, one occurrence of each part was lost and one of its own was won.
        """
        occurrences = np.concatenate([self.symbols, self.replaced])
        np.subtract.at(occurrences, self.pairs.ravel(), np.repeat(self.replaced, 2))
        return occurrences


def allocate_task(parts: int, tokens: int, merges: int) -> d.Task:
    """A task for batches of up to so many merges; a `Loop` makes longer arrays when a round asks for them."""
    i32, i64 = np.int32, np.int64
    return d.Task(
        batch=np.zeros(1, d.BATCH),
        left=np.zeros(merges, i32),
        right=np.zeros(merges, i32),
        slot=np.zeros(merges, i64),
        counts=np.zeros(merges, i64),
        width=np.ones(tokens, i32),
        filled_left=np.zeros(merges, i32),
        new_token=np.empty((parts, 1 << 12), i32),
        new_slot=np.empty((parts, 1 << 12), i32),
        new_end=np.zeros((parts, 2 * merges + 1), i64),
        twin_slot=np.zeros(merges, i64),
    )


class Loop:
    """The driver of a fit: the arrays of its tables, and the steps that Python takes between rounds.

    `room`: sizes of the first arrays. `settings`: how to fit, with the threads to use. `n_symbols`,
    `by_weight` and `has_weights` describe the corpus: its symbols, its symbols by weight, and whether it has
    weights. `n_parts`: the parts that share the pairs. `lengths` int64[alphabet]: symbols per id, for an
    alphabet of tokens.
    """

    def __init__(
        self, text: Text, room: tuple[int, int, int], settings: Settings, n_alphabet: int, n_symbols: int,
        by_weight: int,
        has_weights: bool, n_parts: int, lengths: np.ndarray | None = None, memory: Memory | None = None,
    ) -> None:  # fmt: skip
        self.text, self.n_alphabet, self.memory = text, n_alphabet, memory
        self.n_candidates, self.n_symbols, self.by_weight = settings.n_candidates, n_symbols, by_weight
        self.threads = settings.n_threads
        tokens, slots, merges = room
        many = self.n_candidates > d.FEW
        i32, i64 = np.int32, np.int64
        self.driver = d.Driver(
            state=np.zeros(1, d.STATE),
            part=np.zeros(n_parts, d.PART),
            entries=np.full((n_parts, 4 * slots), EMPTY, i64),
            slots=np.empty((n_parts, 2 * slots), i32),
            free=np.zeros((n_parts, slots // n_parts), i32),
            heap=np.zeros((n_parts, slots), d.ENTRY),
            sums=np.zeros((n_parts, tokens), i64),
            seen=np.zeros((n_parts, tokens), i32),
            read=np.zeros((n_parts, 2 * text.k), i64),
            used=np.zeros((2, tokens), i64),
            candidates=np.zeros(merges, d.ENTRY),
            conflicts=np.zeros(tokens * many, d.CONFLICT),
            listed=None if self.n_candidates == 1 else np.zeros(2 * n_parts * slots * many, d.LISTED),
            lengths=np.zeros(tokens, i64),
            mirror=None
            if settings.mirror is None
            else np.append(settings.mirror, np.zeros(tokens, i32))[:tokens],
            learned=np.zeros(tokens, d.LEARNED),
        )
        self.task = allocate_task(n_parts, tokens, merges)
        self.driver.lengths[:n_alphabet] = 1 if lengths is None else lengths[:n_alphabet]
        self.ties = None if settings.rules.ties == "smallest" else _TIES[settings.rules.ties]
        self.control = np.zeros(rounds.CLAIMS + rounds.LINE * max(n_parts, text.k), np.int64)
        self.threshold, self.min_count, self.longest = 0, settings.rules.min_count, settings.longest
        # beginning an epoch costs a small text more than its rounds: if there may be as many merges, all
        # pairs are listed
        small = (
            n_symbols <= (_ONE_EPOCH_WEIGHTED if has_weights else _ONE_EPOCH)
            and settings.memory_limit is None
        )
        self.wanted = max(0, settings.n_tokens - n_alphabet) if small else 0
        self.enough = max(2 * self.n_candidates, self.wanted if has_weights else 0)
        self.state = state = self.driver.state[0]
        state["next_id"] = state["round_start"] = n_alphabet
        state["limit"] = settings.n_tokens + 1 if settings.rules.overshoot else settings.n_tokens
        state["whole_rounds"] = settings.rules.overshoot
        state["min_count"] = self.min_count
        state["longest"], state["frame"] = self.longest, settings.frame
        state["ties"] = _TIES[settings.rules.ties]
        state["candidates"], state["shared_above"] = self.n_candidates, rounds.PARALLEL_ABOVE
        state["batch"] = self.batch = self.wanted_batch = max(_SMALL, by_weight // _BATCH_PART)

    def run(self, progress: Progress | None) -> Merges:
        """Run rounds and epochs until the vocabulary is full, or no pair is frequent enough.

        Silent without `progress`.
        """
        state = self.state
        if progress is not None:
            progress.start(int(state["next_id"]), int(state["limit"]))
        if state["next_id"] < state["limit"]:
            self._begin_epoch()
            full_at = -1
            while (
                reason := self.text.rounds(self.driver, self.task, self.ties, self.control, self.threads)
            ) != rounds.DONE:
                last = int(state["next_id"])
                if progress is not None:
                    progress.update(last, int(self.driver.learned["count"][last - 1]))
                if reason == rounds.THIN:
                    self.threshold = max(
                        self.min_count, self.threshold // (_STEP if self.memory is None else _SMALL_STEP)
                    )
                if reason in (rounds.THIN, rounds.FULL):
                    # a slice to be moved is longer than the rest
                    more_room = reason == rounds.FULL and full_at == last
                    self.text.compact(self.task.width, self.memory is None, more_room and self.memory is None)
                    if more_room and self.memory is not None:
                        raise MemoryError(
                            f"memory_limit: a round needs more than {self.memory.limit / 1e6:.3g} MB"
                        )
                    full_at = last if reason == rounds.FULL else full_at
                    self._begin_epoch()
                elif reason == rounds.GROW:
                    self._grow(int(state["need"]), int(state["need"]))
        else:
            self.text.count_symbols()
        if progress is not None:
            progress.finish(int(state["next_id"]))
        learned = self.driver.learned[self.n_alphabet : state["next_id"]]
        documents, replaced, symbols = (
            learned["documents"].copy(),
            learned["replaced"].copy(),
            self.text.symbol_counts,
        )
        if (mirror := self.driver.mirror) is not None:
            other = mirror[self.n_alphabet : state["next_id"]] - self.n_alphabet
            documents, replaced = documents + documents[other], replaced + replaced[other]
            symbols = symbols + symbols[mirror[: self.n_alphabet]]
        return Merges(
            np.stack([learned["left"], learned["right"]], axis=1).astype(np.int32),
            learned["count"].copy(),
            documents,
            replaced,
            max(0, learned.size - 1)
            if self.n_candidates == 1
            else int(state["round_start"]) - self.n_alphabet,
            symbols,
            self.driver.lengths[: state["next_id"]].copy(),
        )

    def _grow(self, need: int, listed: int) -> None:
        """Make room for `need` more pairs per part and `listed` new pairs of a round.

        Also for the tokens of the next round.

        An array that is too short gets at least twice the necessary length.
        """
        driver, task = self.driver, self.task
        n_parts = len(driver.part)
        pairs, heap, slots = (
            int(driver.part[name].max()) + need for name in ("n_pairs", "heap_size", "n_slots")
        )
        tokens = int(driver.state["next_id"][0]) + task.left.size
        of_tokens = (
            "sums",
            "seen",
            "used",
            "lengths",
            "learned",
            *(() if driver.mirror is None else ("mirror",)),
        )
        new = (
            extended(driver, ("heap",), heap, 2)
            | extended(driver, ("free",), slots, 2)
            | extended(driver, of_tokens, tokens, 2)
        )
        if driver.conflicts.size and "learned" in new:
            new["conflicts"] = np.zeros(2 * tokens, d.CONFLICT)
        if 2 * pairs > driver.slots.shape[1]:
            capacity = 1 << (3 * pairs).bit_length()
            new["entries"] = np.full((n_parts, 2 * capacity), EMPTY, np.int64)
            new["slots"] = np.empty((n_parts, capacity), np.int32)
            for p in range(n_parts):
                rehash(driver.entries[p], driver.slots[p], new["entries"][p], new["slots"][p])
            if driver.conflicts.size:
                new["listed"] = np.zeros(n_parts * capacity, d.LISTED)
        more = extended(task, ("width",), tokens, 2) | extended(task, ("new_token", "new_slot"), listed, 2)
        self.driver, self.task = driver._replace(**new), task._replace(**more)
        self._grow_text()

    def _grow_text(self) -> None:
        self.text.grow(
            self.driver.learned.size, len(self.driver.part) * int(self.driver.part["n_slots"].max())
        )

    # ---------------------------------------------------------------------------------------------- epochs

    def _begin_epoch(self) -> None:
        """Count all pairs of the compacted text, choose the threshold, and enter the frequent pairs."""
        state, part, batch = self.state, self.driver.part, self.task.batch[0]
        if state["stage"] == rounds.MERGE:  # no room for the next merges
            state["pending"] += batch["n"]
            batch["n"] = 0
        part[:] = 0
        part["root"] = d.NOT_KNOWN
        state["stage"] = rounds.CHOOSE
        batch["filled"] = 0
        self.driver.entries.fill(EMPTY)
        n_tokens = int(state["next_id"])
        dense = text_cells.DENSE if self.memory is None else self.memory.dense
        rarer = self._index_dense(n_tokens) if n_tokens <= dense else self._index_sorted(n_tokens)
        part["below"][0] += rarer

    def _index_dense(self, n_tokens: int) -> int:
        """Begin an epoch by a table of all pairs; returns how many pairs that may be merged are left out."""
        lengths = self.driver.lengths[:n_tokens]
        counts = self.text.count_dense(n_tokens)
        if frame := int(self.state["frame"]):
            counts *= np.equal.outer(lengths % frame == 0, lengths % frame == 0).ravel()
        if (mirror := self.driver.mirror) is not None:
            turned = mirror[:n_tokens]
            counts += counts.reshape(n_tokens, n_tokens)[np.ix_(turned, turned)].T.ravel()
        mergeable = counts
        if 2 * lengths.max() > self.longest:
            mergeable = counts * (np.add.outer(lengths, lengths) <= self.longest).ravel()
        existing = int(np.count_nonzero(mergeable >= self.min_count))
        # halved, and not divided by _STEP: the text is longest now, and this saves 1.2 bytes per symbol
        first = self.min_count if existing <= self.wanted else int(mergeable.max()) // _STEP
        enough = min(existing, self.enough)
        self._lower_threshold(first, 2, enough, lambda t: int(np.count_nonzero(mergeable >= t)))
        n = self._not_too_many(mergeable, mergeable, 0)
        frequent = np.flatnonzero((counts if self.n_candidates > 1 else mergeable) >= self.threshold)
        slots = self._seed((frequent // n_tokens << 32) | frequent % n_tokens, counts[frequent])
        self.text.list_dense(n_tokens, frequent, slots)
        return existing - n

    def _index_sorted(self, n_tokens: int) -> int:
        """Begin an epoch by sorting the pairs of the text.

        Returns an upper bound of the number of allowed pairs that are left out.
        """
        text, mirror, floor = self.text, self.driver.mirror, self.min_count
        exact = text.k == 1 and mirror is None
        if mirror is not None:
            from ubpe_numba.vocabulary.mirror import counts_of_both  # here only: few fits have one
        if self.memory is not None:
            text.shards.base["arena"][1] = min(self.memory.positions, text.shards.arena.size)
        n_pairs = text.sort_pairs(n_tokens)
        pairs = counts = np.empty(0, np.int64)
        rarer = 0

        def count(threshold: int) -> int:
            """Count the pairs that may reach the threshold; how many of them may be merged."""
            nonlocal pairs, counts, rarer
            if mirror is None:
                pairs, counts, rarer = text.count_sorted(threshold, floor)
            else:  # one of the two has half of what both have
                pairs, counts, rarer = text.count_sorted(-(-threshold // 2), -(-floor // 2))
                pairs, counts = counts_of_both(pairs, counts, mirror, threshold // 2)
                rarer += int(threshold > floor)  # both together may reach the floor
                pairs, counts = pairs[counts >= threshold], counts[counts >= threshold]
            if frame := int(self.state["frame"]):
                whole = self.driver.lengths % frame == 0
                meeting = whole[pairs >> 32] == whole[pairs & 0xFFFFFFFF]
                pairs, counts = pairs[meeting], counts[meeting]
            short = self._mergeable(pairs)
            n = int(np.count_nonzero(short))
            # a long pair may still keep one of many candidates from a round
            if self.n_candidates == 1 and n < pairs.size:
                pairs, counts = pairs[short], counts[short]
            return n

        weight = n_pairs if text.weighted is None else max(n_pairs, self.by_weight)
        n = self._lower_threshold(weight // 1000, _STEP, self.enough, count)
        if exact:
            rarer += n - self._not_too_many(counts, counts[self._mergeable(pairs)], text.scratch)
            pairs = pairs[counts >= self.threshold]
        counts = text.list_sorted(pairs)
        if mirror is not None:
            _, counts = counts_of_both(pairs, counts, mirror)
        # now by true counts: if all bounds were equal, and too high by one, no pair would be left
        if not exact:
            mergeable = counts[self._mergeable(pairs)]
            rarer += int(np.count_nonzero(mergeable >= floor)) - self._not_too_many(counts, mergeable, 0)
        text.give_slots(self._seed(pairs, counts))
        return rarer

    def _lower_threshold(self, first: int, factor: int, enough: int, count: Callable[[int], int]) -> int:
        """Set the threshold so low that `enough` pairs reach it, if they exist; returns how many do.

        The threshold is at most `first` in the first epoch.
        """
        floor = self.min_count
        threshold = self.threshold or max(floor, first)
        while (n := count(threshold)) < enough and threshold > floor:
            threshold = max(floor, threshold // factor)
        self.threshold = threshold
        return n

    def _mergeable(self, pairs: np.ndarray) -> np.ndarray:
        """Which pairs are not too long; bool."""
        lengths = self.driver.lengths
        return np.asarray(lengths[pairs >> 32] + lengths[pairs & 0xFFFFFFFF] <= self.longest)

    def _not_too_many(self, counts: np.ndarray, mergeable: np.ndarray, scratch: int) -> int:
        """Raise the threshold, if need be, until few enough pairs reach it, and their positions fit.

        `counts` is for all pairs whose positions will be listed, `mergeable` for those that are not too long,
        and `scratch` is the number of cells being sorted. Returns how many of the mergeable pairs reach the
        threshold. Candidates for two rounds remain if there were as many: otherwise the next epoch would be
        the same again.
        """
        pairs = max(_FEW_PAIRS, self.n_symbols // _PAIRS_PART) if self.memory is None else self.memory.pairs
        most = max(2 * self.n_candidates, pairs)
        if np.count_nonzero(mergeable >= self.threshold) > most:
            threshold = int(np.partition(mergeable, mergeable.size - most)[mergeable.size - most])
            # of those that are as frequent there may be many more: leave them out if enough are left
            rarest = np.count_nonzero(mergeable > threshold) < max(2 * self.n_candidates, most // 4)
            self.threshold = threshold if rarest else threshold + 1
        self.threshold = min(self.threshold, self._least_chosen())  # the chosen pairs are in the tables
        if self.memory is not None:
            best = np.sort(mergeable[mergeable >= self.threshold])[-self.n_candidates :]
            self.state["batch"] = self.batch = self.memory.batch(
                counts, self.wanted_batch, self.n_symbols // _LEAST_BATCH_PART, scratch
            )
            room = (
                self.threshold,
                min(self._least_chosen(), int(best[0]) if best.size else _ENDLESS),
                self.batch,
            )
            self.threshold, positions = self.memory.threshold(counts, *room, scratch)
            # of the only shard
            self.text.shards.base["arena"][1] = min(positions, self.text.shards.arena.size)
        return int(np.count_nonzero(mergeable >= self.threshold))

    def _least_chosen(self) -> int:
        """The count of the rarest pair that the round has still to merge."""
        return int(self.task.counts[self.task.batch["n"][0] :][: self.state["pending"]].min(initial=_ENDLESS))

    def _seed(self, pairs: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Enter pairs into the tables of their parts; their slots, -1 for rare or long pairs."""
        self.state["threshold"] = self.threshold
        slots, left = np.empty(pairs.size, np.int32), list(range(len(self.driver.part)))

        def one(p: int, _: int) -> int:
            of = self.driver
            tables = of.entries, of.slots, of.free, of.heap
            return int(rounds.seed(of.state, of.part, *tables, of.lengths, pairs, counts, slots, p))

        while left:
            needs = thread_pool.run(one, [(p, p + 1) for p in left], self.threads, pairs.size)
            left = [p for p, need in zip(left, needs, strict=True) if need]
            if left:
                self._grow(max(needs), 0)
        self._grow_text()
        return slots


def learn(
    corpus: Corpus, alphabet: Alphabet, settings: Settings, progress: Progress | None
) -> tuple[Vocabulary, History]:
    """Learn a vocabulary, in order of creation, from a corpus, and the history of its merges; see `fit`."""
    times = 1 if settings.mirror is None else 2
    return learned(
        fit(corpus, alphabet, settings, progress), times * corpus.n_documents, times * corpus.n_symbols
    )


def learned(merges: Merges, n_documents: int, n_symbols: int) -> tuple[Vocabulary, History]:
    """The vocabulary and the history that the merges of a fit make."""
    lengths = n_symbols - np.cumsum(merges.replaced)
    history = History(
        merges.counts,
        merges.documents,
        lengths,
        np.full(lengths.size, n_symbols, np.int64),
        merges.last_round,
    )
    return vocabulary_of(merges, n_documents, n_symbols), history


def vocabulary_of(
    merges: Merges, n_documents: int, n_symbols: int, old: Vocabulary | None = None, known: int = 0
) -> Vocabulary:
    """The vocabulary made by the merges of a fit, after that of `old`.

    `old` has the first `known` of these merges already.
    """
    n = merges.symbols.size if old is None else old.n_alphabet
    symbols = np.zeros(n, np.int64)
    columns = [(symbols, symbols, symbols)]
    pairs, counts, documents = merges.pairs[known:], merges.counts[known:], merges.documents[known:]
    if old is not None and old.merges is not None:
        columns.append((old.weights[n:], old.counts[n:], old.document_frequencies[n:]))
        pairs = np.concatenate([old.merges, pairs])
    occurrences = merges.occurrences()
    offsets = np.zeros(merges.lengths.size + 1, np.int64)
    np.cumsum(merges.lengths, out=offsets[1:])
    arena = np.empty(offsets[-1], np.int32)
    fill_arena(
        pairs[:, 0].copy(), pairs[:, 1].copy(), n, np.arange(len(pairs), dtype=np.int32), offsets, arena
    )
    columns.append((idf(n_documents, documents), counts, documents))
    weights, counts, frequencies = map(np.concatenate, zip(*columns, strict=True))
    return Vocabulary(
        n, pairs, arena, offsets, weights=weights, counts=counts, document_frequencies=frequencies,
        occurrences=occurrences,
        n_documents=n_documents, n_symbols=n_symbols,
    )  # fmt: skip


def fit(
    corpus: Corpus,
    alphabet: Alphabet,
    settings: Settings,
    progress: Progress | None,
    lengths: np.ndarray | None = None,
) -> Merges:
    """Learn merges until the vocabulary is full, or no pair is frequent enough.

    `lengths` int64[alphabet] are the symbols per id for an alphabet of tokens. MemoryError if the fit cannot
    keep to `memory_limit`, UnknownSymbolError for a symbol outside the alphabet. Ctrl-C works between slices
    of ~100 ms. The result does not depend on the number of threads. Source: UBPE tokenizers, part 1; the
    incremental scheme is described in the kernels.
    """
    plain = corpus.weights is None and settings.mirror is None and not settings.frame
    single = (
        settings.n_candidates == 1 and settings.rules.ties == "smallest" and alphabet.size <= text_cells.DENSE
    )
    n_symbols, n_segments = int(corpus.offsets[-1] - corpus.offsets[0]), corpus.offsets.size
    if not plain or not single or n_symbols < SWEPT:
        return loop_of(corpus, alphabet, settings, lengths).run(progress)
    from ubpe_numba.fitting.dense import FEW, merge_dense  # here only: other fits need not load it

    how = (
        settings.n_tokens + settings.rules.overshoot,
        settings.longest,
        settings.rules.min_count,
        settings.n_threads,
    )
    cell = np.int16 if how[0] <= text_cells.NARROW else np.int32
    room: tuple[int, ...] = ()  # for cells that are left, and for tokens
    if settings.memory_limit is not None:
        from ubpe_numba.fitting import memory  # here only: few fits have a limit

        size = settings.memory_limit, n_symbols + n_segments, n_segments
        room = memory.swept(*size, 1 if alphabet.size < FEW else 2, np.dtype(cell).itemsize, how[0])
    corpus, lengths, first, symbols = merge_dense(corpus, alphabet, lengths, *how, progress, *room)
    loop = loop_of(corpus, Alphabet.dense(lengths.size), settings, lengths, cell)
    del corpus  # the text is held once, by the loop
    rest = loop.run(progress)
    first_columns = first[:, :2].astype(np.int32), *first.T[2:]
    pairs, counts, documents, replaced = map(np.concatenate, zip(first_columns, rest[:4], strict=True))
    return Merges(pairs, counts, documents, replaced, max(0, counts.size - 1), symbols, rest.lengths)


def loop_of(
    corpus: Corpus,
    alphabet: Alphabet,
    settings: Settings,
    lengths: np.ndarray | None = None,
    cell: type = np.int32,
) -> Loop:
    """The loop of a fit, with its text in cells of a type; see `fit`.

    int16, which has kernels of its own, is for large texts.
    """
    n_symbols = int(corpus.offsets[-1] - corpus.offsets[0])
    if settings.frame:
        from ubpe_numba.vocabulary.frames import with_marks  # here only: few documents have frames

        corpus = with_marks(corpus, alphabet, lengths, settings.frame, text_cells.FRAME, MOST_CELLS - 2)
    # symbols, marks and separators
    n_cells = int(corpus.offsets[-1] - corpus.offsets[0]) + corpus.offsets.size
    memory = None
    if settings.memory_limit is not None:
        from ubpe_numba.fitting.memory import Memory  # here only: few fits have a limit

        divisible = corpus.weights is None and n_cells < MOST_CELLS and settings.mirror is None
        arguments = settings.memory_limit, n_cells, corpus.offsets.size, divisible
        memory = Memory.within(*arguments, np.dtype(cell).itemsize, n_tokens=settings.n_tokens)
    # one shard takes the least
    threads, n_shards = plan(n_cells, settings.n_threads if memory is None else 1, settings.n_shards)
    if settings.mirror is not None:  # a pair and its mirror may overlap at a border
        threads = n_shards = 1
        if n_cells >= MOST_CELLS:
            raise MemoryError(
                f"mirror: expected at most {MOST_CELLS - 1} symbols and separators, got {n_cells}"
            )
    settings, room = room_for(n_symbols, alphabet.size, settings, n_shards)
    weighted = corpus.weights is not None or corpus.document_of is not None
    place = cut(corpus.offsets, n_shards, 0 if settings.frame else None)
    text = LocalText(corpus, alphabet, place, weighted, room, threads, cell=cell, memory=memory)
    # other ties are decided by a look at the text, for which the driver has to be alone
    n_parts = text.k if settings.rules.ties == "smallest" else 1
    size = alphabet.size, n_symbols, corpus.n_symbols, corpus.weights is not None
    return Loop(text, room, settings._replace(n_threads=threads), *size, n_parts, lengths, memory)


def plan(n_cells: int, n_threads: int, n_shards: int | None = None) -> tuple[int, int]:
    """The number of threads and of shards, one shard per thread.

    Fewer if shards would be too small to pay (benchmarks/scaling.py), more if they would be too large.
    """
    if n_shards is not None:
        return n_threads, n_shards
    threads = max(1, min(n_threads, n_cells // _PER_SHARD, 2 + n_cells // _PER_SHARD // 2))
    return threads, max(threads, -(-n_cells // (MOST_CELLS - 2**20)))


def room_for(
    n_symbols: int, n_alphabet: int, settings: Settings, n_parts: int
) -> tuple[Settings, tuple[int, int, int]]:
    """The first sizes of a fit: tokens, slots of pairs, and merges per round.

    The last is never exceeded.

    Pairs are shared by `n_parts`. The first result is the settings, with no more candidates than symbols.
    """
    wanted = max(0, settings.n_tokens - n_alphabet)
    n_candidates = min(settings.n_candidates, max(1, n_symbols))
    merges = n_candidates if n_candidates > 1 else min(_ROUND, max(1, wanted))
    if settings.mirror is not None:
        merges *= 2
    ready = max(1 << 10, min(_MOST_READY, n_symbols // 4, 4 * wanted) // n_parts)
    room = n_alphabet + merges + min(ready, wanted), 1 << (ready - 1).bit_length(), merges
    return settings._replace(n_candidates=n_candidates), room
