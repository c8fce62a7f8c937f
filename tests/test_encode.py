"""Every encoder against the plain reference, and decoding back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import decode as reference_decode
from reference import encode_pairs, encode_paths

from ubpe_numba import BPE, UBPE, FitRules, Ragged, UBPEClassic, UnknownTokenError, Vocabulary
from ubpe_numba.coding.kernels import by_pairs as pair_encode
from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.coding.path_encoder import PathEncoder
from ubpe_numba.coding.path_search import Options, PathSearch

Table = tuple[int, list[tuple[int, int]], list[float]]


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Alphabet size, pairs without repetition, parents before children and tokens of at most 64 symbols; weights."""
    size = draw(st.integers(1, 4))
    pairs: list[tuple[int, int]] = []
    lengths = [1] * size
    for _ in range(draw(st.integers(1, 25))):
        a, b = draw(st.tuples(st.integers(0, len(lengths) - 1), st.integers(0, len(lengths) - 1)))
        if (a, b) not in pairs and lengths[a] + lengths[b] <= 64:
            pairs.append((a, b))
            lengths.append(lengths[a] + lengths[b])
    weight = st.sampled_from([0.0, 0.25, 0.5, 1.0, 1.7, 3.0])
    return size, pairs, draw(st.lists(weight, min_size=len(pairs), max_size=len(pairs)))


@st.composite
def documents(draw: st.DrawFn, size: int, length: int) -> list[list[int]]:
    symbol = st.integers(0, size - 1)
    period = st.lists(symbol, min_size=1, max_size=4)
    periodic = st.builds(lambda p, n: (p * n)[:n], period, st.integers(0, length))
    return draw(st.lists(st.one_of(st.lists(symbol, max_size=length), periodic), max_size=4))


@given(st.data(), tables(), st.randoms(use_true_random=False))
@settings(max_examples=250)
def test_pairs(data: st.DataObject, table: Table, rng: object) -> None:
    """By rank (linear search, and linked list) and by batch, on tables in order of creation and shuffled ones."""
    size, pairs, _ = table
    docs = data.draw(documents(size, 80))
    ragged = Ragged.from_lists(docs)
    ranks = {p: (i, size + i) for i, p in enumerate(pairs)}
    by_rank = [encode_pairs.encode_rank(d, ranks) for d in docs]
    encoder = PairEncoder(Vocabulary.from_merges(size, pairs), batch=False)
    assert encoder.linear
    assert encoder.encode(ragged, 1).to_lists() == by_rank
    encoder.linear = False
    encoder.conflicts = np.empty(len(pairs), np.int32)
    pair_encode.next_conflicts(encoder.left, encoder.right, size + len(pairs), encoder.conflicts)
    assert encoder.encode(ragged, 1).to_lists() == by_rank
    batched = PairEncoder(Vocabulary.from_merges(size, pairs), batch=True)
    assert batched.encode(ragged, 1).to_lists() == [encode_pairs.encode_batch(d, ranks) for d in docs]

    order = list(range(len(pairs)))
    rng.shuffle(order)  # type: ignore[attr-defined]
    new = {size + old: size + i for i, old in enumerate(order)}
    shuffled = [(new.get(pairs[o][0], pairs[o][0]), new.get(pairs[o][1], pairs[o][1])) for o in order]
    ranks = {p: (i, size + i) for i, p in enumerate(shuffled)}
    vocabulary = Vocabulary.from_merges(size, shuffled)
    assert [tuple(vocabulary.sequence(t)) for t in range(len(vocabulary))] == reference_decode.expand(shuffled, size)
    for batch, plain in ((False, encode_pairs.encode_rank), (True, encode_pairs.encode_batch)):
        assert PairEncoder(vocabulary, batch).encode(ragged, 1).to_lists() == [plain(d, ranks) for d in docs]


@given(st.data(), tables())
@settings(max_examples=250)
def test_paths(data: st.DataObject, table: Table) -> None:
    """tf-idf, fewest tokens, and n best."""
    size, pairs, weights = table
    docs = data.draw(documents(size, 40))
    flat = reference_decode.expand(pairs, size)
    tokens = {s: i for i, s in enumerate(flat)}
    idf = {size + i: w for i, w in enumerate(weights)}
    encoder = PathEncoder(Vocabulary.from_merges(size, pairs, weights))
    ragged = Ragged.from_lists(docs)
    best = [list(encode_paths.encode_top(d, tokens, idf, 1)[0][0]) for d in docs]
    assert encoder.encode(ragged, "tfidf", 1).to_lists() == best
    shortest = [list(encode_paths.encode_shortest(d, tokens, idf)) for d in docs]
    assert encoder.encode(ragged, "shortest", 1).to_lists() == shortest
    for d in docs[:1]:
        for n in (2, 3, 7):
            want = encode_paths.encode_top(d, tokens, idf, n)
            found, weight = PathSearch(encoder).n_best(Ragged.from_lists([d]), Options(n, n), 1)[0]
            assert found.to_lists() == [list(path) for path, _ in want]
            assert (weight * 2**24).tolist() == [w for _, w in want]


