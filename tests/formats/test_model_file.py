"""Model files: damaged or hostile files are refused; that all is kept is asked in tokenizers/test_pickles.py."""

import copy
import io
import json
import os
import pickle
import random
import re
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from foreign import spoil
from saved_models import KINDS, fitted, refuse
from tables import refuses
from text_samples import TEXT

import ubpe_numba
from ubpe_numba import BPE, UBPE, Preprocessing, Scale, UBPEClassic, WordPiece, load
from ubpe_numba.errors import ModelFormatError
from ubpe_numba.text.pretokenizer import Pretokenizer

pytestmark = pytest.mark.filterwarnings("ignore:every idf is 0:UserWarning")  # few documents, or all alike


@pytest.mark.parametrize(
    "change", [{"n_tokens": 0}, {"n_candidates": -1}, {"objective": [1.0]}, {"rules": "rank"}], ids=str
)
def test_what_could_not_be_read_is_not_written(suffix: str, change: Any, tmp_path: Path) -> None:
    path = tmp_path / f"model{suffix}"
    tok = fitted(UBPE)
    tok.save(path)
    old = path.read_bytes()
    refuses((TypeError, ValueError), next(iter(change)), lambda: tok.set_params(**change).save(path))
    assert path.read_bytes() == old


def test_metadata_comes_back_whatever_is_made_of_the_tokenizer(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"model{suffix}"
    metadata = {"rate": 360.0, "leads": ["I", None, True], "scale": {"low": [-(2**70)]}, "é\ud800": {}}
    for tok in (fitted(BPE), fitted(UBPE, objective="shortest"), WordPiece(["[UNK]", "un"])):
        tok.save(path, metadata=metadata)
        again = load(path)
        assert again == tok and again.metadata_ == metadata and tok.metadata_ is None
        made = [again, pickle.loads(pickle.dumps(again)), again.set_params(n_threads=1)]
        if not isinstance(tok, WordPiece):
            made += [
                again.truncate(4),
                again.with_objective("shortest"),
                load(path).fit_more(KINDS["dense"], 20, progress=False),
            ]
            assert load(path).fit(KINDS["dense"], progress=False).metadata_ is None
        if isinstance(tok, UBPE):
            made += [
                load(path).refine(KINDS["dense"], progress=False),
                load(path).reweight(KINDS["dense"], progress=False),
            ]
        for kept in made[1:]:
            kept.save(path)
            assert load(path).metadata_ == metadata
        kept.save(path, metadata={})
        assert load(path).metadata_ == {}


NO_JSON = [
    ([1], "expected a dict, got list"), ({1: 2}, "metadata: 1: "), ({"a": np.int64(3)}, r"'a': .* got 3 .*; use tolist\(\)"),
    ({"a": float("nan")}, "'a': .* got nan"), ({"b": 1, "a": (1, 2)}, r"'a': .* use list\(\)"), ({"a": [{1: 2}]}, "'a': "),
    ({"a": Scale()}, r"'a': .* got Scale; use state\(\)"),
]  # fmt: skip


@pytest.mark.parametrize("metadata, match", NO_JSON, ids=str)
def test_metadata_that_json_does_not_give_back(metadata: Any, match: str, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=f"metadata: .*{match}" if match[0] == "'" else match):
        fitted(BPE).save(tmp_path / "model.json", metadata=metadata)
    assert not any(tmp_path.iterdir())


def test_paths_that_cannot_be_saved_to_or_loaded(suffix: str, tmp_path: Path) -> None:
    tok = fitted(BPE)
    refuses(FileNotFoundError, "nowhere", lambda: BPE.load(tmp_path / f"nowhere{suffix}"))
    refuses(FileNotFoundError, "missing", lambda: tok.save(tmp_path / "missing" / f"model{suffix}"))
    folder = tmp_path / f"folder{suffix}"
    folder.mkdir()
    for call in (tok.save, BPE.load):
        refuses((OSError, ModelFormatError), "folder", call, folder)
        refuses(TypeError, "", call, None)
    assert list(tmp_path.iterdir()) == [folder]


def test_a_file_has_the_least_version_that_holds_what_it_has(tmp_path: Path) -> None:
    def made(alphabet: Any = 3, **parts: Any) -> Any:
        return BPE.from_merges([[0, 1]], alphabet=alphabet, preprocessing=Preprocessing(**parts))

    toks = [made(), fitted(UBPE).truncate(8, by="idf"), made("ab", break_tokens=["a"]), fitted(UBPE)]
    toks += [
        made({b"a": 0, b"A": 0, b"b": 1}),
        made(runs=[0]),
        made(mirror={0: 1}),
        made("ab", special_tokens=["<x>"]),
    ]
    for tok, version in zip(toks, (1, 2, 3, 4, 5, 6, 6, 1), strict=True):
        tok.save(tmp_path / "a.json")
        assert json.loads((tmp_path / "a.json").read_text())["version"] == version


HUGE = 10**400
#: Fields of a table of pairs.
FIELDS = [
    ("format", "ubpe", 'no "format": "ubpe-numba"'), ("version", 7, "version 7; this library reads versions 1 to 6"),
    ("metadata", [1], "metadata: expected an object"), ("version", "1", "version '1'"), ("version", True, "version True"),
    ("tokenizer", ..., "which is none of"), ("tokenizer", 5, "tokenizer: expected a name"), ("tokenizer", "X", "a X, not a"),
    ("params", ..., "the field 'params' is missing"), ("params", [], "params: expected an object"),
    ("alphabet", "abc", "alphabet: expected an object"), ("params.n_tokens", 0, "n_tokens: expected at least 1, got 0"),
    ("params.n_tokens", 8.0, "n_tokens: expected an int, got 8.0"), ("params.n_tokens", 2**40, "n_tokens: expected at most"),
    ("params.size", 3, "size"), ("params.rules", [], "rules|mapping"),
    ("params.rules.ties", "coin", "ties: expected one of"), ("params.rules.luck", 1, "luck"),
    ("params.rules.min_count", 0, "min_count: expected an int of at least 1"), ("params.rules.min_count", 2.0, "min_count"),
    ("params.rules.overshoot", 1, "overshoot: expected a bool"), ("alphabet.kind", ..., "kind"),
    ("alphabet.kind", "float", "kind: expected 'int', 'str' or 'bytes', got 'float'"), ("alphabet.kind", [], "kind: expected"),
    ("alphabet.size", 0, "alphabet size: expected 1"), ("alphabet.size", 3.0, "alphabet size: expected an integer, got 3.0"),
    ("alphabet.size", 4, "n_alphabet: expected an alphabet of 4, got 3"),
    ("alphabet.symbols", [0, 1], "alphabet: symbols: expected 3, the size, got 2"),
    ("alphabet.symbols", [5, 5, 6], "symbol 5 is there twice, as entry 0 and entry 1"),
    ("alphabet.symbols", [0, 1.0, 2], "position 1: expected an integer, got 1.0"),
    ("alphabet.symbols", [0, 1, 2**63], "an integer that fits int64"), ("alphabet.symbols", {"0": 1}, "got dict"),
    ("vocabulary.n_alphabet", 0, "n_alphabet: expected"), ("vocabulary.n_alphabet", 10**13, "an alphabet of 3"),
    ("vocabulary.n_documents", -1, "n_documents: expected an integer of at least 0"),
    ("vocabulary.luck", 1, "luck"), ("vocabulary.max_symbols", 10**18, "max_symbols"),
    ("vocabulary.weights", [0.5] * 4, r"weights: expected 5 values, got shape \(4,\)"),
    ("vocabulary.weights.1", -0.5, r"weights\[1\]: expected a number in 0..1e6, got -0.5"),
    ("vocabulary.weights.0", HUGE, "weights"), ("vocabulary.merges", ..., "lengths|symbols|merges"),
    ("vocabulary.merges", None, "merges: expected integers"), ("vocabulary.merges", [], "expected 0 values, got shape"),
    ("vocabulary.merges.1.0", -1, r"merges\[1\]: expected ids in 0..7, got \[-1, 1\]"),
    ("vocabulary.merges.1.1", 2**63, "merges: expected less than|merges: expected integers"),
    ("vocabulary.merges.0", [6, 0], r"merges\[\d\]: the token \d is built on itself"),
    ("vocabulary.merges.1", [0, 1], r"merges: the pair \[0, 1\] is there twice"),
    ("vocabulary.counts.2", -1, r"counts\[2\]: expected at least 0, got -1"), ("vocabulary.counts.0", 2**63, "counts: expected"),
    ("vocabulary.log_probabilities", [0.0] * 7 + [-2e6], r"log_probabilities\[7\]: expected a number in -1e6..1e6"),
    ("vocabulary.log_probabilities", [True] * 8, "log_probabilities: expected numbers"),
]  # fmt: skip
#: And of tokens as sequences.
SEQUENCES = [
    ("vocabulary.lengths", ..., "lengths"), ("vocabulary.symbols", None, "symbols: expected integers"),
    ("vocabulary.symbols.0", 3, r"symbols\[0\]: expected 0..2, got 3"),
    ("vocabulary.symbols", [[0, 1]], "symbols and lengths: expected 1-D, got 2-D and 1-D"),
    ("vocabulary.lengths.0", 1, r"lengths\[0\]: expected at least 2"),
    ("vocabulary.lengths.0", 2**62, r"lengths\[0\]: expected at least 2 of"),
    ("vocabulary.lengths.0", 2**63, "lengths: expected"), ("vocabulary.lengths.0", 3, "lengths: expected a sum"),
    ("vocabulary.lengths", [], "lengths|values"), ("vocabulary.merges", [[0, 1]], "symbols|lengths"),
]  # fmt: skip
#: And of text.
RESERVED = {"kind": "bytes", "words": ["a"], "ids": [900], "known": [False]}
SETTINGS: list[tuple[str, Any, str]] = [
    ("text", 3, "text: expected an object"), ("text.pretokenizer", "gpt2", "pretokenizer: expected an object"),
    ("text", {"pretokenizer": {}, "python_pattern": {}}, "expected only one of pretokenizer, splitter, python_pattern"),
    ("text.pretokenizer", {"name": None}, "pretokenizer: the field 'pattern' is missing"),
    ("text.pretokenizer", {"name": None, "pattern": "(", "unicode": "16.0"}, "is not a regular expression"),
    ("text.pretokenizer", {"name": None, "pattern": 3, "unicode": "16.0"}, "pretokenizer: expected a name"),
    ("text.pretokenizer", {"name": "gpt2", "pattern": "a+", "unicode": "16.0"}, "do not go together"),
    ("text.special_tokens", [], "special_tokens: expected an object"),
    ("text.special_tokens", RESERVED | {"ids": [1, 2]}, "as many ids as words"),
    ("text.special_tokens", RESERVED | {"known": [0]}, "known: expected a list of true"),
    ("text.special_tokens", RESERVED | {"kind": "int", "words": [[1]]}, "expected words of bytes, got int"),
    ("text.special_tokens", RESERVED | {"ids": [1]}, "the id 1 is taken"),
    ("text.special_tokens", RESERVED | {"ids": [2**31 - 1]}, "expected ids below"),
    ("text.special_tokens", {"kind": "bytes", "words": ["a"] * 2, "ids": [900, 901], "known": [False] * 2}, "there twice"),
    ("text.special_tokens", RESERVED | {"words": [{"bytes": [256]}]}, "words: expected str"),
    ("text.encoding", "latin-1", "encoding: expected 'utf-8'"),
    ("text.token_ids", [1, 2], "token_ids: expected 300 ids, got shape"),
    ("text.token_ids", [0] * 299 + [2**31 - 1], r"token_ids\[299\]: expected 0..262743, got 2147483647"),
    ("text.token_ids", "x", "token_ids: expected integers"), ("text.surprise", 1, "text: unexpected field 'surprise'"),
]  # fmt: skip


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Any, dict[str, Any]]]:
    """A class and the JSON of a model of it, of pairs, of sequences and of text."""
    made = {
        "pairs": fitted(BPE, n_tokens=8),
        "sequences": fitted(UBPE).truncate(8, by="idf"),
        "text": BPE.for_text(300, pretokenizer=None).fit(TEXT * 3, progress=False),
    }
    path, found = tmp_path_factory.mktemp("models") / "m.json", {}
    for name, tok in made.items():
        tok.save(path)
        found[name] = type(tok), json.loads(path.read_text())
    return found


