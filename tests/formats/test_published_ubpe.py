"""Dumps of the published package: what is written is read again, and damaged or hostile dumps are refused."""

import json
import pathlib
import pickle
from typing import Any

import numpy as np
import pytest
from foreign import spoil
from saved_models import KINDS, encoded, fitted
from tables import refuses

from ubpe_numba import BPE, UBPE, Preprocessing, UBPEClassic, export
from ubpe_numba.errors import ModelFormatError
from ubpe_numba.formats.published_ubpe import read

CLASSES = [BPE, UBPEClassic, UBPE]
HUGE = 10**400


@pytest.mark.parametrize("kind", KINDS)
def test_published_round_trip(kind: str) -> None:
    for cls in CLASSES:
        for n_tokens in (None, 262):
            tok = fitted(cls, kind, n_tokens=n_tokens)
            text = export(tok, "ubpe")
            again = cls.load(text, kind="str" if kind in ("text", "surrogates", "digits") else "int")
            assert encoded(again, kind) == encoded(tok, kind)
            np.testing.assert_array_equal(again._model.vocabulary.weights, tok._model.vocabulary.weights)
            assert json.loads(export(again, "ubpe")) == json.loads(text)
            assert kind == "digits" or cls.load(text).fingerprint == again.fingerprint


DUMPS = [
    ("alphabet", ..., "alphabet: expected a JSON object"), ("mapper", [[0, 1]], "mapper: expected a JSON object"),
    ("weights", ..., "weights: expected a JSON"), ("n_tokens", ..., "n_tokens: expected a positive integer, got None"),
    ("n_tokens", 0, "n_tokens: expected a positive"), ("n_tokens", True, "n_tokens"), ("n_tokens", HUGE, "n_tokens"),
    ("known_words", ["a"], "known_words: expected a JSON object"),
    ("known_words", {"a": [1]}, r"known_words: expected the ids 3\.\.3, got 'a'"),
    ("known_words", {"3" * 5000: [1]}, r"known_words: expected the ids 3\.\.3"), ("known_words", {"3": []}, "is empty"),
    ("known_words", {"3": "ab"}, r"known_words\[3\]: expected integers"), ("known_words", {"3": [True]}, "expected integers"),
    ("known_words", {"3": [1], "4": [1]}, r"known_words\[4\]: \(1,\) is empty or there twice"),
    ("known_words", {"3": [1]}, "mapper: expected the id 4 in place 0, got '3'"),
    ("break_tokens", ["a"], "break_tokens: expected a list of symbols"), ("break_tokens", {"1": 1}, "break_tokens: expected a"),
    ("stop_tokens", [True], "stop_tokens: expected a list"), ("regex_str", ["a"], "regex_str: expected a str"),
    ("alphabet", {}, "alphabet: expected 1"), ("alphabet", {"0": 0, "1": 1, "2": 1}, "have the same id 1"),
    ("alphabet", {"0": 0, "1": 1, "2": 3}, "symbol 2 has id 3"),
    ("alphabet", {"0": 0, "1": 1, "2": 2.0}, "expected an integer, got 2.0"),
    ("alphabet", {"0": 0, "1": 1, "2": HUGE}, "fits int64"), ("alphabet", {"0": 0, "1": 1, "ab": 3}, "alphabet"),
    ("alphabet", {"0": 0, "1": 1, "9" * 5000: 2}, "."), ("alphabet", {"0": 0, "1": 1}, "mapper"),
    ("alphabet", {"0": 0, "1": 1, "2": 2, "00": 0}, "alphabet"),  # one symbol
    ("mapper.4", ..., "mapper: expected the id 4 in place 1, got '5'"),
    ("mapper.4", "01", r"mapper\[4\]: expected a list of ids"), ("mapper.4", [0, True], r"mapper\[4\]: expected a list"),
    ("mapper.4", [0, -1], r"mapper\[4\]: expected a list of ids"), ("mapper.4", [0, 2**31], r"mapper\[4\]"),
    ("mapper.4", [0], r"expected a pair|lengths|at least 2"), ("mapper.4", [0, 99], "expected ids in|alphabet ids"),
    ("weights.4", ..., "weights: expected the id 4 in place 1, got '5'"), ("weights.8", 0.5, "weights: expected 5 numbers"),
    ("weights.4", True, "weights: expected 5 numbers"), ("weights.4", -1, r"weights\[1\]: expected a number"),
    ("weights.4", 1e9, r"weights\[1\]: expected a number"), ("weights.4", HUGE, "weights"),
]  # fmt: skip


def published(cls: Any) -> dict[str, Any]:
    dump: dict[str, Any] = json.loads(export(fitted(cls, n_tokens=8), "ubpe"))
    assert cls.load(json.dumps(dump))._model.vocabulary.n_learned == 5
    return dump


