"""The searches for the n best paths, against the plain references and against trying everything."""

import math
import pickle
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from pair_tables import Table, documents, named, tables
from reference import encode_paths
from tables import each, refuses

from ubpe_numba import UBPE, Ragged
from ubpe_numba.coding import n_best as module
from ubpe_numba.coding.n_best import NBest, k_best, n_best_paths
from ubpe_numba.coding.path_encoder import PathEncoder
from ubpe_numba.vocabulary.vocabulary import Vocabulary


def made(table: Table) -> tuple[PathEncoder, dict[tuple[int, ...], int], dict[int, float]]:
    return PathEncoder(Vocabulary.from_merges(*table)), *named(table)


def as_found(one: tuple[Ragged, np.ndarray]) -> encode_paths.Found:
    return [
        (tuple(path), round(weight * 2**24))
        for path, weight in zip(one[0].to_lists(), one[1].tolist(), strict=True)
    ]


@given(st.data(), tables(), st.booleans())
def test_a_beam_equals_the_reference(data: st.DataObject, table: Table, by_bag: bool) -> None:
    """Every n and beam, by path and by bag, with prices and without; the n best of a beam are its first n."""
    search, tokens, idf = made(table)
    docs = data.draw(documents(table[0], 40))
    prices = np.array(
        data.draw(st.lists(st.integers(0, 2**25), min_size=search.marks.size, max_size=search.marks.size)),
        float,
    )
    known = {t: int(price) for t, price in enumerate(prices)}
    for doc, one in zip(
        docs, n_best_paths(search, Ragged.from_lists(docs), 4, 4, by_bag, 1, prices), strict=True
    ):
        assert as_found(one) == encode_paths.encode_nbest(doc, tokens, idf, 4, by_bag, known)
    for n, beam in ((1, 1), (2, 2), (3, 3), (7, 7), (2, 5), (1, 20)):
        found = n_best_paths(search, Ragged.from_lists(docs), n, beam, by_bag, 1)
        for doc, one in zip(docs, found, strict=True):
            assert as_found(one) == encode_paths.encode_nbest(doc, tokens, idf, beam, by_bag)[:n]
            weights = search.weigh(one[0], "tfidf").tolist()
            assert weights == pytest.approx(
                [formula(tuple(path), idf) for path in one[0].to_lists()], rel=1e-12, abs=1e-12
            )


@each("by_bag", [False, True])
def test_weights_of_less_than_a_unit(by_bag: bool) -> None:
    """Of the fixed point: rounded, the first occurrence of a token may add nothing, and the third one unit."""
    rng = np.random.default_rng(5)
    for units in ([0.75, 0.25, 0.25], [0.25, 0.75, 2.5], [3.0, 2.5, 4.5]):
        search, tokens, idf = made((1, [(0, 0), (0, 1), (1, 1)], [unit / 2**24 for unit in units]))
        for n in (*range(8, 18), *rng.integers(18, 60, 5).tolist()):
            found = n_best_paths(search, Ragged.from_lists([[0] * n]), 3, 3, by_bag, 1)[0]
            assert as_found(found) == encode_paths.encode_nbest([0] * n, tokens, idf, 3, by_bag)


