"""Tokens over several words: a fit that is continued with another pre-tokenizer, or none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fit_cases import CLASSES, make, merges
from hypothesis import given
from hypothesis import strategies as st
from reference.words import encode_segments, two_stages

from ubpe_numba import BPE, Preprocessing, count_documents, export
from ubpe_numba.fitting import fit as fitting
from ubpe_numba.tokenizers import base

WORDS = ["by", " by", " the", " way", " the way", "\n", "\n\n", "  ", " 12", "3456", "'s", "é", "<s>", ","]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=30).map("".join), max_size=6)
PATTERNS = [None, "gpt2", "cl100k", "starcoder"]
DOCS = ["by the way, by the by", "on the way", "by the way <s> on the way 1234"] * 3


def made(cls: Any, first: str | None, n_tokens: int, **params: Any) -> Any:
    parts = Preprocessing(first, {"<s>": 999}, encoding="utf-8")
    return make(cls, n_tokens, 1, alphabet=bytes(range(256)), preprocessing=parts, **params)


@given(
    TEXTS, TEXTS, st.sampled_from(PATTERNS), st.sampled_from(PATTERNS), st.integers(0, 9), st.integers(0, 12), st.data(),
    st.sampled_from([5, fitting._PART]), st.sampled_from(CLASSES),
)  # fmt: skip
def test_two_stages_equal_the_reference(
    docs: list[str], held_out: list[str], first: Any, second: Any, n: int, more: int, data: st.DataObject, part: int, cls: Any
) -> None:
    texts = [doc.encode() for doc in docs]
    weights = data.draw(st.none() | st.lists(st.sampled_from([0, 1, 3]), min_size=len(docs), max_size=len(docs)))
    cuts = [data.draw(st.lists(st.integers(0, len(text)), max_size=3)) for text in texts] if data.draw(st.booleans()) else None
    given = {"sample_weight": weights, "boundaries": cuts, "progress": False}
    tok = made(cls, first, 256 + n).fit(texts, **given)
    size = len(tok._model.vocabulary)
    one, two = two_stages(texts, (first, second), (256 + n, size + more), b"<s>", weights, cuts)
    old = merges(tok)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "_PART", part)
        tok.fit_more(texts, size + more, pretokenizer=second, **given)
    assert old == [tuple(merge) for merge in one]
    assert merges(tok) == old + [tuple(merge) for merge in two]
    assert tok.preprocessing == Preprocessing(second, {"<s>": 999}, encoding="utf-8")
    if cls is BPE:
        ranked = {merge[:2]: (i, 256 + i) for i, merge in enumerate((*one, *two))}
        for doc in held_out:
            plain = doc.replace("<s>", "")
            assert tok.encode(plain).tolist() == encode_segments(plain.encode(), second, ranked, list(range(256)))


@pytest.mark.parametrize("second", [None, "digits3", r"[^\n]+\n?"])
def test_exports_and_files_encode_the_same(second: Any, tmp_path: Path) -> None:
    source = Path(base.__file__).read_text()
    lines = source.splitlines(keepends=True)
    docs = ["".join(lines[i : i + 20]) for i in range(0, len(lines), 20)]
    tok = BPE.for_text(400, special_tokens={"<end>": 5000}).fit(docs[::2], progress=False)
    words = tok.encode_batch(docs[1::2]).total
    tok.fit_more(docs[::2], 700, pretokenizer=second, progress=False)
    held_out = tok.encode_batch(docs[1::2])
    assert held_out.total < words
    assert tok.encode_batch(docs[1::2]).to_lists() == [tok.encode(doc).tolist() for doc in docs[1::2]]
    assert tok.decode_batch(held_out) == docs[1::2]
    occurrences = np.bincount(tok.encode_batch(docs[::2]).values, minlength=700)
    fitted = tok._model.vocabulary.occurrences
    assert fitted is not None and np.array_equal(occurrences, fitted)  # the text of the fit, token for token
    tok.save(tmp_path / "m.json")
    back = BPE.load(tmp_path / "m.json")
    assert back == tok and back.preprocessing == tok.preprocessing
    tokenizers = pytest.importorskip("tokenizers")
    other = tokenizers.Tokenizer.from_str(export(tok, "tokenizer.json"))
    assert [other.encode(doc).ids for doc in docs[1::2]] == held_out.to_lists()
    pytest.importorskip("tiktoken")
    assert [export(tok, "tiktoken.Encoding").encode(doc) for doc in docs[1::2]] == held_out.to_lists()


def test_weights_of_documents_are_copies() -> None:
    found = []
    for docs, weights in (
        (DOCS[:3] * 2 + DOCS[:1], None),
        (DOCS[:3], [3, 2, 2]),
        (count_documents(DOCS[:3] * 2 + DOCS[:1]), None),
    ):
        tok = BPE.for_text(262, pretokenizer="gpt2").fit(DOCS, progress=False)
        found.append(merges(tok.fit_more(docs, 280, pretokenizer=None, sample_weight=weights, progress=False)))
    assert found[0] == found[1] == found[2]


def test_what_is_refused_changes_nothing() -> None:
    tok = BPE.for_text(262, pretokenizer="gpt2").fit(DOCS, progress=False)
    before = tok.fingerprint, repr(tok)
    segments = count_documents(DOCS)
    segments.are_segments = True
    for error, match, docs, pretokenizer in (
        (ValueError, "docs: with another pretokenizer tokens cross the segments", segments, None),
        (ValueError, "pretokenizer: the new one changes text", DOCS, [{"type": "Metaspace"}]),
        (ValueError, "pretokenizer: there is no 'gtp2'", DOCS, "gtp2"),
        (TypeError, "docs", [[1, 2]], None),
    ):
        with pytest.raises(error, match=match):
            tok.fit_more(docs, 270, pretokenizer=pretokenizer, progress=False)
        assert (tok.fingerprint, repr(tok)) == before
    with pytest.raises(ValueError, match="pretokenizer: it cuts text"):
        BPE(4).fit([[0, 1, 0, 1]], progress=False).fit_more([[0, 1]], 5, pretokenizer="gpt2")
    changing = BPE(30, preprocessing=Preprocessing([{"type": "Metaspace"}])).fit(DOCS, progress=False)
    with pytest.raises(ValueError, match="pretokenizer: the present one changes text"):
        changing.fit_more(DOCS, 40, pretokenizer=None)
