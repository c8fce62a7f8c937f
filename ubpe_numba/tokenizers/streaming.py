"""Documents without end: encoding and decoding of iterators in bounded memory, and of one text that comes in chunks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ubpe_numba.coding.kernels import final_prefix
from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.coding.path_encoder import PathEncoder
from ubpe_numba.documents.normalise import Documents, as_document
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.utf8 import utf8_document
from ubpe_numba.errors import LocatedError
from ubpe_numba.runtime.arrays import describe, offsets_of

BATCH = 1 << 22  # symbols, or ids, that are worked on at a time: enough for every thread


class Streams(ABC):
    """The methods of a tokenizer for what does not fit into memory, on top of those for batches."""

    alphabet_: Any
    segmenter_: Any
    encode_batch: Callable[..., Any]
    decode_batch: Callable[..., Any]

    @abstractmethod
    def _check_fitted(self) -> None: ...

    @abstractmethod
    def _encode_ids(self, documents: Ragged) -> Ragged: ...

    @property
    @abstractmethod
    def _encoder(self) -> PairEncoder | PathEncoder: ...

    def encode_iter(self, docs: Iterable[Any], *, batch: int = BATCH, **options: Any) -> Iterator[np.ndarray]:
        """Encode the documents of an iterable one after the other, int32 ids each, in bounded memory.

        Documents are read until they have `batch` symbols together, encoded on all threads, and given out in order; what was
        read is forgotten then. The result does not depend on `batch`. `options` are `unknown`, `allowed_special` and
        `disallowed_special`, as for `encode`. TypeError for a single document; UnknownSymbolError,
        once the documents before its batch were given out, with the number of the document in the whole iterable.

        >>> from ubpe_numba import BPE
        >>> tok = BPE.from_merges([[0, 1]], alphabet="ab")
        >>> [ids.tolist() for ids in tok.encode_iter(iter(["ab", "", "bab"]))]
        [[2], [], [1, 2]]
        """
        self._check_fitted()
        groups = _groups(docs, batch, "docs")
        return (ids.copy() for _, part in self._encoded(groups, _checked(options)) for ids in part)

    def decode_iter(self, batches: Iterable[Any], *, batch: int = BATCH, errors: str = "replace") -> Iterator[Any]:
        """Decode the documents of an iterable one after the other, as `decode` does, in bounded memory.

        Documents are read until they have `batch` ids together and decoded on all threads; `errors` as for `decode`.
        UnknownTokenError has the number of the document in the whole iterable.

        >>> from ubpe_numba import BPE
        >>> list(BPE.from_merges([[0, 1]], alphabet="ab").decode_iter(iter([[2], [], [1, 2]])))
        ['ab', '', 'bab']
        """
        self._check_fitted()
        return self._decoded(_groups(batches, batch, "batches"), errors)

    def encode_to(self, out: np.ndarray, docs: Iterable[Any], *, batch: int = BATCH, **options: Any) -> np.ndarray:
        """Encode the documents of an iterable into an int32 array, such as a memory map; returns int64 offsets of the documents.

        Document i becomes ``out[offsets[i]:offsets[i + 1]]``; behind the last `out` is left as it is. ValueError if `out` is too
        small, naming the document and the position of its first id without a place, and how many whole documents there are
        before it in `out`; nothing of the one that does not fit is written. TypeError or ValueError if `out` is not a
        one-dimensional, writable int32 array of native byte order.

        >>> from ubpe_numba import BPE
        >>> out = np.zeros(4, np.int32)
        >>> BPE.from_merges([[0, 1]], alphabet="ab").encode_to(out, ["ab", "", "bab"]), out
        (array([0, 1, 1, 3]), array([2, 1, 2, 0], dtype=int32))
        """
        self._check_fitted()
        if not isinstance(out, np.ndarray) or out.dtype != np.int32:
            raise TypeError(f"out: expected an int32 array, got {describe(out)}")
        if out.ndim != 1 or not out.flags.writeable:
            raise ValueError(f"out: expected a 1-D array that can be written to, got {describe(out)}")
        sizes: list[np.ndarray] = []
        end = 0
        for first, part in self._encoded(_groups(docs, batch, "docs"), _checked(options)):
            room = out.size - end
            fits = int(np.searchsorted(part.offsets, room, side="right")) - 1
            whole = int(part.offsets[fits])
            out[end : end + whole] = part.values[:whole]
            if fits < len(part):
                raise ValueError(
                    f"out: {out.size} ids are too few: document {first + fits}, of {part[fits].size} ids, has no place from "
                    f"position {room - whole} on; the {first + fits} documents before it are whole, in out[:{end + whole}]"
                )
            end += whole
            sizes.append(part.lengths)
        return offsets_of(np.concatenate([np.zeros(0, np.int64), *sizes]))

    def encode_stream(
        self, chunks: Iterable[Any], *, frame: int | None = None, unknown: str | int = "raise"
    ) -> Iterator[np.ndarray]:
        """Encode one text without end that comes in chunks, and give out int32 ids as soon as they are certain.

        Without `frame`, what comes out is, put together, exactly the encoding of all chunks put together. That takes a rule by
        which the beginning of an encoding becomes final: with merges in order of creation and encoding by rank, ids are final
        up to the last boundary that the encodings of all prefixes that end within one token's length of the end have in common
        (proof in ``kernels/stream.py``). Usually that keeps back a few tokens. No other encoder has such a rule: `UBPE` searches
        from the end, and by the articles' batch rule a merge depends on what else a pass finds anywhere.

        For these, and for every other wish, `frame`: the text is cut after every `frame` symbols, wherever chunks end, and each
        frame is encoded as a document of its own.

        ValueError without `frame` where there is no rule. UnknownSymbolError with the number of the chunk as its document.

        >>> from ubpe_numba import BPE
        >>> tok = BPE.from_merges([[0, 1], [2, 2]], alphabet="ab")
        >>> np.concatenate(list(tok.encode_stream(["aba", "bab", "a"]))).tolist(), tok.encode("abababa").tolist()
        ([3, 2, 0], [3, 2, 0])
        """
        self._check_fitted()
        if frame is not None:
            if isinstance(frame, bool) or not isinstance(frame, (int, np.integer)):
                raise TypeError(f"frame: expected an int or None, got {frame!r}")
            if frame < 1:
                raise ValueError(f"frame: expected at least 1, got {frame}")
        elif not isinstance(self._encoder, PairEncoder) or not self._encoder.linear:
            raise ValueError(
                "frame: expected a number of symbols, got None: only encoding by rank, with merges in order of creation, "
                "makes the beginning of a text final before its end is known"
            )
        if not self.segmenter_.is_plain:
            raise ValueError("encode_stream: a text that is cut, or has special tokens, needs documents: use encode_iter")
        _refuse_one(chunks, "chunks")
        texts = self._texts(chunks, unknown)
        return self._final(texts) if frame is None else self._frames(texts, int(frame))

    def _encoded(self, groups: Iterator[tuple[int, list[Any]]], options: dict[str, Any]) -> Iterator[tuple[int, Ragged]]:
        """The number of the first document of every group, and the group encoded."""
        for first, group in groups:
            try:
                part: Ragged = self.encode_batch(group, **options)
            except LocatedError as error:
                raise error.at(first + error.document) from None
            yield first, part

    def _decoded(self, groups: Iterator[tuple[int, list[Any]]], errors: str) -> Iterator[Any]:
        for first, group in groups:
            try:
                part = self.decode_batch(group, errors=errors)
            except LocatedError as error:
                raise error.at(first + error.document) from None
            yield from (doc.copy() if isinstance(doc, np.ndarray) else doc for doc in part)

    def _texts(self, chunks: Iterable[Any], unknown: str | int) -> Iterator[np.ndarray]:
        """The alphabet ids of every chunk."""
        for i, chunk in enumerate(chunks):
            read = as_document if self.segmenter_.encoding is None else utf8_document
            given: Documents = read(chunk, name=f"chunks: chunk {i}")
            try:
                ids = self.alphabet_.to_ids(given, unknown, name=f"chunks: chunk {i}")
            except LocatedError as error:
                raise error.at(i) from None
            yield ids.values

    def _frames(self, texts: Iterator[np.ndarray], frame: int) -> Iterator[np.ndarray]:
        rest = np.zeros(0, np.int32)
        for text in texts:
            rest = np.concatenate([rest, text])
            if n := rest.size // frame:
                yield self._encode_ids(Ragged._trusted(rest, np.arange(n + 1, dtype=np.int64) * frame)).values
                rest = rest[n * frame :]
        if rest.size:
            yield self._encode_ids(Ragged._trusted(rest.copy(), np.array([0, rest.size]))).values

    def _final(self, texts: Iterator[np.ndarray]) -> Iterator[np.ndarray]:
        encoder = self._encoder
        assert isinstance(encoder, PairEncoder)
        rest, before, wanted = np.zeros(0, np.int32), -1, 0
        waiting: list[np.ndarray] = []
        for text in texts:
            waiting.append(text)
            if rest.size + sum(map(len, waiting)) < wanted:
                continue
            rest = np.concatenate([rest, *waiting])
            waiting = []
            ids = self._encode_ids(Ragged._trusted(rest, np.array([0, rest.size]))).values
            n = final_ids(encoder, rest, ids, before)
            if n:
                yield ids[:n].copy()
                rest, before = rest[int(encoder.lengths[ids[:n]].sum()) :], int(ids[n - 1])
            wanted = 2 * rest.size  # so that what is encoded again and again adds up to a constant factor
        rest = np.concatenate([rest, *waiting])
        if rest.size:
            yield self._encode_ids(Ragged._trusted(rest, np.array([0, rest.size]))).values


def final_ids(encoder: PairEncoder, text: np.ndarray, ids: np.ndarray, before: int) -> int:
    """How many of the `ids` of `text`, which a final token `before` ends at (-1: none), are final whatever follows."""
    n, longest = text.size, int(encoder.lengths.max())
    if n <= longest:
        return 0
    starts = np.cumsum(encoder.lengths[ids]) - encoder.lengths[ids]
    reach = 4 * longest
    while True:
        # if the encodings of all these prefixes go through the start of this token, none of the text before it matters
        i = max(0, int(np.searchsorted(starts, n - reach, side="right")) - 1)
        start = int(starts[i])
        last = encoder.last_tokens(text[start:], int(ids[i - 1]) if i else before)
        first = n - longest + 1 - start
        end = int(final_prefix.common_ancestor(last, encoder.lengths, first, np.zeros(last.size, np.uint8)))
        if end >= 0:
            return int(np.searchsorted(starts, start + end))
        assert i, "where the text before is final, every prefix goes through it"
        reach *= 4


def _checked(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a stream; those that depend on the number of a document, or give more than ids, are not among them."""
    if wrong := set(options) - {"unknown", "allowed_special", "disallowed_special"}:
        raise TypeError(f"unexpected argument {sorted(wrong)[0]!r}: expected unknown, allowed_special or disallowed_special")
    return options


