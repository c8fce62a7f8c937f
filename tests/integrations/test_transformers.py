"""To and from transformers: tasks of special tokens, lengths, chat templates; its objects and folders are read."""

import importlib.util
import itertools
import json
import pathlib
import random
import warnings
from typing import Any

import numpy as np
import pytest
from integrations.conftest import needed
from tables import each, refused, refuses

from ubpe_numba import BPE, UBPE, Preprocessing, WordPiece, export, load
from ubpe_numba.errors import ModelFormatError, UnknownSymbolError
from ubpe_numba.formats import tokenizer_config

tokenizers = needed("tokenizers")
transformers = needed("transformers")
TEXTS = ["In the beginning God created the heaven and the earth.", "And the earth was without form, and void"]
SPECIAL = ["<|bos|>", "<|eos|>", "<|pad|>", "<|user|>"]
CHAT = "{% for m in messages %}<|user|>{{ m['content'] }}<|eos|>{% endfor %}"
CUT: dict[str, Any] = {"pretokenizer": {"type": "BertPreTokenizer"}, "normalizer": {"type": "BertNormalizer"}}


@pytest.fixture(scope="module")
def tok() -> BPE:
    return BPE.for_text(300, pretokenizer="gpt2", special_tokens=SPECIAL, special_first=True).fit(
        TEXTS * 3, progress=False
    )


def words() -> WordPiece:
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "ear", "##th", "."]
    special = {name: i for i, name in enumerate(names[:4])}
    return WordPiece(names, preprocessing=Preprocessing(special_tokens=special, **CUT))


def grams() -> UBPE:
    return UBPE(
        12, objective="tokenizers", preprocessing=Preprocessing(special_tokens=SPECIAL, special_first=True)
    ).fit(["abab", "abcb", "cab"], progress=False)


def test_all_that_a_model_needs(tok: BPE, tmp_path: pathlib.Path) -> None:
    roles = {"bos_token": "<|bos|>", "eos_token": "<|eos|>", "pad_token": "<|pad|>"}
    rest = {"template": "<|bos|> $A", "model_max_length": 8, "padding_side": "left", "chat_template": CHAT}
    fast = export(tok, "transformers", tmp_path, **roles, **rest)
    saved = transformers.AutoTokenizer.from_pretrained(str(tmp_path))
    for made in (fast, saved):
        assert (made.bos_token_id, made.eos_token_id, made.pad_token_id, made.unk_token) == (0, 1, 2, None)
        assert len(made) == len(tok._model.vocabulary) + len(SPECIAL)
        batch = made(["a", TEXTS[0]], padding=True, truncation=True)
        assert batch["input_ids"][1] == [0, *tok.encode(TEXTS[0]).tolist()[:7]]
        assert batch["input_ids"][0] == [2] * 6 + [0, *tok.encode("a").tolist()]
        asked = [{"role": "user", "content": "the earth"}]
        assert made.apply_chat_template(asked, tokenize=False) == "<|user|>the earth<|eos|>"
        assert (
            made.decode(made(TEXTS[1], truncation=False)["input_ids"], skip_special_tokens=True) == TEXTS[1]
        )


def test_the_unknown_token_is_that_of_the_file() -> None:
    letters = BPE(20, preprocessing=Preprocessing(special_tokens=["[UNK]", *SPECIAL])).fit(
        ["the tide", "tied"], progress=False
    )
    fast = export(letters, "transformers", unk_token="[UNK]", additional_special_tokens=["<|user|>"])
    assert fast.unk_token == "[UNK]" and len(fast) == len(letters._model.vocabulary) + 5
    assert fast("tXe")["input_ids"][1] == letters.vocabulary.special["[UNK]"] == fast.unk_token_id
    again = BPE.load(fast)
    assert export(again, "transformers").unk_token == "[UNK]"  # the file says it
    assert export(letters, "transformers", unk_token=False).unk_token is None
    with pytest.warns(UserWarning, match="no unk_token") as caught:
        export(letters, "transformers")
    assert caught[0].filename == __file__


