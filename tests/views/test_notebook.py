"""Notebooks show of tokenizers, vocabularies and batches: facts, motifs, only text and shapes, and little of it."""

import re
from typing import Any
from xml.etree import ElementTree

import numpy as np
from digests import digest
from hypothesis import example, given, strategies as st
from markup import parsed, pictures, words
from tables import each

from ubpe_numba import BPE, UBPE, Preprocessing, Ragged, Tokenizer, UBPEClassic
from ubpe_numba.views.notebook import escaped, tokenizer_html, vocabulary_html

HOSTILE = [
    "</svg><script>alert(1)</script>", '" onload="alert(1)', "<!--", "]]>", "&amp;&", "\x00\x1b[31m", "\u202egnp.exe\u2028",
]  # fmt: skip


def shown(tok: Tokenizer, most: int | None = None) -> str:
    """The text that is shown of a tokenizer."""
    return words(parsed(tokenizer_html(tok), *filter(None, [most])))


def test_facts_of_a_fitted_tokenizer() -> None:
    docs = [[0, 9, 0, 1, 0, 9, 0, 1], [0, 9, 0, 1, 3]]
    tok = UBPE(16, alphabet=10, objective="shortest").fit(docs)
    vocabulary, text = tok._model.vocabulary, shown(tok)
    assert vocabulary.occurrences is not None
    for part in (
        f"UBPE: {len(vocabulary)} tokens",
        f"alphabet 10 symbols, the ids 0 to 9 learned {vocabulary.n_learned} tokens, known as pairs",
        "encodes by shortest",
        "learned from 13 symbols in 2 documents",
        f"symbols a token {13 / vocabulary.occurrences.sum():.2f}",
        f"longest token {np.diff(vocabulary.offsets).max()} symbols",
        f"fingerprint {tok.fingerprint[:16]}",
    ):
        assert part in text and tok.fingerprint[:17] not in text


def test_motifs_of_signals_are_drawn_to_scale() -> None:
    beat = [0, 0, 40, 10, 0]
    tok = BPE(1024).fit([beat * 3 + [1, 2, 1], [*beat, 5, 5], [1, 2, 1, 5, 5, 5, 5]])
    vocabulary = tok._model.vocabulary
    root = parsed(tokenizer_html(tok))
    drawn, text = pictures(root), words(root)
    ranges, heights = [], []
    for picture in drawn:
        found = re.fullmatch(r"Token (\d+): (\d+) symbols from (\d+) to (\d+)", str(picture[0].text))
        assert found
        sequence = vocabulary.sequence(int(found[1]))
        assert [int(n) for n in found.groups()[1:4]] == [sequence.size, sequence.min(), sequence.max()]
        assert (
            f"{found[1]} {vocabulary.occurrences[int(found[1])]} {found[2]} {' '.join(map(str, sequence[:9]))}"
            in text
        )
        points = np.array([pair.split(",") for pair in str(picture[1].get("d"))[1:].split()], float)
        assert np.argmin(points[:, 1]) == np.argmax(sequence) and len(points) == sequence.size
        assert points.min() >= 0 and points[:, 1].max() <= 24
        ranges.append(np.ptp(sequence))
        heights.append(np.ptp(points[:, 1]))
    assert 1 <= len(drawn) <= 10 and max(ranges) == 40
    np.testing.assert_allclose(heights, 16 * np.array(ranges) / 40, atol=0.1)


def test_pages_are_what_they_were() -> None:
    """Of all kinds of symbols and all that is known of tokens; where another look is meant, the hashes that the failure shows."""
    docs = [[0, 1, 2, 0, 1, 2, 0, 1], [0, 1, 2, 2]]
    shortest = UBPE(6, objective="shortest").fit([[0, 1, 2] * 4, [0, 1]], progress=False)
    words_of_text = {"pretokenizer": "gpt2", "special_tokens": ["<end>"]}
    toks: list[Any] = [
        BPE.for_text(300, **words_of_text).fit(["the lower the lowest the low"] * 3, progress=False),
        shortest, shortest.refine([[0, 1, 2] * 4], progress=False), BPE(6, alphabet=3).fit(docs, progress=False),
        UBPE(8, alphabet=3, objective="likelihood").fit(docs, progress=False), UBPEClassic(6, 3).fit(docs, progress=False),
        BPE.from_merges([[0, 1], [2, 1]], alphabet="ab"), BPE.from_merges([[0, 1], [2, 1]], alphabet=[5, 9]),
        BPE.from_merges([[0, 0]], alphabet=[5, 9]), BPE.from_merges([], alphabet="ab"), BPE.from_merges([[0, 1]], ["go", "on"]),
        BPE.from_merges([[0, 1], [2, 0]], alphabet=[-(2**63), 2**63 - 1]),
        BPE.from_merges([[0, 1], [2, 0]], alphabet=2, preprocessing=Preprocessing(break_tokens=[1])),
    ]  # fmt: skip
    pages = [*(tokenizer_html(tok) for tok in toks), *(vocabulary_html(tok.vocabulary) for tok in toks)]
    rows = [
        [np.arange(n) ** 2 for n in sizes]
        for sizes in ((), (0,), (3, 3), range(9), range(0, 200, 7), [1] * 9 + [24], [2, 26])
    ]
    assert " ".join(
        digest(page)[:4] for page in [*pages, *(Ragged.from_lists(docs)._repr_html_() for docs in rows)]
    ) == (
        "cf5f c577 4c4b 0867 d4bb d63d bfff a163 1836 198b 8cb0 e114 2405 d45e bf9f fa5e f285 3e60 f285 79d2 6131 f889 "
        "fa0f 5e1b f8e8 9f55 7e4d d7b0 5b17 5f2e 2958 0fe0 8526"
    )


