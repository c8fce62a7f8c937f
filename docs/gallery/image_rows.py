"""Rows of an image."""

import numpy as np
from sklearn.datasets import load_digits

from ubpe_numba import BPE
from ubpe_numba.plot import SkylineDisplay

digits = load_digits().images.astype(int) // 2  # 1797 images of 8 rows of 8 pixels, bundled with scikit-learn
rows = digits.reshape(-1, 64)
tok = BPE(512, alphabet=np.unique(rows)).fit(rows, progress=False)
SkylineDisplay.from_document(tok, rows[0]).ax_.set_xlabel("pixel")
