"""Exports give the same ids in the other library, or are refused with the sample that shows it."""

from __future__ import annotations

import json
import pathlib
import random
from typing import Any

import numpy as np
import pytest
from flat_arguments import arguments_of
from foreign import END, MIXED
from sentencepiece_models import BPE as PAIRS
from sentencepiece_models import NORMAL, USER, model
from sentencepiece_models import SPECIAL as PIECES

from ubpe_numba import BPE, UBPE, FitRules, Preprocessing, UBPEClassic, WordPiece, export
from ubpe_numba.coding.model_inputs import FIRST, Template, template_of
from ubpe_numba.errors import ModelFormatError
from ubpe_numba.formats import export as writers
from ubpe_numba.formats import export_check, readers
from ubpe_numba.formats.export import _package, special_tokens_first
from ubpe_numba.formats.export_check import TEXTS
from ubpe_numba.formats.pair_table import symbol_character
from ubpe_numba.text import Splitter
from ubpe_numba.text.cut import PATTERNS
from ubpe_numba.text.patterns import published_steps

tokenizers = pytest.importorskip("tokenizers")
pytest.importorskip("tiktoken")


def test_ids_are_those_of_hugging_face_and_tiktoken(tok: Any, lines: list[str]) -> None:
    other = tokenizers.Tokenizer.from_str(export(tok, "tokenizer.json"))
    encoding = export(tok, "tiktoken.Encoding")
    docs = [*MIXED, *lines[3000:3300], "".join(lines[100:130]), f"a{END}b{END}{END}<é>c"]
    rng = random.Random(1)
    letters = "".join(MIXED[:5])
    docs += ["".join(rng.choices(letters, k=40)) for _ in range(200)]
    ours = tok.encode_batch(docs, allowed_special="all").to_lists()
    assert [e.ids for e in other.encode_batch(docs, add_special_tokens=False)] == ours
    assert [encoding.encode(doc, allowed_special="all") for doc in docs] == ours
    for doc, ids in zip(docs, ours, strict=True):
        assert tok.decode(ids) == doc == encoding.decode(ids)


def test_exports_that_would_lose_something_are_refused() -> None:
    double = BPE.from_merges([[97, 98], [256, 99], [98, 99], [97, 258]], alphabet=bytes(range(256)))
    for format in ("tokenizer.json", "tiktoken", "vocab+merges"):
        with pytest.raises(ValueError, match="have the same"):
            export(double, format)
    unstable = BPE.from_merges([[98, 99], [97, 98], [257, 99]], alphabet=bytes(range(256)))  # abc is a bc
    export(unstable, "tokenizer.json")
    with pytest.raises(ValueError, match=r"export refused: b'abc' is \[97, 256\] here, but \[258\] by what was written"):
        export(unstable, "tiktoken")
    part = BPE(None, alphabet=b"abc", preprocessing=Preprocessing(encoding="utf-8")).fit(["abab"], progress=False)
    with pytest.raises(ValueError, match="alphabet: tiktoken needs one of all 256 bytes"):
        export(part, "tiktoken")
    assert BPE.load(export(part, "tokenizer.json", unk_token=False)).encode("cab").tolist() == part.encode("cab").tolist()
    known = BPE.for_text(256, known_words=["a b"]).fit([""], progress=False)
    with pytest.raises(ValueError, match="known_words: tiktoken has none"):
        export(known, "tiktoken")
    with pytest.raises(ValueError, match="known words"):
        export(known, "vocab+merges")
    clash = BPE.from_merges([[97, 98]], bytes(range(256)), preprocessing=Preprocessing(special_tokens=["ab"]))
    with pytest.raises(ValueError, match="special_tokens: 'ab' is a token of the vocabulary too"):
        export(clash, "tokenizer.json")
    odd = BPE.from_merges([[97, 98]], bytes(range(256)), preprocessing=Preprocessing(special_tokens=[b"\xff"]))
    with pytest.raises(ValueError, match=r"special_tokens: b'\\xff' is not text"):
        export(odd, "tokenizer.json")
    lone = BPE(None).fit(["a\ud800"], progress=False)
    with pytest.raises(ValueError, match=r"alphabet: the surrogate U\+D800 cannot be written"):
        export(lone, "tokenizer.json")
    ints = BPE(None).fit([[0, 1, 0, 1]], progress=False)
    with pytest.raises(ValueError, match="alphabet: the files hold text"):
        export(ints, "vocab+merges")
    with pytest.raises(ValueError, match="special_tokens: .* holds integers outside the alphabet"):
        export(BPE(None, preprocessing=Preprocessing(special_tokens=[[0, 9]])).fit([[0, 1]], progress=False), "tokenizer.json")


