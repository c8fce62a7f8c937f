"""Masks of followers against the plain encoder, over all pairs of tokens, and sequences of any length along them."""

import itertools
import tracemalloc
from typing import Any

import numpy as np
from hypothesis import given, strategies as st
from pair_tables import Table, in_any_order, tables
from reference import decode as reference_decode, encode_pairs
from tables import each, refuses

from ubpe_numba import BPE, FitRules, Preprocessing, UBPEClassic
from ubpe_numba.cli.demo import load_ecg
from ubpe_numba.coding.kernels.followers import lay_out
from ubpe_numba.errors import NotFittedError, UnknownTokenError


def walk(rng: np.random.Generator, tok: Any, n: int, along: bool = True) -> list[int]:
    """Up to n random ids, each allowed after the one before it, or any at all."""
    ids: list[int] = []
    while len(ids) < n:
        mask = tok.followers() if not (ids and along) else tok.followers(ids[-1])
        if not mask.any():
            break
        ids.append(int(rng.choice(np.flatnonzero(mask))))
    return ids


def comes_back(tok: Any, ids: list[int]) -> bool:
    doc = tok.decode(ids, as_bytes=True) if tok.vocabulary.arena.dtype == np.uint8 else tok.decode(ids)
    return tok.encode(doc, allowed_special="all").tolist() == ids  # type: ignore[no-any-return]


@given(tables(), st.integers(0, 2**32 - 1))
def test_pairs_equal_the_reference_and_decide_sequences_of_any_length(table: Table, seed: int) -> None:
    """A sequence is an encoding if and only if its neighbors fit: all of three ids of the last few tokens, and random ones."""
    size, pairs, _ = table
    tok, symbols = BPE.from_merges(pairs, alphabet=size), reference_decode.expand(pairs, size)
    merges, n = {p: (i, size + i) for i, p in enumerate(pairs)}, len(symbols)
    mask, first = tok.followers(np.arange(n)), tok.followers()
    assert mask.tolist() == encode_pairs.fit_together(symbols, merges)
    assert first.tolist() == [encode_pairs.encode_rank([*t], merges) == [i] for i, t in enumerate(symbols)]
    assert np.array_equal(mask[[[0, n - 1]]], tok.followers([[0, n - 1]]))
    rng = np.random.default_rng(seed)
    several: list[Any] = [*itertools.product(range(max(0, n - 5), n), repeat=3)]
    several += [walk(rng, tok, 12) for _ in range(5)] + [rng.integers(0, n, 5).tolist() for _ in range(5)]
    for ids in several:
        fits = bool(first[ids[0]]) and all(mask[s, t] for s, t in itertools.pairwise(ids))
        assert fits == (encode_pairs.encode_rank([x for t in ids for x in symbols[t]], merges) == [*ids])


@given(tables(), st.data())
def test_pairs_decide_in_any_order_of_ranks_too_which_the_method_does_not_take(
    table: Table, data: st.DataObject
) -> None:
    """The theorem is wider than the kernel: parents may come after their children. Merges by the batch rule are not local."""
    shuffled = data.draw(in_any_order(table))
    size, symbols = table[0], reference_decode.expand(shuffled, table[0])
    merges = {p: (i, size + i) for i, p in enumerate(shuffled)}
    ids = data.draw(st.lists(st.integers(0, len(symbols) - 1), min_size=3, max_size=5))
    mask = encode_pairs.fit_together([symbols[t] for t in ids], merges)
    alone = [
        encode_pairs.encode_rank([*symbols[s], *symbols[t]], merges) == [s, t]
        for s, t in itertools.pairwise(ids)
    ]
    assert len(mask) == len(ids)
    assert all(alone) == (encode_pairs.encode_rank([x for t in ids for x in symbols[t]], merges) == ids)


@each(
    "tok",
    [
        BPE(
            40, alphabet="abc", preprocessing=Preprocessing(special_tokens=["<s>", "<t>"], special_first=True)
        ),
        BPE(40, alphabet="abc", preprocessing=Preprocessing(special_tokens={"<s>": 60})),
        BPE(40, alphabet="abc", preprocessing=Preprocessing(break_tokens=["c"])),
        BPE(40, alphabet="abc", preprocessing=Preprocessing(stop_tokens=["c"])),
        BPE(40, alphabet="abc", preprocessing=Preprocessing(runs="a")),
        BPE(40, alphabet={"a": 0, "A": 0, "b": 1, "c": 2}),
        BPE.for_text(300, pretokenizer=None, special_tokens=["<|end|>"]),
        UBPEClassic(40, alphabet="abc", rules=FitRules(max_token_length=4)),
    ],
)
def test_sequences_along_the_mask_come_back(tok: Any) -> None:
    """With special tokens, ids that are not those of the vocabulary, break tokens, runs, and text as bytes."""
    rng = np.random.default_rng(5)
    tok.fit(["".join(rng.choice([*"aaabc"], 400)) for _ in range(3)], progress=False)
    walks = [walk(rng, tok, 30) for _ in range(30)]
    assert all(comes_back(tok, ids) for ids in walks) and max(map(len, walks)) > 20  # some end at a dead end
    for word, special in tok.vocabulary.special.items():
        assert tok.followers()[special] and any(special in ids for ids in walks), word
        assert np.array_equal(tok.followers(special), tok.followers())
        assert tok.followers(sorted(set(np.concatenate(walks))))[:, special].all()
    if tok.vocab_size == 61:  # ids that no token has
        assert not tok.followers()[40:60].any()
        refuses(UnknownTokenError, "50", tok.followers, [0, 50])


