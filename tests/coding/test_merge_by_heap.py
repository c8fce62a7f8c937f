"""One merge at a time, and words that are a token as a whole: kernels against plain references, for tables in any order."""

from __future__ import annotations

import random

import numpy as np
from reference.encode_pairs import one_by_one
from tables import each

from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.coding.word_encoder import WordEncoder
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.vocabulary.vocabulary import Vocabulary


def some_merges(rng: random.Random, n_symbols: int, ordered: bool) -> list[tuple[int, int]]:
    """Pairs, each of which makes another sequence; in order of creation, or in any."""
    texts: list[tuple[int, ...]] = [(i,) for i in range(n_symbols)]
    pairs: list[tuple[int, int]] = []
    likely = list(range(97, 100)) if n_symbols == 256 else list(range(n_symbols))
    for _ in range(rng.randrange(1, 14)):
        a, b = rng.choice(likely), rng.choice(likely)
        if texts[a] + texts[b] not in texts and len(texts[a]) + len(texts[b]) < 14:
            likely.append(len(texts))
            pairs.append((a, b))
            texts.append(texts[a] + texts[b])
    if ordered:
        return pairs
    order = rng.sample(range(len(pairs)), len(pairs))
    number = {n_symbols + old: n_symbols + new for new, old in enumerate(order)}
    return [(number.get(pairs[i][0], pairs[i][0]), number.get(pairs[i][1], pairs[i][1])) for i in order]


@each("seed", range(3))
def test_any_order_as_the_reference(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(100):
        n_symbols = rng.choice([1, 2, 3])
        merges = some_merges(rng, n_symbols, ordered=False) or [(0, 0)]
        encoder = PairEncoder(Vocabulary.from_merges(n_symbols, merges), batch=False, one_by_one=True)
        docs = [rng.choices(range(n_symbols), k=rng.choice([0, 1, 2, 5, 40])) for _ in range(12)]
        found = encoder.encode(Ragged.from_lists(docs), rng.choice([1, 2])).to_lists()
        assert found == [one_by_one(doc, merges, n_symbols) for doc in docs], merges


def test_long_runs() -> None:
    merges = [*((rank + 2, 0) for rank in range(8)), (0, 0)]  # a run is made of the next shorter one, the longest first
    encoder = PairEncoder(Vocabulary.from_merges(1, merges), batch=False, one_by_one=True)
    for n in (0, 1, 9, 10, 11, 1000):
        assert encoder.encode(Ragged.from_lists([[0] * n]), None).to_lists() == [one_by_one([0] * n, merges, 1)]


@each("seed", range(2))
def test_whole_words_as_by_a_dictionary(seed: int) -> None:
    rng = random.Random(seed)
    unstable = 0
    for _ in range(40):
        vocabulary = Vocabulary.from_merges(256, some_merges(rng, 256, ordered=True) or [(97, 98)])
        pairs = PairEncoder(vocabulary, batch=False)
        tokens = {bytes(vocabulary.sequence(t).tolist()): t for t in range(len(vocabulary))}
        alone = pairs.encode(Ragged.from_lists([list(word) for word in tokens]), None).to_lists()
        unstable += sum(len(ids) > 1 for ids in alone)
        words = [bytes(rng.choices(b"abc", k=rng.choice([1, 2, 3, 5, 8, 30, 70, 200]))) for _ in range(60)] + [*tokens] * 2
        rng.shuffle(words)
        text = np.frombuffer(b"".join(words), np.uint8)
        segments = np.cumsum([0, *map(len, words)])
        found = WordEncoder(pairs, whole_words=True).encode(text, np.array([0, text.size]), segments)
        plain = pairs.encode(Ragged.from_lists([list(word) for word in words]), None).to_lists()
        expected = [i for word, ids in zip(words, plain, strict=True) for i in ([tokens[word]] if word in tokens else ids)]
        assert found.to_lists() == [expected]
    assert unstable > 5
