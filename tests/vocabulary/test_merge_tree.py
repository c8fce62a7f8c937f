"""Trees of merges against their definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.merge_tree import merge_tree

from ubpe_numba.vocabulary.vocabulary import MergeTree, Vocabulary


@st.composite
def vocabularies(draw: st.DrawFn) -> Vocabulary:
    pairs: list[tuple[int, int]] = []
    for _ in range(draw(st.integers(0, 8))):
        part = st.integers(0, 2 + len(pairs))
        pairs.append(draw(st.tuples(part, part).filter(lambda pair: pair not in pairs)))
    return Vocabulary.from_merges(3, pairs)


def nested(tree: MergeTree, node: int = 0) -> tuple[Any, ...]:
    below = np.flatnonzero(tree.above == node).tolist()
    assert all(tree.depths[i] == tree.depths[node] + 1 for i in below)
    return (int(tree.tokens[node]), *(nested(tree, i) for i in below))


@given(vocabularies(), st.data())
def test_equal_to_the_definition(v: Vocabulary, data: st.DataObject) -> None:
    token = data.draw(st.integers(0, len(v) - 1))
    tree = v.tree(token)
    merges = [] if v.merges is None else v.merges.tolist()
    assert nested(tree) == merge_tree(merges, 3, token)
    assert tree.above[0] == -1 and (tree.above[1:] < np.arange(1, tree.tokens.size)).all()
    leaves = tree.tokens < 3
    assert tree.tokens[leaves].tolist() == v.sequence(token).tolist()  # symbols from left to right
    assert tree.starts[leaves].tolist() == list(range(v.sequence(token).size))
    for t, start in zip(tree.tokens.tolist(), tree.starts.tolist(), strict=True):
        part = v.sequence(t)
        assert v.sequence(token)[start : start + part.size].tolist() == part.tolist()
    depth = data.draw(st.integers(0, 3))
    cut = v.tree(token, depth)
    assert cut.tokens.tolist() == tree.tokens[tree.depths <= depth].tolist()
    assert v.parents(token) == (None if token < 3 else tuple(merges[token - 3]))


def test_deep_trees_do_not_recurse() -> None:
    n = 5000
    tree = Vocabulary.from_merges(1, [[i, 0] for i in range(n)], max_symbols=1 << 30).tree(n)
    assert tree.tokens.size == 2 * n + 1 and tree.depths.max() == n


def test_tokens_without_a_tree_are_refused() -> None:
    v, flat = Vocabulary.from_merges(2, [[0, 1]]), Vocabulary.from_sequences(2, [0, 1], [2])
    for call in (v.parents, v.tree):
        for token in (-1, 3):
            with pytest.raises(IndexError, match=rf"token {token}: expected 0\.\.2"):
                call(token)
    for call in (flat.parents, flat.tree):
        with pytest.raises(ValueError, match="flat sequences only"):
            call(2)
    assert flat.parents(1) is None and flat.tree(1).tokens.tolist() == [1]
    with pytest.raises(ValueError, match="depth: expected at least 0, got -1"):
        v.tree(2, -1)


@pytest.mark.parametrize("bad", [1.0, "1", None, True, np.float64(1), np.array([1]), [1]])
def test_what_is_no_integer_is_named(bad: Any) -> None:
    vocabulary = Vocabulary.from_merges(2, [[0, 1]])
    for ask in (vocabulary.parents, vocabulary.tree, vocabulary.sequence):
        with pytest.raises(TypeError, match="token: expected an integer, got"):
            ask(bad)
    if bad is not None:
        with pytest.raises(TypeError, match="depth: expected an integer, got"):
            vocabulary.tree(2, bad)
    assert vocabulary.parents(np.uint8(2)) == (0, 1) and vocabulary.tree(np.int64(2), np.int8(0)).tokens.tolist() == [2]
