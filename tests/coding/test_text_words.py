"""Texts as words: the same as text by text, in Python."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ubpe_numba.coding.wordpiece import TextWords
from ubpe_numba.text.normalizer import Normalizer
from ubpe_numba.text.splitter import Splitter
from ubpe_numba.vocabulary.reserved import Reserved
from ubpe_numba.vocabulary.segmenter import Segmenter

SPECIAL = {"<s>": 7, "中a": 9}


def text_by_text(texts: list[str], normalizer: Normalizer, splitter: Splitter) -> list[list[tuple[str, int, list[int]]]]:
    """Of each text the words, the id of each, -1 for one that is no special token, and where its characters come from."""
    found: list[list[tuple[str, int, list[int]]]] = []
    for text in texts:
        words: list[tuple[str, int, list[int]]] = []
        done = at = 0
        while at <= len(text):
            word = next((word for word in SPECIAL if text.startswith(word, at)), None)
            if word is None and at < len(text):
                at += 1
                continue
            changed, came = normalizer.traced(text[done:at])
            words += [(piece, -1, [done + int(came[i]) for i in places]) for piece, places in splitter.traced(changed)]
            if word is not None:
                words.append(("", SPECIAL[word], [at]))
            done = at = at + len(word or " ")
        found.append(words)
    return found


@given(
    st.lists(st.lists(st.sampled_from([*"aB é中\n\u0301\ud800ﬁ", "<s>", "<", "s>"]), max_size=12).map("".join), max_size=5),
    st.sampled_from([["Lowercase"], ["NFKC", "Lowercase"], ["BertNormalizer"], ["StripAccents"], []]),
    st.sampled_from(
        ["BertPreTokenizer", "WhitespaceSplit", {"type": "Split", "pattern": {"String": "a"}, "behavior": "Isolated"}]
    ),
)
def test_words_are_those_of_each_text(texts: list[str], steps: list[str], cut: object) -> None:
    normalizer, splitter = Normalizer(steps), Splitter(cut)
    special = Reserved("str", tuple(SPECIAL), np.array([*SPECIAL.values()], np.int32), np.zeros(2, np.uint16))
    segmenter = Segmenter(splitter, special, normalizer=Normalizer.of(normalizer))
    found, untraced = (TextWords.of(segmenter, texts, trace) for trace in (True, False))
    assert untraced.words == found.words and untraced.ids.tolist() == found.ids.tolist()
    expected = text_by_text(texts, normalizer, splitter)
    for t, words in enumerate(expected):
        put, ids = ["before"], dict[int, int]()
        found.put(t, put, ids)
        assert put == ["before", *(word for word, _, _ in words)]
        assert ids == {i + 1: token for i, (_, token, _) in enumerate(words) if token >= 0}
        for i, (_, _, places) in enumerate(words):
            of, characters = np.full((2, len(places)), [[t], [i]]), np.arange(len(places))
            assert found.positions(*of, characters).tolist() == places
