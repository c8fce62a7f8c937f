"""Tables out of order of creation: reordered, they give the ids that one merge at a time gives, or they are not reordered."""

from __future__ import annotations

import random

import numpy as np

from ubpe_numba.formats.merge_order import creation_order


def one_at_a_time(pairs: list[tuple[int, int]], n_symbols: int, text: list[int]) -> list[int]:
    """The pair of the lowest rank, the leftmost of several, again and again."""
    rank, ids = {pair: i for i, pair in enumerate(pairs)}, list(text)
    while found := [(rank[pair], i) for i, pair in enumerate(zip(ids, ids[1:], strict=False)) if pair in rank]:
        lowest, i = min(found)
        ids[i : i + 2] = [n_symbols + lowest]
    return ids


def some_table(rng: random.Random, n_symbols: int) -> list[tuple[int, int]]:
    """Pairs in any order, each of which makes another sequence."""
    texts = [(i,) for i in range(n_symbols)]
    pairs: list[tuple[int, int]] = []
    for _ in range(rng.randrange(2, 9)):
        a, b = rng.randrange(len(texts)), rng.randrange(len(texts))
        if texts[a] + texts[b] not in texts and len(texts[a]) + len(texts[b]) < 10:
            pairs.append((a, b))
            texts.append(texts[a] + texts[b])
    order = rng.sample(range(len(pairs)), len(pairs))
    number = {n_symbols + old: n_symbols + new for new, old in enumerate(order)}
    return [(number.get(pairs[i][0], pairs[i][0]), number.get(pairs[i][1], pairs[i][1])) for i in order]


def test_random_tables() -> None:
    rng = random.Random(5)
    kept = changed = 0
    for _ in range(6000):
        n_symbols = rng.choice([1, 2, 3])
        pairs = some_table(rng, n_symbols)
        if not pairs:
            continue
        found = creation_order(np.array(pairs), n_symbols)
        if found is None:
            kept += 1
            continue
        order = found.tolist()
        assert sorted(order) == list(range(len(pairs)))
        changed += order != sorted(order)
        number = {n_symbols + old: n_symbols + new for new, old in enumerate(order)}
        again = [(number.get(pairs[i][0], pairs[i][0]), number.get(pairs[i][1], pairs[i][1])) for i in order]
        assert all(max(pair) < n_symbols + i for i, pair in enumerate(again))
        old = {new: token for token, new in number.items()}
        for _ in range(6):
            text = rng.choices(range(n_symbols), k=rng.randrange(24))
            expected = one_at_a_time(pairs, n_symbols, text)
            assert [old.get(t, t) for t in one_at_a_time(again, n_symbols, text)] == expected, (pairs, text)
    assert kept > 100 and changed > 500


def test_by_hand() -> None:
    assert creation_order(np.array([[0, 1], [2, 3]]), 2).tolist() == [0, 1]  # type: ignore[union-attr]
    assert creation_order(np.array([[3, 1], [0, 1]]), 2).tolist() == [1, 0]  # type: ignore[union-attr]
    assert creation_order(np.array([[3, 3], [0, 1]]), 2) is None  # abab: ab ab, or ab that waits
    assert creation_order(np.array([[5, 2], [2, 5], [0, 1]]), 3) is None  # ab c ab: which one gets the c?