CASES = [
    (name, *row)
    for name, rows in (("pairs", FIELDS), ("sequences", SEQUENCES), ("text", SETTINGS))
    for row in rows
]


@pytest.mark.parametrize("name, place, value, match", CASES, ids=lambda x: str(x)[:24])
def test_a_wrong_field(models: Any, name: str, place: str, value: Any, match: str, tmp_path: Path) -> None:
    cls, model = copy.deepcopy(models[name])
    spoil(model, place, value)
    refuse(cls, tmp_path / "model.json", json.dumps(model), match)


def test_a_pair_tokenizer_needs_pairs(models: Any, tmp_path: Path) -> None:
    _, model = copy.deepcopy(models["sequences"])
    del model["params"]["objective"], model["params"]["token_weights"]
    model["tokenizer"] = "UBPEClassic"
    refuse(UBPEClassic, tmp_path / "model.json", json.dumps(model), "encoding by substitution needs pairs")


NESTED = ["[" * depth + "0" + "]" * depth for depth in (40, 900)]


@pytest.mark.parametrize(
    "value", ["NaN", "-Infinity", "1e999", "-1e999", *NESTED], ids=lambda value: value[:9] + value[-3:]
)
def test_no_number_is_infinite_or_nested(models: Any, value: str, tmp_path: Path) -> None:
    for place in (
        "vocabulary.weights.0",
        "vocabulary.counts",
        "vocabulary.merges",
        "alphabet.symbols",
        "params.n_tokens",
    ):
        _, model = copy.deepcopy(models["pairs"])
        text = json.dumps(spoil(model, place, "@")).replace('"@"', value)
        refuse(
            BPE,
            tmp_path / "model.json",
            text,
            f"{value} is not allowed|{place.split('.')[1]}" if value[0] != "[" else ".",
        )
    if value[0] != "[":  # which nests no deeper than JSON may
        text = json.dumps({**models["pairs"][1], "metadata": {"a": ["@"]}}).replace('"@"', value)
        refuse(BPE, tmp_path / "model.json", text, f"{value} is not allowed|metadata: 'a'")


