"""What tokens and candidates are worth to paths of fewest tokens: the drawn examples, and all of it against all paths."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from reference.units import Lattice, distances, gains, losses, only
from tables import each
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


def path_losses(lattice: Flat, weights: list[int], most: list[int], alive: list[bool]) -> Found:
    ahead, after, via = np.full((3, int(lattice.nodes[-1])), NOT_WRITTEN, np.int32)
    worth = np.array([(0, 0, 0, 0, -1)] * len(alive), WORTH)
    w, own = np.array(weights, np.int64), np.array(most, np.int64)
    total = kernels.path_losses(
        lattice.nodes, w, own, *lattice[1:], np.array(alive, np.bool_), ahead, after, via, worth
    )  # fmt: skip
    return Found(total, ahead, after, worth)


def candidate_gains(every: Flat, weights: list[int], most: list[int], found: Found, n: int) -> np.ndarray:
    worth = np.array([(0, 0, 0, -1, -1)] * n, WORTH)
    w, own = np.array(weights, np.int64), np.array(most, np.int64)
    kernels.candidate_gains(every.nodes, w, own, *every[1:], found.ahead, found.after, worth)
    return worth


def saved_of(worth: np.ndarray) -> dict[int, tuple[int, int]]:
    """Of the tokens that save something: what they save, and what the unit does that counts most."""
    both = zip(worth["saved"].tolist(), worth["most"].tolist(), strict=True)
    return {t: (saved, most) for t, (saved, most) in enumerate(both) if saved or most}


def check(every: Flat, rank: list[int], alive: list[bool], weights: list[int], most: list[int]) -> Found:
    """The kernels on these lattices do as the reference does; alive is of tokens, by rank."""
    candidates = every.lists
    vocabulary = [[[(n, rank[t]) for n, t in here if rank[t] >= 0] for here in lattice] for lattice in candidates]
    held = inside(every, rank)
    assert held.lists == vocabulary
    lattices = [only(lattice, np.flatnonzero(alive).tolist()) for lattice in vocabulary]
    total, wanted = losses(lattices, weights, most)
    found = path_losses(held, weights, most, alive)
    assert found.total == total
    assert {t: n for t, n in enumerate(found.worth["count"].tolist()) if n} == {t: own.count for t, own in wanted.items()}
    assert saved_of(found.worth) == {t: (own.saved, own.most) for t, own in wanted.items() if own.saved or own.most}
    for u, lattice in enumerate(lattices):
        a, z = every.nodes[u], every.nodes[u + 1]
        both = found.ahead[a:z].tolist(), found.after[a:z].tolist()
        assert both == (distances(lattice) if weights[u] else ([NOT_WRITTEN] * (z - a),) * 2)
    gain = candidate_gains(every, weights, most, found, len(rank))
    more = gains(lattices, candidates, weights, most)
    assert saved_of(gain) == {t: (own.saved, own.most) for t, own in more.items()}
    return found


@st.composite
def cases(draw: st.DrawFn, length: int) -> Case:
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


@given(cases(12))
@example(
    ([[[(2, 0), (3, 1)], [(3, 3)], [(2, 2)], [], []]], [0, 1, 2, 3], [True] * 4, [1], [1])
)  # of paths as short the last edge
@example(([[[(2, 0)], [(2, 1)], [(2, 1)], [], [], []]], [0, -1], [True], [1], [1]))  # of those that save and overlap the first
@example(([[[(2, 0), (4, 1)], [], [(2, 0)], [], []]] * 2, [1, 0], [False, True], [1, 0], [1, 5]))
def test_units_against_the_reference(case: Case) -> None:
    lattices, rank, alive, weights, most = case
    check(flattened(lattices), rank, alive, weights, most)


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


@each("size, n_units, n", [(2, 1, 30), (2, 300, 400), (300, 1, 400), (300, 40, 30)])
def test_large_texts_against_distances(size: int, n_units: int, n: int) -> None:
    unit_list = large(size, 3_000, n_units, size + n_units)
    every, s = lattice_of(unit_list, 9, 2)
    rng = np.random.default_rng(n + size)
    held = rng.permutation(len(s))[:n]
    rank = np.full(len(s), -1)
    rank[held] = np.arange(held.size)
    weights = [[4096, 0, 2**40, 1, 7][u % 5] for u in range(n_units)]
    most = [[1, 2, 1, 2**32, 9][u % 5] for u in range(n_units)]
    found = check(every, rank.tolist(), (rng.random(held.size) < 0.9).tolist(), weights, most)
    assert found.worth["count"].max() > 4095
