"""Symbols with names: documents of words give what those of their numbers give, and come back as words."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tables import refused, refuses

from ubpe_numba import BPE, UBPE, Preprocessing, UBPEClassic, bounds, export
from ubpe_numba.documents.flat import Named
from ubpe_numba.documents.words import words_document, words_documents
from ubpe_numba.errors import ModelFormatError, UnknownSymbolError
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.reserved import Reserved

NAMES = [f"w{i}" for i in range(5)]
OTHERS = [("note", 60), "rest", 7, b"x", ("note", 62, True, None, 0.5)]  # in no order
EVENTS = [["open", "read", "read", "close"], ["open", "read", "close"]] * 4
DOCUMENTS = st.lists(st.lists(st.integers(0, 4), max_size=20), min_size=1, max_size=8).filter(any)


def named(docs: list[list[int]], names: list[Any]) -> list[list[Any]]:
    return [[names[i] for i in doc] for doc in docs]


@pytest.mark.filterwarnings("ignore:every idf is 0")
@given(
    DOCUMENTS, st.sampled_from([BPE, UBPEClassic, UBPE]), st.sampled_from([NAMES, OTHERS]), st.integers(1, 2)
)
def test_words_are_as_their_numbers(
    docs: list[list[int]], cls: Any, names: list[Any], n_threads: int
) -> None:
    words = named(docs, names)
    by_number = cls(12, alphabet=5, n_threads=n_threads).fit(docs, progress=False)
    by_name = cls(12, alphabet=names, n_threads=n_threads).fit(words, progress=False)
    assert by_name._model.vocabulary == by_number._model.vocabulary
    ids = by_name.encode_batch(words)
    assert ids == by_number.encode_batch(docs) and by_name.decode_batch(ids) == words
    assert (
        [by_name.encode(doc).tolist() for doc in words]
        == ids.to_lists()
        == [x.tolist() for x in by_name.encode_iter(words)]
    )
    assert [by_name.decode(i) for i in ids] == words and by_name.count(words).tolist() == ids.lengths.tolist()
    assert by_name.get_vocab() == {
        tuple(names[i] for i in key): n for key, n in by_number.get_vocab().items()
    }
    assert by_name.usage(words).counts.tolist() == by_number.usage(docs).counts.tolist()
    for i in range(len(by_name.vocabulary)):
        assert by_name.vocabulary[i] == [names[j] for j in by_number.vocabulary[i]]
        assert by_name.vocabulary.offsets.size == len(by_name.vocabulary) + 1
    for other in (pickle.loads(pickle.dumps(by_name)), by_name.fit_more(words, 12)):
        assert other.encode_batch(words) == ids and other.decode_batch(ids) == words


@given(DOCUMENTS)
def test_a_learned_alphabet_is_sorted_whatever_the_order_of_documents(docs: list[list[int]]) -> None:
    words = named(docs, NAMES[::-1])
    tok = BPE(12).fit(words, progress=False)
    assert tok._model.alphabet.names == tuple(sorted({word for doc in words for word in doc}))
    assert (
        tok
        == BPE(12).fit(iter(words), progress=False)
        == BPE(12).fit([np.array(doc, "U2") for doc in words], progress=False)
    )
    flat, offsets = [word for doc in words for word in doc], np.cumsum([0, *map(len, words)])
    assert tok == BPE(12).fit(flat, offsets=offsets, progress=False)


def test_columns_of_other_packages() -> None:
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    tok = BPE(9).fit(EVENTS, progress=False)
    for docs in (
        pandas.Series(EVENTS), pyarrow.array(EVENTS), pyarrow.chunked_array([EVENTS[:3], EVENTS[3:]]),
        [pandas.Series(doc, dtype="category") for doc in EVENTS], [pyarrow.array(doc) for doc in EVENTS],
    ):  # fmt: skip
        assert BPE(9).fit(docs, progress=False) == tok and tok.encode_batch(docs) == tok.encode_batch(EVENTS)
    assert tok.encode(pandas.Categorical(EVENTS[0])).tolist() == tok.encode(np.array(EVENTS[0])).tolist()
    polars = pytest.importorskip("polars")
    assert BPE(9).fit(polars.Series(EVENTS), progress=False) == tok


def test_columns_that_hold_numbers_of_words_are_read_as_their_lists() -> None:
    """Long enough not to become lists on the way, with a category that is in no document, and a word that views do not hold."""
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    rng, words = np.random.default_rng(0), np.array(["low", "", "ünï", "long" * 5, "high"])
    docs = [words[rng.integers(0, 5, n)].tolist() for n in (2000, 1, 1500, 0, 1100)]
    flat, lengths = [word for doc in docs for word in doc], [*map(len, docs)]
    offsets, owner = np.cumsum([0, *lengths]), np.repeat(range(5), lengths)
    lists, coded = pyarrow.array(docs), pandas.Categorical(flat, ["never", *words[::-1]])
    filled = [doc for doc in docs if doc]
    for form, cuts, same in (
        ([np.array(doc, "U20") for doc in docs], None, docs), ([np.array(doc, "U99") for doc in docs], None, docs),
        (np.array(flat[:4500], ">U20").reshape(3, 1500), None, [flat[:1500], flat[1500:3000], flat[3000:4500]]),
        (pandas.Series(docs), None, docs), (pandas.Series(docs, dtype=pandas.ArrowDtype(lists.type)), None, docs),
        (lists, None, docs), (pyarrow.array([["x"], *docs]).slice(1), None, docs),
        (lists.cast(pyarrow.large_list(pyarrow.large_string())), None, docs),
        (lists.cast(pyarrow.list_(pyarrow.string_view())), None, docs), (pyarrow.chunked_array([docs[:1], docs[1:]]), None, docs),
        (pyarrow.ListArray.from_arrays(offsets.astype(np.int32), pyarrow.array(coded)), None, docs),
        ([pandas.Series(doc, dtype="category") for doc in docs[::2]], None, docs[::2]),
        ([pyarrow.array(doc).dictionary_encode() for doc in docs[::2]], None, docs[::2]),
        (pandas.DataFrame({"case": owner, "what": coded}).groupby("case")["what"], None, filled),
        (coded, offsets, docs), (pandas.Series(flat), offsets, docs), (pyarrow.array(coded), offsets, docs),
        (pyarrow.chunked_array([flat[:9], flat[9:]]), offsets, docs), (np.array(flat), offsets, docs),
        (np.array(flat, object), offsets, docs),
    ):  # fmt: skip
        found, expected = words_documents(form, cuts), words_documents(same, None)
        assert found.kind.names == expected.kind.names == tuple(sorted(words.tolist()))
        assert np.array_equal(found.values, expected.values) and np.array_equal(
            found.offsets, expected.offsets
        )
    tok, table = BPE(9).fit(docs, progress=False), pandas.DataFrame({"case": owner, "what": flat})
    assert tok.count(table.groupby("case")["what"]).tolist() == tok.count(filled).tolist()
    assert tok.count(pandas.Series([*map(tuple, docs)]), unknown="skip").tolist() == tok.count(docs).tolist()
    mixed = pandas.Series([("b", 1), "a", 7] * 500)
    found = words_document(mixed)
    assert found.kind.names == (("b", 1), "a", 7) and found.values.tolist() == [0, 1, 2] * 500
    for form, told in (
        (pyarrow.array([["a"] * 2000, ["a", None]]), "docs: document 1, position 1 is null"),
        (
            [pandas.Series(["a"] * 2000 + [None], dtype="category")],
            "docs: document 0, position 2000: expected a word",
        ),
        ([np.array([["a"]] * 2000), np.array([["a", "b"]])], "docs: document 0, position 0: expected a word"),
    ):
        refuses((TypeError, ValueError), told, words_documents, form, None)
    refuses(TypeError, "string[a-z_]*>; give the column of words itself", NUMBERS.decode_batch, lists)


@given(DOCUMENTS, st.sets(st.integers(0, 5), min_size=1), st.sampled_from([NAMES, OTHERS]))
def test_break_tokens_are_words(docs: list[list[int]], breaks: set[int], names: list[Any]) -> None:
    names = [*names, "|"]  # in no document
    by_number = BPE(12, alphabet=6, preprocessing=Preprocessing(break_tokens=breaks)).fit(
        docs, progress=False
    )
    prepared = Preprocessing(break_tokens=[names[i] for i in breaks])
    by_name = BPE(12, alphabet=names, preprocessing=prepared).fit(named(docs, names), progress=False)
    ids, words = by_number.encode_batch(docs), named(docs, names)
    assert by_name._model.vocabulary == by_number._model.vocabulary and by_name.encode_batch(words) == ids
    for other in (pickle.loads(pickle.dumps(by_name)), by_name.fit_more(words, 12, progress=False)):
        assert (
            other == by_name
            and other.encode_batch(words) == ids
            and other.preprocessing == by_name.preprocessing
        )


def test_options_of_calls() -> None:
    tok = BPE(9, preprocessing=Preprocessing(special_tokens=["[PAD]", "[UNK]"]), unknown="[UNK]").fit(
        EVENTS, progress=False
    )
    assert (ids := tok.encode(["open", "fly", "close"])).tolist() == [
        tok.token_to_id(x) for x in ("open", "[UNK]", "close")
    ]
    assert tok.decode(ids) == tok.decode_stream().push(ids) == ["open", "[UNK]", "close"]
    assert tok.vocabulary[ids[1]] == "[UNK]" and tok.spans([["open", "fly", "close"]]).lengths.tolist() == [
        1,
        1,
        1,
    ]
    assert tok.decode(ids, skip_special_tokens=True) == ["open", "close"]
    assert tok.encode(["open", "fly"], unknown="skip").tolist() == [tok.token_to_id(["open"])]
    assert tok.decode(tok.encode(["fly"], unknown="read")) == ["read"]
    assert tok.encode(EVENTS[0], boundaries=[2]).tolist() == [
        *tok.encode(EVENTS[0][:2]),
        *tok.encode(EVENTS[0][2:]),
    ]
    assert tok(EVENTS[:2], padding=True, template="$A [PAD]").input_ids.shape[0] == 2
    plain = BPE(9).fit(EVENTS, progress=False)
    stream = plain.stream()
    assert [*stream.push(EVENTS[0][:3]), *stream.push(EVENTS[0][3:]), *stream.finish()] == plain.encode(
        EVENTS[0]
    ).tolist()
    paths = UBPE(9, objective="shortest").fit(EVENTS, progress=False)
    refined = paths.refine(EVENTS, progress=False)
    assert refined.decode(refined.encode(EVENTS[0])) == EVENTS[0]
    assert bounds.lower_bound(paths, EVENTS, progress=False).tokens <= paths.encode_batch(EVENTS).total
    assert (
        "open read" in plain._repr_html_().replace("\u2423", " ") and "open" in plain.vocabulary._repr_html_()
    )


class Item:
    """An item of a tensor: it has a class with a length, and none itself."""

    shape = ()

    def __len__(self) -> int:
        raise TypeError("len() of a 0-d tensor")


class Tensor:
    """One document of integers, whose type is no dtype of NumPy."""

    dtype, shape = "torch.int64", (4,)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array([1, 2, 1, 2], dtype)

    def __len__(self) -> int:
        return 4

    def __iter__(self) -> Any:
        return iter([Item()] * 4)


def test_a_tensor_is_looked_at_without_its_items() -> None:
    assert BPE(9).fit(Tensor(), progress=False) == BPE(9).fit(np.array([1, 2, 1, 2]), progress=False)


def test_dumps_of_ubpe_over_words() -> None:
    tok = UBPEClassic(9).fit(EVENTS, progress=False)
    text = export(tok, "ubpe")
    again = UBPEClassic.load(text.encode())
    assert again.get_vocab() == tok.get_vocab() and export(again, "ubpe") == text
    refuses(ValueError, "'tokenizer.json' has no symbols with names; save", export, tok, "tokenizer.json")
    letters = UBPEClassic(9, alphabet={"a": 0, ("b",): 1}).fit([["a", ("b",)] * 4], progress=False)
    refuses(ValueError, "symbols of a dump are integers, characters or words", export, letters, "ubpe")


NUMBERS, TEXT = BPE(9).fit([[1, 2, 1, 2]], progress=False), BPE(9).fit(["abab"], progress=False)
WORDS = BPE(9).fit(EVENTS, progress=False)
REFUSED = [
    (
        lambda: WORDS.encode(["open", "fly"]),
        UnknownSymbolError,
        "0, position 1: symbol 'fly' is not in the alphabet of 3",
    ),
    (
        lambda: WORDS.encode_batch([["open"], ["read", "fly"]]),
        UnknownSymbolError,
        "document 1, position 1: symbol 'fly'",
    ),
    (
        lambda: WORDS.encode("open"),
        TypeError,
        r"expected a list of words, got str; 'open'.split\(\) makes words",
    ),
    (
        lambda: WORDS.encode(["open", None]),
        TypeError,
        "position 1: expected a word, .* got None .*; drop or fill missing",
    ),
    (lambda: WORDS.encode(["open", float("nan")]), TypeError, "got nan .*; drop or fill missing"),
    (lambda: WORDS.encode(["open", 1.5]), TypeError, "got 1.5 .*; round"),
    (lambda: WORDS.encode(["open", ("a", [])]), TypeError, "position 1: expected a word"),
    (
        lambda: WORDS.encode(["fly"], unknown="nope"),
        ValueError,
        "'raise', 'skip', a symbol of the alphabet .* got 'nope'",
    ),
    (lambda: NUMBERS.encode(["a"]), TypeError, "expected an integer, got 'a'"),
    (lambda: TEXT.encode(["a"]), TypeError, "encode_batch takes several documents"),
    (
        lambda: BPE(9).fit([["a", "b"], ["c", None]]),
        TypeError,
        "docs: document 1, position 1: expected a word",
    ),
    (
        lambda: BPE(9).fit([[1, 2], ["a"]]),
        TypeError,
        "docs: document 1, position 0: expected an integer, got 'a'",
    ),
    (lambda: BPE(9, alphabet=3).fit(EVENTS), TypeError, "alphabet: the documents are of words"),
    (lambda: BPE(9, alphabet=["open", "read"]).fit(EVENTS), UnknownSymbolError, "symbol 'close'"),
    (
        lambda: BPE(9, alphabet=["open", "read", "open"]).fit(EVENTS),
        ValueError,
        "alphabet: symbol 'open' is there twice",
    ),
    (lambda: BPE(9, alphabet={"open": 0, "read": 0}).fit(EVENTS), ValueError, "several words have one id"),
    (lambda: BPE(9, alphabet={"open": 0, "read": 2}).fit(EVENTS), ValueError, "alphabet: "),
    (
        lambda: BPE(9, preprocessing=Preprocessing(special_tokens=[(0, 1)])).fit(EVENTS),
        TypeError,
        "tokens: expected names",
    ),
    (
        lambda: BPE(9, preprocessing=Preprocessing(known_words=["open"])).fit(EVENTS),
        TypeError,
        "known_words: expected names",
    ),
    (
        lambda: BPE(9, preprocessing=Preprocessing(break_tokens=["fly"])).fit(EVENTS),
        ValueError,
        "break_tokens: 'fly' is not in",
    ),
    (
        lambda: BPE(9, preprocessing=Preprocessing(break_tokens=[[0]])).fit(EVENTS),
        TypeError,
        "break_tokens: expected names",
    ),
    (
        lambda: BPE(9, preprocessing=Preprocessing(runs=["open"])).fit(EVENTS),
        TypeError,
        "runs: expected symbols",
    ),
    (lambda: Preprocessing(runs="NX", break_tokens="|X"), ValueError, "runs: 'X' is one of break_tokens too"),
    (lambda: BPE.for_text(300).fit(EVENTS), TypeError, "expected an integer, got 'open'"),
    (lambda: Alphabet.from_state("name", 2, ["a"]), ModelFormatError, "expected 2, the size, got 1"),
    (lambda: Alphabet.from_state("name", 1, [{"list": []}]), ModelFormatError, "expected names"),
    *[
        (
            lambda k=k, n=n: Reserved.from_state(None, [0, n + 1], None, k, 2),
            ModelFormatError,
            f"break_tokens: .* in 0..{n}$",
        )
        for k, n in ((Named(("a", "b")), 1), ("str", 0x10FFFF), ("bytes", 255))
    ],
    (
        lambda: BPE(9).fit([[frozenset("a"), frozenset("b")]] * 2, progress=False).save("m.json"),
        TypeError,
        "not frozenset",
    ),
]


def test_what_is_refused() -> None:
    refused(REFUSED)
