"""Text as UTF-8: any text and any bytes come back, in every container, without a second copy."""

import mmap
import pathlib
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tables import refuses
from text_samples import END, TEXT

from ubpe_numba import BPE, Preprocessing, WordPiece, count_documents
from ubpe_numba.documents import read as border
from ubpe_numba.documents.read import utf8_documents

pytestmark = pytest.mark.filterwarnings("ignore:every idf is 0:UserWarning")  # few documents, or all alike


def test_text_that_comes_one_by_one_is_not_held():
    text = "".join(map(chr, np.random.default_rng(0).integers(97, 107, 4000)))
    n = 2_000_000
    tracemalloc.start()
    documents = utf8_documents(text[i % 7 :] + text[: i % 7] for i in range(n // 4000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert documents.values.size == n
    assert peak < n + 4 * border._BATCH_SYMBOLS  # the texts alone would be 2 n, as str and as bytes


@given(st.lists(st.text() | st.binary(), max_size=5))
def test_any_text_comes_back(docs: list[Any]) -> None:
    tok = ANY
    batch = tok.encode_batch(docs)
    for doc, ids in zip(docs, batch, strict=True):
        assert tok.encode(doc).tolist() == ids.tolist()
        if isinstance(doc, bytes):
            assert tok.decode(ids, as_bytes=True) == doc and tok.decode(ids) == doc.decode("utf-8", "replace")
            assert tok.decode(ids, errors="surrogateescape").encode("utf-8", "surrogateescape") == doc
        else:
            assert tok.decode(ids, errors="surrogatepass") == doc
            assert tok.decode(ids, as_bytes=True) == doc.encode("utf-8", "surrogatepass")
    assert tok.decode_batch(batch, errors="ignore") == [tok.decode(ids, errors="ignore") for ids in batch]


ANY = BPE.for_text(320, pretokenizer="cl100k", special_tokens=[END]).fit(TEXT * 2, progress=False)


def test_surrogates_are_encoded_and_decoded_where_asked_for() -> None:
    assert ANY.encode("\ud800").tolist() == [0xED, 0xA0, 0x80]
    assert (
        ANY.decode([0xED, 0xA0, 0x80], errors="surrogatepass") == "\ud800"
        and ANY.decode([0xED, 0xA0, 0x80]) == "\ufffd" * 3
    )
    refuses(UnicodeDecodeError, "", ANY.decode, [0xFF], errors="strict")


def test_surrogates_in_pairs_are_the_character_that_they_are() -> None:
    """As JSON read escape by escape gives them; tiktoken does the same. Lone ones stay."""
    text, pairs = "é👍 👍🏽\udc00", "é\ud83d\udc4d \ud83d\udc4d\ud83c\udffd\udc00"
    characters = BPE(60).fit([text * 3, "é" * 3], progress=False)
    pieces = WordPiece(["[UNK]", "é", "👍", "##👍"], preprocessing=Preprocessing("BertPreTokenizer"))
    for tok, one in ((ANY, text), (characters, text), (pieces, "é👍 👍👍")):
        two = pairs if one is text else "é\ud83d\udc4d 👍\ud83d\udc4d"
        ids, spans = tok.encode(one, return_offsets="spans", units="characters")
        for docs in ([two], (two, "é"), iter([two, one])):
            assert tok.encode_batch(docs)[0].tolist() == ids.tolist()
        for _ in range(12):  # short calls have another way after some
            assert tok.encode(two).tolist() == ids.tolist()
        assert tok.encode(two, return_offsets="spans", units="characters")[1].tolist() == spans.tolist()
    for tok in (ANY, characters):
        for at in range(len(pairs) + 1):
            stream = tok.stream(unknown="skip")
            parts = [stream.push(pairs[:at]), stream.copy().pending, stream.push(pairs[at:]), stream.finish()]
            assert np.concatenate([parts[0], *parts[2:]]).tolist() == tok.encode(text).tolist()
            assert [*parts[0], *parts[1]] == tok.encode(pairs[:at], unknown="skip").tolist()
    with_halves = BPE.from_merges([], ["\udc4d", "\ud83d", "👍"])
    assert {tuple(with_halves.encode("\ud83d\udc4d").tolist()) for _ in range(12)} == {(2,)}


def test_memory_maps_of_text(tmp_path: pathlib.Path) -> None:
    """Of Python, and of NumPy as uint8, which are the bytes of a text where text is expected, and integers elsewhere."""
    path = tmp_path / "text"
    path.write_bytes(data := "低い the cat<|end|> 👍\n".encode() * 9)
    with path.open("rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as of_python:
        for text in (
            of_python,
            np.memmap(path, np.uint8, "r"),
            np.memmap(path, np.uint8, "r")[:],
            memoryview(data),
        ):
            for tok in (ANY, BPE.for_text(300, pretokenizer=None).fit(text, progress=False)):
                ids = tok.encode(data, **SPECIAL)
                assert tok.encode(text, **SPECIAL).tolist() == ids.tolist()
                assert tok(text, **SPECIAL).input_ids.tolist() == ids.tolist()
                assert tok.encode_batch([text, text], **SPECIAL).to_lists() == [ids.tolist()] * 2
                assert tok.count([text], **SPECIAL).tolist() == [ids.size]
                with tok.stream(**SPECIAL) as stream:
                    assert [*stream.push(text), *stream.finish()] == ids.tolist()
            fits = [
                BPE.for_text(280).fit(docs, progress=False)._model
                for docs in (text, [text], [data], iter([text]))
            ]
            assert fits[0].vocabulary == fits[1].vocabulary == fits[2].vocabulary == fits[3].vocabulary
        assert BPE(300).fit(of_python, progress=False)._model.alphabet.kind == "bytes"
        del text, tok, stream  # a map that is in use cannot be closed
    assert BPE(300).fit(np.memmap(path, np.uint8), progress=False)._model.alphabet.kind == "int"
    refuses(
        TypeError, "docs: expected str or bytes, got an array of int8", ANY.encode_batch, np.zeros(3, np.int8)
    )


SPECIAL = {"disallowed_special": "none"}


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
    counted = cls.for_text(300, pretokenizer="gpt2").fit(count_documents(TEXT), progress=False)
    assert counted._model.vocabulary == tok._model.vocabulary
    refuses(TypeError, "docs: expected str or bytes, got an array of int64", tok.encode_batch, [[1, 2]])
    with pytest.raises(ValueError, match="encoding: it makes bytes of text, and the alphabet is one of int"):
        cls(60, preprocessing=Preprocessing(encoding="utf-8"), alphabet=4).fit([], progress=False)
