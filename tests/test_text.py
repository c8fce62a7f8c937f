"""Text as its users know it: segments, special tokens, UTF-8 in and out, and models that keep all of that."""

from __future__ import annotations

import json
import pathlib
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.atoms import find_words

from ubpe_numba import (
    BPE,
    UBPE,
    Counts,
    FitRules,
    ModelFormatError,
    SpecialTokenError,
    UBPEClassic,
    UnknownSymbolError,
    count_documents,
)
from ubpe_numba.documents.normalise import Documents, code_points
from ubpe_numba.text.pretokenizer import Pretokenizer
from ubpe_numba.vocabulary.special_tokens import SpecialTokens

pytest.importorskip("regex")
pytestmark = pytest.mark.filterwarnings("ignore:every idf is 0:UserWarning")  # few documents, or all alike

TEXT = [
    "the cat sat on the mat, the cat that sat",
    "it's 12345 and it's 678",
    "低い 低い 高い the",
    "",
    "the end<|end|>of it<|end|>",
]
END = "<|end|>"


@pytest.fixture(params=[BPE, UBPEClassic, UBPE])
def cls(request: pytest.FixtureRequest) -> Any:
    return request.param


def cut(pattern: str, documents: list[str]) -> list[list[str]]:
    """The segments of every document, without any of the code under test but the pattern."""
    engine = pytest.importorskip("regex")
    out = []
    for document in documents:
        ends = sorted({0, len(document), *(at for match in engine.finditer(pattern, document) for at in match.span())})
        out.append([document[a:b] for a, b in zip(ends, ends[1:], strict=False)])
    return out


# --- segments


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k", "whitespace", "digits", "digits1", "digits3", "t|s"])
def test_a_fit_is_one_on_the_segments(cls: Any, name: str) -> None:
    tok = cls(60, pretokenizer=name).fit(TEXT, progress=False)
    segments = cut(Pretokenizer(name).pattern, TEXT)
    want = cls(60).fit(count_documents([segment for parts in segments for segment in parts]), progress=False)
    assert tok.vocabulary == want.vocabulary and tok.alphabet_ == want.alphabet_
    assert tok.vocabulary.n_documents == sum(map(len, segments))  # a segment is the document of idf
    for text, parts in zip(TEXT, segments, strict=True):
        ids = tok.encode(text)
        assert ids.tolist() == [i for part in parts for i in want.encode(part).tolist()]
        assert tok.decode(ids) == text
    batch = tok.encode_batch(TEXT)
    assert batch.to_lists() == [tok.encode(text).tolist() for text in TEXT]
    assert tok.decode_batch(batch) == TEXT


def test_weights_boundaries_and_counts(cls: Any) -> None:
    make = lambda: cls(60, pretokenizer="gpt2")  # noqa: E731
    weights = [3, 1, 0, 5, 2]
    repeated = [text for text, n in zip(TEXT, weights, strict=True) for _ in range(n)]
    want = make().set_params(alphabet=sorted(set("".join(TEXT)))).fit(repeated, progress=False)
    assert make().fit(TEXT, sample_weight=weights, progress=False).vocabulary == want.vocabulary
    assert make().fit(TEXT, sample_weight=weights, progress=False).alphabet_ == want.alphabet_  # that of weight 0 has a say
    counted = Counts.merge(*(count_documents([text]) for text in repeated))
    assert make().set_params(alphabet=want.alphabet).fit(counted, progress=False).vocabulary == want.vocabulary
    tok = make().fit(["abab abab"] * 3, boundaries=[[2, 7]] * 3, progress=False)
    assert max(len(tok.vocabulary.sequence(t)) for t in range(len(tok.vocabulary))) == 3  # " ab"; without the cuts 4


def test_min_count(cls: Any) -> None:
    tok = cls(None, pretokenizer="gpt2", rules=FitRules(min_count=3)).fit(["ab cd"] * 2 + ["ab"] * 2, progress=False)
    assert tok.vocabulary.n_learned == 1 and tok.vocabulary.sequence(len(tok.vocabulary) - 1).size == 2


