"""Tables of names: the characters that stand for integers, and which of several pairs makes a token."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.token_pairs import table_of_names

from ubpe_numba.errors import ModelFormatError
from ubpe_numba.formats import pair_table
from ubpe_numba.formats.huggingface import _merges
from ubpe_numba.formats.pair_table import Table, from_names, read_vocab, symbol_character, symbol_index
from ubpe_numba.formats.vocab_merges import _pairs


def test_characters_of_integers() -> None:
    for i in (0, 6399, 6400, 100_000, 6400 + 0x100000 - 1):
        assert symbol_index(symbol_character(i)) == i
    assert symbol_index("a") is None


# --- which of several pairs makes a token


Merges = list[tuple[str, str]]


def check(vocab: dict[str, int], merges: Merges, special: dict[str, int], known: dict[str, int]) -> None:
    """The table of names and its error are those of the reference."""
    found: Table | str
    try:
        found = from_names(vocab, ([a for a, _ in merges], [b for _, b in merges]), "str", special, known, None)
    except ModelFormatError as error:
        found = str(error)
    try:
        symbols, chosen, rest = table_of_names(vocab, merges, {**special, **known})
    except ValueError as error:
        symbols, chosen, rest, want = [], [], {}, str(error)
    else:
        want = ""
    if want or isinstance(found, str):
        assert found == want
        return
    table = found
    names = symbols + [left + right for left, right in chosen]
    assert table.symbols == [ord(symbol) for symbol in symbols]
    assert table.merges.dtype == np.int32 and table.merges.shape == (len(chosen), 2)
    number = {name: i for i, name in enumerate(names)}
    if all(max(number[left], number[right]) < number[left + right] for left, right in chosen):
        assert [(names[a], names[b]) for a, b in table.merges.tolist()] == chosen
        assert table.token_ids.tolist() == [vocab[name] for name in names]
    else:  # the pairs have another order, with the same result
        numbers = {vocab[name]: name for name in names}
        names = [numbers[i] for i in table.token_ids.tolist()]
        assert sorted((names[a], names[b]) for a, b in table.merges.tolist()) == sorted(chosen)
        assert sorted(names) == sorted(numbers.values())
    assert list(table.special.items()) == [*special.items(), *rest.items()] and table.known == known


@st.composite
def named(draw: st.DrawFn) -> tuple[dict[str, int], Merges, dict[str, int], dict[str, int]]:
    """Names with ids, and pairs of them in any order: several for one token, some there twice, parts that no pair makes."""
    letters = draw(st.lists(st.sampled_from("abcdé\U0001d518\ud800"), min_size=0, max_size=5, unique=True))
    names = list(letters)
    merges: Merges = []
    for _ in range(draw(st.integers(0, 12)) if letters else 0):
        left, right = draw(st.sampled_from(names)), draw(st.sampled_from(names))
        merges.append((left, right))
        names += [left + right] if left + right not in names else []
    cuts = [(name[:i], name[i:]) for name in names for i in range(1, len(name)) if name[:i] in names and name[i:] in names]
    merges += draw(st.lists(st.sampled_from(cuts), unique=True)) if cuts else []
    if draw(st.integers(0, 9)):
        merges = list(dict.fromkeys(merges))
    merges = draw(st.permutations(merges)) if draw(st.booleans()) else sorted(merges, key=lambda pair: names.index("".join(pair)))
    names += draw(st.lists(st.sampled_from(["<s>", "x", "abab", "zz"]), unique=True, max_size=2).map(list))
    names = list(dict.fromkeys(names))
    if len(names) > 1 and not draw(st.integers(0, 9)):
        names.remove(draw(st.sampled_from(names)))
    ids = draw(st.permutations(range(len(names) + 3)))
    vocab = dict(zip(names, ids, strict=False)) or {"ab": 0}
    words = draw(st.lists(st.sampled_from([*vocab, "<t>"]), max_size=2, unique=True))
    return vocab, merges, {word: vocab.get(word, 400) for word in words[:1]}, {word: vocab.get(word, 401) for word in words[1:]}


@settings(max_examples=400)
@given(named())
def test_tables_of_names_are_those_of_the_reference(case: tuple[dict[str, int], Merges, dict[str, int], dict[str, int]]) -> None:
    check(*case)


def every_pair(names: list[str]) -> Merges:
    """Every way to make each name of two others, in order of what is made, as files of newer models have them."""
    return [(name[:i], name[i:]) for name in names for i in range(1, len(name)) if name[:i] in names and name[i:] in names]


@pytest.mark.parametrize(
    "names",
    [
        [*"ab", *("a" * n for n in range(2, 40))],
        [*"ab", *("ab" * n for n in range(1, 12)), *("ba" * n for n in range(1, 12)), "aba", "bab"],
        [*"abc", "bc", "ab", "abc", "abcab", "cab", "abcabc", "bcab"],
        ["a", "aa", "aaaa", "aaa", "aaaaa"],
    ],
    ids=["one letter", "periods", "overlaps", "out of order"],
)
def test_every_pair_of_every_token(names: list[str]) -> None:
    merges = every_pair(names)
    vocab = {name: i for i, name in enumerate(names)}
    check(vocab, merges, {}, {})
    check(vocab, merges[::-1], {}, {})
    for short in itertools.islice(itertools.combinations(merges, max(1, len(merges) - 1)), 20):
        check(vocab, list(short), {}, {})


def test_too_much_work_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name of 20,000 symbols that two pairs make; one pair needs no search."""
    long = "a" * 20_000
    vocab = {"a": 0, long[:-1]: 1, long: 2}
    with pytest.raises(ModelFormatError, match="too many tokens, or too long ones, are made by several pairs"):
        from_names(vocab, (["a", long[:-1]], [long[:-1], "a"]), "str", {}, {}, None)
    with pytest.raises(ModelFormatError, match="is part of a pair, but no pair makes it"):
        from_names(vocab, (["a"], [long[:-1]]), "str", {}, {}, None)
    monkeypatch.setattr(pair_table, "WORK", 8)
    with pytest.raises(ModelFormatError, match="too many tokens"):
        from_names({"a": 0, "aa": 1, "aaa": 2}, (["a", "a", "aa"], ["a", "aa", "a"]), "str", {}, {}, None)