def _groups(docs: Iterable[Any], batch: int, name: str) -> Iterator[tuple[int, list[Any]]]:
    """Lists of documents of about `batch` symbols together, and the number of the first in each; checks at once."""
    if isinstance(batch, bool) or not isinstance(batch, (int, np.integer)):
        raise TypeError(f"batch: expected an int, got {batch!r}")
    if batch < 1:
        raise ValueError(f"batch: expected at least 1, got {batch}")
    _refuse_one(docs, name)
    return _grouped(iter(docs), int(batch), name)


def _grouped(docs: Iterator[Any], batch: int, name: str) -> Iterator[tuple[int, list[Any]]]:
    group: list[Any] = []
    first, size = 0, 0
    for i, doc in enumerate(docs):
        if not hasattr(doc, "__len__"):
            doc = as_document(doc, name=f"{name}: document {i}").values
        group.append(doc)
        size += len(doc)
        if size >= batch or len(group) >= batch:
            yield first, group
            group, first, size = [], i + 1, 0
    if group:
        yield first, group


def _refuse_one(docs: Any, name: str) -> None:
    one = isinstance(docs, (str, bytes, bytearray, memoryview)) or (isinstance(docs, np.ndarray) and docs.ndim < 2)
    if one or not isinstance(docs, Iterable):
        raise TypeError(f"{name}: expected an iterable of several, got {describe(docs)}; wrap a single one in a list ([{name}])")
