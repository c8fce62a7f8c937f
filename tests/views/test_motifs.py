"""Which motifs are shown: those that say most, and no variations of one; their contexts are of their own document."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from ubpe_numba import BPE
from ubpe_numba.views.motifs import choose_diverse, evenly, likeness, say_most

BEAT = np.array([0.0, 1, 7, 3, 0])


def test_likeness_is_one_for_the_same_shape_and_falls_with_scale() -> None:
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
    v = BPE.from_merges([[0, 1], [0, 0], [1, 0]], alphabet=[0, 4]).vocabulary  # 3 is level
    assert say_most(v, np.array([9, 9, 5, 9, 1]), 4).tolist() == [2]
    for options, chosen in (({"n": 4}, [4, 2]), ({"n": 4, "least": 6}, [4]), ({"n": 1}, [4])):
        assert say_most(v, np.array([9, 9, 5, 9, 7]), **options).tolist() == chosen
    assert say_most(v, np.zeros(5, int), 4).tolist() == [2, 4]  # not known
    text = BPE.from_merges([[0, 1], [2, 0], [0, 0]], alphabet="ab").vocabulary
    assert say_most(text, np.array([0, 0, 9, 8, 2]), 4).tolist() == [3, 4]  # "ab" is a part of "aba"


@given(st.integers(0, 300), st.integers(2, 50))
def test_a_choice_at_even_distances_has_both_ends(n: int, most: int) -> None:
    found = evenly(n, most)
    assert found.size == min(n, most) and np.unique(found).size == found.size
    if n > most:
        assert found[0] == 0 and found[-1] == n - 1 and np.ptp(np.diff(found)) <= 1
