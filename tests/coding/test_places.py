"""Where each token stands: `return_offsets`, `units`, and `spans` of all documents."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tables import each, refuses
from tokenizers import Tokenizer as Peer

from ubpe_numba import BPE, UBPE, Preprocessing, Ragged, export

CONVERT: dict[str, Any] = {"str": str, "bytes": str.encode, "int": lambda d: [ord(c) - 200 for c in d]}
CORPUS = ["abcabd", "abab", "", "cabcab", "ddd"]
TOKENIZERS = {
    (cls.__name__, kind): cls(262 if kind == "bytes" else 9).fit([convert(d) for d in CORPUS], progress=False)
    for cls in (BPE, UBPE)
    for kind, convert in CONVERT.items()
}
DOCS = ["low né lower", "né 𝄞 né", "日本 日本語"]
BYTES = BPE.for_text(270, pretokenizer=None).fit(DOCS, progress=False)
POINTS = BPE(40, alphabet=sorted(set("".join(DOCS)) | set("ab€"))).fit(DOCS, progress=False)


@given(st.sampled_from(list(TOKENIZERS)), st.lists(st.text("abcdx", max_size=12), max_size=5))
def test_tokens_stand_where_they_say(which: tuple[str, str], docs: list[str]) -> None:
    """Each token's symbols, in order, at increasing positions of the original; between them only what was skipped."""
    tok, convert = TOKENIZERS[which], CONVERT[which[1]]
    known = "abcdx" if which[1] == "bytes" else "abcd"
    given_docs = [convert(d) for d in docs]
    batch, starts = tok.encode_batch(given_docs, unknown="skip", return_offsets=True)
    assert batch == tok.encode_batch(given_docs, unknown="skip")
    assert isinstance(starts, Ragged) and starts.lengths.tolist() == batch.lengths.tolist()
    for doc, given_doc, ids, begins in zip(docs, given_docs, batch, starts, strict=True):
        kept = [i for i, c in enumerate(doc) if c in known]
        where = 0
        for token, begin in zip(ids.tolist(), begins.tolist(), strict=True):
            assert begin == kept[where]
            where += tok._model.vocabulary.sequence(token).size
        assert where == len(kept)
        one, single = tok.encode(given_doc, unknown="skip", return_offsets=True)
        assert (
            one.tolist() == ids.tolist() and single.dtype == np.int64 and single.tolist() == begins.tolist()
        )
    other = {"int": ord("b") - 200, "str": "b", "bytes": b"b"}[which[1]]
    replaced, places = tok.encode_batch(given_docs, unknown=other, return_offsets=True)
    rows = tok.spans(given_docs, unknown=other)
    assert [array.dtype for array in rows] == [np.int32, np.int64, np.int64, np.int64]
    expected = []
    for number, (ids, begins) in enumerate(zip(replaced, places, strict=True)):
        sizes = np.diff(tok._model.vocabulary.offsets)[ids]
        assert begins.tolist() == (np.cumsum(sizes) - sizes).tolist() and sizes.sum() == len(docs[number])
        expected += [
            (*row, number) for row in zip(ids.tolist(), begins.tolist(), sizes.tolist(), strict=True)
        ]
    assert list(zip(*(array.tolist() for array in rows), strict=True)) == expected


def test_starts_in_slices_of_a_flat_array_and_in_iterators() -> None:
    """Of a `Ragged`, whose offsets may start above 0 in memory."""
    tok = BPE.from_merges([[0, 1]], alphabet=[5, 6])
    given = Ragged(np.array([5, 5, 6, 9, 5, 6, 6, 9, 5, 5], np.int32), np.array([1, 4, 4, 10]))
    ids, starts = tok.encode_batch(given, unknown="skip", return_offsets=True)
    assert ids.to_lists() == [[2], [], [2, 1, 0, 0]] and starts.to_lists() == [[0], [], [0, 2, 4, 5]]
    want = tok.spans(given, unknown="skip")
    for found in (
        tok.spans(given.values[1:], [0, 3, 3, 9], unknown="skip"),
        tok.spans(iter(given.to_lists()), unknown="skip"),
    ):
        assert all(map(np.array_equal, found, want))
    assert set(tok.spans(np.array([5, 6])).documents.tolist()) == {0}
    ids, spans = BYTES.encode_batch("néné", [0, 2, 4], return_offsets="spans", units="characters")
    assert (
        len(ids) == 2
        and spans.tolist() == 2 * BYTES.encode("né", return_offsets="spans", units="characters")[1].tolist()
    )


