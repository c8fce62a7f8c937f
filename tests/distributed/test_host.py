"""Shards of a host: what it says of its part, how it loads, and that messages which are repeated change nothing."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import fit as reference
from remote_fits import Place, cut

from ubpe_numba.distributed import host as hosts
from ubpe_numba.distributed.host import Host
from ubpe_numba.distributed.messages import Batch, Fills, Part, Setup
from ubpe_numba.documents.read import as_corpus
from ubpe_numba.errors import UnknownSymbolError
from ubpe_numba.vocabulary.alphabet import Alphabet

SETUP = Setup(Alphabet.dense(4), False, 4, 1)
DOCS = [[0, 1, 2, 0, 1], [], [1, 2, 1, 2, 1]]


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def merges_of(*pairs: tuple[int, int], first: int = 4) -> Batch:
    left, right = zip(*pairs, strict=True)
    return Batch(first, ints(*left), ints(*right), np.arange(len(pairs)))


def loaded(docs: Any = DOCS, n_shards: int = 1, pairs: tuple[tuple[int, int], ...] = ((0, 1), (1, 2)), **marks: Any) -> Host:
    """A host whose text is there, and these pairs listed at slots 0 and on."""
    host = Host(as_corpus(docs, **marks), 1)
    host.load(SETUP._replace(n_shards=n_shards, weighted=bool(marks), near=10**9))
    host.list_again(-2, 4, np.array([a << 32 | b for a, b in pairs]), np.arange(len(pairs), dtype=np.int32))
    return host


def equal(a: Any, b: Any) -> bool:
    """Whether two answers are."""
    return pickle.dumps(a) == pickle.dumps(b)


def test_a_part_in_figures() -> None:
    assert Host(as_corpus(DOCS)).part()[:8] == Part(10, 10, 3, 3, False, False, 1, 1, ())[:8]
    weighted = Host(as_corpus(DOCS, sample_weight=[2, 7, 3], boundaries=[[2], [], []]))
    assert weighted.part()[:8] == Part(10, 25, 12, 4, True, True, 2, 3, ())[:8]
    assert Host(as_corpus(DOCS, sample_weight=[0, 7, 3])).part()[:8] == Part(5, 15, 10, 2, True, True, 7, 3, ())[:8]
    assert Host(as_corpus(DOCS, boundaries=[[], [], [1]])).part()[4:6] == (True, False)
    assert Host(as_corpus([])).part() == Part(0, 0, 0, 0, False, False, 0, 0, (0,))


def test_the_check_of_a_part_tells_parts_apart() -> None:
    same = [as_corpus(DOCS), as_corpus([np.array(d, np.int64) for d in DOCS])]
    assert len({Host(corpus).part() for corpus in same}) == 1
    others = [
        as_corpus([[0, 1, 2, 1, 0], [], [1, 2, 1, 2, 1]]),
        as_corpus([[0, 1, 2, 0], [], [1, 1, 2, 1, 2, 1]]),
        as_corpus([[], [0, 1, 2, 0, 1], [1, 2, 1, 2, 1]]),
        as_corpus(DOCS, sample_weight=[1, 1, 2]),
        as_corpus(DOCS, sample_weight=[2, 1, 1]),
        as_corpus(DOCS, sample_weight=[1, 2, 1]),
        as_corpus(DOCS, boundaries=[[1], [], []]),
        as_corpus(DOCS, boundaries=[[], [], [1]]),
    ]
    assert len({Host(corpus).part() for corpus in [*same, *others]}) == 1 + len(others)


def test_symbols_of_a_part() -> None:
    assert Host(as_corpus(DOCS)).part()[10:] == ("int", 10, 0, 2)
    assert Host(as_corpus([[-5, 9]], sample_weight=[0])).part()[10:] == ("int", 2, -5, 9)  # of all documents that are given
    assert Host(as_corpus([])).part()[10:] == ("int", 0, 0, -1)
    assert Host(as_corpus(["cac", ""])).distinct().tolist() == [97, 99]
    assert Host(as_corpus([[]])).distinct().tolist() == []


def test_a_text_is_loaded_once() -> None:
    host = Host(as_corpus(DOCS, sample_weight=[1, 2, 3]), 1)
    found = host.load(SETUP._replace(weighted=True))
    assert host.load(SETUP) is found  # another host was lost, and all are told again
    assert found.symbol_counts.tolist() == [2, 2 + 9, 1 + 6, 0]
    assert found.documents.tolist() == [[0, 2]]
    assert found.weights.tolist() == [[1, 3]]
    assert found.n_shards == 1


def test_shards_of_a_part() -> None:
    host = Host(as_corpus([[0] * 9, [1], [2] * 4]), 1)
    found = host.load(SETUP._replace(n_shards=3, near=10**9))
    assert found.at.tolist() == [0, 4, 9, 14]
    assert found.inside.tolist() == [False, True, False, False]
    assert found.documents.tolist() == [[0, 0], [0, 0], [1, 2]]
    assert found.segments.tolist() == [1, 1, 2]
    assert [(row["first"], row["last"]) for row in found.state] == [(0, 0), (0, 0), (1, 2)]


def test_symbols_outside_the_alphabet() -> None:
    for corpus in (as_corpus([[1], [0, 9]]), as_corpus([[1], [0, 9]], sample_weight=[0, 3])):
        with pytest.raises(UnknownSymbolError) as caught:
            Host(corpus, 1).load(SETUP)
        assert (caught.value.document, caught.value.position) == (1, 1)


def test_repeated_messages_get_the_same_answers() -> None:
    """And change nothing: a step, a token that is taken over, and one that is given away."""
    host = loaded()
    batch = merges_of((0, 1), (1, 2))
    first = host.step(5, None, batch)
    before = host.text.shards.cells.copy()
    assert host.step(5, None, batch) is first
    assert np.array_equal(host.text.shards.cells, before)
    taken = host.take_over(6, 0, 0, 1, False)
    cells = host.text.shards.cells.copy()
    assert equal(host.take_over(6, 0, 0, 1, False), taken)
    assert np.array_equal(host.text.shards.cells, cells)
    assert taken[1]["n_cells"] == first.state["n_cells"] + 1  # type: ignore[union-attr]
    given_away = host.give_first(7, 0)
    assert equal(host.give_first(7, 0), given_away)
    assert given_away[1]["first"] == 2
    assert host.give_first(8, 0)[1]["first"] == 4


def test_answers_do_not_change_later() -> None:
    """An answer in this process is no view of arrays that the next message writes into."""
    host = loaded([[0, 1, 0, 1, 2] * 4], n_shards=3, sample_weight=[3])
    answers = [host.load(SETUP), host.step(0, None, merges_of((0, 1)))]
    answers += [host.take_over(1, 0, 1, 2, False), host.give_first(2, 1)]
    kept = [pickle.dumps(answer) for answer in answers]
    host.step(3, Fills(4, ints(0), ints(2), ints(3), np.array([0, 0, 1]), np.array([2])), merges_of((4, 2), first=5))
    host.compact(True)
    assert [pickle.dumps(answer) for answer in answers] == kept


def test_a_step_that_was_listed_is_not_filled_again() -> None:
    """A host that was made anew lists the pairs that the batch before created; they are in its arena once."""
    fills = Fills(4, ints(0), ints(2), ints(3), np.array([0, 0, 1]), np.array([-1]))
    hosts_of = [loaded([[0, 1, 2, 0, 1, 2]]) for _ in range(2)]
    for host in hosts_of:
        host.step(0, None, merges_of((0, 1)))
    hosts_of[1].compact(False)
    hosts_of[1].list_again(1, 5, np.array([4 << 32 | 2]), ints(3))
    for host in hosts_of:
        assert host.step(1, fills, None) is None
        assert host.text.shards.slices[0, 6:8].tolist()[1] == 2
    found = [host.step(2, None, merges_of((4, 2), first=5)._replace(slot=np.array([3]))) for host in hosts_of]
    assert all(f is not None and f.merged["occurrences"][0, 0] == 2 for f in found)


def test_room_for_tokens_and_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids and slots that are far beyond what there was room for at first."""
    monkeypatch.setattr(hosts, "_SLOTS", 1)
    host = loaded([[0, 1] * 9])
    many = np.arange(5000, dtype=np.int32)
    fills = Fills(4, ints(0), many, many + 10, np.array([0, 0, 5000]), np.array([-1]))
    host.step(0, fills, merges_of((0, 1), first=9000))
    found = host.step(1, None, Batch(9001, ints(9000), ints(9000), np.array([70_000])))
    assert found is not None
    assert found.merged["occurrences"][0, 0] == 0
    host.compact(True)
    assert host.sort_pairs(9001) == 8
    assert host.list_sorted(np.array([9000 << 32 | 9000])).tolist() == [8]
    host.give_slots(ints(140_000))
    found = host.step(2, None, Batch(9002, ints(9000), ints(9000), np.array([140_000])))
    assert found is not None
    assert found.merged["occurrences"][0, 0] == 4


