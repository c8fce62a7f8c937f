"""A shard: the working text of whole documents, and where every live pair occurs in it.

The text is one int32 a cell. The first cell of a token holds its id, the last cell -(id + 2), cells between them are stale;
`SEPARATOR` (-1) stands before, between and after the documents. With `width[id]` the neighbours of a token follow from its
own cells, so there are no linked lists. Example, with 4 = (1, 2):

    documents [1, 2, 3] and [1, 2]   ->   [-1,  1, 2, 3, -1,  1, 2, -1]
    merge (1, 2) -> 4                ->   [-1,  4,-6, 3, -1,  4,-6, -1]

The occurrences of the pair in slot `s` are the ascending cell numbers `arena[start[s] : start[s] + length[s]]`; some are stale
(the pair is gone from there), which a look at the text tells.

A shard knows slots, not counts: the driver alone owns the table of pairs. Its interface is load, compact, count, index, fill
and merge; everything that is sized by the text is allocated in `fit.py` as a `Shard`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ubpe_numba._jit import kernel

SEPARATOR = -1
DEAD = np.int32(-(2**31))  # a cell in the middle of a token

BLOCK = 4  # cells >> BLOCK is the block of a cell

# state
N_CELLS, ARENA_TOP, ARENA_FULL, N_STATE = 0, 1, 2, 3


class Shard(NamedTuple):
    """The arrays of a shard of n symbols in d documents; V tokens, S slots, R merges in the largest round."""

    state: np.ndarray  # int64[N_STATE]
    cells: np.ndarray  # int32[n + d + 1]
    separators: np.ndarray  # int32[d + 1]: cell of the separator before each document, and after the last
    document_of_block: np.ndarray  # int32[cells / 16 + 1]: document that holds the first cell of each block, or begins with it
    arena: np.ndarray  # int32[2.5 n]: positions; grows from the front, sorting buffer at the end
    before: np.ndarray  # int32[n]: left neighbour of each occurrence merged in the current round, or -1
    after: np.ndarray  # int32[n]: right neighbour
    width: np.ndarray  # int32[V]: cells of a token in the text as it is laid out now
    start: np.ndarray  # int64[S]
    length: np.ndarray  # int64[S]
    left: np.ndarray  # int32[V]: dense counter of left neighbours, zero between uses
    right: np.ndarray  # int32[V]
    left_at: np.ndarray  # int64[V]: where the next position of (x, new) goes in the arena, or -1
    right_at: np.ndarray  # int64[V]
    scratch: np.ndarray  # int32[V]
    delta_token: np.ndarray  # int32[n]: for merge i, distinct left neighbours in delta_end[2i] : delta_end[2i + 1] ...
    delta_count: np.ndarray  # int32[n]: ... and right ones in delta_end[2i + 1] : delta_end[2i + 2], with their counts
    delta_end: np.ndarray  # int64[2R + 1]
    merged_at: np.ndarray  # int64[R]: first of the occurrences of merge i in the arena
    merged: np.ndarray  # int64[R]: how many there were
    merged_twins: np.ndarray  # int64[R]: how often the new token came to stand beside itself
    merged_documents: np.ndarray  # int64[R]: documents that held the pair


@kernel
def load(cells, ids, first, offsets, document):
    """Write the symbols `first : first + ids.size` of the corpus into their cells, the separators being there already.

    ids int32, offsets int64 of all documents, `document` the one to start looking in; returns the one that holds the last
    symbol, for the next chunk. Symbol j of document d stands in cell j - offsets[0] + d + 1. O(symbols + documents passed).
    """
    for j in range(ids.size):
        while first + j >= offsets[document + 1]:
            document += 1
        cells[first + j - offsets[0] + document + 1] = ids[j]
    return document


@kernel
def index_documents(n_cells, separators, document_of_block):
    """Note for every block of cells the document at its first cell. O(cells / 16 + documents)."""
    d = 0
    for block in range((n_cells - 1 >> BLOCK) + 1):
        while d < separators.size - 2 and separators[d + 1] <= block << BLOCK:
            d += 1
        document_of_block[block] = d


@kernel
def compact(n_cells, cells, separators, width):
    """Rewrite the text with one cell a token; all slices become void. Returns the number of cells. O(cells)."""
    w = np.int64(0)
    p = np.int64(0)
    d = 0
    while p < n_cells:
        token = cells[p]
        cells[w] = token
        if token == SEPARATOR:
            separators[d] = w
            d += 1
            p += 1
        else:
            p += width[token]
        w += 1
    return w
