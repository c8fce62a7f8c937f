"""A prefix inside of words, a suffix at their ends: what is refused; random models are in test_random_configurations.py."""

from tables import refuses

from ubpe_numba.errors import ModelFormatError
from ubpe_numba.formats.character_bytes import with_marks, without_marks


def test_what_is_refused() -> None:
    ways = ([], []), "", "</w>", ("<", ">")
    refuses(
        ModelFormatError,
        "vocab: 'b': a symbol at some places of a word",
        with_marks,
        {"a": 0, "a</w>": 1, "b": 2},
        *ways,
    )
    refuses(
        ModelFormatError,
        "without its prefix or suffix it is another",
        with_marks,
        {"a</w>": 0, "a>": 1},
        *ways,
    )
    refuses(
        ValueError,
        "the tokens 0 and 1 would both be 'a</w>'",
        without_marks,
        {"a$": 0, "a</w>": 1},
        ([], []),
        ("", "$"),
    )


def test_prefix_and_suffix_at_once() -> None:
    vocab = {"a": 0, "#a": 1, "a$": 2, "#a$": 3, "aa$": 4}
    marked, pairs = with_marks(vocab, (["a"], ["#a$"]), "#", "$", ("<", ">"))
    assert marked == {"a": 0, "<a": 1, "a>": 2, "<a>": 3, "a<a>": 4, "<": 5, ">": 6}
    assert list(zip(*pairs, strict=True)) == [("<", "a"), ("a", ">"), ("<a", ">"), ("a", "<a>")]
