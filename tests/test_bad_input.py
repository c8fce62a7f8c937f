"""Bad input never crashes the process and never returns something wrong; a refusal says what and where."""

from __future__ import annotations

import array
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tables import each

import ubpe_numba
from ubpe_numba import BPE, UBPE, FitRules, Ragged, UBPEClassic, export
from ubpe_numba.errors import NotFittedError, UnknownSymbolError, UnknownTokenError

CLASSES = [BPE, UBPEClassic, UBPE]
DOCS = [[0, 1, 2, 0, 1], [2, 0, 1, 2], [2, 2, 1, 1, 2, 2, 1, 1], []]
LOW, HIGH = -(2**63), 2**63 - 1
# per kind: documents, one with unknown symbols at 1 and 3 (and none elsewhere), how the first is shown
KINDS = {
    "dense": (DOCS, [0, 9, 1, -7, 2], "9"),
    "sparse": ([[-5, 2**40, -5, 2**40], [LOW, HIGH, -5], [HIGH]], [-5, -4, LOW, 2**62, HIGH], "-4"),
    "str": (["abab", "ba \ud800", "\U0001f600b"], "aé\ud800\U0010ffffb", "'é'"),
}


def make(cls: Any, n_tokens: int | None = None, **params: Any) -> Any:
    return cls(n_tokens, **params)


def fitted(cls: Any, docs: Any = None, **params: Any) -> Any:
    """A tokenizer with merges; with the default documents it weighs its tokens."""
    return make(cls, **params).fit(DOCS if docs is None else docs, progress=False)


@pytest.fixture
def cls() -> Any:
    """The class of most tests: what is read and refused does not depend on it."""
    return UBPE


all_classes = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)


def same(decoded: Any, doc: Any) -> bool:
    return bool(decoded == doc) if isinstance(doc, (str, bytes)) else decoded.tolist() == list(doc)


# --- little or nothing to learn from


@each(
    "docs, n",
    [
        ([], 0), ([[]], 1), ([[], [], []], 3), ((), 0), ([""], 1), ("", 1), ([b"", b""], 2),
        (np.zeros((0, 5), int), 0), (np.zeros((3, 0), np.int8), 3), (np.array([]), 1),
        ([np.array([])] * 2, 2),
        (Ragged.from_lists([]), 0), (Ragged.from_lists([[], []]), 2), (b"", 1), (array.array("i"), 1),
    ],
)  # fmt: skip
def test_a_corpus_without_symbols(cls: Any, docs: Any, n: int) -> None:
    tok = cls(256).fit(docs, progress=False)
    assert tok._model.vocabulary.n_learned == 0
    assert tok.encode_batch(docs).to_lists() == [[]] * n
    assert len(tok.decode_batch(Ragged.from_lists([[]] * n))) == n
    for empty in ([], "", b"", (), np.array([]), np.zeros(0, np.uint16)):
        assert tok.encode(empty).tolist() == []
        assert tok.encode(empty).dtype == np.int32
    assert len(tok.decode([])) == 0
    with pytest.raises(UnknownTokenError, match=r"document 0, position 0: token id 256 is outside"):
        tok.decode([256])
    match = r"position 0: symbol '\u1234'|expected the same, got str"
    with pytest.raises((UnknownSymbolError, TypeError), match=match):
        tok.encode("\u1234")


@each("docs", [[[0]], [[3], [3]], ["x"], [[0, 1, 2, 3]], ["abc", "", "d"]])
@all_classes
def test_nothing_to_merge_is_the_identity(cls: Any, docs: list[Any]) -> None:
    tok = fitted(cls, docs)
    assert tok._model.vocabulary.n_learned == 0
    for doc in docs:
        assert len(tok.encode(doc)) == len(doc)
        assert same(tok.decode(tok.encode(doc)), doc)


@each("docs", [[[0] * 9, [0] * 4, []], [[7] * 100, [7], [7, 7]], ["aaaaa", "aa", "a", ""]])
@all_classes
def test_a_corpus_of_one_symbol(cls: Any, docs: list[Any]) -> None:
    tok = fitted(cls, docs, n_tokens=None)
    assert tok._model.vocabulary.n_learned > 0
    for doc in docs:
        assert same(tok.decode(tok.encode(doc)), doc)


@all_classes
def test_empty_documents_among_others(cls: Any) -> None:
    docs = [[], [0, 1, 0, 1], [], [], [1, 0, 1], []]
    tok = fitted(cls, docs)
    plain = fitted(cls, [doc for doc in docs if doc] + [[5][:0]])
    np.testing.assert_array_equal(tok._model.vocabulary.merges, plain._model.vocabulary.merges)
    assert tok._model.vocabulary.n_documents == 6
    batch = tok.encode_batch(docs)
    assert [len(ids) == 0 for ids in batch] == [not doc for doc in docs]
    assert tok.decode_batch(batch).to_lists() == docs


