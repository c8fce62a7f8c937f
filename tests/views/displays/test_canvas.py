"""Axes that displays draw on: given or made, styled; what is missing is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from ubpe_numba import BPE, export
from ubpe_numba.views.colours import DARK, LIGHT
from ubpe_numba.views.displays.canvas import axes_for, bare_figure, grid_for, require_signal


def test_pyplot_is_used_only_without_axes(axes: Any, open_figures: Callable[[], int]) -> None:
    assert axes_for(axes, (4, 3), LIGHT) is axes and open_figures() == 0
    bare_figure((4, 3), DARK)
    assert open_figures() == 0
    made = axes_for(None, (4, 3), DARK)
    assert open_figures() == 1
    assert made.figure.get_size_inches().tolist() == [4, 3] and to_hex(made.figure.get_facecolor()) == DARK.paper
    assert to_hex(made.get_facecolor()) == DARK.paper and to_hex(made.xaxis.label.get_color()) == DARK.dim
    made.set_title("words", loc="left")
    assert to_hex(made._left_title.get_color()) == DARK.ink
    assert [side for side, spine in made.spines.items() if spine.get_visible()] == ["left", "bottom"]


def test_a_grid_is_made_divided_or_taken(open_figures: Callable[[], int]) -> None:
    made = grid_for(None, 5, 3, (2, 1), LIGHT, share_y=True)
    assert made.shape == (2, 3) and made[0, 0].figure.get_size_inches().tolist() == [6, 2] and open_figures() == 1
    assert made[0, 0].get_shared_y_axes().joined(made[0, 0], made[1, 2])
    one, other = Figure().subplots(1, 2)
    divided = grid_for(one, 4, 2, (2, 1), LIGHT, share_y=False)
    assert divided.shape == (2, 2) and not one.axison and other.axison
    assert max(ax.get_position().x1 for ax in divided.flat) < other.get_position().x0
    given = Figure().subplots(3, 2)
    assert np.array_equal(grid_for(given, 5, 9, (2, 1), LIGHT, share_y=True), given) and open_figures() == 1


def test_too_few_axes_are_refused() -> None:
    with pytest.raises(ValueError, match="^ax: expected at least 3 axes, one for each motif, got 2"):
        grid_for(Figure().subplots(1, 2), 3, 4, (2, 1), LIGHT, share_y=True)
    with pytest.raises(ValueError, match="^ax: expected axes of a grid"):
        grid_for(Figure().add_axes((0, 0, 1, 1)), 2, 4, (2, 1), LIGHT, share_y=True)


def test_a_tokenizer_of_signals_with_ids_of_its_own_is_refused() -> None:
    file = json.loads(export(BPE.from_merges([[0, 1]], alphabet=2), "tokenizer.json", unk_token=False))
    file["model"]["vocab"] = {name: 9 - i for name, i in file["model"]["vocab"].items()}
    other = BPE.load(json.dumps(file))
    assert other._model.alphabet.kind == "int"
    with pytest.raises(ValueError, match="tok: TokensDisplay needs ids in the order of the vocabulary"):
        require_signal(other, "TokensDisplay")