@each("params, match", [
    ({"eos_token": "<end>"}, "eos_token: '<end>' is not a special token of this tokenizer: .* no model knows"),
    ({"pad_token": "the"}, "pad_token: 'the' is not a special token"),
    ({"unk_token": "<unk>"}, "unk_token: '<unk>' is neither a symbol nor a special token"),
    ({"image_token": "<image>"}, "image_token: '<image>' is not"),
    ({"extra_special_tokens": ["<|bos|>", "<x>"]}, "extra_special_tokens: '<x>' is not"),
    ({"extra_special_tokens": {"x_token": "<x>"}}, "extra_special_tokens: '<x>' is not"),
    ({"padding_side": "middle"}, "padding_side: expected 'left' or 'right', got 'middle'"),
    ({"model_max_length": 0}, "model_max_length: expected a number of at least 1, got 0"),
    ({"model_max_length": True}, "model_max_length: expected a number of at least 1"),
    ({"template": "[CLS] $A"}, r"template: '\[CLS\]' is not a special token"),
])  # fmt: skip
def test_what_is_no_special_token_is_refused(tok: BPE, params: dict[str, Any], match: str) -> None:
    refuses(ValueError, match, export, tok, "transformers", **params)


@each("cls", [BPE, UBPE, WordPiece])
def test_its_objects_and_folders_are_read(cls: Any, tok: BPE, tmp_path: pathlib.Path) -> None:
    made = {BPE: tok, UBPE: grams(), WordPiece: words()}[cls]
    fast = export(made, "transformers")
    fast.save_pretrained(tmp_path)
    text = TEXTS[0] if cls is not UBPE else "abcab"
    for source in (fast, fast.backend_tokenizer, tmp_path, str(tmp_path), str(tmp_path / "tokenizer.json")):
        for read in (load, cls.load):
            found = read(source)
            assert type(found) is cls and found.encode(text).tolist() == made.encode(text).tolist()


def test_other_objects_and_folders_are_refused(tok: BPE, tmp_path: pathlib.Path) -> None:
    fast, slow = export(tok, "transformers"), transformers.ByT5Tokenizer()
    other = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0}, unk_token="a"))
    twice = r"pretokenizer: transformers\..* is a tokenizer\.json of Hugging Face, which says it"
    refused([
        (lambda: UBPE.load(fast), ModelFormatError, "a BPE, not a UBPE: use BPE.load"),
        (lambda: load(fast, pretokenizer="gpt2"), ValueError, twice),
        (lambda: load(other), ModelFormatError, r"tokenizers.Tokenizer: a tokenizer.json of Hugging Face: model: expected"),
        (lambda: load(slow), TypeError, "ByT5Tokenizer is no fast tokenizer of transformers"),
        (lambda: BPE.load(slow), TypeError, "ByT5Tokenizer is no fast tokenizer of transformers"),
        (lambda: BPE.load(tmp_path), ModelFormatError, r"a folder with none of .*tokenizer\.json"),
    ])  # fmt: skip


WORD = {"lstrip": False, "rstrip": False, "single_word": False, "normalized": False, "special": True}
CONFIGS: dict[str, dict[str, Any]] = {
    "roles and sides": {
        "bos_token": "<|bos|>",
        "pad_token": "<|pad|>",
        "padding_side": "left",
        "truncation_side": "left",
    },
    "a limit": {
        "model_max_length": 6,
        "pad_token": "<|eos|>",
        "eos_token": {"__type": "AddedToken", **WORD, "content": "<|eos|>"},
    },
    "words of its own": {
        "added_tokens_decoder": {"400": {**WORD, "content": "earth", "special": False, "lstrip": True}}
    },
    "a pad that the file has not": {
        "pad_token": "[PAD]",
        "unk_token": "[UNK]",
        "additional_special_tokens": ["form", "<|eos|>"],
    },
    "named templates": {
        "chat_template": [{"name": "default", "template": CHAT}],
        "extra_special_tokens": {"image": "<image>"},
    },
    "other flags": {
        "added_tokens_decoder": {"300": {**WORD, "content": "<|bos|>", "rstrip": True, "special": False}}
    },
    "flags left out": {"added_tokens_decoder": {"300": {"content": "earth"}}, "bos_token": ""},
}


