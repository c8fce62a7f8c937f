"""How few tokens any vocabulary of n learned tokens needs for given units at least: prices of symbols, improved step by step.

Prices of at most 1 token for every symbol of the units tell such a number (kernels/symbol_prices.py, with the proof). Any prices
do, so they are sought in floating point, and the number comes from the best of them in integers (kernels/certified_sums.py).
Sums that threads share are those of parts that do not depend on how many threads there are.

Source of the restarts: B. O'Donoghue and E. Candès, "Adaptive restart for accelerated gradient schemes", 2015.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ubpe_numba.documents.counts import distinct
from ubpe_numba.documents.normalise import Documents
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.fitting.kernels import certified_sums, shares, symbol_prices
from ubpe_numba.fitting.places import Places, is_cut, lattice_of
from ubpe_numba.fitting.substrings import Substrings
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.messages import Progress

_TAUS = (0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001)  # tokens: how much an edge exceeds until it counts fully
_ALL = 2_000_000  # edges: with more than so many, a stage looks only at candidates that exceed by a share of what the n-th does,
_WORTH, _LARGE = 0.25, 4  # this one, and at those that could exceed most, so many for each token
_GAMMA = 0.1  # of tau, for shares of the vocabulary
_FIRST, _LEAST, _MOST_STEP = 0.05, 0.03, 0.5  # the step, of tau
_KEPT = 0.97  # of the curvature seen, in a round
_BLOCK = 25  # rounds, after which it is seen whether a stage still gains
_FEW, _BLOCK_OF_FEW = 20_000, 100  # of fewer edges so many
_BLOCKS = 4  # of a stage at most
_GAIN, _LAST_GAIN = 1e-4, 1e-6  # of the bound, in a block: of less a stage, or the last one, ends
_ONE = 2**24  # a token, in integers
_SAFE = 2.0**61


class Bound(NamedTuple):
    """What was found.

    Attributes
    ----------
    tokens : int
        No vocabulary needs fewer.
    longest : int or None
        Symbols of the longest tokens that this holds for; None for any.
    n_edges, rounds : int
        Of the lattice, and of the ascent.
    converged : bool
        Whether further rounds would have gained next to nothing.
    """

    tokens: int
    longest: int | None
    n_edges: int
    rounds: int
    converged: bool


def distinct_segments(segments: Ragged, weights: np.ndarray | None) -> tuple[Ragged, np.ndarray]:
    """Distinct segments of one symbol or more, in order of first appearance, and how often each occurs, int64.

    >>> units, weights = distinct_segments(Ragged.from_lists([[0, 1], [], [0], [0, 1]]), None)
    >>> units.to_lists(), weights.tolist()
    ([[0, 1], [0]], [2, 1])
    """
    given = segments.compact()
    total = np.ones(len(given), np.int64) if weights is None else weights
    stay, total, _ = distinct(Documents(given.values, given.offsets, "int"), total)
    inside = given.lengths[stay] > 0
    return given.take(stay[inside]).compact(), total[inside]


def lower_bound(
    units: Ragged,
    weights: np.ndarray,
    n_alphabet: int,
    n: int,
    longest: int | None,
    min_count: int,
    seconds: float | None,
    memory_limit: int | None,
    n_threads: int | None,
    progress: Progress,
) -> Bound:
    """The least number of tokens of all units, by weight, that any vocabulary may need.

    Parameters
    ----------
    units
        Of one alphabet id or more each.
    weights
        int64[d], above 0; fewer than 2**62 symbols in all, by weight.
    n_alphabet
        How many symbols there are.
    n
        How many learned tokens a vocabulary has.
    longest, min_count
        How many symbols a learned token has at most (None: any number, or as many as memory allows), and how often it occurs at
        least in the units, by weight; occurrences that overlap count.
    seconds
        When the ascent ends; None if it converges.
    memory_limit
        Bytes; None for no limit.
    n_threads
        The result is the same for any number, if the ascent converges.
    progress
        Where stages are shown.

    Raises
    ------
    MemoryError
        If `longest` is given, and its lattice does not keep to the limit.

    Examples
    --------
    >>> units, weights = distinct_segments(Ragged.from_lists([[0, 1, 0, 1], [0, 1]]), None)
    >>> lower_bound(units, weights, 2, 1, None, 1, None, None, 1, Progress(False)).tokens
    3
    """
    end = None if seconds is None else time.monotonic() + seconds
    found = lattice_of(units, weights, n_alphabet, longest, min_count, memory_limit)
    whole = longest is not None or not is_cut(found) or found.longest >= int(units.lengths.max())
    prices = _Prices(found, n, n_threads)
    prices.climb(end, progress)
    return Bound(prices.certified(), longest if whole else found.longest, prices.places.at.size, prices.rounds, prices.converged)


class _Prices:
    """Prices of the symbols of all units, the best so far, and what they are improved with."""

    def __init__(self, found: Substrings, n: int, n_threads: int | None) -> None:
        self.nodes, self.n, self.n_threads, self.unit_weights = found.nodes, n, n_threads, found.weights
        behind = np.empty(found.starts.size - 1, np.int32)
        certified_sums.steps_to_end(found.nodes, found.starts, found.lengths, behind)
        self.places = Places.in_lattice(found)
        self.unit_of = np.repeat(np.arange(self.unit_weights.size), np.diff(self.nodes))
        self.rounds, self.converged = 0, False
        self._begin(behind)

    def _begin(self, behind: np.ndarray) -> None:
        """The first prices, all equal; the best so far may be those under which no candidate exceeds a token."""
        weights, length = self.unit_weights.astype(np.float64), self.places.length.astype(np.int64)
        symbols, counts = _in_order(weights * (np.diff(self.nodes) - 1)), self.places.counts.astype(np.float64)
        most = counts * (length - 1)
        self.large = most >= _largest(most, _LARGE * self.n).min(initial=np.inf)

        def of_equal(quarters: int, chosen: np.ndarray | slice) -> float:
            excess = counts[chosen] * np.maximum(0, 4 * length[chosen] - quarters) / quarters
            return 4 * symbols / quarters - _in_order(np.sort(_largest(excess, self.n)))

        quarters = _highest(lambda quarters: of_equal(quarters, self.large), 4)
        self.value = of_equal(quarters, slice(None))
        self.first = np.full(behind.size, 4 / quarters)
        self.first[self.nodes[1:] - 1] = 0.0
        self.best = self.first.copy()
        fewest = _in_order(weights * behind[self.nodes[:-1]])
        if fewest > self.value:
            self.best[:-1] = behind[:-1].astype(np.float64) - behind[1:]
            self.best[self.nodes[1:] - 1] = 0.0
            self.value = fewest

    def climb(self, end: float | None, progress: Progress) -> None:
        """Improve the prices until time `end` (monotonic), or until they hardly gain."""
        if self.n == 0 or not self.places.ends.size:
            self.converged = True  # equal prices of 1 are best
            return
        if end is not None and time.monotonic() >= end:
            return
        state, began = _Ascent(self), time.monotonic()
        for i, tau in enumerate(progress.rounds(_TAUS, "lower bound", "stage")):
            last = i == len(_TAUS) - 1
            until = end if last or end is None else began + (end - began) * (i + 1) / len(_TAUS)
            gains = True
            while gains and (until is None or time.monotonic() < until):
                value = self.value
                state.choose()
                state.stage(tau, until, last)
                self._settle(state)
                gains = last and self.value - value > _LAST_GAIN * abs(value)
            self.converged = last and not gains and (until is None or time.monotonic() < until)

    def of_node(self) -> np.ndarray:
        """The weights of nodes, float64, or one if all units weigh as much."""
        weights = self.unit_weights.astype(np.float64)
        return weights[self.unit_of] if (weights[1:] != weights[:-1]).any() else np.append(weights, 1.0)[:1]

    def sums_at(self, prices: np.ndarray) -> tuple[float, np.ndarray]:
        """The weighted sum of prices, and what all candidates exceed by."""
        ends, at, length, counts, chunks = self.places
        weights, before = self.unit_weights.astype(np.float64), np.empty(prices.size)
        sums, smooth = np.empty(counts.size), np.empty(counts.size)
        of_node = self.of_node()
        total = symbol_prices.sum_up(self.nodes, weights, prices, before)

        def part(begin: int, stop: int) -> None:
            symbol_prices.sum_excess(ends, length, at, of_node, before, 1.0, begin, stop, sums, smooth)

        thread_pool.run(part, chunks, self.n_threads)
        return float(total), sums

    def _settle(self, state: _Ascent) -> None:
        """Take over the best prices of a stage if they are the best with all candidates, too."""
        value = state.value
        if state.places is not self.places and value > self.value:
            total, sums = self.sums_at(state.best)
            value = total - _in_order(np.sort(_largest(sums, self.n)))
        if value > self.value:
            self.value = value
            self.best[:] = state.best

    def certified(self) -> int:
        """The bound by the best prices in integers: at least so many tokens, rounded up."""
        weights, largest = self.unit_weights, self._largest_sum()
        one, shift = _ONE, 0
        while largest * one >= _SAFE and one > 2**12:
            one //= 2
        while largest * one / 2**shift >= _SAFE:
            shift += 1
        weights = weights >> shift  # a smaller weight: fewer tokens
        prices = np.minimum(np.floor(self.best * one), one).astype(np.int64)
        ends, at, length, counts, chunks = self.places
        before, sums = np.empty(prices.size, np.int64), np.empty(counts.size, np.int64)
        total = int(certified_sums.certified_total(self.nodes, weights, prices, before))
        of_node = weights[self.unit_of]

        def part(begin: int, stop: int) -> None:
            certified_sums.certified_sums(ends, length, at, of_node, before, one, begin, stop, sums)

        thread_pool.run(part, chunks, self.n_threads)
        most = _largest(sums, self.n)
        total -= (int((most >> 24).sum()) << 24) + int((most & (2**24 - 1)).sum())
        fewest = -(-total // one) << shift
        return max(fewest, int(self.unit_weights.sum()))

    def _largest_sum(self) -> float:
        """What no weighted sum of prices, or of excess, is above, in tokens."""
        weights = self.unit_weights.astype(np.float64)
        total, _ = self.sums_at(np.abs(self.best))
        _, sums = self.sums_at(self.best)
        return 2 * max(total, _in_order(weights), float(sums.max(initial=0))) + 1


class _Ascent:
    """Accelerated ascent from the first prices, with the candidates that may be worth having."""

    def __init__(self, prices: _Prices) -> None:
        self.all, size = prices, prices.best.size
        self.weights = prices.unit_weights.astype(np.float64)
        self.of_node = prices.of_node()
        self.prices, self.ahead, self.before, self.kept = prices.first.copy(), np.empty(size), np.empty(size), np.empty(size)
        self.found, self.moved = np.empty(2), np.empty(3)
        self.threshold, self.step = 0.0, _FIRST
        self.best, self.value = prices.best.copy(), prices.value
        self._take(prices.places)

    def _take(self, places: Places) -> None:
        self.places, n = places, places.counts.size
        self.counts = places.counts.astype(np.float64)
        self.covered = np.zeros((len(places.chunks), self.prices.size))
        self.sums, self.smooth, self.shares = np.empty(n), np.empty(n), np.empty(n)

    def choose(self) -> None:
        """Of many candidates, choose those to look at now by what they exceed by."""
        all_ = self.all
        if all_.places.at.size <= _ALL:
            return
        _, sums = all_.sums_at(self.prices)
        least = float(_largest(sums, all_.n).min()) if sums.size > all_.n else 0.0
        self._take(all_.places.take(all_.large | (sums > _WORTH * least)))
        self.value = -np.inf

    def stage(self, tau: float, end: float | None, last: bool) -> None:
        """Rounds with one tau, until they gain little or time is up; the last stage has as many as gain."""
        all_ = self.all
        self.kept[:] = self.ahead[:] = self.prices
        theta, curvature = 1.0, 1 / self.step
        highest = known = None
        rounds, before = 0, -np.inf
        block = _BLOCK if all_.places.at.size >= _FEW else _BLOCK_OF_FEW
        while end is None or time.monotonic() < end:
            value = self._value(tau)
            rounds += 1
            all_.rounds += 1
            if highest is None:
                highest = floor = value
            if known is not None:
                missing = known + self.moved[1] - value
                if missing > 1e-9 * abs(value):
                    curvature = max(curvature * _KEPT, min(2 * missing / self.moved[2] * tau, 3 * curvature))
                self.step = min(max(1 / curvature, _LEAST), _MOST_STEP)
            if value < floor - 1e-9 * abs(floor):  # worse than what was kept: steps are too long
                if self.step <= _LEAST:  # what rounding allows has been reached
                    return
                self.step = max(self.step / 2, _LEAST)
                theta, known, curvature = 1.0, None, 1 / self.step
                self.prices[:] = self.ahead[:] = self.kept
                continue
            highest = max(highest, value)
            self._cover(tau)
            theta, beta = _momentum(theta)
            step = self.step * tau
            symbol_prices.climb(all_.nodes, self.weights, self.covered, step, beta, self.prices, self.ahead, self.moved)
            known = value
            if self.moved[0] < 0:  # against the gradient
                theta, known = 1.0, None
                self.ahead[:] = self.prices
            if rounds % block == 0:
                now = self.value if last else highest
                if now - before < (_LAST_GAIN if last else _GAIN) * abs(now):
                    return
                before = now
            if rounds == _BLOCKS * block and not (last and self.places is all_.places):
                return

    def _value(self, tau: float) -> float:
        """The smooth function at `ahead`, whose bound may be the best so far with these candidates."""
        all_, before, sums, smooth = self.all, self.before, self.sums, self.smooth
        ends, at, length, _, chunks = self.places
        total = symbol_prices.sum_up(all_.nodes, self.weights, self.ahead, before)

        def part(begin: int, end: int) -> None:
            symbol_prices.sum_excess(ends, length, at, self.of_node, before, tau, begin, end, sums, smooth)

        thread_pool.run(part, chunks, all_.n_threads)
        n, scale, found = float(all_.n), _GAMMA * tau, self.found
        self.threshold = shares.share_out(sums, smooth, self.counts, scale, n, self.threshold, self.shares, found)
        if total - found[1] > self.value:
            self.value = total - found[1]
            self.best[:] = self.ahead
        return float(total - found[0])

    def _cover(self, tau: float) -> None:
        """How much every symbol is covered, a row for each part of the candidates."""
        ends, at, length, _, chunks = self.places
        rows = {begin: i for i, (begin, _) in enumerate(chunks)}

        def part(begin: int, end: int) -> None:
            covered = self.covered[rows[begin]]
            symbol_prices.cover(ends, length, at, self.before, tau, self.shares, begin, end, covered)

        thread_pool.run(part, chunks, self.all.n_threads)


def _highest(value: Callable[[int], float], low: int) -> int:
    """The first number from `low` on after which a function does not rise, where it rises before and not afterwards.

    >>> _highest(lambda k: -abs(k - 23.0), 4)
    23
    """
    high = low
    while value(high + 1) > value(high):
        low, high = high + 1, 2 * high
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if value(middle + 1) > value(middle) else (low, middle)
    return low


def _in_order(values: np.ndarray) -> float:
    """The sum of float64 values, added one after the other: the same on any machine."""
    return float(np.cumsum(np.append(0.0, values))[-1])


def _momentum(theta: float) -> tuple[float, float]:
    """The next theta of Nesterov's sequence, and the momentum.

    >>> _momentum(1.0)
    (1.618033988749895, 0.0)
    """
    following = (1 + (1 + 4 * theta * theta) ** 0.5) / 2
    return following, (theta - 1) / following


def _largest(values: np.ndarray, n: int) -> np.ndarray:
    """The n largest values, in any order; all if there are not more.

    >>> sorted(_largest(np.array([3, 1, 2]), 2).tolist())
    [2, 3]
    """
    if n == 0 or n >= values.size:
        return values[: values.size * (n > 0)]
    return np.partition(values, values.size - n)[values.size - n :]
