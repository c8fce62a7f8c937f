"""The examples of the README for robot actions and for music, in full: what they claim, with sizes that it does not check."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from ubpe_numba import BPE, UBPE
from ubpe_numba.tokenizers.base import Tokenizer


def dct(n: int) -> np.ndarray:
    """The orthonormal DCT-II of n steps."""
    k, t = np.arange(n)[:, None], np.arange(n)
    return np.sqrt(np.where(k == 0, 1, 2) / n) * np.cos(np.pi * k * (t + 0.5) / n)


def test_robot_actions_come_back() -> None:
    """Chunks of 16 steps of 7 joints: DCT, quantised, low frequencies first; the length comes back exactly."""
    rng = np.random.default_rng(0)
    phase = rng.uniform(0, 6, (200, 1, 7)) + np.linspace(0, 2, 16)[:, None]
    chunks = np.sin(phase) + rng.normal(0, 0.01, (200, 16, 7))
    coefficients = np.round(10 * (dct(16) @ chunks)).astype(int).reshape(200, -1)
    tok = BPE(1024).fit(coefficients)
    ids = tok.encode_batch(coefficients)
    back = np.array(tok.decode_batch(ids).to_lists())
    assert back.shape == (200, 16 * 7) and np.array_equal(back, coefficients)
    restored = dct(16).T @ (back.reshape(200, 16, 7) / 10)
    assert np.abs(restored - chunks).max() < 0.3
    assert ids.total < coefficients.size / 2


def test_a_truncated_reply_is_seen() -> None:
    """What a policy wrote can be measured before it is moved: symbols per token are known."""
    tok = BPE(300).fit(np.random.default_rng(1).integers(-3, 4, (50, 112)))
    ids = tok.encode(np.zeros(112, int))
    assert tok.decode(ids).size == 112 and tok.decode(ids[:-1]).size < 112


@pytest.mark.parametrize("make", [BPE, partial(UBPE, objective="shortest")])
def test_no_token_crosses_a_bar_line(make: Callable[..., Tokenizer]) -> None:
    """Notes as pitch and length, bars as boundaries: no token goes over a bar line."""
    rng = np.random.default_rng(0)
    motifs = rng.integers(60, 72, (6, 4)) * 8 + rng.integers(0, 3, (6, 4))
    piece = motifs[rng.integers(0, 6, 400)]
    tok = make(64, alphabet=np.unique(piece)).fit(piece.ravel(), boundaries=np.arange(4, piece.size, 4))
    assert np.diff(tok._model.vocabulary.offsets).max() == 4
    bars = tok.encode_batch(piece)
    assert bars.total == 400 and np.array_equal(np.array(tok.decode_batch(bars).to_lists()), piece)
