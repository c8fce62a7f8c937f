"""A signal coloured by token: what is drawn is the signal, cut where its tokens begin, in the colours of the rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_hex

from ubpe_numba import BPE
from ubpe_numba.plot import TokensDisplay
from ubpe_numba.tokenizers.base import Tokenizer
from ubpe_numba.views.colours import DARK, LIGHT, colours_of

DOC = np.array([0, 2, 8, 2, 0, 2, 8, 2, 8, 0, 0, 2, 8])


def _drawn(ax: Any, kind: type) -> Any:
    (found,) = [c for c in ax.collections if type(c) is kind]
    return found


def _colours(collection: Any) -> list[str]:
    of_faces = isinstance(collection, PolyCollection)
    return [to_hex(colour) for colour in (collection.get_facecolor() if of_faces else collection.get_color())]


def test_the_line_is_the_signal_cut_at_the_tokens(tok: Tokenizer, axes: Any) -> None:
    display = TokensDisplay.from_document(tok, DOC, ax=axes)
    ids, starts = tok.encode(DOC, return_offsets=True)
    assert display.ids.tolist() == ids.tolist() and display.starts.tolist() == starts.tolist()
    lines = _drawn(axes, LineCollection).get_segments()
    stops = [*starts[1:].tolist(), DOC.size]
    for line, a, b in zip(lines, starts.tolist(), stops, strict=True):
        expected = [(i, DOC[i]) for i in range(a, min(b + 1, DOC.size))]  # up to the first sample of the next one
        assert line.tolist() == [list(map(float, point)) for point in expected]


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_tokens_have_the_colours_of_the_rule_in_both_places(tok: Tokenizer, axes: Any, theme: Any) -> None:
    TokensDisplay.from_document(tok, DOC, ax=axes, theme=theme.name)
    expected = colours_of(tok.encode(DOC), 3, theme)
    assert _colours(_drawn(axes, LineCollection)) == expected
    assert _colours(_drawn(axes, PolyCollection)) == expected
    assert theme.grey in expected and len(set(expected)) > 2
    assert all(a != b or a == theme.grey for a, b in zip(expected, expected[1:], strict=False))


def test_blocks_cover_the_samples_of_their_tokens(tok: Tokenizer, axes: Any) -> None:
    display = TokensDisplay.from_document(tok, DOC, ax=axes, rate=10)
    blocks = [path.vertices for path in _drawn(axes, PolyCollection).get_paths()]
    assert [b[:, 0].min() for b in blocks] == pytest.approx(display.starts / 10)
    assert [np.ptp(b[:, 0]) for b in blocks] == pytest.approx(display.lengths / 10)
    assert all(axes.get_ylim()[0] <= b[:, 1].min() and b[:, 1].max() < DOC.min() for b in blocks)
    bare = display.plot(display.figure_.add_subplot(), lane=False).ax_
    assert not [c for c in bare.collections if type(c) is PolyCollection]


def test_the_axis_counts_samples_or_seconds(tok: Tokenizer, axes: Any) -> None:
    display = TokensDisplay.from_document(tok, DOC, ax=axes)
    assert axes.get_xlim() == (0, DOC.size) and axes.get_xlabel() == "sample"
    display.plot(display.figure_.add_subplot(), rate=2)
    assert display.ax_.get_xlim() == (0, DOC.size / 2) and display.ax_.get_xlabel() == "seconds"
    assert display.ax_ is not axes and display.figure_ is axes.figure


def test_one_token_is_highlighted_where_it_occurs(tok: Tokenizer, axes: Any) -> None:
    display = TokensDisplay.from_document(tok, DOC, token=5, ax=axes)
    at = display.starts[display.ids == 5]
    assert at.size == 2
    assert [(patch.get_x(), patch.get_width()) for patch in axes.patches] == [(start, 4) for start in at.tolist()]
    coloured = [colour != LIGHT.grey for colour in _colours(_drawn(axes, LineCollection))]
    assert coloured == (display.ids == 5).tolist()
    assert axes.get_title(loc="left").endswith("token 5, 2 times")


def test_it_is_saved_and_seen(tok: Tokenizer, open_figures: Callable[[], int], colours_drawn: Callable[[Any], set[str]]) -> None:
    display = TokensDisplay.from_document(tok, DOC, theme="dark")
    assert open_figures() == 1
    assert {DARK.paper, *colours_of(display.ids, 3, DARK)} <= colours_drawn(display.figure_)


def test_an_empty_document_is_drawn(tok: Tokenizer, axes: Any) -> None:
    assert TokensDisplay.from_document(tok, np.zeros(0, int), ax=axes).ids.size == 0


def test_what_cannot_be_drawn_is_refused(tok: Tokenizer, axes: Any) -> None:
    with pytest.raises(ValueError, match="^tok: TokensDisplay draws signals of integers"):
        TokensDisplay.from_document(BPE.from_merges([[0, 1]], alphabet="ab"), "ab", ax=axes)
    for rate in (0, -1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="^rate: expected samples a second, more than 0"):
            TokensDisplay.from_document(tok, DOC, ax=axes, rate=rate)
    with pytest.raises(ValueError, match="^theme: "):
        TokensDisplay.from_document(tok, DOC, ax=axes, theme="grey")
    with pytest.raises(TypeError, match="^token: expected an integer, got str"):
        TokensDisplay.from_document(tok, DOC, ax=axes, token="4")  # type: ignore[arg-type]


def test_a_large_constant_has_an_axis(axes: Any) -> None:
    tok = BPE.from_merges([[0, 0]], alphabet=[2**62])
    ax = TokensDisplay.from_document(tok, np.full(3, 2**62), lane=False, ax=axes).ax_
    assert ax.get_ylim()[0] < 2**62 < ax.get_ylim()[1]


def test_several_documents_are_refused(tok: Tokenizer, axes: Any) -> None:
    with pytest.raises(ValueError, match=r"doc: expected the symbols of one document.*shape \(1, 2\)"):
        TokensDisplay.from_document(tok, [[0, 2]], ax=axes)


def test_tokens_with_colours_of_their_own(tok: Tokenizer, axes: Any) -> None:
    """All others are grey, two greys by turns; the grounds are those of the tokens that are shown."""
    ids = tok.encode(DOC).tolist()
    chosen = {ids[0]: "#ff0000", ids[-1]: "#00ff00"}
    display = TokensDisplay.from_document(tok, DOC, ax=axes, colours=chosen)
    drawn = _colours(_drawn(axes, LineCollection))
    assert drawn == [chosen.get(t, (LIGHT.dim, LIGHT.grey)[i % 2]) for i, t in enumerate(ids)]
    assert len(axes.patches) == sum(t in chosen for t in ids)
    with pytest.raises(ValueError, match="colours: expected either token or colours, got both"):
        display.plot(axes, token=1, colours=chosen)
