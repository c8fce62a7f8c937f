"""The merge tree: every part once, over its own parts, as its shape or its string."""

import json
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from tables import each

from ubpe_numba import BPE, export
from ubpe_numba.plot import TreeDisplay
from ubpe_numba.tokenizers.base import Tokenizer
from ubpe_numba.views.colours import LIGHT, hue_of


def _parts(tok: Tokenizer, token: int, depth: int | None) -> list[int]:
    """The tokens of a tree in preorder, by recursion."""
    if token < tok._model.vocabulary.n_alphabet or depth == 0:
        return [token]
    left, right = tok._model.vocabulary.merges[token - tok._model.vocabulary.n_alphabet].tolist()  # type: ignore[index]
    below = None if depth is None else depth - 1
    return [token, *_parts(tok, left, below), *_parts(tok, right, below)]


def _shapes(ax: Any) -> list[Any]:
    """The lines that are shapes, not branches."""
    return [line for line in ax.lines if line.get_marker() == "o"]


@each("token, depth", [(5, 0), (5, 1), (5, 2), (5, None), (0, None)])
def test_every_part_is_drawn_once_with_its_shape_in_its_hue(
    tok: Tokenizer, token: int, depth: int | None
) -> None:
    axes = Figure().subplots()
    display = TreeDisplay.from_token(tok, token, depth=depth, ax=axes)
    parts = _parts(tok, token, depth)
    assert [int(text.get_text()) for text in axes.texts] == display.tree.tokens.tolist() == parts
    x, above = np.array([text.get_position()[0] for text in axes.texts]), display.tree.above
    leaves = ~np.isin(np.arange(x.size), above)  # 1 apart, others over the middle of their parts
    assert [*x[leaves]] == [*range(leaves.sum())] and all(
        x[i] == x[above == i].mean() for i in np.flatnonzero(~leaves)
    )
    shapes = _shapes(axes)
    assert len(shapes) == len(parts) and len(axes.lines) == 2 * len(parts) - 1
    values = [
        tok._model.alphabet.to_symbols(tok._model.vocabulary.sequence(part)).astype(float) for part in parts
    ]
    rise = np.ptp(shapes[0].get_ydata()) / (np.ptp(values[0]) or 1)
    for line, part, expected in zip(shapes, parts, values, strict=True):  # one scale for all
        assert np.diff(line.get_ydata()) == pytest.approx(rise * np.diff(expected))
        hue = hue_of(part, 3)
        assert to_hex(line.get_color()) == (LIGHT.grey if hue < 0 else LIGHT.hues[hue])


@each("tok, strings", [
    (BPE.from_merges([[0, 1], [4, 2]], alphabet="ACGT"), ["ACG", "AC", "A", "C", "G"]),
    (BPE.from_merges([[0, 1], [2, 0]], alphabet=b"\xff "), [r"\xff␣\xff", r"\xff␣", r"\xff", "␣", r"\xff"]),
    (BPE.from_merges([[0, 1]], alphabet="$\n"), [r"$\n", "$", r"\n"]),
])  # fmt: skip
def test_parts_of_text_are_strings(tok: Tokenizer, strings: list[str]) -> None:
    axes = Figure().subplots()
    token = len(tok._model.vocabulary) - 1
    display = TreeDisplay.from_token(tok, token, ax=axes)
    assert (
        display.labels == strings
        and not _shapes(axes)
        and [text.get_text() for text in axes.texts][::2] == strings
    )


def test_a_deep_tree_is_drawn() -> None:
    tok = BPE.from_merges([[0, 0], *([[k, 0] for k in range(1, 1010)])], alphabet=[7])
    display = TreeDisplay.from_token(tok, 1005, depth=None, ax=Figure().subplots())
    assert display.tree.depths.max() == 1005 and len(display.ax_.texts) == 2011


def test_a_tree_of_a_tokenizer_with_ids_of_its_own() -> None:
    """The id is that which the tokenizer gives, and so are the numbers in the picture."""
    tok = BPE.for_text(260).fit(["abcabc"], progress=False)
    file = json.loads(export(tok, "tokenizer.json"))
    vocab = file["model"]["vocab"]
    file["model"]["vocab"] = {name: len(vocab) + 4 - i for name, i in vocab.items()}
    other = BPE.load(json.dumps(file))
    (token,) = other.encode("abc").tolist()
    display = TreeDisplay.from_token(other, token, ax=Figure().subplots())
    assert display.labels[0] == "abc" and display.tree.tokens[0] == token
    assert str(token) in [text.get_text() for text in display.ax_.texts]
    for label, i in zip(display.labels, display.tree.tokens.tolist(), strict=True):
        assert other.decode([i]) == label
