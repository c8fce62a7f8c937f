"""Templates: what stands around a document, as the package tokenizers reads the same words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ubpe_numba import BPE, UBPE, WordPiece
from ubpe_numba.formats import export

SPECIAL = ["[UNK]", "[CLS]", "[SEP]", "<s>", "<a:1>"]
IDS = {word: i for i, word in enumerate(SPECIAL)}


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
    found, expected = export.post_processor(export.template_of(template, IDS), IDS), json.loads(other.to_str())["post_processor"]
    assert (found["single"], found["pair"]) == (expected["single"], expected["pair"])
    used = {word for word in SPECIAL if word in f"{single} {pair}"}
    assert found["special_tokens"] == {word: expected["special_tokens"][word] for word in used}


def test_a_special_token_may_end_in_a_number() -> None:
    assert export.template_of("<a:1> $A <a:1>:3", IDS)[0] == (("<a:1>", 0), ("$A", 0), ("<a:1>", 3))


@pytest.mark.parametrize(
    "template, error, match",
    [
        ("[CLS]", ValueError, r"template: expected \$A once in '\[CLS\]', found it 0 times"),
        ("", ValueError, r"template: expected \$A once in ''"),
        ("$A $A", ValueError, "found it 2 times"),
        ("$A $B", ValueError, r"template: expected \$B not at all"),
        (("$A", "$A"), ValueError, r"template: expected \$B once"),
        ("[MASK] $A", ValueError, r"template: '\[MASK\]' in '\[MASK\] \$A' is neither \$A nor a special token .*'\[UNK\]', "),
        ("$A $C", ValueError, r"template: '\$C' in"),
        (3, TypeError, "template: expected str, or two of them"),
        (("$A",) * 3, TypeError, "template: expected str, or two of them"),
        ([], TypeError, "template: expected str, or two of them"),
    ],
    ids=str,
)
def test_templates_that_say_nothing(template: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        export.template_of(template, IDS)
    tok = BPE.from_merges([[0, 1]], "ab", special_tokens=SPECIAL)
    with pytest.raises(error, match="template: "):
        tok.to_huggingface(unk_token="[UNK]", template=template)


def tokenizers_of_all_kinds() -> list[Any]:
    text = ["ab ab ba", "abba ab"]
    cut = {"pretokenizer": {"type": "BertPreTokenizer"}, "normalizer": {"type": "BertNormalizer"}}
    return [
        BPE(8, special_tokens=SPECIAL).fit(text, progress=False),
        BPE.for_text(258, special_tokens=SPECIAL).fit(text, progress=False),
        UBPE(6, objective="tokenizers", special_tokens=SPECIAL).fit(text, progress=False),
        WordPiece([*SPECIAL, "ab", "##ba"], special_tokens=IDS, **cut),
    ]


@pytest.mark.parametrize("tok", tokenizers_of_all_kinds(), ids=lambda tok: type(tok).__name__)
def test_exports_with_a_template(tok: Any) -> None:
    """The file adds what the template says; read back, that is left out again."""
    tokenizers = pytest.importorskip("tokenizers")
    unknown = {} if isinstance(tok, WordPiece) else {"unk_token": "[UNK]"}
    text = tok.to_huggingface(template="[CLS] $A [SEP]", **unknown)
    other, again = tokenizers.Tokenizer.from_str(text), type(tok).from_huggingface(text)
    cls, sep = other.token_to_id("[CLS]"), other.token_to_id("[SEP]")
    one, two = tok.encode("abba").tolist(), tok.encode("ab").tolist()
    assert other.encode("abba").ids == [cls, *one, sep]
    assert other.encode("abba", "ab").ids == [cls, *one, sep, *two, sep]
    assert other.encode("abba", "ab").type_ids == [0] * (len(one) + 2) + [1] * (len(two) + 1)
    assert again.encode("abba").tolist() == one
    assert json.loads(again.to_huggingface())["post_processor"] is None


def test_a_template_that_the_other_library_reads_differently_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tokenizers")
    tok = BPE.for_text(258, special_tokens=SPECIAL).fit(["abab"], progress=False)
    monkeypatch.setattr(export, "around", lambda template, special, first, second=None: first)
    with pytest.raises(ValueError, match="export refused: .* by tokenizers"):
        tok.to_huggingface(template="[CLS] $A")