@each("config", CONFIGS.values())
@each("mapped", [{}, {"pad_token": "<|user|>", "cls_token": {**WORD, "content": "[CLS]"}}])
def test_files_beside_say_the_same_here(
    tok: BPE, tmp_path: pathlib.Path, config: dict[str, Any], mapped: dict[str, Any]
) -> None:
    export(tok, "tokenizer.json", path=tmp_path / "tokenizer.json", template="<|bos|> $A")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    (tmp_path / "special_tokens_map.json").write_text(json.dumps(mapped))
    theirs, ours = (
        transformers.PreTrainedTokenizerFast.from_pretrained(str(tmp_path)),
        load(tmp_path / "tokenizer.json"),
    )
    texts = [
        f"{text} {word} x"
        for text in TEXTS
        for word in ("<|bos|>  ", "  earth", "[PAD]", "form<image>", "[CLS]", "<|user|>")
    ]
    short = {"truncation": "model_max_length" in config}
    for options in ({}, {"padding": True} if theirs.pad_token else {}):
        want, got = (
            call(texts, **options, **short, **more)
            for call, more in ((theirs, {}), (ours, {"allowed_special": "all"}))
        )
        assert [[*map(int, row)] for row in got.input_ids] == want["input_ids"]
        assert [[*map(int, row)] for row in got.attention_mask] == want["attention_mask"]
    ids = [*theirs.get_vocab().values()]
    for skip in (False, True):
        assert ours.decode(ids, skip_special_tokens=skip) == theirs.decode(ids, skip_special_tokens=skip)
    assert ours.get_vocab() == theirs.get_vocab()


def test_files_beside_that_are_refused(tok: BPE, tmp_path: pathlib.Path) -> None:
    export(tok, "tokenizer.json", path=tmp_path / "tokenizer.json")
    for config, told in (
        ({"split_special_tokens": True}, "split_special_tokens is not supported"),
        ({"padding_side": "up"}, "padding_side: expected"),
        ({"added_tokens_decoder": {"x": {}}}, "tokenizer_config.json: it is not valid"),
        ({"added_tokens_decoder": {"9": {"special": True}}}, "tokenizer_config.json: it is not valid"),
        ([1], "tokenizer_config.json: expected an object, got"), ({"pad_token": 3}, "json: pad_token: expected a token, got 3"),
        ({"model_max_length": "9"}, "model_max_length: expected a number of at least 1, got '9'"),
        ({"additional_special_tokens": "<q>"}, "json: additional_special_tokens: expected a list of tokens, got '<q>'"),
    ):  # fmt: skip
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
        refuses(ModelFormatError, told, lambda: load(tmp_path / "tokenizer.json"))


DOCS = ["low lower lowest", "née", "", "newer newest low né 日本 low", "a"]


@pytest.fixture(scope="module")
def marked() -> BPE:
    return BPE.for_text(300, pretokenizer="gpt2", special_tokens=["[CLS]", "[SEP]", "[PAD]"]).fit(
        DOCS[:4], progress=False
    )


LENGTHS = [
    {}, {"truncation": True, "max_length": 6}, {"padding": True}, {"padding": "longest", "pad_to_multiple_of": 8},
    {"padding": "max_length", "truncation": True, "max_length": 7}, {"padding": True, "truncation": True, "max_length": 5},
    {"padding": "max_length", "truncation": "only_first", "max_length": 40}, {"padding": "max_length", "max_length": 64},
    {"padding": "max_length", "truncation": True, "max_length": 8, "pad_to_multiple_of": 4},
]  # fmt: skip


