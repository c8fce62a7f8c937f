"""Rounds of many candidates against the plain reference, and how many pairs they look at."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fit_cases import merges
from reference import fit as reference
from tables import each

from ubpe_numba import FitRules, UBPEClassic
from ubpe_numba.fitting import fit
from ubpe_numba.fitting.kernels import choose, pair_table

BIG = 300  # candidates, of which so many are looked at that pairs are listed


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The arrays of the driver of each fit, as it leaves them."""
    found: list[Any] = []
    run = fit.Loop.run

    def noted(self: fit.Loop, progress: Any) -> Any:
        made = run(self, progress)
        found.append(self.driver)
        return made

    monkeypatch.setattr(fit.Loop, "run", noted)
    return found


@each(
    "nature, longest, ties",
    [
        ("random", None, "smallest"), ("random", 3, "fewest_documents"), ("pairs", None, "first_seen"), ("pairs", 3, "smallest"),
        ("triples", None, "fewest_documents"), ("triples", 3, "first_seen"), ("steps", None, "smallest"),
        ("steps", 3, "fewest_documents"),
    ],
)  # fmt: skip
def test_many_candidates_equal_the_reference(
    nature: str, longest: int | None, ties: str, driver: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of long pairs too, which rule others out and are never merged; of equal counts behind the last candidate."""
    rng = np.random.default_rng(7)
    values = {
        "random": rng.integers(0, 200, 9000),
        "pairs": (2 * rng.integers(0, 90, (3000, 1)) + [0, 1]).ravel(),
        "triples": (3 * rng.integers(0, 150, (2500, 1)) + [0, 1, 2]).ravel(),
        "steps": (rng.integers(0, 300, (1500, 1)) + np.arange(4)).ravel() % 300,
    }[nature]
    docs = [part.tolist() for part in np.split(values, np.sort(rng.integers(0, values.size, 30)))]
    size = int(values.max()) + 1
    want, _ = reference.fit(docs, size, size + 400, BIG, ties, max_token_length=longest)
    for n_shards in (1, 3):
        monkeypatch.setattr(fit, "plan", lambda n_cells, n_threads, shards=None, n=n_shards: (1, n))
        tok = UBPEClassic(size + 400, BIG, alphabet=size, rules=FitRules(ties=ties, max_token_length=longest), n_threads=1)
        tok.fit(docs, progress=False)
        assert merges(tok) == [tuple(m) for m in want]
        assert (driver[-1].conflicts["first_left"] > 0).any()  # they were listed


@pytest.mark.parametrize("n", [1000, 8000])
def test_a_round_looks_at_few_pairs_for_each_that_it_keeps(n: int, driver: list[Any]) -> None:
    """All candidates are kept: each was compared with all before it, n * n / 2 looks."""
    docs = np.tile(np.arange(2 * n).reshape(n, 2), (3, 1))
    tok = UBPEClassic(3 * n, n, alphabet=2 * n, n_threads=1).fit(list(docs), progress=False)
    assert tok._model.vocabulary.merges is not None
    assert tok._model.vocabulary.merges.tolist() == docs[:n].tolist()
    assert driver[0].state["round"][0] == 1
    assert driver[0].state["visited"][0] < 40 * n


@pytest.mark.parametrize("n_candidates", [1, 50, pair_table.FEW])
def test_rounds_of_few_candidates_have_no_memory_for_it(n_candidates: int, driver: list[Any]) -> None:
    UBPEClassic(20, n_candidates, alphabet=8).fit([[0, 1, 2, 3] * 40], progress=False)
    assert driver[0].listed.size == driver[0].conflicts.size == 0


def test_the_first_place_of_the_first_table_is_listed_too() -> None:
    entries = np.full((1, 8), -1)
    entries[0, :2] = 3 << 32 | 4, 7
    for left, right, wanted in [(1, 3, ("left", 4)), (4, 1, ("right", 3))]:
        tokens, listed = np.ones(6, pair_table.CONFLICT).view(np.recarray), np.ones(4, pair_table.LISTED).view(np.recarray)
        choose.list_pairs.py_func(entries, tokens, listed, 6, 5)
        assert choose.keep.py_func(entries, tokens, listed, left, right) == 1
        side, token = wanted
        assert tokens[side][token] == 7 and tokens.left.sum() + tokens.right.sum() == 7