def test_bytes_keep_what_is_no_utf8(cls: Any) -> None:
    docs = [b"low low\xff\xfe lowest \xed\xa0\x80 low", b"\x80low"]
    tok = cls(270, pretokenizer="cl100k").fit(docs, progress=False)
    assert [tok.decode(tok.encode(doc)) for doc in docs] == docs
    assert any(tok.decode([t]) == b" low" for t in range(256, len(tok.vocabulary)))


def test_integers_are_not_cut(cls: Any) -> None:
    with pytest.raises(ValueError, match="pretokenizer: it cuts text, and the tokenizer is one of integers"):
        cls(9, pretokenizer="gpt2").fit([[1, 2, 1, 2]], progress=False)
    tok = cls(260, pretokenizer="gpt2").fit([b"ab ab"], progress=False)
    with pytest.raises(TypeError, match="doc: a pretokenizer cuts text: expected str or bytes, got integers"):
        tok.encode([97, 98])
    with pytest.raises(TypeError, match="the tokenizer was fitted on bytes, expected the same, got str"):
        tok.encode("ab")
    assert tok.encode([]).size == 0 and tok.encode(b"").size == 0
    with pytest.raises(ValueError, match="pretokenizer: there is no 'gtp'"):
        cls(9, pretokenizer="gtp").fit(["ab"], progress=False)


def test_nothing_to_fit(cls: Any) -> None:
    for docs in ([], [""], [b""]):
        tok = cls(300, pretokenizer="gpt2").fit(docs, progress=False)
        assert tok.encode("").size == 0
        tok = cls.for_text(300).fit(docs, progress=False)
        assert tok.decode(tok.encode("any text")) == "any text"


def test_fit_more_and_truncate() -> None:
    whole = BPE.for_text(300, pretokenizer="gpt2").fit(TEXT, progress=False)
    part = BPE.for_text(270, pretokenizer="gpt2").fit(TEXT, progress=False)
    assert whole.truncate(270).encode(TEXT[0]).tolist() == part.encode(TEXT[0]).tolist()
    assert np.array_equal(part.fit_more(TEXT, 300).vocabulary.merges, whole.vocabulary.merges)
    special = BPE.for_text(270, pretokenizer="gpt2", special_tokens=[END]).fit(TEXT, progress=False)
    with pytest.raises(ValueError, match="special_tokens: expected ids from 300 on, the others would have to move"):
        special.fit_more(TEXT, 300)
    special.set_params(special_tokens={END: 1000}).fit(TEXT, progress=False)
    before = special.encode(TEXT[4], allowed_special="all").tolist()
    assert special.fit_more(TEXT, 272).special_ids == {END: 1000} and before[-1] == 1000
    assert special.truncate(260).encode(END, allowed_special={END}).tolist() == [1000]
    listed = BPE.for_text(270, pretokenizer="gpt2", special_tokens=[END]).fit(TEXT, progress=False)
    assert listed.truncate(260).special_ids == {END: 260}


def test_n_best_is_of_whole_documents() -> None:
    tok = UBPE(30, pretokenizer="gpt2").fit(TEXT, progress=False)
    with pytest.raises(ValueError, match="encode_nbest: the segmentations of a document that is cut"):
        tok.encode_nbest("the", 2)
    plain = UBPE.for_text(300, pretokenizer=None).fit(TEXT, progress=False)
    assert plain.encode_nbest("the", 1)[0][0].tolist() == plain.encode("the").tolist()


# --- UTF-8


@given(st.lists(st.text() | st.binary(), max_size=5))
def test_any_text_comes_back(docs: list[Any]) -> None:
    tok = ANY
    batch = tok.encode_batch(docs)
    for doc, ids in zip(docs, batch, strict=True):
        assert tok.encode(doc).tolist() == ids.tolist()
        if isinstance(doc, bytes):
            assert tok.decode_bytes(ids) == doc and tok.decode(ids) == doc.decode("utf-8", "replace")
            assert tok.decode(ids, errors="surrogateescape").encode("utf-8", "surrogateescape") == doc
        else:
            assert tok.decode(ids, errors="surrogatepass") == doc
            assert tok.decode_bytes(ids) == doc.encode("utf-8", "surrogatepass")
    assert tok.decode_batch(batch, errors="ignore") == [tok.decode(ids, errors="ignore") for ids in batch]


