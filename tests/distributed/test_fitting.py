"""Fits on workers: equal to the fit in one process, or refused; workers killed, partitions that cannot be read, Ctrl-C."""

import _thread
import os
import signal
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import dask.bag as db
import numpy as np
import pyarrow.parquet as pq
import pytest
from echo_host import left_on
from hypothesis import given, strategies as st
from polling import eventually
from tables import refuses

from ubpe_numba import BPE, UBPE, FitRules, Preprocessing, UBPEClassic, count_documents
from ubpe_numba.cli.demo import load_ecg
from ubpe_numba.distributed import decode, fit, fitting, hosts
from ubpe_numba.distributed.hosts import DaskEngine
from ubpe_numba.distributed.remote_text import RemoteText, until_done
from ubpe_numba.errors import UnknownSymbolError

RNG = np.random.default_rng(3)
ECG = load_ecg()[0][:24_000].astype(np.int32)
DNA = np.resize(np.repeat(RNG.integers(0, 4, 12_000), RNG.integers(1, 4, 12_000)), 24_000).astype(np.uint8)
DOCS: list[Any] = [ECG[a : a + n] for a, n in zip(range(0, 20_000, 500), [400, 1, 0, 500] * 10, strict=True)]
TEXT = [
    "she sells sea shells ",
    "by the sea shore",
    "",
    "the shells she sell",
    "sea shells",
    "é😀 ж " * 4,
] * 9
WAV_CHUNKS, DNA_CHUNKS = (7, 9_001, 0, 12_001, 2_991), (11_000, 1, 12_999)


def same(found: Any, expected: Any) -> None:
    """The same model and the same history, bit for bit."""
    assert found.fingerprint == expected.fingerprint
    for name, value in expected.history_._asdict().items():
        np.testing.assert_array_equal(getattr(found.history_, name), value, err_msg=name)
    assert found._model.alphabet == expected._model.alphabet
    for name in ("merges", "weights", "counts", "document_frequencies", "n_documents", "n_symbols"):
        if hasattr(expected._model.vocabulary, name):
            values = [getattr(tok._model.vocabulary, name) for tok in (found, expected)]
            np.testing.assert_array_equal(*values, err_msg=name)


