"""What does not fit into memory: iterators of documents in bounded memory, and one text without end that comes in chunks.

An iterator is read in groups of documents, and each group is encoded or decoded as a batch. A text in chunks is pushed into a
stream (encoder_stream.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ubpe_numba.coding.encoder_stream import EncoderStream
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import as_document
from ubpe_numba.errors import LocatedError, quoted
from ubpe_numba.runtime.arrays import describe, offsets_of

BATCH = 1 << 22  # symbols, or ids, that are worked on at a time: enough for every thread

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
            raise TypeError(f"batch: expected an int, got {quoted(batch)}")
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


def decode_iter(groups: Groups, decode_batch: Callable[..., Any], options: dict[str, Any]) -> Iterator[Any]:
    """One document after the other."""
    for _, part in groups.through(decode_batch, options):
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
        raise TypeError(
            f"unexpected argument {quoted(sorted(wrong)[0])}: expected unknown, allowed_special or disallowed_special"
        )
    return options


def refuse_one(docs: Any, name: str) -> None:
    """TypeError for what is one document, or no iterable."""
    one = isinstance(docs, (str, bytes, bytearray, memoryview)) or (isinstance(docs, np.ndarray) and docs.ndim < 2)
    if one or not isinstance(docs, Iterable):
        raise TypeError(f"{name}: expected an iterable of several, got {describe(docs)}; wrap a single one in a list ([{name}])")


# -------------------------------------------------------------------------------------------------- one text in chunks


def through(stream: EncoderStream, chunks: Iterable[Any]) -> Iterator[np.ndarray]:
    """The ids of chunks that are pushed into a stream, where there are some."""
    for chunk in chunks:
        if (ids := stream.push(chunk)).size:
            yield ids
    if (ids := stream.finish()).size:
        yield ids
