"""Encode a column of polars, and keep the ids in it, by way of lists of Python."""

import gzip
from pathlib import Path

import numpy as np
import polars as pl
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

DATA = Path(__file__).parents[2] / "data" / "kjv_genesis_exodus.txt.gz"
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

with gzip.open(DATA, "rt", encoding="ascii") as file:
    verses = pl.DataFrame({"verse": file.read().splitlines()})

tok = Tokenizer(models.BPE())
tok.pre_tokenizer = pre_tokenizers.Sequence(
    [
        pre_tokenizers.Split(Regex(GPT2), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ]
)
tok.decoder = decoders.ByteLevel()
alphabet = pre_tokenizers.ByteLevel.alphabet()
trainer = trainers.BpeTrainer(vocab_size=1000, initial_alphabet=alphabet, show_progress=False)
tok.train_from_iterator(verses["verse"].to_list(), trainer)
ids = [encoding.ids for encoding in tok.encode_batch(verses["verse"].to_list())]
verses = verses.with_columns(ids=pl.Series(ids, dtype=pl.List(pl.Int32)))
verses = verses.with_columns(n_tokens=pl.col("ids").list.len())
print(verses.sort("n_tokens", descending=True).head(3))

longest = verses.sort("n_tokens", descending=True).head(3)["ids"].to_list()
print(tok.decode_batch(longest)[0])

rows = verses["ids"].to_list()
matrix = np.zeros((len(rows), 64), np.int32)
mask = np.zeros((len(rows), 64), bool)
for i, row in enumerate(rows):
    kept = row[:64]
    matrix[i, : len(kept)] = kept
    mask[i, : len(kept)] = True
print(matrix.shape, int(mask.sum()), verses["n_tokens"].sum())
