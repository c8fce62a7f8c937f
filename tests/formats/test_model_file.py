"""Model files: what is saved is loaded again, and damaged or hostile files are refused."""

from __future__ import annotations

import copy
import io
import json
import os
import pickle
import random
import re
import subprocess
import sys
import tracemalloc
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from saved_models import KINDS, encoded, fitted, refuse
from text_samples import END, TEXT

import ubpe_numba
from ubpe_numba import BPE, UBPE, FitRules, Preprocessing, UBPEClassic, export
from ubpe_numba.errors import ModelFormatError
from ubpe_numba.text.pretokenizer import Pretokenizer

CLASSES = [BPE, UBPEClassic, UBPE]


# --- there and back


@pytest.mark.parametrize("kind", KINDS)
def test_save_and_load(cls: Any, suffix: str, kind: str, tmp_path: Path) -> None:
    tok, path = fitted(cls, kind), tmp_path / f"model{suffix}"
    assert tok._model.vocabulary.n_learned > 0
    tok.save(path)
    for name in (path, str(path)):
        again = cls.load(name)
        assert again.fingerprint == tok.fingerprint
        assert again._model.vocabulary == tok._model.vocabulary
        assert encoded(again, kind) == encoded(tok, kind)
        batch = again.encode_batch(KINDS[kind])
        assert [np.asarray(doc).tolist() for doc in again.decode_batch(batch)] == [
            np.asarray(doc).tolist() for doc in KINDS[kind]
        ]
    again.save(tmp_path / f"again{suffix}")
    assert (tmp_path / f"again{suffix}").read_bytes() == path.read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"again{suffix}", f"model{suffix}"]


def with_class(variants: list[dict[str, Any]]) -> list[Any]:
    """Every class with each of the variants that are parameters of it."""
    return [
        pytest.param(cls, params, id=f"{params}-{cls.__name__}")
        for params in variants
        for cls in CLASSES
        if params.keys() <= cls().get_params().keys()
    ]


PARAMS: list[dict[str, Any]] = [
    {"rules": FitRules.ARTICLE.replace(trim="closed")}, {"rules": FitRules(min_count=1, encode="batch")}, {"alphabet": 5},
    {"alphabet": {0: 2, 1: 0, 2: 1}}, {"n_candidates": 2}, {"objective": "shortest"}, {"n_threads": 2},
]  # fmt: skip


@pytest.mark.parametrize("cls, params", with_class(PARAMS))
def test_a_loaded_model_has_the_parameters_of_the_saved_one(
    cls: Any, suffix: str, params: dict[str, Any], tmp_path: Path
) -> None:
    tok, path = fitted(cls, n_tokens=8, **params), tmp_path / f"model{suffix.upper()}"
    tok.save(path)
    again = cls.load(path, n_threads=3)
    want = {**tok.get_params(), "rules": tok.rules or FitRules(), "alphabet": None, "n_threads": 3}
    assert again.get_params() == want
    assert (again.fingerprint, encoded(again, "dense")) == (tok.fingerprint, encoded(tok, "dense"))
    by = "idf" if tok.rules and tok.rules.order == "idf" else "creation"
    assert again.truncate(6, by=by).fingerprint == tok.truncate(6, by=by).fingerprint


@pytest.mark.parametrize("cls, params", with_class([{"n_tokens": np.int64(7)}, {"n_tokens": 8, "n_candidates": np.int64(7)}]))
def test_numbers_of_numpy_are_saved(cls: Any, suffix: str, params: dict[str, Any], tmp_path: Path) -> None:
    tok = fitted(cls, **params)
    tok.save(tmp_path / f"model{suffix}")
    again = cls.load(tmp_path / f"model{suffix}")
    assert again.fingerprint == tok.fingerprint
    assert {name: again.get_params()[name] for name in params} == params


def test_truncated_by_a_number_of_numpy_is_saved(cls: Any, suffix: str, tmp_path: Path) -> None:
    fitted(cls).truncate(np.int32(5)).save(tmp_path / f"model{suffix}")
    assert len(cls.load(tmp_path / f"model{suffix}")._model.vocabulary) == 5


@pytest.mark.parametrize("docs", [["ab"], [[0, 1]]])
def test_a_tokenizer_that_has_learned_nothing_is_loaded(cls: Any, suffix: str, docs: Any, tmp_path: Path) -> None:
    tok = cls(2).fit(docs, progress=False)
    tok.save(tmp_path / f"model{suffix}")
    for load in (cls.load, ubpe_numba.load):
        assert load(tmp_path / f"model{suffix}").fingerprint == tok.fingerprint


BAD_PARAMS = [{"n_tokens": 0}, {"n_candidates": -1}, {"objective": "zzz"}, {"objective": [1.0]}, {"rules": "rank"}]


@pytest.mark.parametrize("cls, params", with_class(BAD_PARAMS))
def test_what_could_not_be_read_is_not_written(cls: Any, suffix: str, params: Any, tmp_path: Path) -> None:
    path = tmp_path / f"model{suffix}"
    tok = fitted(cls)
    tok.save(path)
    old = path.read_bytes()
    with pytest.raises((TypeError, ValueError), match=next(iter(params))):
        tok.set_params(**params).save(path)
    assert path.read_bytes() == old