ANY = BPE.for_text(320, pretokenizer="cl100k", special_tokens=[END]).fit(TEXT * 2, progress=False)


def test_surrogates() -> None:
    assert ANY.encode("\ud800").tolist() == [0xED, 0xA0, 0x80]
    assert ANY.decode([0xED, 0xA0, 0x80], errors="surrogatepass") == "\ud800"
    assert ANY.decode([0xED, 0xA0, 0x80]) == "\ufffd" * 3
    with pytest.raises(UnicodeDecodeError):
        ANY.decode([0xFF], errors="strict")


def test_documents_of_every_form(cls: Any) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    tok = cls.for_text(300, pretokenizer="gpt2").fit(TEXT, progress=False)
    want = [tok.encode(text).tolist() for text in TEXT[:4]]
    mixed = [TEXT[0], TEXT[1].encode(), bytearray(TEXT[2].encode()), TEXT[3]]
    for docs in (TEXT[:4], tuple(TEXT[:4]), iter(TEXT[:4]), mixed, pyarrow.array(TEXT[:4])):
        assert tok.encode_batch(docs).to_lists() == want
    joined = "".join(TEXT[:4])
    ends = np.cumsum([0, *map(len, TEXT[:4])])
    assert tok.encode_batch(joined, ends).to_lists() == want  # offsets count characters of a str
    assert cls.for_text(300, pretokenizer="gpt2").fit(count_documents(TEXT), progress=False).vocabulary == tok.vocabulary
    with pytest.raises(TypeError, match="docs: expected str or bytes, got an array of int64"):
        tok.encode_batch([[1, 2]])
    with pytest.raises(TypeError, match="decode_bytes: the alphabet is one of str"):
        cls(60).fit(TEXT, progress=False).decode_bytes([0])
    with pytest.raises(ValueError, match="encoding: expected None or 'utf-8', got 'latin-1'"):
        cls(60, encoding="latin-1").fit(TEXT, progress=False)
    with pytest.raises(ValueError, match="encoding: it makes bytes of text, and the alphabet is one of int"):
        cls(60, encoding="utf-8", alphabet=4).fit([], progress=False)


# --- special tokens


words = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=5), min_size=1, max_size=5, unique_by=tuple)


@given(words, st.lists(st.lists(st.integers(0, 4), max_size=30), max_size=4), st.data())
def test_finding_equals_reference(some: list[list[int]], docs: list[list[int]], data: st.DataObject) -> None:
    active = data.draw(st.lists(st.booleans(), min_size=len(some), max_size=len(some)))
    special = SpecialTokens.from_user(some, None, "int", 10)
    assert special is not None
    offsets = np.cumsum([0, *map(len, docs)])
    flat = np.array([s for doc in docs for s in doc], np.int64)
    at, which = special.find(Documents(flat, offsets, "int"), np.array(active))
    want = [(int(offsets[d]) + p, w) for d, doc in enumerate(docs) for p, w in find_words(doc, some, active)]
    assert list(zip(at.tolist(), which.tolist(), strict=True)) == want


@pytest.mark.parametrize("unit", ["ab", "a", "aab"])
def test_finding_in_periodic_text(unit: str) -> None:
    some = ["ab" * 8, "a", "aa", "b" * 3, "a" * 16, "abab"]
    special = SpecialTokens.from_user(some, None, "str", 10)
    assert special is not None
    text = unit * 200
    at, which = special.find(Documents(code_points(text), np.array([0, len(text)]), "str"), np.ones(6, bool))
    want = find_words(code_points(text).tolist(), [code_points(word).tolist() for word in some], [True] * 6)
    assert list(zip(at.tolist(), which.tolist(), strict=True)) == want


