"""Neighbours of several shards added up: the worked example, and random lists against plain sums."""

from __future__ import annotations

import pickle
from collections import Counter

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ubpe_numba.distributed.kernels.remote import MOST
from ubpe_numba.distributed.messages import LostHostsError, Stepped
from ubpe_numba.fitting.kernels.merge import MERGED_BY_WEIGHT
from ubpe_numba.fitting.kernels.text_cells import MERGED, SHARD_STATE

Lists = list[list[dict[int, int]]]  # of each shard, of each side of each merge: neighbours and how often they stand there


def stepped(lists: Lists, weighted: bool) -> Stepped:
    """What a host of these shards answers."""
    k, n = len(lists), len(lists[0]) // 2
    ends = np.array([np.cumsum([0, *map(len, shard)]) for shard in lists], np.int64)
    entries = [item for shard in lists for side in shard for item in side.items()]
    tokens, counts = [token for token, _ in entries], [count for _, count in entries]
    second = [1] * len(counts) if weighted else counts
    delta = np.array(list(zip(tokens, second, strict=True)), np.int32).ravel()
    return Stepped(
        np.zeros(k, SHARD_STATE), ends, delta, np.zeros((k, n), MERGED),
        np.array(counts, np.int64) if weighted else None, np.zeros((k, n), MERGED_BY_WEIGHT) if weighted else None,
    )  # fmt: skip


def sums_of(found: Stepped, side: int) -> Counter[int]:
    """The neighbours of one side of a merge, over all shards."""
    total: Counter[int] = Counter()
    first = 0
    for ends in found.delta_end:
        for j in range(first + ends[side], first + ends[side + 1]):
            by_weight = found.delta_by_weight
            total[int(found.delta[2 * j])] += int(found.delta[2 * j + 1] if by_weight is None else by_weight[j])
        first += int(ends[-1])
    return total


@st.composite
def lists(draw: st.DrawFn) -> list[Lists]:
    """Of several hosts, the same number of merges each."""
    n = draw(st.integers(1, 3))
    side = st.dictionaries(st.integers(0, 5), st.sampled_from([1, 2, 7, MOST - 1, MOST]), max_size=4)
    shard = st.lists(side, min_size=2 * n, max_size=2 * n)
    return draw(st.lists(st.lists(shard, min_size=1, max_size=3), min_size=1, max_size=3))


@given(lists(), st.booleans())
@example([[[{3: 2, 5: 1}, {6: 1}]], [[{5: 4}, {6: 2}]]], False)
@example([[[{0: MOST}, {}]], [[{0: MOST}, {}]], [[{0: MOST}, {}]]], False)
@settings(max_examples=200)
def test_sums_are_those_of_all_shards(hosts: list[Lists], weighted: bool) -> None:
    found = [stepped(shards, weighted) for shards in hosts]
    once = Stepped.together(found)
    again = Stepped.together([Stepped.together(found[:1]), *found[1:]])  # what is added up may be added up again
    sides = len(hosts[0][0])
    for added in (once, again):
        assert added.delta_end.shape == (sum(map(len, hosts)), sides + 1)
        assert not added.delta_end[1:].any()
        assert added.delta.size == 2 * added.delta_end[0, -1]
        assert added.delta.dtype == np.int32
        assert added.state.dtype == SHARD_STATE
        for side in range(sides):
            want: Counter[int] = sum((sums_of(part, side) for part in found), Counter())
            assert sums_of(added, side) == want
            begin, end = added.delta_end[0, side : side + 2]
            if max(want.values(), default=0) <= MOST or weighted:
                assert end - begin == len(want)


def test_the_worked_example() -> None:
    found = Stepped.together([stepped([[{3: 2, 5: 1}, {6: 1}]], False), stepped([[{5: 4}, {6: 2}]], False)])
    assert found.delta.tolist() == [3, 2, 5, 5, 6, 3]
    assert found.delta_end.tolist() == [[0, 2, 3], [0, 0, 0]]


def test_lost_hosts_are_named_and_travel() -> None:
    error = LostHostsError([3, 1], "killed")
    assert str(error) == "lost: host 3, host 1: killed"
    assert str(LostHostsError([0])) == "lost: host 0"
    again = pickle.loads(pickle.dumps(error))
    assert (again.hosts, again.reason, str(again)) == ([3, 1], "killed", str(error))
