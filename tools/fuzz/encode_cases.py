"""Vocabularies and documents for the fuzzing of encoders, and what the plain references make of them; runs under PyPy too.

Of four shapes, since what a symbol costs the references depends on the shape:

- "few": up to six documents of up to 150 symbols, by all encoders but text's. By the best path a reference
  takes time by the square of the length.
- "many": up to hundreds of documents of up to 40 symbols, by the same.
- "long": few documents of thousands of symbols, with few tokens: by rank and by batches, rarely with dropout.
- "words": text of words, which the pattern of GPT-2 cuts in front of every space.

Every fourth vocabulary is mutated, and sixteen cases in turn start with the same one.
"""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

from reference import decode, encode_pairs, encode_paths

Docs = list[list[int]]
Pairs = list[tuple[int, int]]
SHAPES = {"few": 3, "many": 8, "long": 8, "words": 4}  # how often
DROPOUT = 0.3
LONGEST = 64  # symbols of a token
SPACE, LETTERS = b" "[0], b" abcde"


class Case(NamedTuple):
    """A shape, a vocabulary, in order of creation or not, with weights of its tokens, documents, and by what they are encoded."""

    shape: str
    size: int
    pairs: Pairs
    weights: list[float]
    docs: Docs
    checks: list[str]


def make(seed: int) -> Case:
    """The case of a seed: the same on every machine and in every interpreter."""
    rng = Random(seed)
    shape = rng.choices([*SHAPES], [*SHAPES.values()])[0]
    size = len(LETTERS) if shape == "words" else rng.choice([1, 2, 2, 3, 4, 7, 30])
    mutated = rng.random() < 0.25
    pairs = _pairs(
        Random(seed // 16) if mutated else rng, size, [1, 3, 8, 20] if shape == "long" else [1, 3, 8, 20, 60]
    )
    for _ in range(rng.choice([1, 2, 5]) if mutated else 0):
        pairs = _mutated(rng, pairs, size)
    if shape != "words" and rng.random() < 0.25:
        order = list(range(len(pairs)))
        rng.shuffle(order)
        new = {size + old: size + i for i, old in enumerate(order)}
        pairs = [(new.get(pairs[o][0], pairs[o][0]), new.get(pairs[o][1], pairs[o][1])) for o in order]
    choice = rng.choice([[0.0], [0.5], [0.25, 0.5, 1.0], [rng.random() * 8 for _ in range(50)]])
    weights = [rng.choice(choice) for _ in pairs]
    flat = decode.expand(pairs, size)
    if shape == "words":
        docs = [_words(rng, flat) for _ in range(rng.choice([1, 5, 50]))]
        ids = [*LETTERS, *range(256, 256 + len(pairs))]
        return Case(shape, 256, [(ids[a], ids[b]) for a, b in pairs], weights, docs, ["by_words"])
    checks = ["by_rank", "by_batch", "by_dropout", "by_path"]
    if shape == "few":
        docs = [
            _document(rng, size, flat, rng.choice([0, 1, 2, 5, 20, 60, 150]))
            for _ in range(rng.randrange(1, 7))
        ]
    elif shape == "many":
        longest = rng.choice([3, 10, 20, 20, 40])
        docs = [
            _document(rng, size, flat, rng.randrange(longest + 1)) for _ in range(rng.choice([20, 100, 400]))
        ]
    else:
        lengths = [500, 1023, 1024, 1025, 4095, 4096, 4097, 10_000]
        docs = [_document(rng, size, flat, rng.choice(lengths)) for _ in range(rng.choice([1, 1, 2, 5]))]
        checks = checks[: 3 if rng.random() < 0.1 else 2]
    return Case(shape, size, pairs, weights, docs, checks)


def _pairs(rng: Random, size: int, numbers: list[int]) -> Pairs:
    """Pairs in order of creation, distinct, of tokens of any age or of the last ones."""
    pairs: Pairs = []
    lengths = [1] * size
    recent = rng.random() < 0.3  # deep tokens, built on the last ones
    for _ in range(rng.choice(numbers)):
        low = max(0, len(lengths) - 4) if recent else 0
        pair = rng.randrange(low, len(lengths)), rng.randrange(low if rng.random() < 0.5 else 0, len(lengths))
        if pair not in pairs and lengths[pair[0]] + lengths[pair[1]] <= LONGEST:
            pairs.append(pair)
            lengths.append(lengths[pair[0]] + lengths[pair[1]])
    return pairs


def _mutated(rng: Random, pairs: Pairs, size: int) -> Pairs:
    """With one part changed, the last pair left out, or two tokens of the same symbols; in order of creation as before."""
    kind, at = rng.randrange(3), rng.randrange(len(pairs))
    left, right = pairs[at]
    if kind == 0:
        part = rng.randrange(size + at)
        new = [*pairs[:at], (part, right) if rng.random() < 0.5 else (left, part), *pairs[at + 1 :]]
    elif kind == 1:
        new = pairs[:-1]
    elif left >= size:  # ((a, b), right) and (a, (b, right)) are the same symbols
        a, b = pairs[left - size]
        new = [*pairs, (b, right), (a, size + len(pairs))]
    else:
        return pairs
    longest = max(map(len, decode.expand(new, size)))
    return new if new and len(set(new)) == len(new) and longest <= LONGEST else pairs


def _document(rng: Random, size: int, flat: list[tuple[int, ...]], n: int) -> list[int]:
    """Random, periodic, of one symbol, made of tokens, or made of parts of these."""
    kind = rng.randrange(5)
    if kind == 0:
        return [rng.randrange(size) for _ in range(n)]
    if kind == 1:
        period = [rng.randrange(size) for _ in range(rng.randrange(1, 6))]
        return (period * n)[:n]
    if kind == 2:
        return [rng.randrange(size)] * n
    out: list[int] = []
    while len(out) < n:
        token = rng.choice(flat)
        out += token[: rng.randrange(1, len(token) + 1)] if kind == 4 else token
    return out[:n]


def _words(rng: Random, flat: list[tuple[int, ...]]) -> list[int]:
    """Bytes: words of the letters, a space between every two, perhaps in front of the first."""
    known = [
        [LETTERS[s] for s in _document(rng, len(LETTERS), flat, rng.choice([1, 3, 7, 15, 16, 30]))]
        for _ in range(20)
    ]
    out = [SPACE] * rng.randrange(2)
    for _ in range(rng.choice([1, 5, 100])):
        word = (
            [rng.choice(LETTERS[1:])] * rng.choice([15, 16, 63, 64, 65, 200])
            if rng.random() < 0.02
            else rng.choice(known)
        )
        out += [*([letter for letter in word if letter != SPACE] or [LETTERS[1]]), SPACE]
    return out[:-1]


# ---------------------------------------------------------------------------------------------- references


def by_rank(case: Case) -> list[Docs]:
    """By merge rank."""
    ranks = _ranks(case)
    return [[encode_pairs.encode_rank(doc, ranks) for doc in case.docs]]


def by_batch(case: Case) -> list[Docs]:
    """The articles' rule of several pairs a pass."""
    ranks = _ranks(case)
    return [[encode_pairs.encode_batch(doc, ranks) for doc in case.docs]]


def by_dropout(case: Case) -> list[Docs]:
    """By rank with omissions; the seed is the number of pairs."""
    ranks = _ranks(case)
    return [
        [encode_pairs.encode_dropout(doc, ranks, DROPOUT, len(ranks), i) for i, doc in enumerate(case.docs)]
    ]


def by_path(case: Case) -> list[Docs]:
    """By tf-idf, fewest tokens, and the sum of weights, which are those of idf less one."""
    tokens = {s: i for i, s in enumerate(decode.expand(case.pairs, case.size))}
    idf = {case.size + i: w for i, w in enumerate(case.weights)}
    signed = {t: w - 1.0 for t, w in idf.items()}
    return [
        [list(encode_paths.encode_nbest(doc, tokens, idf, 1)[0][0]) for doc in case.docs],
        [list(encode_paths.encode(doc, tokens, idf, "shortest")) for doc in case.docs],
        [list(encode_paths.encode(doc, tokens, signed, "additive")) for doc in case.docs],
    ]


def by_words(case: Case) -> list[Docs]:
    """By rank, every word with the space in front of it for itself."""
    ranks = _ranks(case)
    out = []
    for doc in case.docs:
        starts = sorted({0, *(i for i, byte in enumerate(doc) if byte == SPACE)})
        parts = [doc[a:z] for a, z in zip(starts, [*starts[1:], len(doc)])]  # noqa: B905 (Python 3.9 has no `strict`)
        out.append([token for part in parts for token in encode_pairs.encode_rank(part, ranks)])
    return [out]


def _ranks(case: Case) -> encode_pairs.Ranked:
    return {pair: (i, case.size + i) for i, pair in enumerate(case.pairs)}


WANTED = {check.__name__: check for check in (by_rank, by_batch, by_dropout, by_path, by_words)}


def answer(seed: int) -> tuple[tuple[Any, ...], list[list[Docs]]]:
    """The case of a seed, and of each of its checks what the references find, one result an objective."""
    case = make(seed)
    return tuple(case), [WANTED[check](case) for check in case.checks]
