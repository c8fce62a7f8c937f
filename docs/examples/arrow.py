"""Encode a column of polars, and keep the ids in it: nothing becomes an object of Python on the way."""

import gzip
from pathlib import Path

import polars as pl

from ubpe_numba import BPE, Ragged

DATA = Path(__file__).parents[1] / "data" / "kjv_genesis_exodus.txt.gz"

with gzip.open(DATA, "rt", encoding="ascii") as file:
    verses = pl.DataFrame({"verse": file.read().splitlines()})

tok = BPE.for_text(1000, pretokenizer="gpt2").fit(verses["verse"], progress=False)
verses = verses.with_columns(ids=pl.Series(tok.encode_batch(verses["verse"])))
verses = verses.with_columns(n_tokens=pl.col("ids").list.len())
print(verses.sort("n_tokens", descending=True).head(3))

longest = Ragged.from_arrow(verses.sort("n_tokens", descending=True).head(3)["ids"])
print(tok.decode_batch(longest)[0])

matrix, mask = Ragged.from_arrow(verses["ids"]).to_padded(0, 64, truncate=True, return_mask=True)
print(matrix.shape, int(mask.sum()), verses["n_tokens"].sum())
