"""Callers that take a tokenizer elsewhere (asyncio, gevent), and large numbers of things."""

import _thread
import asyncio
import importlib.util
import threading
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from processes import python

from ubpe_numba import BPE
from ubpe_numba.runtime import thread_pool
from ubpe_numba.tokenizers import decoding

RNG = np.random.default_rng(5)
DOCS = [RNG.integers(0, 50, n).tolist() for n in RNG.integers(0, 80, 200)]
LARGE = [RNG.integers(0, 50, 400_000) for _ in range(3)]


def fitted(**params: Any) -> BPE:
    return BPE(150, alphabet=50, **params).fit(DOCS, progress=False)


def test_asyncio() -> None:
    """The loop goes on while a thread of its executor encodes; a task is cancelled."""
    tok = fitted(n_threads=2)
    large = tok.encode_batch(LARGE).values.tolist()

    async def main() -> None:
        task, turns = asyncio.create_task(asyncio.to_thread(tok.encode_batch, LARGE * 8)), 0
        while not task.done():
            await asyncio.sleep(0)
            turns += 1
        assert turns > 10
        task = asyncio.create_task(asyncio.to_thread(tok.encode_batch, LARGE * 8))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        # beside what still runs
        assert (await asyncio.to_thread(tok.encode_batch, LARGE)).values.tolist() == large

    asyncio.run(main())


GREEN = """
from gevent import monkey
monkey.patch_all()
import gevent, numpy as np
from gevent.threadpool import ThreadPool
from ubpe_numba import BPE, UBPE
rng = np.random.default_rng(0)
docs, large = [rng.integers(0, 50, 60).tolist() for _ in range(99)], [rng.integers(0, 50, 400_000) for _ in range(5)]
for cls, options in ((BPE, {}), (UBPE, {"objective": "shortest"})):
    tok = cls(200, alphabet=50, n_threads=2, **options).fit(docs, progress=False)
    want = [tok.encode(doc).tolist() for doc in docs]
    assert [g.get().tolist() for g in [gevent.spawn(tok.encode, doc) for doc in docs]] == want
    ids = tok.encode_batch(large).values.tolist()
    greenlets = [gevent.spawn(tok.encode_batch, large) for _ in range(3)]
    gevent.joinall(greenlets)
    assert all(g.value.values.tolist() == ids for g in greenlets)
    assert ThreadPool(2).spawn(tok.encode_batch, large).get().values.tolist() == ids
    with gevent.Timeout(0.001, False):
        tok.fit(large, progress=False)
    greenlets = [gevent.spawn(cls(60, alphabet=50, n_threads=2, **options).fit, large, progress=False) for _ in range(2)]
    gevent.joinall(greenlets)
    assert greenlets[0].value.fingerprint == greenlets[1].value.fingerprint
    greenlets[0].value.fit([np.concatenate(large)] * 2, progress=False)
print("end")
"""


@pytest.mark.skipif(
    importlib.util.find_spec("gevent") is None, reason="gevent is not installed: pip install gevent"
)
def test_gevent() -> None:
    """A fit on two threads waited for ever: its helper, a greenlet, had the only thread of the system."""
    assert python(GREEN) == "end"


