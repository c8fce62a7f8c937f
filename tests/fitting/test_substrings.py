"""Frequent substrings as edges: each kernel's worked example, and all of it against counting every substring."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from reference.units import Candidate, Symbols, candidates, edges
from unit_texts import flat, large, units, weights_of

from ubpe_numba import Ragged
from ubpe_numba.fitting.kernels import substrings as kernels
from ubpe_numba.fitting.substrings import Substrings
from ubpe_numba.runtime.tables import automaton
from ubpe_numba.runtime.tables.trie import EDGE

SIZES = st.sampled_from([1, 2, 3, 5, 300, 2**31])
ALL = 10**9


def empty_table(capacity: int) -> np.ndarray:
    return np.full(2 * capacity, -1, np.int64).view(EDGE)


def least_capacity(m: int) -> int:
    return 1 << max(0, 2 * m - 1).bit_length()


def count_longer(nodes: list[int], numbers: list[int], weights: list[int], capacity: int = 0) -> tuple[int, list[int], list[int]]:
    m = len(nodes)
    found, counts = np.full(m, 77, np.int32), np.zeros(m, np.int64)
    table = empty_table(capacity or least_capacity(m))
    k = kernels.count_longer(
        np.array(nodes, np.int32), np.array(numbers, np.int32), np.array(weights, np.int64), table, found, counts
    )
    return k, found.tolist(), counts.tolist()


# --- the kernels -----------------------------------------------------------------------------------------


@given(st.data())
def test_longer_substrings_against_a_dict(data: st.DataObject) -> None:
    steps = data.draw(st.lists(st.sampled_from([1, 1, 1, 2, 5]), max_size=40))
    nodes = np.cumsum([0, *steps]).tolist()
    number = st.sampled_from([0, 1, 2, 2**31 - 2, 2**31 - 1])
    numbers = data.draw(st.lists(number, min_size=len(nodes), max_size=len(nodes)))
    n = nodes[-1] + 3
    weights = data.draw(weights_of(n))
    at = dict(zip(nodes, numbers, strict=True))
    ids: dict[tuple[int, int], int] = {}
    found = [ids.setdefault((at[v], at[v + 1]), len(ids)) if v + 1 in at else -1 for v in nodes]
    counts = [sum(weights[v] for v, t in zip(nodes, found, strict=True) if t == k) for k in range(len(nodes))]
    assert count_longer(nodes, numbers, weights) == (len(ids), found, counts)


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
    n, found, counts = count_longer(nodes, numbers, weights, 4 * k * 2)
    assert n == len(ids) and found == [t for pair in pairs for t in (ids[pair], -1)]
    n, found, counts = count_longer(nodes[: 2 * k], numbers[: 2 * k], weights, capacity)
    assert n == k and found == [t for i in range(k) for t in (i, -1)]
    assert counts == [*range(1, k + 1), *[0] * k]


def automaton_of(size: int, learned: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    tokens = Ragged.from_lists([*([s] for s in range(size)), *learned])
    table, states, _, _ = automaton.automaton_of(size, tokens.values, tokens.lengths)
    return table, states


def find_tokens(
    unit_list: list[list[int]], size: int, learned: list[list[int]], of_token: list[int]
) -> list[list[tuple[int, int]]]:
    """The edges of all nodes, the shorter first: counted, laid out with room before and behind, and written."""
    table, states = automaton_of(size, learned)
    symbols, offsets = flat(unit_list)
    wanted = np.array(of_token, np.int32)
    none = np.empty(0, np.int32)
    before = np.arange(symbols.size + len(unit_list), dtype=np.int64) % 3  # what they held is kept
    counts = before.copy()
    kernels.find_tokens(symbols, offsets, table, states, wanted, True, counts, none, none)
    counts -= before
    starts = np.cumsum([2, *counts])
    lengths, tokens = np.full((2, int(starts[-1]) + 2), -5, np.int32)
    cursors = starts[:-1].copy()
    kernels.find_tokens(symbols, offsets, table, states, wanted, False, cursors, lengths, tokens)
    assert cursors.tolist() == starts[1:].tolist()
    assert set(lengths[[0, 1, -1, -2]]) == set(tokens[[0, 1, -1, -2]]) == {-5}
    both = list(zip(lengths.tolist(), tokens.tolist(), strict=True))
    return [sorted(both[a:b]) for a, b in zip(starts[:-1], starts[1:], strict=True)]


@given(st.data(), units(st.integers(1, 4), 30), st.integers(0, 2))
def test_tokens_against_looking_everywhere(data: st.DataObject, unit_list: list[list[int]], more: int) -> None:
    size = max([s for unit in unit_list for s in unit], default=0) + 1
    drawn = data.draw(units(st.just(size + more), 9, 8))
    cut = [unit[a : a + n] for unit in unit_list for a, n in [(0, 2), (1, 3), (2, 2), (0, 7), (0, len(unit))]]
    learned = [list(s) for s in dict.fromkeys(map(tuple, [*drawn, *cut])) if len(s) > 1]
    wanted = data.draw(st.lists(st.integers(-1, 9), min_size=len(learned), max_size=len(learned)))
    numbers = {tuple(s): t for s, t in zip(learned, wanted, strict=True) if t >= 0}
    found = find_tokens(unit_list, size + more, learned, [0] * (size + more) + wanted)
    assert found == edges(unit_list, numbers)


# --- all of it -------------------------------------------------------------------------------------------


def substrings(
    unit_list: list[list[int]], weights: list[int], longest: int | None, min_count: int, most_edges: int = ALL, size: int = 1
) -> Substrings:
    values, offsets = flat(unit_list)
    return Substrings(values, offsets, np.array(weights, np.int64), size, longest, min_count, most_edges)


def check(s: Substrings, unit_list: list[list[int]], wanted: list[Candidate], longest: int) -> None:
    """All attributes of the substrings are as the reference has it."""
    assert s.longest == longest
    assert len(s) == len(wanted)
    assert s.counts.tolist() == [candidate.count for candidate in wanted]
    assert s.length.tolist() == [len(candidate.symbols) for candidate in wanted]
    assert s.first.tolist() == [s.offsets[u] + p for u, p in (candidate.places[0] for candidate in wanted)]
    assert s.sequences(np.arange(len(s))).to_lists() == [list(candidate.symbols) for candidate in wanted]
    assert s.nodes.tolist() == np.cumsum([0, *(len(unit) + 1 for unit in unit_list)]).tolist()
    number = {candidate.symbols: t for t, candidate in enumerate(wanted)}
    # the shorter edges first: among paths as short the last edge of a node is taken
    both = list(zip(s.lengths.tolist(), s.tokens.tolist(), strict=True))
    assert s.starts[0] == 0 and s.starts[-1] == len(both)
    assert [both[a:b] for a, b in zip(s.starts[:-1], s.starts[1:], strict=True)] == edges(unit_list, number)
    dtypes = {"nodes": "i8", "starts": "i8", "lengths": "i4", "tokens": "i4", "first": "i8", "length": "i4", "counts": "i8"}
    assert {name: getattr(s, name).dtype for name in dtypes} == {name: np.dtype(kind) for name, kind in dtypes.items()}


@given(st.data(), units(SIZES, 24), st.sampled_from([1, 2, 3, 5, None]), st.sampled_from([0, 1, 2, 3, 4096, 2**40 + 1]))
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
    sums = np.cumsum([0, *(sum(len(c.places) for c in wanted if len(c.symbols) == k) for k in range(2, length + 1))])
    for most_edges in {int(total) + more for total in sums for more in (-1, 0)} - {-1}:
        fewer, length = candidates(unit_list, weights, longest, min_count, most_edges)
        check(substrings(unit_list, weights, longest, min_count, most_edges), unit_list, fewer, length)


@pytest.mark.parametrize(
    "size, n_units, min_count", [(2, 1, 1), (2, 300, 7), (4, 30, 1), (300, 1, 7), (300, 40, 1), (2**31, 3, 7)]
)
def test_substrings_of_large_texts(size: int, n_units: int, min_count: int) -> None:
    unit_list = large(size, 12_000, n_units, size + n_units)
    weights = [[3, 0, 2**40, 4096, 7][u % 5] for u in range(n_units)]
    wanted, length = candidates(unit_list, weights, 9, min_count, ALL)
    assert size > 4 or max(candidate.count for candidate in wanted) > 4095
    check(substrings(unit_list, weights, 9, min_count), unit_list, wanted, length)


@pytest.mark.parametrize("period", [[0], [0, 1], [0, 1, 1, 0, 2]])
def test_periodic_units_have_few_candidates_of_any_length(period: list[int]) -> None:
    unit_list = [(period * 150)[:150], [3], (period * 150)[1:90]]
    wanted, length = candidates(unit_list, [1, 1, 1], None, 2, ALL)
    assert length > 100
    check(substrings(unit_list, [1, 1, 1], None, 2), unit_list, wanted, length)


def test_it_is_said_where_candidates_end(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "ubpe_numba"):
        s = substrings([[0, 0, 0, 0]], [1], None, 1, 4)
    assert (len(s), s.longest) == (1, 2)
    assert caplog.messages == [
        "candidates of more than 2 symbols are left out: there would be 2 of 5 edges, at most 2147483647 of 4"
    ]


@given(st.data(), units(st.integers(1, 4), 20))
def test_further_candidates(data: st.DataObject, unit_list: list[list[int]]) -> None:
    """Sequences from the units and from elsewhere, of one symbol too, some twice, some candidates already."""
    size = max([s for unit in unit_list for s in unit], default=0) + 2
    weights = data.draw(weights_of(len(unit_list)))
    s = substrings(unit_list, weights, data.draw(st.sampled_from([1, 2, 4])), data.draw(st.sampled_from([1, 2, 5000])), ALL, size)
    own: list[Symbols] = [tuple(found) for found in s.sequences(np.arange(len(s))).to_lists()]
    ends = [tuple(unit[a:b]) for unit in unit_list for a, b in ((0, 2), (0, 7), (1, 4), (2, len(unit))) if unit[a:b]]
    drawn = data.draw(units(st.just(size), 6))
    tokens = data.draw(st.permutations([*ends, *own[:3], *(tuple(token) for token in drawn if token)]))
    before = s.starts.copy(), s.lengths.copy(), s.tokens.copy(), s.first.copy(), s.length.copy(), s.counts.copy()
    more = s.extended(Ragged.from_lists([[0], *tokens])[1:])
    for array, old in zip((s.starts, s.lengths, s.tokens, s.first, s.length, s.counts), before, strict=True):
        assert array.tolist() == old.tolist()
    every = {candidate.symbols: candidate for candidate in candidates(unit_list, weights, None, 0, ALL)[0]}
    last = list(dict.fromkeys(reversed(tokens)))[::-1]  # of equals the last one
    further = [token for token in last if token in every and len(token) > s.longest]
    wanted = [every[token] for token in [*own, *further]]
    assert [tuple(token) for token in more.sequences(np.arange(len(more))).to_lists()] == [c.symbols for c in wanted]
    assert more.counts.tolist() == [candidate.count for candidate in wanted]
    assert more.first.tolist() == [s.offsets[u] + p for u, p in (candidate.places[0] for candidate in wanted)]
    both = list(zip(more.lengths.tolist(), more.tokens.tolist(), strict=True))
    nodes = [both[a:b] for a, b in zip(more.starts[:-1], more.starts[1:], strict=True)]
    assert [sorted(here) for here in nodes] == edges(unit_list, {c.symbols: t for t, c in enumerate(wanted)})
    assert [[(n, t) for n, t in here if t < len(own)] for here in nodes] == edges(unit_list, {x: t for t, x in enumerate(own)})
    assert all(here == sorted(here, key=lambda edge: edge[1] >= len(own)) for here in nodes)
    other = data.draw(weights_of(len(unit_list)))
    counts = [sum(other[u] for u, _ in candidate.places) for candidate in wanted]
    assert more.counted(np.array(other, np.int64)).tolist() == counts
    dtypes = {"starts": "i8", "lengths": "i4", "tokens": "i4", "first": "i8", "length": "i4", "counts": "i8"}
    assert {name: getattr(more, name).dtype for name in dtypes} == {name: np.dtype(kind) for name, kind in dtypes.items()}
