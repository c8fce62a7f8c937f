"""Counts and lists of all hosts together, pairs across their borders among them, against counts of the whole documents."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import fit as reference
from remote_fits import InProcess, Place, cut

from ubpe_numba.distributed.host import Host
from ubpe_numba.distributed.messages import Setup
from ubpe_numba.distributed.remote_text import RemoteText
from ubpe_numba.vocabulary.alphabet import Alphabet


def all_shards(
    docs: list[list[int]], places: list[Place], weights: list[int] | None, n_shards: int
) -> tuple[RemoteText, InProcess]:
    """The shards of hosts of documents that are cut, symbols 0 to 3."""
    parts, goes_on = cut(docs, places, weights)
    engine = InProcess([Host(part, 1) for part in parts])
    setup = Setup(Alphabet.dense(4), weights is not None, 4, n_shards, 10**9)
    return RemoteText(engine, engine.ask("part"), setup, goes_on), engine


@st.composite
def cases(draw: st.DrawFn) -> tuple[Any, ...]:
    docs = draw(st.lists(st.lists(st.integers(0, 3), max_size=20) | st.just([1] * 30), min_size=1, max_size=4))
    weights = draw(st.none() | st.lists(st.sampled_from([1, 2, 3, 2**33, 2**40]), min_size=len(docs), max_size=len(docs)))
    places = []
    for _ in range(draw(st.integers(0, 3))):
        d = draw(st.integers(0, len(docs) - 1))
        places.append(Place(d, draw(st.booleans()), draw(st.integers(0, len(docs[d])))))
    return docs, places, weights, draw(st.sampled_from([1, 2, 3, 5]))


@given(cases(), st.integers(1, 9), st.integers(1, 3))
@settings(max_examples=200)
def test_counts_of_all_hosts(case: tuple[Any, ...], threshold: int, floor: int) -> None:
    docs, _, weights, _ = case
    want = {a << 32 | b: n for (a, b), n in reference.count_pairs(docs, weights).items()}
    counts = np.zeros(4, np.int64)
    for doc, weight in zip(docs, weights or [1] * len(docs), strict=True):
        counts += weight * np.bincount(np.array(doc, np.int64), minlength=4)
    shards, engine = all_shards(*case)
    assert shards.symbol_counts.tolist() == counts.tolist()
    dense = shards.count_dense(4)
    assert dense.dtype == np.int64
    assert {int(p // 4 << 32 | p % 4): int(dense[p]) for p in np.flatnonzero(dense)} == want
    assert {type(a) for a in engine.ask("count_dense", 4)} == {np.ndarray}
    shards.list_dense(4, np.flatnonzero(dense), np.arange(np.count_nonzero(dense), dtype=np.int32))

    n = shards.sort_pairs(4)
    assert n <= sum(reference.count_pairs(docs).values())
    pairs, bounds, below = shards.count_sorted(threshold, floor)
    found = dict(zip(pairs.tolist(), bounds.tolist(), strict=True))
    assert list(found) == sorted(found, key=lambda p: p >> 32)
    assert all(found[p] >= count for p, count in want.items() if p in found)
    assert all(p in found for p, count in want.items() if count >= threshold)
    assert below or not any(floor <= count < threshold for count in want.values())
    order = np.array(sorted(want), np.int64)
    assert shards.list_sorted(order).tolist() == [want[p] for p in order.tolist()]
    shards.give_slots(np.where(order >> 32 == 1, np.arange(order.size), -1).astype(np.int32))


def test_the_drawn_example() -> None:
    """(1, 2) twice on host 0, not on host 1, and once across their border."""
    docs, places = [[1, 2], [1, 2, 1, 2, 3]], [Place(1, True, 3)]
    shards, engine = all_shards(docs, places, None, 1)
    assert [a[1 * 4 + 2] for a in engine.ask("count_dense", 4)] == [2, 0]
    assert shards.count_dense(4)[1 * 4 + 2] == 3


@pytest.mark.parametrize("n_hosts", [1, 2, 3])
@pytest.mark.parametrize("n_shards", [1, 2, 3])
def test_pairs_across_borders_have_room_beside_the_lists(n_hosts: int, n_shards: int) -> None:
    """Lists of hosts elsewhere are as long as they must be: nothing in them may be written over. Bounds are above the counts."""
    doc = [0, 1, 2, 3] * 6
    places = [Place(0, True, len(doc) * h // n_hosts + h % 2) for h in range(1, n_hosts)]
    shards, _ = all_shards([doc], places, None, n_shards)
    shards.sort_pairs(4)
    pairs, bounds, _ = shards.count_sorted(1, 1)
    want = {a << 32 | b: n for (a, b), n in reference.count_pairs([doc]).items()}
    assert dict(zip(pairs.tolist(), bounds.tolist(), strict=True)) == want