@pytest.mark.parametrize("place, value, match", DUMPS, ids=lambda x: str(x)[:24])
def test_hostile_dumps(place: str, value: Any, match: str) -> None:
    for cls in (UBPEClassic, UBPE):
        dump = published(cls)
        spoil(dump, place, value)
        refuses(ModelFormatError, match, read, dump, 9999, None, cls is UBPEClassic)


def test_empty_extras_of_a_dump_are_fine(cls: Any) -> None:
    dump = published(cls)
    want = cls.load(json.dumps(dump)).fingerprint
    for field in ("known_words", "break_tokens", "stop_tokens", "regex_str"):
        for empty in (None, {}, [], ""):
            assert cls.load(json.dumps(dump | {field: empty})).fingerprint == want
    refuses(ValueError, "kind: expected", lambda: cls.load(json.dumps(dump), kind="float"))


def test_dumps_of_the_other_form(cls: Any) -> None:
    for other in CLASSES:
        text = json.dumps(published(other))
        if (cls is UBPE) == (other is UBPE):
            assert cls.load(text)._model.vocabulary == other.load(text)._model.vocabulary
        else:
            match = "ids, got 3; is it a classic" if cls is UBPE else "a pair, got 3 ids; is it universal"
            refuses(ModelFormatError, match, cls.load, text)


def test_cycles_in_a_dump() -> None:
    for pairs, match in (
        ({"3": [5, 0], "4": [3, 1], "5": [1, 4]}, "is built on itself"), ({"4": [0, 1]}, "is there twice"),
        ({"7": [7, 7]}, "the token 7 is built on itself"),
    ):  # fmt: skip
        dump = published(BPE)
        dump["mapper"] |= pairs
        refuses(ModelFormatError, match, BPE.load, json.dumps(dump))
    refuses(ModelFormatError, "alphabet: expected a JSON object", read, {}, 2, None, True)


# what ubpe-native 0.3.0 wrote, and the ids that it gives after reading that again
REAL = json.loads((pathlib.Path(__file__).parent / "dumps_of_ubpe_0_3.json").read_text())


@pytest.mark.parametrize("case", REAL, ids=range(len(REAL)))
def test_dumps_that_split_documents(case: dict[str, Any], tmp_path: pathlib.Path) -> None:
    """The same ids, also from a model file, a pickle and another dump; every document comes back."""
    cls: Any = UBPEClassic if case["classic"] else UBPE
    tok = cls.load(case["dump"], kind=case["kind"])
    tok.save(tmp_path / "model.npz")
    others = [
        cls.load(tmp_path / "model.npz"),
        pickle.loads(pickle.dumps(tok)),
        cls.load(export(tok, "ubpe"), kind=case["kind"]),
    ]
    for doc, ids in zip(case["documents"], case["ids"], strict=True):
        assert tok.encode(doc).tolist() == ids
        back = tok.decode(ids)
        assert (back if isinstance(doc, str) else back.tolist()) == doc
        assert all(other.encode(doc).tolist() == ids for other in others)
    assert tok.encode_batch(case["documents"]).to_lists() == case["ids"]
    assert {other.fingerprint for other in others} == {tok.fingerprint}
    written, given = json.loads(export(tok, "ubpe")), json.loads(case["dump"])
    assert (
        written.items()
        >= {name: given[name] for name in ("n_tokens", "alphabet", "mapper", "weights")}.items()
    )
    assert written.get("known_words") == given.get("known_words")


def test_text_that_the_pattern_of_a_dump_would_lose() -> None:
    dump = json.loads(REAL[1]["dump"]) | {"regex_str": r"\w+", "break_tokens": None}
    tok = UBPEClassic.load(json.dumps(dump))
    assert tok.decode(tok.encode("thecat")) == "thecat"
    refuses(
        ValueError, r"matches nothing at ' ' in 'the cat'; ubpe would leave that out", tok.encode, "the cat"
    )
    for regex, match in (
        ("(", "regex_str: '\\(' is not a regular expression"),
        (r"(\w)(\s)", "regex_str: .* has groups"),
    ):
        refuses(ModelFormatError, match, UBPEClassic.load, json.dumps(dump | {"regex_str": regex}))


def test_lone_symbols_and_known_words_of_a_dump() -> None:
    dump = export(
        BPE.from_merges(
            [[0, 1]], alphabet="ab", preprocessing=Preprocessing(break_tokens="b", stop_tokens="a")
        ),
        "ubpe",
    )
    assert json.loads(dump)["break_tokens"] == ["b"] and json.loads(dump)["stop_tokens"] == ["a"]
    words = json.loads(REAL[0]["dump"])
    for part in (20, 21, 23, 24):  # the last symbol, the first and the last known word, the first token
        text = json.dumps(words | {"mapper": words["mapper"] | {"41": [3, part]}})
        if part in (21, 23):
            refuses(
                ModelFormatError,
                r"mapper\[41\]: a known word cannot be part of a token",
                UBPEClassic.load,
                text,
            )
        else:
            assert "41" in json.loads(export(UBPEClassic.load(text), "ubpe"))["mapper"]