@pytest.mark.parametrize("docs", [[[0, 1, 2, 0, 1, 2, 0, 1]], "abcabcab", np.array([0, 1, 2, 0, 1, 2, 0, 1])])
def test_one_document(docs: Any) -> None:
    """UBPE has nothing to weigh: it warns, once, and encodes to the fewest tokens."""
    doc = docs[0] if isinstance(docs, list) else docs
    with pytest.warns(UserWarning, match="one document.*fewest tokens") as warned:
        tok = fitted(UBPE, docs)
    assert len(warned) == 1
    shortest = fitted(UBPE, docs, objective="shortest")
    assert tok.encode(doc).tolist() == shortest.encode(doc).tolist()
    assert len(tok.encode(doc)) == len(tok.encode_nbest([doc], 1)[0][0][0]) <= len(fitted(BPE, docs).encode(doc))
    fitted(UBPEClassic, docs)


# --- arguments of constructors

NUMBERS = [
    (0, ValueError, "expected at least 1, got 0"),
    (-3, ValueError, "expected at least 1, got -3"),
    *[(x, TypeError, f"an int( or None)?, got {re.escape(repr(x))}") for x in (1.5, True, "8", [8], np.nan)],
]
BAD_PARAMS = [
    *[("n_tokens", *case) for case in NUMBERS],
    ("n_tokens", 2**31, ValueError, "at most 2147483645, got 2147483648"),
    ("n_tokens", 10**30, ValueError, "at most 2147483645"),
    ("n_tokens", 2, ValueError, "at least the alphabet's 3 symbols, got 2"),
    *[("n_candidates", *case) for case in [*NUMBERS, (None, TypeError, "an int, got None")]],
    *[("n_threads", *case) for case in NUMBERS],
    ("rules", "article", TypeError, "rules: expected a FitRules, such as .*, got 'article'"),
    ("rules", {"ties": "smallest"}, TypeError, "rules: expected a FitRules, such as .*, got {"),
    ("objective", "best", ValueError, "objective: expected one of 'tfidf', 'shortest', 'additive', .* got 'best'"),
    ("objective", None, ValueError, "objective: expected .* got None"),
    ("objective", [0.5], ValueError, "objective: expected 8 numbers, one for each id, got shape"),
    ("objective", [0.5] * 7 + [float("nan")], ValueError, "objective.7.: expected a number in -1e6..1e6, got nan"),
    ("objective", ["a"] * 8, TypeError, "objective: expected numbers, got list"),
    ("alphabet", 2, UnknownSymbolError, "document 0, position 2: symbol 2 is not in the alphabet, 0..1"),
    ("alphabet", [0, 2], UnknownSymbolError, "document 0, position 1: symbol 1 is not in the alphabet of 2"),
    ("alphabet", 0, ValueError, r"alphabet: expected 1\.\."),
    ("alphabet", -1, ValueError, r"alphabet: expected 1\.\.2147483645 symbols .* got -1"),
    ("alphabet", 2**31, ValueError, r"alphabet: expected 1\.\.2147483645 symbols"),
    ("alphabet", [], ValueError, r"alphabet: expected 1\.\."),
    ("alphabet", 3.0, TypeError, "alphabet: expected a size, a sequence or a mapping, got 3.0"),
    ("alphabet", True, TypeError, "alphabet: expected a size, a sequence or a mapping, got True"),
    ("alphabet", {0, 1, 2}, TypeError, "alphabet: expected a size, a sequence or a mapping, got set"),
    ("alphabet", [0, 1, 1], ValueError, "alphabet: symbol 1 is there twice, as entry 1 and entry 2"),
    ("alphabet", [0, 1.0, 2], TypeError, "alphabet, position 1: expected an integer, got 1.0"),
    ("alphabet", {0: 0, 1: 2, 2: 2}, ValueError, "alphabet: no symbol has id 1, though 1 has 2"),
    ("alphabet", {0: 0, 1: 1, 2: 3}, ValueError, "alphabet: symbol 2 has id 3, expected 0..2"),
    ("alphabet", "abc", TypeError, "alphabet: expected integers, got characters"),
]


@each(
    "name, value, error, match",
    BAD_PARAMS,
)
def test_bad_arguments_are_refused_by_fit(cls: Any, name: str, value: Any, error: Any, match: str) -> None:
    params = {"n_tokens": 8, name: value}
    with pytest.raises(error, match=match) as caught:
        fitted(cls, **params)
    assert error is UnknownSymbolError or str(caught.value).startswith(name)
    tok = fitted(cls, n_tokens=8)
    before = tok.fingerprint
    if name == "alphabet":
        error, match = ValueError, "^alphabet: a fitted tokenizer encodes by the one it was fitted with"
    with pytest.raises(error, match=match):
        tok.set_params(**params).fit(DOCS, progress=False)
    if name != "alphabet":
        tok.set_params(**{name: cls().get_params()[name]})  # objective and rules are part of the fingerprint
    assert tok.fingerprint == before


@pytest.mark.parametrize(
    "cls, name",
    [
        (BPE, "n_candidates"),
        (BPE, "objective"),
        (UBPEClassic, "objective"),
    ],
)
def test_parameters_of_another_class_are_refused(cls: Any, name: str) -> None:
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
        cls(**{name: None})


