"""Unigram models of a tokenizer.json: the ids of tokenizers, and clear refusals."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ubpe_numba import BPE, UBPE, ModelFormatError

tokenizers = pytest.importorskip("tokenizers")

SPACES = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
CUTS = [None, SPACES, {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, SPACES]}]
SCORES = st.sampled_from([-1.0, -2.0, -2.5, -0.1, -7.3])


def file_of(vocab: list[tuple[str, float]], unknown: int | None = 0, cut: Any = None, **fields: Any) -> str:
    """The content of a tokenizer.json."""
    added = {"lstrip": False, "rstrip": False, "single_word": False, "normalized": False, "special": True}
    model = {"type": "Unigram", "unk_id": unknown, "vocab": [list(pair) for pair in vocab], "byte_fallback": False}
    return json.dumps(
        {
            "version": "1.0", "normalizer": None, "pre_tokenizer": cut, "post_processor": None,
            "added_tokens": [{"id": 0, "content": "<unk>", **added}], "decoder": SPACES, "model": model | fields,
        }
    )  # fmt: skip


@settings(max_examples=100)
@given(
    st.lists(st.text("ab▁é", min_size=1, max_size=4), min_size=1, max_size=12, unique=True),
    st.data(),
    st.sampled_from(CUTS),
    st.lists(st.text("ab é▁xyz\n", max_size=30), min_size=1, max_size=8),
)
def test_ids_equal_those_of_tokenizers(names: list[str], data: st.DataObject, cut: Any, docs: list[str]) -> None:
    text = file_of([("<unk>", 0.0), *[(name, data.draw(SCORES)) for name in names]], cut=cut)
    peer, tokenizer = tokenizers.Tokenizer.from_str(text), UBPE.from_huggingface(text)
    docs.append("a<unk>b")
    want = [found.ids for found in peer.encode_batch(docs, add_special_tokens=False)]
    assert tokenizer.encode_batch(docs, allowed_special="all").to_lists() == want
    for doc, ids in zip(docs, want, strict=True):
        assert tokenizer.encode(doc, allowed_special="all").tolist() == ids
        if not any("▁" in name[1:] for name in names):  # all marks of a first piece are left out there
            assert tokenizer.decode(ids) == peer.decode(ids, skip_special_tokens=False)


def test_bytes_for_unknown_characters() -> None:
    vocab = [("<unk>", 0.0), *[(f"<0x{byte:02X}>", 0.0) for byte in range(256)], ("a", -1.0), ("▁", -2.0), ("aa", -1.5)]
    text = file_of(vocab, cut=SPACES, byte_fallback=True)
    peer, tokenizer = tokenizers.Tokenizer.from_str(text), UBPE.from_huggingface(text)
    for doc in ("aaa é a", "é中😀", "a b", ""):
        assert tokenizer.encode(doc).tolist() == peer.encode(doc, add_special_tokens=False).ids
    assert tokenizer.decode(tokenizer.encode("aé 中")) == "aé 中"


def test_models_are_saved_and_loaded(tmp_path: Any) -> None:
    tokenizer = UBPE.from_huggingface(file_of([("<unk>", 0.0), ("a", -1.0), ("▁a", -1.5)], cut=SPACES))
    tokenizer.save(tmp_path / "m.npz")
    again = UBPE.load(tmp_path / "m.npz")
    assert again.encode("a xxa a").tolist() == tokenizer.encode("a xxa a").tolist() == [2, 0, 1, 2]
    assert again.decode([2, 0, 1]) == tokenizer.decode([2, 0, 1]) == "a<unk>a"


@pytest.mark.parametrize(
    "text, message",
    [
        ("{}", "expected one of type Unigram"),
        (file_of([]), "expected a list of pieces"),
        (file_of([("a", 0.0)], 1), "unk_id: expected the id of a piece, got 1"),
        (file_of([("a", 0.0)], True), "unk_id: expected the id of a piece"),  # type: ignore[arg-type]
        (file_of([("a", 0.0), ("a", 0.0)]), "a piece is there twice"),
        (file_of([("a", "b")]), "pairs of a piece and a score"),  # type: ignore[list-item]
        (file_of([("a", 0.0)]).replace("0.0", "1e999"), "no finite number"),
        (file_of([("ab", -1.0), ("a", -1.0)], None), "'b' is in pieces, but is none itself"),
        (file_of([("\U00100000", -1.0)], None), "needed to stand for something else"),
        (file_of([("<unk>", 0.0)], cut={"type": "ByteLevel"}), "ByteLevel is not supported"),
        (file_of([("", 0.0)], None).replace('"content": "<unk>"', '"content": "x"'), "there are no pieces"),
    ],
)
def test_what_is_not_valid_is_refused(text: str, message: str) -> None:
    with pytest.raises(ModelFormatError) as error:
        UBPE.from_huggingface(text)
    assert message in str(error.value)


def test_without_an_unknown_piece_an_unknown_character_is_an_error() -> None:
    text = file_of([("a", -1.0)], None).replace('"content": "<unk>"', '"content": "a"')
    tokenizer = UBPE.from_huggingface(text.replace('"added_tokens": [{', '"added_tokens": [], "x": [{'))
    assert tokenizer.encode("aa").tolist() == [0, 0]
    with pytest.raises(ValueError, match="position 1: symbol 'b'"):
        tokenizer.encode("ab")


def test_the_other_class_refuses() -> None:
    with pytest.raises(ModelFormatError, match="expected one of type BPE"):
        BPE.from_huggingface(file_of([("<unk>", 0.0), ("a", -1.0)]))
