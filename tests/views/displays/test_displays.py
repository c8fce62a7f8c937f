"""The laws that all displays keep: pictures in the colours of the theme, on given axes, without documents that are no signal."""

import itertools
import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from pictures import picture_of
from tables import each, refuses

from ubpe_numba import BPE, Preprocessing, export, plot
from ubpe_numba.errors import NotFittedError
from ubpe_numba.plot import CompressionDisplay, MotifsDisplay, SkylineDisplay, TokensDisplay
from ubpe_numba.signals import SignalTokenizer
from ubpe_numba.types import Comparison
from ubpe_numba.views.colours import DARK, LIGHT, hue_of, hues_of

TOK = BPE.from_merges([[0, 1], [3, 2], [4, 1], [0, 0], [1, 0]], alphabet=[0, 2, 8])
DOC = np.array([0, 2, 8, 2, 0, 2, 8, 2, 8, 0, 0, 2, 8])
TEXTS = [
    (BPE.from_merges([[0, 1]], alphabet=alphabet), doc) for alphabet, doc in (("ab", "ab"), (b"ab", b"ab"))
]
CURVES = {"a": ([10, 20], [1, 2]), "b": ([10, 20], [1, 3])}

IN_DOC = set(hues_of(TOK.encode(DOC), 3).tolist())

#: Every display by its name: how it is drawn, with options, and the hues that it shows.
DISPLAYS: dict[str, tuple[Callable[..., Any], set[int]]] = {
    "tokens": (lambda **how: TokensDisplay.from_document(TOK, DOC, **how), IN_DOC),
    "skyline": (
        lambda **how: SkylineDisplay.from_document(TOK, DOC, **how),
        {hue_of(part, 3) for part in (3, 4, 5)},
    ),
    "motifs": (
        lambda **how: MotifsDisplay.from_batch(TOK, [DOC], tokens=[5, 4], side=1, **how),
        {hue_of(5, 3), hue_of(4, 3)},
    ),
    "tree": (
        lambda **how: plot.TreeDisplay.from_token(TOK, 5, **how),
        {hue_of(part, 3) for part in (5, 4, 3, 0)},
    ),
    "curves": (lambda **how: CompressionDisplay(CURVES).plot(**how), {0, 1}),
    "comparison": (lambda **how: Comparison(["a", "b"], np.eye(2, 6)).plot(**how), {0, 1}),
}


def test_a_recording_of_channels_with_a_gap_is_drawn_from_its_tokens() -> None:
    t = np.arange(120)
    recording = np.stack([np.sin(t / 8), np.cos(t / 8)], axis=1)
    recording[50:60, 1] = np.nan
    tok = SignalTokenizer(40, max_error=0.2, channel_axis=1).fit(recording)
    for channel in (0, 1):
        display = TokensDisplay.from_document(tok, recording, channel=channel)
        assert np.array_equal(display.samples, recording[:, channel], equal_nan=True)
        assert np.array_equal(display.ids, tok.encode(recording)[channel])
        assert display.starts.tolist() == np.cumsum([0, *display.lengths[:-1]]).tolist()
        assert display.lengths.sum() == 120 and (tok.vocabulary.lengths[: display.n_alphabet] == 1).all()
        low, high = display.ax_.get_ylim()
        assert low < np.nanmin(recording[:, channel]) and high > np.nanmax(recording[:, channel])


@each("theme, name", [*((LIGHT, name) for name in DISPLAYS), (DARK, "tokens"), (DARK, "curves")])
def test_it_is_seen_and_drawn_on_given_axes(
    theme: Any, name: str, open_figures: Any, colours_drawn: Any
) -> None:
    draw, hues = DISPLAYS[name]
    before = open_figures()
    display = draw(theme=theme.name)
    seen, other = colours_drawn(display.figure_), DARK if theme is LIGHT else LIGHT
    assert {
        theme.paper,
        *(theme.grey if hue < 0 else theme.hues[hue] for hue in hues),
    } <= seen and other.paper not in seen
    assert open_figures() == before + 1
    given = Figure().subplots(1, 2)
    drawn = draw(ax=given if name == "motifs" else given[0])
    assert drawn.figure_ is given[0].figure and open_figures() == before + 1
    refuses(ValueError, "^theme: ", draw, theme="grey")


