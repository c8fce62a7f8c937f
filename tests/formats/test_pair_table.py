"""Tables of pairs, and pairs of names as flat text, looked up as in a dict."""

import itertools
import json
from typing import Any

import pytest
from hypothesis import given, strategies as st
from reference import files as reference
from tables import refuses

from ubpe_numba.errors import ModelFormatError
from ubpe_numba.formats import pair_table
from ubpe_numba.formats.huggingface import _merges
from ubpe_numba.formats.pair_table import NamePairs, from_names, read_vocab, symbol_character, symbol_index
from ubpe_numba.formats.vocab_merges import _pairs


def test_characters_of_integers() -> None:
    for i in (0, 6399, 6400, 100_000, 6400 + 0x100000 - 1):
        assert symbol_index(symbol_character(i)) == i
    assert symbol_index("a") is None


def test_too_much_work_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name of 20,000 symbols that two pairs make; one pair needs no search."""
    long = "a" * 20_000
    vocab = {"a": 0, long[:-1]: 1, long: 2}
    with pytest.raises(
        ModelFormatError, match="too many tokens, or too long ones, are made by several pairs"
    ):
        from_names(vocab, (["a", long[:-1]], [long[:-1], "a"]), "str", {}, {}, None)
    with pytest.raises(ModelFormatError, match="is part of a pair, but no pair makes it"):
        from_names(vocab, (["a"], [long[:-1]]), "str", {}, {}, None)
    monkeypatch.setattr(pair_table, "WORK", 8)
    with pytest.raises(ModelFormatError, match="too many tokens"):
        from_names({"a": 0, "aa": 1, "aaa": 2}, (["a", "a", "aa"], ["a", "aa", "a"]), "str", {}, {}, None)


def test_of_pairs_that_never_occur_the_first_is_kept() -> None:
    """Encoded alone abcd ends as ab and cd, which none of its pairs is of."""
    pairs = [("abc", "d"), ("a", "bcd"), ("a", "b"), ("c", "d"), ("ab", "c"), ("b", "cd")]
    vocab = {name: i for i, name in enumerate([*"abcd", "ab", "cd", "abc", "bcd", "abcd"])}
    kept = pairs[:1] + pairs[2:]
    tables = [
        from_names(vocab, NamePairs.of([*zip(*of, strict=True)]), "str", {}, {}, None) for of in (pairs, kept)
    ]
    assert tables[0][2].tolist() == tables[1][2].tolist()


def test_pairs_of_names_however_they_are_written() -> None:
    pairs = ["a", "é b"], ["b", "c"]
    assert _merges([["a", "b"], ["é b", "c"]]).lists() == pairs
    assert _merges(["a b", "b c"]).lists() == _merges([["a", "b"], "b c"]).lists() == (["a", "b"], ["b", "c"])
    assert _merges([]).lists() == ([], [])
    for text in ("a b\nb c\n", "#version: 0.2\na b\n\nb c", "a b\r\nb c\r\n\r\n", "\n\na b\nb c\r"):
        assert _pairs(text) == (["a", "b"], ["b", "c"])
    assert _pairs("") == _pairs("#version") == ([], [])
    for bad in (
        ["a b c", "d"],
        ["a  b"],
        [" ab"],
        ["ab "],
        [""],
        [["a", "b", "c"]],
        [["a", 1]],
        [None],
        [["a", ""]],
    ):
        refuses(ModelFormatError, r"model: merges\[0\]: expected two tokens", _merges, bad)
    refuses(ModelFormatError, "line 2: expected two tokens", _pairs, "a b\n #version\n")


def test_vocabularies_that_are_refused() -> None:
    for vocab in (
        {"a": 0, "b": 0},
        {"a": True},
        {"a": 1.0},
        {"a": -1},
        {"": 0},
        {1: 0},
        {"a": 2**70},
        {},
        [],
    ):
        refuses(ModelFormatError, "vocab: ", read_vocab, vocab)
    assert read_vocab(json.loads('{"a": 1, "b": 0}')) == {"a": 1, "b": 0}


names = st.text(
    st.one_of(st.sampled_from('ab \t"\\/\x7fé中😀\ud800\udfff'), st.characters()), min_size=1, max_size=5
)


@given(
    st.lists(names, unique=True, min_size=1, max_size=30),
    st.lists(st.tuples(names, names), max_size=8),
    st.randoms(),
)
def test_ids_are_those_of_a_dict(tokens: list[str], others: list[tuple[str, str]], random: Any) -> None:
    vocab = {token: random.randrange(1000) for token in tokens}
    pairs = [(random.choice(tokens), random.choice(tokens)) for _ in range(5)] + others
    pairs += [(token[:i], token[i:]) for token in tokens for i in range(1, len(token))]
    found = NamePairs.of(([a for a, _ in pairs], [b for _, b in pairs]))
    ids = [side.tolist() for side in found.ids(vocab)]
    assert ids == [
        [vocab.get(name, -1) for name in side]
        for side in zip(*[(a, b, a + b) for a, b in pairs], strict=True)
    ]
    assert found.lists() == ([a for a, _ in pairs], [b for _, b in pairs])


def check_ids(names: list[bytes]) -> None:
    """The ids are those of a dict where all names have places in the table, else they are refused."""
    vocab = {name.decode(): i for i, name in enumerate(names)}
    found = NamePairs.of(([name[:-1] for name in vocab], [name[-1:] for name in vocab]))
    if reference.have_places(names, 2 << len(names).bit_length()):
        left, right, made = (side.tolist() for side in found.ids(vocab))
        assert made == [*range(len(names))]
        assert left == [vocab.get(name[:-1], -1) for name in vocab] and right == [
            vocab.get(name[-1:], -1) for name in vocab
        ]
    else:
        refuses(ModelFormatError, "vocab: the tokens collide in a hash table", found.ids, vocab)


HOME = [*itertools.islice(reference.of_one_home(), 300)]
HASH = [*itertools.islice(reference.of_one_hash(), 40)]


def test_names_that_collide() -> None:
    others = [b"%d" % i for i in range(400)]
    assert reference.have_places(HOME[:257], 1024) and not reference.have_places(HOME[:258], 1024)
    assert reference.have_places(HASH[:4], 16) and not reference.have_places(HASH[:5], 16)
    for names in (*(HASH[:n] for n in (4, 5, 40)), *(HOME[:n] for n in (256, 257, 258, 300))):
        check_ids(names)
        check_ids(others + names)
        check_ids(names[::-1] + others)