@pytest.mark.parametrize("options", [{}, {"sample_weight": [1, 5, 2, 1, 3, 1]}, {"boundaries": [[2], [], [0], [], [], [1]]}])
def test_special_tokens_that_do_not_occur_change_nothing(options: dict[str, Any]) -> None:
    """Documents still are documents, the empty ones among them, which idf counts too."""
    docs = ["abab", "", "", "ba", "", "abc"]
    plain = UBPE(10).fit(docs, **options).vocabulary
    found = UBPE(10, special_tokens=["<e>"]).fit(docs, **options).vocabulary
    if "boundaries" in options:  # parts count as documents
        assert plain.n_documents == 6 and found.n_documents == 8
    else:
        assert found == plain and found.n_documents == plain.n_documents


@pytest.mark.parametrize("n", [1, 20])  # few are searched for one by one before the automaton is asked
@pytest.mark.parametrize("pretokenizer", [None, "gpt2"])
def test_convention(cls: Any, pretokenizer: Any, n: int) -> None:
    names = [END, *(f"<{i}>" for i in range(n - 1))]
    tok = cls.for_text(300, pretokenizer=pretokenizer, special_tokens=names).fit(TEXT, progress=False)
    size = len(tok.vocabulary)
    assert tok.special_ids == {name: size + i for i, name in enumerate(names)}
    text = f"the{END}end"
    apart = [*tok.encode("the").tolist(), size, *tok.encode("end").tolist()]
    assert tok.encode(text, allowed_special="all").tolist() == apart
    assert tok.encode(text, allowed_special={END}).tolist() == apart
    assert tok.encode_batch(["", text, "the", END], allowed_special="all").to_lists() == [
        [], apart, tok.encode("the").tolist(), [size],
    ]  # fmt: skip
    assert tok.decode(apart) == text and tok.decode_bytes(apart) == text.encode()
    with pytest.raises(ValueError, match=r"^document 0, position 3: '<\|end\|>' is a special token; allow it by"):
        tok.encode(text)
    with pytest.raises(ValueError, match=r"^document 1, position 0: '<\|end\|>' is a special token"):
        tok.encode_batch(["x", END])
    with pytest.raises(SpecialTokenError) as caught:
        list(tok.encode_iter(["x"] * 9 + [text], batch=4))
    assert (caught.value.document, caught.value.position, caught.value.token) == (9, 3, END)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    ordinary = tok.encode(text, disallowed_special="none").tolist()
    assert size not in ordinary and tok.decode(ordinary) == text
    assert tok.encode(text, disallowed_special=()).tolist() == ordinary
    with pytest.raises(ValueError, match="allowed_special: 'x' is not a special token"):
        tok.encode(text, allowed_special={"x"})
    with pytest.raises(ValueError, match="disallowed_special: expected 'all', 'none' or a set of special tokens, got 'some'"):
        tok.encode(text, disallowed_special="some")
    with pytest.raises(ValueError, match="is a special token"):
        tok.encode(text, allowed_special="all", disallowed_special={END})
    with pytest.raises(TypeError, match="allowed_special: expected 'all', 'none' or a set of special tokens, got None"):
        tok.encode(text, allowed_special=None)


PIECES = ["the", "cat ", "<a>", "<ab>", "<", "ab>", " 12", "\n", "<a", "END", ">", "é"]


@pytest.mark.parametrize("name", [None, "gpt2", "digits1"])
@given(
    st.lists(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), max_size=4), st.sets(st.sampled_from(["<a>", "<ab>"]))
)
def test_encoding_is_what_it_is_made_of(name: str | None, docs: list[str], allowed: set[str]) -> None:
    """Special tokens by the reference, what lies between cut by the pattern, and every segment encoded by itself."""
    tok, plain = TOKENIZERS[name]
    special = ["<a>", "<ab>", "END"]
    active = [word in allowed for word in special[:2]] + [True]
    want = []
    for doc in docs:
        ids, end = [], 0
        spans = [(at, special[i]) for at, i in find_words([*map(ord, doc)], [[*map(ord, word)] for word in special], active)]
        for at, word in [*spans, (len(doc), "")]:
            between = doc[end:at]
            segments = [between] if name is None else cut(Pretokenizer(name).pattern, [between])[0]
            ids += [i for segment in segments for i in plain.encode(segment).tolist()]
            ids += [tok.special_ids[word]] if word else []
            end = at + len(word)
        want.append(ids)
    assert tok.encode_batch(docs, allowed_special=allowed, disallowed_special="none").to_lists() == want
    assert tok.decode_batch(tok.encode_batch(docs, allowed_special=allowed, disallowed_special="none")) == docs


