"""Equal tokenizers pickle to equal bytes, used or not, copied or not: what caches of results by their hash rely on."""

from __future__ import annotations

import contextlib
import copy
import pickle
from collections.abc import Callable
from typing import Any

from tables import each

from ubpe_numba import BPE, UBPE, FitRules, Preprocessing, UBPEClassic, WordPiece

DOCS = [*["low lower lowest newer newest"] * 3, "a b new"]
CUT = Preprocessing("BertPreTokenizer", {"[CLS]": 3}, normalizer="BertNormalizer")
MADE: dict[str, Callable[[], Any]] = {
    "bytes": lambda: BPE.for_text(280, pretokenizer="gpt2", special_tokens=["<pad>"]).fit(DOCS),
    "characters": lambda: BPE(40, preprocessing=Preprocessing(known_words=["low"], normalizer="NFC")).fit(DOCS),
    "integers": lambda: BPE(30).fit([[1, 2, 3, 1, 2], [5, 1, 2]]),
    "by idf": lambda: UBPEClassic(40, rules=FitRules(order="idf", encode="batch")).fit(DOCS),
    "likelihood": lambda: UBPE(40, objective="likelihood").fit(DOCS),
    "merges": lambda: BPE.from_merges([[0, 1]], alphabet="ab", preprocessing=Preprocessing(special_tokens=["x", "y"])),
    "words": lambda: WordPiece(["[UNK]", "lo", "##w", "[CLS]"], preprocessing=CUT),
    "not fitted": lambda: BPE(30),
}


@each("name", MADE)
def test_equal_tokenizers_pickle_to_equal_bytes(name: str, tmp_path: Any) -> None:
    tok, again = MADE[name](), MADE[name]()
    expected = pickle.dumps(tok)
    parts = [tok._model, *tok._model] if name not in ("words", "not fitted") else [tok]
    before = [pickle.dumps(part, protocol) for part in parts for protocol in (2, 4, 5)]
    doc: Any = [1, 2, 3, 1] if name == "integers" else DOCS[0]
    calls: tuple[Callable[[], object], ...] = (
        lambda: tok.encode(doc), lambda: tok.encode_batch([doc] * 2, allowed_special="all"), lambda: tok.decode([0]),
        tok.get_vocab, lambda: tok.fingerprint, lambda: tok.spans([doc]), lambda: tok.usage([doc]), lambda: repr(tok),
        lambda: tok.with_objective("shortest").encode(doc), tok._repr_html_, lambda: tok([doc, doc], padding=True, pad_id=0),
    )  # fmt: skip
    for call in calls:
        with contextlib.suppress(Exception):  # not all can everything
            call()
    for other in (again, tok, copy.deepcopy(tok), pickle.loads(expected), pickle.loads(pickle.dumps(tok))):
        assert pickle.dumps(other) == expected
    assert [pickle.dumps(part, protocol) for part in parts for protocol in (2, 4, 5)] == before
    if len(parts) > 1:
        tok.save(tmp_path / "m.json")
        loaded = type(tok).load(tmp_path / "m.json")._model
        assert [pickle.dumps(part, protocol) for part in (loaded, *loaded) for protocol in (2, 4, 5)] == before
