"""Train MidiTok's REMI on scores, save it, and encode a score; later, go on to a larger vocabulary."""

import pathlib

from miditok import TokenizerConfig, TokSequence

from ubpe_numba.integrations.miditok import REMI

scores = sorted((pathlib.Path(__file__).parents[1] / "data").glob("*.mid"))

tokenizer = REMI(TokenizerConfig(use_programs=True, use_tempos=True, encode_ids_split="beat"))
tokenizer.train(vocab_size=550, files_paths=scores)
tokenizer.save("tokenizer.json")  # MidiTok alone reads it, too
before = tokenizer.vocab_model or {}
tokens = tokenizer.encode(scores[0])
assert isinstance(tokens, TokSequence)
print(len(tokenizer), "tokens;", scores[0].name, "is", len(tokens), "of them")

tokenizer.train_more(vocab_size=650, files_paths=scores)
after = tokenizer.vocab_model or {}
kept = all(after[token] == i for token, i in before.items())
print(len(tokenizer), "tokens, every id kept:", kept, "- the score is now", len(tokenizer.encode(scores[0])))

print(tokens.ids)
