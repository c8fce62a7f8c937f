"""Exports give the same ids in the other library, or are refused with the sample that shows it."""

import functools
import itertools
import json
import pathlib
import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from digests import digest
from flat_arguments import arguments_of
from foreign import END, MIXED, same
from sentencepiece_models import BPE as PAIRS, NORMAL, SPECIAL as PIECES, UNUSED, USER, model
from tables import refuses

from ubpe_numba import BPE, UBPE, FitRules, Preprocessing, UBPEClassic, WordPiece, export, load
from ubpe_numba.coding.model_inputs import FIRST, Template, template_of
from ubpe_numba.errors import ModelFormatError
from ubpe_numba.formats import export as writers, export_check, readers
from ubpe_numba.formats.export import _package
from ubpe_numba.formats.export_check import TEXTS, samples_of, texts_of
from ubpe_numba.formats.pair_table import symbol_character
from ubpe_numba.text import Splitter
from ubpe_numba.text.cut import PATTERNS
from ubpe_numba.text.patterns import published_steps

tokenizers = pytest.importorskip("tokenizers")
pytest.importorskip("tiktoken")


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "[^ ]+ ?", None])
def test_ids_are_those_of_the_others_and_imports_are_the_same(
    pattern: Any, lines: list[str], tmp_path: pathlib.Path
) -> None:
    """Fitted on a mixture, so that tokens cross characters of several bytes."""
    tok: Any = BPE.for_text(1500, pretokenizer=pattern, special_tokens=[END, "<é>"]).fit(
        lines[:2000] + MIXED * 20, progress=False
    )
    text, encoding = export(tok, "tokenizer.json", tmp_path / "t.json"), export(tok, "tiktoken.Encoding")
    vocab, merges = export(tok, "vocab+merges", tmp_path).values()
    other = tokenizers.Tokenizer.from_str(text)
    of_pairs = tokenizers.Tokenizer(
        tokenizers.models.BPE(json.loads(vocab), [tuple(line.split(" ")) for line in merges.splitlines()[1:]])
    )
    of_pairs.pre_tokenizer = other.pre_tokenizer
    docs, letters = (
        [*MIXED, *lines[3000:3300], "".join(lines[100:130]), f"a{END}b{END}{END}<é>c"],
        "".join(MIXED[:5]),
    )
    docs += ["".join(random.Random(i).choices(letters, k=40)) for i in range(200)]
    ours = tok.encode_batch(docs, allowed_special="all").to_lists()
    assert [e.ids for e in other.encode_batch(docs, add_special_tokens=False)] == ours
    assert [encoding.encode(doc, allowed_special="all") for doc in docs] == ours
    assert [e.ids for e in of_pairs.encode_batch(MIXED)] == ours[: len(MIXED)]
    for doc, ids in zip(docs, ours, strict=True):
        assert tok.decode(ids) == doc == encoding.decode(ids)
    for source in (text, tmp_path / "t.json", other, encoding):
        same(tok, BPE.load(source), MIXED)
    said = {"pretokenizer": tok._model.segmenter.pretokenizer, "special_tokens": tok.vocabulary.special}
    for source in (
        export(tok, "tiktoken", tmp_path / "x"),
        str(tmp_path / "x"),
        (vocab, merges),
        (tmp_path / "vocab.json", merges),
    ):
        same(tok, BPE.load(source, **said), MIXED)


BYTES = bytes(range(256))
DOCS = ["abab", "ab", "ba", "abba", "aaa bb"]
BERT = {"type": "BertPreTokenizer"}
AB, CUT = ["[UNK]", "ab"], {"pretokenizer": BERT}


def fitted(docs: list[Any], n: int | None = None, cls: Any = BPE, **params: Any) -> Any:
    return cls(n, **arguments_of(params)).fit(docs, progress=False)


def merges(pairs: list[list[int]], alphabet: Any = "ab", **text: Any) -> BPE:
    return BPE.from_merges(pairs, alphabet, preprocessing=Preprocessing(**text))