PICTURES = {  # hashes; where another look is meant, those that the failure shows
    "tokens": "49506609dfb6", "skyline": "3979cc7eba56", "motifs": "d68b5fbc1139",
    "tree": "026bb1df7285", "curves": "4c934c6a030f", "comparison": "da971394af93",
    "skyline of text": "8e8697c90564", "motifs of text": "18f329944abb", "motifs in seconds": "a7a46125b9de",
    "tree of text": "b270ee352882", "one token": "3b3477fc80ac",
    "two tokens": "c291c0f29909", "long signal": "5a3ab9048c99", "part": "c21ea2d4593c", "bars": "dce146bb04c4",
}  # fmt: skip


def test_pictures_are_what_they_were() -> None:
    text = BPE.from_merges([[0, 1], [3, 2], [4, 0], [5, 4]], alphabet="ab ")
    of_text = "ab abab ab aab abab ab  "
    more: dict[str, Callable[..., Any]] = {
        "skyline of text": lambda **how: SkylineDisplay.from_document(text, of_text, theme="dark", **how),
        "motifs of text": lambda **how: MotifsDisplay.from_batch(text, [of_text], tokens=[6, 4], **how),
        "motifs in seconds": lambda **how: MotifsDisplay.from_batch(
            TOK, [DOC], tokens=[5, 2], rate=8, colours={5: "red"}, **how
        ),
        "tree of text": lambda **how: plot.TreeDisplay.from_token(text, 6, depth=None, **how),
        "one token": lambda **how: TokensDisplay.from_document(TOK, DOC, token=5, rate=2, **how),
        "two tokens": lambda **how: TokensDisplay.from_document(
            TOK, DOC, token={5: "#ff0000", 2: "#00ff00"}, **how
        ),
        "long signal": lambda **how: SkylineDisplay.from_document(
            TOK, np.tile(DOC, 9), rate=2, start=3, **how
        ),
        "part": lambda **how: SkylineDisplay.from_document(TOK, DOC, start=1, stop=4, **how),
        "bars": lambda **how: SkylineDisplay.from_document(
            TOK, DOC, values=lambda s: np.where(s == 8, np.nan, s), bar=4, **how
        ),
    }
    found = {}
    for name, draw in ({name: draw for name, (draw, _) in DISPLAYS.items()} | more).items():
        axes = Figure(figsize=(9, 5)).subplots(1, 2)
        draw(ax=axes if "motifs" in name else axes[0])
        found[name] = picture_of(axes)
    assert found == PICTURES


@each("tok, doc", TEXTS)
def test_text_is_no_signal(tok: BPE, doc: Any) -> None:
    kind = type(doc).__name__
    told = f"^tok: TokensDisplay draws signals of integers, and the documents of this tokenizer are {kind}"
    refuses(ValueError, told, TokensDisplay.from_document, tok, doc)


@each("name", list(DISPLAYS))
def test_matplotlib_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    refuses(
        ImportError,
        r"drawing needs matplotlib: pip install 'ubpe-numba\[plot\]'",
        lambda: DISPLAYS[name][0](),
    )