def test_memory_does_not_grow_with_messages() -> None:
    """Neither arenas nor answers are kept, however often a text is counted, listed and compacted."""
    host = loaded([[0, 1, 2, 3] * 50], n_shards=2)

    def size() -> int:
        arrays = [*host.text.shards, *host.task, *vars(host).values(), *vars(host.text).values()]
        return sum(a.nbytes for a in arrays if isinstance(a, np.ndarray))

    pairs = np.arange(4) << 32 | 1
    sizes = []
    for number in range(20):
        host.compact(False)
        host.sort_pairs(4)
        host.count_sorted(1, 1)
        host.list_sorted(pairs)
        host.give_slots(np.arange(4, dtype=np.int32))
        host.count_dense(4)
        host.list_dense(4, np.arange(4), np.arange(4, dtype=np.int32))
        host.step(number, None, None)
        sizes.append(size())
    assert len(set(sizes)) == 1


@given(
    st.lists(st.lists(st.integers(0, 3), max_size=12) | st.just([1] * 13), min_size=1, max_size=3),
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=4),
    st.integers(1, 4),
    st.booleans(),
)
@settings(max_examples=100)
def test_a_text_is_made_again(docs: list[list[int]], wanted: list[tuple[int, int]], n_shards: int, weighted: bool) -> None:
    """Of its part and the merges so far, shard by shard; each merge where its shards begin."""
    pairs: list[tuple[int, int]] = []
    for pair in wanted:
        if pair not in pairs and max(pair) < 4 + len(pairs):
            pairs.append(pair)
    setup = SETUP._replace(n_shards=n_shards, near=10**9, weighted=weighted)
    at = Host(as_corpus(docs), 1).load(setup).at
    host = Host(as_corpus(docs), 1)
    found = host.load(setup, np.array(pairs, np.int32).reshape(-1, 2), at, ints())
    starts = np.cumsum([0, *map(len, docs)])
    texts = []
    for k in range(at.size - 1):
        for doc, start in zip(docs, starts.tolist(), strict=False):
            a, b = max(int(at[k]) - start, 0), min(int(at[k + 1]) - start, len(doc))
            if a < b:
                texts.append(doc[a:b])
    for new, pair in enumerate(pairs, 4):
        texts = [reference.replace(text, {pair: new}) for text in texts]
    cells = np.concatenate([host.text._cells(k) for k in range(host.text.k)])
    assert cells[cells >= 0].tolist() == [token for text in texts for token in text]
    assert found.state["n_cells"].sum() == cells.size


