"""The lower bound: its kernels against the plain reference, and what it does with time, threads, memory and weights."""

import itertools
import logging
import types
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from reference import units as reference
from tables import each, refuses

from ubpe_numba import Ragged
from ubpe_numba.bounds import fewest_tokens as bounds
from ubpe_numba.bounds.fewest_tokens import Bound, Places, bound_of_units, distinct_segments, n_edges_of
from ubpe_numba.bounds.kernels import symbol_prices
from ubpe_numba.fitting.substrings import Substrings
from ubpe_numba.runtime.messages import Progress

QUIET = Progress(False)
documents = st.lists(st.lists(st.integers(0, 2), max_size=9), min_size=1, max_size=5)


def bound_of(docs: list[Any], size: int, n: int, **options: Any) -> Bound:
    """The bound with fewer arguments."""
    weights = options.get("weights")
    units, total = distinct_segments(Ragged.from_lists(docs), None if weights is None else np.array(weights))
    names = "longest", "min_count", "seconds", "memory_limit", "n_threads", "progress"
    defaults = {
        "longest": None,
        "min_count": 1,
        "seconds": None,
        "memory_limit": None,
        "n_threads": 1,
        "progress": QUIET,
    }
    return bound_of_units(units, total, size, n, *({**defaults, **options}[name] for name in names))


def text(n: int, seed: int = 1) -> list[np.ndarray]:
    """Documents of some structure: a walk that repeats itself."""
    rng = np.random.default_rng(seed)
    words = [rng.integers(0, 6, rng.integers(2, 9)) for _ in range(60)]
    return [np.concatenate([words[min(59, rng.zipf(1.4) - 1)] for _ in range(40)]) for _ in range(n)]


@given(documents, st.integers(1, 5), st.integers(1, 3), st.integers(0, 6), st.data())
def test_the_certificate_equals_the_reference(
    docs: list[list[int]], longest: int, least: int, n: int, data: st.DataObject
) -> None:
    units, weights = distinct_segments(Ragged.from_lists(docs), None)
    plain = list(zip(units.to_lists(), weights.tolist(), strict=True))
    found = bounds._Ascent(
        Substrings(units.values.astype(np.int32), units.offsets, weights, 3, longest, least, 2**62), n, 1
    )
    prices = [
        data.draw(st.lists(st.integers(-20, 8), min_size=len(unit), max_size=len(unit))) for unit, _ in plain
    ]
    total, sums = reference.bound_of_prices(plain, prices, 8, n, longest, least)
    found.best[:] = [price / 8 for unit in prices for price in (*unit, 0)]
    assert found.certified() == max(-(-total // 8), sum(weight for _, weight in plain))
    before = np.empty(found.best.size)
    value = symbol_prices.sum_up(found.nodes, weights.astype(float), found.best, before, 0.0)
    assert value == sum(w * sum(p) for (_, w), p in zip(plain, prices, strict=True)) / 8
    exact, smooth = np.empty(len(sums)), np.empty(len(sums))
    ends, at, length, counts, _ = found.everything
    symbol_prices.sum_excess(ends, length, at, found.of_node, before, 0.25, 0, len(sums), exact, smooth)
    assert (
        sorted(exact * 8) == sorted(sums)
        and (smooth <= exact).all()
        and (smooth >= exact - 0.125 * counts).all()
    )


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(1, 9)), min_size=1, max_size=12),
    st.integers(1, 12),
    st.sampled_from([1e-6, 0.1, 5.0]),
)
def test_shares_are_the_best_mixture(pairs: list[tuple[int, int]], n: int, scale: float) -> None:
    smooth, counts = np.array([p for p, _ in pairs], float), np.array([c for _, c in pairs], float)
    got, found = np.empty(smooth.size), np.empty(2)
    lam = symbol_prices.share_out(smooth + 1, smooth, counts, scale, float(n), 0.0, got, found)
    assert ((got >= 0) & (got <= 1)).all() and got.sum() <= n * (1 + 1e-6)
    assert got.sum() >= min(n, (smooth > 0).sum()) * (1 - 1e-6) or lam == 0
    assert found[1] >= np.sort(smooth + 1)[::-1][:n].sum() - 1e-9
    other = np.zeros(smooth.size)
    other[np.argsort(-smooth)[:n]] = 1
    assert found[0] >= other @ smooth - scale * (counts @ (other * other)) / 2 - 1e-6


def test_ends_of_the_range() -> None:
    docs = [[0, 1, 0, 1, 1], [1, 1, 0]]
    for seconds in (0, None):
        assert (
            bound_of([[], []], 2, 3, seconds=seconds)[:1] == bound_of([], 2, 3, seconds=seconds)[:1] == (0,)
        )
    assert bound_of(docs, 2, 0).tokens == 8  # symbols
    assert bound_of(docs, 2, 5, longest=1).tokens == 8
    assert bound_of(docs, 2, 1000).tokens == bound_of(docs, 2, 1000, seconds=0).tokens == 2  # all are tokens
    assert bound_of(docs, 2, 1000, longest=2).tokens == 5 and bound_of(docs, 2, 5, min_count=9).tokens == 8