@each("kind", ["str", "bytes", "utf-8"])
def test_hostile_strings_stay_text(kind: str) -> None:
    docs: list[Any] = [text * 4 for text in HOSTILE] * 2
    if kind == "bytes":
        docs = [text.encode("utf-8", "surrogatepass") + b"\xff\xfe" * 4 for text in docs]
    make = BPE.for_text(1000, pretokenizer=None) if kind == "utf-8" else BPE(1000)
    text = shown(make.fit(docs))  # `parsed` knows all elements and attributes that there are
    assert "<script>" in text and "\\x00" in text and "\u202e" not in text and "\u2028" not in text


def test_an_unfitted_tokenizer_shows_its_parameters(cls: type[Tokenizer]) -> None:
    text = shown(
        cls(512, alphabet=range(10**9), preprocessing=Preprocessing(pretokenizer="</td><script>" * 99)), 3000
    )
    assert text.startswith(f"{cls.__name__}, not fitted n_tokens 512")
    assert "alphabet range(0, 1000000000)" in text and "pretokenizer Pretokenizer('</td><script>" in text
    assert shown(cls()).startswith(f"{cls.__name__}, not fitted")


def test_ids_are_those_that_users_know() -> None:
    tok = BPE.from_merges([[0, 1], [2, 1]], alphabet="ab")
    model = tok._model
    tok._adopt(model._replace(segmenter=model.segmenter._replace(token_ids=np.array([0, 1, 7, 9], np.int32))))
    assert re.findall(r"(\d+) 0 3 abb", shown(tok)) == ["9"]


@each("alphabet", [256, [chr(0x10000 + i) for i in range(256)], bytes(range(256))])
def test_a_hundred_thousand_tokens_stay_below_the_limit(alphabet: Any) -> None:
    first, second = np.arange(99_744) % 256, np.arange(99_744) // 256
    tok = BPE.from_merges(
        np.column_stack([first, np.where(second < 256, second, second + 10_000)]), alphabet=alphabet
    )
    root = parsed(tokenizer_html(tok))
    assert "100,000 tokens" in words(root) and "tokens that say most" in words(root)
    text = words(parsed(vocabulary_html(tok.vocabulary), 30_000))
    assert "Vocabulary: 100,000 ids" in text and "longest tokens" in text


def test_long_tokens_are_cut() -> None:
    doubled = [[0, 1]] + [[i, i] for i in range(2, 18)]
    for alphabet in ("<&", b"<&", [0, 9]):
        root = parsed(tokenizer_html(BPE.from_merges(doubled, alphabet=alphabet)))
        assert "131,072" in words(root) and "…" in words(root)


@given(st.lists(st.lists(st.integers(-(2**31), 2**31 - 1), max_size=20), max_size=9))
def test_figures_of_a_ragged_are_those_of_its_documents(lists: list[list[int]]) -> None:
    total, flat = sum(map(len, lists)), [value for row in lists for value in row]
    text = words(parsed(Ragged.from_lists(lists)._repr_html_(), 6000))
    assert text.startswith(f"Ragged: {len(lists)} documents, {total} values")
    if lists:
        sizes = list(map(len, lists))
        assert f"lengths {min(sizes)} to {max(sizes)}, median {np.median(sizes):g}" in text
        assert ("empty documents" in text) == (0 in sizes)
        assert all(f"{i} {' '.join(map(str, row[:16]))}".strip() in text for i, row in enumerate(lists[:5]))
    if flat:
        assert f"values {min(flat)} to {max(flat)}" in text
    assert (f"and {len(lists) - 5} more" in text) == (len(lists) > 5)


def test_a_slice_of_a_ragged_shows_its_own_documents_only() -> None:
    whole = Ragged.from_lists([[999] * 40, [1, 2], [3]])
    text = words(parsed(whole[1:]._repr_html_()))
    assert "999" not in text and "lengths 1 to 2" in text and "values 1 to 3" in text
    large = parsed(
        Ragged.from_lengths(np.arange(-(10**6), 0, dtype=np.int32), [10] * 10**5)._repr_html_(), 6000
    )
    assert len(pictures(large)) == 1 and "100,000 documents, 1,000,000 values" in words(large)


@given(st.text(st.characters()))
@example("</svg><script>alert(1)</script>")
@example('" onload="x\ud800\x00\ufffe')
def test_any_text_stays_text(text: str) -> None:
    root = ElementTree.fromstring(f'<a b="{escaped(text)}">{escaped(text)}</a>')
    assert len(root) == 0 and set(root.attrib) == {"b"}
    allowed = re.sub("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)
    assert (root.text or "") == allowed.replace("\r\n", "\n").replace("\r", "\n")