@each(
    "name, value, error",
    [
        ("ties", "coin", ValueError), ("ties", None, ValueError), ("ties", [], ValueError),
        ("order", "", ValueError),
        ("trim", 1, ValueError), ("encode", "greedy", ValueError), ("min_count", 0, ValueError),
        ("min_count", -1, ValueError), ("min_count", 2.0, ValueError), ("min_count", True, ValueError),
        ("overshoot", 1, TypeError), ("overshoot", None, TypeError),
    ],
)  # fmt: skip
def test_bad_rules(name: str, value: Any, error: Any) -> None:
    for build in (FitRules, FitRules().replace):
        with pytest.raises(error, match=f"{name}: expected .* got {re.escape(repr(value))}"):
            build(**{name: value})


@each("progress", ["yes", "", None, 2, [], 0.5])
def test_bad_progress(cls: Any, progress: Any) -> None:
    match = f"progress: expected 'auto', True or False, got {re.escape(repr(progress))}"
    with pytest.raises(ValueError, match=match):
        make(cls).fit(DOCS, progress=progress)


@each("value, error", [(0, ValueError), (-1, ValueError), (1.0, TypeError)])
def test_bad_n_threads_after_fit(cls: Any, value: Any, error: Any) -> None:
    tok = fitted(cls).set_params(n_threads=value)
    for call in (tok.encode, tok.decode):
        with pytest.raises(error, match="n_threads: expected"):
            call([0, 1])


@each(
    "text",
    [
        "0", "-1", "many", "1.5",
        "²",  # a digit, to str.isdigit, but not to int
        "8193", "1" * 30,
    ],
)  # fmt: skip
@each("name", ["UBPE_NUM_THREADS", "NUMBA_NUM_THREADS"])
def test_bad_environment(cls: Any, name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tok = fitted(cls)
    monkeypatch.delenv("UBPE_NUM_THREADS", raising=False)
    monkeypatch.setenv(name, text)
    for call in (lambda: fitted(cls), lambda: tok.encode([0, 1])):
        with pytest.raises(ValueError, match=f"environment variable {name}: .* got '{text}'"):
            call()
    tok.set_params(n_threads=1).encode([0, 1])  # the argument goes first


def limited(code: str) -> str:
    """Run code in another process that may take 512 MB more than it has after its imports and a first fit."""
    start = f"""
import resource, ubpe_numba
from ubpe_numba import *
DOCS = {DOCS}
for cls in (UBPE, UBPEClassic):
    cls(8, 3).fit(DOCS, progress=False)
with open("/proc/self/statm") as f:
    size = int(f.read().split()[0]) * resource.getpagesize() + 2**29
resource.setrlimit(resource.RLIMIT_AS, (size, size))
"""
    path = [str(pathlib.Path(ubpe_numba.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))}
    command = [sys.executable, "-c", start + code]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-300:]
    return done.stdout.strip()


if sys.platform == "linux":

    @pytest.mark.parametrize("n_candidates", [10**7, 10**15])
    def test_more_candidates_than_pairs(cls: Any, n_candidates: int) -> None:
        """All pairs are candidates then, and no memory is taken for those that cannot exist."""
        code = f"print({cls.__name__}(8, {n_candidates}).fit(DOCS, progress=False).fingerprint)"
        assert limited(code) == fitted(cls, n_tokens=8, n_candidates=1000).fingerprint


# --- documents

