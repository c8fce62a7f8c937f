"""Arrays of Arrow: their texts are those that Python's objects would give."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow")

from ubpe_numba import BPE  # noqa: E402
from ubpe_numba.documents.arrow import texts_of  # noqa: E402
from ubpe_numba.documents.normalise import Documents, as_documents  # noqa: E402
from ubpe_numba.documents.utf8 import utf8_documents  # noqa: E402

TEXTS = st.lists(st.text(st.sampled_from("ab\x00é\u07ff\u0800低😀\U0010ffff"), max_size=4), max_size=8)


def plain(documents: Documents) -> tuple[Any, ...]:
    """All of it, and that kernels can read it."""
    values, offsets, kind = documents
    assert values.flags.c_contiguous and offsets.flags.writeable and offsets.dtype == "int64"
    return values.dtype, values[: offsets[-1]].tolist(), offsets.tolist(), kind


@given(TEXTS, st.integers(0, 4), st.integers(0, 3), st.sampled_from(["string", "large_string", "binary", "large_binary"]))
def test_texts_of_every_type_sliced_and_in_chunks(texts: list[str], start: int, cut: int, kind: str) -> None:
    docs: list[Any] = [text.encode() for text in texts] if "binary" in kind else texts
    array = pa.array(docs, getattr(pa, kind)()).slice(start)
    docs = docs[start:]
    for same in (array, pa.chunked_array([array.slice(0, cut), array.slice(cut)]), pa.chunked_array([array])):
        assert plain(as_documents(same)) == plain(as_documents(docs))
        assert plain(utf8_documents(same)) == plain(utf8_documents(docs))
    assert plain(as_documents(pa.chunked_array([], getattr(pa, kind)()))) == plain(as_documents([]))


@pytest.mark.parametrize("kind", [pa.string(), pa.large_binary()])
def test_binary_and_ascii_are_not_copied(kind: Any) -> None:
    array = pa.array(["ab", "c"], kind)
    values, offsets, _ = utf8_documents(array)
    assert values.__array_interface__["data"][0] == array.buffers()[2].address
    assert offsets.tolist() == [0, 2, 3]


@pytest.mark.parametrize("texts", [["a", None], [None]])
def test_nulls_are_refused(texts: list[Any]) -> None:
    array = pa.array(texts, pa.string())
    assert texts_of(array) is None
    for read in (as_documents, utf8_documents):
        with pytest.raises(TypeError, match=rf"docs: document {len(texts) - 1}: expected one of .*, got None"):
            read(array)


def test_strings_that_are_not_utf8() -> None:
    """Arrow does not look: an alphabet of bytes takes them, characters cannot be made of them."""
    array = pa.Array.from_buffers(pa.string(), 2, [*pa.array(["ab", "c"]).buffers()[:2], pa.py_buffer(b"a\xffc")])
    assert plain(utf8_documents(array))[1] == [0x61, 0xFF, 0x63]
    with pytest.raises(UnicodeDecodeError):
        as_documents(array)


def test_other_types() -> None:
    assert texts_of(pa.array([[1]])) is None
    assert texts_of(pa.table({"a": ["x"]})) is None
    assert texts_of(["a"]) is None
    assert plain(as_documents(pa.array(["é", "x"]).dictionary_encode())) == plain(as_documents(["é", "x"]))


def test_a_tokenizer_of_text_takes_them() -> None:
    texts = ["low lower é", "", "lowest 低"]
    tok = BPE.for_text(262, pretokenizer="gpt2").fit(pa.array(texts), progress=False)
    assert tok.fingerprint == BPE.for_text(262, pretokenizer="gpt2").fit(texts, progress=False).fingerprint
    assert tok.encode_batch(pa.array(texts)) == tok.encode_batch(texts)
    assert tok.encode_batch(pa.chunked_array([texts[:1], texts[1:]], pa.large_string())) == tok.encode_batch(texts)
    plain_tok = BPE(20, alphabet="low erst低é").fit(pa.array(texts), progress=False)
    assert plain_tok.encode_batch(pa.array(texts)) == plain_tok.encode_batch(texts)
