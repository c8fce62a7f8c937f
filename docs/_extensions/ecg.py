"""What the pictures and the report are made of: the beats of the demo, and a tokenizer that was fitted to them."""

import functools
from typing import Any

import numpy as np

from ubpe_numba import UBPE
from ubpe_numba.cli.demo import BEAT_RATE as RATE, load_beats

__all__ = ["RATE", "beats", "tokenizer"]


@functools.cache
def beats() -> tuple[np.ndarray, np.ndarray]:
    """The levels, and where their documents begin."""
    levels, offsets, _ = load_beats()
    return levels, offsets


@functools.cache
def tokenizer() -> Any:
    """Of 1024 tokens and all levels, by the fewest."""
    levels, offsets, scale = load_beats()
    return UBPE(1024, objective="shortest", alphabet=scale.n_symbols).fit(
        levels, offsets=offsets, progress=False
    )