ONE_OF = r"expected one of integer arrays, lists of integers, str or bytes, got"
BAD_DOCS = [
    (None, TypeError, "expected a sequence of documents .*, got None"),
    (5, TypeError, r"expected a sequence of documents .*, got 5 \(int\)"),
    (1.5, TypeError, "expected a sequence of documents"),
    ({0: [1]}, TypeError, "expected a sequence of documents .*, got dict"),
    ({(0, 1)}, TypeError, "expected a sequence of documents .*, got set"),
    (..., TypeError, "expected a sequence of documents .*, got ellipsis"),
    ([0, 1, 2], TypeError, r"got a flat list of integers; for one document wrap it in a list"),
    ((0, 1), TypeError, "got a flat tuple of integers"),
    (iter([0, 1]), TypeError, "got a flat list of integers"),
    ([np.int32(0), 1], TypeError, "got a flat list of integers"),
    ([[0], None], TypeError, f"document 1: {ONE_OF} None"),
    ([[0], 1], TypeError, f"document 1: {ONE_OF} 1"),
    ([0.5, 1.5], TypeError, f"document 0: {ONE_OF} 0.5"),
    ([True, False], TypeError, f"document 0: {ONE_OF} True"),
    ([{0: 1}], TypeError, f"document 0: {ONE_OF} dict"),
    ([[0, 1], [2, 1.0]], TypeError, r"document 1, position 1: expected an integer, got 1.0 \(float\)"),
    ([[0, float("nan")]], TypeError, "position 1: expected an integer, got nan"),
    ([[0, True], [0]], TypeError, "document 0, position 1: expected an integer, got True"),
    ([[0], [np.True_]], TypeError, "document 1, position 0: expected an integer, got"),
    ([[0], [1j]], TypeError, "document 1, position 0: expected an integer, got 1j"),
    ([[0], [None]], TypeError, "document 1, position 0: expected an integer, got None"),
    ([[0], ["a"]], TypeError, "document 1, position 0: expected an integer, got 'a'"),
    ([[[0]], [[1]]], TypeError, r"document 0, position 0: expected an integer, got \[0\]"),
    ([[0, [1]]], TypeError, r"position 1: expected an integer, got \[1\]"),
    ([[0, 2**63]], ValueError, "position 1: expected an integer that fits int64, got 9223372036854775808"),
    ([[0], [-(2**63) - 1]], ValueError,
     "document 1, position 0: expected an integer that fits int64, got -922"),
    ([[0], [np.uint64(2**64 - 1), 1]], ValueError,
     "document 1, position 0: expected an integer that fits int64"),
    (np.array([1, 2**63], np.uint64), ValueError,
     "position 1: expected an integer that fits int64, got 9223"),
    ([np.array([1], np.uint64), np.array([2**64 - 1], np.uint64)], ValueError,
     "document 1, position 0: .* 1844"),
    (np.array([[1], [2**63]], np.uint64), ValueError,
     "document 1, position 0: expected an integer that fits"),
    (np.array([0.0, 1.0]), TypeError, "integers, got an array of float64.*round or quantise"),
    (np.array([np.nan, np.inf]), TypeError, "integers, got an array of float64"),
    (np.array([[True, False]]), TypeError, "integers, got an array of bool.*astype"),
    (np.array([1j]), TypeError, "integers, got an array of complex128"),
    (np.array([1, 2], object), TypeError, "integers, got an array of object"),
    (np.array([[0], [0, 1]], object), TypeError, "integers, got an array of object.*use tolist"),
    (np.array(["a", "b"]), TypeError, "integers, got an array of <U1.*tolist"),
    (np.array([b"a"]), TypeError, r"integers, got an array of \|S1"),
    (np.array(["2020-01-01"], "M8[D]"), TypeError, "integers, got an array of datetime64"),
    (np.zeros(2, [("a", "i4")]), TypeError, "integers, got an array of"),
    (np.ma.masked_array([1, 2], [0, 1]), TypeError, "expected a plain array, got a masked array"),
    (np.zeros((2, 2, 2, 2), int), ValueError,
     r"expected a 1-D array .* or 2-D .*, got an array of int64, shape \(2, 2, 2, 2\)"),
    (np.array(3), ValueError, r"expected a 1-D array .* shape \(\)"),
    ([[0], np.zeros((2, 2), int)], ValueError, "document 1: expected a 1-D integer array"),
    ([np.array([0]), np.array([0.5])], TypeError,
     "document 1: documents are integers, got an array of float64"),
    ([[0], "a"], TypeError, r"one kind, got integers \(document 0\) and str \(document 1\)"),
    (["a", "", b"b"], TypeError, r"one kind, got str \(document 0\) and bytes \(document 2\)"),
    ([b"a", [1]], TypeError, r"one kind, got bytes \(document 0\) and integers \(document 1\)"),
]  # fmt: skip


@each("docs, error, match", BAD_DOCS)
def test_bad_documents(cls: Any, docs: Any, error: Any, match: str) -> None:
    again = [0, 1] if hasattr(docs, "__next__") else docs
    tok = fitted(cls)
    before = tok.fingerprint
    with pytest.raises(error, match=match) as caught:
        tok.fit(iter(again) if hasattr(docs, "__next__") else docs, progress=False)
    assert str(caught.value).startswith("docs")
    assert tok.fingerprint == before
    assert tok.decode(tok.encode(DOCS[0])).tolist() == DOCS[0]
    with pytest.raises(error, match=match):
        tok.encode_batch(iter(again) if hasattr(docs, "__next__") else docs)


@each(
    "doc, error, match",
    [
        (None, TypeError, "doc: expected one document .*, got None"),
        (3, TypeError, r"one document .*, got 3 \(int\)"),
        ({0: 1}, TypeError, "got dict"), ({0, 1}, TypeError, "got set"),
        (iter([0]), TypeError, "got list_iterator"),
        (Ragged.from_lists([[0]]), TypeError, "got Ragged"),
        ([0, 1.0], TypeError, "doc, position 1: .* got 1.0"),
        ([0, False], TypeError, "doc, position 1: .* got False"),
        ([[0], [1]], TypeError, r"position 0: .* got \[0\]"),
        (["a"], TypeError, "doc, position 0: expected an integer, got 'a'"),
        ([0, 2**63], ValueError, "fits int64"),
        (np.array([0.0]), TypeError, "doc: .* an array of float64"),
        (np.array([[0]]), ValueError, "doc: .* 1-D"),
        (np.array([0], object), TypeError, "doc: .* an array of object"),
        (np.int64(0), (TypeError, ValueError), "doc"),
    ],
)  # fmt: skip
def test_bad_single_document(cls: Any, doc: Any, error: Any, match: str) -> None:
    tok = fitted(cls)
    with pytest.raises(error, match=match):
        tok.encode(doc)


