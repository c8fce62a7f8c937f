"""Encoding by tf-idf and by fewest tokens against the plain reference."""

import math

import numpy as np
from hypothesis import given, strategies as st
from pair_tables import Table, documents, named, tables
from reference import encode_paths
from tables import each

from ubpe_numba import BPE, Ragged
from ubpe_numba.coding.kernels.viterbi import pack
from ubpe_numba.coding.n_best import n_best_paths
from ubpe_numba.coding.path_encoder import PathEncoder
from ubpe_numba.coding.plan import FIRST
from ubpe_numba.vocabulary.vocabulary import Vocabulary


def test_an_answer_about_one_document_is_not_one_about_another() -> None:
    """Long walks note how often the rest holds a token: [2, 3] 50 times behind position 2 of the first, never in the second.

    Two tails that hardly differ in weight stay apart all through (0, 1) * n, so that walks are long in both
    documents.
    """
    vocabulary = Vocabulary.from_merges(
        4, [(0, 1), (1, 0), (2, 3), (3, 0), (3, 1)], [1.0, 1.001, 1.0, 0.5, 0.001]
    )
    first, second = [2, 3, 1] + [0, 1] * 60 + [2, 3] * 50, [2, 3] + [0, 1] * 60
    encoder = PathEncoder(vocabulary)
    found = encoder.encode(Ragged.from_lists([first, second]), "tfidf", 1).to_lists()
    assert found[1] == [6] + [4] * 60
    merges, weights = [(0, 1), (1, 0), (2, 3), (3, 0), (3, 1)], [1.0, 1.001, 1.0, 0.5, 0.001]
    tok = BPE.from_merges(merges, alphabet=4, weights=weights).with_objective("tfidf")
    for _ in range(FIRST + 2):  # the last as short documents, whose counts are kept from call to call
        assert [tok.encode(doc).tolist() for doc in (first, second, first)] == [*found, found[0]]
    encoder = PathEncoder(Vocabulary.from_merges(2, [(1, 0), (0, 1), (1, 1)], [1.0005, 1.001, 1.0008]))
    doc = [1, 0, 1] * 5 + [1, 1, 0, 1] * 11 + [0]
    (alone,) = encoder.encode(Ragged.from_lists([doc]), "tfidf", 1).to_lists()
    for n in range(9):  # wherever it begins
        assert encoder.encode(Ragged.from_lists([[0] * n, doc]), "tfidf", 1).to_lists()[1] == alone


#: Faults that were found: a token may add more than it adds to a lower count, and the tail that is heavier so
#: comes last.
UNITS: list[tuple[int, list[tuple[int, int]], list[int], list[int]]] = [
    (1, [(0, 1), (1, 0)], [2, 3], [1, 1, 1, 0, 1, 0, 0, 1, 1, 0]),
    (1, [(0, 1), (2, 2), (1, 0)], [2, 1, 3], [0, 1, 0, 0, 1, 0, 1, 1]),
    (1, [(1, 1), (2, 1)], [2, 2], [1, 0, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1]),
    (2, [(1, 1), (0, 0), (2, 0)], [1, 2, 3], [1, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1]),
    (3, [(1, 1), (0, 2), (1, 2)], [4, 1, 1], [1] * 13),
    (3, [(0, 0), (1, 0), (3, 2), (3, 0)], [1, 3, 2, 1], [0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1, 0]),
]


def test_weights_of_a_few_units_where_rounding_decides() -> None:
    """Weights are multiples of 2**-26, their sums are rounded to 2**-24: what could be heavier by a rounding is looked at."""
    rng = np.random.default_rng(2)
    cases = UNITS[:]
    for case in range(200):
        pairs, lengths = [], [1, 1]
        while len(pairs) < 8:
            a, b = (int(i) for i in rng.integers(0, len(lengths), 2))
            if (a, b) not in pairs and lengths[a] + lengths[b] < 12:
                pairs.append((a, b))
                lengths.append(lengths[a] + lengths[b])
        doc = rng.integers(0, 2, 40) if case % 2 else np.tile(rng.integers(0, 2, rng.integers(1, 6)), 40)[:40]
        doc = doc[: 40 - case % 3 * 8]  # of 32 symbols or less all walks are short
        cases.append((1, pairs, rng.integers(1, 40, 8).tolist(), doc.tolist()))
    for n, pairs, units, doc in cases:
        table = 2, pairs, [unit / 2**26 for unit in units]
        tokens, idf = named(table)
        want = encode_paths.encode_nbest(doc, tokens, idf, n)
        encoder = PathEncoder(Vocabulary.from_merges(*table))
        assert n > 1 or encoder.encode(Ragged.from_lists([doc]), "tfidf", 1).to_lists() == [list(want[0][0])]
        paths, found = n_best_paths(encoder, Ragged.from_lists([doc]), n, n, False, 1)[0]
        assert paths.to_lists() == [list(path) for path, _ in want]
        assert (found * 2**24).tolist() == [weight for _, weight in want]


