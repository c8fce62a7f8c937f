"""Consecutive partitions are divided between hosts, so that the largest host has as little as can be."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ubpe_numba.runtime.arrays import offsets_of


def even_cuts(sizes: Sequence[int], n_hosts: int) -> list[int]:
    """Where to cut: host h gets the partitions ``cuts[h]`` to ``cuts[h + 1]`` - 1, at least one.

    The limit, which no host exceeds, is found by bisection: it suffices if hosts that are filled one after the other, as far as
    it goes, take all partitions. O(hosts * log(partitions) * log(sum of sizes)).

    Parameters
    ----------
    sizes
        Of the partitions, 0 or more each.
    n_hosts
        1 to the number of partitions.

    Examples
    --------
    >>> even_cuts([9, 1, 1, 1, 5, 1], 3)
    [0, 1, 5, 6]
    """
    ends = offsets_of(np.array(sizes, np.int64))
    low, high = max(sizes), int(ends[-1])
    while low < high:
        limit = (low + high) // 2
        cuts = _filled(ends, limit, n_hosts)
        if ends[-1] - ends[cuts[-2]] <= limit:
            high = limit
        else:
            low = limit + 1
    return _filled(ends, high, n_hosts)


def _filled(ends: np.ndarray, limit: int, n_hosts: int) -> list[int]:
    """Where to cut if each host takes as much as a limit allows and leaves one for each after it; the last takes the rest."""
    n, cuts = ends.size - 1, [0]
    for after in range(n_hosts - 1, 0, -1):
        end = int(np.searchsorted(ends, ends[cuts[-1]] + limit, side="right")) - 1
        cuts.append(min(end, n - after))
    return [*cuts, n]
