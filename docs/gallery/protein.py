"""Protein."""

import itertools
import re

import numpy as np

from ubpe_numba import BPE
from ubpe_numba.plot import SkylineDisplay

packed = np.fromfile("../data/ecoli_536.2bit", np.uint8)  # Escherichia coli 536, four bases a byte
dna = "".join(np.array(list("ACGT"))[(packed[:, None] >> np.arange(0, 8, 2, dtype=np.uint8) & 3).ravel()])
acids = "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"
code = dict(zip(map("".join, itertools.product("TCAG", repeat=3)), acids, strict=True))
frames = ["".join(code[dna[i : i + 3]] for i in range(frame, len(dna) - 2, 3)) for frame in range(3)]
proteins = [found for frame in frames for found in re.findall(r"M[^*]{99,}", frame)]  # from a start to a stop
tok = BPE(1024, alphabet=sorted(set(acids) - {"*"})).fit(proteins, progress=False)
SkylineDisplay.from_document(tok, max(proteins, key=len), stop=100)
