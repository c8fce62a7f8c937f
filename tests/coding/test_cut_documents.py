"""Documents that are cut: at symbols outside the alphabet, against documents that are divided by hand, and at boundaries."""

import pathlib
import pickle
from typing import Any

import pytest
from hypothesis import given, strategies as st
from tables import each, refuses

from ubpe_numba import BPE, UBPE, Preprocessing, UBPEClassic, load
from ubpe_numba.errors import SpecialTokenError, UnknownSymbolError

CLASSES = [BPE, UBPEClassic, UBPE]
CORPUS = ["abcabd", "abab", "", "cabcab", "ddd"]
PLAIN = {cls: cls(7, alphabet="abcd").fit(CORPUS, progress=False) for cls in CLASSES}
STANDS = {
    cls: cls(
        7, alphabet="abcd", preprocessing=Preprocessing(special_tokens=["<s>", "[UNK]"]), unknown="[UNK]"
    ).fit(CORPUS, progress=False)
    for cls in CLASSES
}
UNK = 8


def by_hand(tok: Any, doc: str) -> tuple[list[int], list[list[int]]]:
    """Ids and spans: what stands between unknown symbols is encoded by a tokenizer without special tokens."""
    ids: list[int] = []
    spans: list[list[int]] = []
    at = 0
    for i, c in enumerate(doc + "x"):
        if c not in "abcd":
            part, where = tok.encode(doc[at:i], return_offsets="spans")
            ids += [*part.tolist(), UNK]
            spans += [*(where + at).tolist(), [i, i + 1]]
            at = i + 1
    return ids[:-1], spans[:-1]


@given(st.sampled_from(CLASSES), st.lists(st.text("abcdxy", max_size=12), max_size=5))
def test_one_id_for_each_and_nothing_crosses_it(cls: Any, docs: list[str]) -> None:
    tok = STANDS[cls]
    want = [by_hand(PLAIN[cls], doc) for doc in docs]
    ids, spans = tok.encode_batch(docs, return_offsets="spans")
    assert ids.to_lists() == [w[0] for w in want] == tok.encode_batch(docs).to_lists()
    assert spans.tolist() == [pair for w in want for pair in w[1]]
    _, starts = tok.encode_batch(docs, return_offsets=True)
    assert starts.values.tolist() == spans[:, 0].tolist()
    for doc, (one, where) in zip(docs, want, strict=True):
        assert (
            tok.encode(doc).tolist() == one and tok.encode(doc, return_offsets="spans")[1].tolist() == where
        )
    assert tok.decode_batch(ids) == [doc.replace("x", "[UNK]").replace("y", "[UNK]") for doc in docs]


def test_beside_special_tokens_in_their_order() -> None:
    tok = STANDS[BPE]
    ids, spans = tok.encode("x<s>xab<s><s>x", allowed_special="all", return_offsets="spans")
    ab = tok.encode("ab").tolist()
    assert ids.tolist() == [8, 7, 8, *ab, 7, 7, 8]
    assert spans.tolist() == [[0, 1], [1, 4], [4, 5], [5, 7], [7, 10], [10, 13], [13, 14]]
    batch = tok.encode_batch(["x", "", "<s>", "x<s>"], allowed_special="all")
    assert batch.to_lists() == [[8], [], [7], [8, 7]]


