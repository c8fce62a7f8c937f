"""Batches for a language model of PyTorch: padded tensors with masks, and the nested tensor that needs no padding."""

import gzip
import pathlib

import torch
from transformers import GPT2Config, GPT2LMHeadModel

from ubpe_numba import BPE

path = pathlib.Path(__file__).parents[1] / "data" / "kjv_genesis_exodus.txt.gz"
verses = gzip.decompress(path.read_bytes()).decode().splitlines()
tok = BPE.for_text(1000, pretokenizer="gpt2", special_tokens=["<|begin|>", "<|pad|>"]).fit(verses)

inputs = tok(
    verses[:32], template="<|begin|> $A", padding=True, truncation=True, max_length=64, return_tensors="pt"
)
torch.manual_seed(0)
model = GPT2LMHeadModel(GPT2Config(vocab_size=tok.vocab_size, n_positions=64, n_embd=32, n_layer=1, n_head=2))
logits = model(**inputs).logits
nested = tok.encode_batch(verses).to_torch()
print(f"{tuple(logits.shape)}, {nested.size(0)} verses without padding in {nested.values().numel()} ids")
print(
    tuple(inputs.input_ids.shape),
    int(inputs.attention_mask.sum()),
    tok.decode(inputs.input_ids[0], skip_special_tokens=True)[:25],
)
