"""Special tokens first, in exports: the ids of Hugging Face's trainer."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from ubpe_numba import BPE, UBPE
from ubpe_numba.formats.export import special_tokens_first
from ubpe_numba.formats.export_check import TEXTS

tokenizers = pytest.importorskip("tokenizers")
SPECIAL = ["[UNK]", "[CLS]", "[SEP]"]


def test_ids_are_those_of_the_trainer() -> None:
    docs = ["ACGTTGCAACGGTTACG" * 3, "GGTACCATGACCATGATTACG" * 2, "TTGACACGT" * 4]
    other = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="[UNK]"))
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=40, special_tokens=SPECIAL, show_progress=False, min_frequency=2)
    other.train_from_iterator(docs, trainer)
    tok = BPE(37, special_tokens=SPECIAL).fit(docs, progress=False)
    text = tok.to_huggingface(unk_token="[UNK]", special_first=True)
    assert json.loads(text)["model"] == json.loads(other.to_str())["model"]
    assert json.loads(text)["added_tokens"] == json.loads(other.to_str())["added_tokens"]
    again = BPE.from_huggingface(text)
    assert again.special_ids == {word: i for i, word in enumerate(SPECIAL)}
    for doc in [*docs, "ACGXTN", "[CLS]ACGT[SEP]"]:
        assert again.encode(doc, allowed_special="all").tolist() == other.encode(doc).ids


@pytest.mark.parametrize("words", [["<b>", "<a>"], {"<b>": 700, "<a>": 600}], ids=["list", "mapping"])
def test_all_ids_move_without_gaps(words: Any) -> None:
    tok = BPE.for_text(300, pretokenizer="gpt2", special_tokens=words, known_words=["the"]).fit(TEXTS, progress=False)
    other = tokenizers.Tokenizer.from_str(tok.to_huggingface(special_first=True))
    size = len(tok.vocabulary)
    assert sorted(other.get_vocab().values()) == list(range(size + 3))
    by_id = sorted(["<a>", "<b>"], key=tok.special_ids.__getitem__)
    assert [other.id_to_token(i) for i in (0, 1)] == by_id
    old = {tok.special_ids[word]: i for i, word in enumerate(by_id)} | {i: i + 2 for i in range(size)}
    old[tok.special_ids["the"]] = size + 2
    for doc in [*TEXTS, "<a>the<b>"]:
        assert other.encode(doc).ids == [old[i] for i in tok.encode(doc, allowed_special="all").tolist()]


def test_models_from_elsewhere_keep_their_rule_for_unknown_characters() -> None:
    names = [f"<0x{byte:02X}>" for byte in range(256)]
    vocab = {name: i for i, name in enumerate(["a", "b", "ab", "<unk>", *names, "<s>"])}
    model = {"type": "BPE", "vocab": vocab, "merges": ["a b"], "unk_token": "<unk>", "byte_fallback": True}
    added = [{"id": vocab[word], "content": word, "special": True} for word in ("<unk>", "<s>")]
    tok = BPE.from_huggingface(json.dumps({"model": model, "added_tokens": added}))
    text = tok.to_huggingface(special_first=True)
    again, other = BPE.from_huggingface(text), tokenizers.Tokenizer.from_str(text)
    assert again.special_ids == {"<unk>": 0, "<s>": 1}
    assert again.encode("abé").tolist() == other.encode("abé").ids == [4, 5 + 0xC3, 5 + 0xA9]


def test_unigrams_with_special_tokens_first_have_the_same_ids() -> None:
    tok = UBPE(8, objective="tokenizers", special_tokens=SPECIAL).fit(["abab", "ab", "abcb"], progress=False)
    other = tokenizers.Tokenizer.from_str(tok.to_huggingface(special_first=True))
    assert other.encode("abcab[SEP]").ids == [*(tok.encode("abcab") + 3).tolist(), 2]


def test_what_is_first_stays() -> None:
    tok = BPE.from_merges([[0, 1]], "ab", special_tokens=SPECIAL)
    made, new = special_tokens_first(tok.model_)
    assert new.tolist() == [3, 4, 5, 0, 1, 2]
    again, same = special_tokens_first(made)
    assert np.array_equal(same, np.arange(6)) and again.segmenter.special.ids.tolist() == [0, 1, 2]
    first = BPE.from_huggingface(tok.to_huggingface(unk_token="[UNK]", special_first=True))
    assert first.to_huggingface(special_first=True) == first.to_huggingface()
    with pytest.raises(ValueError, match="special_first: the special tokens of this tokenizer come first"):
        first.to_huggingface(special_first=False)


def test_arguments_that_say_nothing() -> None:
    plain = BPE.for_text(257).fit(["abab"], progress=False)
    with pytest.raises(ValueError, match="special_first: this tokenizer has no special tokens"):
        plain.to_huggingface(special_first=True)
    with pytest.raises(TypeError, match="special_first: expected True, False or None, got 3"):
        plain.to_huggingface(special_first=3)  # type: ignore[arg-type]
    assert plain.to_huggingface(special_first=False) == plain.to_huggingface()
