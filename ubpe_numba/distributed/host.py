"""A host of a fit: shards in a worker process, made of consecutive partitions.

A host holds the text of some consecutive shards, a thread each. The driver (remote_text.py) sends all hosts
one message and waits for their answers, which is one synchronization, or sends a message to one host. A
message is a call of a method:

    driver                                             host
    step(7, slices of new pairs, merges) ──────────>   writes slices of the last batch's pairs, then merges
    <──────────── neighbours, counts, outermost tokens

Messages of rounds have numbers. A message that is repeated, as another host was lost, gets the same answer. A
lost host is made again from its part of the corpus, encodes it with the merges so far, and lists the pairs of
the driver.
"""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple, TypeVar

import numpy as np
from distributed import get_worker

from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.distributed.cluster import with_name
from ubpe_numba.distributed.kernels.remote import MOST, add_neighbours, give_first, rewrite, take_over
from ubpe_numba.distributed.sources import corpus_of, documents_of, no_documents
from ubpe_numba.documents.ragged import trusted
from ubpe_numba.documents.read import Corpus, Documents, as_corpus
from ubpe_numba.errors import UnknownSymbolError
from ubpe_numba.fitting.fit import allocate_task, plan
from ubpe_numba.fitting.kernels import rounds
from ubpe_numba.fitting.kernels.pair_table import Task
from ubpe_numba.fitting.text import Cut, LocalText, cut
from ubpe_numba.runtime.arrays import offsets_of, resolve_threads
from ubpe_numba.vocabulary.alphabet import Alphabet, distinct_symbols
from ubpe_numba.vocabulary.vocabulary import Vocabulary

T = TypeVar("T")

_SLOTS = 1 << 12  # room for pairs at first


class Part(NamedTuple):
    """Summary of a host's part of the corpus, sent to the driver."""

    n_symbols: int  # as they are laid out
    by_weight: int  # with weights counted
    n_documents: int  # by weight
    n_segments: int
    weighted: bool  # occurrences have weights, or segments are not documents
    has_weights: bool
    first_weight: int  # of the first and of the last document; 0 if there is none
    last_weight: int
    # of each partition, of symbols, segments and weights: whether it was read differently
    checks: tuple[int, ...]
    name: str = ""  # for messages
    kind: str = "int"  # of the documents, those of weight 0 included
    n_given: int = 0  # their symbols
    low: int = 0  # the least and the largest symbol; 0 and -1 if there is none
    high: int = -1


class Setup(NamedTuple):
    """How the text of a host is laid out."""

    alphabet: Alphabet
    weighted: bool  # any host's occurrences have weights
    merges: int  # most in a round
    n_shards: int | None  # None: by the size of the part and the number of threads


class Loaded(NamedTuple):
    """The text of a host of K shards, as the driver sees it."""

    state: np.ndarray  # SHARD_STATE[K]
    arenas: np.ndarray  # int64[K]: positions in the arena of each
    at: np.ndarray  # int64[K + 1]: where shards begin, in symbols from the beginning of the part
    segments: np.ndarray  # int64[K]
    inside: np.ndarray  # bool[K + 1]: whether the shard begins inside a segment
    documents: np.ndarray  # int64[K, 2]: the first and the last document of each shard, -1 if it has none
    weights: np.ndarray  # int64[K, 2]: of the two
    # int64[alphabet], by weight: of the last symbols of segments, as `LocalText` has them
    symbol_counts: np.ndarray
    n_shards: int  # requested; the same part is divided at the same places with as many


