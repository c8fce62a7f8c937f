"""The search for the vocabulary of n tokens with which documents need the fewest: tokens are swapped for better candidates.

What each candidate would save if it were added, and each token cost if it left, is known from one pass over all shortest paths
(kernels/path_losses.py). So a round adds the candidates that save most, more than there is room for. They may save the same
tokens as others; so what is too much leaves again in small steps, the tokens first that are worth least by then, and all is
measured anew after each. If documents need fewer tokens after that, the round counts; if not, it is undone, and the next adds
fewer.

A candidate that a single unit needs is of no use to documents that are not seen yet. A `robust` search leaves out what is saved
by the unit that saves most, both when tokens are ranked and when vocabularies are compared.

Source: the greedy choice by gains is that of J. Lim et al., "A partition cover approach to tokenization", 2025; losses of the
tokens that are in, and swaps, make it a local search.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

from ubpe_numba.fitting.deadline import Deadline
from ubpe_numba.fitting.kernels import path_losses as kernels
from ubpe_numba.fitting.kernels.path_losses import WORTH
from ubpe_numba.fitting.substrings import Substrings
from ubpe_numba.runtime import thread_pool

T = TypeVar("T")

_LEAVING = 0.05  # of the tokens, in a step: two that can replace each other should not leave together
_ADDED, _ADDED_TO_NONE = 0.15, 0.3  # of the tokens wanted, by the first round
_FADING = 0.6  # of that is left after a round that is undone
_FEWEST_FILLED = 32  # tokens that are added at a time where there is room


class Goal(NamedTuple):
    """What tokens are chosen by.

    Attributes
    ----------
    robust : bool
        Whether what one unit alone saves is left out.
    min_count : int
        How often a candidate occurs at least.
    """

    robust: bool
    min_count: int


class _Part:
    """Some units that follow each other, their edges, and what a measurement of them takes."""

    def __init__(self, substrings: Substrings, weights: np.ndarray, most: np.ndarray, begin: int, end: int) -> None:
        nodes, starts = substrings.nodes, substrings.starts
        a, z = nodes[begin], nodes[end]
        edges = slice(starts[a], starts[z])
        self.nodes = nodes[begin : end + 1] - a
        self.units, self.place = (weights[begin:end], most[begin:end]), slice(begin, end)
        self.edges = starts[a : z + 1] - starts[a], substrings.lengths[edges], substrings.tokens[edges]
        self.inside = np.empty(z - a + 1, np.int64), np.empty_like(self.edges[1]), np.empty_like(self.edges[2])
        self.ahead, self.behind, self.via = (np.zeros(z - a, np.int32) for _ in range(3))
        self.gains_of = np.empty(len(substrings), WORTH)

    def of_weights(self, weights: np.ndarray, most: np.ndarray) -> _Part:
        other = copy.copy(self)
        other.units = weights[self.place], most[self.place]
        return other

    def choose(self, rank: np.ndarray) -> None:
        kernels.inside_edges(*self.edges, rank, *self.inside)

    def losses(self, alive: np.ndarray, weights: np.ndarray | None = None) -> tuple[int, np.ndarray]:
        worth = _nothing(np.empty(alive.size, WORTH), 0)
        units = self.units if weights is None else (weights[self.place], self.units[1])
        return int(kernels.path_losses(self.nodes, *units, *self.inside, alive, self.ahead, self.behind, self.via, worth)), worth

    def gains(self) -> np.ndarray:
        kernels.candidate_gains(self.nodes, *self.units, *self.edges, self.ahead, self.behind, _nothing(self.gains_of, -1))
        return self.gains_of


def _nothing(worth: np.ndarray, count: int) -> np.ndarray:
    worth.view(np.uint8)[:] = 0  # many times as fast as whole records
    worth["count"], worth["unit"] = count, -1
    return worth


class SwapSearch:
    """A search among the candidates of some units, by what these save.

    Parameters
    ----------
    substrings
        The candidates, and where they occur.
    weights, most
        int64[d], how often each unit occurs, 0 for those that are to have no influence, and how often in one document.
    n
        How many tokens are wanted.
    n_threads
        The result is the same for any number. Each has a table of all candidates, of 40 bytes each.
    deadline
        When to stop.
    """

    def __init__(
        self, substrings: Substrings, weights: np.ndarray, most: np.ndarray, n: int, n_threads: int, deadline: Deadline
    ) -> None:
        self.substrings, self.weights, self.n, self.deadline = substrings, weights, n, deadline
        self._threads = n_threads
        chunks = thread_pool.chunks_of(substrings.offsets, n_threads, 1)
        self.counts = substrings.counted(weights)
        self._parts = [_Part(substrings, weights, most, *chunk) for chunk in chunks]

    def search(self, inside: np.ndarray, goal: Goal, rounds: int) -> np.ndarray:
        """The candidates that are chosen, int64, `n` or fewer, ascending.

        Parameters
        ----------
        inside
            Those to begin with, any number.
        goal
            What is asked of tokens.
        rounds
            How many rounds at most; it ends before where none is of use any more.
        """
        share = _ADDED if inside.size else _ADDED_TO_NONE
        inside, total = self._fewer(inside, goal)
        batch = max(4, int(share * self.n))
        for _ in range(rounds):
            added = self._best(goal, self.n - inside.size + batch)
            if not added.size or self.deadline.is_over():
                break
            trial, new = self._fewer(np.concatenate([inside, added]), goal)
            if new < total:
                inside, total = trial, new
                continue
            batch = int(batch * _FADING)
            if not batch:
                break
            self._choose(inside)
            self._losses(np.ones(inside.size, bool))
        return np.sort(inside)

    def of_weights(self, weights: np.ndarray, most: np.ndarray, n: int) -> SwapSearch:
        """A search for `n` tokens of units of other weights, in the memory of this one: only one of them at a time."""
        other = copy.copy(self)
        other.weights, other.n, other.counts = weights, n, self.substrings.counted(weights)
        other._parts = [part.of_weights(weights, most) for part in self._parts]
        return other

    def used(self, inside: np.ndarray) -> tuple[np.ndarray, int]:
        """Those of the tokens without which units would need more of the others, each alone, and what is needed with all."""
        self._choose(inside)
        total, worth = self._losses(np.ones(inside.size, bool))
        return inside[worth["saved"] > 0], total

    def fill(self, inside: np.ndarray, goals: list[Goal], share: int = 2) -> np.ndarray:
        """Candidates with more that save something by the first goal, then by the next, until there are `n`.

        One part in `share` of those that there is room for is added at a time.

        At last those follow that cover most symbols of distinct units, which may serve other documents.
        """
        for goal in goals:
            while inside.size < self.n and not self.deadline.is_over():
                self._choose(inside)
                self._losses(np.ones(inside.size, bool))
                room = self.n - inside.size
                added = self._best(goal, min(room, max(_FEWEST_FILLED, room // share)))
                if not added.size:
                    break
                inside = np.concatenate([inside, added])
        if inside.size < self.n:
            productive = self.substrings.counted((self.weights > 0).astype(np.int64)) * (self.substrings.length - 1)
            productive[inside] = 0
            rest = np.flatnonzero((productive > 0) & (self.counts >= goals[-1].min_count))
            inside = np.concatenate([inside, largest(productive, rest, self.n - inside.size)])
        return np.sort(inside)

    def total(self, inside: np.ndarray, weights: np.ndarray) -> int:
        """The fewest tokens that units of these weights need with the candidates `inside`."""
        self._choose(inside)
        alive = np.ones(inside.size, bool)
        return sum(self._of_all(lambda part: part.losses(alive, weights)[0]))

    def _fewer(self, inside: np.ndarray, goal: Goal) -> tuple[np.ndarray, int]:
        """`n` of the tokens, those of the smallest worth left out, and what is needed with them by this goal."""
        self._choose(inside)
        alive = np.ones(inside.size, bool)
        while True:
            total, worth = self._losses(alive)
            saved = worth["saved"] - worth["most"] if goal.robust else worth["saved"]
            if (size := int(alive.sum())) <= self.n:
                break
            stay = np.flatnonzero(alive)
            order = stay[np.lexsort((inside[stay], worth["count"][stay], saved[stay]))]
            alive[order[: min(size - self.n, max(1, int(size * _LEAVING)))]] = False
        if goal.robust:  # what one unit alone saves does not count
            total += int(worth["saved"][alive & (saved <= 0)].sum())
        return inside[alive], total

    def _choose(self, inside: np.ndarray) -> None:
        rank = np.full(len(self.substrings), -1, np.int32)
        rank[inside] = np.arange(inside.size)
        self._of_all(lambda part: part.choose(rank))

    def _losses(self, alive: np.ndarray) -> tuple[int, np.ndarray]:
        found = self._of_all(lambda part: part.losses(alive))
        return sum(total for total, _ in found), _together([worth for _, worth in found])

    def _best(self, goal: Goal, n: int) -> np.ndarray:
        """The `n` candidates that save most; those that are in save nothing."""
        worth = _together(self._of_all(_Part.gains))
        saved = worth["saved"] - worth["most"] if goal.robust else worth["saved"]
        useful = np.flatnonzero((saved > 0) & (self.counts >= goal.min_count))
        return largest(saved, useful, n)

    def _of_all(self, function: Callable[[_Part], T]) -> list[T]:
        chunks = [(i, i + 1) for i in range(len(self._parts))]
        return thread_pool.run(lambda i, _: function(self._parts[i]), chunks, self._threads, self.substrings.lengths.size)


def _together(found: list[np.ndarray]) -> np.ndarray:
    """What the parts found, as one: sums, and the unit that counts most of all."""
    whole = found[0]
    for other in found[1:]:
        whole["saved"] += other["saved"]
        whole["count"] += other["count"]
        np.maximum(whole["most"], other["most"], out=whole["most"])
    return whole


def largest(values: np.ndarray, of: np.ndarray, n: int) -> np.ndarray:
    """Those of the indices `of`, ascending, whose values are the `n` largest; among equals the first.

    >>> largest(np.array([5, 1, 5, 7]), np.array([0, 1, 2]), 1).tolist()
    [0]
    """
    if of.size <= n:
        return of
    limit = np.partition(values[of], of.size - n)[of.size - n]
    above = of[values[of] > limit]
    return np.concatenate([above, of[values[of] == limit][: n - above.size]])