@each("options", LENGTHS)
@each("template", [None, "[CLS] $A [SEP]", "$A [SEP]"])
def test_inputs_are_those_of_transformers(marked: BPE, template: str | None, options: dict[str, Any]) -> None:
    """Matrices where there is padding, lists without; the offsets of transformers without the trimming of spaces."""
    peer = tokenizers.Tokenizer.from_str(export(marked, "tokenizer.json"))
    if template is not None:
        ids = [(word, marked.vocabulary.special[word]) for word in template.split() if word != "$A"]
        peer.post_processor = tokenizers.processors.TemplateProcessing(single=template, special_tokens=ids)
    theirs = transformers.PreTrainedTokenizerFast(tokenizer_object=peer, pad_token="[PAD]")
    tensors_there = ("np", "pt") if importlib.util.find_spec("torch") else ("np",)
    for side, cut, tensors in itertools.product(("right", "left"), ("right", "left"), tensors_there):
        theirs.padding_side, theirs.truncation_side = side, cut
        own: dict[str, Any] = {"side": side, "truncation_side": cut, "template": template}
        how = options | ({"return_tensors": tensors} if "padding" in options else {})
        for docs in (DOCS, DOCS[3]):
            want = theirs(docs, return_offsets_mapping=True, **how)
            got = marked(docs, return_offsets=True, **own, **how)
            for name in ("input_ids", "attention_mask", "offset_mapping"):
                if "padding" in options:
                    assert type(got[name]) is type(want[name]) and got[name].dtype == want[name].dtype
                    assert got[name].tolist() == want[name].tolist(), (name, side, cut)
                else:
                    assert [np.asarray(row).tolist() for row in got[name]] == [
                        np.asarray(row).tolist() for row in want[name]
                    ]


def test_a_model_takes_it(marked: BPE) -> None:
    torch = needed("torch")
    inputs = marked(DOCS, padding=True, return_tensors="pt").to("cpu")
    size = max(marked.vocabulary.special.values()) + 1
    config = transformers.GPT2Config(vocab_size=size, n_positions=64, n_embd=16, n_layer=1, n_head=2)
    with torch.no_grad():
        found = transformers.GPT2Model(config).eval()(**inputs).last_hidden_state
    assert found.shape == (len(DOCS), int(inputs.attention_mask.sum(1).max()), 16)


CLASSES = tokenizer_config._table()
CUT_LEFT = {"direction": "Left", "max_length": 6, "strategy": "LongestFirst", "stride": 0}
NASTY = [
    "", "  ", "Hello, World! naïve", "e\u0301 ﬁ ½",
    "a<s>b </s> <mask> [MASK] [SEP]x", "x\u200b\ufeffz", "\U0001f600 a\tb\n\n end ",
    "İstanbul ǅ ß", "don't 123456", " lead", "<pad> <unk> ``q'' ▁low", "lazy dog<x1>fox",
]  # fmt: skip


def model_of(kind: str, words: list[str]) -> dict[str, Any]:
    """A small model of a kind, in which these words have the first ids."""
    letters = [*"abcdefghilnoqrstuwxyTHé▁,'1", "lo", "low", "he"]
    if kind == "Unigram":
        return {
            "type": kind,
            "unk_id": 0,
            "vocab": [[word, 0.0] for word in words] + [[c, -9.5 - i] for i, c in enumerate(letters)],
        }
    letters += (
        [f"##{letter}" for letter in letters]
        if kind == "WordPiece"
        else tokenizers.pre_tokenizers.ByteLevel.alphabet()
    )
    more = (
        {"unk_token": words[0], "max_input_chars_per_word": 100, "continuing_subword_prefix": "##"}
        if kind == "WordPiece"
        else {"merges": ["l o", "lo w", "h e"]}
    )
    return {
        "type": kind,
        **more,
        "vocab": {name: i for i, name in enumerate(dict.fromkeys([*words, *letters]))},
    }


