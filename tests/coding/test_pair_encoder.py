"""Encoding by rank, with dropout and one merge at a time against the plain references; more asks `tests/test_fuzzers.py`."""

import random

import byte_vocabularies
import numpy as np
import pytest
from hypothesis import given, strategies as st
from pair_tables import Table, documents, in_any_order, tables
from reference import decode as reference_decode, encode_pairs
from tables import refuses

from ubpe_numba import BPE, FitRules, Ragged
from ubpe_numba.coding.kernels import linear_bpe, merge_by_pass as pair_encode
from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.coding.word_encoder import WordEncoder
from ubpe_numba.vocabulary.vocabulary import Vocabulary


@given(st.data(), tables())
def test_linked_lists_and_one_merge_at_a_time_equal_the_reference(data: st.DataObject, table: Table) -> None:
    """By rank where a linear search would do too, and by the rule of one merge at a time, in any order of creation."""
    size, pairs, _ = table
    docs = data.draw(documents(size, 80))
    ragged = Ragged.from_lists(docs)
    encoder = PairEncoder(Vocabulary.from_merges(size, pairs), batch=False)
    assert encoder.linear
    encoder.linear = False
    encoder.merges = np.full_like(encoder.tables[0], -1), *encoder.tables[1:4]
    encoder.conflicts = np.empty(len(pairs), np.int32)
    pair_encode.build_tables(
        encoder.merges, np.full(size + len(pairs), len(pairs), np.int32), encoder.conflicts
    )
    ranks = {p: (i, size + i) for i, p in enumerate(pairs)}
    assert encoder.encode(ragged, 1).to_lists() == [encode_pairs.encode_rank(d, ranks) for d in docs]
    shuffled = data.draw(in_any_order(table))
    vocabulary = Vocabulary.from_merges(size, shuffled)
    assert [tuple(vocabulary.sequence(t)) for t in range(len(vocabulary))] == reference_decode.expand(
        shuffled, size
    )
    found = PairEncoder(vocabulary, batch=False, one_by_one=True).encode(ragged, 2)
    assert found.to_lists() == [encode_pairs.one_by_one(d, shuffled, size) for d in docs]


@given(st.integers(0, 2**32 - 1))
def test_long_runs_equal_the_reference(seed: int) -> None:
    """Runs of one symbol, longer than `LONG_RUN`, in which the search backtracks, of several symbols and beside one another."""
    rng = np.random.default_rng(seed)

    def document() -> np.ndarray:
        parts = [
            np.full(rng.integers(1, 3 * linear_bpe.LONG_RUN), rng.integers(0, 2))
            for _ in range(rng.integers(1, 6))
        ]
        return np.concatenate([*parts, rng.integers(0, 3, rng.integers(0, 4)), *parts[: rng.integers(0, 3)]])

    learned = [document() for _ in range(3)]
    pairs = (
        BPE(int(rng.integers(4, 60)), alphabet=3, n_threads=1)
        .fit(learned, progress=False)
        ._model.vocabulary.merges
    )
    assert pairs is not None
    docs = [*learned, document(), np.zeros(0, np.int64), document()]
    ranks = {(a, b): (i, 3 + i) for i, (a, b) in enumerate(pairs.tolist())}
    encoder = PairEncoder(Vocabulary.from_merges(3, pairs), batch=False)
    assert encoder.encode(Ragged.from_lists(docs), 1).to_lists() == [
        encode_pairs.encode_rank(d.tolist(), ranks) for d in docs
    ]


