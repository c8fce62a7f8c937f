"""What tokens and candidates are worth to paths of fewest tokens: the drawn examples, and all of it against all paths."""

from typing import NamedTuple

import numpy as np
from hypothesis import example, given, strategies as st
from reference.units import Lattice, distances, gains, losses, only
from tables import each
from unit_texts import flat, large, weights_of

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


def saved_of(worth: np.ndarray) -> dict[int, tuple[int, int]]:
    """Of the tokens that save something: what they save, and what the unit does that counts most."""
    both = zip(worth["saved"].tolist(), worth["most"].tolist(), strict=True)
    return {t: (saved, most) for t, (saved, most) in enumerate(both) if saved or most}


def check(every: Flat, rank: list[int], alive: list[bool], weights: list[int], most: list[int]) -> np.ndarray:
    """The kernels on these lattices do as the reference does; alive is of tokens, by rank.

    What tokens are worth.
    """
    candidates = every.lists
    vocabulary = [
        [[(n, rank[t]) for n, t in here if rank[t] >= 0] for here in lattice] for lattice in candidates
    ]
    # the edges of the tokens that have a rank, in arrays with room for one more
    lengths, tokens = np.full((2, every.lengths.size + 1), NOT_WRITTEN, np.int32)
    starts = np.full(every.starts.size, NOT_WRITTEN, np.int64)
    n = kernels.inside_edges(*every[1:], np.array(rank, np.int32), starts, lengths, tokens)
    assert set(lengths[n:]) == set(tokens[n:]) == {NOT_WRITTEN} and (starts[0], starts[-1]) == (0, n)
    held = Flat(every.nodes, starts, lengths[:n], tokens[:n])
    assert held.lists == vocabulary
    lattices = [only(lattice, np.flatnonzero(alive).tolist()) for lattice in vocabulary]
    total, wanted = losses(lattices, weights, most)
    worth = np.array([(0, 0, 0, 0, -1)] * len(alive), WORTH)
    ahead, after, via = np.full((3, int(every.nodes[-1])), NOT_WRITTEN, np.int32)
    w, own = np.array(weights, np.int64), np.array(most, np.int64)
    assert (
        kernels.path_losses(
            held.nodes, w, own, *held[1:], np.array(alive, np.bool_), ahead, after, via, worth
        )
        == total
    )
    assert {t: n for t, n in enumerate(worth["count"].tolist()) if n} == {
        t: x.count for t, x in wanted.items()
    }
    assert saved_of(worth) == {t: (x.saved, x.most) for t, x in wanted.items() if x.saved or x.most}
    for u, lattice in enumerate(lattices):
        a, z = every.nodes[u], every.nodes[u + 1]
        both = ahead[a:z].tolist(), after[a:z].tolist()
        assert both == (distances(lattice) if weights[u] else ([NOT_WRITTEN] * (z - a),) * 2)
    for prefer in ([], [t * 7 % 5 for t in range(len(rank))]):
        gain = np.array([(0, 0, 0, -1, -1)] * len(rank), WORTH)
        kernels.candidate_gains(
            every.nodes, w, own, *every[1:], ahead, after, np.array(prefer, np.int64), gain
        )
        more = gains(lattices, candidates, weights, most, prefer)
        assert saved_of(gain) == {t: (x.saved, x.most) for t, x in more.items()}
    return worth


@st.composite
def cases(draw: st.DrawFn, length: int) -> Case:
    """Lattices of any edges, of tokens of fixed lengths in any order; rank, alive, weights and most."""
    lengths = draw(st.lists(st.integers(2, 5), max_size=5))
    lattices: list[Lattice] = []
    for n in draw(st.lists(st.integers(0, length), max_size=4)):
        fitting = [[t for t, own in enumerate(lengths) if v + own <= n] for v in range(n + 1)]
        lattices.append(
            [
                [(lengths[t], t) for t in draw(st.permutations(some)) if draw(st.booleans())]
                for some in fitting
            ]
        )
    held = draw(st.lists(st.booleans(), min_size=len(lengths), max_size=len(lengths)))
    ranks = iter(draw(st.permutations(range(sum(held)))))
    alive = draw(st.lists(st.booleans(), min_size=sum(held), max_size=sum(held)))
    weights, most = draw(weights_of(len(lattices))), draw(weights_of(len(lattices)))
    return lattices, [next(ranks) if h else -1 for h in held], alive, weights, most


@given(cases(12))
@example(
    ([[[(2, 0), (3, 1)], [(3, 3)], [(2, 2)], [], []]], [0, 1, 2, 3], [True] * 4, [1], [1])
)  # of paths as short the last edge
def test_units_against_the_reference(case: Case) -> None:
    lattices, rank, alive, weights, most = case
    check(flattened(lattices), rank, alive, weights, most)


@each("size, n_units, n", [(2, 1, 30), (2, 300, 400), (300, 40, 400)])
def test_large_texts_against_distances(size: int, n_units: int, n: int) -> None:
    values, offsets = flat(large(size, 3_000, n_units, size + n_units))
    s = Substrings(values, offsets, np.ones(n_units, np.int64), 1, 9, 2, 10**8)
    rng = np.random.default_rng(n + size)
    held = rng.permutation(len(s))[:n]
    rank = np.full(len(s), -1)
    rank[held] = np.arange(held.size)
    weights = [[4096, 0, 2**40, 1, 7][u % 5] for u in range(n_units)]
    most = [[1, 2, 1, 2**32, 9][u % 5] for u in range(n_units)]
    worth = check(
        Flat(s.nodes, s.starts, s.lengths, s.tokens),
        rank.tolist(),
        (rng.random(held.size) < 0.9).tolist(),
        weights,
        most,
    )
    assert worth["count"].max() > 4095
