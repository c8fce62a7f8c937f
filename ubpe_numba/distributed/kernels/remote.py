"""Kernels of a fit whose driver is elsewhere.

They make a batch in one shard, hand a token over, and add up records of shards.

Lists of neighbors, `delta` and `delta_end` as in fitting/kernels/text_cells.py, of two shards and one merge,
left before right:

    shard 0    delta 3 2   5 1 | 6 1     delta_end 0 2 3
    shard 1    delta 5 4 | 6 2           delta_end 0 1 2
    together         3 2   5 5 | 6 3               0 2 3
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.fitting.kernels.borders import append_token, drop_first, run_is_odd
from ubpe_numba.fitting.kernels.rounds import rewrite_shard
from ubpe_numba.fitting.kernels.text_cells import shard_of
from ubpe_numba.runtime.compiler import kernel

MOST = 2**31 - 1  # of an entry; a larger sum is several


@kernel
def rewrite(kind, k, task, shards, weighted):
    """Write slices of the last batch in shard k, and merge if `kind` is MERGE. O(its occurrences).

    `kind` int64 is FILL or MERGE, `task` a `Task` of a single part, `shards` are `Shards`, `weighted` is None
    or `Weighted`; the caller allocates all. Text 1 2 3 1 2 with (1, 2) in the task, as token 4: MERGE makes 4
    3 4 of it, and records the neighbors.
    """
    rewrite_shard(kind, k, task, shards, weighted, None)


@kernel
def take_over(shards, k, slot, width, token, same):
    """Append a token, handed over by the next shard, to shard k, as `prepare` does. O(slice + run).

    `width` is int32[V]. `same`: both tokens of the pair are equal. Returns 1; 0 if the last token is not
    free; -1 if room is lacking. Shard [-1, 7, 1, -1] with 2 becomes [-1, 7, 1, 2, -1] before the merge (1,
    2), and cell 2 is listed in the slot.
    """
    shard = shard_of(shards, k)
    last = shard.state[0].last
    if same and not run_is_odd(shard.cells, shard.state[0].n_cells, np.int64(width[last]), last):
        return 0
    return 1 if append_token(shard, slot, np.int64(width[token]), np.int64(width[last]), token) else -1


@kernel
def give_first(shards, k, width):
    """Remove the first token of shard k, which is handed over, as `prepare` does. O(width).

    width int32[V]. Shard [-1, 2, 3, -1] gives 2 and becomes [., -1, 3, -1].
    """
    shard = shard_of(shards, k)
    drop_first(shard, np.int64(width[shard.state[0].first]))


@kernel
def add_neighbours(delta, weights, delta_end, begins, sums, seen, added, added_weights, added_end):
    """Add up K lists of neighbors; returns how many entries there are. O(entries).

    `delta` int32[2 * entries] are the lists one after the other, list k from entry `begins[k]` on.
    `delta_end` int64[K, 2n + 1] are their ends in it. `weights` int64[entries] and `added_weights`
    int64[room] are None if each occurrence counts 1; otherwise the second word of an entry becomes 0. `sums`
    int64[V] is zero, `seen` int32[V] scratch. `added` int32[2 * room] and `added_end` int64[2n + 1] are
    filled, with room for as many entries as in `delta` and one more for every MOST of their counts. Example
    above.
    """
    n = np.int64(0)
    added_end[0] = 0
    for i in range(added_end.size - 1):
        n_seen = 0
        for k in range(delta_end.shape[0]):
            for j in range(begins[k] + delta_end[k, i], begins[k] + delta_end[k, i + 1]):
                x = delta[2 * j]
                if sums[x] == 0:
                    seen[n_seen] = x
                    n_seen += 1
                if weights is None:
                    sums[x] += delta[2 * j + 1]
                else:
                    sums[x] += weights[j]
        for j in range(n_seen):
            x = seen[j]
            count = sums[x]
            sums[x] = 0
            if weights is not None:
                added[2 * n] = x
                added[2 * n + 1] = 0
                added_weights[n] = count
                n += 1
            else:
                while count > 0:
                    added[2 * n] = x
                    added[2 * n + 1] = np.int32(min(count, MOST))
                    count -= MOST
                    n += 1
        added_end[i + 1] = n
    return n