def test_unfitted_and_foreign_objects() -> None:
    for format in ("tokenizer.json", "tiktoken", "vocab+merges", "transformers"):
        with pytest.raises(ValueError, match="has no vocabulary yet"):
            export(BPE(), format)
    with pytest.raises(TypeError, match="source: expected a path, an open file, the content of one or a tokenizer, got 3 .int."):
        BPE.load(3)
    with pytest.raises(ValueError, match="kind: expected 'bytes' or 'str'"):
        BPE.load(("{}", "\n"), kind="int")
    with pytest.raises(ValueError, match="end_of_word: expected one character"):
        BPE.load(("{}", "\n"), end_of_word=" ")
    with pytest.raises(FileNotFoundError):
        BPE.load("no such file.json")


def test_a_folder_of_its_name_is_not_an_installed_package(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "just_a_folder").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    assert _package("just_a_folder") is None
    assert _package("not_even_that") is None
    assert _package("numpy") is not None


@pytest.mark.parametrize("name", PATTERNS)
def test_published_patterns_are_written_as_others_have_them(name: str) -> None:
    """Steps and spellings that other libraries know; read back, they are the same pattern, by their version of Unicode."""
    tok = BPE(300, preprocessing=Preprocessing(pretokenizer=name, encoding="utf-8")).fit(
        ["it's 12345 of them, I'VE heard\n中文 é"] * 3, progress=False
    )
    text = export(tok, "tokenizer.json")
    step = json.loads(text)["pre_tokenizer"]
    parts = step["pretokenizers"] if step["type"] == "Sequence" else [step]
    found = [part["pattern"]["Regex"] if part["type"] == "Split" else part["type"] for part in parts]
    want = {"gpt2": ["ByteLevel"], "starcoder": ["Digits", "ByteLevel"]}
    assert found == want.get(name, [*published_steps(name), "ByteLevel"])
    assert parts[-1]["use_regex"] is (name in want)
    for again in (BPE.load(text), *([BPE.load(export(tok, "tiktoken.Encoding"))] if name != "deepseek" else [])):
        cutter = again._model.segmenter.pretokenizer
        assert (cutter.name, cutter.unicode, cutter.kernel) == (name, "16.0.0", f"{name}@16.0.0")
        assert again.encode("they're 1234 中文").tolist() == tok.encode("they're 1234 中文").tolist()


DOCS = [*MIXED, "they're 1234, I'VE  12\n\n中文 café! \n", "\u2028 e\u0301x \t\n  "]


@pytest.mark.parametrize("peer", ["fastokens", "gigatoken", "snaptokens"])
@pytest.mark.parametrize("name", PATTERNS)
def test_peers_accept_them(name: str, peer: str, tmp_path: pathlib.Path) -> None:
    """All; but of cl100k gigatoken and snaptokens know a spelling that Hugging Face reads otherwise, and not the step Digits."""
    library = pytest.importorskip(peer)
    if peer != "fastokens" and name in ("cl100k", "starcoder"):
        pytest.skip(f"{peer} has no {name} that Hugging Face reads alike")
    tok = BPE(300, preprocessing=Preprocessing(pretokenizer=name, encoding="utf-8")).fit(
        [*MIXED, "it's 12345 of them, I'VE heard\n中文 é"] * 3, progress=False
    )
    export(tok, "tokenizer.json", tmp_path / "tokenizer.json")
    path = str(tmp_path / "tokenizer.json")
    other = library.Tokenizer(path) if peer == "gigatoken" else library.Tokenizer.load(path)
    for doc in DOCS:
        found = other.encode(doc)
        assert list(getattr(found, "ids", found)) == tok.encode(doc).tolist()


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k", "qwen2", "qwen35"])
def test_gigatoken_accepts_files_of_ranks(name: str, tmp_path: pathlib.Path) -> None:
    gigatoken = pytest.importorskip("gigatoken")
    tok = BPE(300, preprocessing=Preprocessing(pretokenizer=name, encoding="utf-8")).fit(
        [*MIXED, "it's 12345 of them, I'VE heard\n中文 é"] * 3, progress=False
    )
    export(tok, "tiktoken", tmp_path / "m.tiktoken")
    other = gigatoken.Tokenizer.load(tmp_path / "m.tiktoken", pretokenizer=name)
    assert [list(other.encode(doc)) for doc in DOCS] == tok.encode_batch(DOCS).to_lists()


@pytest.mark.parametrize("n_special", [1, 300])
def test_tiktoken_has_special_tokens_first_too(n_special: int) -> None:
    words = [f"<{i}>" for i in range(n_special)]
    tok = BPE.for_text(300, pretokenizer="gpt2", special_tokens=words, special_first=True)
    tok.fit(["low lower lowest slow slower"] * 3, progress=False)
    encoding = export(tok, "tiktoken.Encoding")
    again = BPE.load(export(tok, "tiktoken"), pretokenizer="gpt2", special_tokens=tok.vocabulary.special)
    for text in ("lowest <0> slow", "é 中"):
        ids = tok.encode(text, allowed_special="all").tolist()
        assert encoding.encode(text, allowed_special="all") == ids == again.encode(text, allowed_special="all").tolist()


