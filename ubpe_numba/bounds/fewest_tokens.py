"""A lower bound on the tokens that documents need with any vocabulary of n learned tokens.

Prices of symbols are improved step by step.

Prices of at most 1 token for every symbol of the documents certify this number (kernels/symbol_prices.py,
with the proof). Any prices do, so they are sought in floating point, and the number is computed from the best
of them in integers. Sums that threads share are those of parts that do not depend on how many threads there
are.

Source of the restarts: B. O'Donoghue and E. Candès, "Adaptive restart for accelerated gradient schemes",
2015.
"""

from __future__ import annotations

import dataclasses
import itertools
import logging
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.bounds.kernels import symbol_prices
from ubpe_numba.documents.counts import distinct
from ubpe_numba.documents.ragged import Ragged, own_offsets, trusted
from ubpe_numba.documents.read import Documents
from ubpe_numba.fitting.substrings import Substrings
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.arrays import positive
from ubpe_numba.runtime.messages import Progress
from ubpe_numba.tokenizers.base import Tokenizer, given_tokenizer, seconds_of, segments_of
from ubpe_numba.tokenizers.seam import corpus_of_fit, model_of, plan_of

__all__ = ["LowerBound", "lower_bound"]

# of the stages, in tokens: excess from which an edge counts fully
_TAUS = (0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001)
# edges: of more, a stage chooses the candidates that exceed by a share of the excess of the n-th largest,
_ALL = 2_000_000
_WORTH, _LARGE = 0.25, 4  # this candidate, and so many per token that could exceed most
_GAMMA = 0.1  # of tau, for shares of the vocabulary
_FIRST, _LEAST, _MOST_STEP = 0.05, 0.03, 0.5  # the step, of tau
_KEPT = 0.97  # of the estimate of the curvature, in a round
_BLOCK = 25  # rounds between two checks whether a stage still gains,
_FEW, _BLOCK_OF_FEW = 20_000, 100  # and of fewer edges
_BLOCKS = 4  # of a stage at most
_GAIN, _LAST_GAIN = 1e-4, 1e-6  # of the bound, in a block: of less a stage, or the last one, ends
_ONE = 2**24  # a token, in integers
_SAFE = 2.0**61
#: Bytes per node and edge at most while candidates are searched, and then in the ascent, with as many
#: candidates as edges at most.
NODE, EDGE, CANDIDATE = 200, 24, 48
_MOST = 2 << 30  # bytes, by default
_PARTS, _PARTS_FROM = 4, 400_000  # parts of the edges, and from how many edges on

log = logging.getLogger("ubpe_numba")


@dataclasses.dataclass(frozen=True)
class LowerBound:
    """How few tokens documents need at least: the result of `lower_bound`.

    Attributes
    ----------
    tokens : int
        Every vocabulary that the bound is about needs so many, or more, for all documents together, by
        weight.
    own : int
        How many the tokenizer needs.
    n_tokens : int
        The size of the vocabularies, alphabet included.
    max_token_length : int or None
        Length of their longest tokens, except tokens of the tokenizer; None for any length.
    min_count : int
        How often each of their learned tokens occurs at least.
    n_edges : int
        Places of possible tokens of two symbols or more.
    rounds : int
        Of the search for the bound.
    seconds : float
        Duration, the encoding of the documents included.
    converged : bool
        Whether more time would scarcely raise the bound.

    Examples
    --------
    >>> found = LowerBound(100, 103, 512, None, 1, 2000, 300, 0.5, True)
    >>> found
    LowerBound(tokens=100, own=103, gap=3 %, n_tokens=512, max_token_length=None, min_count=1, n_edges=2000, rounds=300, seconds=0.5, converged=True)
    """  # noqa: E501

    tokens: int
    own: int
    n_tokens: int
    max_token_length: int | None
    min_count: int
    n_edges: int
    rounds: int
    seconds: float
    converged: bool

    @property
    def gap(self) -> float:
        """How many tokens more than the bound the tokenizer needs, as a share of the bound.

        Examples
        --------
        >>> LowerBound(100, 103, 512, None, 1, 2000, 300, 0.5, True).gap
        0.03
        """
        return (self.own - self.tokens) / self.tokens if self.tokens else 0.0

    def __repr__(self) -> str:
        shown = {**dataclasses.asdict(self), "seconds": float(f"{self.seconds:.3g}")}
        parts = [f"{name}={value!r}" for name, value in shown.items()]
        return f"LowerBound({', '.join([*parts[:2], f'gap={100 * self.gap:.3g} %', *parts[2:]])})"