@each("unknown, want", [("skip", "ab"), ("c", "abc"), ("[UNK]", None)])
def test_the_constructor_and_the_call(unknown: Any, want: str | None, tmp_path: pathlib.Path) -> None:
    """A call's own `unknown` wins; everything that becomes of a tokenizer keeps it."""
    tok = BPE(
        7, alphabet="abcd", preprocessing=Preprocessing(special_tokens=["<s>", "[UNK]"]), unknown=unknown
    ).fit(CORPUS, progress=False)
    ids = by_hand(PLAIN[BPE], "abx")[0] if want is None else PLAIN[BPE].encode(want).tolist()
    assert tok.encode("abx").tolist() == ids == STANDS[BPE].encode("abx", unknown=unknown).tolist()
    refuses(UnknownSymbolError, "document 0, position 2: symbol 'x'", tok.encode, "abx", unknown="raise")
    assert not tok.is_lossless and f"unknown={unknown!r}" in repr(tok)
    tok.save(tmp_path / "model.json")
    again = BPE.load(tmp_path / "model.json")
    assert again.encode("abx").tolist() == ids and again.fingerprint == tok.fingerprint
    for other in (again, pickle.loads(pickle.dumps(tok)), tok.truncate(6), tok.with_objective("shortest")):
        assert other.unknown == unknown
    assert (
        BPE(**{**tok.get_params(), "unknown": "raise"}).fit(CORPUS, progress=False).fingerprint
        != tok.fingerprint
    )


def test_a_choice_that_does_not_go_with_the_model(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="unknown: .*'N', which is neither in the alphabet"):
        BPE(9, alphabet="abcd", unknown="N").fit(CORPUS)
    tok = BPE.from_merges([[0, 1]], alphabet="ab").set_params(unknown=7)
    for call in (lambda: tok.encode("abx"), lambda: tok.save(tmp_path / "model.json")):
        refuses(
            ValueError, "unknown: expected 'raise', 'skip', a character .* got 7, which is not in the", call
        )


DOCS = [[0, 1, 2, 0, 1, 2, 2], [2, 0, 1, 1, 2], [0, 1, 0, 1]]
TOKENIZERS = [cls(8, alphabet=3).fit(DOCS, progress=False) for cls in (BPE, UBPEClassic, UBPE)]


@given(st.sampled_from(TOKENIZERS), st.data())
def test_parts_are_documents(tok: Any, data: st.DataObject) -> None:
    docs = data.draw(st.lists(st.lists(st.integers(0, 2), max_size=9), max_size=5))
    bounds = [data.draw(st.lists(st.integers(0, len(doc)), max_size=4)) for doc in docs]
    ids, spans = tok.encode_batch(docs, boundaries=bounds, return_offsets="spans")
    _, starts = tok.encode_batch(docs, boundaries=bounds, return_offsets=True)
    assert starts.values.tolist() == spans[:, 0].tolist() and len(ids) == len(docs)
    at = 0
    for doc, cuts, found in zip(docs, bounds, ids, strict=True):
        edges = sorted({0, *cuts, len(doc)})
        want = [i for a, b in zip(edges[:-1], edges[1:], strict=True) for i in tok.encode(doc[a:b]).tolist()]
        assert found.tolist() == want == tok.encode(doc, boundaries=cuts).tolist()
        mine = spans[at : at + len(want)].tolist()
        at += len(want)
        assert [a for a, _ in mine] == [0, *(b for _, b in mine)][: len(mine)] and all(
            b <= len(doc) for _, b in mine
        )
        assert {a for a, _ in mine} >= {c for c in cuts if c < len(doc)}
        assert tok.encode(doc, boundaries=cuts, return_offsets="spans")[1].tolist() == mine


def test_errors_name_the_document_and_the_position_in_it() -> None:
    tok = BPE.from_merges([[0, 1]], alphabet="ab", preprocessing=Preprocessing(special_tokens=["<s>"]))
    refuses(
        UnknownSymbolError,
        "document 1, position 3: symbol 'x'",
        tok.encode_batch,
        ["ab", "abaxb"],
        boundaries=[[1], [2]],
    )
    refuses(SpecialTokenError, "document 0, position 2: '<s>'", tok.encode, "ab<s>", boundaries=[2])
    refuses(ValueError, "boundaries: document 0: position 3 is not in 0..2", tok.encode, "ab", boundaries=[3])
    refuses(
        ValueError,
        "boundaries: expected 2 lists of positions",
        tok.encode_batch,
        ["ab", "a"],
        boundaries=[[1]],
    )
    refuses(TypeError, "boundaries: expected integers", tok.encode, "ab", boundaries="ab")