@given(st.data())
@settings(max_examples=30)
def test_beam_against_brute_force(data: st.DataObject) -> None:
    """The best of the beam never beats the true best, and is it for a single kind of learned token."""
    docs = data.draw(st.lists(st.lists(st.integers(0, 1), max_size=9), min_size=2, max_size=4))
    tok = UBPE(5, 1, alphabet=2).fit([*docs, []], progress=False)
    v = tok.vocabulary
    tokens = {tuple(v.sequence(t).tolist()): t for t in range(len(v))}
    idf = dict(enumerate(v.weights.tolist()))
    for d in docs:
        best = encode_paths.path_weight(encode_paths.best_path(d, tokens, idf), idf)
        _, weights = tok.encode_nbest(d, 4)
        assert weights[0] * 2**24 <= best
        if v.n_learned == 1:
            assert weights[0] * 2**24 == best


@pytest.mark.parametrize("text", ["ab" * 5000, "a" * 10000, "aab" * 3000 + "ba" * 999], ids=["abab", "aaaa", "mixed"])
def test_long_periodic_documents(text: str) -> None:
    """What a careless search takes quadratic time or a deep recursion for; compared where the reference can follow."""
    docs = [text[:400], text[1:300], "abba" * 20, "b" * 33, ""]
    for cls in (BPE, UBPEClassic, UBPE):
        tok = cls(60).fit(docs, progress=False)
        assert tok.decode(tok.encode(text)) == text
    v = UBPE(60, 5).fit(docs, progress=False).vocabulary
    tokens = {tuple(v.sequence(t).tolist()): t for t in range(len(v))}
    short = [ord(c) - ord("a") for c in text[:700]]
    want = encode_paths.encode_top(short, tokens, dict(enumerate(v.weights.tolist())), 1)[0][0]
    assert PathEncoder(v).encode(Ragged.from_lists([short]), "tfidf", 1).to_lists() == [list(want)]


@pytest.mark.parametrize("n_threads", [1, 2, 3, 8])
def test_threads_change_nothing(n_threads: int) -> None:
    """Batches past the size where threads begin."""
    rng = np.random.default_rng(5)
    docs = np.split(rng.integers(0, 30, 400_000).astype(np.int32), np.sort(rng.integers(0, 400_000, 700)))
    for tok in (BPE(200), UBPE(200, 20), UBPEClassic(200, 20, rules=FitRules(encode="batch"))):
        tok.fit(docs[:50], progress=False).set_params(n_threads=n_threads)
        batch = tok.encode_batch(docs)
        assert batch == Ragged.from_lists([tok.encode(d) for d in docs])
        assert tok.decode_batch(batch) == Ragged.from_lists(docs)


@given(tables(), st.data())
def test_decode(table: Table, data: st.DataObject) -> None:
    size, pairs, _ = table
    flat = reference_decode.expand(pairs, size)
    tok = BPE.from_merges(pairs, alphabet=size)
    ids = data.draw(st.lists(st.lists(st.integers(0, len(flat) - 1), max_size=20), max_size=5))
    assert tok.decode_batch(ids).to_lists() == [reference_decode.decode(d, flat) for d in ids]
    assert [tok.decode(d).tolist() for d in ids] == tok.decode_batch(ids).to_lists()
    bad = [*ids, [0, len(flat)]]
    with pytest.raises(UnknownTokenError, match=f"document {len(ids)}, position 1: token id {len(flat)} is outside"):
        tok.decode_batch(bad)


def test_decode_when_the_size_was_guessed_too_small() -> None:
    """The sample is blind to the long tokens; documents, empty ones among them, end where they should all the same."""
    tok = BPE.from_merges([[0, 0], [2, 2], [3, 3], [4, 4], [5, 5], [6, 6], [7, 7]], alphabet=2)
    ids = np.full(20_000, 8, np.int32)
    ids[:: ids.size // 1024] = 1
    offsets = np.array([0, 0, 5, 9_000, 9_000, 9_000, 9_001, 20_000, 20_000])
    lengths = np.where(ids == 8, 128, 1)
    got = tok.decode_batch(ids, offsets)
    assert got.offsets.tolist() == np.concatenate([[0], np.cumsum(lengths)])[offsets].tolist()
    assert np.array_equal(got.values, np.repeat(np.where(ids == 8, 0, 1), lengths))
