"""What the three tokenizers share: containers, sizes, threads, parameters; equal input gives equal models."""

from __future__ import annotations

import array
import copy
import json
import pathlib
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
from processes import python
from reference.decode import count_tokens
from sample_corpora import BYTES, CLASSES, CORPORA, SIGNAL, SPARSE, TEXT, fitted
from tables import each

import ubpe_numba
from ubpe_numba import BPE, UBPE, FitRules, Preprocessing, Ragged, UBPEClassic
from ubpe_numba.documents.read import as_documents


def as_list(doc: Any) -> list[Any]:
    return list(doc) if isinstance(doc, (str, bytes)) else np.asarray(doc).tolist()


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


def cut(docs: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    return np.concatenate(docs), np.cumsum([0] + [len(doc) for doc in docs])


CONTAINERS: dict[str, Callable[[list[np.ndarray]], tuple[Any, ...]]] = {
    "arrays": lambda docs: (docs,),
    "tuples": lambda docs: (tuple(tuple(doc.tolist()) for doc in docs),),
    "arrays and lists": lambda docs: ([doc.tolist() if i % 2 else doc for i, doc in enumerate(docs)],),
    "widths": lambda docs: ([doc.astype(["i1", "u8", ">u2"][i % 3]) for i, doc in enumerate(docs)],),
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


def test_threads_change_nothing(cls: Any) -> None:
    """With enough symbols for several threads to get some; threads of the user may call at once."""
    docs = [np.repeat(doc, 100) for doc in SIGNAL] + [np.tile(doc, 100) for doc in SIGNAL]
    flat, offsets = cut(docs)
    one = fitted(cls, docs, n_threads=1)
    ids, usage = one.encode_batch(docs), one.usage(docs)
    for n_threads in (2, 3, 8):
        tok = fitted(cls, docs, n_threads=n_threads)
        assert flat.size > 400_000 and tok.fingerprint == one.fingerprint and tok._model.vocabulary == one._model.vocabulary
        assert tok.encode_batch(docs) == ids and tok.usage(docs).counts.tolist() == usage.counts.tolist()
        assert tok.decode_batch(ids) == Ragged(flat.astype(np.int32), offsets)
        assert tok.decode_batch(flat, offsets) == one.decode_batch(flat, offsets)  # symbols are ids
    outs: list[Any] = []
    run_all([threading.Thread(target=lambda: outs.append(tok.encode_batch(flat, offsets))) for _ in range(4)])
    assert len(outs) == 4 and all(out == ids for out in outs)


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
    docs = [[doc.tolist() for doc in SIGNAL], TEXT, [doc.tolist() for doc in SPARSE]]
    outs = [
        json.loads(python(FIT, json.dumps(docs), PYTHONHASHSEED=seed, UBPE_NUM_THREADS=threads))
        for seed, threads in (("0", "1"), ("4242", "3"))
    ]
    assert outs[0] == outs[1]
    mine = [fitted(cls, corpus, None).fingerprint for corpus in docs for cls in CLASSES]
    assert [fingerprint for fingerprint, _ in outs[0].values()] == mine and len(set(mine)) == 9


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


def test_a_refit_replaces_all_that_was_learned(cls: Any) -> None:
    """And touches nothing that was made before."""
    tok = fitted(cls, SIGNAL)
    vocabulary, shorter, ids = tok._model.vocabulary, tok.truncate(40), tok.encode(SIGNAL[1])
    before = shorter.fingerprint, vocabulary.fingerprint, ids.tolist()
    for docs in (TEXT, SPARSE, BYTES, [[]], SIGNAL):
        assert tok.set_params(n_tokens=None).fit(docs, progress=False) is tok
        fresh = fitted(cls, docs, None)
        assert tok.fingerprint == fresh.fingerprint
        assert tok.encode_batch(docs) == fresh.encode_batch(docs)
        assert [as_list(tok.decode(tok.encode(doc))) for doc in docs] == [as_list(doc) for doc in docs]
    assert (shorter.fingerprint, vocabulary.fingerprint, ids.tolist()) == before


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


def test_repr_shows_parameters_and_size(cls: Any, tmp_path: pathlib.Path) -> None:
    """Long arguments are shortened; of a file all but what is as by default is left out, such as rules."""
    text = f"{cls.__name__}(n_tokens=30, n_threads=2)"
    assert repr(tok := cls(30, n_threads=2)) == text and "n_tokens=None" in repr(cls(None))
    assert repr(tok.fit(SIGNAL, progress=False)) == f"{text}: 30 tokens"
    assert "FitRules(ties='first_seen'" in repr(cls(rules=FitRules.ARTICLE))
    words = {"special_tokens": [f"<{i}>" for i in range(500)], "pretokenizer": "a|" * 500 + "a"}
    long: list[dict[str, Any]] = [{"alphabet": list(range(10**5))}, {"preprocessing": Preprocessing(**words)}]
    for params in long + ([{"objective": np.zeros(10**5)}] if cls is UBPE else []):
        assert len(repr(cls(**params))) < 350
    cut = Preprocessing(pretokenizer="gpt2", encoding="utf-8")
    tok = cls(300, preprocessing=cut, alphabet=bytes(range(256))).fit(["low lower lowest"] * 2, progress=False)
    tok.save(tmp_path / "model.npz")
    text = f"{cls.__name__}(n_tokens=300, preprocessing=Preprocessing(pretokenizer='gpt2', encoding='utf-8')): "
    assert repr(tok) == repr(cls.load(tmp_path / "model.npz")) == f"{text}{len(tok._model.vocabulary)} tokens"