def pair(name: str | None) -> tuple[Any, Any]:
    """A tokenizer, and one of the same merges that does not cut."""
    words: dict[str, Any] = {"special_tokens": ["<a>", "<ab>"], "known_words": ["END"]}
    tok = BPE(60, pretokenizer=name, **words).fit(["".join(PIECES), "the cat the cat <ab> 12 12<ab", "ab> "] * 2, progress=False)
    return tok, BPE.from_merges(tok.vocabulary.merges, tok.alphabet_.output(tok.alphabet_.symbols))


TOKENIZERS = {name: pair(name) for name in (None, "gpt2", "digits1")}


def test_threads_do_not_matter() -> None:
    docs = [text * 40 + str(i) for i in range(60) for text in TEXT]
    tok = BPE.for_text(300, pretokenizer="gpt2", special_tokens=[END]).fit(docs, progress=False)
    one = tok.set_params(n_threads=1).encode_batch(docs, allowed_special="all")
    two = tok.set_params(n_threads=2).encode_batch(docs, allowed_special="all")
    assert one == two and one.offsets[0] == 0 and sum(map(len, docs)) > 200_000
    assert tok.decode_batch(two) == docs
    again = BPE.for_text(300, pretokenizer="gpt2", special_tokens=[END], n_threads=1).fit(docs, progress=False)
    assert again.fingerprint == tok.fingerprint


def test_nothing_is_learned_from_special_tokens(cls: Any) -> None:
    tok = cls.for_text(None, pretokenizer=None, special_tokens=[END]).fit([END * 50 + "ab" * 3], progress=False)
    assert {tok.decode([t]) for t in range(256, len(tok.vocabulary))} <= {"ab", "abab", "ababab"}


def test_known_words_are_always_found(cls: Any) -> None:
    bars = [[7, 7], [9]]
    docs = [[1, 2, 1, 2, 7, 7, 1, 2, 9, 1], [2, 7, 7, 7]]
    tok = cls(11, known_words=bars).fit(docs, progress=False)
    assert tok.alphabet_.symbols.max() == 7  # the 7 that is left over, as a symbol of its own
    ids = tok.encode_batch(docs)
    one, two = tok.special_ids[7, 7], tok.special_ids[9,]
    assert [i for i in ids[0].tolist() if i in (one, two)] == [one, two]
    assert ids[1].tolist().count(one) == 1
    assert tok.decode_batch(ids).to_lists() == docs
    assert tok.decode(tok.encode(docs[0])).dtype == np.int32
    both = cls(11, known_words=[[9]], special_tokens={(7, 7): 40}).fit(docs, progress=False)
    with pytest.raises(ValueError, match=r"^document 0, position 4: \(7, 7\) is a special token"):
        both.encode(docs[0])
    assert both.encode(docs[0], allowed_special=[[7, 7]]).tolist().count(40) == 1
    with pytest.raises(ValueError, match=r"allowed_special: \(9,\) is not a special token"):
        both.encode(docs[0], allowed_special=[(9,)])


def test_wide_integers() -> None:
    tok = BPE(5, alphabet=4, known_words=[[10**12, -1]]).fit([[0, 1, 0, 1]], progress=False)
    assert tok.decode(tok.encode([0, 1, 10**12, -1, 3])).tolist() == [0, 1, 10**12, -1, 3]