def words(pieces: list[str], unknown: str = "[UNK]", **text: Any) -> WordPiece:
    return WordPiece(pieces, unknown=unknown, preprocessing=Preprocessing(**text))


def paths(objective: str, **params: Any) -> Any:
    return fitted(DOCS * 2, 6, UBPE, objective=objective, **params)


#: abc is made of two pairs in double; in unstable it is a and bc.
DOUBLE, UNSTABLE = [[97, 98], [256, 99], [98, 99], [97, 258]], [[98, 99], [97, 98], [257, 99]]
REFUSED: list[tuple[Callable[[], Any], str, str]] = [
    *((lambda: merges(DOUBLE, BYTES), form, "have the same") for form in ("tokenizer.json", "tiktoken", "vocab+merges")),
    (lambda: merges(UNSTABLE, BYTES), "tiktoken", r"refused: b'abc' is \[97, 256\] here, but \[258\] by what was written"),
    (lambda: fitted(["abab"], alphabet=b"abc", encoding="utf-8"), "tiktoken", "alphabet: tiktoken needs one of all 256 bytes"),
    (lambda: merges([[97, 98]], BYTES, known_words=["a b"]), "tiktoken", "known_words: tiktoken has none"),
    (lambda: merges([[97, 98]], BYTES, encoding="utf-8", normalizer="NFC"), "tiktoken", "tiktoken has no place for it"),
    (lambda: merges([[97, 98]], BYTES, known_words=["a b"]), "vocab+merges", "known words"),
    (lambda: merges([[97, 98]], BYTES, special_tokens=["ab"]), "tokenizer.json", "'ab' is a token of the vocabulary too"),
    (lambda: merges([[97, 98]], BYTES, special_tokens=[b"\xff"]), "tokenizer.json", r"special_tokens: b'\\xff' is not text"),
    (lambda: fitted(["a\ud800"]), "tokenizer.json", r"alphabet: the surrogate U\+D800 cannot be written"),
    (lambda: fitted([[0, 1, 0, 1]]), "vocab+merges", "alphabet: the files hold text"),
    (lambda: fitted([[0, 1]], special_tokens=[[0, 9]]), "tokenizer.json", "special_tokens: .* integers outside the alphabet"),
    # Hugging Face's engine reads $ in another way: as the end of every line
    (lambda: fitted(["a\nb\n", "\n\na\n\n"] * 3, pretokenizer=r"\n$|a+"), "tokenizer.json", "export refused: "),
    (lambda: load(model([*PIECES, ("a", 0, NORMAL), ("[x]", 0, USER)], PAIRS)), "tokenizer.json", "no place for .* words"),
    (lambda: paths("tfidf"), "tokenizer.json", "objective: 'tfidf' takes other paths.*reweight"),
    (lambda: paths("additive"), "tokenizer.json", "objective: 'additive' takes other paths.*reweight"),
    (lambda: paths("likelihood"), "tokenizer.json", r"of equal weight; set_params\(objective='tokenizers'\)"),
    (lambda: paths("tokenizers", special_tokens={"[x]": 50}), "tokenizer.json", "ids without gaps"),
    (lambda: merges([[0, 1]], 2), "sentencepiece", "of characters, not int"),
    (lambda: fitted(["ab ab"], 10, pretokenizer="gpt2"), "sentencepiece", "does not cut text"),
    (lambda: fitted(["ab ab", "b"], 10, UBPE), "sentencepiece", "expected 'sentencepiece'"),
    (lambda: merges([[0, 1]], "a\ud800"), "sentencepiece", "surrogates"),
    (lambda: paths("sentencepiece", known_words=["ab"]), "sentencepiece", "always found"),
    (lambda: fitted(["ab ab"], 10, normalizer="NFC"), "sentencepiece", "no place for 'NFC'"),
    (lambda: load(model([*PIECES, ("a", -1.0, UNUSED)])), "sentencepiece", "export refused: sentencepiece does not read it"),
    # a b b is not what its parts are merged to
    (lambda: merges([[1, 1], [0, 1], [3, 1]]), "sentencepiece", "export refused"),
    (lambda: words(["[UNK]"]), "tokenizer.json", "pretokenizer: a tokenizer.json says how text becomes words; for BERT's give"),
    (lambda: words(AB, special_tokens={"ab": 99}, **CUT), "tokenizer.json", "one is a piece with another id"),
    (lambda: words(AB, special_tokens={"[x]": 1}, **CUT), "tokenizer.json", "or has that of another piece"),
    (lambda: words(["[UNK]", "\ud800"], pretokenizer=BERT), "tokenizer.json", "a piece is no text"),
    (lambda: WordPiece({"a": 0, "b": 2}, unknown="a"), "vocab.txt", "cannot hold 'b' with the id 2: ids are"),
    (lambda: words(["a\nb"], "a\nb"), "vocab.txt", r"cannot hold 'a\\nb' with"),
    (lambda: words(["a\u3000"], "a\u3000"), "vocab.txt", "white space at the end is lost"),
    (lambda: words(["a\ud800"], "a\ud800"), "vocab.txt", "lines are UTF-8"),
    (lambda: merges([[0, 1]], known_words=["b"]), "ubpe", "known_words: in a dump they have the ids after the alphabet"),
    (lambda: merges([[0, 1]], normalizer="Lowercase"), "ubpe", "export refused: a dump has no place for normalizer"),
    (lambda: merges([[0, 1]], special_tokens=["b"]), "ubpe", "no place for special tokens"),
    (lambda: merges([[0, 1]], BYTES, encoding="utf-8"), "ubpe", "a dump has no place for a pretokenizer that is not from a dump"),
    *((BPE, form, "has no vocabulary yet") for form in ("tokenizer.json", "tiktoken", "vocab+merges", "transformers")),
]  # fmt: skip


