"""The vocabulary with which documents need the fewest tokens: where the search begins, what it asks of tokens, and what it finds.

The search (swap_search.py) finds a vocabulary for the documents that it sees. Which one is best for others depends on how far
these can be trusted: whether tokens count that one document alone needs, how often a token has to occur, and which tokens the
search begins with. Every eighth document is held out, the search is tried on the others, and the way that needs the fewest tokens
on those held out is taken with all documents. One of the ways is the exchange of neighbours (neighbours.py), without a search.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ubpe_numba.documents.corpus import as_corpus
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.fitting.deadline import Deadline
from ubpe_numba.fitting.fit import learn
from ubpe_numba.fitting.loop import Settings
from ubpe_numba.fitting.neighbours import exchanged
from ubpe_numba.fitting.substrings import Substrings
from ubpe_numba.fitting.swap_search import Goal, SwapSearch, largest
from ubpe_numba.fitting.units import Units
from ubpe_numba.runtime.messages import Progress
from ubpe_numba.vocabulary.alphabet import MAX_SIZE, Alphabet

#: What the search can begin with; by the last one there is none.
STARTS = ("nothing", "greedy", "merges", "kmers", "neighbours")
_LEAST = 2  # occurrences of a candidate
_SEEN = 7, 8  # of the documents that are not held out: so many fewer are asked for there
_MISSES = 2  # choices in a row that are no better, after which no more of a kind are tried
_MOST_OF_KMERS = 32  # symbols of an alphabet for which k-mers are tried
_ROUNDS = 200  # of the search, at most; and of a trial
_FEWEST_ROUNDS, _MOST_ROUNDS = 8, 24
_EDGES_OF_A_TRIAL = 100_000_000  # that the rounds of one look at, about
_SYMBOLS_OF_FOLDS = 1_000_000  # of documents with fewer several parts are held out in turn,
_FEW_FOLDS, _SYMBOLS_OF_FEW = 4, 4_000_000  # of words at most so many, if these come from as many symbols
_TRIALS = 0.5  # of the time, at most
_GREEDY = 30  # the part of what there is room for that the greedy start adds at a time
_MORE = 2  # times as many merges as tokens are wanted

log = logging.getLogger("ubpe_numba")


class Plan(NamedTuple):
    """How a vocabulary is searched: None for what is to be chosen.

    Attributes
    ----------
    start : str or None
        One of `STARTS`.
    robust : bool or None
    min_count : int or None
        As of `Goal`.
    """

    start: str | None
    robust: bool | None
    min_count: int | None

    @property
    def goal(self) -> Goal:
        """What tokens are chosen by."""
        return Goal(bool(self.robust), self.min_count or _LEAST)


class Task(NamedTuple):
    """What is wanted.

    Attributes
    ----------
    units : Units
        To choose tokens on.
    n_alphabet, n : int
        How many symbols there are, and how many learned tokens are wanted.
    longest : int or None
        Symbols of the longest token.
    most_edges, most : int
        Candidates end with the length before they would have more edges, or be more. The tables of searches hold so many
        together.
    least : int
        How often candidates occur: those below `min_count` fill what room is left.
    settings : Settings
        Of the fit that the merges come from.
    deadline : Deadline
        When to stop.
    """

    units: Units
    n_alphabet: int
    n: int
    longest: int | None
    most_edges: int
    most: int
    least: int
    settings: Settings
    deadline: Deadline


def refined(task: Task, plan: Plan, progress: Progress) -> Ragged:
    """The learned tokens of the vocabulary, as sequences: `n`, or fewer where documents do not hold so many that occur twice."""
    if not task.n:
        return Ragged.from_lists([])
    return _Refinement(task, progress).run(plan)


class _Refinement:
    def __init__(self, task: Task, progress: Progress) -> None:
        self.task, self.progress = task, progress
        units, self.threads = task.units, task.settings.n_threads
        documents = units.documents
        given = documents.values, documents.offsets, units.weights, task.n_alphabet
        whole = Substrings(*given, task.longest, task.least, task.most_edges, task.most)
        log.info("refine: %d candidates of up to %d symbols, %d edges", len(whole), whole.longest, whole.lengths.size)
        self.merges = self._merges(units.weights)
        self.neighbours = self._neighbours(units.weights, self.merges)
        self.substrings = whole.extended(Ragged.concat([self.merges, self.neighbours]))
        self.most_tables = max(1, task.most // max(1, len(self.substrings)))

    def run(self, plan: Plan) -> Ragged:
        """The tokens of a plan, what it leaves open chosen first."""
        units, deadline = self.task.units, self.task.deadline
        is_open = plan.start is None
        if None in plan and units.n_folds and plan.robust is not False:
            plan = self._chosen(plan)
            log.info("refine: %s", plan)
        plans = [plan] if plan.start else [plan._replace(start=start) for start in self._starts()]
        search = self._search(units.weights, units.most, deadline)
        found: list[np.ndarray] = []
        for one in self.progress.rounds(plans, "refine, search"):
            if not found or not deadline.is_over():
                found.append(self._done(search, one, _ROUNDS))
        if is_open and deadline.is_over():  # a search that has hardly begun is no better than what is there without one
            found.append(self._done(search, plan._replace(start="neighbours"), 0))
        totals = [search.total(inside, units.weights) for inside in found] if len(found) > 1 else [0]
        return self.substrings.sequences(found[totals.index(min(totals))])

    def _chosen(self, plan: Plan) -> Plan:
        """The plan that needs the fewest tokens on what is held out, of those that differ in what this one leaves open."""
        units, deadline = self.task.units, self.task.deadline.part(_TRIALS)
        edges = max(1, self.substrings.lengths.size)
        rounds = min(_MOST_ROUNDS, max(_FEWEST_ROUNDS, _EDGES_OF_A_TRIAL // edges))
        folds = min(_SYMBOLS_OF_FOLDS // max(1, units.documents.total), self.most_tables // min(self.threads, self.most_tables))
        folds = min(folds, max(_FEW_FOLDS, _SYMBOLS_OF_FEW // max(1, units.n_symbols)))
        seen = units.weights - units.held[: max(1, folds)]
        searches = [self._search(*fold, deadline) for fold in zip(seen, units.most_seen, strict=False)]
        totals: dict[Plan, int] = {}

        def total(one: Plan) -> int:
            if one not in totals and (not totals or not deadline.is_over()):
                fewer = one._replace(min_count=max(_LEAST, -(-one.goal.min_count * _SEEN[0] // _SEEN[1])))
                found = [self._done(search, fewer, rounds) for search in searches]
                apart = zip(searches, found, units.held, strict=False)
                totals[one] = sum(search.total(inside, held) for search, inside, held in apart)
                log.info("refine: %d tokens on what is held out by %s", totals[one], one)
            return totals.get(one, 2**63)

        found = Plan(plan.start or STARTS[0], plan.robust is not False, plan.min_count or _LEAST)
        for what in self.progress.rounds([i for i in (2, 0, 1) if plan[i] is None], "refine, try on what is held out", "choice"):
            if what == 2:
                found = self._best_count(found, total)
            elif what == 1:
                least = _LEAST if plan.min_count is None else found.min_count
                found = min((found, *(found._replace(robust=False, min_count=i) for i in (found.min_count, least))), key=total)
            else:
                found = min((found._replace(start=start) for start in self._starts()), key=total)
        return found

    @staticmethod
    def _best_count(plan: Plan, total: Callable[[Plan], int]) -> Plan:
        """The plan with the best least count: powers of two as long as they are better, then those between."""
        best, misses, count = plan, 0, 2 * _LEAST
        while misses < _MISSES:
            one = plan._replace(min_count=count)
            best, misses = (one, 0) if total(one) < total(best) else (best, misses + 1)
            count *= 2
        around = best.goal.min_count * 3 // 4, best.goal.min_count * 3 // 2
        return min([best, *(plan._replace(min_count=count) for count in around if count >= _LEAST)], key=total)

    def _done(self, search: SwapSearch, plan: Plan, rounds: int) -> np.ndarray:
        """The candidates that a plan chooses."""
        inside = self._begun(search, plan.start, plan.goal)
        if plan.start != "neighbours":
            inside = search.search(inside[search.counts[inside] >= plan.goal.min_count], plan.goal, rounds)
        inside = search.fill(inside, self._filling(plan.goal))
        return self._all_used(search, inside, plan.goal, rounds) if self.task.least == 1 else inside

    def _all_used(self, search: SwapSearch, inside: np.ndarray, goal: Goal, rounds: int) -> np.ndarray:
        """Candidates, words among them, with others in place of those that save nothing beside the rest.

        When there is nothing more to save, all words that are seen may be tokens. Then the others are to put new words together:
        they are searched as if each word were seen once, and by `Goal.robust` not known as a whole.
        """
        stay, fewest = search.used(inside)
        while stay.size < inside.size:
            filled = search.fill(stay, self._filling(goal))
            used, total = search.used(filled)
            if total >= fewest:
                break
            inside, stay, fewest = filled, used, total
        if stay.size == inside.size:
            return inside
        once = np.minimum(1, search.weights)
        parts = search.of_weights(once, once, inside.size - stay.size).search(np.empty(0, np.int64), Goal(True, _LEAST), rounds)
        return search.fill(np.union1d(stay, parts), self._filling(goal))

    def _filling(self, goal: Goal) -> list[Goal]:
        """What is asked of tokens while there is room: less and less."""
        robust, least = goal
        fewer = [Goal(robust, max(_LEAST, least >> i)) for i in range(least.bit_length() - 1)]
        return [*fewer, *(Goal(False, count) for count in range(_LEAST, self.task.least - 1, -1))]

    def _search(self, weights: np.ndarray, most: np.ndarray, deadline: Deadline) -> SwapSearch:
        return SwapSearch(self.substrings, weights, most, self.task.n, min(self.threads, self.most_tables), deadline)

    # ---------------------------------------------------------------------------------------------- starts

    def _starts(self) -> list[str]:
        """The starts that are tried: large alphabets have too many k-mers, and whole texts take too many greedy steps."""
        left_out = {"kmers"} if self.task.n_alphabet > _MOST_OF_KMERS else set()
        return [start for start in STARTS if start not in (left_out if self.task.least == 1 else {*left_out, "greedy"})]

    def _begun(self, search: SwapSearch, start: str | None, goal: Goal) -> np.ndarray:
        """The candidates that a search begins with."""
        if start == "nothing":
            return np.empty(0, np.int64)
        if start == "greedy":
            return search.fill(np.empty(0, np.int64), self._filling(goal), _GREEDY)
        if start == "kmers":
            return self._kmers(search)
        weights = search.weights
        whole = weights is self.task.units.weights
        tokens = self.merges if whole else self._merges(weights)
        if start == "neighbours":
            tokens = self.neighbours if whole else self._neighbours(weights, tokens)
        return self.substrings.candidates_of(tokens)

    def _merges(self, weights: np.ndarray) -> Ragged:
        """More tokens than are wanted, as a fit learns them from units of these weights."""
        documents, task = self.task.units.documents, self.task
        size = min(MAX_SIZE, task.n_alphabet + _MORE * task.n)
        longest = task.settings.longest if task.longest is None else min(task.settings.longest, task.longest)
        settings = task.settings._replace(n_tokens=size, longest=longest)
        corpus = as_corpus(documents, sample_weight=weights)
        vocabulary, _ = learn(corpus, Alphabet.dense(task.n_alphabet), settings, Progress(False))
        return vocabulary[task.n_alphabet :].compact()

    def _neighbours(self, weights: np.ndarray, merges: Ragged) -> Ragged:
        """The tokens that an exchange of neighbours chooses by units of these weights."""
        task, stay = self.task, np.flatnonzero(weights)
        documents = task.units.documents.take(stay).compact()
        longest = 2**62 if task.longest is None else task.longest
        return exchanged(documents, weights[stay], merges, task.n_alphabet, task.n, self.threads, Progress(False), longest)

    def _kmers(self, search: SwapSearch) -> np.ndarray:
        """The most frequent candidates of one length, the one with which the fewest tokens are needed."""
        length, best, fewest, misses = self.substrings.length, np.empty(0, np.int64), 2**63, 0
        for k in range(2, int(length.max(initial=1)) + 1):
            inside = largest(search.counts, np.flatnonzero(length == k), self.task.n)
            total = search.total(inside, search.weights)
            best, fewest, misses = (inside, total, 0) if total < fewest else (best, fewest, misses + 1)
            if misses == _MISSES:
                break
        return best
