"""Speech."""

import importlib.resources
import wave

import numpy as np

from ubpe_numba import BPE
from ubpe_numba.plot import SkylineDisplay

# a sentence at 16 kHz, bundled with AMFM-decompy
sample = importlib.resources.files("amfm_decompy") / "sample.wav"
with sample.open("rb") as file, wave.open(file) as sound:
    heard = np.frombuffer(sound.readframes(sound.getnframes()), "<i2")
slow = heard[: heard.size // 4 * 4].reshape(-1, 4).mean(axis=1)  # a quarter of the samples
levels = np.round(3 * slow / np.abs(slow).max()).astype(int)
tok = BPE(110, alphabet=np.unique(levels)).fit(levels, progress=False)
SkylineDisplay.from_document(tok, levels, start=2400, stop=2720, rate=4000)
