"""Kinds of ids, also of special tokens, and where ids are others than those of the vocabulary."""

from __future__ import annotations

from typing import Any

import numpy as np
from tables import each

from ubpe_numba import BPE, UBPE, Preprocessing, export
from ubpe_numba.views.explorer.counts import GAP, LEARNED, SPECIAL, SYMBOL, kinds_of

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


@each("name", list(_tokenizers()))
def test_kinds_of_ids(name: str) -> None:
    tok = _tokenizers()[name]
    v, model = tok.vocabulary, tok._model.vocabulary
    kinds = kinds_of(v)
    assert len(v) == kinds.size == tok.usage([]).counts.size
    assert set(np.flatnonzero(kinds == SPECIAL).tolist()) == set(v.special.values())
    assert [token is None for token in v] == (kinds == GAP).tolist()
    assert (kinds == SYMBOL).sum() == model.n_alphabet and (kinds == LEARNED).sum() == model.n_learned
