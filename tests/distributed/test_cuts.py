"""Consecutive partitions of hosts are about as large."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ubpe_numba.distributed.fitting import even_cuts


@given(st.lists(st.integers(0, 9) | st.just(0) | st.integers(0, 2**55), min_size=1, max_size=30), st.data())
def test_every_host_gets_partitions_and_none_much_more_than_its_share(sizes: list[int], data: st.DataObject) -> None:
    n = len(sizes)
    n_hosts = data.draw(st.integers(1, n))
    cuts = even_cuts(sizes, n_hosts)
    assert len(cuts) == n_hosts + 1 and (cuts[0], cuts[-1]) == (0, n) and all(a < b for a, b in pairwise(cuts))
    assert max(sum(sizes[a:b]) for a, b in pairwise(cuts)) <= sum(sizes) / n_hosts + 2 * max(sizes) + 16
