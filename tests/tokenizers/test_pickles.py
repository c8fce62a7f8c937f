"""Equal tokenizers pickle to equal bytes, used or not, copied or not: what caches of results by their hash rely on; and files."""

import contextlib
import copy
import itertools
import json
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from saved_models import KINDS
from tables import each
from text_samples import END, TEXT
from vocabulary.test_preprocessing import EACH, TEXTS

from ubpe_numba import BPE, UBPE, FitRules, Preprocessing, UBPEClassic, WordPiece, load
from ubpe_numba.text.pretokenizer import PythonPattern

pytestmark = pytest.mark.filterwarnings("ignore:every idf is 0:UserWarning")  # few documents, or all alike

DOCS = [*["low lower lowest newer newest"] * 3, "a b new"]
CUT = Preprocessing("BertPreTokenizer", {"[CLS]": 3}, normalizer="BertNormalizer")
PIECES: dict[str, int] = {"": 7, "un": 2**31 - 1, "?": 0, "é\U0001f600": 3, "\nable": 5}
INTEGERS, FAR = [[1, 2, 3, 1, 2], [5, 1, 2]], [[7, -(2**62), 2**40, -(2**62)], [7, 7]]
DNA = ["ACGTacgtNNnnACgt", "acgtACGTTTaacc", ""]
NOTES = [[("note", 60), "rest", 7, ("note", 60), "rest"], [b"x", 7, ("note", 60), "rest"]]
BARS = ["ab|cd-", "ab|ab-ab"]
LONE: dict[str, Any] = {"break_tokens": "|", "stop_tokens": ["-"]}
DENSE = KINDS["dense"]
SPECIAL = Preprocessing("cl100k", [END, b"\xff"], known_words=["<br>"], encoding="utf-8")


def fitted(cls: Any, docs: Any, *args: Any, **params: Any) -> Any:
    return cls(*args, **params).fit(docs, progress=False)


OWN = [[7, 3], [1, 2], [3, 5]]  # which rank and batch encode in different ways
#: What makes a tokenizer, and documents of it.
MADE: dict[str, tuple[Callable[[], Any], list[Any]]] = {
    "bytes": (lambda: BPE.for_text(280, pretokenizer="gpt2", special_tokens=["<pad>"]).fit(DOCS), DOCS),
    "characters": (
        lambda: fitted(BPE, DOCS, 40, preprocessing=Preprocessing(known_words=["low"], normalizer="NFC")),
        DOCS,
    ),
    "integers": (lambda: fitted(BPE, INTEGERS, 30), INTEGERS),
    "by idf": (lambda: fitted(UBPEClassic, DOCS, 40, rules=FitRules(order="idf", encode="batch")), DOCS),
    "likelihood": (lambda: fitted(UBPE, DOCS, 40, objective="likelihood"), DOCS),
    "weights": (
        lambda: fitted(UBPE, DOCS, 16, objective="shortest").set_params(objective=np.linspace(-1, 1, 16)),
        DOCS,
    ),
    "merges": (
        lambda: BPE.from_merges(
            [[0, 1]], alphabet="ab", preprocessing=Preprocessing(special_tokens=["x", "y"])
        ),
        ["ab"],
    ),
    "lone names": (lambda: fitted(BPE, NOTES, 9, preprocessing=Preprocessing(break_tokens=["rest"])), NOTES),
    # of several parts: was saved as null
    "names": (lambda: fitted(BPE, NOTES, 9, unknown=("note", 60)), [*NOTES, ["?"]]),
    "folded": (
        lambda: fitted(BPE, DNA, 8, alphabet=dict(zip("ACGTNacgtn", [*range(5)] * 2, strict=True))),
        DNA,
    ),
    "folded integers": (lambda: fitted(BPE, FAR, 8, alphabet={2**40: 0, -(2**62): 1, 7: 0}), FAR),
    "lone characters": (lambda: fitted(BPE, BARS, preprocessing=Preprocessing(**LONE)), BARS),
    "lone integers": (
        lambda: fitted(BPE, INTEGERS, 9, preprocessing=Preprocessing(break_tokens={3}, stop_tokens=[5])),
        INTEGERS,
    ),
    "pattern of re": (
        lambda: fitted(BPE, DOCS, 40, preprocessing=Preprocessing(PythonPattern(r"(\w+|\W)"))),
        DOCS,
    ),
    "pieces": (lambda: WordPiece(["[UNK]", "lo", "##w", "[CLS]"], preprocessing=CUT), DOCS),
    "words": (
        lambda: WordPiece(PIECES, unknown="?", prefix="", longest=9),
        [["unun", "ununununun", "é\U0001f600", "é"]],
    ),
    "frames": (lambda: BPE(30, alphabet=3).fit([[0, 1, 2, 0, 1, 1]] * 3, frame=2), [[0, 1, 2, 0, 1, 1]]),
    "a mirror": (
        lambda: fitted(BPE, ["ACGTTGCA"], 8, preprocessing=Preprocessing(mirror={"A": "T", "C": "G"})),
        ["ACGT", "GA"],
    ),
    "runs": (lambda: fitted(BPE, ["a bb", "bb"], 9, preprocessing=Preprocessing(runs=" ")), ["a  bb"]),
    "not fitted": (lambda: BPE(30), DOCS),
    **{
        f"{kind} symbols": (lambda cls=cls, docs=docs: fitted(cls, docs, None), docs)
        for (kind, docs), cls in zip(KINDS.items(), itertools.cycle([BPE, UBPEClassic, UBPE]))
    },
    "rules of the article": (
        lambda: fitted(UBPEClassic, DENSE, 8, rules=FitRules.ARTICLE.replace(trim="closed")),
        DENSE,
    ),
    "rules that were set": (
        lambda: UBPEClassic.from_merges(OWN, 6).set_params(rules=FitRules(encode="batch")),
        [[1, 2, 3, 5]],
    ),
    "a larger alphabet": (lambda: fitted(BPE, DENSE, alphabet=5), DENSE),
    "an order of symbols": (lambda: fitted(UBPE, DENSE, alphabet={0: 2, 1: 0, 2: 1}), DENSE),
    "unknown symbols": (lambda: fitted(UBPE, DENSE, unknown=1, n_candidates=2, objective="shortest"), DENSE),
    "numbers of NumPy": (
        lambda: fitted(UBPEClassic, DENSE, n_tokens=np.int64(8), n_candidates=np.int64(7)),
        DENSE,
    ),
    "truncated": (lambda: fitted(BPE, DENSE).truncate(np.int32(5)), DENSE),
    "sequences": (lambda: fitted(UBPE, DENSE).truncate(8, by="idf"), DENSE),
    "nothing learned": (lambda: fitted(BPE, ["ab"], 2), ["ab"]),
    "text": (
        lambda: fitted(UBPE, TEXT, 300, alphabet=bytes(range(256)), preprocessing=SPECIAL),
        [f"{END}<br>sat \x7f", *TEXT],
    ),
    "integers as words": (
        lambda: fitted(BPE, [[1, 2]], preprocessing=Preprocessing(special_tokens=[(1, -2), (3,)])),
        [[1, 2]],
    ),
    "characters as words": (
        lambda: fitted(BPE, ["ab"], preprocessing=Preprocessing(special_tokens=["é", "\ud800"])),
        ["ab"],
    ),
    "bytes as words": (
        lambda: fitted(BPE, [b"ab"], preprocessing=Preprocessing(special_tokens=["é", b"\x80"])),
        [b"ab"],
    ),
    **{
        f"cut by {name}": (
            lambda parts=parts: fitted(BPE, TEXTS, 40, preprocessing=Preprocessing(**parts)),
            TEXTS,
        )
        for name, parts in EACH.items()
        if parts
    },
}


