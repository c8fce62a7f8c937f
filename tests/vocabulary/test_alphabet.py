"""`Alphabet` against a dictionary from symbols to ids."""

import pickle
import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tables import each, refuses

from ubpe_numba import BPE
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import as_document, as_documents
from ubpe_numba.errors import UnknownSymbolError
from ubpe_numba.vocabulary.alphabet import MAX_SIZE, Alphabet

INT64 = st.integers(-(2**63), 2**63 - 1)
NEAR = st.integers(-300, 300)  # symbols that come again, and fit a table
EDGE = st.sampled_from([-(2**63), -(2**63) + 1, -1, 0, 1, 2**31 - 1, 2**31, 2**63 - 2, 2**63 - 1])
ANY = NEAR | EDGE | INT64


def wide(symbols: list[int]) -> Alphabet:
    return Alphabet.from_symbols(np.array(symbols, np.int64), "int")


@each(("alphabet", "kind", "symbols", "found"), [
    (3, None, [0, 1, 2], "int"), (np.int16(3), "bytes", [0, 1, 2], "bytes"), (2, "str", [0, 1], "str"),
    ([5, -3], None, [5, -3], "int"), (range(2, 4), "int", [2, 3], "int"), (np.array([7, 2], ">u2"), None, [7, 2], "int"),
    (iter([7, 2]), None, [7, 2], "int"), ({-1: 1, 10**12: 0}, None, [10**12, -1], "int"), ("ba", None, [98, 97], "str"),
    (np.array(["b", "a"]), None, [98, 97], "str"), (np.array(["b", "a"], object), None, [98, 97], "str"),
    (b"ba", None, [98, 97], "bytes"), ([98, 97], "bytes", [98, 97], "bytes"),
    ({b"a": np.int8(1), b"b": 0}, None, [98, 97], "bytes"),
])  # fmt: skip
def test_alphabets_in_every_form(alphabet: Any, kind: str | None, symbols: list[int], found: str) -> None:
    made = Alphabet.from_user(alphabet, kind)
    assert (made.kind, made.size, made.symbols.tolist()) == (found, len(symbols), symbols)
    assert made.is_identity == (symbols == list(range(len(symbols))))
    widest = np.int64 if max(symbols) >= 2**31 else np.int32
    assert made.symbols.dtype == {"int": widest, "str": np.uint32, "bytes": np.uint8}[found]
    assert not made.symbols.flags.writeable and made.lookup(np.array(symbols)).tolist() == list(
        range(len(symbols))
    )


@each("alphabet, kind, error, message", [
    (0, None, ValueError, f"expected 1..{MAX_SIZE} symbols for kind 'int', got 0"),
    (MAX_SIZE + 1, None, ValueError, "expected 1..2147483645 symbols for kind 'int', got 2147483646"),
    (257, "bytes", ValueError, "expected 1..256 symbols for kind 'bytes', got 257"), ([], None, ValueError, "expected 1.."),
    (0x110001, "str", ValueError, "expected 1..1114112 symbols for kind 'str', got 1114113"),
    (True, None, TypeError, "expected a size, a sequence or a mapping, got True (bool)"),
    ({1, 2}, None, TypeError, "got set"), (object(), None, TypeError, "got object"),
    ([1, 2, 1], None, ValueError, "symbol 1 is there twice, as entry 0 and entry 2"),
    ("abca", None, ValueError, "symbol 'a' is there twice, as entry 0 and entry 3"),
    ([0, 256], "bytes", ValueError, "entry 1: expected 0..255, got 256"),
    (["a", "bc"], "str", ValueError, "entry 1: expected str of length 1, got 'bc'"),
    ([b"a", b""], "bytes", ValueError, "entry 1: expected bytes of length 1, got b''"),
    (["a", 1], None, TypeError, "entry 1: expected str of length 1, got 1"),
    ([1, 2.0], None, TypeError, "position 1: expected an integer, got 2.0 (float)"),
    (np.array([[1]]), None, ValueError, "expected a 1-D integer array"),
    ("ab", "int", TypeError, "expected integers, got characters"), ([1, 2], "str", TypeError, "characters, got integers"),
    (b"ab", "str", TypeError, "expected characters, got bytes"),
    ({"a": 0, "b": 2}, None, ValueError, "symbol 'b' has id 2, expected 0..1"),
    ({"a": 0, "b": -1}, None, ValueError, "symbol 'b' has id -1, expected 0..1"),
    ({5: 1, 6: 1, 7: 1}, None, ValueError, "no symbol has id 0, though 5 has 1"),
    ({"a": 0.0}, None, TypeError, "ids, position 0: expected an integer, got 0.0 (float)"),
])  # fmt: skip
def test_from_user_refuses(alphabet: Any, kind: str | None, error: type[Exception], message: str) -> None:
    refuses(error, f"^alphabet.*{re.escape(message)}", Alphabet.from_user, alphabet, kind)


