"""Tokenizers in compiled functions: ids, counts and symbols are those of the library, for every objective and any document."""

import gc
import os
import pathlib
import pickle
import weakref
from typing import Any

import numba
import numpy as np
import pytest
from numba import njit
from processes import python
from tables import each, refuses

from ubpe_numba import BPE, UBPE, FitRules, Preprocessing, WordPiece
from ubpe_numba.kernels import NO_ROOM


@njit(nogil=True)
def encode_into(k: Any, doc: Any, out: Any) -> Any:
    return k.encode_into(doc, out)


@njit(nogil=True)
def count(k: Any, doc: Any) -> Any:
    return k.count(doc)


@njit(nogil=True)
def decode_into(k: Any, ids: Any, out: Any) -> Any:
    return k.decode_into(ids, out)


@njit
def both(k: Any, doc: Any) -> Any:
    ids = k.encode(doc)
    return ids, k.decode(ids)


def corpus(seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 3, n).cumsum() % 7 for n in (300, 200, 0, 1, 400, 150)]


def tokenizers() -> dict[str, Any]:
    docs = corpus()
    fitted = UBPE(60, 4).fit(docs, progress=False)
    by = {name: fitted.with_objective(name) for name in ("tfidf", "shortest", "likelihood")}
    far = [np.array([-5, 10**12, 3])[doc % 3] for doc in docs]
    return {
        **by, "rank": fitted.with_objective("rank"), "sentencepiece": fitted.with_objective("sentencepiece"),
        "tokenizers": fitted.with_objective("tokenizers"),
        "batch": BPE(60, rules=FitRules(encode="batch")).fit(docs, progress=False),
        "far symbols": BPE(20).fit(far, progress=False),
        "near symbols": BPE(20, alphabet=[9, 2, -4, 3, 6, 0, 1, 5, 4]).fit(docs, progress=False),
        "bytes": BPE(270).fit([doc.astype(np.uint8).tobytes() for doc in docs], progress=False),
        "skip": BPE(60, unknown="skip").fit(docs, progress=False), "replace": BPE(60, unknown=2).fit(docs, progress=False),
    }  # fmt: skip


TOKENIZERS = tokenizers()


def some(tok: Any, n: int, rng: Any) -> list[np.ndarray]:
    """Documents of known symbols, with runs."""
    symbols = tok.alphabet_.symbols if hasattr(tok, "alphabet_") else tok._model.alphabet.symbols
    symbols = symbols[:7]
    docs = []
    for size in rng.integers(0, 40, n):
        drawn = symbols[rng.integers(0, rng.integers(1, symbols.size + 1), size)]
        docs.append(np.repeat(drawn, rng.integers(1, 4, size)))
    return docs


@each("name", TOKENIZERS)
def test_ids_counts_and_symbols_are_those_of_the_library(name: str) -> None:
    tok = TOKENIZERS[name]
    docs, k = some(tok, 1000, np.random.default_rng(1)), tok.kernels
    known = tok.encode_batch([bytes(doc) for doc in docs] if name == "bytes" else docs)
    out, symbols = np.zeros(200, np.int32), np.zeros(200, k.dtype)
    for i, (doc, ids) in enumerate(zip(docs, known, strict=True)):
        given = doc.astype(np.int64)
        assert encode_into(k, given, out) == ids.size == count(k, given) and np.array_equal(
            out[: ids.size], ids
        )
        assert decode_into(k, out[: ids.size], symbols) == doc.size and np.array_equal(
            symbols[: doc.size], doc
        )
        if i < 30:
            assert np.array_equal(k.encode(doc), ids) and k.count(doc) == ids.size  # from Python
            assert np.array_equal(k.decode(np.array(ids)), doc)
            assert name not in ("rank", "tfidf") or all(map(np.array_equal, both(k, given), (ids, doc)))