def test_300_of_300_walks_over_an_ecg_come_back_and_few_do_without_the_mask() -> None:
    samples, _ = load_ecg()
    levels = (samples[:60_000] - samples.min()) // 12
    tok, rng = BPE(512).fit(levels.reshape(60, 1000), progress=False), np.random.default_rng(0)
    assert sum(comes_back(tok, walk(rng, tok, 40)) for _ in range(300)) == 300
    assert sum(comes_back(tok, walk(rng, tok, 40, along=False)) for _ in range(300)) < 10
    ids = tok.encode(levels[:20_000])
    assert tok.followers(ids[:-1])[np.arange(ids.size - 1), ids[1:]].all()


def test_pairs_do_not_decide_a_best_path() -> None:
    """The shortest paths a bcxef and bcxef d do not make a bcxef d one, which is abc xefd."""
    # cx, bcx, ef, bcxef, ab, abc, xe, fd, xefd
    pairs = [[2, 3], [1, 7], [4, 5], [8, 9], [0, 1], [11, 2], [3, 4], [5, 6], [13, 14]]
    tok = BPE.from_merges(pairs, alphabet="abcxefd").with_objective("shortest")
    assert tok.encode("abcxef").tolist() == [0, 10] and tok.encode("bcxefd").tolist() == [10, 6]
    assert tok.encode("abcxefd").tolist() == [12, 15]
    refuses(ValueError, r"encoded by rank, got 'shortest'; tok\.with_objective\('rank'\)", tok.followers, 0)
    assert tok.with_objective("rank").followers(0).any()


@each(
    "tok, docs",
    [
        (BPE.for_text(260), ["ab ab"]),
        (BPE(9, alphabet="abAB", preprocessing=Preprocessing(normalizer="Lowercase")), ["abab"]),
        (BPE(9, alphabet="ab", preprocessing=Preprocessing(known_words=["ba"])), ["abab"]),
        (BPE(9, alphabet="ab", preprocessing=Preprocessing(mirror={"a": "b"})), ["abab"]),
        (BPE(9, alphabet="ab", rules=FitRules(order="idf", min_count=1)), ["aabbab", "abba"]),
    ],
)
def test_tokenizers_whose_pairs_do_not_decide_are_refused(tok: Any, docs: list[str]) -> None:
    refuses(NotFittedError, "", tok.followers)
    tok.fit(docs, progress=False)
    refuses(
        ValueError,
        "followers: expected whole documents, encoded by rank, got documents that are cut",
        tok.followers,
        0,
    )


def test_frames_and_the_batch_rule_are_refused_and_ids_are_checked() -> None:
    framed = BPE(6, alphabet=4).fit([[1, 2, 1, 2, 3, 1, 1, 2, 1, 2]], frame=2, progress=False)
    refuses(ValueError, "mirrored or framed", framed.followers)
    batch = BPE.from_merges([[0, 1]], alphabet="ab", rules=FitRules(encode="batch"))
    refuses(ValueError, "got 'batch'; tok.with_objective", batch.followers)
    tok = BPE.from_merges([[0, 1]], alphabet="ab")
    refuses(UnknownTokenError, "3", tok.followers, [0, 3])
    refuses(UnknownTokenError, "-1", tok.followers, np.array([[0, -1]], np.int32))
    refuses(TypeError, "ids: ", tok.followers, [0.5])
    assert tok.followers([]).shape == (0, 3) and tok.followers(2).dtype == bool
    mask = tok.followers()
    mask[:] = False
    assert tok.followers().all()


def test_rows_of_a_large_vocabulary_need_little_memory() -> None:
    rng = np.random.default_rng(0)
    pairs = {
        (int(a), int(b)): None
        for a, b in zip(rng.integers(0, 200, 20_000), rng.integers(0, 200, 20_000), strict=True)
    }
    tok = BPE.from_merges([*pairs], alphabet=200)
    tok.followers(0)
    tracemalloc.start()
    try:
        rows = tok.followers(np.arange(5000, 5008))
        assert tracemalloc.get_traced_memory()[1] < 2 * rows.nbytes + 9 * tok.vocab_size
    finally:
        tracemalloc.stop()


def test_tokens_are_laid_out_as_drawn() -> None:
    left, right = np.array([0, 1, 0], np.int32), np.array([1, 0, 0], np.int32)
    starts, sizes, reach = np.empty(5, np.int64), np.empty(5, np.int64), np.empty(3, np.int64)
    lay_out(left, right, starts, sizes, reach)
    assert [starts.tolist(), sizes.tolist(), reach.tolist()] == [[0, 3, 2, 4, 1], [3, 2, 1, 1, 1], [2, 2, 2]]
