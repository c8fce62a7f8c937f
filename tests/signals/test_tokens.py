"""The kernels of signals against enumeration: paths, costs to go, recentring, what candidates save and tokens lose."""

from typing import Any

import numpy as np
from hypothesis import given, settings, strategies as st
from reference import tolerance as reference
from tables import each

from ubpe_numba.runtime.arrays import offsets_of
from ubpe_numba.signals.kernels import paths
from ubpe_numba.signals.learn import Settings, Text, recentred
from ubpe_numba.signals.tokens import UNIT, Goal, Tokens, cheapest, decoded

LEVELS = 12


@st.composite
def cases(draw: Any) -> tuple[int, list[np.ndarray], Tokens, np.ndarray]:
    """A tolerance, short documents, tokens that can write all of them, and their costs."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    tolerance, fine, on_grid = int(rng.integers(0, 4)), bool(rng.integers(0, 2)), bool(rng.integers(0, 2))
    step = int(rng.choice([d for d in range(1, 2 * tolerance + 2) if (2 * tolerance + 1) % d == 0]))
    walks = [np.cumsum(rng.integers(-2, 3, rng.integers(0, 8))) + 6 for _ in range(3)]
    docs = [
        np.clip(64 * walk + fine * rng.integers(-32, 32, walk.size), 0, 64 * (LEVELS - 1)).astype(np.int32)
        for walk in walks
    ]
    some: list[Any] = [
        (0, np.array([64 * c], np.int32)) for c in range(tolerance, LEVELS + tolerance, 2 * tolerance + 1)
    ]
    for kind in rng.integers(0, 2, rng.integers(0, 20)).tolist():
        symbols = 64 * (np.cumsum(rng.integers(-2, 3, rng.integers(1, 5))) + (0 if kind else 6))
        symbols[:-1] += fine * rng.integers(-30, 30, symbols.size - 1)
        if on_grid:  # one or few bases are within the tolerance of a sample
            symbols[-1] = 64 * (
                (symbols[-1] // 64 - tolerance * (not kind)) // step * step + tolerance * (not kind)
            )
        some.append((kind, symbols.astype(np.int32)))
    if draw(st.booleans()):  # long runs, which are compared in blocks
        docs.append(np.repeat(np.int32(300), 40))
        some += [(1, np.zeros(n, np.int32)) for n in (16, 19, 37)]
    tokens = Tokens.of(some)
    return tolerance, docs, tokens, rng.integers(1, 9, len(tokens)) * UNIT


def plain(tokens: Tokens) -> list[reference.Token]:
    return [(kind, symbols.tolist()) for kind, symbols in tokens]


def flat(docs: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    return np.concatenate(docs), offsets_of([doc.size for doc in docs])


def least_from(
    doc: np.ndarray, tokens: Tokens, cost: np.ndarray, goal: Goal, before: int | None = None
) -> int:
    return reference.least(doc.tolist(), plain(tokens), cost.tolist(), goal.tolerance, goal.price, before)


@given(cases())
def test_paths_and_costs_to_go_are_those_of_enumeration(case: Any) -> None:
    tolerance, docs, tokens, cost = case
    goal = Goal.of(tolerance)
    x, offsets = flat(docs)
    found = cheapest(tokens, cost, goal, x, offsets)
    y, _, wrong = decoded(
        tokens, found.parts["token"], np.flatnonzero(np.diff(found.parts["document"], prepend=-1))
    )
    assert (
        wrong == -1
        and y.size == x.size
        and all(map(reference.fits, x.tolist(), y.tolist(), [tolerance] * x.size))
    )
    to_go = np.empty_like(found.costs)
    tables, lists = tokens.tables(cost)
    room = np.empty(to_go.shape[0], np.int64)
    paths.costs_to_go(x, offsets, tables, tolerance, goal.price, to_go, room, lists)
    for k, doc in enumerate(docs):
        least = least_from(doc, tokens, cost, goal)
        assert found.costs[offsets[k + 1] + k].min() == least == to_go[offsets[k] + k].min()
        mine = found.parts[found.parts["document"] == k]
        error = (doc - y[offsets[k] : offsets[k + 1]]).astype(np.int64)
        assert cost[mine["token"]].sum() + goal.price * (error**2).sum() == least
        for i in range(1, min(doc.size, 8)):
            for e in range(-tolerance, tolerance + 1):
                before = 64 * ((int(doc[i - 1]) + 32) // 64 + e)
                if found.costs[offsets[k] + k + i, e + tolerance] < paths.INF:
                    assert to_go[offsets[k] + k + i, e + tolerance] == least_from(
                        doc[i:], tokens, cost, goal, before
                    )


@each("tolerance", [0, 1, 3])
def test_tokens_of_hundreds_of_samples_are_compared_to_their_ends(tolerance: int) -> None:
    """A sample and one token is the cheapest path, and costs the squares of all errors; with one sample far off it is none."""
    goal, rng = Goal.of(tolerance), np.random.default_rng(tolerance)
    for n in (31, 32, 33, 128, 129, 400):
        symbols, errors = (
            (64 * rng.integers(0, 7, n)).astype(np.int32),
            rng.integers(-20, 20, n).astype(np.int32),
        )
        tokens = Tokens.of(
            [
                *((0, np.array([64 * c], np.int32)) for c in range(tolerance, LEVELS, 2 * tolerance + 1)),
                (1, symbols),
            ]
        )
        doc = 64 * tolerance + np.append(np.int32(0), symbols + errors)
        for last in (0, 64 * tolerance + 80):
            doc[n] += last
            x, offsets = flat([doc, np.full(40, 64 * tolerance, np.int32)])
            found = cheapest(tokens, np.full(len(tokens), UNIT), goal, x, offsets)
            assert (len(tokens) - 1 in found.parts["token"]) == (not last)
            assert (
                last
                or found.costs[n + 1].min() == 2 * UNIT + goal.price * (errors.astype(np.int64) ** 2).sum()
            )


def text_of(case: Any, n_threads: int = 1) -> Text:
    x, offsets = flat(case[1])
    return Text(x, offsets, Settings(9, LEVELS, Goal.of(case[0]), "both", False, n_threads))


@given(cases())
def test_recentring_costs_no_tokens_and_less_error(case: Any) -> None:
    tolerance, _, tokens, _ = case
    text, ones = text_of(case), np.full(len(tokens), UNIT)
    found = text.paths(tokens, ones)
    n_singles = -(-LEVELS // (2 * tolerance + 1))
    moved = recentred(tokens, text, found, n_singles)
    again = text.paths(moved, np.full(len(moved), UNIT))
    rows = text.offsets[1:] + np.arange(text.offsets.size - 1)
    before, after = (
        sum(int(part.costs[rows].min(axis=1).sum()) for part in parts) for parts in (found, again)
    )
    assert after <= before and sum(part.parts.size for part in again) <= sum(
        part.parts.size for part in found
    )
    assert [s[-1] for _, s in moved] == [s[-1] for _, s in tokens] or len(moved) < len(tokens)


@given(cases(), st.integers(0, 2**32))
@settings(max_examples=30)
def test_what_a_candidate_saves_at_one_place_is_exact_and_a_loss_is_a_bound(case: Any, seed: int) -> None:
    tolerance, _, tokens, _ = case
    text, ones = text_of(case, 2), np.full(len(tokens), UNIT)
    found = text.paths(tokens, ones)
    rng = np.random.default_rng(seed)
    new = [
        (int(k), (64 * (np.cumsum(rng.integers(-2, 3, 3)) + (0 if k else 6))).astype(np.int32))
        for k in (0, 1, 0, 1)
    ]
    have = {(kind, symbols.tobytes()) for kind, symbols in tokens}
    candidates = Tokens.of(
        [(kind, symbols) for kind, symbols in new if (kind, symbols.tobytes()) not in have]
        or [(1, np.zeros(50, np.int32))]
    )

    def total(of: Tokens) -> int:
        x, offsets = text.x, text.offsets
        costs = cheapest(of, np.full(len(of), UNIT), text.settings.goal, x, offsets).costs
        return sum(int(costs[offsets[k + 1] + k].min()) for k in range(offsets.size - 1))

    saved, count = text.worth(tokens, ones, found, candidates)
    for c in np.flatnonzero(count == 1).tolist():
        assert total(tokens) - total(Tokens.of([*tokens, candidates[c]])) >= saved[c].sum()
    if not tokens.kinds.any():  # with differences the way on may need the token again
        lost, _ = text.worth(tokens, ones, found, None)
        for t in range(-(-LEVELS // (2 * tolerance + 1)), len(tokens)):
            without = Tokens.of([token for i, token in enumerate(tokens) if i != t])
            error = text.settings.goal.price * (64 * tolerance + 32) ** 2 * text.x.size
            assert total(without) - total(tokens) <= lost[t].sum() + error