def lower_bound(
    tok: Tokenizer,
    docs: Any,
    n_tokens: int | None = None,
    *,
    offsets: Any = None,
    sample_weight: Any = None,
    boundaries: Any = None,
    max_token_length: int | None = None,
    min_count: int = 1,
    seconds: float | None = 30,
    memory_limit: int | None = None,
    progress: bool | str = "auto",
) -> LowerBound:
    """A lower bound on the tokens that documents need with any vocabulary of a size.

    Parameters
    ----------
    tok
        A tokenizer with a vocabulary: its alphabet is that of the vocabularies, and it decides how text is
        changed and split.
    docs, offsets, sample_weight, boundaries, progress
        As for `fit`.
    n_tokens
        The size of the vocabularies, alphabet included; None for that of `tok`.
    max_token_length
        Maximal length of their tokens, except tokens of `tok`, which may be longer; None for any length, or
        as memory allows.
    min_count
        How often each of their learned tokens occurs in the documents at least, by weight; occurrences that
        overlap count.
    seconds
        The time of the search; None: until gains are small, which may take minutes for millions of symbols.
    memory_limit
        Bytes that it may use in addition to the documents: 200 per symbol of distinct segments, and 72 per
        occurrence of a token. None: 2 GB.

    Returns
    -------
    found
        A `LowerBound`: `tokens`, the bound; `own`, how many `tok` needs; `gap`, how far that is above; and
        for which lengths the bound holds.

    Raises
    ------
    MemoryError
        If tokens of `max_token_length` symbols, or those of `tok`, do not keep to `memory_limit`.

    Notes
    -----
    The claim: let a vocabulary have this alphabet and `n_tokens` tokens. Its learned tokens have at most
    `max_token_length` symbols, or are tokens of `tok`, and occur at least `min_count` times within segments
    of these documents (or are not used). Then any encoder needs at least `tokens` of its tokens for the
    documents, and no training can beat this number. So `tok` itself, if `n_tokens` and `min_count` leave it
    its vocabulary, is never below. The proof, by prices of symbols, is in
    ``bounds/kernels/symbol_prices.py``; the number is computed in integers, so no rounding makes it wrong. No
    token crosses the end of a segment, and special tokens belong to none.

    The search ends near the optimum of a linear program in which tokens may belong to a vocabulary in part.
    For text that is split into words the bound is close to the best vocabulary. For whole texts and for
    signals it is not: a gap there may say more about the bound than about the tokenizer. For whole documents
    pass `max_token_length` or `min_count`, or tokens may be as long as these. With `seconds` None the bound
    is the same for any number of threads and on any machine.

    Examples
    --------
    >>> from ubpe_numba import BPE
    >>> docs = ["low lower lowest", "new newer newest", "the lowest wing, the newest wing"]
    >>> found = lower_bound(BPE.for_text(258, pretokenizer="gpt2").fit(docs), docs, seconds=None)
    >>> found.tokens, found.own, round(found.gap, 2), found.converged
    (40, 54, 0.35, True)
    """
    began, tok = time.monotonic(), given_tokenizer(tok)
    alphabet, vocabulary, segmenter = model_of(tok)
    n = vocabulary.n_alphabet
    size = len(vocabulary) if n_tokens is None else positive(n_tokens, "n_tokens")
    if size < n:
        raise ValueError(f"n_tokens: expected at least the {n} symbols of the alphabet, got {size}")
    longest = None if max_token_length is None else positive(max_token_length, "max_token_length")
    least = positive(min_count, "min_count")
    limit = None if memory_limit is None else positive(memory_limit, "memory_limit")
    allowed, bar = seconds_of(seconds), Progress(progress, "lower bound")
    corpus = corpus_of_fit(tok, docs, offsets, sample_weight, boundaries)
    units, weights = distinct_segments(segments_of(corpus, alphabet), corpus.weights)
    lengths = plan_of(tok).encode(units).lengths
    sequences = trusted(vocabulary.arena.astype(np.int32), vocabulary.offsets)
    if segmenter.whole_words:  # segments that are tokens are not merged
        whole = {token.tobytes() for token in sequences}
        lengths = np.where([unit.astype(np.int32).tobytes() in whole for unit in units], 1, lengths)
    own = sum(int(w) * int(k) for w, k in zip(weights, lengths, strict=True))
    bound = bound_of_units(
        units, weights, n, size - n, longest, least, allowed, limit, tok.n_threads, bar, sequences
    )
    took = time.monotonic() - began
    return LowerBound(
        bound.tokens, own, size, bound.longest, least, bound.n_edges, bound.rounds, took, bound.converged
    )