@each(
    "preprocessing, options, doc, expected",
    # start and end of each token in the text as given; it ends where the next one begins, or the document
    # does
    [
        (Preprocessing(normalizer="Lowercase"), {}, "AB b", [(0, 2), (2, 3), (3, 4)]),
        (
            Preprocessing(normalizer={"type": "Strip", "strip_left": True, "strip_right": True}),
            {},
            " ab ",
            [(1, 4)],
        ),
        (None, {"unknown": "skip"}, "abxab?", [(0, 3), (3, 6)]),
        (Preprocessing(normalizer="Lowercase"), {"unknown": "skip"}, "ABxab?", [(0, 3), (3, 6)]),
        (None, {"unknown": "a"}, "abxab", [(0, 2), (2, 3), (3, 5)]),
    ],
)
def test_where_text_is_changed(
    preprocessing: Any, options: Any, doc: str, expected: list[tuple[int, int]]
) -> None:
    tok = BPE(4, alphabet="ab ", preprocessing=preprocessing).fit(["abab", "ab"], progress=False)
    spans = tok.spans([doc, "", doc], **options)
    places = list(zip(spans.starts.tolist(), (spans.starts + spans.lengths).tolist(), strict=True))
    assert places == expected * 2 and spans.documents.tolist() == [0] * len(expected) + [2] * len(expected)
    by_bytes = BPE.for_text(256, pretokenizer=None, normalizer="Lowercase").fit(["a"], progress=False)
    # all of the character
    assert by_bytes.encode("aÉ", return_offsets="spans")[1].tolist() == [[0, 1], [1, 3], [1, 3]]


@given(st.lists(st.text(st.sampled_from("low néer𝄞日本語ab€"), max_size=10), max_size=4))
def test_characters_of_bytes_and_bytes_of_characters(docs: list[str]) -> None:
    ids, in_bytes = BYTES.encode_batch(docs, return_offsets="spans")
    _, spans = BYTES.encode_batch(docs, return_offsets="spans", units="characters")
    _, same = BYTES.encode_batch(docs, return_offsets="spans", units="bytes")
    _, starts = BYTES.encode_batch(docs, return_offsets=True, units="characters")
    assert same.tolist() == in_bytes.tolist() and starts.values.tolist() == spans[:, 0].tolist()
    at = 0
    for doc, found in zip(docs, ids, strict=True):
        owner = [i for i, c in enumerate(doc) for _ in c.encode()]  # the character of each byte
        rows = slice(at, at + len(found))
        at += len(found)
        assert spans[rows].tolist() == [[owner[a], owner[b - 1] + 1] for a, b in in_bytes[rows].tolist()]
        assert (
            BYTES.encode(doc, return_offsets="spans", units="characters")[1].tolist() == spans[rows].tolist()
        )
    ids, spans = POINTS.encode_batch(docs, return_offsets="spans")
    _, in_bytes = POINTS.encode_batch(docs, return_offsets="spans", units="bytes")
    owners = [i for i, found in enumerate(ids) for _ in found]
    assert in_bytes.tolist() == [
        [len(docs[i][:a].encode()), len(docs[i][:b].encode())]
        for i, (a, b) in zip(owners, spans.tolist(), strict=True)
    ]


def test_the_first_and_the_last_character_of_each_width() -> None:
    text = "".join(map(chr, (0x7F, 0x80, 0x7FF, 0x800, 0xFFFF, 0x10000, 0x10FFFF)))
    points = BPE.from_merges([], alphabet=sorted(set(text)))
    spans = [[len(text[:i].encode()), len(text[: i + 1].encode())] for i in range(len(text))]
    assert points.encode(text, return_offsets="spans", units="bytes")[1].tolist() == spans


@each("tok, options, error, message", [
    (BYTES, {"units": "words"}, ValueError, "units: expected 'characters' or 'bytes', got 'words'"),
    (BPE.from_merges([[0, 1]], alphabet=2), {"units": "bytes"}, ValueError, "units: documents are bytes or integers"),
    (BPE.from_merges([[0, 1]], alphabet=b"ab"), {"units": "characters"}, ValueError, "units: documents are bytes"),
    (POINTS, {"return_offsets": "pairs"}, ValueError, "return_offsets: expected False, True or 'spans', got 'pairs'"),
])  # fmt: skip
def test_what_is_refused(tok: Any, options: dict[str, Any], error: type[Exception], message: str) -> None:
    refuses(error, message, tok.encode, [], **options)
    for name in ("units", "return_offsets"):
        refuses(TypeError, f"unexpected argument '{name}'", POINTS.spans, ["low"], **{name: "bytes"})


@pytest.mark.parametrize("normalizer", [None, "Lowercase", "StripAccents"])
def test_spans_are_those_of_tokenizers(normalizer: str | None) -> None:
    """Of a byte-level model: tokens that hold parts of characters, and text that is changed."""
    docs = ["Low né LOWER ½ İstanbul né né", "e\u0301 né ÀÉ"] * 3
    tok = BPE.for_text(300, pretokenizer="gpt2", normalizer=normalizer).fit(docs, progress=False)
    peer = Peer.from_str(export(tok, "tokenizer.json"))
    rng = np.random.default_rng(0)
    for _ in range(200):
        text = "".join(rng.choice(list("Low néLOWER½İ\u0301À日𝄞e "), rng.integers(0, 12)))
        found = peer.encode(text, add_special_tokens=False)
        ids, spans = tok.encode(text, return_offsets="spans", units="characters")
        assert ids.tolist() == found.ids and spans.tolist() == [list(pair) for pair in found.offsets], text
