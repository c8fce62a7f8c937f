"""The tokenizer of DNABERT-2 for a genome by the packages tokenizers and transformers alone."""

import pathlib
import zlib

import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import AutoTokenizer, PreTrainedTokenizerFast

SPECIAL = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"]
packed = np.fromfile(pathlib.Path(__file__).parents[2] / "data" / "ecoli_536.2bit", np.uint8)
dna = np.frombuffer(b"ACGT", np.uint8)[packed[:, None] >> np.arange(0, 8, 2) & 3].tobytes().decode()
reads = [dna[i : i + 1000] for i in range(0, len(dna), 1000)]

tok = Tokenizer(models.BPE(unk_token="[UNK]"))
tok.pre_tokenizer = pre_tokenizers.Whitespace()
trainer = trainers.BpeTrainer(vocab_size=1024, special_tokens=SPECIAL, min_frequency=2, show_progress=False)
tok.train_from_iterator(reads, trainer)
tok.post_processor = processors.TemplateProcessing(
    single="[CLS] $A [SEP]",
    pair="[CLS] $A [SEP] $B:1 [SEP]:1",
    special_tokens=[(word, tok.token_to_id(word)) for word in ("[CLS]", "[SEP]")],
)
fast = PreTrainedTokenizerFast(
    tokenizer_object=tok, model_max_length=512, clean_up_tokenization_spaces=False,
    unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", pad_token="[PAD]", mask_token="[MASK]",
)  # fmt: skip
fast.save_pretrained("dna-tokenizer")

tokenizer = AutoTokenizer.from_pretrained("dna-tokenizer")
batch = tokenizer([*reads, "ACGTNACGT"], padding=True, truncation=True, return_tensors="np")
print("an unknown base:", tokenizer.convert_ids_to_tokens(tokenizer("ACGTNACGT")["input_ids"]))
print(
    f"{len(tokenizer)} ids, a batch of {batch['input_ids'].shape}, checksum {zlib.crc32(batch['input_ids'].astype('<i4')):08x}"
)
