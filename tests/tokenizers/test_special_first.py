"""Special tokens with the ids before all others: as trainers of Hugging Face number them, in every way to and from a model."""

from typing import Any

import numpy as np
import pytest
from tables import each

from ubpe_numba import BPE, UBPE, Preprocessing, UBPEClassic

NAMES = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"]
DNA = ["ACGTTGCAACGGTTACG" * 3, "GGTACCATGACCATGATTACG" * 2, "TTGACACGT" * 4]
TEXT = "ACGT[SEP]AC[MASK]TTGACA"
CLASSES = [BPE, UBPE, UBPEClassic]


def ids_of(tok: Any, text: Any = TEXT) -> list[int]:
    return tok.encode(text, allowed_special="all").tolist()


@each("known", [None, ["ACGT"], {"ACGT": 90}])
@each("by", ["creation", "idf"])
@pytest.mark.parametrize("cls", CLASSES)
def test_special_tokens_stay_first_when_truncated(cls: Any, by: str, known: Any) -> None:
    """By creation what a shorter fit gives; known words of a list stay right behind."""
    tok = cls(20, preprocessing=Preprocessing(special_tokens=NAMES, known_words=known, special_first=True))
    if cls is not BPE:
        tok.set_params(n_candidates=1)
    short = tok.fit(DNA, progress=False).truncate(12, by)
    words = Preprocessing(special_tokens=NAMES, known_words=known)
    plain = cls(**{**tok.get_params(), "preprocessing": words}).fit(DNA, progress=False)
    assert short._model.vocabulary == plain.truncate(12, by)._model.vocabulary
    behind = (
        {} if known is None else {"ACGT": len(short._model.vocabulary) + 5 if isinstance(known, list) else 90}
    )
    assert short.vocabulary.special == {name: i for i, name in enumerate(NAMES)} | behind
    assert short.decode(ids_of(short)) == TEXT
    if by == "creation":
        again = cls(**{**tok.get_params(), "n_tokens": 12}).fit(DNA, progress=False)
        assert ids_of(again) == ids_of(short) and again.fingerprint == short.fingerprint


def test_what_cannot_be_meant() -> None:
    with pytest.raises(ValueError, match="special_first: special_tokens is a mapping"):
        BPE(20, preprocessing=Preprocessing(special_tokens={"[UNK]": 50}, special_first=True)).fit(DNA)
    # there are none
    plain = BPE(20, preprocessing=Preprocessing(special_first=True)).fit(DNA, progress=False)
    assert plain.fingerprint == BPE(20).fit(DNA, progress=False).fingerprint
    assert np.array_equal(plain.encode("ACGT"), BPE(20).fit(DNA, progress=False).encode("ACGT"))
