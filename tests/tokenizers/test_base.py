"""What the three tokenizers share: containers, sizes, threads, parameters; equal input gives equal models."""

from __future__ import annotations

import array
import copy
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.decode import count_tokens
from sample_corpora import BYTES, CLASSES, CORPORA, RNG, SIGNAL, SPARSE, TEXT, fitted
from tables import each

import ubpe_numba
from ubpe_numba import BPE, UBPE, FitRules, Preprocessing, Ragged, UBPEClassic
from ubpe_numba.documents.read import as_documents


def test_an_iterator_that_fails_leaves_the_tokenizer_alone():
    tok = BPE(300).fit([b"aaaa"])
    before = tok.fingerprint

    def broken():
        yield b"abab"
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        tok.fit(broken())
    assert tok.fingerprint == before


def as_list(doc: Any) -> list[Any]:
    return list(doc) if isinstance(doc, (str, bytes)) else np.asarray(doc).tolist()


# --- usage


@each("name", [*CORPORA, "cut text"])
def test_usage_counts_what_encoding_gives(cls: Any, name: str) -> None:
    special = ["<end>"] if name == "text" else {"<end>": 299} if name == "cut text" else None
    docs = CORPORA["text" if name == "cut text" else name]
    if name == "cut text":
        tok = cls.for_text(270, pretokenizer="gpt2", special_tokens=special).fit(docs, progress=False)
    else:
        tok = fitted(cls, docs, None, preprocessing=Preprocessing(special_tokens=special))
    docs = [*docs, "sea<end> shells"] if special else docs
    weights = [i % 3 for i in range(len(docs))]
    encoded = tok.encode_batch(docs, allowed_special="all")
    size = max([len(tok._model.vocabulary), *(1 + i for i in tok.vocabulary.special.values())])
    tokens = {*range(len(tok._model.vocabulary)), *tok.vocabulary.special.values()}
    for copies in (weights, [1] * len(docs)):
        counts, documents = count_tokens(encoded.to_lists(), copies, size)
        for n_threads in (1, 2, 5):
            tok.set_params(n_threads=n_threads)
            given = {} if copies is not weights else {"sample_weight": weights}
            found = tok.usage(iter(docs), **given, allowed_special="all")
            assert (found.counts.tolist(), found.document_frequencies.tolist()) == (counts, documents)
            assert found.n_documents == sum(copies)
            assert found.unused.tolist() == sorted(token for token in tokens if counts[token] == 0)


def test_usage_of_many_documents_on_threads(cls: Any) -> None:
    docs = Ragged.from_lists(SIGNAL * 40)
    tok = fitted(cls)
    one = tok.set_params(n_threads=1).usage(docs)
    assert one.counts.tolist() == [40 * n for n in tok.usage(SIGNAL).counts.tolist()] and one.n_documents == 320
    two = tok.set_params(n_threads=2).usage(docs)
    assert all(np.array_equal(a, b) for a, b in zip(one[:3], two[:3], strict=True))


def test_tokens_that_are_only_steps_to_longer_ones_are_never_used() -> None:
    tok = BPE.from_merges([[0, 1], [2, 2]], alphabet="abc")
    found = BPE.from_merges([[0, 1], [3, 3]], alphabet="abc").usage(["abab", "abababab"])
    assert found.unused.tolist() == [0, 1, 2, 3] and found.counts.tolist() == [0, 0, 0, 0, 3]
    assert tok.usage([]).n_documents == 0 and tok.usage([""]).unused.tolist() == [0, 1, 2, 3, 4]


def test_ids_of_no_token_are_not_unused() -> None:
    tok = BPE.for_text(262, special_tokens={"<end>": 300}).fit(["low low low lower"], progress=False)
    found = tok.usage(["low<end>"], allowed_special="all")
    assert found.counts.size == 301 and found.counts[300] == 1
    assert not set(range(len(tok._model.vocabulary), 300)) & set(found.unused.tolist()) and 97 in found.unused


