"""Fits whose shards are on hosts elsewhere: bit for bit the same as in one process, wherever documents are cut between hosts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from fit_cases import corpora
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference import fit as reference
from remote_fits import Cut, Losing, Place, Sizes, chaos, cut, endless, here, remotely, same, settings_of

from ubpe_numba.documents.corpus import as_corpus
from ubpe_numba.fitting import remote_loop
from ubpe_numba.fitting.engine import InProcess
from ubpe_numba.fitting.host import Host
from ubpe_numba.fitting.remote_loop import fit_remotely
from ubpe_numba.runtime.progress import Progress
from ubpe_numba.vocabulary.alphabet import Alphabet


class Case(NamedTuple):
    """A fit to compare."""

    docs: list[list[int]]
    size: int
    places: list[Place]
    rules: dict[str, Any]  # and other arguments of the reference
    weights: list[int] | None = None
    boundaries: list[list[int]] | None = None
    plain: bool = False
    n_shards: int = 1  # a host
    n_threads: int = 1
    sizes: Sizes = Sizes()
    near: int | None = 10**9


RULES = {"n_tokens": 9, "n_candidates": 1, "min_count": 1, "overshoot": False, "max_token_length": None}


@st.composite
def cases(draw: st.DrawFn) -> Case:
    docs, size = draw(corpora())
    rules = {
        "n_tokens": size + draw(st.integers(0, 40)),
        "n_candidates": draw(st.sampled_from([1, 1, 2, 5, 50, 500])),
        "min_count": draw(st.sampled_from([1, 2, 3])),
        "overshoot": draw(st.booleans()),
        "max_token_length": draw(st.sampled_from([None, None, 1, 2, 3])),
    }
    weights = draw(st.none() | st.lists(st.sampled_from([0, 1, 2, 2**33]), min_size=len(docs), max_size=len(docs)))
    boundaries = draw(st.sampled_from([None, [draw(st.lists(st.integers(0, len(d)), max_size=3)) for d in docs]]))
    places = []
    for _ in range(draw(st.sampled_from([0, 1, 1, 2, 2, 3, 5]))):
        d = draw(st.integers(0, len(docs)))
        if d == len(docs) or draw(st.integers(0, 3)) == 0:
            places.append(Place(d))
        else:
            near_boundary = [p + s for p in boundaries[d] for s in (-1, 0, 1) if 0 <= p + s <= len(docs[d])] if boundaries else []
            position = st.sampled_from(near_boundary) if near_boundary else st.nothing()
            places.append(Place(d, True, draw(position | st.integers(0, len(docs[d])))))
    sizes = Sizes(
        dense=draw(st.sampled_from([1024, 1024, 0])),
        positions=draw(st.sampled_from([1.6, 1.03])),
        batch=draw(st.sampled_from([0, 10, 10**6])),
        most=draw(st.sampled_from([4, 1 << 16])),
        moves=draw(st.booleans()),
        room=draw(st.sampled_from([64, 1, 2])),
        one_epoch=draw(st.booleans()),
    )
    pieces = draw(st.booleans()), draw(st.sampled_from([1, 1, 2, 3, 7])), draw(st.sampled_from([1, 2, 3]))
    return Case(docs, size, places, rules, weights, boundaries, *pieces, sizes, draw(st.sampled_from([None, 10**9])))


def cut_and_planned(case: Case) -> tuple[Cut, Any]:
    rules = dict(case.rules)
    plan = settings_of(rules.pop("n_tokens"), rules.pop("n_candidates"), case.n_threads, case.n_shards, **rules)
    return cut(case.docs, case.places, case.weights, case.boundaries, case.plain), plan


def whole(case: Case) -> Any:
    return as_corpus(case.docs, sample_weight=case.weights, boundaries=case.boundaries if case.docs else None)


@given(cases())
@example(Case([[0] * 41], 1, [Place(0, True, p) for p in (1, 2, 3, 20, 40)], RULES))
@example(Case([[0] * 41], 1, [Place(0, True, p) for p in (1, 2, 3, 20, 40)], RULES, n_shards=7, sizes=Sizes(dense=0)))
@example(Case([[0, 1] * 30, []], 2, [Place(0, True, 31), Place(1), Place(1, True), Place(2)], RULES, [2**33, 1], n_shards=3))
@example(Case([[0, 1, 2] * 9], 3, [Place(0, True, 9), Place(0, True, 9), Place(0, True, 10)], RULES, None, [[9]]))
@settings(max_examples=120)
def test_hosts_equal_one_process_and_the_reference(case: Case) -> None:
    """Whole documents, cut ones and empty parts of them, with weights and boundaries; runs, periods, emptied shards."""
    (parts, goes_on), plan = cut_and_planned(case)
    with pytest.MonkeyPatch.context() as patch:
        want = here(whole(case), case.size, plan)
        case.sizes.patch(patch)
        engine = InProcess([Host(part, case.n_threads) for part in parts])
        found, _ = remotely(engine, goes_on, case.size, plan, case.near)
    same(found, want)
    merges, _ = reference.fit(case.docs, case.size, **case.rules, weights=case.weights, boundaries=case.boundaries)
    assert found.pairs.tolist() == [[m.left, m.right] for m in merges]
    assert found.counts.tolist() == [m.count for m in merges]
    assert found.documents.tolist() == [m.documents for m in merges]


@given(cases(), st.integers(0, 2**32 - 1), st.sampled_from([0.01, 0.05, 0.2]))
@settings(max_examples=120)
def test_losses_at_random_change_nothing(case: Case, seed: int, rate: float) -> None:
    """Several hosts at once, before and after they did their part, and while others are made anew."""
    (parts, goes_on), plan = cut_and_planned(case)
    with pytest.MonkeyPatch.context() as patch:
        want = here(whole(case), case.size, plan)
        case.sizes.patch(patch)
        endless(patch)
        fate = chaos(np.random.default_rng(seed), rate)
        engine = Losing(parts, lambda n, method, host: None if n < len(parts) else fate(n, method, host), case.n_threads)
        found, shards = remotely(engine, goes_on, case.size, plan, case.near)
    same(found, want)
    assert shards.n_losses == engine.n_renewed
