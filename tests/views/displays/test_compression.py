"""Curves of compression: those of the tokenizers, with their names at their ends."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex

from ubpe_numba import BPE
from ubpe_numba.errors import NotFittedError
from ubpe_numba.plot import CompressionDisplay
from ubpe_numba.views.colours import LIGHT

TEXT = ["low lower lowest", "new newer newest", "wide wider widest"]


def _curves(ax: Any) -> list[Any]:
    """The lines of more than one point."""
    return [line for line in ax.lines if len(line.get_xdata()) > 1]


def test_curves_are_those_of_the_tokenizers(axes: Any) -> None:
    toks = {"text": BPE.for_text(270).fit(TEXT), "characters": BPE(25).fit(TEXT), "bytes": BPE(258).fit([b"abab", b"ab"])}
    display = CompressionDisplay.from_tokenizers(toks, ax=axes)
    for line, tok, hue in zip(_curves(axes), toks.values(), LIGHT.hues, strict=False):
        sizes, ratios = tok.history_.compression(tok._model.vocabulary.n_alphabet)
        assert line.get_xdata().tolist() == sizes.tolist() and line.get_ydata() == pytest.approx(ratios)
        assert to_hex(line.get_color()) == hue
    named = [f"{name} {tok.history_.compression(tok._model.vocabulary.n_alphabet)[1][-1]:.2f}" for name, tok in toks.items()]
    assert [text.get_text() for text in axes.texts] == named
    assert list(display.curves) == list(toks) and axes.get_xscale() == "log" and axes.get_ylim()[0] == 0
    assert len(_curves(axes)) == 3


def test_a_tokenizer_alone_is_named_by_its_class(axes: Any) -> None:
    CompressionDisplay.from_tokenizers(BPE(25).fit(TEXT), ax=axes)
    assert [text.get_text().split()[0] for text in axes.texts] == ["BPE"]


def test_labels_stand_apart_and_each_at_its_curve(axes: Any) -> None:
    ends = [3.0, 1.0, 3.02, 3.01, 1.0]
    display = CompressionDisplay({f"n{i}": ([10, 20], [1.0, end]) for i, end in enumerate(ends)}).plot(axes)
    heights = [text.xy[1] for text in axes.texts]
    top = axes.get_ylim()[1]
    assert all(abs(a - b) >= 0.06 * top for a, b in itertools.combinations(heights, 2))
    assert np.argsort(heights, kind="stable").tolist() == np.argsort(ends, kind="stable").tolist()
    assert all(text.xy[0] == 20 for text in display.ax_.texts)


def test_a_tokenizer_without_a_fit_has_no_curve(axes: Any) -> None:
    with pytest.raises(NotFittedError):
        CompressionDisplay.from_tokenizers(BPE.from_merges([[0, 1]], alphabet="ab"), ax=axes)
