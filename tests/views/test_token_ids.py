"""Ids of tokenizers from elsewhere and the tokens of their vocabulary: counts are those of plain loops, trees those of the id."""

from __future__ import annotations

import collections
import json
from typing import Any

import numpy as np
import pytest

from ubpe_numba import BPE, export
from ubpe_numba.views.token_ids import counts_of_tokens, ids_of_tokens, token_of

DOCS = ["abab cab\n", "\xe9abc"]


def renumbered(tok: BPE) -> str:
    """A tokenizer.json of the same tokens with ids in the opposite order, from 5 on."""
    file = json.loads(export(tok, "tokenizer.json"))
    vocab = file["model"]["vocab"]
    file["model"]["vocab"] = {name: len(vocab) + 4 - i for name, i in vocab.items()}
    return json.dumps(file)


def with_bytes() -> str:
    """A tokenizer.json whose characters without an id become bytes; a is a character and a byte."""
    names = ["<unk>", *(f"<0x{value:02X}>" for value in range(256)), "a", "b", "ab"]
    model = {
        "type": "BPE", "unk_token": "<unk>", "byte_fallback": True, "fuse_unk": True, "merges": ["a b"],
        "vocab": {name: i for i, name in enumerate(names)},
    }  # fmt: skip
    return json.dumps({"added_tokens": [], "decoder": {"type": "ByteFallback"}, "model": model})


@pytest.fixture(scope="module")
def plain() -> BPE:
    return BPE.for_text(262).fit(DOCS, progress=False)


def test_counts_of_tokens_with_ids_of_their_own(plain: BPE) -> None:
    other = BPE.load(renumbered(plain))
    counts = counts_of_tokens(other, other.usage(DOCS).counts)
    found = collections.Counter(other.decode([i], as_bytes=True) for i in other.encode_batch(DOCS).values.tolist())
    tokens = [
        bytes(other._model.alphabet.to_symbols(other._model.vocabulary.sequence(t)).tolist())
        for t in range(len(other._model.vocabulary))
    ]
    assert counts.tolist() == [found[token] for token in tokens]
    assert counts.sum() == other.encode_batch(DOCS).total


def test_counts_where_characters_become_bytes() -> None:
    tok = BPE.load(with_bytes())
    ids = tok.encode_batch(DOCS)
    counts = counts_of_tokens(tok, tok.usage(ids=ids).counts)
    found = collections.Counter(tok.decode([i], as_bytes=True) for i in ids.values.tolist())
    tokens = [
        bytes(tok._model.alphabet.to_symbols(tok._model.vocabulary.sequence(t)).tolist())
        for t in range(len(tok._model.vocabulary))
    ]
    assert counts.sum() == ids.total
    assert {token: n for token, n in zip(tokens, counts.tolist(), strict=True) if n} == dict(found)


def test_tokens_of_ids(plain: BPE) -> None:
    other = BPE.load(renumbered(plain))
    ids = ids_of_tokens(other)
    assert sorted(ids.tolist()) == list(range(5, 5 + len(ids)))
    assert [token_of(other, i) for i in ids.tolist()] == list(range(len(ids)))
    assert token_of(plain, 7) == 7 and np.array_equal(ids_of_tokens(plain), np.arange(len(plain._model.vocabulary)))
    bad: Any
    for bad in (4, -1, 5 + len(ids)):
        with pytest.raises(IndexError, match=f"token {bad}: the vocabulary has no token of this id"):
            token_of(other, bad)