def test_an_export_that_encodes_differently_names_the_sample(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    """A table out of order encodes differently by the articles' batch rule, which no other library has."""
    rng = np.random.default_rng(0)
    docs = [rng.integers(0, 4, 200) for _ in range(8)]
    tok = UBPEClassic(60, 50, alphabet=4, rules=FitRules(order="idf", encode="batch")).fit(docs, progress=False)
    path = tmp_path / "tokenizer.json"
    with pytest.raises(ValueError, match="vocabulary: its pairs are not in order of creation"):
        export(tok, "tokenizer.json", path)
    monkeypatch.setattr(export_check, "check_order", lambda model: None)
    monkeypatch.setattr(writers, "_same_by_rank", lambda other, samples: None)
    monkeypatch.setattr(readers, "of_huggingface", lambda *source: readers.Found(tok._model))
    with pytest.raises(ValueError, match=r"export refused: \[.*\] is \[.*\] here, but \[.*\] by tokenizers"):
        export(tok, "tokenizer.json", path)
    assert not path.exists()


def test_what_the_other_library_says_counts() -> None:
    """Hugging Face's engine reads this pattern in another way, as files of it are read here: there $ is the end of every line."""
    tok = BPE(None, preprocessing=Preprocessing(pretokenizer=r"\n$|a+")).fit(["a\nb\n", "\n\na\n\n"] * 3, progress=False)
    with pytest.raises(ValueError, match="export refused: "):
        export(tok, "tokenizer.json")


def test_words_of_the_user_of_sentencepiece_have_no_place() -> None:
    tok = BPE.load(model([*PIECES, ("a", -2.0, NORMAL), ("[x]", -3.0, USER)], PAIRS))
    with pytest.raises(ValueError, match="normalizer: a tokenizer.json has no place for .* words of the user"):
        export(tok, "tokenizer.json")


SPECIAL = ["[UNK]", "[CLS]", "[SEP]"]


def test_ids_are_those_of_the_trainer() -> None:
    docs = ["ACGTTGCAACGGTTACG" * 3, "GGTACCATGACCATGATTACG" * 2, "TTGACACGT" * 4]
    other = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="[UNK]"))
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=40, special_tokens=SPECIAL, show_progress=False, min_frequency=2)
    other.train_from_iterator(docs, trainer)
    tok = BPE(37, preprocessing=Preprocessing(special_tokens=SPECIAL)).fit(docs, progress=False)
    text = export(tok, "tokenizer.json", unk_token="[UNK]", special_first=True)
    assert json.loads(text)["model"] == json.loads(other.to_str())["model"]
    assert json.loads(text)["added_tokens"] == json.loads(other.to_str())["added_tokens"]
    again = BPE.load(text)
    assert again.vocabulary.special == {word: i for i, word in enumerate(SPECIAL)}
    for doc in [*docs, "ACGXTN", "[CLS]ACGT[SEP]"]:
        assert again.encode(doc, allowed_special="all").tolist() == other.encode(doc).ids


@pytest.mark.parametrize("words", [["<b>", "<a>"], {"<b>": 700, "<a>": 600}], ids=["list", "mapping"])
def test_all_ids_move_without_gaps(words: Any) -> None:
    tok = BPE.for_text(300, pretokenizer="gpt2", special_tokens=words, known_words=["the"]).fit(TEXTS, progress=False)
    other = tokenizers.Tokenizer.from_str(export(tok, "tokenizer.json", special_first=True))
    size = len(tok._model.vocabulary)
    assert sorted(other.get_vocab().values()) == list(range(size + 3))
    by_id = sorted(["<a>", "<b>"], key=tok.vocabulary.special.__getitem__)
    assert [other.id_to_token(i) for i in (0, 1)] == by_id
    old = {tok.vocabulary.special[word]: i for i, word in enumerate(by_id)} | {i: i + 2 for i in range(size)}
    old[tok.vocabulary.special["the"]] = size + 2
    for doc in [*TEXTS, "<a>the<b>"]:
        assert other.encode(doc).ids == [old[i] for i in tok.encode(doc, allowed_special="all").tolist()]


def test_models_from_elsewhere_keep_their_rule_for_unknown_characters() -> None:
    names = [f"<0x{byte:02X}>" for byte in range(256)]
    vocab = {name: i for i, name in enumerate(["a", "b", "ab", "<unk>", *names, "<s>"])}
    model = {"type": "BPE", "vocab": vocab, "merges": ["a b"], "unk_token": "<unk>", "byte_fallback": True}
    added = [{"id": vocab[word], "content": word, "special": True} for word in ("<unk>", "<s>")]
    tok = BPE.load(json.dumps({"model": model, "added_tokens": added}))
    text = export(tok, "tokenizer.json", special_first=True)
    again, other = BPE.load(text), tokenizers.Tokenizer.from_str(text)
    assert again.vocabulary.special == {"<unk>": 0, "<s>": 1}
    assert again.encode("abé").tolist() == other.encode("abé").ids == [4, 5 + 0xC3, 5 + 0xA9]


