"""A document encoded in blocks is the document encoded whole, however small the blocks."""

import numpy as np
from tables import each

from ubpe_numba import BPE, Ragged
from ubpe_numba.coding import run
from ubpe_numba.coding.join import join


@each("period", [1, 17])
def test_periodic_text_is_encoded_again_once(period: int) -> None:
    """In periodic text two blocks may never agree on where tokens begin; then one block is encoded again, not all before it."""
    motif = np.random.default_rng(0).integers(0, 4, period)
    text = np.tile(motif, 400_000 // period).astype(np.int32)
    tok = BPE(30, alphabet=4, n_threads=1).fit(
        np.split(text[:100_000], range(1000, 100_000, 1000)), progress=False
    )
    docs = Ragged.from_lists([text])
    assert run.blocks_of(docs.offsets, 2) is None  # too short for what a block has by default
    blocks = run.blocks_of(docs.offsets, 2, 50_000)
    assert blocks is not None and blocks[2].tolist() == [7 if text.size < 400_000 else 8]
    again = []

    def encode(stretch: np.ndarray) -> np.ndarray:
        again.append(stretch.size)
        ids: np.ndarray = tok.encode(stretch)
        return ids

    parts = tok.encode_batch(docs.values, blocks[0])
    found = join(encode, docs, blocks, parts, np.diff(tok._model.vocabulary.offsets), 64)
    assert np.array_equal(found.values, tok.encode(text)) and sum(again) < 1.2 * text.size
