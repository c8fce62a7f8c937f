"""ECG."""

import numpy as np

from ubpe_numba import BPE
from ubpe_numba.cli.demo import load_ecg
from ubpe_numba.plot import SkylineDisplay

record, rate = load_ecg()
record = np.asarray(record, float).ravel()
slow = record[: record.size // 6 * 6].reshape(-1, 6).mean(axis=1)  # a sixth of the samples
levels = np.round(slow / 6).astype(int)
tok = BPE(1024, alphabet=np.unique(levels)).fit(levels, progress=False)
SkylineDisplay.from_document(tok, levels, start=600, stop=960, rate=60)
