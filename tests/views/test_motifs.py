"""Which motifs are shown: those that say most, and no variations of one; their contexts are of their own document."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubpe_numba.views.motifs import choose_diverse, choose_motifs, contexts_of, evenly, likeness, ranges_of, says_most
from ubpe_numba.vocabulary.vocabulary import Vocabulary

BEAT = np.array([0.0, 1, 7, 3, 0])


def test_what_says_most_is_range_times_saved_tokens() -> None:
    rng = np.random.default_rng(0)
    ranges, counts, lengths = rng.uniform(0, 9, 50), rng.integers(0, 5, 50), rng.integers(1, 9, 50)
    for least in (1, 2, 4):
        expected = [r * c * (n - 1) if c >= least else 0 for r, c, n in zip(ranges, counts, lengths, strict=True)]
        assert says_most(ranges, counts, lengths, least) == pytest.approx(expected)


def test_ranges_are_those_of_every_token() -> None:
    v = Vocabulary.from_merges(3, [[0, 1], [3, 2], [4, 4]])
    symbols = np.array([5.0, -1, 9])[v.arena]
    assert ranges_of(v, symbols).tolist() == [np.ptp(symbols[a:b]) for a, b in zip(v.offsets, v.offsets[1:], strict=False)]


def test_likeness_is_one_for_the_same_shape_wherever_it_is_and_falls_with_scale() -> None:
    for other in (BEAT, BEAT + 4, np.concatenate([np.zeros(6), BEAT])):
        assert likeness(BEAT, other) == pytest.approx(1)
    assert likeness(np.zeros(3), np.ones(9)) == 1
    scales = [likeness(BEAT, BEAT * scale) for scale in (1, 0.8, 0.5, 0.2)]
    assert scales == sorted(scales, reverse=True) and scales[-1] < 0.5
    assert likeness(np.array([0.0, 1, 2, 3]), np.array([3.0, 2, 1, 0])) == 0
    assert likeness(BEAT, BEAT[::-1] - 2) == pytest.approx(likeness(BEAT[::-1] - 2, BEAT))


def test_variations_of_one_shape_are_passed_over() -> None:
    variations = [np.concatenate([np.zeros(k), BEAT]) for k in range(6)]
    wave, step = np.array([0.0, 1, 2, 2, 1, 0]), np.array([0.0, 0, 3, 3])
    shapes, scores = [*variations, wave, step], np.array([9.0, 8, 8, 8, 8, 8, 2, 1])
    assert choose_diverse(shapes, scores, 3) == [0, 6, 7]
    assert choose_diverse(shapes, scores, 8) == [0, 6, 7]  # the others are like the first one
    assert choose_diverse([], np.zeros(0), 3) == []


def test_what_says_nothing_is_not_chosen() -> None:
    v = Vocabulary.from_merges(2, [[0, 1], [0, 0], [1, 0]])  # 3 is level
    symbols = np.array([0.0, 4])[v.arena]
    for diverse in (True, False):
        assert choose_motifs(v, symbols, np.array([9, 9, 5, 9, 1]), 4, diverse).tolist() == [2]
    for options, chosen in (({"n": 4}, [4, 2]), ({"n": 4, "least": 6}, [4]), ({"n": 1}, [4])):
        assert choose_motifs(v, symbols, np.array([9, 9, 5, 9, 7]), **options).tolist() == chosen


@given(st.lists(st.lists(st.integers(-9, 9), max_size=7), min_size=1, max_size=5), st.integers(1, 3), st.integers(0, 6))
def test_contexts_are_those_of_plain_slices(docs: list[list[int]], length: int, side: int) -> None:
    offsets = np.cumsum([0, *map(len, docs)])
    values = np.array([v for doc in docs for v in doc], np.float64)
    places = [(d, s) for d, doc in enumerate(docs) for s in range(len(doc) - length + 1)]
    documents, starts = np.array(places, np.int64).reshape(-1, 2).T
    found = contexts_of(values, offsets, documents, starts, length, side)
    assert found.shape == (len(places), 2 * side + length)
    for row, (d, s) in zip(found, places, strict=True):
        expected = [docs[d][i] if 0 <= i < len(docs[d]) else np.nan for i in range(s - side, s + length + side)]
        np.testing.assert_array_equal(row, expected)


@given(st.integers(0, 300), st.integers(2, 50))
def test_a_choice_at_even_distances_has_both_ends(n: int, most: int) -> None:
    found = evenly(n, most)
    assert found.size == min(n, most) and np.unique(found).size == found.size
    if n > most:
        assert found[0] == 0 and found[-1] == n - 1 and np.ptp(np.diff(found)) <= 1
