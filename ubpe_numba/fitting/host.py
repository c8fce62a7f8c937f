"""Shards of a fit that live apart from its driver: in a worker process, on another machine.

A host holds the text of some consecutive shards, a thread each, and answers messages (engine.py):

    driver                                             host
    step(7, slices of new pairs, merges) ──────────>   writes the slices that the batch before created, then merges
    <──────────── neighbours, counts, outermost tokens

Messages of rounds have numbers: one that is repeated, as another host was lost, gets the answer that it got before. A host is
made of its part of the corpus; a lost one is made anew, encodes that part with the merges so far, and lists the pairs of the
driver.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.documents.corpus import Corpus
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.fitting.kernels import index, rounds
from ubpe_numba.fitting.kernels import pair_counts as d
from ubpe_numba.fitting.kernels.borders import give_first, take_over
from ubpe_numba.fitting.loop import plan
from ubpe_numba.fitting.messages import Batch, Fills, Loaded, Origin, Part, Setup, Span, Stepped, least_bytes
from ubpe_numba.fitting.shards import Cut, cut
from ubpe_numba.fitting.working_text import ROOM, PairLists, WorkingText
from ubpe_numba.runtime import thread_pool
from ubpe_numba.vocabulary.alphabet import Alphabet, distinct_symbols
from ubpe_numba.vocabulary.vocabulary import Vocabulary

T = TypeVar("T")

_SLOTS = 1 << 12  # room for pairs at first


class Host:
    """Some consecutive shards of a fit.

    Parameters
    ----------
    corpus
        Its part of the corpus.
    n_threads
        To work on them; None: as many as there are.
    """

    def __init__(self, corpus: Corpus, n_threads: int | None = None) -> None:
        self.corpus: Corpus | None = corpus
        self.n_threads = thread_pool.resolve(n_threads)
        self.number = -1  # of the last message of rounds
        self.answer: Any = None
        self.loaded: Loaded | None = None
        self.listed = -1  # a message whose slices are there already

    # ---------------------------------------------------------------------------------------------- the text

    def part(self) -> Part:
        """What the driver has to know before it decides how to load."""
        corpus = self._corpus()
        begin, end = int(corpus.offsets[0]), int(corpus.offsets[-1])
        first = last = 0
        if corpus.offsets.size > 1:
            first, last = (1, 1) if corpus.weights is None else (int(corpus.weights[0]), int(corpus.weights[-1]))
        check = 0
        for array in (corpus.values[begin:end], np.diff(corpus.offsets), corpus.document_of, corpus.weights):
            check = check if array is None else zlib.crc32(np.ascontiguousarray(array).data, check)
        weighted = corpus.weights is not None or corpus.document_of is not None
        sizes = end - begin, corpus.n_symbols, corpus.n_documents, corpus.offsets.size - 1
        return Part(*sizes, weighted, corpus.weights is not None, first, last, check)

    def span(self) -> Span:
        """What alphabets are learned from."""
        given = self._corpus().given
        values = given.values[given.offsets[0] : given.offsets[-1]]
        low, high = (int(values.min()), int(values.max())) if values.size else (0, -1)
        return Span(given.kind, values.size, low, high)

    def distinct(self) -> np.ndarray:
        """The distinct symbols of the documents, ascending."""
        return distinct_symbols(self._corpus().given)

    def load(self, setup: Setup, origin: Origin | None = None) -> Loaded:
        """Lay out the text; the part of the corpus is given back then.

        UnknownSymbolError for a symbol outside the alphabet.
        """
        if self.loaded is not None:  # another host was lost before it could answer
            return self.loaded
        corpus, alphabet = self._corpus(), setup.alphabet
        if origin is None:
            place = self._place(corpus, setup)
            made = self._text(corpus, alphabet, place, setup)
            at = place.at - corpus.offsets[0]
        else:
            made, place = self._made_again(corpus, setup, origin)
            at = origin.starts
        self.corpus = None
        self.text = made
        self.task = d.allocate_task(1, made.shards.counters.shape[2], setup.merges)
        made.width = self.task.width
        k, segments = made.k, place.segments
        documents, weights = np.full((k, 2), -1, np.int64), np.zeros((k, 2), np.int64)
        for i, (begin, end) in enumerate(segments):
            if end > begin:
                ends = np.array([begin, end - 1])
                documents[i] = ends if corpus.document_of is None else corpus.document_of[ends]
                weights[i] = 1 if corpus.weights is None else corpus.weights[ends]
        sizes = np.array([end - begin for begin, end in segments], np.int64)
        state = made.shards.state.copy()
        self.loaded = Loaded(state, self._arenas(), at, sizes, place.inside, documents, weights, made.symbol_counts, self.asked)
        return self.loaded

    def _corpus(self) -> Corpus:
        if self.corpus is None:
            raise RuntimeError("the part of a host is loaded once")
        return self.corpus

    def _place(self, corpus: Corpus, setup: Setup) -> Cut:
        """Where the part is cut into shards; the same for the same part."""
        n_cells = int(corpus.offsets[-1] - corpus.offsets[0]) + corpus.offsets.size
        self.asked = plan(n_cells, self.n_threads, setup.n_shards)[1]
        return cut(corpus.offsets, self.asked, setup.near)

    def _text(self, corpus: Corpus, alphabet: Alphabet, place: Cut, setup: Setup) -> WorkingText:
        tokens = alphabet.size + 2 * setup.merges
        return WorkingText(corpus, alphabet, place, ROOM, setup.weighted, True, tokens, _SLOTS, setup.merges, self.n_threads)

    def _made_again(self, corpus: Corpus, setup: Setup, origin: Origin) -> tuple[WorkingText, Cut]:
        """The text after the merges so far, of the symbols that its shards hold by now.

        No token has ever stood across the places where shards begin now, so every shard can be encoded by itself.
        """
        place = self._place(corpus, setup)
        n, first = setup.alphabet.size, int(corpus.offsets[0])
        ids = setup.alphabet.lookup(corpus.values[first : corpus.offsets[-1]])
        ids = np.concatenate([ids, origin.tail])
        offsets = corpus.offsets - first
        offsets[-1] += origin.tail.size  # they go on where the last segment ended
        lengths, at = [], [0]
        for (begin, end), (start, stop) in zip(place.segments, np.stack([origin.starts[:-1], origin.starts[1:]], 1), strict=True):
            lengths.append(np.diff(np.clip(offsets[begin : end + 1], start, stop)))
            at.append(at[-1] + end - begin)
        starts = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
        text = Ragged._trusted(ids[origin.starts[0] : origin.starts[-1]], starts)
        if len(origin.pairs):
            vocabulary = Vocabulary.from_merges(n, origin.pairs, max_symbols=1 << 62)
            text = PairEncoder(vocabulary, batch=False).encode(text, self.n_threads)
        # segments that are cut stand there twice now
        segments = np.concatenate([np.arange(begin, end) for begin, end in place.segments]).astype(np.int64)
        document_of = corpus.document_of
        if setup.weighted:
            document_of = segments.astype(np.int32) if document_of is None else document_of[segments]
        weights = None if corpus.weights is None else corpus.weights[segments]
        encoded = corpus._replace(values=text.values, offsets=text.offsets, document_of=document_of, weights=weights)
        shards = Cut(text.offsets[at], np.array(at), np.zeros(len(at), bool))
        return self._text(encoded, Alphabet.dense(n + len(origin.pairs)), shards, setup), place

    def _arenas(self) -> np.ndarray:
        return np.diff(self.text.shards.base["arena"])

    # ---------------------------------------------------------------------------------------------- epochs

    def count_dense(self, n_tokens: int) -> np.ndarray:
        """See `WorkingText`; in as few bytes as will do."""
        return least_bytes(self.text.count_dense(n_tokens))

    def list_dense(self, n_tokens: int, pairs: np.ndarray, slots: np.ndarray) -> None:
        """See `WorkingText`."""
        self._grow(n_tokens, int(slots.max(initial=0)) + 1)
        self.text.list_dense(n_tokens, pairs, slots)
        self.task.batch["filled"] = 0

    def sort_pairs(self, n_tokens: int) -> int:
        """See `WorkingText`."""
        self._grow(n_tokens, 0)
        self.n_tokens = n_tokens
        return self.text.sort_pairs(n_tokens)

    def count_sorted(self, least: int, floor: int) -> PairLists:
        """The pairs that may occur `least` times in this host, one list; of several shards with upper bounds of their counts."""
        k = self.text.k
        found = self.text.count_sorted(max(1, -(-least // k)), floor)
        n, below = int((found.ends - found.begins).sum()), found.below
        if k == 1:
            pairs, counts = found.pairs[:n].copy(), found.counts[:n].copy()
        else:
            scratch = np.zeros((3, self.n_tokens), np.int64)
            pairs, counts = np.empty(n, np.int64), np.empty(n, np.int64)
            begins, ends = np.append(found.begins, 0), np.append(found.ends, 0)  # no list across borders
            n = index.add_up(found.pairs, found.counts, begins, ends, max(1, -(-least // k)), least, scratch, pairs, counts)
            pairs, counts, below = pairs[:n].copy(), counts[:n].copy(), int(least > floor)
        return PairLists(pairs, counts, np.zeros(1, np.int64), np.array([n]), below)

    def list_sorted(self, pairs: np.ndarray) -> np.ndarray:
        """See `WorkingText`."""
        return self.text.list_sorted(pairs)

    def give_slots(self, slots: np.ndarray) -> None:
        """See `WorkingText`."""
        self._grow(0, int(slots.max(initial=0)) + 1)
        self.text.give_slots(slots)
        self.task.batch["filled"] = 0

    def list_again(self, number: int, n_tokens: int, pairs: np.ndarray, slots: np.ndarray) -> None:
        """List pairs, ascending, at these slots: of a host that was made again, before message `number` is repeated to it."""
        self.sort_pairs(n_tokens)
        self.list_sorted(pairs)
        self.give_slots(slots)
        self.listed = number

    def compact(self, more_room: bool) -> tuple[np.ndarray, np.ndarray]:
        """One cell a token again; all slices become void. The states of the shards, and their arenas, twice as long if asked."""
        self.text.compact(shrink=True)
        if more_room:
            self.text.more_room()
        return self.text.shards.state.copy(), self._arenas()

    # ---------------------------------------------------------------------------------------------- rounds

    def step(self, number: int, fills: Fills | None, batch: Batch | None) -> Stepped | None:
        """Write the slices that the batch before created, then merge this one; None if there is none to merge."""
        return self._once(number, lambda: self._step(None if number == self.listed else fills, batch))

    def _once(self, number: int, work: Callable[[], T]) -> T:
        """What a message of rounds brings, done once only."""
        if number != self.number:
            self.answer, self.number = work(), number
        answer: T = self.answer
        return answer

    def _step(self, fills: Fills | None, batch: Batch | None) -> Stepped | None:
        self._told(fills, batch)
        text, task = self.text, self.task
        kind = np.int64(rounds.FILL if batch is None else rounds.MERGE)
        if fills is not None or batch is not None:
            text.each(lambda k: rounds.rewrite(kind, k, task, text.shards, text.weighted))
        task.batch["filled"] = 0
        if batch is None:
            return None
        n, a = batch.left.size, text.shards
        ends = a.delta_end[:, : 2 * n + 1].copy()
        begins = a.base["cells"][:-1].tolist()
        sizes = ends[:, -1].tolist()
        delta = np.concatenate([a.delta[2 * begin : 2 * (begin + size)] for begin, size in zip(begins, sizes, strict=True)])
        by_weight = merged_by_weight = None
        if (w := text.weighted) is not None:
            by_weight = np.concatenate([w.delta[begin : begin + size] for begin, size in zip(begins, sizes, strict=True)])
            merged_by_weight = w.merged[:, :n].copy()
        done = Stepped(a.state.copy(), ends, delta, a.merged[:, :n].copy(), by_weight, merged_by_weight)
        return done if text.k == 1 else Stepped.together([done])

    def _told(self, fills: Fills | None, batch: Batch | None) -> None:
        """Write into the task what the driver says."""
        tokens = slots = 0
        if fills is not None:
            tokens = fills.first_id + fills.left.size
            slots = int(max(fills.slot.max(initial=0), fills.twin_slot.max(initial=0))) + 1
        if batch is not None:
            tokens, slots = max(tokens, batch.first_id + batch.left.size), max(slots, int(batch.slot.max()) + 1)
        self._grow(tokens, slots, 0 if fills is None else fills.token.size)
        task = self.task
        told = task.batch[0]
        told["n"] = told["filled"] = 0
        if fills is not None:
            n = fills.left.size
            told["filled"], told["filled_first"] = n, fills.first_id
            task.filled_left[:n], task.twin_slot[:n] = fills.left, fills.twin_slot
            task.new_token[0, : fills.token.size], task.new_slot[0, : fills.slot.size] = fills.token, fills.slot
            task.new_end[0, : 2 * n + 1] = fills.end
        if batch is not None:
            n = batch.left.size
            told["n"], told["first_id"] = n, batch.first_id
            task.left[:n], task.right[:n], task.slot[:n] = batch.left, batch.right, batch.slot
            task.width[batch.first_id : batch.first_id + n] = task.width[batch.left] + task.width[batch.right]

    def _grow(self, tokens: int, slots: int, listed: int = 0) -> None:
        """Room for so many tokens and slots, and so many new pairs of a batch; twice as much where there is less."""
        task, shards, more = self.task, self.text.shards, {}
        if tokens > task.width.size:
            more["width"] = np.ones(2 * tokens, np.int32)
            more["width"][: task.width.size] = task.width
        if listed > task.new_token.shape[1]:
            more |= {name: np.empty((1, 2 * listed), np.int32) for name in ("new_token", "new_slot")}
        self.task = task._replace(**more)
        self.text.width = self.task.width
        tokens = 2 * tokens if tokens > shards.counters.shape[2] else 0
        self.text.grow(tokens, 2 * slots if 2 * slots > shards.slices.shape[1] else 0)

    # ---------------------------------------------------------------------------------------------- borders

    def take_over(self, number: int, k: int, slot: int, token: int, same: bool) -> tuple[int, np.ndarray]:
        """Take the first token of the shard behind shard k to its end, and list the pair that it completes.

        Returns 1, or, with nothing changed, 0 if the last token of shard k is not free (of a run of one token, merged from left
        to right, the last is free if their number is odd; `same`: the pair is one of equal tokens), -1 if there is no room for
        it; and the states of the shards.
        """
        shards, width = self.text.shards, self.task.width
        return self._once(number, lambda: (int(take_over(shards, k, slot, width, token, same)), shards.state.copy()))

    def give_first(self, number: int, k: int) -> tuple[int, np.ndarray]:
        """Give the first token of shard k away; 1, and the states of the shards."""

        def give() -> tuple[int, np.ndarray]:
            give_first(self.text.shards, k, self.task.width)
            return 1, self.text.shards.state.copy()

        return self._once(number, give)
