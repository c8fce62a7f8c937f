"""The same recording by MNE, which gives volts: each channel is quantized by its own levels."""

import mne
import numpy as np

from ubpe_numba import BPE, Scale
from ubpe_numba.cli.demo import load_beats

levels = load_beats()[0].reshape(3, -1)
info = mne.create_info(["C3", "Cz", "C4"], 120, "eeg")
mne.io.RawArray(levels * 1e-6, info, verbose="error").save(
    "recording_raw.fif", overwrite=True, verbose="error"
)

volts = mne.io.read_raw_fif("recording_raw.fif", verbose="error").get_data().T  # float64[samples, channels]
scale = Scale(step=1e-6, channels="separate")
instants = scale.fit_transform(volts)
tok = BPE(1024).fit(instants.ravel(), frame=3)
ids = tok.encode(instants.ravel())
back = scale.inverse_transform(tok.decode(ids).reshape(-1, 3))
assert np.abs(back - volts).max() <= scale.max_error.max()
print(f"{len(volts)} instants are {ids.size} tokens")