def test_unknown_symbols_beside_special_tokens() -> None:
    tok = BPE(20, special_tokens=["<>"], pretokenizer="gpt2").fit(["ab ab"], progress=False)
    for text, at in (("ab<>x", 4), ("x<>", 0), ("<><>ab x", 7)):
        with pytest.raises(UnknownSymbolError) as caught:
            tok.encode_batch(["ab<>", text], allowed_special="all")
        assert (caught.value.document, caught.value.position, caught.value.symbol) == (1, at, "x")
        skipped = tok.encode(text, allowed_special="all", unknown="skip")
        assert tok.decode(skipped) == text.replace("x", "")
        assert tok.decode(tok.encode(text, allowed_special="all", unknown=0)) == text.replace("x", " ")


BAD_WORDS: list[tuple[Any, type[Exception], str]] = [
    ("abc", TypeError, "special_tokens: expected a list of words or a mapping of words to ids, got str"),
    (3, TypeError, "special_tokens: expected a list of words"),
    ({"a"}, TypeError, "special_tokens: expected a list of words or a mapping of words to ids, got set"),
    ([3], TypeError, "special_tokens: expected words of bytes, got 3"),
    (["a", ""], ValueError, "special_tokens: '' is empty"),
    (["a", "a"], ValueError, "there twice"),
    (["a", b"a"], ValueError, "there twice"),
    ({"a": 1.5}, TypeError, "special_tokens: 'a': expected an id, got 1.5"),
    ({"a": -1}, ValueError, "special_tokens: 'a': expected an id of at least 0, got -1"),
    ({"a": 2**40}, ValueError, "special_tokens: expected ids below"),
    ({"a": 7000, "b": 7000}, ValueError, "special_tokens: two have the same id"),
    ({"a": 7}, ValueError, "special_tokens: 'a': the id 7 is taken"),
]


@pytest.mark.parametrize("given, error, match", BAD_WORDS, ids=lambda x: str(x)[:20])
def test_bad_special_tokens(given: Any, error: Any, match: str) -> None:
    tok = BPE.for_text(300, special_tokens=given)
    with pytest.raises(error, match=match):
        tok.fit(TEXT, progress=False)
    assert not hasattr(tok, "vocabulary_")


def test_unused_ids_are_unknown() -> None:
    tok = BPE.for_text(260, special_tokens={END: 300}).fit(TEXT, progress=False)
    assert tok.decode([300]) == END
    for ids, at in (([97, 270], 1), ([301], 0), (np.array([97, 2**40]), 1)):
        with pytest.raises(ValueError, match=f"document 0, position {at}: token id .* is outside the vocabulary"):
            tok.decode(ids)


# --- models


def make(cls: Any) -> Any:
    tok = cls.for_text(300, pretokenizer="cl100k", special_tokens=[END, b"\xff"], known_words=["<br>"])
    return tok.fit(TEXT, progress=False)


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_models_keep_it_all(cls: Any, suffix: str, tmp_path: pathlib.Path) -> None:
    tok = make(cls)
    path = tmp_path / f"m{suffix}"
    tok.save(path)
    text = f"the {END}cat<br>sat \x7f"
    want = tok.encode(text, allowed_special="all").tolist()
    for again in (cls.load(path), pickle.loads(pickle.dumps(tok))):
        assert again.fingerprint == tok.fingerprint and again.special_ids == tok.special_ids
        assert again.encode(text, allowed_special="all").tolist() == want and again.decode(want) == text
    again = cls.load(path)
    assert again.pretokenizer == Pretokenizer("cl100k") and again.encoding == "utf-8"
    assert again.special_tokens == [END, b"\xff"] and again.known_words == ["<br>"]
    again.save(path)
    assert cls.load(path).fingerprint == tok.fingerprint
    assert again.fit(TEXT, progress=False).special_ids == tok.special_ids
    plain = cls(300, pretokenizer="gpt2").fit(TEXT, progress=False)
    assert plain.fingerprint != cls(300, pretokenizer="cl100k").fit(TEXT, progress=False).fingerprint
    with pytest.raises(ValueError, match="to_published: a dump has no place for a pretokenizer"):
        tok.to_published()


