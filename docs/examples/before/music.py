"""The same with MidiTok alone, which cannot go on to a larger vocabulary: a second training numbers all tokens anew."""

import pathlib

from miditok import REMI, TokenizerConfig, TokSequence

scores = sorted((pathlib.Path(__file__).parents[2] / "data").glob("*.mid"))

tokenizer = REMI(TokenizerConfig(use_programs=True, use_tempos=True, encode_ids_split="beat"))
tokenizer.train(vocab_size=550, files_paths=scores)
tokenizer.save("tokenizer.json")
tokens = tokenizer.encode(scores[0])
assert isinstance(tokens, TokSequence)
print(len(tokenizer), "tokens;", scores[0].name, "is", len(tokens), "of them")

print(tokens.ids)
