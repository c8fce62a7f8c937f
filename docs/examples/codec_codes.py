"""Codes of a neural codec, [batch, codebook, time]: each codebook has symbols of its own, and an instant is a frame."""

import numpy as np

from ubpe_numba import BPE
from ubpe_numba.cli.demo import load_ecg

seconds = load_ecg()[0].reshape(300, 360).astype(np.int64)
# a residual quantizer, coarse to fine, as EnCodec's
residuals = [seconds // 32, seconds // 4 % 8, seconds % 4]
np.save("codes.npy", np.stack(residuals, axis=1))

codes = np.load("codes.npy")
batch, books, times = codes.shape
size = int(codes.max()) + 1  # 1024 of EnCodec
docs = (codes.transpose(0, 2, 1) + size * np.arange(books)).reshape(batch, -1)  # one instant after the other
tok = BPE(1024, alphabet=books * size).fit(docs, frame=books)
ids = tok.encode_batch(docs)
back = np.array(list(tok.decode_batch(ids))).reshape(batch, times, books).transpose(0, 2, 1) % size
assert np.array_equal(back, codes)
print(f"{codes.size} codes are {ids.total} tokens")