@each(
    "offsets, error, match",
    [
        ([0, 3, 2, 8], ValueError, "offsets: document 1 ends before it starts: 3, then 2"),
        ([-1, 8], ValueError, "offsets: expected 0 or more at the start, got -1"),
        ([0, 9], ValueError, "offsets: expected at most 8, the number of values, got 9"),
        ([0, HIGH], ValueError, f"offsets: expected at most 8, the number of values, got {HIGH}"),
        ([0, LOW, 8], ValueError, "offsets: document 0 ends before it starts"),
        ([0, 2**63], ValueError, "offsets, position 1: expected an integer that fits int64"),
        ([], ValueError, r"offsets: expected at least one entry"),
        ([0.0, 8.0], TypeError, "offsets, position 0: expected an integer, got 0.0"),
        (np.array([0.0, 8.0]), TypeError, "offsets: .* an array of float64"),
        (np.array([False, True]), TypeError, "offsets: .* an array of bool"),
        (np.array([[0, 8]]), ValueError, r"offsets: .* shape \(1, 2\)"),
        ("08", TypeError, "offsets: expected integers, got str"), (8, TypeError, "offsets"),
        ({0: 8}, TypeError, "offsets"),
    ],
)  # fmt: skip
def test_bad_offsets(cls: Any, offsets: Any, error: Any, match: str) -> None:
    flat = np.array([0, 1, 2, 0, 1, 2, 1, 0])
    tok = fitted(cls)
    before = tok.fingerprint
    for call in (
        lambda: tok.fit(flat, offsets=offsets, progress=False),
        lambda: tok.encode_batch(flat, offsets),
        lambda: tok.decode_batch(flat, offsets),
    ):
        with pytest.raises(error, match=match):
            call()
    assert tok.fingerprint == before


def test_offsets_need_a_flat_array(cls: Any) -> None:
    tok = fitted(cls)
    for docs, match in (
        (Ragged.from_lists([[0]]), "got a Ragged, which has its own"),
        ([[0], [1]], r"position 0: .* got \[0\]"),
        (np.zeros((2, 2), int), "expected a 1-D"), (["ab"], "expected an integer, got 'ab'"),
        (None, "got None"),
    ):  # fmt: skip
        with pytest.raises((TypeError, ValueError), match=match):
            tok.fit(docs, offsets=[0, 1], progress=False)
        with pytest.raises((TypeError, ValueError), match=match):
            tok.encode_batch(docs, [0, 1])


@all_classes
def test_a_failing_iterator_leaves_the_tokenizer_as_it_was(cls: Any) -> None:
    def docs() -> Iterator[list[int]]:
        yield [0, 1, 0, 1]
        raise OSError("disk on fire")

    tok = fitted(cls)
    before = tok.fingerprint
    for call in (lambda: tok.fit(docs(), progress=False), lambda: tok.encode_batch(docs())):
        with pytest.raises(OSError, match="disk on fire"):
            call()
    assert tok.fingerprint == before
    unfitted = make(cls)
    with pytest.raises(OSError, match="disk on fire"):
        unfitted.fit(docs(), progress=False)
    with pytest.raises(NotFittedError, match="no vocabulary yet"):
        unfitted.encode([0])


# --- integers of any size

VALUES = [
    (-1, 0), (-5, 7), (2**40, 2**40 + 3), (2**31 - 1, 2**31), (-(2**31) - 1, 3), (LOW, HIGH),
    (HIGH - 1, HIGH), (LOW, 0),
]  # fmt: skip


@each("low, high", VALUES)
def test_negative_and_huge_integers(cls: Any, low: int, high: int) -> None:
    docs = [[low, high, low, high, high], [high, low, high], [low, low], []]
    tok = fitted(cls, docs)
    small = fitted(cls, [[int(symbol == high) for symbol in doc] for doc in docs])
    np.testing.assert_array_equal(tok._model.vocabulary.merges, small._model.vocabulary.merges)
    assert tok._model.vocabulary.n_alphabet == 2
    for container in (docs, [np.array(doc, np.int64) for doc in docs], iter(docs)):
        batch = tok.encode_batch(container)
        assert batch == small.encode_batch([[int(symbol == high) for symbol in doc] for doc in docs])
    decoded = tok.decode_batch(batch)
    assert [doc.tolist() for doc in decoded] == docs
    for doc in docs:
        assert tok.decode(tok.encode(doc)).tolist() == doc
    for wrong in {low - 1, low + 1, high - 1, high + 1, low + 2**32, 0, LOW, HIGH} - {low, high}:
        if LOW <= wrong <= HIGH:
            with pytest.raises(UnknownSymbolError, match=f"document 0, position 1: symbol {wrong} is not in"):
                tok.encode([low, wrong])


# --- symbols outside the alphabet


