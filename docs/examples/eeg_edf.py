"""Channels of an EDF file that keep together: an instant is a frame, and no token ends in the middle of one."""

import numpy as np
from pyedflib import highlevel

from ubpe_numba import BPE
from ubpe_numba.cli.demo import load_beats

levels = load_beats()[0].reshape(3, -1)  # three channels of whole seconds
heads = highlevel.make_signal_headers(
    ["C3", "Cz", "C4"], sample_frequency=120, physical_min=-100, physical_max=100
)
highlevel.write_edf("eeg.edf", levels, heads, digital=True)

channels, _, _ = highlevel.read_edf("eeg.edf", digital=True)  # int32[channels, samples]
instants = np.ascontiguousarray(channels.T).ravel()
tok = BPE(1024).fit(instants, frame=3)
ids, spans = tok.encode(instants, return_offsets="spans")
inside, whole = spans[:, 0] // 3 == (spans[:, 1] - 1) // 3, (spans % 3 == 0).all(axis=1)
assert (inside | whole).all()
assert np.array_equal(tok.decode(ids).reshape(-1, 3).T, levels)
print(
    f"{instants.size // 3} instants are {ids.size} tokens, {int((whole & ~inside).sum())} of them of several instants"
)
