"""Colors of tokens: eight color-blind safe hues, the rule by which tokens get them, a light and a dark theme.

The explorer's page is given the hue of each token.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.errors import quoted

__all__ = [
    "DARK",
    "GREY",
    "HUES",
    "LIGHT",
    "N_HUES",
    "ON_HUES",
    "THEMES",
    "Theme",
    "colours_of",
    "hue_of",
    "hues_of",
    "theme_of",
]

#: Found by a search: the smallest difference between two hues is large, for normal sight and for each kind of
#: color blindness. All have a contrast of 3:1 with both papers. In this order a hue and the next, to which
#: the rule shifts, differ most.
HUES = ("#089ae4", "#e00947", "#6361ff", "#646a0c", "#ec4dbc", "#9d2fbe", "#be8a02", "#256e80")
N_HUES = len(HUES)
#: Text on each hue, nearly white or nearly black, whichever has the greater contrast, 4.6:1 or more; themes
#: do not contain these colors.
ON_HUES = ("#010101", "#fefefe", "#010101", "#fefefe", "#010101", "#fefefe", "#010101", "#fefefe")
#: Result of `hues_of` for symbols of the alphabet, which are plotted in grey.
GREY = -1


@dataclass(frozen=True)
class Theme:
    """The colors of a figure, each as ``"#rrggbb"``.

    `name` is ``"light"`` or ``"dark"``. `paper` and `ink` are the background, and text on it. `dim` is for
    secondary text: numbers at axes, notes. `grid` is for grid lines. `highlight` is the background of a
    marked place. `grey` is for symbols of the alphabet, and lines in the background. `hues` are the `N_HUES`
    hues of tokens, the same in both themes.
    """

    name: str
    paper: str
    ink: str
    dim: str
    grid: str
    highlight: str
    grey: str
    hues: tuple[str, ...] = HUES

    def colour_of(self, token: int, n_alphabet: int) -> str:
        """The color of a token without neighbors, grey for a symbol."""
        return (*self.hues, self.grey)[hue_of(token, n_alphabet)]


LIGHT = Theme("light", "#ffffff", "#1b1f26", "#59616d", "#dfe3e8", "#fdf0c4", "#80858d")
DARK = Theme("dark", "#14171c", "#e9ecf1", "#a3abb8", "#333a45", "#2b2718", "#80858d")
THEMES = {"light": LIGHT, "dark": DARK}


def theme_of(theme: str | Theme) -> Theme:
    """The theme of a name.

    `theme`: ``"light"``, ``"dark"``, or a theme, which is returned as it is. Returns the theme. Raises
    ValueError for another name.

    >>> theme_of("dark").paper
    '#14171c'
    """
    if isinstance(theme, Theme):
        return theme
    if theme not in THEMES:
        raise ValueError(f"theme: expected 'light' or 'dark', got {quoted(theme)}")
    return THEMES[theme]


def hue_of(token: int, n_alphabet: int) -> int:
    """The hue of an isolated token: 5 times its id modulo `N_HUES`; `GREY` for a symbol.

    `token`: the id of the token; `n_alphabet`: the size of the alphabet, whose symbols have the ids below it.
    Returns an index of `HUES`, or `GREY`.

    >>> [hue_of(token, 2) for token in range(6)]
    [-1, -1, 2, 7, 4, 1]
    """
    return GREY if token < n_alphabet else token * 5 % N_HUES


def hues_of(ids: Any, n_alphabet: int) -> NDArray[np.int8]:
    """The hues of the tokens of a document; neighbors differ.

    From the left: a symbol of the alphabet is grey. Any other token gets its own hue (`hue_of`), or the next
    (plus 1, modulo `N_HUES`) if the token before it has that hue, even if both are the same token. Grey may
    follow grey.

    `ids` (int[n]): the tokens of a document, from its beginning: the hues of a part of it may differ;
    `n_alphabet`: the size of the alphabet. Returns int8[n]: for each token an index of `HUES`, or `GREY`.

    >>> hues_of([3, 3, 3, 11, 0, 3], n_alphabet=2).tolist()
    [7, 0, 7, 0, -1, 7]
    """
    tokens = np.asarray(ids, np.int64)
    own = np.where(tokens < n_alphabet, GREY, tokens * 5 % N_HUES).astype(np.int8)
    again = (own[1:] == own[:-1]) & (own[1:] != GREY)
    for i in (np.flatnonzero(again) + 1).tolist():  # equal neighbors; a shifted hue may meet the next
        while i < own.size and own[i] != GREY and own[i] == own[i - 1]:
            own[i] = (own[i] + 1) % N_HUES
            i += 1
    return own


def colours_of(ids: Any, n_alphabet: int, theme: Theme = LIGHT) -> list[str]:
    """The colors of the tokens of a document: `hues_of` in the colors of a theme, each ``"#rrggbb"``.

    >>> colours_of([3, 3, 0], n_alphabet=2)
    ['#256e80', '#089ae4', '#80858d']
    """
    palette = [*theme.hues, theme.grey]  # the last is that of GREY, -1
    return [palette[hue] for hue in hues_of(ids, n_alphabet).tolist()]