def distinct_segments(segments: Ragged, weights: np.ndarray | None) -> tuple[Ragged, np.ndarray]:
    """Distinct nonempty segments, in order of first appearance, and their counts, int64.

    >>> units, weights = distinct_segments(Ragged.from_lists([[0, 1], [], [0], [0, 1]]), None)
    >>> units.to_lists(), weights.tolist()
    ([[0, 1], [0]], [2, 1])
    """
    compacted = segments.compact()
    total = np.ones(len(compacted), np.int64) if weights is None else weights
    stay, total = distinct(Documents(compacted.values, own_offsets(compacted), "int"), total)
    inside = compacted.lengths[stay] > 0
    return compacted.take(stay[inside]).compact(), total[inside]


class Bound(NamedTuple):
    """Result for units: every vocabulary of a class needs at least `tokens`.

    Its tokens have at most `longest` symbols, or are given.
    """

    tokens: int
    longest: int | None  # None for any
    n_edges: int  # of the lattice
    rounds: int  # of the ascent
    converged: bool


def bound_of_units(
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
    tokens: Ragged | None = None,
) -> Bound:
    """The bound for `n` learned tokens and units of at least one alphabet id.

    Units occur `weights` times, int64 above 0.

    There are fewer than 2**62 symbols in all, by weight. Those of `tokens` that are longer than `longest` are
    candidates too. Raises MemoryError if `longest` or own tokens are passed, and their lattice exceeds the
    limit.

    >>> units, weights = distinct_segments(Ragged.from_lists([[0, 1, 0, 1], [0, 1]]), None)
    >>> bound_of_units(units, weights, 2, 1, None, 1, None, None, 1, Progress(False)).tokens
    3
    """
    end = None if seconds is None else time.monotonic() + seconds
    limit = _MOST if memory_limit is None else memory_limit
    place = (EDGE + CANDIDATE) * (1 if tokens is None or longest else 2)  # as many may be of those tokens
    lattice = _lattice_of(units, weights, n_alphabet, longest, min_count, limit, place)
    whole = longest is not None or not _is_cut(lattice) or lattice.longest >= int(units.lengths.max())
    if tokens is not None:
        inside = tokens.take(np.flatnonzero(tokens.lengths <= units.lengths.max(initial=0)))
        lattice = lattice.extended(
            inside, max(0, (limit - NODE * (units.total + len(units))) // (EDGE + CANDIDATE))
        )
    ascent = _Ascent(lattice, n, n_threads)
    converged = ascent.climb(end, progress)
    n_edges = int(ascent.everything.at.size)
    return Bound(ascent.certified(), longest if whole else lattice.longest, n_edges, ascent.rounds, converged)


# ---------------------------------------------------------------------------------------------------------
# candidates


def n_edges_of(lengths: np.ndarray, longest: int) -> int:
    """How many substrings of 2 to `longest` symbols there are in units of these lengths, each place counted.

    >>> n_edges_of(np.array([4, 1]), 3)
    5
    """
    short, k = np.minimum(lengths, longest), lengths.astype(np.float64)
    return int(((short - 1) * (2 * k - short) / 2).sum())


def _lattice_of(
    units: Ragged,
    weights: np.ndarray,
    n_alphabet: int,
    longest: int | None,
    min_count: int,
    limit: int,
    place: int,
) -> Substrings:
    """The candidates as edges, at `place` bytes each if memory is short.

    If no length is given, it is chosen by memory.
    """
    fixed, cap = NODE * (units.total + len(units)), 2**31 - 1 if longest is None else longest
    needed = fixed + (EDGE + CANDIDATE) * n_edges_of(units.lengths, cap)
    most = 2**62 if needed <= limit else max(0, (limit - fixed) // place)
    candidates = Substrings(
        units.values.astype(np.int32, copy=False),
        own_offsets(units),
        weights,
        n_alphabet,
        longest,
        min_count,
        most,
    )
    if candidates.longest < cap and _is_cut(candidates):
        if longest is not None or candidates.longest < 2:
            least = needed if longest is not None else fixed + place * n_edges_of(units.lengths, 2)
            raise MemoryError(
                f"memory_limit: tokens of up to {longest or 2} symbols need up to {least / 1e6:.3g} MB "
                f"({NODE} bytes a symbol, {place} a place of a token), the limit is {limit / 1e6:.3g} MB"
            )
        log.info(
            "lower_bound: the bound holds for tokens of up to %d symbols, for which there is memory",
            candidates.longest,
        )
    return candidates


def _is_cut(found: Substrings) -> bool:
    """Whether there may be candidates of more than `longest` symbols."""
    if found.longest == 1:
        return bool((np.diff(found.offsets) > 1).any())
    return bool(found.length.size) and int(found.length[-1]) == found.longest


class Places(NamedTuple):
    """The beginnings of candidates: t occurs at the nodes ``at[ends[t - 1] : ends[t]]``.

    `chunks` are parts of the candidates.
    """

    ends: np.ndarray  # int64[T]
    at: np.ndarray  # int32[E]
    length: np.ndarray  # int32[T]
    counts: np.ndarray  # int64[T]
    chunks: list[tuple[int, int]]

    @classmethod
    def of(cls, ends: np.ndarray, at: np.ndarray, length: np.ndarray, counts: np.ndarray) -> Places:
        """Chunks have about as many edges each; how many there are depends on the number of edges only."""
        parts = _PARTS if at.size >= _PARTS_FROM else 1
        targets = [at.size * i // parts for i in range(1, parts)]
        cuts = np.unique(np.concatenate([[0], np.searchsorted(ends, targets), [ends.size]])).tolist()
        return cls(ends, at, length, counts, list(itertools.pairwise(cuts)))

    def take(self, chosen: np.ndarray) -> Places:
        """The places of some candidates, bool[T]."""
        per_token = np.diff(self.ends, prepend=0)
        of = np.repeat(chosen, per_token)
        return Places.of(np.cumsum(per_token[chosen]), self.at[of], self.length[chosen], self.counts[chosen])


# ----------------------------------------------------------------------------------------- prices


class _Ascent:
    """Accelerated ascent of the prices of all symbols, which keeps the best.

    Some stages use only a part of the candidates.

    `best` and `value` are the best prices and their bound with all candidates, `tried` and `tried_value`
    those of the last stages with the candidates that they look at, `places`.
    """

    def __init__(self, found: Substrings, n: int, n_threads: int | None) -> None:
        self.nodes, self.n, self.n_threads, self.unit_weights = found.nodes, n, n_threads, found.weights
        self.weights = found.weights.astype(np.float64)
        alike = not (self.weights[1:] != self.weights[:-1]).any()
        self.unit_of = np.repeat(np.arange(self.weights.size), np.diff(self.nodes))
        self.of_node = np.append(self.weights, 1.0)[:1] if alike else self.weights[self.unit_of]
        per_token = np.bincount(found.tokens, minlength=len(found))
        ends, at = np.cumsum(per_token), np.empty(found.tokens.size, np.int32)
        symbol_prices.sort_by_candidate(found.starts, found.tokens, ends - per_token, at)
        self.everything = Places.of(ends, at, found.length, found.counts)
        self.rounds = 0
        steps = np.empty(found.starts.size - 1, np.int32)
        symbol_prices.steps_to_end(found.nodes, found.starts, found.lengths, steps)
        size = steps.size
        self.ahead, self.before, self.kept = np.empty(size), np.empty(size), np.empty(size)
        self.found, self.moved = np.empty(2), np.empty(3)
        self.threshold, self.step = 0.0, _FIRST
        # the first prices are equal ones; the best so far may be those under which no candidate exceeds a
        # token
        length, counts = self.everything.length.astype(np.int64), self.everything.counts.astype(np.float64)
        symbols, most = _in_order(self.weights * (np.diff(self.nodes) - 1)), counts * (length - 1)
        self.large = most >= _largest(most, _LARGE * self.n).min(initial=np.inf)

        def of_equal(quarters: int, chosen: np.ndarray | slice) -> float:
            excess = counts[chosen] * np.maximum(0, 4 * length[chosen] - quarters) / quarters
            return 4 * symbols / quarters - _in_order(np.sort(_largest(excess, self.n)))

        quarters = _highest(lambda quarters: of_equal(quarters, self.large), 4)
        self.value = of_equal(quarters, slice(None))
        self.prices = np.full(steps.size, 4 / quarters)
        self.prices[self.nodes[1:] - 1] = 0.0
        self.best = self.prices.copy()
        fewest = _in_order(self.weights * steps[self.nodes[:-1]])
        if fewest > self.value:
            self.best[:-1] = steps[:-1].astype(np.float64) - steps[1:]
            self.best[self.nodes[1:] - 1] = 0.0
            self.value = fewest
        self.tried, self.tried_value = self.best.copy(), self.value

    def climb(self, end: float | None, progress: Progress) -> bool:
        """Improve the prices until time `end` (monotonic), or until gains are tiny.

        Returns whether the latter was reached.
        """
        if self.n == 0 or not self.everything.ends.size:
            return True  # equal prices of 1 are best
        began = time.monotonic()
        if end is not None and began >= end:
            return False
        self._look_at(self.everything)
        gains = True
        for i, tau in enumerate(progress.rounds(_TAUS, "lower bound", "stage")):
            last, gains = i == len(_TAUS) - 1, True
            until = end if last or end is None else began + (end - began) * (i + 1) / len(_TAUS)
            while gains and (until is None or time.monotonic() < until):
                value = self.value
                if self.everything.at.size > _ALL:
                    _, sums = self._sums_at(self.prices)
                    least = float(_largest(sums, self.n).min()) if sums.size > self.n else 0.0
                    self._look_at(self.everything.take(self.large | (sums > _WORTH * least)))
                    self.tried_value = -np.inf
                self._stage(tau, until, last)
                bound = self.tried_value
                # with all candidates it may be lower
                if self.places is not self.everything and bound > self.value:
                    total, sums = self._sums_at(self.tried)
                    bound = total - _in_order(np.sort(_largest(sums, self.n)))
                if bound > self.value:
                    self.value = bound
                    self.best[:] = self.tried
                gains = last and self.value - value > _LAST_GAIN * abs(value)
        return not gains and (end is None or time.monotonic() < end)

    def _look_at(self, places: Places) -> None:
        self.places, n = places, places.counts.size
        self.counts = places.counts.astype(np.float64)
        self.covered = np.zeros((len(places.chunks), self.prices.size))
        self.sums, self.smooth, self.shares = np.empty(n), np.empty(n), np.empty(n)

    def _stage(self, tau: float, end: float | None, last: bool) -> None:
        """Rounds with one tau, until they gain little or time is up; the last stage has as many as gain."""
        self.kept[:] = self.ahead[:] = self.prices
        theta, curvature = 1.0, 1 / self.step
        highest = known = None
        rounds, before = 0, -np.inf
        block = _BLOCK if self.everything.at.size >= _FEW else _BLOCK_OF_FEW
        while end is None or time.monotonic() < end:
            value = self._value(tau)
            rounds += 1
            self.rounds += 1
            if highest is None:
                highest = floor = value
            if known is not None:
                missing = known + self.moved[1] - value
                if missing > 1e-9 * abs(value):
                    curvature = max(curvature * _KEPT, min(2 * missing / self.moved[2] * tau, 3 * curvature))
                self.step = min(max(1 / curvature, _LEAST), _MOST_STEP)
            # worse than at the beginning of the stage: steps are too long
            if value < floor - 1e-9 * abs(floor):
                if self.step <= _LEAST:  # all that rounding allows has been reached
                    return
                self.step = max(self.step / 2, _LEAST)
                theta, known, curvature = 1.0, None, 1 / self.step
                self.prices[:] = self.ahead[:] = self.kept
                continue
            highest = max(highest, value)
            self._cover(tau)
            following = (1 + (1 + 4 * theta * theta) ** 0.5) / 2  # Nesterov's sequence
            theta, beta = following, (theta - 1) / following
            step = self.step * tau
            symbol_prices.climb(
                self.nodes, self.weights, self.covered, step, beta, self.prices, self.ahead, self.moved
            )
            known = value
            if self.moved[0] < 0:  # against the gradient
                theta, known = 1.0, None
                self.ahead[:] = self.prices
            if rounds % block == 0:
                now = self.tried_value if last else highest
                if now - before < (_LAST_GAIN if last else _GAIN) * abs(now):
                    return
                before = now
            if rounds == _BLOCKS * block and not (last and self.places is self.everything):
                return

    def _value(self, tau: float) -> float:
        """The smooth function at `ahead`, whose bound may be the best so far with these candidates."""
        before, sums, smooth = self.before, self.sums, self.smooth
        ends, at, length, _, chunks = self.places
        total = symbol_prices.sum_up(self.nodes, self.weights, self.ahead, before, 0.0)
        thread_pool.run(
            lambda begin, end: symbol_prices.sum_excess(
                ends, length, at, self.of_node, before, tau, begin, end, sums, smooth
            ),
            chunks,
            self.n_threads,
        )
        n, scale, outcome = float(self.n), _GAMMA * tau, self.found
        self.threshold = symbol_prices.share_out(
            sums, smooth, self.counts, scale, n, self.threshold, self.shares, outcome
        )
        if total - outcome[1] > self.tried_value:
            self.tried_value = total - outcome[1]
            self.tried[:] = self.ahead
        return float(total - outcome[0])

    def _cover(self, tau: float) -> None:
        """How much every symbol is covered, a row for each part of the candidates."""
        ends, at, length, _, chunks = self.places
        rows = {begin: i for i, (begin, _) in enumerate(chunks)}
        thread_pool.run(
            lambda begin, end: symbol_prices.cover(
                ends, length, at, self.before, tau, self.shares, begin, end, self.covered[rows[begin]]
            ),
            chunks,
            self.n_threads,
        )

    def _sums_at(self, prices: np.ndarray) -> tuple[float, np.ndarray]:
        """The weighted sum of prices, and the excess of all candidates."""
        ends, at, length, counts, chunks = self.everything
        before, sums, smooth = np.empty(prices.size), np.empty(counts.size), np.empty(counts.size)
        total = symbol_prices.sum_up(self.nodes, self.weights, prices, before, 0.0)
        thread_pool.run(
            lambda begin, end: symbol_prices.sum_excess(
                ends, length, at, self.of_node, before, 1.0, begin, end, sums, smooth
            ),
            chunks,
            self.n_threads,
        )
        return float(total), sums

    def certified(self) -> int:
        """The bound by the best prices in integers: at least so many tokens, rounded up."""
        total, _ = self._sums_at(np.abs(self.best))
        _, sums = self._sums_at(self.best)
        # above any sum, in tokens
        most = 2 * max(total, _in_order(self.weights), float(sums.max(initial=0))) + 1
        one, shift = _ONE, 0
        while most * one >= _SAFE and one > 2**12:
            one //= 2
        while most * one / 2**shift >= _SAFE:
            shift += 1
        weights = self.unit_weights >> shift  # a smaller weight: fewer tokens
        prices = np.minimum(np.floor(self.best * one), one).astype(np.int64)
        ends, at, length, counts, chunks = self.everything
        before, excess = np.empty(prices.size, np.int64), np.empty(counts.size, np.int64)
        bound = int(symbol_prices.sum_up(self.nodes, weights, prices, before, np.int64(0)))
        of_node = weights[self.unit_of]
        thread_pool.run(
            lambda begin, end: symbol_prices.certified_sums(
                ends, length, at, of_node, before, one, begin, end, excess
            ),
            chunks,
            self.n_threads,
        )
        largest = _largest(excess, self.n)
        bound -= (int((largest >> 24).sum()) << 24) + int((largest & (2**24 - 1)).sum())
        fewest = -(-bound // one) << shift
        return max(fewest, int(self.unit_weights.sum()))


def _highest(value: Callable[[int], float], low: int) -> int:
    """The first number from `low` on after which a function does not rise.

    It must rise before and not afterwards.

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


def _largest(values: np.ndarray, n: int) -> np.ndarray:
    """The n largest values, in any order; all if there are not more.

    >>> sorted(_largest(np.array([3, 1, 2]), 2).tolist())
    [2, 3]
    """
    if n == 0 or n >= values.size:
        return values[: values.size * (n > 0)]
    return np.partition(values, values.size - n)[values.size - n :]