@pytest.mark.parametrize("library", ["gevent.thread", "eventlet.green.thread"])
def test_greenlets_are_given_no_work(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    used: set[str] = set()

    def work(begin: int, end: int) -> int:
        used.add(threading.current_thread().name)
        return end - begin

    here = threading.current_thread().name
    chunks = [(0, 1), (1, 3), (3, 6)]
    assert thread_pool.run(work, chunks, 2) == [1, 2, 3] and here not in used
    used.clear()

    def greenlet() -> None: ...

    greenlet.__module__ = library
    monkeypatch.setattr(_thread, "start_new_thread", greenlet)
    assert thread_pool.are_green()
    assert thread_pool.run(work, chunks, 2) == [1, 2, 3]  # though there are threads from before
    assert thread_pool.together(lambda: work(0, 9), lambda me: work(0, me), lambda: None, 2) == 9
    assert thread_pool.apart(lambda: work(0, 5)) == 5 and used == {here}


def allocated(call: Callable[[], object]) -> int:
    """The most bytes that a call held at once, with its result; the least of three, since other threads may allocate too."""
    call()
    found = []
    for _ in range(3):
        tracemalloc.start()
        try:
            result = call()  # held until the memory is read
            found.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
        del result
    return min(found)


def test_short_documents_take_few_bytes_each() -> None:
    """What a call allocates says more than its time."""
    n = 80_000
    lengths = np.random.default_rng(3).integers(0, 4, n)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    flat = np.random.default_rng(4).integers(0, 90, offsets[-1]).astype(np.int32)
    tok = BPE(300, alphabet=90, n_threads=1).fit(flat, offsets=offsets, progress=False)
    ids = tok.encode_batch(flat, offsets)
    assert tok.decode_batch(ids).values.tolist() == flat.tolist()
    fixed = 1 << 21
    assert allocated(lambda: tok.encode_batch(flat, offsets)) < fixed + 40 * n
    assert allocated(lambda: tok.decode_batch(ids)) < fixed + 40 * n
    assert (
        allocated(lambda: BPE(300, alphabet=90, n_threads=1).fit(flat, offsets=offsets, progress=False))
        < 4 * fixed + 80 * n
    )


@pytest.mark.parametrize("pretokenizer", ["gpt2", r"\w+|\s"])
def test_cuts_of_many_texts_are_not_hashed(pretokenizer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`np.unique` hashes what ascends already: of ten million short texts three quarters of a fit."""
    if pretokenizer != "gpt2":
        pytest.importorskip("regex")
    hashed: list[int] = []
    unique = np.unique

    def counted(values: Any, *args: Any, **kwargs: Any) -> Any:
        hashed.append(np.size(values))
        return unique(values, *args, **kwargs)

    texts = ["".join(map(chr, 97 + RNG.integers(0, 26, i % 4))) for i in range(3000)]
    known = texts[5]
    monkeypatch.setattr(np, "unique", counted)
    tok = BPE.for_text(300, pretokenizer=pretokenizer, known_words=[known], special_tokens=["<s>"])
    tok.fit(texts, boundaries=[[1] if i % 4 == 3 else [] for i in range(3000)], progress=False)
    assert (
        tok.decode_batch(tok.encode_batch([f"{text}<s>" for text in texts], allowed_special="all"))[7]
        == texts[7] + "<s>"
    )
    assert max(hashed, default=0) < 1000


def test_documents_of_characters_are_decoded_in_one_go(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    one = decoding.text_of

    def counted(points: Any) -> str:
        calls.append(points.size)
        return one(points)

    monkeypatch.setattr(decoding, "text_of", counted)
    texts = ["ab", "", "\ud800b", "\U0001f600a", "aé" * 9] * 20
    tok = BPE(12).fit(texts, progress=False)
    assert tok.decode_batch(tok.encode_batch(texts)) == texts and len(calls) == 1


@pytest.mark.parametrize("name", ["special_tokens", "known_words"])
def test_a_short_text_does_not_wait_for_all_words(name: str) -> None:
    """A document of two letters took three passes over all words, 0.2 ms of a hundred thousand."""
    words = {name: [f"<{i:x}>" for i in range(30_000)]}
    tok = BPE.for_text(300, **words).fit(["abab"], progress=False)  # type: ignore[arg-type]
    options = {"allowed_special": "all"} if name == "special_tokens" else {}
    word = tok.vocabulary.special["<1a>"]
    assert tok.encode("ab<1a>b", **options).tolist()[-2] == word
    assert allocated(lambda: tok.encode("ab<1a>b", **options)) < 20_000
    assert allocated(lambda: tok.encode_batch(["ab<1a>b", "b"], **options)) < 20_000
