"""A host: the corpus that its partitions make, how it is loaded, and that messages which are repeated change nothing."""

import pickle
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from ubpe_numba import BPE
from ubpe_numba.distributed import host as hosts
from ubpe_numba.distributed.host import Batch, Fills, Host, Setup, Stepped, make_host
from ubpe_numba.distributed.kernels.remote import MOST
from ubpe_numba.documents.read import as_corpus
from ubpe_numba.errors import UnknownSymbolError
from ubpe_numba.fitting.kernels.text_cells import MERGED, SHARD_STATE
from ubpe_numba.vocabulary.alphabet import Alphabet


@pytest.fixture(autouse=True)
def _on_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = type("Worker", (), {"state": type("State", (), {"nthreads": 1})})
    monkeypatch.setattr(hosts, "get_worker", worker)
    monkeypatch.setattr("ubpe_numba.fitting.text._NEAR", 10**9)  # shards begin in the middle of documents


SETUP = Setup(Alphabet.dense(4), False, 4, 1)
DOCS = [[0, 1, 2, 0, 1], [], [1, 2, 1, 2, 1]]


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def merges_of(*pairs: tuple[int, int], first: int = 4) -> Batch:
    left, right = zip(*pairs, strict=True)
    return Batch(first, ints(*left), ints(*right), np.arange(len(pairs)))


def loaded(
    docs: Any = DOCS, n_shards: int = 1, pairs: tuple[tuple[int, int], ...] = ((0, 1), (1, 2)), **marks: Any
) -> Host:
    """A host whose text is there, and these pairs listed at slots 0 and on."""
    host = Host(as_corpus(docs, **marks), 1)
    host.load(SETUP._replace(n_shards=n_shards, weighted=bool(marks)))
    host.list_again(-2, 4, np.array([a << 32 | b for a, b in pairs]), np.arange(len(pairs), dtype=np.int32))
    return host


def test_the_check_of_a_part_tells_parts_apart() -> None:
    same = [as_corpus(DOCS), as_corpus([np.array(d, np.int64) for d in DOCS])]
    marks: list[dict[str, Any]] = [
        {"sample_weight": [1, 1, 2]},
        {"sample_weight": [2, 1, 1]},
        {"boundaries": [[1], [], []]},
    ]
    others = [
        as_corpus(docs)
        for docs in ([DOCS[0][::-1], *DOCS[1:]], [DOCS[0][:4], [], [1, *DOCS[2]]], [[], DOCS[0], DOCS[2]])
    ]
    assert (
        len(
            {Host(corpus).part() for corpus in [*same, *others, *(as_corpus(DOCS, **mark) for mark in marks)]}
        )
        == 7
    )


def test_room_for_tokens_and_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids and slots that are far beyond what there was room for at first."""
    monkeypatch.setattr(hosts, "_SLOTS", 1)
    host = loaded([[0, 1] * 9])
    many = np.arange(5000, dtype=np.int32)
    fills = Fills(4, ints(0), many, many + 10, np.array([0, 0, 5000]), np.array([-1]))
    host.step(0, fills, merges_of((0, 1), first=9000))
    found = host.step(1, None, Batch(9001, ints(9000), ints(9000), np.array([70_000])))
    assert found is not None and found.merged["occurrences"][0, 0] == 0
    host.compact(True)
    assert host.sort_pairs(9001) == 8 and host.list_sorted(np.array([9000 << 32 | 9000])).tolist() == [8]
    host.give_slots(ints(140_000))
    found = host.step(2, None, Batch(9002, ints(9000), ints(9000), np.array([140_000])))
    assert found is not None and found.merged["occurrences"][0, 0] == 4


# of each shard, of each side of each merge: neighbours and how often they stand there
Lists = list[list[dict[int, int]]]
SIDE = st.dictionaries(st.integers(0, 5), st.sampled_from([1, 2, 7, MOST - 1, MOST]), max_size=4)
LISTS = st.integers(1, 3).flatmap(
    lambda n: st.lists(st.lists(SIDE, min_size=2 * n, max_size=2 * n), min_size=1, max_size=6)
)


def stepped(lists: Lists, weighted: bool) -> Stepped:
    """What a host of these shards has found."""
    k, n = len(lists), len(lists[0]) // 2
    ends = np.array([np.cumsum([0, *map(len, shard)]) for shard in lists], np.int64)
    entries = [item for shard in lists for side in shard for item in side.items()]
    counts = [count for _, count in entries]
    delta = np.array([[token, 1 if weighted else count] for token, count in entries], np.int32).ravel()
    weights = np.array(counts, np.int64) if weighted else None
    return Stepped(np.zeros(k, SHARD_STATE), ends, delta, np.zeros((k, n), MERGED), weights, None)


@given(LISTS, st.booleans())
@example([[{3: 2, 5: 1}, {6: 1}], [{5: 4}, {6: 2}]], False)
@example([[{0: MOST}, {}]] * 3, False)
def test_sums_are_those_of_all_shards(lists: Lists, weighted: bool) -> None:
    added = stepped(lists, weighted).added_up()
    assert added.delta.size == 2 * added.delta_end[0, -1] and added.delta.dtype == np.int32
    assert added.delta_end.shape == (len(lists), len(lists[0]) + 1) and not added.delta_end[1:].any()
    for side in range(len(lists[0])):
        want: Counter[int] = Counter()
        for shard in lists:
            want.update(shard[side])
        found: Counter[int] = Counter()
        begin, end = added.delta_end[0, side : side + 2].tolist()
        for j in range(begin, end):
            by_weight = added.delta_by_weight
            found[int(added.delta[2 * j])] += int(
                added.delta[2 * j + 1] if by_weight is None else by_weight[j]
            )
        assert found == want
        assert end - begin == len(want) or (max(want.values()) > MOST and not weighted)


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
    found = host.part()
    assert found[:8] == (7, 7, 5, 5, False, False, 1, 1) and found[9:] == ("p0 to p3", "int", 7, 1, 7)
    assert found == made([[[1, 2], []], [], [[3]], [[4, 5], [6, 7]]]).part()
    assert made([[]]).part()[:8] == (0, 0, 0, 0, False, False, 0, 0)
    assert made([["cac", ""]]).distinct().tolist() == [97, 99] and made([[""]]).distinct().tolist() == []


def test_integers_are_held_in_few_bytes() -> None:
    host = made([np.array([[1, 2]]), [[300, 4]], [[5, -6]]])
    assert rows(host) == [[1, 2], [300, 4], [5, -6]] and host.corpus.values.dtype == np.int32
    assert made([np.array([[1, 2]]), [[255]]]).corpus.values.dtype == np.uint8


@pytest.mark.parametrize("at", range(5))
def test_unknown_symbols_of_one_document(at: int) -> None:
    values = np.zeros(5, np.int64)
    values[at] = 8
    parts = [values[:0], values[:2], values[2:2], values[2:], values[:0]]
    where, position = (1, at) if at < 2 else (3, at - 2)
    with pytest.raises(UnknownSymbolError, match=f"p{where}: document 0, position {position}: symbol 8"):
        made(parts, joined=True).load(Setup(Alphabet.dense(3), False, 1, None))
