"""What does not fit into memory: iterators of documents in bounded memory, and one text without end that comes in chunks.

An iterator is read in groups of documents, and each group is encoded or decoded as a batch. Of a text in chunks ids are given out
as soon as nothing that follows can change them (kernels/final_prefix.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ubpe_numba.coding.kernels import final_prefix
from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.documents.normalise import Documents, as_document
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.utf8 import utf8_document
from ubpe_numba.errors import LocatedError
from ubpe_numba.runtime.arrays import describe, offsets_of
from ubpe_numba.vocabulary.model import Model

BATCH = 1 << 22  # symbols, or ids, that are worked on at a time: enough for every thread

Encode = Callable[[Ragged], Ragged]

# -------------------------------------------------------------------------------------------------- iterators of documents


class Groups:
    """An iterable of documents, read in lists of about `batch` symbols together.

    Parameters
    ----------
    docs
        An iterable of several documents, named `name` in messages.
    batch
        Symbols, or ids, after which a group is closed.

    Raises
    ------
    TypeError, ValueError
        For a single document, or a `batch` that is no positive integer; at once, not when the first group is asked for.
    """

    def __init__(self, docs: Iterable[Any], batch: int, name: str) -> None:
        if isinstance(batch, bool) or not isinstance(batch, (int, np.integer)):
            raise TypeError(f"batch: expected an int, got {batch!r}")
        if batch < 1:
            raise ValueError(f"batch: expected at least 1, got {batch}")
        refuse_one(docs, name)
        self.docs, self.batch, self.name = iter(docs), int(batch), name

    def __iter__(self) -> Iterator[tuple[int, list[Any]]]:
        """The number of the first document of each group, and the group."""
        group: list[Any] = []
        first, size = 0, 0
        for i, doc in enumerate(self.docs):
            if not hasattr(doc, "__len__"):
                doc = as_document(doc, name=f"{self.name}: document {i}").values
            group.append(doc)
            size += len(doc)
            if size >= self.batch or len(group) >= self.batch:
                yield first, group
                group, first, size = [], i + 1, 0
        if group:
            yield first, group

    def through(self, batch_of: Callable[..., Any], options: dict[str, Any]) -> Iterator[tuple[int, Any]]:
        """Each group through `batch_of(group, **options)`; errors name the document by its number in the whole iterable."""
        for first, group in self:
            try:
                part = batch_of(group, **options)
            except LocatedError as error:
                raise error.at(first + error.document) from None
            yield first, part


def encode_iter(groups: Groups, encode_batch: Callable[..., Ragged], options: dict[str, Any]) -> Iterator[np.ndarray]:
    """The ids of one document after the other, as copies that keep no group alive."""
    return (ids.copy() for _, part in groups.through(encode_batch, options) for ids in part)


def decode_iter(groups: Groups, decode_batch: Callable[..., Any], errors: str) -> Iterator[Any]:
    """One document after the other."""
    for _, part in groups.through(decode_batch, {"errors": errors}):
        yield from (doc.copy() if isinstance(doc, np.ndarray) else doc for doc in part)


def encode_to(out: np.ndarray, groups: Groups, encode_batch: Callable[..., Ragged], options: dict[str, Any]) -> np.ndarray:
    """Write the ids of all documents into `out`, int32; returns int64 offsets of the documents. ValueError if it is too small."""
    sizes: list[np.ndarray] = []
    end = 0
    for first, part in groups.through(encode_batch, options):
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


def check_buffer(out: Any) -> None:
    """TypeError or ValueError unless `out` is a one-dimensional int32 array that can be written to."""
    if not isinstance(out, np.ndarray) or out.dtype != np.int32:
        raise TypeError(f"out: expected an int32 array, got {describe(out)}")
    if out.ndim != 1 or not out.flags.writeable:
        raise ValueError(f"out: expected a 1-D array that can be written to, got {describe(out)}")


def check_options(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a stream. Those that depend on the number of a document, or give more than ids, are a TypeError."""
    if wrong := set(options) - {"unknown", "allowed_special", "disallowed_special"}:
        raise TypeError(f"unexpected argument {sorted(wrong)[0]!r}: expected unknown, allowed_special or disallowed_special")
    return options


def refuse_one(docs: Any, name: str) -> None:
    """TypeError for what is one document, or no iterable."""
    one = isinstance(docs, (str, bytes, bytearray, memoryview)) or (isinstance(docs, np.ndarray) and docs.ndim < 2)
    if one or not isinstance(docs, Iterable):
        raise TypeError(f"{name}: expected an iterable of several, got {describe(docs)}; wrap a single one in a list ([{name}])")


# -------------------------------------------------------------------------------------------------- one text in chunks


def chunk_ids(model: Model, chunks: Iterable[Any], unknown: str | int) -> Iterator[np.ndarray]:
    """The alphabet ids of every chunk; an unknown symbol has the number of its chunk for a document."""
    for i, chunk in enumerate(chunks):
        read = as_document if model.segmenter.encoding is None else utf8_document
        given: Documents = read(chunk, name=f"chunks: chunk {i}")
        try:
            ids = model.alphabet.to_ids(given, unknown, name=f"chunks: chunk {i}")
        except LocatedError as error:
            raise error.at(i) from None
        yield ids.values


def frames(texts: Iterator[np.ndarray], frame: int, encode: Encode) -> Iterator[np.ndarray]:
    """Ids of a text cut after every `frame` symbols, each frame a document of its own."""
    rest = np.zeros(0, np.int32)
    for text in texts:
        rest = np.concatenate([rest, text])
        if n := rest.size // frame:
            yield encode(Ragged._trusted(rest, np.arange(n + 1, dtype=np.int64) * frame)).values
            rest = rest[n * frame :]
    if rest.size:
        yield encode(_one(rest.copy())).values


def certain(texts: Iterator[np.ndarray], encoder: PairEncoder, encode: Encode) -> Iterator[np.ndarray]:
    """Ids of a text as soon as they are final; put together, the encoding of the whole text."""
    rest, before, wanted = np.zeros(0, np.int32), -1, 0
    waiting: list[np.ndarray] = []
    for text in texts:
        waiting.append(text)
        if rest.size + sum(map(len, waiting)) < wanted:
            continue
        rest = np.concatenate([rest, *waiting])
        waiting = []
        ids = encode(_one(rest)).values
        n = final_ids(encoder, rest, ids, before)
        if n:
            yield ids[:n].copy()
            rest, before = rest[int(encoder.lengths[ids[:n]].sum()) :], int(ids[n - 1])
        wanted = 2 * rest.size  # so that what is encoded again and again adds up to a constant factor
    rest = np.concatenate([rest, *waiting])
    if rest.size:
        yield encode(_one(rest)).values


def final_ids(encoder: PairEncoder, text: np.ndarray, ids: np.ndarray, before: int) -> int:
    """How many of the `ids` of `text` are final; `before` is the final token that ends where it starts, -1 for none."""
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


def _one(text: np.ndarray) -> Ragged:
    return Ragged._trusted(text, np.array([0, text.size]))