def test_others_refuse() -> None:
    refuses(ValueError, "kind: expected 'int', 'str' or 'bytes', got 'text'", Alphabet.from_user, 3, "text")
    refuses(TypeError, "size: expected an integer, got True", Alphabet.dense, True)
    refuses(TypeError, "symbols: expected integers, got characters", Alphabet.from_symbols, "ab", "int")
    refuses(
        ValueError,
        "values, position 0: .* that fits int64",
        wide([-1]).lookup,
        np.array([2**64 - 1], np.uint64),
    )


def test_the_largest_alphabet_takes_no_memory() -> None:
    largest = Alphabet.dense(MAX_SIZE)
    assert largest.lookup(np.array([MAX_SIZE - 1, MAX_SIZE, -1])).tolist() == [MAX_SIZE - 1, -1, -1]
    assert pickle.loads(pickle.dumps(largest)) == largest and largest.state()["symbols"] is None


@each(("docs", "kind", "symbols"), [
    ([], "int", [0]), (["", ""], "str", [0]), ([b"ab"], "bytes", [*range(256)]), (["ba", "\ud800b"], "str", [97, 98, 0xD800]),
    ([[3, 1]], "int", [0, 1, 2, 3]), ([[65535]], "int", [*range(65536)]), ([[3, -1, 3]], "int", [-1, 3]),
    ([[2**63 - 1, -(2**63)]], "int", [-(2**63), 2**63 - 1]), (np.array([200, 7], np.uint8), "int", [*range(201)]),
    (np.array([-128, 127, 5], np.int8), "int", [-128, 5, 127]),
])  # fmt: skip
def test_alphabets_that_are_learned(docs: Any, kind: str, symbols: list[int]) -> None:
    learned = Alphabet.learn(as_documents(docs))
    assert (learned.kind, learned.symbols.tolist()) == (kind, symbols)


def test_learn_counts_symbols_and_stays_inside_the_offsets() -> None:
    many = np.full(20_000, 79_999, np.int32)
    assert Alphabet.learn(as_documents(many)) == Alphabet.dense(80_000)
    assert Alphabet.learn(as_documents(many[1:])) == wide([79_999])
    values = np.tile(np.arange(-5, 5), 10_000)  # looked up in chunks
    for symbols in ([3, -2, 1], [3, -2, 1, 2**40]):
        assert (
            wide(symbols).lookup(values).tolist()
            == [symbols.index(v) if v in symbols else -1 for v in range(-5, 5)] * 10_000
        )
    assert Alphabet.learn(
        as_documents(Ragged(np.array([-9, 1, 2, -9], np.int32), np.array([1, 3])))
    ) == Alphabet.dense(3)
    far = many.astype(np.int64) * np.arange(20_000) * 1000
    assert np.array_equal(Alphabet.learn(as_documents(far)).symbols, np.unique(far))


def test_learn_of_distinct_documents() -> None:
    """How many symbols the corpus has decides whether integers from 65536 on are their own ids."""
    documents = as_documents([[70_000, 1]])
    assert [Alphabet.learn(documents, *n).size for n in ((), (17_500,), (17_501,))] == [2, 2, 70_001]


@given(
    st.lists(st.lists(ANY, max_size=6), max_size=4) | st.lists(st.text(max_size=4), min_size=1, max_size=4)
)
def test_learned_alphabet_knows_its_corpus(docs: list[Any]) -> None:
    documents = as_documents(docs)
    learned = Alphabet.learn(documents)
    ids = learned.to_ids(documents)
    back = [learned.output(learned.to_symbols(row)) for row in ids]
    assert [row if isinstance(row, str) else row.tolist() for row in back] == docs  # type: ignore[union-attr]


@given(st.lists(ANY, min_size=1, max_size=20, unique=True), st.lists(ANY, max_size=20))
def test_lookup_equals_a_dictionary(symbols: list[int], values: list[int]) -> None:
    ids = {symbol: i for i, symbol in enumerate(symbols)}
    given_values = np.array(values + symbols, np.int64)
    found = wide(symbols).lookup(given_values)
    assert found.dtype == np.int32 and found.tolist() == [ids.get(v, -1) for v in given_values.tolist()]


@each("dtype", ["i1", "u1", "i4", "i8", "u8"])
@each("symbols", [[*range(100)], [*range(128)], [*range(300)], [5, -3, 300], [10**9, 4]])
def test_lookup_in_any_dtype(dtype: str, symbols: list[int]) -> None:
    info = np.iinfo(dtype)
    values = np.array([0, 4, 5, 99, 100, 127, info.min, min(int(info.max), 2**63 - 1)], dtype)
    expected = [symbols.index(v) if v in symbols else -1 for v in values.tolist()]
    before = values.copy()
    assert wide(symbols).lookup(values).tolist() == expected and np.array_equal(values, before)


