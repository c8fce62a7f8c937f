"""Pairs of names as flat text: read from JSON as `json` reads them, and looked up as in a dict."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import byte_strings as reference

from ubpe_numba.errors import ModelFormatError
from ubpe_numba.formats.model_file import parse_json
from ubpe_numba.formats.pair_table import NamePairs, flat_names, parse

names = st.text(st.one_of(st.sampled_from('ab \t"\\/\x7fé中😀\ud800\udfff'), st.characters()), min_size=1, max_size=5)


def plain(value: Any) -> Any:
    """What was parsed, with lists in place of flat pairs."""
    if isinstance(value, NamePairs):
        return [list(value[i]) for i in range(len(value))]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def listed(value: Any) -> Any:
    """What `json` parsed, with lists of two in place of texts with a space."""
    if isinstance(value, dict):
        return {
            key: [pair.split(" ") if isinstance(pair, str) else pair for pair in item]
            if key == "merges" and isinstance(item, list)
            else listed(item)
            for key, item in value.items()
        }
    return value


def has_flat(value: Any) -> bool:
    return isinstance(value, NamePairs) or (isinstance(value, dict) and any(map(has_flat, value.values())))


@settings(max_examples=200)
@given(st.lists(st.tuples(names, names, st.booleans()), max_size=6), st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_pairs_are_those_of_json(pairs: list[tuple[str, str, bool]], ascii_only: bool, indent: Any) -> None:
    merges = [f"{a} {b}" if joined and " " not in a + b else [a, b] for a, b, joined in pairs]
    file = {"model": {"vocab": {"merges": 1}, "merges": merges}, "after": [1, {"x": '"merges": []'}]}
    text = json.dumps(file, ensure_ascii=ascii_only, indent=indent)
    found = parse(text)
    assert listed(plain(found["model"])) == listed(json.loads(text)["model"])
    assert found["after"] == file["after"]
    try:
        assert plain(parse(text.encode())) == plain(found)
    except UnicodeEncodeError:
        assert not ascii_only


@pytest.mark.parametrize(
    ("array", "flat"),
    [
        ("[]", False),  # of a model file of this library, perhaps, whose pairs are integers
        (' [ ["a" ,\n"b"] , "a\\u0020b"\t] ', True),
        (r'["\u00e9 \ud83d\ude00", ["\"\\\/\b\f\n\r\t", "\u0000"]]', True),
        (r'[["\ud83d", "b"]]', False),
        (r'[["\ud83dx", "b"]]', False),
        (r'[["\ude00", "b"]]', False),
        (r'[["\ud83d\u0041", "b"]]', False),
        ('["a  b"]', False),
        ('[" b"]', False),
        ('["a "]', False),
        ('["ab"]', False),
        ('[["a"]]', False),
        ('[["a", "b", "c"]]', False),
        ('[["a", ""]]', False),
        ('[["a", 1]]', False),
        ("[1]", False),
        ("7", False),
        ("null", False),
    ],
)
def test_what_is_read_flat(array: str, flat: bool) -> None:
    text = f'{{"model": {{"merges": {array}, "x": 1}}}}'
    found = parse(text)
    assert has_flat(found) is flat
    if flat:
        assert plain(found) == listed(json.loads(text))
    else:
        assert found == json.loads(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"merges": [["a", "b"]',
        '{"merges": [["a", "b"],]}',
        '{"merges": [["a" "b"]]}',
        '{"merges": [["a", "b"]] 5}',
        '{"merges": ["a\tb c"]}',
        '{"merges": ["a\\x b"]}',
        '{"merges": ["a\\u00g0 b"]}',
        '{"merges": ["a\\u00',
        '{"merges": ["a \\',
        '{"merges": [',
        '{"merges": ["a b"], "x": NaN}',
        '{"x": -Infinity, "merges": ["a b"]}',
        '{"merges": ["a b"], "x": -Infinity}',
        '"merges": [["a", "b"]]',
    ],
)
def test_errors_are_those_of_the_parser(text: str) -> None:
    with pytest.raises(ModelFormatError) as expected:
        parse_json(text)
    for source in (text, text.encode()):
        with pytest.raises(ModelFormatError) as found:
            parse(source)
        assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("array", [b'[["a", "%b"]]', b'[["%b", "a"]]', b'["a %b"]', b'[["a", "b"], ["%b", "\xa9"]]'])
@pytest.mark.parametrize("bad", [b"\xff", b"\xc3", b"\xe4\xb8", b"\xc0\x80", b"\xf5\x80\x80\x80"])
def test_bytes_that_are_no_utf_8_are_those_of_the_parser(bad: bytes, array: bytes) -> None:
    text = b'{"vocab": {"a": 0}, "merges": ' + array % bad + b"}"
    with pytest.raises(ModelFormatError, match="not valid JSON: 'utf-8' codec can't decode") as expected:
        parse_json(text)
    with pytest.raises(ModelFormatError) as found:
        parse(text)
    assert str(found.value) == str(expected.value)


def test_surrogates_in_utf_8_are_those_of_json() -> None:
    assert plain(parse(b'{"merges": [["a", "\xed\xa0\x80"]]}')) == {"merges": [["a", "\ud800"]]}


def test_keys_of_other_names_and_twice() -> None:
    for twice in ('{"merges": ["a b"], "merges": ["b c"]}', '{"x": 1, "merges": ["a b"], "x": 1}'):
        with pytest.raises(ModelFormatError, match="^JSON: the key '(merges|x)' is there twice in an object$"):
            parse(twice)
    assert plain(parse('{"x\\"merges": ["a b"]}')) == {'x"merges': [["a", "b"]]}
    assert parse('{"x": "\\"merges\\": [[]]"}') == {"x": '"merges": [[]]'}
    assert parse("[]") == []
    assert parse('{"merges" : {"merges": 1}}') == {"merges": {"merges": 1}}


@settings(max_examples=200)
@given(st.lists(names, unique=True, min_size=1, max_size=30), st.lists(st.tuples(names, names), max_size=8), st.randoms())
def test_ids_are_those_of_a_dict(tokens: list[str], others: list[tuple[str, str]], random: Any) -> None:
    vocab = {token: random.randrange(1000) for token in tokens}
    pairs = [(random.choice(tokens), random.choice(tokens)) for _ in range(5)] + others
    pairs += [(token[:i], token[i:]) for token in tokens for i in range(1, len(token))]
    found = NamePairs.of(([a for a, _ in pairs], [b for _, b in pairs]))
    ids = [side.tolist() for side in found.ids(vocab)]
    assert ids == [[vocab.get(name, -1) for name in side] for side in zip(*[(a, b, a + b) for a, b in pairs], strict=True)]
    assert found.lists() == ([a for a, _ in pairs], [b for _, b in pairs])


def test_long_names() -> None:
    long = "é" * 400_000
    vocab = {"é" * 200_000: 3, long: 4, long + "x": 5}
    found = NamePairs.of((["é" * 200_000, long], ["é" * 200_000, "x"]))
    assert [side.tolist() for side in found.ids(vocab)] == [[3, 4], [3, -1], [4, 5]]
    assert flat_names([])[1].tolist() == [0]


def check_ids(names: list[bytes]) -> None:
    """The ids are those of a dict where all names have places in the table, else they are refused."""
    vocab = {name.decode(): i for i, name in enumerate(names)}
    found = NamePairs.of(([name[:-1] for name in vocab], [name[-1:] for name in vocab]))
    if reference.have_places(names, 2 << len(names).bit_length()):
        left, right, made = (side.tolist() for side in found.ids(vocab))
        assert made == [*range(len(names))]
        assert left == [vocab.get(name[:-1], -1) for name in vocab] and right == [vocab.get(name[-1:], -1) for name in vocab]
    else:
        with pytest.raises(ModelFormatError, match="vocab: the tokens collide in a hash table"):
            found.ids(vocab)


HOME = [*itertools.islice(reference.of_one_home(), 300)]
HASH = [*itertools.islice(reference.of_one_hash(), 40)]


def test_names_that_collide() -> None:
    others = [b"%d" % i for i in range(400)]
    assert reference.have_places(HOME[:257], 1024) and not reference.have_places(HOME[:258], 1024)
    assert reference.have_places(HASH[:4], 16) and not reference.have_places(HASH[:5], 16)
    for n in (1, 4, 5, 40):
        check_ids(HASH[:n])
        check_ids(others + HASH[:n])
    for n in (1, 256, 257, 258, 259, 300):
        check_ids(HOME[:n])
        check_ids(others + HOME[:n])
        check_ids(HOME[:n][::-1] + others)


@settings(max_examples=60)
@given(st.integers(0, 300), st.integers(0, 6), st.integers(0, 500), st.randoms(use_true_random=False))
def test_names_that_collide_at_random(n_home: int, n_hash: int, n_others: int, random: Any) -> None:
    found = HOME[:n_home] + HASH[:n_hash] + [b"%d" % i for i in range(n_others)]
    random.shuffle(found)
    check_ids(found)