@given(st.data(), tables())
def test_packed_costs_give_the_paths_of_pairs_of_costs(data: st.DataObject, table: Table) -> None:
    """With costs so large that they can be packed for short documents only, up to the longest of these."""
    size, pairs, weights = table
    vocabulary = Vocabulary.from_merges(size, pairs, weights)
    n, longest = len(vocabulary), int(np.diff(vocabulary.offsets).max())
    cost = st.sampled_from([0, 1, -1, 2, 3, 2**20, 2**30 - 1, 2**30, -(2**30)])
    first = np.array(data.draw(st.lists(cost, min_size=n, max_size=n)), np.float64)
    second = np.array(data.draw(st.lists(cost, min_size=n, max_size=n)), np.float64)
    plain, packed = PathEncoder(vocabulary), PathEncoder(vocabulary)
    plain.costs["shortest"] = packed.costs["shortest"] = np.stack([first, second], axis=1).ravel()
    costs, most = pack(first, second, longest)
    assert all(int(c) % 2**20 == int(b) % 2**20 for c, b in zip(costs, second, strict=True) if most > 2**12)
    plain.packed["shortest"] = costs, -1
    docs = Ragged.from_lists([doc[: min(most, 40)] for doc in data.draw(documents(size, 40))])
    assert packed.encode(docs, "shortest", 1) == plain.encode(docs, "shortest", 1)


def test_packed_sums_wrap_around_in_long_documents() -> None:
    """Sums of 20,000 symbols go far beyond 2**63; ties and near ties in periods."""
    rng = np.random.default_rng(0)
    vocabulary = Vocabulary.from_merges(3, [(0, 1), (3, 3), (1, 0), (0, 0), (6, 6), (5, 2), (2, 2)])
    docs = Ragged.from_lists([np.tile(rng.integers(0, 3, k), 20_000 // k) for k in (1, 2, 3, 5, 7, 20_000)])
    for added in (
        rng.integers(-20, 20, len(vocabulary)).astype(float),
        rng.normal(-8.0, 3.0, len(vocabulary)),
    ):
        plain, packed = PathEncoder(vocabulary, added), PathEncoder(vocabulary, added)
        plain.packed["additive"] = plain.packed["shortest"] = np.zeros(0, np.uint64), -1
        for objective in ("additive", "shortest"):
            assert packed.encode(docs, objective, 1) == plain.encode(docs, objective, 1)
        assert packed.packed["additive"][1] > 20_000


def test_costs_that_cannot_be_packed() -> None:
    """The largest weights, and a long token: pairs of numbers are compared in documents that are longer than 100 symbols."""
    vocabulary = Vocabulary.from_merges(1, [[i, i] for i in range(8)])
    encoder = PathEncoder(vocabulary, np.linspace(-1e6, 1e6, len(vocabulary)))
    found = encoder.encode(Ragged.from_lists([[0] * 300, [0] * 5000]), "additive", 1)
    assert 0 < encoder.packed["additive"][1] < 5000
    assert found.to_lists() == [
        encoder.encode(Ragged.from_lists([[0] * n]), "additive", 1).to_lists()[0] for n in (300, 5000)
    ]
    assert (
        pack(np.array([2.0**61]), np.array([1.0]), 1)[1]
        == pack(np.array([1.0]), np.array([np.inf]), 1)[1]
        == 0
    )


@given(st.data(), tables())
def test_searches_from_the_beginning_equal_the_reference(data: st.DataObject, table: Table) -> None:
    """With few different scores, so that ties are frequent, scores that float32 cannot hold, and sums beyond 100000."""
    size, pairs, _ = table
    n = size + len(pairs)
    least = data.draw(st.sampled_from([-20.0, -40000.0, -1e6]))
    score = st.one_of(st.sampled_from([-1.0, -2.0, -3.0, 0.5]), st.floats(least, 0.0))
    scores = data.draw(st.lists(score, min_size=n, max_size=n))
    docs = data.draw(documents(size, 20))
    tokens, _ = named(table)
    encoder = PathEncoder(Vocabulary.from_merges(size, pairs), np.array(scores))
    for objective, single in (("sentencepiece", True), ("tokenizers", False)):
        want = [list(encode_paths.encode_forward(d, tokens, dict(enumerate(scores)), single)) for d in docs]
        assert encoder.encode(Ragged.from_lists(docs), objective, 1).to_lists() == want
    want = [list(encode_paths.longest_first(doc, tokens)) for doc in docs]
    assert encoder.encode(Ragged.from_lists(docs), "longest", 2).to_lists() == want


@each("n", [4095, 4096, 4097])
def test_more_of_one_token_than_the_table_of_logarithms_has(n: int) -> None:
    """The table has 4096 logarithms; a token that occurs more often takes the logarithm itself."""
    encoder = PathEncoder(Vocabulary.from_merges(2, [(0, 1)], [0.5]))
    _, weight = n_best_paths(encoder, Ragged.from_lists([[0, 1] * n]), 1, 1, False, 1)[0]
    assert encoder.encode(Ragged.from_lists([[0, 1] * n]), "tfidf", 1).total == n
    assert weight[0] * 2**24 == round(0.5 * 2**24 * (1 + math.log(n)))