def here(tok: Any, docs: Any, **options: Any) -> Any:
    """The fit in this process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return type(tok)(**tok.get_params()).fit(docs, progress=False, **options)


def there(tok: Any, parts: Any, client: Any, **options: Any) -> Any:
    """The fit on workers, which have forgotten it then."""
    made = fit(tok, parts, client, progress=False, **options)
    assert made is tok and clean(client)
    return made


def split(docs: list[Any], *cuts: int) -> list[list[Any]]:
    return [docs[a:b] for a, b in zip((0, *cuts), (*cuts, len(docs)), strict=True)]


def clean(client: Any) -> bool:
    """Whether the workers have nothing any more."""
    return eventually(lambda: not left_on(client) and not any(client.has_what().values()))


def array(values: np.ndarray, chunks: tuple[int, ...]) -> Any:
    return da.from_array(values, chunks=(chunks,))


@pytest.mark.parametrize(
    "values, chunks, n_candidates", [(ECG, WAV_CHUNKS, 1), (DNA, DNA_CHUNKS, 50)], ids=["wav", "dna"]
)
def test_one_document_that_is_cut(
    client: Any, values: np.ndarray, chunks: tuple[int, ...], n_candidates: int
) -> None:
    tok = UBPEClassic(int(values.max()) + 160, n_candidates)
    same(there(tok, array(values, chunks), client), here(tok, values))


FORMS: dict[str, Callable[[Any], Any]] = {
    "delayed": lambda client: [dask.delayed(part) for part in split(DOCS, 11, 30)],
    "futures": lambda client: client.map(list, split(DOCS, 11, 30), pure=False),
    "empty partitions": lambda client: [[], DOCS[:9], [], [], DOCS[9:], []],
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_partitions(client: Any, form: str) -> None:
    same(fit(BPE(290), FORMS[form](client), client, progress=False), here(BPE(290), DOCS))
    assert clean(client)


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
def test_hosts_have_about_as_much_where_sizes_are_known(
    client: Any, monkeypatch: pytest.MonkeyPatch, known: bool
) -> None:
    asked: list[Any] = []

    def ask(message: Any, make_anew: Any) -> Any:
        asked.append(until_done(message, make_anew))
        return asked[-1]

    monkeypatch.setattr(fitting, "until_done", ask)
    values = array(ECG[:12_000], (20, 20, 20, 20, 11_920))
    parts = values if known else values[array(np.ones(12_000, bool), values.chunks[0])]
    same(there(BPE(300), parts, client), here(BPE(300), ECG[:12_000]))
    ends = ("3", "4") if known else ("1", "2")
    assert [part.name for part in asked[0]] == [
        f"partition 0 to partition {ends[0]}", "partition 4" if known else f"partition {ends[1]} to partition 4"
    ]  # fmt: skip


@given(st.lists(st.integers(0, 9) | st.just(0) | st.integers(0, 2**55), min_size=1, max_size=30), st.data())
def test_every_host_gets_partitions_and_none_much_more_than_its_share(
    sizes: list[int], data: st.DataObject
) -> None:
    n = len(sizes)
    n_hosts = data.draw(st.integers(1, n))
    cuts = fitting.even_cuts(sizes, n_hosts)
    assert (
        len(cuts) == n_hosts + 1 and (cuts[0], cuts[-1]) == (0, n) and all(a < b for a, b in pairwise(cuts))
    )
    assert max(sum(sizes[a:b]) for a, b in pairwise(cuts)) <= sum(sizes) / n_hosts + 2 * max(sizes) + 16


def test_counts_and_weights(client: Any) -> None:
    docs = DOCS[:12] + DOCS[:5] + DOCS[:2]
    parts = [count_documents(docs[:9]), count_documents(docs[9:]), count_documents([])]
    same(there(BPE(280, alphabet=range(256)), parts, client), here(BPE(280, alphabet=range(256)), docs))
    weights = RNG.integers(0, 4, len(DOCS))
    weights[[3, 4]] = 0, 5
    for each_of in (weights, 0 * weights, np.where(np.arange(len(DOCS)) == 4, 7, 1)):
        each: Any = [w.tolist() for w in np.split(each_of, [4, 5, 22])]
        if each_of[4] == 7:
            each = [None, [7], None, None]  # of one partition only
        found = there(UBPEClassic(300), split(DOCS, 4, 5, 22), client, sample_weight=each)
        same(found, here(UBPEClassic(300), DOCS, sample_weight=each_of))


def test_boundaries_of_partitions(client: Any) -> None:
    cuts = [sorted(RNG.integers(0, len(doc) + 1, 5).tolist()) for doc in DOCS]
    weights = RNG.integers(0, 3, len(DOCS))
    options = {"boundaries": [None, *split(cuts, 4, 22)[1:]], "sample_weight": np.split(weights, [4, 22])}
    found = there(UBPEClassic(290, 3), split(DOCS, 4, 22), client, **options)
    same(found, here(UBPEClassic(290, 3), DOCS, boundaries=[[]] * 4 + cuts[4:], sample_weight=weights))


@pytest.mark.parametrize("positions", [[10, 1_500, 4_500, 4_501, 4_501, 8_999], range(9_001)], ids=range(2))
def test_boundaries_of_one_document(client: Any, positions: Any) -> None:
    # of two symbols each pair at a cut counts
    for values, n_tokens in ((ECG[:9_000], 290), (np.resize([0, 1], 9_000), 5)):
        found = there(
            UBPEClassic(n_tokens, 7),
            array(values, (0, 1_500, 0, 3_000, 1, 4_499, 0)),
            client,
            boundaries=positions,
        )
        same(found, here(UBPEClassic(n_tokens, 7), values, boundaries=positions))


def test_almost_nothing(client: Any) -> None:
    for chunks in ((0, 0, 0), (0, 1, 0), (1, 1), (1,) * 9):
        values = np.resize([1, 0, 1], sum(chunks))
        same(there(BPE(4), array(values, chunks), client), here(BPE(4), values))
    for parts in ([[]], [[[]], [[], []]], [[""], []], [[], [""], ["ab"]], [[], [b"ab"]]):
        same(there(BPE(300), parts, client), here(BPE(300), [doc for part in parts for doc in part]))


ALPHABETS: dict[str, list[Any]] = {
    "negative": [doc.astype(np.int64) * 10**15 - 2**40 for doc in DOCS],
    "beyond 65536, dense": [doc.astype(np.int64) + 70_000 for doc in [*DOCS, *DOCS, *DOCS]],
    "str": TEXT,
    "bytes": [text.encode() for text in TEXT],
}


@pytest.mark.parametrize("name", ALPHABETS)
def test_learned_alphabets(client: Any, name: str) -> None:
    docs = ALPHABETS[name]
    n_tokens = 300 if name != "beyond 65536, dense" else 70_300
    expected = here(UBPEClassic(n_tokens, 2), docs)
    found = there(UBPEClassic(n_tokens, 2), split(docs, 2, 3, 11), client)
    assert found._model.alphabet.is_identity == expected._model.alphabet.is_identity
    same(found, expected)


def test_an_alphabet_that_is_learned_of_symbols_of_weight_0(client: Any) -> None:
    docs = [[-5, 3, 3, 3], [900, 900], [3, 3, -5, 3]]
    found = there(BPE(8), split(docs, 1, 2), client, sample_weight=[[1], [0], [2]])
    same(found, here(BPE(8), docs, sample_weight=[1, 0, 2]))
    assert 900 in found._model.alphabet.symbols


def test_given_alphabets(client: Any) -> None:
    tok = BPE(340, alphabet=np.arange(300)[::-1])
    same(there(tok, split(DOCS, 5, 6, 25), client), here(tok, DOCS))
    same(there(tok, array(ECG, WAV_CHUNKS), client), here(tok, ECG))
    parts = [[[0, 1]], [[1, 1], [0, 1, 2, 9]], [[0], [1]], [[1, 7]]]
    with pytest.raises(UnknownSymbolError, match="partition 1: document 1, position 2: symbol 2") as caught:
        fit(BPE(4, alphabet=[0, 1]), parts, client, progress=False, sample_weight=[[1], [2, 1], [0, 1], [1]])
    assert (caught.value.document, caught.value.position, caught.value.symbol) == (1, 2, 2) and clean(client)


def test_classes_and_rules(client: Any) -> None:
    """Of all rules; that they mean the same on hosts is what test_remote_text.py asks."""
    rules = FitRules(order="idf", overshoot=True, max_token_length=3, min_count=9)
    for tok in (UBPE(300, 5, rules=rules, n_threads=2), BPE(256)):
        same(there(type(tok)(**tok.get_params()), split(DOCS, 7, 8, 30), client), here(tok, DOCS))


def test_break_and_stop_tokens(client: Any) -> None:
    for lone in (Preprocessing(break_tokens=[128, 129]), Preprocessing(stop_tokens=[128])):
        tok = BPE(290, preprocessing=lone, alphabet=256)
        same(there(tok, split(DOCS, 7, 8, 30), client), here(tok, DOCS))
        with pytest.raises(ValueError, match="break_tokens, stop_tokens: .*give boundaries"):
            fit(tok, array(ECG, WAV_CHUNKS), client, progress=False)


DOCUMENTS = [[[0, 1], [1, 1]], [[0, 1, 1, 0]]]
ONE = array(ECG, WAV_CHUNKS)
REFUSED: list[tuple[Any, Any, dict[str, Any], Any, str]] = [
    (
        BPE(290, rules=FitRules(ties="first_seen")),
        DOCUMENTS,
        {},
        ValueError,
        "rules: ties='first_seen' .* Use ties='small",
    ),
    (UBPE(290, objective="likelihood"), DOCUMENTS, {}, ValueError, "objective: 'likelihood'"),
    (BPE(290), [], {}, ValueError, "parts: expected one partition at least"),
    (BPE(20), [DOCUMENTS[0], [[255]]], {}, ValueError, "n_tokens: expected at least the alphabet's 256"),
    ("bpe", DOCUMENTS, {}, TypeError, "tok: expected a BPE, UBPE or UBPEClassic"),
    (
        BPE.for_text(300),
        [TEXT],
        {"sample_weight": [[1] * len(TEXT)]},
        ValueError,
        "sample_weight: split text is counted",
    ),
    (BPE.for_text(300), ONE, {}, ValueError, "pretokenizer: documents that are cut are counted"),
    (
        BPE(12),
        DOCUMENTS,
        {"sample_weight": [1, 2, 3]},
        ValueError,
        "sample_weight: expected a list of 2 entries",
    ),
    (BPE(12), DOCUMENTS, {"sample_weight": [[1], [1, 1]]}, ValueError, r"partition \d: .*sample_weight"),
    (BPE(12), DOCUMENTS, {"sample_weight": [[1, 1], [1.5]]}, TypeError, r"partition 1: sample_weight"),
    (
        BPE(12),
        DOCUMENTS,
        {"boundaries": [None, [[9]]]},
        ValueError,
        "partition 1: boundaries: document 0: position 9 is not in",
    ),
    (BPE(12), DOCUMENTS, {"boundaries": "ab"}, ValueError, "boundaries: expected a list of 2 entries"),
    (BPE(300), ONE, {"boundaries": [-1]}, ValueError, r"boundaries: expected positions in 0..24000"),
    (BPE(300), ONE, {"boundaries": [24_001]}, ValueError, r"boundaries: expected positions in 0..24000"),
    (
        BPE(300),
        ONE[ONE > 120],
        {"boundaries": [3]},
        ValueError,
        "boundaries: the sizes of the array's chunks are not known",
    ),
    (BPE(300), ONE, {"boundaries": [1.5]}, TypeError, "boundaries"),
    (BPE(300), ONE, {"boundaries": "ab"}, TypeError, "boundaries: expected integers"),
    (BPE(300), ONE, {"sample_weight": [1]}, ValueError, "sample_weight: a 1-D dask.array is one document"),
    (BPE(300), [[1, 2]], {}, TypeError, "partition 0"),
    (BPE(300), [[[[1.5]]], [[1]]], {}, TypeError, "partition 0"),
    (BPE(300), [[[1]], ["a"]], {}, TypeError, "parts: expected documents of one kind, got int and str"),
    (
        BPE(300),
        [[["b", "b"]], [["a", "b"]]],
        {},
        TypeError,
        "partition .: docs: a cluster learns no alphabet of words; give",
    ),
]


def test_words_of_a_given_alphabet(client: Any, tmp_path: Path) -> None:
    docs = [["open", "read", "open", "read"], ["later", "open"], ["read", "open", "read"]]
    tok = BPE(7, alphabet=["read", "later", "open"])
    same(
        fit(tok, split(docs, 1), client, progress=False),
        here(BPE(7, alphabet=["read", "later", "open"]), docs),
    )
    written = decode(
        tok, [tok.encode_batch(docs).to_lists()], tmp_path / "words", client=client, progress=False
    )
    assert pq.read_table(written[0]).column(0).to_pylist() == docs


def test_what_is_refused(client: Any) -> None:
    for tok, parts, options, error, message in REFUSED:
        refuses(error, message, fit, tok, parts, **{"client": client, **options})
        assert not hasattr(tok, "_model")
    assert clean(client)


def test_text_that_is_counted_and_text_in_whole_documents(client: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\n".join(TEXT) + "\n")
    for make in (
        lambda: BPE.for_text(320), lambda: UBPE.for_text(320, pretokenizer="gpt2", special_tokens=["sea"]), lambda: BPE(100),
    ):  # fmt: skip
        expected = here(make(), TEXT)
        same(there(make(), tmp_path / "a.txt", client, blocksize=100), expected)
        same(there(make(), split(TEXT, 1, 2, 9), client), expected)


def at_batches(monkeypatch: pytest.MonkeyPatch, what: dict[int, Callable[[], Any]]) -> None:
    """Do something at the n-th batch."""
    merge, seen = RemoteText._merge, []

    def outer(self: Any) -> None:
        seen.append(len(seen) + 1)
        what.get(len(seen), int)()
        merge(self)

    monkeypatch.setattr(RemoteText, "_merge", outer)


@pytest.mark.parametrize("at", ["step", "part, load, count_dense, list_dense"])
def test_workers_killed(mortal: Any, monkeypatch: pytest.MonkeyPatch, at: str) -> None:
    """At these messages, one or both of them."""
    real, seen = DaskEngine.ask, Counter[str]()

    def ask(self: Any, method: str, *args: Any) -> Any:
        seen[method] += 1
        if method in at and seen[method] in (1, 4):
            for pid in sorted(mortal.run(os.getpid).values())[: 1 + len(seen) % 2]:
                os.kill(pid, signal.SIGKILL)
        return real(self, method, *args)

    monkeypatch.setattr(DaskEngine, "ask", ask)
    same(fit(UBPEClassic(600), array(ECG, WAV_CHUNKS), mortal, progress=False), here(UBPEClassic(600), ECG))
    assert all(seen[method] > 1 for method in at.split(", ")) and clean(mortal)


def test_partitions_that_kill_who_reads_them(
    mortal: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def deadly(part: list[Any], flag: Path | None) -> list[Any]:
        if flag is None or not flag.exists():
            (flag or tmp_path / "x").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return part

    parts = [dask.delayed(deadly)(part, tmp_path / str(i)) for i, part in enumerate(split(DOCS, 25))]
    same(fit(BPE(290), parts, mortal, progress=False), here(BPE(290), DOCS))
    monkeypatch.setattr(hosts, "TRIES", 1)
    with pytest.raises(RuntimeError, match="partition 1: 1 times workers died while they read it"):
        fit(BPE(290), [dask.delayed(DOCS[:5]), dask.delayed(deadly)(DOCS[5:], None)], mortal, progress=False)
    mortal.wait_for_workers(2, timeout=60)
    assert clean(mortal)


def test_futures_whose_data_is_lost(mortal: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scattered data is not made again: an error soon, and no waiting for ever."""
    futures = [
        mortal.scatter([part], workers=[where])[0]
        for part, where in zip(split(DOCS, 25), mortal.run(os.getpid), strict=True)
    ]
    at_batches(
        monkeypatch, {2: lambda: [os.kill(pid, signal.SIGKILL) for pid in mortal.run(os.getpid).values()]}
    )
    with pytest.raises(RuntimeError, match="partition 0: cancelled, or data of a future was lost"):
        fit(BPE(290), futures, mortal, progress=False)
    del futures
    assert clean(mortal)


