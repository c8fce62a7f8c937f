"""The laws that all displays keep: pictures in the colours of the theme, on given axes, without documents that are no signal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from tables import each

from ubpe_numba import BPE
from ubpe_numba.plot import CompressionDisplay, CountsDisplay, MotifsDisplay, PianoRollDisplay, TokensDisplay, TreeDisplay
from ubpe_numba.views.colours import DARK, LIGHT, hue_of, hues_of

TOK = BPE.from_merges([[0, 1], [3, 2], [4, 1], [0, 0], [1, 0]], alphabet=[0, 2, 8])
DOC = np.array([0, 2, 8, 2, 0, 2, 8, 2, 8, 0, 0, 2, 8])
TEXTS = [(BPE.from_merges([[0, 1]], alphabet=alphabet), doc) for alphabet, doc in (("ab", "ab"), (b"ab", b"ab"))]
READ: dict[str, Any] = {"pitch": lambda s: s, "duration": np.ones_like}
CURVES = {"a": ([10, 20], [1, 2]), "b": ([10, 20], [1, 3])}

IN_DOC = set(hues_of(TOK.encode(DOC), 3).tolist())

#: Every display by its name: how it is drawn, with options, and the hues that it shows.
DISPLAYS: dict[str, tuple[Callable[..., Any], set[int]]] = {
    "tokens": (lambda **how: TokensDisplay.from_document(TOK, DOC, **how), IN_DOC),
    "notes": (lambda **how: PianoRollDisplay.from_document(TOK, DOC, **READ, **how), IN_DOC),
    "motifs": (lambda **how: MotifsDisplay.from_batch(TOK, [DOC], tokens=[5, 4], side=1, **how), {hue_of(5, 3), hue_of(4, 3)}),
    "tree": (lambda **how: TreeDisplay.from_token(TOK, 5, **how), {hue_of(part, 3) for part in (5, 4, 3, 0)}),
    "rank": (lambda **how: CountsDisplay.from_docs(TOK, [DOC], **how), {0}),
    "length": (lambda **how: CountsDisplay([5, 0, 2], [1, 1, 3]).plot(by="length", **how), {0}),
    "curves": (lambda **how: CompressionDisplay(CURVES).plot(**how), {0, 1}),
}


@each("theme", [LIGHT, DARK])
@each("name", list(DISPLAYS))
def test_it_is_seen_and_drawn_on_given_axes(theme: Any, name: str, open_figures: Any, colours_drawn: Any) -> None:
    draw, hues = DISPLAYS[name]
    before = open_figures()
    display = draw(theme=theme.name)
    seen, other = colours_drawn(display.figure_), DARK if theme is LIGHT else LIGHT
    assert {theme.paper, *(theme.grey if hue < 0 else theme.hues[hue] for hue in hues)} <= seen and other.paper not in seen
    assert open_figures() == before + 1
    given = Figure().subplots(1, 2)
    drawn = draw(ax=given if name == "motifs" else given[0]) if name not in ("length", "curves") else display.plot(given[0])
    assert drawn.figure_ is given[0].figure and open_figures() == before + 1
    with pytest.raises(ValueError, match="^theme: "):
        draw(theme="grey")


@each("tok, doc", TEXTS)
def test_text_is_no_signal(tok: BPE, doc: Any) -> None:
    kind = type(doc).__name__
    for name, draw in (
        ("TokensDisplay", lambda: TokensDisplay.from_document(tok, doc)),
        ("PianoRollDisplay", lambda: PianoRollDisplay.from_document(tok, doc, **READ)),
        ("MotifsDisplay", lambda: MotifsDisplay.from_batch(tok, [doc])),
    ):
        with pytest.raises(
            ValueError, match=f"^tok: {name} draws signals of integers, and the documents of this tokenizer are {kind}"
        ):
            draw()


@each("name", list(DISPLAYS))
def test_matplotlib_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    with pytest.raises(ImportError, match=r"drawing needs matplotlib: pip install 'ubpe-numba\[plot\]'"):
        DISPLAYS[name][0]()


@each(
    "draw, error, message",
    [
        *[
            (lambda rate=rate: TokensDisplay.from_document(TOK, DOC, rate=rate), ValueError, "^rate: expected samples a second")
            for rate in (0, float("nan"), float("inf"))
        ],
        (lambda: TokensDisplay.from_document(TOK, DOC, token="4"), TypeError, "^token: expected an integer, got str"),
        (lambda: TokensDisplay.from_document(TOK, [[0, 2]]), ValueError, r"doc: expected the symbols of .*shape \(1, 2\)"),
        (
            lambda: TokensDisplay.from_document(TOK, DOC).plot(token=1, colours={5: "#ff0000"}), ValueError,
            "colours: expected either token or colours, got both",
        ),
        (
            lambda: PianoRollDisplay.from_document(TOK, DOC, pitch=lambda s: s[1:], duration=np.ones_like), ValueError,
            "^pitch: expected a pitch, an onset and a duration for each symbol",
        ),
        *[
            (lambda given=given: MotifsDisplay.from_batch(TOK, [DOC], **given), error, message)
            for given, error, message in (
                ({"n": 0}, ValueError, "^n: expected 1 or more, got 0"),
                ({"most": 0}, ValueError, "^most: expected 1 or more"),
                ({"side": -1}, ValueError, "^side: expected 0 or more"),
                ({"columns": 0}, ValueError, "^columns: expected 1 or more"),
                ({"rate": "1"}, TypeError, "^rate: expected a number, got str"),
                ({"tokens": [3, 8]}, IndexError, r"^tokens: expected ids in 0\.\.7, got 8"),
                ({"tokens": [-1]}, IndexError, r"^tokens: expected ids in 0\.\.7, got -1"),
                ({"tokens": [3.5]}, TypeError, "^tokens: expected a 1-D sequence of integers"),
                ({"n": 1.5}, TypeError, "^n: expected an integer"),
                ({"columns": 1.5}, TypeError, "^columns: expected an integer"),
            )
        ],
        (lambda: TreeDisplay.from_token(TOK, 8), IndexError, "^token 8"),
        (lambda: TreeDisplay.from_token(TOK, 5, depth=-1), ValueError, "^depth: expected at least 0"),
        (lambda: CountsDisplay([1], [1]).plot(by="size"), ValueError, "^by: expected 'rank' or 'length', got 'size'"),
        (lambda: CountsDisplay(np.zeros(3), np.ones(3)).plot(), ValueError, "^counts: expected a token that occurs"),
        (lambda: CompressionDisplay({}).plot(), ValueError, "^curves: expected at least one"),
        (lambda: CompressionDisplay({"a": ([], [])}).plot(), ValueError, "^curves: 'a': expected as many ratios as sizes"),
        (lambda: CompressionDisplay({"a": ([1, 2], [1])}).plot(), ValueError, r"^curves: 'a': .*, got \(1,\) and \(2,\)"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_refused(draw: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        draw()