@each("draw, error, message", [
    *[(lambda rate=rate: TokensDisplay.from_document(TOK, DOC, rate=rate), ValueError, "^rate: expected samples a second")
      for rate in (0, float("nan"), float("inf"))],
    (lambda: TokensDisplay.from_document(TOK, DOC, token="4"), TypeError, "^token: expected an integer, got str"),
    (lambda: TokensDisplay.from_document(TOK, [[0, 2]]), ValueError, r"doc: expected the symbols of .*shape \(1, 2\)"),
    *[(lambda given=given: MotifsDisplay.from_batch(TOK, [DOC], **given), error, message) for given, error, message in (
        ({"n": 0}, ValueError, "^n: expected 1 or more, got 0"), ({"most": 0}, ValueError, "^most: expected 1 or more"),
        ({"side": -1}, ValueError, "^side: expected 0 or more"), ({"rate": "1"}, TypeError, "^rate: expected a number, got str"),
        ({"tokens": [3, 8]}, IndexError, r"^tokens: expected ids in 0\.\.7, got 8"), ({"n": 1.5}, TypeError, "^n: expected"),
        ({"tokens": [-1]}, IndexError, r"^tokens: expected ids in 0\.\.7, got -1"),
        ({"tokens": [3.5]}, TypeError, "^tokens: expected a 1-D sequence of integers"),
    )],
    *[(lambda given=given: SkylineDisplay.from_document(TOK, DOC, **given), error, message) for given, error, message in (
        ({"start": 5, "stop": 5}, ValueError, "^start: expected a part of the 13 symbols of the document, got 5 to 5"),
        ({"stop": 14}, ValueError, "^start: .*, got 0 to 14"), ({"stop": 1.5}, TypeError, "^stop: expected an integer"),
        ({"rate": 0}, ValueError, "^rate: expected samples a second"),
        ({"rate": 9, "bar": 2}, ValueError, "^bar: expected 1 symbol or more, and no rate, got 2 and the rate 9"),
        ({"values": lambda s: s[1:]}, ValueError, r"^values: expected a number for each of 13 .*, got shape \(12,\)"),
    )],
    (lambda: plot.TreeDisplay.from_token(TOK, 8), IndexError, "^token 8"),
    (lambda: plot.TreeDisplay.from_token(TOK, 5, depth=-1), ValueError, "^depth: expected at least 0"),
    (lambda: CompressionDisplay({}), ValueError, "^curves: expected at least one"),
    (lambda: CompressionDisplay({"a": ([], [])}), ValueError, "^curves: 'a': expected as many ratios as sizes"),
    (lambda: CompressionDisplay({"a": ([1, 2], [1])}), ValueError, r"^curves: 'a': .*, got \(1,\) and \(2,\)"),
])  # fmt: skip
def test_what_cannot_be_drawn_is_refused(
    draw: Callable[[], Any], error: type[Exception], message: str
) -> None:
    refuses(error, message, draw)


def test_too_few_axes_are_refused() -> None:
    for given in (Figure().subplots(), Figure().subplots(1, 2)):
        with pytest.raises(ValueError, match="^ax: expected at least 3 axes, one for each motif, got"):
            MotifsDisplay.from_batch(TOK, [DOC], tokens=[5, 4, 3], ax=given)


def test_a_tokenizer_of_signals_with_ids_of_its_own_is_refused() -> None:
    file = json.loads(export(BPE.from_merges([[0, 1]], alphabet=2), "tokenizer.json", unk_token=False))
    file["model"]["vocab"] = {name: 9 - i for name, i in file["model"]["vocab"].items()}
    other = BPE.load(json.dumps(file))
    assert other._model.alphabet.kind == "int"
    refuses(
        ValueError,
        "tok: TokensDisplay needs ids in the order of the vocabulary",
        TokensDisplay.from_document,
        other,
        [0, 1],
    )


VERSES = ["low lower lowest", "new newer newest", "wide wider widest"]


def test_curves_are_those_of_the_tokenizers(axes: Any) -> None:
    toks = {
        "text": BPE.for_text(270).fit(VERSES),
        "characters": BPE(25).fit(VERSES),
        "bytes": BPE(258).fit([b"abab", b"ab"]),
    }
    CompressionDisplay.from_tokenizers(toks, ax=axes)
    curves = [line for line in axes.lines if len(line.get_xdata()) > 1]
    for line, tok in zip(curves, toks.values(), strict=True):
        sizes, ratios = tok.history_.compression(tok._model.vocabulary.n_alphabet)
        assert line.get_xdata().tolist() == sizes.tolist() and line.get_ydata() == pytest.approx(ratios)
    named = [
        f"{name} {tok.history_.compression(tok._model.vocabulary.n_alphabet)[1][-1]:.2f}"
        for name, tok in toks.items()
    ]
    assert [text.get_text() for text in axes.texts] == named
    alone = CompressionDisplay.from_tokenizers(BPE(25).fit(VERSES))
    assert [text.get_text().split()[0] for text in alone.ax_.texts] == ["BPE"]
    refuses(
        NotFittedError,
        "",
        lambda: CompressionDisplay.from_tokenizers(BPE.from_merges([[0, 1]], alphabet="ab"), ax=axes),
    )


def boxes(ax: Any) -> list[tuple[float, ...]]:
    """The left, bottom, right and top end of every block that is drawn."""
    paths = ax.collections[0].get_paths()
    return [(*path.vertices.min(axis=0), *path.vertices.max(axis=0)) for path in paths]


