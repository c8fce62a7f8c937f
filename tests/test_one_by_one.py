"""Documents that come one after the other, and arrays that lie on a disk: fitted without a second copy."""

from __future__ import annotations

import threading
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubpe_numba import BPE, Ragged, UBPEClassic
from ubpe_numba.documents import normalise as border
from ubpe_numba.documents.growing import Growing
from ubpe_numba.documents.normalise import as_documents
from ubpe_numba.documents.utf8 import utf8_documents
from ubpe_numba.runtime import thread_pool


@given(st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5), max_size=8))
def test_growing_holds_what_it_was_given(batches):
    growing = Growing()
    for batch in batches:
        growing.append(np.array(batch, np.int64))
    assert growing.finish().tolist() == [x for batch in batches for x in batch]


@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize(
    "docs",
    [
        [[1, 2, 3], [], [300, -1]],
        [np.array([1, 2], np.uint8), np.array([2**40]), np.zeros(0, np.int16)],
        ["né", "", "\ud800x", "\U0001f600"],
        [b"abc", bytearray(b"d"), b""],
        [],
        [[]],
    ],
)
def test_iterators_equal_lists(docs, small, monkeypatch):
    if small:
        monkeypatch.setattr(border, "_BATCH_SYMBOLS", 1)
    listed, streamed = as_documents(docs), as_documents(iter(docs))
    assert listed.kind == streamed.kind
    assert listed.offsets.tolist() == streamed.offsets.tolist()
    assert listed.values.tolist() == streamed.values.tolist()


@pytest.mark.parametrize(
    "docs, message",
    [
        ([[1], [2], "x"], r"integers \(document 0\) and str \(document 2\)"),
        ([b"a", b"b", [1.5]], r"document 2.*expected an integer"),
        ([[1], [2], [3, 2**64]], r"document 2, position 1.*fits int64"),
        ([[1], [2], None], r"document 2: expected one of"),
        ([np.array([1]), np.array([2]), np.array([1.0])], r"document 2: documents are integers"),
        ([np.array([1]), np.array([2**63], np.uint64)], r"document 1, position 0.*fits int64"),
    ],
)
def test_errors_name_the_document_in_the_stream(docs, message, monkeypatch):
    monkeypatch.setattr(border, "_BATCH_SYMBOLS", 1)
    with pytest.raises((TypeError, ValueError), match=message):
        as_documents(iter(docs))


def test_an_iterator_that_fails_leaves_the_tokenizer_alone():
    tok = BPE(300).fit([b"aaaa"])
    before = tok.fingerprint

    def broken():
        yield b"abab"
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        tok.fit(broken())
    assert tok.fingerprint == before


def test_a_stream_is_held_once_and_narrow():
    rng = np.random.default_rng(0)
    texts = [rng.integers(97, 107, 4000) for _ in range(5)]
    n = 2_000_000
    tracemalloc.start()
    documents = as_documents(texts[i % 5] for i in range(n // 4000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert documents.values.size == n
    assert documents.values.dtype == np.uint8
    assert peak < 2 * n + 16 * border._BATCH_SYMBOLS  # of a batch there are the arrays, joined
    assert BPE(140).fit(iter(texts), progress=False).fingerprint == BPE(140).fit(texts, progress=False).fingerprint


@pytest.mark.parametrize("dtype", [np.int32, ">i4"])
def test_a_mapped_array_is_not_copied(tmp_path, dtype):
    n = 1_500_000
    values = np.random.default_rng(1).integers(0, 100, n).astype(dtype)
    values.tofile(tmp_path / "corpus.bin")
    mapped = np.memmap(tmp_path / "corpus.bin", dtype, "r")
    offsets = np.array([0, n // 3, n])
    tok = UBPEClassic(110, 5, alphabet=100, n_threads=1)
    tok.fit(mapped[:5000], progress=False)  # compiled
    tracemalloc.start()
    tok.fit(mapped, offsets=offsets, progress=False)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    copy = n * mapped.itemsize if dtype == ">i4" else 0  # another byte order is brought to ours
    # what is reserved, not what is touched: a copy would be 4 bytes a symbol more
    assert peak < 25 * n + copy + 4_000_000
    assert tok.fingerprint == UBPEClassic(110, 5, alphabet=100).fit(Ragged(values.astype(np.int32), offsets)).fingerprint


def test_text_that_comes_one_by_one_is_not_held():
    text = "".join(map(chr, np.random.default_rng(0).integers(97, 107, 4000)))
    n = 2_000_000
    tracemalloc.start()
    documents = utf8_documents(text[i % 7 :] + text[: i % 7] for i in range(n // 4000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert documents.values.size == n
    assert peak < n + 4 * border._BATCH_SYMBOLS  # the texts alone would be 2 n, as str and as bytes


def test_one_long_document_is_encoded_aside(monkeypatch):
    """So that Ctrl-C is heard: where a kernel runs, no signal is."""
    monkeypatch.setattr(thread_pool, "LONG", 100)
    tok = BPE(20, alphabet=4, n_threads=1).fit([np.arange(40) % 4], progress=False)
    kernel, in_main = tok._encoder._linear, []

    def noted(*args):
        in_main.append(threading.current_thread() is threading.main_thread())
        return kernel(*args)

    monkeypatch.setattr(tok._encoder, "_linear", noted)
    long = np.arange(400) % 4
    assert tok.decode(tok.encode(long)).tolist() == long.tolist()
    tok.encode(long[:99])
    assert in_main == [False, True]
