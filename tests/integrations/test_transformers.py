"""To and from transformers: tasks of special tokens, lengths, chat templates; its objects and folders are read."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest
from integrations.conftest import needed
from tables import each

from ubpe_numba import BPE, UBPE, Preprocessing, WordPiece, export, load
from ubpe_numba.errors import ModelFormatError

tokenizers = needed("tokenizers")
transformers = needed("transformers")
TEXTS = ["In the beginning God created the heaven and the earth.", "And the earth was without form, and void"]
SPECIAL = ["<|bos|>", "<|eos|>", "<|pad|>", "<|user|>"]
CHAT = "{% for m in messages %}<|user|>{{ m['content'] }}<|eos|>{% endfor %}"
CUT: dict[str, Any] = {"pretokenizer": {"type": "BertPreTokenizer"}, "normalizer": {"type": "BertNormalizer"}}


@pytest.fixture(scope="module")
def tok() -> BPE:
    return BPE.for_text(300, pretokenizer="gpt2", special_tokens=SPECIAL).fit(TEXTS * 3, progress=False)


def words() -> WordPiece:
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "ear", "##th", "."]
    special = {name: i for i, name in enumerate(names[:4])}
    return WordPiece(names, preprocessing=Preprocessing(special_tokens=special, **CUT))


def grams() -> UBPE:
    return UBPE(12, objective="tokenizers", preprocessing=Preprocessing(special_tokens=SPECIAL)).fit(
        ["abab", "abcb", "cab"], progress=False
    )


def test_all_that_a_model_needs(tok: BPE, tmp_path: pathlib.Path) -> None:
    roles = {"bos_token": "<|bos|>", "eos_token": "<|eos|>", "pad_token": "<|pad|>"}
    rest = {"template": "<|bos|> $A", "model_max_length": 8, "padding_side": "left", "chat_template": CHAT}
    fast = export(tok, "transformers", **roles, **rest, special_first=True)
    fast.save_pretrained(tmp_path)
    saved = transformers.AutoTokenizer.from_pretrained(str(tmp_path))
    for made in (fast, saved):
        assert (made.bos_token_id, made.eos_token_id, made.pad_token_id, made.unk_token) == (0, 1, 2, None)
        assert len(made) == len(tok._model.vocabulary) + len(SPECIAL)
        batch = made(["a", TEXTS[0]], padding=True, truncation=True)
        assert batch["input_ids"][1] == [0, *(tok.encode(TEXTS[0]) + len(SPECIAL)).tolist()[:7]]
        assert batch["input_ids"][0] == [2] * 6 + [0, *(tok.encode("a") + len(SPECIAL)).tolist()]
        asked = [{"role": "user", "content": "the earth"}]
        assert made.apply_chat_template(asked, tokenize=False) == "<|user|>the earth<|eos|>"
        assert made.decode(made(TEXTS[1], truncation=False)["input_ids"], skip_special_tokens=True) == TEXTS[1]


def test_the_unknown_token_is_that_of_the_file() -> None:
    letters = BPE(20, preprocessing=Preprocessing(special_tokens=["[UNK]", *SPECIAL])).fit(["the tide", "tied"], progress=False)
    fast = export(letters, "transformers", unk_token="[UNK]", additional_special_tokens=["<|user|>"])
    assert fast.unk_token == "[UNK]" and len(fast) == len(letters._model.vocabulary) + 5
    assert fast("tXe")["input_ids"][1] == letters.vocabulary.special["[UNK]"] == fast.unk_token_id
    again = BPE.load(fast)
    assert export(again, "transformers").unk_token == "[UNK]"  # the file says it
    assert export(letters, "transformers", unk_token=False).unk_token is None
    with pytest.warns(UserWarning, match="no unk_token") as caught:
        export(letters, "transformers")
    assert caught[0].filename == __file__


@each(
    "params, match",
    [
        ({"eos_token": "<end>"}, "eos_token: '<end>' is not a special token of this tokenizer .* no model knows"),
        ({"pad_token": "the"}, "pad_token: 'the' is not a special token"),
        ({"unk_token": "<unk>"}, "unk_token: '<unk>' is neither a symbol nor a special token"),
        ({"image_token": "<image>"}, "image_token: '<image>' is not"),
        ({"extra_special_tokens": ["<|bos|>", "<x>"]}, "extra_special_tokens: '<x>' is not"),
        ({"extra_special_tokens": {"x_token": "<x>"}}, "extra_special_tokens: '<x>' is not"),
        ({"padding_side": "middle"}, "padding_side: expected 'left' or 'right', got 'middle'"),
        ({"model_max_length": 0}, "model_max_length: expected a positive int, got 0"),
        ({"model_max_length": True}, "model_max_length: expected a positive int"),
        ({"template": "[CLS] $A"}, r"template: '\[CLS\]' is not a special token"),
    ],
)
def test_what_is_no_special_token_is_refused(tok: BPE, params: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        export(tok, "transformers", **params)


@pytest.mark.parametrize("make", [words, grams])
def test_words_and_unigrams(make: Any) -> None:
    made = make()
    if isinstance(made, WordPiece):
        fast = export(
            made,
            "transformers",
            template="[CLS] $A [SEP]",
            unk_token="[UNK]",
            pad_token="[PAD]",
            cls_token="[CLS]",
            sep_token="[SEP]",
            model_max_length=5,
        )
        assert fast("The earth. xyz", truncation=True)["input_ids"] == [2, 4, 5, 6, 3]
        assert fast.convert_ids_to_tokens(fast("xyz")["input_ids"]) == ["[CLS]", "[UNK]", "[SEP]"]
        assert len(fast) == made.vocab_size
    else:
        fast = export(
            made,
            "transformers",
            template="<|bos|> $A <|eos|>",
            unk_token="<|pad|>",
            special_first=True,
            bos_token="<|bos|>",
            eos_token="<|eos|>",
        )
        assert fast("abcab")["input_ids"] == [0, *(made.encode("abcab") + 4).tolist(), 1]
        assert fast("é")["input_ids"] == [0, 2, 1] and fast.unk_token == "<|pad|>"


@pytest.mark.parametrize("cls", [BPE, UBPE, WordPiece])
def test_its_objects_and_folders_are_read(cls: Any, tok: BPE, tmp_path: pathlib.Path) -> None:
    made = {BPE: tok, UBPE: grams(), WordPiece: words()}[cls]
    fast = export(made, "transformers")
    fast.save_pretrained(tmp_path)
    text = TEXTS[0] if cls is not UBPE else "abcab"
    for source in (fast, fast.backend_tokenizer, tmp_path, str(tmp_path), str(tmp_path / "tokenizer.json")):
        for read in (load, cls.load):
            found = read(source)
            assert type(found) is cls and found.encode(text).tolist() == made.encode(text).tolist()


def test_an_object_of_another_model_is_refused(tok: BPE) -> None:
    with pytest.raises(ModelFormatError, match="a BPE, not a UBPE: use BPE.load"):
        UBPE.load(export(tok, "transformers"))
    with pytest.raises(ValueError, match=r"pretokenizer: transformers\..* is a tokenizer\.json of Hugging Face, which says it"):
        load(export(tok, "transformers"), pretokenizer="gpt2")
    with pytest.raises(ModelFormatError, match=r"tokenizers.Tokenizer: a tokenizer.json of Hugging Face: model: expected"):
        load(tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0}, unk_token="a")))


def test_a_slow_tokenizer_has_no_file() -> None:
    slow = transformers.ByT5Tokenizer()
    for read in (load, BPE.load):
        with pytest.raises(TypeError, match="ByT5Tokenizer is no fast tokenizer of transformers"):
            read(slow)


def test_a_folder_without_a_file(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ModelFormatError, match=r"a folder with none of .*tokenizer\.json"):
        BPE.load(tmp_path)