@each("name", TOKENIZERS)
@each("n", [0, 1, 70_000])
def test_documents_of_any_length(name: str, n: int) -> None:
    tok = TOKENIZERS[name]
    symbols = tok._model.alphabet.symbols[:7]
    doc = symbols[np.random.default_rng(n).integers(0, 3, n).cumsum() % symbols.size]
    doc[n // 2 : n // 2 + 3000] = symbols[0]  # a long run
    ids = tok.encode(doc.tobytes() if name == "bytes" else doc)
    out = np.zeros(n, np.int32)
    assert encode_into(tok.kernels, doc, out) == ids.size and np.array_equal(out[: ids.size], ids)


def test_packed_costs_that_do_not_suffice() -> None:
    tok = UBPE(60, 4, objective=np.r_[np.zeros(7), np.linspace(1e6, 1e-6, 53)]).fit(corpus(), progress=False)
    plan, doc = tok._plan(), np.concatenate([corpus(seed)[0] for seed in range(100)])
    ids = tok.encode(doc)
    assert plan.encoder_for is not None and plan.encoder_for(0).most < doc.size, "these weights would fit"
    assert np.array_equal(both(tok.kernels, doc)[0], ids)


@each("dtype", "bqQ")
def test_every_dtype_strides_and_read_only(dtype: str) -> None:
    k, doc = TOKENIZERS["rank"].kernels, corpus(2)[0]
    ids, out = TOKENIZERS["rank"].encode(doc), np.zeros(doc.size, np.int32)
    apart = np.zeros(3 * doc.size, dtype)
    apart[::3] = doc
    backward, frozen = doc[::-1].astype(dtype)[::-1], doc.astype(dtype)
    frozen.setflags(write=False)
    for given in (doc.astype(dtype), apart[::3], backward, frozen):
        assert encode_into(k, given, out) == ids.size and np.array_equal(out[: ids.size], ids)
    top = np.array([0, np.iinfo(dtype).max], dtype)
    assert encode_into(k, top, out) == k.encode_into(top, out) == -2
    if np.iinfo(dtype).min:
        assert count(k, -top) == k.count(-top) == -2


def test_symbols_beyond_int64_are_not_negative_ones() -> None:
    k = TOKENIZERS["far symbols"].kernels  # with -5
    assert count(k, np.array([2**64 - 5], np.uint64)) == -1
    assert count(k, np.array([-5, 10**12, 4])) == k.count(np.array([-5, 10**12, 4])) == -3


@each("name, ids", [("rank", None), ("skip", [0]), ("replace", [0, 2])])
def test_unknown_symbols_as_the_tokenizer_says(name: str, ids: list[int] | None) -> None:
    k, out = TOKENIZERS[name].kernels, np.zeros(2, np.int32)
    for found in (encode_into(k, np.array([0, 99]), out), k.encode_into(np.array([0, 99]), out.copy())):
        assert found == (-2 if ids is None else len(ids))
    if ids is not None:
        assert out[: len(ids)].tolist() == ids


def test_room_at_every_edge() -> None:
    tok, doc = TOKENIZERS["rank"], corpus(3)[0]
    k, ids = tok.kernels, tok.encode(doc)
    for n in range(ids.size + 1):
        out = np.full(n, -7, np.int32)
        assert (
            encode_into(k, doc, out)
            == (ids.size if n == ids.size else NO_ROOM)
            == k.encode_into(doc, out.copy())
        )
        assert np.array_equal(out, ids if n == ids.size else np.full(n, -7))
    for n in range(doc.size + 1):
        symbols, guarded = np.zeros(n, k.dtype), np.full(n + 8, -7, k.dtype)
        result = decode_into(k, ids, guarded[:n])
        assert result == (doc.size if n == doc.size else NO_ROOM) == k.decode_into(ids, symbols)
        assert (guarded[n:] == -7).all()
    assert np.array_equal(symbols, doc)
    for bad in (-1, len(tok.vocabulary), 2**31 - 1, -(2**31)):
        wrong = np.array([0, 1, bad, 2], np.int32)
        assert decode_into(k, wrong, symbols) == k.decode_into(wrong, symbols) == -3


@each("call, message", [
    (lambda k, f, i: encode_into(k, f, i), "doc: expected a 1-D array of integers"),
    (lambda k, f, i: encode_into(k, i, f), "out: expected a 1-D, contiguous and writable array of int32"),
    (lambda k, f, i: encode_into(k, i, i[::2]), "out: expected a 1-D, contiguous"),
    (lambda k, f, i: decode_into(k, i.astype(np.int64), i), "ids: expected a 1-D array of int32"),
    (lambda k, f, i: decode_into(k, i, f), "out: expected a 1-D, contiguous and writable array of int32"),
])  # fmt: skip
def test_wrong_arguments_are_named_when_a_function_is_compiled(call: Any, message: str) -> None:
    refuses(numba.TypingError, message, call, TOKENIZERS["rank"].kernels, np.zeros(3), np.zeros(3, np.int32))


def test_errors_of_the_calls_that_raise() -> None:
    k = TOKENIZERS["rank"].kernels
    refuses(ValueError, "not in the alphabet", both, k, np.array([0, 99]))
    refuses(
        ValueError, "no token has", lambda: njit(lambda k, ids: k.decode(ids))(k, np.array([0, -1], np.int32))
    )


def test_a_global_is_refused_with_the_way_on() -> None:
    k = TOKENIZERS["rank"].kernels

    @njit
    def of_global(doc: Any) -> Any:
        return k.count(doc)

    refuses(numba.TypingError, "pass it as an argument", of_global, np.zeros(3, np.int64))


@each("tok", [
    BPE.for_text(260).fit(["low lower"], progress=False),
    WordPiece(["[UNK]", "un", "##able"]),
    BPE(6, preprocessing=Preprocessing(special_tokens=[[7, 7]])).fit([[0, 1, 0, 1]], progress=False),
])  # fmt: skip
def test_tokenizers_that_cut_documents_are_refused(tok: Any) -> None:
    with pytest.raises(
        ValueError, match=r"kernels: this tokenizer cuts or changes documents .* encode_batch gives a Ragged"
    ):
        _ = tok.kernels


def test_kernels_are_the_tokenizer_as_it_was() -> None:
    tok, doc = UBPE(60, 4).fit(corpus(), progress=False), corpus(4)[0]
    before, ids = tok.kernels, tok.encode(doc)
    assert tok.kernels is before
    tok.objective = "shortest"
    assert np.array_equal(both(before, doc)[0], ids) and np.array_equal(
        pickle.loads(pickle.dumps(before)).encode(doc), ids
    )
    assert np.array_equal(both(tok.kernels, doc)[0], tok.encode(doc))
    with pytest.raises(AttributeError, match="frozen"):
        before.dtype = None


def test_memory_lives_as_long_as_compiled_code_holds_it() -> None:
    doc, first = corpus(5)[0], njit(lambda kernels: kernels[0])
    kept, expected = numba.typed.List(), []
    for size in range(20, 40):
        tok = BPE(size).fit(corpus(), progress=False)
        expected.append(tok.encode(doc))
        kept.append(tok.kernels)
        del tok
    for i, ids in enumerate(expected):
        k = first(numba.typed.List([kept[i]]))
        assert np.array_equal(both(k, doc)[0], ids) and np.array_equal(k.encode(doc), ids)


def test_a_tokenizer_is_freed_with_its_kernels() -> None:
    tok = BPE(20).fit(corpus(), progress=False)
    kept, plan = tok.kernels, weakref.ref(tok._plan())
    assert np.array_equal(kept.encode(corpus(5)[0]), tok.encode(corpus(5)[0]))
    del tok
    gc.collect()
    assert plan() is kept._plan
    del kept
    gc.collect()
    assert plan() is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_forks_during_calls() -> None:
    """Children find the desks of calls that are not theirs taken for ever."""
    script = """
import os, threading
import numpy as np
from numba import njit
from ubpe_numba import UBPE

@njit(nogil=True)
def many(k, doc, out, n):
    total = 0
    for _ in range(n):
        total += k.encode_into(doc, out)
    return total

docs = [np.random.default_rng(seed).integers(0, 3, 300).cumsum() % 7 for seed in range(6)]
k = UBPE(60, 4).fit(docs, progress=False).kernels
expected, stop, wrong = many(k, docs[0], np.zeros(300, np.int32), 50), [], []

def work():
    while not stop:
        if many(k, docs[0], np.zeros(300, np.int32), 50) != expected:
            wrong.append(1)

threads = [threading.Thread(target=work) for _ in range(6)]
for thread in threads:
    thread.start()
for _ in range(10):
    child = os.fork()
    if child == 0:
        os._exit(many(k, docs[0], np.zeros(300, np.int32), 50) != expected)
    wrong += [1] * (os.waitpid(child, 0)[1] != 0)
stop.append(1)
for thread in threads:
    thread.join()
print(len(wrong))
"""
    assert python(script, options=("-W", "ignore")) == "0"


SCRIPT = """
import numpy as np
from numba import njit
from ubpe_numba import BPE, Ragged

@njit
def f(k, batch, out):
    n = 0
    for i in range(len(batch)):
        n += k.encode_into(batch[i], out[n:])
    return n, k.count(batch[0]), k.decode(out[:n])

tok = BPE.from_merges([[0, 1], [2, 0]], alphabet=3)
out = np.zeros(8, np.int32)
batch = Ragged.from_lists([[0, 1, 2], [0, 1, 0, 1]])
n, first, symbols = f(tok.kernels, batch, out)
getattr(f, "py_func", f)(tok.kernels, batch, out)
print(n, first, out[:n].tolist(), symbols.tolist())
"""


@pytest.mark.parametrize("variable", ["NUMBA_DISABLE_JIT", "UBPE_PLAIN_NUMBA"])
def test_one_program_in_every_mode(variable: str, tmp_path: pathlib.Path) -> None:
    for mode in {}, {variable: "1"}:  # first to fill the cache, which NUMBA_DISABLE_JIT needs
        done = python(SCRIPT, options=("-W", "ignore"), UBPE_CACHE_DIR=str(tmp_path), **mode)
    assert done.split("\n")[0] == "4 2 [3, 2, 3, 3] [0, 1, 2, 0, 1, 0, 1]"
