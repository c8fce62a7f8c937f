"""A signal coloured by token: what is drawn is the signal, cut where its tokens begin, in the colours of the rule."""

from typing import Any

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PolyCollection

from ubpe_numba import BPE
from ubpe_numba.plot import TokensDisplay
from ubpe_numba.tokenizers.base import Tokenizer

DOC = np.array([0, 2, 8, 2, 0, 2, 8, 2, 8, 0, 0, 2, 8])


def _drawn(ax: Any, kind: type) -> Any:
    (found,) = [c for c in ax.collections if type(c) is kind]
    return found


def test_the_line_is_the_signal_cut_at_the_tokens_with_a_block_below_each(tok: Tokenizer, axes: Any) -> None:
    display = TokensDisplay.from_document(tok, DOC, ax=axes, rate=10)
    ids, starts = tok.encode(DOC, return_offsets=True)
    assert display.ids.tolist() == ids.tolist() and display.starts.tolist() == starts.tolist()
    stops = [*starts[1:].tolist(), DOC.size]
    for line, a, b in zip(_drawn(axes, LineCollection).get_segments(), starts.tolist(), stops, strict=True):
        until = min(b + 1, DOC.size)  # up to the first sample of the next one
        assert line[:, 0] == pytest.approx(np.arange(a, until) / 10) and line[:, 1].tolist() == DOC[a:until].tolist()
    blocks = [path.vertices for path in _drawn(axes, PolyCollection).get_paths()]
    assert [b[:, 0].min() for b in blocks] == pytest.approx(starts / 10)
    assert [np.ptp(b[:, 0]) for b in blocks] == pytest.approx(display.lengths / 10)
    assert all(axes.get_ylim()[0] <= b[:, 1].min() and b[:, 1].max() < DOC.min() for b in blocks)
    assert axes.get_xlim() == (0, DOC.size / 10) and axes.get_xlabel() == "seconds"
    bare = display.plot(display.figure_.add_subplot()).ax_
    assert bare.get_xlim() == (0, DOC.size) and bare.get_xlabel() == "sample"
    assert TokensDisplay.from_document(tok, np.zeros(0, int), ax=axes).ids.size == 0


def test_a_large_constant_has_an_axis(axes: Any) -> None:
    tok = BPE.from_merges([[0, 0]], alphabet=[2**62])
    ax = TokensDisplay.from_document(tok, np.full(3, 2**62), ax=axes).ax_
    assert ax.get_ylim()[0] < 2**62 < ax.get_ylim()[1]
