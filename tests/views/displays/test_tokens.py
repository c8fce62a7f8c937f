"""A signal coloured by token: what is drawn is the signal, cut where its tokens begin."""

from typing import Any

import numpy as np
import pytest

from ubpe_numba import BPE
from ubpe_numba.plot import TokensDisplay
from ubpe_numba.tokenizers.base import Tokenizer

DOC = np.array([0, 2, 8, 2, 0, 2, 8, 2, 8, 0, 0, 2, 8])


def test_the_line_is_the_signal_cut_at_the_tokens(tok: Tokenizer, axes: Any) -> None:
    display = TokensDisplay.from_document(tok, DOC, ax=axes, rate=10)
    ids, starts = tok.encode(DOC, return_offsets=True)
    assert display.ids.tolist() == ids.tolist() and display.starts.tolist() == starts.tolist()
    stops = [*starts[1:].tolist(), DOC.size]
    for line, a, b in zip(axes.collections[0].get_segments(), starts.tolist(), stops, strict=True):
        until = min(b + 1, DOC.size)  # up to the first sample of the next one
        assert (
            line[:, 0] == pytest.approx(np.arange(a, until) / 10)
            and line[:, 1].tolist() == DOC[a:until].tolist()
        )
    bare = display.plot(display.figure_.add_subplot()).ax_
    assert bare.get_xlim() == (0, DOC.size) and bare.get_xlabel() == "sample"
    assert TokensDisplay.from_document(tok, np.zeros(0, int), ax=axes).ids.size == 0


def test_a_large_constant_has_an_axis(axes: Any) -> None:
    tok = BPE.from_merges([[0, 0]], alphabet=[2**62])
    ax = TokensDisplay.from_document(tok, np.full(3, 2**62), ax=axes).ax_
    assert ax.get_ylim()[0] < 2**62 < ax.get_ylim()[1]
