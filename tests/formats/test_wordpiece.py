"""WordPiece models of a tokenizer.json: the ids of tokenizers, and clear refusals."""

from __future__ import annotations

import json
from typing import Any

import pytest
from foreign import MIXED
from hypothesis import given, settings
from hypothesis import strategies as st

from ubpe_numba import ModelFormatError, WordPiece

tokenizers = pytest.importorskip("tokenizers")

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PIECES = ["un", "##aff", "##able", "able", "a", "##a", "b", "##b", "中", "!", ",", "e", "##e", "ab", "##ab", "'", "s", "[", "]"]


def bert(pieces: list[str] = PIECES, lowercase: bool = True, **fields: Any) -> str:
    """The content of a tokenizer.json as those of BERT are."""
    made = tokenizers.Tokenizer(
        tokenizers.models.WordPiece({piece: i for i, piece in enumerate(SPECIAL + pieces)}, unk_token="[UNK]")
    )
    made.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=lowercase)
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    made.decoder = tokenizers.decoders.WordPiece()
    made.add_special_tokens(SPECIAL)
    file = json.loads(made.to_str())
    file["model"] |= fields
    return json.dumps(file)


@settings(max_examples=100)
@given(st.lists(st.text("abBéEe中!,' \n\t[]Uunfle\u0301", max_size=40), min_size=1, max_size=8), st.booleans())
def test_ids_equal_those_of_tokenizers(docs: list[str], lowercase: bool) -> None:
    text = bert(lowercase=lowercase)
    peer, tokenizer = tokenizers.Tokenizer.from_str(text), WordPiece.from_huggingface(text)
    docs += ["[CLS] unaffable [SEP]ab[MASK] ab!", "a" * 101 + " a"]
    want = [found.ids for found in peer.encode_batch(docs, add_special_tokens=False)]
    assert tokenizer.encode_batch(docs).to_lists() == want
    assert [tokenizer.encode(doc).tolist() for doc in docs] == want


def test_words_and_texts_may_be_mixed() -> None:
    tokenizer = WordPiece.from_huggingface(bert())
    assert tokenizer.encode_batch(["[CLS]ab", ["un", "ab"], "", "b[SEP][SEP]"]).to_lists() == [[2, 18], [5, 18], [], [11, 3, 3]]
    assert tokenizer.decode([2, 5, 6]) == "[CLS] unaff"


@pytest.mark.parametrize(
    "text, message",
    [
        ("{}", "expected one of type WordPiece"),
        (bert(unk_token="x"), "unk_token: expected a piece"),
        (bert(max_input_chars_per_word=0), "max_input_chars_per_word"),
        (bert(continuing_subword_prefix=7), "continuing_subword_prefix"),
        (bert(vocab={}), "vocab: expected an object"),
        (bert().replace('"lstrip": false', '"lstrip": true'), "lstrip, rstrip, single_word and normalized are not supported"),
        (bert().replace('"pre_tokenizer": {"type": "BertPreTokenizer"}', '"pre_tokenizer": null'), "one that cuts text"),
    ],
)
def test_what_is_not_valid_is_refused(text: str, message: str) -> None:
    with pytest.raises(ModelFormatError) as error:
        WordPiece.from_huggingface(text)
    assert message in str(error.value)


# ---------------------------------------------------------------------------------------------------- writing


def both(tokenizer: WordPiece, docs: list[str]) -> None:
    """The ids of the tokenizer, of tokenizers by what it writes, and of what is read from that."""
    text = tokenizer.to_huggingface()
    peer = tokenizers.Tokenizer.from_str(text)
    want = tokenizer.encode_batch(docs).to_lists()
    assert [found.ids for found in peer.encode_batch(docs, add_special_tokens=False)] == want
    assert WordPiece.from_huggingface(text).encode_batch(docs).to_lists() == want
    assert [peer.decode(ids, skip_special_tokens=False) for ids in want] == tokenizer.decode_batch(want)
    assert WordPiece.from_huggingface(text).to_huggingface() == text


@settings(max_examples=60)
@given(st.lists(st.text("abBéEe中!,' \n\t[]Uunfle\u0301", max_size=40), min_size=1, max_size=8), st.booleans())
def test_what_was_read_is_written_again(docs: list[str], lowercase: bool) -> None:
    docs += ["[CLS] unaffable [SEP]ab[MASK] ab!", "a" * 101 + " a"]
    both(WordPiece.from_huggingface(bert(lowercase=lowercase)), docs)


@pytest.mark.parametrize("cut", [{"type": "BertPreTokenizer"}, [{"type": "WhitespaceSplit"}, {"type": "Digits"}]])
def test_own_vocabularies_are_written(cut: Any, lines: list[str], tmp_path: Any) -> None:
    words = [word for line in [*lines[:500], *MIXED] for word in line.split()]
    special = {word: 600 + i for i, word in enumerate(SPECIAL) if word != "[UNK]"}
    options: dict[str, Any] = {"longest": 30, "prefix": "@@", "normalizer": [{"type": "NFC"}], "pretokenizer": cut}
    learned = WordPiece.train(words, 600, prefix="@@", longest=30)
    tokenizer = WordPiece(learned.vocabulary, **options, special_tokens=special)
    both(tokenizer, [*lines[500:900], *MIXED, "a[CLS]b [MASK] x" + "y" * 40])
    text = tokenizer.to_huggingface(tmp_path / "tokenizer.json")
    assert (tmp_path / "tokenizer.json").read_text("utf-8") == text


def test_what_cannot_be_written_is_refused() -> None:
    pieces, cut = [*SPECIAL, *PIECES], {"type": "BertPreTokenizer"}
    with pytest.raises(ValueError, match=r"pretokenizer: a tokenizer.json says how text becomes words; for BERT's give"):
        WordPiece(pieces).to_huggingface()
    with pytest.raises(ValueError, match="'ab' is a piece with another id"):
        WordPiece(pieces, pretokenizer=cut, special_tokens={"ab": 99}).to_huggingface()
    with pytest.raises(ValueError, match="has the id of another piece"):
        WordPiece(pieces, pretokenizer=cut, special_tokens={"[x]": 7}).to_huggingface()
    with pytest.raises(ValueError, match="a piece is no text"):
        WordPiece([*pieces, "\ud800"], pretokenizer=cut).to_huggingface()
