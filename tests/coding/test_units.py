"""Positions in characters or bytes, against Python's own counting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer as Peer

from ubpe_numba import BPE, export

DOCS = ["low né lower", "né 𝄞 né", "日本 日本語"]
BYTES = BPE.for_text(270, pretokenizer=None).fit(DOCS, progress=False)
POINTS = BPE(40, alphabet=sorted(set("".join(DOCS)) | set("ab€"))).fit(DOCS, progress=False)
TEXT = st.text(st.sampled_from("low néer𝄞日本語ab€"), max_size=10)


@given(st.lists(TEXT, max_size=4))
def test_characters_of_bytes_and_bytes_of_characters(docs: list[str]) -> None:
    ids, in_bytes = BYTES.encode_batch(docs, return_offsets="spans")
    _, spans = BYTES.encode_batch(docs, return_offsets="spans", units="characters")
    _, same = BYTES.encode_batch(docs, return_offsets="spans", units="bytes")
    _, starts = BYTES.encode_batch(docs, return_offsets=True, units="characters")
    assert same.tolist() == in_bytes.tolist() and starts.values.tolist() == spans[:, 0].tolist()
    at = 0
    for doc, found in zip(docs, ids, strict=True):
        owner = [i for i, c in enumerate(doc) for _ in c.encode()]  # the character of each byte
        rows = slice(at, at + len(found))
        at += len(found)
        assert spans[rows].tolist() == [[owner[a], owner[b - 1] + 1] for a, b in in_bytes[rows].tolist()]
        assert BYTES.encode(doc, return_offsets="spans", units="characters")[1].tolist() == spans[rows].tolist()
    ids, spans = POINTS.encode_batch(docs, return_offsets="spans")
    _, in_bytes = POINTS.encode_batch(docs, return_offsets="spans", units="bytes")
    owners = [i for i, found in enumerate(ids) for _ in found]
    assert in_bytes.tolist() == [
        [len(docs[i][:a].encode()), len(docs[i][:b].encode())] for i, (a, b) in zip(owners, spans.tolist(), strict=True)
    ]


def test_the_first_and_the_last_character_of_each_width() -> None:
    text = "".join(map(chr, (0x7F, 0x80, 0x7FF, 0x800, 0xFFFF, 0x10000, 0x10FFFF)))
    points = BPE.from_merges([], alphabet=sorted(set(text)))
    spans = [[len(text[:i].encode()), len(text[: i + 1].encode())] for i in range(len(text))]
    assert points.encode(text, return_offsets="spans", units="bytes")[1].tolist() == spans


def test_slices_of_a_flat_text() -> None:
    ids, spans = BYTES.encode_batch("néné", [0, 2, 4], return_offsets="spans", units="characters")
    assert len(ids) == 2 and spans[:, 1].max() == 2
    assert spans.tolist() == 2 * BYTES.encode("né", return_offsets="spans", units="characters")[1].tolist()


@pytest.mark.parametrize(
    "tok, units, message",
    [
        (BYTES, "words", "units: expected 'characters' or 'bytes', got 'words'"),
        (BPE.from_merges([[0, 1]], alphabet=2), "bytes", "units: documents are integers"),
        (BPE.from_merges([[0, 1]], alphabet=b"ab"), "characters", "units: documents are bytes"),
    ],
)
def test_units_are_of_text(tok: Any, units: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tok.encode([], units=units)


def test_other_offsets_are_refused() -> None:
    with pytest.raises(ValueError, match="return_offsets: expected False, True or 'spans', got 'pairs'"):
        POINTS.encode("low", return_offsets="pairs")
    with pytest.raises(TypeError, match="unexpected argument 'units'"):
        POINTS.spans(["low"], units="bytes")


@pytest.mark.parametrize("normalizer", [None, "Lowercase", "StripAccents"])
def test_spans_are_those_of_tokenizers(normalizer: str | None) -> None:
    """Of a byte-level model: tokens that hold parts of characters, and text that is changed."""
    docs = ["Low né LOWER ½ İstanbul né né", "e\u0301 né ÀÉ"] * 3
    tok = BPE.for_text(300, pretokenizer="gpt2", normalizer=normalizer).fit(docs, progress=False)
    peer = Peer.from_str(export(tok, "tokenizer.json"))
    rng = np.random.default_rng(0)
    for _ in range(200):
        text = "".join(rng.choice(list("Low néLOWER½İ\u0301À日𝄞e "), rng.integers(0, 12)))
        found = peer.encode(text, add_special_tokens=False)
        ids, spans = tok.encode(text, return_offsets="spans", units="characters")
        assert ids.tolist() == found.ids and spans.tolist() == [list(pair) for pair in found.offsets], text