@each("by_bag", [False, True])
@each("left", [0, 40, 41, 150, 1000])
def test_walks_whose_numbers_begin_anew(left: int, by_bag: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """So many walks are left before the highest number: in periodic and in random documents, of which walks pass many nodes."""
    kernel = module.kernels.n_best_paths
    highest: list[int] = []

    def late(*args: object) -> int:
        progress = next(a for a in args if isinstance(a, np.ndarray) and a.dtype == module.kernels.PROGRESS)
        if progress[0]["documents"] == 0:
            progress[0]["walk"] = module.kernels.MOST_WALKS - left
        status = kernel(*args)
        highest.append(int(progress[0]["walk"]))
        return int(status)

    table = (2, [(0, 1), (2, 2), (1, 1), (2, 0), (3, 2)], [1.0, 0.5, 0.75, 1.5, 0.25])
    search, tokens, idf = made(table)
    random = np.random.default_rng(3).integers(0, 2, 50).tolist()
    monkeypatch.setattr(module.kernels, "n_best_paths", late)
    for doc in ([0, 1] * 20, random, [1] * 30):
        found = n_best_paths(search, Ragged.from_lists([doc, doc]), 5, 5, by_bag, 1)
        want = encode_paths.encode_nbest(doc, tokens, idf, 5, by_bag)
        assert [as_found(one) for one in found] == [want, want]
    assert max(highest) <= module.kernels.MOST_WALKS and (left > 40 or min(highest) < 10_000)


@each("pattern", [[0], [0, 1, 1, 0, 1]])
def test_periodic_documents_equal_the_reference(pattern: list[int]) -> None:
    """In periodic documents tails do not merge before the document ends, and the tree of tails has to grow."""
    docs = [(pattern * 300)[:n] for n in (300, 211, 97)] + [[1, 0, 0, 1] * 20, [1] * 33, []]
    tok = UBPE(40, 5, alphabet=2).fit(docs, progress=False)
    v = tok._model.vocabulary
    tokens, idf = (
        {tuple(v.sequence(t).tolist()): t for t in range(len(v))},
        dict(enumerate(v.weights.tolist())),
    )
    doc = (pattern * 150)[:150]
    for by_bag in (False, True):
        candidates, weights = tok.encode_nbest([doc], 10, distinct="bag" if by_bag else "path")[0]
        want = encode_paths.encode_nbest(doc, tokens, idf, 10, by_bag)
        assert candidates.to_lists() == [list(path) for path, _ in want]
        assert weights.tolist() == pytest.approx(
            [formula(path, idf) for path, _ in want], rel=1e-12, abs=1e-12
        )
    long = (pattern * 30_000)[:30_000]
    assert all(tok.decode(path).tolist() == long for path in tok.encode_nbest([long], 3, beam=8)[0][0])


def formula(path: tuple[int, ...], idf: dict[int, float]) -> float:
    """The sum over distinct tokens of (1 + ln count) * idf."""
    return math.fsum((1.0 + math.log(count)) * idf.get(token, 0.0) for token, count in Counter(path).items())


@each("objective", ["tfidf", "additive"])
def test_the_same_tokens_in_another_order_weigh_the_same(objective: str) -> None:
    """Sums in the order of the path would differ by their last bits, and be out of order."""
    rng = np.random.default_rng(3)
    docs = [rng.integers(0, 4, 60).tolist() for _ in range(40)]
    tok = UBPE(60, 3, alphabet=4, objective=objective).fit(docs, progress=False)
    n_pairs = 0
    for doc in docs:
        paths, weights = tok.encode_nbest([doc], 40)[0]
        of_bag: dict[tuple[int, ...], set[float]] = {}
        for path, weight in zip(paths.to_lists(), weights.tolist(), strict=True):
            of_bag.setdefault(tuple(sorted(path)), set()).add(weight)
        assert all(len(found) == 1 for found in of_bag.values())
        n_pairs += len(weights) - len(of_bag)
    assert n_pairs > 100


@pytest.mark.filterwarnings("ignore:every idf is 0")
@each("options", [{}, {"distinct": "bag"}, {"beam": 20}])
def test_without_any_idf_the_first_candidate_is_that_of_encode(options: dict[str, Any]) -> None:
    tok = UBPE(8, 2).fit(["abbaababba"], progress=False)
    for doc in ("abbab", "aabbaabb", "b", ""):
        candidates, weights = tok.encode_nbest([doc], 4, **options)[0]
        assert candidates[0].tolist() == tok.encode(doc).tolist()
        assert not weights.any() and all(tok.decode(path) == doc for path in candidates)
        bags = [
            tuple(sorted(path)) if "distinct" in options else tuple(path) for path in candidates.to_lists()
        ]
        assert len(set(bags)) == len(bags)


def test_options_that_make_no_sense(monkeypatch: pytest.MonkeyPatch) -> None:
    tok = UBPE(6, 2, alphabet=2).fit([[0, 1, 0, 1, 1], [1, 0]], progress=False)
    for options, error, message in (
        ({"beam": 2}, ValueError, "beam: expected at least n = 3, got 2"),
        ({"beam": 3.0}, TypeError, "beam: expected an int, got 3.0"),
        ({"distinct": "set"}, ValueError, "distinct: expected 'path' or 'bag', got 'set'"),
        ({"beam": 2**31}, ValueError, "beam: 2147483648 paths of 2 symbols need .* at most"),
    ):
        refuses(error, message, tok.encode_nbest, [[0, 1]], 3, **options)
    with pytest.raises(ValueError, match="n: 1000000000 paths of 2 symbols need"):
        tok.set_params(objective="additive").encode_nbest([[0, 1]], 10**9)
    for objective in ("additive", "tfidf"):  # six tails are just as many as are possible
        monkeypatch.setattr(module, "_MAX_NODES", 6)
        assert len(tok.set_params(objective=objective).encode_nbest([[0, 1]], 2).candidates) == 2
        monkeypatch.setattr(module, "_MAX_NODES", 5)
        refuses(ValueError, "n: 2 paths of 2 symbols need 6 tails; at most 5", tok.encode_nbest, [[0, 1]], 2)


@each("n", [1, 2, 7])
def test_results_and_trees_of_tails_that_grow_hold_all_paths(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    """There is room for the paths of one document, and there are twenty: all of a document's paths count as what it needs."""
    rng = np.random.default_rng(3)
    docs = Ragged.from_lists(rng.integers(0, 3, (20, 60)))
    search, _, _ = made((3, [(0, 1), (3, 2)], [0.5, 1.0]))
    want = n_best_paths(search, docs, n, n, False, 1)
    assert sum(paths.total for paths, _ in want) > 2 * n * 60  # it grows more than once
    monkeypatch.setattr(module, "_FIRST_IDS", 1)
    monkeypatch.setattr(module, "_FIRST_NODES", 120)
    assert [as_found(one) for one in n_best_paths(search, docs, n, n, False, 1)] == [
        as_found(one) for one in want
    ]


def test_the_result_of_a_batch_by_document_in_slices_and_pickled() -> None:
    docs = [[0, 1, 0, 1, 1], [], [1, 0, 1], [2]]
    tok = UBPE(6, 2, alphabet=3).fit(docs, progress=False)
    found = tok.encode_nbest(docs, 3)
    assert (
        isinstance(found, NBest) and repr(found) == f"NBest(4 documents, {len(found.candidates)} candidates)"
    )
    assert [len(candidates) for candidates, _ in found] == np.diff(found.offsets).tolist()
    assert all(
        tok.decode(path).tolist() == doc
        for doc, (paths, _) in zip(docs, found, strict=True)
        for path in paths
    )
    part = found[1:3]
    assert len(part) == 2 and part[0][0].to_lists() == [[]] and part[-1][0] == found[2][0]
    assert len(found[4:]) == 0 and len(found[3:1]) == 0
    for same in (pickle.loads(pickle.dumps(found)), found[:]):
        assert same.candidates == found.candidates and same.offsets.tolist() == found.offsets.tolist()
        assert same.weights.tolist() == found.weights.tolist()
    assert len(pickle.loads(pickle.dumps(part)).candidates.values) == part.candidates.total
    refuses(IndexError, r"index: expected a document in -4..3, got 4", lambda: found[4])
    refuses(ValueError, "index: expected a slice of step 1", lambda: found[::2])
    refuses(TypeError, "index: expected an integer", lambda: found["a"])
    assert len(tok.encode_nbest([], 3)) == 0


SIGNED = st.sampled_from([-2.5, -1.0, -0.25, 0.0, 0.25, 1.0, 3.0])


@given(st.data(), tables())
def test_additive_and_k_best_equal_the_reference(data: st.DataObject, table: Table) -> None:
    """Weights of both signs, for symbols too; of short documents the k best, the shortest by the larger idf."""
    size, pairs, learned = table
    n = size + len(pairs)
    given_weights = data.draw(st.lists(SIGNED, min_size=n, max_size=n))
    docs = data.draw(documents(size, 40))
    tokens, idf = named(table)
    weights = dict(enumerate(given_weights))
    encoder = PathEncoder(Vocabulary.from_merges(size, pairs), np.array(given_weights))
    want = [list(encode_paths.encode(d, tokens, weights, "additive")) for d in docs]
    assert encoder.encode(Ragged.from_lists(docs), "additive", 1).to_lists() == want
    by_idf = PathEncoder(Vocabulary.from_merges(size, pairs, learned))
    for d in (d[:9] for d in docs[:2]):
        for search, objective, worths in (
            (encoder, "additive", weights), (encoder, "shortest", {}), (by_idf, "shortest", idf),
        ):  # fmt: skip
            for k in (1, 2, 7, 300):
                found, worth = k_best(search, np.array(d, np.int32), objective, k)
                best = [path for path, _ in encode_paths.best_of_all(d, tokens, worths, k, objective)]
                assert found.to_lists() == [list(path) for path in best]
                sums = [
                    sum(weights[t] for t in path) if objective == "additive" else -len(path) for path in best
                ]
                assert worth.tolist() == sums
