"""What the pictures and the report are made of: the bundled ECG in levels, and a tokenizer that was fitted to it."""

import functools
from typing import Any

import numpy as np

from ubpe_numba import UBPE
from ubpe_numba.cli.demo import load_ecg

RATE = 120


@functools.cache
def beats() -> tuple[np.ndarray, np.ndarray]:
    """The ECG at 120 Hz without the drift of the electrode, in levels of 6: shapes come again, noise does not."""
    values, offsets = load_ecg()
    slow = values.reshape(-1, 3).mean(1)
    drift = np.convolve(np.pad(slow, 60, mode="edge"), np.ones(121) / 121, "valid")
    return np.round((slow - drift) / 6).astype(np.int64), offsets // 3


@functools.cache
def tokenizer() -> Any:
    """Of 1024 tokens, by the fewest."""
    values, offsets = beats()
    return UBPE(1024, objective="shortest").fit(values, offsets=offsets, progress=False)