def test_a_truncated_file_is_refused_wherever_it_ends(suffix: str, tmp_path: Path) -> None:
    tok, path = fitted(UBPE, n_tokens=6), tmp_path / f"model{suffix}"
    tok.save(path)
    data = path.read_bytes()
    for n in range(len(data)):
        if data[n:].strip():
            refuse(UBPE, path, data[:n])
        else:
            path.write_bytes(data[:n])
            assert UBPE.load(path).fingerprint == tok.fingerprint


def test_a_changed_byte_is_refused_or_harmless(suffix: str, tmp_path: Path) -> None:
    """Refused, or the model that is read encodes and decodes; in npz checksums protect all numbers."""
    tok, path = fitted(UBPE, n_tokens=6), tmp_path / f"model{suffix}"
    tok.save(path)
    data = path.read_bytes()
    rng = random.Random(7)
    for n in range(len(data)):
        changed = bytearray(data)
        changed[n] = rng.choice(b'0123456789-.,[]{}"e \0\xff')
        path.write_bytes(changed)
        try:
            again = UBPE.load(path)
        except ModelFormatError:
            continue
        assert suffix == ".json" or again.fingerprint == tok.fingerprint
        for doc in ([], [0, 1, 0, 1, 1], [1, 1, 0]):
            if again._model.alphabet.kind == "int" and again._model.alphabet.is_identity:
                assert again.decode(again.encode(doc, unknown=0)).size == len(doc)