def test_words_of_every_kind_in_files(tmp_path: pathlib.Path) -> None:
    for kind_of_words, docs in (([[1, -2], (3,)], [[1, 2]]), (["é", "\ud800"], ["ab"]), (["é", b"\x80"], [b"ab"])):
        tok = BPE(None, special_tokens=kind_of_words).fit(docs, progress=False)
        for name in ("m.json", "m.npz"):
            tok.save(tmp_path / name)
            assert BPE.load(tmp_path / name).special_ids == tok.special_ids


CHANGES: list[tuple[Any, str]] = [
    ({"pretokenizer": "gpt2"}, "pretokenizer: expected an object"),
    ({"pretokenizer": {"name": None}}, "pretokenizer: the field 'pattern' is missing"),
    ({"pretokenizer": {"name": None, "pattern": "(", "unicode": "16.0"}}, "is not a regular expression"),
    ({"pretokenizer": {"name": None, "pattern": 3, "unicode": "16.0"}}, "pretokenizer: expected a name"),
    ({"pretokenizer": {"name": "gpt2", "pattern": "a+", "unicode": "16.0"}}, "do not go together"),
    ({"pretokenizer": {"name": None, "pattern": "a+", "unicode": None}}, "do not go together"),
    ({"special_tokens": []}, "special_tokens: expected an object"),
    ({"special_tokens": {"kind": "bytes", "words": ["a"], "ids": [1]}}, "special_tokens: the field 'known' is missing"),
    ({"special_tokens": {"kind": "bytes", "words": ["a"], "ids": [1, 2], "known": [False]}}, "as many ids as words"),
    ({"special_tokens": {"kind": "bytes", "words": ["a"], "ids": [1], "known": [0]}}, "as many ids as words"),
    ({"special_tokens": {"kind": "bytes", "words": [], "ids": [], "known": []}}, "as many ids as words"),
    ({"special_tokens": {"kind": "int", "words": [[1]], "ids": [900], "known": [False]}}, "expected words of bytes, got int"),
    ({"special_tokens": {"kind": "bytes", "words": ["a"], "ids": [1], "known": [False]}}, "the id 1 is taken"),
    ({"special_tokens": {"kind": "bytes", "words": ["a"], "ids": [2**31 - 1], "known": [False]}}, "expected ids below"),
    ({"special_tokens": {"kind": "bytes", "words": ["a", "a"], "ids": [900, 901], "known": [False, False]}}, "there twice"),
    ({"special_tokens": {"kind": "bytes", "words": [{"bytes": [256]}], "ids": [900], "known": [False]}}, "words: expected str"),
    ({"special_tokens": {"kind": "bytes", "words": [[97]], "ids": [900], "known": [False]}}, "words: expected str"),
    ({"encoding": "latin-1"}, "encoding: expected 'utf-8'"),
    ({"token_ids": [1, 2]}, "token_ids: expected 300 ids, got shape"),
    ({"token_ids": [0] * 299 + [2**31 - 1]}, r"token_ids\[299\]: expected 0..66135, got 2147483647"),
    ({"token_ids": "x"}, "token_ids: expected integers"),
    ({"surprise": 1}, "text: unexpected field 'surprise'"),
]


@pytest.mark.parametrize("change, match", CHANGES, ids=lambda x: str(x)[:40])
def test_hostile_models(change: Any, match: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "m.json"
    BPE.for_text(300, pretokenizer=None).fit(TEXT * 3, progress=False).save(path)
    model = json.loads(path.read_text())
    model["text"] = {**model["text"], **change}
    path.write_text(json.dumps(model))
    with pytest.raises(ModelFormatError, match=match):
        BPE.load(path)
    model["text"] = 3
    path.write_text(json.dumps(model))
    with pytest.raises(ModelFormatError, match="text: expected an object"):
        BPE.load(path)


def test_another_unicode_is_said(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "m.json"
    BPE(60, pretokenizer="gpt2").fit(TEXT, progress=False).save(path)
    path.write_text(path.read_text().replace(f'"{Pretokenizer("gpt2").unicode}"', '"9.0"'))
    with pytest.warns(UserWarning, match=r"cuts text by Unicode 9\.0, and here is"):
        BPE.load(path)
