"""`Preprocessing` as a value: checked when it is made, equal, shown, pickled, and kept in model files."""

import copy
import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest
from tables import each, refuses

from ubpe_numba import BPE, Preprocessing, WordPiece
from ubpe_numba.text import Normalizer, Pretokenizer, Splitter

TEXTS = ["the Tide, the tide<e>ab|ab", "the\ttide THE ab|ab<e>é"]
pytestmark = pytest.mark.filterwarnings("ignore:every idf is 0:UserWarning")  # few documents, or all alike
EACH: dict[str, dict[str, Any]] = {
    "nothing": {}, "pattern": {"pretokenizer": "gpt2"}, "own pattern": {"pretokenizer": r"\w+|\W"},
    "steps": {"pretokenizer": ["Whitespace", {"type": "Digits"}]}, "special tokens": {"special_tokens": ["<e>", "<f>"]},
    "with ids": {"special_tokens": {"<e>": 100, "<f>": 90}},
    "first": {"special_tokens": ["<e>"], "special_first": True, "known_words": ["ab"]},
    "first and far": {"special_tokens": ["<e>"], "special_first": True, "known_words": {"ab": 90}},
    "known words": {"known_words": ["ab", "<f>"]}, "normalizer": {"normalizer": ["NFC", "Lowercase"]},
    "break tokens": {"break_tokens": ["|"]}, "stop tokens": {"stop_tokens": ["|"], "pretokenizer": "whitespace"},
    "flags": {"special_tokens": ["<e>"], "known_words": ["tide"], "flags": {"<e>": ["rstrip"], "tide": ["normalized", "lstrip"]}},
    "all": {
        "pretokenizer": "cl100k", "special_tokens": ["<e>"], "known_words": ["ab"], "normalizer": "NFC", "break_tokens": ["|"],
        "stop_tokens": ["\t"],
    },
}  # fmt: skip


@each(("arguments", "error", "match"), [
    ({"special_first": 1}, TypeError, "special_first: expected True or False, got 1"),
    ({"encoding": "latin-1"}, ValueError, "encoding: expected None or 'utf-8', got 'latin-1'"),
    ({"pretokenizer": "gtp"}, ValueError, "pretokenizer: there is no 'gtp'"),
    ({"pretokenizer": [{"type": "Nothing"}]}, ValueError, "Nothing"), ({"normalizer": "nfc"}, ValueError, "nfc"),
    ({"special_tokens": "<e>"}, TypeError, "special_tokens: expected a list of words or a mapping of words to ids, got str"),
    ({"known_words": {"a"}}, TypeError, "known_words: expected a list of words or a mapping of words to ids, got set"),
    ({"runs": 0}, TypeError, r"runs: expected symbols in a list, got 0 \(int\); a single one is \[0\]"),
    ({"flags": ["a"]}, TypeError, "flags: expected words and names of flags, got list"),
    ({"flags": {"a": ["lstrip"]}}, ValueError, "flags: 'a' is neither a special token nor a known word"),
    ({"known_words": ["a"], "flags": {"a": "lstrip"}}, TypeError, "flags: 'a': expected names, got str"),
    ({"known_words": ["a"], "flags": {"a": ["left"]}}, ValueError, "flags: 'a': expected lstrip, .* got 'left'"),
    ({"vocabulary": 3}, TypeError, "vocabulary"),
])  # fmt: skip
def test_bad_arguments_are_refused_when_it_is_made(
    arguments: dict[str, Any], error: type[Exception], match: str
) -> None:
    refuses(error, match, Preprocessing, **arguments)
    if "vocabulary" not in arguments:
        refuses(error, match, BPE.for_text, 300, **arguments)


@each("name", EACH)
def test_it_is_a_value(name: str) -> None:
    made, again = Preprocessing(**EACH[name]), Preprocessing(**copy.deepcopy(EACH[name]))
    assert made == again and made.is_plain == (name == "nothing")
    assert all(made != Preprocessing(**EACH[other]) for other in EACH if other != name)
    for other in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made), dataclasses.replace(made)):
        assert other == made and pickle.dumps(other) == pickle.dumps(made) == pickle.dumps(again)
    shown = repr(made)
    assert len(shown) < 400 and all(f"{argument}=" in shown for argument in EACH[name])
    assert (
        "..." in shown
        or eval(shown, {"Preprocessing": Preprocessing, "Normalizer": Normalizer, "Splitter": Splitter})
        == made
    )
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.encoding = "utf-8"  # type: ignore[misc]


def test_arguments_become_what_they_say() -> None:
    made = Preprocessing(["Whitespace"], [np.array([1, 2])], break_tokens=np.array([3, 0]))
    assert (
        made.pretokenizer == Splitter("Whitespace")
        and made.special_tokens == [(1, 2)]
        and made.break_tokens == [0, 3]
    )
    assert Preprocessing("gpt2").pretokenizer == Pretokenizer("gpt2")
    assert Preprocessing(normalizer="NFC").normalizer == Normalizer("NFC")
    assert Preprocessing(Pretokenizer("gpt2")) == Preprocessing("gpt2")
    assert Preprocessing(stop_tokens=iter("ab")).stop_tokens == "ab"
    for given in ("ba|a", ["|", "a", "b"], {"a", "|", "b"}, np.array(["|", "a", "b"])):
        assert Preprocessing(break_tokens=given) == Preprocessing(break_tokens="ab|")
    assert Preprocessing(special_tokens=[], known_words={}, break_tokens=[], stop_tokens="").is_plain
    assert Preprocessing(known_words=["a"], flags={"a": ["normalized", "lstrip"]}).flags == {
        "a": ("lstrip", "normalized")
    }


def test_it_is_set_before_a_fit_only(cls: Any) -> None:
    lower, upper = Preprocessing(normalizer="Lowercase"), Preprocessing("whitespace")
    tok = cls(40, preprocessing=upper).set_params(preprocessing=lower).fit(TEXTS, progress=False)
    before = tok.fingerprint
    way = rf"^preprocessing: a fitted tokenizer .*; {cls.__name__}\(\*\*{{.*'preprocessing': \.\.\.}}\) makes"
    refuses(ValueError, way, tok.set_params, preprocessing=upper)
    assert tok.fingerprint == before and tok.preprocessing is lower
    # as the message says
    other = cls(**{**tok.get_params(), "preprocessing": upper}).fit(TEXTS, progress=False)
    assert other.fingerprint == cls(40, preprocessing=upper).fit(TEXTS, progress=False).fingerprint != before
    refuses(
        ValueError,
        "^preprocessing: a fitted tokenizer",
        lambda: WordPiece(["[UNK]"]).set_params(preprocessing=upper),
    )
