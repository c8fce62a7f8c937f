"""DNA."""

import numpy as np

from ubpe_numba import BPE
from ubpe_numba.plot import SkylineDisplay

packed = np.fromfile("../data/ecoli_536.2bit", np.uint8)  # Escherichia coli 536, four bases a byte
bases = (packed[:, None] >> np.arange(0, 8, 2, dtype=np.uint8) & 3).ravel()
dna = np.array(list("ACGT"))[bases]
text = "".join(dna)
tok = BPE(2048, alphabet="ACGT").fit([text], progress=False)
SkylineDisplay.from_document(tok, text, start=80, stop=180)