def test_runs_are_noted_as_far_as_there_is_room() -> None:
    """What is noted of runs, with room for fewer symbols than they have, against the linked lists of pairs."""
    rng = np.random.default_rng(0)
    parts = [
        part
        for _ in range(40)
        for part in (np.zeros(rng.integers(1, 800), int), rng.integers(0, 4, rng.integers(1, 9)))
    ]
    learned, text = np.concatenate(parts[:40]), np.concatenate(parts[40:])
    encoder = PairEncoder(
        BPE(300, alphabet=4, n_threads=1).fit([learned], progress=False)._model.vocabulary, batch=False
    )
    documents = Ragged.from_lists([text, text[3:]])
    lists = PairEncoder(encoder.vocabulary, batch=True)
    lists.batch = False
    wanted = lists.encode(documents, 1)
    for room in (1, 2, 63, 64, 500, text.size):
        out, out_offsets = np.empty(documents.values.size, np.int32), np.empty(3, np.int64)
        dead, run = np.empty((text.size >> 3) + 1, np.uint8), np.empty(linear_bpe.RUN_HEAD + room, np.int64)
        n = linear_bpe.encode_rank(
            documents.values, documents._offsets, encoder.tables, dead, run, out, out_offsets
        )
        np.testing.assert_array_equal(out[:n], wanted.values)
        np.testing.assert_array_equal(out_offsets, wanted.offsets)
        assert 0 <= run[0] < run[1] <= text.size  # some run was noted, and lies within its document


@given(st.data(), tables(), st.booleans())
def test_dropout_equals_the_reference(data: st.DataObject, table: Table, one_by_one: bool) -> None:
    """Tables in order of creation and in any order; dropout 0 is `encode`, dropout 1 merges nothing."""
    size, pairs, _ = table
    docs = data.draw(documents(size, 60))
    docs.append([symbol for doc in docs for symbol in doc])  # one that is not short
    seed = data.draw(st.integers(0, 2**64 - 1))
    ragged = Ragged.from_lists(docs)
    for merges in (pairs, data.draw(in_any_order(table))):
        ranks = {p: (i, size + i) for i, p in enumerate(merges)}
        encoder = PairEncoder(Vocabulary.from_merges(size, merges), batch=False, one_by_one=one_by_one)
        for p in (0.0, 0.1, 0.5, 0.9, 1.0):
            want = [
                encode_pairs.encode_dropout(d, ranks, p, seed, i, encoder.one_by_one)
                for i, d in enumerate(docs)
            ]
            assert encoder.encode_dropout(ragged, p, seed, 1).to_lists() == want
        assert encoder.encode_dropout(ragged, 1e-12, seed, 2) == encoder.encode(ragged, 1)
        assert encoder.encode_dropout(ragged, 1.0, seed, 1) == ragged


def test_bad_probabilities_and_seeds_are_refused() -> None:
    tok = BPE.from_merges([[0, 1]], alphabet=2)
    for bad, error in (
        (-0.1, ValueError),
        (1.1, ValueError),
        (float("nan"), ValueError),
        ("a", TypeError),
        (True, TypeError),
    ):
        refuses(error, "sample: expected", tok.encode, [0, 1], sample=bad)
    for seed, error in ((-1, ValueError), (2**64, ValueError), (0.5, TypeError)):
        refuses(error, "seed: expected", tok.encode_batch, [[0, 1]], sample=0.5, seed=seed)
    with pytest.raises(ValueError, match="sample: the batch rule of the UBPE articles"):
        BPE(5, alphabet=2, rules=FitRules(encode="batch")).fit([[0, 1, 0, 1]]).encode([0, 1], sample=0.5)


def test_whole_words_as_by_a_dictionary() -> None:
    unstable = 0
    for rng in map(random.Random, range(80)):
        vocabulary = Vocabulary.from_merges(256, byte_vocabularies.vocabulary(rng, list(range(256))))
        pairs = PairEncoder(vocabulary, batch=False)
        tokens = {bytes(vocabulary.sequence(t).tolist()): t for t in range(len(vocabulary))}
        if len(tokens) < len(vocabulary):  # two tokens of the same bytes
            continue
        alone = pairs.encode(Ragged.from_lists([list(word) for word in tokens]), None).to_lists()
        unstable += sum(len(ids) > 1 for ids in alone)
        words = [*byte_vocabularies.segments(rng), *tokens, *tokens]
        rng.shuffle(words)
        text, segments = np.frombuffer(b"".join(words), np.uint8), np.cumsum([0, *map(len, words)])
        found = WordEncoder(pairs, whole_words=True).encode(text, np.array([0, text.size]), segments)
        plain = pairs.encode(Ragged.from_lists([list(word) for word in words]), None).to_lists()
        expected = [
            i
            for word, ids in zip(words, plain, strict=True)
            for i in ([tokens[word]] if word in tokens else ids)
        ]
        assert found.to_lists() == [expected]
    assert unstable > 5
