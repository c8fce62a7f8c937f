"""Sums over all segmentations against trying every one: expected counts, boundaries, samples by chi-squared."""

import math
from collections import Counter

import numpy as np
from hypothesis import given, strategies as st
from pair_tables import Table, documents, named, tables
from reference import encode_paths
from tables import each

from ubpe_numba import Ragged
from ubpe_numba.coding.kernels.lattice import LEAST, MOST
from ubpe_numba.coding.lattice import Lattice
from ubpe_numba.coding.path_encoder import PathEncoder
from ubpe_numba.vocabulary.vocabulary import Vocabulary

#: From the least to the most that a token may weigh.
WEIGHTS = st.one_of(
    st.floats(1e-6, 1.0),
    st.sampled_from([LEAST, 2.0**-60, 2.0**-30, 0.5, 1.0, 2.0**30, MOST]),
    st.floats(LEAST, MOST),
)
N_SAMPLES = 100_000


@given(st.data(), tables(), st.sampled_from([1, 3, 1 << 18]))
def test_expectations_and_boundaries_equal_those_of_all_segmentations(
    data: st.DataObject, table: Table, block: int
) -> None:
    """In one block and in many, with weights at both ends of what is possible."""
    size, pairs, _ = table
    n = size + len(pairs)
    weights = data.draw(st.lists(WEIGHTS, min_size=n, max_size=n))
    docs = data.draw(documents(size, 9))
    copies = data.draw(st.lists(st.integers(0, 1000), min_size=len(docs), max_size=len(docs)))
    tokens, _ = named(table)
    lattice = Lattice(PathEncoder(Vocabulary.from_merges(size, pairs)), np.array(weights))
    lattice.block = max(block, 1)  # shorter than the longest token, too
    want, logs = np.zeros(n), 0.0
    for doc, k in zip(docs, copies, strict=True):
        for token, count in encode_paths.expected_counts(doc, tokens, weights).items():
            want[token] += float(k * count)
        logs += k * _log(encode_paths.weight_of_all(doc, tokens, weights))
    counts, log_likelihood = lattice.expected_counts(Ragged.from_lists(docs), np.array(copies, np.int64), 1)
    assert np.abs(counts - want).max(initial=0) <= 1e-7 and math.isclose(
        log_likelihood, logs, rel_tol=1e-9, abs_tol=1e-7
    )
    for doc in docs:
        found = lattice.boundaries(np.array(doc, np.int32))
        wanted = [float(x) for x in encode_paths.boundaries(doc, tokens, weights)]
        assert np.abs(found - wanted).max(initial=0) <= 1e-12
        assert not doc or (found[0] == 1.0 and found.max() == 1.0)  # to the last bit


def _log(value: object) -> float:
    numerator, denominator = value.as_integer_ratio()  # type: ignore[attr-defined]
    return math.log(numerator) - math.log(denominator)


@each("block", [3, 1 << 18])
def test_samples_have_the_probabilities_of_their_segmentations(block: int) -> None:
    """Chi-squared of 100,000 draws; the same draws for any number of threads, and for documents in other batches."""
    pairs = [(0, 1), (1, 0), (2, 0), (0, 0), (4, 1)]
    tokens, _ = named((2, pairs, []))
    weights = [0.3, 0.2, 0.15, 0.05, 0.1, 0.2, 0.01]
    doc = [0, 1, 0, 0, 1, 0]
    shares = encode_paths.shares(doc, tokens, weights)
    lattice = Lattice(PathEncoder(Vocabulary.from_merges(2, pairs)), np.array(weights))
    lattice.block = block
    documents = Ragged.from_lists([doc] * N_SAMPLES)
    found = lattice.sample(documents, 7, 1)
    drawn = Counter(map(tuple, found.to_lists()))
    assert set(drawn) <= set(shares) and len(shares) > 8
    squared = sum(
        (drawn[path] - N_SAMPLES * float(p)) ** 2 / (N_SAMPLES * float(p)) for path, p in shares.items()
    )
    freedom = len(shares) - 1
    assert squared < freedom + 5 * math.sqrt(2 * freedom)  # one in a million, and the seed is fixed
    assert lattice.sample(documents, 7, 3) == found and lattice.sample(documents[:1000], 7, 1) == found[:1000]
    assert lattice.sample(documents, 8, 1) != found


def test_long_documents_do_not_overflow_and_blocks_change_no_bit() -> None:
    rng = np.random.default_rng(0)
    vocabulary = Vocabulary.from_merges(4, [(0, 1), (2, 3), (4, 5), (6, 6), (0, 0), (8, 8), (9, 9)])
    values = rng.integers(0, 4, 50_000).astype(np.int32)
    values[10_000:20_000] = 0
    docs = Ragged(values, np.array([0, 5, 5, 49_000, 50_000]))
    for low in (-3.0, -40.0):
        weights = np.exp(rng.uniform(low, 0.0, len(vocabulary)))
        encoder = PathEncoder(vocabulary)
        whole, cut = Lattice(encoder, weights), Lattice(encoder, weights, 64)
        counts, logs = whole.expected_counts(docs, None, 1)
        again, logs_again = cut.expected_counts(docs, None, 2)
        assert np.array_equal(counts, again) and logs == logs_again and math.isfinite(logs)
        assert abs(float((counts * np.diff(vocabulary.offsets)).sum()) - values.size) < 1e-3
        assert whole.sample(docs, 3, 1) == cut.sample(docs, 3, 2)
        assert np.array_equal(whole.boundaries(docs[2]), cut.boundaries(docs[2]))


def test_documents_of_many_copies_are_as_exact() -> None:
    """Rounding comes after the copies are counted: else what has a probability below 1/2 would be 0 in 2**50 copies."""
    rng = np.random.default_rng(2)
    vocabulary = Vocabulary.from_merges(3, [(0, 1), (3, 2), (1, 1), (5, 5)])
    ends = PathEncoder(vocabulary, weights=np.array([33.0, -33, 0, 1, 2, 3, 4]))
    # up to e**66
    assert Lattice.of(ends, 2.0).weights.tolist() == [math.exp(2 * weight) for weight in ends.added.tolist()]
    docs = Ragged.from_lists(list(rng.integers(0, 3, (20, 40))))
    lattice = Lattice(PathEncoder(vocabulary), rng.random(len(vocabulary)) ** 4)
    once, log = lattice.expected_counts(docs, None, 1)
    often, logs = lattice.expected_counts(docs, np.full(len(docs), 2**50), 1)
    assert np.abs(often / 2.0**50 - once).max() < 1e-9 and math.isclose(logs, log * 2.0**50)


def test_no_document_of_a_seed_repeats_the_draws_of_another_seed() -> None:
    """Many samples of one document, in batches of many seeds, are as many as they look."""
    vocabulary = Vocabulary.from_merges(2, [(0, 1), (1, 0), (2, 0), (0, 0)])
    doc = np.random.default_rng(4).integers(0, 2, 200).tolist()
    lattice = Lattice(PathEncoder(vocabulary), np.ones(len(vocabulary)))
    docs = Ragged.from_lists([doc] * 16)
    drawn = {
        tuple(ids)
        for seed in [*range(16), 2**63, 2**64 - 1]
        for ids in lattice.sample(docs, seed, 1).to_lists()
    }
    assert len(drawn) == 18 * 16
