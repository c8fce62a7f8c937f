"""The search for the vocabulary of n tokens with which documents need the fewest tokens.

Tokens are swapped for better candidates.

What each candidate would save if it were added, and each token cost if it left, is known from one pass over
all shortest paths (kernels/path_losses.py). Many candidates would save the same tokens, so a second pass
counts at each place only the candidate that saves most in all. A round adds those that save most so, more
than there is room for; the surplus leaves again, the tokens that are worth least by then. If documents need
fewer tokens after that, the round counts; if not, it is undone, and the next adds fewer.

A candidate that a single document needs is of no use to unseen documents. A robust search ignores the saving
of the document that saves most, both when tokens are ranked and when vocabularies are compared. The least
count of a token, and whether the search is robust, are found by trial: every eighth document is held out, and
the search runs on the others. It begins with frequent candidates and continues, with its tokens, to ever
rarer ones, as long as fewer tokens are needed on the documents held out. From the best choice the search
continues with all documents.

Source: the greedy choice by gains is that of J. Lim et al., "A partition cover approach to tokenization",
2025; losses of the tokens that are in, and swaps, make it a local search.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
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
# of the tokens wanted, by the first round; how much of that is left after a round that is undone
_ADDED, _FADING = 0.3, 0.6
_FEW = 4  # the search begins with candidates so frequent that there is one for so many tokens wanted
# rounds, and the steps of a round in which the surplus leaves
_QUICK, _LAST, _THOROUGH = (2, 1), (3, 1), (200, 6)
_FILLED = 2, 200  # times that room is filled by a goal, in a trial and at last
_BETTER = 0.995  # of the tokens held out are needed by a choice that replaces one before
_SYMBOLS_OF_FOLDS = 250_000  # of documents with fewer several parts are held out in turn
_SILENT = Progress(False)

log = logging.getLogger("ubpe_numba")


class Goal(NamedTuple):
    """Which tokens are chosen."""

    robust: bool  #: whether the savings of the document that saves most are left out
    min_count: int  #: how often a token occurs at least

    def filling(self, least: int) -> list[Goal]:
        """The goals of the tokens that fill what room is left: of ever fewer occurrences, `least` at last."""
        fewer = [
            self._replace(min_count=self.min_count >> i) for i in range(1, self.min_count.bit_length() - 1)
        ]
        return [*fewer, *(Goal(False, count) for count in range(_LEAST, least - 1, -1))]


def search_vocabulary(
    units: Units,
    candidates: Substrings,
    n: int,
    wanted: tuple[bool | None, int | None],
    least: int,
    most_tables: int,
    n_threads: int,
    deadline: float,
    progress: Progress,
) -> Ragged:
    """The learned tokens, as sequences: `n`, or fewer if documents hold fewer that occur twice.

    `wanted`: `robust` and `min_count` of the goal. None means robust if documents can be held out, and the
    best count for those. Candidates that occur `least` times, 1 for words, fill the remaining room.
    `most_tables` bounds the memory: each thread, and each part that is held out at a time, has a table of all
    candidates, of 40 bytes each.

    For words, tokens that save nothing in addition to the rest make room for others. When there is nothing
    more to save, all seen words may be tokens. The other tokens then serve to build new words: they are
    searched robustly, as if each word were seen once, so that no word is known as a whole.
    """
    threads = min(n_threads, most_tables)
    robust, min_count = wanted
    goal = Goal(len(units.held) > 0 if robust is None else robust, min_count or _LEAST)
    tried, inside = None in wanted and goal.robust and len(units.held) > 0, np.empty(0, np.int64)
    if tried:
        folds = max(1, min(_SYMBOLS_OF_FOLDS // max(1, units.documents.total), most_tables // threads))
        seen = zip(units.weights - units.held[:folds], units.most_seen, strict=False)
        searches = [SwapSearch(candidates, weights, most, n, threads, deadline) for weights, most in seen]
        goal, inside = _choice(searches, units.held, *wanted, least, progress)
        del searches
    search = SwapSearch(candidates, units.weights, units.most, n, threads, deadline)
    inside, _ = search.search(goal, inside, *(_LAST if tried else _THOROUGH), progress)
    filling = goal.filling(least), _FILLED[1]
    inside = search.fill(inside, *filling)
    if least > 1:
        return candidates.sequences(inside)
    stay, fewest = search.used(inside)
    while stay.size < inside.size:
        filled = search.fill(stay, *filling)
        used, total = search.used(filled)
        if total >= fewest:
            break
        inside, stay, fewest = filled, used, total
    if stay.size < inside.size:
        once = np.minimum(1, search.weights)
        words = SwapSearch(candidates, once, once, inside.size - stay.size, threads, deadline)
        parts, _ = words.search(Goal(True, _LEAST), stay[:0], *_THOROUGH)
        inside = search.fill(np.union1d(stay, parts), *filling)
    return candidates.sequences(inside)


def _choice(
    searches: list[SwapSearch],
    held: np.ndarray,
    robust: bool | None,
    min_count: int | None,
    least: int,
    progress: Progress,
) -> tuple[Goal, np.ndarray]:
    """The goal that is best for the documents that each search leaves out, given by `held`.

    Also the candidates of the first search.
    """
    first, fewest, last = searches[0], 2**63, 0
    chosen = candidates = [np.empty(0, np.int64) for _ in searches]
    best = Goal(True, 0)

    def better(goal: Goal) -> bool:
        """Whether a goal is better than the best before; searches continue from the last choice."""
        nonlocal best, chosen, candidates, fewest, last
        chosen = [
            search.search(goal, inside, *_QUICK)[0] for search, inside in zip(searches, chosen, strict=True)
        ]
        filling, parts = goal.filling(least), zip(searches, chosen, held, strict=False)
        last = sum(
            search.total(search.fill(inside, filling, _FILLED[0]), out) for search, inside, out in parts
        )
        log.info("refine: %d tokens on what is held out by %s", last, goal)
        if last >= _BETTER * fewest and not (goal.robust and goal.min_count == min_count):
            return False
        best, candidates, fewest = goal, chosen, last
        return True

    levels, before = first.levels(min_count or _LEAST), 0
    for count in progress.rounds(levels, "refine, try on what is held out", "choice"):
        better(Goal(True, count))
        if (0 < before <= last and min_count is None) or time.monotonic() >= first.deadline:
            break
        # with room left, tokens that fill it may be as good
        before = last if chosen[0].size == first.n else 0
    chosen = candidates
    for count in levels if robust is None else ():
        if count <= best.min_count and not better(Goal(False, count)):
            break
    log.info("refine: %s", best)
    return best, candidates[0]


class _Part:
    """A chunk of units, their edges, and scratch to measure them."""

    def __init__(
        self, substrings: Substrings, weights: np.ndarray, most: np.ndarray, begin: int, end: int
    ) -> None:
        nodes, starts = substrings.nodes, substrings.starts
        a, z = nodes[begin], nodes[end]
        edges = slice(starts[a], starts[z])
        self.nodes = nodes[begin : end + 1] - a
        self.units, self.place = (weights[begin:end], most[begin:end]), slice(begin, end)
        self.every = starts[a : z + 1] - starts[a], substrings.lengths[edges], substrings.tokens[edges]
        self.inside = (
            np.empty(z - a + 1, np.int64),
            np.empty_like(self.every[1]),
            np.empty_like(self.every[2]),
        )
        self.ahead, self.after, self.via = (np.zeros(z - a, np.int32) for _ in range(3))

    def limit(self, rank: np.ndarray, n: int) -> None:
        """Look at the `n` candidates that have a rank, by which they are known from then on."""
        kernels.inside_edges(*self.every, rank, *self.inside)
        starts, lengths, tokens = self.inside
        self.edges = starts.copy(), lengths[: starts[-1]].copy(), tokens[: starts[-1]].copy()
        self.gains_of = np.empty(n, WORTH)

    def losses(self, alive: np.ndarray, weights: np.ndarray | None = None) -> tuple[int, np.ndarray]:
        worth = _cleared(np.empty(alive.size, WORTH), 0)
        units = self.units if weights is None else (weights[self.place], self.units[1])
        return int(
            kernels.path_losses(
                self.nodes, *units, *self.inside, alive, self.ahead, self.after, self.via, worth
            )
        ), worth

    def gains(self, prefer: np.ndarray) -> np.ndarray:
        arguments = *self.edges, self.ahead, self.after, prefer
        kernels.candidate_gains(self.nodes, *self.units, *arguments, _cleared(self.gains_of, -1))
        return self.gains_of


def _cleared(worth: np.ndarray, count: int) -> np.ndarray:
    worth.view(np.uint8)[:] = 0  # many times as fast as whole records
    worth["count"], worth["unit"] = count, -1
    return worth


class SwapSearch:
    """A search for `n` tokens among the candidates of some units, by the number of tokens that they save.

    `weights` int64[d] is how often each unit occurs, 0 for units to be ignored. `most` int64[d] is how often
    it occurs in one document. The result is the same for any number of threads.
    """

    def __init__(
        self,
        substrings: Substrings,
        weights: np.ndarray,
        most: np.ndarray,
        n: int,
        n_threads: int,
        deadline: float,
    ) -> None:
        self.substrings, self.weights, self.n, self.deadline = substrings, weights, n, deadline
        self._threads = n_threads
        chunks = thread_pool.chunks_of(substrings.offsets, n_threads, 1)
        self.counts, self._least = substrings.counted(weights), 0
        self._parts = [_Part(substrings, weights, most, *chunk) for chunk in chunks]

    def levels(self, least: int) -> list[int]:
        """Least counts, from one that few candidates have down to `least`, each about half of the last."""
        counts = [least]
        while (self.counts >= 2 * counts[-1]).sum() * _FEW > self.n:
            counts.append(2 * counts[-1])
        return counts[::-1]

    def search(
        self, goal: Goal, inside: np.ndarray, rounds: int, steps: int, progress: Progress = _SILENT
    ) -> tuple[np.ndarray, int]:
        """The chosen candidates, int64, ascending, at most `n`, and how many tokens units then need.

        The number of tokens is by this goal.

        The search begins with those that are `inside` and frequent enough; rounds end early if no candidate
        is of use any more. Among many tokens of equal length no single longer token may be of use. So if
        there is room left, another search begins with none.
        """
        self._limit(goal.min_count)
        start, batch = inside.size, max(4, int(_ADDED * self.n))
        inside, total = self._fewer(inside[self.counts[inside] >= goal.min_count], goal, 1)
        for _ in progress.rounds(range(rounds), "refine, search"):
            alone = batch if steps > 1 else 0
            added = self._best(goal, self.n - inside.size + alone, batch - alone)
            if not added.size or time.monotonic() >= self.deadline:
                break
            trial, new = self._fewer(np.concatenate([inside, added]), goal, steps)
            if new < total:
                inside, total = trial, new
                continue
            batch = int(batch * _FADING)
            if not batch:
                break
            self._measured(inside)
        if start and inside.size < self.n < self._numbers.size and time.monotonic() < self.deadline:
            other = self.search(goal, inside[:0], *_LAST)
            if other[1] < total:
                return other
        return np.sort(inside), total

    def used(self, inside: np.ndarray) -> tuple[np.ndarray, int]:
        """The tokens that units would miss, each alone, and how many tokens are needed with all."""
        total, worth = self._measured(inside)
        return inside[worth["saved"] > 0], total

    def fill(self, inside: np.ndarray, goals: list[Goal], times: int) -> np.ndarray:
        """Candidates with more that save something by the first goal, then by the next, until there are `n`.

        Candidates are added up to `times` by each goal. At last those follow that cover most symbols of
        distinct units, which may serve other documents.
        """
        for goal in goals:
            for _ in range(times):
                room = self.n - inside.size
                if not room or time.monotonic() >= self.deadline:
                    break
                self._limit(goal.min_count)
                self._measured(inside)
                half = room if 8 * room <= self.n else -(-room // 2)
                added = self._best(goal, half, room - half)
                if not added.size:
                    break
                inside = np.concatenate([inside, added])
        if inside.size < self.n:
            self._limit(goals[-1].min_count)
            productive = self.substrings.counted((self.weights > 0).astype(np.int64)) * (
                self.substrings.length - 1
            )
            productive[inside] = 0
            productive[self.counts < goals[-1].min_count] = 0
            inside = np.concatenate([inside, _largest(productive, self.n - inside.size)])
        return np.sort(inside)

    def total(self, inside: np.ndarray, weights: np.ndarray) -> int:
        """The fewest tokens that units of these weights need with the candidates `inside`."""
        self._choose(inside)
        alive = np.ones(inside.size, bool)
        return sum(self._of_all(lambda part: part.losses(alive, weights)[0]))

    def _fewer(self, inside: np.ndarray, goal: Goal, steps: int) -> tuple[np.ndarray, int]:
        """`n` of the tokens, without those of the smallest worth, and how many tokens units then need.

        The number of tokens is by this goal.
        """
        self._choose(inside)
        alive, surplus = np.ones(inside.size, bool), inside.size - self.n
        while True:
            total, worth = self._losses(alive)
            saved = worth["saved"] - worth["most"] if goal.robust else worth["saved"]
            if (size := int(alive.sum())) <= self.n:
                break
            stay = np.flatnonzero(alive)
            order = stay[np.lexsort((inside[stay], worth["count"][stay], saved[stay]))]
            alive[order[: min(size - self.n, -(-surplus // steps))]] = False
        if goal.robust:  # savings by a single unit do not count
            total += int(worth["saved"][alive & (saved <= 0)].sum())
        return inside[alive], total

    def _limit(self, min_count: int) -> None:
        """Look at candidates that occur that often."""
        if min_count == self._least:
            return
        often = self.counts >= min_count
        self._least, self._numbers = min_count, np.flatnonzero(often)
        self._rank = np.where(often, np.cumsum(often) - 1, -1).astype(np.int32)
        self._of_all(lambda part: part.limit(self._rank, self._numbers.size))

    def _choose(self, inside: np.ndarray) -> None:
        rank = np.full(self._numbers.size, -1, np.int32)
        rank[self._rank[inside]] = np.arange(inside.size)
        self._of_all(lambda part: kernels.inside_edges(*part.edges, rank, *part.inside))

    def _measured(self, inside: np.ndarray) -> tuple[int, np.ndarray]:
        self._choose(inside)
        return self._losses(np.ones(inside.size, bool))

    def _losses(self, alive: np.ndarray) -> tuple[int, np.ndarray]:
        measured = self._of_all(lambda part: part.losses(alive))
        return sum(total for total, _ in measured), _combined([worth for _, worth in measured])

    def _best(self, goal: Goal, room: int, more: int) -> np.ndarray:
        """At most `room + more` candidates that together save most, or alone.

        Up to `room` are those that save most alone.
        """
        alone = self._gains(goal, np.empty(0, np.int64))
        beside = self._gains(goal, alone)
        best = _largest(beside, room + more)
        if best.size < room:
            alone[best] = 0
            best = np.concatenate([best, _largest(alone, room - best.size)])
        numbers: np.ndarray = self._numbers[best]
        return numbers

    def _gains(self, goal: Goal, prefer: np.ndarray) -> np.ndarray:
        """Tokens that each candidate saves; those that are in save nothing."""
        worth = _combined(self._of_all(lambda part: part.gains(prefer)))
        saved: np.ndarray = worth["saved"] - worth["most"] * goal.robust
        return saved

    def _of_all(self, function: Callable[[_Part], T]) -> list[T]:
        chunks = [(i, i + 1) for i in range(len(self._parts))]
        return thread_pool.run(
            lambda i, _: function(self._parts[i]), chunks, self._threads, self.substrings.lengths.size
        )


def _combined(found: list[np.ndarray]) -> np.ndarray:
    """Combine the results of chunks: sums, and the maximum over units."""
    whole = found[0]
    for other in found[1:]:
        whole["saved"] += other["saved"]
        whole["count"] += other["count"]
        np.maximum(whole["most"], other["most"], out=whole["most"])
    return whole


def _largest(values: np.ndarray, n: int) -> np.ndarray:
    """The indices of the `n` largest values above 0; among equals the first.

    >>> _largest(np.array([5, 1, 5, 0]), 1).tolist()
    [0]
    """
    of = np.flatnonzero(values > 0)
    if of.size <= n:
        return of
    limit = np.partition(values[of], of.size - n)[of.size - n]
    above = of[values[of] > limit]
    return np.concatenate([above, of[values[of] == limit][: n - above.size]])
