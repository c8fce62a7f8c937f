"""Documents on which an export is tested: tokens of a vocabulary, alone and in pairs, random symbols, and text of many kinds."""

from __future__ import annotations

import random

import numpy as np

from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.vocabulary import Vocabulary

#: English, its contractions, German, Russian, Greek, Chinese, Japanese, Arabic, code, numbers, emoji, control characters.
TEXTS = (
    "In the beginning God created the heaven and the earth. It's what we'll SAY: they'Ve, I'D, don't.",
    "Zwölf Boxkämpfer jagen Viktor; съешь ещё этих мягких французских булок, ΟΔΥΣΣΕΥΣ ὀδυσσεύς.",
    "我能吞下玻璃而不伤身体。いろはにほへと ちりぬるを、カタカナ混じり。العربية ١٢٣",
    "def f(x):\n\treturn {'a': x**2, \"b\": [1, 2.5e-10]}  # 12345678 µs\r\n\r\n    if not x:  \n\n  pass   ",
    "👩‍👩‍👧‍👦 🇯🇵 ½ ² ǅ e\u0301 \u00a0\u2028\u200b\x00\x01\x1c\x7f\x85 \t \v\f",
)
_TOKENS, _PAIRS, _RANDOM = 4000, 1000, 50  # at most so many tokens; so many pairs of tokens, and twice so many random documents


def texts(pieces: list[str], special: list[str]) -> list[str]:
    """Texts for a model of words: pieces alone and several, `TEXTS` and special tokens among them. Deterministic."""
    rng = random.Random(0)
    out = [*TEXTS, *(pieces if len(pieces) <= _TOKENS else rng.sample(pieces, _TOKENS))]
    out += [rng.choice(["", " "]).join(rng.choices(pieces, k=rng.randrange(2, 6))) for _ in range(_PAIRS)]
    out += [f"{rng.choice(out)}{word}{rng.choice(out)}" for word in special]
    out += ["".join(rng.choices("".join(TEXTS), k=rng.randrange(60))) for _ in range(2 * _RANDOM)]
    return out


def documents(alphabet: Alphabet, vocabulary: Vocabulary) -> list[list[int]]:
    """Documents of alphabet ids: tokens, pairs of tokens, random symbols and, for text, `TEXTS` without unknown symbols.

    Deterministic: the same for equal arguments. At most 5105 documents of at most 4096 symbols.
    """
    rng = random.Random(0)
    size = len(vocabulary)
    tokens = range(size) if size <= _TOKENS else sorted(rng.sample(range(size), _TOKENS))
    out = [vocabulary.sequence(t)[:4096].tolist() for t in tokens]
    for _ in range(_PAIRS):
        out.append([s for t in rng.choices(range(size), k=2) for s in vocabulary.sequence(t)[:1024].tolist()])
    for _ in range(_RANDOM):
        out.append(rng.choices(range(alphabet.size), k=rng.randrange(200)))
        few = rng.sample(range(alphabet.size), min(3, alphabet.size))
        out.append(rng.choices(few, k=rng.randrange(60)))
    if alphabet.kind != "int":
        for text in TEXTS:
            symbols = list(text.encode()) if alphabet.kind == "bytes" else [ord(c) for c in text]
            ids = alphabet.lookup(np.array(symbols, np.int64))
            out.append(ids[ids >= 0].tolist())
    return out
