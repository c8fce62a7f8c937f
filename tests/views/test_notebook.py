"""What notebooks show of tokenizers: facts, motifs, nothing that is not text or a shape, and little of it."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from markup import parsed, pictures, words

from ubpe_numba import BPE, UBPE, Preprocessing, Tokenizer, UBPEClassic
from ubpe_numba.views.notebook import tokenizer_html

HOSTILE = [
    "</svg><script>alert(1)</script>",
    '" onload="alert(1)',
    "<!--",
    "]]>",
    "&amp;&",
    "\x00\x1b[31m",
    "\u202egnp.exe\u2028",
]


def test_facts_of_a_fitted_tokenizer() -> None:
    docs = [[0, 9, 0, 1, 0, 9, 0, 1], [0, 9, 0, 1, 3]]
    tok = UBPE(16, alphabet=10, objective="shortest").fit(docs)
    vocabulary, text = tok._model.vocabulary, words(parsed(tokenizer_html(tok)))
    assert vocabulary.occurrences is not None
    for part in (
        f"UBPE: {len(vocabulary)} tokens",
        f"10 symbols (integers) and {vocabulary.n_learned} learned",
        "encodes by shortest",
        "fitted on 13 symbols in 2 documents",
        f"symbols a token {13 / vocabulary.occurrences.sum():.2f}",
        f"longest token {np.diff(vocabulary.offsets).max()} symbols",
        f"fingerprint {tok.fingerprint[:16]}",
    ):
        assert part in text


def test_motifs_of_signals_are_drawn_to_scale() -> None:
    beat = [0, 0, 40, 10, 0]
    tok = BPE(1024).fit([beat * 3 + [1, 2, 1], [*beat, 5, 5], [1, 2, 1, 5, 5, 5, 5]])
    vocabulary = tok._model.vocabulary
    assert vocabulary.occurrences is not None
    drawn = pictures(parsed(tokenizer_html(tok)))
    ranges, heights = [], []
    for picture in drawn:
        found = re.fullmatch(r"Token (\d+): (\d+) symbols from (\d+) to (\d+), (?:(\d+) times|once)", str(picture[0].text))
        assert found
        sequence = vocabulary.sequence(int(found[1]))
        assert [int(n) for n in found.groups()[1:4]] == [sequence.size, sequence.min(), sequence.max()]
        assert int(found[5] or 1) == vocabulary.occurrences[int(found[1])]
        points = np.array([pair.split(",") for pair in str(picture[1].get("d"))[1:].split()], float)
        assert np.argmin(points[:, 1]) == np.argmax(sequence) and len(points) == sequence.size
        assert points.min() >= 0 and points[:, 1].max() <= 40
        ranges.append(np.ptp(sequence))
        heights.append(np.ptp(points[:, 1]))
    assert 1 <= len(drawn) <= 10 and max(ranges) == 40
    np.testing.assert_allclose(heights, 32 * np.array(ranges) / 40, atol=0.1)


def test_motifs_of_text_are_written() -> None:
    tok = BPE.for_text(300, pretokenizer="gpt2", special_tokens=["<end>"]).fit(["the lower the lowest the low"] * 3)
    root = parsed(tokenizer_html(tok))
    (picture,) = pictures(root)
    text = words(root)
    for part in ("text as utf-8", "pretokenizer Pretokenizer('gpt2')", "special tokens 1", "␣the", "encodes by merge rank"):
        assert part in text
    assert picture[1].tag.endswith("desc") and "␣the (6 times)" in str(picture[1].text)


@pytest.mark.parametrize("kind", ["str", "bytes", "utf-8"])
def test_hostile_strings_stay_text(kind: str) -> None:
    docs: list[Any] = [text * 4 for text in HOSTILE] * 2
    if kind == "bytes":
        docs = [text.encode("utf-8", "surrogatepass") + b"\xff\xfe" * 4 for text in docs]
    make = BPE.for_text(1000, pretokenizer=None) if kind == "utf-8" else BPE(1000)
    root = parsed(tokenizer_html(make.fit(docs)))  # which has no element and no attribute but those that are known
    text = words(root)
    assert "<script>" in text and "\\x00" in text and "\u202e" not in text and "\u2028" not in text


def test_dna_is_written_in_letters() -> None:
    rng = np.random.default_rng(0)
    docs = ["".join(rng.choice(list("ACGT"), 300)) + "GATTACA" * 5 for _ in range(9)]
    root = parsed(tokenizer_html(BPE(80).fit(docs)))
    found = re.findall(r"\b[ACGT]{2,}\b", words(root))
    assert len(set(found)) == 10 and any("ATTAC" in string for string in found)


def test_strings_that_are_shown_are_no_parts_of_one_another() -> None:
    root = parsed(tokenizer_html(BPE(40).fit(["abcabdabcabd" * 9, "xyz" * 5])))
    shown = re.findall(r"([a-z]+) \(", str(pictures(root)[0][1].text))
    assert shown and not any(a in b for a in shown for b in shown if a is not b)


@pytest.mark.parametrize("cls", [BPE, UBPEClassic, UBPE])
def test_an_unfitted_tokenizer_shows_its_parameters(cls: type[Tokenizer]) -> None:
    tok = cls(512, alphabet=range(10**9), preprocessing=Preprocessing(pretokenizer="</td><script>" * 99))
    text = words(parsed(tokenizer_html(tok), 3000))
    assert text.startswith(f"{cls.__name__}, not fitted n_tokens 512")
    assert "alphabet range(0, 1000000000)" in text and "pretokenizer Pretokenizer('</td><script>" in text
    assert words(parsed(tokenizer_html(cls()))).startswith(f"{cls.__name__}, not fitted")


def test_a_vocabulary_without_counts_or_without_tokens() -> None:
    bare = parsed(tokenizer_html(BPE.from_merges([[0, 1], [2, 1]], alphabet="ab")))
    assert "abb 3 long" in words(bare) and "times" not in words(bare) and "fitted on" not in words(bare)
    signal = parsed(tokenizer_html(BPE.from_merges([[0, 1], [2, 1]], alphabet=[5, 9])))
    assert [str(p[0].text) for p in pictures(signal)] == ["Token 3: 3 symbols from 5 to 9"]
    nothing = parsed(tokenizer_html(BPE.from_merges([], alphabet="ab")))
    assert not pictures(nothing) and "2 symbols (characters) and 0 learned" in words(nothing)
    level = parsed(tokenizer_html(BPE.from_merges([[0, 0]], alphabet=[5, 9])))
    assert not pictures(level)  # a level stretch is no shape


def test_symbols_of_64_bits_do_not_overflow() -> None:
    tok = BPE.from_merges([[0, 1], [2, 0]], alphabet=[-(2**63), 2**63 - 1])
    drawn = pictures(parsed(tokenizer_html(tok)))
    assert drawn and all(f"from {-(2**63)} to {2**63 - 1}" in str(picture[0].text) for picture in drawn)


def test_ids_are_those_that_users_know() -> None:
    tok = BPE.from_merges([[0, 1], [2, 1]], alphabet="ab")
    model = tok._model
    tok._adopt(model._replace(segmenter=model.segmenter._replace(token_ids=np.array([0, 1, 7, 9], np.int32))))
    assert re.findall(r"(\d+) abb", words(parsed(tokenizer_html(tok)))) == ["9"]


@pytest.mark.parametrize("kind", ["int", "str", "bytes"])
def test_a_hundred_thousand_tokens_stay_below_the_limit(kind: str) -> None:
    first = np.arange(99_744) % 256
    second = np.arange(99_744) // 256
    merges = np.column_stack([first, np.where(second < 256, second, second + 10_000)])
    alphabet: Any = {"int": 256, "str": [chr(0x10000 + i) for i in range(256)], "bytes": bytes(range(256))}[kind]
    root = parsed(tokenizer_html(BPE.from_merges(merges, alphabet=alphabet)))
    assert "100,000 tokens" in words(root) and pictures(root)


def test_long_tokens_are_cut() -> None:
    doubled = [[0, 1]] + [[i, i] for i in range(2, 18)]
    for alphabet in ("<&", b"<&", [0, 9]):
        root = parsed(tokenizer_html(BPE.from_merges(doubled, alphabet=alphabet)))
        assert "131,072" in words(root) and pictures(root)