def doubling(models: Any, steps: int, **changes: Any) -> str:
    """A model whose last token stands for 2**steps symbols."""
    _, model = copy.deepcopy(models["pairs"])
    del model["vocabulary"]["occurrences"]
    merges = [[0, 0], *([3 + i, 3 + i] for i in range(steps - 1))][:steps]
    ones = {name: [1] * steps for name in ("counts", "document_frequencies")}
    model["vocabulary"] |= {"merges": merges, "weights": [0.5] * steps, **ones}
    for place, value in changes.items():
        spoil(model, place, value)
    return json.dumps(model)


ATTEMPTS = """
import json, pathlib, resource, sys
from ubpe_numba import *
from ubpe_numba.vocabulary.vocabulary import Vocabulary

def attempt(call, *arguments):
    try:
        print("read", call(*arguments))
    except (ValueError, MemoryError) as error:
        print(f"{type(error).__name__}: {error}")

folder = pathlib.Path(sys.argv[1])
UBPEClassic.load((folder / "dump0").read_text())
with open("/proc/self/statm") as f:
    size = int(f.read().split()[0]) * resource.getpagesize() + 2**29
resource.setrlimit(resource.RLIMIT_AS, (size, size))
for steps in map(int, sys.argv[2:]):
    attempt(BPE.load, folder / f"model{steps}")
    if steps > 26:
        attempt(Vocabulary.from_merges, 1, [[0, 0]] + [[1 + i, 1 + i] for i in range(steps - 1)])
    attempt(UBPEClassic.load, (folder / f"dump{steps}").read_text())
for path in sorted(folder.glob("claim*")):
    attempt(BPE.load, path)
"""
STEPS = [26, 30, 31, 32, 61, 62, 63, 64, 65, 66, 127, 128, 200, 5000]
CLAIMS: list[tuple[int, dict[str, Any]]] = [
    (0, {"vocabulary.n_alphabet": 10**9}),  # an alphabet that the file does not have
    (0, {"vocabulary.n_alphabet": 2**31 - 4, "alphabet.size": 2**31 - 4, "params.n_tokens": 2**31 - 3}),
    (32, {"vocabulary.max_symbols": 2**40}),  # its own limit
]