@pytest.mark.parametrize(
    "make, form, match", REFUSED, ids=[f"{form}-{match}"[:50] for _, form, match in REFUSED]
)
def test_exports_that_would_lose_something_are_refused(
    make: Any, form: str, match: str, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "x").write_text("old")
    refuses(
        ValueError, match, lambda: export(make(), form, *([] if form == "transformers" else [tmp_path / "x"]))
    )
    assert (tmp_path / "x").read_text() == "old"


def test_a_folder_of_its_name_is_not_an_installed_package(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "just_a_folder").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    assert (
        _package("just_a_folder") is None
        and _package("not_even_that") is None
        and _package("numpy") is not None
    )


@pytest.mark.parametrize("name", PATTERNS)
def test_published_patterns_are_written_as_others_have_them(name: str) -> None:
    """Steps and spellings that other libraries know; read back, they are the same pattern, by their version of Unicode."""
    tok = fitted(["it's 12345 of them, I'VE heard\n中文 é"] * 3, 300, pretokenizer=name, encoding="utf-8")
    text = export(tok, "tokenizer.json")
    step = json.loads(text)["pre_tokenizer"]
    parts = step["pretokenizers"] if step["type"] == "Sequence" else [step]
    found = [part["pattern"]["Regex"] if part["type"] == "Split" else part["type"] for part in parts]
    want = {"gpt2": ["ByteLevel"], "starcoder": ["Digits", "ByteLevel"]}
    assert found == want.get(name, [*published_steps(name), "ByteLevel"]) and parts[-1]["use_regex"] is (
        name in want
    )
    for again in (
        BPE.load(text),
        *([BPE.load(export(tok, "tiktoken.Encoding"))] if name != "deepseek" else []),
    ):
        cutter = again._model.segmenter.pretokenizer
        assert (cutter.name, cutter.unicode, cutter.kernel) == (name, "16.0.0", f"{name}@16.0.0")
        assert again.encode("they're 1234 中文").tolist() == tok.encode("they're 1234 中文").tolist()


