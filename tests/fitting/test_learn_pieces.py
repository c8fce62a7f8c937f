"""Pieces of words against counting anew for every merge."""

import itertools

import numpy as np
from hypothesis import given, strategies as st
from reference import pieces as reference
from tables import each, refuses

from ubpe_numba import WordPiece
from ubpe_numba.fitting.learn_pieces import learn_pieces

COUNTS = st.dictionaries(st.text("abc", min_size=1, max_size=8), st.integers(1, 9), min_size=1, max_size=8)


@given(COUNTS, st.integers(1, 3))
@each("criterion, prefix", itertools.product(["count", "pmi"], ["##", "", "_"]))
def test_pieces_equal_the_reference(
    counts: dict[str, int], min_count: int, criterion: str, prefix: str
) -> None:
    for n in (5, 30):
        given = counts, n, criterion, min_count, prefix
        assert learn_pieces(*given) == reference.learn_pieces(*given)


def test_by_likelihood_with_counts_that_do_not_tie() -> None:
    rng = np.random.default_rng(0)
    for _ in range(40):
        words = {
            "".join("abcd"[i] for i in rng.integers(0, 4, rng.integers(1, 9))): int(rng.integers(1, 10**6))
            for _ in range(12)
        }
        assert learn_pieces(words, 25, "likelihood", 2, "##") == reference.learn_pieces(
            words, 25, "likelihood", 2, "##"
        )


def test_a_table_of_pairs_that_grows() -> None:
    rng = np.random.default_rng(1)
    letters = [chr(0x4E00 + i) for i in range(300)]
    words = {"".join(letters[i] for i in rng.integers(0, 300, 6)): 2 for _ in range(800)}
    pieces = learn_pieces(words, 1600, "count", 2, "##")
    assert (
        len(set(pieces)) == len(pieces) == 1600
        and WordPiece(["[UNK]", *pieces]).encode(list(words)).size < 800 * 6
    )


def test_arguments_of_training() -> None:
    refuses(
        ValueError,
        "criterion: .* 'count', 'pmi', 'likelihood', got 'best'",
        WordPiece.train,
        ["a"],
        5,
        criterion="best",
    )
    refuses(ValueError, "min_count: expected at least 1", WordPiece.train, ["a"], 5, min_count=0)
    refuses(ValueError, r"words\['a'\]: expected at least 1", WordPiece.train, {"a": 0}, 5)
    refuses(TypeError, "words: expected str, got 1", WordPiece.train, [1], 5)
    assert WordPiece.train([], 5).pieces == {"[UNK]": 0}
