"""The shard to the left of each border, against plain lists; fits by hosts elsewhere are in tests/distributed."""

from typing import NamedTuple

import numpy as np
from hypothesis import example, given, strategies as st

from ubpe_numba.fitting.kernels.borders import Borders, allocate_borders, left_neighbours
from ubpe_numba.fitting.text import allocate_shards


class Plain(NamedTuple):
    """A shard as lists: its segments, and whether the first one is the rest of the last one of the shard before."""

    segments: list[list[int]]
    joined: bool


def plain_left_of(shards: list[Plain], k: int) -> int:
    """The shard that holds the token before the first one of shard k; -1 if there is none."""
    if not shards[k].segments or not shards[k].segments[0]:
        return -1
    for j in range(k - 1, -1, -1):
        if not shards[j + 1].joined or not shards[j].segments:
            return -1
        if shards[j].segments[-1]:
            return j
        if len(shards[j].segments) > 1:
            return -1
    return -1


@given(
    st.lists(
        st.builds(Plain, st.lists(st.sampled_from([[], [], [1], [2, 3]]), max_size=2), st.booleans()),
        min_size=1,
    )
)
@example([Plain([[1, 2]], False), Plain([[3, 4]], True)])
@example([Plain([[1]], False), Plain([[]], True), Plain([[]], True), Plain([[1]], True)])
def test_left_neighbours(plain: list[Plain]) -> None:
    # a token is the last of its shard only where it ends the last segment
    plain = [
        p if not p.segments or p.segments[-1] or len(p.segments) == 1 else Plain(p.segments[:1], p.joined)
        for p in plain
    ]
    plain = [p if len(p.segments) < 2 or p.segments[0] else Plain(p.segments[1:], p.joined) for p in plain]
    k = len(plain)
    shards = allocate_shards(np.zeros(k, np.int64), np.ones(k, np.int64), 1.0, 1, 1, 1)
    shards.base["separators"][1:] = np.cumsum([len(p.segments) + 1 for p in plain])
    shards.state["first"] = [p.segments[0][0] if p.segments and p.segments[0] else -1 for p in plain]
    shards.state["last"] = [p.segments[-1][-1] if p.segments and p.segments[-1] else -1 for p in plain]
    joined = np.array([*(p.joined and i > 0 for i, p in enumerate(plain)), False])
    borders: Borders = allocate_borders(np.arange(k + 1), joined, None, None, 1)
    found = np.empty(k, np.int64)
    left_neighbours(shards, borders, found)
    assert found.tolist() == [plain_left_of(plain, i) for i in range(k)]
