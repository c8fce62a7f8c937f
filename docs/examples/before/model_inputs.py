"""The same with tokenizers and transformers."""

import gzip
import pathlib

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

path = pathlib.Path(__file__).parents[2] / "data" / "kjv_genesis_exodus.txt.gz"
verses = gzip.decompress(path.read_bytes()).decode().splitlines()
trained = Tokenizer(models.BPE())
trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
trained.decoder = decoders.ByteLevel()
special = ["<|begin|>", "<|pad|>"]
alphabet = pre_tokenizers.ByteLevel.alphabet()
trainer = trainers.BpeTrainer(
    vocab_size=1002, special_tokens=special, initial_alphabet=alphabet, show_progress=False
)
trained.train_from_iterator(verses, trainer)
trained.post_processor = processors.TemplateProcessing(
    single="<|begin|> $A", special_tokens=[("<|begin|>", 0)]
)
tok = PreTrainedTokenizerFast(tokenizer_object=trained, pad_token="<|pad|>", bos_token="<|begin|>")

inputs = tok(
    verses[:32],
    padding=True,
    truncation=True,
    max_length=64,
    return_tensors="pt",
    return_token_type_ids=False,
)
torch.manual_seed(0)
model = GPT2LMHeadModel(GPT2Config(vocab_size=len(tok), n_positions=64, n_embd=32, n_layer=1, n_head=2))
logits = model(**inputs).logits
rows = [torch.tensor(ids) for ids in tok(verses, add_special_tokens=False)["input_ids"]]
nested = torch.nested.nested_tensor(rows, layout=torch.jagged)
print(f"{tuple(logits.shape)}, {nested.size(0)} verses without padding in {nested.values().numel()} ids")
text = tok.decode(inputs["input_ids"][0], skip_special_tokens=True, clean_up_tokenization_spaces=False)
print(tuple(inputs["input_ids"].shape), int(inputs["attention_mask"].sum()), text[:25])