@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process can be limited on Linux only")
def test_small_files_that_claim_much_are_refused(models: Any, tmp_path: Path) -> None:
    """In a process that may take 512 MB more than it has; a crash fails the test only."""
    for steps in (0, *STEPS):
        (tmp_path / f"model{steps}").write_text(doubling(models, steps))
        mapper = {str(2 + i): [1 + i, 1 + i] for i in range(steps)}
        dump = {
            "n_tokens": 9,
            "alphabet": {"0": 0, "1": 1},
            "mapper": mapper,
            "weights": dict.fromkeys(mapper, 0.5),
        }
        (tmp_path / f"dump{steps}").write_text(json.dumps(dump))
    for i, (steps, changes) in enumerate(CLAIMS):
        (tmp_path / f"claim{i}").write_text(doubling(models, steps, **changes))
    path = [str(Path(ubpe_numba.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))}
    command = [sys.executable, "-c", ATTEMPTS, tmp_path, *map(str, STEPS)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"exit code {done.returncode}: {done.stderr[-300:]}"
    lines = done.stdout.splitlines()
    assert len(lines) == 3 * len(STEPS) - 1 + len(CLAIMS) and all(
        line.startswith("ModelFormatError") for line in lines
    )
    for line in lines[: -len(CLAIMS)]:
        assert re.search(r"have more than \d+ symbols in all; pass a larger max_symbols", line)


def test_limits_and_arguments_are_the_callers(suffix: str, tmp_path: Path, monkeypatch: Any) -> None:
    path = tmp_path / f"model{suffix}"
    tok = BPE.from_merges([[0, 0]] + [[2 + i, 2 + i] for i in range(9)], 2)
    tok.save(path)
    refuses(ModelFormatError, "have more than 5 symbols in all", BPE.load, path, max_symbols=5)
    assert BPE.load(path, max_symbols=2046).fingerprint == tok.fingerprint
    fitted(UBPE).truncate(8, by="idf").save(path)
    refuses(ModelFormatError, "more than 1 symbols", UBPE.load, path, max_symbols=1)
    wrong: list[tuple[Any, Any]] = [
        ({"n_threads": 0}, ValueError),
        ({"n_threads": "2"}, TypeError),
        ({"luck": 3}, TypeError),
    ]
    for arguments, error in wrong:
        with pytest.raises(error, match=next(iter(arguments))) as caught:
            UBPE.load(path, **arguments)
        assert not isinstance(caught.value, ModelFormatError)
    monkeypatch.setenv("UBPE_NUM_THREADS", "many")
    with pytest.raises(ValueError, match="environment variable UBPE_NUM_THREADS") as caught:
        UBPE.load(path)
    assert not isinstance(caught.value, ModelFormatError)


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


def members(tok: Any, tmp_path: Path) -> dict[str, bytes]:
    tok.save(tmp_path / "base.npz")
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
    ("../merges.npy", npy([1]), r"unexpected member '\.\./merges.npy'"), ("readme.txt", b"a", "unexpected member 'readme.txt'"),
    (MERGES, b"", "not a valid array header"), (MERGES, b"garbage" * 9, "not a valid array header: .*magic"),
    (MERGES, npy(PAIR5.astype(float)), "vocabulary.merges: unexpected dtype float64"),
    (MERGES, npy(PAIR5, fortran_order=True), "unexpected dtype int32 or shape"),
    (MERGES, npy(PAIR5, descr="|O"), "unexpected dtype object"),
    (MERGES, npy(PAIR5, shape=(4, 2)), "does not match"), (MERGES, npy(PAIR5, shape=(2**62, 2)), "does not match 40 bytes"),
    (MERGES, npy(PAIR5, shape=(-1, -1)), "."), (MERGES, npy(PAIR5, shape=()), "unexpected"),
    (MERGES, npy(PAIR5, shape=(10,)), r"expected shape \(m, 2\), got \(10,\)"),
    (MERGES, npy(PAIR5.ravel()[:0], shape=(0, 2**40)), "."),
    (MERGES, b"\x93NUMPY\x02\x00" + npy(PAIR5)[8:], "expected format 1.0"),
    (MERGES, npy(PAIR5.astype(np.int64) + 2**32), r"merges\[0\]: expected ids in"),
    (MERGES, npy(PAIR5.astype(np.uint64) + np.uint64(2**63)), "merges"),
    (WEIGHTS, npy([np.nan] * 5), r"weights\[0\]: expected a number"), (WEIGHTS, npy([1] * 5), "weights: unexpected dtype int64"),
    (COUNTS, npy([-1] * 5), r"counts\[0\]: expected at least 0"), (COUNTS, npy([2**64 - 1] * 5), "counts: expected less than"),
    (COUNTS, object_array(), "unexpected dtype object"), (HEAD, object_array(), "unexpected dtype object"),
    (COUNTS, pickle.dumps(Bomb()), "."), (WEIGHTS, None, "weights"),
    (COUNTS, npy_text(b"{'descr': '<i8', 'fortran_order': False, 'shape': (5,\n", bytes(40)), "."),
    (COUNTS, npy_text(b"{b'descr': '<i8', 'fortran_order': False, 'shape': (5,), }\n", bytes(40)), "."),
    (COUNTS, npy_text(b"(" * 5000, bytes(40)), "."), (COUNTS, npy_text(b"", bytes(40)), "."),
]  # fmt: skip