class Stepped(NamedTuple):
    """Result of a batch of n merges in a host of K shards."""

    state: np.ndarray  # SHARD_STATE[K]
    delta_end: np.ndarray  # int64[K, 2n + 1]
    delta: np.ndarray  # int32: those of the shards, one after the other
    merged: np.ndarray  # MERGED[K, n]
    delta_by_weight: np.ndarray | None  # int64, as many as there are in `delta`
    merged_by_weight: np.ndarray | None  # MERGED_BY_WEIGHT[K, n]

    def added_up(self) -> Stepped:
        """The neighbours of all shards added up, as those of the first one."""
        begins, weights = offsets_of(self.delta_end[:, -1]), self.delta_by_weight
        room = int(begins[-1]) + (int(self.delta[1::2].sum(dtype=np.int64) // MOST) if weights is None else 0)
        added_weights = None if weights is None else np.empty(room, np.int64)
        size = int(self.delta[::2].max(initial=0)) + 1
        added, added_end = np.empty(2 * room, np.int32), np.zeros_like(self.delta_end)
        scratch = np.zeros(size, np.int64), np.empty(size, np.int32)
        n = add_neighbours(
            self.delta, weights, self.delta_end, begins, *scratch, added, added_weights, added_end[0]
        )
        added_weights = None if added_weights is None else added_weights[:n]
        return self._replace(delta_end=added_end, delta=added[: 2 * n], delta_by_weight=added_weights)


class Fills(NamedTuple):
    """The frequent pairs of the last batch, as in a `Task` of a single part."""

    first_id: int
    left: np.ndarray  # int32[n]: left parts of its merges
    token: np.ndarray  # int32
    slot: np.ndarray  # int32
    end: np.ndarray  # int64[2n + 1]
    twin_slot: np.ndarray  # int64[n]


class Batch(NamedTuple):
    """The merges of a batch."""

    first_id: int
    left: np.ndarray  # int32[n]
    right: np.ndarray  # int32[n]
    slot: np.ndarray  # int64[n]


class Host:
    """Some consecutive shards of a fit.

    `corpus` is its part of the corpus. `n_threads` work on it; None: as many as there are. `names`, `sizes`
    and `joined` describe its partitions, for messages: the documents of each, or its symbols if they are one
    document together. `checks` are checksums of the partitions. `index` is that of the host in the fit.
    """

    text: LocalText
    task: Task

    def __init__(
        self, corpus: Corpus, n_threads: int | None = None, names: Sequence[str] = ("",),
        sizes: Sequence[int] = (),
        joined: bool = False, checks: Sequence[int] = (), index: int = 0,
    ) -> None:  # fmt: skip
        self.corpus, self.checks, self.index = corpus, tuple(checks) or (check_of(corpus),), index
        self.n_threads, self.names, self.joined = resolve_threads(n_threads), list(names), joined
        self.first = offsets_of(np.array(sizes, np.int64))
        self.number = -1  # of the last message of rounds
        self.answer: Any = None
        self.loaded: Loaded | None = None
        self.listed = -1  # a message whose slices already exist

    def part(self) -> Part:
        """Summary for the driver, before it decides how to load."""
        corpus, documents = self.corpus, self.corpus.given
        n, weights = corpus.offsets.size - 1, corpus.weights
        first, last = (0, 0) if n == 0 else (1, 1) if weights is None else (int(weights[0]), int(weights[-1]))
        weighted = weights is not None or corpus.document_of is not None
        sizes = int(corpus.offsets[-1] - corpus.offsets[0]), corpus.n_symbols, corpus.n_documents, n
        values = documents.values[documents.offsets[0] : documents.offsets[-1]]
        low, high = (int(values.min()), int(values.max())) if values.size else (0, -1)
        name, has = name_of_range(self.names), weights is not None
        return Part(
            *sizes, weighted, has, first, last, self.checks, name, documents.kind, values.size, low, high
        )

    def distinct(self) -> np.ndarray:
        """The distinct symbols of the documents, ascending."""
        return distinct_symbols(self.corpus.given)

    def load(
        self,
        setup: Setup,
        merges: np.ndarray | None = None,
        starts: np.ndarray | None = None,
        tail: np.ndarray | None = None,
    ) -> Loaded:
        """Lay out the text; the part of the corpus is given back then.

        For a host that is made again: the merges so far, int32[m, 2]. `starts`: the beginnings of its shards
        and the end of the last, in symbols from the beginning of its part, int64[K + 1]; or int64[2], only
        its own ends. `tail`: alphabet ids, int32, after its part, of tokens that it has taken over.
        UnknownSymbolError for a symbol outside the alphabet, with its partition.
        """
        if self.loaded is not None:  # another host was lost before it could answer
            return self.loaded
        corpus = self.corpus
        try:
            text, place, at = self._laid_out(corpus, setup, merges, starts, tail)
        except UnknownSymbolError as error:
            at_all = error.position if self.joined else error.document
            i = int(np.searchsorted(self.first, at_all, side="right")) - 1
            inside = at_all - int(self.first[i])
            document, position = (0, inside) if self.joined else (inside, error.position)
            raise with_name(
                UnknownSymbolError(document, position, error.symbol, error.hint), self.names[i]
            ) from None
        del self.corpus
        self.text, k, segments = text, text.k, place.segments
        self.task = allocate_task(1, text.shards.counters.shape[2], setup.merges)
        documents, weights = np.full((k, 2), -1, np.int64), np.zeros((k, 2), np.int64)
        for i, (begin, end) in enumerate(segments):
            if end > begin:
                ends = np.array([begin, end - 1])
                documents[i] = ends if corpus.document_of is None else corpus.document_of[ends]
                weights[i] = 1 if corpus.weights is None else corpus.weights[ends]
        sizes = np.array([end - begin for begin, end in segments], np.int64)
        self.loaded = Loaded(
            *self._state(), at, sizes, place.inside, documents, weights, text.symbol_counts, self.asked
        )
        return self.loaded

    def _state(self) -> tuple[np.ndarray, np.ndarray]:
        """The states of the shards, and their arenas."""
        return self.text.shards.state.copy(), np.diff(self.text.shards.base["arena"])

    def resume(
        self, setup: Setup, merges: np.ndarray, starts: list[np.ndarray], tails: list[np.ndarray]
    ) -> Loaded:
        """Lay out the text of a fit that is continued.

        `starts` and `tails` are those of all hosts, int64[2] each.
        """
        return self.load(setup, merges, starts[self.index], tails[self.index])

    def _text(self, corpus: Corpus, alphabet: Alphabet, place: Cut, setup: Setup) -> LocalText:
        room = alphabet.size + 2 * setup.merges, _SLOTS, setup.merges
        return LocalText(corpus, alphabet, place, setup.weighted, room, self.n_threads, whole=False)

    def _laid_out(
        self,
        corpus: Corpus,
        setup: Setup,
        merges: np.ndarray | None,
        starts: np.ndarray | None,
        tail: np.ndarray | None,
    ) -> tuple[LocalText, Cut, np.ndarray]:
        """The text, its division, and the beginnings of shards in the part.

        Then `merges` are made of the symbols that its shards now hold.

        No token has ever crossed the present beginnings of shards, so every shard can be encoded by itself.
        """
        n_cells = int(corpus.offsets[-1] - corpus.offsets[0]) + corpus.offsets.size
        self.asked = plan(n_cells, self.n_threads, setup.n_shards)[1]
        place = cut(corpus.offsets, self.asked)  # the same for the same part
        if merges is None or starts is None or tail is None:
            return self._text(corpus, setup.alphabet, place, setup), place, place.at - corpus.offsets[0]
        n, first = setup.alphabet.size, int(corpus.offsets[0])
        ids = setup.alphabet.lookup(corpus.values[first : corpus.offsets[-1]])
        ids = np.concatenate([ids, tail])
        offsets = corpus.offsets - first
        offsets[-1] += tail.size  # they continue at the end of the last segment
        vocabulary = Vocabulary.from_merges(n, merges, max_symbols=1 << 62) if len(merges) else None
        # in a fit that is continued, shards begin with the first tokens at or after the divisions
        if starts.size < len(place.at):
            inside = np.diff(np.clip(offsets, *starts))
            ends = np.arange(starts[0], starts[1] + 1)
            if vocabulary is not None:
                whole = trusted(ids[starts[0] : starts[1]], offsets_of(inside))
                pair_ids = PairEncoder(vocabulary, batch=False).encode(whole, self.n_threads).values
                ends = starts[0] + offsets_of(np.diff(vocabulary.offsets)[pair_ids])
            inner = np.minimum(np.searchsorted(ends, place.at[1:-1] - first), ends.size - 1)
            starts = np.concatenate([starts[:1], ends[inner], starts[1:]])
        lengths, at = [], [0]
        for (begin, end), (start, stop) in zip(
            place.segments, np.stack([starts[:-1], starts[1:]], 1), strict=True
        ):
            lengths.append(np.diff(np.clip(offsets[begin : end + 1], start, stop)))
            at.append(at[-1] + end - begin)
        text = trusted(ids[starts[0] : starts[-1]], offsets_of(np.concatenate(lengths)))
        if vocabulary is not None:
            text = PairEncoder(vocabulary, batch=False).encode(text, self.n_threads)
        # divided segments are now duplicated
        segments = np.concatenate([np.arange(begin, end) for begin, end in place.segments]).astype(np.int64)
        document_of = corpus.document_of
        if setup.weighted:
            document_of = segments.astype(np.int32) if document_of is None else document_of[segments]
        weights = None if corpus.weights is None else corpus.weights[segments]
        encoded = corpus._replace(
            values=text.values, offsets=text.offsets, document_of=document_of, weights=weights
        )
        shards = Cut(text.offsets[at], np.array(at), np.zeros(len(at), bool))
        return self._text(encoded, Alphabet.dense(n + len(merges)), shards, setup), place, starts

    def count_dense(self, n_tokens: int) -> np.ndarray:
        """See `Text`; in as few bytes as will do."""
        counts = self.text.count_dense(n_tokens)
        return counts.astype(np.min_scalar_type(int(counts.max(initial=0))))

    def list_dense(self, n_tokens: int, pairs: np.ndarray, slots: np.ndarray) -> None:
        """See `Text`."""
        self._grow(n_tokens, int(slots.max(initial=0)) + 1)
        self.text.list_dense(n_tokens, pairs, slots)

    def sort_pairs(self, n_tokens: int) -> int:
        """See `Text`."""
        self._grow(n_tokens, 0)
        return self.text.sort_pairs(n_tokens)

    def count_sorted(self, least: int, floor: int) -> tuple[np.ndarray, np.ndarray, int]:
        """See `Text`: the pairs that may occur `least` times in this host."""
        pairs, counts, below = self.text.count_sorted(least, floor)
        return pairs.copy(), counts.copy(), below

    def list_sorted(self, pairs: np.ndarray) -> np.ndarray:
        """See `Text`."""
        return self.text.list_sorted(pairs)

    def give_slots(self, slots: np.ndarray) -> None:
        """See `Text`."""
        self._grow(0, int(slots.max(initial=0)) + 1)
        self.text.give_slots(slots)

    def list_again(self, number: int, n_tokens: int, pairs: np.ndarray, slots: np.ndarray) -> None:
        """List pairs, ascending, at these slots, before message `number` is repeated.

        For a host that was made again.
        """
        self.sort_pairs(n_tokens)
        self.list_sorted(pairs)
        self.give_slots(slots)
        self.listed = number

    def compact(self, more_room: bool) -> tuple[np.ndarray, np.ndarray]:
        """One cell a token again; all slices become void.

        The states of the shards, and their arenas, twice as long if asked.
        """
        self.text.compact(self.task.width, True, more_room)
        return self._state()

    def step(self, number: int, fills: Fills | None, batch: Batch | None) -> Stepped | None:
        """Write the slices that the last batch created, then merge `batch`.

        None if there is none to merge.
        """
        return self._once(number, lambda: self._step(None if number == self.listed else fills, batch))

    def _once(self, number: int, work: Callable[[], T]) -> T:
        """The answer to a message of rounds, whose work is done once only."""
        if number != self.number:
            self.answer, self.number = work(), number
        answer: T = self.answer
        return answer

    def _step(self, fills: Fills | None, batch: Batch | None) -> Stepped | None:
        tokens = slots = 0
        if fills is not None:
            tokens = fills.first_id + fills.left.size
            slots = int(max(fills.slot.max(initial=0), fills.twin_slot.max(initial=0))) + 1
        if batch is not None:
            tokens, slots = (
                max(tokens, batch.first_id + batch.left.size),
                max(slots, int(batch.slot.max()) + 1),
            )
        self._grow(tokens, slots, 0 if fills is None else fills.token.size)
        text, task, row = self.text, self.task, self.task.batch[0]
        row["n"] = row["filled"] = 0
        if fills is not None:
            n = fills.left.size
            row["filled"], row["filled_first"] = n, fills.first_id
            task.filled_left[:n], task.twin_slot[:n] = fills.left, fills.twin_slot
            task.new_token[0, : fills.token.size], task.new_slot[0, : fills.slot.size] = (
                fills.token,
                fills.slot,
            )
            task.new_end[0, : 2 * n + 1] = fills.end
        if batch is not None:
            n = batch.left.size
            row["n"], row["first_id"] = n, batch.first_id
            task.left[:n], task.right[:n], task.slot[:n] = batch.left, batch.right, batch.slot
            task.width[batch.first_id : batch.first_id + n] = task.width[batch.left] + task.width[batch.right]
        kind = np.int64(rounds.FILL if batch is None else rounds.MERGE)
        if fills is not None or batch is not None:
            text.each(lambda k: rewrite(kind, k, task, text.shards, text.weighted))
        if batch is None:
            return None
        n, a = batch.left.size, text.shards
        ends = a.delta_end[:, : 2 * n + 1].copy()
        spans = [
            (begin, begin + size)
            for begin, size in zip(a.base["cells"][:-1].tolist(), ends[:, -1].tolist(), strict=True)
        ]
        delta, by_weight, merged_by_weight = (
            np.concatenate([a.delta[2 * begin : 2 * end] for begin, end in spans]),
            None,
            None,
        )
        if (w := text.weighted) is not None:
            by_weight = np.concatenate([w.delta[begin:end] for begin, end in spans])
            merged_by_weight = w.merged[:, :n].copy()
        done = Stepped(a.state.copy(), ends, delta, a.merged[:, :n].copy(), by_weight, merged_by_weight)
        return done if text.k == 1 else done.added_up()

    def _grow(self, tokens: int, slots: int, listed: int = 0) -> None:
        """Make room for `tokens` and `slots`, and `listed` new pairs of a batch.

        Arrays that are too small are doubled.
        """
        task, shards, more = self.task, self.text.shards, {}
        if tokens > task.width.size:
            more["width"] = np.ones(2 * tokens, np.int32)
            more["width"][: task.width.size] = task.width
        if listed > task.new_token.shape[1]:
            more |= {name: np.empty((1, 2 * listed), np.int32) for name in ("new_token", "new_slot")}
        self.task = task._replace(**more)
        tokens = 2 * tokens if tokens > shards.counters.shape[2] else 0
        self.text.grow(tokens, 2 * slots if 2 * slots > shards.slices.shape[1] else 0)

    def take_over(self, number: int, k: int, slot: int, token: int, same: bool) -> tuple[int, np.ndarray]:
        """Move the first token of the shard after shard k to the end of shard k, as the kernel does.

        Returns its answer, and the shards' states.
        """
        shards, width = self.text.shards, self.task.width
        return self._once(
            number, lambda: (int(take_over(shards, k, slot, width, token, same)), shards.state.copy())
        )

    def give_first(self, number: int, k: int) -> tuple[int, np.ndarray]:
        """Give the first token of shard k away; 1, and the states of the shards."""
        shards, width = self.text.shards, self.task.width
        return self._once(number, lambda: (give_first(shards, k, width) or 1, shards.state.copy()))


def name_of_range(names: Sequence[str]) -> str:
    """The name of consecutive partitions in messages.

    >>> name_of_range(["partition 3", "partition 4"]), name_of_range(["a.parquet"])
    ('partition 3 to partition 4', 'a.parquet')
    """
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"


def check_of(corpus: Corpus) -> int:
    """A checksum of symbols, segments and weights."""
    values, check = corpus.values[corpus.offsets[0] : corpus.offsets[-1]], 0
    for array in (values, np.diff(corpus.offsets), corpus.document_of, corpus.weights):
        check = check if array is None else zlib.crc32(np.ascontiguousarray(array).data, check)
    return check


def make_host(parts: list[Any], how: bytes) -> Host:
    """A host of partitions, on the worker that runs the call.

    `parts` are documents as for `Tokenizer.fit`.

    `how` is a pickle of: the tokenizer; the column of documents of tables; the weights and the boundaries of
    each partition, as for `fit`, or None. For a single document these are those of the whole. Then the name
    of each partition, whether they are one document together, and the index of the host. TypeError,
    ValueError and OSError as of `Tokenizer.fit`, with the name of the partition before the message.
    """
    tokenizer, column, beside, names, joined, index = pickle.loads(how)
    corpora, sizes, called, checks = [], [], names, []
    if joined:
        sizes, called = [len(part) for part in parts], [name_of_range(names)]
        parts = [np.concatenate(parts)]
    for i, ((weights, boundaries), name) in enumerate(zip(beside, called, strict=True)):
        documents, parts[i] = parts[i], None  # one after the other may be given back
        try:
            documents = documents_of(documents, column)
            if no_documents(documents):  # they are of any kind
                corpora.append(as_corpus([], None, weights, boundaries))
            else:
                corpora.append(_narrow(corpus_of(tokenizer, documents, weights, boundaries)))
        except (TypeError, ValueError, OSError) as error:
            raise with_name(error, name) from None
    if joined:
        values = corpora[0].given.values
        checks = [
            zlib.crc32(values[end - n : end].data) for n, end in zip(sizes, accumulate(sizes), strict=True)
        ]
    else:
        sizes, checks = [corpus.given.offsets.size - 1 for corpus in corpora], list(map(check_of, corpora))
    return Host(
        _side_by_side(corpora, called), get_worker().state.nthreads, names, sizes, joined, checks, index
    )


def _narrow(corpus: Corpus) -> Corpus:
    """The corpus with its integers in as few bytes as possible.

    A host holds all its partitions while it lays them out.
    """
    documents, values = corpus.given, corpus.values
    if documents.kind == "int" and documents.values is values and values.size:
        kind = np.result_type(np.min_scalar_type(values.min()), np.min_scalar_type(values.max()))
        values = values.astype(min(kind, values.dtype, key=lambda dtype: dtype.itemsize), copy=False)
        return corpus._replace(given=documents._replace(values=values), values=values)
    return corpus


def _side_by_side(corpora: list[Corpus], names: Sequence[str]) -> Corpus:
    """One corpus of all documents; TypeError, with two partitions, if they differ in kind."""
    filled = [
        (c, name) for c, name in zip(corpora, names, strict=True) if c.given.offsets[-1] > c.given.offsets[0]
    ]
    for corpus, name in filled[1:]:
        first, first_name = filled[0]
        if corpus.given.kind != first.given.kind:
            raise TypeError(
                f"parts: expected documents of one kind, got {first.given.kind} ({first_name}) and "
                f"{corpus.given.kind} ({name})"
            )
    if len(corpora) == 1:
        return corpora[0]
    kind = filled[0][0].given.kind if filled else "int"
    arrays = values, offsets = _joined([(c.values, c.offsets) for c in corpora])
    if not all(c.given.values is c.values and c.given.offsets is c.offsets for c in corpora):
        # for alphabets: documents of weight 0 too
        arrays = _joined([(c.given.values, c.given.offsets) for c in corpora])
    document_of = weights = None
    if any(c.document_of is not None for c in corpora):
        numbers = [np.arange(c.offsets.size - 1) if c.document_of is None else c.document_of for c in corpora]
        begins = offsets_of(np.array([0 if n.size == 0 else int(n[-1]) + 1 for n in numbers]))
        document_of = np.concatenate(
            [n + at for n, at in zip(numbers, begins.tolist(), strict=False)]
        ).astype(np.int32)
    if any(c.weights is not None for c in corpora):
        weights = np.concatenate(
            [np.ones(c.offsets.size - 1, np.int64) if c.weights is None else c.weights for c in corpora]
        )
    sizes = sum(c.n_documents for c in corpora), sum(c.n_symbols for c in corpora)
    return Corpus(Documents(*arrays, kind), values, offsets, document_of, weights, *sizes)


def _joined(arrays: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Values and offsets of documents one after the other."""
    values = np.concatenate([v[o[0] : o[-1]] for v, o in arrays])
    return values, offsets_of(np.concatenate([np.diff(o) for _, o in arrays]))
