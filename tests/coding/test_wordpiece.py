"""Words in pieces against the definition, and texts as words."""

from typing import Any

from hypothesis import example, given, strategies as st
from reference.pieces import cut_words

from ubpe_numba import Preprocessing, WordPiece
from ubpe_numba.text.normalizer import Normalizer
from ubpe_numba.text.splitter import Splitter

LETTERS = "ab#é\U0001f600\ud800\0"
PIECE = st.text(LETTERS, max_size=4)
WORDS = st.lists(st.text(LETTERS + "c", max_size=12), max_size=8)


@given(st.sets(PIECE, max_size=12), WORDS, st.sampled_from(["##", "", "#", "a"]), st.integers(1, 13))
@example(set(), ["", "a"], "##", 5)
@example({"a"}, ["aa", "a", ""], "##", 5)  # a character that begins words and is inside of none
@example({"##", "####a", "##a"}, ["##", "###a", "##a", "a##a", "###", "####a"], "##", 9)
# the longest is not always the one that goes on
@example({"a", "aaa", "##aa"}, ["aaaa", "aaaaa", "aaaaaa"], "##", 6)
def test_pieces_are_the_longest(pieces: set[str], words: list[str], prefix: str, longest: int) -> None:
    listed = sorted(pieces | {"##" + piece for piece in pieces})
    ids = {piece: 3 * i + 1 for i, piece in enumerate(listed)}
    tok = WordPiece({"?": 0} | ids, unknown="?", prefix=prefix, longest=longest, n_threads=1)
    expected = cut_words(words, ids, 0, prefix, longest)
    found, starts = tok.encode_batch([[word] for word in words], return_offsets=True)
    numbered = [
        (i, word, start)
        for word in range(len(words))
        for i, start in zip(found[word], starts[word], strict=True)
    ]
    assert numbered == expected and tok.encode(words).tolist() == found.values.tolist()


def test_words_of_a_million_characters() -> None:
    tok = WordPiece(
        {"?": 0, "a": 1, "##a": 2, "##aa": 3, "##aaa": 4}, unknown="?", longest=2**20, n_threads=2
    )
    word = "a" * 2**20
    assert tok.encode_batch([[word + "a"], [word], [word[1:] + "b"], ["a"]]).to_lists() == [
        [0],
        [1] + [4] * 349525,
        [0],
        [1],
    ]


SPECIAL = {"<s>": 7, "中a": 9}


def text_by_text(
    texts: list[str], normalizer: Normalizer, splitter: Splitter
) -> list[list[tuple[int, list[int]]]]:
    """Of each text the ids of words of which each is one unknown piece, or special tokens, and their places."""
    found: list[list[tuple[int, list[int]]]] = []
    for text in texts:
        words: list[tuple[int, list[int]]] = []
        done = at = 0
        while at <= len(text):
            word = next((word for word in SPECIAL if text.startswith(word, at)), None)
            if word is None and at < len(text):
                at += 1
                continue
            changed, came = normalizer.traced(text[done:at])
            words += [
                (0, [done + int(came[ends[0]]), done + int(came[ends[-1]]) + 1])
                for _, ends in splitter.traced(changed)
            ]
            if word is not None:
                words.append((SPECIAL[word], [at, at + len(word)]))
            done = at = at + len(word or " ")
        found.append(words)
    return found


@given(
    st.lists(
        st.lists(st.sampled_from([*"aB é中\n\u0301\ud800ﬁ", "<s>", "<", "s>"]), max_size=12).map("".join),
        max_size=5,
    ),
    st.sampled_from([["Lowercase"], ["NFKC", "Lowercase"], ["BertNormalizer"], ["StripAccents"], []]),
    st.sampled_from(
        [
            "BertPreTokenizer",
            "WhitespaceSplit",
            {"type": "Split", "pattern": {"String": "a"}, "behavior": "Isolated"},
        ]
    ),
)
def test_words_are_those_of_each_text(texts: list[str], steps: list[str], cut: object) -> None:
    normalizer, splitter = Normalizer(steps), Splitter(cut)
    cut = Preprocessing(splitter, SPECIAL, normalizer=Normalizer.of(normalizer))
    tok = WordPiece(["?"], unknown="?", preprocessing=cut, n_threads=1)
    docs: list[Any] = [["<s>", "a"], *texts]  # words beside texts
    every: Any = {"allowed_special": "all"}
    found, spans = tok.encode_batch(docs, return_offsets="spans", **every)
    assert found == tok.encode_batch(docs, **every)
    expected = [[(0, [0, 3]), (0, [3, 4])], *text_by_text(texts, normalizer, splitter)]
    assert found.to_lists() == [[i for i, _ in words] for words in expected]
    assert spans.tolist() == [span for words in expected for _, span in words]
