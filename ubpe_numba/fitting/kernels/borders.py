"""Borders: a document is divided because a shard cannot hold it, or because threads share it.

The pair across a border is in no shard's slices. The driver's tables count it like any other. Here its count
is updated from the outermost tokens of the shards after each merge. Before the pair itself is merged, its
right token is handed over to the shard on the left, which gains one occurrence of the pair. So no pair is
lost, and none is counted twice. With the merge (1, 2) -> 9:

                shard 0        shard 1
    before     ... 7 1 -1     -1 2 3 ...       (1, 2) crosses the border
    prepare    ... 7 1 2 -1   -1 3 ...         2 is handed over, and (1, 2) is listed in shard 0
    merge      ... 7 9 . -1   -1 3 ...         shard 0 counts 7 as left neighbor
    collect                                    the last token changed, 2 -> 9: (2, 3) becomes (9, 3)

A shard may be emptied that way; its neighbors then border on each other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ubpe_numba.fitting.kernels.text_cells import DEAD, SEPARATOR, last_token, shard_of
from ubpe_numba.runtime.compiler import helper, kernel, section

#: The first and the last token of a shard.
OUTERMOST = np.dtype([("first", np.int64), ("last", np.int64)])


class Borders(NamedTuple):
    """Of K shards, border k lies before shard k; R merges in the largest round."""

    continued: np.ndarray  # bool[K + 1]: the document before the border continues after it
    joined: np.ndarray  # bool[K + 1]: so do its tokens
    whole: np.ndarray  # bool[K]: the shard is only a part of a single document
    weight: np.ndarray  # int64[K + 1]: of that document
    before: np.ndarray  # OUTERMOST[K]: before the batch
    end: np.ndarray  # int64[2R + 1]: deltas of the borders, laid out as Shards.delta_end
    token: np.ndarray  # int32[R * K]
    gain: np.ndarray  # int64[R * K]: by weight
    twins: np.ndarray  # int64[R]: as in Shards.merged, by weight


def allocate_borders(
    segment: np.ndarray,
    inside: np.ndarray,
    document_of: np.ndarray | None,
    weights: np.ndarray | None,
    merges: int,
) -> Borders:
    """The borders of K shards, which begin with segment `segment[k]`, int64[K + 1], or inside it.

    `inside` is bool[K + 1].

    document_of and weights as in `Corpus`: of each segment, or None.
    """
    k = segment.size - 1
    document_of = np.arange(segment[-1] + 1) if document_of is None else document_of
    continued, weight = inside.copy(), np.ones(k + 1, np.int64)
    for i in range(1, k):
        after = int(segment[i])
        before = after if inside[i] else after - 1
        continued[i] = document_of[before] == document_of[after]
        if weights is not None:
            weight[i] = weights[before]
    first, last = segment[:-1], segment[1:] + inside[1:] - 1
    return borders_of(continued, inside.copy(), document_of[first] == document_of[last], weight, merges)


def borders_of(
    continued: np.ndarray, joined: np.ndarray, whole: np.ndarray, weight: np.ndarray, merges: int
) -> Borders:
    """The borders of which these arrays are known, with room for the changes of `merges`."""
    k = whole.size
    return Borders(
        continued=continued,
        joined=joined,
        whole=whole,
        weight=weight,
        before=np.zeros(k, OUTERMOST),
        end=np.zeros(2 * merges + 1, np.int64),
        token=np.empty(merges * k, np.int32),
        gain=np.empty(merges * k, np.int64),
        twins=np.zeros(merges, np.int64),
    )


@helper
def left_of(shards, borders, k):
    """The shard whose last token precedes the first one of shard k; -1 if there is none.

    O(1), O(K) next to empty shards.
    """
    if shards.state[k].first < 0 or not borders.joined[k]:
        return np.int64(-1)
    j = np.int64(k - 1)
    while shards.state[j].last < 0:
        is_single = shards.base[j + 1].separators - shards.base[j].separators == 2
        if not (is_single and borders.joined[j]):
            return np.int64(-1)
        j -= 1
    return j


@kernel
def left_neighbours(shards, borders, found):
    """Write `left_of` for every shard, int64[K]. O(K), O(K * K) next to empty shards.

    For a document [1, 2, 3, 4] divided in its middle: found [-1, 0], as 3 of shard 1 follows 2 of shard 0.
    """
    found[0] = -1
    for k in range(1, found.size):
        found[k] = left_of(shards, borders, k)


@helper
def holds_border(shards, borders, k, left, right):
    """Whether the pair crosses the border after shard k. O(K)."""
    if shards.state[k].last != left:
        return False
    for after in range(k + 1, shards.state.shape[0]):
        if left_of(shards, borders, after) == k:
            return shards.state[after].first == right
    return False


@helper
def first_border(shards, borders, k, left, right):
    """The cell of the left token if the pair crosses the border after shard k, or -1. O(K)."""
    return shards.state[k].n_cells - 2 if holds_border(shards, borders, k, left, right) else np.int64(-1)


@helper
def run_is_odd(cells, n_cells, width, token):
    """Whether the shard ends with an odd number of this token, as in [2, 1, 1, 1]. O(run)."""
    odd = False
    p = n_cells - 1
    while cells[p - 1] == token or cells[p - 1] == -(token + 3):
        p -= width
        odd = not odd
    return odd


@helper
def append_token(shard, slot, width, width_a, token):
    """Put a token of so many cells at the end of a shard, and list the pair that it completes. O(slice).

    `width_a`, the cells of the last token before. Returns False, with nothing changed, if cells or arena are
    too short.
    """
    cells, arena, slices, state = shard.cells, shard.arena, shard.slices, shard.state[0]
    n_cells, top = state.n_cells, state.arena_top
    begin, length = np.int64(slices[2 * slot]), np.int64(slices[2 * slot + 1])
    if n_cells + width > cells.size or top + length + 1 > arena.size:
        return False
    for j in range(length):
        arena[top + j] = arena[begin + j]
    arena[top + length] = n_cells - 1 - width_a
    slices[2 * slot] = top
    slices[2 * slot + 1] = length + 1
    state.arena_top = top + length + 1
    cells[n_cells - 1] = token
    if width > 1:
        cells[n_cells - 2 + width] = -(token + 3)
    cells[n_cells - 1 + width] = SEPARATOR
    shard.separators[shard.separators.size - 1] = n_cells - 1 + width
    state.n_cells = n_cells + width
    state.last = token
    return True


@helper
def drop_first(shard, width):
    """Take the first token, of so many cells, from a shard. O(width)."""
    cells, separators = shard.cells, shard.separators
    first = np.int64(separators[0]) + 1
    for j in range(width):
        cells[first - 1 + j] = DEAD
    cells[first + width - 1] = SEPARATOR
    separators[0] = first + width - 1
    shard.state[0].first = cells[first + width]
    shard.state[0].last = last_token(cells, shard.state[0].n_cells)


@helper
def _remember(shards, borders):
    """Note the outermost tokens before the batch. O(K)."""
    for k in range(shards.state.shape[0]):
        borders.before[k].first = shards.state[k].first
        borders.before[k].last = shards.state[k].last


@section
def crosses(task, shards, borders):
    """Whether the batch merges a pair across a border; the outermost tokens are remembered for `collect`.

    O(R * K).
    """
    _remember(shards, borders)
    for k in range(1, shards.state.shape[0]):
        j = left_of(shards, borders, k)
        for i in range(task.batch[0].n if j >= 0 else 0):
            if task.left[i] == shards.state[j].last and task.right[i] == shards.state[k].first:
                return True
    return False


@section
def prepare(task, shards, borders):
    """Before a batch: hand over the tokens that it merges across borders.

    Returns False if that needs a compacted text. O(R * K).
    """
    n_shards = shards.state.shape[0]
    for k in range(1, n_shards):
        j = left_of(shards, borders, k)
        if j < 0:
            continue
        left, right = shards.state[j].last, shards.state[k].first
        for i in range(task.batch[0].n):
            if task.left[i] == left and task.right[i] == right:
                here, there = shard_of(shards, j), shard_of(shards, k)
                width = np.int64(task.width[right])
                # in a run of equal tokens, merged from left to right, the last is free if their number is odd
                if left == right and not run_is_odd(here.cells, here.state[0].n_cells, width, left):
                    break
                if not append_token(here, task.slot[i], width, np.int64(task.width[left]), right):
                    return False
                drop_first(there, width)
                break
    _remember(shards, borders)
    return True


@section
def collect(task, shards, borders):
    """After a batch: update the pairs across borders. O(R + K), O(R * K) if an outermost token has changed.

    `end`, `token` and `gain` get neighbours across borders, laid out as `Shards.delta_end` and
    `Shards.delta`.
    """
    merged = shards.merged
    n_shards = shards.state.shape[0]
    changed = False
    for k in range(n_shards):
        changed |= (
            shards.state[k].first != borders.before[k].first or shards.state[k].last != borders.before[k].last
        )
    n = np.int64(0)
    for i in range(task.batch[0].n):
        twins = np.int64(0)
        for side in range(2):
            for k in range(1, n_shards if changed else 1):
                j = left_of(shards, borders, k)
                if j < 0:
                    continue
                left = merged[j, i - 1].last_after if i > 0 else borders.before[j].last
                right = merged[k, i - 1].first_after if i > 0 else borders.before[k].first
                left_changed = merged[j, i].last_after != left
                right_changed = merged[k, i].first_after != right
                if left_changed if side else right_changed and not left_changed:
                    borders.token[n] = right if side else left
                    borders.gain[n] = borders.weight[k]
                    n += 1
                    if right_changed and side:
                        twins += borders.weight[k]
            borders.end[2 * i + 1 + side] = n
        borders.twins[i] = twins


@helper
def repeated(merged, borders, i):
    """Documents with an occurrence of merge i that two shards or more have counted, by weight. O(K)."""
    n = np.int64(0)
    held = False
    for k in range(merged.shape[0]):
        if held and merged[k, i].in_first:
            n += borders.weight[k]
        # the next shard begins with another document
        held = borders.continued[k + 1] and (merged[k, i].in_last != 0 or (held and borders.whole[k]))
    return n
