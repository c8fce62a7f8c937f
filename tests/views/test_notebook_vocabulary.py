"""What notebooks show of a `TokenTable`."""

from __future__ import annotations

import numpy as np
from markup import parsed, pictures, words

from ubpe_numba import BPE, UBPE
from ubpe_numba.views.notebook import vocabulary_html


def test_it_shows_sizes_and_tokens() -> None:
    docs = [[0, 1, 2, 0, 1, 2, 0, 1], [0, 1, 2, 2]]
    vocabulary = BPE(6, alphabet=3).fit(docs).vocabulary
    root = parsed(vocabulary_html(vocabulary), 12_000)
    text = words(root)
    for part in ("Vocabulary: 5 ids", "3 symbols, the ids 0 to 2", "2 tokens, known as pairs", "12 symbols in 2 documents"):
        assert part in text
    assert vocabulary.occurrences is not None
    for token in (3, 4):
        row = f"{token} {vocabulary.occurrences[token]} {vocabulary.lengths[token]} "
        assert row + " ".join(map(str, vocabulary[token])) in text
    assert len(pictures(root)) == 1


def test_it_shows_what_is_known() -> None:
    bare = words(parsed(vocabulary_html(BPE.from_merges([[0, 1], [3, 2]], 3).vocabulary)))
    assert "learned from" not in bare and "most frequent" not in bare and "longest tokens" in bare
    fitted = UBPE(6, objective="shortest").fit([[0, 1, 2] * 4, [0, 1]])
    flat = words(parsed(vocabulary_html(fitted.refine([[0, 1, 2] * 4], progress=False).vocabulary)))
    assert "known as flat sequences" in flat
    empty = parsed(vocabulary_html(BPE.from_merges([], 2).vocabulary))
    assert "nothing yet" in words(empty) and not pictures(empty)
    text = BPE.for_text(258, special_tokens=["<end>"]).fit(["lé lé lé"], progress=False).vocabulary
    shown = words(parsed(vocabulary_html(text)))
    assert "special tokens 1" in shown and "256 symbols, the ids 0 to 255" in shown and "Vocabulary: 259 ids" in shown
    probable = UBPE(8, alphabet=3, objective="likelihood").fit([[0, 1, 2, 0, 1, 2], [0, 1, 0, 1]]).vocabulary
    assert "probabilities estimated" in words(parsed(vocabulary_html(probable)))


def test_a_large_vocabulary_is_small() -> None:
    merges = np.column_stack([np.arange(99_999), np.zeros(99_999, int)])
    merges[1000:, 0] = merges[1000:, 0] % 1000 + 1
    merges[1000:, 1] = np.arange(1000, 99_999) // 1000
    root = parsed(vocabulary_html(BPE.from_merges(merges, 1).vocabulary), 12_000)
    text = words(root)
    assert "Vocabulary: 100,000 ids" in text and "longest tokens" in text
