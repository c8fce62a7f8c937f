"""The list of states that follow, against the way along edges and failures."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from pair_tables import Table, documents, tables

from ubpe_numba import Ragged
from ubpe_numba.coding.lattice import Lattice
from ubpe_numba.coding.path_encoder import Matcher, MatchTables, PathEncoder
from ubpe_numba.vocabulary.vocabulary import Vocabulary


def state_after(tables: MatchTables, state: int, symbol: int) -> int:
    """The state that follows by the lists."""
    _, _, listed, _, rows, _ = tables
    row, other, child, _ = listed[state + 1].tolist()
    return child if symbol == other else int(rows[row + symbol])


def suffix_states(n_alphabet: int, tables: MatchTables) -> list[tuple[int, ...]]:
    """What every state stands for, found by walking to it from the empty state; the symbol that was read last stands first."""
    found: dict[int, tuple[int, ...]] = {-1: ()}
    states = tables[1]
    todo = [-1]
    for state in todo:
        for a in range(n_alphabet):
            to = state_after(tables, state, a)
            if to not in found and states["depth"][to] == len(found[state]) + 1:
                found[to] = (a, *found[state])
                todo.append(to)
    return [found[i] for i in range(states.size)]


@given(tables())
def test_following_states_are_the_longest_suffixes_of_tokens(table: Table) -> None:
    size, pairs, _ = table
    v = Vocabulary.from_merges(size, pairs)
    found = Matcher(v).tables(1 << 40)
    names = suffix_states(size, found)
    suffixes = {tuple(v.sequence(t).tolist())[i:] for t in range(len(v)) for i in range(len(v.sequence(t)))}
    assert set(names) == suffixes and len(names) == len(suffixes)
    for state, name in [(-1, ()), *enumerate(names)]:
        for a in range(size):
            read = (a, *name)
            longest = max((read[:k] for k in range(1, len(read) + 1) if read[:k] in suffixes), key=len)
            assert names[state_after(found, state, a)] == longest


@given(st.data(), tables())
def test_paths_and_sums_are_the_same_with_the_list(data: st.DataObject, table: Table) -> None:
    size, pairs, weights = table
    docs = Ragged.from_lists(data.draw(documents(size, 40)))
    v = Vocabulary.from_merges(size, pairs, weights)
    added = np.linspace(-3.0, -1.0, len(v))
    plain, listed = PathEncoder(v, added), PathEncoder(v, added)
    plain.matcher._read, listed.matcher._read = -(1 << 40), 1 << 40
    assert listed.matcher.tables(1)[4].size > 0 == plain.matcher.tables(1)[4].size
    for objective in ("shortest", "additive"):
        assert plain.encode(docs, objective, 1) == listed.encode(docs, objective, 1)
    one, other = Lattice.of(plain, 1.0), Lattice.of(listed, 1.0)
    for found, again in zip(one.expected_counts(docs, None, 1), other.expected_counts(docs, None, 1), strict=True):
        assert np.array_equal(found, again)
    assert one.sample(docs, 5, 1) == other.sample(docs, 5, 1)


@given(tables(), st.booleans())
def test_lists_are_the_tokens_that_start_in_a_state(table: Table, mirrored: bool) -> None:
    """Longest first, the symbol last; mirrored, those that end there."""
    size, pairs, _ = table
    v = Vocabulary.from_merges(size, pairs)
    found = Matcher(v, mirrored).tables(1 << 40)
    step = -1 if mirrored else 1
    tokens = {tuple(v.sequence(t).tolist())[::step]: t for t in range(len(v))}
    for state, name in enumerate(suffix_states(size, found)):
        want = [(n, tokens[name[:n]]) for n in range(len(name), 0, -1) if name[:n] in tokens]
        begin = int(found[2]["first"][state + 1])
        assert found[-1][begin : begin + len(want)].tolist() == want
    assert found[-1].size <= v.arena.size


def test_lists_of_tokens_each_of_which_begins_with_all_shorter_ones() -> None:
    v = Vocabulary.from_merges(1, [[i, 0] for i in range(300)])
    _, states, listed, _, _, matches = Matcher(v).tables(1 << 40)
    assert matches.size == v.arena.size == 301 * 302 // 2
    begin = listed["first"][np.argmax(states["depth"]) + 1]
    assert matches["length"][begin : begin + 301].tolist() == list(range(301, 0, -1))