def test_unigrams_with_special_tokens_first_have_the_same_ids() -> None:
    tok = UBPE(8, objective="tokenizers", preprocessing=Preprocessing(special_tokens=SPECIAL)).fit(
        ["abab", "ab", "abcb"], progress=False
    )
    other = tokenizers.Tokenizer.from_str(export(tok, "tokenizer.json", special_first=True))
    assert other.encode("abcab[SEP]").ids == [*(tok.encode("abcab") + 3).tolist(), 2]


def test_what_is_first_stays() -> None:
    tok = BPE.from_merges([[0, 1]], "ab", preprocessing=Preprocessing(special_tokens=SPECIAL))
    made, new = special_tokens_first(tok._model)
    assert new.tolist() == [3, 4, 5, 0, 1, 2]
    again, same = special_tokens_first(made)
    assert np.array_equal(same, np.arange(6)) and again.segmenter.special.ids.tolist() == [0, 1, 2]
    first = BPE.load(export(tok, "tokenizer.json", unk_token="[UNK]", special_first=True))
    assert export(first, "tokenizer.json", special_first=True) == export(first, "tokenizer.json")
    with pytest.raises(ValueError, match="special_first: the special tokens of this tokenizer come first"):
        export(first, "tokenizer.json", special_first=False)


def test_arguments_that_say_nothing() -> None:
    plain = BPE.for_text(257).fit(["abab"], progress=False)
    with pytest.raises(ValueError, match="special_first: this tokenizer has no special tokens"):
        export(plain, "tokenizer.json", special_first=True)
    with pytest.raises(TypeError, match="special_first: expected True, False or None, got 3"):
        export(plain, "tokenizer.json", special_first=3)  # type: ignore[arg-type]
    assert export(plain, "tokenizer.json", special_first=False) == export(plain, "tokenizer.json")


SPECIAL_OF_POST_PROCESSOR = ["[UNK]", "[CLS]", "[SEP]", "<s>", "<a:1>"]
IDS = {word: i for i, word in enumerate(SPECIAL_OF_POST_PROCESSOR)}


@pytest.mark.parametrize(
    "template, single, pair",
    [
        ("[CLS] $A [SEP]", "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1"),
        ("<s> $A", "<s> $A", "<s> $A $B:1"),
        ("$A", "$A", "$A $B:1"),
        (("<s> $A", "<s> $A <s>:1 $B:1"), "<s> $A", "<s> $A <s>:1 $B:1"),
        (("[CLS]:2 $A:2 [SEP]", "$B [SEP] $A:7"), "[CLS]:2 $A:2 [SEP]", "$B [SEP] $A:7"),
    ],
    ids=str,
)
def test_a_template_is_what_tokenizers_makes_of_it(template: Any, single: str, pair: str) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    theirs = tokenizers.processors.TemplateProcessing(single=single, pair=pair, special_tokens=[*IDS.items()])
    other = tokenizers.Tokenizer(tokenizers.models.BPE())
    other.post_processor = theirs
    found, expected = writers._frame(template, IDS, None)[1], json.loads(other.to_str())["post_processor"]
    assert found is not None
    assert (found["single"], found["pair"]) == (expected["single"], expected["pair"])
    used = {word for word in SPECIAL_OF_POST_PROCESSOR if word in f"{single} {pair}"}
    assert found["special_tokens"] == {word: expected["special_tokens"][word] for word in used}


def test_a_special_token_may_end_in_a_number() -> None:
    assert template_of("<a:1> $A <a:1>:3", IDS).single == ((4, 0), (FIRST, 0), (4, 3))