@each("kind", KINDS)
@all_classes
def test_unknown_symbols(cls: Any, kind: str) -> None:
    docs, bad, shown = KINDS[kind]
    known = type(bad)() + bad[:1] + bad[2:3] + bad[4:]
    tok = fitted(cls, docs)
    message = f"position 1: symbol {shown} is not in the alphabet"
    with pytest.raises(UnknownSymbolError, match=f"document 0, {message}") as one:
        tok.encode(bad)
    with pytest.raises(UnknownSymbolError, match=f"document 2, {message}") as many:
        tok.encode_batch([docs[0], type(bad)(), bad, bad])
    for error, document in ((one.value, 0), (many.value, 2)):
        assert (error.document, error.position, repr(error.symbol)) == (document, 1, shown)
    assert tok.encode(bad, unknown="skip").tolist() == tok.encode(known).tolist()
    skipped = tok.encode_batch([bad, docs[0], bad[1:2], bad], unknown="skip")
    assert skipped == tok.encode_batch([known, docs[0], known[:0], known])
    for id_ in (0, np.int64(1)):
        symbol = tok.decode([int(id_)])
        replaced = [symbol[0] if i in (1, 3) else x for i, x in enumerate(bad)]
        want = "".join(replaced) if kind == "str" else [int(x) for x in replaced]
        assert tok.encode(bad, unknown=id_).tolist() == tok.encode(want).tolist()
        assert tok.encode_batch([docs[0], bad], unknown=id_) == tok.encode_batch([docs[0], want])
    if cls is UBPE:
        with pytest.raises(UnknownSymbolError, match=f"document 0, {message}"):
            tok.encode_nbest([bad], 2)[0]
        assert tok.encode_nbest([bad], 1, unknown="skip")[0][0][0].tolist() == tok.encode(known).tolist()


@all_classes
def test_unknown_bytes(cls: Any) -> None:
    tok = make(cls, alphabet=b"abc").fit([b"abab", b"cab", b""], progress=False)
    with pytest.raises(UnknownSymbolError, match="document 1, position 2: symbol 255 is not in"):
        tok.encode_batch([b"a", b"ab\xff"])
    assert tok.encode(b"a\xffb", unknown="skip").tolist() == tok.encode(b"ab").tolist()


@each(
    "unknown, error",
    [
        ("ignore", ValueError), ("", ValueError), (-1, ValueError), (3, ValueError), (10**30, ValueError),
        (np.int64(-1), ValueError), (1.0, TypeError), (True, TypeError), ([0], TypeError),
        (np.array([0]), TypeError), (b"skip", TypeError),
    ],
)  # fmt: skip
def test_bad_unknown(cls: Any, unknown: Any, error: Any) -> None:
    tok = fitted(cls)
    for doc in ([0, 1], [0, 9]):  # also where nothing is unknown
        for call, given in ((tok.encode, doc), (tok.encode_batch, [doc])):
            with pytest.raises(error, match="unknown: expected 'raise', 'skip' or (an id|0..2), got "):
                call(given, unknown=unknown)


@pytest.mark.parametrize("n_threads", [1, 4])
def test_positions_in_large_batches(cls: Any, n_threads: int) -> None:
    """In batches larger than a block of the look-up, and than the share of one thread."""
    flat = np.tile(np.arange(4, dtype=np.uint8), 300_000)
    offsets = np.arange(0, flat.size + 1, 4000)
    tok = make(cls, 6, alphabet=4, n_threads=n_threads, rules=FitRules(min_count=1))
    tok.fit([[0, 1, 2, 3], [2, 3], [0]], progress=False)
    before = tok.fingerprint
    bad = flat.copy()
    bad[[1_100_123, 1_100_124]] = 77, 78
    message = "document 275, position 123: symbol 77 is not in the alphabet, 0..3"
    with pytest.raises(UnknownSymbolError, match=message):
        tok.encode_batch(bad, offsets)
    with pytest.raises(UnknownSymbolError, match=message):
        tok.fit(bad, offsets=offsets, progress=False)
    assert tok.fingerprint == before
    for dtype in (np.int16, np.int32, np.int64):
        with pytest.raises(UnknownTokenError, match="document 275, position 123: token id 77 is outside"):
            tok.decode_batch(bad.astype(dtype), offsets)


# --- ids

BAD_IDS = [
    ([0, 1, 8], 2, 8), ([-1], 0, -1), ([0, 2**31], 1, 2**31), ([2**40, 9], 0, 2**40), ([1, LOW], 1, LOW),
    ([HIGH], 0, HIGH),
    (np.array([1, 300], np.int16), 1, 300), (np.array([0, 2**32 + 1]), 1, 2**32 + 1),
    (np.array([-(2**31)], np.int32), 0, -(2**31)),
    (np.array([255], np.uint8), 0, 255), (np.array([2**32 - 1], np.uint32), 0, 2**32 - 1),
    (np.array([0, 2**63 - 1], np.uint64), 1, HIGH), (np.array([0, 9], ">i4"), 1, 9),
]  # fmt: skip


@each("ids, position, token", BAD_IDS)
def test_ids_out_of_range(cls: Any, ids: Any, position: int, token: int) -> None:
    tok = fitted(cls, n_tokens=8)
    assert len(tok._model.vocabulary) == 8
    message = f"position {position}: token id {token} is outside the vocabulary, 0..7"
    with pytest.raises(UnknownTokenError, match=f"document 0, {message}") as caught:
        tok.decode(ids)
    assert (caught.value.document, caught.value.position, caught.value.token) == (0, position, token)
    for batch in ([[0], [], ids], [np.array([0]), [], [], ids]):
        with pytest.raises(UnknownTokenError, match=f"document {len(batch) - 1}, {message}") as caught:
            tok.decode_batch(batch)
        assert (caught.value.document, caught.value.position) == (len(batch) - 1, position)


