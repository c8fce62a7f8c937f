"""What tokens and candidates are worth to paths of fewest tokens: the drawn examples, and all of it against all paths."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.path_losses import Lattice, distances, gains, losses, only, paths
from unit_texts import flat, large, units, weights_of

from ubpe_numba.fitting.kernels import path_losses as kernels
from ubpe_numba.fitting.kernels.path_losses import WORTH
from ubpe_numba.fitting.substrings import Substrings

NOT_WRITTEN = -7
Case = tuple[list[Lattice], list[int], list[bool], list[int], list[int]]  # rank, alive, weights and most


class Flat(NamedTuple):
    """Lattices of units one after the other, as kernels have them."""

    nodes: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray
    tokens: np.ndarray

    @property
    def lists(self) -> list[Lattice]:
        """The lattice of every unit."""
        both = list(zip(self.lengths.tolist(), self.tokens.tolist(), strict=True))
        every = [both[a:b] for a, b in zip(self.starts[:-1], self.starts[1:], strict=True)]
        return [every[a:b] for a, b in zip(self.nodes[:-1], self.nodes[1:], strict=True)]


def flattened(lattices: list[Lattice]) -> Flat:
    per_node = [here for lattice in lattices for here in lattice]
    edges = np.array([edge for here in per_node for edge in here], np.int32).reshape(-1, 2)
    nodes = np.cumsum([0, *map(len, lattices)], dtype=np.int64)
    starts = np.cumsum([0, *map(len, per_node)], dtype=np.int64)
    return Flat(nodes, starts, edges[:, 0].copy(), edges[:, 1].copy())


def inside(every: Flat, rank: list[int]) -> Flat:
    """The edges of the tokens that have a rank, in arrays with room for one more."""
    lengths, tokens = np.full((2, every.lengths.size + 1), NOT_WRITTEN, np.int32)
    starts = np.full(every.starts.size, NOT_WRITTEN, np.int64)
    n = kernels.inside_edges(
        every.starts, every.lengths, every.tokens, np.array(rank, np.int32), starts, lengths, tokens
    )  # fmt: skip
    assert set(lengths[n:]) == set(tokens[n:]) == {NOT_WRITTEN}
    assert (starts[0], starts[-1]) == (0, n)
    return Flat(every.nodes, starts, lengths[:n], tokens[:n])


class Found(NamedTuple):
    """What `path_losses` returns and writes."""

    total: int
    ahead: np.ndarray
    after: np.ndarray
    worth: np.ndarray


def path_losses(lattice: Flat, weights: list[int], most: list[int], alive: list[bool], worth: np.ndarray | None = None) -> Found:
    ahead, after, via = np.full((3, int(lattice.nodes[-1])), NOT_WRITTEN, np.int32)
    if worth is None:
        worth = np.array([(0, 0, 0, 0, -1)] * len(alive), WORTH)
    w, own = np.array(weights, np.int64), np.array(most, np.int64)
    total = kernels.path_losses(
        lattice.nodes, w, own, *lattice[1:], np.array(alive, np.bool_), ahead, after, via, worth
    )  # fmt: skip
    return Found(total, ahead, after, worth)


def candidate_gains(
    every: Flat, weights: list[int], most: list[int], found: Found, n: int, worth: np.ndarray | None = None
) -> np.ndarray:
    if worth is None:
        worth = np.array([(0, 0, 0, -1, -1)] * n, WORTH)
    w, own = np.array(weights, np.int64), np.array(most, np.int64)
    kernels.candidate_gains(every.nodes, w, own, *every[1:], found.ahead, found.after, worth)
    return worth


def saved_of(worth: np.ndarray) -> dict[int, tuple[int, int]]:
    """Of the tokens that save something: what they save, and what the unit does that counts most."""
    both = zip(worth["saved"].tolist(), worth["most"].tolist(), strict=True)
    return {t: (saved, most) for t, (saved, most) in enumerate(both) if saved or most}


def check(every: Flat, rank: list[int], alive: list[bool], weights: list[int], most: list[int], try_all: bool = False) -> Found:
    """The kernels on these lattices do as the reference does; alive is of tokens, by rank."""
    candidates = every.lists
    vocabulary = [[[(n, rank[t]) for n, t in here if rank[t] >= 0] for here in lattice] for lattice in candidates]
    held = inside(every, rank)
    assert held.lists == vocabulary
    lattices = [only(lattice, np.flatnonzero(alive).tolist()) for lattice in vocabulary]
    total, wanted = losses(lattices, weights, most, try_all)
    found = path_losses(held, weights, most, alive)
    assert found.total == total
    assert {t: n for t, n in enumerate(found.worth["count"].tolist()) if n} == {t: own.count for t, own in wanted.items()}
    assert saved_of(found.worth) == {t: (own.saved, own.most) for t, own in wanted.items() if own.saved or own.most}
    for u, lattice in enumerate(lattices):
        a, z = every.nodes[u], every.nodes[u + 1]
        both = found.ahead[a:z].tolist(), found.after[a:z].tolist()
        assert both == (distances(lattice) if weights[u] else ([NOT_WRITTEN] * (z - a),) * 2)
        if weights[u] and try_all:
            n = len(lattice) - 1
            assert both[0] == [min(map(len, paths(lattice, 0, v))) for v in range(n + 1)]
            assert both[1] == [min(map(len, paths(lattice, v, n))) for v in range(n + 1)]
    gain = candidate_gains(every, weights, most, found, len(rank))
    more = gains(lattices, candidates, weights, most, try_all)
    assert saved_of(gain) == {t: (own.saved, own.most) for t, own in more.items()}
    return found


# --- worked examples -------------------------------------------------------------------------------------

ABAB: Lattice = [[(2, 0), (4, 1)], [], [(2, 0)], [], []]  # the tokens ab and, as a candidate, abab


def test_the_drawn_document() -> None:
    every = flattened([ABAB])
    held = inside(every, [0, -1])
    assert held.lists == [[[(2, 0)], [], [(2, 0)], [], []]]
    found = path_losses(held, [1], [1], [True])
    assert found.total == 2
    assert found.ahead.tolist() == [0, 1, 1, 2, 2]
    assert found.after.tolist() == [2, 2, 1, 1, 0]
    assert found.worth[["saved", "most", "count"]].tolist() == [(2, 2, 2)]
    gain = candidate_gains(every, [1], [1], found, 2)
    assert saved_of(gain) == {1: (1, 1)}


def test_weights_and_the_unit_that_counts_most() -> None:
    every = flattened([ABAB, [[]], ABAB[2:], ABAB, ABAB[2:]])
    found = path_losses(inside(every, [0, -1]), [2**40, 5, 3, 0, 1], [1, 1, 7, 100, 2], [True])
    assert found.total == 2 * 2**40 + 3 + 1
    assert found.worth[["saved", "most", "count"]].tolist() == [(2 * 2**40 + 4, 7, 2 * 2**40 + 4)]
    assert found.ahead[9:14].tolist() == found.after[9:14].tolist() == [NOT_WRITTEN] * 5
    gain = candidate_gains(every, [2**40, 5, 3, 0, 1], [1, 1, 7, 100, 2], found, 2)
    assert saved_of(gain) == {1: (2**40, 1)}


def test_units_of_weight_0_would_save_nothing() -> None:
    every = flattened([ABAB, ABAB])
    found = path_losses(inside(every, [0, -1]), [1, 1], [1, 1], [True])
    assert saved_of(candidate_gains(every, [1, 1], [1, 5], found, 2)) == {1: (2, 5)}
    assert saved_of(candidate_gains(every, [1, 0], [1, 5], found, 2)) == {1: (1, 1)}


def test_tokens_that_left_are_not_gone_through_and_would_save_again() -> None:
    every = flattened([ABAB])
    found = path_losses(inside(every, [1, 0]), [1], [1], [False, True])
    assert (found.total, found.worth["count"].tolist()) == (2, [0, 2])
    assert saved_of(candidate_gains(every, [1], [1], found, 2)) == {1: (1, 1)}


@pytest.mark.parametrize(
    ("first", "count"),
    [
        ([(2, 0), (3, 1)], [0, 1, 0, 0]),  # abc d
        ([(3, 1), (2, 0)], [1, 0, 1, 0]),  # ab cd
        ([], [0, 0, 0, 1]),  # a bcd
        ([(3, 1)], [0, 1, 0, 0]),
    ],
)
def test_of_paths_as_short_the_edge_that_comes_last(first: list[tuple[int, int]], count: list[int]) -> None:
    """Of abcd, with the tokens ab, abc, cd and bcd; a symbol comes before all edges of its node."""
    every = flattened([[first, [(3, 3)], [(2, 2)], [], []]])
    found = path_losses(every, [1], [1], [True] * 4)
    assert found.total == 2
    assert found.worth["count"].tolist() == count


def test_of_occurrences_that_save_and_overlap_the_first_counts() -> None:
    # aaaa: the candidate aa at 0 and 2, not at 1
    every = flattened([[[(2, 0)], [(2, 0)], [(2, 0)], [], []]])
    found = path_losses(inside(every, [-1]), [1], [1], [])
    assert saved_of(candidate_gains(every, [1], [1], found, 1)) == {0: (2, 2)}
    # abbbe with the token ab: the candidate bb saves nothing at 1, so that it counts at 2
    every = flattened([[[(2, 0)], [(2, 1)], [(2, 1)], [], [], []]])
    found = path_losses(inside(every, [0, -1]), [1], [1], [True])
    assert saved_of(candidate_gains(every, [1], [1], found, 2)) == {1: (1, 1)}


def test_occurrences_are_looked_at_each_alone() -> None:
    """Of abab, with the token ba: ab saves nothing at 0 and nothing at 2, though at both it would save a token."""
    every = flattened([[[(2, 1)], [(2, 0)], [(2, 1)], [], []]])
    found = path_losses(inside(every, [0, -1]), [1], [1], [True])
    assert (found.total, saved_of(candidate_gains(every, [1], [1], found, 2))) == (3, {})
    assert path_losses(every, [1], [1], [True, True]).total == 2


def test_a_longer_token_around_another_one_is_not_looked_at() -> None:
    """Of abcdef, with ab, cd, ef and bcde: each path through the node inside cd is longer, yet without cd there is a bcde f."""
    every = flattened([[[(2, 0)], [(4, 3)], [(2, 1)], [], [(2, 2)], [], []]])
    found = path_losses(every, [1], [1], [True] * 4)
    assert (found.total, found.worth["saved"].tolist()) == (3, [0, 1, 0, 0])
    assert path_losses(every, [1], [1], [True, False, True, True]).total == 3


def test_the_edges_of_some_nodes_only() -> None:
    """Starts of a chunk are places among all edges; those of its own edges begin at 0."""
    every = flattened([ABAB, [[(2, 1), (3, 0)], [], [], []], ABAB])
    some = Flat(np.array([0, 4]), every.starts[5:10], every.lengths, every.tokens)
    assert inside(some, [4, 9]).lists == [[[(2, 9), (3, 4)], [], [], []]]


def test_empty_documents_lose_nothing() -> None:
    for lattices in ([], [[[]]], [[[]], [[]]]):
        every = flattened(lattices)
        found = check(every, [], [], [2] * len(lattices), [1] * len(lattices), True)
        assert found.total == 0


# --- against the reference -------------------------------------------------------------------------------


@st.composite
def cases(draw: st.DrawFn, length: int) -> tuple[list[Lattice], list[int], list[bool], list[int], list[int]]:
    """Lattices of any edges, of tokens of fixed lengths in any order; rank, alive, weights and most."""
    lengths = draw(st.lists(st.integers(2, 5), max_size=5))
    lattices: list[Lattice] = []
    for n in draw(st.lists(st.integers(0, length), max_size=4)):
        fitting = [[t for t, own in enumerate(lengths) if v + own <= n] for v in range(n + 1)]
        lattices.append([[(lengths[t], t) for t in draw(st.permutations(some)) if draw(st.booleans())] for some in fitting])
    held = draw(st.lists(st.booleans(), min_size=len(lengths), max_size=len(lengths)))
    ranks = iter(draw(st.permutations(range(sum(held)))))
    alive = draw(st.lists(st.booleans(), min_size=sum(held), max_size=sum(held)))
    weights, most = draw(weights_of(len(lattices))), draw(weights_of(len(lattices)))
    return lattices, [next(ranks) if h else -1 for h in held], alive, weights, most


@given(cases(6))
def test_short_units_against_all_paths(
    case: tuple[list[Lattice], list[int], list[bool], list[int], list[int]],
) -> None:
    lattices, rank, alive, weights, most = case
    check(flattened(lattices), rank, alive, weights, most, try_all=True)


def lattice_of(unit_list: list[list[int]], longest: int, min_count: int) -> tuple[Flat, Substrings]:
    values, offsets = flat(unit_list)
    s = Substrings(values, offsets, np.ones(len(unit_list), np.int64), 1, longest, min_count, 10**8)
    return Flat(s.nodes, s.starts, s.lengths, s.tokens), s


@given(st.data(), units(st.sampled_from([1, 2, 3, 300]), 60, 6), st.integers(1, 3))
def test_texts_against_distances(data: st.DataObject, unit_list: list[list[int]], min_count: int) -> None:
    every, s = lattice_of(unit_list, data.draw(st.sampled_from([2, 4, 9])), min_count)
    random = data.draw(st.randoms(use_true_random=False))
    share = random.choice([0.05, 0.3, 0.9])
    held = [t for t in range(len(s)) if random.random() < share]
    rank = [-1] * len(s)
    for r, t in enumerate(random.sample(held, len(held))):
        rank[t] = r
    alive = [random.random() < 0.7 for _ in held]
    n = len(unit_list)
    check(every, rank, alive, data.draw(weights_of(n)), data.draw(weights_of(n)))


@pytest.mark.parametrize("size, n_units, n", [(2, 1, 30), (2, 300, 400), (4, 30, 0), (300, 1, 400), (300, 40, 30)])
def test_large_texts_against_distances(size: int, n_units: int, n: int) -> None:
    unit_list = large(size, 6_000, n_units, size + n_units)
    every, s = lattice_of(unit_list, 9, 2)
    rng = np.random.default_rng(n + size)
    held = rng.permutation(len(s))[:n]
    rank = np.full(len(s), -1)
    rank[held] = np.arange(held.size)
    weights = [[4096, 0, 2**40, 1, 7][u % 5] for u in range(n_units)]
    most = [[1, 2, 1, 2**32, 9][u % 5] for u in range(n_units)]
    found = check(every, rank.tolist(), (rng.random(held.size) < 0.9).tolist(), weights, most)
    assert n == 0 or found.worth["count"].max() > 4095


def test_a_run_of_one_symbol() -> None:
    """Candidates of up to 64 symbols at each of some thousand nodes, of which some are tokens."""
    unit_list = [[0] * 1500, [], [0] * 63, [0]]
    every, s = lattice_of(unit_list, 64, 1)
    rank = [-1] * len(s)
    rank[2], rank[30] = 1, 0
    found = check(every, rank, [True, True], [4096, 1, 2, 3], [1, 1, 1, 1])
    assert found.worth["count"][0] > 4095


@given(cases(40))
def test_worth_is_added_to_what_there_is(case: tuple[list[Lattice], list[int], list[bool], list[int], list[int]]) -> None:
    lattices, rank, alive, weights, most = case
    every = flattened(lattices)
    held = inside(every, rank)
    found = path_losses(held, weights, most, alive)
    gain = candidate_gains(every, weights, most, found, len(rank))
    more = path_losses(held, weights, most, alive, np.array([(1000, 3, 5, 70, -1)] * len(alive), WORTH)).worth
    assert (more["saved"] - found.worth["saved"]).tolist() == [1000] * len(alive)
    assert (more["count"] - found.worth["count"]).tolist() == [70] * len(alive)
    assert more["most"].tolist() == np.maximum(found.worth["most"], 3).tolist()
    more = candidate_gains(every, weights, most, found, 0, np.array([(1000, 3, 5, -1, -1)] * len(rank), WORTH))
    assert (more["saved"] - gain["saved"]).tolist() == [1000] * len(rank)
    assert more["most"].tolist() == np.maximum(gain["most"], 3).tolist()


@given(cases(12))
def test_units_one_by_one_are_worth_as_much_as_all(
    case: tuple[list[Lattice], list[int], list[bool], list[int], list[int]],
) -> None:
    """What threads find of their units adds up; of `most` the largest counts."""
    lattices, rank, alive, weights, most = case
    every = flattened(lattices)
    whole = path_losses(inside(every, rank), weights, most, alive)
    gain = candidate_gains(every, weights, most, whole, len(rank))
    parts, gain_parts = [], []
    for lattice, weight, own in zip(lattices, weights, most, strict=True):
        part = flattened([lattice])
        parts.append(path_losses(inside(part, rank), [weight], [own], alive))
        gain_parts.append(candidate_gains(part, [weight], [own], parts[-1], len(rank)))
    assert whole.total == sum(part.total for part in parts)
    for one, each, names in ((whole.worth, [p.worth for p in parts], ["saved", "count"]), (gain, gain_parts, ["saved"])):
        for name in names:
            assert one[name].tolist() == sum((own[name] for own in each), np.zeros(one.size, np.int64)).tolist()
        assert one["most"].tolist() == np.max([np.zeros(one.size, np.int64), *(own["most"] for own in each)], axis=0).tolist()


@given(cases(12))
def test_a_candidate_that_occurs_once_saves_what_it_is_said_to_save(
    case: tuple[list[Lattice], list[int], list[bool], list[int], list[int]],
) -> None:
    lattices, rank, alive, weights, most = case
    every = flattened(lattices)
    found = path_losses(inside(every, rank), weights, most, alive)
    gain = candidate_gains(every, weights, most, found, len(rank))["saved"].tolist()
    for t, r in enumerate(rank):
        if max((sum(token == t for here in lattice for _, token in here) for lattice in lattices), default=0) == 1:
            more = [len(alive) if own == t else own_rank for own, own_rank in enumerate(rank)]
            less = path_losses(inside(every, more), weights, most, [*alive, True])
            assert found.total - less.total == gain[t] and (gain[t] == 0 or r < 0 or not alive[r])
