"""To and from the two files of GPT-2 and of subword-nmt; hostile files are refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from foreign import MIXED, same

from ubpe_numba import BPE, ModelFormatError

tokenizers = pytest.importorskip("tokenizers")


def test_the_files_of_gpt2_as_hugging_face_reads_them(tok: Any) -> None:
    vocab, merges = tok.to_vocab_merges()
    pairs = [tuple(line.split(" ")) for line in merges.splitlines()[1:]]
    model = tokenizers.models.BPE(vocab=json.loads(vocab), merges=pairs)
    other = tokenizers.Tokenizer(model)
    other.pre_tokenizer = tokenizers.Tokenizer.from_str(tok.to_huggingface()).pre_tokenizer
    for text in MIXED:
        assert other.encode(text).ids == tok.encode(text).tolist()


def test_end_of_word() -> None:
    docs = ["low low low lower lower newest newest widest "] * 5
    tok = BPE(30, pretokenizer=r"\S*\s").fit(docs, progress=False)
    vocab, merges = tok.to_vocab_merges(end_of_word=" ")
    assert "</w>" in json.loads(vocab) and " " not in json.loads(vocab) and merges.startswith("#version: 0.2\n")
    again = BPE.from_vocab_merges(vocab, merges, kind="str", pretokenizer=r"\S*\s", end_of_word=" ")
    same(tok, again, docs)
    with pytest.raises(ValueError, match="holds white space, which merges.txt cannot keep"):
        tok.to_vocab_merges()


def test_end_of_word_in_one_symbol() -> None:
    """subword-nmt 0.2 and Hugging Face's suffix: the last character and its marker are one symbol."""
    other = tokenizers.Tokenizer(tokenizers.models.BPE(end_of_word_suffix="</w>"))
    other.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=60, end_of_word_suffix="</w>", show_progress=False)
    text = "low low lower lower newest newest newest widest widest ox "
    other.train_from_iterator([text] * 3, trainer)
    model = json.loads(other.to_str())["model"]
    merges = "\n".join(" ".join(pair) for pair in model["merges"]) + "\n"
    tok = BPE.from_vocab_merges(model["vocab"], merges, kind="str", pretokenizer=r"\S*\s", end_of_word=" ")
    for doc in (text, "lowest newer west ", "x "):
        assert tok.encode(doc).tolist() == other.encode(doc).ids
        assert tok.decode(tok.encode(doc)) == doc


def test_hostile_vocab_and_merges() -> None:
    vocab = json.dumps({"a": 0, "b": 1, "ab": 2, "c</w>": 3})
    for merges, match in (
        ("a b c\n", "merges: line 1: expected two tokens"),
        ("#version: 0.2\na b\na\n", "merges: line 3: expected two tokens"),
        ("b a\n", "'ba' is not in the vocabulary"),
        ("a b\na b\n", "is there twice"),
    ):
        with pytest.raises(ModelFormatError, match=match):
            BPE.from_vocab_merges(vocab, merges)
    with pytest.raises(ModelFormatError, match="not valid JSON"):
        BPE.from_vocab_merges("{x", "\n")
    with pytest.raises(ModelFormatError, match="end_of_word: 'a' is a token already"):
        BPE.from_vocab_merges({"a": 0, "</w>": 1}, "\n", kind="str", end_of_word="a")
    with pytest.raises(ModelFormatError, match="special_tokens: 'c</w>' has the id 3 in the vocabulary, not 7"):
        BPE.from_vocab_merges(vocab, "a b\n", special_tokens={"c</w>": 7})
    with pytest.raises(ModelFormatError, match="special tokens: 'ab' is made by merges too"):
        BPE.from_vocab_merges(vocab, "a b\n", special_tokens={"ab": 2})
    with pytest.raises(ModelFormatError, match="not text in UTF-8"):
        BPE.from_vocab_merges(vocab, b"\xff\n")
    with pytest.raises(ModelFormatError, match="no token of a single symbol"):
        BPE.from_vocab_merges({"ab": 0}, "\n")


def test_a_token_that_goes_on_behind_the_end_of_a_word() -> None:
    tok = BPE.from_merges([[0, 2], [3, 1]], alphabet="ab_")
    with pytest.raises(ValueError, match="goes on behind the end of a word"):
        tok.to_vocab_merges(end_of_word="_")
