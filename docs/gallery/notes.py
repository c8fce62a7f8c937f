"""Notes by name."""

import mido

from ubpe_numba import BPE
from ubpe_numba.plot import SkylineDisplay

names = ["C", "C♯", "D", "E♭", "E", "F", "F♯", "G", "A♭", "A", "B♭", "B"]
midi = mido.MidiFile("../data/bach_bwv846_prelude.mid")
pitches = [event.note for event in midi.tracks[0] if event.type == "note_on" and event.velocity > 0]
notes = [f"{names[pitch % 12]}{pitch // 12 - 1}" for pitch in pitches]  # symbols with names
tok = BPE(128).fit([notes], progress=False)
SkylineDisplay.from_document(tok, notes[:32])
