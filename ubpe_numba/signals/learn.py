"""Learning of vocabularies: exact levels, exact differences, and search within a tolerance.

Exact tokens are those of `UBPE`, refined, on levels 2 tolerance + 1 apart, or on the differences of these
inside a document, whose first sample is a level. They are vocabularies like any other: matched within the
tolerance they need no more tokens than exactly.

A round of the search finds the cheapest paths. Then each symbol of a token moves towards the mean of the
samples at its places as far as all of them still match. The last symbol stays, so that later samples still
match: no round can cost tokens by this. The decoded values of two and three neighbors are candidates, as
levels and as differences. Costs ahead and to go give the saving of each at once. The candidates with the
largest savings enter, and the tokens with the least losses leave.

Savings and losses leave out the block of samples that gains most. The round is chosen by samples held out;
for short recordings each quarter in turn. Without both, these samples are learned by heart. Among paths with
equally many tokens, those of frequent tokens are better, so costs are 1 + _MU (bits / mean bits - 1).
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.fitting.reweight import logarithms
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.arrays import offsets_of, resolve_threads
from ubpe_numba.runtime.messages import Progress
from ubpe_numba.signals.kernels import paths
from ubpe_numba.signals.kernels.match import FINE
from ubpe_numba.signals.tokens import MOST_COST, UNIT, Found, Goal, Token, Tokens, cheapest, decoded
from ubpe_numba.tokenizers.ubpe import UBPE

_MU = 0.3
_LEAST = (4, 8, 16)  # occurrences of an exact token, which are tried
_ROUNDS = 8
_BLOCKS = 8  # of samples, of which that which gains most does not count
_SHARE = 0.5  # share of the tokens that enter in a round, at most
_CANDIDATES = 6  # for every token of the vocabulary
_SEARCHED = 120_000  # samples that the search looks at
_AGAIN = 60_000  # samples up to which the best search is made again with those held out
_PIECE = 4096  # samples of a piece of a recording
_HELD_OUT = 4  # of so many pieces one is held out
_FOLDED = 8192  # samples up to which each of these pieces is held out in turn


class Settings(NamedTuple):
    """Number of tokens, levels of the scale, tolerance, costs, threads, and the bar of a search."""

    n_tokens: int
    n_levels: int
    goal: Goal
    representation: str
    by_bits: bool
    n_threads: int | None
    bar: Progress = Progress(False)


class Text:
    """Documents of samples, int32 with offsets from 0 on, and the chunks that threads work on."""

    def __init__(self, x: NDArray[np.int32], offsets: NDArray[np.int64], settings: Settings) -> None:
        self.x, self.offsets, self.settings = x, offsets, settings
        n, threads = offsets.size - 1, resolve_threads(settings.n_threads)
        cuts = np.searchsorted(
            offsets, np.linspace(0, offsets[-1], 4 * threads + 1)[1:-1] if threads > 1 else offsets[:0]
        )
        edges = np.unique(np.concatenate([[0], cuts, [n]]).astype(np.int64))
        self.chunks = list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
        self.block = self.x.size // _BLOCKS + 1

    def part(self, begin: int, end: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The arguments of kernels for a chunk."""
        return self.x, self.offsets[begin : end + 1]

    def paths(self, tokens: Tokens, cost: NDArray[np.int64]) -> list[Found]:
        """The cheapest paths of every chunk."""
        tokens.index  # noqa: B018  # made once, not by each thread
        return thread_pool.run(
            lambda a, z: cheapest(tokens, cost, self.settings.goal, *self.part(a, z)),
            self.chunks,
            self.settings.n_threads,
        )

    def joined(self, found: list[Found]) -> NDArray[Any]:
        """The parts of the paths of all chunks, with the numbers of their documents among all."""
        parts = np.concatenate([part.parts for part in found])
        shifts = np.repeat([begin for begin, _ in self.chunks], [part.parts.size for part in found])
        parts["document"] += shifts
        return parts

    def counts(self, found: list[Found], tokens: Tokens) -> NDArray[np.int64]:
        """How often each token is on the paths."""
        return np.bincount(self.joined(found)["token"], minlength=len(tokens)).astype(np.int64)

    def worth(
        self, tokens: Tokens, cost: NDArray[np.int64], found: list[Found], candidates: Tokens | None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Losses without each of the tokens, or savings by each candidate, and numbers of places.

        Both are int64[n, blocks].
        """
        goal = self.settings.goal
        columns = 2 * goal.tolerance + 1
        asked = candidates or tokens
        tokens.index, asked.index  # noqa: B018

        def one(begin: int, end: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
            x, offsets = self.part(begin, end)
            mine = found[self.chunks.index((begin, end))]
            to_go, room = np.empty_like(mine.costs), np.empty(mine.costs.shape[0], np.int64)
            tables, lists = tokens.tables(cost)
            paths.costs_to_go(x, offsets, tables, goal.tolerance, goal.price, to_go, room, lists)
            sums, count = np.zeros((len(asked), _BLOCKS), np.int64), np.zeros(len(asked), np.int64)
            if candidates is None:
                ways = np.empty((tokens.longest + 1, columns), np.int64)
                back = np.empty((tokens.longest + 1, columns), paths.BACK)
                scratch = lists, ways, np.empty(tokens.longest + 1, np.int64), back, self.block
                paths.losses(
                    x, offsets, mine.parts, tables, goal.tolerance, goal.price, cost, to_go, *scratch, sums
                )
            else:
                tables, lists = candidates.tables(np.full(len(candidates), UNIT), tokens.grid)
                known = mine.costs, to_go, room, lists, self.block, np.zeros(len(asked), np.int64)
                paths.savings(x, offsets, tables, goal.tolerance, goal.price, *known, sums, count)
            return sums, count

        parts = thread_pool.run(one, self.chunks, self.settings.n_threads)
        return sum(part[0] for part in parts), sum(part[1] for part in parts)  # type: ignore[return-value]


def prices(counts: NDArray[np.int64], mu: float) -> NDArray[np.int64]:
    """Costs of tokens with these counts: 1 + mu (bits / mean bits - 1), times UNIT.

    With mu = 1 only bits count.

    At most MOST_COST: if nearly all samples are in one token, the mean is near 0, and any ratio to it is
    large.

    >>> (prices(np.array([3, 1]), 1.0) / UNIT).round(3).tolist()
    [0.584, 1.971]
    """
    p = (counts + 0.5) / float((counts + 0.5).sum())
    bits = -logarithms(p)
    ratio = bits / max(float((bits * p).sum()), 1e-300)
    return np.clip(np.rint(UNIT * (1 + mu * (ratio - 1))), 1, MOST_COST).astype(np.int64)


def settled(tokens: Tokens, text: Text) -> tuple[NDArray[np.int64], NDArray[np.int64], list[Found]]:
    """Costs of the tokens for the objective, counts on the paths by these, and the paths.

    By bits in four rounds.
    """
    cost = np.full(len(tokens), UNIT)
    best = text.paths(tokens, cost)
    for _ in range(4 if text.settings.by_bits else 0):
        cost = prices(text.counts(best, tokens), 1.0)
        best = text.paths(tokens, cost)
    return cost, text.counts(best, tokens), best


def learn(
    x: NDArray[np.int32], offsets: NDArray[np.int64], settings: Settings
) -> tuple[Tokens, NDArray[np.int64], NDArray[np.int64]]:
    """The vocabulary of documents, the costs of its tokens, and their counts in the documents."""
    whole = Text(x, offsets, settings)
    size = max(64, min(_PIECE, x.size // (4 * _HELD_OUT)))
    pieces = Text(x, _pieces(offsets, size), settings)
    singles = [(0, np.array([c * FINE], np.int32)) for c in _centres(settings)]
    n = pieces.offsets.size - 1
    fold = np.arange(n) * _HELD_OUT // max(n, 1) if x.size <= _FOLDED else np.arange(n) % _HELD_OUT
    tests = [fold == f for f in range(_HELD_OUT - 1, -1, -1) if 0 < (fold == f).sum() < fold.size]
    tests = tests if x.size <= _FOLDED else tests[:1]
    tried = [_tried(_taken(pieces, ~test), _taken(pieces, test), singles) for test in tests]
    tried = tried or [_tried(pieces, _taken(pieces, fold < 0), singles)]
    total = {
        choice: sum(one[choice][0] for one in tried)
        for choice in tried[0]
        if all(choice in one for one in tried)
    }
    name, best = min(total, key=total.__getitem__)
    tokens = tried[0][name, best][1]
    if tests and name in ("levels", "differences"):
        tokens = Tokens.of([*singles, *exact(pieces, name, best)])
    elif tests and x.size <= _AGAIN:
        least = min(_LEAST, key=lambda least: (total.get(("differences", least), np.inf), -least))
        start = (
            exact(pieces, "differences", least) if name == "from differences" else _steps(singles, settings)
        )
        tokens = list(rounds(pieces, singles, start, best + 1))[-1]
    for _ in range(2):
        cost, counts, walked = settled(tokens, whole)
        tokens = recentred(tokens, whole, walked, len(singles))
    cost, counts, _ = settled(tokens, whole)
    return tokens, cost, counts


def _centres(settings: Settings) -> range:
    """Levels spaced so that each sample is within the tolerance of a level."""
    tolerance = settings.goal.tolerance
    return range(tolerance, settings.n_levels + tolerance, 2 * tolerance + 1)


def _steps(singles: list[Token], settings: Settings) -> list[Token]:
    """Differences of a single sample; a search without a start begins with them."""
    n = max(0, min(len(singles), settings.n_tokens - len(singles)))
    near = sorted(range(-len(singles), len(singles)), key=abs)[:n]
    return [(1, np.array([d * (2 * settings.goal.tolerance + 1) * FINE], np.int32)) for d in near]


def _tried(rest: Text, test: Text, singles: list[Token]) -> dict[tuple[str, int], tuple[float, Tokens]]:
    """Measure the test by tokens of the rest: exact tokens of several counts, and search rounds."""
    results: dict[tuple[str, int], tuple[float, Tokens]] = {}
    wanted, every = rest.settings.representation, max(1, round(rest.x.size / _SEARCHED))
    few = rest if every == 1 else _taken(rest, np.arange(rest.offsets.size - 1) % every == 0)
    for name in ("differences", "levels"):  # of equal ones differences, which serve at other levels too
        if wanted in ("auto", name):
            tried = {least: Tokens.of([*singles, *exact(few, name, least)]) for least in _LEAST}
            scores = {least: _score(tokens, few, test) for least, tokens in tried.items()}
            if few is not rest:
                best = min(scores, key=scores.__getitem__)
                tried = {best: Tokens.of([*singles, *exact(rest, name, best)])}
                scores = {best: _score(tried[best], rest, test)}
            results |= {(name, least): (scores[least], tokens) for least, tokens in tried.items()}
    if wanted in ("auto", "both"):
        known = [one for choice, one in results.items() if choice[0] == "differences"]
        start = (
            list(min(known, key=lambda one: one[0])[1]) if known else exact(rest, "differences", _LEAST[-1])
        )
        for name, first in (("from differences", start), ("from nothing", _steps(singles, rest.settings))):
            best = 0
            for i, tokens in enumerate(rounds(few, singles, first, _ROUNDS)):
                results[name, i] = _score(tokens, few, test), tokens
                best = i if results[name, i][0] < results[name, best][0] else best
                if i - best > 2:
                    break
    return results


def _pieces(offsets: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Offsets of documents that are divided into pieces of about this size."""
    cuts = [
        np.linspace(a, z, max(1, round((z - a) / size)) + 1).astype(np.int64)[:-1]
        for a, z in pairwise(offsets)
    ]
    return np.concatenate([*cuts, offsets[-1:]])


def _taken(text: Text, chosen: NDArray[np.bool_]) -> Text:
    """The documents that are chosen."""
    lengths = np.diff(text.offsets)
    return Text(text.x[np.repeat(chosen, lengths)], offsets_of(lengths[chosen]), text.settings)


def _score(tokens: Tokens, text: Text, test: Text) -> float:
    """Tokens, or bits by the counts in the text, that the test needs; of the text itself if that is empty."""
    if not text.settings.by_bits:
        best = (test if test.x.size else text).paths(tokens, np.full(len(tokens), UNIT))
        return float(sum(part.parts.size for part in best))
    cost, counts, best = settled(tokens, text)
    if test.x.size:
        best = test.paths(tokens, cost)
    p = (counts + 0.5) / (counts + 0.5).sum()
    return -float(logarithms(p)[np.concatenate([part.parts["token"] for part in best])].sum())


def exact(text: Text, kind: str, least: int) -> list[Token]:
    """Refined tokens of exact ``"levels"`` or ``"differences"``, as many as fit with the single levels.

    Each occurs at least `least` times, and its savings are counted without the piece in which it saves most.
    """
    tolerance, step = text.settings.goal.tolerance, 2 * text.settings.goal.tolerance + 1
    levels = ((text.x.astype(np.int64) + FINE // 2) // FINE) // step
    is_relative = kind == "differences"
    n_singles = len(_centres(text.settings))
    n, offsets = text.settings.n_tokens - n_singles * is_relative, text.offsets
    if is_relative:
        lengths = np.diff(offsets)
        inside = np.ones(levels.size, bool)
        inside[offsets[:-1][lengths > 0]] = False
        levels = np.diff(levels, prepend=0)[inside]
        offsets = offsets_of(np.maximum(lengths - 1, 0))
    names, symbols, counts = np.unique(levels, return_inverse=True, return_counts=True)
    if is_relative:  # rare differences are written by levels, and no token crosses them
        often = np.sort(np.argsort(-counts, kind="stable")[: max(1, n // 2)])
        rank = np.full(names.size, -1, np.int64)
        rank[often] = np.arange(often.size)
        names, symbols = names[often], rank[symbols]
        out = np.flatnonzero(symbols < 0)
        offsets = np.unique(np.concatenate([offsets, out, out + 1]))
        dropped = symbols[offsets[:-1]] < 0
        lengths = np.diff(offsets)[~dropped]
        symbols, offsets = symbols[symbols >= 0], offsets_of(lengths)
    else:
        names, symbols = np.arange(n_singles), levels
    if n > names.size and symbols.size:
        docs = Ragged(symbols.astype(np.int32), offsets)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of fits that end early
            tokenizer = UBPE(
                n, 1, objective="shortest", alphabet=names.size, n_threads=text.settings.n_threads
            )
            tokenizer = tokenizer.fit(docs, progress=False).refine(
                docs, robust=True, min_count=least, progress=False
            )
        vocabulary = tokenizer._model.vocabulary
        tokens = [names[vocabulary.sequence(t)] for t in range(len(vocabulary))]
    else:
        tokens = [names[t : t + 1] for t in range(min(n, names.size))]
    if is_relative:
        return [(1, (np.cumsum(token) * (step * FINE)).astype(np.int32)) for token in tokens]
    return [(0, ((token * step + tolerance) * FINE).astype(np.int32)) for token in tokens]


def rounds(text: Text, singles: list[Token], start: list[Token], n_rounds: int) -> Iterator[Tokens]:
    """The tokens of each round of the search. `singles`, so that all can be written, always stay."""
    rng, fixed, n = np.random.default_rng(0), len(singles), text.settings.n_tokens
    tokens = Tokens.of([*singles, *start])
    counts = np.ones(len(tokens), np.int64)
    for _ in text.settings.bar.rounds(range(n_rounds), "search"):
        for step in range(4):  # those whose loss is least leave, half of the surplus at a time
            drop = len(tokens) - n
            if drop <= 0:
                break
            counts = text.counts(text.paths(tokens, prices(counts, _MU)), tokens)
            cost = prices(counts, _MU)
            walked = text.paths(tokens, cost)
            counts = text.counts(walked, tokens)
            lost, _ = text.worth(tokens, cost, walked, None)
            loss = lost.sum(axis=1) * (1 + 1e-6) - lost.max(axis=1)
            loss[:fixed] = np.inf
            stay = np.sort(np.argsort(loss, kind="stable")[drop if step == 2 or drop <= 20 else drop // 2 :])
            tokens, counts = Tokens.of([tokens[t] for t in stay.tolist()]), counts[stay]
        cost = prices(counts, _MU)
        tokens = recentred(tokens, text, text.paths(tokens, cost), fixed)
        cost = cost if len(tokens) == cost.size else np.full(len(tokens), UNIT)  # unless two have become one
        counts = text.counts(text.paths(tokens, cost), tokens)
        yield tokens
        cost = prices(counts, _MU)
        walked = text.paths(tokens, cost)
        new = candidates(text, tokens, walked, _CANDIDATES * n, rng)
        if not len(new):
            return
        saved, places = text.worth(tokens, cost, walked, new)
        gain = saved.sum(axis=1) - saved.max(axis=1)
        best = [
            c for c in np.argsort(-gain, kind="stable")[: int(_SHARE * (n - fixed))].tolist() if gain[c] > 0
        ]
        tokens, counts = Tokens.of([*tokens, *(new[c] for c in best)]), np.concatenate([counts, places[best]])


def recentred(tokens: Tokens, text: Text, found: list[Found], fixed: int) -> Tokens:
    """Tokens whose symbols are the means of the samples at their places, as far as all of these still match.

    The last symbol of each stays, and so do the first `fixed` tokens: paths stay paths. O(samples).
    """
    half = text.settings.goal.tolerance * FINE + FINE // 2
    parts = text.joined(found)
    _, bases, _ = decoded(tokens, parts["token"], np.flatnonzero(np.diff(parts["document"], prepend=-1)))
    order = np.argsort(parts["token"], kind="stable")
    new = list(tokens)
    for rows in np.split(order, np.flatnonzero(np.diff(parts["token"][order])) + 1):
        t = int(parts["token"][rows[0]]) if rows.size else 0
        n = int(tokens.lengths[t]) - 1
        if t < fixed or n == 0 or not rows.size:
            continue
        samples = text.x[parts["start"][rows, None] + np.arange(n)] - bases[rows, None]
        middle = np.floor(samples.mean(axis=0) + 0.5).astype(np.int64)
        middle = np.clip(middle, samples.max(axis=0) - half + 1, samples.min(axis=0) + half)
        new[t] = new[t][0], np.append(middle, new[t][1][-1]).astype(np.int32)
    return Tokens.of(new)


def candidates(text: Text, tokens: Tokens, found: list[Found], most: int, rng: np.random.Generator) -> Tokens:
    """Decoded samples of two and three neighbors, the most frequent first.

    They are levels, or differences.
    """
    count: Counter[tuple[int, bytes]] = Counter()
    parts = text.joined(found)
    is_first = np.diff(parts["document"], prepend=-1).astype(bool)
    y, _, _ = decoded(tokens, parts["token"], np.flatnonzero(is_first))
    y32, starts, documents = y.astype(np.int32), parts["start"].tolist(), parts["document"].tolist()
    ends = (parts["start"] + tokens.lengths[parts["token"]]).tolist()
    before = y32[np.maximum(parts["start"] - 1, 0)]
    for width in (2, 3):
        for a in range(len(starts) - width + 1):
            if documents[a] == documents[a + width - 1]:
                taken = y32[starts[a] : ends[a + width - 1]]
                count[0, taken.tobytes()] += 1
                if not is_first[a]:
                    count[1, (taken - before[a]).tobytes()] += 1
    keys = list(count)
    order = np.argsort(-(np.array(list(count.values())) + rng.random(len(keys))))[:most]
    have = {(kind, symbols.tobytes()) for kind, symbols in tokens}
    new = [keys[i] for i in order.tolist() if keys[i] not in have]
    if not new:
        return Tokens(np.zeros(0), np.zeros(1, np.int64), np.zeros(0, np.int32))
    return Tokens.of([(kind, np.frombuffer(symbols, np.int32)) for kind, symbols in new])