@pytest.mark.parametrize("name, data, match", MEMBERS, ids=lambda x: str(x)[:24])
def test_a_wrong_member(name: str, data: bytes | None, match: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    parts = members(fitted(BPE), tmp_path)
    assert len(parts[MERGES]) == 128 + 40 or data is None
    parts[name] = data  # type: ignore[assignment]
    if data is None:
        del parts[name]
    refuse(BPE, tmp_path / "model.npz", zipped(parts), match)
    assert not (tmp_path / "exploded").exists()


def test_sequences_in_npz(tmp_path: Path) -> None:
    tok, path = fitted(UBPE).truncate(8, by="idf"), tmp_path / "model.npz"
    parts = members(tok, tmp_path)
    lengths = np.load(tmp_path / "base.npz")["vocabulary.lengths"]
    for dtype in (np.uint8, np.int16, ">i4", np.uint64):
        path.write_bytes(zipped(parts | {"vocabulary.lengths.npy": npy(lengths.astype(dtype))}))
        assert UBPE.load(path).fingerprint == tok.fingerprint
    for number, dtype in ((2**63 - 1, "i8"), (2**62, "i8"), (-(2**63), "i8"), (255, "u1"), (2**64 - 1, "u8")):
        bad = np.full(lengths.size, number, dtype)
        refuse(UBPE, path, zipped(parts | {"vocabulary.lengths.npy": npy(bad)}), "lengths")


def test_compressed_and_lying_archives(tmp_path: Path) -> None:
    parts, path = members(fitted(BPE), tmp_path), tmp_path / "model.npz"
    match = "is compressed or claims too many bytes"
    for compression in (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        refuse(BPE, path, zipped(parts, compression), match)
    bomb = zipped({HEAD: npy(np.zeros(2 * 10**8, np.uint8))}, zipfile.ZIP_DEFLATED)
    assert len(bomb) < 10**6
    refuse(BPE, path, bomb, match)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
        archive.infolist()[0].file_size = 10**9
    refuse(BPE, path, buffer.getvalue(), match)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, data in [*parts.items(), *parts.items()]:
            archive.writestr(name, data)
    refuse(BPE, path, buffer.getvalue(), "unexpected member")
    for data in (b"", b"PK", b"\0" * 100, b"{}", npy([1, 2]), zipped({})):
        refuse(BPE, path, data, "not a valid npz file|the member 'head' is missing|which is none of")


def test_arrays_may_stand_in_the_head(models: Any, tmp_path: Path) -> None:
    """Both formats hold the same fields, so an npz whose head has the lists of a JSON model is valid too, and is checked."""
    _, model = copy.deepcopy(models["pairs"])
    (tmp_path / "model.npz").write_bytes(
        zipped({HEAD: npy(np.frombuffer(json.dumps(model).encode(), np.uint8))})
    )
    assert BPE.load(tmp_path / "model.npz").fingerprint == fitted(BPE, n_tokens=8).fingerprint
    spoil(model, "vocabulary.merges.0", [9, 9])
    head = np.frombuffer(json.dumps(model).encode(), np.uint8)
    refuse(BPE, tmp_path / "model.npz", zipped({HEAD: npy(head)}), r"merges\[0\]")


def test_another_unicode_is_said(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    BPE(60, preprocessing=Preprocessing(pretokenizer="gpt2")).fit(TEXT, progress=False).save(path)
    path.write_text(path.read_text().replace(f'"{Pretokenizer("gpt2").unicode}"', '"9.0"'))
    with pytest.warns(UserWarning, match=r"cuts text by Unicode 9\.0, and here is"):
        BPE.load(path)
