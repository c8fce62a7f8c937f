"""The search for the vocabulary of n tokens with which documents need the fewest: tokens are swapped for better candidates.

What each candidate would save if it were added, and each token cost if it left, is known from one pass over all shortest paths
(kernels/path_losses.py). So a round adds the candidates that save most, more than there is room for. They may save the same
tokens as others; so the surplus leaves again in small steps, first the tokens that are worth least by then, and all is measured
anew after each. If documents need fewer tokens after that, the round counts; if not, it is undone, and the next adds fewer.

A candidate that a single document needs is of no use to documents that are not seen yet. A robust search leaves out what is saved
by the document that saves most, both when tokens are ranked and when vocabularies are compared. Whether it is robust, and how
often a token has to occur at least, is tried: every eighth document is held out, the search runs on the others, and the goal that
needs the fewest tokens on those held out is taken with all documents.

Source: the greedy choice by gains is that of J. Lim et al., "A partition cover approach to tokenization", 2025; losses of the
tokens that are in, and swaps, make it a local search.
"""

from __future__ import annotations

import copy
import logging
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

import numpy as np

from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.fitting.kernels import path_losses as kernels
from ubpe_numba.fitting.kernels.path_losses import WORTH
from ubpe_numba.fitting.substrings import Substrings
from ubpe_numba.fitting.units import Units
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.messages import Progress

T = TypeVar("T")

_LEAST = 2  # occurrences of a candidate
_LEAVING = 0.05  # of the tokens, in a step: two that can replace each other should not leave together
_ADDED, _FADING = 0.3, 0.6  # of the tokens wanted, by the first round; how much of that is left after a round that is undone
_ROUNDS, _ROUNDS_OF_A_TRIAL = 200, 8  # at most
_SEEN = 7, 8  # of the documents that are not held out: so many fewer occurrences are needed there
_MISSES = 2  # least counts in a row that are no better, after which no more are tried: of few documents one may be so by chance
_SYMBOLS_OF_FOLDS = 1_000_000  # of documents with fewer several parts are held out in turn
_TRIALS = 0.5  # of the time, at most
_SILENT = Progress(False)

log = logging.getLogger("ubpe_numba")


class Deadline:
    """A point in time, `seconds` ahead; None for never.

    >>> Deadline(0).is_over(), Deadline(None).is_over()
    (True, False)
    """

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    def is_over(self) -> bool:
        """Whether it has passed."""
        return self._end is not None and time.monotonic() >= self._end

    def part(self, share: float) -> Deadline:
        """An earlier one: this share of the time from now."""
        return Deadline(None if self._end is None else max(0.0, self._end - time.monotonic()) * share)


class Goal(NamedTuple):
    """Which tokens are chosen."""

    robust: bool  #: whether the savings of the document that saves most are left out
    min_count: int  #: how often a token occurs at least


