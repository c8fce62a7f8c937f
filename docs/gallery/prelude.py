"""Prelude."""

import mido
import numpy as np

from ubpe_numba import BPE
from ubpe_numba.plot import SkylineDisplay

midi = mido.MidiFile("../data/bach_bwv846_prelude.mid")  # the prelude in C major of Bach, sixteen notes a bar
events = [event for event in midi.tracks[0] if event.type == "note_on" and event.velocity > 0]
pitch = np.array([event.note for event in events])
tok = BPE(128, alphabet=np.unique(pitch)).fit(pitch, progress=False)
SkylineDisplay.from_document(tok, pitch, stop=256, bar=16)
