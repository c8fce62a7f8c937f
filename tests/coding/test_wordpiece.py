"""Words in pieces against the definition, and texts as words."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from reference.pieces import cut_words

from ubpe_numba.coding.wordpiece import PieceEncoder, TextWords
from ubpe_numba.text.normalizer import Normalizer
from ubpe_numba.text.splitter import Splitter
from ubpe_numba.vocabulary.reserved import Reserved
from ubpe_numba.vocabulary.segmenter import Segmenter

LETTERS = "ab#é\U0001f600\ud800\0"
PIECE = st.text(LETTERS, max_size=4)
WORDS = st.lists(st.text(LETTERS + "c", max_size=12), max_size=8)


@given(st.sets(PIECE, max_size=12), WORDS, st.sampled_from(["##", "", "#", "a"]), st.integers(1, 13))
@example(set(), ["", "a"], "##", 5)
@example({"a"}, ["aa", "a", ""], "##", 5)  # a character that begins words and is inside of none
@example({"##", "####a", "##a"}, ["##", "###a", "##a", "a##a", "###", "####a"], "##", 9)
@example({"a", "aaa", "##aa"}, ["aaaa", "aaaaa", "aaaaaa"], "##", 6)  # the longest is not always the one that goes on
def test_pieces_are_the_longest(pieces: set[str], words: list[str], prefix: str, longest: int) -> None:
    listed = sorted(pieces | {"##" + piece for piece in pieces})
    ids = {piece: 3 * i + 1 for i, piece in enumerate(listed)}
    encoder = PieceEncoder(ids, prefix, 0, longest)
    expected = cut_words(words, ids, 0, prefix, longest)
    found = encoder.encode(words, 1)
    assert found.values.tolist() == [i for i, _, _ in expected]
    again, starts = encoder.encode_with_starts(words, 1)
    assert again == found
    assert [(i, word, start) for (i, word), start in zip(_numbered(again), starts.tolist(), strict=True)] == expected


def _numbered(found: object) -> list[tuple[int, int]]:
    return [(i, word) for word, ids in enumerate(found.to_lists()) for i in ids]  # type: ignore[attr-defined]


def test_words_of_a_million_characters() -> None:
    encoder = PieceEncoder({"a": 1, "##a": 2, "##aa": 3, "##aaa": 4}, "##", 0, 2**20)
    word = "a" * 2**20
    assert encoder.encode([word + "a", word, word[1:] + "b", "a"], 2).to_lists() == [[0], [1] + [4] * 349525, [0], [1]]


# ----------------------------------------------------------------------------------------------------------------- texts as words


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
