"""A shard: the working text of whole documents, and where every live pair occurs in it.

The text is one int32 a cell. The first cell of a token holds its id, the last cell -(id + 2), cells between them are stale;
`SEPARATOR` (-1) stands before, between and after the segments. A segment is a document, or a part of one that no token may
leave. With `width[id]` the neighbours of a token follow from its own cells, so there are no linked lists. Example, with
4 = (1, 2):

    documents [1, 2, 3] and [1, 2]   ->   [-1,  1, 2, 3, -1,  1, 2, -1]
    merge (1, 2) -> 4                ->   [-1,  4,-6, 3, -1,  4,-6, -1]

The occurrences of the pair in slot `s` are the ascending cell numbers from `arena[slices[2s]]` on, `slices[2s + 1]` of them;
some are stale (the pair is gone from there), which a look at the text tells.

A shard knows slots, not counts: the driver alone owns the tables of pairs. Its interface is load, compact, count, index, fill
and merge. All shards of a fit lie side by side in the arrays of one `Shards`, so that one compiled kernel serves any number.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.runtime.jit import helper, kernel

SEPARATOR = -1
DEAD = np.int32(-(2**31))  # a cell in the middle of a token
MOST_CELLS = 2**30  # of a shard: so that 1.6 times as many positions in the arena are int32

BLOCK = 4  # cells >> BLOCK is the block of a cell

# columns of `base`: where a shard begins in the arrays that are sized by the text
CELLS, SEPARATORS, BLOCKS, ARENA = range(4)
# columns of `state`
N_CELLS, ARENA_TOP, FIRST, LAST, N_STATE = 0, 1, 2, 3, 8
# columns of `merged`, a row per merge of the round
AT, OCCURRENCES, TWINS, DOCUMENTS, IN_FIRST, IN_LAST, FIRST_AFTER, LAST_AFTER, N_MERGED = range(9)


class Shards(NamedTuple):
    """The arrays of K shards; n symbols in s segments, V tokens, S slots, R merges in the largest round."""

    base: np.ndarray  # int64[K + 1, 4]
    state: np.ndarray  # int64[K, N_STATE]; FIRST and LAST are the outermost tokens, -1 in an empty shard
    cells: np.ndarray  # int32[n + s + K + room at the ends]
    separators: np.ndarray  # int32[s + K]: cell of the separator before each segment, and after the last
    segment_of_block: np.ndarray  # int32[cells / 16 + K]: segment that holds the first cell of each block, or begins with it
    arena: np.ndarray  # int32[1.6 n]: positions; grows from the front, sorting buffer at the end
    neighbours: np.ndarray  # int32[cells]: left and right neighbour, or -1, of each occurrence merged in the current round
    delta: np.ndarray  # int32[2 * cells]: distinct neighbours of a merge, each with its count; left ones first
    slices: np.ndarray  # int32[K, 2S]: start and length
    counters: np.ndarray  # int32[K, 3, V]: left and right neighbours, zero between uses, and scratch
    cursors: np.ndarray  # int32[K, 2, V]: where the next position of (x, new) and of (new, y) goes in the arena, or -1
    delta_end: np.ndarray  # int64[K, 2R + 1]: of merge i from 2i to 2i + 1 left neighbours, to 2i + 2 right ones
    merged: np.ndarray  # int64[K, R, N_MERGED]


class Shard(NamedTuple):
    """One of them: rows and slices of the same arrays."""

    state: np.ndarray
    cells: np.ndarray
    separators: np.ndarray
    segment_of_block: np.ndarray
    arena: np.ndarray
    neighbours: np.ndarray
    delta: np.ndarray
    slices: np.ndarray
    counters: np.ndarray
    cursors: np.ndarray
    delta_end: np.ndarray
    merged: np.ndarray


def allocate(n_cells: np.ndarray, n_separators: np.ndarray, positions: float, tokens: int, slots: int, merges: int) -> Shards:
    """The arrays of shards of so many cells and separators, int64[K] each, with `positions` in the arena a cell."""
    i32, i64 = np.int32, np.int64
    k = n_cells.size
    return _with_arrays_of_text(
        Shards(
            base=np.zeros((k + 1, 4), i64),
            state=np.zeros((k, N_STATE), i64),
            cells=np.empty(0, i32),
            separators=np.empty(int(n_separators.sum()), i32),
            segment_of_block=np.empty(0, i32),
            arena=np.empty(0, i32),
            neighbours=np.empty(0, i32),
            delta=np.empty(0, i32),
            slices=np.zeros((k, 2 * slots), i32),
            counters=np.zeros((k, 3, tokens), i32),
            cursors=np.zeros((k, 2, tokens), i32),
            delta_end=np.zeros((k, 2 * merges + 1), i64),
            merged=np.zeros((k, merges, N_MERGED), i64),
        ),
        n_cells,
        n_separators,
        positions,
    )


def shrunk(shards: Shards, room: int, positions: float) -> Shards:
    """The same compacted text in arrays of its own size, with `room` more cells a shard; what else they held is lost."""
    n_cells = shards.state[:, N_CELLS]
    new = _with_arrays_of_text(shards, n_cells + room, np.diff(shards.base[:, SEPARATORS]), positions)
    for k, n in enumerate(n_cells.tolist()):
        begin, old_begin = int(new.base[k, CELLS]), int(shards.base[k, CELLS])
        new.cells[begin : begin + n] = shards.cells[old_begin : old_begin + n]
        begin, end = new.base[k : k + 2, BLOCKS].tolist()
        old_begin = int(shards.base[k, BLOCKS])
        new.segment_of_block[begin:end] = shards.segment_of_block[old_begin : old_begin + end - begin]
    return new


def _with_arrays_of_text(shards: Shards, n_cells: np.ndarray, n_separators: np.ndarray, positions: float) -> Shards:
    """With new arrays where the length depends on that of the text; `np.empty`, as memory that is never touched is never used."""
    base = np.zeros((n_cells.size + 1, 4), np.int64)
    for column, sizes in (
        (CELLS, n_cells),
        (SEPARATORS, n_separators),
        (BLOCKS, (n_cells >> BLOCK) + 1),
        (ARENA, (n_cells * positions).astype(np.int64) + 64),
    ):
        np.cumsum(sizes, out=base[1:, column])
    cells, _, blocks, arena = base[-1].tolist()
    lengths = {"cells": cells, "segment_of_block": blocks, "arena": arena, "neighbours": cells, "delta": 2 * cells}
    return shards._replace(base=base, **{name: np.empty(length, np.int32) for name, length in lengths.items()})


def extended(arrays: Any, names: tuple[str, ...], size: int) -> dict[str, np.ndarray]:
    """Some arrays of a NamedTuple by name, with their last axis made longer by zeros."""
    new = {}
    for name in names:
        old = getattr(arrays, name)
        new[name] = np.zeros((*old.shape[:-1], size), old.dtype)
        new[name][..., : old.shape[-1]] = old
    return new


@helper
def shard_of(shards, k):
    """Shard k, without a copy. O(1)."""
    begin, end = shards.base[k], shards.base[k + 1]
    return Shard(
        shards.state[k],
        shards.cells[begin[CELLS] : end[CELLS]],
        shards.separators[begin[SEPARATORS] : end[SEPARATORS]],
        shards.segment_of_block[begin[BLOCKS] : end[BLOCKS]],
        shards.arena[begin[ARENA] : end[ARENA]],
        shards.neighbours[begin[CELLS] : end[CELLS]],
        shards.delta[2 * begin[CELLS] : 2 * end[CELLS]],
        shards.slices[k],
        shards.counters[k],
        shards.cursors[k],
        shards.delta_end[k],
        shards.merged[k],
    )


@helper
def segment_at(separators, segment_of_block, p):
    """The segment that holds cell `p`. O(1 + segments that start in the 16 cells around it).

    A search in `separators` instead took half the time of merging the King James Bible by verses.
    """
    s = segment_of_block[p >> BLOCK]
    while separators[s + 1] < p:
        s += 1
    return s


@helper
def last_token(cells, n_cells):
    """The token before the last separator, or -1 if there is none. O(1)."""
    x = cells[n_cells - 2] if n_cells > 1 else np.int32(SEPARATOR)
    return np.int64(x) if x >= SEPARATOR else -np.int64(x) - 2


@helper
def _note_ends(state, cells, separators):
    """Note the outermost tokens of a text with one cell a token. O(1)."""
    if separators.size > 1:
        state[FIRST] = cells[separators[0] + 1]
        state[LAST] = cells[separators[separators.size - 1] - 1]


@helper
def _index_segments(separators, segment_of_block):
    """Note for every block of cells the segment at its first cell. O(cells / 16 + segments)."""
    s = 0
    for block in range(segment_of_block.size):
        while s < separators.size - 2 and separators[s + 1] <= block << BLOCK:
            s += 1
        segment_of_block[block] = s


@kernel
def lay_out(offsets, state, cells, separators, segment_of_block):
    """Write the separators of segments, offsets int64[s + 1], before their symbols are loaded. O(cells / 16 + segments)."""
    for i in range(offsets.size):
        separators[i] = offsets[i] - offsets[0] + i
        cells[separators[i]] = SEPARATOR
    state[N_CELLS] = offsets[offsets.size - 1] - offsets[0] + offsets.size
    _index_segments(separators, segment_of_block)
    _note_ends(state, cells, separators)


@kernel
def load(ids, first, offsets, segment, state, cells, separators):
    """Write the symbols `first : first + ids.size` into their cells, the separators being there already.

    ids int32, offsets int64 of all segments, `segment` the one to start looking in; returns the one that holds the last symbol,
    for the next chunk. Symbol j of segment s stands in cell j - offsets[0] + s + 1. O(symbols + segments passed).
    """
    for j in range(ids.size):
        while first + j >= offsets[segment + 1]:
            segment += 1
        cells[first + j - offsets[0] + segment + 1] = ids[j]
    _note_ends(state, cells, separators)
    return segment


@kernel
def compact(width, state, cells, separators, segment_of_block):
    """Rewrite the text of a shard with one cell a token; all slices become void. O(cells)."""
    n_cells = state[N_CELLS]
    w = np.int64(0)
    p = np.int64(0)
    s = 0
    while cells[p] != SEPARATOR:  # what the shard before has taken over
        p += 1
    while p < n_cells:
        token = cells[p]
        cells[w] = token
        if token == SEPARATOR:
            separators[s] = w
            s += 1
            p += 1
        else:
            p += width[token]
        w += 1
    state[N_CELLS] = w
    _index_segments(separators, segment_of_block)
    _note_ends(state, cells, separators)