def folder(seed: int, path: pathlib.Path) -> None:
    """A tokenizer.json and a tokenizer_config.json of a class of transformers, with random fields."""
    rng = random.Random(seed)
    name = rng.choice([*CLASSES["classes"]])
    row = CLASSES["classes"][name]
    words = list(dict.fromkeys(token["content"] for token in row["tokens"].values())) or ["<unk>"]
    file: dict[str, Any] = {"model": model_of(CLASSES["parts"][row["model"][1]["[]"]]["type"], words)}
    file["added_tokens"] = [{**WORD, "id": i, "content": word} for i, word in enumerate(words)]
    config: dict[str, Any] = {"tokenizer_class": name}
    config |= {field: rng.choice([True, False]) for field in row["fields"] if rng.random() < 0.6}
    some = {
        "model_input_names": ["input_ids", "token_type_ids"], "padding_side": "left", "truncation_side": "left",
        "model_max_length": 8, "extra_special_tokens": ["<x1>", "fox"], "add_bos_token": True, "eos_token": "<new>",
        "clean_up_tokenization_spaces": True,
        "added_tokens_decoder": {i: {**WORD, "content": word, "lstrip": rng.random() < 0.3} for i, word in enumerate(words)},
    }  # fmt: skip
    config |= {field: value for field, value in some.items() if rng.random() < 0.25}
    file |= {"pre_tokenizer": {"type": "BertPreTokenizer"}, "truncation": rng.choice([None, CUT_LEFT])}
    (path / "tokenizer.json").write_text(json.dumps(file))
    (path / "tokenizer_config.json").write_text(json.dumps(config))


@each("seed", range(60))
def test_a_folder_is_what_transformers_makes_of_it(seed: int, tmp_path: pathlib.Path) -> None:
    """Ids, text, and arrays of calls; or it is refused, or warned of."""
    folder(seed, tmp_path)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            theirs, ours = transformers.AutoTokenizer.from_pretrained(tmp_path), load(tmp_path)
        except (TypeError, ValueError):  # a flag that its class does not take, or what is not supported
            return
    if any("tokenizer_config.json" in str(warning.message) for warning in said):
        return
    for text in NASTY:
        try:
            ids = ours.encode(text, allowed_special="all").tolist()
        except UnknownSymbolError:  # which is left out there
            return
        assert ids == theirs.encode(text, add_special_tokens=False) and ours.decode(ids) == theirs.decode(ids)
    text, many = (
        NASTY[2],
        {"padding": theirs.pad_token is not None, "truncation": theirs.model_max_length < 100},
    )
    for docs, options in (([NASTY[2:5]], many), ([text], {}), ([text, NASTY[5]], {}), ([text, ""], {})):
        want, got = theirs(*docs, **options), ours(*docs, **options, allowed_special="all")
        as_lists = {name: [np.array(row).tolist() for row in value] for name, value in got.items()}
        assert [*want] == [*got] and dict(want) == as_lists


@each(
    "name",
    ["BertTokenizer", "DistilBertTokenizerFast", "ElectraTokenizer", "MPNetTokenizer", "config.json", "Mine"],
)
def test_a_list_of_pieces_is_cut_as_the_files_beside_it_say(name: str, tmp_path: pathlib.Path) -> None:
    """A lone vocab.txt, or one of a class that is not known, has pieces over words."""
    pieces = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        "hello",
        "una",
        "##ffa",
        "##ble",
        ",",
        "Hello",
        "<s>",
        "</s>",
    ]
    (tmp_path / "vocab.txt").write_text("\n".join([*pieces, "<pad>", "<mask>", ""]))
    config: dict[str, Any] = {"tokenizer_class": name, "do_lower_case": False}
    if name == "config.json":
        (tmp_path / name).write_text('{"model_type": "bert"}')
    else:
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    ours, text = load(tmp_path), "Hello, [SEP] unaffable HELLO"
    if name == "Mine":
        assert ours.encode(["hello", "una"]).tolist() == [5, 6]
        with pytest.raises(
            TypeError, match="preprocessing=Preprocessing\\('BertPreTokenizer', normalizer='BertN"
        ):
            ours.encode(text)
        return
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    want, got = theirs(text), ours(text, allowed_special="all")
    assert dict(want) == {name: value.tolist() for name, value in got.items()}
    assert theirs.decode(want["input_ids"]) == ours.decode(got["input_ids"])