@pytest.mark.parametrize(
    "template, error, match",
    [
        ("[CLS]", ValueError, r"template: expected \$A once, for the document, got '\[CLS\]'"),
        ("$A $A", ValueError, r"template: expected \$A once"),
        ("$A $B", ValueError, r"template: '\$B' is not a special token"),
        (("$A", "$A"), ValueError, r"template: expected \$B once"),
        ("[MASK] $A", ValueError, r"template: '\[MASK\]' is not a special token of this tokenizer, which has '\[UNK\]', "),
        ("7 $A", ValueError, "template: '7' is not a special token"),
        (3, TypeError, "template: expected a str"),
        ([], ValueError, r"template: expected \$A once"),
    ],
    ids=str,
)
def test_templates_that_say_nothing(template: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        template_of(template, IDS)
    tok = BPE.from_merges([[0, 1]], "ab", preprocessing=Preprocessing(special_tokens=SPECIAL_OF_POST_PROCESSOR))
    with pytest.raises(error, match="template: "):
        export(tok, "tokenizer.json", unk_token="[UNK]", template=template)


def tokenizers_of_all_kinds() -> list[Any]:
    text = ["ab ab ba", "abba ab"]
    cut = Preprocessing({"type": "BertPreTokenizer"}, IDS, normalizer={"type": "BertNormalizer"})
    return [
        BPE(8, preprocessing=Preprocessing(special_tokens=SPECIAL_OF_POST_PROCESSOR)).fit(text, progress=False),
        BPE.for_text(258, special_tokens=SPECIAL_OF_POST_PROCESSOR).fit(text, progress=False),
        UBPE(6, objective="tokenizers", preprocessing=Preprocessing(special_tokens=SPECIAL_OF_POST_PROCESSOR)).fit(
            text, progress=False
        ),
        WordPiece([*SPECIAL_OF_POST_PROCESSOR, "ab", "##ba"], preprocessing=cut),
    ]


@pytest.mark.parametrize("tok", tokenizers_of_all_kinds(), ids=lambda tok: type(tok).__name__)
def test_exports_with_a_template(tok: Any) -> None:
    """The file adds what the template says; read back, a call adds it, and an export writes it again."""
    tokenizers = pytest.importorskip("tokenizers")
    unknown = {} if isinstance(tok, WordPiece) else {"unk_token": "[UNK]"}
    text = export(tok, "tokenizer.json", template="[CLS] $A [SEP]", **unknown)
    other, again = tokenizers.Tokenizer.from_str(text), type(tok).load(text)
    cls, sep = other.token_to_id("[CLS]"), other.token_to_id("[SEP]")
    one, two = tok.encode("abba").tolist(), tok.encode("ab").tolist()
    assert other.encode("abba").ids == [cls, *one, sep]
    assert other.encode("abba", "ab").ids == [cls, *one, sep, *two, sep]
    assert other.encode("abba", "ab").type_ids == [0] * (len(one) + 2) + [1] * (len(two) + 1)
    assert again.encode("abba").tolist() == one and again("abba").input_ids.tolist() == [cls, *one, sep]
    assert again("abba", "ab").token_type_ids.tolist() == other.encode("abba", "ab").type_ids
    assert json.loads(export(again, "tokenizer.json"))["post_processor"] == json.loads(text)["post_processor"]


def test_a_template_that_the_other_library_reads_differently_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tokenizers")
    tok = BPE.for_text(258, special_tokens=SPECIAL_OF_POST_PROCESSOR).fit(["abab"], progress=False)
    frame = writers._frame
    monkeypatch.setattr(writers, "_frame", lambda *given: (Template(), frame(*given)[1]))
    with pytest.raises(ValueError, match="export refused: .* by tokenizers"):
        export(tok, "tokenizer.json", template="[CLS] $A")


WORDS = ["[UNK]", "<end>"]


def letters(**params: Any) -> BPE:
    return BPE(30, **arguments_of({"special_tokens": WORDS, **params})).fit(
        ["the tide, the Tide", "tied in the net"] * 2, progress=False
    )


PARAMS: list[dict[str, Any]] = [
    {},
    {"pretokenizer": "gpt2"},
    {"pretokenizer": Splitter(["Whitespace"])},
    {"pretokenizer": Splitter([{"type": "Metaspace", "replacement": "_", "prepend_scheme": "always", "split": True}])},
    {"normalizer": ["NFKC", "Lowercase"]},
    {"normalizer": ["NFD", "StripAccents"], "pretokenizer": Splitter(["BertPreTokenizer"])},
    {"known_words": ["net"]},
    {"break_tokens": ",", "max_token_length": 1},
]


@pytest.mark.parametrize("params", PARAMS, ids=str)
def test_unknown_characters_become_the_token(params: dict[str, Any]) -> None:
    tok = letters(**params)
    text = export(tok, "tokenizer.json", unk_token="[UNK]")
    other, again = tokenizers.Tokenizer.from_str(text), BPE.load(text)
    unk = tok.vocabulary.special["[UNK]"]
    for doc in [*TEXTS, "the xx tide", "x", "theéidé<end>the", "tXiXd"]:
        ids = other.encode(doc).ids
        assert again.encode(doc, allowed_special="all").tolist() == ids
    assert other.encode("tXiXd").ids.count(unk) == 2
    assert other.encode("the tide").ids == tok.encode("the tide").tolist()
    assert BPE.load(export(again, "tokenizer.json")).encode("tXiXd").tolist() == other.encode("tXiXd").ids
    assert json.loads(export(again, "tokenizer.json"))["model"] == json.loads(text)["model"]


def test_unknown_integers_and_bytes() -> None:
    tok = BPE(9, alphabet=[-5, 7, 30, 99], preprocessing=Preprocessing(special_tokens=[[99, 99]])).fit(
        [[-5, 7, -5, 7, 30]], progress=False
    )
    text = export(tok, "tokenizer.json", unk_token=[99, 99])
    other, again = tokenizers.Tokenizer.from_str(text), BPE.load(text, alphabet=[-5, 7, 30, 99])
    unk = tok.vocabulary.special[99, 99]
    assert again.vocabulary.special == tok.vocabulary.special
    assert other.encode(symbol_character(0) + symbol_character(12) + symbol_character(1)).ids == [0, unk, 1]
    assert again._model.alphabet == tok._model.alphabet and again.encode([-5, 7]).tolist() == tok.encode([-5, 7]).tolist()
    data = BPE(6, alphabet=b"ACGT", preprocessing=Preprocessing(special_tokens=["[UNK]"])).fit([b"ACACGT"], progress=False)
    other = tokenizers.Tokenizer.from_str(export(data, "tokenizer.json", unk_token="[UNK]"))
    unk = data.vocabulary.special["[UNK]"]
    assert other.encode("ACéT").ids == [*data.encode(b"AC").tolist(), unk, unk, *data.encode(b"T").tolist()]


def test_unknown_characters_of_unigrams_are_one() -> None:
    tok = UBPE(8, objective="tokenizers", preprocessing=Preprocessing(special_tokens=WORDS)).fit(
        ["abab", "ab", "abcb"], progress=False
    )
    text = export(tok, "tokenizer.json", unk_token="[UNK]", special_first=True)
    other, again = tokenizers.Tokenizer.from_str(text), UBPE.load(text)
    for doc in ("abcab", "axxb", "é", "ab<end>x"):
        assert other.encode(doc).ids == again.encode(doc, allowed_special="all").tolist()
    assert other.encode("axxb").ids.count(0) == 1
    assert other.encode("abcab").ids == (tok.encode("abcab") + 2).tolist()


LOSSY = [
    (lambda: BPE.from_merges([[0, 1]], "ab"), "2 characters and no unk_token: .* such as 'X' silently"),
    (lambda: BPE.from_merges([[0, 1]], alphabet=2), "2 integers and no unk_token: .* characters of no integer of the alphabet"),
    (lambda: BPE.from_merges([[0, 1]], alphabet=b"ab"), r"2 bytes and no unk_token: .* such as b'\\x00'"),
]


@pytest.mark.parametrize("make, match", LOSSY, ids=["characters", "integers", "bytes"])
def test_a_file_that_loses_symbols_is_warned_about(make: Any, match: str, tmp_path: pathlib.Path) -> None:
    tok, path = make(), tmp_path / "tokenizer.json"
    with pytest.warns(UserWarning, match=f"alphabet: the exported tokenizer has {match}") as caught:
        text = export(tok, "tokenizer.json", path)
    assert caught[0].filename == __file__ and path.read_text() == text
    assert export(tok, "tokenizer.json", unk_token=False) == text
    assert json.loads(text)["model"]["unk_token"] is None


def test_nothing_is_lost_of_all_bytes() -> None:
    tok = BPE.for_text(258, special_tokens=WORDS).fit(["abab"], progress=False)
    assert writers.loss_of(tok._model) is None
    assert json.loads(export(tok, "tokenizer.json"))["model"]["unk_token"] is None
    in_text = bytes(sorted({*range(0xF5)} - {0xC0, 0xC1}))
    assert writers.loss_of(BPE.from_merges([[0, 1]], alphabet=in_text)._model) is None
    named = export(tok, "tokenizer.json", unk_token="[UNK]")
    assert json.loads(named)["model"]["unk_token"] == "[UNK]"
    assert tokenizers.Tokenizer.from_str(named).encode("xé中").ids == tok.encode("xé中").tolist()
    every = BPE.from_merges([[97, 98]], alphabet=[chr(i) for i in range(0x300)])
    with pytest.warns(UserWarning, match="characters such as '中'"):
        export(every, "tokenizer.json")


@pytest.mark.parametrize(
    "value, error, match",
    [
        (
            "[MASK]",
            ValueError,
            r"unk_token: '\[MASK\]' is neither a symbol nor a special token of this tokenizer: '\[UNK\]', '<end>'",
        ),
        ("net", ValueError, "unk_token: 'net' is neither a symbol nor a special token"),
        (3, TypeError, "unk_token: expected a special token, None or False, got 3"),
        (True, TypeError, "unk_token: expected a special token"),
    ],
)
def test_other_words_are_refused(value: Any, error: type[Exception], match: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "tokenizer.json"
    with pytest.raises(error, match=match):
        export(letters(known_words=["net"]), "tokenizer.json", path, unk_token=value)
    assert not path.exists()


def test_a_model_with_a_rule_keeps_it() -> None:
    tok = BPE.load(export(letters(), "tokenizer.json", unk_token="[UNK]"))
    assert export(tok, "tokenizer.json", unk_token="[UNK]") == export(tok, "tokenizer.json")
    with pytest.raises(ValueError, match="unk_token: unknown characters become the id .* in this model, which is not '<end>'"):
        export(tok, "tokenizer.json", unk_token="<end>")


def test_a_unigram_model_over_some_bytes_has_no_unknown_token() -> None:
    tok = UBPE(6, objective="tokenizers", alphabet=b"abc", preprocessing=Preprocessing(special_tokens=WORDS)).fit(
        [b"abab", b"abc"], progress=False
    )
    with pytest.raises(ValueError, match="unk_token: a Unigram model over bytes has none unless it has all of them"):
        export(tok, "tokenizer.json", unk_token="[UNK]")


def test_a_wrong_unknown_token_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples with unknown characters show what samples of known ones cannot."""
    write = writers.huggingface.write
    monkeypatch.setattr(writers.huggingface, "write", lambda *a, **k: write(*a, **{**k, "unk_token": "<end>"}))
    with pytest.raises(ValueError, match="export refused: "):
        export(letters(), "tokenizer.json", unk_token="[UNK]")


def test_the_constructor_s_unknown_is_the_default() -> None:
    """A tokenizer that says what unknown symbols become exports it, where that is a special token or a symbol."""
    tok = letters()
    tok.unknown = "[UNK]"
    assert json.loads(export(tok, "tokenizer.json"))["model"]["unk_token"] == "[UNK]"
    assert json.loads(export(tok, "tokenizer.json", unk_token="<end>"))["model"]["unk_token"] == "<end>"
    for symbol in (3, "t"):
        tok.unknown = symbol
        name = symbol if isinstance(symbol, str) else chr(int(tok._model.alphabet.symbols[symbol]))
        assert json.loads(export(tok, "tokenizer.json"))["model"]["unk_token"] == name
    for other in ("skip", "raise"):
        tok.unknown = other
        with pytest.warns(UserWarning, match="no unk_token"):
            export(tok, "tokenizer.json")


@pytest.mark.parametrize("seed", range(12))
def test_random_models(seed: int) -> None:
    """The same ids by three ways: the model with its alphabet made wider, the file read back, and the package tokenizers."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 9))
    alphabet = "".join(map(chr, rng.choice(np.r_[32:127, 0xE0:0x100, 0x4E00:0x4E40], size, replace=False)))
    docs = ["".join(alphabet[i] for i in rng.integers(0, size, 60)) for _ in range(4)]
    cut = [None, "gpt2", Splitter(["Whitespace"]), Splitter([{"type": "Digits", "individual_digits": True}])][seed % 4]
    tok = BPE(
        24, alphabet=alphabet, preprocessing=Preprocessing(special_tokens=WORDS, pretokenizer=cut), rules=FitRules(min_count=1)
    )
    text = export(tok.fit(docs, progress=False), "tokenizer.json", unk_token="[UNK]", special_first=bool(seed % 2))
    other, again = tokenizers.Tokenizer.from_str(text), BPE.load(text)
    letters = [*alphabet, *"aZ 9é中\n"]
    for _ in range(200):
        doc = "".join(letters[i] for i in rng.integers(0, len(letters), int(rng.integers(0, 30))))
        assert other.encode(doc).ids == again.encode(doc).tolist()


@pytest.mark.parametrize("cls", [BPE, UBPE])
def test_a_normalizer_that_makes_unknown_characters(cls: Any) -> None:
    """Of known ones: ``c`` and an accent become one character, which only the file with an unknown token has an id for."""
    params = {"objective": "tokenizers"} if cls is UBPE else {}
    tok = cls(None, alphabet="abc \u0301", preprocessing=Preprocessing(normalizer="NFC", special_tokens=WORDS), **params)
    tok.fit(["abc cab", "abba b\u0301"], progress=False)
    text = export(tok, "tokenizer.json", unk_token="[UNK]")
    other, again = tokenizers.Tokenizer.from_str(text), cls.load(text)
    unk = tok.vocabulary.special["[UNK]"]
    assert other.encode("ac\u0301b").ids == again.encode("ac\u0301b").tolist() == [*tok.encode("a"), unk, *tok.encode("b")]
    assert json.loads(export(tok, "tokenizer.json", unk_token=False))["model"]["vocab"] == json.loads(text)["model"]["vocab"]


def _letters_of(rng: np.random.Generator, letters: list[str]) -> list[str]:
    return ["".join(rng.choice(letters, rng.integers(0, 12))) for _ in range(400)]


@pytest.mark.parametrize(
    "params",
    [
        {"alphabet": "ACN", "unknown": "N"}, {"alphabet": "ACN", "unknown": 2}, {"alphabet": "NCA", "unknown": "N"},
        {"alphabet": "ACN", "unknown": "C", "pretokenizer": "gpt2"},
        {"alphabet": "ACN", "unknown": "N", "special_tokens": ["[A]"], "special_first": True},
        {"alphabet": "acn", "unknown": "n", "normalizer": ["NFC", "Lowercase"]},
        {"alphabet": b"ACN", "unknown": "N", "encoding": "utf-8"},
        {"alphabet": b"ACN", "unknown": b"N", "encoding": "utf-8", "pretokenizer": "gpt2"},
    ],
    ids=str,
)  # fmt: skip
def test_a_symbol_is_the_unknown_token_there_and_here(params: dict[str, Any]) -> None:
    """It is merged with its neighbours as the symbol itself is."""
    tok = BPE(12, **arguments_of(params)).fit(["ACNNACNACANCACNCANCA" * 3, "NANANCNC"], progress=False)
    text = export(tok, "tokenizer.json")
    other, again = tokenizers.Tokenizer.from_str(text), BPE.load(text)
    assert again._model.alphabet.kind == tok._model.alphabet.kind and export(again, "tokenizer.json") == text
    for doc in _letters_of(np.random.default_rng(0), ["A", "C", "N", "X", "é", "e\u0301", "\U0001f600", " ", "\n"]):
        assert other.encode(doc).ids == tok.encode(doc).tolist() == again.encode(doc).tolist()


def test_an_integer_is_the_unknown_token() -> None:
    symbols = [9, 2, 1]
    tok = BPE(8, alphabet=symbols, unknown=1).fit([[1, 2, 9, 9, 1, 2] * 5], progress=False)
    text = export(tok, "tokenizer.json")
    assert export(tok, "tokenizer.json", unk_token=[2]) == text
    other, again = tokenizers.Tokenizer.from_str(text), BPE.load(text, alphabet=symbols)
    assert again.unknown == 1
    rng = np.random.default_rng(0)
    for _ in range(200):
        doc = rng.choice([1, 2, 9, 40], rng.integers(0, 9)).tolist()
        there = "".join(symbol_character(symbols.index(i) if i in symbols else 100) for i in doc)
        assert other.encode(there).ids == tok.encode(doc).tolist() == again.encode(doc).tolist()
    likely = UBPE(8, alphabet="ab", objective="likelihood").fit(["abab", "ba"], progress=False).reweight(["abab", "ba"])
    likely.set_params(objective="tokenizers")
    with pytest.raises(ValueError, match=r"unk_token: .* is a symbol, which is not searched for"):
        export(likely, "tokenizer.json", unk_token="a")
    text = export(likely, "tokenizer.json")
    assert export(likely.set_params(unknown="a"), "tokenizer.json") == text  # by default none


_PAIRS = {"vocab": {"A": 0, "C": 1, "N": 2, "NA": 3, "AC": 4, "NN": 5}, "merges": ["N A", "A C", "N N"]}


@pytest.mark.parametrize(
    "model, message",
    [
        ({"unk_token": "N", "fuse_unk": True}, "'N' is part of merges, which is not supported with fuse_unk"),
        ({"unk_token": "N", "ignore_merges": True}, "'N' is part of merges, which is not supported with ignore_merges"),
        ({"unk_token": "AC", "merges": ["A C", "AC N"], "vocab": {**_PAIRS["vocab"], "ACN": 6}}, "several characters"),
        ({"unk_token": "NN", "fuse_unk": True}, "'NN' is a token of texts too, not supported with fuse_unk"),
    ],
)  # fmt: skip
def test_an_unknown_token_that_texts_have_is_refused_where_ids_would_differ(model: dict[str, Any], message: str) -> None:
    file = json.dumps({"model": {"type": "BPE", **_PAIRS, **model}})
    with pytest.raises(ModelFormatError, match=message):
        BPE.load(file)


def test_a_file_whose_unknown_token_is_merged_is_read() -> None:
    file = json.dumps({"model": {"type": "BPE", "unk_token": "N", **_PAIRS}})
    other, tok = tokenizers.Tokenizer.from_str(file), BPE.load(file)
    assert other.encode("NéA").ids == tok.encode("NéA").tolist() == [2, 3]  # not [2, 2, 0]
    for doc in _letters_of(np.random.default_rng(1), ["A", "C", "N", "é"]):
        assert other.encode(doc).ids == tok.encode(doc).tolist()


def test_transformers_do_not_take_a_symbol_for_a_special_token(tmp_path: pathlib.Path) -> None:
    transformers = pytest.importorskip("transformers")
    tok = BPE(12, alphabet="ACN", unknown="N").fit(["ACNNACNACANCACNCANCA" * 3], progress=False)
    fast = export(tok, "transformers")
    fast.save_pretrained(tmp_path)
    for there in (fast, transformers.AutoTokenizer.from_pretrained(tmp_path)):
        assert there("ACNXACNN")["input_ids"] == tok.encode("ACNXACNN").tolist()
