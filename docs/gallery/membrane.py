"""Current through a membrane."""

import matplotlib.cbook
import numpy as np

from ubpe_numba import BPE
from ubpe_numba.plot import SkylineDisplay

# a current through a membrane, bundled with matplotlib
with matplotlib.cbook.get_sample_data("membrane.dat") as file:
    current = np.frombuffer(file.read(), np.float32)
levels = np.round(current[: current.size // 8 * 8].reshape(-1, 8).mean(axis=1) * 4).astype(int)
tok = BPE(200, alphabet=np.unique(levels)).fit(levels, progress=False)
SkylineDisplay.from_document(tok, levels, stop=300)