def test_usage_refuses_what_encoding_refuses(cls: Any) -> None:
    tok = fitted(cls, TEXT)
    for call, error, match in (
        (lambda: cls().usage(["a"]), ubpe_numba.errors.NotFittedError, "call fit or load first"),
        (lambda: tok.usage(["sea", "sea \u1234"]), ubpe_numba.errors.UnknownSymbolError, "document 1, position 4"),
        (lambda: tok.usage(["sea"], sample_weight=[1, 2]), ValueError, "sample_weight: expected 1 weights"),
        (lambda: tok.usage(["sea", "sea"], sample_weight=[1, -2]), ValueError, "sample_weight: document 1: expected 0 or more"),
        (lambda: tok.usage([[1]]), TypeError, "docs: the tokenizer was fitted on str"),
    ):
        with pytest.raises(error, match=match):
            call()


# --- batches


def cut(docs: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    return np.concatenate(docs), np.cumsum([0] + [len(doc) for doc in docs])


SQUARE = [doc[:200] for doc in SIGNAL if len(doc) >= 200]
CONTAINERS: dict[str, Callable[[list[np.ndarray]], tuple[Any, ...]]] = {
    "arrays": lambda docs: (docs,),
    "tuple of arrays": lambda docs: (tuple(docs),),
    "lists": lambda docs: ([doc.tolist() for doc in docs],),
    "tuples": lambda docs: (tuple(tuple(doc.tolist()) for doc in docs),),
    "arrays and lists": lambda docs: ([doc.tolist() if i % 2 else doc for i, doc in enumerate(docs)],),
    "widths": lambda docs: ([doc.astype(["i1", "u8", ">u2"][i % 3]) for i, doc in enumerate(docs)],),
    "iterator": lambda docs: (iter(docs),),
    "generator of lists": lambda docs: ((doc.tolist() for doc in docs),),
    "flat and offsets": cut,
    "flat list and offsets": lambda docs: (cut(docs)[0].tolist(), cut(docs)[1].tolist()),
    "Ragged": lambda docs: (Ragged.from_lists(docs),),
    "part of a Ragged": lambda docs: (Ragged.from_lists([[999], *docs, [999]])[1:-1],),
    "array.array": lambda docs: ([array.array("i", doc.tolist()) for doc in docs],),
    "memoryviews": lambda docs: ([memoryview(doc.astype(np.int32)) for doc in docs],),
    "bytes": lambda docs: ([doc.astype(np.uint8).tobytes() for doc in docs],),
    "bytearrays": lambda docs: ([bytearray(doc.astype(np.uint8).tobytes()) for doc in docs],),
}
if importlib.util.find_spec("pyarrow") is not None:
    pa = importlib.import_module("pyarrow")
    CONTAINERS |= {
        "pyarrow": lambda docs: (pa.array([doc.tolist() for doc in docs]),),
        "pyarrow, narrow": lambda docs: (pa.array(docs, pa.large_list(pa.uint8())),),
        "pyarrow, slice": lambda docs: (pa.array([[999], *docs, [999]], pa.list_(pa.int32()))[1:-1],),
        "pyarrow, chunks": lambda docs: (pa.chunked_array([[doc] for doc in docs], pa.list_(pa.int64())),),
    }


@each("name", CONTAINERS)
def test_every_container(cls: Any, name: str) -> None:
    """Fitting and encoding see the same documents in all of them, and decoding the same ids."""
    tok = fitted(cls)
    ids = [tok.encode(doc) for doc in SIGNAL]
    batch = tok.encode_batch(*CONTAINERS[name](SIGNAL))
    assert isinstance(batch, Ragged)
    assert batch.values.dtype == np.int32
    assert batch.to_lists() == [one.tolist() for one in ids]
    args = CONTAINERS[name](SIGNAL)
    params = {"alphabet": 12} if "byte" in name else {}  # else 256
    again = cls(80, **params).fit(args[0], offsets=args[1] if len(args) > 1 else None, progress=False)
    assert again._model.vocabulary == tok._model.vocabulary
    assert params or again.fingerprint == tok.fingerprint
    decoded = tok.decode_batch(*CONTAINERS[name](ids))
    assert decoded.to_lists() == [doc.tolist() for doc in SIGNAL]
    if len(args) == 1:
        assert tok.transform(*CONTAINERS[name](SIGNAL)) == batch
        assert tok.inverse_transform(*CONTAINERS[name](ids)) == decoded
        assert cls(80, **params).fit_transform(*CONTAINERS[name](SIGNAL)) == batch


@each("container", [np.array, np.asfortranarray, lambda docs: np.array(docs, np.uint8)])
def test_rows_of_an_array_are_documents(cls: Any, container: Any) -> None:
    tok = fitted(cls, container(SQUARE))
    assert tok.fingerprint == fitted(cls, SQUARE).fingerprint
    assert tok.encode_batch(container(SQUARE)).to_lists() == [tok.encode(doc).tolist() for doc in SQUARE]
    ids = RNG.integers(0, 80, (5, 7))
    assert tok.decode_batch(container(list(ids))).to_lists() == [tok.decode(row).tolist() for row in ids]


@each("doc", ["sea shells", b"sea shells", np.array([1, 2, 3, 2, 1, 2])])
def test_one_document_is_a_batch_of_one(cls: Any, doc: Any) -> None:
    docs = TEXT if isinstance(doc, str) else BYTES if isinstance(doc, bytes) else SIGNAL
    tok = fitted(cls, docs, None)
    assert tok.encode_batch(doc).to_lists() == [tok.encode(doc).tolist()]
    (decoded,) = tok.decode_batch(tok.encode(doc))
    assert as_list(decoded) == as_list(doc)


@each("name", CORPORA)
def test_decoding_gives_what_was_fitted(cls: Any, name: str) -> None:
    docs = CORPORA[name]
    tok = fitted(cls, docs, None)
    batch = tok.encode_batch(docs)
    assert batch.total < sum(map(len, docs))
    decoded = tok.decode_batch(batch)
    assert isinstance(decoded, Ragged if name == "signal" else list)
    kind: type = type(docs[0])
    dtype = {"signal": np.int32, "sparse": np.int64}.get(name)
    for doc, ids, back in zip(docs, batch, decoded, strict=True):
        for out in (tok.decode(ids), tok.decode(ids.tolist()), tok.decode(ids.astype(np.uint16)), back):
            assert isinstance(out, kind)
            assert dtype is None or out.dtype == dtype
            assert as_list(out) == as_list(doc)
    v = tok._model.vocabulary
    for t in range(len(v)):
        symbols = [tok.decode([s]) for s in v.sequence(t)]
        assert as_list(tok.decode([t])) == [as_list(s)[0] for s in symbols]


@given(data=st.data())
@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_any_documents_come_back(cls: Any, data: st.DataObject) -> None:
    few = st.sampled_from([0, 1, 2, 7]) | st.integers(0, 3)
    wide = st.sampled_from([-1, 0, 3, -(2**63), 2**63 - 1, 2**40]) | st.integers(-(2**63), 2**63 - 1)
    letters = st.sampled_from("ab\0é\ud800\udc00\U0010ffff")
    doc: Any = data.draw(
        st.sampled_from([
            st.lists(few, max_size=40), st.lists(wide, max_size=12), st.lists(st.just(5), max_size=40),
            st.text(letters, max_size=40), st.text(st.characters() | letters, max_size=20),
            st.binary(max_size=40),
        ])
    )  # fmt: skip
    docs = data.draw(st.lists(doc, max_size=6))
    rules = [None, FitRules(min_count=1), FitRules.ARTICLE.replace(order="creation")]
    params = {"rules": data.draw(st.sampled_from(rules))}
    if cls is not BPE:
        params["n_candidates"] = data.draw(st.sampled_from([1, 2, 50]))
    if cls is UBPE:
        params["objective"] = data.draw(st.sampled_from(["tfidf", "shortest"]))
    more = data.draw(st.integers(0, 30))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # one document
        tok = cls(1 << 17, **params).fit(docs, progress=False)
        n = tok._model.vocabulary.n_alphabet
        shorter = fitted(cls, docs, n + more, **params)
    for t in (tok, shorter):
        batch = t.encode_batch(docs)
        assert [as_list(out) for out in t.decode_batch(batch)] == [as_list(doc) for doc in docs]
        for doc, ids in zip(docs, batch, strict=True):
            assert t.encode(doc).tolist() == ids.tolist()
            assert as_list(t.decode(ids)) == as_list(doc)
            if cls is UBPE and len(doc) < 20:
                paths, weights = t.encode_nbest([doc], 4)[0]
                assert all(as_list(t.decode(path)) == as_list(doc) for path in paths)
                assert (np.diff(weights) <= 1e-5).all()  # they are compared in fixed point


# --- sizes


@each("name", CORPORA)
def test_no_limit_means_until_no_pair_occurs_twice(cls: Any, name: str) -> None:
    docs = CORPORA[name]
    tok = fitted(cls, docs, None)
    merges = tok._model.vocabulary.merges
    assert (tok._model.vocabulary.counts[tok._model.vocabulary.n_alphabet :] >= 2).all()
    by_rank = UBPEClassic.from_merges(merges, tok._model.vocabulary.n_alphabet)
    batch = by_rank.encode_batch(tok._model.alphabet.to_ids(as_documents(docs)))
    pairs = Counter(pair for ids in batch.to_lists() for pair in pairwise(ids))
    assert max(pairs.values(), default=0) <= 1
    larger = fitted(cls, docs, len(tok._model.vocabulary) + 900)
    assert larger.fingerprint == tok.fingerprint
    once = fitted(cls, docs, None, rules=FitRules(min_count=1))
    assert len(once._model.vocabulary) > len(tok._model.vocabulary)
    if cls is not UBPE:  # which prefers rare tokens, not few
        assert set(map(len, map(once.encode, docs))) <= {0, 1}


@each("name", CORPORA)
@each("n_candidates", [1, 4, 50])
def test_truncated_is_what_a_shorter_fit_gives(cls: Any, name: str, n_candidates: int) -> None:
    """Of any size: a round that is cut keeps its best pairs."""
    docs = CORPORA[name]
    params = {"n_candidates": n_candidates} if cls is not BPE else {}
    tok = fitted(cls, docs, None, **params)
    n, size = tok._model.vocabulary.n_alphabet, len(tok._model.vocabulary)
    for n_tokens in {n, n + 1, n + 2, n + 5, n + 13, (n + size) // 2, size - 1, size, size + 9}:
        shorter, want = tok.truncate(n_tokens), fitted(cls, docs, n_tokens, **params)
        assert shorter._model.vocabulary == want._model.vocabulary
        assert shorter.fingerprint == want.fingerprint
        assert shorter.get_params() == want.get_params()
        assert shorter.encode_batch(docs) == want.encode_batch(docs)
    assert len(tok._model.vocabulary) == size  # the original stays
    assert tok.n_tokens is None


@each("by", ["idf", "creation"])
@each("name", CORPORA)
def test_truncated_vocabularies_are_closed(cls: Any, name: str, by: str) -> None:
    docs = CORPORA[name]
    tok = fitted(cls, docs, None)
    n, size = tok._model.vocabulary.n_alphabet, len(tok._model.vocabulary)
    known = {tuple(tok._model.vocabulary.sequence(t).tolist()): tok._model.vocabulary.weights[t] for t in range(size)}
    for n_tokens in (n, n + 1, n + 9, size - 3, size, size + 1):
        shorter = tok.truncate(n_tokens, by=by)
        v = shorter._model.vocabulary
        assert n <= len(v) <= min(n_tokens, size)
        if cls is UBPE or by == "creation" or n_tokens >= size:
            assert len(v) == min(n_tokens, size)
        assert v.merges is None if (cls is UBPE and by == "idf") else (v.merges < len(v)).all()
        assert {tuple(v.sequence(t).tolist()) for t in range(len(v))} <= known.keys()
        assert all(known[tuple(v.sequence(t).tolist())] == v.weights[t] for t in range(len(v)))
        if by == "idf":
            assert (np.diff(v.weights[n:]) <= 0).all()
        batch = shorter.encode_batch(docs)
        assert batch.values.size == 0 or batch.values.max() < len(v)
        assert [as_list(doc) for doc in shorter.decode_batch(batch)] == [as_list(doc) for doc in docs]
        assert type(shorter) is cls
        assert shorter.n_tokens == n_tokens


# --- the same everywhere


@pytest.mark.parametrize("n_threads", [1, 2, 3, 8])
def test_threads_change_nothing(cls: Any, n_threads: int) -> None:
    """With enough symbols for several threads to get some."""
    docs = [np.repeat(doc, 100) for doc in SIGNAL] + [np.tile(doc, 100) for doc in SIGNAL]
    tok, one = fitted(cls, docs, n_threads=n_threads), fitted(cls, docs, n_threads=1)
    assert sum(map(len, docs)) > 400_000
    assert tok.fingerprint == one.fingerprint
    assert tok._model.vocabulary == one._model.vocabulary
    batch = tok.encode_batch(docs)
    assert batch == one.encode_batch(docs)
    flat, offsets = cut(docs)
    assert tok.decode_batch(batch) == Ragged(flat.astype(np.int32), offsets)
    assert tok.decode_batch(flat, offsets) == one.decode_batch(flat, offsets)  # symbols are ids


FIT = """
import json, sys
from ubpe_numba import BPE, UBPE, UBPEClassic
out = {}
for docs in json.loads(sys.argv[1]):
    for cls in (BPE, UBPEClassic, UBPE):
        tok = cls(None).fit(docs, progress=False)
        out[f"{cls.__name__} {len(out)}"] = [tok.fingerprint, tok.encode_batch(docs).to_lists()]
print(json.dumps(out))
"""


def test_processes_and_hash_seeds_change_nothing() -> None:
    docs = json.dumps([[doc.tolist() for doc in SIGNAL], TEXT, [doc.tolist() for doc in SPARSE]])
    path = [str(pathlib.Path(ubpe_numba.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    outs = []
    for seed, threads in (("0", "1"), ("4242", "3")):
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))}
        env |= {"PYTHONHASHSEED": seed, "UBPE_NUM_THREADS": threads}
        command = [sys.executable, "-c", FIT, docs]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-500:]
        outs.append(json.loads(done.stdout))
    assert outs[0] == outs[1]
    mine = [fitted(cls, docs, None).fingerprint for docs in json.loads(docs) for cls in CLASSES]
    assert [fingerprint for fingerprint, _ in outs[0].values()] == mine
    assert len(set(mine)) == 9


def test_fingerprints_tell_models_apart() -> None:
    toks = [
        fitted(UBPE), fitted(UBPE, objective="shortest"), fitted(UBPEClassic),
        fitted(UBPEClassic, rules=FitRules(encode="batch")), fitted(BPE), fitted(BPE, SIGNAL, 79),
        fitted(BPE, [doc + 1 for doc in SIGNAL]), fitted(BPE, [doc - 5 for doc in SIGNAL]),
        fitted(BPE, SPARSE), fitted(BPE, [doc + 1 for doc in SPARSE]),
        fitted(BPE, ["".join(map(chr, doc)) for doc in SIGNAL]),
        fitted(UBPE, [*SIGNAL, []]), fitted(BPE, [[0]], 256, alphabet=256), fitted(BPE, [b""], 256),
    ]  # fmt: skip
    assert len({tok.fingerprint for tok in toks}) == len(toks)
    for params in ({"n_threads": 2}, {"alphabet": 12}, {"alphabet": range(12)}):
        assert fitted(BPE, **params).fingerprint == fitted(BPE).fingerprint


def run_all(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)


@each("name", CORPORA)
def test_eight_threads_share_a_tokenizer(cls: Any, name: str) -> None:
    """From the first use on, when all threads make the encoder at once."""
    docs = CORPORA[name]
    tok = fitted(cls, docs, None)
    want = fitted(cls, docs, None).encode_batch(docs).to_lists()
    done: list[int] = []
    start = threading.Barrier(8)

    def work() -> None:
        start.wait(60)
        for _ in range(5):
            ids = [tok.encode(doc) for doc in docs]
            assert [one.tolist() for one in ids] == want
            assert tok.encode_batch(docs).to_lists() == want
            assert [as_list(tok.decode(one)) for one in ids] == [as_list(doc) for doc in docs]
            assert [as_list(doc) for doc in tok.decode_batch(ids)] == [as_list(doc) for doc in docs]
        done.append(1)

    run_all([threading.Thread(target=work) for _ in range(8)])
    assert len(done) == 8


def test_threads_with_large_batches_share_a_tokenizer(cls: Any) -> None:
    """Batches that are large enough to go through the pool, from several threads at once."""
    docs = [np.tile(doc, 40) for doc in SIGNAL]
    flat, offsets = cut([*docs, *docs, *docs])
    tok = fitted(cls, SIGNAL, n_threads=2)
    want = fitted(cls, SIGNAL, n_threads=1).encode_batch(flat, offsets)
    outs: list[Any] = []
    work = lambda: outs.append(tok.encode_batch(flat, offsets))  # noqa: E731
    run_all([threading.Thread(target=work) for _ in range(4)])
    assert len(outs) == 4
    assert all(out == want for out in outs)


def test_a_refit_replaces_all_that_was_learned(cls: Any) -> None:
    tok = fitted(cls, SIGNAL)
    for docs in (TEXT, SPARSE, BYTES, [[]], SIGNAL):
        again = tok.set_params(n_tokens=None).fit(docs, progress=False)
        assert again is tok
        fresh = fitted(cls, docs, None)
        assert tok.fingerprint == fresh.fingerprint
        assert tok.encode_batch(docs) == fresh.encode_batch(docs)
        assert [as_list(tok.decode(tok.encode(doc))) for doc in docs] == [as_list(doc) for doc in docs]


def test_a_refit_does_not_touch_what_was_made_before(cls: Any) -> None:
    tok = fitted(cls)
    vocabulary, shorter, ids = tok._model.vocabulary, tok.truncate(40), tok.encode(SIGNAL[1])
    before = shorter.fingerprint, vocabulary.fingerprint, ids.tolist()
    tok.set_params(n_tokens=None).fit(TEXT, progress=False)
    assert (shorter.fingerprint, vocabulary.fingerprint, ids.tolist()) == before
    assert tok._model.vocabulary is not vocabulary


# --- scikit-learn's parameter protocol


def clone(estimator: Any) -> Any:
    """A clone as `sklearn.base.clone` makes it, with its check."""
    params = {name: copy.deepcopy(value) for name, value in estimator.get_params(deep=False).items()}
    made = type(estimator)(**params)
    for name, value in made.get_params(deep=False).items():
        assert value is params[name], f"the constructor changes {name}"
    return made


PARAMS: dict[str, Any] = {
    "n_tokens": 30, "n_candidates": 7, "alphabet": {i: 11 - i for i in range(12)}, "rules": FitRules.ARTICLE,
    "preprocessing": Preprocessing(special_tokens=[[3, 1, 4]], special_first=True, stop_tokens=[11]),
    "unknown": (3, 1, 4), "objective": "log_frequency", "n_threads": 2,
}  # fmt: skip


def test_parameters_are_stored_and_set_unchanged(cls: Any) -> None:
    default = cls().get_params()
    assert list(default) == [name for name in PARAMS if name in default]
    for odd in ("x", -1, 2.5, object(), [], None):  # constructors only store
        for name in default:
            tok = cls(**{name: odd})
            assert tok.get_params() == {**default, name: odd}
            assert tok.get_params(deep=False)[name] is odd
    params = {name: PARAMS[name] for name in default}
    tok = cls()
    assert tok.set_params(**params) is tok
    assert tok.get_params() == params
    assert tok.set_params().get_params() == params
    with pytest.raises(ValueError, match=rf"luck: not a parameter of {cls.__name__}; there are n_tokens"):
        tok.set_params(luck=7)
    assert tok.get_params() == params


def test_a_clone_has_the_parameters_and_no_fit(cls: Any) -> None:
    words = Preprocessing(special_tokens=[[3, 1, 4]], stop_tokens=[11])
    params = {name: PARAMS.get(name) for name in cls().get_params()} | {"rules": None, "preprocessing": words}
    tok = cls(**params)
    for original in (tok, tok.fit(SIGNAL, progress=False)):
        made = clone(original)
        assert made.get_params() == params
        assert [name for name in vars(made) if name.endswith("_")] == []
        with pytest.raises(ubpe_numba.errors.NotFittedError, match="call fit or load first"):
            made.encode([0])
    assert {name for name in vars(tok) if name.endswith("_")} == {"history_"}
    assert made.fit(SIGNAL, None, progress=False).fingerprint == tok.fingerprint
    assert made.transform(SIGNAL) == tok.encode_batch(SIGNAL)
    assert clone(tok).fit_transform(SIGNAL, None) == tok.transform(SIGNAL)


def test_repr_shows_parameters_and_size(cls: Any) -> None:
    tok = cls(30, n_threads=2)
    text = f"{cls.__name__}(n_tokens=30, n_threads=2)"
    assert repr(tok) == text
    assert repr(tok.fit(SIGNAL, progress=False)) == f"{text}: 30 tokens"
    large = cls(alphabet=list(range(10**5)))
    assert len(repr(large)) < 200
    assert "FitRules(ties='first_seen'" in repr(cls(rules=FitRules.ARTICLE))


def test_repr_of_a_loaded_tokenizer_is_that_of_the_saved_one(cls: Any, tmp_path: pathlib.Path) -> None:
    """What a file says in full, such as rules, is left out where it is as by default; long arguments are shortened."""
    tok = cls(300, preprocessing=Preprocessing(pretokenizer="gpt2", encoding="utf-8"), alphabet=bytes(range(256))).fit(
        ["low lower lowest"] * 2, progress=False
    )
    tok.save(tmp_path / "model.npz")
    text = f"{cls.__name__}(n_tokens=300, preprocessing=Preprocessing(pretokenizer='gpt2', encoding='utf-8')): "
    text += f"{len(tok._model.vocabulary)} tokens"
    assert repr(tok) == repr(cls.load(tmp_path / "model.npz")) == text
    assert (
        repr(cls(9, preprocessing=Preprocessing(pretokenizer=ubpe_numba.text.Pretokenizer("gpt2"))))
        == f"{cls.__name__}(n_tokens=9, preprocessing=Preprocessing(pretokenizer='gpt2'))"
    )
    for long in ({"special_tokens": [f"<{i}>" for i in range(500)]}, {"pretokenizer": "a|" * 500 + "a"}):
        assert len(repr(cls(9, preprocessing=Preprocessing(**long)))) < 250
    if cls is UBPE:
        weights = np.zeros(10**5)
        assert len(repr(UBPE(9, objective=weights))) < 200


def test_repr_says_when_there_is_no_limit(cls: Any) -> None:
    assert "n_tokens=None" in repr(cls(None))


def test_progress_is_shown_only_when_asked_for(cls: Any, capsys: pytest.CaptureFixture[str]) -> None:
    for progress in ("auto", False):
        cls(60).fit(SIGNAL, progress=progress)
        assert capsys.readouterr() == ("", "")
    tok = cls(60).fit(SIGNAL, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "60" in err
    assert tok.fingerprint == fitted(cls, SIGNAL, 60).fingerprint


@pytest.mark.parametrize("cls", [BPE, UBPE, UBPEClassic])
def test_offsets_that_are_taken_for_labels(cls: Any) -> None:
    """`fit(values, offsets)` is what `encode_batch` takes; the second argument of `fit` is scikit-learn's."""
    values, offsets = np.array([0, 1, 0, 1, 2, 3, 2, 3, 2, 2, 3]), np.array([0, 6, 11])
    with pytest.raises(TypeError, match="^y: expected the labels of 1 documents.*say offsets="):
        cls(6).fit(values, offsets)
    with pytest.raises(TypeError, match="^y: "):
        cls(6).fit_transform(values, offsets)
    tok = cls(6)
    encoded = tok.fit_transform(values, offsets=offsets)
    assert tok._model.vocabulary.n_documents == 2 and encoded == tok.encode_batch(values, offsets)
    assert cls(6).fit([values[:6], values[6:]], [1, 0]).fingerprint == tok.fingerprint  # labels


@pytest.mark.parametrize("cls", [BPE, UBPE, UBPEClassic])
def test_an_iterator_that_was_used_up(cls: Any) -> None:
    docs = iter([[0, 1, 0, 1], [1, 0]])
    tok = cls(3).fit(docs, progress=False)
    before = tok.fingerprint
    with pytest.raises(ValueError, match="^docs: the iterator gave no document"):
        tok.fit(docs, progress=False)
    assert tok.fingerprint == before


def test_an_alphabet_that_exceeds_the_default_size(cls: Any) -> None:
    """Learned alphabets have no gaps up to 65535, so one large number makes a large alphabet; the message gives its size."""
    docs = [[5000, 1, 5000, 1], [1, 5000, 1], []]
    with pytest.raises(ValueError, match="n_tokens: expected at least the alphabet's 5001 symbols, got 4096"):
        cls().fit(docs, progress=False)
    for tok in (fitted(cls, docs, None), fitted(cls, docs, 4, alphabet=[1, 5000])):
        assert tok.decode_batch(tok.encode_batch(docs)).to_lists() == docs
