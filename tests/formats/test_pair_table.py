"""Tables of pairs, and pairs of names as flat text: read as `json` reads them, and looked up as in a dict."""

import itertools
import json
import re
from typing import Any

import pytest
from hypothesis import given, strategies as st
from reference import files as reference
from tables import refuses

from ubpe_numba.errors import ModelFormatError
from ubpe_numba.formats import pair_table
from ubpe_numba.formats.huggingface import _merges
from ubpe_numba.formats.model_file import parse_json
from ubpe_numba.formats.pair_table import NamePairs, from_names, parse, read_vocab, symbol_character, symbol_index
from ubpe_numba.formats.vocab_merges import _pairs


def test_characters_of_integers() -> None:
    for i in (0, 6399, 6400, 100_000, 6400 + 0x100000 - 1):
        assert symbol_index(symbol_character(i)) == i
    assert symbol_index("a") is None


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


def test_of_pairs_that_never_occur_the_first_is_kept() -> None:
    """Encoded alone abcd ends as ab and cd, which none of its pairs is of."""
    pairs = [("abc", "d"), ("a", "bcd"), ("a", "b"), ("c", "d"), ("ab", "c"), ("b", "cd")]
    vocab = {name: i for i, name in enumerate([*"abcd", "ab", "cd", "abc", "bcd", "abcd"])}
    kept = pairs[:1] + pairs[2:]
    tables = [from_names(vocab, NamePairs.of([*zip(*of, strict=True)]), "str", {}, {}, None) for of in (pairs, kept)]
    assert tables[0][2].tolist() == tables[1][2].tolist()


def test_pairs_of_names_however_they_are_written() -> None:
    pairs = ["a", "é b"], ["b", "c"]
    assert _merges([["a", "b"], ["é b", "c"]]) == pairs
    assert _merges(["a b", "b c"]) == _merges([["a", "b"], "b c"]) == (["a", "b"], ["b", "c"])
    assert _merges([]) == ([], [])
    for text in ("a b\nb c\n", "#version: 0.2\na b\n\nb c", "a b\r\nb c\r\n\r\n", "\n\na b\nb c\r"):
        assert _pairs(text) == (["a", "b"], ["b", "c"])
    assert _pairs("") == _pairs("#version") == ([], [])
    for bad in (["a b c", "d"], ["a  b"], [" ab"], ["ab "], [""], [["a", "b", "c"]], [["a", 1]], [None], [["a", ""]]):
        refuses(ModelFormatError, r"model: merges\[0\]: expected two tokens", _merges, bad)
    refuses(ModelFormatError, "line 2: expected two tokens", _pairs, "a b\n #version\n")


def test_vocabularies_that_are_refused() -> None:
    for vocab in ({"a": 0, "b": 0}, {"a": True}, {"a": 1.0}, {"a": -1}, {"": 0}, {1: 0}, {"a": 2**70}, {}, []):
        refuses(ModelFormatError, "vocab: ", read_vocab, vocab)
    assert read_vocab(json.loads('{"a": 1, "b": 0}')) == {"a": 1, "b": 0}


names = st.text(st.one_of(st.sampled_from('ab \t"\\/\x7fé中😀\ud800\udfff'), st.characters()), min_size=1, max_size=5)


def listed(merges: Any) -> list[Any]:
    """Flat pairs, or those that `json` parsed, as lists of two."""
    if isinstance(merges, NamePairs):
        return [list(merges[i]) for i in range(len(merges))]
    return [pair.split(" ") if isinstance(pair, str) else pair for pair in merges]


