"""Running an encoding kernel over documents: chunks for the threads, buffers, and the results put together.

A kernel here is a function of symbols, offsets, out and out_offsets: it writes the ids of every document and where they end, and
returns how many ids there are; see `by_rank.encode_rank`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.runtime import thread_pool

Kernel = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], int]
#: Gives a compiled kernel and its arguments behind symbols and offsets, scratch for documents of up to so many symbols and the
#: arrays `out` and `out_offsets` among them.
Bound = Callable[[int, np.ndarray, np.ndarray], tuple[Callable[..., int], tuple[Any, ...]]]


def longest_of(offsets: np.ndarray) -> int:
    """Symbols of the longest document.

    >>> longest_of(np.array([0, 2, 7, 7]))
    5
    """
    return offsets.item(1) - offsets.item(0) if offsets.size == 2 else int(np.diff(offsets).max(initial=0))


def over_documents(kernel: Kernel, documents: Ragged, n_threads: int | None) -> Ragged:
    """Run a kernel over the documents, cut into chunks for the threads, and join what it writes.

    Parameters
    ----------
    kernel : Kernel
        Called once for each chunk.
    documents : Ragged
        Alphabet ids.
    n_threads : int or None
        As `thread_pool.resolve` reads it; TypeError or ValueError for a bad one.
    """
    return over_chunks(lambda first: kernel, documents, n_threads)


def over_chunks(kernel_of: Callable[[int], Kernel], documents: Ragged, n_threads: int | None) -> Ragged:
    """The same for a kernel that depends on the number of the first document of a chunk, of which `kernel_of` makes it."""
    size = documents.offsets.item(-1) - documents.offsets.item(0)  # twice as fast as int(offsets[-1] - offsets[0])
    if documents.offsets.size == 2 and size < thread_pool.LONG:
        # a loop over short documents should not pay for threads, nor count processors
        thread_pool.asked_for(n_threads)  # raises for a bad n_threads
        out, out_offsets = np.empty(size, np.int32), np.empty(2, np.int64)
        n = kernel_of(0)(documents.values, documents.offsets, out, out_offsets)
        return Ragged._trusted(out[:n].copy() if 2 * n < size else out[:n], out_offsets)

    def one(begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        offsets = documents.offsets[begin : end + 1]
        out = np.empty(offsets[-1] - offsets[0], np.int32)
        out_offsets = np.empty(end - begin + 1, np.int64)
        n = kernel_of(begin)(documents.values, offsets, out, out_offsets)
        return out[:n], out_offsets

    parts = thread_pool.run(one, thread_pool.chunks_of(documents.offsets, n_threads), n_threads, size)
    if len(parts) == 1:
        values, offsets = parts[0]
        # most of a long buffer is not used: give it back
        return Ragged._trusted(values.copy() if values.size < documents.values.size // 2 else values, offsets)
    values = np.concatenate([part for part, _ in parts])
    starts = np.cumsum([0] + [part.size for part, _ in parts])
    shifted = [part_offsets[:-1] + start for (_, part_offsets), start in zip(parts, starts[:-1], strict=True)]
    return Ragged._trusted(values, np.concatenate([*shifted, starts[-1:]]))