@each("name", MADE)
def test_equal_tokenizers_pickle_to_equal_bytes(name: str) -> None:
    make, docs = MADE[name]
    tok, again, doc = make(), make(), docs[0]
    expected = pickle.dumps(tok)
    parts = [tok._model, *tok._model] if hasattr(tok, "_model") else [tok]
    before = [pickle.dumps(part, protocol) for part in parts for protocol in (2, 4, 5)]
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


#: The first version of a model file that has a field, and 3 for any other of text; the version of a file is
#: what it needs.
SINCE = {
    "occurrences": 2,
    "log_probabilities": 2,
    "history": 4,
    "folded_ids": 5,
    "frame": 6,
    "mirror": 6,
    "runs": 6,
}
FIRST = {"pretokenizer", "special_tokens", "encoding", "token_ids"}


@each("name", [name for name in MADE if name != "not fitted"])
def test_files_keep_everything(name: str, suffix: str, tmp_path: Any) -> None:
    make, docs = MADE[name]
    tok = make()
    tok.save(tmp_path / f"m{suffix}")
    again = load(tmp_path / f"m{suffix}", n_threads=2)
    again.save(tmp_path / f"n{suffix}")
    assert (tmp_path / f"n{suffix}").read_bytes() == (tmp_path / f"m{suffix}").read_bytes()
    if suffix == ".json" and not isinstance(tok, WordPiece):
        model = json.loads((tmp_path / "m.json").read_text())
        fields = {*model, *model["alphabet"], *model["vocabulary"], *(text := model.get("text") or {})}
        assert model["version"] == max(
            3 if text.keys() - FIRST else 1, *(SINCE.get(field, 1) for field in fields)
        )
    options = {"allowed_special": "all"} if name == "text" or name.startswith("cut by") else {}
    ids = tok.encode_batch(docs, **options)
    for other in (again, copy.copy(tok), pickle.loads(pickle.dumps(tok))):
        assert (
            other == tok
            and other.is_lossless == tok.is_lossless
            and other.encode_batch(docs, **options) == ids
        )
        assert [*map(list, other.decode_batch(ids))] == [*map(list, tok.decode_batch(ids))]
        assert other.preprocessing == tok.preprocessing and other.get_vocab() == tok.get_vocab()
    if isinstance(tok, WordPiece):
        assert repr(again.set_params(n_threads=None)) == repr(tok)
    else:
        if name != "weights":  # arrays are not equal or unequal
            assert again.get_params() == {
                **tok.get_params(),
                "alphabet": None,
                "n_threads": 2,
                "rules": tok.rules or FitRules(),
            }
        assert [pickle.dumps(part) for part in again._model] == [pickle.dumps(part) for part in tok._model]
