"""What notebooks show of a `Vocabulary`."""

from __future__ import annotations

import numpy as np
from markup import parsed, pictures, words

from ubpe_numba import BPE, UBPE
from ubpe_numba.views.notebook import vocabulary_html
from ubpe_numba.vocabulary.vocabulary import Vocabulary


def test_it_shows_sizes_and_tokens() -> None:
    docs = [[0, 1, 2, 0, 1, 2, 0, 1], [0, 1, 2, 2]]
    vocabulary = BPE(6, alphabet=3).fit(docs)._model.vocabulary
    root = parsed(vocabulary_html(vocabulary), 12_000)
    text = words(root)
    for part in ("Vocabulary: 5 tokens", "3 symbols, the ids 0 to 2", "2 tokens, known as pairs", "12 symbols in 2 documents"):
        assert part in text
    assert vocabulary.occurrences is not None
    for token in (3, 4):
        row = f"{token} {vocabulary.occurrences[token]} {len(vocabulary.sequence(token))} "
        assert row + " ".join(map(str, vocabulary.sequence(token))) in text
    assert len(pictures(root)) == 1


def test_it_shows_what_is_known() -> None:
    bare = words(parsed(vocabulary_html(Vocabulary.from_merges(3, [[0, 1], [3, 2]]))))
    assert "learned from" not in bare and "most frequent" not in bare and "longest tokens" in bare
    merged = words(parsed(vocabulary_html(Vocabulary.from_merges(3, [[0, 1], [3, 2]], counts=[9, 4]))))
    assert "most frequent" in merged and "merged" in merged and "occurrences" not in merged
    flat = words(parsed(vocabulary_html(Vocabulary.from_sequences(2, [0, 1, 1], [3]))))
    assert "1 tokens, known as flat sequences" in flat
    empty = parsed(vocabulary_html(Vocabulary.from_merges(2, [])))
    assert "nothing yet" in words(empty) and not pictures(empty)
    probable = UBPE(8, alphabet=3, objective="likelihood").fit([[0, 1, 2, 0, 1, 2], [0, 1, 0, 1]])._model.vocabulary
    assert "probabilities estimated" in words(parsed(vocabulary_html(probable)))


def test_a_large_vocabulary_is_small() -> None:
    merges = np.column_stack([np.arange(99_999), np.zeros(99_999, int)])
    merges[1000:, 0] = merges[1000:, 0] % 1000 + 1
    merges[1000:, 1] = np.arange(1000, 99_999) // 1000
    vocabulary = Vocabulary.from_merges(1, merges, counts=np.arange(99_999) * 10**12)
    root = parsed(vocabulary_html(vocabulary), 12_000)
    text = words(root)
    assert "Vocabulary: 100,000 tokens" in text and "99,998,000,000,000,000" in text and "longest tokens" in text
