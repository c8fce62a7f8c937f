"""The same with tokenizers alone."""

import gzip
import pathlib

import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

DATA = pathlib.Path(__file__).parents[2] / "data"
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]

verses = gzip.decompress((DATA / "kjv_genesis_exodus.txt.gz").read_bytes()).decode().splitlines()
tok = Tokenizer(models.BPE(unk_token="[UNK]"))
tok.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
trainer = trainers.BpeTrainer(vocab_size=2000, special_tokens=SPECIAL, min_frequency=2, show_progress=False)
tok.train_from_iterator(verses, trainer)

embedding = np.zeros((tok.get_vocab_size(), 8))
pad, sep = tok.token_to_id("[PAD]"), tok.token_to_id("[SEP]")
ids = tok.encode(verses[0] + "[SEP]").ids
print("rows", len(embedding), "pad", pad, "ends with sep", ids[-1] == sep)
print([tok.id_to_token(i) for i in ids[:8]])
print(len(tok.get_vocab()), ids)
