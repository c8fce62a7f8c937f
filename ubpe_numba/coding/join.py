"""Joining the encodings of the blocks of a giant document, by rank.

A giant document is encoded by rank in blocks, as if each block were a document. Then a stretch around each
block border is encoded again.

Encodings of two overlapping stretches may be joined at any token that both hold at the same place. The result
takes the first encoding up to that token and the second from it on. Each pair of neighbors of the result is a
pair of neighbors in one of the two encodings, so it fits. A sequence whose neighbors all fit is the encoding
of the symbols that it covers (kernels/linear_bpe.py).

A stretch that shares no token with the left or right side of its border is made longer. At the latest it
reaches the beginning of the document or the end of the block, and no join is needed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ubpe_numba.coding.run import Blocks
from ubpe_numba.documents.ragged import Ragged, trusted
from ubpe_numba.runtime.arrays import offsets_of

_AROUND = 1024  # tokens at each side of a cut that are encoded again at first
_TOKEN = 8  # symbols per token, on average, that one of them may have; otherwise fewer tokens are in it


def join(
    encode: Callable[[np.ndarray], np.ndarray],
    documents: Ragged,
    blocks: Blocks,
    parts: Ragged,
    lengths: np.ndarray,
    around: int = _AROUND,
) -> Ragged:
    """Join the encodings of blocks, `parts`, to that of their documents.

    `encode` gives the ids of a stretch of symbols. `lengths` int64[V] are the symbols per token. `around` is
    the number of tokens on each side of a border that are encoded again at first.
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
            _append(
                done,
                encode,
                documents.values,
                int(documents._offsets[document]),
                cut,
                stop,
                parts[i],
                lengths,
                around,
            )
        sizes[document] = sum(part.size for part in done)
        values.extend(done)
    values.append(parts.values[taken : parts._offsets[-1]])
    return trusted(np.concatenate(values), offsets_of(sizes))


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

    Only the side that shares no token is made longer. In periodic text two phases never meet: the right side
    then grows to the whole block, 1.1 blocks in all. O(block) if the left side shares a token soon.
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
    begin, end, left_stop, rest = 0, middle.size, done[-1].size - left.size, ids.size
    if in_left.size:  # from the first token that the left has too
        begin = int(in_left[0])
        left_stop += int(np.searchsorted(left_starts, starts[begin]))
    if in_right.size:  # to the last that the right has too
        end = int(in_right[-1])
        rest = int(np.searchsorted(right_starts, starts[end]))
    done[-1] = done[-1][:left_stop]
    done += [middle[begin:end], ids[rest:]]


def _shared(
    starts: np.ndarray, ids: np.ndarray, other_starts: np.ndarray, other_ids: np.ndarray
) -> np.ndarray:
    """Ascending indices of the tokens of the second sequence that the first holds at the same place."""
    i = np.minimum(np.searchsorted(starts, other_starts), starts.size - 1)
    return np.flatnonzero((starts[i] == other_starts) & (ids[i] == other_ids))