def test_blocks_are_those_of_the_part_and_labels_are_inside_of_theirs() -> None:
    tok = BPE.for_text(300).fit(["schön ist der Schnee, schöner der schönste Schnee"] * 3)
    display = SkylineDisplay.from_document(tok, "schöner Schnee", theme="dark")
    ax, learned = display.ax_, display.blocks[display.blocks["born"] > 256]
    assert boxes(ax) == [(a, low, b, high) for a, b, low, high, _ in learned.tolist()]
    written = [label.get_text() for label in ax.get_xticklabels()]
    # two bytes, the character in their middle
    assert "".join(written) == "schöner␣Schnee" and ax.get_xticks()[3] == 4.0
    display.figure_.canvas.draw()
    places = [ax.transData.transform([box[:2], box[2:]]).ravel() for box in boxes(ax)]
    assert ax.texts
    for text in ax.texts:
        room = text.get_window_extent()
        assert any(
            a <= room.x0 and room.x1 <= c and b <= room.y0 and room.y1 <= d for a, b, c, d in places
        ), text
    part = display.plot(start=2, stop=9).ax_
    assert part.get_xlim() == (2, 9) and all(b > 2 and a < 9 for a, _, b, _ in boxes(part))


ENDED = Preprocessing(known_words=["<e>"])


@each("tok, doc, want", [
    (BPE.from_merges([[0, 1]], alphabet=b"a\xff"), b"a\xffa", ["a", "ff", "a"]),
    (BPE.from_merges([[0, 1]], alphabet=["pay now", "go"]), ["pay now", "go"], ["pay now", "go"]),
    (BPE.from_merges([[0, 1]], alphabet="ab", preprocessing=ENDED), "ab<e>a", ["a", "b", "<e>", None, None, "a"]),
])  # fmt: skip
def test_what_is_written_below(tok: BPE, doc: Any, want: list[str]) -> None:
    assert SkylineDisplay.from_document(tok, doc, ax=Figure().subplots()).symbols == want


@each("letters, n, size, turned", [
    ("ab", 9, 9.0, 0), ("ab", 40, 7.2, 0), ("ab", 93, None, 0), (["pay now", "go"], 4, 9.0, 0), (["pay now", "go"], 8, 7.5, 90),
])  # fmt: skip
def test_what_is_written_below_has_its_size_and_room(
    letters: Any, n: int, size: float | None, turned: int, axes: Any
) -> None:
    tok = BPE.from_merges([[0, 1]], alphabet=letters)
    ax = SkylineDisplay.from_document(tok, "ab" * n if letters == "ab" else letters * n, ax=axes).ax_
    ax.figure.canvas.draw()
    labels = ax.get_xticklabels()
    if size is None:  # there is none: the axis counts symbols
        assert ax.get_xlabel() == "symbols" and len(labels) < n
    else:
        assert [label.get_text() for label in labels] == [*letters] * n and ax.get_xlabel() == ""
        assert {(round(label.get_fontsize(), 1), label.get_rotation()) for label in labels} == {
            (size, turned)
        }
        assert all(a.get_window_extent().x1 < b.get_window_extent().x0 for a, b in itertools.pairwise(labels))


def test_a_long_document_is_an_image_of_the_blocks_in_the_middle_of_its_columns(axes: Any) -> None:
    long = np.tile(DOC, 400)
    display = SkylineDisplay.from_document(TOK, long, ax=axes)
    (image,) = axes.images
    pixels = image.get_array()
    rows, columns = pixels.shape[:2]
    for row, column in zip(range(3, rows, 31), range(5, columns, 201), strict=False):
        size, at = 3 * (9 / 3) ** ((row + 0.5) / rows), (column + 0.5) * long.size / columns
        held = display.blocks[(display.blocks["start"] <= at) & (at < display.blocks["stop"])]
        held = held[(held["born"] <= size) & (size < held["absorbed"])]
        token = int(held["token"][0]) if held.size else 0
        assert to_hex(pixels[row, column]) == (LIGHT.hues[hue_of(token, 3)] if token >= 3 else LIGHT.grid)
    assert not axes.lines  # of a curve nothing would be seen
