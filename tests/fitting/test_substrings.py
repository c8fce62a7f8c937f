"""Frequent substrings as edges, against counting every substring."""

import logging

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from reference.units import Candidate, Symbols, candidates, edges
from tables import each
from unit_texts import flat, large, units, weights_of

from ubpe_numba import Ragged
from ubpe_numba.fitting.kernels import substrings as kernels
from ubpe_numba.fitting.substrings import Substrings
from ubpe_numba.runtime.tables.trie import EDGE

SIZES = st.sampled_from([1, 2, 3, 5, 300, 2**31])
ALL = 10**9


def test_longer_substrings_that_all_begin_at_the_same_entry_of_the_table() -> None:
    """All wait for the last entry but one: they go on from the end of the table to its beginning."""
    k, capacity = 32, 128
    crowded, others = [], []
    for key in range(1 << 22):
        h = key * 0x9E3779B97F4A7C15 % 2**64
        (crowded if (h ^ h >> 32) % capacity == capacity - 2 else others).append(key)
        if len(crowded) == k:
            break
    pairs = [divmod(key, 2**31) for key in [*crowded, *others[:3], *crowded, *others[:3]]][: 2 * k]
    nodes = [node for i in range(len(pairs)) for node in (3 * i, 3 * i + 1)]
    numbers = [number for pair in pairs for number in pair]
    weights = [i // 3 + 1 for i in range(3 * len(pairs))]
    ids = {pair: i for i, pair in enumerate(dict.fromkeys(pairs))}
    for m, size in ((2 * k, 8 * k), (k, capacity)):
        found, counts, table = (
            np.full(2 * m, 77, np.int32),
            np.zeros(2 * m, np.int64),
            np.full(2 * size, -1).view(EDGE),
        )
        given = np.array(nodes[: 2 * m], np.int32), np.array(numbers[: 2 * m], np.int32), np.array(weights)
        n = kernels.count_longer(*given, table, found, counts)
        assert n == len(set(pairs[:m])) and found.tolist() == [
            t for pair in pairs[:m] for t in (ids[pair], -1)
        ]
    assert counts.tolist() == [*range(1, k + 1), *[0] * k]


def substrings(
    unit_list: list[list[int]],
    weights: list[int],
    longest: int | None,
    min_count: int,
    most_edges: int = ALL,
    size: int = 1,
) -> Substrings:
    values, offsets = flat(unit_list)
    return Substrings(values, offsets, np.array(weights, np.int64), size, longest, min_count, most_edges)


def check(s: Substrings, unit_list: list[list[int]], wanted: list[Candidate], longest: int) -> None:
    """All attributes of the substrings are as the reference has it."""
    assert (
        s.longest == longest
        and len(s) == len(wanted)
        and s.counts.tolist() == [candidate.count for candidate in wanted]
    )
    assert s.length.tolist() == [len(candidate.symbols) for candidate in wanted]
    assert s.first.tolist() == [s.offsets[u] + p for u, p in (candidate.places[0] for candidate in wanted)]
    assert s.sequences(np.arange(len(s))).to_lists() == [list(candidate.symbols) for candidate in wanted]
    assert s.nodes.tolist() == np.cumsum([0, *(len(unit) + 1 for unit in unit_list)]).tolist()
    number = {candidate.symbols: t for t, candidate in enumerate(wanted)}
    # the shorter edges first: among paths as short the last edge of a node is taken
    both = list(zip(s.lengths.tolist(), s.tokens.tolist(), strict=True))
    assert s.starts[0] == 0 and s.starts[-1] == len(both)
    assert [both[a:b] for a, b in zip(s.starts[:-1], s.starts[1:], strict=True)] == edges(unit_list, number)
    dtypes = {
        "nodes": "i8",
        "starts": "i8",
        "lengths": "i4",
        "tokens": "i4",
        "first": "i8",
        "length": "i4",
        "counts": "i8",
    }
    assert {name: getattr(s, name).dtype for name in dtypes} == {
        name: np.dtype(kind) for name, kind in dtypes.items()
    }


@given(
    st.data(),
    units(SIZES, 24),
    st.sampled_from([1, 2, 3, 5, None]),
    st.sampled_from([0, 1, 2, 3, 4096, 2**40 + 1]),
)
@example(None, [], None, 1)
@example(None, [[]], None, 1)
@example(None, [[], [0, 0], []], None, 1)
@example(None, [[0], [0]], None, 1)  # one unit after the other is no substring
@example(None, [[0, 1], [1, 0, 1]], 2, 2)
def test_substrings_against_counting_all(
    data: st.DataObject | None, unit_list: list[list[int]], longest: int | None, min_count: int
) -> None:
    weights = data.draw(weights_of(len(unit_list))) if data else [1] * len(unit_list)
    wanted, length = candidates(unit_list, weights, longest, min_count, ALL)
    check(substrings(unit_list, weights, longest, min_count), unit_list, wanted, length)
    sums = np.cumsum(
        [0, *(sum(len(c.places) for c in wanted if len(c.symbols) == k) for k in range(2, length + 1))]
    )
    for most_edges in {int(total) + more for total in sums for more in (-1, 0)} - {-1}:
        fewer, length = candidates(unit_list, weights, longest, min_count, most_edges)
        check(substrings(unit_list, weights, longest, min_count, most_edges), unit_list, fewer, length)


@each("size, n_units, min_count", [(2, 1, 1), (4, 300, 7), (300, 1, 7), (2**31, 3, 7)])
def test_substrings_of_large_texts(size: int, n_units: int, min_count: int) -> None:
    unit_list = large(size, 6_000, n_units, size + n_units)
    weights = [[3, 0, 2**40, 4096, 7][u % 5] for u in range(n_units)]
    wanted, length = candidates(unit_list, weights, 9, min_count, ALL)
    assert size > 4 or max(candidate.count for candidate in wanted) > 4095
    check(substrings(unit_list, weights, 9, min_count), unit_list, wanted, length)


def test_it_is_said_where_candidates_end(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "ubpe_numba"):
        s = substrings([[0, 0, 0, 0]], [1], None, 1, 4)
    assert (len(s), s.longest) == (1, 2)
    assert caplog.messages == [
        "candidates of more than 2 symbols are left out: 2 of 5 edges, at most 2147483647 of 4"
    ]


@given(st.data(), units(st.integers(1, 4), 20))
def test_further_candidates(data: st.DataObject, unit_list: list[list[int]]) -> None:
    """Sequences from the units and from elsewhere, of one symbol too, some twice, some candidates already."""
    size = max([s for unit in unit_list for s in unit], default=0) + 2
    weights = data.draw(weights_of(len(unit_list)))
    s = substrings(
        unit_list,
        weights,
        data.draw(st.sampled_from([1, 2, 4])),
        data.draw(st.sampled_from([1, 2, 5000])),
        ALL,
        size,
    )
    own: list[Symbols] = [tuple(found) for found in s.sequences(np.arange(len(s))).to_lists()]
    ends = [
        tuple(unit[a:b])
        for unit in unit_list
        for a, b in ((0, 2), (0, 7), (1, 4), (2, len(unit)))
        if unit[a:b]
    ]
    drawn = data.draw(units(st.just(size), 6))
    tokens = data.draw(st.permutations([*ends, *own[:3], *(tuple(token) for token in drawn if token)]))
    before = (
        s.starts.copy(),
        s.lengths.copy(),
        s.tokens.copy(),
        s.first.copy(),
        s.length.copy(),
        s.counts.copy(),
    )
    more = s.extended(Ragged.from_lists([[0], *tokens])[1:])
    for array, old in zip((s.starts, s.lengths, s.tokens, s.first, s.length, s.counts), before, strict=True):
        assert array.tolist() == old.tolist()
    every = {candidate.symbols: candidate for candidate in candidates(unit_list, weights, None, 0, ALL)[0]}
    last = list(dict.fromkeys(reversed(tokens)))[::-1]  # of equals the last one
    further = [token for token in last if token in every and len(token) > s.longest]
    wanted = [every[token] for token in [*own, *further]]
    assert [tuple(token) for token in more.sequences(np.arange(len(more))).to_lists()] == [
        c.symbols for c in wanted
    ]
    assert more.counts.tolist() == [candidate.count for candidate in wanted]
    assert more.first.tolist() == [s.offsets[u] + p for u, p in (candidate.places[0] for candidate in wanted)]
    both = list(zip(more.lengths.tolist(), more.tokens.tolist(), strict=True))
    nodes = [both[a:b] for a, b in zip(more.starts[:-1], more.starts[1:], strict=True)]
    assert [sorted(here) for here in nodes] == edges(unit_list, {c.symbols: t for t, c in enumerate(wanted)})
    assert [[(n, t) for n, t in here if t < len(own)] for here in nodes] == edges(
        unit_list, {x: t for t, x in enumerate(own)}
    )
    assert all(here == sorted(here, key=lambda edge: edge[1] >= len(own)) for here in nodes)
    other = data.draw(weights_of(len(unit_list)))
    counts = [sum(other[u] for u, _ in candidate.places) for candidate in wanted]
    assert more.counted(np.array(other, np.int64)).tolist() == counts
