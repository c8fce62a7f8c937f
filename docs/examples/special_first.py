"""A vocabulary with special tokens first, as models of the BERT kind have it, and what a model needs to know of it."""

import gzip
import pathlib

import numpy as np

from ubpe_numba import BPE, Preprocessing
from ubpe_numba.text import Splitter

DATA = pathlib.Path(__file__).parents[1] / "data"
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]

verses = gzip.decompress((DATA / "kjv_genesis_exodus.txt.gz").read_bytes()).decode().splitlines()
tok = BPE(
    1995,
    preprocessing=Preprocessing(
        pretokenizer=Splitter(["WhitespaceSplit"]), special_tokens=SPECIAL, special_first=True
    ),
)
tok.fit(verses)

embedding = np.zeros((tok.vocab_size, 8))
pad, sep = tok.token_to_id("[PAD]"), tok.token_to_id("[SEP]")
ids = tok.encode(verses[0] + "[SEP]", allowed_special="all")
print("rows", len(embedding), "pad", pad, "ends with sep", ids[-1] == sep)
print([tok.id_to_token(i) for i in ids[:8].tolist()])
print(len(tok.get_vocab()), ids.tolist())