def search_vocabulary(
    units: Units,
    candidates: Substrings,
    n: int,
    robust: bool | None,
    min_count: int | None,
    least: int,
    most_tables: int,
    n_threads: int,
    deadline: Deadline,
    progress: Progress,
) -> Ragged:
    """The learned tokens, as sequences: `n`, or fewer where documents do not hold so many that occur twice.

    `robust` and `min_count` are the goal; None: robust where documents can be held out, and the count that is best for those.
    Candidates that occur `least` times, 1 for words, fill what room is left. `most_tables` bounds the memory: each thread, and
    each part that is held out at a time, has a table of all candidates, of 40 bytes each.
    """
    threads = min(n_threads, most_tables)

    def searched(search: SwapSearch, goal: Goal, rounds: int, progress: Progress = _SILENT) -> np.ndarray:
        """The chosen candidates; of words, those that save nothing beside the rest make room for others.

        When there is nothing more to save, all words that are seen may be tokens. Then the others are to put new words together:
        they are searched as if each word were seen once, robustly, so that it is not known as a whole.
        """
        fewer = [Goal(goal.robust, max(_LEAST, goal.min_count >> i)) for i in range(goal.min_count.bit_length() - 1)]
        filling = [*fewer, *(Goal(False, count) for count in range(_LEAST, least - 1, -1))]
        inside = search.fill(search.search(goal, progress.rounds(range(rounds), "refine, search")), filling)
        if least > 1:
            return inside
        stay, fewest = search.used(inside)
        while stay.size < inside.size:
            filled = search.fill(stay, filling)
            used, total = search.used(filled)
            if total >= fewest:
                break
            inside, stay, fewest = filled, used, total
        if stay.size == inside.size:
            return inside
        once = np.minimum(1, search.weights)
        parts = search.of_weights(once, once, inside.size - stay.size).search(Goal(True, _LEAST), range(rounds))
        return search.fill(np.union1d(stay, parts), filling)

    goal = Goal(len(units.held) > 0 if robust is None else robust, min_count or _LEAST)
    if None in (robust, min_count) and goal.robust and len(units.held):
        until = deadline.part(_TRIALS)
        folds = max(1, min(_SYMBOLS_OF_FOLDS // max(1, units.documents.total), most_tables // threads))
        seen = zip(units.weights - units.held[:folds], units.most_seen, strict=False)
        searches = [SwapSearch(candidates, weights, most, n, threads, until) for weights, most in seen]
        totals: dict[Goal, int] = {}

        def total_of(one: Goal) -> int:
            """Tokens that the parts held out need; 2**63 if there was no time to see."""
            if one not in totals and (not totals or not until.is_over()):
                fewer = Goal(one.robust, max(_LEAST, -(-one.min_count * _SEEN[0] // _SEEN[1])))
                found = [searched(search, fewer, _ROUNDS_OF_A_TRIAL) for search in searches]
                apart = zip(searches, found, units.held, strict=False)
                totals[one] = sum(search.total(inside, held) for search, inside, held in apart)
                log.info("refine: %d tokens on what is held out by %s", totals[one], one)
            return totals.get(one, 2**63)

        open_ = [choice for choice, given in (("min_count", min_count), ("robust", robust)) if given is None]
        for choice in progress.rounds(open_, "refine, try on what is held out", "choice"):
            if choice == "min_count":
                count, misses = 2 * goal.min_count, 0
                while misses < _MISSES:
                    better = total_of(goal) > total_of(more := Goal(True, count))
                    goal, misses, count = (more, 0, 2 * count) if better else (goal, misses + 1, 2 * count)
                between = goal.min_count * 3 // 4, goal.min_count * 3 // 2
                goal = min([goal, *(Goal(True, count) for count in between if count >= _LEAST)], key=total_of)
            else:
                counts = goal.min_count, _LEAST if min_count is None else min_count
                goal = min((goal, *(Goal(False, count) for count in counts)), key=total_of)
        del searches
        log.info("refine: %s", goal)
    search = SwapSearch(candidates, units.weights, units.most, n, threads, deadline)
    return candidates.sequences(searched(search, goal, _ROUNDS, progress))


class _Part:
    """A chunk of units, their edges, and scratch to measure them."""

    def __init__(self, substrings: Substrings, weights: np.ndarray, most: np.ndarray, begin: int, end: int) -> None:
        nodes, starts = substrings.nodes, substrings.starts
        a, z = nodes[begin], nodes[end]
        edges = slice(starts[a], starts[z])
        self.nodes = nodes[begin : end + 1] - a
        self.units, self.place = (weights[begin:end], most[begin:end]), slice(begin, end)
        self.edges = starts[a : z + 1] - starts[a], substrings.lengths[edges], substrings.tokens[edges]
        self.inside = np.empty(z - a + 1, np.int64), np.empty_like(self.edges[1]), np.empty_like(self.edges[2])
        self.ahead, self.after, self.via = (np.zeros(z - a, np.int32) for _ in range(3))
        self.gains_of = np.empty(len(substrings), WORTH)

    def losses(self, alive: np.ndarray, weights: np.ndarray | None = None) -> tuple[int, np.ndarray]:
        worth = _cleared(np.empty(alive.size, WORTH), 0)
        units = self.units if weights is None else (weights[self.place], self.units[1])
        return int(kernels.path_losses(self.nodes, *units, *self.inside, alive, self.ahead, self.after, self.via, worth)), worth

    def gains(self) -> np.ndarray:
        kernels.candidate_gains(self.nodes, *self.units, *self.edges, self.ahead, self.after, _cleared(self.gains_of, -1))
        return self.gains_of


def _cleared(worth: np.ndarray, count: int) -> np.ndarray:
    worth.view(np.uint8)[:] = 0  # many times as fast as whole records
    worth["count"], worth["unit"] = count, -1
    return worth


class SwapSearch:
    """A search for `n` tokens among the candidates of some units, by the number of tokens that they save.

    `weights` int64[d]: how often each unit occurs, 0 for those that are to have no influence; `most` int64[d]: how often in one
    document. The result is the same for any number of threads.
    """

    def __init__(
        self, substrings: Substrings, weights: np.ndarray, most: np.ndarray, n: int, n_threads: int, deadline: Deadline
    ) -> None:
        self.substrings, self.weights, self.n, self.deadline = substrings, weights, n, deadline
        self._threads = n_threads
        chunks = thread_pool.chunks_of(substrings.offsets, n_threads, 1)
        self.counts = substrings.counted(weights)
        self._parts = [_Part(substrings, weights, most, *chunk) for chunk in chunks]

    def search(self, goal: Goal, rounds: Iterable[int]) -> np.ndarray:
        """The candidates that are chosen, int64, `n` or fewer, ascending; rounds end early where none is of use any more."""
        inside, total = self._fewer(np.empty(0, np.int64), goal)
        batch = max(4, int(_ADDED * self.n))
        for _ in rounds:
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
        other._parts = [copy.copy(part) for part in self._parts]
        for part in other._parts:
            part.units = weights[part.place], most[part.place]
        return other

    def used(self, inside: np.ndarray) -> tuple[np.ndarray, int]:
        """The tokens without which units would need more of the others, each alone, and how many are needed with all."""
        self._choose(inside)
        total, worth = self._losses(np.ones(inside.size, bool))
        return inside[worth["saved"] > 0], total

    def fill(self, inside: np.ndarray, goals: list[Goal]) -> np.ndarray:
        """Candidates with more that save something by the first goal, then by the next, until there are `n`.

        Half of those that there is room for are added at a time. At last those follow that cover most symbols of distinct units,
        which may serve other documents.
        """
        for goal in goals:
            while inside.size < self.n and not self.deadline.is_over():
                self._choose(inside)
                self._losses(np.ones(inside.size, bool))
                room = self.n - inside.size
                added = self._best(goal, -(-room // 2))
                if not added.size:
                    break
                inside = np.concatenate([inside, added])
        if inside.size < self.n:
            productive = self.substrings.counted((self.weights > 0).astype(np.int64)) * (self.substrings.length - 1)
            productive[inside] = 0
            rest = np.flatnonzero((productive > 0) & (self.counts >= goals[-1].min_count))
            inside = np.concatenate([inside, _largest(productive, rest, self.n - inside.size)])
        return np.sort(inside)

    def total(self, inside: np.ndarray, weights: np.ndarray) -> int:
        """The fewest tokens that units of these weights need with the candidates `inside`."""
        self._choose(inside)
        alive = np.ones(inside.size, bool)
        return sum(self._of_all(lambda part: part.losses(alive, weights)[0]))

    def _fewer(self, inside: np.ndarray, goal: Goal) -> tuple[np.ndarray, int]:
        """`n` of the tokens, those of the smallest worth left out, and how many tokens units need with them by this goal."""
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
        if goal.robust:  # savings of one unit alone do not count
            total += int(worth["saved"][alive & (saved <= 0)].sum())
        return inside[alive], total

    def _choose(self, inside: np.ndarray) -> None:
        rank = np.full(len(self.substrings), -1, np.int32)
        rank[inside] = np.arange(inside.size)
        self._of_all(lambda part: kernels.inside_edges(*part.edges, rank, *part.inside))

    def _losses(self, alive: np.ndarray) -> tuple[int, np.ndarray]:
        found = self._of_all(lambda part: part.losses(alive))
        return sum(total for total, _ in found), _combined([worth for _, worth in found])

    def _best(self, goal: Goal, n: int) -> np.ndarray:
        """The `n` candidates that save most; those that are in save nothing."""
        worth = _combined(self._of_all(_Part.gains))
        saved = worth["saved"] - worth["most"] if goal.robust else worth["saved"]
        useful = np.flatnonzero((saved > 0) & (self.counts >= goal.min_count))
        return _largest(saved, useful, n)

    def _of_all(self, function: Callable[[_Part], T]) -> list[T]:
        chunks = [(i, i + 1) for i in range(len(self._parts))]
        return thread_pool.run(lambda i, _: function(self._parts[i]), chunks, self._threads, self.substrings.lengths.size)


def _combined(found: list[np.ndarray]) -> np.ndarray:
    """Combine the results of chunks: sums, and the maximum over units."""
    whole = found[0]
    for other in found[1:]:
        whole["saved"] += other["saved"]
        whole["count"] += other["count"]
        np.maximum(whole["most"], other["most"], out=whole["most"])
    return whole


def _largest(values: np.ndarray, of: np.ndarray, n: int) -> np.ndarray:
    """The indices among `of`, ascending, of the `n` largest values; among equals the first.

    >>> _largest(np.array([5, 1, 5, 7]), np.array([0, 1, 2]), 1).tolist()
    [0]
    """
    if of.size <= n:
        return of
    limit = np.partition(values[of], of.size - n)[of.size - n]
    above = of[values[of] > limit]
    return np.concatenate([above, of[values[of] == limit][: n - above.size]])