# --- files as they are usually written are read at once, others line by line


def test_pairs_of_names_however_they_are_written() -> None:
    pairs = ["a", "é b"], ["b", "c"]
    assert _merges([["a", "b"], ["é b", "c"]]) == pairs
    assert _merges(["a b", "b c"]) == _merges([["a", "b"], "b c"]) == (["a", "b"], ["b", "c"])
    assert _merges([]) == ([], [])
    for text in ("a b\nb c\n", "#version: 0.2\na b\n\nb c", "a b\r\nb c\r\n\r\n", "\n\na b\nb c\r"):
        assert _pairs(text) == (["a", "b"], ["b", "c"])
    assert _pairs("") == _pairs("#version") == ([], [])
    for bad in (
        ["a b c", "d"],
        ["a  b"],
        [" ab"],
        ["ab "],
        ["ab"],
        [""],
        [["a", "b", "c"]],
        [["a", 1]],
        [3],
        [None],
        [["a", ""]],
    ):
        with pytest.raises(ModelFormatError, match=r"model: merges\[0\]: expected two tokens"):
            _merges(bad)
    with pytest.raises(ModelFormatError, match="line 2: expected two tokens"):
        _pairs("a b\n #version\n")


@pytest.mark.parametrize("vocab", [{"a": 0, "b": 0}, {"a": True}, {"a": 1.0}, {"a": -1}, {"": 0}, {1: 0}, {"a": 2**70}, {}, []])
def test_vocabularies_that_are_refused(vocab: object) -> None:
    with pytest.raises(ModelFormatError, match="vocab: "):
        read_vocab(vocab)
    assert read_vocab(json.loads('{"a": 1, "b": 0}')) == {"a": 1, "b": 0}
