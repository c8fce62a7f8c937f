"""Special tokens and known words: found, encoded, refused."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from reference.reserved import WHITE_SPACE, find_words, within
from tables import each, refuses
from text_samples import END, TEXT

from ubpe_numba import BPE, UBPE, Preprocessing, Ragged
from ubpe_numba.documents.read import Documents, code_points
from ubpe_numba.errors import SpecialTokenError, UnknownSymbolError
from ubpe_numba.vocabulary.reserved import Reserved, is_of_word

pytestmark = pytest.mark.filterwarnings("ignore:every idf is 0:UserWarning")  # few documents, or all alike
words = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=5), min_size=1, max_size=5, unique_by=tuple)


NESTED, RUNS = (
    [[0, 1, 2, 3], [0, 1, 2], [0, 1], [0]],
    [[0, 1] * 8, [0], [0, 0], [1] * 3, [0] * 16, [0, 1] * 2],
)


@given(words, st.lists(st.lists(st.integers(0, 4), max_size=30), max_size=4), st.data())
# two inactive ones before an active one
@example(NESTED, [[0, 1, 2, 3, 0, 1, 2]], [False, False, True, True])
@example(NESTED, [[0, 1, 2, 3, 0, 1, 2]], [False, False, False, True])
@example(RUNS, [[0, 1] * 40, [0] * 77, [0, 0, 1] * 30], [True] * 6)
def test_finding_equals_reference(some: list[list[int]], docs: list[list[int]], data: Any) -> None:
    active = (
        data
        if isinstance(data, list)
        else data.draw(st.lists(st.booleans(), min_size=len(some), max_size=len(some)))
    )
    special = Reserved.from_user(some, None, "int", 10)
    assert special is not None
    offsets = np.cumsum([0, *map(len, docs)])
    flat = np.array([s for doc in docs for s in doc], np.int64)
    at, which = special.find(Documents(flat, offsets, "int"), np.array(active))
    want = [(int(offsets[d]) + p, w) for d, doc in enumerate(docs) for p, w in find_words(doc, some, active)]
    assert list(zip(at.tolist(), which.tolist(), strict=True)) == want


PIECES = st.sampled_from([*WHITE_SPACE, "<m>", "<m>x", "a", "é", b"\xe2\x80", b"\x89", b"\x80", b"\xe3"])
LONG = st.builds(
    lambda space, n: space * n,
    st.sampled_from([" ", "\n", "\u2009", "\u3000"]),
    st.sampled_from([21, 62, 63, 64, 65, 192]),
)


@settings(max_examples=25)  # of several kinds of documents each
@given(
    st.lists(st.lists(PIECES | PIECES | PIECES | LONG, max_size=9), min_size=1, max_size=3),
    st.lists(st.integers(0, 7), min_size=5, max_size=5),
)
@example([["<m>" + "".join(WHITE_SPACE) * 3 + "<m>" + "".join(WHITE_SPACE) + "\x1c<m>"]], [3, 0, 0, 0, 0])
@example(
    [
        ["a", " " * n, "<m>", "\u3000" * n, "b"]
        for n in (20, 21, 22, 61, 62, 63, 64, 65, 66, 190, 191, 192, 193)
    ],
    [3, 0, 0, 0, 0],
)
@example(
    [
        [b"<m>\x80\xe2\x80"],
        [b"\x89<m>\xe2\x80\x89 \xe2\x80\x89<m>\xe2"],
        [b"\x80\x89\x89<m>\xe2\x80"],
        [b"\x89"],
    ],
    [7, 3, 3, 3, 4],
)
def test_white_space_beside_words_equals_reference(docs: list[list[str | bytes]], flags: list[int]) -> None:
    """Found as by the reference, in documents of bytes, and of characters."""
    encoded = [b"".join(part if isinstance(part, bytes) else part.encode() for part in doc) for doc in docs]
    for kind in ("bytes", "str"):
        texts: list[Any] = encoded if kind == "bytes" else [doc.decode("utf-8", "replace") for doc in encoded]
        some: list[Any] = ["<m>", " ", "\n", b"\xe2\x80" if kind == "bytes" else "\u2009\u2009", "<m>x"]
        special = Reserved.from_user(some, None, kind, 10, dict(zip(some, flags, strict=True)))
        assert special is not None
        rows = [
            np.frombuffer(text, np.uint8) if isinstance(text, bytes) else code_points(text) for text in texts
        ]
        offsets = np.cumsum([0, *map(len, rows)])
        documents = Documents(np.concatenate(rows), offsets, kind)
        found = special.find(documents, np.ones(len(some), bool))
        sizes = np.diff(special.offsets).tolist()
        want = []
        for text, begin, end in zip(texts, offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
            here = [
                (a - begin, w)
                for a, w in zip(*(part.tolist() for part in found), strict=True)
                if begin <= a < end
            ]
            want += [(a + begin, w, size) for a, w, size in within(text, here, sizes, flags, is_of_word)]
        assert list(zip(*(part.tolist() for part in special.within(documents, *found)), strict=True)) == want


@each("options", [{}, {"sample_weight": [1, 5, 2, 1, 3, 1]}, {"boundaries": [[2], [], [0], [], [], [1]]}])
def test_special_tokens_that_do_not_occur_change_nothing(options: dict[str, Any]) -> None:
    """Every document still counts as one, the empty ones too."""
    docs = ["abab", "", "", "ba", "", "abc"]
    plain = UBPE(10).fit(docs, **options)._model.vocabulary
    found = (
        UBPE(10, preprocessing=Preprocessing(special_tokens=["<e>"])).fit(docs, **options)._model.vocabulary
    )
    if "boundaries" in options:  # parts count as documents
        assert plain.n_documents == 6 and found.n_documents == 8
    else:
        assert found == plain and found.n_documents == plain.n_documents


@each("n", [1, 20])  # few are searched for one by one before the automaton is asked
@each("pretokenizer", [None, "gpt2"])
def test_special_tokens_are_allowed_refused_or_ordinary(cls: Any, pretokenizer: Any, n: int) -> None:
    names = [END, *(f"<{i}>" for i in range(n - 1))]
    tok = cls.for_text(300, pretokenizer=pretokenizer, special_tokens=names).fit(TEXT, progress=False)
    size = len(tok._model.vocabulary)
    assert tok.vocabulary.special == {name: size + i for i, name in enumerate(names)}
    text = f"the{END}end"
    apart = [*tok.encode("the").tolist(), size, *tok.encode("end").tolist()]
    assert (
        tok.encode(text, allowed_special="all").tolist()
        == tok.encode(text, allowed_special={END}).tolist()
        == apart
    )
    assert tok.decode(apart) == text and tok.decode(apart, as_bytes=True) == text.encode()
    refuses(
        ValueError,
        r"^document 0, position 3: '<\|end\|>' is a special token; allow it with",
        tok.encode,
        text,
    )
    refuses(
        ValueError, r"^document 1, position 0: '<\|end\|>' is a special token", tok.encode_batch, ["x", END]
    )
    with pytest.raises(SpecialTokenError) as caught:
        list(tok.encode_iter(["x"] * 9 + [text], batch=4))
    assert (caught.value.document, caught.value.position, caught.value.token) == (9, 3, END)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    ordinary = tok.encode(text, disallowed_special="none").tolist()
    assert size not in ordinary and tok.decode(ordinary) == text
    assert tok.encode(text, disallowed_special=()).tolist() == ordinary
    refuses(
        ValueError,
        "disallowed_special: .*'all', 'none' or a set .* got 'some'",
        tok.encode,
        text,
        disallowed_special="some",
    )
    refuses(
        ValueError, "is a special token", tok.encode, text, allowed_special="all", disallowed_special={END}
    )
    refuses(
        TypeError,
        "allowed_special: .*'all', 'none' or a set of .* tokens, got None",
        tok.encode,
        text,
        allowed_special=None,
    )


def test_nothing_is_learned_from_special_tokens(cls: Any) -> None:
    tok = cls.for_text(None, pretokenizer=None, special_tokens=[END]).fit(
        [END * 50 + "ab" * 3], progress=False
    )
    assert {tok.decode([t]) for t in range(256, len(tok._model.vocabulary))} <= {"ab", "abab", "ababab"}


def test_known_words_are_always_found(cls: Any) -> None:
    bars = [[7, 7], [9]]
    docs = [[1, 2, 1, 2, 7, 7, 1, 2, 9, 1], [2, 7, 7, 7]]
    tok = cls(11, preprocessing=Preprocessing(known_words=bars)).fit(docs, progress=False)
    assert tok._model.alphabet.symbols.max() == 7  # the 7 that is left over, as a symbol of its own
    ids = tok.encode_batch(docs)
    one, two = tok.vocabulary.special[7, 7], tok.vocabulary.special[9,]
    assert [i for i in ids[0].tolist() if i in (one, two)] == [one, two] and ids[1].tolist().count(one) == 1
    assert tok.decode_batch(ids).to_lists() == docs
    assert tok.encode_batch(Ragged.from_lists([[9], *docs, [9]])[1:-1]) == ids  # a part of an array
    wide = BPE(5, alphabet=4, preprocessing=Preprocessing(known_words=[[10**12, -1]])).fit(
        [[0, 1, 0, 1]], progress=False
    )
    assert wide.decode(wide.encode([0, 1, 10**12, -1, 3])).tolist() == [0, 1, 10**12, -1, 3]
    both = cls(11, preprocessing=Preprocessing(known_words=[[9]], special_tokens={(7, 7): 40})).fit(
        docs, progress=False
    )
    refuses(ValueError, r"^document 0, position 4: \(7, 7\) is a special token", both.encode, docs[0])
    assert both.encode(docs[0], allowed_special=[[7, 7]]).tolist().count(40) == 1
    refuses(
        ValueError,
        r"allowed_special: \(9,\) is not a special token",
        both.encode,
        docs[0],
        allowed_special=[(9,)],
    )


def test_unknown_symbols_beside_special_tokens() -> None:
    tok = BPE(20, preprocessing=Preprocessing(special_tokens=["<>"], pretokenizer="gpt2")).fit(
        ["ab ab"], progress=False
    )
    for text, at in (("ab<>x", 4), ("x<>", 0), ("<><>ab x", 7)):
        with pytest.raises(UnknownSymbolError) as caught:
            tok.encode_batch(["ab<>", text], allowed_special="all")
        assert (caught.value.document, caught.value.position, caught.value.symbol) == (1, at, "x")
        skipped = tok.encode(text, allowed_special="all", unknown="skip")
        assert tok.decode(skipped) == text.replace("x", "")
        assert tok.decode(tok.encode(text, allowed_special="all", unknown=" ")) == text.replace("x", " ")


BAD_WORDS: list[tuple[Any, type[Exception], str]] = [
    ([3], TypeError, "special_tokens: expected words of bytes, got 3"), (["a", ""], ValueError, "special_tokens: '' is empty"),
    (["a", "a"], ValueError, "there twice"), (["a", b"a"], ValueError, "there twice"),
    ({"a": 1.5}, TypeError, "special_tokens: 'a': expected an id, got 1.5"),
    ({"a": -1}, ValueError, "special_tokens: 'a': expected an id of at least 0, got -1"),
    ({"a": 2**40}, ValueError, "special_tokens: expected ids below"),
    ({"a": 7000, "b": 7000}, ValueError, "special_tokens: two have the same id"),
    ({"a": 7}, ValueError, "special_tokens: 'a': the id 7 is taken"),
]  # fmt: skip


@each("given, error, match", BAD_WORDS)
def test_bad_special_tokens(given: Any, error: Any, match: str) -> None:
    refuses(error, match, lambda: BPE.for_text(300, special_tokens=given).fit(TEXT, progress=False))
    made = Reserved.from_user(["<a>", "<b>"], {"END": 11}, "str", 10)
    assert made is not None and made.ids.tolist() == [10, 12, 11]  # listed ones go round ids that are given
    tok = BPE.for_text(260, special_tokens={END: 300}).fit(TEXT, progress=False)
    refuses(
        ValueError,
        "document 0, position 1: token id 270 is outside the vocabulary",
        tok.decode,
        [97, 270, 300],
    )


def test_every_character_is_of_a_word_or_not_as_in_tokenizers() -> None:
    """Of the version of Unicode that the package has, whatever the installed `regex` knows; of planes without any, some."""
    theirs = pytest.importorskip("tokenizers")
    other = theirs.Tokenizer(theirs.models.BPE({"u": 0}, [], unk_token="u", fuse_unk=True))
    other.add_tokens([theirs.AddedToken("\ue000\ue001", single_word=True, normalized=False)])
    points = [*range(0xD800), *range(0xE002, 0x33480), *range(0x33480, 0xE0000, 97), *range(0xE0000, 0xE0200)]
    for begin in range(0, len(points), 0x2000):
        chars = [chr(point) for point in points[begin : begin + 0x2000]]
        found = other.encode("".join(f" \ue000\ue001{char}" for char in chars), add_special_tokens=False)
        alone = {start // 4 for i, (start, end) in zip(found.ids, found.offsets, strict=True) if i == 1}
        assert {at for at, char in enumerate(chars) if not is_of_word(char)} == alone, hex(points[begin])
    assert not is_of_word("\U00016ea0") and is_of_word("\U000105c0") and not is_of_word("")
