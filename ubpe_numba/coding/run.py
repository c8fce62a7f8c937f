"""Run an encoding kernel over documents: chunks for the threads, buffers, the joined result; one giant document in blocks.

An encoder has a function `bound(longest, out, out_offsets, first)`, which returns `(kernel, args)`: `kernel(symbols, offsets,
*args)` encodes documents of at most `longest` symbols, writes their ids to `out` and where each ends to `out_offsets`, and
returns how many ids there are. `args` includes the scratch buffers; `first` is the number of the first document, on which draws
depend.

A giant document is encoded by rank in blocks, as if each were a document, and then a stretch around every cut once more. Two
encodings of overlapping stretches may be joined at any token that both hold at the same place: the one up to it, the other from
it on. Every two neighbours of the result are neighbours in one of the two, so they fit each other, and a sequence whose
neighbours all fit is the encoding of the symbols it covers (kernels/linear_bpe.py). A stretch that shares no token with the left
or the right of its cut is made longer, in the end up to the beginning of the document or the end of the block, where there is
nothing to join.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.arrays import offsets_of, requested_threads, resolve_threads

#: `bound(longest, out, out_offsets, first)` -> `(kernel, args)`; see above.
Bounded = tuple[Callable[..., int], tuple[Any, ...]]
Bound = Callable[[int, np.ndarray, np.ndarray, int], Bounded]

BLOCK = 250_000  # symbols of the shortest block: encoded in ~10 ms, of which a join costs ~1 %
_AROUND = 1024  # tokens at each side of a cut that are encoded again at first
_TOKEN = 8  # symbols that one of them may have, on average: else there are fewer


def longest_of(offsets: np.ndarray) -> int:
    """Symbols of the longest document."""
    return offsets.item(1) - offsets.item(0) if offsets.size == 2 else int(np.diff(offsets).max(initial=0))


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


def join(
    encode: Callable[[np.ndarray], np.ndarray],
    documents: Ragged,
    blocks: Blocks,
    parts: Ragged,
    lengths: np.ndarray,
    around: int = _AROUND,
) -> Ragged:
    """Join the encodings of blocks, `parts`, to that of their documents.

    `encode` gives the ids of one stretch of symbols; `lengths` int64[V], symbols of the tokens; `around`: tokens at each side of
    a cut that are encoded again at first.
    """
    values: list[np.ndarray] = []
    block_offsets, cut_ones, pieces_of = blocks
    extra = np.zeros(len(documents), np.int64)
    extra[cut_ones] = pieces_of - 1
    first_block = np.arange(len(documents)) + np.cumsum(extra) - extra
    sizes = np.diff(parts._offsets)[first_block]
    taken = 0
    for document, pieces in zip(cut_ones.tolist(), pieces_of.tolist(), strict=True):
        block = int(first_block[document])
        values.append(parts.values[taken : parts._offsets[block]])
        taken = int(parts._offsets[block + pieces])
        done = [parts[block]]
        for i in range(block + 1, block + pieces):
            cut, stop = block_offsets[i : i + 2].tolist()
            _append(done, encode, documents.values, int(documents._offsets[document]), cut, stop, parts[i], lengths, around)
        sizes[document] = sum(part.size for part in done)
        values.extend(done)
    values.append(parts.values[taken : parts._offsets[-1]])
    return Ragged._trusted(np.concatenate(values), offsets_of(sizes))


def _append(
    done: list[np.ndarray],
    encode: Callable[[np.ndarray], np.ndarray],
    symbols: np.ndarray,
    start: int,
    cut: int,
    stop: int,
    ids: np.ndarray,
    lengths: np.ndarray,
    around: int,
) -> None:
    """Join the ids of the block cut..stop to those of its document before it, which begins at `start`.

    Only the side that shares no token is made longer: in periodic text, where two phases never meet, that is the right one, up to
    the whole block, which is 1.1 blocks in all. O(block), where the left shares one soon.
    """
    before = after = around
    while True:
        while len(done) > 1 and done[-1].size < before:
            done[-2:] = [np.concatenate(done[-2:])]
        left = done[-1][-before:][::-1]
        near = np.searchsorted(np.cumsum(lengths[left]), _TOKEN * before, side="right")
        left = left[: max(1, near)][::-1]  # one token at least
        near = np.searchsorted(np.cumsum(lengths[ids[:after]]), _TOKEN * after, side="right")
        right = ids[: max(1, near)]
        left_starts = cut - np.cumsum(lengths[left][::-1])[::-1]
        right_starts = cut + np.cumsum(lengths[right]) - lengths[right]
        first, last = int(left_starts[0]), int(right_starts[-1] + lengths[right[-1]])
        middle = encode(symbols[first:last])
        starts = first + np.cumsum(lengths[middle]) - lengths[middle]
        in_left = _shared(left_starts, left, starts, middle)
        in_right = _shared(right_starts, right, starts, middle)
        joins_left, joins_right = in_left.size or first == start, in_right.size or last == stop
        if joins_left and joins_right:
            break
        before *= 1 if joins_left else 4
        after *= 1 if joins_right else 16
    begin, end, kept, rest = 0, middle.size, done[-1].size - left.size, ids.size
    if in_left.size:  # from the first token that the left has too
        begin = int(in_left[0])
        kept += int(np.searchsorted(left_starts, starts[begin]))
    if in_right.size:  # to the last that the right has too
        end = int(in_right[-1])
        rest = int(np.searchsorted(right_starts, starts[end]))
    done[-1] = done[-1][:kept]
    done += [middle[begin:end], ids[rest:]]


def _shared(starts: np.ndarray, ids: np.ndarray, other_starts: np.ndarray, other_ids: np.ndarray) -> np.ndarray:
    """Indices of the other tokens, ascending, that the one sequence holds at the same place."""
    i = np.minimum(np.searchsorted(starts, other_starts), starts.size - 1)
    return np.flatnonzero((starts[i] == other_starts) & (ids[i] == other_ids))