@each(
    "ids, error, match",
    [
        ([0.0], TypeError, "position 0: expected an integer, got 0.0"),
        ([0, True], TypeError, "position 1: .* got True"),
        ([None], TypeError, "got None"), ([[0]], TypeError, r"got \[0\]"), (["a"], TypeError, "got 'a'"),
        (np.array([0.0]), TypeError, "got an array of float64"),
        (np.array([False]), TypeError, "got an array of bool"),
        (np.array([0], object), TypeError, "got an array of object"),
        ("01", TypeError, "ids: expected integers, got str"),
        ([2**63], ValueError, "expected an integer that fits int64"), (None, TypeError, "got None"),
        (0, TypeError, r"got 0 \(int\)"),
        (np.array([2**63], np.uint64), ValueError, "expected an integer that fits int64"),
        ({0: 0}, TypeError, "got dict"),
        (np.zeros((1, 1), int), ValueError, "1-D"),
    ],
)  # fmt: skip
def test_ids_of_wrong_types(cls: Any, ids: Any, error: Any, match: str) -> None:
    tok = fitted(cls)
    with pytest.raises(error, match=match) as caught:
        tok.decode(ids)
    assert str(caught.value).startswith("ids")
    with pytest.raises(error, match="got|fits"):
        tok.decode_batch([ids])
    with pytest.raises(TypeError, match="flat list of integers"):
        tok.decode_batch([0, 1, 2])


@all_classes
def test_sliced_batches_report_their_own_documents(cls: Any) -> None:
    tok = fitted(cls, n_tokens=8)
    batch = Ragged.from_lists([[99], [0, 1], [], [2, 8]])
    assert tok.decode_batch(batch[1:3]).to_lists() == [[0, 1], []]
    with pytest.raises(UnknownTokenError, match="document 2, position 1: token id 8 "):
        tok.decode_batch(batch[1:])


# --- the wrong moment, the wrong kind


