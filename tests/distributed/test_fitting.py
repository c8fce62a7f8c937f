"""Fits on workers: equal to the fit in one process, or refused; workers killed, partitions that cannot be read, Ctrl-C."""

import _thread
import logging
import os
import pickle
import signal
import threading
import time
import warnings
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from polling import eventually

pytest.importorskip("distributed")

import dask
import dask.array as da
import dask.bag as db

from ubpe_numba import BPE, UBPE, FitRules, Preprocessing, Ragged, UBPEClassic, count_documents
from ubpe_numba.cli.demo import load_ecg
from ubpe_numba.distributed import fit, hosts
from ubpe_numba.distributed.remote_text import RemoteText, until_done
from ubpe_numba.errors import UnknownSymbolError

pytestmark = pytest.mark.xdist_group("cluster")

RNG = np.random.default_rng(3)
ECG = load_ecg()[0][:24_000].astype(np.int32)


def dna(n: int) -> np.ndarray:
    """Bases that repeat what was there before, with mutations."""
    out = RNG.integers(0, 4, n)
    for _ in range(n // 200):
        a, b = RNG.integers(0, n - 60, 2)
        out[a : a + 60] = out[b : b + 60]
    return out.astype(np.uint8)


DNA = dna(24_000)
DOCS: list[Any] = [ECG[a : a + n] for a, n in zip(range(0, 20_000, 500), [400, 1, 0, 500] * 10, strict=True)]
TEXT = ["she sells sea shells ", "by the sea shore", "", "the shells she sell", "sea shells", "é😀 ж " * 4] * 9
WAV_CHUNKS, DNA_CHUNKS = (7, 9_001, 0, 12_001, 2_991), (11_000, 1, 12_999)


def same(found: Any, expected: Any) -> None:
    """The same model and the same history, bit for bit."""
    assert found.fingerprint == expected.fingerprint
    for name, value in expected.history_._asdict().items():
        np.testing.assert_array_equal(getattr(found.history_, name), value, err_msg=name)
    assert found._model.alphabet == expected._model.alphabet
    one, other = pickle.loads(pickle.dumps(found._model.vocabulary)), expected._model.vocabulary
    for name in ("merges", "weights", "counts", "document_frequencies", "occurrences", "n_documents", "n_symbols"):
        if hasattr(other, name) and not callable(getattr(other, name)):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def here(tok: Any, docs: Any, **options: Any) -> Any:
    """The fit in this process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return type(tok)(**tok.get_params()).fit(docs, progress=False, **options)


def there(tok: Any, parts: Any, client: Any, **options: Any) -> Any:
    """The fit on workers, which have forgotten it then."""
    made = fit(tok, parts, client, progress=False, **options)
    assert made is tok
    assert clean(client)
    return made


def split(docs: list[Any], *cuts: int) -> list[list[Any]]:
    return [docs[a:b] for a, b in zip((0, *cuts), (*cuts, len(docs)), strict=True)]


def left_on(client: Any) -> list[Any]:
    """The keys that workers hold or work on, and their actors."""

    def found(dask_worker: Any) -> list[Any]:
        return [*dask_worker.state.actors, *dask_worker.data, *dask_worker.state.tasks]

    return [key for keys in client.run(found, on_error="ignore").values() for key in keys]


def clean(client: Any) -> bool:
    """Whether the workers have nothing any more."""
    return eventually(lambda: not left_on(client) and not any(client.has_what().values()))


def array(values: np.ndarray, chunks: tuple[int, ...]) -> Any:
    return da.from_array(values, chunks=(chunks,))


# ------------------------------------------------------------------------------------------------ equal to the fit in one process


@pytest.mark.parametrize("n_candidates", [1, 50])
@pytest.mark.parametrize("values, chunks", [(ECG, WAV_CHUNKS), (DNA, DNA_CHUNKS)], ids=["wav", "dna"])
def test_one_document_that_is_cut(client: Any, values: np.ndarray, chunks: tuple[int, ...], n_candidates: int) -> None:
    tok = UBPEClassic(int(values.max()) + 160, n_candidates)
    same(there(tok, array(values, chunks), client), here(tok, values))


FORMS: dict[str, Callable[[Any, Path], tuple[Any, dict[str, Any]]]] = {
    "lists": lambda client, path: (split(DOCS, 3, 4, 20), {}),
    "tuple": lambda client, path: (tuple(split(DOCS, 3)), {}),
    "one partition": lambda client, path: ([DOCS], {}),
    "a partition for each document": lambda client, path: ([[doc] for doc in DOCS], {}),
    "ragged": lambda client, path: ([Ragged.from_lists([d.tolist() for d in part]) for part in split(DOCS, 30)], {}),
    "delayed": lambda client, path: ([dask.delayed(part) for part in split(DOCS, 11, 30)], {}),
    "futures": lambda client, path: (client.map(list, split(DOCS, 11, 30), pure=False), {}),
    "bag": lambda client, path: (db.from_sequence([d.tolist() for d in DOCS], npartitions=5), {}),
    "parquet": lambda client, path: (parquet(path), {}),
    "parquet, a column": lambda client, path: (parquet(path, more=True), {"column": "ids"}),
    "series": lambda client, path: (frame()["ids"], {}),
    "dataframe": lambda client, path: (frame(), {"column": "ids"}),
    "empty partitions": lambda client, path: ([[], DOCS[:9], [], [], DOCS[9:], []], {}),
}


def parquet(folder: Path, more: bool = False) -> str:
    """A folder of two files with several row groups."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    for i, part in enumerate(split(DOCS, 17)):
        columns: dict[str, Any] = {"ids": pa.array([d.tolist() for d in part], pa.list_(pa.int32()))}
        if more:
            columns["n"] = pa.array(range(len(part)))
        pq.write_table(pa.table(columns), folder / f"part-{i}.parquet", row_group_size=8)
    return str(folder)


def frame() -> Any:
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    with dask.config.set({"dataframe.convert-string": False}):
        return dd.from_pandas(pd.DataFrame({"n": range(len(DOCS)), "ids": [d.tolist() for d in DOCS]}), npartitions=3)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_partitions(client: Any, tmp_path: Path, form: str) -> None:
    parts, options = FORMS[form](client, tmp_path)
    tok = fit(BPE(290), parts, client, progress=False, **options)
    same(tok, here(BPE(290), DOCS))
    del parts
    assert clean(client)


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize("joined", [True, False], ids=["joined", "documents"])
def test_hosts_have_about_as_much_where_sizes_are_known(
    client: Any, monkeypatch: pytest.MonkeyPatch, joined: bool, known: bool
) -> None:
    asked: list[Any] = []

    def ask(message: Any, make_anew: Any) -> Any:
        asked.append(until_done(message, make_anew))
        return asked[-1]

    ends = [0, 20, 40, 60, 80, 12_000]
    sizes = np.diff(ends)
    values = array(ECG[:12_000], tuple(sizes))
    docs = [[ECG[a:b]] for a, b in pairwise(ends)]
    monkeypatch.setattr("ubpe_numba.distributed.fitting.until_done", ask)
    if joined:
        if not known:
            values = values[array(np.ones(12_000, bool), tuple(sizes))]
        parts: Any = values
    else:
        parts = docs if known else [dask.delayed(part) for part in docs]
    tok = BPE(int(ECG.max()) + 60)
    expected = here(tok, ECG[:12_000] if joined else [doc for part in docs for doc in part])
    same(there(tok, parts, client), expected)
    names = (
        ["partition 0 to partition 3", "partition 4"] if known else ["partition 0 to partition 1", "partition 2 to partition 4"]
    )
    assert [part.name for part in asked[0]] == names


def test_rows_of_an_array(client: Any) -> None:
    rows = ECG[:20_000].reshape(50, 400)
    for chunks in ((13, 400), (50, 100), (7, 130)):
        same(there(BPE(280), da.from_array(rows, chunks=chunks), client), here(BPE(280), rows))


def test_counts_and_weights(client: Any) -> None:
    docs = DOCS[:12] + DOCS[:5] + DOCS[:2]
    parts = [count_documents(docs[:9]), count_documents(docs[9:]), count_documents([])]
    same(there(BPE(280, alphabet=range(256)), parts, client), here(BPE(280, alphabet=range(256)), docs))
    weights = RNG.integers(0, 4, len(DOCS))
    weights[[3, 4]] = 0, 5
    each = [w.tolist() for w in np.split(weights, [4, 5, 22])]
    found = there(UBPEClassic(300), split(DOCS, 4, 5, 22), client, sample_weight=each)
    same(found, here(UBPEClassic(300), DOCS, sample_weight=weights))
    some = [None, [7], None, None]  # of one partition only
    found = there(BPE(280), split(DOCS, 4, 5, 22), client, sample_weight=some)
    same(found, here(BPE(280), DOCS, sample_weight=[7 if i == 4 else 1 for i in range(len(DOCS))]))
    nothing = [[0] * 4, [0], [0] * 17, [0] * (len(DOCS) - 22)]
    same(
        there(BPE(280), split(DOCS, 4, 5, 22), client, sample_weight=nothing),
        here(BPE(280), DOCS, sample_weight=np.concatenate(nothing)),
    )


def test_boundaries_of_partitions(client: Any) -> None:
    cuts = [sorted(RNG.integers(0, len(doc) + 1, 5).tolist()) for doc in DOCS]
    found = there(BPE(280), split(DOCS, 4, 5, 22), client, boundaries=split(cuts, 4, 5, 22))
    same(found, here(BPE(280), DOCS, boundaries=cuts))
    weights = RNG.integers(0, 3, len(DOCS))
    options = {"boundaries": [None, *split(cuts, 4, 22)[1:]], "sample_weight": np.split(weights, [4, 22])}
    found = there(UBPEClassic(290, 3), split(DOCS, 4, 22), client, **options)
    same(found, here(UBPEClassic(290, 3), DOCS, boundaries=[[]] * 4 + cuts[4:], sample_weight=weights))


@pytest.mark.parametrize("n_candidates", [1, 7])
def test_boundaries_and_a_weight_of_one_document(client: Any, n_candidates: int) -> None:
    values, chunks = ECG[:9_000], (0, 1_500, 0, 3_000, 1, 4_499, 0)
    for positions in ([], [0, 9_000], [1_500], [4_500, 4_501, 4_501], [10, 4_500, 8_999], range(0, 9_000, 500), range(9_001)):
        tok = UBPEClassic(290, n_candidates)
        found = there(tok, array(values, chunks), client, boundaries=positions, sample_weight=3)
        same(found, here(tok, values, boundaries=positions, sample_weight=[3]))


def test_a_document_of_weight_0_that_is_cut(client: Any) -> None:
    tok = BPE(300)
    same(there(tok, array(ECG, WAV_CHUNKS), client, sample_weight=[0]), here(tok, ECG, sample_weight=[0]))


@pytest.mark.parametrize("chunks", [(0,), (0, 0, 0), (1,), (0, 1, 0), (1, 1), (2, 0, 1), (1,) * 9])
def test_documents_of_almost_nothing(client: Any, chunks: tuple[int, ...]) -> None:
    values = np.resize([1, 0, 1], sum(chunks))
    same(there(BPE(4), array(values, chunks), client), here(BPE(4), values))


def test_partitions_of_almost_nothing(client: Any) -> None:
    for parts in ([[]], [[], []], [[[]], [[], []]], [[""], []], [[], [""], ["ab"]], [[], [b"ab"]]):
        flat = [doc for part in parts for doc in part]
        same(there(BPE(300), parts, client), here(BPE(300), flat))


ALPHABETS: dict[str, list[Any]] = {
    "negative": [doc.astype(np.int64) - 100 for doc in DOCS],
    "sparse": [doc.astype(np.int64) * 10**15 - 2**40 for doc in DOCS],
    "beyond 65536, sparse": [doc.astype(np.int64) * 1_000 for doc in DOCS],
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


@pytest.mark.parametrize("alphabet", [range(256), np.arange(300)[::-1], bytes(range(256))], ids=["range", "turned", "bytes"])
def test_given_alphabets(client: Any, alphabet: Any) -> None:
    tok = BPE(340, alphabet=alphabet)
    same(there(tok, split(DOCS, 5, 6, 25), client), here(tok, DOCS))
    same(there(tok, array(ECG, WAV_CHUNKS), client), here(tok, ECG))


def test_symbols_that_are_not_in_the_alphabet(client: Any) -> None:
    parts = [[[0, 1]], [[1, 1], [0, 1, 2, 9]], [[0], [1]], [[1, 7]]]
    for options in ({}, {"sample_weight": [[1], [2, 1], [0, 1], [1]]}, {"boundaries": [[[1]], [[1], [2, 3]], None, None]}):
        with pytest.raises(UnknownSymbolError, match="partition 1: document 1, position 2: symbol 2") as caught:
            fit(BPE(4, alphabet=[0, 1]), parts, client, progress=False, **options)
        assert (caught.value.document, caught.value.position, caught.value.symbol) == (1, 2, 2)
        assert clean(client)
    with pytest.raises(UnknownSymbolError, match=r"partition 2.*document 0, position 1: symbol 5"):
        fit(BPE(4, alphabet=[0, 1]), array(np.array([0, 1, 1, 0, 0, 5]), (2, 2, 2)), client, progress=False)
    assert clean(client)


# ------------------------------------------------------------------------------------------------ classes and arguments


MADE: dict[str, Callable[[], Any]] = {
    "bpe": lambda: BPE(300),
    "short tokens": lambda: BPE(300, rules=FitRules(max_token_length=3)),
    "frequent pairs": lambda: BPE(300, rules=FitRules(min_count=9)),
    "classic": lambda: UBPEClassic(300, 20),
    "ubpe": lambda: UBPE(300, 5),
    "ubpe, shortest": lambda: UBPE(300, 1, objective="shortest"),
    "ubpe by idf": lambda: UBPE(300, 5, rules=FitRules(order="idf")),
    "classic by idf": lambda: UBPEClassic(300, 9, rules=FitRules(order="idf")),
    "overshoot": lambda: UBPEClassic(300, 40, rules=FitRules(overshoot=True)),
    "two threads": lambda: BPE(300, n_threads=2),
    "no merge": lambda: BPE(256),
    "all merges": lambda: BPE(100_000),
}


@pytest.mark.filterwarnings("ignore:n_tokens. the fit ended at:UserWarning")
@pytest.mark.parametrize("name", MADE)
def test_classes_and_rules(client: Any, name: str) -> None:
    same(there(MADE[name](), split(DOCS, 7, 8, 30), client), here(MADE[name](), DOCS))


def test_equal_idf_is_warned_of_as_in_process(client: Any) -> None:
    with pytest.warns(UserWarning, match="idf") as expected:
        UBPE(280, 5).fit(ECG, progress=False)
    with pytest.warns(UserWarning, match="idf") as found:
        fit(UBPE(280, 5), array(ECG, WAV_CHUNKS), client, progress=False)
    assert [str(w.message) for w in found] == [str(w.message) for w in expected]


def test_break_and_stop_tokens(client: Any) -> None:
    for lone in (Preprocessing(break_tokens=[128, 129]), Preprocessing(stop_tokens=[128])):
        try:
            expected = here(BPE(290, preprocessing=lone), DOCS)
        except ValueError as error:
            with pytest.raises(ValueError, match=str(error)[:20]):
                fit(BPE(290, preprocessing=lone), split(DOCS, 7, 8, 30), client, progress=False)
            continue
        same(there(BPE(290, preprocessing=lone), split(DOCS, 7, 8, 30), client), expected)
        with pytest.raises(ValueError, match="break_tokens, stop_tokens: .*give boundaries"):
            fit(BPE(290, preprocessing=lone), array(ECG, WAV_CHUNKS), client, progress=False)
    assert clean(client)


def test_what_is_refused(client: Any) -> None:
    for ties in ("first_seen", "fewest_documents"):
        with pytest.raises(ValueError, match="ties="):
            fit(BPE(290, rules=FitRules(ties=ties)), [DOCS], client)
    for objective in ("likelihood", "viterbi", "tokenizers"):
        try:
            tok = UBPE(290, objective=objective)
            tok._settings()
        except ValueError:
            continue
        with pytest.raises(ValueError, match=f"objective: '{objective}'"):
            fit(tok, [DOCS], client)
    with pytest.raises(ValueError, match="parts: expected one partition at least"):
        fit(BPE(290), [], client)
    with pytest.raises(ValueError, match="n_tokens: expected at least the alphabet's 256"):
        fit(BPE(20), [DOCS, [[255]]], client)
    with pytest.raises(ValueError, match="sample_weight: text that is cut"):
        fit(BPE.for_text(300), [TEXT], client, sample_weight=[[1] * len(TEXT)])
    assert clean(client)


@pytest.mark.parametrize("options, error, message", [
    ({"sample_weight": [1, 2, 3]}, ValueError, "sample_weight: expected a list of 2 entries"),
    ({"sample_weight": 3}, ValueError, "sample_weight: expected a list of 2 entries"),
    ({"sample_weight": [[1], [1, 1]]}, ValueError, r"partition \d: .*sample_weight"),
    ({"sample_weight": [[1, -1], [1]]}, ValueError, r"partition 0: sample_weight"),
    ({"sample_weight": [[1, 1], [1.5]]}, TypeError, r"partition 1: sample_weight"),
    ({"sample_weight": [None, "a"]}, (TypeError, ValueError), r"partition 1: sample_weight"),
    ({"boundaries": [[[1]], [[1]]]}, ValueError, "partition 0: boundaries: expected 2 lists"),
    ({"boundaries": [None, [[9]]]}, ValueError, "partition 1: boundaries: document 0: position 9 is not in 0..4"),
    ({"boundaries": "ab"}, ValueError, "boundaries: expected a list of 2 entries"),
    ({"column": "a"}, (TypeError, ValueError), "column"),
    ({"column": 3}, TypeError, "column"),
    ({"blocksize": -1}, ValueError, "blocksize"),
    ({"progress": "always"}, ValueError, "progress"),
    ({"client": "tcp://127.0.0.1:8786"}, TypeError, "client: expected a distributed.Client"),
])  # fmt: skip
def test_arguments_of_partitions(client: Any, options: dict[str, Any], error: Any, message: str) -> None:
    tok = BPE(12)
    with pytest.raises(error, match=message):
        fit(tok, [[[0, 1], [1, 1]], [[0, 1, 1, 0]]], **{"client": client, **options})
    assert not hasattr(tok, "_model")
    assert clean(client)


@pytest.mark.parametrize("options, error, message", [
    ({"boundaries": [-1]}, ValueError, r"boundaries: expected positions in 0..24000"),
    ({"boundaries": [24_001]}, ValueError, r"boundaries: expected positions in 0..24000"),
    ({"boundaries": [1.5]}, TypeError, "boundaries"),
    ({"boundaries": [[1], [2]]}, TypeError, "boundaries"),
    ({"boundaries": "ab"}, TypeError, "boundaries"),
    ({"boundaries": 7}, TypeError, "boundaries"),
    ({"sample_weight": [1, 2]}, ValueError, "sample_weight: expected one weight"),
    ({"sample_weight": -1}, ValueError, "sample_weight"),
    ({"sample_weight": 1.5}, TypeError, "sample_weight"),
    ({"sample_weight": "a"}, TypeError, "sample_weight"),
])  # fmt: skip
def test_arguments_of_one_document(client: Any, options: dict[str, Any], error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        fit(BPE(300), array(ECG, WAV_CHUNKS), client, **options)
    assert clean(client)


WRONG = [
    *(7, None, "no such folder", {"a": [[1]]}, {1, 2}, np.arange(6), object(), [[1, 2]], [[[1.5]]], [None], [[[1], "a"]]),
    *([[[1]], ["a"]], [["a"], [b"a"]], da.ones(5), da.ones((2, 2, 2), dtype=int)),
]


@pytest.mark.parametrize("parts", WRONG, ids=map(str, range(len(WRONG))))
def test_partitions_of_wrong_types(client: Any, parts: Any) -> None:
    with pytest.raises((TypeError, ValueError, FileNotFoundError), match="parts|partition"):
        fit(BPE(300), parts, client)
    assert clean(client)


def test_tokenizers_of_wrong_types(client: Any) -> None:
    for tok in (None, BPE, "bpe", 7):
        with pytest.raises(TypeError, match="tok: expected a BPE, UBPE or UBPEClassic"):
            fit(tok, [DOCS], client)  # type: ignore[type-var]
    with pytest.raises((TypeError, ValueError), match="n_tokens"):
        fit(BPE(-3), [DOCS], client)


def test_chunks_of_unknown_sizes(client: Any) -> None:
    made = array(ECG[:6000], (1000, 5000))
    unknown = made[made > 120]
    same(there(BPE(280), unknown, client), here(BPE(280), ECG[:6000][ECG[:6000] > 120]))
    with pytest.raises(ValueError, match="boundaries: the sizes of the array's chunks are not known"):
        fit(BPE(280), unknown, client, boundaries=[3])


# ------------------------------------------------------------------------------------------------ text


def test_text_that_is_counted(client: Any, tmp_path: Path) -> None:
    paths = []
    for i, part in enumerate(split(TEXT, 20)):
        paths.append(tmp_path / f"{i}.txt")
        paths[-1].write_text("\n".join(part) + "\n")
    for make in (lambda: BPE.for_text(320), lambda: UBPE.for_text(320, pretokenizer="gpt2", special_tokens=["sea"])):
        expected = here(make(), TEXT)
        same(there(make(), paths, client, blocksize=100), expected)
        same(there(make(), split(TEXT, 1, 2, 9), client), expected)
        same(there(make(), db.from_sequence(TEXT, npartitions=4), client), expected)


def test_text_columns(client: Any, tmp_path: Path) -> None:
    pd, dd, pa = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe"), pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    expected = here(BPE.for_text(320), TEXT)
    table = dd.from_pandas(pd.DataFrame({"text": TEXT}), npartitions=3)
    same(there(BPE.for_text(320), table["text"], client), expected)
    pq.write_table(pa.table({"text": TEXT, "n": range(len(TEXT))}), tmp_path / "a.parquet", row_group_size=20)
    same(there(BPE.for_text(320), tmp_path / "a.parquet", client, column="text", blocksize=1), expected)


def test_text_in_whole_documents(client: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\n".join(TEXT) + "\n")
    for make in (
        lambda: BPE(300, preprocessing=Preprocessing(encoding="utf-8")),
        lambda: BPE(300, preprocessing=Preprocessing(encoding="utf-8"), alphabet=bytes(range(256))),
        lambda: BPE(100),
    ):
        same(there(make(), split(TEXT, 2, 3, 30), client), here(make(), TEXT))
        same(there(make(), tmp_path / "a.txt", client, blocksize=64), here(make(), TEXT))


# ------------------------------------------------------------------------------------------------ faults


def kill(client: Any, *which: int) -> None:
    """SIGKILL to the processes of these workers."""
    found = sorted(client.run(os.getpid).values())
    for i in which:
        os.kill(found[i], signal.SIGKILL)


def at_batches(monkeypatch: pytest.MonkeyPatch, method: str, what: dict[int, Callable[[], None]]) -> list[int]:
    """Do something when `RemoteText` is asked for this the n-th time; the list grows with every time."""
    inner, seen = getattr(RemoteText, method), []

    def outer(self: Any, *args: Any) -> Any:
        seen.append(len(seen) + 1)
        if len(seen) in what:
            what[len(seen)]()
        return inner(self, *args)

    monkeypatch.setattr(RemoteText, method, outer)
    return seen


def test_workers_killed_in_the_middle(mortal: Any, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    caplog.set_level(logging.INFO, "ubpe_numba")
    batches = at_batches(monkeypatch, "_merge", {2: lambda: kill(mortal, 0), 4: lambda: kill(mortal, 0, 1)})
    found = fit(UBPEClassic(600), array(ECG, WAV_CHUNKS), mortal, progress=False)
    same(found, here(UBPEClassic(600), ECG))
    assert len(batches) > 5
    assert clean(mortal)
    lost = [record.args[4] for record in caplog.records if isinstance(record.args, tuple) and "hosts lost" in record.msg]
    assert len(lost) == 1
    assert lost[0] >= 3


def test_a_worker_with_weights_killed_in_the_middle(mortal: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    batches = at_batches(monkeypatch, "_merge", {3: lambda: kill(mortal, 1)})
    weights = RNG.integers(0, 4, len(DOCS))
    options = {"sample_weight": np.split(weights, [2, 3, 30])}
    found = fit(UBPEClassic(400, 9), [dask.delayed(part) for part in split(DOCS, 2, 3, 30)], mortal, progress=False, **options)
    same(found, here(UBPEClassic(400, 9), DOCS, sample_weight=weights))
    assert len(batches) > 3
    assert clean(mortal)


def test_workers_killed_while_an_epoch_begins(mortal: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = here(BPE(290), ECG)
    real = RemoteText.ask
    killed: list[str] = []

    def ask(self: Any, method: str, *args: Any) -> Any:
        if method in ("part", "distinct", "load", "count_dense", "list_dense", "compact") and method not in killed:
            killed.append(method)
            kill(mortal, len(killed) % 2)
        return real(self, method, *args)

    monkeypatch.setattr(RemoteText, "ask", ask)
    same(fit(BPE(290), array(ECG, WAV_CHUNKS), mortal, progress=False), expected)
    assert killed[:3] == ["load", "count_dense", "list_dense"]
    assert clean(mortal)


def test_a_worker_killed_while_hosts_are_made(mortal: Any, tmp_path: Path) -> None:
    def deadly(part: list[Any], flag: Path) -> list[Any]:
        if not flag.exists():
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return part

    parts = [dask.delayed(deadly)(part, tmp_path / str(i)) for i, part in enumerate(split(DOCS, 25))]
    same(fit(BPE(290), parts, mortal, progress=False), here(BPE(290), DOCS))
    assert clean(mortal)


def test_a_partition_that_kills_every_worker(mortal: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def deadly(part: list[Any]) -> list[Any]:
        os.kill(os.getpid(), signal.SIGKILL)
        return part

    monkeypatch.setattr(hosts, "TRIES", 1)
    with pytest.raises(RuntimeError, match="partition 1: 1 times workers died while they read it"):
        fit(BPE(290), [dask.delayed(DOCS[:5]), dask.delayed(deadly)(DOCS[5:])], mortal, progress=False)
    mortal.wait_for_workers(2, timeout=60)
    assert clean(mortal)


def test_a_partition_that_is_not_the_same_again(mortal: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    parts = []
    for i, part in enumerate(split(DOCS, 22)):
        folder = tmp_path / str(i)
        folder.mkdir()

        def again(part: list[Any], folder: Path) -> list[Any]:
            n = len(list(folder.iterdir()))
            (folder / str(n)).touch()
            return part if n == 0 else [doc[::-1] for doc in part]

        parts.append(dask.delayed(again)(part, folder))
    at_batches(monkeypatch, "_merge", {2: lambda: kill(mortal, 0)})
    tok = BPE(290)
    with pytest.raises(RuntimeError, match=r"partition \d.* not the same when"):
        fit(tok, parts, mortal, progress=False)
    assert not hasattr(tok, "_model")
    assert clean(mortal)


def test_weights_that_are_not_the_same_again(mortal: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def again(flag: Path) -> Any:
        counts = count_documents([[0, 1], [0, 1], [1, 2], [2, 0], [0, 1, 2, 0, 1, 0, 2, 2, 1, 0, 1, 1, 0]])
        if flag.exists():
            counts.weights = counts.weights[[1, 0, 2, 3]]
        flag.touch()
        return counts

    at_batches(monkeypatch, "_merge", {2: lambda: kill(mortal, 0, 1)})
    with pytest.raises(RuntimeError, match=r"not the same when"):
        fit(BPE(9, alphabet=range(3)), [dask.delayed(again)(tmp_path / str(i)) for i in range(2)], mortal, progress=False)
    assert clean(mortal)


def test_futures_whose_data_is_lost(mortal: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scattered data is not made again: an error soon, and no waiting for ever."""
    futures = [
        mortal.scatter([part], workers=[where])[0] for part, where in zip(split(DOCS, 25), mortal.run(os.getpid), strict=True)
    ]
    at_batches(monkeypatch, "_merge", {2: lambda: kill(mortal, 0, 1)})
    with pytest.raises(RuntimeError, match="partition 0: cancelled, or data of a future was lost"):
        fit(BPE(290), futures, mortal, progress=False)
    del futures
    assert clean(mortal)


def test_a_partition_that_cannot_be_read(client: Any, tmp_path: Path) -> None:
    def broken() -> Any:
        raise OSError(5, "the disk is ill")

    def odd(values: Any) -> Any:
        raise KeyError("x")

    with pytest.raises(OSError, match="partition 2: the disk is ill"):
        fit(BPE(290), [dask.delayed(DOCS), dask.delayed(DOCS), dask.delayed(broken)()], client, progress=False)
    assert clean(client)
    lazy = dask.delayed(lambda values: values)(dask.delayed(broken)())
    with pytest.raises(OSError, match="partition 0: the disk is ill"):
        fit(BPE(290), [lazy, dask.delayed(DOCS)], client, progress=False)
    with pytest.raises(RuntimeError, match="partition .: KeyError: 'x'"):
        fit(BPE(290), array(ECG, WAV_CHUNKS).map_blocks(odd, dtype=np.int32), client, progress=False)
    with pytest.raises(TypeError, match="partition 1: "):
        fit(BPE(290), [dask.delayed(DOCS), dask.delayed(7)], client, progress=False)
    with pytest.raises(TypeError, match="partition 2: .*document 1"):
        fit(BPE(290), db.from_sequence([[1], [2], [3], [4], [5], 1.5], npartitions=3), client, progress=False)
    assert clean(client)


def test_parquet_that_cannot_be_read(client: Any, tmp_path: Path) -> None:
    folder = Path(parquet(tmp_path))
    whole = (folder / "part-1.parquet").read_bytes()
    (folder / "part-1.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises((OSError, ValueError), match=r"part-1\.parquet"):
        fit(BPE(290), folder, client, progress=False)
    (folder / "part-1.parquet").write_bytes(whole[:4] + b"\xff" * 400 + whole[404:])
    with pytest.raises((OSError, ValueError), match=r"part-1\.parquet"):
        fit(BPE(290), folder, client, progress=False)
    (folder / "part-1.parquet").unlink()
    assert clean(client)
    with pytest.raises((KeyError, ValueError), match=r"part-0\.parquet.*column|column"):
        fit(BPE(290), folder, client, column="nothing", progress=False)


def test_a_large_partition_in_memory(client: Any) -> None:
    """It travels in the graph; Dask's own advice about that does not help a user."""
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "10kB"}):
        same(
            there(BPE(270), [[ECG]], client, boundaries=[[range(0, ECG.size, 3)]]),
            here(BPE(270), [ECG], boundaries=[range(0, ECG.size, 3)]),
        )


def test_a_scheduler_that_dies(mortal: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    address = mortal.scheduler.address
    at_batches(monkeypatch, "_merge", {2: lambda: mortal.cluster.close()})
    tok = BPE(290).fit([[0, 1, 0, 1]], progress=False)
    model = tok._model
    with pytest.raises(ConnectionError, match=address):
        fit(tok, array(ECG, WAV_CHUNKS), mortal, progress=False)
    assert tok._model is model
    with pytest.raises(ConnectionError, match="client: the scheduler at .* cannot be reached"):
        fit(tok, [DOCS], mortal, progress=False)


@pytest.mark.filterwarnings("ignore:n_tokens. the fit ended at:UserWarning")
@pytest.mark.parametrize("how", ["in a batch", "while hosts are made", "in the pause of the driver"])
def test_ctrl_c(client: Any, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    def slow(part: list[Any]) -> list[Any]:
        time.sleep(2)
        return part

    tok = BPE(100_000).fit([[0, 1, 0, 1]], progress=False)
    model = tok._model
    parts = [dask.delayed(part) for part in split(DOCS, 2, 3, 30)]
    if how == "while hosts are made":
        parts = [dask.delayed(slow)(part) for part in parts]
        threading.Timer(0.5, _thread.interrupt_main).start()
    else:
        interrupt = {
            "in a batch": lambda: threading.Timer(0.01, _thread.interrupt_main).start(),
            "in the pause of the driver": lambda: signal.raise_signal(signal.SIGINT),
        }[how]
        at_batches(monkeypatch, "_merge", {2: interrupt})
    with pytest.raises(KeyboardInterrupt):  # in the fit, or just behind it
        (fit(tok, parts, client, progress=False), time.sleep(5))
    assert tok._model is model
    assert clean(client)
    same(there(BPE(290), split(DOCS, 2, 3, 30), client), here(BPE(290), DOCS))  # and they work again


def test_a_worker_that_joins_gets_hosts_of_a_crowded_one(mortal: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from ubpe_numba.distributed import fitting, hosts

    docs = np.random.default_rng(3).integers(0, 4, (60, 100))
    parts = [docs[i : i + 15] for i in range(0, 60, 15)]
    monkeypatch.setattr(fitting, "check_workers", lambda client, told: {str(i): {"memory_limit": 0} for i in range(4)})
    crowded, seen = hosts.DaskEngine.crowded, list[list[int]]()

    def joined(self: Any) -> list[int]:
        if not seen:
            mortal.cluster.scale(3)
            mortal.wait_for_workers(3, timeout=60)
        found = crowded(self)
        seen.append(found)
        return found

    monkeypatch.setattr(hosts.DaskEngine, "crowded", joined)
    assert fit(BPE(60), parts, mortal).fingerprint == BPE(60).fit(docs, progress=False).fingerprint
    assert len(seen[0]) == 1


def test_what_does_not_fit_into_memory_is_told_before_it_is_read(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from ubpe_numba.distributed import fitting

    workers = {str(i): {"memory_limit": 10_000} for i in range(2)}
    monkeypatch.setattr(fitting, "check_workers", lambda client, told: workers)
    monkeypatch.setattr(fitting, "_PROCESS", 0)
    with pytest.raises(
        MemoryError, match=r"^fit: 1000 symbols need 1.2e-05 GB on a worker that has 9e-06 GB for them; 3 workers of"
    ):
        fit(BPE(60), [np.zeros((10, 100), int)] * 2, client)
