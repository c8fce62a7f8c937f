"""What a host is made of, in this process: partitions side by side are the corpus that a fit reads of all documents."""

import pickle
from typing import Any

import numpy as np
import pytest

pytest.importorskip("distributed")

from ubpe_numba import BPE, Preprocessing, count_documents
from ubpe_numba.distributed import host as host_part
from ubpe_numba.distributed.host import make_host
from ubpe_numba.distributed.messages import Setup
from ubpe_numba.errors import UnknownSymbolError
from ubpe_numba.vocabulary.alphabet import Alphabet


class State:
    """Of a worker."""

    nthreads = 1


class Worker:
    """As Dask's function finds it."""

    state = State()


@pytest.fixture(autouse=True)
def _on_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ubpe_numba.distributed.host.get_worker", Worker)


def made(parts: list[Any], marks: Any = None, joined: bool = False, **params: Any) -> Any:
    names = [f"p{i}" for i in range(len(parts))]
    marks = [(None, None)] * (1 if joined else len(parts)) if marks is None else marks
    return make_host(parts, pickle.dumps((BPE(9, **params), None, marks, names, joined, 0)))


def rows(host: Any) -> list[list[int]]:
    c = host.corpus
    return [c.values[a:b].tolist() for a, b in zip(c.offsets[:-1], c.offsets[1:], strict=True)]


def test_partitions_side_by_side() -> None:
    host = made([[[1, 2], []], [], [[3]], np.array([[4, 5], [6, 7]])])
    assert rows(host) == [[1, 2], [], [3], [4, 5], [6, 7]]
    assert host.part()[:4] == (7, 7, 5, 5)
    assert host.part().name == "p0 to p3"
    assert made([[[1]]]).part().name == "p0"
    assert host.part() == made([[[1, 2], []], [], [[3]], [[4, 5], [6, 7]]]).part()
    assert host.part() != made([[[1, 2], []], [], [[3]], [[4, 5], [7, 6]]]).part()


def test_one_document() -> None:
    host = made([np.array([1, 2], np.int32), np.zeros(0, np.int32), np.array([3], np.int64)], joined=True)
    assert rows(host) == [[1, 2, 3]]
    assert rows(made([np.zeros(0, int)], joined=True)) == [[]]
    host = made([np.arange(3), np.arange(2)], [([2], [1, 3])], joined=True)
    assert rows(host) == [[0], [1, 2], [0, 1]]
    assert host.corpus.document_of.tolist() == [0, 0, 0]
    assert host.corpus.weights.tolist() == [2, 2, 2]


def test_weights_and_boundaries() -> None:
    parts = [[[1, 2, 3], [9]], [[4, 5]], [[6], [7, 8]]]
    host = made(parts, [([2, 0], None), (None, [[1]]), ([1, 3], None)])
    assert rows(host) == [[1, 2, 3], [4], [5], [6], [7, 8]]
    assert host.corpus.weights.tolist() == [2, 1, 1, 1, 3]
    assert host.corpus.document_of.tolist() == [0, 1, 1, 2, 3]
    assert host.corpus.n_documents == 7
    assert host.corpus.n_symbols == 6 + 2 + 1 + 6
    assert host.distinct().tolist() == list(range(1, 10))  # the symbol of weight 0 too
    host = made([count_documents([[1, 2], [1, 2], [3]]), [[4]]])
    assert rows(host) == [[1, 2], [3], [4]]
    assert host.corpus.weights.tolist() == [2, 1, 1]


def test_integers_are_held_in_few_bytes() -> None:
    host = made([np.array([[1, 2]]), [[300, 4]], [[5, -6]]])
    assert rows(host) == [[1, 2], [300, 4], [5, -6]] and host.corpus.values.dtype == np.int32
    assert made([np.array([[1, 2]]), [[255]]]).corpus.values.dtype == np.uint8


def test_parts_are_of_one_kind() -> None:
    assert made([[], ["ab"], [""]]).part().kind == "str"
    assert made([[], [b""]]).part().n_given == 0
    assert made([["é"], [b"ab"]], preprocessing=Preprocessing(encoding="utf-8")).part().kind == "bytes"
    with pytest.raises(TypeError, match=r"parts: expected documents of one kind, got str \(p1\) and int \(p2\)"):
        made([[], ["ab"], [[1]]])


def test_errors_name_the_partition() -> None:
    with pytest.raises(TypeError, match="p1: docs: document 1"):
        made([[[1]], [[1], 2.5]])
    with pytest.raises(ValueError, match="p0: sample_weight"):
        made([[[1]], [[1]]], [([1, 2], None), (None, None)])
    with pytest.raises(ValueError, match="p0 to p1: boundaries"):
        made([np.arange(2), np.arange(2)], [(None, [7])], joined=True)


@pytest.mark.parametrize("marks", [None, [([0, 1], None), (None, None), ([1, 2], [[1], [2, 3]])]])
def test_unknown_symbols_are_found_in_their_partition(marks: Any) -> None:
    setup = Setup(Alphabet.dense(3), marks is not None, 1, None)
    host = made([[[1], [2]], [], [[0, 1], [1, 2, 0, 8]]], marks)
    with pytest.raises(UnknownSymbolError, match="p2: document 1, position 3: symbol 8 is not in the alphabet, 0..2") as caught:
        host.load(setup)
    assert (caught.value.document, caught.value.position, caught.value.symbol) == (1, 3, 8)


@pytest.mark.parametrize("at", range(5))
def test_unknown_symbols_of_one_document(at: int) -> None:
    values = np.zeros(5, np.int64)
    values[at] = 8
    parts = [values[:0], values[:2], values[2:2], values[2:], values[:0]]
    where, position = (1, at) if at < 2 else (3, at - 2)
    with pytest.raises(UnknownSymbolError, match=f"p{where}: document 0, position {position}: symbol 8"):
        made(parts, joined=True).load(Setup(Alphabet.dense(3), False, 1, None))


def test_a_range_of_names() -> None:
    assert host_part.name_of_range(["a"]) == "a"
    assert host_part.name_of_range(["a", "b", "c"]) == "a to c"
