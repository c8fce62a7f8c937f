"""A document encoded in blocks is the document encoded whole, however small the blocks."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from pair_tables import Table, documents, tables
from tables import each

from ubpe_numba import BPE, Ragged
from ubpe_numba.coding import run
from ubpe_numba.coding.join import join
from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.vocabulary.vocabulary import Vocabulary


@given(st.data(), tables(), st.integers(1, 9), st.integers(1, 5))
def test_a_document_in_tiny_blocks_is_encoded_as_whole(data: st.DataObject, table: Table, least: int, around: int) -> None:
    size, pairs, _ = table
    encoder = PairEncoder(Vocabulary.from_merges(size, pairs), batch=False)
    symbol = st.integers(0, size - 1)
    period = st.lists(symbol, min_size=1, max_size=4)
    n = data.draw(st.integers(60, 200))
    long = data.draw(st.lists(symbol, min_size=n, max_size=n) | period.map(lambda p: (p * n)[:n]))
    before, behind = data.draw(documents(size, 30)), data.draw(documents(size, 30))
    docs = Ragged.from_lists([*before, long, *behind])
    docs = docs[data.draw(st.integers(0, len(before))) :]  # offsets that do not start at 0
    blocks = run.blocks_of(docs.offsets, 2, least)
    want = encoder.encode(docs, 1)
    assert blocks is not None and np.isin(docs.offsets, blocks[0]).all()

    def encode(text: np.ndarray) -> np.ndarray:
        return encoder.encode(Ragged.from_lists([text]), 1).values

    parts = encoder.encode(Ragged(docs.values, blocks[0]), 1)
    got = join(encode, docs, blocks, parts, encoder.lengths, around)
    assert got.to_lists() == want.to_lists() and got.offsets.tolist() == want.compact().offsets.tolist()


@each("period", [1, 17])
def test_periodic_text_is_encoded_again_once(period: int) -> None:
    """In periodic text two blocks may never agree on where tokens begin; then one block is encoded again, not all before it."""
    motif = np.random.default_rng(0).integers(0, 4, period)
    text = np.tile(motif, 400_000 // period).astype(np.int32)
    tok = BPE(30, alphabet=4, n_threads=1).fit(np.split(text[:100_000], range(1000, 100_000, 1000)), progress=False)
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