@given(st.lists(st.tuples(names, names, st.booleans()), max_size=6), st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_pairs_are_those_of_json(pairs: list[tuple[str, str, bool]], ascii_only: bool, indent: Any) -> None:
    merges = [f"{a} {b}" if joined and " " not in a + b else [a, b] for a, b, joined in pairs]
    file = {"model": {"vocab": {"merges": 1}, "merges": merges}, "after": [1, {"x": '"merges": []'}]}
    text = json.dumps(file, ensure_ascii=ascii_only, indent=indent)
    for source in (text, text.encode("utf-8", "surrogatepass")):
        found = parse(source)
        assert listed(found["model"].pop("merges")) == listed(json.loads(text)["model"]["merges"])
        assert found == {"model": {"vocab": {"merges": 1}}, "after": file["after"]}


FLAT = [' [ ["a" ,\n"b"] , "a\\u0020b"\t] ', r'["\u00e9 \ud83d\ude00", ["\"\\\/\b\f\n\r\t", "\u0000"]]']
#: Not read flat; the first is of a model file of this library, perhaps, whose pairs are integers.
LISTED = [
    "[]", r'[["\ud83d", "b"]]', r'[["\ud83dx", "b"]]', r'[["\ude00", "b"]]', r'[["\ud83d\u0041", "b"]]', '["a  b"]', '[" b"]',
]  # fmt: skip
LISTED += ['["a "]', '["ab"]', '[["a"]]', '[["a", "b", "c"]]', '[["a", ""]]', '[["a", 1]]', "[1]"]


@pytest.mark.parametrize("array", FLAT + LISTED)
def test_what_is_read_flat(array: str) -> None:
    text = f'{{"model": {{"merges": {array}, "x": 1}}}}'
    found, want = (read(text)["model"]["merges"] for read in (parse, json.loads))
    assert isinstance(found, NamePairs) is (array in FLAT)
    assert listed(found) == listed(want) if array in FLAT else found == want


@pytest.mark.parametrize("text", [
    '{"merges": [["a", "b"]', '{"merges": [["a", "b"],]}', '{"merges": [["a" "b"]]}', '{"merges": [["a", "b"]] 5}',
    '{"merges": ["a\tb c"]}', '{"merges": ["a\\x b"]}', '{"merges": ["a\\u00g0 b"]}', '{"merges": ["a\\u00',
    '{"merges": ["a \\', '{"merges": [', '{"merges": ["a b"], "x": NaN}', '{"x": -Infinity, "merges": ["a b"]}',
    '{"merges": ["a b"], "x": -Infinity}', '"merges": [["a", "b"]]',
])  # fmt: skip
def test_errors_are_those_of_the_parser(text: str) -> None:
    with pytest.raises(ModelFormatError) as expected:
        parse_json(text)
    for source in (text, text.encode()):
        with pytest.raises(ModelFormatError) as found:
            parse(source)
        assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("bad", [b"\xff", b"\xc3", b"\xe4\xb8", b"\xc0\x80", b"\xf5\x80\x80\x80"])
def test_bytes_that_are_no_utf_8_are_those_of_the_parser(bad: bytes) -> None:
    for array in (b'[["a", "%b"]]', b'[["%b", "a"]]', b'["a %b"]', b'[["a", "b"], ["%b", "\xa9"]]'):
        text = b'{"vocab": {"a": 0}, "merges": ' + array % bad + b"}"
        with pytest.raises(ModelFormatError, match="not valid JSON: 'utf-8' codec can't decode") as expected:
            parse_json(text)
        refuses(ModelFormatError, re.escape(str(expected.value)), parse, text)


def test_keys_of_other_names_and_twice() -> None:
    for twice in ('{"merges": ["a b"], "merges": ["b c"]}', '{"x": 1, "merges": ["a b"], "x": 1}'):
        refuses(ModelFormatError, "^JSON: the key '(merges|x)' is there twice in an object$", parse, twice)
    assert listed(parse('{"x\\"merges": ["a b"]}')['x"merges']) == [["a", "b"]]
    assert parse('{"x": "\\"merges\\": [[]]"}') == {"x": '"merges": [[]]'} and parse("[]") == []
    assert parse('{"merges" : {"merges": 1}}') == {"merges": {"merges": 1}}


@given(st.lists(names, unique=True, min_size=1, max_size=30), st.lists(st.tuples(names, names), max_size=8), st.randoms())
def test_ids_are_those_of_a_dict(tokens: list[str], others: list[tuple[str, str]], random: Any) -> None:
    vocab = {token: random.randrange(1000) for token in tokens}
    pairs = [(random.choice(tokens), random.choice(tokens)) for _ in range(5)] + others
    pairs += [(token[:i], token[i:]) for token in tokens for i in range(1, len(token))]
    found = NamePairs.of(([a for a, _ in pairs], [b for _, b in pairs]))
    ids = [side.tolist() for side in found.ids(vocab)]
    assert ids == [[vocab.get(name, -1) for name in side] for side in zip(*[(a, b, a + b) for a, b in pairs], strict=True)]
    assert found.lists() == ([a for a, _ in pairs], [b for _, b in pairs])


def check_ids(names: list[bytes]) -> None:
    """The ids are those of a dict where all names have places in the table, else they are refused."""
    vocab = {name.decode(): i for i, name in enumerate(names)}
    found = NamePairs.of(([name[:-1] for name in vocab], [name[-1:] for name in vocab]))
    if reference.have_places(names, 2 << len(names).bit_length()):
        left, right, made = (side.tolist() for side in found.ids(vocab))
        assert made == [*range(len(names))]
        assert left == [vocab.get(name[:-1], -1) for name in vocab] and right == [vocab.get(name[-1:], -1) for name in vocab]
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
