"""Exchange of neighbours: the loss that leaving out a token costs, and fewer ids for documents that were not seen."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from pair_tables import Table, documents, tables
from reference import decode as reference_decode
from reference.refine import worth

from ubpe_numba import Ragged, Vocabulary
from ubpe_numba.fitting import neighbours
from ubpe_numba.runtime.messages import Progress


@given(st.data(), tables())
@settings(max_examples=150)
def test_worth_against_the_reference(data: st.DataObject, table: Table) -> None:
    size, pairs, _ = table
    docs = data.draw(documents(size, 25))
    weights = data.draw(st.lists(st.integers(0, 1 << 40), min_size=len(docs), max_size=len(docs)))
    flat = reference_decode.expand(pairs, size)
    tokens = {s: i for i, s in enumerate(flat)}
    want: Counter[int] = Counter()
    lost: Counter[int] = Counter()
    for doc, weight in zip(docs, weights, strict=True):
        for token, (count, saved) in worth(doc, tokens).items():
            want[token] += count * weight
            lost[token] += saved * weight
    v = Vocabulary.from_merges(size, pairs)
    counts, losses = neighbours.worth_of(
        Ragged.from_lists(docs), np.array(weights, np.int64), Ragged(v.arena, v.offsets), size, 1
    )
    assert counts.tolist() == [want[size + i] for i in range(len(pairs))]
    assert losses.tolist() == [lost[size + i] for i in range(len(pairs))]


@given(st.lists(st.tuples(st.lists(st.integers(0, 2), max_size=8), st.integers(0, 3)), max_size=6))
def test_joined_neighbours_by_count(docs: list[tuple[list[int], int]]) -> None:
    tokens = Ragged.from_lists([[0], [1], [0, 1]])
    weights = np.array([weight for _, weight in docs], np.int64)
    encoded = Ragged.from_lists([[9], *(doc for doc, _ in docs)])[1:]
    found = [tuple(token.tolist()) for token in neighbours.joined(encoded, weights, tokens, 100)]
    assert neighbours.joined(encoded, weights, tokens, 100, 1) == []
    counts: Counter[tuple[int, int]] = Counter()
    for doc, weight in docs:
        for pair in zip(doc, doc[1:], strict=False):
            counts[pair] += weight
    twice = sorted((-n, pair) for pair, n in counts.items() if n >= 2)
    sequences = [tuple(tokens[a].tolist() + tokens[b].tolist()) for _, (a, b) in twice]
    assert found == list(dict.fromkeys(s for s in sequences if s != (0, 1)))


def test_ties_keep_the_earlier_learned() -> None:
    tokens = Ragged.from_lists([[0], [1], [2], [3], [0, 1], [2, 3]])
    docs = Ragged.from_lists([[0, 1, 2, 3]] * 3)
    assert neighbours.worthiest(docs, np.ones(3, np.int64), tokens, 4, 1, 1, Progress(False)).tolist() == [0]