def test_rules_changed_after_fit_mean_the_same_before_and_after(suffix: str, tmp_path: Path) -> None:
    """A saved or pickled tokenizer encodes like the one whose rules were changed."""
    tok, doc = UBPEClassic.from_merges([[7, 3], [1, 2], [3, 5]], alphabet=6), [1, 2, 3, 5]
    assert tok.encode(doc).tolist() == [6, 5]
    tok.set_params(rules=FitRules(encode="batch"))
    tok.save(tmp_path / f"model{suffix}")
    loaded = UBPEClassic.load(tmp_path / f"model{suffix}")
    assert tok.fingerprint == loaded.fingerprint
    pickled = pickle.loads(pickle.dumps(tok))
    assert tok.encode(doc).tolist() == loaded.encode(doc).tolist() == pickled.encode(doc).tolist()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_pickle_and_copy(cls: Any, kind: str, protocol: int) -> None:
    tok = fitted(cls, kind, n_threads=2)
    for again in (pickle.loads(pickle.dumps(tok, protocol)), copy.deepcopy(tok), copy.copy(tok)):
        assert again.fingerprint == tok.fingerprint
        assert again.get_params() == tok.get_params()
        assert encoded(again, kind) == encoded(tok, kind)
        assert not again._model.vocabulary.arena.flags.writeable
    unfitted = pickle.loads(pickle.dumps(cls(5), protocol))
    assert unfitted.get_params() == cls(5).get_params()


# --- the file system


def test_paths_that_cannot_be_saved_to_or_loaded(cls: Any, suffix: str, tmp_path: Path) -> None:
    tok = fitted(cls)
    for name in ("model", "model.bin", f"model{suffix}.gz", suffix):
        with pytest.raises(ValueError, match=r"path: expected a name that ends in \.json or \.npz, got '.*'"):
            tok.save(tmp_path / name)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        cls.load(tmp_path / f"nowhere{suffix}")
    with pytest.raises(FileNotFoundError, match="missing"):
        tok.save(tmp_path / "missing" / f"model{suffix}")
    folder = tmp_path / f"folder{suffix}"
    folder.mkdir()
    for call in (tok.save, cls.load):
        with pytest.raises((OSError, ModelFormatError), match="folder"):
            call(folder)
        with pytest.raises(TypeError):
            call(None)
    assert list(tmp_path.iterdir()) == [folder]


