"""Run an encoding kernel over documents: chunks for threads, buffers, the joined result.

A giant document runs in blocks.

An `Encoder` is a named record of an objective's tables. Its `call(longest, out, out_offsets, first)` returns
`(kernel, args)`: `kernel(symbols, offsets, *args)` encodes documents of at most `longest` symbols, writes
their ids to `out` and where each ends to `out_offsets`, and returns how many ids there are. `args` includes
the scratch buffers; `first` is the number of the first document, on which draws depend. Its `header()` says
the same to compiled code.

A giant document is encoded by rank in blocks, which are joined (join.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from ubpe_numba.documents.ragged import Ragged, trusted
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.arrays import offsets_of, requested_threads, resolve_threads

Bounded = tuple[Callable[..., int], tuple[Any, ...]]
Call = Callable[[int, np.ndarray, np.ndarray, int], Bounded]


class Header(NamedTuple):
    """An encoder for kernels/header.py: the name of its kernel, its tables, and the words that it reads."""

    kernel: str
    tables: tuple[np.ndarray, ...]
    number: int
    most: int = 0
    fixed: int = 0
    each: int = 0


class Encoder(Protocol):
    """The tables of an objective and the two ways to encode by them: from Python and from compiled code."""

    def call(self, longest: int, out: np.ndarray, out_offsets: np.ndarray, first: int) -> Bounded:
        """The kernel and its arguments, as above."""

    def header(self) -> Header:
        """The kernel of (header, work, n), and the fields of the header that it reads."""


BLOCK = 250_000  # symbols of the shortest block: encoded in ~10 ms, of which a join costs ~1 %


def longest_of(offsets: np.ndarray) -> int:
    """Symbols of the longest document."""
    return (
        offsets.item(1) - offsets.item(0)
        if offsets.size == 2
        else int((offsets[1:] - offsets[:-1]).max(initial=0))
    )


def over_documents(call: Call, documents: Ragged, n_threads: int | None) -> Ragged:
    """Encode documents of alphabet ids in chunks for the threads.

    TypeError or ValueError for a bad `n_threads`.
    """

    def one(begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        offsets = documents._offsets[begin : end + 1]
        size = offsets.item(-1) - offsets.item(0)  # twice as fast as int(offsets[-1] - offsets[0])
        out, out_offsets = np.empty(size, np.int32), np.empty(end - begin + 1, np.int64)
        kernel, args = call(longest_of(offsets), out, out_offsets, begin)
        n = kernel(documents.values, offsets, *args)
        # most of a long buffer is not used: give it back
        return out[:n].copy() if 2 * n < size else out[:n], out_offsets

    size = documents._offsets.item(-1) - documents._offsets.item(0)
    if documents._offsets.size == 2 and size < thread_pool.LONG:
        # a loop over short documents should not pay for threads, nor count processors
        requested_threads(n_threads)
        return trusted(*one(0, 1))
    parts = thread_pool.run(one, thread_pool.chunks_of(documents._offsets, n_threads), n_threads, size)
    return trusted(*put_together(parts, n_threads))


def put_together(
    parts: list[tuple[np.ndarray, np.ndarray]], n_threads: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """The values of all parts and their offsets, int64, copied on threads.

    Copying takes a tenth of the time of encoding.

    >>> put_together([(np.array([5, 6]), np.array([0, 2])), (np.array([7]), np.array([0, 0, 1]))], 1)
    (array([5, 6, 7]), array([0, 2, 2, 3]))
    """
    if len(parts) == 1:
        return parts[0]
    first = offsets_of(np.array([values.size for values, _ in parts]))
    out = np.empty(int(first[-1]), parts[0][0].dtype)

    def copy(i: int, end: int) -> None:
        out[first[i] : first[end]] = parts[i][0]

    thread_pool.run(copy, [(i, i + 1) for i in range(len(parts))], n_threads)
    moved = [offsets[:-1] + begin for (_, offsets), begin in zip(parts, first[:-1], strict=True)]
    return out, np.concatenate([*moved, first[-1:]])


# ---------------------------------------------------------------------------------------------------- one
# giant document


#: Offsets of the blocks of all documents, int64; the divided documents and their numbers of blocks, int64[k].
#: A document that is not divided is one block.
Blocks = tuple[np.ndarray, np.ndarray, np.ndarray]


def blocks_of(offsets: np.ndarray, n_threads: int | None, least: int = BLOCK) -> Blocks | None:
    """Divide documents into blocks of at least `least` symbols for the threads; None if not worth it.

    >>> blocks_of(np.array([0, 1, 9]), 2, least=4)
    (array([0, 1, 5, 9]), array([1]), array([2]))
    """
    total = offsets.item(-1) - offsets.item(0)
    if total < 2 * least or (threads := resolve_threads(n_threads)) == 1:
        return None
    size = max(least, total // (4 * threads))
    sizes = np.diff(offsets)
    long = np.flatnonzero(sizes >= 2 * size)
    if long.size == 0:
        return None
    pieces = sizes[long] // size
    cuts = [
        start + n * np.arange(1, k) // k
        for start, n, k in zip(offsets[long], sizes[long], pieces, strict=True)
    ]
    return np.sort(np.concatenate([offsets, *cuts]), kind="stable"), long, pieces
