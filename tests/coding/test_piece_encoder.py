"""Words in pieces against the definition."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from reference.pieces import cut_words

from ubpe_numba.coding.wordpiece import PieceEncoder

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
