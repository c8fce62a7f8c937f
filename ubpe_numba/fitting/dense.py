"""The dense phase of a large fit: each batch of merges is one sweep over the text.

No occurrence is listed while pairs are dense.

A fit lists the occurrences of pairs, 4 bytes each in addition to 4 per cell, and looks at each place when it
merges. That is right for rare pairs. The first pairs of a large text are not rare: 88 merges leave a third of
a genome. These are made here, by sweeps over cells of a byte or two (kernels/sweeps.py). The fit then
continues with the rest as a corpus over the tokens so far.

The rule: `fit` sweeps a text of `SWEPT` symbols or more over a small alphabet. Each occurrence must count 1,
rounds make one merge, and ties go to the smaller pair. A pair is dense, and merged here, if it occurs at
least once in `PART` bytes of the text: then a sweep takes less time than its list would.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import pairwise
from typing import TypeVar

import numpy as np

from ubpe_numba.documents.read import Corpus, Documents
from ubpe_numba.fitting.kernels import sweeps, text_cells
from ubpe_numba.fitting.text import CHUNK, ids_of
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.messages import Progress
from ubpe_numba.vocabulary.alphabet import Alphabet

T = TypeVar("T")

PART = 512
# separators of cells with a byte, and with two: ids are below, so that a table of pairs has 34 MB
_NARROW, _WIDE = 254, 2048
FEW = 192  # symbols whose text has become so short when it needs two bytes a cell that there is room for both
_BATCH = 64  # most merges of a sweep
# most cells that are swept between two looks at Ctrl-C: 50 ms; the least are a 32nd, or threads do not pay
_PIECE = 1 << 24
_NEAR = 4096  # cells in which a piece may begin later
_WIDEST = 1024  # cells of a token; the text is compacted before one could be wider
_ROOM = _WIDEST + 2 * sweeps.LANES  # cells after the text, which are loaded


class DenseText:
    """A text while its pairs are dense, the counts of all pairs, and the merges made so far.

    Parameters as in `merge_dense`.
    """

    def __init__(self, corpus: Corpus, alphabet: Alphabet, lengths: np.ndarray | None, threads: int) -> None:
        first, offsets = int(corpus.offsets[0]), corpus.offsets - corpus.offsets[0]
        n, v = int(offsets[-1]), alphabet.size
        narrow = v < FEW
        self.threads, self.separator = threads, _NARROW if narrow else _WIDE
        self.document_of = corpus.document_of
        self.lengths = [1] * v if lengths is None else lengths.tolist()
        self.separators = offsets + np.arange(offsets.size)
        self.used = self.live = n + offsets.size  # cells, and those that are not dead
        self.cells = np.empty(self.used + _ROOM, np.uint8 if narrow else np.uint16)
        self.width = np.ones(_WIDE, np.int64)
        self.merges: list[tuple[int, ...]] = []
        counts, lock = np.zeros((v + 1, v + 1), np.int64), threading.Lock()

        def load(begin: int, end: int) -> None:
            for at in range(begin, end, CHUNK):
                ids = ids_of(corpus, alphabet, first + at, first + min(at + CHUNK, end))
                text_cells.load(ids, at, offsets, self.cells)

        def count(begin: int, end: int) -> None:
            sweeps.count_pairs(self.cells, begin, min(end, self.used - 1), mine := np.zeros_like(counts))
            with lock:
                np.add(counts, mine, out=counts)

        self._each(load, list(pairwise([*range(0, n, _PIECE >> 2), n])))
        self.cells[self.separators] = self.separator
        self._each(count, self._pieces([]))
        self.symbols: np.ndarray = counts[:v].sum(axis=1)  # a token or a separator follows each
        self.counts = np.zeros((self.separator + 1, self.separator + 1), np.int64)
        self.counts[:v, :v] = counts[:v, :v]

    def choose(self, limit: int, longest: int, min_count: int, left: int) -> list[tuple[int, int, int]]:
        """The left, right and new tokens of the next merges that are dense, with ids below `limit`.

        While there are more than `left` cells every pair is dense.
        One merge after the other would choose the same; the proof is in kernels/choose.py.
        """
        v = len(self.lengths)
        if v == self.separator == _NARROW and v < limit:
            self._widen()
        counts, lengths = self.counts, np.array(self.lengths)

        def look(a: int) -> tuple[int, int]:
            """The right token of the most frequent pair with `a`, the smallest of equals, and its count."""
            row = np.where(lengths + lengths[a] <= longest, counts[a, :v], 0)
            return int(row.argmax()), int(row.max())

        least = max(min_count, self.used * self.cells.itemsize // PART if self.live <= left else 0)
        table = counts[:v, :v]
        if 2 * lengths.max() > longest:
            table = np.where(np.add.outer(lengths, lengths) <= longest, table, 0)
        best = table.argmax(axis=1)  # of the pairs with each left token, those taken apart
        most = table[np.arange(v), best].copy()
        used_left, used_right, twins = np.zeros(v, bool), np.zeros(v, bool), 0
        batch: list[tuple[int, int, int]] = []
        taken: list[int] = []
        for new in range(v, min(v + _BATCH, limit, self.separator)):
            a = int(most.argmax())
            b, count = int(best[a]), int(most[a])
            if count < least or used_right[a] or used_left[b] or 2 * count < twins:
                break
            used_left[a] = used_right[b] = True
            twins = max(twins, count) if a == b else twins
            batch.append((a, b, new))
            taken.append(count)
            counts[a, b] = 0  # in place: a copy of the table would be as large as a small genome
            best[a], most[a] = look(a)
        for (a, b, _), count in zip(batch, taken, strict=True):
            counts[a, b] = count
        return batch

    def merge(self, batch: list[tuple[int, int, int]]) -> None:
        """Merge a batch everywhere, and carry the counts of pairs."""
        if 4 * self.live < 3 * self.used or self.width.max() > _WIDEST // 2:
            self.compact()
        for a, b, new in batch:
            self.width[new] = self.width[a] + self.width[b]
            self.lengths.append(self.lengths[a] + self.lengths[b])
        pieces, counts, n, table = self._pieces(batch), self.counts, len(self.lengths), np.array(batch)
        across = [self._across(begin) for begin, _ in pieces[1:]]
        neighbours, lock = np.zeros((2, len(batch), self.separator + 2), np.int64), threading.Lock()

        def one(begin: int, end: int) -> np.ndarray:
            mine, at = np.zeros_like(neighbours), np.empty(sweeps.BLOCK + sweeps.LANES, np.int64)
            swept = np.zeros(len(batch), sweeps.SWEPT)
            swept["first"] = swept["last"] = swept["until"] = -1
            swept["segment"] = np.searchsorted(self.separators, begin, "right") - 1
            where = self.cells, begin, end, self.separators, self.document_of
            sweeps.sweep(*where, table, self.width, at, mine[0], mine[1], swept)
            with lock:
                np.add(neighbours, mine, out=neighbours)
            return swept

        outcomes = self._each(one, pieces)
        replaced = np.sum([swept["replaced"] for swept in outcomes], axis=0)
        # the document that was counted last
        documents, last = np.zeros(len(batch), np.int64), np.full(len(batch), -1)
        for swept in outcomes:
            documents += swept["documents"] - ((swept["first"] >= 0) & (swept["first"] == last))
            last = np.where(swept["first"] >= 0, swept["last"], last)
        chosen = counts[table[:, 0], table[:, 1]]
        self.merges += zip(
            *table[:, :2].T.tolist(), chosen.tolist(), documents.tolist(), replaced.tolist(), strict=True
        )
        self.live -= int(replaced.sum())
        for (a, b, new), before, after, gone in zip(batch, *neighbours[:, :, :n], replaced, strict=True):
            counts[a, b] -= gone
            counts[:n, a] -= before
            counts[:n, new] += before
            counts[b, :n] -= after
            counts[new, :n] += after
        for pair, (begin, _) in zip(across, pieces[1:], strict=True):
            counts[pair] -= 1
            counts[self._across(begin)] += 1

    def compact(self, drop_separators: bool = False) -> None:
        """Remove dead cells, and separators if requested.

        Then `separators` are the beginnings of documents, and the end of the last.
        """
        pieces, cells, separators = self._pieces([]), self.cells, self.separators
        begins = [begin for begin, _ in pieces]
        firsts = np.searchsorted(separators, [*begins, self.used]).tolist()
        first_of, dropped = dict(zip(begins, firsts, strict=False)), self.separator + (not drop_separators)

        def one(begin: int, end: int) -> int:
            return int(
                sweeps.compact(cells, begin, end, separators, first_of[begin], self.separator, dropped)
            )

        ends = self._each(one, pieces)
        self.used = 0
        for begin, end, first, after in zip(begins, ends, firsts, firsts[1:], strict=False):
            cells[self.used : self.used + end - begin] = cells[begin:end]
            separators[first:after] -= begin - self.used
            self.used += end - begin
        self.live = self.used
        self.width[:] = 1

    def _widen(self) -> None:
        """Go on with cells of two bytes."""
        self.compact()
        narrow, wide = self.cells, np.empty(self.used + _ROOM, np.uint16)
        self._each(lambda begin, end: np.copyto(wide[begin:end], narrow[begin:end]), self._pieces([]))
        wide[self.separators] = self.separator = _WIDE
        counts, self.cells = np.zeros((_WIDE + 1, _WIDE + 1), np.int64), wide
        counts[:_NARROW, :_NARROW] = self.counts[:_NARROW, :_NARROW]
        self.counts = counts

    def _across(self, begin: int) -> tuple[int, int]:
        """The token that ends before a cell, and the token that begins there."""
        before = begin - 1
        while self.cells[before] == self.separator + 1:
            before -= 1
        return int(self.cells[before]), int(self.cells[begin])

    def _pieces(self, batch: list[tuple[int, int, int]]) -> list[tuple[int, int]]:
        """Divide the text into pieces (begin, end) without a merge of the batch across a border."""
        size, begins = min(_PIECE, max(_PIECE >> 5, -(-self.used // self.threads))), [0]
        merged = {(left, right) for left, right, _ in batch}
        for at in range(size, self.used, size):
            for reach in (_NEAR // 64, _NEAR):  # nearly always the first few will do
                near = self.cells[at : min(at + reach, self.used)]
                live = np.flatnonzero(near != self.separator + 1)
                pairs = zip(live[1:], pairwise(near[live].tolist()), strict=True)
                begin = next((at + end for end, pair in pairs if pair not in merged), 0)
                if begin > begins[-1]:
                    begins.append(begin)
                    break
        return list(pairwise([*begins, self.used]))

    def _each(self, function: Callable[[int, int], T], pieces: list[tuple[int, int]]) -> list[T]:
        """`function(begin, end)` of every piece, on the threads."""
        return thread_pool.run(function, pieces, self.threads, self.used)


def merge_dense(
    corpus: Corpus, alphabet: Alphabet, lengths: np.ndarray | None, limit: int, longest: int, min_count: int,
    threads: int,
    progress: Progress | None, left: int = 2**62, ids: int = 2**62,
) -> tuple[Corpus, np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Make the merges that are dense, and those without which more than `left` cells remain.

    See `Settings`.

    Ids are below `ids` and below `limit`, at which the fit ends.

    `lengths` int64[alphabet] are the symbols per id, None if it is one. Returns four results. First the
    corpus over the tokens so far, and the symbols per token, int64[V]. Then the left and right tokens,
    counts, documents and replacements of the merges, int64[m, 5], and the occurrences of each symbol,
    int64[alphabet]. UnknownSymbolError for a symbol outside the alphabet.
    """
    text = DenseText(corpus, alphabet, lengths, threads)
    if progress is not None:
        progress.start(alphabet.size, limit)
    while batch := text.choose(min(limit, ids), longest, min_count, left):
        text.merge(batch)
        if progress is not None:
            progress.update(len(text.lengths), text.merges[-1][2])
    text.compact(drop_separators=True)
    text.cells.resize(text.used, refcheck=False)  # in place, to give back memory that is not used any more
    documents = Documents(text.cells, text.separators, "int")
    corpus = corpus._replace(
        given=documents, values=documents.values, offsets=documents.offsets, n_symbols=text.used
    )
    return corpus, np.array(text.lengths), np.array(text.merges, np.int64).reshape(-1, 5), text.symbols
