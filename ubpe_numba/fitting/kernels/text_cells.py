"""The working text of a fit: cells, the positions of every frequent pair in them, and the records of a merge.

A *cell* is one int32. The text is cut into *segments*, a document each or a part of one that no token may leave. A token takes as
many cells as it has symbols: the first holds its id, the last -(id + 2), those between are stale (`DEAD` or older ids). -1
(`SEPARATOR`) is before, between and after the segments. With `width[id]`, the cells of a token, its neighbours follow from
its own cells, so there are no linked lists. Documents [1, 2, 3] and [1, 2], and the merge (1, 2) -> 4:

    cell               0   1   2   3   4   5   6   7
    at first          -1   1   2   3  -1   1   2  -1
    merged            -1   4  -6   3  -1   4  -6  -1        width[4] = 2
    compacted         -1   4   3  -1   4  -1                width[4] = 1
    separators         0           4           7            cell of the separator before each segment, and after the last
    segment_of_block   0                                    of the block of cells 0..15: the segment of its first cell

The *occurrences* of the pair in slot s are the ascending cells `arena[slices[2s]]` and on, `slices[2s + 1]` of them. Some may be
stale (the pair is gone from there), which a look at the cells tells. At first, with (1, 2) in slot 0 and (2, 3) in slot 1:

    slices             0 2   2 1                            start and length: slot 0, slot 1
    arena              1   5 | 2 |                          then come the slices of new pairs, up to `arena_top`

The merge (1, 2) -> 4 of [3, 1, 2, 5] and [3, 1, 2, 6] is recorded for the driver and for `fill`:

    neighbours         3 5   3 6                            left and right neighbour of each occurrence
    delta              3 2 | 5 1   6 1                      distinct neighbours and how often: left ones, then right ones
    delta_end          0     1         3                    of merge i: left ones end at 2i + 1, right ones at 2i + 2
    merged[0]          occurrences 2, twins 0, documents 2, ...

The text of a large fit is cut into *shards*, one for each thread. All shards lie side by side in the arrays of one `Shards`, so
that one compiled kernel serves any number of them; `base[k]` says where shard k begins:

    cells              [ shard 0 ........ room ][ shard 1 ........ room ]
    base               ^ base[0].cells          ^ base[1].cells          ^ base[2].cells

A shard knows slots, not counts: the driver alone owns the tables of pairs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.runtime.compiler import helper, kernel

SEPARATOR = -1
DEAD = np.int32(-(2**31))  # a cell in the middle of a token
MOST_CELLS = 2**30  # of a shard: so that 1.6 times as many positions in the arena are int32

BLOCK = 4  # cells >> BLOCK is the block of a cell

_I64 = np.int64
#: Where a shard begins in the arrays that are sized by the text.
BASE = np.dtype([("cells", _I64), ("separators", _I64), ("blocks", _I64), ("arena", _I64)])
#: The state of a shard; a cache line each.
SHARD_STATE = np.dtype(
    {
        "names": [
            "n_cells",  # in use
            "arena_top",  # positions in use
            "first",  # the outermost tokens, -1 in an empty shard
            "last",
        ],
        "formats": [_I64] * 4,
        "itemsize": 64,
    },
    align=True,
)
#: Result of a merge in a shard.
MERGED = np.dtype(
    [
        ("at", _I64),  # where its occurrences begin in the arena
        ("occurrences", _I64),
        ("twins", _I64),  # occurrences directly after another one: a b a b -> z z
        ("documents", _I64),  # that hold an occurrence, by weight
        ("in_first", _I64),  # 1 if the first document of the shard does
        ("in_last", _I64),
        ("first_after", _I64),  # the outermost tokens after the merge
        ("last_after", _I64),
    ]
)


class Shards(NamedTuple):
    """The arrays of K shards; n symbols in s segments, V tokens, S slots, R merges in the largest round."""

    base: np.ndarray  # BASE[K + 1]
    state: np.ndarray  # SHARD_STATE[K]
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
    merged: np.ndarray  # MERGED[K, R]


class Shard(NamedTuple):
    """One of them: rows and slices of the same arrays."""

    state: np.ndarray  # SHARD_STATE[1]: numba returns no single record in a tuple
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
            base=np.zeros(k + 1, BASE),
            state=np.zeros(k, SHARD_STATE),
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
            merged=np.zeros((k, merges), MERGED),
        ),
        n_cells,
        n_separators,
        positions,
    )


def shrunk(shards: Shards, room: int, positions: float) -> Shards:
    """The same compacted text in arrays of its own size, with `room` more cells a shard; what else they held is lost."""
    n_cells = shards.state["n_cells"]
    new = _with_arrays_of_text(shards, n_cells + room, np.diff(shards.base["separators"]), positions)
    for k, n in enumerate(n_cells.tolist()):
        begin, old_begin = int(new.base["cells"][k]), int(shards.base["cells"][k])
        new.cells[begin : begin + n] = shards.cells[old_begin : old_begin + n]
        begin, end = new.base["blocks"][k : k + 2].tolist()
        old_begin = int(shards.base["blocks"][k])
        new.segment_of_block[begin:end] = shards.segment_of_block[old_begin : old_begin + end - begin]
    return new


def _with_arrays_of_text(shards: Shards, n_cells: np.ndarray, n_separators: np.ndarray, positions: float) -> Shards:
    """With new arrays where the length depends on that of the text; `np.empty`, as memory that is never touched is never used."""
    base = np.zeros(n_cells.size + 1, BASE)
    sizes = {
        "cells": n_cells,
        "separators": n_separators,
        "blocks": (n_cells >> BLOCK) + 1,
        "arena": (n_cells * positions).astype(np.int64) + 64,
    }
    for name, of_shards in sizes.items():
        base[name][1:] = np.cumsum(of_shards)
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
        shards.state[k : k + 1],
        shards.cells[begin.cells : end.cells],
        shards.separators[begin.separators : end.separators],
        shards.segment_of_block[begin.blocks : end.blocks],
        shards.arena[begin.arena : end.arena],
        shards.neighbours[begin.cells : end.cells],
        shards.delta[2 * begin.cells : 2 * end.cells],
        shards.slices[k],
        shards.counters[k],
        shards.cursors[k],
        shards.delta_end[k],
        shards.merged[k],
    )


@helper
def segment_at(separators, segment_of_block, p):
    """The segment that holds cell `p`. O(1 + segments that start in the 16 cells around it).

    separators [0, 4, 7], p = 5: the block of p begins in segment 0, which ends at cell 4 < 5, so it is segment 1. A search in
    `separators` instead took half the time of merging the King James Bible by verses.
    """
    s = segment_of_block[p >> BLOCK]
    while separators[s + 1] < p:
        s += 1
    return s


@helper
def last_token(cells, n_cells):
    """The token before the last separator, or -1 if there is none; in [-1, 1, 4, -6, -1] it is 4. O(1)."""
    x = cells[n_cells - 2] if n_cells > 1 else np.int32(SEPARATOR)
    return np.int64(x) if x >= SEPARATOR else -np.int64(x) - 2


@helper
def _note_ends(state, cells, separators):
    """Note the outermost tokens of a text with one cell a token. O(1)."""
    if separators.size > 1:
        state.first = cells[separators[0] + 1]
        state.last = cells[separators[separators.size - 1] - 1]


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
    """Write the separators of a shard, before its symbols are loaded. O(cells / 16 + segments).

    offsets int64[s + 1] of its segments; state SHARD_STATE[1], the other arrays those of the shard (`Shards`): filled here,
    allocated by the caller. offsets [0, 3, 5]: cells [-1, ., ., ., -1, ., ., -1], separators [0, 4, 7].
    """
    for i in range(offsets.size):
        separators[i] = offsets[i] - offsets[0] + i
        cells[separators[i]] = SEPARATOR
    state[0].n_cells = offsets[offsets.size - 1] - offsets[0] + offsets.size
    _index_segments(separators, segment_of_block)
    _note_ends(state[0], cells, separators)


@kernel
def load(ids, first, offsets, segment, state, cells, separators):
    """Write the symbols `first : first + ids.size` of a shard that is laid out. O(symbols + segments passed).

    ids int32; offsets int64[s + 1] as in `lay_out`; `segment`, the one to start looking in; returns the one that holds the last
    symbol, for the next call. Symbol j of segment s is in cell j - offsets[0] + s + 1: ids [1, 2, 3, 1, 2], offsets
    [0, 3, 5] -> cells [-1, 1, 2, 3, -1, 1, 2, -1].
    """
    for j in range(ids.size):
        while first + j >= offsets[segment + 1]:
            segment += 1
        cells[first + j - offsets[0] + segment + 1] = ids[j]
    _note_ends(state[0], cells, separators)
    return segment


@kernel
def compact(width, state, cells, separators, segment_of_block):
    """Rewrite the text of a shard with one cell a token; all slices become void. O(cells).

    width int32[V]; the other arrays as in `lay_out`, changed in place. [-1, 4, -6, 3, -1, 4, -6, -1] with width[4] = 2 becomes
    [-1, 4, 3, -1, 4, -1]. The caller then sets all widths to 1.
    """
    n_cells = state[0].n_cells
    w = np.int64(0)
    p = np.int64(0)
    s = 0
    while cells[p] != SEPARATOR:  # tokens that the shard before has taken over
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
    state[0].n_cells = w
    _index_segments(separators, segment_of_block)
    _note_ends(state[0], cells, separators)
