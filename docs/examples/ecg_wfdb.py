"""A record of PhysioNet, in the units of its file: wfdb gives samples by channels, and a channel is a document."""

import numpy as np
import wfdb

from ubpe_numba import BPE
from ubpe_numba.cli.demo import load_ecg

# of MIT-BIH; with a network: wfdb.rdrecord("100", pn_dir="mitdb", physical=False)
lead = load_ecg()[0].astype(np.int64)
about = {"fs": 360, "units": ["mV", "mV"], "sig_name": ["lead", "slope"], "fmt": ["16", "16"]}
both = np.stack([lead, np.diff(lead, prepend=lead[0])], axis=1)
wfdb.wrsamp("record", d_signal=both, adc_gain=[200, 200], baseline=[0, 0], **about)

# int64[channels, samples]; a missing sample is a value, too
channels = wfdb.rdrecord("record", physical=False).d_signal.T
tok = BPE(2048).fit(channels)
ids = tok.encode_batch(channels)
assert np.array_equal(np.stack(tok.decode_batch(ids)), both.T)
print(f"{both.size} samples are {ids.total} tokens, of {len(ids)} channels of {len(channels[0])}")
