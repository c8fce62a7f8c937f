"""Certificates of the n best: exact searches, guided ones and gaps, against trying everything."""

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from pair_tables import Table, documents, named, tables
from reference import encode_paths

from ubpe_numba import UBPE, Ragged
from ubpe_numba.bounds import encode_nbest
from ubpe_numba.bounds.heaviest_path import Prices, certified
from ubpe_numba.coding.n_best import n_best_paths
from ubpe_numba.coding.path_encoder import PathEncoder
from ubpe_numba.vocabulary.vocabulary import Vocabulary

Found = tuple[list[tuple[tuple[int, ...], float]], float]


def made(table: Table) -> tuple[PathEncoder, dict[tuple[int, ...], int], dict[int, float]]:
    return PathEncoder(Vocabulary.from_merges(*table)), *named(table)


def searched(
    search: PathEncoder, doc: list[int], n: int, by_bag: bool, exact: bool = False, guided: bool = False
) -> Found:
    """Paths with their weights in fixed point, and the gap; a beam of two or more where the search is exact."""
    beam = max(n, 2) if exact else n
    given = n_best_paths(search, Ragged.from_lists([doc]), n, beam, by_bag, 1).candidates
    paths, weights, gap = certified(search, np.array(doc, np.int32), given, n, beam, by_bag, exact, guided, 0)
    return list(zip(map(tuple, paths.to_lists()), weights.tolist(), strict=True)), gap


@given(st.data(), tables(), st.booleans())
def test_exact_and_gap_against_trying_everything(data: st.DataObject, table: Table, by_bag: bool) -> None:
    search, tokens, idf = made(table)
    for doc in data.draw(documents(table[0], 11)):
        for n in (1, 6):
            want = encode_paths.best_of_all(doc, tokens, idf, n, by_bag=by_bag)
            assert searched(search, doc, n, by_bag, exact=True) == (want, 0)
            (beam, gap), (guided, gap_of_guided) = (
                searched(search, doc, n, by_bag, guided=way) for way in (False, True)
            )
            for found, far in ((beam, gap), (guided, gap_of_guided)):
                assert far >= want[0][1] - found[0][1] >= 0 and len(found) == len(want)
                assert all(weight == encode_paths.path_weight(path, idf) for path, weight in found)
            assert all(a[1] >= b[1] for a, b in zip(guided, beam, strict=True)) and gap_of_guided <= gap
            assert len({tuple(sorted(path)) if by_bag else path for path, _ in guided}) == len(guided)


@given(st.data(), tables())
def test_matches_and_bounds_of_prices_equal_the_reference(data: st.DataObject, table: Table) -> None:
    """Matches, the bound at the prices that were found, and the largest price of a way to each position."""
    search, tokens, idf = made(table)
    for doc in data.draw(documents(table[0], 10)):
        path = encode_paths.encode_nbest(doc, tokens, idf, 1)[0][0]
        priced = Prices.of(search, np.array(doc, np.int32), np.array(path, np.int32))
        for s in range(len(doc)):
            at = slice(int(priced.bounds[s + 1]), int(priced.bounds[s]))
            listed = priced.matches[at].tolist()
            assert listed[::-1] == encode_paths.matches(doc, s, tokens)
        prices = {t: int(price) for t, price in enumerate(priced.prices)}
        assert priced.bound == encode_paths.bound(doc, tokens, idf, prices)
        for e in range(len(doc) + 1):
            ways = encode_paths.all_paths(doc[:e], tokens)
            assert priced.value[e] == max(sum(prices[t] for t in way) for way in ways)


@pytest.mark.filterwarnings("ignore:every idf is 0")
def test_without_any_idf_and_by_other_objectives() -> None:
    tok = UBPE(8, 2).fit(["abbaababba"], progress=False)
    found, gaps = encode_nbest(tok, ["abbab", ""], 4, exact=True)
    assert found.candidates == tok.encode_nbest(["abbab", ""], 4, beam=16).candidates and gaps.tolist() == [
        0,
        0,
    ]
    with pytest.raises(ValueError, match="objective: expected 'tfidf', got 'shortest'"):
        encode_nbest(tok.set_params(objective="shortest"), ["abbab"], 4)


def test_an_exact_search_that_takes_too_much() -> None:
    """A ValueError before the search has taken long, since its tails are counted."""
    docs = np.random.default_rng(1).integers(0, 2, (20, 2000))
    tok = UBPE(60, 4, alphabet=2).fit(docs, progress=False)
    with pytest.raises(
        ValueError, match="exact: document 1 of 2000 symbols needs more than 1048576 tails; cut it"
    ):
        encode_nbest(tok, [docs[0][:20], docs[1]], 1, exact=True)


@given(st.lists(st.integers(0, 1), max_size=10))
@example([0, 1, 0, 0, 1, 0, 1, 0])
def test_bags_of_equal_marks(doc: list[int]) -> None:
    """With the same random mark for all tokens, bags of one size have equal sums, so the exact search has to compare them."""
    search, tokens, idf = made((2, [(0, 1), (1, 0), (0, 0), (2, 3)], [0.5, 1.0, 0.25, 1.7]))
    search.marks = np.ones_like(search.marks)
    for n in (1, 3):
        found, _ = searched(search, doc, n, by_bag=False, exact=True)
        assert found == encode_paths.best_of_all(doc, tokens, idf, n)