UNKNOWN = [
    (Alphabet.dense(3), [[0], [], [1, 7, 2, -1], [9]], (2, 1, 7), ", 0..2"),
    (wide([7, 0]), [[0], [], [7, 1, 0, -1], [9]], (2, 1, 1), " of 2 symbols"),
    (Alphabet.from_user("ba"), ["a", "", "bxa\ud800", "é"], (2, 1, "x"), " of 2 symbols"),
    (Alphabet.from_user(b"ba"), [b"a", b"", b"bxa\0", b"c"], (2, 1, 120), " of 2 symbols"),
    (Alphabet.dense(256, "bytes"), [[1], [], [255, 256, 0, -1], [999]], (2, 1, 256), ", 0..255"),
]


@each("alphabet, docs, where, hint", UNKNOWN)
def test_unknown_symbols(alphabet: Alphabet, docs: list[Any], where: tuple[Any, ...], hint: str) -> None:
    documents = as_documents(docs)
    spans = pairwise(documents.offsets.tolist())
    known = [alphabet.lookup(documents.values[start:stop]) for start, stop in spans]
    document, position, symbol = where
    message = f"document {document}, position {position}: symbol {symbol!r} is not in the alphabet{hint}"
    with pytest.raises(UnknownSymbolError, match=re.escape(message) + "; encode with unknown=") as caught:
        alphabet.to_ids(documents)
    assert (caught.value.document, caught.value.position, caught.value.symbol) == where
    assert type(caught.value.document) is type(caught.value.position) is int
    skipped, replaced = alphabet.to_ids(documents, "skip"), alphabet.to_ids(documents, np.int8(1))  # type: ignore[arg-type]
    assert skipped.to_lists() == [row[row >= 0].tolist() for row in known]
    assert replaced.to_lists() == [np.where(row < 0, 1, row).tolist() for row in known]
    for ids in (skipped, replaced):
        assert Ragged(ids.values, ids.offsets) == ids and ids._offsets.flags.carray
    # The same corpus, cut out of a longer one with unknown symbols around it.
    part = as_documents([docs[-1], *docs[:-1], docs[-1]])
    part = part._replace(offsets=part.offsets[1:-1])
    refuses(UnknownSymbolError, re.escape(message), alphabet.to_ids, part)
    assert alphabet.to_ids(part, "skip") == skipped[:-1] and alphabet.to_ids(part, 1) == replaced[:-1]


def test_output_gives_back_what_went_in() -> None:
    assert Alphabet.dense(256).to_ids(as_documents([b"a"])).to_lists() == [[97]]  # kinds that mix
    assert wide([97, 300]).to_ids(as_document(b"a")).to_lists() == [[0]]
    for alphabet, doc in [
        (Alphabet.from_user("\ud800é"), "é\ud800é"), (Alphabet.dense(128, "str"), "ab\0"), (Alphabet.from_user(b"ba"), b"abba"),
        (Alphabet.dense(256, "bytes"), b"\0\xff"), (Alphabet.from_user("ab"), ""),
    ]:  # fmt: skip
        ids = alphabet.to_ids(as_document(doc))[0]
        assert alphabet.output(alphabet.to_symbols(ids)) == doc
    ints = wide([5, 10**12])
    symbols = ints.to_symbols(np.array([1, 0], np.int32))
    assert ints.output(symbols) is symbols and symbols.dtype == np.int64 and symbols.tolist() == [10**12, 5]


def test_an_alphabet_is_frozen() -> None:
    one = wide([5, -3])
    refuses(AttributeError, "an Alphabet is frozen: cannot set or delete 'size'", setattr, one, "size", 3)
    refuses(ValueError, "read-only", one.symbols.__setitem__, 0, 1)
    source = np.array([5, -3], np.int32)
    made = Alphabet.from_user(source)
    source[0] = 6
    assert made == one != 9


@each(
    "symbols",
    [["\ud83d", "\ude00", "a"], dict(zip(["\ud83d", "\ude00", "a", "b"], [0, 1, 1, 2], strict=True))],
)
def test_surrogates_side_by_side_are_two_symbols(symbols: Any, tmp_path: Any) -> None:
    alphabet = Alphabet.from_user(symbols)
    assert alphabet.symbols.tolist()[:2] == [0xD83D, 0xDE00] and alphabet.size == 3
    tok = BPE.from_merges([[0, 0]], alphabet=symbols)
    tok.save(tmp_path / "m.json")
    again = BPE.load(tmp_path / "m.json")
    assert again.fingerprint == tok.fingerprint
    assert again.encode("\ud83d\ud83da").tolist() == tok.encode("\ud83d\ud83da").tolist()