def test_a_partition_that_cannot_be_read(client: Any) -> None:
    def broken(part: Any) -> Any:
        raise part

    ill, odd = (
        OSError(5, "the disk is ill"),
        array(ECG, WAV_CHUNKS).map_blocks(lambda block: {}["x"], dtype=np.int32),
    )
    cases: list[tuple[Any, Any, str]] = [
        (
            [dask.delayed(DOCS), dask.delayed(list)(dask.delayed(broken)(ill))],
            OSError,
            "partition 1: the disk is ill",
        ),
        (odd, RuntimeError, "partition .: KeyError: 'x'"),
        ([dask.delayed(DOCS), dask.delayed(7)], TypeError, "partition 1: "),
        (
            db.from_sequence([[1], [2], [3], [4], [5], 1.5], npartitions=3),
            TypeError,
            "partition 2: .*document 1",
        ),
    ]
    for parts, error, message in cases:
        refuses(error, message, fit, BPE(290), parts, client, progress=False)
    assert clean(client)


def test_a_scheduler_that_dies(mortal: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    address = mortal.scheduler.address
    at_batches(monkeypatch, {2: lambda: mortal.cluster.close()})
    tok = BPE(290).fit([[0, 1, 0, 1]], progress=False)
    model = tok._model
    refuses(ConnectionError, address, lambda: fit(tok, array(ECG, WAV_CHUNKS), mortal, progress=False))
    assert tok._model is model
    refuses(
        ConnectionError,
        "client: the scheduler at .* cannot be reached",
        fit,
        tok,
        [DOCS],
        mortal,
        progress=False,
    )


@pytest.mark.filterwarnings("ignore:n_tokens. the fit ended at:UserWarning")
@pytest.mark.parametrize("when", ["in a batch", "while hosts are made"])
def test_ctrl_c(client: Any, monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    def slow(part: list[Any]) -> list[Any]:
        time.sleep(1)
        return part

    tok = BPE(100_000).fit([[0, 1, 0, 1]], progress=False)
    model = tok._model
    parts = [dask.delayed(part) for part in split(DOCS, 2, 3, 30)]
    if when == "while hosts are made":
        parts = [dask.delayed(slow)(part) for part in parts]
        threading.Timer(0.5, _thread.interrupt_main).start()
    else:
        at_batches(monkeypatch, {2: lambda: threading.Timer(0.01, _thread.interrupt_main).start()})
    with pytest.raises(KeyboardInterrupt):  # in the fit, or just behind it
        (fit(tok, parts, client, progress=False), time.sleep(5))
    assert tok._model is model and clean(client)
    same(there(BPE(290), split(DOCS, 2, 3, 30), client), here(BPE(290), DOCS))  # and they work again


def test_a_worker_that_joins_gets_hosts_of_a_crowded_one(
    mortal: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = np.random.default_rng(3).integers(0, 4, (60, 100))
    parts = [docs[i : i + 15] for i in range(0, 60, 15)]
    monkeypatch.setattr(
        fitting, "check_workers", lambda client, told: {str(i): {"memory_limit": 0} for i in range(4)}
    )
    crowded, seen = hosts.DaskEngine.crowded, list[list[int]]()

    def joined(self: Any) -> list[int]:
        if not seen:
            mortal.cluster.scale(3)
            mortal.wait_for_workers(3, timeout=60)
        found = crowded(self)
        seen.append(found)
        return found

    monkeypatch.setattr(hosts.DaskEngine, "crowded", joined)
    assert (
        fit(BPE(60), parts, mortal).fingerprint == BPE(60).fit(docs, progress=False).fingerprint
        and len(seen[0]) == 1
    )


def test_what_does_not_fit_into_memory_is_told_before_it_is_read(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = {str(i): {"memory_limit": 10_000} for i in range(2)}
    monkeypatch.setattr(fitting, "check_workers", lambda client, told: workers)
    monkeypatch.setattr(fitting, "_PROCESS", 0)
    with pytest.raises(
        MemoryError,
        match=r"^fit: 1000 symbols need 1.2e-05 GB on a worker that has 9e-06 GB for them; 3 workers of",
    ):
        fit(BPE(60), da.zeros((20, 100), dtype=int, chunks=(10, 100)), client)
