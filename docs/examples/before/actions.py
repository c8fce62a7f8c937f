"""The same with tokenizers and scipy: coefficients pass through characters, and what surrounds the model is done by hand."""

import json
import os

import numpy as np
from scipy.fft import dct, idct
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.trainers import BpeTrainer


class Actions:
    def __init__(self, model, scale, low, high, steps, dimensions):
        self.model, self.scale, self.low, self.high = model, scale, low, high
        self.steps, self.dimensions = steps, dimensions
        pieces = [model.id_to_token(i) for i in range(model.get_vocab_size())]
        self.coefficients = [[ord(c) + low for c in piece] for piece in pieces]
        self.lengths = np.array([len(piece) for piece in pieces])

    @classmethod
    def fit(cls, chunks, scale=10.0, vocab_size=1024):
        levels = cls.levels(chunks, scale)
        low, high = int(levels.min()), int(levels.max())
        if high - low >= 0xD800:
            raise ValueError("more coefficients than characters below the surrogates")
        if high - low >= vocab_size:
            raise ValueError(f"vocab_size {vocab_size} is below the {high - low + 1} coefficients")
        model = Tokenizer(BPE())
        trainer = BpeTrainer(
            vocab_size=vocab_size,
            min_frequency=2,
            show_progress=False,
            special_tokens=[],
            initial_alphabet=[chr(i) for i in range(high - low + 1)],
        )
        model.train_from_iterator((cls.text(chunk, low) for chunk in levels), trainer)
        return cls(model, scale, low, high, *chunks.shape[1:])

    @staticmethod
    def levels(chunks, scale):
        if not np.isfinite(chunks).all():
            raise ValueError("not finite")
        return np.rint(dct(chunks, axis=1, norm="ortho") * scale).astype(int)

    @staticmethod
    def text(levels, low):
        return "".join(map(chr, (levels - low).ravel()))

    def __call__(self, chunks):
        if chunks.shape[1:] != (self.steps, self.dimensions):
            raise ValueError(f"chunks: shape {chunks.shape}")
        levels = np.clip(self.levels(chunks, self.scale), self.low, self.high)
        encoded = self.model.encode_batch([self.text(chunk, self.low) for chunk in levels])
        return [encoding.ids for encoding in encoded]

    def in_range(self, chunks):
        levels = self.levels(chunks, self.scale)
        return ((levels >= self.low) & (levels <= self.high)).all(axis=(1, 2))

    def decode(self, tokens):
        rows = [[c for i in ids for c in self.coefficients[i]] for ids in tokens]
        for i, row in enumerate(rows):
            if len(row) != self.steps * self.dimensions:
                raise ValueError(f"chunk {i}: {len(row)} coefficients")
        levels = np.array(rows, float).reshape(-1, self.steps, self.dimensions)
        return idct(levels / self.scale, axis=1, norm="ortho")

    def allowed_tokens(self, left):
        return self.lengths <= left

    def error_bound(self):
        return 0.5 / self.scale * np.abs(idct(np.eye(self.steps), axis=0, norm="ortho")).sum(axis=1).max()

    def save(self, path):
        fields = {
            "scale": self.scale,
            "low": self.low,
            "high": self.high,
            "steps": self.steps,
            "dimensions": self.dimensions,
        }
        with open(path + ".tmp", "w", encoding="utf-8") as f:
            json.dump({"model": self.model.to_str(), **fields}, f)
        os.replace(path + ".tmp", path)

    @classmethod
    def load(cls, path):
        with open(path, encoding="utf-8") as f:
            fields = json.load(f)
        return cls(Tokenizer.from_str(fields.pop("model")), **fields)


rng = np.random.default_rng(0)
begin, end = rng.uniform(-1, 1, (2, 300, 1, 8))
s = np.clip((np.arange(50)[:, None] - rng.uniform(0, 15, (300, 1, 1))) / 30, 0, 1)
chunks = begin + (end - begin) * (10 * s**3 - 15 * s**4 + 6 * s**5) + rng.normal(0, 0.01, (300, 50, 8))
chunks[:, :, 7] = np.sign(chunks[:, :, 7])
train, unseen = chunks[:250], chunks[250:]

Actions.fit(train, vocab_size=1024).save("actions.json")
tok = Actions.load("actions.json")
tokens = tok(unseen)
error = np.abs(tok.decode(tokens) - unseen)[tok.in_range(unseen)].max()
print(f"{len(tok.lengths)} tokens, off by {error:.3f} at most, at most {tok.error_bound():.3f} possible")

drawn = []
while left := unseen[0].size - tok.lengths[drawn].sum():
    drawn.append(int(rng.choice(np.flatnonzero(tok.allowed_tokens(left)))))
assert tok.decode([drawn]).shape == (1, 50, 8)
print(
    f"{sum(map(len, tokens))} tokens, {tokens[0][:8]}..., {error:.6f}, drawn: {len(drawn)} tokens, {drawn[:8]}..."
)