def test_a_text_is_made_again_with_the_tokens_that_it_took_over() -> None:
    """Part 0 1 | 2 3 of a document, in two shards; the first gave away 0, the second took over 1 2 from the next host."""
    host = Host(as_corpus([[0, 1, 2, 3]]), 1)
    setup = SETUP._replace(n_shards=2, near=10**9)
    found = host.load(setup, np.array([[1, 2]], np.int32), np.array([1, 2, 6]), ints(1, 2))
    assert host.text._cells(0).tolist() == [-1, 1, -1]
    assert host.text._cells(1).tolist() == [-1, 2, 3, 4, -1]
    assert found.at.tolist() == [1, 2, 6]
    emptied = Host(as_corpus([[0, 1]]), 1)
    emptied.load(SETUP, np.zeros((0, 2), np.int32), np.array([3, 3]), ints(2, 3))
    assert emptied.text._cells(0).tolist() == [-1, -1]


def test_parts_that_are_cut_inside_a_document_know_their_weights() -> None:
    parts, _ = cut([[0, 1, 2], [1, 1]], [Place(0, True, 1), Place(1)], [2**33, 5])
    figures = [Host(part).part() for part in parts]
    assert [(p.first_weight, p.last_weight) for p in figures] == [(2**33, 2**33), (2**33, 2**33), (5, 5)]
    counts = [Host(part, 1).load(SETUP._replace(weighted=True)).symbol_counts for part in parts]
    assert np.sum(counts, axis=0).tolist() == [2**33, 2**33 + 10, 2**33, 0]
