"""A fit in one process: what `Tokenizer.fit` calls."""

from __future__ import annotations

import numpy as np

from ubpe_numba.documents.corpus import Corpus
from ubpe_numba.fitting.all_shards import AllShards
from ubpe_numba.fitting.engine import InProcess
from ubpe_numba.fitting.history import History
from ubpe_numba.fitting.kernels.borders import allocate_borders
from ubpe_numba.fitting.kernels.text_cells import MOST_CELLS
from ubpe_numba.fitting.loop import BATCH_PART, ENDLESS, CorpusSize, Loop, Merges, Room, Settings, plan
from ubpe_numba.fitting.memory_limit import Memory
from ubpe_numba.fitting.run_rounds import run_rounds
from ubpe_numba.fitting.shards import cut
from ubpe_numba.fitting.working_text import ROOM, WorkingText
from ubpe_numba.runtime.messages import Progress
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.vocabulary import Vocabulary, idf


def learn(corpus: Corpus, alphabet: Alphabet, settings: Settings, progress: Progress) -> tuple[Vocabulary, History]:
    """Learn a vocabulary from a corpus; see `fit`.

    Returns
    -------
    The vocabulary, in order of creation, and what each merge did to the corpus.
    """
    return learned(fit(corpus, alphabet, settings, progress), corpus.n_documents, corpus.n_symbols)


def learned(merges: Merges, n_documents: int, n_symbols: int) -> tuple[Vocabulary, History]:
    """What the merges of a fit make: the vocabulary, in order of creation, and the history."""
    lengths = n_symbols - np.cumsum(merges.replaced)
    history = History(merges.counts, merges.documents, lengths, np.full(lengths.size, n_symbols, np.int64), merges.last_round)
    found = merges.pairs, idf(n_documents, merges.documents), merges.counts, merges.documents
    return Vocabulary.from_fit(merges.symbols.size, *found, merges.occurrences(), n_documents, n_symbols), history


def fit(corpus: Corpus, alphabet: Alphabet, settings: Settings, progress: Progress, offsets: np.ndarray | None = None) -> Merges:
    """Learn merges until the vocabulary is full, or no pair is frequent enough.

    Parameters
    ----------
    corpus, alphabet
        The documents, and which symbols there are. UnknownSymbolError for a symbol outside the alphabet.
    settings
        How to fit. MemoryError if the fit cannot keep to `memory_limit`.
    progress
        Shows the number of ids.
    offsets
        int64, where symbols of the alphabet stand for tokens: symbol i is one of `offsets[i + 1] - offsets[i]` symbols.

    Returns
    -------
    The merges, and how often each pair occurred.

    Notes
    -----
    Ctrl-C is obeyed between slices of ~100 ms. The result does not depend on the number of threads. Source: UBPE tokenizers,
    part 1; the incremental scheme is described in the kernels.
    """
    size = CorpusSize.of(corpus)
    memory = None
    if settings.memory_limit is not None:
        divisible = corpus.weights is None and size.cells < MOST_CELLS
        memory = Memory.within(settings.memory_limit, size.cells, corpus.offsets.size, divisible)
    if memory is not None:  # one shard takes the least
        settings = settings._replace(n_threads=1)
    threads, n_shards = plan(size.cells, settings.n_threads, settings.n_shards)
    room = Room.of(size, alphabet.size, settings, n_shards)
    place = cut(corpus.offsets, n_shards)
    given = corpus.document_of, corpus.weights
    k = place.at.size - 1
    weighted = corpus.weights is not None or corpus.document_of is not None
    text = WorkingText(corpus, alphabet, place, ROOM if k > 1 else 0, weighted, False, *room, threads)
    borders = allocate_borders(place.segment, place.inside, *given, room.merges) if k > 1 else None
    shards = AllShards(InProcess([text]).ask, k, text, borders, text.symbol_counts, not text.counted)
    return _FitHere(shards, text, size, room, settings._replace(n_threads=threads), offsets, memory).run(progress)


class _FitHere(Loop):
    """A fit in one process: whole rounds run in one kernel, on the arrays of the driver and the text alike."""

    def __init__(
        self, shards: AllShards, text: WorkingText, size: CorpusSize, room: Room, settings: Settings,
        offsets: np.ndarray | None, memory: Memory | None,
    ) -> None:  # fmt: skip
        # other ties are decided by a look at the text, for which the driver has to be alone
        n_parts = text.k if settings.rules.ties == "smallest" else 1
        super().__init__(shards, size, text.symbol_counts.size, room, settings, n_parts, offsets)
        self.text, self.memory = text, memory
        text.width = self.task.width
        self.wanted_batch = self.batch

    def _rounds(self) -> int:
        shared = self.driver, self.task, self.text.shards, self.text.weighted, self.shards.borders
        return run_rounds(shared, self.ties, self.control, self.threads)

    def _compact(self, more_room: bool) -> None:
        self.text.compact(shrink=self.memory is None)
        if more_room:
            self.text.more_room() if self.memory is None else self.memory.refuse()

    def _grow(self, need: int, listed: int) -> None:
        super()._grow(need, listed)
        self.text.grow(self.driver.learned.size, self.driver.free.size)
        self.text.width = self.task.width

    def _not_too_many(self, counts: np.ndarray, mergeable: np.ndarray, scratch: int) -> int:
        n = super()._not_too_many(counts, mergeable, scratch)
        if self.memory is None:
            return n
        best = np.sort(mergeable[mergeable >= self.threshold])[-self.n_candidates :]
        self.state["batch"] = self.batch = self.memory.batch(counts, self.wanted_batch, self.n_symbols // BATCH_PART, scratch)
        given = self.threshold, min(self._least_chosen(), int(best[0]) if best.size else ENDLESS), self.batch
        self.threshold, room = self.memory.threshold(counts, *given, scratch)
        self.text.restrict(room)
        return int(np.count_nonzero(mergeable >= self.threshold))
