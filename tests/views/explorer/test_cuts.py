"""Segmentations of a report: counts of everything, and the places of what is drawn, beside `spans` and plain counting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ubpe_numba import BPE, UBPE, Preprocessing
from ubpe_numba.documents.read import read_documents
from ubpe_numba.views.explorer.counts import Cut, choose, cut_of

OPTIONS = {"unknown": "raise", "allowed_special": "all", "disallowed_special": "none"}
TEXT = ["low lower<end> lowest", "", "Newer  newest, 低い\ud800", "wide wider widest <end>"]


def _places(cut: Cut, lengths: np.ndarray) -> list[list[tuple[int, int, int]]]:
    """Of each drawn document its tokens: id, start, length. As the page reads them."""
    found, k = [], 0
    for n in cut.per_document.tolist():
        doc, at = [], 0
        for i in range(k, k + n):
            at += 0 if cut.gaps is None else int(cut.gaps[i])
            width = int(lengths[cut.ids[i]]) if cut.widths is None else int(cut.widths[i])
            doc.append((int(cut.ids[i]), at, width))
            at += width
        found.append(doc)
        k += n
    return found


def _cases() -> dict[str, tuple[Any, Any, dict[str, Any]]]:
    rng = np.random.default_rng(0)
    ints = [rng.integers(0, 3, n) for n in (40, 0, 17, 90)]
    return {
        "integers": (UBPE(30, objective="shortest").fit(ints, progress=False), ints, {}),
        "special tokens": (BPE.for_text(280, special_tokens=["<end>"]).fit(["low lower"] * 3, progress=False), TEXT, {}),
        "a normalizer": (
            BPE(60, alphabet="abcdefghijklmnopqrstuvwxyz <>,", preprocessing=Preprocessing(normalizer="Lowercase")).fit(
                ["low lower"], progress=False
            ),
            ["LOW lower", "", "Newer"],
            {},
        ),
        "unknown symbols": (BPE(20).fit(["abcabc" * 3], progress=False), ["aΩbcabcΩ", "Ω", "abc"], {"unknown": "skip"}),
    }


@pytest.mark.parametrize("name", list(_cases()))
def test_places_and_counts_are_those_of_the_library(name: str) -> None:
    tok, docs, more = _cases()[name]
    options = OPTIONS | more
    documents = read_documents(docs, None, tok._model.segmenter.encoding)
    cut = cut_of("own", tok, documents, np.arange(len(docs)), None, options)
    spans = tok.spans(docs, **options)
    expected: list[list[tuple[int, int, int]]] = [[] for _ in docs]
    for token, start, length, d in zip(*(part.tolist() for part in spans), strict=True):
        expected[d].append((token, start, length))
    size = cut.counts.size
    lengths = np.zeros(size, np.int64)
    lengths[: len(tok._model.vocabulary)] = np.diff(tok._model.vocabulary.offsets)
    assert _places(cut, lengths) == expected
    assert cut.counts.tolist() == np.bincount(spans.ids, minlength=size).tolist() and cut.n_tokens == spans.ids.size
    held = [len({d for d, doc in enumerate(expected) if any(token == t for token, _, _ in doc)}) for t in range(size)]
    assert cut.document_frequencies.tolist() == held


@pytest.mark.parametrize("most", [3, 25, 60])
def test_of_some_documents_the_tokens_are_those_of_the_whole(most: int) -> None:
    tok, docs, _ = _cases()["integers"]
    documents = read_documents(docs, None, None)
    drawn, limit = choose(np.diff(documents.offsets), most)
    cut = cut_of("own", tok, documents, drawn, limit, OPTIONS)
    whole = cut_of("own", tok, documents, np.arange(len(docs)), None, OPTIONS)
    lengths = np.diff(tok._model.vocabulary.offsets)
    all_places = _places(whole, lengths)
    expected = [all_places[i] for i in drawn.tolist()]
    if limit is not None:
        expected = [[place for place in expected[0] if place[1] + place[2] <= limit]]
    assert _places(cut, lengths) == expected and cut.counts.tolist() == whole.counts.tolist()


def test_the_beginning_of_a_document_with_special_tokens() -> None:
    tok, _, _ = _cases()["special tokens"]
    doc = "low lower<end>" * 9
    cut = cut_of("own", tok, read_documents([doc], None, "utf-8"), np.array([0]), 20, OPTIONS)
    spans = tok.spans([doc], **OPTIONS)
    assert cut.ids.tolist() == spans.ids[spans.starts + spans.lengths <= 20].tolist() and cut.n_tokens == spans.ids.size
