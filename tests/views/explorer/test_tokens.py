"""What ids stand for, beside `decode`: also where ids are others than those of the vocabulary, and of special tokens."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ubpe_numba import BPE, UBPE, Preprocessing, export
from ubpe_numba.views.explorer.counts import GAP, LEARNED, SPECIAL, SYMBOL, tokens_of

TEXT = "low lower lowest new newer newest wide wider widest " * 3


def _tokenizers() -> dict[str, Any]:
    plain = BPE.for_text(290, pretokenizer="gpt2").fit([TEXT], progress=False)
    special = BPE.for_text(290, special_tokens=["<é>", "<end>"]).fit([TEXT], progress=False)
    characters = BPE(40, preprocessing=Preprocessing(special_tokens=["<é>"])).fit([TEXT], progress=False)
    integers = UBPE(20, objective="shortest").fit([[1, 2, 3, 1, 2, 3, 1, 2], [3, 1, 2]] * 4, progress=False)
    likely = UBPE.for_text(280, pretokenizer="gpt2", objective="likelihood").fit([TEXT], progress=False)
    return {
        "text": plain,
        "special tokens": special,
        "characters": characters,
        "integers": integers,
        "probabilities": likely,
        "ids of their own": BPE.load(export(plain, "tiktoken"), pretokenizer="gpt2", special_tokens={"<end>": 300}),
    }


@pytest.mark.parametrize("name", list(_tokenizers()))
def test_every_id_stands_for_what_it_decodes_to(name: str) -> None:
    tok = _tokenizers()[name]
    n = tok.usage([]).counts.size
    found = tokens_of(tok, n)
    ends = np.cumsum(found.lengths)
    for t in range(n):
        symbols = found.symbols[ends[t] - found.lengths[t] : ends[t]]
        if found.kinds[t] == GAP:
            assert found.lengths[t] == 0
        elif tok._model.alphabet.kind == "bytes":
            assert symbols.astype(np.uint8).tobytes() == tok.decode([t], as_bytes=True)
        else:
            decoded = tok.decode([t])
            assert symbols.tolist() == (list(map(ord, decoded)) if isinstance(decoded, str) else decoded.tolist())
    assert set(np.flatnonzero(found.kinds == SPECIAL).tolist()) == set(tok.vocabulary.special.values())
    assert (found.kinds == SYMBOL).sum() == tok._model.vocabulary.n_alphabet
    assert (found.kinds == LEARNED).sum() == tok._model.vocabulary.n_learned


@pytest.mark.parametrize("name", ["text", "special tokens", "ids of their own"])
def test_a_token_is_its_parents_one_after_the_other(name: str) -> None:
    tok = _tokenizers()[name]
    found = tokens_of(tok, tok.usage([]).counts.size)
    assert found.parents is not None
    for t in np.flatnonzero(found.kinds == LEARNED).tolist():
        left, right = found.parents[t].tolist()
        assert tok.decode([left], as_bytes=True) + tok.decode([right], as_bytes=True) == tok.decode([t], as_bytes=True)
    assert (found.parents[found.kinds != LEARNED] == -1).all()


def test_a_flat_vocabulary_has_no_parents() -> None:
    docs = [[1, 2, 3, 1, 2, 3, 1, 2], [3, 1, 2]] * 4
    tok = UBPE(20, objective="shortest").fit(docs, progress=False).refine(docs, progress=False)
    assert tokens_of(tok, len(tok._model.vocabulary)).parents is None
