"""Notes coloured by token: a bar for each note, none for a rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex

from ubpe_numba import BPE
from ubpe_numba.plot import PianoRollDisplay
from ubpe_numba.views.colours import colours_of

#: Symbols are pitch * 4 + the length as a power of two; pitch 0 is a rest.
TUNE = np.array([60, 64, 67, 60, 64, 67, 0, 60, 64, 67, 72]) * 4 + np.array([0, 0, 1, 0, 0, 1, 2, 0, 0, 1, 3])
READ: dict[str, Any] = {"pitch": lambda s: np.where(s < 4, np.nan, s // 4), "duration": lambda s: 2.0 ** (s % 4)}


@pytest.fixture(scope="module")
def music() -> BPE:
    """A tokenizer whose token 5 is the phrase of three notes."""
    symbols = np.unique(TUNE)
    numbers = np.searchsorted(symbols, TUNE).tolist()
    return BPE.from_merges([numbers[:2], [symbols.size, numbers[2]]], alphabet=symbols)


def test_bars_are_the_notes_in_the_colours_of_their_tokens(music: BPE, axes: Any) -> None:
    display = PianoRollDisplay.from_document(music, TUNE, **READ, ax=axes)
    ids, starts = music.encode(TUNE, return_offsets=True)
    assert len(set(ids.tolist())) < ids.size < TUNE.size
    colours = colours_of(ids, music._model.vocabulary.n_alphabet)
    token_of = np.searchsorted(starts, np.arange(TUNE.size), side="right") - 1
    notes, time = [], 0.0
    for symbol, token in zip(TUNE.tolist(), token_of.tolist(), strict=True):
        if symbol >= 4:
            notes.append((time, symbol // 4, 2.0 ** (symbol % 4), colours[token]))
        time += 2.0 ** (symbol % 4)
    assert len(axes.patches) == len(notes) == 10
    for bar, (onset, pitch, length, colour) in zip(axes.patches, notes, strict=True):
        assert bar.get_x() == onset and bar.get_y() + bar.get_height() / 2 == pytest.approx(pitch)
        assert 0.9 * length < bar.get_width() < length and to_hex(bar.get_facecolor()) == colour
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("time", "pitch")
    assert axes.get_xlim() == (0, time) and axes.get_title(loc="left") == f"10 notes, {ids.size} tokens"
    borders = [line.get_xdata()[0] for line in axes.lines]
    assert borders == display.onset[starts[1:]].tolist()


def test_onsets_may_be_the_callers(music: BPE, axes: Any) -> None:
    PianoRollDisplay.from_document(music, TUNE, **READ, onset=lambda s: np.arange(s.size) // 2, ax=axes)
    assert [bar.get_x() for bar in axes.patches] == [0, 0, 1, 1, 2, 2, 3, 4, 4, 5]