def test_text_that_is_cut_and_bytes_of_utf8() -> None:
    tok = BPE.for_text(280, pretokenizer="gpt2", special_tokens=["<s>"]).fit(
        ["low lower lowest né né"], progress=False
    )
    ids = tok.encode("lower né<s>low", boundaries=[3, 7], allowed_special="all")
    want = [*tok.encode("low"), *tok.encode("er n"), *tok.encode("é<s>low", allowed_special="all")]
    assert ids.tolist() == want and tok.decode(ids) == "lower né<s>low"


def hidden(kind: str, change: bool, single_word: bool) -> Any:
    """A file of the package tokenizers whose special token <s> the model makes too, of text in which no search finds it."""
    tokenizers = pytest.importorskip("tokenizers")
    models, vocab = tokenizers.models, {symbol: i for i, symbol in enumerate("?<s>ab ")}
    if kind == "BPE":
        model = models.BPE(vocab | {"<s": 7, "<s>": 8}, [("<", "s"), ("<s", ">")], unk_token="?")
    elif kind == "Unigram":
        model = models.Unigram([*((symbol, -3.0) for symbol in vocab), ("<s>", -1.0)], 0, False)
    else:
        model = models.WordPiece(
            vocab | {"<s>": 8} | {f"##{symbol}": 10 + i for symbol, i in vocab.items()}, unk_token="?"
        )
    made = tokenizers.Tokenizer(model)
    if change:
        made.normalizer = tokenizers.normalizers.Lowercase()
    if kind == "WordPiece":
        made.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    made.add_special_tokens([tokenizers.AddedToken("<s>", single_word=single_word, normalized=False)])
    return made


def found_in(theirs: Any, doc: str) -> bool:
    """Whether the search for special tokens finds one: the package then leaves no normalised text of it."""
    single_word = theirs.get_added_tokens_decoder()[theirs.token_to_id("<s>")].single_word
    places = [i for i in range(len(doc)) if doc.startswith("<s>", i)]
    return any(not (single_word and (doc[:i][-1:].isalnum() or doc[i + 3 : i + 4].isalnum())) for i in places)


@each("kind", ["BPE", "Unigram", "WordPiece"])
@given(
    st.lists(st.sampled_from(["<s>", "<S>", "a", " ", "<", "s", "b<s>"]), max_size=8).map("".join),
    st.booleans(),
    st.booleans(),
)
def test_what_a_normalizer_or_a_flag_hides_makes_no_special_id(
    kind: str, doc: str, change: bool, single_word: bool
) -> None:
    theirs = hidden(kind, change, single_word)
    tok, special = load(theirs), theirs.token_to_id("<s>")
    for options in ({}, {"disallowed_special": "none"}, {"allowed_special": []}):
        if options.get("disallowed_special") != "none" and found_in(theirs, doc):
            with pytest.raises(SpecialTokenError, match="'<s>' is a special token"):
                tok.encode(doc, **options)
            continue
        ids, spans = tok.encode(doc, return_offsets="spans", **options)
        assert special not in ids and ids.size == len(spans) and (spans[:, 0] <= spans[:, 1]).all()
        assert tok.encode(doc, **options).tolist() == ids.tolist()
    if kind != "Unigram":  # whose special tokens are no pieces here
        assert (
            tok.encode(doc, allowed_special="all").tolist()
            == theirs.encode(doc, add_special_tokens=False).ids
        )


def test_a_symbol_that_is_a_special_token_cannot_be_text() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    made = tokenizers.Tokenizer(tokenizers.models.BPE({"a": 0, "|": 1, "a|": 2}, [("a", "|")]))
    made.add_special_tokens(["|"])
    assert load(made).encode("a|a", allowed_special="all").tolist() == [0, 1, 0]
    refuses(
        SpecialTokenError,
        "document 1, position 0: '|'",
        load(made).encode_batch,
        ["a", "|a"],
        disallowed_special="none",
    )