def test_tiktoken_has_special_tokens_first_too() -> None:
    words = [f"<{i}>" for i in range(300)]
    tok = BPE.for_text(300, pretokenizer="gpt2", special_tokens=words, special_first=True)
    tok.fit(["low lower lowest slow slower"] * 3, progress=False)
    encoding = export(tok, "tiktoken.Encoding")
    again = BPE.load(export(tok, "tiktoken"), pretokenizer="gpt2", special_tokens=tok.vocabulary.special)
    for text in ("lowest <0> slow", "é 中"):
        ids = tok.encode(text, allowed_special="all").tolist()
        assert (
            encoding.encode(text, allowed_special="all")
            == ids
            == again.encode(text, allowed_special="all").tolist()
        )


def test_an_export_that_encodes_differently_names_the_sample(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    """A table out of order encodes differently by the articles' batch rule, which no other library has."""
    rng = np.random.default_rng(0)
    docs = [rng.integers(0, 4, 200) for _ in range(8)]
    tok = UBPEClassic(60, 50, alphabet=4, rules=FitRules(order="idf", encode="batch")).fit(
        docs, progress=False
    )
    path = tmp_path / "tokenizer.json"
    refuses(
        ValueError, "vocabulary: its pairs are not in order of creation", export, tok, "tokenizer.json", path
    )
    monkeypatch.setattr(export_check, "check_order", lambda model: None)
    monkeypatch.setattr(writers, "_same_by_rank", lambda other, samples: None)
    monkeypatch.setattr(readers, "of_huggingface", lambda *source: readers.Found(tok._model))
    refuses(
        ValueError,
        r"export refused: \[.*\] is \[.*\] here, but \[.*\] by tokenizers",
        export,
        tok,
        "tokenizer.json",
        path,
    )
    assert not path.exists()


def test_samples_are_what_they_say() -> None:
    tok = BPE.for_text(300, pretokenizer="gpt2").fit(TEXTS, progress=False)
    for made in (tok, BPE(300).fit([*TEXTS], progress=False)):  # of bytes, and of characters
        docs = samples_of(made._model)
        assert {*TEXTS} <= {*texts_of(made._model.alphabet, (docs, docs))[2]}
    pairs = sorted(itertools.product(range(75), repeat=2), key=max) + [
        (5627 + i, 5627 + i) for i in range(13)
    ]
    many = BPE.from_merges(pairs, alphabet="abc", preprocessing=Preprocessing(special_tokens=["<x>"]))
    docs = samples_of(many._model)
    assert (len(docs), max(map(len, docs)), digest(docs)) == (5105 + 1, 4096, "2953170aea86")  # as it says


SPECIAL_OF_POST_PROCESSOR = ["[UNK]", "[CLS]", "[SEP]", "<s>", "<a:1>"]
IDS = {word: i for i, word in enumerate(SPECIAL_OF_POST_PROCESSOR)}


def tokenizers_of_all_kinds() -> list[Any]:
    docs, special = ["ab ab ba", "abba ab"], SPECIAL_OF_POST_PROCESSOR
    cut = {"pretokenizer": BERT, "special_tokens": IDS, "normalizer": {"type": "BertNormalizer"}}
    return [
        fitted(docs, 8, special_tokens=special), BPE.for_text(258, special_tokens=special).fit(docs, progress=False),
        fitted(docs, 6, UBPE, objective="tokenizers", special_tokens=special), words([*special, "ab", "##ba"], **cut),
    ]  # fmt: skip


#: The last are of one text and of two.
TEMPLATES = [
    "[CLS] $A [SEP]",
    "<s> $A",
    "$A",
    ("<s> $A", "<s> $A <s>:1 $B:1"),
    ("[CLS]:2 $A:2 [SEP]", "$B [SEP] $A:7"),
]


@pytest.mark.parametrize("tok", tokenizers_of_all_kinds(), ids=lambda tok: type(tok).__name__)
def test_exports_with_a_template(tok: Any) -> None:
    """The file adds what the template says; read back, a call adds it, and an export writes it again."""
    unknown = {} if isinstance(tok, WordPiece) else {"unk_token": "[UNK]"}
    # a special token may end in a number
    assert template_of("<a:1> $A <a:1>:3", IDS).single == ((4, 0), (FIRST, 0), (4, 3))
    for template in TEMPLATES:
        text = export(tok, "tokenizer.json", template=template, **unknown)
        other, again = tokenizers.Tokenizer.from_str(text), type(tok).load(text)
        assert again.encode("abba").tolist() == tok.encode("abba").tolist()
        for texts in (("abba",), ("abba", "ab")):
            theirs, ours = other.encode(*texts), again(*texts, return_token_type_ids=True)
            assert (ours.input_ids.tolist(), ours.token_type_ids.tolist()) == (theirs.ids, theirs.type_ids), (
                template
            )
        assert (
            json.loads(export(again, "tokenizer.json"))["post_processor"]
            == json.loads(text)["post_processor"]
        )
    theirs = tokenizers.Tokenizer.from_str(
        export(tok, "tokenizer.json", template=TEMPLATES[0], **unknown)
    ).encode("abba", "ab")
    cls, sep, one, two = (
        *map(tok.token_to_id, ("[CLS]", "[SEP]")),
        tok.encode("abba").tolist(),
        tok.encode("ab").tolist(),
    )
    assert theirs.ids == [cls, *one, sep, *two, sep] and theirs.type_ids == [0] * (len(one) + 2) + [1] * (
        len(two) + 1
    )


def test_a_template_that_the_other_library_reads_differently_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tok = BPE.for_text(258, special_tokens=SPECIAL_OF_POST_PROCESSOR).fit(["abab"], progress=False)
    frame = writers._frame
    monkeypatch.setattr(writers, "_frame", lambda *given: (Template(), frame(*given)[1]))
    refuses(
        ValueError, "export refused: .* by tokenizers", export, tok, "tokenizer.json", template="[CLS] $A"
    )


WORDS = ["[UNK]", "<end>"]


def letters(**params: Any) -> Any:
    return fitted(["the tide, the Tide", "tied in the net"] * 2, 30, **{"special_tokens": WORDS, **params})


DNA, ACCENTS = ["ACNNACNACANCACNCANCA" * 3, "NANANCNC"], ["abc cab", "abba b\u0301"]
METASPACE = Splitter([{"type": "Metaspace", "replacement": "_", "prepend_scheme": "always", "split": True}])
FIRST_BY_NFC = {"alphabet": "abc \u0301", "normalizer": "NFC", "special_tokens": WORDS}
#: Tokenizers, and what makes a special token the unknown one; the last have a symbol for it.
UNKNOWN: list[tuple[Callable[[], Any], dict[str, Any]]] = [
    *(
        (functools.partial(letters, special_first=first, **params), {"unk_token": "[UNK]"})
        for first in (False, True)
        for params in (
            {"pretokenizer": "gpt2"}, {"pretokenizer": METASPACE}, {"normalizer": ["NFKC", "Lowercase"]},
            {"normalizer": ["NFD", "StripAccents"], "pretokenizer": Splitter(["BertPreTokenizer"])}, {"known_words": ["net"]},
            {"break_tokens": ",", "max_token_length": 1}, {"rules": FitRules(min_count=1), "pretokenizer": Splitter(["Digits"])},
        )
    ),
    (lambda: fitted(["abab", "abcb"], 8, UBPE, objective="tokenizers", special_tokens=WORDS), {"unk_token": "[UNK]"}),
    # c and an accent become one character, which only the file with an unknown token has an id for
    (lambda: fitted(ACCENTS, None, UBPE, objective="tokenizers", **FIRST_BY_NFC), {"unk_token": "[UNK]"}),
    (lambda: fitted(ACCENTS, None, **FIRST_BY_NFC), {"unk_token": "[UNK]"}),
    (lambda: fitted(DNA, 12, alphabet=b"ACN", special_tokens=["[UNK]"], encoding="utf-8"), {"unk_token": "[UNK]"}),
    (lambda: fitted(DNA, 12, alphabet="ACN", unknown="N"), {}),
    (lambda: fitted(DNA, 12, alphabet="ACN", unknown="C", pretokenizer="gpt2"), {}),
    (lambda: fitted(DNA, 12, alphabet="ACN", unknown="N", special_tokens=["[A]"], special_first=True), {}),
    (lambda: fitted(DNA, 12, alphabet="acn", unknown="n", normalizer=["NFC", "Lowercase"]), {}),
    (lambda: fitted(DNA, 12, alphabet=b"ACN", unknown=b"N", encoding="utf-8", pretokenizer="gpt2"), {}),
]  # fmt: skip


@pytest.mark.parametrize("make, options", UNKNOWN, ids=range(len(UNKNOWN)))
def test_unknown_characters_become_the_token(make: Any, options: dict[str, Any]) -> None:
    """There, and here by what is read back; a symbol is merged with its neighbours as the symbol itself is."""
    tok = make()
    text = export(tok, "tokenizer.json", **options)
    other, again = tokenizers.Tokenizer.from_str(text), type(tok).load(text)
    unk, found = other.token_to_id(json.loads(text)["model"].get("unk_token") or "[UNK]"), set()
    known = [chr(symbol) for symbol in tok._model.alphabet.symbols.tolist()]
    rng = np.random.default_rng(0)
    for _ in range(200):
        doc = "".join(
            rng.choice(
                [*known, *known, *"Xé ", "e\u0301", "\U0001f600", "<end>", "ac\u0301b"], rng.integers(0, 20)
            )
        )
        ids = other.encode(doc).ids
        found |= {*ids}
        assert again.encode(doc, allowed_special="all").tolist() == ids
        if not options:
            assert tok.encode(doc).tolist() == ids
    assert unk in found
    if isinstance(tok, BPE):  # scores of a UBPE are near
        assert json.loads(export(again, "tokenizer.json"))["model"] == json.loads(text)["model"]
    doc = "".join(known[:3])
    assert tok.encode(doc).tolist() == other.encode(doc).ids


LOSSY = [
    (lambda: BPE.from_merges([[0, 1]], "ab"), "2 characters and no unk_token: .* such as 'X' silently"),
    (
        lambda: BPE.from_merges([[0, 1]], alphabet=2),
        "2 integers and no unk_token: .* characters of no integer of the alphabet",
    ),
    (lambda: BPE.from_merges([[0, 1]], alphabet=b"ab"), r"2 bytes and no unk_token: .* such as b'\\x00'"),
]


@pytest.mark.parametrize("make, match", LOSSY, ids=["characters", "integers", "bytes"])
def test_a_file_that_loses_symbols_is_warned_about(make: Any, match: str, tmp_path: pathlib.Path) -> None:
    tok, path = make(), tmp_path / "tokenizer.json"
    with pytest.warns(UserWarning, match=f"alphabet: the exported tokenizer has {match}") as caught:
        text = export(tok, "tokenizer.json", path)
    assert caught[0].filename == __file__ and path.read_text() == text
    assert (
        export(tok, "tokenizer.json", unk_token=False) == text
        and json.loads(text)["model"]["unk_token"] is None
    )


def test_nothing_is_lost_of_all_bytes() -> None:
    tok = BPE.for_text(258, special_tokens=WORDS).fit(["abab"], progress=False)
    assert json.loads(export(tok, "tokenizer.json"))["model"]["unk_token"] is None
    in_text = bytes(sorted({*range(0xF5)} - {0xC0, 0xC1}))
    assert writers.loss_of(BPE.from_merges([[0, 1]], alphabet=in_text)._model) is None
    named = export(tok, "tokenizer.json", unk_token="[UNK]")
    assert json.loads(named)["model"]["unk_token"] == "[UNK]"
    assert tokenizers.Tokenizer.from_str(named).encode("xé中").ids == tok.encode("xé中").tolist()
    every = BPE.from_merges([[97, 98]], alphabet=[chr(i) for i in range(0x300)])
    with pytest.warns(UserWarning, match="characters such as '中'"):
        export(every, "tokenizer.json")


def test_names_that_no_merge_makes_stay_in_the_file() -> None:
    for tok, names in (
        (BPE.for_text(260).fit(["abab"]), ["ÿq", "ĠÃ©z", "zzz"]),
        (merges([[0, 1]], "abé"), ["éa", "bb"]),
    ):
        file = json.loads(export(tok, "tokenizer.json", unk_token=False))
        vocab = file["model"]["vocab"]
        vocab.update({name: len(vocab) + i for i, name in enumerate(names)})
        assert json.loads(export(load(json.dumps(file)), "tokenizer.json", unk_token=False)) == file


def test_other_words_are_refused(tmp_path: pathlib.Path) -> None:
    tok, said = (
        letters(known_words=["net"]),
        "is neither a symbol nor a special token of this tokenizer: '[UNK]', '<end>'",
    )
    wrong: list[tuple[Any, Any, str]] = [
        ("[MASK]", ValueError, f"unk_token: '[MASK]' {said}"), ("net", ValueError, f"unk_token: 'net' {said}"),
        (3, TypeError, "unk_token: expected a special token, None or False, got 3"),
    ]  # fmt: skip
    for value, error, match in wrong:
        refuses(
            error,
            re.escape(match),
            export,
            tok,
            "tokenizer.json",
            tmp_path / "tokenizer.json",
            unk_token=value,
        )
    assert not [*tmp_path.iterdir()]


def test_a_model_with_a_rule_keeps_it() -> None:
    tok = BPE.load(export(letters(), "tokenizer.json", unk_token="[UNK]"))
    assert export(tok, "tokenizer.json", unk_token="[UNK]") == export(tok, "tokenizer.json")
    with pytest.raises(
        ValueError, match="unk_token: unknown characters become the id .* in this model, which is not '<end>'"
    ):
        export(tok, "tokenizer.json", unk_token="<end>")


def test_a_wrong_unknown_token_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples with unknown characters show what samples of known ones cannot."""
    write = writers.huggingface.write
    monkeypatch.setattr(
        writers.huggingface, "write", lambda *a, **k: write(*a, **{**k, "unk_token": "<end>"})
    )
    refuses(ValueError, "export refused: ", lambda: export(letters(), "tokenizer.json", unk_token="[UNK]"))


def test_the_constructor_s_unknown_is_the_default() -> None:
    """A tokenizer that says what unknown symbols become exports it, where that is a special token or a symbol."""
    tok = letters()
    tok.unknown = "[UNK]"
    assert json.loads(export(tok, "tokenizer.json"))["model"]["unk_token"] == "[UNK]"
    assert json.loads(export(tok, "tokenizer.json", unk_token="<end>"))["model"]["unk_token"] == "<end>"
    tok.unknown = "t"
    assert json.loads(export(tok, "tokenizer.json"))["model"]["unk_token"] == "t"
    for other in ("skip", "raise"):
        tok.unknown = other
        with pytest.warns(UserWarning, match="no unk_token"):
            export(tok, "tokenizer.json")


@pytest.mark.parametrize(
    "unk_token, params", [([1], {"unknown": 1}), ([99, 99], {"special_tokens": [[99, 99]]})], ids=str
)
def test_an_integer_is_the_unknown_token(unk_token: list[int], params: dict[str, Any]) -> None:
    symbols, rng = [9, 2, 1, 99], np.random.default_rng(0)
    tok = fitted([[1, 2, 9, 9, 1, 2] * 5], 8, alphabet=symbols, **params)
    text = export(tok, "tokenizer.json", unk_token=unk_token)
    other, again = tokenizers.Tokenizer.from_str(text), BPE.load(text, alphabet=symbols)
    assert again.vocabulary.special == tok.vocabulary.special and again._model.alphabet == tok._model.alphabet
    assert again.unknown == params.get("unknown", (99, 99))
    for _ in range(200):
        doc = rng.choice([1, 2, 9, 40], rng.integers(0, 9)).tolist()
        there = "".join(symbol_character(symbols.index(i) if i in symbols else 100) for i in doc)
        assert other.encode(there).ids == again.encode(doc).tolist()
        if 40 not in doc or "unknown" in params:
            assert tok.encode(doc).tolist() == again.encode(doc).tolist()


def test_a_unigram_model_has_a_special_token_for_the_unknown_only() -> None:
    some = fitted([b"abab", b"abc"], 6, UBPE, objective="tokenizers", alphabet=b"abc", special_tokens=WORDS)
    with pytest.raises(
        ValueError, match="unk_token: a Unigram model over bytes has none unless it has all of them"
    ):
        export(some, "tokenizer.json", unk_token="[UNK]")
    likely = fitted(["abab", "ba"], 8, UBPE, alphabet="ab", objective="likelihood").reweight(["abab", "ba"])
    likely.set_params(objective="tokenizers")
    refuses(
        ValueError,
        r"unk_token: .* is a symbol, which is not searched for",
        export,
        likely,
        "tokenizer.json",
        unk_token="a",
    )
    text = export(likely, "tokenizer.json")
    assert export(likely.set_params(unknown="a"), "tokenizer.json") == text  # by default none


_PAIRS = {"vocab": {"A": 0, "C": 1, "N": 2, "NA": 3, "AC": 4, "NN": 5}, "merges": ["N A", "A C", "N N"]}


@pytest.mark.parametrize("model, message", [
    ({"unk_token": "N", "fuse_unk": True}, "'N' is part of merges, which is not supported with fuse_unk"),
    ({"unk_token": "N", "ignore_merges": True}, "'N' is part of merges, which is not supported with ignore_merges"),
    ({"unk_token": "AC", "merges": ["A C", "AC N"], "vocab": {**_PAIRS["vocab"], "ACN": 6}}, "several characters"),
    ({"unk_token": "NN", "fuse_unk": True}, "'NN' is in texts too: not supported with fuse_unk"),
])  # fmt: skip
def test_an_unknown_token_that_texts_have_is_refused_where_ids_would_differ(
    model: dict[str, Any], message: str
) -> None:
    file = json.dumps({"model": {"type": "BPE", **_PAIRS, **model}})
    refuses(ModelFormatError, message, BPE.load, file)


def test_a_file_whose_unknown_token_is_merged_is_read() -> None:
    file = json.dumps({"model": {"type": "BPE", "unk_token": "N", **_PAIRS}})
    other, tok = tokenizers.Tokenizer.from_str(file), BPE.load(file)
    assert other.encode("NéA").ids == tok.encode("NéA").tolist() == [2, 3]  # not [2, 2, 0]
    rng = random.Random(1)
    for doc in ("".join(rng.choices("ACNé", k=n % 12)) for n in range(200)):
        assert other.encode(doc).ids == tok.encode(doc).tolist()


def test_transformers_do_not_take_a_symbol_for_a_special_token(tmp_path: pathlib.Path) -> None:
    transformers = pytest.importorskip("transformers")
    tok = fitted(["ACNNACNACANCACNCANCA" * 3], 12, alphabet="ACN", unknown="N")
    fast = export(tok, "transformers")
    fast.save_pretrained(tmp_path)
    for there in (fast, transformers.AutoTokenizer.from_pretrained(tmp_path)):
        assert there("ACNXACNN")["input_ids"] == tok.encode("ACNXACNN").tolist()
