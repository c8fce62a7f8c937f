"""The tokenizer of DNABERT-2 for a genome: BPE over bases, special tokens first, handed to transformers."""

import pathlib
import zlib

import numpy as np
from transformers import AutoTokenizer

from ubpe_numba import BPE, Preprocessing, export
from ubpe_numba.text import Splitter

SPECIAL = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"]
packed = np.fromfile(pathlib.Path(__file__).parents[1] / "data" / "ecoli_536.2bit", np.uint8)
dna = np.frombuffer(b"ACGT", np.uint8)[packed[:, None] >> np.arange(0, 8, 2) & 3].tobytes().decode()
reads = [dna[i : i + 1000] for i in range(0, len(dna), 1000)]

tok = BPE(
    1024 - len(SPECIAL),
    preprocessing=Preprocessing(
        special_tokens=SPECIAL, special_first=True, pretokenizer=Splitter(["Whitespace"])
    ),
    unknown="[UNK]",
).fit(reads)
roles = {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "mask_token": "[MASK]"}
fast = export(tok, "transformers", template="[CLS] $A [SEP]", model_max_length=512, **roles)
fast.save_pretrained("dna-tokenizer")

tokenizer = AutoTokenizer.from_pretrained("dna-tokenizer")
batch = tokenizer([*reads, "ACGTNACGT"], padding=True, truncation=True, return_tensors="np")
print("an unknown base:", tokenizer.convert_ids_to_tokens(tokenizer("ACGTNACGT")["input_ids"]))
print(
    f"{len(tokenizer)} ids, a batch of {batch['input_ids'].shape}, checksum {zlib.crc32(batch['input_ids'].astype('<i4')):08x}"
)