@each(
    "use",
    [
        lambda tok, path: tok.encode([0]), lambda tok, path: tok.encode_batch([[0]]),
        lambda tok, path: tok.decode([0]), lambda tok, path: tok.decode_batch([[0]]),
        lambda tok, path: tok.transform([[0]]), lambda tok, path: tok.inverse_transform([[0]]),
        lambda tok, path: tok.vocabulary, lambda tok, path: tok.fingerprint,
        lambda tok, path: tok.truncate(5), lambda tok, path: tok.save(path / "m.json"),
        lambda tok, path: export(tok, "ubpe"), lambda tok, path: tok.encode(None),
    ],
)  # fmt: skip
@all_classes
def test_what_needs_a_fit_says_so(cls: Any, use: Any, tmp_path: pathlib.Path) -> None:
    for error in (NotFittedError, ValueError, AttributeError):
        with pytest.raises(error, match=f"this {cls.__name__} has no vocabulary yet: call fit or load first"):
            use(make(cls), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_nbest_needs_fit_and_a_positive_number() -> None:
    with pytest.raises(NotFittedError, match="this UBPE has no vocabulary yet"):
        UBPE().encode_nbest([[0]], 1)[0]
    tok = fitted(UBPE)
    for n, error, match in (
        (0, ValueError, "n: expected at least 1, got 0"), (-1, ValueError, "n: expected at least 1, got -1"),
        (1.0, TypeError, "n: expected an int, got 1.0"), (True, TypeError, "n: expected an int, got True"),
        ("2", TypeError, "n: expected an int, got '2'"), (None, TypeError, "n: expected an int, got None"),
        (2**31, ValueError, "n: 2147483648 paths of 5 symbols need .* at most"),
        (10**30, ValueError, "n: 10* paths"),
    ):  # fmt: skip
        with pytest.raises(error, match=match):
            tok.encode_nbest([DOCS[0]], n)[0]
    paths, weights = tok.encode_nbest([DOCS[0]], 1000)[0]
    assert len(paths) == len(weights) < 1000
    assert len({tuple(path) for path in paths.to_lists()}) == len(paths)
    assert all(tok.decode(path).tolist() == DOCS[0] for path in paths)
    paths, weights = tok.encode_nbest([[]], 3)[0]
    assert (paths.to_lists(), weights.tolist()) == ([[]], [0.0])


def test_an_objective_that_does_not_exist_is_not_another() -> None:
    tok = fitted(UBPE).set_params(objective="fewest")
    for call, doc in ((tok.encode, DOCS[0]), (tok.encode_batch, DOCS)):
        with pytest.raises(ValueError, match="objective: expected one of 'tfidf', .* got 'fewest'"):
            call(doc)


@all_classes
def test_text_and_integers_do_not_mix(cls: Any) -> None:
    numbers, text = fitted(cls), fitted(cls, ["abab", "ba", ""])
    for tok, doc, fitted_on, got in (
        (numbers, "ab", "sequences of integers", "str"), (text, [0, 1], "str", "sequences of integers"),
        (text, b"ab", "str", "bytes"),
        (text, np.array([97, 98]), "str", "sequences of integers"),
        (fitted(cls, [b"abab", b"ab"] * 2 + [b""]), "ab", "bytes", "str"),
    ):  # fmt: skip
        match = f"the tokenizer was fitted on {fitted_on}, expected the same, got {got}"
        with pytest.raises(TypeError, match=f"doc: {match}"):
            tok.encode(doc)
        with pytest.raises(TypeError, match=f"docs: {match}"):
            tok.encode_batch([doc])
        with pytest.raises(TypeError, match=f"docs?: {match}"):
            tok.encode(doc, unknown="skip")
    assert numbers.encode("").size == text.encode([]).size == text.encode(b"").size == 0


@each(
    "call, error, match",
    [
        (lambda tok: tok.truncate(2), ValueError, "n_tokens: expected at least the alphabet's 3 .*, got 2"),
        (lambda tok: tok.truncate(0), ValueError, "n_tokens: expected at least 1, got 0"),
        (lambda tok: tok.truncate(5.0), TypeError, "n_tokens: expected an int, got 5.0"),
        (lambda tok: tok.truncate(None), TypeError, "n_tokens: expected an int, got None"),
        (lambda tok: tok.truncate(5, by="size"), ValueError, "by: expected 'creation' or 'idf', got 'size'"),
        (lambda tok: tok.truncate(5, by=None), ValueError, "by: expected 'creation' or 'idf', got None"),
        (lambda tok: tok.set_params(size=5), ValueError, "size: not a parameter of .*; there are n_tokens"),
    ],
)
def test_bad_arguments_of_other_methods(cls: Any, call: Any, error: Any, match: str) -> None:
    tok = fitted(cls)
    before = tok.fingerprint
    with pytest.raises(error, match=match):
        call(tok)
    assert tok.fingerprint == before


# --- any layout of the same numbers

DTYPES = [f"{order}{kind}{width}" for order in "<>" for kind in "iu" for width in (1, 2, 4, 8)]
FLAT, CUTS = np.array([i for doc in DOCS for i in doc]), np.cumsum([0] + [len(doc) for doc in DOCS])


def layouts(dtype: str, path: pathlib.Path) -> dict[str, np.ndarray]:
    """The same numbers, everywhere in memory and on disk."""
    plain = FLAT.astype(dtype)
    read_only, unaligned = plain.copy(), np.frombuffer(b"\0" + plain.tobytes(), dtype, offset=1)
    read_only.setflags(write=False)
    mapped = np.memmap(path, dtype, "w+", shape=plain.shape)
    mapped[:] = plain
    mapped.flush()
    return {
        "plain": plain, "read-only": read_only, "unaligned": unaligned, "strided": np.repeat(plain, 3)[1::3],
        "backward": plain[::-1].copy()[::-1], "column": np.stack([plain, plain], axis=1)[:, 1],
        "mapped": mapped, "mapped, read-only": np.memmap(path, dtype, "r"),
    }  # fmt: skip


@each("dtype", DTYPES)
def test_layouts_give_the_same_model_and_ids(cls: Any, dtype: str, tmp_path: pathlib.Path) -> None:
    want = fitted(cls)
    ids = want.encode_batch(DOCS)
    for name, flat in layouts(dtype, tmp_path / "values").items():
        kept = flat.copy()
        pieces = [flat[a:b] for a, b in zip(CUTS[:-1], CUTS[1:], strict=True)]
        for offsets in (None, CUTS, CUTS.astype(">u2")):
            given = {"docs": pieces if offsets is None else flat, "offsets": offsets}
            tok = make(cls).fit(**given, progress=False)
            assert tok.fingerprint == want.fingerprint, name
            assert tok.encode_batch(**given) == ids, name
        assert [want.encode(piece).tolist() for piece in pieces] == ids.to_lists(), name
        np.testing.assert_array_equal(flat, kept)
    for name, flat in layouts(dtype, tmp_path / "ids").items():
        assert want.decode(flat).tolist() == want.decode(FLAT.tolist()).tolist(), name
        assert want.decode_batch(flat, CUTS) == want.decode_batch(DOCS), name


@each("dtype", DTYPES)
def test_rows_are_documents(cls: Any, dtype: str) -> None:
    rows = np.array([[0, 1, 2, 0, 1], [2, 0, 1, 2, 2], [2, 2, 1, 1, 2]])
    want = fitted(cls, rows.tolist())
    for given in (
        rows.astype(dtype),
        np.asfortranarray(rows.astype(dtype)),
        rows.T.astype(dtype).T,
        rows.astype(dtype)[::-1][::-1],
    ):
        tok = fitted(cls, given)
        assert tok.fingerprint == want.fingerprint
        assert tok.encode_batch(given) == want.encode_batch(rows.tolist())


@all_classes
def test_results_do_not_share_memory_with_arguments(cls: Any) -> None:
    """Not even for the identity, where ids are symbols."""
    for tok in (fitted(cls), fitted(cls, [[0, 1, 2]])):
        doc = np.array([0, 2, 1, 0], np.int32)
        ids = tok.encode(doc)
        batch = tok.encode_batch(Ragged(doc, np.array([0, 4])))
        decoded = tok.decode(doc)
        assert not np.shares_memory(ids, doc)
        assert not np.shares_memory(batch.values, doc)
        assert not np.shares_memory(decoded, doc)
        ids[:], batch.values[:], decoded[:] = 0, 0, 0
        assert doc.tolist() == [0, 2, 1, 0]
        assert tok.decode(tok.encode([0, 2, 1, 0])).tolist() == [0, 2, 1, 0]
