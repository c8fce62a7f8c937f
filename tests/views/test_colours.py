"""Hues: told apart by people of every sight, seen on both papers; and the rule by which tokens take them."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from tables import each, refuses

from ubpe_numba.views.colours import DARK, GREY, HUES, LIGHT, N_HUES, colours_of, hue_of, hues_of, theme_of

#: Machado, Oliveira and Fernandes (2009), severity 1.0, on linear RGB; and normal sight.
_SIGHTS = {
    "normal": np.eye(3),
    "protan": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritan": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
#: Four times what is just noticeable (0.02 in OKLab); lines of two points need more than areas do.
_APART = 0.08


def _linear(colour: str) -> np.ndarray:
    """Linear RGB of ``"#rrggbb"``."""
    s = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(s <= 0.04045, s / 12.92, ((s + 0.055) / 1.055) ** 2.4)


def _oklab(linear: np.ndarray) -> np.ndarray:
    """OKLab (Ottosson 2020), in which distances are about those that people see."""
    to_lms = [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
              [0.0883024619, 0.2817188376, 0.6299787005]]  # fmt: skip
    to_lab = [[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
              [0.0259040371, 0.7827717662, -0.8086757660]]  # fmt: skip
    return np.array(to_lab) @ np.cbrt(np.array(to_lms) @ np.clip(linear, 0, 1))


def _distance(a: str, b: str, sight: str) -> float:
    seen = [_oklab(np.array(_SIGHTS[sight]) @ _linear(colour)) for colour in (a, b)]
    return float(np.linalg.norm(seen[0] - seen[1]))


def _contrast(a: str, b: str) -> float:
    """As WCAG 2 defines it."""
    lights = sorted(float(np.array([0.2126, 0.7152, 0.0722]) @ _linear(colour)) + 0.05 for colour in (a, b))
    return lights[1] / lights[0]


@each("sight", sorted(_SIGHTS))
def test_hues_are_told_apart_by_every_sight(sight: str) -> None:
    """Any two of them, best those that the rule shifts to, and none from grey, which stays grey."""
    assert _oklab(np.array(_SIGHTS[sight]) @ _linear("#808080"))[1:] == pytest.approx([0, 0], abs=2e-3)
    assert min(_distance(a, b, sight) for a, b in itertools.combinations(HUES, 2)) >= (
        0.14 if sight == "normal" else _APART
    )
    assert min(_distance(HUES[i], HUES[(i + 1) % N_HUES], sight) for i in range(N_HUES)) >= 0.11
    assert min(_distance(LIGHT.grey, hue, sight) for hue in HUES) >= 0.07


def test_everything_is_seen_on_both_papers() -> None:
    assert _contrast("#000000", "#ffffff") == pytest.approx(21) and len(HUES) == N_HUES >= 8
    for theme in (LIGHT, DARK):
        assert theme.hues == HUES
        for hue in (*HUES, LIGHT.grey, DARK.grey):
            assert _contrast(hue, theme.paper) >= 3 and _contrast(hue, theme.highlight) >= 2.5
        assert _contrast(theme.ink, theme.paper) >= 12 and _contrast(theme.dim, theme.paper) >= 4.5
        assert (
            1.1 < _contrast(theme.grid, theme.paper) < 2 and 1.1 < _contrast(theme.highlight, theme.paper) < 2
        )


@given(st.lists(st.integers(0, 40) | st.sampled_from([9, 17, 2**31 - 1])), st.integers(0, 8))
@example([9] * 50, 2)
@example([9, 17] * 25, 2)
def test_hues_follow_the_rule_of_the_docstring(ids: list[int], n_alphabet: int) -> None:
    expected, before = [], GREY
    for token in ids:
        hue = GREY if token < n_alphabet else (token * 5) % 8
        if hue != GREY and hue == before:
            hue = (hue + 1) % 8
        before = hue
        expected.append(hue)
        assert hue in (
            {GREY}
            if token < n_alphabet
            else {hue_of(token, n_alphabet), (hue_of(token, n_alphabet) + 1) % N_HUES}
        )
    assert hues_of(np.array(ids, np.int32), n_alphabet).tolist() == expected


def test_colours_are_those_of_the_theme() -> None:
    assert {hue_of(token, 0) for token in range(N_HUES)} == set(range(N_HUES))
    assert colours_of([0, 3, 3], 2, DARK) == [
        DARK.grey,
        DARK.hues[hue_of(3, 2)],
        DARK.hues[hue_of(3, 2) + 1 - N_HUES],
    ]
    assert colours_of([], 2) == []
    refuses(ValueError, r"^theme: expected 'light' or 'dark', got 'blue'", theme_of, "blue")
    assert theme_of(DARK) is DARK
