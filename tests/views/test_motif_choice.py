"""Which motifs are shown: those that say most, and no variations of one."""

from __future__ import annotations

import numpy as np
import pytest

from ubpe_numba.views.motifs import choose_diverse, choose_motifs, likeness, ranges_of, says_most
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


def test_likeness_is_one_for_the_same_shape_wherever_it_stands() -> None:
    assert likeness(BEAT, BEAT) == pytest.approx(1)
    assert likeness(BEAT, BEAT + 4) == pytest.approx(1)
    assert likeness(BEAT, np.concatenate([np.zeros(6), BEAT])) == pytest.approx(1)
    assert likeness(np.zeros(3), np.ones(9)) == 1


def test_likeness_falls_with_scale_and_is_none_for_another_way() -> None:
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
    assert choose_motifs(v, symbols, np.array([9, 9, 5, 9, 7]), 4).tolist() == [4, 2]
    assert choose_motifs(v, symbols, np.array([9, 9, 5, 9, 7]), 4, least=6).tolist() == [4]
    assert choose_motifs(v, symbols, np.array([9, 9, 5, 9, 7]), 1).tolist() == [4]
