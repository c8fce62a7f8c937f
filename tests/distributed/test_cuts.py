"""Consecutive partitions of hosts: no other cuts have a smaller largest part."""

from __future__ import annotations

from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from ubpe_numba.distributed.fitting import even_cuts

SIZES = st.lists(st.one_of(st.integers(0, 9), st.just(0), st.integers(0, 2**55)), min_size=1, max_size=9)


def largest(sizes: list[int], cuts: tuple[int, ...]) -> int:
    return max(sum(sizes[a:b]) for a, b in pairwise(cuts))


@given(SIZES, st.data())
def test_the_largest_part_is_as_small_as_can_be(sizes: list[int], data: st.DataObject) -> None:
    n = len(sizes)
    n_hosts = data.draw(st.integers(1, n))
    cuts = even_cuts(sizes, n_hosts)
    assert len(cuts) == n_hosts + 1 and (cuts[0], cuts[-1]) == (0, n) and all(a < b for a, b in pairwise(cuts))
    every = (largest(sizes, (0, *inner, n)) for inner in combinations(range(1, n), n_hosts - 1))
    assert largest(sizes, tuple(cuts)) == min(every)


def test_many_partitions() -> None:
    sizes = [i * 7919 % 1000 for i in range(100_000)]
    parts = [sum(sizes[a:b]) for a, b in pairwise(even_cuts(sizes, 1000))]
    assert max(parts) < sum(sizes) / 1000 + 1000


def test_a_limit_that_a_part_just_reaches_is_enough() -> None:
    """With a limit of 10 the first part would take both 1 and 9."""
    assert even_cuts([1, 9, 0], 2) == [0, 1, 3]
