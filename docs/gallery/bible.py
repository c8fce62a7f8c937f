"""English."""

import gzip

from ubpe_numba import BPE
from ubpe_numba.plot import SkylineDisplay

with gzip.open("../data/kjv_genesis_exodus.txt.gz", "rt") as file:  # a verse a line
    verses = file.read().splitlines()
tok = BPE.for_text(3000).fit(verses, progress=False)
SkylineDisplay.from_document(tok, verses[0] + " " + verses[1][:42])
