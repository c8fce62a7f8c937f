"""EEG."""

import matplotlib.cbook
import numpy as np

from ubpe_numba import BPE
from ubpe_numba.plot import SkylineDisplay

# 800 samples of four channels, bundled with matplotlib
with matplotlib.cbook.get_sample_data("eeg.dat") as file:
    channels = np.frombuffer(file.read(), float).reshape(800, 4).T
levels = np.round(4 * channels / channels.std(axis=1, keepdims=True)).astype(int)
tok = BPE(160, alphabet=np.unique(levels)).fit(levels, progress=False)
SkylineDisplay.from_document(tok, levels[0], stop=240)
