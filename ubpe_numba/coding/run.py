"""Run an encoding kernel over documents: chunks for the threads, buffers, the joined result; one giant document in blocks.

An encoder has a function `bound(longest, out, out_offsets, first)`, which returns `(kernel, args)`: `kernel(symbols, offsets,
*args)` encodes documents of at most `longest` symbols, writes their ids to `out` and where each ends to `out_offsets`, and
returns how many ids there are. `args` includes the scratch buffers; `first` is the number of the first document, on which draws
depend.

A giant document is encoded by rank in blocks, which are joined (join.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.arrays import requested_threads, resolve_threads

#: `bound(longest, out, out_offsets, first)` -> `(kernel, args)`; see above.
Bounded = tuple[Callable[..., int], tuple[Any, ...]]
Bound = Callable[[int, np.ndarray, np.ndarray, int], Bounded]

BLOCK = 250_000  # symbols of the shortest block: encoded in ~10 ms, of which a join costs ~1 %


def longest_of(offsets: np.ndarray) -> int:
    """Symbols of the longest document."""
    return offsets.item(1) - offsets.item(0) if offsets.size == 2 else int((offsets[1:] - offsets[:-1]).max(initial=0))


def over_documents(bound: Bound, documents: Ragged, n_threads: int | None) -> Ragged:
    """Encode documents of alphabet ids in chunks for the threads; TypeError or ValueError for a bad `n_threads`."""

    def one(begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        offsets = documents._offsets[begin : end + 1]
        size = offsets.item(-1) - offsets.item(0)  # twice as fast as int(offsets[-1] - offsets[0])
        out, out_offsets = np.empty(size, np.int32), np.empty(end - begin + 1, np.int64)
        kernel, args = bound(longest_of(offsets), out, out_offsets, begin)
        n = kernel(documents.values, offsets, *args)
        return out[:n].copy() if 2 * n < size else out[:n], out_offsets  # most of a long buffer is not used: give it back

    size = documents._offsets.item(-1) - documents._offsets.item(0)
    if documents._offsets.size == 2 and size < thread_pool.LONG:
        requested_threads(n_threads)  # a loop over short documents should not pay for threads, nor count processors
        return Ragged._trusted(*one(0, 1))
    parts = thread_pool.run(one, thread_pool.chunks_of(documents._offsets, n_threads), n_threads, size)
    if len(parts) == 1:
        return Ragged._trusted(*parts[0])
    values = np.concatenate([part for part, _ in parts])
    starts = np.cumsum([0] + [part.size for part, _ in parts])
    shifted = [part_offsets[:-1] + start for (_, part_offsets), start in zip(parts, starts[:-1], strict=True)]
    return Ragged._trusted(values, np.concatenate([*shifted, starts[-1:]]))


# ---------------------------------------------------------------------------------------------------- one giant document


#: Offsets of the blocks of all documents, int64; the documents that are cut and into how many blocks each, int64[k]. A document
#: that is not cut is one block.
Blocks = tuple[np.ndarray, np.ndarray, np.ndarray]


def blocks_of(offsets: np.ndarray, n_threads: int | None, least: int = BLOCK) -> Blocks | None:
    """Cut documents for the threads, into blocks of `least` symbols or more; None if it is not worth it for any.

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
    cuts = [start + n * np.arange(1, k) // k for start, n, k in zip(offsets[long], sizes[long], pieces, strict=True)]
    return np.sort(np.concatenate([offsets, *cuts]), kind="stable"), long, pieces
