"""A signal coloured by token: what is drawn is the signal, cut where its tokens begin, in the colours of the rule."""

from typing import Any

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_hex

from ubpe_numba import BPE
from ubpe_numba.plot import TokensDisplay
from ubpe_numba.tokenizers.base import Tokenizer
from ubpe_numba.views.colours import LIGHT, hue_of

DOC = np.array([0, 2, 8, 2, 0, 2, 8, 2, 8, 0, 0, 2, 8])


def _drawn(ax: Any, kind: type) -> Any:
    (found,) = [c for c in ax.collections if type(c) is kind]
    return found


def _colours(collection: Any) -> list[str]:
    of_faces = isinstance(collection, PolyCollection)
    return [to_hex(colour) for colour in (collection.get_facecolor() if of_faces else collection.get_color())]


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


def test_tokens_with_colours_of_their_own(tok: Tokenizer, axes: Any) -> None:
    """All others are grey, two greys by turns; the grounds are those of the tokens that are shown."""
    ids = tok.encode(DOC).tolist()
    chosen = {ids[0]: "#ff0000", ids[-1]: "#00ff00"}
    display = TokensDisplay.from_document(tok, DOC, ax=axes, token=chosen)
    drawn = _colours(_drawn(axes, LineCollection))
    assert drawn == [chosen.get(t, (LIGHT.dim, LIGHT.grey)[i % 2]) for i, t in enumerate(ids)]
    assert [patch.get_linewidth() for patch in axes.patches] == [0] * sum(t in chosen for t in ids)
    alone = display.plot(display.figure_.add_subplot(), token=ids[0]).ax_
    assert _colours(_drawn(alone, LineCollection))[0] == LIGHT.hues[hue_of(ids[0], 3)] and len(alone.patches) == ids.count(ids[0])
    assert alone.get_title(loc="left").endswith(f"token {ids[0]}, {ids.count(ids[0])} times")
