"""Pickles depend on values only: not on calls that were made, nor on how an object came to be."""

from __future__ import annotations

import copy
import pickle
from typing import Any

from tables import each

from ubpe_numba import BPE, UBPE, FitRules, Preprocessing, UBPEClassic

TEXT = ["low lower lowest newer newest"] * 3
MADE: list[tuple[Any, Any]] = [
    (BPE.for_text(280, pretokenizer="gpt2", special_tokens=["<|pad|>", "pad"], rules=FitRules(min_count=1)).fit(TEXT), "low"),
    (
        UBPE(40, preprocessing=Preprocessing(special_tokens=[[9, 9]], break_tokens=[3])).fit(
            [[5, 2, 3, 5, 2, 10**6, 3, 4] * 5, [9, 9, 1]]
        ),
        [5, 2, 3],
    ),
    (UBPEClassic(40, preprocessing=Preprocessing(normalizer="NFKC"), alphabet="lowerst n").fit(TEXT), "low"),
]


@each("tok, doc", MADE)
@each("protocol", [2, 4, 5])
def test_equal_objects_have_equal_pickles(tok: Any, doc: Any, protocol: int, tmp_path: Any) -> None:
    def dumped(t: Any) -> list[bytes]:
        return [pickle.dumps(part, protocol) for part in (t, t._model, *t._model)]

    before = dumped(tok)
    tok.encode_batch([doc])
    assert dumped(tok) == before
    for again in (pickle.loads(before[0]), pickle.loads(pickle.dumps(tok)), copy.copy(tok), copy.deepcopy(tok)):
        assert dumped(again) == before
    tok.save(tmp_path / "m.json")
    assert dumped(type(tok).load(tmp_path / "m.json"))[1:] == before[1:]
