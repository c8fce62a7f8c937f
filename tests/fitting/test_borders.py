"""Kernels of borders and of hosts elsewhere: the worked examples, and tokens that pass between texts held as plain lists."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from reference import fit as reference

from ubpe_numba.distributed.host import Batch, Host, Setup
from ubpe_numba.distributed.kernels.remote import take_over
from ubpe_numba.documents.read import as_corpus
from ubpe_numba.fitting.kernels import text_cells
from ubpe_numba.fitting.kernels.borders import Borders, allocate_borders, left_neighbours
from ubpe_numba.fitting.kernels.text_cells import Shards
from ubpe_numba.fitting.text import allocate_shards
from ubpe_numba.vocabulary.alphabet import Alphabet


def shard(cells: list[int], separators: list[int], room: int, slices: list[int], arena: list[int]) -> Shards:
    """One shard with these cells, and one slot."""
    shards = allocate_shards(np.array([len(cells) + room]), np.array([len(separators)]), 1.0, 8, 1, 1)
    shards.cells[: len(cells)] = cells
    shards.separators[:] = separators
    shards.segment_of_block[:] = 0
    shards.slices[0], shards.arena[: len(arena)] = slices, arena
    row = shards.state[0]
    row["n_cells"], row["arena_top"] = len(cells), len(arena)
    row["first"] = cells[separators[0] + 1] if len(cells) > 2 else -1
    last = cells[-2]
    row["last"] = last if last >= -1 else -last - 2
    return shards


def test_an_arena_that_is_full() -> None:
    shards, width = shard([-1, 7, 1, -1], [0, 3], 9, [0, 3], [1, 1, 1]), np.ones(9, np.int32)
    shards.base["arena"][1] = 6
    before = [a.copy() for a in shards]
    assert take_over(shards, 0, 0, width, 2, False) == -1
    assert all(np.array_equal(a, b) for a, b in zip(before, shards, strict=True))
    shards.base["arena"][1] = 7
    assert take_over(shards, 0, 0, width, 2, False) == 1
    assert shards.slices[0].tolist() == [3, 4]


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


@given(st.lists(st.builds(Plain, st.lists(st.sampled_from([[], [], [1], [2, 3]]), max_size=2), st.booleans()), min_size=1))
@example([Plain([[1, 2]], False), Plain([[3, 4]], True)])
@example([Plain([[1]], False), Plain([[]], True), Plain([[]], True), Plain([[1]], True)])
def test_left_neighbours(plain: list[Plain]) -> None:
    # a token is the last of its shard only where it ends the last segment
    plain = [p if not p.segments or p.segments[-1] or len(p.segments) == 1 else Plain(p.segments[:1], p.joined) for p in plain]
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


# ------------------------------------------------------------------------------------------------ hosts as plain lists


def tokens_of(host: Host) -> list[list[list[int]]]:
    """The tokens of each segment of each shard."""
    out = []
    for k in range(host.text.k):
        part, width = host.text._shard(k), host.task.width
        segments = []
        for begin, end in zip(part.separators[:-1].tolist(), part.separators[1:].tolist(), strict=True):
            assert part.cells[begin] == part.cells[end] == text_cells.SEPARATOR
            segments.append([])
            p = begin + 1
            while p < end:
                segments[-1].append(int(part.cells[p]))
                p += int(width[part.cells[p]])
            assert p == end
        state = part.state[0]
        assert state["n_cells"] == part.separators[-1] + 1
        assert state["first"] == (segments[0][0] if segments[0] else -1)
        assert state["last"] == (segments[-1][-1] if segments[-1] else -1)
        out.append(segments)
    return out


TEXTS = st.lists(st.integers(0, 2), min_size=1, max_size=30) | st.integers(1, 30).map(lambda n: [0] * n)


@given(
    st.lists(TEXTS, min_size=1, max_size=3), st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=6), st.booleans()
)
@example([[0] * 9], [(0, 0), (3, 3), (4, 0)], True)
def test_merges_and_tokens_that_pass(docs: list[list[int]], pairs: list[tuple[int, int]], weighted: bool) -> None:
    """Steps of a host, then tokens that are taken over at the end of its text and given away at its front."""
    host = Host(as_corpus(docs), 1)
    host.load(Setup(Alphabet.dense(3), weighted, 4, 1))
    plain, number, all_pairs = docs, 0, np.array([a << 32 | b for a in range(9) for b in range(9)], np.int64)
    for new, (left, right) in enumerate(pairs, 3):
        left, right = left % new, right % new
        host.compact(False)  # so that all slices can be listed anew
        host.list_again(-2, new, all_pairs, np.arange(81, dtype=np.int32))
        slot = 9 * left + right
        found = host.step(number, None, Batch(new, *(np.array([x], np.int32) for x in (left, right)), np.array([slot])))
        assert found is not None
        counts = reference.count_pairs(plain)
        after = [reference.replace(doc, {(left, right): new}) for doc in plain]
        assert found.merged["occurrences"][0, 0] == sum(map(len, plain)) - sum(map(len, after))
        assert found.merged["documents"][0, 0] == reference.count_documents(plain)[left, right]
        assert (counts[left, right] > 0) == (found.merged["occurrences"][0, 0] > 0)
        plain, number = after, number + 1
        assert tokens_of(host) == [plain]
        if not (plain[0] and plain[-1]):
            continue
        taken = plain[0][0]
        last = plain[-1][-1]
        run = len(plain[-1]) - next((i for i in range(len(plain[-1]), 0, -1) if plain[-1][i - 1] != last), 0)
        done, _ = host.take_over(number, 0, 5, taken, last == taken)
        assert done == (run % 2 if last == taken else 1)
        if done:
            plain = [*plain[:-1], [*plain[-1], taken]]
        assert tokens_of(host) == [plain]
        if done:
            plain = [plain[0][1:], *plain[1:]]
            assert host.give_first(number + 1, 0)[0] == 1
            if plain[-1]:
                assert tokens_of(host)[0][-1] == plain[-1]
        number += 2
        assert tokens_of(host) == [plain]