def test_the_same_for_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "_PARTS_FROM", 100)
    docs = text(30)
    assert len({bound_of(docs, 6, 40, longest=8, n_threads=n) for n in (1, 2, 3, 8)}) == 1
    monkeypatch.setattr(bounds, "_PARTS_FROM", 10**9)  # sums in another order
    whole, parts = (
        bound_of(docs, 6, 40, longest=8).tokens,
        bound_of(docs, 6, 40, longest=8, n_threads=2).tokens,
    )
    assert abs(whole - parts) <= 0.002 * whole


def test_a_bound_ends_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that is a second later at every look."""
    docs = text(60)
    whole = bound_of(docs, 6, 40, longest=8)
    looks = itertools.count()
    monkeypatch.setattr(bounds, "time", types.SimpleNamespace(monotonic=lambda: next(looks)))
    at_once, later = (bound_of(docs, 6, 40, longest=8, seconds=seconds) for seconds in (0, 30))
    assert (
        (at_once.rounds, at_once.converged) == (0, False) and 0 < later.rounds <= 30 and not later.converged
    )
    assert at_once.tokens < later.tokens <= whole.tokens * 1.001


def test_a_bound_looks_at_shorter_tokens_where_memory_is_limited(caplog: pytest.LogCaptureFixture) -> None:
    docs = text(3)
    lengths = np.array([doc.size for doc in docs])
    limit = bounds.NODE * int((lengths + 1).sum()) + (bounds.EDGE + bounds.CANDIDATE) * n_edges_of(lengths, 5)
    refuses(
        MemoryError,
        r"memory_limit: .* 9 symbols .*limit is .* MB",
        bound_of,
        docs,
        6,
        9,
        longest=9,
        memory_limit=limit,
    )
    with caplog.at_level(logging.INFO, "ubpe_numba"):
        found = bound_of(docs, 6, 9, memory_limit=limit)
    assert (
        found.longest == 5 and "up to 5 symbols" in caplog.text and found == bound_of(docs, 6, 9, longest=5)
    )
    assert bound_of(docs, 6, 9, longest=5, memory_limit=limit).longest == 5
    rare = bound_of(docs, 6, 9, min_count=30, memory_limit=limit)  # of which there are none of 6 symbols
    assert rare.longest is None or rare.longest >= 5


def test_many_candidates_are_chosen_from(monkeypatch: pytest.MonkeyPatch) -> None:
    docs = text(30)
    whole = bound_of(docs, 6, 40, longest=8)
    monkeypatch.setattr(bounds, "_ALL", 100)
    chosen: list[int] = []
    take = Places.take

    def noted(self: Any, mask: np.ndarray) -> Any:
        chosen.append(int(mask.sum()) - mask.size)
        return take(self, mask)

    monkeypatch.setattr(Places, "take", noted)
    found = [bound_of(docs, 6, 40, longest=8, n_threads=n) for n in (1, 2)]
    assert (
        found[0] == found[1]
        and min(chosen) < 0
        and abs(found[0].tokens - whole.tokens) <= 0.01 * whole.tokens
    )
    monkeypatch.setattr(bounds, "_ALL", 1)
    for docs_, n in (([[0, 1] * 4, [1, 1, 0]], 2), ([[0] * 9], 1), ([[0, 1]], 5)):
        units, weights = distinct_segments(Ragged.from_lists(docs_), None)
        plain = list(zip(units.to_lists(), weights.tolist(), strict=True))
        assert bound_of(docs_, 2, n, longest=4).tokens <= reference.fewest_of_all(plain, n, 4, 1)


@each("begin", [0, 1, 2])
def test_a_candidate_covers_what_its_own_edges_do(begin: int) -> None:
    ends, length, at = np.array([2, 3, 5]), np.array([2, 2, 3], np.int32), np.array([0, 2, 1, 0, 1], np.int32)
    before, given = np.array([0, 0.75, 1.5, 2.25, 3.0]), np.array([0.5, 0.25, 1.0])
    want = np.zeros(5)
    for t in range(begin, 3):
        for v in at[ends[t - 1] if t else 0 : ends[t]].tolist():
            over = before[v + length[t]] - before[v] - 1
            want[v] += given[t] * min(1, over)
            want[v + length[t]] -= given[t] * min(1, over)
    covered = np.zeros(5)
    symbol_prices.cover(ends, length, at, before, 1.0, given, begin, 3, covered)
    assert covered.tolist() == want.tolist() and covered.any()