def test_the_other_class_is_named(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"model{suffix}"
    for cls in CLASSES:
        fitted(cls).save(path)
        for other in CLASSES:
            if other is not cls:
                match = f"model{suffix}: a {cls.__name__}, not a {other.__name__}: use {cls.__name__}.load"
                with pytest.raises(ModelFormatError, match=re.escape(match)):
                    other.load(path)


# --- hostile files


def model_of(cls: Any, tmp_path: Path) -> dict[str, Any]:
    fitted(cls, n_tokens=8).save(tmp_path / "base.json")
    return dict(json.loads((tmp_path / "base.json").read_text()))


def spoil(model: dict[str, Any], place: str, value: Any) -> None:
    """Set the field at a dotted place; `...` removes it."""
    *parts, last = [int(part) if part.isdigit() else part for part in place.split(".")]
    at: Any = model
    for part in parts:
        at = at[part]
    if value is ...:
        del at[last]
    else:
        at[last] = value


HUGE = 10**400
FIELDS = [
    ("format", "ubpe", 'no "format": "ubpe-numba"'), ("format", ..., "which is none of"),
    ("version", 6, "version 6; this library reads versions 1 to 5"), ("version", 0, "version 0"),
    ("version", "1", "version '1'"), ("version", None, "version None"), ("version", [1], r"version \[1\]"),
    ("version", True, "version True"), ("version", 1.0, "version 1.0"), ("tokenizer", ..., "which is none of"),
    ("tokenizer", 5, "tokenizer: expected a name"), ("tokenizer", "X", "a X, not a"),
    ("params", ..., "the field 'params' is missing"), ("params", [], "params: expected an object"),
    ("params", None, "params: expected"), ("alphabet", ..., "the field 'alphabet' is missing"),
    ("alphabet", "abc", "alphabet: expected an object"), ("vocabulary", ..., "the field 'vocabulary' is missing"),
    ("vocabulary", 5, "vocabulary: expected an object"), ("params.n_tokens", 0, "n_tokens: expected at least 1, got 0"),
    ("params.n_tokens", 8.0, "n_tokens: expected an int, got 8.0"), ("params.n_tokens", 2**40, "n_tokens: expected at most"),
    ("params.n_tokens", [], "n_tokens"), ("params.size", 3, "size"), ("params.n_threads", 1, "n_threads"),
    ("params.rules", [], "rules|mapping"), ("params.rules.ties", "coin", "ties: expected one of"),
    ("params.rules.min_count", 0, "min_count: expected an int of at least 1"), ("params.rules.min_count", 2.0, "min_count"),
    ("params.rules.overshoot", 1, "overshoot: expected a bool"), ("params.rules.luck", 1, "luck"),
    ("params.alphabet", 3, "alphabet"), ("alphabet.kind", ..., "kind"),
    ("alphabet.kind", "float", "kind: expected 'int', 'str' or 'bytes', got 'float'"), ("alphabet.kind", [], "kind: expected"),
    ("alphabet.luck", 1, "luck"), ("alphabet.size", ..., "size"), ("alphabet.size", 0, "alphabet size: expected 1"),
    ("alphabet.size", 3.0, "alphabet size: expected an integer, got 3.0"),
    ("alphabet.size", 4, "n_alphabet: expected an alphabet of 4, got 3"),
    ("alphabet.symbols", [0, 1], "alphabet: symbols: expected 3, the size, got 2"),
    ("alphabet.symbols", [], "alphabet: symbols: expected 1"),
    ("alphabet.symbols", [5, 5, 6], "symbol 5 is there twice, as entry 0 and entry 1"),
    ("alphabet.symbols", "abc", "expected integers, got char"),
    ("alphabet.symbols", [0, 1.0, 2], "position 1: expected an integer, got 1.0"),
    ("alphabet.symbols", [0, True, 2], "got True"), ("alphabet.symbols", [0, 1, 2**63], "an integer that fits int64"),
    ("alphabet.symbols", {"0": 1}, "got dict"), ("vocabulary.n_alphabet", ..., "n_alphabet"),
    ("vocabulary.n_alphabet", 4, "expected|an alphabet of 3"), ("vocabulary.n_alphabet", 0, "n_alphabet: expected"),
    ("vocabulary.n_alphabet", 10**13, "an alphabet of 3"),
    ("vocabulary.n_documents", -1, "n_documents: expected an integer of at least 0"),
    ("vocabulary.n_documents", 1.5, "n_documents"), ("vocabulary.luck", 1, "luck"),
    ("vocabulary.max_symbols", 10**18, "max_symbols"),
    ("vocabulary.weights", [0.5] * 4, r"weights: expected 5 values, got shape \(4,\)"),
    ("vocabulary.weights", [[0.5] * 5], "weights: expected numbers, got list"),
    ("vocabulary.weights.1", -0.5, r"weights\[1\]: expected a number in 0..1e6, got -0.5"),
    ("vocabulary.weights.0", HUGE, "weights"),
]  # fmt: skip
PAIRS = [
    ("vocabulary.merges", ..., "lengths|symbols|merges"), ("vocabulary.merges", None, "merges: expected integers"),
    ("vocabulary.merges", [], "expected 0 values, got shape"),
    ("vocabulary.merges", [0, 1, 2, 3, 4], r"merges: expected shape \(m, 2\), got \(5,\)"),
    ("vocabulary.merges.1.0", -1, r"merges\[1\]: expected ids in 0..7, got \[-1, 1\]"),
    ("vocabulary.merges.1.1", 2**63, "merges: expected less than|merges: expected integers"),
    ("vocabulary.merges.1", [4, 0], r"merges\[1\]: the token 4 is built on itself"),
    ("vocabulary.merges.4", [7, 7], r"merges\[4\]: the token 7 is built"),
    ("vocabulary.merges.0", [6, 0], r"merges\[\d\]: the token \d is built on itself"),
    ("vocabulary.merges.1", [0, 1], r"merges: the pair \[0, 1\] is there twice"),
    ("vocabulary.counts.2", -1, r"counts\[2\]: expected at least 0, got -1"), ("vocabulary.counts.0", 2**63, "counts: expected"),
    ("vocabulary.log_probabilities", [0.0] * 7 + [-2e6], r"log_probabilities\[7\]: expected a number in -1e6..1e6"),
    ("vocabulary.log_probabilities", [True] * 8, "log_probabilities: expected numbers"),
]  # fmt: skip
SEQUENCES = [
    ("vocabulary.lengths", ..., "lengths"), ("vocabulary.symbols", ..., "symbols"),
    ("vocabulary.symbols", None, "symbols: expected integers"),
    ("vocabulary.symbols.0", 3, r"symbols\[0\]: expected 0..2, got 3"),
    ("vocabulary.symbols", [[0, 1]], "symbols and lengths: expected 1-D, got 2-D and 1-D"),
    ("vocabulary.lengths.0", 1, r"lengths\[0\]: expected at least 2"),
    ("vocabulary.lengths.0", 2**62, r"lengths\[0\]: expected at least 2 of"),
    ("vocabulary.lengths.0", 2**63, "lengths: expected"), ("vocabulary.lengths.0", 3, "lengths: expected a sum"),
    ("vocabulary.lengths", [2], "lengths: expected a sum of"), ("vocabulary.lengths", [], "lengths|values"),
    ("vocabulary.merges", [[0, 1]], "symbols|lengths"), ("vocabulary.max_symbols", 10**18, "max_symbols"),
]  # fmt: skip


@pytest.mark.parametrize("place, value, match", [*FIELDS, *PAIRS], ids=lambda x: str(x)[:24])
def test_a_wrong_field_of_pairs(place: str, value: Any, match: str, tmp_path: Path) -> None:
    model = model_of(BPE, tmp_path)
    spoil(model, place, value)
    refuse(BPE, tmp_path / "model.json", json.dumps(model), match)


@pytest.mark.parametrize("place, value, match", SEQUENCES, ids=lambda x: str(x)[:24])
def test_a_wrong_field_of_sequences(place: str, value: Any, match: str, tmp_path: Path) -> None:
    fitted(UBPE).truncate(8, by="idf").save(tmp_path / "base.json")
    model = json.loads((tmp_path / "base.json").read_text())
    assert "lengths" in model["vocabulary"]
    spoil(model, place, value)
    refuse(UBPE, tmp_path / "model.json", json.dumps(model), match)


def test_a_pair_tokenizer_needs_pairs(tmp_path: Path) -> None:
    fitted(UBPE).truncate(8, by="idf").save(tmp_path / "base.json")
    model = json.loads((tmp_path / "base.json").read_text())
    del model["params"]["objective"], model["params"]["token_weights"]
    for cls in (BPE, UBPEClassic):
        if cls is BPE:
            model["params"].pop("n_candidates")
        model["params"].setdefault("n_candidates", 1) if cls is UBPEClassic else None
        model["tokenizer"] = cls.__name__
        refuse(cls, tmp_path / "model.json", json.dumps(model), "encoding by substitution needs pairs")


@pytest.mark.parametrize(
    "data, match",
    [
        (b"", "which is none of"), (b"\xff\xfe\xff", "which is none of"), (b'{"\xe9"', "not valid JSON"),
        (b"\0" * 100, "which is none of"), ("{}".encode("utf-16"), "which is none of"),
        (b"[]", "which is none of"), (b"null", "which is none of"), (b"5", "which is none of"),
        (b"{}", "which is none of"), (b"\xef\xbb\xbf \n{}", "which is none of"), (b"{]", "not valid JSON"),
        (b"[" * 200_000, "which is none of"), (b'{"a":' * 200_000, "not valid JSON"), (b"NaN", "which is none of"),
        (b'{"a": NaN}', "the number NaN is not allowed"),
        (b'{"format": -Infinity}', "the number -Infinity is not allowed"), (b'{"a": ' + b"9" * 5000, "not valid JSON"),
        (b"{} {}", "not valid JSON"), (b'{"format": "\\ud800"}', "which is none of"),
        (b"PK\x05\x06" + bytes(18), "which is none of"),
    ],
    ids=lambda x: str(x)[:16],
)  # fmt: skip
def test_not_a_json_model(cls: Any, data: bytes, match: str, tmp_path: Path) -> None:
    refuse(cls, tmp_path / "model.json", data, match)


@pytest.mark.parametrize("key", ["tokenizer", "vocabulary", "n_alphabet", "n_tokens", "min_count"])
def test_a_key_that_is_there_twice(key: str, tmp_path: Path) -> None:
    """At any level: of two values of a setting readers would take one or the other."""
    text = json.dumps(model_of(BPE, tmp_path))
    assert text.count(f'"{key}": ') == 1
    match = re.escape(f"{tmp_path / 'model.json'}: JSON: the key '{key}' is there twice in an object")
    refuse(BPE, tmp_path / "model.json", text.replace(f'"{key}": ', f'"{key}": 0, "{key}": '), f"^{match}$")


def test_a_long_key_that_is_there_twice_is_shown_in_part(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text(json.dumps({"k" * 10_000: 1, "@": 2}).replace("@", "k" * 10_000))
    with pytest.raises(ModelFormatError, match="the key 'kkkk") as caught:
        BPE.load(tmp_path / "model.json")
    assert len(str(caught.value)) < 300 + len(str(tmp_path))


def test_a_model_behind_many_blanks(tmp_path: Path) -> None:
    """A file that is all blanks is read in pieces, and refused."""
    fitted(BPE).save(tmp_path / "base.json")
    data = (tmp_path / "base.json").read_bytes()
    for n in (4095, 4096, 65_533, 200_000):
        for blank in (b" ", b"\r\n\t "):
            for mark in (b"", b"\xef\xbb\xbf"):
                (tmp_path / "model.json").write_bytes(mark + (blank * n)[:n] + data)
                assert BPE.load(tmp_path / "model.json").fingerprint == fitted(BPE).fingerprint
    refuse(BPE, tmp_path / "model.json", b" " * 200_000 + b"[]", "which is none of")
    (tmp_path / "model.json").write_bytes(b" " * 30_000_000)
    tracemalloc.start()
    with pytest.raises(ModelFormatError, match="which is none of"):
        BPE.load(tmp_path / "model.json")
    assert tracemalloc.get_traced_memory()[1] < 2e6
    tracemalloc.stop()


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_no_number_is_infinite(number: str, tmp_path: Path) -> None:
    for place in ("vocabulary.weights.0", "vocabulary.counts.0", "params.n_tokens"):
        model = model_of(BPE, tmp_path)
        spoil(model, place, "@")
        text = json.dumps(model).replace('"@"', number)
        refuse(BPE, tmp_path / "model.json", text, f"{number} is not allowed|{place.split('.')[1]}")


def test_deep_nesting_inside_a_model(tmp_path: Path) -> None:
    places = ("vocabulary.merges", "vocabulary.weights", "alphabet.symbols", "params.n_tokens")
    for place in places:
        for depth in (40, 100, 900):
            model = model_of(BPE, tmp_path)
            spoil(model, place, "@")
            nested = "[" * depth + "0" + "]" * depth
            refuse(BPE, tmp_path / "model.json", json.dumps(model).replace('"@"', nested))


def test_a_truncated_file_is_refused_wherever_it_ends(cls: Any, suffix: str, tmp_path: Path) -> None:
    tok, path = fitted(cls, n_tokens=6), tmp_path / f"model{suffix}"
    tok.save(path)
    data = path.read_bytes()
    for n in range(len(data)):
        if data[n:].strip():
            refuse(cls, path, data[:n])
        else:
            path.write_bytes(data[:n])
            assert cls.load(path).fingerprint == tok.fingerprint


def test_a_changed_byte_is_refused_or_harmless(cls: Any, suffix: str, tmp_path: Path) -> None:
    """Refused, or the model that is read encodes and decodes; in npz checksums protect all numbers."""
    # one byte can hide members of an npz in a comment
    tok, path = fitted(cls, n_tokens=6), tmp_path / f"model{suffix}"
    tok.save(path)
    data = path.read_bytes()
    rng = random.Random(7)
    for n in range(len(data)):
        changed = bytearray(data)
        changed[n] = rng.choice(b'0123456789-.,[]{}"e \0\xff')
        path.write_bytes(changed)
        try:
            again = cls.load(path)
        except ModelFormatError:
            continue
        assert suffix == ".json" or again.fingerprint == tok.fingerprint
        for doc in ([], [0, 1, 0, 1, 1], [1, 1, 0]):
            if again._model.alphabet.kind == "int" and again._model.alphabet.is_identity:
                assert again.decode(again.encode(doc, unknown=0)).size == len(doc)


def doubling(cls: Any, steps: int, tmp_path: Path) -> dict[str, Any]:
    """A model whose last token stands for 2**steps symbols."""
    model = model_of(cls, tmp_path)
    del model["vocabulary"]["occurrences"]
    merges = [[0, 0], *([3 + i, 3 + i] for i in range(steps - 1))][:steps]
    model["vocabulary"] |= {
        "merges": merges,
        "weights": [0.5] * steps,
        "counts": [1] * steps,
        "document_frequencies": [1] * steps,
    }
    return model


def in_a_process_of_its_own(code: str, *arguments: object) -> list[str]:
    """The lines that code prints; `limit()` gives it 512 MB more than it has. A crash fails the test only."""
    start = """
import json, resource, sys
from ubpe_numba import *
from ubpe_numba.vocabulary.vocabulary import Vocabulary

def limit():
    with open("/proc/self/statm") as f:
        size = int(f.read().split()[0]) * resource.getpagesize() + 2**29
    resource.setrlimit(resource.RLIMIT_AS, (size, size))

def attempt(call, *arguments, **params):
    try:
        print("read", call(*arguments, **params))
    except (ValueError, MemoryError) as error:
        print(f"{type(error).__name__}: {error}")
"""
    path = [str(Path(ubpe_numba.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))}
    command = [sys.executable, "-c", start + code, *map(str, arguments)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"exit code {done.returncode}: {done.stderr[-300:]}"
    return done.stdout.splitlines()


STEPS = [30, 31, 32, 61, 62, 63, 64, 65, 66, 127, 128, 200, 5000]
CLAIMS: dict[str, tuple[int, dict[str, Any]]] = {
    "an alphabet that the file does not have": (0, {"vocabulary.n_alphabet": 10**9}),
    "a large alphabet": (
        0, {"vocabulary.n_alphabet": 2**31 - 4, "alphabet.size": 2**31 - 4, "params.n_tokens": 2**31 - 3},
    ),
    "its own limit": (32, {"vocabulary.max_symbols": 2**40}),
    "tokens just below the limit": (26, {}),
}  # fmt: skip
if sys.platform == "linux":  # where memory can be limited; and a crash is not to take the other tests with it

    def test_tables_of_doubled_tokens_are_refused(cls: Any, tmp_path: Path) -> None:
        for steps in STEPS:
            (tmp_path / f"{steps}.json").write_text(json.dumps(doubling(cls, steps, tmp_path)))
        code = f"""
cls = {cls.__name__}
cls.load(sys.argv[1] + "/base.json")
limit()
for steps in {STEPS}:
    attempt(cls.load, f"{{sys.argv[1]}}/{{steps}}.json")
    attempt(Vocabulary.from_merges, 1, [[0, 0]] + [[1 + i, 1 + i] for i in range(steps - 1)])
    dump = dict(n_tokens=9, alphabet={{"0": 0, "1": 1}})
    dump["mapper"] = {{str(2 + i): [1 + i, 1 + i] for i in range(steps)}}
    attempt(UBPEClassic.load, json.dumps(dump | dict(weights=dict.fromkeys(dump["mapper"], 0.5))))
"""
        lines = in_a_process_of_its_own(code, tmp_path)
        assert len(lines) == 3 * len(STEPS)
        for line in lines:
            assert line.startswith("ModelFormatError")
            assert re.search(r"have more than \d+ symbols in all; pass a larger max_symbols", line)

    @pytest.mark.parametrize("claim", CLAIMS)
    def test_small_files_take_little_memory(claim: str, tmp_path: Path) -> None:
        steps, fields = CLAIMS[claim]
        model = doubling(BPE, steps, tmp_path)
        for place, value in fields.items():
            spoil(model, place, value)
        (tmp_path / "model.json").write_text(json.dumps(model))
        code = "BPE.load(sys.argv[1]); limit(); attempt(BPE.load, sys.argv[2])"
        (line,) = in_a_process_of_its_own(code, tmp_path / "base.json", tmp_path / "model.json")
        assert line.startswith("ModelFormatError")

    def test_small_dumps_take_little_memory(tmp_path: Path) -> None:
        mapper = {str(2 + i): [1 + i, 1 + i] for i in range(26)}
        weights = dict.fromkeys(mapper, 0.5)
        dump = {"n_tokens": 9, "alphabet": {"0": 0, "1": 1}, "mapper": mapper, "weights": weights}
        (tmp_path / "dump.json").write_text(json.dumps(dump))
        fitted(BPE).save(tmp_path / "base.json")
        code = "BPE.load(sys.argv[1]); limit(); attempt(UBPEClassic.load, open(sys.argv[2]).read())"
        (line,) = in_a_process_of_its_own(code, tmp_path / "base.json", tmp_path / "dump.json")
        assert line.startswith("ModelFormatError")


def test_the_limit_is_the_callers(cls: Any, suffix: str, tmp_path: Path) -> None:
    merges = [[0, 0]] + [[2 + i, 2 + i] for i in range(9)]
    tok = cls.from_merges(merges, 2) if cls is not UBPE else fitted(UBPE)
    tok.save(tmp_path / f"model{suffix}")
    with pytest.raises(ModelFormatError, match="have more than 5 symbols in all"):
        cls.load(tmp_path / f"model{suffix}", max_symbols=5)
    assert cls.load(tmp_path / f"model{suffix}", max_symbols=2046).fingerprint == tok.fingerprint


@pytest.mark.parametrize("limits", [{"max_symbols": 1}, {"luck": 3}])
def test_limits_of_flat_sequences(limits: dict[str, int], tmp_path: Path) -> None:
    fitted(UBPE).truncate(8, by="idf").save(tmp_path / "model.json")
    with pytest.raises((ModelFormatError, TypeError), match="more than 1 symbols|luck"):
        UBPE.load(tmp_path / "model.json", **limits)


@pytest.mark.parametrize(
    "arguments, error",
    [({"n_threads": 0}, ValueError), ({"n_threads": "2"}, TypeError), ({"luck": 3}, TypeError)],
)
def test_wrong_arguments_are_not_the_files_fault(cls: Any, arguments: Any, error: Any, tmp_path: Any) -> None:
    fitted(cls).save(tmp_path / "model.json")
    with pytest.raises(error, match=next(iter(arguments))) as caught:
        cls.load(tmp_path / "model.json", **arguments)
    assert not isinstance(caught.value, ModelFormatError)


def test_the_environment_is_not_the_files_fault(cls: Any, tmp_path: Path, monkeypatch: Any) -> None:

    fitted(cls).save(tmp_path / "model.json")
    monkeypatch.setenv("UBPE_NUM_THREADS", "many")
    with pytest.raises(ValueError, match="environment variable UBPE_NUM_THREADS") as caught:
        cls.load(tmp_path / "model.json")
    assert not isinstance(caught.value, ModelFormatError)


# --- hostile npz files


def npy(array: Any, **changes: Any) -> bytes:
    """An .npy member, with parts of its header changed."""
    array = np.asarray(array)
    header = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape} | changes
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, header)
    return buffer.getvalue() + array.tobytes()


def npy_text(header: bytes, data: bytes = b"") -> bytes:
    """An .npy member with any header."""
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


def members(cls: Any, tmp_path: Path, kind: str = "dense") -> dict[str, bytes]:
    fitted(cls, kind).save(tmp_path / "base.npz")
    with zipfile.ZipFile(tmp_path / "base.npz") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(parts: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return buffer.getvalue()


class Bomb:
    """Leaves a trace when unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("exploded",)


def object_array() -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.array([Bomb(), Bomb()], object), allow_pickle=True)
    return buffer.getvalue()


HEAD, MERGES = "head.npy", "vocabulary.merges.npy"
WEIGHTS, COUNTS = "vocabulary.weights.npy", "vocabulary.counts.npy"
PAIR5 = np.array([[0, 1], [1, 1], [2, 2], [2, 3], [5, 4]], np.int32)
MEMBERS = [
    (HEAD, None, "the member 'head' is missing"), (HEAD, npy(np.zeros(0, np.uint8)), "not valid JSON"),
    (HEAD, npy([1, 2]), "head: unexpected dtype"), (HEAD, npy(np.frombuffer(b"{}", np.uint8)), "not a model"),
    (MERGES, None, "lengths|symbols|merges"), ("alphabet.npy", npy([0]), "unexpected member 'alphabet.npy'"),
    ("extra.npy", npy([1]), "unexpected member 'extra.npy'"),
    ("../merges.npy", npy([1]), r"unexpected member '\.\./merges.npy'"),
    ("vocabulary.offsets.npy", npy([1]), "unexpected member"),
    ("vocabulary.merges", npy(PAIR5), "unexpected member 'vocabulary.merges'"),
    ("readme.txt", b"hello", "unexpected member 'readme.txt'"), (MERGES, b"", "not a valid array header"),
    (MERGES, b"garbage" * 9, "not a valid array header: .*magic"),
    (MERGES, npy(PAIR5.astype(float)), "vocabulary.merges: unexpected dtype float64"),
    (MERGES, npy(PAIR5 > 0), "unexpected dtype bool"), (MERGES, npy(PAIR5.astype(complex)), "unexpected dtype complex128"),
    (MERGES, npy(PAIR5.astype("U1")), "unexpected dtype <U1"),
    (MERGES, npy(PAIR5.astype("M8[s]")), "unexpected dtype datetime64"),
    (MERGES, npy(PAIR5, fortran_order=True), "unexpected dtype int32 or shape"),
    (MERGES, npy(PAIR5, descr="|O"), "unexpected dtype object"),
    (MERGES, npy(PAIR5, descr=[("a", "<i4"), ("b", "O")]), "unexpected dtype"),
    (MERGES, npy(PAIR5, shape=(10**9, 2)), r"shape \(1000000000, 2\) does not match 40 bytes"),
    (MERGES, npy(PAIR5, shape=(4, 2)), "does not match"), (MERGES, npy(PAIR5, shape=(2**62, 2)), "does not match 40 bytes"),
    (MERGES, npy(PAIR5, shape=(-1, -1)), "."), (MERGES, npy(PAIR5, shape=()), "unexpected"),
    (MERGES, npy(PAIR5, shape=(10,)), r"expected shape \(m, 2\), got \(10,\)"),
    (MERGES, npy(PAIR5.ravel()[:0], shape=(0, 2**40)), "."),
    (MERGES, b"\x93NUMPY\x02\x00" + npy(PAIR5)[8:], "expected format 1.0"),
    (MERGES, npy(PAIR5.astype(np.int64) + 2**32), r"merges\[0\]: expected ids in"),
    (MERGES, npy(PAIR5.astype(np.uint64) + np.uint64(2**63)), "merges"),
    (MERGES, npy(PAIR5 * 0), r"the pair \[0, 0\] is there twice"),
    (WEIGHTS, npy([np.nan] * 5), r"weights\[0\]: expected a number"),
    (WEIGHTS, npy([0.0] * 4 + [-1e-9]), r"weights\[4\]: expected"), (WEIGHTS, npy([1] * 5), "weights: unexpected dtype int64"),
    (WEIGHTS, npy([0.5] * 6), r"weights: expected 5 values, got shape \(6,\)"),
    (COUNTS, npy([-1] * 5), r"counts\[0\]: expected at least 0"), (COUNTS, npy([2**64 - 1] * 5), "counts: expected less than"),
    (COUNTS, object_array(), "unexpected dtype object"), (WEIGHTS, object_array(), "unexpected dtype object"),
    (HEAD, object_array(), "unexpected dtype object"), (COUNTS, pickle.dumps(Bomb()), "."), (WEIGHTS, None, "weights"),
    (COUNTS, npy_text(b"{'descr': '<i8', 'fortran_order': False, 'shape': (5,\n", bytes(40)), "."),
    (COUNTS, npy_text(b"{b'descr': '<i8', 'fortran_order': False, 'shape': (5,), }\n", bytes(40)), "."),
    (COUNTS, npy_text(b"(" * 5000, bytes(40)), "."), (COUNTS, npy_text(b"-" * 9000 + b"1", bytes(40)), "."),
    (COUNTS, npy_text(b"", bytes(40)), "."),
]  # fmt: skip


@pytest.mark.parametrize("name, data, match", MEMBERS, ids=lambda x: str(x)[:24])
def test_a_wrong_member(name: str, data: bytes | None, match: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    parts = members(BPE, tmp_path)
    assert len(parts[MERGES]) == 128 + 40 or data is None
    parts[name] = data  # type: ignore[assignment]
    if data is None:
        del parts[name]
    refuse(BPE, tmp_path / "model.npz", zipped(parts), match)
    assert not (tmp_path / "exploded").exists()


def test_sequences_in_npz(tmp_path: Path) -> None:
    fitted(UBPE).truncate(8, by="idf").save(tmp_path / "base.npz")
    with zipfile.ZipFile(tmp_path / "base.npz") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    n = len(np.load(tmp_path / "base.npz")["vocabulary.lengths"])
    for dtype in (np.uint8, np.int16, ">i4", np.uint64):
        lengths = np.load(tmp_path / "base.npz")["vocabulary.lengths"].astype(dtype)
        path = tmp_path / "model.npz"
        path.write_bytes(zipped(parts | {"vocabulary.lengths.npy": npy(lengths)}))
        assert UBPE.load(path).fingerprint == UBPE.load(tmp_path / "base.npz").fingerprint
    for bad in (
        np.full(n, 2**63 - 1),
        np.full(n, 2**62),
        np.full(n, -(2**63)),
        np.full(n, 255, np.uint8),
        np.full(n, 2**64 - 1, np.uint64),
    ):
        refuse(UBPE, tmp_path / "model.npz", zipped(parts | {"vocabulary.lengths.npy": npy(bad)}), "lengths")


def test_compressed_and_lying_archives(cls: Any, tmp_path: Path) -> None:
    parts, path = members(cls, tmp_path), tmp_path / "model.npz"
    match = "is compressed or claims too many bytes"
    for compression in (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        refuse(cls, path, zipped(parts, compression), match)
    bomb = zipped({HEAD: npy(np.zeros(2 * 10**8, np.uint8))}, zipfile.ZIP_DEFLATED)
    assert len(bomb) < 10**6
    refuse(cls, path, bomb, match)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
        archive.infolist()[0].file_size = 10**9
    refuse(cls, path, buffer.getvalue(), match)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, data in [*parts.items(), *parts.items()]:
            archive.writestr(name, data)
    refuse(cls, path, buffer.getvalue(), "unexpected member")
    for data in (b"", b"PK", b"\0" * 100, b"{}", npy([1, 2]), zipped({})):
        refuse(cls, path, data, "not a valid npz file|the member 'head' is missing|which is none of")


def test_arrays_may_stand_in_the_head(tmp_path: Path) -> None:
    """Both formats hold the same fields, so an npz whose head has the lists of a JSON model is valid too, and is checked."""
    model = model_of(BPE, tmp_path)
    head = np.frombuffer(json.dumps(model).encode(), np.uint8)
    (tmp_path / "model.npz").write_bytes(zipped({HEAD: npy(head)}))
    assert BPE.load(tmp_path / "model.npz").fingerprint == BPE.load(tmp_path / "base.json").fingerprint
    spoil(model, "vocabulary.merges.0", [9, 9])
    head = np.frombuffer(json.dumps(model).encode(), np.uint8)
    refuse(BPE, tmp_path / "model.npz", zipped({HEAD: npy(head)}), r"merges\[0\]")


def make(cls: Any) -> Any:
    tok = cls.for_text(300, pretokenizer="cl100k", special_tokens=[END, b"\xff"], known_words=["<br>"])
    return tok.fit(TEXT, progress=False)


@pytest.mark.filterwarnings("ignore:every idf is 0:UserWarning")  # few documents, or all alike
@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_models_keep_it_all(cls: Any, suffix: str, tmp_path: Path) -> None:
    tok = make(cls)
    path = tmp_path / f"m{suffix}"
    tok.save(path)
    text = f"the {END}cat<br>sat \x7f"
    want = tok.encode(text, allowed_special="all").tolist()
    for again in (cls.load(path), pickle.loads(pickle.dumps(tok))):
        assert again.fingerprint == tok.fingerprint and again.vocabulary.special == tok.vocabulary.special
        assert again.encode(text, allowed_special="all").tolist() == want and again.decode(want) == text
    again = cls.load(path)
    assert again.preprocessing == Preprocessing("cl100k", [END, b"\xff"], known_words=["<br>"], encoding="utf-8")
    again.save(path)
    assert cls.load(path).fingerprint == tok.fingerprint
    assert again.fit(TEXT, progress=False).vocabulary.special == tok.vocabulary.special
    plain = cls(300, preprocessing=Preprocessing(pretokenizer="gpt2")).fit(TEXT, progress=False)
    assert plain.fingerprint != cls(300, preprocessing=Preprocessing(pretokenizer="cl100k")).fit(TEXT, progress=False).fingerprint
    with pytest.raises(ValueError, match="export refused: a dump has no place for a pretokenizer"):
        export(tok, "ubpe")


@pytest.mark.filterwarnings("ignore:every idf is 0:UserWarning")  # few documents, or all alike
def test_words_of_every_kind_in_files(tmp_path: Path) -> None:
    for kind_of_words, docs in (([[1, -2], (3,)], [[1, 2]]), (["é", "\ud800"], ["ab"]), (["é", b"\x80"], [b"ab"])):
        tok = BPE(None, preprocessing=Preprocessing(special_tokens=kind_of_words)).fit(docs, progress=False)
        for name in ("m.json", "m.npz"):
            tok.save(tmp_path / name)
            assert BPE.load(tmp_path / name).vocabulary.special == tok.vocabulary.special


CHANGES: list[tuple[Any, str]] = [
    ({"pretokenizer": "gpt2"}, "pretokenizer: expected an object"),
    ({"pretokenizer": {"name": None}}, "pretokenizer: the field 'pattern' is missing"),
    ({"pretokenizer": {"name": None, "pattern": "(", "unicode": "16.0"}}, "is not a regular expression"),
    ({"pretokenizer": {"name": None, "pattern": 3, "unicode": "16.0"}}, "pretokenizer: expected a name"),
    ({"pretokenizer": {"name": "gpt2", "pattern": "a+", "unicode": "16.0"}}, "do not go together"),
    ({"special_tokens": []}, "special_tokens: expected an object"),
    ({"special_tokens": {"kind": "bytes", "words": ["a"], "ids": [1]}}, "special_tokens: the field 'known' is missing"),
    ({"special_tokens": {"kind": "bytes", "words": ["a"], "ids": [1, 2], "known": [False]}}, "as many ids as words"),
    ({"special_tokens": {"kind": "bytes", "words": ["a"], "ids": [1], "known": [0]}}, "known: expected a list of true"),
    ({"special_tokens": {"kind": "int", "words": [[1]], "ids": [900], "known": [False]}}, "expected words of bytes, got int"),
    ({"special_tokens": {"kind": "bytes", "words": ["a"], "ids": [1], "known": [False]}}, "the id 1 is taken"),
    ({"special_tokens": {"kind": "bytes", "words": ["a"], "ids": [2**31 - 1], "known": [False]}}, "expected ids below"),
    ({"special_tokens": {"kind": "bytes", "words": ["a", "a"], "ids": [900, 901], "known": [False, False]}}, "there twice"),
    ({"special_tokens": {"kind": "bytes", "words": [{"bytes": [256]}], "ids": [900], "known": [False]}}, "words: expected str"),
    ({"encoding": "latin-1"}, "encoding: expected 'utf-8'"), ({"token_ids": [1, 2]}, "token_ids: expected 300 ids, got shape"),
    ({"token_ids": [0] * 299 + [2**31 - 1]}, r"token_ids\[299\]: expected 0..66135, got 2147483647"),
    ({"token_ids": "x"}, "token_ids: expected integers"), ({"surprise": 1}, "text: unexpected field 'surprise'"),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:every idf is 0:UserWarning")  # few documents, or all alike
@pytest.mark.parametrize("change, match", CHANGES, ids=lambda x: str(x)[:40])
def test_hostile_settings_of_text(change: Any, match: str, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    BPE.for_text(300, pretokenizer=None).fit(TEXT * 3, progress=False).save(path)
    model = json.loads(path.read_text())
    model["text"] = {**model["text"], **change}
    path.write_text(json.dumps(model))
    with pytest.raises(ModelFormatError, match=match):
        BPE.load(path)
    model["text"] = 3
    path.write_text(json.dumps(model))
    with pytest.raises(ModelFormatError, match="text: expected an object"):
        BPE.load(path)


@pytest.mark.filterwarnings("ignore:every idf is 0:UserWarning")  # few documents, or all alike
def test_another_unicode_is_said(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    BPE(60, preprocessing=Preprocessing(pretokenizer="gpt2")).fit(TEXT, progress=False).save(path)
    path.write_text(path.read_text().replace(f'"{Pretokenizer("gpt2").unicode}"', '"9.0"'))
    with pytest.warns(UserWarning, match=r"cuts text by Unicode 9\.0, and here is"):
        BPE.load(path)
